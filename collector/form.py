"""The respondent's pages: the form, the published survey, and the modules that flip the coins."""

from __future__ import annotations

from flask import Blueprint, Response, render_template, request

from respondent.checking import say

from .served import survey_or_404

blueprint = Blueprint("form", __name__)


@blueprint.get("/s/<survey_id>")
def page(survey_id: str) -> str:
    survey = survey_or_404(survey_id)
    language = request.accept_languages.best_match(survey.languages) or survey.languages[0]
    return render_template(
        "survey.html", survey=survey, language=language, say=say, url=request.base_url
    )


@blueprint.get("/s/<survey_id>/survey.json")
def published(survey_id: str) -> Response:
    return Response(survey_or_404(survey_id).publish(), mimetype="application/json")
