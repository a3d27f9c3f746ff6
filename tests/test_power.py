"""Power: against rr, against exact sums over what ``estimate`` would say, and simulated."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from analysis import compare, designs
from analysis.channel import channel
from analysis.means import mean_interval
from analysis.numbers import noise_variance, scores
from analysis.planning import Kind, mean_variance, precision
from analysis.power import (
    detectable_difference,
    detectable_mean_difference,
    group_power,
    group_sample_size,
    mean_power,
    mean_sample_size,
    normal_power,
    normal_share_power,
    share_power,
    share_sample_size,
)
from analysis.shares import one_of_shares, support_shares, table_shares
from respondent import Survey

from .support import EXAMPLES, reference, reference_case

CAMPUS = Survey.load(EXAMPLES / "campus.toml")
COIN = designs.coin(0.5)
FORCED = designs.forced(1 / 6, 1 / 6)
#: Simulated surveys, and how far they may be from what is expected, in standard errors.
MANY, FAR = 5000, 3


def near(found: float, expected: float) -> bool:
    """Whether a share of ``MANY`` simulations is what was expected."""
    return abs(found - expected) <= FAR * math.sqrt(expected * (1 - expected) / MANY)


# The reference: power.rr.test of rr 1.4.2, which uses the normal approximation


def rr_settings(case: Any) -> dict[str, Any]:
    design = case["design"]
    sides = design["alternative"].replace(".", "-")
    return {"null": design["presp.null"], "alpha": design["sig.level"], "alternative": sides}


def rr_design(design: dict[str, Any]) -> designs.Design:
    if design.get("design", "forced-known") == "forced-known":
        return designs.forced(design["p1"], design["p0"])
    assert design["design"] == "disguised"
    return designs.kuk(design["p"], 1 - design["p"])


CASES = [case for case in reference("power") if "n" in case["design"]]


@pytest.mark.parametrize(
    "case", [c for c in CASES if "unknown" not in c["design"]["design"]], ids=lambda c: c["name"]
)
def test_power_of_rr(case: Any) -> None:
    design = case["design"]
    found = normal_share_power(rr_design(design), design["presp"], design["n"], **rr_settings(case))
    assert found == pytest.approx(case["outputs"]["power"], rel=1e-9)


@pytest.mark.parametrize(
    "case", [c for c in CASES if "unknown" in c["design"]["design"]], ids=lambda c: c["name"]
)
def test_two_group_designs_of_rr(case: Any) -> None:
    """Any standard error will do for ``normal_power``: here rr's for two sub-samples.

    A share r gets the question with chance p, the rest with 1 − p, and otherwise one to which
    q say yes. rr takes the information about π as if q were known, and q = 1 for "forced".
    """
    design = case["design"]
    p, q, r = design["p"], design.get("q", 1.0), design["r"]

    def error(share: float) -> float:
        arms = [(r, p), (1 - r, 1 - p)]
        rates = [asked * share + (1 - asked) * q for _, asked in arms]
        told = [
            part * asked**2 / (rate * (1 - rate))
            for (part, asked), rate in zip(arms, rates, strict=True)
            if rate < 1
        ]
        return 1 / math.sqrt(sum(told) * design["n"])

    settings = rr_settings(case)
    null, share = settings.pop("null"), design["presp"]
    found = normal_power(share - null, error(null), error(share), **settings)
    assert found == pytest.approx(case["outputs"]["power"], rel=1e-9)


def test_power_curve_of_rr() -> None:
    """The grid of Figure 2 in Blair, Imai & Zhou (2015)."""
    (case,) = reference("power_curve")
    settings = rr_settings(case)
    nothing, *shares = case["data"]["presp_grid"]
    assert nothing == settings["null"]
    for n, (at_null, *powers) in case["outputs"]["power_by_n"].items():
        for share, power in zip(shares, powers, strict=True):
            found = normal_share_power(rr_design(case["design"]), share, int(n), **settings)
            assert found == pytest.approx(power, rel=1e-9)
        test = {key: settings[key] for key in ("alpha", "alternative")}
        assert normal_power(0, 1, 1, **test) == pytest.approx(at_null)


def test_the_sample_size_that_rr_stops_short_of() -> None:
    """rr takes the first n whose power is within 0.01 of the one asked for: 205.

    The same approximation reaches it at 212 only. The count is binomial, though, and its
    power falls whenever the edge moves by one response: exactly, it is still below 0.8 at
    n = 212 and, for the last time, at n = 222.
    """
    case = reference_case("n_for_power80_forced")
    settings = rr_settings(case)
    assert settings == {"null": 0, "alpha": 0.05, "alternative": "one-sided"}
    normal = {n: normal_share_power(FORCED, 0.1, n, **settings) for n in range(100, 300)}
    within = next(n for n, power in normal.items() if abs(power - 0.8) < 0.01)
    assert within == case["outputs"]["n"] == 205
    assert normal[within] < 0.8
    reached = next(n for n, power in normal.items() if power >= 0.8)
    assert reached == case["outputs"]["smallest_n_reaching_target_by_bisection_on_rr_power"] == 212

    n = np.arange(1, 3000)
    edge = n / 6 + stats.norm.isf(0.05) * np.sqrt(n * 5 / 36)
    exact = stats.binom.sf(np.floor(edge), n, 1 / 6 + 2 / 3 * 0.1)
    assert exact[212 - 1] < 0.8
    last = int(n[exact < 0.8][-1])
    assert share_sample_size(FORCED, 0.1, 0.8, **settings) == last + 1 == 223


# One share


def told(p: float, q: float, n: int, null: float, alpha: float) -> Any:
    """The counts at which ``estimate`` leaves the null out of its interval."""
    found = support_shares(np.arange(n + 1.0), float(n), p, q, 1 - alpha)
    return (null < found.low) | (null > found.high)


@pytest.mark.parametrize("null", [0.0, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("share", [0.05, 0.3, 0.9])
@pytest.mark.parametrize("n", [1, 10, 97, 400])
@pytest.mark.parametrize(
    ("design", "p", "q"),
    [
        (COIN, 0.75, 0.25),
        (designs.unrelated(0.7, 0.25), 0.775, 0.075),
        (designs.crosswise(0.25), 0.25, 0.75),
        (designs.direct(), 1.0, 0.0),
    ],
    ids=lambda value: value.name if isinstance(value, designs.Design) else "",
)
def test_the_test_is_the_interval(
    design: designs.Design, p: float, q: float, n: int, share: float, null: float
) -> None:
    """Summed over all counts, by what ``estimate`` says of each."""
    chances = stats.binom.pmf(np.arange(n + 1), n, q + (p - q) * share)
    expected = chances[told(p, q, n, null, 0.05)].sum()
    assert share_power(design, share, n, null=null) == pytest.approx(expected, abs=1e-12)


def test_one_sided_is_one_side_of_twice_alpha() -> None:
    both = {"null": 0.3, "alpha": 0.1}
    found = share_power(COIN, 0.4, 300, null=0.3, alpha=0.05, alternative="one-sided")
    chances = stats.binom.pmf(np.arange(301), 300, 0.25 + 0.5 * 0.4)
    above = told(0.75, 0.25, 300, 0.3, 0.1) & (np.arange(301) > 300 * 0.4)
    assert found == pytest.approx(chances[above].sum(), abs=1e-12)
    assert found < share_power(COIN, 0.4, 300, **both)


SETTINGS = [
    (COIN, 0.1, 0.0, 0.8),
    (COIN, 0.1, 0.0, 0.95),
    (COIN, 0.3, 0.4, 0.8),
    (COIN, 0.9, 0.5, 0.99),
    (FORCED, 0.5, 0.0, 0.3),
    (designs.coin(0.9), 0.02, 0.0, 0.9),
    (designs.unrelated(0.7, 0.1), 0.05, 0.0, 0.8),
    (designs.direct(), 0.01, 0.0, 0.9),
    (designs.direct(), 0.05, 0.02, 0.8),
    (designs.crosswise(0.25), 0.6, 1.0, 0.8),
]


@pytest.mark.parametrize(("design", "share", "null", "power"), SETTINGS)
def test_the_power_stays_above(
    design: designs.Design, share: float, null: float, power: float
) -> None:
    n = share_sample_size(design, share, power, null=null)
    assert n == 1 or share_power(design, share, n - 1, null=null) < power
    for more in range(n, 3 * n + 200):
        assert share_power(design, share, more, null=null) >= power


@pytest.mark.parametrize(
    ("epsilon", "share", "null"),
    [(0.5, 0.1, 0.0), (0.1, 0.3, 0.2), (0.3, 0.6, 0.5), (1, 0.2, 0.15)],
)
def test_two_percent_fewer_are_not_enough(epsilon: float, share: float, null: float) -> None:
    """Where 2 % of n is more than a tooth; by scipy's binomial distribution."""
    question = Kind("yes-no").question(epsilon=epsilon)
    n = share_sample_size(question, share, 0.8, null=null)
    p, q = float(question.law.p), float(question.law.q)
    for size, enough in ((n, True), (math.floor(0.98 * n), False)):
        rejected = np.flatnonzero(told(p, q, size, null, 0.05))
        power = stats.binom.pmf(rejected, size, q + (p - q) * share).sum()
        assert (power >= 0.8) == enough


