"""The web application: its parts and its errors."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from http import HTTPStatus
from pathlib import Path

from flask import Flask, Response, jsonify
from werkzeug.exceptions import HTTPException

from respondent import InvalidReport, Survey

from . import form, intake, own_coin
from .headers import Headers
from .served import Served
from .store import Store
from .writer import Writer

#: Environment variables of ``collector.wsgi``.
SURVEYS, DATA = "DENIABLE_SURVEYS", "DENIABLE_DATA"


def create_app(surveys: Iterable[Survey], data: str | Path) -> Flask:
    """An application that serves the surveys and keeps reports in the SQLite file ``data``."""
    app = Flask(__name__)
    app.config["MAX_CONTENT_LENGTH"] = intake.LARGEST_REPORT
    store = Store(Path(data))
    by_id = {survey.id: survey for survey in surveys}
    for survey in by_id.values():
        store.publish(survey)
    app.extensions["deniable"] = Served(by_id, store, Writer(store))
    for part in (form, intake, own_coin):
        app.register_blueprint(part.blueprint)
    app.register_error_handler(InvalidReport, _refused)
    app.register_error_handler(sqlite3.Error, _unavailable)
    app.register_error_handler(HTTPException, _other)
    app.wsgi_app = Headers(app.wsgi_app)  # type: ignore[assignment, method-assign]
    return app


def _refused(problem: InvalidReport) -> tuple[Response, int]:
    return jsonify(problem=str(problem)), HTTPStatus.BAD_REQUEST


def _unavailable(problem: sqlite3.Error) -> tuple[Response, int]:
    told = "the report could not be stored; send it again"
    return jsonify(problem=told), HTTPStatus.SERVICE_UNAVAILABLE


def _other(problem: HTTPException) -> tuple[Response, int]:
    return jsonify(problem=problem.description), problem.code or 500
