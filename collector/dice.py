"""Coins and dice for a person: throws that draw a law's odds exactly, and how to read them.

Outcomes are sequences of throws, numbered from 0 in the order of the numbers that one gets by
writing the throws in a row, heads as 1 and tails as 2. The throws are the same for every
answer, so that whoever hears them learns nothing.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby, pairwise
from math import gcd, lcm, prod

from respondent import Question
from respondent.checking import say
from respondent.laws import KAry, Table

from .own_words import either, join, word

COIN, DIE = 2, 6

#: A row's weights may add up to this, as in ``respondent.author``.
LARGEST_TOTAL = 216

#: Up to this many dice alone; past it, as few dice as will do, and coins.
MOST_DICE = 3

#: The outcomes of two flips, from heads and heads to tails and tails, need no numbers.
TWO_COINS = {
    (0, 0): "heads-heads",
    (1, 1): "heads-tails",
    (2, 2): "tails-heads",
    (3, 3): "tails-tails",
    (0, 1): "heads-any",
    (2, 3): "tails-any",
    (1, 2): "one-each",
    (0, 2): "some-heads",
    (1, 3): "some-tails",
    (0, 3): "anything",
}

#: Throws of an example; no plan has more.
EXAMPLE = {DIE: (3, 5, 1, 2), COIN: (1, 2, 2, 1, 2, 1, 1)}


@dataclass(frozen=True)
class Row:
    """From outcome ``first`` to ``last``: the response to enter, for each answer."""

    first: int
    last: int
    enter: tuple[int, ...]

    @property
    def rule(self) -> str | None:
        """How to say it without naming the answers; None if that cannot be."""
        if len(set(self.enter)) == 1:
            return "forced"
        if self.enter == tuple(range(len(self.enter))):
            return "truth"
        return "opposite" if self.enter == (1, 0) else None


@dataclass(frozen=True)
class Plan:
    """What to throw, in order (``COIN`` or ``DIE``), and what to enter for each outcome."""

    throws: tuple[int, ...]
    rows: tuple[Row, ...]

    @property
    def outcomes(self) -> int:
        return prod(self.throws)

    def throw(self, outcome: int) -> tuple[int, ...]:
        """The throws of an outcome: 1 to 6 for a die, 1 (heads) or 2 (tails) for a coin."""
        found = []
        for sides in reversed(self.throws):
            outcome, side = divmod(outcome, sides)
            found.append(side + 1)
        return tuple(reversed(found))

    def respond(self, answer: int, outcome: int) -> int:
        return next(row.enter[answer] for row in self.rows if row.first <= outcome <= row.last)


@dataclass(frozen=True)
class Instructions:
    """A plan in words: what to throw, then either rules or what to enter for each answer."""

    throw: tuple[str, ...]
    rules: tuple[str, ...] = ()
    table: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = ()


def plan(question: Question) -> Plan:
    """Throws and their reading for a protected question; ``ValueError`` if there are none.

    Where the design allows, an outcome gives a response whatever the answer, or asks for the
    true answer (Boruch 1971), or for its opposite (Warner 1965).
    """
    law = question.law
    if not isinstance(law, KAry | Table) or law.largest_draw > LARGEST_TOTAL:
        raise ValueError(f"question {question.id}: coins and dice cannot draw these odds")
    rows = [
        [law.weight(answer, response) for response in range(law.responses)]
        for answer in range(law.answers)
    ]
    throws = _throws(lcm(*(sum(row) // gcd(*row) for row in rows)))
    shares = [[weight * prod(throws) // sum(row) for weight in row] for row in rows]
    return Plan(throws, tuple(_rows(_runs(question, shares))))


def _throws(total: int) -> tuple[int, ...]:
    """Throws whose number of outcomes is a multiple of ``total``."""
    twos = threes = 0
    while total % 2 == 0:
        total, twos = total // 2, twos + 1
    while total % 3 == 0:
        total, threes = total // 3, threes + 1
    if total > 1:
        raise ValueError("coins and dice cannot draw odds whose total is not made of 2 and 3")
    if not threes:
        return (COIN,) * twos
    if max(twos, threes) <= MOST_DICE:
        return (DIE,) * max(twos, threes)
    return (DIE,) * threes + (COIN,) * max(0, twos - threes)


Run = tuple[int, tuple[int, ...]]


def _runs(question: Question, shares: Sequence[Sequence[int]]) -> list[Run]:
    """How many outcomes, in order, give which response to each answer."""
    two_by_two = len(shares) == len(shares[0]) == 2
    mirrored = two_by_two and shares[0][0] == shares[1][1]
    if question.design in ("warner", "crosswise") and mirrored:
        return [(shares[0][0], (0, 1)), (shares[0][1], (1, 0))]
    forced = [min(column) for column in zip(*shares, strict=True)]
    left = [[share - least for share, least in zip(row, forced, strict=True)] for row in shares]
    runs = [(least, (response,) * len(shares)) for response, least in enumerate(forced)]
    runs += _side_by_side(left)
    as_rules = not question.labels and all(Row(0, 0, enter).rule for _, enter in runs)
    return runs if as_rules else list(_side_by_side(shares))


def _side_by_side(shares: Sequence[Sequence[int]]) -> Iterator[Run]:
    """Each answer's responses one after the other, cut wherever one of the answers changes."""
    ends = [list(accumulate(row)) for row in shares]
    for first, end in pairwise(sorted({0}.union(*ends))):
        yield end - first, tuple(bisect_right(row, first) for row in ends)