def test_simulated_with_and_without_the_last_two_percent() -> None:
    """At this alpha 2 % of n are worth 0.018, more than 3 standard errors of 5000 surveys."""
    test = {"alpha": 1e-8, "null": 0.0}
    n = share_sample_size(COIN, 0.1, 0.8, **test)
    less = math.floor(0.98 * n)
    assert share_power(COIN, 0.1, less, **test) < 0.8 - 3 * math.sqrt(0.16 / MANY)
    rng = np.random.default_rng(11)
    found = []
    for size in (n, less):
        counts = rng.binomial(size, 0.25 + 0.5 * 0.1, size=MANY)
        found.append(told(0.75, 0.25, size, 0.0, 1e-8)[counts].mean())
    assert found[0] > 0.8 - 2 * math.sqrt(0.16 / MANY)
    assert found[1] < 0.8 - 2 * math.sqrt(0.16 / MANY)


@pytest.mark.parametrize("options", [2, 5])
def test_ticks(options: int) -> None:
    """Only those who draw an option tell about it, and how many that are is random."""
    question = Kind("choices", options=options).question(epsilon=1.5)
    n = share_sample_size(question, 0.2, 0.8)
    assert share_power(question, 0.2, n) >= 0.8 > share_power(question, 0.2, n - 1)
    law = question.law
    rate = float(law.q) + float(law.p - law.q) * 0.2
    chances = np.tile([1 - rate, rate], options) / options
    counts = np.random.default_rng(5).multinomial(n, chances, size=MANY)
    found, _ = one_of_shares(counts, law)
    assert near(float((found.low[:, 0] > 0).mean()), share_power(question, 0.2, n))


