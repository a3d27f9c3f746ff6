"""Power and sample size: how surely a test on protected answers finds what is there.

The tests are those that estimates and their intervals imply. Where the responses are a
binomial count their power is summed exactly, and it goes up and down a little as n grows:
a sample size here is the least n from which the power never falls below what was asked for.

``alternative``: "two-sided", or "one-sided" towards the share or mean that is expected.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import stats

from respondent import Question
from respondent.laws import TwoPoint

from .channel import Floats, Ints
from .planning import (
    ROUNDING,
    Precision,
    Source,
    check_share,
    check_whole,
    mean_variance,
    of_rate,
    precision,
    question_values,
)

ALTERNATIVES = ("two-sided", "one-sided")

#: Nothing is looked for beyond this n.
MOST_PEOPLE = 10**9
#: Groups larger than this are sized by the normal approximation: one response more or less
#: no longer matters.
MOST_EXACT = 20_000
#: Counts farther than this many standard deviations from their mean do not come.
FAR = 8
#: How many teeth of the binomial saw must lie above the wanted power in a row.
TEETH = 3


def critical(alpha: float, alternative: str) -> float:
    """The z beyond which a test rejects."""
    if not 0 < alpha < 1:
        raise ValueError("alpha: must be between 0 and 1, such as 0.05")
    if alternative not in ALTERNATIVES:
        raise ValueError(f"alternative: must be one of {', '.join(ALTERNATIVES)}")
    return float(stats.norm.isf(alpha / 2 if alternative == "two-sided" else alpha))


def normal_power(
    difference: float,
    se_null: float,
    se: float,
    alpha: float = 0.05,
    alternative: str = "two-sided",
) -> float:
    """Power of a test that rejects beyond z ``se_null`` when the estimate is normal.

    ``difference`` is that of what is expected from the null, ``se`` the estimate's standard
    error there: P(|X| > z se₀) for X normal about the difference. With standard errors from
    ``precision`` or any other design's formula, it is what rr gives (Blair, Imai & Zhou 2015).
    """
    edge = critical(alpha, alternative) * se_null
    size, spread = abs(difference), max(se, 1e-300)
    power = stats.norm.sf((edge - size) / spread)
    if alternative == "two-sided":
        power += stats.norm.cdf((-edge - size) / spread)
    return float(power)


@dataclass(frozen=True)
class _Test:
    """A test on one kind of estimate: its power at many n, and how the least n is found."""

    powers: Callable[[Ints], Floats]
    #: Of one response's part: what n = 1 would give, as shares of the difference to be found.
    sd_null: float
    sd: float
    z: float
    alpha: float
    #: Difference of the two response rates, where teeth of the saw are to be expected.
    gap: float = 1.0

    def at(self, n: int) -> float:
        return float(self.powers(np.array([check_whole(n, "n", 1)]))[0])

    def normal(self, power: float) -> float:
        """The n that the normal approximation asks for."""
        check_power(power, self.alpha)
        return float((self.z * self.sd_null + stats.norm.ppf(power) * self.sd) ** 2)

    def least(self, power: float) -> int:
        """The least n from which the power stays above what is wanted.

        One response more on the edge is worth about 2/gap people: so long can a tooth of the
        saw be. Blocks of several are tried, upwards from the normal approximation until one
        lies above as a whole, then downwards until one does not.
        """
        low = max(1, math.floor(self.normal(power)))
        if low > MOST_PEOPLE:
            raise ValueError(f"power: {power:g} takes more than {MOST_PEOPLE:,} people")
        block = math.ceil(2 * TEETH / self.gap) + 20

        def failing(first: int) -> Ints:
            sizes = np.arange(max(1, first), first + block)
            return sizes[self.powers(sizes) < power]

        while len(failing(low)):
            low += block
        while low > 1:
            below = failing(low - block)
            if len(below):
                return int(below[-1]) + 1
            low -= block
        return 1


def check_power(power: float, alpha: float) -> None:
    if not alpha < power < 1:
        raise ValueError("power: must be above alpha and below 1, such as 0.8")


# One share


def share_power(
    source: Source,
    share: float,
    n: int,
    *,
    null: float = 0.0,
    alpha: float = 0.05,
    alternative: str = "two-sided",
    answer: str | None = None,
) -> float:
    """Chance that n responses tell a share from ``null``.

    The test is the score test n(λ̂ − λ₀)² > z² λ₀(1 − λ₀) on the responses that count for the
    answer, λ₀ their rate under the null: the two-sided one rejects if Wilson's interval of
    ``estimate`` leaves the null out. A null of 0 or 1 can be left on one side only, so that
    there the test is one-sided with α/2. Exact for binomial counts, also of one of several
    ticks; for tables of more than two responses by ``normal_share_power``.
    """
    return _share_test(source, share, null, alpha, alternative, answer).at(n)


def share_sample_size(
    source: Source,
    share: float,
    power: float = 0.8,
    *,
    null: float = 0.0,
    alpha: float = 0.05,
    alternative: str = "two-sided",
    answer: str | None = None,
) -> int:
    """The least n from which ``share_power`` is never below ``power``."""
    return _share_test(source, share, null, alpha, alternative, answer).least(power)


def normal_share_power(
    source: Source,
    share: float,
    n: int,
    *,
    null: float = 0.0,
    alpha: float = 0.05,
    alternative: str = "two-sided",
    answer: str | None = None,
) -> float:
    """``share_power`` by the normal approximation, as in rr's ``power.rr.test``."""
    _check_apart(share, null)
    check_whole(n, "n", 1)
    return _normal_share(precision(source, answer, share), share, null, n, alpha, alternative)


