"""Confidence intervals for rates, and for estimates that are straight lines of them.

Each function takes arrays as well as numbers and returns (low, high). All speak about the
population that the responses are a random sample of, unless they say otherwise.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy.special import betaincinv, xlogy
from scipy.stats import chi2, norm

from .channel import Bools, Floats

Interval = tuple[Floats, Floats]
#: (successes, n, level) → interval of a binomial rate.
BinomialInterval = Callable[[npt.ArrayLike, npt.ArrayLike, float], Interval]


def check_level(level: float) -> float:
    if isinstance(level, bool) or not isinstance(level, int | float):
        raise TypeError("level: must be a number such as 0.95")
    if not 0 < level < 1:
        raise ValueError("level: must be between 0 and 1, such as 0.95")
    return float(level)


def normal_quantile(level: float) -> float:
    """z with P(|Z| ≤ z) = level."""
    return float(norm.ppf((1 + check_level(level)) / 2))


def bonferroni(level: float, intervals: int) -> float:
    """The level of each of several intervals that hold all at once with ``level``."""
    return 1 - (1 - check_level(level)) / intervals


def wilson(successes: npt.ArrayLike, n: npt.ArrayLike, level: float = 0.95) -> Interval:
    """Score interval of a binomial rate (Wilson 1927): rates λ with n(λ̂−λ)² ≤ z²λ(1−λ).

    Equals ``scipy.stats.binomtest(...).proportion_ci(level, "wilson")``, for arrays.
    """
    successes, n = np.asarray(successes, dtype=float), np.asarray(n, dtype=float)
    z = normal_quantile(level)
    share = successes / n
    centre = share + z * z / (2 * n)
    half = z * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    low = np.where(successes == 0, 0.0, (centre - half) / scale)
    high = np.where(successes == n, 1.0, (centre + half) / scale)
    return low, high


def clopper_pearson(successes: npt.ArrayLike, n: npt.ArrayLike, level: float = 0.95) -> Interval:
    """Exact interval of a binomial rate (Clopper & Pearson 1934): covers at least ``level``."""
    successes, n = np.asarray(successes, dtype=float), np.asarray(n, dtype=float)
    tail = (1 - check_level(level)) / 2
    least, most = np.maximum(successes, 0.5), np.minimum(successes, n - 0.5)
    low = np.where(successes == 0, 0.0, betaincinv(least, n - least + 1, tail))
    high = np.where(successes == n, 1.0, betaincinv(most + 1, n - most, 1 - tail))
    return low, high


def likelihood_ratio(
    successes: npt.ArrayLike,
    n: npt.ArrayLike,
    level: float = 0.95,
    least: float = 0.0,
    most: float = 1.0,
) -> Interval:
    """Rates λ in [least, most] with 2(max ℓ − ℓ(λ)) ≤ χ²₁, the maximum taken over the same.

    Never empty: it holds the rate in [least, most] that is the likeliest.
    """
    successes, n = np.broadcast_arrays(
        np.asarray(successes, dtype=float), np.asarray(n, dtype=float)
    )
    limit = float(chi2.ppf(check_level(level), 1))
    best = np.clip(successes / n, least, most)
    top = _log_likelihood(successes, n, best)

    def inside(rate: Floats) -> Bools:
        return np.asarray(2 * (top - _log_likelihood(successes, n, rate)) <= limit)

    return (
        _edge(inside, best, np.full_like(best, least)),
        _edge(inside, best, np.full_like(best, most)),
    )


def _log_likelihood(successes: Floats, n: Floats, rate: Floats) -> Floats:
    return np.asarray(xlogy(successes, rate) + xlogy(n - successes, 1 - rate))


def _edge(inside: Callable[[Floats], Bools], within: Floats, beyond: Floats) -> Floats:
    """Where, between a rate that is inside and one that may not be, the inside ends."""
    good, bad = within.copy(), beyond.copy()
    for _ in range(60):
        middle = (good + bad) / 2
        holds = inside(middle)
        good, bad = np.where(holds, middle, good), np.where(holds, bad, middle)
    return np.where(inside(beyond), beyond, good)


def through_line(interval: Interval, p: float, q: float) -> Interval:
    """Rates λ = q + (p − q) π to shares π: (λ − q) / (p − q), the smaller end first."""
    ends = (interval[0] - q) / (p - q), (interval[1] - q) / (p - q)
    return ends if p > q else (ends[1], ends[0])


def score(
    estimate: npt.ArrayLike,
    n: npt.ArrayLike,
    level: float,
    variance: tuple[npt.ArrayLike, npt.ArrayLike, float],
) -> Interval:
    """Wilson's interval of a mean whose variance depends on what is estimated.

    Values θ with n(θ̂−θ)² ≤ z²V(θ), where V(θ) = v₀ + v₁θ + v₂θ², v₂ ≤ 0, is the variance
    of one response's part; nan where no θ fulfils that. A binomial share mapped through
    its line gives the same as ``through_line(wilson(…))``.
    """
    estimate, n = np.asarray(estimate, dtype=float), np.asarray(n, dtype=float)
    z2 = normal_quantile(level) ** 2
    v0, v1, v2 = np.asarray(variance[0], dtype=float), np.asarray(variance[1]), variance[2]
    a = n - z2 * v2
    b = n * estimate + z2 * v1 / 2
    root = _root(b * b - a * (n * estimate**2 - z2 * v0))
    return (b - root) / a, (b + root) / a


def bounded_score(
    estimate: npt.ArrayLike,
    n: npt.ArrayLike,
    level: float,
    variance: tuple[npt.ArrayLike, npt.ArrayLike, float],
) -> Interval:
    """Likelihood-ratio interval on [0, 1] of a normal estimate that lies outside.

    Values θ in [0, 1] with n((θ̂−θ)² − (θ̂−c)²) ≤ z²V(θ), c the end of [0, 1] nearest to
    θ̂. Holds c, so it is never empty.
    """
    estimate = np.asarray(estimate, dtype=float)
    near = np.clip(estimate, 0, 1)
    n = np.asarray(n, dtype=float)
    z2 = normal_quantile(level) ** 2
    v0, v1, v2 = np.asarray(variance[0], dtype=float), np.asarray(variance[1]), variance[2]
    a = n - z2 * v2
    b = n * estimate + z2 * v1 / 2
    root = _root(b * b - a * (n * (2 * estimate * near - near**2) - z2 * v0))
    far = np.clip(np.where(near == 0, (b + root) / a, (b - root) / a), 0, 1)
    far = np.where(np.isnan(far), near, far)
    return np.minimum(near, far), np.maximum(near, far)


def _root(square: Floats) -> Floats:
    return np.where(square >= 0, np.sqrt(np.maximum(square, 0)), np.nan)


def goodman(counts: npt.ArrayLike, level: float = 0.95) -> Interval:
    """Intervals of all k shares of a multinomial at once (Goodman 1965).

    Wilson's intervals, each at level 1 − (1 − level)/k.
    """
    counts = np.asarray(counts, dtype=float)
    return wilson(counts, counts.sum(), bonferroni(level, counts.size))