def test_tables_of_more_responses() -> None:
    """By the normal approximation: no count is binomial there."""
    design = designs.kuk(0.7, 0.3, 5)
    assert precision(design).rate is None
    n = share_sample_size(design, 0.1, 0.8)
    assert share_power(design, 0.1, n) >= 0.8 > share_power(design, 0.1, n - 1)
    assert share_power(design, 0.1, n) == normal_share_power(design, 0.1, n)
    counts = np.random.default_rng(5).multinomial(n, design.channel @ [0.9, 0.1], size=MANY)
    found = table_shares(counts, np.array(design.channel))
    # The approximation itself is off by up to about 0.03 here.
    assert (found.low[:, 1] > 0).mean() == pytest.approx(share_power(design, 0.1, n), abs=0.04)


def test_any_answer_of_many() -> None:
    drug = CAMPUS["drug"]
    assert share_power(drug, 0.1, 500, answer="Cocaine") == share_power(drug, 0.1, 500)
    p, q = float(drug.law.p), float(drug.law.q)
    chances = stats.binom.pmf(np.arange(501), 500, q + (p - q) * 0.1)
    expected = chances[told(p, q, 500, 0.0, 0.05)].sum()
    assert share_power(drug, 0.1, 500) == pytest.approx(expected, abs=1e-12)


# Two groups


def wald(rates: Any, counts: Any, sizes: Any, alpha: float) -> Any:
    """+1 where the second group is found higher, −1 where lower, from what ``estimate`` gives."""
    first, second = (
        support_shares(np.asarray(count, dtype=float), float(n), *rate)
        for rate, count, n in zip(rates, counts, sizes, strict=True)
    )
    away = second.estimate - first.estimate
    edge = stats.norm.isf(alpha / 2) * np.sqrt(first.se**2 + second.se**2)
    return np.where(np.abs(away) > edge, np.sign(away), 0)