def _normal_share(
    found: Precision, share: float, null: float, n: int, alpha: float, alternative: str
) -> float:
    se_null, se = (math.sqrt(found.variance(at) / (n * found.part)) for at in (null, share))
    return normal_power(share - null, se_null, se, alpha, alternative)


def _check_apart(share: float, null: float) -> None:
    if check_share(share) == check_share(null, "null"):
        raise ValueError("share, null: must differ, or there is nothing to find")


def _share_test(
    source: Source, share: float, null: float, alpha: float, alternative: str, answer: str | None
) -> _Test:
    _check_apart(share, null)
    found = precision(source, answer, share)
    if found.rate is not None:
        return _count_test(found, share, null, alpha, alternative)

    def powers(sizes: Ints) -> Floats:
        found_at = (_normal_share(found, share, null, int(n), alpha, alternative) for n in sizes)
        return np.fromiter(found_at, float)

    return _Test(powers, *_spreads(found, share, null), critical(alpha, alternative), alpha)


def _spreads(found: Precision, share: float, null: float) -> tuple[float, float]:
    """Standard deviations under the null and as expected, as shares of the difference."""
    size = math.sqrt(found.part) * abs(share - null)
    return math.sqrt(found.variance(null)) / size, math.sqrt(found.variance(share)) / size


def _count_test(
    found: Precision, share: float, null: float, alpha: float, alternative: str
) -> _Test:
    """The score test of a binomial count, or of one that only some people add to."""
    assert found.rate is not None
    p, q = found.rate
    z = critical(alpha, alternative)
    sides = _sides(share, null, alternative, 0.0, 1.0)

    def powers(sizes: Ints) -> Floats:
        return binomial_power(sizes, q + (p - q) * null, q + (p - q) * share, z, *sides)

    spreads = _spreads(found, share, null)
    if found.part == 1:
        return _Test(powers, *spreads, z, alpha, abs(share - null) * (p - q))
    # How many are asked is random, which wears the teeth away.
    return _Test(
        lambda sizes: np.array([_over_drawn(powers, int(n), found.part) for n in sizes]),
        *spreads,
        z,
        alpha,
    )


def _sides(
    expected: float, null: float, alternative: str, first: float, last: float
) -> tuple[bool, bool]:
    """Whether the test may reject above and below: there is nothing beyond the range's ends."""
    both = alternative == "two-sided"
    return null < last and (both or expected > null), null > first and (both or expected < null)


def binomial_power(
    n: Ints, rate_null: float, rate: float, z: float, above: bool, below: bool
) -> Floats:
    """Exact power of the score test of a binomial rate, for each n."""
    edge = z * np.sqrt(n * rate_null * (1 - rate_null))
    power = np.zeros(len(n))
    if above:
        power += stats.binom.sf(np.floor(n * rate_null + edge), n, rate)
    if below:
        power += stats.binom.cdf(np.ceil(n * rate_null - edge) - 1, n, rate)
    return power


def _over_drawn(power: Callable[[Ints], Floats], n: int, part: float) -> float:
    """Power when each of n people is asked about this answer with chance ``part``."""
    sizes = _likely(n, part)
    sizes = sizes[sizes > 0]
    return float(stats.binom.pmf(sizes, n, part) @ power(sizes))


def _likely(n: int, rate: float) -> Ints:
    """The counts that come."""
    reach = FAR * math.sqrt(n * rate * (1 - rate)) + 20
    return np.arange(max(0, math.floor(n * rate - reach)), min(n, math.ceil(n * rate + reach)) + 1)


# Two groups


