"""Intervals against scipy, against R (tests/reference), and against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest, chi2

from analysis.intervals import (
    bonferroni,
    bounded_score,
    clopper_pearson,
    goodman,
    likelihood_ratio,
    score,
    through_line,
    wilson,
)

from .support import reference

CASES = [(0, 1), (1, 1), (0, 20), (3, 20), (20, 20), (499, 1000), (7, 100_000)]


@pytest.mark.parametrize("level", [0.5, 0.95, 0.9999])
@pytest.mark.parametrize(("successes", "n"), CASES)
def test_wilson_and_clopper_pearson_are_scipys(successes: int, n: int, level: float) -> None:
    test = binomtest(successes, n)
    for method, ours in (("wilson", wilson), ("exact", clopper_pearson)):
        theirs = test.proportion_ci(level, method)
        np.testing.assert_allclose(ours(successes, n, level), (theirs.low, theirs.high), atol=1e-12)


@pytest.mark.parametrize("case", reference("univariate_binary"), ids=lambda case: case["name"])
def test_mapped_intervals_are_those_of_r(case: dict) -> None:
    """DescTools 0.99.59 BinomCI, and epiR 2.0.94, mapped by (ci − P10)/(P11 − P10)."""
    matrix, (no, yes) = case["channel"]["P"], case["data"]["counts_report_0_1"]
    p, q = matrix[1][1], matrix[1][0]
    expected = case["outputs"]["ci95_pi_unclipped"]
    for name, method in (
        ("wilson", wilson),
        ("epiR_wilson", wilson),
        ("clopper-pearson", clopper_pearson),
        ("epiR_c-p", clopper_pearson),
        ("lik", likelihood_ratio),
    ):
        if name not in expected:
            continue  # epiR was not run on every case
        found = through_line(method(yes, no + yes, 0.95), p, q)
        np.testing.assert_allclose(found, expected[name], atol=1e-9, err_msg=name)


KARY = [
    case
    for case in reference("univariate_kary")
    if "simultaneous95_goodman_pi_unclipped" in case["outputs"]  # not for a general table
]


@pytest.mark.parametrize("case", KARY, ids=lambda case: case["name"])
def test_goodman_is_that_of_r(case: dict) -> None:
    """DescTools 0.99.59 MultinomCI, mapped by (λ − p)/(1 − Σp)."""
    outputs, matrix = case["outputs"], np.array(case["channel"]["P"])
    low, high = through_line(
        goodman(case["data"]["counts_by_report"], 0.95), matrix[0, 0], matrix[0, 1]
    )
    expected = outputs["simultaneous95_goodman_pi_unclipped"]
    np.testing.assert_allclose(np.stack([low, high], axis=1), expected, atol=1e-9)


def test_likelihood_ratio_ends_where_the_likelihood_has_fallen() -> None:
    low, high = likelihood_ratio(30, 100, 0.9)
    limit = chi2.ppf(0.9, 1)
    for end in (low, high):
        fall = 30 * np.log(0.3 / end) + 70 * np.log(0.7 / (1 - end))
        assert 2 * fall == pytest.approx(limit, abs=1e-9)


@pytest.mark.parametrize("successes", [0, 5, 50, 95, 100])
def test_likelihood_ratio_within_bounds_holds_the_likeliest(successes: int) -> None:
    low, high = likelihood_ratio(successes, 100, 0.95, 0.25, 0.75)
    best = min(max(successes / 100, 0.25), 0.75)
    assert 0.25 <= low <= best <= high <= 0.75
    assert low < high


def test_score_of_a_binomial_is_wilson() -> None:
    p, q = 0.7, 0.2
    yes = np.array([0, 10, 50, 99, 100])
    estimate = (yes / 100 - q) / (p - q)
    v0, v1 = q * (1 - q) / (p - q) ** 2, (1 - 2 * q) / (p - q)
    found = score(estimate, 100, 0.95, (v0, v1, -1.0))
    np.testing.assert_allclose(found, through_line(wilson(yes, 100), p, q), atol=1e-12)


def test_score_says_nan_where_nothing_fits_and_bounded_never_does() -> None:
    variance = (0.5, 4.0, 0.0)
    low, high = score(-3.0, 400, 0.95, variance)
    assert np.isnan(low) and np.isnan(high)
    low, high = bounded_score(np.array([-3.0, 4.0]), 400, 0.95, variance)
    assert (low >= 0).all() and (high <= 1).all() and (low <= high).all()
    assert low[0] == 0 and high[1] == 1


@pytest.mark.parametrize("level", [0, 1, -0.1, 95, float("nan")])
def test_levels_out_of_range_are_refused(level: float) -> None:
    with pytest.raises(ValueError, match="level"):
        wilson(1, 2, level)


def test_a_level_must_be_a_number() -> None:
    for level in (True, "0.95"):
        with pytest.raises(TypeError, match="level"):
            wilson(1, 2, level)  # type: ignore[arg-type]


def test_bonferroni() -> None:
    assert bonferroni(0.95, 10) == pytest.approx(0.995)
