"""Power by simulation, against closed forms and reference regressions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import special, stats

from analysis import designs
from analysis.planning import Kind
from analysis.power import normal_power
from analysis.simulated_power import (
    ROUNDS,
    fit_logistic,
    logistic_power,
    logistic_sample_size,
    logistic_survey,
    simulated_power,
    simulated_sample_size,
)

from .support import reference, reference_data

MANY = 20_000


def draw(n: int, rng: np.random.Generator) -> tuple[float, int]:
    """The mean of n normal values about 0.1, whose power is known."""
    return rng.normal(0.1, 1 / math.sqrt(n)), n


def fit(data: tuple[float, int]) -> tuple[float, float]:
    return data[0], 1 / math.sqrt(data[1])


def test_any_fit() -> None:
    found = simulated_power(draw, fit, 500, repetitions=MANY, seed=1)
    expected = normal_power(0.1, 1 / math.sqrt(500), 1 / math.sqrt(500))
    assert found.power == pytest.approx(expected, abs=3 * found.se)
    assert found.se == pytest.approx(math.sqrt(expected * (1 - expected) / MANY), rel=0.02)
    null = simulated_power(draw, fit, 500, null=0.1, alpha=0.01, repetitions=MANY, seed=1)
    assert null.power == pytest.approx(0.01, abs=3 * math.sqrt(0.01 * 0.99 / MANY))


@pytest.mark.parametrize("start", [20, 50_000])
def test_the_sample_size_of_any_fit(start: int) -> None:
    """(1.96 + 0.84)² / 0.1² = 785; with 3 × 20,000 surveys its standard error is about 0.5 %."""
    expected = ((stats.norm.isf(0.025) + stats.norm.ppf(0.8)) / 0.1) ** 2
    found = simulated_sample_size(draw, fit, start=start, repetitions=MANY, seed=2)
    assert found.n == pytest.approx(expected, rel=0.015)
    assert found.power == pytest.approx(0.8, abs=0.01)


def test_a_seed_repeats_and_progress_is_told() -> None:
    told: list[tuple[int, int]] = []
    first = simulated_sample_size(
        draw, fit, repetitions=50, seed=3, progress=lambda done, total: told.append((done, total))
    )
    assert first == simulated_sample_size(draw, fit, repetitions=50, seed=3)
    assert first != simulated_sample_size(draw, fit, repetitions=50, seed=4)
    total = 50 * (ROUNDS + 1)
    assert told == [(done, total) for done in range(1, total + 1)]


def test_fits_without_an_estimate_are_counted() -> None:
    asked = 0

    def sometimes(data: tuple[float, int]) -> tuple[float, float]:
        nonlocal asked
        asked += 1
        return (1.0, 0.1) if asked % 4 else (math.nan, math.nan)

    found = simulated_power(draw, sometimes, 10, repetitions=100)
    assert (found.power, found.failed) == (0.75, 25)


# Logistic coefficients


@pytest.mark.parametrize("case", reference("logistic_rr_outcome"), ids=lambda case: case["name"])
def test_the_fit_is_that_of_the_reference(case: Any) -> None:
    """GLMMRR 0.6.0 RRglm: coefficients, and standard errors from expected information."""
    expected = case["outputs"]["GLMMRR_RRglm"]
    data, matrix = reference_data(case), case["channel"]["P"]
    columns = [np.ones(len(data)), *(data[name] for name in list(expected["coef"])[1:])]
    counted = data["y"].to_numpy(float)
    found, errors = fit_logistic(np.column_stack(columns), counted, matrix[1][1], matrix[1][0])
    assert found == pytest.approx(list(expected["coef"].values()), abs=1e-6)
    assert errors == pytest.approx(list(expected["se_expected_fisher"].values()), abs=1e-6)


def test_without_an_answer_to_find_there_is_no_fit() -> None:
    predictors = np.column_stack([np.ones(20), np.arange(20)])
    found, errors = fit_logistic(predictors, np.zeros(20), 0.75, 0.25)
    assert np.isnan(found).all() and np.isnan(errors).all()


@pytest.mark.parametrize("exposed", [0.5, 0.2])
def test_a_yes_no_predictor(exposed: float) -> None:
    """Two groups: the log odds ratio's delta-method error, which is that of the likelihood."""
    n, odds_ratio, share = 3000, 2.0, 0.3
    found = logistic_power(
        designs.coin(0.5), share, odds_ratio, n, exposed=exposed, repetitions=2000, seed=1
    )
    # The chances in the groups: their mean is the share, their odds ratio is 2.
    chances = np.linspace(1e-4, share, 200_000)
    other = special.expit(special.logit(chances) + math.log(odds_ratio))
    place = np.argmin(np.abs((1 - exposed) * chances + exposed * other - share))
    variance = 0.0
    for part, chance in ((1 - exposed, chances[place]), (exposed, other[place])):
        rate = 0.25 + 0.5 * chance
        variance += rate * (1 - rate) / 0.25 / (chance * (1 - chance)) ** 2 / (n * part)
    expected = normal_power(math.log(odds_ratio), math.sqrt(variance), math.sqrt(variance))
    # A first-order approximation, so it is given 0.02 beside the simulation's error.
    assert found.power == pytest.approx(expected, abs=0.02 + 3 * found.se)


@pytest.mark.parametrize("exposed", [None, 0.3])
def test_the_share_in_all_is_the_one_given(exposed: float | None) -> None:
    made, _ = logistic_survey(designs.direct(), 0.2, 4.0, exposed)
    _, counted = made(400_000, np.random.default_rng(1))
    assert counted.mean() == pytest.approx(0.2, abs=3 * math.sqrt(0.16 / 400_000))


def test_the_sample_size_of_a_coefficient() -> None:
    question = Kind("yes-no").question(epsilon=3)
    found = logistic_sample_size(question, 0.4, 3.0, 0.9, repetitions=400, seed=5)
    again = logistic_power(question, 0.4, 3.0, found.n, repetitions=1000, seed=6)
    # The n itself has a standard error: with 3 × 400 surveys that of a power is about 0.01.
    assert again.power == pytest.approx(0.9, abs=3 * math.hypot(again.se, 0.01))
    assert found.failed == 0


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: simulated_power(draw, fit, 0), "n: must be a whole number"),
        (lambda: simulated_power(draw, fit, 10, repetitions=0), "repetitions: must be"),
        (lambda: simulated_power(draw, fit, 10, alpha=1), "alpha: must be between"),
        (lambda: simulated_sample_size(draw, fit, 0.01), "power: must be above alpha"),
        (lambda: simulated_sample_size(draw, fit, start=1), "start: must be a whole number"),
        (lambda: simulated_sample_size(draw, lambda _: (math.nan, 1)), "gave no estimate at all"),
        (lambda: logistic_power(designs.coin(0.5), 0, 2, 10), "share: must be above 0"),
        (lambda: logistic_power(designs.coin(0.5), 0.1, 1, 10), "odds_ratio: must be above 0"),
        (lambda: logistic_power(designs.coin(0.5), 0.1, -2, 10), "odds_ratio: must be above 0"),
        (
            lambda: logistic_power(designs.coin(0.5), 0.1, 2, 10, exposed=1),
            "exposed: must be above 0 and below 1",
        ),
        (lambda: logistic_power(designs.kuk(0.7, 0.3, 5), 0.1, 2, 10), "for or against the answer"),
    ],
)
def test_mistakes(make: Callable[[], Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        make()
