"""Whatever reaches the readers, they answer with a survey, a report, or a list of problems."""

from __future__ import annotations

import copy
import json
import tomllib
from decimal import Decimal
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from respondent import (
    InvalidAnswer,
    InvalidReport,
    InvalidSurvey,
    Survey,
    make_report,
    parse_report,
)
from respondent.canonical import canonical

from .support import EXAMPLES

CAMPUS_FILE = tomllib.loads((EXAMPLES / "campus.toml").read_text("utf-8"), parse_float=Decimal)
CAMPUS = Survey.load(EXAMPLES / "campus.toml")
DOCUMENT = json.loads(CAMPUS.publish())

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(
        ["1/2", "0.5", "en", "yes-no", "number", "choices", "epsilon", 2**53, 10**400]
    )
)
JSON = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)
MANY = settings(
    max_examples=200, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)


def mutate(source: Any, data: st.DataObject) -> Any:
    """A copy with one to three values somewhere inside replaced, removed or added."""
    found = copy.deepcopy(source)
    for _ in range(data.draw(st.integers(1, 3))):
        place = found
        while True:
            keys = list(place) if isinstance(place, dict) else list(range(len(place)))
            if not keys:
                break
            key = data.draw(st.sampled_from(keys))
            deeper = isinstance(place[key], dict | list) and data.draw(st.booleans())
            if not deeper:
                break
            place = place[key]
        action = data.draw(st.sampled_from(["replace", "remove", "add"]))
        value = data.draw(JSON)
        if action == "add" and isinstance(place, dict):
            place[data.draw(st.text(max_size=6))] = value
        elif action == "add":
            place.append(value)
        elif keys and action == "remove":
            del place[key]
        elif keys:
            place[key] = value
    return found


@MANY
@given(st.data())
def test_researchers_files(data: st.DataObject) -> None:
    try:
        survey = Survey.parse(mutate(CAMPUS_FILE, data))
    except InvalidSurvey as problem:
        assert problem.problems
    else:
        assert Survey.from_published(survey.publish()) == survey
        assert all(question.explain() for question in survey)


@MANY
@given(st.data())
def test_published_documents(data: st.DataObject) -> None:
    try:
        text = canonical(mutate(DOCUMENT, data))
    except UnicodeEncodeError:
        return
    try:
        survey = Survey.from_published(text)
    except InvalidSurvey as problem:
        assert problem.problems
    else:
        assert survey.publish() == text
        assert all(question.explain() for question in survey)


@MANY
@given(st.dictionaries(st.sampled_from([question.id for question in CAMPUS]), JSON))
def test_answers(answers: dict[str, object]) -> None:
    try:
        report = make_report(CAMPUS, answers)
    except InvalidAnswer:
        return
    assert parse_report(CAMPUS, bytes(report)) == report


@MANY
@given(st.binary() | JSON.map(lambda value: json.dumps(value).encode()))
def test_reports(data: bytes) -> None:
    try:
        parse_report(CAMPUS, data)
    except InvalidReport as problem:
        assert str(problem)