GROUPS = [
    ((COIN, COIN), ((0.75, 0.25), (0.75, 0.25)), (0.1, 0.6), (23, 31)),
    ((COIN, designs.direct()), ((0.75, 0.25), (1.0, 0.0)), (0.4, 0.1), (60, 17)),
    ((designs.direct(), FORCED), ((1.0, 0.0), (5 / 6, 1 / 6)), (0.02, 0.3), (25, 25)),
    ((designs.warner(0.3), COIN), ((0.7, 0.3), (0.75, 0.25)), (0.9, 0.2), (2, 40)),
    ((COIN, COIN), ((0.75, 0.25), (0.75, 0.25)), (0.0, 1.0), (1, 1)),
]


@pytest.mark.parametrize("alternative", ["two-sided", "one-sided"])
@pytest.mark.parametrize(("pair", "rates", "shares", "sizes"), GROUPS)
def test_groups_exactly(pair: Any, rates: Any, shares: Any, sizes: Any, alternative: str) -> None:
    """Summed over all pairs of counts."""
    counts = np.meshgrid(*(np.arange(n + 1) for n in sizes), indexing="ij")
    chances = math.prod(
        stats.binom.pmf(count, n, q + (p - q) * share)
        for count, n, (p, q), share in zip(counts, sizes, rates, shares, strict=True)
    )
    one_sided = alternative == "one-sided"
    found = wald(rates, counts, sizes, 0.1 if one_sided else 0.05)
    wanted = found == np.sign(shares[1] - shares[0]) if one_sided else found != 0
    power = group_power(pair, shares, sizes, alternative=alternative)
    assert power == pytest.approx(chances[wanted].sum(), abs=1e-12)


@pytest.mark.parametrize("counts", [(20, 35), (26, 28), (18, 34), (16, 40)])
def test_the_test_of_groups_is_one_that_compare_reports(counts: tuple[int, int]) -> None:
    sizes, rates = (70, 60), ((0.75, 0.25), (0.75, 0.25))
    data = {
        "y": np.concatenate([np.arange(n) < k for n, k in zip(sizes, counts, strict=True)]) * 1,
        "g": np.repeat(["a", "b"], sizes),
    }
    reported = compare(data, "y", COIN, "g").tests[2]
    assert reported.name == "Wald, of the estimates"
    for alpha in (0.2, 0.05, 0.01):
        assert (reported.p < alpha) == (wald(rates, counts, sizes, alpha) != 0)


@pytest.mark.parametrize("ratio", [1.0, 0.5, 3.0])
@pytest.mark.parametrize("shares", [(0.1, 0.3), (0.5, 0.35)])
def test_group_sizes(shares: tuple[float, float], ratio: float) -> None:
    first, second = group_sample_size(COIN, shares, ratio=ratio)
    assert second == math.ceil(ratio * first)
    before = first - 1, math.ceil(ratio * (first - 1))
    less = math.floor(0.98 * first), math.ceil(ratio * math.floor(0.98 * first))
    assert group_power(COIN, shares, (first, second)) >= 0.8
    assert group_power(COIN, shares, before) < 0.8
    assert group_power(COIN, shares, less) < 0.8
    for more in range(first, first + 60):
        assert group_power(COIN, shares, (more, math.ceil(ratio * more))) >= 0.8


def test_simulated_groups() -> None:
    shares, alpha, rates = (0.1, 0.4), 1e-8, ((0.75, 0.25), (0.75, 0.25))
    first, second = group_sample_size(COIN, shares, ratio=2, alpha=alpha)
    less = math.floor(0.98 * first), math.floor(0.98 * second)
    rng = np.random.default_rng(3)
    for sizes, enough in (((first, second), True), (less, False)):
        counts = [
            rng.binomial(n, 0.25 + 0.5 * share, size=MANY)
            for n, share in zip(sizes, shares, strict=True)
        ]
        found = float((wald(rates, counts, sizes, alpha) != 0).mean())
        power = group_power(COIN, shares, sizes, alpha=alpha)
        assert near(found, power)
        assert (power >= 0.8) == enough


