"""The laws by which an answer becomes a response: whole-number weights and nothing else.

    P(response | answer) = weight(answer, response) / total(answer)

Answers and responses are whole numbers from 0. ``respond`` turns uniform draws into a
response in the order that ``docs/spec.md`` fixes; ``ratio`` is the largest ratio of two
answers' probabilities of one response, so ε = ln ratio.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from math import comb
from typing import ClassVar

from .errors import InvalidAnswer
from .exact import LIMIT, float_up, log_up
from .randomness import RandBelow, randbelow

MOST_ANSWERS = 10**6
MOST_STEPS = 10**6
MOST_CELLS = 20_000
MOST_TICKS = 50


class Law:
    """What all laws share. A child defines its parameters, weights and draw order."""

    name: ClassVar[str]
    #: Smallest and largest value of each whole-number parameter.
    bounds: ClassVar[dict[str, tuple[int, int]]]

    answers: int

    @property
    def responses(self) -> int:
        """How many different responses there are."""
        raise NotImplementedError

    def total(self, answer: int) -> int:
        """What the weights of this answer's row add up to."""
        raise NotImplementedError

    def weight(self, answer: int, response: int) -> int:
        raise NotImplementedError

    @property
    def largest_draw(self) -> int:
        """The largest total that ``respond`` draws below."""
        return self.total(0)

    def respond(self, answer: int, randbelow: RandBelow) -> int:
        raise NotImplementedError

    @property
    def ratio(self) -> Fraction:
        raise NotImplementedError

    @property
    def delta(self) -> Fraction:
        """Probability mass left outside ``ratio``; zero for every law but some ``Distance``."""
        return Fraction(0)

    def problems(self) -> Iterator[str]:
        """Rules that parameters within their bounds can still break together."""
        yield from ()

    def randomise(self, answer: int, randbelow: RandBelow = randbelow) -> int:
        """One response to ``answer``, by exact draws."""
        if not 0 <= answer < self.answers:
            raise InvalidAnswer("the answer is not one that this law knows")
        return self.respond(answer, randbelow)

    def probability(self, answer: int, response: int) -> Fraction:
        return Fraction(self.weight(answer, response), self.total(answer))

    @property
    def epsilon_bound(self) -> Fraction:
        """ε as a fraction, rounded up by less than 2^-100."""
        return log_up(self.ratio)

    @property
    def epsilon(self) -> float:
        """ε as a float, rounded up."""
        return float_up(self.epsilon_bound)


class SupportLaw(Law):
    """A law under which each response supports some of the answers.

    ``p`` and ``q`` are the chances that a response supports the true, respectively
    another given, answer (p* and q* of the literature).
    """

    @property
    def p(self) -> Fraction:
        raise NotImplementedError

    @property
    def q(self) -> Fraction:
        raise NotImplementedError

    def supports(self, response: int, answer: int) -> bool:
        raise NotImplementedError

    @property
    def variance(self) -> Fraction:
        """Variance, times n, of the estimated share of an answer that nobody gives."""
        if self.p == self.q:
            raise ZeroDivisionError("odds of one to one: responses say nothing about answers")
        return self.q * (1 - self.q) / (self.p - self.q) ** 2


class NumberLaw(Law):
    """A law for the cells 0 … ``steps`` of a bounded number."""

    steps: int

    @property
    def answers(self) -> int:  # type: ignore[override]
        return self.steps + 1

    def score(self, response: int) -> Fraction:
        """The value, in steps, whose expectation is the answer: means of it are unbiased."""
        raise NotImplementedError

    def variance(self, answer: int) -> Fraction:
        """Variance of one response's score, in steps squared."""
        mean = square = Fraction(0)
        for response in range(self.responses):
            chance, score = self.probability(answer, response), self.score(response)
            mean += chance * score
            square += chance * score * score
        return square - mean * mean


def spread(one: int, other: int) -> Fraction:
    """The ratio of two weights, the larger on top."""
    return Fraction(max(one, other), min(one, other))


