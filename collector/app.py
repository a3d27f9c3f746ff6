"""The web application: a page about each survey, its published form, and the intake."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from http import HTTPStatus
from pathlib import Path

from flask import Flask, Response, abort, jsonify, render_template, request
from werkzeug.exceptions import HTTPException

from respondent import InvalidReport, Survey, parse_report
from respondent.checking import say

from .store import Store

LARGEST_REPORT = 16 * 1024


def create_app(surveys: Iterable[Survey], data: str | Path) -> Flask:
    """An application that serves the surveys and keeps reports in the SQLite file ``data``."""
    app = Flask(__name__)
    app.config["MAX_CONTENT_LENGTH"] = LARGEST_REPORT
    store = Store(Path(data))
    served = {survey.id: survey for survey in surveys}
    for survey in served.values():
        store.publish(survey)

    def survey_or_404(survey_id: str) -> Survey:
        if survey_id not in served:
            abort(HTTPStatus.NOT_FOUND, "there is no such survey here")
        return served[survey_id]

    @app.get("/s/<survey_id>")
    def page(survey_id: str) -> str:
        survey = survey_or_404(survey_id)
        language = request.accept_languages.best_match(survey.languages) or survey.languages[0]
        return render_template(
            "survey.html", survey=survey, language=language, say=say, url=request.base_url
        )

    @app.get("/s/<survey_id>/survey.json")
    def published(survey_id: str) -> Response:
        return Response(survey_or_404(survey_id).publish(), mimetype="application/json")

    @app.post("/s/<survey_id>/reports")
    def intake(survey_id: str) -> tuple[Response, int]:
        survey = survey_or_404(survey_id)
        if request.mimetype != "application/json":
            abort(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "a report is sent as application/json")
        store.add(survey, parse_report(survey, request.get_data()))
        return jsonify(stored=True), HTTPStatus.CREATED

    @app.errorhandler(InvalidReport)
    def refuse(problem: InvalidReport) -> tuple[Response, int]:
        return jsonify(problem=str(problem)), HTTPStatus.BAD_REQUEST

    @app.errorhandler(sqlite3.Error)
    def unavailable(problem: sqlite3.Error) -> tuple[Response, int]:
        told = "the report could not be stored; send it again"
        return jsonify(problem=told), HTTPStatus.SERVICE_UNAVAILABLE

    @app.errorhandler(HTTPException)
    def other(problem: HTTPException) -> tuple[Response, int]:
        return jsonify(problem=problem.description), problem.code or 500

    @app.after_request
    def protect(response: Response) -> Response:
        response.headers["Content-Security-Policy"] = "default-src 'none'; style-src 'self'"
        response.headers["Referrer-Policy"] = "no-referrer"
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["X-Frame-Options"] = "DENY"
        response.headers["Cache-Control"] = "no-store"
        return response

    return app