def test_large_groups_by_the_normal_approximation() -> None:
    """n = (z + z_power)² (V₁ + V₂) / difference², as any textbook has it."""
    question = Kind("yes-no").question(epsilon=0.1)
    first, second = group_sample_size(question, (0.2, 0.3))
    p, q = float(question.law.p), float(question.law.q)
    rates = [q + (p - q) * share for share in (0.2, 0.3)]
    variance = sum(rate * (1 - rate) / (p - q) ** 2 for rate in rates)
    expected = (stats.norm.isf(0.025) + stats.norm.ppf(0.8)) ** 2 * variance / 0.1**2
    assert first == second == math.ceil(expected) > 100_000
    assert group_power(question, (0.2, 0.3), first) == pytest.approx(0.8, abs=0.002)


def test_groups_of_ticks_and_tables() -> None:
    """Where no count is binomial, by the normal approximation."""
    for source in (CAMPUS["worries"], designs.kuk(0.7, 0.3, 5)):
        n, _ = group_sample_size(source, (0.2, 0.5))
        found = precision(source)
        errors = [found.variance(share) / (n * found.part) for share in (0.2, 0.5)]
        expected = normal_power(0.3, math.sqrt(sum(errors)), math.sqrt(sum(errors)))
        assert group_power(source, (0.2, 0.5), n) == pytest.approx(expected)
        assert expected >= 0.8 > group_power(source, (0.2, 0.5), n - 1)


def test_the_least_difference() -> None:
    for n, share in ((400, 0.5), (1001, 0.3)):
        found = detectable_difference(COIN, n, share=share)
        assert found is not None
        sizes = n // 2, n - n // 2
        for difference, enough in ((found, True), (found - 1e-4, False)):
            shares = share - difference / 2, share + difference / 2
            assert (group_power(COIN, shares, sizes) >= 0.8) == enough
    assert detectable_difference(COIN, 20) is None
    assert detectable_difference(COIN, 1000, share=0.0) is None


# Means

INCOME = Kind("number", range=(0, 10_000), step=100)
PLAIN = INCOME.question(protect=False)


def test_a_mean_that_nobody_can_miss() -> None:
    """Where scipy's noncentral t gives no number for the other tail."""
    assert mean_power(PLAIN, 5000, 10, null=1000, sd=316) == pytest.approx(1)
    assert mean_power(PLAIN, 1000, 10, null=5000, sd=316) == pytest.approx(1)


def test_two_point_means_are_counts() -> None:
    question = INCOME.question(epsilon=1)
    law, n = question.law, 400
    p, q = law.truth / (law.truth + law.other), law.other / (law.truth + law.other)
    chances = stats.binom.pmf(np.arange(n + 1), n, q + (p - q) * 0.3)
    expected = chances[told(p, q, n, 0.2, 0.05)].sum()
    assert mean_power(question, 3000, n, null=2000) == pytest.approx(expected, abs=1e-12)
    size = mean_sample_size(question, 3000, null=2000)
    assert mean_power(question, 3000, size, null=2000) >= 0.8
    assert mean_power(question, 3000, size - 1, null=2000) < 0.8
    assert mean_power(question, 3000, n, null=2000, sd=100) == pytest.approx(expected)


def student(scored: Any, n: int, null: float, law: Any) -> Callable[[Any], float]:
    def rejected(chances: Any) -> float:
        counts = np.random.default_rng(9).multinomial(n, chances, size=MANY).astype(float)
        floor = float(noise_variance(law).min())
        found = mean_interval(scored, counts, 0.95, (0.0, float(law.steps)), floor)
        return float(((null < found.low) | (null > found.high)).mean())

    return rejected


@pytest.mark.parametrize("epsilon", [2, 4])
def test_other_means_by_students_test(epsilon: float) -> None:
    """All values alike, so the mean is the middle; the wave law."""
    question = INCOME.question(epsilon=epsilon, law="wave")
    law = question.law
    n = mean_sample_size(question, 5000, null=5600)
    power = mean_power(question, 5000, n, null=5600)
    assert power >= 0.8 > mean_power(question, 5000, n - 1, null=5600)
    rejected = student(scores(law), n, 56.0, law)
    assert near(rejected(channel(law).mean(axis=1)), power)


