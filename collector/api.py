"""The HTTP API for researchers' programs; ``openapi.py`` describes it."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Any

from flask import Blueprint, Response, abort, jsonify, request
from werkzeug.datastructures import MultiDict

from respondent import InvalidReport, Question, Report, Survey, parse_report

from . import downloads, keys
from .openapi import document
from .results import NothingToShow, Selection, counts, results, selection
from .served import served, state_of, survey_or_404
from .store import ARMS, STATES

#: Bytes of a batch of reports, at most.
LARGEST_BATCH = 16 * 1024 * 1024

#: Figures carry their style with them.
FIGURE_POLICY = "default-src 'none'; style-src 'unsafe-inline'"

blueprint = Blueprint("api", __name__, url_prefix="/api")


@blueprint.before_request
def _known() -> tuple[Response, int, dict[str, str]] | None:
    """A key opens everything; pages that are logged in may follow links."""
    if request.endpoint == "api.openapi" or keys.bearer() is not None:
        return None
    by_page = request.method in ("GET", "HEAD") and "Authorization" not in request.headers
    if by_page and keys.logged_in() is not None:
        return None
    told = jsonify(problem="this needs a key: Authorization: Bearer <key>")
    return told, HTTPStatus.UNAUTHORIZED, {"WWW-Authenticate": "Bearer"}


@blueprint.errorhandler(NothingToShow)
def _nothing(problem: NothingToShow) -> tuple[Response, int]:
    return jsonify(problem=str(problem)), HTTPStatus.CONFLICT


# What is asked for


def _asked(*allowed: str) -> MultiDict[str, str]:
    """The query's parameters: known ones only, each once but ``where``."""
    for name, values in request.args.lists():
        if name not in allowed:
            known = ", ".join(allowed) or "there are none"
            abort(HTTPStatus.BAD_REQUEST, f"the query has an unknown parameter; known: {known}")
        if len(values) > 1 and name != "where":
            abort(HTTPStatus.BAD_REQUEST, f"{name}: must be given once")
    return request.args


def _format(given: MultiDict[str, str], what: str) -> str:
    allowed = downloads.FORMATS[what]
    form = given.get("format", allowed[0])
    if form not in allowed:
        abort(HTTPStatus.BAD_REQUEST, f"format: must be one of {', '.join(allowed)}")
    return form


def _question_or_404(survey: Survey, name: str) -> Question:
    for question in survey:
        if question.id == name:
            return question
    abort(HTTPStatus.NOT_FOUND, "there is no such question in this survey")


