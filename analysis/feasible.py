"""Maximum likelihood of the shares of answers, on the simplex: every share from 0 to 1.

Closed form for k-ary laws. For general tables by EM (Dempster, Laird & Rubin 1977),
π ← π · Pᵀ(c / Pπ) / n, sped up by squared extrapolation (Varadhan & Roland 2008). Sets and
points bend the likelihood alike in all directions, so that projected gradients get there in
a few steps, where EM would take thousands. Both stop when the likelihood provably cannot rise
any more (Lindsay 1983).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import comb

import numpy as np

from respondent.laws import Distance, KAry, Law, Plain, Projective, Subset, Wave

from .channel import Floats, channel, orthogonal_sums, set_members
from .tally import Tally

#: The log-likelihood reached is this close to the largest.
CLOSE = 1e-7
#: The same for laws with so many answers that steps are slow.
CLOSE_LONG = 1e-2


@dataclass(frozen=True, eq=False)
class Likelihood:
    """Chances of the observed responses as a function of shares, without a written matrix."""

    counts: Floats
    answers: int
    #: Shares of answers → chances of the observed responses.
    forward: Callable[[Floats], Floats]
    #: Values of the observed responses → their expectations under each answer.
    backward: Callable[[Floats], Floats]


def feasible_shares(law: Law, tally: Tally) -> Floats:
    """The likeliest shares of answers."""
    if isinstance(law, Plain):
        return tally.dense() / tally.n
    if isinstance(law, KAry):
        return k_ary_shares(tally.dense().astype(float), float(law.p), float(law.q))
    if law.responses == law.answers == 2:
        return binary_shares(tally.dense() / tally.n, channel(law))
    problem = likelihood(law, tally)
    if isinstance(law, Subset | Projective):
        close = CLOSE_LONG if law.answers > 2000 else CLOSE
        return maximise_evenly(problem, bend(law), close)
    return maximise(problem)


def binary_shares(rates: Floats, matrix: Floats) -> Floats:
    """Two answers and two responses: the likelihood has one peak, so [0, 1] cuts it off."""
    share = (rates[0] - matrix[0, 1]) / (matrix[0, 0] - matrix[0, 1])
    share = min(max(float(share), 0.0), 1.0)
    return np.array([share, 1 - share])


def k_ary_shares(counts: Floats, p: float, q: float) -> Floats:
    """Closed form of the maximum for a k-ary law.

    λᵢ = q + (p − q)πᵢ. Where πᵢ > 0 the likeliest λᵢ is proportional to the count, the
    others stay at q: answers are let in, the most frequent first, while that raises π.
    """
    order = np.argsort(-counts if p > q else counts, kind="stable")
    ranked = counts[order]
    inside = np.arange(1, len(counts) + 1)
    mass = 1 - q * (len(counts) - inside)
    with np.errstate(divide="ignore", invalid="ignore"):
        rates = ranked * mass / np.cumsum(ranked)
    # Nothing counted so far: alike rates are the limit.
    rates = np.where(np.cumsum(ranked) > 0, rates, mass / inside)
    positive = (rates - q) / (p - q) > 0
    positive[0] = True
    size = int(np.flatnonzero(positive)[-1]) + 1
    total = ranked[:size].sum()
    share = ranked[:size] / total if total > 0 else np.full(size, 1 / size)
    found = np.zeros(len(counts))
    found[order[:size]] = (share * mass[size - 1] - q) / (p - q)
    found = np.maximum(found, 0)
    return np.asarray(found / found.sum())


def likelihood(law: Law, tally: Tally) -> Likelihood:
    """The law's likelihood of the observed responses, in the form that costs least."""
    counts = tally.counts.astype(float)
    if isinstance(law, Projective):
        return _projective(law, tally)
    if isinstance(law, Subset):
        return _subset(law, tally)
    if isinstance(law, Wave):
        return _wave(law, tally)
    if isinstance(law, Distance) and law.responses * law.answers > 2**20:
        return _distance(law, tally)
    matrix = channel(law)[tally.responses]
    return Likelihood(counts, law.answers, lambda pi: pi @ matrix.T, lambda r: r @ matrix)


