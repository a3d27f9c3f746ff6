"""Power by simulation, for analyses without a formula, such as regression coefficients.

``draw(n, rng)`` makes up the data of n people and ``fit(data)`` gives an estimate and its
standard error, both as the analysis planned will have them. The test is Wald's, two-sided:
|estimate − null| > z se. For a one-sided test give ``alpha`` twice its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from scipy import optimize, special, stats

from .channel import Floats
from .planning import Source, check_share, check_whole, precision
from .power import check_power, critical
from .study import Progress

Draw: TypeAlias = Callable[[int, np.random.Generator], Any]
#: nan for an estimate says that there is none; that is no rejection.
Fit: TypeAlias = Callable[[Any], tuple[float, float]]

#: Fits that tell about where to look for a sample size, and rounds of looking closer.
PILOT, ROUNDS = 200, 3


@dataclass(frozen=True)
class SimulatedPower:
    """The share of simulated surveys in which the test rejected, with its standard error."""

    n: int
    power: float
    repetitions: int
    #: Fits that gave no estimate.
    failed: int
    alpha: float
    seed: int | None

    @property
    def se(self) -> float:
        return math.sqrt(self.power * (1 - self.power) / self.repetitions)


def simulated_power(
    draw: Draw,
    fit: Fit,
    n: int,
    *,
    null: float = 0.0,
    alpha: float = 0.05,
    repetitions: int = 1000,
    seed: int | None = None,
    progress: Progress | None = None,
) -> SimulatedPower:
    """How often the coefficient, or whatever ``fit`` estimates, is told from ``null``.

    ``progress`` is told (done, total), such as ``analysis.study.bar``.
    """
    check_whole(n, "n", 1)
    check_whole(repetitions, "repetitions", 1)
    z = critical(alpha, "two-sided")
    away = _away(draw, fit, n, null, repetitions, np.random.default_rng(seed), progress)
    failed = int(np.isnan(away).sum())
    power = float((np.abs(away) > z).mean())
    return SimulatedPower(n, power, repetitions, failed, alpha, seed)


def simulated_sample_size(
    draw: Draw,
    fit: Fit,
    power: float = 0.8,
    *,
    start: int = 1000,
    null: float = 0.0,
    alpha: float = 0.05,
    repetitions: int = 5000,
    seed: int | None = None,
    progress: Progress | None = None,
) -> SimulatedPower:
    """The n that is needed, and the power in a last, fresh simulation with that n.

    Power rises with n as Φ(c√n − z). A pilot of 200 surveys of ``start`` people gives a first
    c, three rounds of ``repetitions`` surveys near the wanted power a better one. Measured,
    n has a standard error of 2 % with 2000 repetitions; it falls with their root.
    """
    check_power(power, alpha)
    check_whole(start, "start", 2)
    check_whole(repetitions, "repetitions", 1)
    rng = np.random.default_rng(seed)
    z = critical(alpha, "two-sided")
    wanted = z + float(stats.norm.ppf(power))
    total = (ROUNDS + 1) * repetitions

    def away(n: int, times: int, before: int | None) -> Floats:
        def told(done: int, _: int) -> None:
            if progress is not None and before is not None:
                progress(before + done, total)

        return _away(draw, fit, n, null, times, rng, told)

    pilot = away(start, PILOT, None)
    known = np.abs(pilot[~np.isnan(pilot)])
    if not len(known):
        raise ValueError(f"fit: gave no estimate at all with {start} people; try a larger start")
    rise = float(np.median(known)) / math.sqrt(start)
    slopes, weights = [], []
    for number in range(ROUNDS):
        n = max(2, math.ceil((wanted / rise) ** 2))
        found = np.mean(np.abs(away(n, repetitions, number * repetitions)) > z)
        # A power of 0 or 1 would say that c has no bounds.
        near = float(np.clip(found, 0.5 / repetitions, 1 - 0.5 / repetitions))
        quantile = float(stats.norm.ppf(near))
        slopes.append(max(quantile + z, wanted / 4) / math.sqrt(n))
        weights.append(n * stats.norm.pdf(quantile) ** 2 / (near * (1 - near)))
        rise = float(np.average(slopes, weights=weights))
    n = max(2, math.ceil((wanted / rise) ** 2))
    last = away(n, repetitions, ROUNDS * repetitions)
    failed = int(np.isnan(last).sum())
    reached = float((np.abs(last) > z).mean())
    return SimulatedPower(n, reached, repetitions, failed, alpha, seed)


def _away(
    draw: Draw,
    fit: Fit,
    n: int,
    null: float,
    repetitions: int,
    rng: np.random.Generator,
    progress: Progress | None,
) -> Floats:
    """(estimate − null) / se of many surveys."""
    found = np.empty(repetitions)
    for number in range(repetitions):
        estimate, se = fit(draw(n, rng))
        found[number] = (estimate - null) / se if se > 0 else math.nan
        if progress is not None:
            progress(number + 1, repetitions)
    return found


# A logistic coefficient of a protected yes-no answer


def logistic_power(
    source: Source,
    share: float,
    odds_ratio: float,
    n: int,
    *,
    exposed: float | None = None,
    alpha: float = 0.05,
    repetitions: int = 1000,
    seed: int | None = None,
    progress: Progress | None = None,
) -> SimulatedPower:
    """Power to find an odds ratio between a predictor and a protected answer.

    logit P(answer) = a + b x with ``share`` giving the answer in all and b = ln ``odds_ratio``
    for one more of x: one standard deviation of a normal x or, with ``exposed``, 1 against 0
    where that share of people has 1. Fitted by maximum likelihood through the channel
    (Scheers & Dayton 1988; van den Hout, van der Heijden & Gilchrist 2007).
    """
    draw, fit = logistic_survey(source, share, odds_ratio, exposed)
    return simulated_power(
        draw, fit, n, alpha=alpha, repetitions=repetitions, seed=seed, progress=progress
    )


def logistic_sample_size(
    source: Source,
    share: float,
    odds_ratio: float,
    power: float = 0.8,
    *,
    exposed: float | None = None,
    alpha: float = 0.05,
    repetitions: int = 5000,
    seed: int | None = None,
    progress: Progress | None = None,
) -> SimulatedPower:
    """The n at which ``logistic_power`` is ``power``; see ``simulated_sample_size``."""
    draw, fit = logistic_survey(source, share, odds_ratio, exposed)
    # A pilot large enough for the odds at hand: that of a share told to ± 5 points.
    variance = precision(source, share=share).variance(share)
    start = max(200, math.ceil(1600 * variance))
    return simulated_sample_size(
        draw,
        fit,
        power,
        start=start,
        alpha=alpha,
        repetitions=repetitions,
        seed=seed,
        progress=progress,
    )


def logistic_survey(
    source: Source, share: float, odds_ratio: float, exposed: float | None = None
) -> tuple[Draw, Fit]:
    """What ``logistic_power`` draws and fits."""
    found = precision(source, share=share)
    if found.rate is None or found.part < 1:
        raise ValueError("source: must be a question whose responses are for or against the answer")
    if not 0 < check_share(share) < 1:
        raise ValueError("share: must be above 0 and below 1")
    if not 0 < odds_ratio < math.inf or odds_ratio == 1:
        raise ValueError("odds_ratio: must be above 0 and not 1")
    if exposed is not None and not 0 < check_share(exposed, "exposed") < 1:
        raise ValueError("exposed: must be above 0 and below 1")
    p, q = found.rate
    slope = math.log(odds_ratio)
    intercept = _intercept(share, slope, exposed)

    def draw(n: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        x = rng.standard_normal(n) if exposed is None else (rng.random(n) < exposed).astype(float)
        rate = q + (p - q) * special.expit(intercept + slope * x)
        return np.stack([np.ones(n), x], axis=1), (rng.random(n) < rate).astype(float)

    def fit(data: tuple[Floats, Floats]) -> tuple[float, float]:
        coefficients, errors = fit_logistic(*data, p, q)
        return float(coefficients[1]), float(errors[1])

    return draw, fit


def _intercept(share: float, slope: float, exposed: float | None) -> float:
    """The one with which ``share`` of all people give the answer."""
    if exposed is None:
        x, weights = stats.norm.ppf((np.arange(1000) + 0.5) / 1000), np.full(1000, 1 / 1000)
    else:
        x, weights = np.array([0.0, 1.0]), np.array([1 - exposed, exposed])
    middle, reach = float(special.logit(share)), 10 + 5 * abs(slope)
    return float(
        optimize.brentq(
            lambda a: weights @ special.expit(a + slope * x) - share, middle - reach, middle + reach
        )
    )


def fit_logistic(
    predictors: Floats, counted: Floats, p: float, q: float, steps: int = 50
) -> tuple[Floats, Floats]:
    """Coefficients and standard errors by Fisher scoring; nan where it does not settle.

    P(response counts) = q + (p − q) expit(xβ).
    """
    nothing = np.full(predictors.shape[1], np.nan)
    beta = np.zeros(predictors.shape[1])
    for _ in range(steps):
        chance = special.expit(predictors @ beta)
        rate = q + (p - q) * chance
        weight = (p - q) * chance * (1 - chance)
        spread = np.maximum(rate * (1 - rate), 1e-12)
        information = (predictors.T * (weight**2 / spread)) @ predictors
        if np.linalg.cond(information) > 1e10:
            return nothing, nothing
        move = np.linalg.solve(information, predictors.T @ (weight * (counted - rate) / spread))
        beta = beta + move * min(1.0, 2 / max(np.abs(move).max(), 1e-300))
        if np.abs(move).max() < 1e-8:
            return beta, np.sqrt(np.diag(np.linalg.inv(information)))
    return nothing, nothing
