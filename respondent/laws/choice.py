"""Laws that respond with an answer, or with a column of a small table."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate

from ..exact import LIMIT
from ..randomness import RandBelow
from .base import MOST_ANSWERS, MOST_TICKS, Law, SupportLaw, spread


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
    def ratio(self) -> Fraction:
        columns = zip(
            *([Fraction(weight, sum(row)) for weight in row] for row in self.rows), strict=True
        )
        ratios: list[Fraction] = [max(column) / min(column) for column in columns]
        return max(ratios)
