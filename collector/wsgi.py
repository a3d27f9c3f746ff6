"""The application for any WSGI server, from two environment variables.

``DENIABLE_SURVEYS``: survey files, separated as in PATH. ``DENIABLE_DATA``: the SQLite file.
Run it with one process and many threads: one writer commits for all of them, for example
``gunicorn --workers 1 --threads 64 collector.wsgi:app``.
"""

from __future__ import annotations

import os

from flask import Flask

from respondent import Survey

from .app import DATA, SURVEYS, create_app


def _app() -> Flask:
    missing = [name for name in (SURVEYS, DATA) if not os.environ.get(name)]
    if missing:
        raise RuntimeError(f"set {' and '.join(missing)}: see docs/deploy.md")
    files = os.environ[SURVEYS].split(os.pathsep)
    return create_app([Survey.load(file) for file in files], os.environ[DATA])


app = _app()
