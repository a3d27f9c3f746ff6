"""The top of a likelihood: EM at first, then Newton's method, from several starts.

A likelihood with hidden answers need not be concave. So where the observed information is no
guide, EM steps are taken (Lange 1995: one Newton step on the complete-data likelihood, which
cannot lead down), every step is halved until it leads up, and other starts are tried.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol, Self

import numpy as np
from scipy.linalg import eigh

from .channel import Bools, Floats

#: Steps by EM before Newton's method.
EM_STEPS = 2
MOST_STEPS = 200
#: A climb ends with the step before which less than this log-likelihood was to be gained.
GAIN = 1e-9
#: The same for other starts, which are climbed from on at most so many rows and steps.
OTHER_GAIN, MOST_ROWS, OTHER_STEPS = 1e-3, 2_000, 25
#: Values that differ by less are taken for the same top.
SAME = 1e-4
#: How many other starts are tried, and how many if the doubt about predictors is above this.
#: Measured: doubt below 0.25, which is 0.5 in logits, went with one top only.
FEW, MANY, UNSURE = 2, 40, 0.15
#: A top that is lower by less than this, but not by rounding, is told of: coefficients there
#: are within the 95 % region.
RIVAL, ROUNDING = 1.92, 0.01
#: A top is flat if far away in some direction the likelihood is lower by less than this.
FLAT = 1e-3


@dataclass(frozen=True, eq=False)
class Slopes:
    """A log-likelihood at one place. ``information`` is minus its second derivatives;
    ``complete`` gives that of the complete data, which is never negative."""

    value: float
    gradient: Floats
    information: Floats
    complete: Callable[[], Floats]


class Hill(Protocol):
    """A log-likelihood to be climbed."""

    @property
    def n(self) -> int: ...

    def slopes(self, place: Floats) -> Slopes: ...

    def start(self) -> Floats: ...

    @property
    def scale(self) -> Floats:
        """The complete data's information at the start."""

    def other_starts(self, many: int) -> list[Floats]: ...

    def sample(self, rows: int) -> Self: ...


@dataclass(frozen=True, eq=False)
class Top:
    """Where a climb ended. A search adds by how much the next top that it saw is lower, and
    the doubt that is left about predictors."""

    place: Floats
    slopes: Slopes
    converged: bool
    rival: float = math.inf
    doubt: float = 0.0

    @property
    def value(self) -> float:
        return self.slopes.value


def search(hill: Hill, free: Bools | None = None) -> Top:
    """The highest top found from all starts; coordinates that are not ``free`` stay 0.

    Other starts are tried on a sample of the rows; one that leads higher there is then
    followed on all of them.
    """
    best = climb(hill, _kept(hill.start(), free), free)
    small = hill.sample(MOST_ROWS)
    near = best if small is hill else climb(small, best.place, free)
    seen = [near.value]
    doubt = _doubt(hill, best, free)
    for start in hill.other_starts(MANY if doubt > UNSURE else FEW):
        other = climb(small, _kept(start, free), free, OTHER_STEPS, OTHER_GAIN)
        if other.converged:
            seen.append(other.value)
        if other.value > near.value + SAME:
            again = climb(hill, other.place, free)
            if again.value > best.value:
                best, near = again, other
    gaps = [near.value - value for value in seen if near.value - value > ROUNDING]
    rival = min(gaps, default=math.inf) if small is hill else math.inf
    return replace(best, rival=rival, doubt=_doubt(hill, best, free))


def _doubt(hill: Hill, top: Top, free: Bools | None) -> float:
    """The error of predictors, in units of the complete data's information on each at the
    start: √(trace(V B)/n), V the covariance of the coordinates and B that information."""
    complete = hill.scale
    kept = np.ones(len(complete), dtype=bool) if free is None else free
    found = solved(top.slopes.information[np.ix_(kept, kept)], complete[np.ix_(kept, kept)])
    return math.inf if found is None else math.sqrt(np.trace(found) / hill.n)


def climb(
    hill: Hill,
    place: Floats,
    free: Bools | None = None,
    most: int = MOST_STEPS,
    least: float = GAIN,
) -> Top:
    """Climb from one place; coordinates that are not ``free`` stay as they are."""
    free = np.ones(len(place), dtype=bool) if free is None else free
    # A step too far may overflow; it is then halved.
    with np.errstate(all="ignore"):
        return _climb(hill, place, free, most, least)


def _climb(hill: Hill, place: Floats, free: Bools, most: int, least: float) -> Top:
    at, last = hill.slopes(place), False
    for step in range(most):
        if last or not free.any():
            return Top(place, at, True)
        gradient = at.gradient[free]
        newton = solved(at.information[np.ix_(free, free)], gradient) if step >= EM_STEPS else None
        move = _em(at, free) if newton is None else newton
        gain = float(gradient @ move) / 2
        if newton is None and step >= EM_STEPS and gain < 1e-12:
            return Top(place, at, False)
        last = newton is not None and gain < least
        length = 1.0
        while True:
            ahead = place.copy()
            ahead[free] += length * move
            there = hill.slopes(ahead)
            # Rounding may hide the last gains.
            if there.value >= at.value - 1e-12 * abs(at.value):
                break
            length /= 2
            if length < 1e-9:
                return Top(place, at, gain < least)
        place, at = ahead, there
    return Top(place, at, last)


def _kept(place: Floats, free: Bools | None) -> Floats:
    return place if free is None else np.where(free, place, 0.0)


def _em(at: Slopes, free: Bools) -> Floats:
    matrix = at.complete()[np.ix_(free, free)]
    # A little more on the diagonal, so that there always is a step.
    matrix = matrix + np.diag(1e-9 * np.diag(matrix) + 1e-12)
    found = solved(matrix, at.gradient[free])
    return at.gradient[free] * 0 if found is None else found


def solved(matrix: Floats, right: Floats) -> Floats | None:
    """The solution of a system with a positive definite matrix; nothing if it is not."""
    size = np.diag(matrix)
    if not np.isfinite(matrix).all() or not (size > 0).all():
        return None
    scale = 1 / np.sqrt(size)
    even = matrix * np.outer(scale, scale)
    try:
        np.linalg.cholesky(even)
        found = np.linalg.solve(even, (right.T * scale).T)
    except np.linalg.LinAlgError:
        return None
    return np.asarray((found.T * scale).T)


def rising(hill: Hill, top: Top) -> tuple[Floats, Floats] | None:
    """A direction in which the likelihood does not fall, and how much each coordinate has to
    do with it; nothing if there is none.

    Tried is the direction of least information, compared with the complete data's at the
    start, and a step along it that would move predictors by about 4 there.
    """
    start = hill.scale
    start = start + np.diag(1e-9 * np.diag(start) + 1e-12)
    least, direction = eigh(top.slopes.information, start, subset_by_index=[0, 0])
    if least[0] > 1e-3:
        return None
    step = direction[:, 0] * np.sqrt(4 * hill.n)
    for way in (step, -step):
        if hill.slopes(top.place + way).value > top.value - FLAT:
            return way, np.abs(way) * np.sqrt(np.diag(start))
    return None