def _rows(runs: Iterable[Run]) -> Iterator[Row]:
    first = 0
    for count, enter in runs:
        yield Row(first, first + count - 1, enter)
        first += count


def instructions(question: Question, language: str) -> Instructions:
    """What a respondent does for a protected question, in words."""
    found = plan(question)
    throw = tuple(_throw(found, language))
    responses = [say(text, language) for text in question.labels or question.options]
    answers = [say(text, language) for text in question.options]
    if not question.labels and all(row.rule for row in found.rows):
        rules = [
            word(
                language,
                f"rule-{row.rule}",
                got=_capital(got(found, row.first, row.last, language)),
                response=responses[row.enter[0]],
            )
            for row in found.rows
        ]
        return Instructions(throw, tuple(rules))
    if [row.rule for row in found.rows] == ["truth", "opposite"] and len(answers) == 2:
        named = _capital(got(found, found.rows[0].first, found.rows[0].last, language))
        pairs = ((answers[0], answers[1]), (answers[1], answers[0]))
        rules = [
            word(language, "rule-pair", got=named, answer=one, other=two, response=response)
            for (one, two), response in zip(pairs, responses, strict=True)
        ]
        return Instructions(throw, tuple(rules))
    table = [
        (answer, tuple(_column(found, number, responses, language)))
        for number, answer in enumerate(answers)
    ]
    return Instructions(throw, table=tuple(table))


def _column(
    found: Plan, answer: int, responses: Sequence[str], language: str
) -> Iterator[tuple[str, str]]:
    """What to enter for one answer, neighbouring rows with the same response as one."""
    for response, group in groupby(found.rows, key=lambda row: row.enter[answer]):
        rows = list(group)
        yield _capital(got(found, rows[0].first, rows[-1].last, language)), responses[response]


def _throw(found: Plan, language: str) -> Iterator[str]:
    """What to throw and, where that is not plain, how to read it."""
    for sides, name in ((DIE, "die"), (COIN, "coin")):
        count = found.throws.count(sides)
        if count:
            many = {1: "once", 2: "twice"}.get(count, "times")
            yield word(language, f"{name}-{many}", count=count)
    if len(found.throws) == 1 or found.throws == (COIN, COIN):
        return
    if COIN in found.throws:
        yield word(language, "read-coins")
    shown = [side for sides in (DIE, COIN) for side in EXAMPLE[sides][: found.throws.count(sides)]]
    named = [
        word(language, "heads" if side == 1 else "tails") if sides == COIN else str(side)
        for side, sides in zip(shown, found.throws, strict=True)
    ]
    yield word(language, "read-row", throws=join(named, language), number=_number(shown))


def _number(throws: Iterable[int]) -> str:
    return "".join(map(str, throws))


def got(found: Plan, first: int, last: int, language: str) -> str:
    """The outcomes from ``first`` to ``last``, as a respondent reads them."""
    if found.throws == (COIN, COIN):
        return word(language, TWO_COINS[first, last])
    ends = [_number(found.throw(outcome)) for outcome in (first, last)]
    if first == last:
        return ends[0]
    if last == first + 1:
        return either(ends, language)
    return word(language, "range", first=ends[0], last=ends[1])


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
