"""The web application: its parts and its errors."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from http import HTTPStatus
from pathlib import Path

from flask import Flask, Response, jsonify, request
from werkzeug.exceptions import HTTPException, ServiceUnavailable

from respondent import InvalidReport, Survey

from . import api, form, intake, keys, own_coin, researcher
from .headers import Headers
from .served import Served
from .store import Store
from .writer import Writer

#: Environment variables of ``collector.wsgi``.
SURVEYS, DATA = "DENIABLE_SURVEYS", "DENIABLE_DATA"


def create_app(surveys: Iterable[Survey], data: str | Path) -> Flask:
    """An application that serves the surveys and keeps reports in the SQLite file ``data``."""
    app = Flask(__name__)
    app.url_map.merge_slashes = False
    app.config["MAX_CONTENT_LENGTH"] = intake.LARGEST_REPORT
    store = Store(Path(data))
    by_id = {survey.id: survey for survey in surveys}
    for survey in by_id.values():
        if survey.id in researcher.TAKEN:
            raise ValueError(f"{survey.id}: the researchers' pages need this name, take another")
        store.publish(survey)
    keys.set_up(app, store)
    app.extensions["deniable"] = Served(by_id, store, Writer(store))
    for part in (form, intake, own_coin, researcher, api):
        app.register_blueprint(part.blueprint)
    app.register_error_handler(InvalidReport, _refused)
    app.register_error_handler(sqlite3.Error, _unavailable)
    app.register_error_handler(HTTPException, _other)
    app.wsgi_app = Headers(app.wsgi_app)  # type: ignore[assignment, method-assign]
    return app


def _refused(problem: InvalidReport) -> tuple[Response, int]:
    return jsonify(problem=str(problem)), HTTPStatus.BAD_REQUEST


def _unavailable(problem: sqlite3.Error) -> Response:
    told = "the collector's file could not be read or written; try the same again"
    if request.path.startswith("/s/"):
        told = "the report could not be stored; send it again"
    return _other(ServiceUnavailable(told))


def _other(problem: HTTPException) -> Response:
    """Pages for people who look at pages; for all others a problem in JSON."""
    if request.path.startswith("/researcher"):
        reply = Response(researcher.error_page(problem))
    else:
        reply = jsonify(problem=problem.description)
    reply.status_code = problem.code or HTTPStatus.INTERNAL_SERVER_ERROR
    for name, value in problem.get_headers():
        if name != "Content-Type":
            reply.headers[name] = value
    return reply
