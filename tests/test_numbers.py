"""Numbers: unbiased scores, means that cover, distributions that are found again."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binomtest, ttest_1samp

from analysis import estimate, study
from analysis.channel import channel
from analysis.feasible import distance_operators, likelihood
from analysis.numbers import noise_variance, scores
from analysis.simulate import generator, respond
from analysis.tally import Tally
from respondent import odds
from respondent.laws import Distance, NumberLaw, TwoPoint, Wave

from .support import SMALL_LAWS, question

NUMBERS = [law for law in SMALL_LAWS if isinstance(law, NumberLaw)]


@pytest.mark.parametrize("law", NUMBERS, ids=str)
def test_scores_are_unbiased(law: NumberLaw) -> None:
    np.testing.assert_allclose(scores(law) @ channel(law), np.arange(law.answers), atol=1e-9)
    if not isinstance(law, Distance):
        exact = [float(law.score(y)) for y in range(law.responses)]
        np.testing.assert_allclose(scores(law), exact, rtol=1e-12)
        variances = [float(law.variance(x)) for x in range(law.answers)]
        np.testing.assert_allclose(noise_variance(law), variances, rtol=1e-9)


@pytest.mark.parametrize(
    "law",
    [
        odds.laplace(40, Fraction(1)),
        odds.laplace(3000, Fraction(1, 2)),
        odds.gaussian(20, Fraction(1), Fraction(1, 1000)),
        odds.gaussian(20, Fraction(4), Fraction(1, 1000)),
    ],
    ids=lambda law: f"{law.steps}, {law.margin}",
)
def test_scores_of_noise_are_unbiased_to_a_millionth_of_its_spread(law: Distance) -> None:
    found = scores(law) @ channel(law)
    spread = np.sqrt(noise_variance(law).max())
    assert np.abs(found - np.arange(law.answers)).max() < 1.1e-6 * spread


def test_geometric_noise_scores_are_the_cells_but_for_the_ends() -> None:
    """Ghosh, Roughgarden & Sundararajan (2012): clamping moves mass to the ends only."""
    law = odds.laplace(40, Fraction(1))
    found = scores(law)
    np.testing.assert_allclose(found[1:-1], np.arange(1, 40), atol=1e-5)
    assert found[0] < -10 and found[-1] > 50
    assert found[0] + found[-1] == pytest.approx(40, abs=1e-5)


@pytest.mark.parametrize("law", [law for law in NUMBERS if not isinstance(law, TwoPoint)], ids=str)
def test_operators_are_the_channel(law: NumberLaw) -> None:
    rng = np.random.default_rng(1)
    every = np.arange(law.responses)
    matrix = channel(law)
    pi, values = rng.dirichlet(np.ones(law.answers), size=3), rng.random((3, law.responses))
    problem = likelihood(law, Tally(every, every, law.responses))
    np.testing.assert_allclose(problem.forward(pi), pi @ matrix.T, atol=1e-12)
    np.testing.assert_allclose(problem.backward(values), values @ matrix, atol=1e-12)
    if isinstance(law, Distance):
        forward, backward = distance_operators(law)
        np.testing.assert_allclose(forward(pi), pi @ matrix.T, atol=1e-12)
        np.testing.assert_allclose(backward(values), values @ matrix, atol=1e-12)


def test_two_point_is_a_mapped_binomial_interval() -> None:
    asked = question(kind="number", range=[100, 300], step=2, odds=[3, 1])
    found = estimate(asked, [45, 55]).mean
    interval = binomtest(55, 100).proportion_ci(0.95, "wilson")
    assert found.estimate == pytest.approx(100 + 200 * (0.55 - 0.25) / 0.5)
    assert found.low == pytest.approx(100 + 200 * (interval.low - 0.25) / 0.5)
    assert found.high == pytest.approx(100 + 200 * (interval.high - 0.25) / 0.5)
    with pytest.raises(ValueError, match="mean only"):
        estimate(asked, [45, 55]).quantile(0.5)


def test_a_plain_number_is_students_interval() -> None:
    asked = question(kind="number", range=[0, 4], protect=False, skip=True)
    result = estimate(asked, [10, 20, 30, 20, 20, 7])
    values = np.repeat([0, 1, 2, 3, 4], [10, 20, 30, 20, 20])
    interval = ttest_1samp(values, 0).confidence_interval(0.95)
    assert (result.mean.low, result.mean.high) == pytest.approx((interval.low, interval.high))
    assert (result.n, result.skipped) == (100, 7)
    assert result["mean"] == result.mean
    with pytest.raises(KeyError, match="mean"):
        result["median"]
    with pytest.raises(ValueError, match="everybody skipped"):
        estimate(asked, [0, 0, 0, 0, 0, 7])


@pytest.mark.parametrize(
    "fields",
    [
        {"law": "two-point"},
        {"law": "wave"},
        {"noise": "laplace"},
        {"noise": "gaussian", "delta": 0.001},
    ],
    ids=str,
)
def test_means_are_unbiased_and_cover(fields: dict) -> None:
    """4,000 surveys of 500 people: bias and coverage within 4 standard errors."""
    asked = question(kind="number", range=[0, 50], epsilon=2, **fields)
    truth = np.exp(-np.arange(51) / 12)
    found = study(asked, {"q": truth / truth.sum()}, n=500, repetitions=4000, seed=2).rows[0]
    assert abs(found.bias) < 4 * found.rmse / np.sqrt(4000)
    assert abs(found.coverage - 0.95) < 4 * np.sqrt(0.95 * 0.05 / 4000)


@pytest.mark.parametrize("fields", [{"law": "wave"}, {"noise": "laplace"}], ids=str)
def test_means_for_these_respondents_cover_them(fields: dict) -> None:
    """600 surveys of 400 fixed people: coverage within 4 standard errors, and narrower."""
    asked = question(kind="number", range=[0, 20], epsilon=4, **fields)
    rng = np.random.default_rng(3)
    people = np.repeat([0, 20], 200)
    held, widths, wider = [], [], []
    for _ in range(600):
        responses = respond(asked.law, people, generator(rng))
        counts = np.bincount(responses, minlength=asked.law.responses)
        own = estimate(asked, counts, target="respondents").mean
        held.append(own.low <= 10 <= own.high)
        widths.append(own.high - own.low)
        population = estimate(asked, counts).mean
        wider.append(population.high - population.low)
    assert abs(np.mean(held) - 0.95) < 4 * np.sqrt(0.95 * 0.05 / 600)
    assert np.mean(widths) < np.mean(wider)


def test_the_distribution_is_found_again() -> None:
    """20,000 people, ε = 3: the distribution function within 0.03 of the truth everywhere."""
    asked = question(kind="number", range=[1000, 2000], step=10, epsilon=3, law="wave")
    rng = np.random.default_rng(4)
    answers = np.clip(np.rint(rng.normal(40, 12, 20_000)), 0, 100).astype(int)
    responses = respond(asked.law, answers, generator(rng))
    result = estimate(asked, np.bincount(responses, minlength=asked.law.responses))
    found = result.distribution
    assert found.shares.sum() == pytest.approx(1)
    true = np.searchsorted(np.sort(answers), (found.edges[1:] - 1000) / 10, side="right") / 20_000
    assert np.abs(np.cumsum(found.shares) - true).max() < 0.03
    median = result.quantile(0.5)
    assert median.low < 1000 + 10 * np.median(answers) < median.high
    assert median.low < median.estimate < median.high
    assert (found.low <= found.high).all()
    # The same counts give the same interval.
    again = estimate(asked, np.bincount(responses, minlength=asked.law.responses))
    assert again.quantile(0.5) == median
    with pytest.raises(ValueError, match="share"):
        result.quantile(1.5)
    assert "50 % below" in str(result)


def test_quartiles_of_a_wave_cover_about_as_often_as_they_say() -> None:
    """60 surveys of 2,000 people at ε = 2: at least 80 % of 180 intervals of nominal 95 %.

    Measured over many settings they cover about 91 %; 80 % is 5 standard errors below.
    """
    asked = question(kind="number", range=[0, 40], epsilon=2, law="wave")
    rng = np.random.default_rng(5)
    held = []
    for _ in range(60):
        answers = np.clip(np.rint(rng.normal(16, 5, 2000)), 0, 40).astype(int)
        responses = respond(asked.law, answers, generator(rng))
        result = estimate(asked, np.bincount(responses, minlength=asked.law.responses))
        for share, true in ((0.25, 16 - 5 * 0.6745), (0.5, 16), (0.75, 16 + 5 * 0.6745)):
            found = result.quantile(share)
            held.append(found.low <= true <= found.high)
    assert np.mean(held) > 0.8


def test_noise_added_to_a_number_tells_its_mean_only() -> None:
    asked = question(kind="number", range=[0, 20], epsilon=1, noise="laplace")
    with pytest.raises(ValueError, match="mean only"):
        estimate(asked, [1] * 21).distribution  # noqa: B018


def test_long_ranges_need_no_written_channel() -> None:
    for law in (Wave(10_000, 900, 5, 2), odds.laplace(9000, Fraction(1))):
        assert noise_variance(law).shape == (law.answers,)
        asked = question(kind="number", range=[0, law.steps], epsilon=1, law="wave")
        assert estimate(asked, np.ones(asked.law.responses, dtype=int)).mean.se > 0


def test_the_default_law_errs_least_or_within_five_per_cent() -> None:
    """Issue 3, must show 6; the largest error over all populations, exact from the weights."""
    for epsilon in ("0.5", "1", "2", "4"):
        value = Fraction(epsilon)
        laws = [
            odds.two_point(100, value),
            odds.wave(100, value),
            odds.laplace(100, value),
        ]
        worst = [noise_variance(law).max() for law in laws]
        default = noise_variance(odds.number(100, value)).max()
        assert np.sqrt(default) <= 1.05 * np.sqrt(min(worst))
