"""The researchers' pages: log-in, surveys, results and keys. They need no JavaScript."""

from __future__ import annotations

import io
from http import HTTPStatus

from flask import Blueprint, Response, abort, g, redirect, render_template, request, url_for
from werkzeug.datastructures import MultiDict
from werkzeug.exceptions import Conflict, HTTPException, TooManyRequests
from werkzeug.wrappers import Response as AnyResponse

from respondent import Question, Survey
from respondent.checking import say

from . import keys
from .downloads import FORMATS
from .results import (
    FLAG_WORDS,
    LEVELS,
    SMALLEST_GROUP,
    NothingToShow,
    Results,
    Selection,
    facts,
    filterable,
    large_enough,
    results,
    rows,
    selection,
    units,
)
from .served import served, state_of, survey_or_404
from .store import ARMS, STATES

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)

#: Pages that stand where a survey of the same name would.
TAKEN = ("keys", "log-in", "log-out")

#: A plain question with more options offers those only that may be chosen.
MOST_OFFERED = 100

ARM_WORDS = {"device": "From devices", "own-coin": "With own coins", "test": "Test reports"}

FORM_WORDS = {
    "csv": "CSV",
    "json": "JSON",
    "jsonl": "JSON lines",
    "parquet": "Parquet",
    "pdf": "PDF",
    "png": "PNG",
    "svg": "SVG",
}

STATE_WORDS = {
    "open": "open: reports are taken",
    "paused": "paused: devices keep their report and send it later",
    "closed": "closed: reports are refused for good",
    "not-yet": "not open yet: its first day is still to come",
}

blueprint = Blueprint("researcher", __name__, url_prefix="/researcher")


@blueprint.before_request
def _guard() -> AnyResponse | None:
    if request.method == "POST" and not keys.csrf_good():
        abort(HTTPStatus.BAD_REQUEST, "this form has expired: go back, load the page again")
    if request.endpoint == "researcher.log_in":
        return None
    g.researcher = keys.logged_in()
    if g.researcher is None:
        return redirect(url_for("researcher.log_in"), HTTPStatus.SEE_OTHER)
    return None


@blueprint.after_request
def _protect(response: Response) -> Response:
    response.headers["Content-Security-Policy"] = POLICY
    return response


@blueprint.errorhandler(NothingToShow)
def _nothing(problem: NothingToShow) -> tuple[str, int]:
    return error_page(Conflict(str(problem))), HTTPStatus.CONFLICT


def error_page(problem: HTTPException) -> str:
    return render_template("researcher/error.html", problem=problem)


def _page(template: str, **values: object) -> str:
    return render_template(
        f"researcher/{template}", csrf=keys.csrf_token(), say=say, name=g.researcher, **values
    )


# Log-in


@blueprint.route("/log-in", methods=["GET", "POST"])
def log_in() -> str | AnyResponse | tuple[str, int]:
    g.researcher = None
    if request.method == "GET":
        return _page("log-in.html")
    wait = keys.attempts().wait()
    if wait:
        raise TooManyRequests(
            f"there were too many wrong keys: try again in {wait} seconds", retry_after=wait
        )
    if keys.log_in(request.form.get("key", "").strip()):
        return redirect(url_for("researcher.surveys"), HTTPStatus.SEE_OTHER)
    return _page("log-in.html", wrong=True), HTTPStatus.FORBIDDEN


@blueprint.post("/log-out")
def log_out() -> AnyResponse:
    keys.log_out()
    return redirect(url_for("researcher.log_in"), HTTPStatus.SEE_OTHER)


# Keys


@blueprint.get("/keys")
def key_list() -> str:
    return _page("keys.html", keys=served().store.keys())


@blueprint.post("/keys")
def add_key() -> str | tuple[str, int]:
    store, name = served().store, request.form.get("name", "").strip()
    try:
        key = keys.issue(store, name, once="once" in request.form)
    except ValueError as problem:
        told = _page("keys.html", keys=store.keys(), problem=str(problem))
        return told, HTTPStatus.BAD_REQUEST
    return _page("keys.html", keys=store.keys(), added=name, key=key)


@blueprint.post("/keys/revoke")
def revoke_key() -> AnyResponse:
    served().store.revoke_key(request.form.get("name", ""))
    return redirect(url_for("researcher.key_list"), HTTPStatus.SEE_OTHER)


# Surveys


