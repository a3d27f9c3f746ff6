"""The respondent's pages: the form, the published survey, and the modules that flip the coins."""

from __future__ import annotations

from functools import partial
from importlib.resources import files
from typing import Any

from flask import Blueprint, Response, render_template, request, send_from_directory, url_for

from respondent import Survey
from respondent.checking import say

from . import offline
from .served import served, state_of, survey_or_404
from .words import interface_language, word

WEB = str(files("respondent") / "web")

blueprint = Blueprint("form", __name__)


@blueprint.get("/s/<survey_id>")
def page(survey_id: str) -> str:
    survey = survey_or_404(survey_id)
    reports = url_for("intake.report", survey_id=survey_id)
    invited = served().store.settings(survey_id).invited
    return _form(survey, reports=reports, state=state_of(survey), invited=invited)


@blueprint.get("/s/<survey_id>/test")
def test(survey_id: str) -> str:
    """The same form, for trying out: what it sends is never counted."""
    survey = survey_or_404(survey_id)
    reports = url_for("intake.test_report", survey_id=survey_id)
    return _form(survey, reports=reports, state="open", test=True)


@blueprint.get("/s/<survey_id>/offline.html")
def one_file(survey_id: str) -> Response:
    """The same form in one file that works from disk.

    It may be filled in when the collector takes nothing; the collector decides on arrival.
    """
    survey = survey_or_404(survey_id)
    reports = url_for("intake.report", survey_id=survey_id, _external=True)
    file = offline.one_file(survey, reports)
    html = _form(survey, reports=reports, state="open", file=file)
    name = f"{survey.id}-{_language(survey)}.html"
    return Response(html, headers={"Content-Disposition": f'attachment; filename="{name}"'})


@blueprint.get("/s/<survey_id>/survey.json")
def published(survey_id: str) -> Response:
    return Response(survey_or_404(survey_id).publish(), mimetype="application/json")


@blueprint.get('/respondent/<any("respondent.js", "words.js"):name>')
def module(name: str) -> Response:
    return send_from_directory(WEB, name)


@blueprint.after_app_request
def _let_files_send(response: Response) -> Response:
    """A form on disk has no origin of its own. It may send reports here, and nothing else."""
    if request.endpoint == "intake.report":
        response.headers["Access-Control-Allow-Origin"] = "*"
        if request.method == "OPTIONS":
            response.headers["Access-Control-Allow-Methods"] = "POST"
            response.headers["Access-Control-Allow-Headers"] = "Content-Type, Deniable-Invitation"
    return response


def _form(survey: Survey, **values: Any) -> str:
    language = _language(survey)
    interface = interface_language(language)
    return render_template(
        "form.html",
        survey=survey,
        language=language,
        interface=interface,
        say=say,
        w=partial(word, interface),
        url=url_for("form.page", survey_id=survey.id, _external=True),
        **values,
    )


def _language(survey: Survey) -> str:
    """The language asked for, else the browser's, else the survey's first."""
    wanted = request.args.get("lang")
    if wanted in survey.languages:
        return wanted
    return request.accept_languages.best_match(survey.languages) or survey.languages[0]