def group_power(
    source: Source | tuple[Source, Source],
    shares: tuple[float, float],
    n: int | tuple[int, int],
    *,
    alpha: float = 0.05,
    alternative: str = "two-sided",
    answer: str | None = None,
) -> float:
    """Chance that the shares of an answer in two groups are told apart.

    ``n`` people in each group, or a number for each; ``source`` likewise, say a protected
    question in one group and the direct one in the other. The test is Wald's on the two
    estimates, |π̂₁ − π̂₂| > z √(se₁² + se₂²) with their standard errors as ``estimate`` gives
    them. Exact where both counts are binomial, else by the normal approximation.
    """
    first, second = n if isinstance(n, tuple) else (n, n)
    check_whole(second, "n", 1)
    return _group_test(source, shares, alpha, alternative, answer, lambda _: second).at(first)


def group_sample_size(
    source: Source | tuple[Source, Source],
    shares: tuple[float, float],
    power: float = 0.8,
    *,
    ratio: float = 1.0,
    alpha: float = 0.05,
    alternative: str = "two-sided",
    answer: str | None = None,
) -> tuple[int, int]:
    """The least sizes from which ``group_power`` is never below ``power``.

    The second group is ``ratio`` times as large as the first, rounded up. Above 20,000 in a
    group by the normal approximation.
    """
    if not 0 < ratio < math.inf:
        raise ValueError("ratio: must be above 0")

    def second(first: int) -> int:
        return math.ceil(first * ratio * (1 - ROUNDING))

    test = _group_test(source, shares, alpha, alternative, answer, second, ratio)
    start = test.normal(power)
    first = math.ceil(start) if start * max(1, ratio) > MOST_EXACT else test.least(power)
    return first, second(first)


def _group_test(
    source: Source | tuple[Source, Source],
    shares: tuple[float, float],
    alpha: float,
    alternative: str,
    answer: str | None,
    second: Callable[[int], int],
    ratio: float = 1.0,
) -> _Test:
    """Of the first group's size, the second's being a function of it."""
    one, other = shares
    if check_share(one, "shares") == check_share(other, "shares"):
        raise ValueError("shares: the groups must differ, or there is nothing to find")
    sources = source if isinstance(source, tuple) else (source, source)
    found = [precision(each, answer, share) for each, share in zip(sources, shares, strict=True)]
    variances = [
        each.variance(share) / each.part for each, share in zip(found, shares, strict=True)
    ]
    rates = [each.rate for each in found if each.rate and each.part == 1]
    z = critical(alpha, alternative)
    sides = _sides(other, one, alternative, -math.inf, math.inf)

    def power(n: int) -> float:
        if len(rates) == 2:
            return two_binomials_power((n, second(n)), rates, shares, z, *sides)
        se = math.sqrt(variances[0] / n + variances[1] / second(n))
        return normal_power(one - other, se, se, alpha, alternative)

    sd = math.sqrt(variances[0] + variances[1] / ratio) / abs(one - other)
    gap = abs(one - other) * min([1.0, *(p - q for p, q in rates)])
    return _Test(lambda sizes: np.array([power(int(n)) for n in sizes]), sd, sd, z, alpha, gap)


def two_binomials_power(
    n: tuple[int, ...],
    rates: list[tuple[float, float]],
    shares: tuple[float, float],
    z: float,
    above: bool,
    below: bool,
) -> float:
    """Exact power of Wald's test of two shares, each estimated from a binomial count.

    For each count of the first group, the rates λ of the second that are told apart from it
    lie outside the roots of (λ − a)² = z² (s + λ(1 − λ)/(n₂ − 1)), where a is the rate that
    would give both groups one estimate and s the first's squared standard error, both on
    the second's line. ``above``: whether it may reject for a higher second share.
    """
    (p1, q1), (p2, q2) = rates
    counts = _likely(n[0], q1 + (p1 - q1) * shares[0])
    chances = stats.binom.pmf(counts, n[0], q1 + (p1 - q1) * shares[0])
    rate = counts / n[0]
    slope = (p2 - q2) / (p1 - q1)
    alike = q2 + (rate - q1) * slope
    s = rate * (1 - rate) / max(n[0] - 1, 1) * slope**2
    w = z * z / max(n[1] - 1, 1)
    half = alike + w / 2
    square = half**2 - (1 + w) * (alike**2 - z * z * s)
    root = np.sqrt(np.maximum(square, 0))
    # Without roots every count rejects.
    low = np.where(square < 0, np.inf, (half - root) / (1 + w))
    high = np.where(square < 0, np.inf, (half + root) / (1 + w))
    true = q2 + (p2 - q2) * shares[1]
    higher = stats.binom.sf(np.floor(n[1] * high), n[1], true)
    lower = stats.binom.cdf(np.ceil(n[1] * low) - 1, n[1], true)
    # No count of the second group can exceed a rate above 1, nor fall short of one below 0.
    beyond, short = alike > 1, alike < 0
    lower, higher = (
        np.where(beyond, lower + higher, np.where(short, 0, lower)),
        np.where(short, lower + higher, np.where(beyond, 0, higher)),
    )
    return float(chances @ (above * higher + below * lower))