@blueprint.get("")
def surveys() -> str:
    store = served().store
    found = [
        (survey, state_of(survey), sum(store.count(v) for v in store.versions(survey.id)))
        for survey in served().surveys.values()
    ]
    return _page("surveys.html", surveys=found)


@blueprint.get("/<survey_id>")
def survey(survey_id: str) -> str:
    survey, store = survey_or_404(survey_id), served().store
    versions = [(v, {arm: store.count(v, arm) for arm in ARMS}) for v in store.versions(survey_id)]
    issued, spent = store.invitations(survey_id)
    return _page(
        "survey.html",
        survey=survey,
        state=state_of(survey),
        state_words=STATE_WORDS,
        decided=store.settings(survey_id).state,
        invited=store.settings(survey_id).invited,
        versions=versions,
        arms=ARM_WORDS,
        issued=issued,
        spent=spent,
        link=_link(survey),
    )


@blueprint.post("/<survey_id>/state")
def set_state(survey_id: str) -> AnyResponse:
    survey_or_404(survey_id)
    state = request.form.get("state", "")
    if state not in STATES:
        abort(HTTPStatus.BAD_REQUEST, f"state: must be one of {', '.join(STATES)}")
    served().store.set_state(survey_id, state)
    return _back_to(survey_id)


@blueprint.post("/<survey_id>/delete-tests")
def delete_tests(survey_id: str) -> AnyResponse:
    survey_or_404(survey_id)
    store = served().store
    for version in store.versions(survey_id):
        store.delete_tests(version)
    return _back_to(survey_id)


def _back_to(survey_id: str) -> AnyResponse:
    return redirect(url_for("researcher.survey", survey_id=survey_id), HTTPStatus.SEE_OTHER)


# Sharing


def _link(survey: Survey) -> str:
    """The address that respondents open."""
    return f"{request.host_url}s/{survey.id}"


@blueprint.get("/<survey_id>/qr.svg")
def qr_code(survey_id: str) -> Response:
    import segno

    out = io.BytesIO()
    code = segno.make(_link(survey_or_404(survey_id)), error="m", micro=False)
    code.save(out, kind="svg", scale=8, light="white", xmldecl=False)
    return Response(out.getvalue(), mimetype="image/svg+xml")


@blueprint.get("/<survey_id>/poster")
def poster(survey_id: str) -> str:
    survey = survey_or_404(survey_id)
    return _page("poster.html", survey=survey, link=_link(survey), language=survey.languages[0])


# Results


@blueprint.get("/<survey_id>/results")
def result_page(survey_id: str) -> str:
    given = MultiDict((k, v) for k, v in request.args.items(multi=True) if v)
    chosen = selection(survey_id, given)
    query, problem = _query(chosen), ""
    found: Results | None = None
    try:
        found = results(served().store, chosen)
    except NothingToShow as refused:
        problem = str(refused)
    return _page(
        "results.html",
        survey=chosen.survey,
        chosen=chosen,
        query=query,
        only=lambda *names: {name: query[name] for name in names if name in query},
        as_words=lambda what: [(form, FORM_WORDS[form]) for form in FORMATS[what]],
        levels=LEVELS,
        arms=ARM_WORDS,
        versions=served().store.versions(survey_id),
        filters=_filters(chosen),
        smallest=SMALLEST_GROUP,
        found=found,
        problem=problem,
        rows=rows,
        facts=facts,
        units=units,
        flag_words=FLAG_WORDS,
    )


def _query(chosen: Selection) -> dict[str, str | list[str]]:
    """The selection as the API's parameters, what is usual left out."""
    given: dict[str, str | list[str]] = {}
    if chosen.survey != served().surveys[chosen.survey.id]:
        given["version"] = chosen.survey.fingerprint
    if chosen.arm != "device":
        given["arm"] = chosen.arm
    if chosen.level != 0.95:
        given["level"] = f"{chosen.level:g}"
    if chosen.where:
        given["where"] = [f"{name}:{option}" for name, option in chosen.conditions.items()]
    return given


def _filters(chosen: Selection) -> list[tuple[Question, list[tuple[str, bool]]]]:
    """Plain questions with their options, and whether each may be chosen by itself."""
    kept = served().store.counts(chosen.survey, chosen.arm)
    found = []
    for question in filterable(chosen.survey):
        shown = large_enough(kept[question.id])
        options = [
            (say(option, "en"), place in shown) for place, option in enumerate(question.options)
        ]
        if len(options) > MOST_OFFERED:
            options = [option for option in options if option[1]]
        found.append((question, options))
    return found
