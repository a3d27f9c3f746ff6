"""The laws by which an answer becomes a response: whole-number weights and nothing else.

    P(response | answer) = weight(answer, response) / total(answer)

Answers and responses are whole numbers from 0. ``respond`` turns uniform draws into a
response in the order that ``docs/spec.md`` fixes; ``ratio`` is the largest ratio of two
answers' probabilities of one response, so ε = ln ratio.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import ClassVar

from ..errors import InvalidAnswer
from ..exact import float_up, log_up
from ..randomness import RandBelow, randbelow

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