def detectable_difference(
    source: Source,
    n: int,
    *,
    share: float = 0.5,
    power: float = 0.8,
    alpha: float = 0.05,
    answer: str | None = None,
) -> float | None:
    """The least difference between the two halves of n people that is found with ``power``.

    Shares lie evenly on both sides of ``share``. To a ten-thousandth; None if even the
    largest possible difference is not found so surely.
    """
    check_power(power, alpha)
    half = check_whole(n, "n", 2) // 2
    most = 2 * min(check_share(share), 1 - share)

    def found(step: int) -> bool:
        shares = share - step / 20_000, share + step / 20_000
        sizes = half, n - half
        return group_power(source, shares, sizes, alpha=alpha, answer=answer) >= power

    low, high = 0, math.floor(most * 10_000)
    if high == 0 or not found(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if found(middle) else (middle, high)
    return high / 10_000


# Means


def mean_power(
    question: Question,
    mean: float,
    n: int,
    *,
    null: float,
    sd: float | None = None,
    alpha: float = 0.05,
    alternative: str = "two-sided",
) -> float:
    """Chance that n responses tell the mean of a number or scale from ``null``.

    Two-point responses are a binomial count, so the test is that of ``share_power``, exactly.
    Others: Student's test on the unbiased scores, by the noncentral t distribution, with the
    variance of ``mean_variance``; ``sd`` is the spread of a number's answers.
    """
    return _mean_test(question, mean, null, sd, alpha, alternative).at(n)


def mean_sample_size(
    question: Question,
    mean: float,
    power: float = 0.8,
    *,
    null: float,
    sd: float | None = None,
    alpha: float = 0.05,
    alternative: str = "two-sided",
) -> int:
    """The least n from which ``mean_power`` is never below ``power``."""
    return _mean_test(question, mean, null, sd, alpha, alternative).least(power)


def detectable_mean_difference(
    question: Question,
    n: int,
    *,
    sd: float | None = None,
    power: float = 0.8,
    alpha: float = 0.05,
) -> float:
    """The least difference between the means of two halves of n people found with ``power``.

    (z + z_power) √(V/n₁ + V/n₂), by the normal approximation.
    """
    check_power(power, alpha)
    half = check_whole(n, "n", 2) // 2
    spread = critical(alpha, "two-sided") + stats.norm.ppf(power)
    return float(spread * math.sqrt(mean_variance(question, sd) * (1 / half + 1 / (n - half))))


def _mean_test(
    question: Question, mean: float, null: float, sd: float | None, alpha: float, alternative: str
) -> _Test:
    if question.kind not in ("number", "scale"):
        raise ValueError(f"question {question.id}: only numbers and scales have a mean")
    first, last = question_values(question)[[0, -1]]
    for name, value in (("mean", mean), ("null", null)):
        if not first <= value <= last:
            raise ValueError(f"{name}: must be from {first:g} to {last:g}, the question's range")
    if mean == null:
        raise ValueError("mean, null: must differ, or there is nothing to find")
    variance = mean_variance(question, sd, mean)
    if variance < ROUNDING * (last - first) ** 2:
        raise ValueError("sd: without spread and without noise there is nothing to test")
    law = question.law
    if isinstance(law, TwoPoint):
        # The mean, as a share of the range, is estimated as if it were an answer's share.
        total = law.truth + law.other
        share, base = ((value - first) / (last - first) for value in (mean, null))
        found = of_rate(law.truth / total, law.other / total)
        return _count_test(found, share, base, alpha, alternative)
    tail = alpha / 2 if alternative == "two-sided" else alpha
    above, below = _sides(mean, null, alternative, first, last)

    def powers(sizes: Ints) -> Floats:
        free = np.maximum(sizes - 1, 1)
        edge = stats.t.isf(tail, free)
        away = (mean - null) * np.sqrt(sizes / variance)
        # scipy has no number for some chances that are as good as none.
        higher, lower = np.nan_to_num(
            [stats.nct.sf(edge, free, away), stats.nct.cdf(-edge, free, away)]
        )
        # One response has no spread to test with.
        return np.where(sizes > 1, above * higher + below * lower, 0.0)

    away = math.sqrt(variance) / abs(mean - null)
    return _Test(powers, away, away, critical(alpha, alternative), alpha)
