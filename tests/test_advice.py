"""Advice: the least ε that will do, the best law, its cost, and words that are true."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from math import comb
from typing import Any

import pytest
from scipy import stats

from analysis.advice import advise
from analysis.goals import GroupTest, Margin, MeanTest, ShareTest
from analysis.planning import Kind
from respondent import Survey
from respondent.laws import KAry

YES_NO = Kind("yes-no")


def test_the_coin_that_everybody_knows() -> None:
    """1537 people and ± 5 points: truth with chance 1/2, four times 385 people."""
    found = advise(YES_NO, 1537, Margin(0.05))
    assert found.lines == ('coin = "1/2"',)
    assert found.question.law == KAry(2, 3, 1)
    assert found.coin == "truth with chance 1/2, otherwise a second, fair coin"
    assert found.epsilon == pytest.approx(math.log(3)) and found.factor == 3
    assert (found.needed, found.direct) == (1537, 385)
    assert found.cost == pytest.approx(4, abs=0.01)
    said = str(found)
    assert "75 send Yes and 25 send No" in said
    # Bayes with a factor of 3: 0.1 × 3 / (0.1 × 3 + 0.9).
    assert "10 % likely can think it at most 25 % likely" in said
    assert "± 5.0 points; 1,537 would do, and 385 if asked directly: 4.0 times as many" in said


@pytest.mark.parametrize("n", [400, 700, 2000, 30_000])
def test_the_cost_of_a_coin(n: int) -> None:
    """The variance of a coin over that of asking: (e^ε + 1)²/(e^ε − 1)² at a half."""
    found = advise(YES_NO, n, Margin(0.05))
    ratio = found.factor
    assert found.cost == pytest.approx(((ratio + 1) / (ratio - 1)) ** 2, rel=0.005)
    assert found.needed <= n


GOALS = [
    (YES_NO, 900, Margin(0.05)),
    (YES_NO, 900, Margin(0.05, level=0.99, share=0.1)),
    (YES_NO, 800, ShareTest(0.1, 0.8)),
    (YES_NO, 800, ShareTest(0.3, 0.9, null=0.5, alternative="one-sided")),
    (YES_NO, 600, GroupTest((0.2, 0.4), 0.8)),
    (Kind("choice", options=4), 1500, Margin(0.05)),
    (Kind("choice", options=12), 4000, ShareTest(0.1, 0.8)),
    (Kind("choices", options=3), 3000, Margin(0.05)),
    (Kind("list", options=300), 8000, Margin(0.03, share=0.02)),
    (Kind("scale", range=(1, 5)), 2000, MeanTest(3, 3.3, 0.8)),
    (Kind("number", range=(0, 100)), 900, Margin(4)),
    (Kind("number", range=(0, 100)), 900, Margin(2, sd=10)),
    (Kind("number", range=(0, 100)), 900, MeanTest(40, 45, 0.9)),
]


@pytest.mark.parametrize(("kind", "n", "goal"), GOALS, ids=str)
def test_it_will_do_and_less_will_not(kind: Kind, n: int, goal: Any) -> None:
    found = advise(kind, n, goal)
    assert goal.met(found.question, n)
    assert found.reached == goal.reached(found.question, n)
    # A chance may be a twentieth more than needed: a little more than that less must not do.
    law = found.question.law
    if found.lines[0].startswith("coin"):
        chance = Fraction(found.lines[0].split('"')[1])
        weaker = kind.question(coin=str((chance / Fraction(107, 100)).limit_denominator(10**5)))
    else:
        weaker = kind.question(epsilon=round(found.epsilon, 3) - 0.002, law=law.name)
    assert weaker.law.name == law.name and weaker.epsilon < found.epsilon
    assert goal.n(weaker) > n or goal.reached(weaker, n) < goal.wanted


@pytest.mark.parametrize(("kind", "n", "goal"), GOALS, ids=str)
def test_the_lines_make_the_question(kind: Kind, n: int, goal: Any, tmp_path: Any) -> None:
    """What is to be written in the survey file gives the law that was advised."""
    found = advise(kind, n, goal)
    fields = [f'kind = "{kind.kind}"', *found.lines]
    if kind.options:
        fields.append(f"options = {[str(number + 1) for number in range(kind.options)]}")
    if kind.range:
        fields.append(f"range = {list(kind.range)}")
    text = 'id = "s"\ntitle = "S"\n[[question]]\nid = "q"\nask = "?"\n' + "\n".join(fields)
    path = tmp_path / "survey.toml"
    path.write_text(text, encoding="utf-8")
    assert Survey.load(path)["q"].law == found.question.law


def variance(law: str, k: int, epsilon: float, share: float) -> float:
    """Of one response, from the formulas of the literature (k-ary; subset: Ye & Barg 2017)."""
    e = math.exp(epsilon)

    def of(p: float, q: float) -> float:
        rate = q + (p - q) * share
        return rate * (1 - rate) / (p - q) ** 2

    if law == "k-ary":
        return of(e / (e + k - 1), 1 / (e + k - 1))
    found = []
    for d in range(1, k // 2 + 1):
        total = comb(k - 1, d - 1) * e + comb(k - 1, d)
        inside = comb(k - 2, d - 2) * e if d > 1 else 0.0
        found.append(((comb(k - 1, d - 1) * e) / total, (inside + comb(k - 2, d - 1)) / total))
    # The size is chosen for a rare answer.
    return of(*min(found, key=lambda pq: pq[1] * (1 - pq[1]) / (pq[0] - pq[1]) ** 2))


@pytest.mark.parametrize(
    ("k", "n", "share", "law"), [(3, 2000, 0.3, "k-ary"), (40, 6000, 0.02, "subset")]
)
def test_the_law_with_the_least_variance(k: int, n: int, share: float, law: str) -> None:
    found = advise(Kind("choice", options=k), n, Margin(0.04, share=share))
    assert found.question.law.name == law
    z = stats.norm.isf(0.025)
    others = {name: variance(name, k, found.epsilon, share) for name in ("k-ary", "subset")}
    assert min(others, key=lambda name: others[name]) == law
    assert found.reached == pytest.approx(z * math.sqrt(others[law] / n), rel=1e-4)


def test_long_lists_and_numbers() -> None:
    many = advise(Kind("list", options=2000), 9000, Margin(0.03, share=0.01))
    assert many.question.law.name == "projective"
    few, more = (advise(Kind("number", range=(0, 100)), n, Margin(5)) for n in (300, 5000))
    assert few.question.law.name == "wave" and more.question.law.name == "two-point"
    assert few.epsilon > more.epsilon
    assert advise(Kind("number", range=(0, 20_000)), 500, Margin(1500)).question.law.name == (
        "two-point"
    )


def test_other_odds_in_words() -> None:
    ticks = advise(Kind("choices", options=3), 8000, Margin(0.05))
    assert ticks.coin.startswith("one of the 3 options, drawn by lot: of it the truth with chance")
    choice = advise(Kind("choice", options=3), 8000, Margin(0.05))
    assert choice.coin.endswith("otherwise any of 3 answers")
    groups = advise(YES_NO, 900, GroupTest((0.1, 0.3), 0.8))
    assert "n = 900 in each group gives a power of" in str(groups)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (
            lambda: advise(YES_NO, 100, Margin(0.05)),
            "n: 100 people are too few: it takes 385, and 385 if asked directly",
        ),
        (lambda: advise(YES_NO, 0, Margin(0.05)), "n: must be a whole number"),
        (lambda: advise(YES_NO, 100, Margin()), "wanted: must say which margin"),
        (lambda: advise(YES_NO, 100, ShareTest(0.1)), "wanted: must say which power"),
        (lambda: advise(YES_NO, 100, ShareTest(0.1, 0.05)), "power: must be above alpha"),
        (lambda: advise(YES_NO, 100, ShareTest(0.1, 2)), "power: must be above alpha"),
        (lambda: advise(YES_NO, 100, ShareTest(0.1, 0.8, null=0.1)), "must differ"),
        (lambda: advise(YES_NO, 100, MeanTest(1, 0, 0.8)), "only numbers and scales"),
        (
            lambda: advise(Kind("number", range=(0, 9)), 100, GroupTest((0, 1), 0.8)),
            "a number has no shares",
        ),
        (lambda: advise(Kind("choice"), 100, Margin(0.05)), "options: is missing"),
    ],
)
def test_mistakes(make: Callable[[], Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        make()