def _projective(law: Projective, tally: Tally) -> Likelihood:
    total = law.total(0)
    step = (law.inside - law.outside) / total
    base = law.outside / total

    def forward(pi: Floats) -> Floats:
        padded = np.zeros(law.responses)
        padded[: law.answers] = pi
        return np.asarray(base * pi.sum() + step * orthogonal_sums(law, padded)[tally.responses])

    def backward(values: Floats) -> Floats:
        padded = np.zeros(law.responses)
        padded[tally.responses] = values
        return np.asarray(base * values.sum() + step * orthogonal_sums(law, padded)[: law.answers])

    return Likelihood(tally.counts.astype(float), law.answers, forward, backward)


def _subset(law: Subset, tally: Tally) -> Likelihood:
    members = set_members(tally.responses, law.answers, law.size)
    total = float(law.total(0))
    step, base = (law.inside - law.outside) / total, law.outside / total

    def forward(pi: Floats) -> Floats:
        return np.asarray(base * pi.sum() + step * pi[members].sum(axis=1))

    def backward(values: Floats) -> Floats:
        weights = np.repeat(values, law.size)
        found = np.bincount(members.ravel(), weights=weights, minlength=law.answers)
        return np.asarray(base * values.sum() + step * found)

    return Likelihood(tally.counts.astype(float), law.answers, forward, backward)


def _wave(law: Wave, tally: Tally) -> Likelihood:
    """Sums over windows by differences of running sums; also for several rows at once."""
    width, total = 2 * law.half_width + 1, law.total(0)
    step, base = (law.near - law.far) / total, law.far / total
    answers = np.arange(law.answers)
    first = np.maximum(tally.responses - width + 1, 0)
    last = np.minimum(tally.responses, law.steps)

    def forward(pi: Floats) -> Floats:
        sums = _running(pi)
        return np.asarray(base * sums[..., -1:] + step * (sums[..., last + 1] - sums[..., first]))

    def backward(values: Floats) -> Floats:
        padded = np.zeros((*values.shape[:-1], law.responses))
        padded[..., tally.responses] = values
        sums = _running(padded)
        windows = sums[..., answers + width] - sums[..., answers]
        return np.asarray(base * sums[..., -1:] + step * windows)

    return Likelihood(tally.counts.astype(float), law.answers, forward, backward)


def _running(values: Floats) -> Floats:
    zero = np.zeros((*values.shape[:-1], 1))
    return np.concatenate([zero, np.cumsum(values, axis=-1)], axis=-1)


def _distance(law: Distance, tally: Tally) -> Likelihood:
    forward, backward = distance_operators(law)

    def observed(pi: Floats) -> Floats:
        return forward(pi)[..., tally.responses]

    def padded(values: Floats) -> Floats:
        full = np.zeros((*values.shape[:-1], law.responses))
        full[..., tally.responses] = values
        return backward(full)

    return Likelihood(tally.counts.astype(float), law.answers, observed, padded)


def distance_operators(
    law: Distance,
) -> tuple[Callable[[Floats], Floats], Callable[[Floats], Floats]]:
    """P and Pᵀ of a distance law by convolution; the two end cells are rows of their own."""
    from scipy.signal import fftconvolve

    total = float(law.total(0))
    weights = np.array(law.weights, dtype=float) / total
    tails = np.cumsum(weights[::-1])[::-1]
    kernel = np.concatenate([weights[::-1], weights[1:]])
    reach = len(weights) - 1
    low_end = tails[law.margin : law.margin + law.answers]
    high_end = low_end[::-1]

    def convolve(values: Floats, start: int, size: int) -> Floats:
        shape = (1,) * (values.ndim - 1) + kernel.shape
        full = fftconvolve(values, kernel.reshape(shape), axes=-1)
        return np.asarray(full[..., start : start + size])

    def forward(pi: Floats) -> Floats:
        found = np.maximum(convolve(pi, reach - law.margin, law.responses), 1e-300)
        found[..., 0] = pi @ low_end
        found[..., -1] = pi @ high_end
        return found

    def backward(values: Floats) -> Floats:
        inner = values.copy()
        inner[..., 0] = inner[..., -1] = 0
        found = convolve(inner, reach + law.margin, law.answers)
        return found + values[..., :1] * low_end + values[..., -1:] * high_end

    return forward, backward


