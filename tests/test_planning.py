"""Margins to expect, against the intervals of simulated surveys; ε, n and margin together."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from analysis import designs, estimate, simulate
from analysis.channel import channel
from analysis.numbers import scores
from analysis.planning import (
    Kind,
    epsilon_for_margin,
    margin_of_error,
    mean_margin,
    mean_variance,
    n_for_margin,
    n_for_mean_margin,
    plan_margin,
    precision,
)
from respondent import Survey

from .support import EXAMPLES, question, reference

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


@pytest.mark.parametrize("name", HALF)
def test_shares(name: str) -> None:
    counts = simulate(CAMPUS, HALF, n=N, seed=5).counts[name]
    value = estimate(CAMPUS[name], counts).values()[0]
    half = (value.high - value.low) / 2
    assert margin_of_error(CAMPUS[name], N) == pytest.approx(half, rel=0.04)


@pytest.mark.parametrize("name", [q.id for q in CAMPUS if q.kind == "number"])
def test_numbers(name: str) -> None:
    value = estimate(CAMPUS[name], simulate(CAMPUS, n=N, seed=5).counts[name]).mean
    assert mean_margin(CAMPUS[name], N) == pytest.approx((value.high - value.low) / 2, rel=0.04)


@pytest.mark.parametrize("skip", [False, True])
@pytest.mark.parametrize("law", ["k-ary", "subset", "projective", "exponential", None])
def test_scales(law: str | None, skip: bool) -> None:
    protection = {"protect": False} if law is None else {"epsilon": 1, "law": law}
    if law == "exponential" and skip:
        return
    asked = {"id": "q", "ask": "Q?", "kind": "scale", "range": [1, 7], "skip": skip}
    survey = Survey.parse({"id": "s", "title": "S", "question": [asked | protection]})
    value = estimate(survey["q"], simulate(survey, n=N, seed=5).counts["q"]).mean
    half = (value.high - value.low) / 2
    assert mean_margin(survey["q"], N) == pytest.approx(half, rel=0.06)


def test_margins_fall_with_the_root_of_n() -> None:
    for asked in CAMPUS:
        margin = mean_margin if asked.kind == "number" else margin_of_error
        assert margin(asked, 100) == pytest.approx(10 * margin(asked, 10_000))


# Variances of one response's part


def test_warners_variance() -> None:
    (case,) = reference("formula")
    for cell in case["outputs"]["grid"]:
        found = precision(designs.warner(cell["p"])).variance(cell["pi"])
        assert found / cell["n"] == pytest.approx(cell["var"], rel=1e-9)


@pytest.mark.parametrize(
    "source",
    [
        designs.direct(),
        designs.crosswise(0.25),
        designs.unrelated(0.6, 0.1),
        designs.kuk(0.7, 0.3, 5),
        designs.k_ary(4, 0.5),
        CAMPUS["copied"],
        CAMPUS["ghostwriter"],
        question(kind="yes-no", table=[[6, 3, 1], [1, 3, 6]], responses=["a", "b", "c"]),
    ],
    ids=lambda source: getattr(source, "name", getattr(source, "id", "")),
)
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9])
def test_any_channel(source: Any, share: float) -> None:
    """The variance of the linear estimate of Yes, or of answer 0, straight from the channel."""
    design = source if isinstance(source, designs.Design) else designs.design(source)
    place = design.answers.index("Yes") if "Yes" in design.answers else 0
    answers = np.full(len(design.answers), (1 - share) / (len(design.answers) - 1))
    answers[place] = share
    responses, line = design.channel @ answers, design.inverse[place]
    expected = responses @ line**2 - (responses @ line) ** 2
    assert precision(source).variance(share) == pytest.approx(expected, abs=1e-12)


def test_a_named_answer() -> None:
    asked = question(kind="choice", options=["a", "b"], table=[[9, 1], [2, 3]])
    first, second = (precision(asked, name) for name in "ab")
    assert first.variance(0.2) == pytest.approx(second.variance(0.8))
    assert first.variance(0.2) != pytest.approx(second.variance(0.2))
    assert precision(asked, share=0.2) in (first, second)
    worst = max(found.variance(0.2) for found in (first, second))
    assert precision(asked, share=0.2).variance(0.2) == worst


@pytest.mark.parametrize("odds", [{"law": "wave"}, {"law": "two-point"}, {"noise": "laplace"}])
@pytest.mark.parametrize("kept", [[2, 8], [0, 3], [0, 0, 0, 10], [5]])
def test_means_need_the_mean_and_the_spread_only(odds: dict[str, str], kept: list[int]) -> None:
    """Only some answers are given, each as often: the variance of their scores."""
    asked = Kind("number", range=(0, 100), step=10).question(epsilon=2, **odds)
    law = asked.law
    chances, scored = channel(law)[:, kept].mean(axis=1), 10 * scores(law)
    expected = chances @ scored**2 - (chances @ scored) ** 2
    found = mean_variance(asked, 10 * float(np.std(kept)), 10 * float(np.mean(kept)))
    # The noise of clamped Laplace is no quadratic function of the answer, but nearly.
    assert found == pytest.approx(expected, rel=2e-3 if "noise" in odds else 1e-9)


def test_a_mean_near_the_end_allows_less_spread() -> None:
    asked = Kind("number", range=(0, 100)).question(epsilon=2, law="wave")
    most = math.sqrt(5 * 95)
    assert mean_variance(asked, mean=5) == pytest.approx(mean_variance(asked, most, 5))
    plain = Kind("number", range=(0, 100)).question(protect=False)
    assert mean_variance(plain, 20) == pytest.approx(400)
    assert mean_variance(plain) == pytest.approx(np.arange(101).var())


# ε ↔ n ↔ margin

KINDS = [
    Kind("yes-no"),
    Kind("choice", options=5),
    Kind("choices", options=4),
    Kind("list", options=200),
    Kind("scale", range=(1, 7)),
    Kind("number", range=(0, 100), step=5),
]


def test_the_coin_that_everybody_knows() -> None:
    """Asked directly n = z²/4m², and (ratio + 1)²/(ratio − 1)² times that with a coin."""
    z = stats.norm.isf(0.025)
    assert n_for_margin(designs.direct(), 0.05) == math.ceil(z**2 / (4 * 0.05**2)) == 385
    assert n_for_margin(designs.coin(0.5), 0.05) == math.ceil(4 * z**2 / (4 * 0.05**2)) == 1537
    found = plan_margin(Kind("yes-no"), n=1537, margin=0.05)
    assert found.epsilon == pytest.approx(math.log(3), abs=1e-3)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_two_give_the_third(kind: Kind) -> None:
    first = plan_margin(kind, epsilon=1.5, n=700, level=0.9)
    assert first.epsilon == pytest.approx(1.5, rel=1e-6) and first.n == 700
    second = plan_margin(kind, epsilon=1.5, margin=first.margin, level=0.9)
    assert second == first
    third = plan_margin(kind, n=700, margin=first.margin, level=0.9)
    assert third.epsilon == pytest.approx(1.5, abs=1.1e-3)
    assert third.margin <= first.margin
    own = plan_margin(first.question, margin=first.margin, level=0.9)
    assert own == first


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_the_least_n_and_the_least_epsilon(kind: Kind) -> None:
    mean = kind.kind == "number"
    margin = 5.0 if mean else 0.05
    asked = kind.question(epsilon=2)
    at = mean_margin if mean else margin_of_error
    n = (n_for_mean_margin if mean else n_for_margin)(asked, margin)
    assert at(asked, n) <= margin < at(asked, n - 1)
    epsilon = epsilon_for_margin(kind, n, margin)
    assert at(kind.question(epsilon=epsilon), n) <= margin
    assert at(kind.question(epsilon=round(epsilon - 0.001, 3)), n) > margin


def test_a_known_share_takes_fewer_people() -> None:
    asked = Kind("yes-no").question(epsilon=3)
    rare, half = (n_for_margin(asked, 0.05, share=share) for share in (0.05, 0.5))
    assert rare < half
    few, many = (
        epsilon_for_margin(Kind("yes-no"), 500, 0.05, share=share) for share in (0.05, 0.5)
    )
    assert few < many


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: margin_of_error(CAMPUS["year"], 0), "n: must be a whole number of at least 1"),
        (lambda: margin_of_error(CAMPUS["year"], True), "n: must be"),
        (lambda: margin_of_error(CAMPUS["income"], 10), "income: a number has no shares"),
        (lambda: margin_of_error(CAMPUS["year"], 10, share=2), "share: must be a share"),
        (lambda: margin_of_error(CAMPUS["year"], 10, answer="5"), "year: has no answer '5'"),
        (lambda: margin_of_error(designs.coin(0), 10), "cannot tell the answers apart"),
        (lambda: mean_margin(CAMPUS["cheated"], 10), "cheated: only numbers and scales"),
        (lambda: mean_margin(CAMPUS["mood"], 10, sd=1), "sd: is for numbers"),
        (lambda: mean_margin(CAMPUS["income"], 10, sd=6000), "sd: must be from 0 to 5000"),
        (lambda: n_for_margin(CAMPUS["year"], 0), "margin: must be above 0"),
        (lambda: n_for_margin(CAMPUS["year"], math.inf), "margin: must be above 0"),
        (lambda: plan_margin(Kind("yes-no"), n=10), "epsilon, n, margin: give two of them"),
        (
            lambda: plan_margin(Kind("yes-no"), n=10, margin=0.1, epsilon=1),
            "epsilon, n, margin: give two of them",
        ),
        (lambda: plan_margin(CAMPUS["drug"], n=10, epsilon=1), "n, margin: give one of them"),
        (lambda: plan_margin(CAMPUS["drug"]), "n, margin: give one of them"),
        (
            lambda: plan_margin(Kind("yes-no"), n=50, margin=0.05),
            "0.05 is out of reach with n = 50; even ε = 9.999 needs n = 385",
        ),
        (lambda: Kind("yesno").question(epsilon=1), 'kind: "yesno" is not a kind'),
        (lambda: Kind("choice").question(epsilon=1), "options: is missing"),
        (lambda: Kind("choice", options=1).question(epsilon=1), "options: must be a whole number"),
        (lambda: Kind("number", range=(0, 1), step=2).question(epsilon=1), "step: does not fit"),
        (lambda: Kind("yes-no").question(epsilon=0), "epsilon: must be a number from 0.01"),
    ],
)
def test_mistakes(make: Callable[[], Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        make()
