"""Laws for the cells of a bounded number."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate

from ..exact import LIMIT
from ..randomness import RandBelow
from .base import MOST_CELLS, MOST_STEPS, NumberLaw, spread


@dataclass(frozen=True)
class TwoPoint(NumberLaw):
    """Low or high end (Duchi, Jordan & Wainwright 2018): 1, "high", is likelier higher up."""

    name = "two-point"
    bounds = {"steps": (1, MOST_STEPS), "truth": (1, LIMIT - 1), "other": (1, LIMIT - 1)}

    steps: int
    truth: int
    other: int

    @property
    def responses(self) -> int:
        return 2

    def total(self, answer: int) -> int:
        return self.steps * (self.truth + self.other)

    def weight(self, answer: int, response: int) -> int:
        near = answer if response else self.steps - answer
        return self.truth * near + self.other * (self.steps - near)

    def respond(self, answer: int, randbelow: RandBelow) -> int:
        return int(randbelow(self.total(answer)) < self.weight(answer, 1))

    @property
    def ratio(self) -> Fraction:
        return spread(self.truth, self.other)

    def score(self, response: int) -> Fraction:
        end = self.truth if response else -self.other
        return Fraction(self.steps * end, self.truth - self.other)


@dataclass(frozen=True)
class Wave(NumberLaw):
    """Square wave (Li et al. 2020): cells within ``half_width`` of the answer weigh ``near``.

    The cells run from ``half_width`` below the range to as far above; response 0 is the
    lowest of them.
    """

    name = "wave"
    bounds = {
        "steps": (1, MOST_CELLS),
        "half-width": (0, MOST_CELLS),
        "near": (1, LIMIT - 1),
        "far": (1, LIMIT - 1),
    }

    steps: int
    half_width: int
    near: int
    far: int

    @property
    def responses(self) -> int:
        return self.steps + 2 * self.half_width + 1

    @cached_property
    def _near_total(self) -> int:
        return (2 * self.half_width + 1) * self.near

    def total(self, answer: int) -> int:
        return self._near_total + self.steps * self.far

    def weight(self, answer: int, response: int) -> int:
        return self.near if answer <= response <= answer + 2 * self.half_width else self.far

    def respond(self, answer: int, randbelow: RandBelow) -> int:
        draw = randbelow(self.total(answer))
        if draw < self._near_total:
            return answer + draw // self.near
        cell = (draw - self._near_total) // self.far
        return cell if cell < answer else cell + 2 * self.half_width + 1

    @property
    def ratio(self) -> Fraction:
        return spread(self.near, self.far)

    def score(self, response: int) -> Fraction:
        # E[cell | answer] = (width·(near − far)·answer + far·sum of all cells) / total
        width = 2 * self.half_width + 1
        cells = Fraction(self.far * self.steps * self.responses, 2)
        cell = response - self.half_width
        return (cell * self.total(0) - cells) / (width * (self.near - self.far))


@dataclass(frozen=True)
class Distance(NumberLaw):
    """Noise added to a number: cell y gets the weight of |y − answer|, the ends the tails.

    The cells run from ``margin`` below the range to as far above; response 0 is the
    lowest of them. ``weights[d]`` belongs to distance d; the last one stands for all
    distances from ``steps + margin`` on, which only the end cells can take. With
    ``bound`` (a ratio as two whole numbers), ε = ln bound and what exceeds it is δ;
    without, δ = 0.
    """

    name = "distance"
    bounds = {"steps": (1, MOST_CELLS), "margin": (0, MOST_CELLS)}

    steps: int
    margin: int
    weights: tuple[int, ...]
    bound: tuple[int, int] | None = None

    def problems(self) -> Iterator[str]:
        if len(self.weights) != self.steps + self.margin + 1:
            yield "weights: must be steps + margin + 1 of them"
        elif any(near < far for near, far in zip(self.weights, self.weights[1:-1], strict=False)):
            yield "weights: must not increase with distance (the last one excepted)"
        elif self.bound is not None:
            if self.bound[0] <= self.bound[1]:
                yield "bound: must be above 1"
            if not self._likelihood_ratio_falls():
                yield "weights: must fall ever faster with distance for a law with a bound"

    def _likelihood_ratio_falls(self) -> bool:
        """Whether P(y | x) / P(y | x + 1) falls with y, so that δ is largest at the ends.

        Then {y: P(y|x) > bound·P(y|x′)}, x < x′, is a set {y ≤ c}, and its mass under x
        less bound times that under x′ is largest for x = 0, x′ = steps.
        """
        inner, tails = self.weights[:-1], self._tails
        return all(
            inner[d] ** 2 >= inner[d - 1] * inner[d + 1] for d in range(1, len(inner) - 1)
        ) and all(
            tails[d] * self.weights[d] >= tails[d + 1] * self.weights[d - 1]
            for d in range(max(1, self.margin), self.steps + self.margin)
        )

    @property
    def responses(self) -> int:
        return self.steps + 2 * self.margin + 1

    @cached_property
    def _sums(self) -> tuple[int, ...]:
        first, *rest = self.weights
        return tuple(accumulate([first, *(2 * weight for weight in rest)]))

    @cached_property
    def _tails(self) -> tuple[int, ...]:
        return tuple(accumulate(reversed(self.weights)))[::-1]

    def total(self, answer: int) -> int:
        return self._sums[-1]

    def weight(self, answer: int, response: int) -> int:
        distance = abs(response - self.margin - answer)
        at_end = response in (0, self.responses - 1)
        return self._tails[distance] if at_end else self.weights[distance]

    def respond(self, answer: int, randbelow: RandBelow) -> int:
        draw = randbelow(self._sums[-1])
        distance = bisect_right(self._sums, draw)
        below = distance > 0 and draw < self._sums[distance] - self.weights[distance]
        cell = answer + self.margin + (-distance if below else distance)
        return min(max(cell, 0), self.responses - 1)

    @cached_property
    def ratio(self) -> Fraction:
        if self.bound is not None:
            return Fraction(*self.bound)
        # Weights and tails fall with distance, so a cell's largest weight is that of the
        # nearest answer and its smallest that of the farthest. Cells mirror each other.
        largest = Fraction(self._tails[self.margin], self._tails[self.steps + self.margin])
        for cell in range(1, (self.responses + 1) // 2):
            nearest, farthest = max(0, self.margin - cell), self.steps + self.margin - cell
            largest = max(largest, Fraction(self.weights[nearest], self.weights[farthest]))
        return largest

    @cached_property
    def delta(self) -> Fraction:
        if self.bound is None:
            return Fraction(0)
        top, bottom = self.bound
        excess = (
            bottom * self.weight(0, cell) - top * self.weight(self.steps, cell)
            for cell in range(self.responses)
        )
        return Fraction(sum(max(0, mass) for mass in excess), bottom * self.total(0))

    @property
    def median_noise(self) -> int:
        """The largest distance that at least half of all draws reach."""
        return bisect_right(self._sums, self._sums[-1] // 2)

    def score(self, response: int) -> Fraction:
        raise NotImplementedError("needs a linear system: see analysis")
