"""Laws that respond with a set of answers: for many options, up to a million."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import comb

from ..exact import LIMIT
from ..randomness import RandBelow
from .base import MOST_ANSWERS, SupportLaw, spread


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
        vectors: int = self.prime**dimension
        return (vectors - 1) // (self.prime - 1)

    @property
    def responses(self) -> int:
        return self.points(self.dimension)

    @cached_property
    def _inside_total(self) -> int:
        return self.points(self.dimension - 1) * self.inside

    @cached_property
    def _total(self) -> int:
        # Points not orthogonal to a given one: one for each vector whose product with it is 1.
        others: int = self.prime ** (self.dimension - 1)
        return self._inside_total + others * self.outside

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
        scale: int = pow(vector[lead], -1, self.prime)
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
