"""Means of scores: each response is worth a number whose expectation is the answer's."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from .channel import Floats
from .intervals import bounded_score, check_level

#: What a flag number says. Tables show these words.
FLAGS = (
    "",
    "outside the possible",
    "outside the possible: likelihood-ratio interval",
    "nobody drew it: no estimate",
    "one response: nothing is excluded",
)
OUTSIDE, BOUNDED, UNDRAWN, SINGLE = 1, 2, 3, 4

#: Estimates closer than this to the possible count as possible: they differ by rounding.
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Arrays:
    """Estimates side by side, perhaps of many surveys: the last axis is the answer."""

    noisy: Floats
    estimate: Floats
    se: Floats
    low: Floats
    high: Floats
    flag: Floats


def mean_interval(
    scores: Floats,
    counts: Floats,
    level: float,
    ends: tuple[float, float],
    floor: float = 0.0,
    noise: Floats | None = None,
) -> Arrays:
    """Mean of scores with Student's interval, for the population.

    x̄ ± t s/√n with s² the variance of the scores, divisor n − 1, but at least ``floor``:
    the least variance that the law gives any answer, which no population can be below.
    ``noise`` replaces s² where only the law's own noise counts (target: respondents).
    With one response the interval is all that is possible. Where it lies wholly outside
    ``ends``, the likelihood-ratio interval between them takes its place.

    ``counts[..., response]`` may hold many surveys; the result drops that axis.
    """
    n = counts.sum(axis=-1)
    estimate = counts @ scores / n
    spread = np.maximum(counts @ scores**2 / n - estimate**2, 0) * n / np.maximum(n - 1, 1)
    variance = np.maximum(spread if noise is None else noise, floor)
    se = np.sqrt(variance / n)
    width = student.ppf((1 + check_level(level)) / 2, np.maximum(n - 1, 1)) * se
    low, high = estimate - width, estimate + width
    first, last = ends
    flag = np.where((estimate < first - ROUNDING) | (estimate > last + ROUNDING), OUTSIDE, 0)
    away = (high <= first) | (low >= last)
    size = last - first
    bounded = bounded_score(
        (estimate - first) / size, n, level, (variance / size**2, np.zeros_like(variance), 0.0)
    )
    low = np.where(away, first + size * bounded[0], low)
    high = np.where(away, first + size * bounded[1], high)
    low, high = np.where(n == 1, first, low), np.where(n == 1, last, high)
    flag = np.where(away, BOUNDED, flag)
    flag = np.where(n == 1, SINGLE, flag)
    return Arrays(estimate, estimate, se, low, high, flag)
