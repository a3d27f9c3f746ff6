"""Odds ratios of randomised answers, with intervals from the profile likelihood.

For answers i, i′ to one question and j, j′ to another, ψ = π(i,j) π(i′,j′) / (π(i,j′) π(i′,j)).
The interval holds every ψ with 2(max ℓ − max ℓ given ψ) ≤ χ²₁. Unlike log ψ̂ ± z se it
is right in small surveys, and ends at 0 or ∞ where the table is at its edge.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import xlogy

from .channel import Floats, Ints
from .intervals import Interval, normal_quantile
from .joint import Fit, Stratum, size

#: Odds ratios beyond exp of this are as good as 0 or ∞.
MOST = 18.0
#: n Σ (change)² / share of an EM step that is small enough to stop at.
STILL = 1e-9
STEPS = 2000
#: How close to its distance an end must be, and how close to the end the search may stop.
CLOSE = 1e-6
#: Answers are given by place: (this, that) of the one question, (this, that) of the other.
Block = tuple[tuple[int, int], tuple[int, int]]
#: (numbers of surveys, log ψ of each) → how far from the maximum.
Distance = Callable[[Ints, Floats], Floats]

EDGE = "at the edge of the possible"
OPEN = "the interval reaches the edge of the possible"


@dataclass(frozen=True)
class OddsRatio:
    """How many times the odds of ``answers[1]`` are higher given ``answers[0]``, this to that."""

    questions: tuple[str, str]
    answers: tuple[tuple[str, str], tuple[str, str]]
    estimate: float
    #: Of the logarithm, by the delta method; not a number at the edge.
    log_se: float
    low: float
    high: float
    level: float
    flag: str = ""


def odds_ratio(parts: Sequence[Stratum], block: Block, level: float, fit: Fit) -> dict[str, float]:
    """Estimate, log_se, low and high of one table of two questions."""
    found = odds_ratios(parts, block, level, [fit])
    return {name: float(values[0]) for name, values in found.items()}


def odds_ratios(
    parts: Sequence[Stratum], block: Block, level: float, fits: Sequence[Fit]
) -> dict[str, Floats]:
    """Of many surveys side by side, each with its own maximum-likelihood fit."""
    batch = [_side_by_side(part) for part in parts]
    shares = np.stack([np.where(each.zeros, 0.0, each.shares) for each in fits])
    top = np.array([each.log_likelihood for each in fits])
    corners = _corners(shares, block)
    log_se = _log_se(batch, shares, block)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_ratio = np.log(corners) @ SIGNS
    middle = np.clip(np.nan_to_num(log_ratio, nan=0.0), -MOST, MOST)

    def distance(chosen: Ints, log_psi: Floats) -> Floats:
        """√ of the likelihood-ratio statistic of these surveys' odds ratios."""
        some = [replace(part, counts=part.counts[chosen]) for part in batch]
        reached = profile(some, block, log_psi, shares[chosen])
        return np.sqrt(np.maximum(2 * (top[chosen] - reached), 0))

    low, high = _ends(distance, middle, log_se, normal_quantile(level))
    with np.errstate(over="ignore"):
        estimate, ends = np.exp(log_ratio), (np.exp(low), np.exp(high))
    return {"estimate": estimate, "log_se": log_se, "low": ends[0], "high": ends[1]}


#: Signs of the logarithms of the four shares in that of the odds ratio.
SIGNS = np.array([1.0, -1.0, -1.0, 1.0])
#: The four shares with their columns swapped.
SWAPPED = [1, 0, 3, 2]


def _side_by_side(part: Stratum) -> Stratum:
    return part if part.counts.ndim == 3 else replace(part, counts=part.counts[None])


def _places(block: Block) -> tuple[list[int], list[int]]:
    (i, other_i), (j, other_j) = block
    return [i, i, other_i, other_i], [j, other_j, j, other_j]


