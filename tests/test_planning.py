"""Margins to expect, against the intervals of simulated surveys."""

from __future__ import annotations

from typing import Any

import pytest

from analysis import estimate, simulate
from analysis.planning import margin_of_error, mean_margin
from respondent import Survey

from .support import EXAMPLES

N = 40_000
CAMPUS = Survey.load(EXAMPLES / "campus.toml")
HALF = {
    "year": {"1": 0.5, "2": 1 / 6, "3": 1 / 6, "4+": 1 / 6},
    "cheated": {"Yes": 0.5, "No": 0.5},
    "copied": {"Yes": 0.5, "No": 0.5},
    "ghostwriter": {"Yes": 0.5, "No": 0.5},
    "drug": {"None": 0.5, "Cannabis": 0.125, "Cocaine": 0.125, "Other": 0.125, None: 0.125},
    "worries": [0.5] * 5,
}


@pytest.mark.parametrize("question", HALF)
def test_shares(question: str) -> None:
    counts = simulate(CAMPUS, HALF, n=N, seed=5).counts[question]
    value = estimate(CAMPUS[question], counts).values()[0]
    half = (value.high - value.low) / 2
    assert margin_of_error(CAMPUS[question], N) == pytest.approx(half, rel=0.04)


@pytest.mark.parametrize("question", [q for q in CAMPUS if q.kind == "number"])
def test_numbers(question: Any) -> None:
    value = estimate(question, simulate(CAMPUS, n=N, seed=5).counts[question.id]).mean
    assert mean_margin(question, N) == pytest.approx((value.high - value.low) / 2, rel=0.04)


@pytest.mark.parametrize("skip", [False, True])
@pytest.mark.parametrize("law", ["k-ary", "subset", "projective", "exponential", None])
def test_scales(law: str | None, skip: bool) -> None:
    protection = {"protect": False} if law is None else {"epsilon": 1, "law": law}
    if law == "exponential" and skip:
        return
    question = {"id": "q", "ask": "Q?", "kind": "scale", "range": [1, 7], "skip": skip}
    survey = Survey.parse({"id": "s", "title": "S", "question": [question | protection]})
    value = estimate(survey["q"], simulate(survey, n=N, seed=5).counts["q"]).mean
    half = (value.high - value.low) / 2
    assert mean_margin(survey["q"], N) == pytest.approx(half, rel=0.06)


def test_margins_fall_with_the_root_of_n() -> None:
    for question in CAMPUS:
        margin = mean_margin if question.kind == "number" else margin_of_error
        assert margin(question, 100) == pytest.approx(10 * margin(question, 10_000))


def test_bad_calls() -> None:
    with pytest.raises(ValueError, match="n: must be"):
        margin_of_error(CAMPUS["year"], 0)
    with pytest.raises(ValueError, match="income: a number has no shares"):
        margin_of_error(CAMPUS["income"], 10)
    with pytest.raises(ValueError, match="cheated: only numbers and scales"):
        mean_margin(CAMPUS["cheated"], 10)