@dataclass(frozen=True)
class Plain(Law):
    """No protection: the response is the answer."""

    name = "plain"
    bounds = {"answers": (2, 2**MOST_TICKS)}

    answers: int

    @property
    def responses(self) -> int:
        return self.answers

    def total(self, answer: int) -> int:
        return 1

    def weight(self, answer: int, response: int) -> int:
        return int(answer == response)

    def respond(self, answer: int, randbelow: RandBelow) -> int:
        return answer


@dataclass(frozen=True)
class KAry(SupportLaw):
    """The answer weighs ``truth``, every other answer ``other`` (Warner 1965 for two)."""

    name = "k-ary"
    bounds = {"answers": (2, MOST_ANSWERS), "truth": (1, LIMIT - 1), "other": (1, LIMIT - 1)}

    answers: int
    truth: int
    other: int

    @property
    def responses(self) -> int:
        return self.answers

    @cached_property
    def _total(self) -> int:
        return self.truth + (self.answers - 1) * self.other

    def total(self, answer: int) -> int:
        return self._total

    def weight(self, answer: int, response: int) -> int:
        return self.truth if answer == response else self.other

    def respond(self, answer: int, randbelow: RandBelow) -> int:
        draw = randbelow(self._total)
        if draw < self.truth:
            return answer
        other = (draw - self.truth) // self.other
        return other if other < answer else other + 1

    @property
    def ratio(self) -> Fraction:
        return spread(self.truth, self.other)

    @property
    def p(self) -> Fraction:
        return Fraction(self.truth, self._total)

    @property
    def q(self) -> Fraction:
        return Fraction(self.other, self._total)

    def supports(self, response: int, answer: int) -> bool:
        return response == answer


