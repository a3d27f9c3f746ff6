"""The intake: takes reports, strictly, and replies once they are stored for good."""

from __future__ import annotations

from http import HTTPStatus

from flask import Blueprint, Response, abort, jsonify, request

from respondent import parse_report

from .served import served, survey_or_404

blueprint = Blueprint("intake", __name__)


@blueprint.post("/s/<survey_id>/reports")
def report(survey_id: str) -> tuple[Response, int]:
    survey = survey_or_404(survey_id)
    if request.mimetype != "application/json":
        abort(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "a report is sent as application/json")
    served().store.add(survey, parse_report(survey, request.get_data()))
    return jsonify(stored=True), HTTPStatus.CREATED