def _file(data: Any, chosen: Selection, what: str, form: str) -> Response:
    name = downloads.file_name(chosen, what, form)
    return Response(
        data,
        content_type=downloads.MEDIA[form],
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def _body() -> Any:
    if request.mimetype != "application/json":
        abort(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "the body must be application/json")
    try:
        return json.loads(request.get_data())
    except (ValueError, RecursionError):
        abort(HTTPStatus.BAD_REQUEST, "the body is not JSON")


# Surveys


@blueprint.get("/openapi.json")
def openapi() -> Response:
    _asked()
    return jsonify(document())


@blueprint.get("/surveys")
def surveys() -> Response:
    _asked()
    return jsonify(surveys=[_about(survey) for survey in served().surveys.values()])


@blueprint.get("/surveys/<survey_id>")
def survey(survey_id: str) -> Response:
    _asked()
    return jsonify(_about(survey_or_404(survey_id)))


def _about(survey: Survey) -> dict[str, Any]:
    store = served().store
    issued, spent = store.invitations(survey.id)
    return {
        "id": survey.id,
        "title": survey.title,
        "state": state_of(survey),
        "epsilon": survey.epsilon,
        "version": survey.fingerprint,
        "versions": {
            version.fingerprint: {arm: store.count(version, arm) for arm in ARMS}
            for version in store.versions(survey.id)
        },
        "invitations": {"issued": issued, "spent": spent},
    }


@blueprint.put("/surveys/<survey_id>/state")
def state(survey_id: str) -> Response:
    _asked()
    survey, given = survey_or_404(survey_id), _body()
    if not isinstance(given, dict) or set(given) != {"state"} or given["state"] not in STATES:
        told = f'the body must be {{"state": …}}, with one of {", ".join(STATES)}'
        abort(HTTPStatus.BAD_REQUEST, told)
    served().store.set_state(survey_id, given["state"])
    return jsonify(state=state_of(survey))


# Results


@blueprint.get("/surveys/<survey_id>/estimates")
def estimates(survey_id: str) -> Response:
    given = _asked("format", "question", "level", "arm", "version", "where")
    form = _format(given, "estimates")
    chosen = selection(survey_id, given)
    what, questions = "estimates", None
    if "question" in given:
        question = _question_or_404(chosen.survey, given["question"])
        what, questions = f"estimates-{question.id}", [question]
    made = results(served().store, chosen, questions)
    return _file(downloads.estimates(made, form), chosen, what, form)


@blueprint.get("/surveys/<survey_id>/counts")
def tallies(survey_id: str) -> Response:
    given = _asked("format", "arm", "version", "where")
    form = _format(given, "counts")
    chosen = selection(survey_id, given)
    found = counts(served().store, chosen)
    return _file(downloads.counts(chosen, found, form), chosen, "counts", form)


@blueprint.get("/surveys/<survey_id>/figures/<question_id>")
def figure(survey_id: str, question_id: str) -> Response:
    given = _asked("format", "level", "arm", "version", "where")
    form = _format(given, "figure")
    chosen = selection(survey_id, given)
    question = _question_or_404(chosen.survey, question_id)
    result = results(served().store, chosen, [question]).found[0]
    reply = _file(downloads.figure(result, chosen, form), chosen, question.id, form)
    reply.headers["Content-Security-Policy"] = FIGURE_POLICY
    return reply


@blueprint.get("/surveys/<survey_id>/reports")
def reports(survey_id: str) -> Response:
    given = _asked("format", "arm", "version")
    form = _format(given, "reports")
    chosen = selection(survey_id, given)
    data = downloads.reports(served().store, chosen.survey, chosen.arm, form)
    return _file(data, chosen, "reports", form)


# For the paper


@blueprint.get("/surveys/<survey_id>/published")
def published(survey_id: str) -> Response:
    chosen = selection(survey_id, _asked("version"))
    return _file(chosen.survey.publish(), chosen, "survey", "json")


@blueprint.get("/surveys/<survey_id>/codebook")
def codebook(survey_id: str) -> Response:
    from analysis import codebook

    chosen = selection(survey_id, _asked("version"))
    return _file(codebook(chosen.survey), chosen, "codebook", "md")


@blueprint.get("/surveys/<survey_id>/methods")
def methods(survey_id: str) -> Response:
    from analysis import methods_paragraph

    chosen = selection(survey_id, _asked("level", "version"))
    found = results(served().store, chosen).found
    return _file(methods_paragraph(chosen.survey, found), chosen, "methods", "md")


@blueprint.get("/surveys/<survey_id>/recompute")
def recompute(survey_id: str) -> Response:
    from analysis import recompute_script

    chosen = selection(survey_id, _asked("level", "version"))
    return _file(recompute_script(chosen.survey, chosen.level), chosen, "recompute", "py")


# Reports in bulk


@blueprint.post("/surveys/<survey_id>/batch")
def batch(survey_id: str) -> Response:
    """Reports that were collected elsewhere, one on each line: all are taken, or none."""
    chosen = selection(survey_id, _asked("arm", "version"))
    if request.mimetype != "application/x-ndjson":
        told = "a batch is sent as application/x-ndjson: one report on each line"
        abort(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, told)
    request.max_content_length = LARGEST_BATCH
    found = _lines(chosen.survey, request.get_data(cache=False))
    new = served().store.add_vouched(chosen.survey, found, chosen.arm)
    return jsonify(stored=len(found), new=new)


def _lines(survey: Survey, data: bytes) -> list[Report]:
    found = []
    for number, line in enumerate(data.removesuffix(b"\n").split(b"\n"), 1):
        try:
            found.append(parse_report(survey, line))
        except InvalidReport as problem:
            abort(HTTPStatus.BAD_REQUEST, f"line {number}: {problem}; nothing was stored")
    return found
