"""Odds from ε: met from below, losing less than a millionth, in exact arithmetic."""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable
from fractions import Fraction

import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from benchmarks.variance import optimum
from respondent import odds
from respondent.exact import LIMIT, exp_between
from respondent.laws import Distance, Law

EPSILONS = [Fraction(text) for text in ("0.1", "0.5", "1", "2", "4")]

BUILDERS: dict[str, Callable[[Fraction], Law]] = {
    "k-ary": lambda e: odds.k_ary(5, e),
    "one-of": lambda e: odds.one_of(6, e),
    "exponential table": lambda e: odds.exponential(7, e),
    "subset": lambda e: odds.subset(20, e),
    "projective": lambda e: odds.projective(10_000, e),
    "two-point": lambda e: odds.two_point(100, e),
    "wave": lambda e: odds.wave(100, e),
    "laplace": lambda e: odds.laplace(100, e),
    "laplace, 10,000 steps": lambda e: odds.laplace(10_000, e),
    "gaussian": lambda e: odds.gaussian(10, e, Fraction(1, 10**6)),
}


@pytest.mark.parametrize("epsilon", EPSILONS, ids=float)
@pytest.mark.parametrize("name", BUILDERS)
def test_epsilon_is_met_from_below(name: str, epsilon: Fraction) -> None:
    law = BUILDERS[name](epsilon)
    # e^ε is enclosed by fractions, so these comparisons of fractions decide for certain.
    assert law.ratio <= exp_between(epsilon)[0]
    assert law.ratio > exp_between(epsilon * (1 - Fraction(1, 10**6)))[1]
    assert epsilon * (1 - Fraction(1, 10**6)) < law.epsilon_bound <= epsilon
    assert law.largest_draw < LIMIT
    assert not list(law.problems())


@pytest.mark.parametrize("epsilon", EPSILONS, ids=float)
def test_gaussian_meets_delta_closely(epsilon: Fraction) -> None:
    delta = Fraction(1, 10**6)
    law = odds.gaussian(10, epsilon, delta)
    assert delta * Fraction(99, 100) < law.delta <= delta


@pytest.mark.parametrize("epsilon", [0.5, 1, 4])
def test_gaussian_has_the_spread_that_theory_asks_for(epsilon: float) -> None:
    """The analytic Gaussian mechanism (Balle & Wang, ICML 2018, Theorem 8), solved by scipy.

    Theirs is continuous and unclamped: 100 cells across agree with it to 0.2 %.
    """

    def delta(spread: float) -> float:
        half, shift = 1 / (2 * spread), epsilon * spread
        return float(norm.cdf(half - shift) - math.exp(epsilon) * norm.cdf(-half - shift))

    spread = brentq(lambda s: delta(s) - 1e-6, 0.1, 100)
    law = odds.gaussian(100, Fraction(str(epsilon)), Fraction(1, 10**6))
    assert law.margin / 5 / 100 == pytest.approx(spread, rel=2e-3)


@pytest.mark.parametrize(
    ("chance", "answers", "pair"),
    [("1/2", 2, (3, 1)), ("1/2", 3, (4, 1)), ("2/3", 2, (5, 1)), ("1/4", 5, (8, 3))],
)
def test_coin(chance: str, answers: int, pair: tuple[int, int]) -> None:
    # By hand for 1/4 and five answers: 1/4 + 3/4·1/5 = 8/20 against 3/4·1/5 = 3/20.
    assert odds.coin(Fraction(chance), answers) == pair


@pytest.mark.parametrize(
    ("answers", "epsilon", "law"),
    [
        (2, 1, "k-ary"),
        (5, 1, "k-ary"),
        (10, 1, "subset"),
        (30, 1, "subset"),
        (1000, 1, "projective"),
    ],
)
def test_least_variance_takes_the_law_for_the_size(answers: int, epsilon: int, law: str) -> None:
    assert odds.least_variance(answers, Fraction(epsilon)).name == law


@pytest.mark.parametrize("answers", [2, 3, 5, 10, 20, 50, 128, 1024, 10**4, 10**5])
@pytest.mark.parametrize("epsilon", ["0.5", "1", "2", "3", "4"])
def test_variance_is_close_to_the_optimum(answers: int, epsilon: str) -> None:
    """Against subset selection at its best size, which is optimal (Ye & Barg 2018)."""
    variance = odds.least_variance(answers, Fraction(epsilon)).variance
    best = optimum(answers, exp_between(Fraction(epsilon))[0])
    assert variance / best <= (Fraction("1.02") if answers <= 50 else Fraction("1.10"))
    assert variance / best > Fraction("0.99999")


@pytest.mark.parametrize(
    ("epsilon", "law"), [("0.5", "two-point"), ("1", "two-point"), ("2", "wave")]
)
def test_number_takes_the_law_with_least_worst_error(epsilon: str, law: str) -> None:
    assert odds.number(100, Fraction(epsilon)).name == law


def test_weights_do_not_depend_on_the_callers_decimal_context() -> None:
    expected = odds.laplace(50, Fraction(1))
    with decimal.localcontext() as context:
        context.prec = 5
        assert odds.laplace(50, Fraction(1)) == expected


def test_too_wide_noise_is_refused() -> None:
    with pytest.raises(ValueError, match="larger step"):
        odds.gaussian(10_000, Fraction("0.1"), Fraction(1, 10**6))


def test_laplace_is_geometric() -> None:
    law = odds.laplace(20, Fraction(2))
    assert isinstance(law, Distance)
    ratios = [near / far for near, far in zip(law.weights, law.weights[1:-1], strict=False)]
    assert max(ratios) - min(ratios) < 1e-9