def _corners(shares: Floats, block: Block) -> Floats:
    rows, columns = _places(block)
    return np.asarray(shares[..., rows, columns])


def _log_se(parts: Sequence[Stratum], shares: Floats, block: Block) -> Floats:
    """Delta method: the variance of Σ ± L(cell) / π(cell) over respondents."""
    rows, columns = _places(block)
    slope = np.zeros_like(shares)
    with np.errstate(divide="ignore"):
        slope[..., rows, columns] = SIGNS / _corners(shares, block)
    edge = ~np.isfinite(slope).all(axis=(-2, -1))
    slope[edge] = 0
    first, second = np.zeros(len(shares)), np.zeros(len(shares))
    n = size(parts)[:, 0, 0]
    for part in parts:
        one, other = part.inverses
        worth = one.T @ slope @ other
        first += (worth * part.counts).sum(axis=(-2, -1)) / n
        second += (worth**2 * part.counts).sum(axis=(-2, -1)) / n
    variance = np.maximum(second - first**2, 0) / np.maximum(n - 1, 1)
    return np.where(edge, np.nan, np.sqrt(variance))


# Profile likelihood


def profile(parts: Sequence[Stratum], block: Block, log_psi: Floats, near: Floats) -> Floats:
    """The largest log-likelihood with this odds ratio, for each survey.

    The tables with one odds ratio are no convex set: towards ψ = 0 and ∞ there is a peak on
    either side, where one or the other of two shares vanishes. So EM climbs from three
    places, from ``near`` and from both sides, and the highest peak counts.
    """
    rows, columns = _places(block)
    even = np.full(near.shape[1:], 1 / near[0].size)
    starts = [np.maximum(near, 1e-4)]
    for one, other in ((1, 2), (0, 3)):
        # Off the diagonal for ψ > 1, on it for ψ < 1.
        for cell in (one, other):
            side = even.copy()
            side[rows[cell], columns[cell]] *= 20
            starts.append(np.broadcast_to(side, near.shape))
    above = (log_psi > 0)[:, None, None]
    chosen = [starts[0], np.where(above, starts[1], starts[3]), np.where(above, *starts[2::2])]
    surveys = len(near)
    many = [replace(part, counts=np.concatenate([part.counts] * 3)) for part in parts]
    reached = climb(many, block, np.tile(log_psi, 3), np.concatenate(chosen))
    return np.asarray(reached.reshape(3, surveys).max(axis=0))


def climb(parts: Sequence[Stratum], block: Block, log_psi: Floats, shares: Floats) -> Floats:
    """EM with squared extrapolation among the tables with these odds ratios.

    The M-step keeps the margins of the four expected counts and gives them the odds ratio,
    as maximum likelihood does in the complete table (an exponential family).
    """
    n = size(parts)
    shares = _with_odds(shares / shares.sum(axis=(1, 2), keepdims=True), block, log_psi)
    final = np.empty(len(shares))
    left = np.arange(len(shares))
    counts = [part.counts for part in parts]

    def step(table: Floats, psi: Floats) -> tuple[Floats, Floats]:
        total, value = np.zeros_like(table), np.zeros(len(table))
        for part, sent in zip(parts, counts, strict=True):
            one, other = part.channels
            chances = np.maximum(one @ table @ other.T, 1e-300)
            value += xlogy(sent, chances).sum(axis=(1, 2))
            total += one.T @ (sent / chances) @ other
        return _with_odds(table * total / n, block, psi), value

    for _ in range(STEPS):
        one, value = step(shares, log_psi)
        moved = (n * (one - shares) ** 2 / shares).sum(axis=(1, 2))
        final[left] = value
        going = moved > STILL
        if not going.any():
            break
        left, log_psi, n = left[going], log_psi[going], n[going]
        counts = [sent[going] for sent in counts]
        shares, one = shares[going], one[going]
        two, before = step(one, log_psi)
        leap = _with_odds(_leap(shares, one, two), block, log_psi)
        new, after = step(leap, log_psi)
        shares = np.where((after >= before)[:, None, None], new, two)
    return final