def test_the_spread_of_the_answers_counts() -> None:
    """Answers of 40 and 60 steps only, each as often."""
    question = INCOME.question(epsilon=4, law="wave")
    law = question.law
    power = mean_power(question, 5000, 60, null=5600, sd=1000)
    rejected = student(scores(law), 60, 56.0, law)
    assert near(rejected(channel(law)[:, [40, 60]].mean(axis=1)), power)
    assert power > mean_power(question, 5000, 60, null=5600)


def test_the_mean_of_a_scale() -> None:
    question = Kind("scale", range=(1, 7)).question(epsilon=1)
    n = mean_sample_size(question, 4, 0.9, null=3.5, alternative="one-sided")
    z = stats.norm.isf(0.05) + stats.norm.ppf(0.9)
    assert n == pytest.approx(z**2 * mean_variance(question) / 0.25, abs=3)


def test_the_least_difference_of_means() -> None:
    question = INCOME.question(epsilon=1)
    found = detectable_mean_difference(question, 1000)
    z = stats.norm.isf(0.025) + stats.norm.ppf(0.8)
    assert found == pytest.approx(z * math.sqrt(mean_variance(question) / 250), rel=1e-9)


# Mistakes


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: share_power(designs.warner(0.5), 0.1, 100), "cannot tell the answers apart"),
        (lambda: share_power(COIN, 0.1, 100, null=0.1), "share, null: must differ"),
        (lambda: share_power(COIN, 1.1, 100), "share: must be a share from 0 to 1"),
        (lambda: share_power(COIN, 0.1, 100, null=-0.1), "null: must be a share from 0 to 1"),
        (lambda: share_power(COIN, math.nan, 100), "share: must be a share"),
        (lambda: share_power(COIN, 0.1, 0), "n: must be a whole number of at least 1"),
        (lambda: share_power(COIN, 0.1, 1.5), "n: must be a whole number"),
        (lambda: share_power(COIN, 0.1, 100, alpha=0), "alpha: must be between 0 and 1"),
        (lambda: share_power(COIN, 0.1, 100, alternative="up"), "alternative: must be one of"),
        (lambda: share_power(COIN, 0.1, 100, answer="Maybe"), "has no answer 'Maybe'"),
        (lambda: share_power(CAMPUS["income"], 0.1, 100), "a number has no shares"),
        (lambda: share_sample_size(COIN, 0.1, 0.05), "power: must be above alpha"),
        (lambda: share_sample_size(COIN, 0.1, 1.0), "power: must be above alpha and below 1"),
        (lambda: share_sample_size(designs.coin(1e-5), 0.001), "more than 1,000,000,000 people"),
        (lambda: group_power(COIN, (0.1, 0.1), 100), "the groups must differ"),
        (lambda: group_power(COIN, (0.1, -0.1), 100), "shares: must be a share"),
        (lambda: group_power(COIN, (0.1, 0.2), (100, 0)), "n: must be a whole number"),
        (lambda: group_sample_size(COIN, (0.1, 0.2), ratio=0), "ratio: must be above 0"),
        (lambda: group_sample_size(COIN, (0.1, 0.2), 0.01), "power: must be above alpha"),
        (lambda: detectable_difference(COIN, 1), "n: must be a whole number of at least 2"),
        (lambda: mean_power(CAMPUS["income"], 1, 10, null=1), "mean, null: must differ"),
        (lambda: mean_power(CAMPUS["income"], -5, 10, null=1), "mean: must be from 0 to 10000"),
        (lambda: mean_power(CAMPUS["income"], 5, 10, null=1e6), "null: must be from 0 to 10000"),
        (lambda: mean_power(CAMPUS["income"], 5, 10, null=1, sd=-1), "sd: must be from 0"),
        (lambda: mean_power(CAMPUS["cheated"], 1, 10, null=0), "only numbers and scales"),
        (lambda: mean_power(PLAIN, 5, 10, null=1, sd=0), "sd: without spread and without noise"),
    ],
)
def test_mistakes(make: Callable[[], Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        make()


def test_a_source_must_be_one() -> None:
    with pytest.raises(TypeError, match="source: must be a Design or a question"):
        share_power("cheated", 0.1, 100)  # type: ignore[arg-type]
