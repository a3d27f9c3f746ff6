"""The intake: takes reports, strictly, and replies once they are stored for good."""

from __future__ import annotations

from http import HTTPStatus

from flask import Blueprint, Response, abort, request

from respondent import Report, Survey, parse_report

from .served import served, survey_or_404
from .store import Arrival

#: Bytes of one report, at most.
LARGEST_REPORT = 16 * 1024

STORED = b'{"stored":true}\n'

INVITATION = "Deniable-Invitation"

#: Why a report is not taken. Only "paused" passes: the same bytes may be sent again.
REFUSALS = {
    "paused": (HTTPStatus.SERVICE_UNAVAILABLE, "the survey is paused; send the report again later"),
    "closed": (HTTPStatus.GONE, "the survey is closed"),
    "not-yet": (HTTPStatus.GONE, "the survey has not opened yet"),
    "uninvited": (HTTPStatus.FORBIDDEN, "the survey needs an invitation, and this is none of its"),
    "spent": (HTTPStatus.FORBIDDEN, "this invitation has been used already"),
}

blueprint = Blueprint("intake", __name__)


@blueprint.post("/s/<survey_id>/reports")
def report(survey_id: str) -> Response:
    survey = survey_or_404(survey_id)
    return keep(Arrival(survey, _sent(survey), invitation=request.headers.get(INVITATION)))


@blueprint.post("/s/<survey_id>/test/reports")
def test_report(survey_id: str) -> Response:
    survey = survey_or_404(survey_id)
    return keep(Arrival(survey, _sent(survey), arm="test"))


def _sent(survey: Survey) -> Report:
    if (request.content_type or "").partition(";")[0].strip().lower() != "application/json":
        abort(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "a report is sent as application/json")
    return parse_report(survey, request.get_data())


def keep(arrival: Arrival) -> Response:
    """Store a report; the reply is sent when it is durable."""
    outcome = served().writer.add(arrival)
    if outcome in REFUSALS:
        status, told = REFUSALS[outcome]
        abort(status, told)
    return Response(STORED, HTTPStatus.CREATED, mimetype="application/json")
