"""The own-coin arm: a form without any script, for coins and dice of the respondent's own."""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Mapping
from http import HTTPStatus

from flask import Blueprint, Response, abort, g, render_template, request, url_for
from werkzeug.exceptions import HTTPException

from respondent import InvalidReport, Report, Survey, parse_report
from respondent.checking import say

from . import own_form
from .intake import REFUSALS
from .own_words import direction, language_name, word
from .served import served, state_of, survey_or_404
from .store import Arrival

ARM = "own-coin"

#: Bytes of one form, at most.
LARGEST_FORM = 16 * 1024

#: Fields beside the responses. Question ids have no underscore and are not the other two.
KEY, SURVEY, INVITATION = "key", "survey", "invitation_code"

POLICY = (
    "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)

blueprint = Blueprint("own_coin", __name__)

Reply = tuple[str, int]


@blueprint.get("/s/<survey_id>/own-coin")
def form(survey_id: str) -> Reply:
    survey = _offered(survey_id)
    state = state_of(survey)
    if state in REFUSALS:
        abort(REFUSALS[state][0], word(_language(survey), state))
    return _form(survey, {KEY: secrets.token_hex(16)}), HTTPStatus.OK


@blueprint.post("/s/<survey_id>/own-coin")
def send(survey_id: str) -> Reply:
    survey = _offered(survey_id)
    sent = _sent(survey)
    language = _language(survey)
    if sent.get(SURVEY) != survey.fingerprint:
        abort(HTTPStatus.CONFLICT, word(language, "changed"))
    entered = own_form.read(survey, sent, language)
    problems = dict(entered.problems)
    invitation = sent.get(INVITATION, "").strip().rpartition("#")[2]
    if _invited(survey) and not invitation:
        problems[INVITATION] = word(language, "invitation-missing")
    if problems:
        return _form(survey, sent, problems), HTTPStatus.BAD_REQUEST
    responses = tuple(entered.responses.values())
    made = Report(survey.fingerprint, sent.get(KEY, ""), responses, survey.widths)
    report = parse_report(survey, bytes(made))
    return _keep(survey, report, invitation, sent)


def _keep(survey: Survey, report: Report, invitation: str, sent: Mapping[str, str]) -> Reply:
    """Store the report and show what is stored; what can be mended, the form asks again."""
    language = _language(survey)
    try:
        outcome = served().writer.add(Arrival(survey, report, arm=ARM, invitation=invitation))
        kept = served().store.report(survey, report.key, ARM) or report
    except sqlite3.Error:
        told = {"": word(language, "unavailable")}
        return _form(survey, sent, told), HTTPStatus.SERVICE_UNAVAILABLE
    if outcome in REFUSALS:
        status, told = REFUSALS[outcome][0], {"": word(language, outcome)}
        return _form(survey, sent, told), status
    page = _page(
        "own-coin-receipt.html",
        language,
        survey=survey,
        report=bytes(kept).decode(),
        first=kept == report,
        told=[
            (say(question.ask, language), own_form.tell(question, response, language))
            for question, response in zip(survey, kept.responses, strict=True)
        ],
    )
    return page, HTTPStatus.CREATED


def _offered(survey_id: str) -> Survey:
    """The survey, if it has such a form."""
    survey = survey_or_404(survey_id)
    if not survey.own_coin:
        abort(HTTPStatus.NOT_FOUND, word(_language(survey), "not-offered"))
    try:
        own_form.needed(survey)
    except ValueError as problem:  # published by hand: the author's check would have refused it
        abort(HTTPStatus.NOT_FOUND, str(problem))
    return survey


def _sent(survey: Survey) -> dict[str, str]:
    """The fields of the form, each at most once, and no others."""
    language = _language(survey)
    if request.mimetype != "application/x-www-form-urlencoded":
        abort(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, word(language, "unknown"))
    request.max_content_length = LARGEST_FORM
    known = {KEY, SURVEY}.union(*map(own_form.names, survey))
    known |= {INVITATION} if _invited(survey) else set()
    fields = dict(request.form.lists())
    if not known.issuperset(fields) or any(len(values) > 1 for values in fields.values()):
        abort(HTTPStatus.BAD_REQUEST, word(language, "unknown"))
    return {name: values[0] for name, values in fields.items()}


def _invited(survey: Survey) -> bool:
    return served().store.settings(survey.id).invited


def _form(
    survey: Survey, sent: Mapping[str, str], problems: Mapping[str, str] | None = None
) -> str:
    language = _language(survey)
    return _page(
        "own-coin.html",
        language,
        survey=survey,
        asked=own_form.ask(survey, language),
        ends=own_form.ends,
        needed=own_form.needed(survey),
        invited=_invited(survey),
        sent=sent,
        problems=problems or {},
    )


def _page(template: str, language: str, **values: object) -> str:
    def local(name: str, **places: object) -> str:
        return word(language, name, **places)

    return render_template(
        template,
        language=language,
        direction=direction(language),
        say=lambda text: say(text, language),
        word=local,
        language_name=language_name,
        here=lambda code: url_for(".form", **(request.view_args or {}), lang=code),
        **values,
    )


def _language(survey: Survey) -> str:
    """The language asked for, else the browser's, else the survey's first."""
    asked = request.args.get("lang", "")
    if asked not in survey.languages:
        asked = request.accept_languages.best_match(survey.languages) or survey.languages[0]
    g.language = asked
    return asked


def _notice(told: str, status: int) -> Reply:
    language = g.get("language", "en")
    return _page("own-coin-notice.html", language, told=told), status


@blueprint.errorhandler(HTTPException)
def _refused(problem: HTTPException) -> Reply:
    return _notice(problem.description or "", problem.code or HTTPStatus.BAD_REQUEST)


@blueprint.errorhandler(InvalidReport)
def _invalid(problem: InvalidReport) -> Reply:
    return _notice(str(problem), HTTPStatus.BAD_REQUEST)


@blueprint.errorhandler(sqlite3.Error)
def _unavailable(problem: sqlite3.Error) -> Reply:
    told = word(g.get("language", "en"), "unavailable")
    return _notice(told, HTTPStatus.SERVICE_UNAVAILABLE)


@blueprint.after_request
def _protect(response: Response) -> Response:
    response.headers["Content-Security-Policy"] = POLICY
    response.headers["Cache-Control"] = "no-store"
    return response