def bend(law: Subset | Projective) -> float:
    """Curvature, for one response, of the log-likelihood where all responses are alike.

    Pᵀ Λ⁻¹ P = h 1 on differences of shares; h = R Σ_y (P(y|0) − P(y|1))² / 2, and the two
    chances differ for the responses that support one of the two answers only.
    """
    if isinstance(law, Subset):
        responses: int = law.responses
        apart = comb(law.answers - 2, law.size - 1)
    else:
        responses = law.points(law.dimension)
        apart = law.points(law.dimension - 1) - law.points(law.dimension - 2)
    step = (law.inside - law.outside) / law.total(0)
    return float(responses * apart * step * step)


def to_simplex(values: Floats) -> Floats:
    """The nearest shares: all lowered alike, those below 0 set to 0."""
    ranked = np.sort(values)[::-1]
    lower = (np.cumsum(ranked) - 1) / np.arange(1, len(values) + 1)
    return np.asarray(np.maximum(values - lower[np.flatnonzero(ranked > lower)[-1]], 0))


def maximise_evenly(
    problem: Likelihood, bend: float, close: float = CLOSE, steps: int = 1000
) -> Floats:
    """Projected gradient: π ← nearest shares to π + (D − 1)/h, h raised where that overshoots.

    D and the stopping rule are those of ``maximise``.
    """
    n = problem.counts.sum()
    pi = np.full(problem.answers, 1 / problem.answers)
    chances = problem.forward(pi)
    value = float(problem.counts @ np.log(chances))
    for _ in range(steps):
        slope = problem.backward(problem.counts / chances) / n
        # Lindsay's bound, with what is missing from a sum of 1 by rounding.
        if n * (slope.max() - 1) <= close:
            break
        while True:
            new = to_simplex(pi + (slope - 1) / bend)
            chances = problem.forward(new)
            reached = float(problem.counts @ np.log(chances))
            if reached >= value or bend > 1e12:
                break
            bend *= 2
        if reached - value <= close * 1e-3:
            pi = new
            break
        pi, value, bend = new, reached, bend * 0.9
    return pi


def maximise(problem: Likelihood, close: float = CLOSE, steps: int = 5000) -> Floats:
    """EM with squared extrapolation, from equal shares.

    D = Pᵀ(c / Pπ) / n is at most 1 everywhere at the maximum, and the log-likelihood is
    within n (max D − 1) of it anywhere else.
    """
    n = problem.counts.sum()

    def gradient(pi: Floats) -> tuple[Floats, float]:
        chances = problem.forward(pi)
        value = float(problem.counts @ np.log(chances))
        return problem.backward(problem.counts / chances) / n, value

    pi = np.full(problem.answers, 1 / problem.answers)
    for _ in range(steps):
        slope, value = gradient(pi)
        if n * (slope.max() - 1) <= close:
            break
        one = pi * slope
        two = one * gradient(one)[0]
        pi = _extrapolate(pi, one, two)
        if gradient(pi)[1] < value:
            pi = two
        # Rounding drifts; and a share of exactly 0 could never rise again.
        pi = np.maximum(pi, 1e-300)
        pi = pi / pi.sum()
    return np.where(pi < 1e-12, 0.0, pi)


def _extrapolate(start: Floats, one: Floats, two: Floats) -> Floats:
    step, bend = one - start, (two - one) - (one - start)
    size = float(np.linalg.norm(bend))
    if size == 0:
        return two
    length = max(1.0, float(np.linalg.norm(step)) / size)
    found = start + 2 * length * step + length**2 * bend
    return np.asarray(np.maximum(found, two * 1e-3))