@dataclass(frozen=True)
class OneOf(SupportLaw):
    """Tick all that apply: one option, drawn without regard to the answer, and its coin.

    An answer is a bit mask of the ticked options. Response 2·option + 1 says the option
    is ticked, 2·option that it is not. ``p`` and ``q`` are those of the drawn option's coin.
    """

    name = "one-of"
    bounds = {"options": (2, MOST_TICKS), "truth": (1, LIMIT - 1), "other": (1, LIMIT - 1)}

    options: int
    truth: int
    other: int

    @property
    def answers(self) -> int:  # type: ignore[override]
        return 1 << self.options

    @property
    def responses(self) -> int:
        return 2 * self.options

    def total(self, answer: int) -> int:
        return self.options * (self.truth + self.other)

    def weight(self, answer: int, response: int) -> int:
        return self.truth if answer >> response // 2 & 1 == response & 1 else self.other

    def respond(self, answer: int, randbelow: RandBelow) -> int:
        option, coin = divmod(randbelow(self.total(answer)), self.truth + self.other)
        ticked = answer >> option & 1
        return 2 * option + (ticked if coin < self.truth else 1 - ticked)

    @property
    def ratio(self) -> Fraction:
        return spread(self.truth, self.other)

    @property
    def p(self) -> Fraction:
        return Fraction(self.truth, self.truth + self.other)

    @property
    def q(self) -> Fraction:
        return Fraction(self.other, self.truth + self.other)

    def supports(self, response: int, answer: int) -> bool:
        return bool(response & 1) == bool(answer >> response // 2 & 1)

    @property
    def variance(self) -> Fraction:
        """As for one coin, times the options: each is drawn by 1 in ``options`` people."""
        return self.options * super().variance


@dataclass(frozen=True)
class Table(Law):
    """Any small design: one row of weights for each answer, one column for each response."""

    name = "table"
    bounds = {}

    rows: tuple[tuple[int, ...], ...]

    @property
    def answers(self) -> int:  # type: ignore[override]
        return len(self.rows)

    @property
    def responses(self) -> int:
        return len(self.rows[0])

    @cached_property
    def _sums(self) -> tuple[tuple[int, ...], ...]:
        return tuple(tuple(accumulate(row)) for row in self.rows)

    def total(self, answer: int) -> int:
        return self._sums[answer][-1]

    def weight(self, answer: int, response: int) -> int:
        return self.rows[answer][response]

    @property
    def largest_draw(self) -> int:
        return max(map(self.total, range(self.answers)))

    def respond(self, answer: int, randbelow: RandBelow) -> int:
        return bisect_right(self._sums[answer], randbelow(self.total(answer)))

    @cached_property
    def ratio(self) -> Fraction:  # type: ignore[override]
        columns = zip(
            *([Fraction(weight, sum(row)) for weight in row] for row in self.rows), strict=True
        )
        return max(max(column) / min(column) for column in columns)


@dataclass(frozen=True)
class Subset(SupportLaw):
    """Subset selection (Ye & Barg 2017): the response is a set of ``size`` answers.

    A set weighs ``inside`` if the answer is in it and ``outside`` otherwise. Sets are
    numbered in colexicographic order: c₁ < c₂ < … is number C(c₁,1) + C(c₂,2) + ….
    """

    name = "subset"
    bounds = {
        "answers": (3, 128),
        "size": (1, 127),
        "inside": (1, LIMIT - 1),
        "outside": (1, LIMIT - 1),
    }

    answers: int
    size: int
    inside: int
    outside: int

    def problems(self) -> Iterator[str]:
        if self.size >= self.answers:
            yield "size: must be smaller than the number of answers"

    @property
    def responses(self) -> int:
        return comb(self.answers, self.size)

    @cached_property
    def _sides(self) -> tuple[int, int]:
        """All the sets with, and all without, the answer: their weights in lowest terms."""
        return self.inside * self.size, self.outside * (self.answers - self.size)

    def total(self, answer: int) -> int:
        """May pass 2^53: ``respond`` draws side and set apart, each below it."""
        with_answer = comb(self.answers - 1, self.size - 1)
        return with_answer * self.inside + (self.responses - with_answer) * self.outside

    @property
    def largest_draw(self) -> int:
        return max(sum(self._sides), self.responses)

    def weight(self, answer: int, response: int) -> int:
        return self.inside if self.supports(response, answer) else self.outside

    def respond(self, answer: int, randbelow: RandBelow) -> int:
        inside, outside = self._sides
        size = self.size - 1 if randbelow(inside + outside) < inside else self.size
        others = members(randbelow(comb(self.answers - 1, size)), size)
        chosen = [other + (other >= answer) for other in others]
        if size < self.size:
            chosen.append(answer)
        return sum(comb(member, place) for place, member in enumerate(sorted(chosen), 1))

    @property
    def ratio(self) -> Fraction:
        return spread(self.inside, self.outside)

    @property
    def p(self) -> Fraction:
        return Fraction(self._sides[0], sum(self._sides))

    @property
    def q(self) -> Fraction:
        others, (inside, outside) = self.answers - 1, self._sides
        with_other = inside * (self.size - 1) + outside * self.size
        return Fraction(with_other, others * (inside + outside))

    def supports(self, response: int, answer: int) -> bool:
        return answer in members(response, self.size)


def members(number: int, size: int) -> list[int]:
    """The set of ``size`` whole numbers that has this colexicographic number, largest first."""
    found = []
    for place in range(size, 0, -1):
        member = place - 1
        while comb(member + 1, place) <= number:
            member += 1
        number -= comb(member, place)
        found.append(member)
    return found


@dataclass(frozen=True)
class Projective(SupportLaw):
    """Projective geometry (Feldman, Nelson, Nguyen & Talwar, ICML 2022).

    Answers and responses are points of the projective space over F_prime of vector
    dimension ``dimension``. Responses orthogonal to the answer weigh ``inside``, the
    rest ``outside``. A point is its vector with first non-zero coordinate 1; points
    are numbered so that these vectors, read as numbers in base ``prime``, ascend.
    """

    name = "projective"
    bounds = {
        "answers": (2, MOST_ANSWERS),
        "prime": (2, 100_000),
        "dimension": (2, 40),
        "inside": (1, LIMIT - 1),
        "outside": (1, LIMIT - 1),
    }

    answers: int
    prime: int
    dimension: int
    inside: int
    outside: int

    def problems(self) -> Iterator[str]:
        if not is_prime(self.prime):
            yield "prime: must be a prime number"
        elif self.responses < self.answers:
            yield "dimension: has too few points for the answers"

    def points(self, dimension: int) -> int:
        """Points of the space, or of its subspace of this vector dimension."""
        return (self.prime**dimension - 1) // (self.prime - 1)

    @property
    def responses(self) -> int:
        return self.points(self.dimension)

    @cached_property
    def _inside_total(self) -> int:
        return self.points(self.dimension - 1) * self.inside

    @cached_property
    def _total(self) -> int:
        # Points not orthogonal to a given one: one for each vector whose product with it is 1.
        return self._inside_total + self.prime ** (self.dimension - 1) * self.outside

    def total(self, answer: int) -> int:
        return self._total

    def vector(self, point: int, dimension: int) -> list[int]:
        """The point's vector, most significant coordinate first."""
        free = 0
        while self.points(free + 1) <= point:
            free += 1
        rest = self._digits(point - self.points(free), free)
        return [0] * (dimension - free - 1) + [1] + rest

    def point(self, vector: list[int]) -> int:
        """The number of the point on which this non-zero vector lies."""
        lead = next(place for place, value in enumerate(vector) if value)
        scale = pow(vector[lead], -1, self.prime)
        number = 0
        for value in vector[lead + 1 :]:
            number = number * self.prime + value * scale % self.prime
        return self.points(len(vector) - lead - 1) + number

    def _digits(self, number: int, length: int) -> list[int]:
        digits = [0] * length
        for place in range(length - 1, -1, -1):
            number, digits[place] = divmod(number, self.prime)
        return digits

    def weight(self, answer: int, response: int) -> int:
        return self.inside if self.supports(response, answer) else self.outside

    def respond(self, answer: int, randbelow: RandBelow) -> int:
        draw = randbelow(self._total)
        true = self.vector(answer, self.dimension)
        if draw < self._inside_total:
            found, product = self.vector(draw // self.inside, self.dimension - 1), 0
        else:
            rank = (draw - self._inside_total) // self.outside
            found, product = self._digits(rank, self.dimension - 1), 1
        # The coordinate left out is the last one where the answer is not zero: what it
        # must be depends on the coordinates before it only, so ascending order is kept.
        place = max(place for place, value in enumerate(true) if value)
        so_far = sum(a * b for a, b in zip(true[:place], found[:place], strict=True))
        value = (product - so_far) * pow(true[place], -1, self.prime) % self.prime
        return self.point([*found[:place], value, *found[place:]])

    @property
    def ratio(self) -> Fraction:
        return spread(self.inside, self.outside)

    @property
    def p(self) -> Fraction:
        return Fraction(self._inside_total, self._total)

    @property
    def q(self) -> Fraction:
        one, two = self.points(self.dimension - 1), self.points(self.dimension - 2)
        return Fraction(two * self.inside + (one - two) * self.outside, self._total)

    def supports(self, response: int, answer: int) -> bool:
        pairs = zip(
            self.vector(response, self.dimension), self.vector(answer, self.dimension), strict=True
        )
        return sum(a * b for a, b in pairs) % self.prime == 0


def is_prime(number: int) -> bool:
    return number > 1 and all(number % factor for factor in range(2, int(number**0.5) + 1))


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
    def ratio(self) -> Fraction:  # type: ignore[override]
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
    def delta(self) -> Fraction:  # type: ignore[override]
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


LAWS: dict[str, type[Law]] = {
    law.name: law
    for law in (Plain, KAry, OneOf, Table, Subset, Projective, TwoPoint, Wave, Distance)
}