def _leap(start: Floats, one: Floats, two: Floats) -> Floats:
    """Squared extrapolation (Varadhan & Roland 2008), kept within the possible."""
    step, bend = one - start, two - 2 * one + start
    ratio = (step**2).sum(axis=(1, 2)) / np.maximum((bend**2).sum(axis=(1, 2)), 1e-300)
    length = np.clip(np.sqrt(ratio), 1, 1e6)[:, None, None]
    found = np.maximum(start + 2 * length * step + length**2 * bend, two * 1e-3)
    return np.asarray(found / found.sum(axis=(1, 2), keepdims=True))


def _with_odds(table: Floats, block: Block, log_psi: Floats) -> Floats:
    """Four cells changed to have the odds ratio ψ, their margins as they were.

    With ψ ≥ 1, d = |row − column|, and s the smaller of the two cells off the diagonal, the
    other being s + d: (ψ − 1)s² + (t + (ψ − 1)d)s = min(row, column) (t − max(row, column))
    for t the sum of the four, solved in the form that loses no digits. ψ < 1 by swapping
    columns.
    """
    rows, columns = _places(block)
    cells = table[:, rows, columns]
    flip = log_psi < 0
    cells[flip] = cells[flip][:, SWAPPED]
    row, column, total = cells[:, 0] + cells[:, 1], cells[:, 0] + cells[:, 2], cells.sum(axis=1)
    least, most = np.minimum(row, column), np.maximum(row, column)
    a = np.exp(np.abs(log_psi)) - 1
    b, c = total + a * (most - least), least * (total - most)
    small = 2 * c / (b + np.sqrt(b * b + 4 * a * c))
    over = small + np.maximum(row - column, 0), small + np.maximum(column - row, 0)
    found = np.stack([least - small, *over, total - most - small], axis=1)
    found = np.maximum(found, 1e-300)
    found[flip] = found[flip][:, SWAPPED]
    result = table.copy()
    result[:, rows, columns] = found
    return result


# Where the profile crosses


def _ends(distance: Distance, middle: Floats, log_se: Floats, z: float) -> Interval:
    """log ψ on both sides of the middle at distance z; infinite where it never gets there."""
    width = np.where(np.isfinite(log_se), z * log_se, 1.0)
    width = np.clip(width, 0.05, 4.0)
    low, high = (_end(distance, middle, sign * width, z) for sign in (-1, 1))
    return low, high


def _end(distance: Distance, middle: Floats, width: Floats, z: float) -> Floats:
    inside, below = middle.copy(), np.full_like(middle, -z)
    outside = np.clip(middle + width, -MOST, MOST)
    above = distance(np.arange(len(middle), dtype=np.int64), outside) - z
    while True:
        short = np.flatnonzero((above < 0) & (np.abs(outside) < MOST))
        if not len(short):
            break
        inside[short], below[short] = outside[short], above[short]
        outside[short] = np.clip(2 * outside[short] - middle[short], -MOST, MOST)
        above[short] = distance(short, outside[short]) - z
    found = np.where(above < 0, np.sign(width) * np.inf, outside)
    left = np.flatnonzero(above > 0)
    for _ in range(60):
        if not len(left):
            break
        # The distance is nearly straight in log ψ: false position, halving a side that stays.
        a, b, fa, fb = inside[left], outside[left], below[left], above[left]
        guess = b - fb * (b - a) / (fb - fa)
        found[left] = guess
        done = np.abs(b - a) < CLOSE
        value = distance(left, guess) - z
        done |= np.abs(value) < CLOSE
        up = value >= 0
        outside[left], above[left] = np.where(up, guess, b), np.where(up, value, fb / 2)
        inside[left], below[left] = np.where(up, a, guess), np.where(up, fa / 2, value)
        left = left[~done]
    return found
