"""What an application serves: its surveys, its store and its writer, for every view."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus

from flask import abort, current_app

from respondent import Survey

from .store import Store, state_today
from .writer import Writer


@dataclass(frozen=True)
class Served:
    surveys: Mapping[str, Survey]
    store: Store
    writer: Writer


def served() -> Served:
    found: Served = current_app.extensions["deniable"]
    return found


def survey_or_404(survey_id: str) -> Survey:
    """The version of the survey that is served now."""
    if survey_id not in served().surveys:
        abort(HTTPStatus.NOT_FOUND, "there is no such survey here")
    return served().surveys[survey_id]


def state_of(survey: Survey) -> str:
    """Whether the survey takes reports: "open", "paused", "closed" or "not-yet"."""
    return state_today(survey, served().store.settings(survey.id))
