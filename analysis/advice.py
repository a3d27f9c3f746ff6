"""Advice: which law and coin to take, what they cost, and what they protect.

The most protective odds that still do what is wanted: of the laws for a kind of question the
one that needs the least ε for it, which is the one with the least variance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from respondent import Question
from respondent.exact import simplest_between
from respondent.explain import rounded_up
from respondent.laws import KAry, Law, OneOf, Subset

from .goals import Goal
from .planning import FIRST, LAST, STEPS, Kind, check_whole, least_epsilon

#: The laws to choose from, as survey files name them. For the other kinds there is one.
CHOICE_LAWS = ("k-ary", "subset", "projective")
LAWS: dict[str, tuple[str, ...]] = {
    "choice": CHOICE_LAWS,
    "list": CHOICE_LAWS,
    "scale": (*CHOICE_LAWS, "exponential"),
    "number": ("two-point", "wave"),
}
#: Numbers of more steps than this have one law.
MOST_STEPS = 10_000
#: A chance may be this much above the least that will do, for the sake of a round number.
SLACK = Fraction(21, 20)
#: What somebody may have believed before, for an example.
BEFORE = Fraction(1, 10)


@dataclass(frozen=True)
class Advice:
    """The odds to take, and what follows from them. Printed, it is advice in plain words."""

    question: Question
    goal: Goal
    n: int
    #: What to write in the survey file.
    lines: tuple[str, ...]
    #: The odds in words.
    coin: str
    #: How many people the goal takes with these odds, and how many if asked directly.
    needed: int
    direct: int
    reached: float

    @property
    def epsilon(self) -> float:
        return self.question.epsilon

    @property
    def factor(self) -> float:
        """By how much a response changes the odds between two answers at most: e^ε."""
        return float(self.question.law.ratio)

    @property
    def cost(self) -> float:
        """How many times more people it takes than asking directly."""
        return self.needed / self.direct

    def __str__(self) -> str:
        each = " in each group" if self.goal.each else ""
        reached = self.goal.text(self.reached, self.question.kind)
        ratio = self.question.law.ratio
        after = rounded_up(100 * ratio * BEFORE / (1 + (ratio - 1) * BEFORE))
        return "\n".join(
            [
                f"For: {self.goal.said(self.question.kind)}.",
                f"Odds: {self.coin} (ε = {self.epsilon:.3f}).",
                f"In the survey file: {', '.join(self.lines)}",
                f"n = {self.n:,}{each} gives a {self.goal.name} of {reached}; "
                f"{self.needed:,} would do, and {self.direct:,} if asked directly: "
                f"{self.cost:,.1f} times as many.",
                self.question.explain(),
                f"Who thought an answer {float(100 * BEFORE):g} % likely can think it at most "
                f"{after} % likely after any response.",
            ]
        )


def advise(kind: Kind, n: int, goal: Goal) -> Advice:
    """The law and the odds that protect most and still reach the goal with n people.

    For two answers no design with the same ε has less variance than the symmetric coin
    (Kairouz, Oh & Viswanath 2014), so yes-no questions get that. Chances of a coin are
    rounded up to simple fractions, by at most a twentieth.
    """
    check_whole(n, "n", 1)

    def enough(question: Question) -> bool:
        return goal.met(question, n)

    found = [
        (epsilon, law)
        for law in _laws(kind)
        if (epsilon := least_epsilon(kind, enough, law)) is not None
    ]
    direct = goal.n(kind.question(protect=False))
    if not found:
        least = goal.n(kind.question(epsilon=LAST / STEPS))
        raise ValueError(
            f"n: {n:,} people are too few: it takes {least:,}, and {direct:,} if asked directly"
        )
    epsilon, law = min(found, key=lambda pair: pair[0])
    question, lines = _with_odds(kind, epsilon, law, enough)
    return Advice(
        question,
        goal,
        n,
        lines,
        _in_words(question.law),
        goal.n(question),
        direct,
        goal.reached(question, n),
    )


def _laws(kind: Kind) -> tuple[str | None, ...]:
    found: tuple[str | None, ...] = LAWS.get(kind.kind, (None,))
    answers = kind.question(protect=False).law.answers
    if kind.kind == "number":
        return found if answers <= MOST_STEPS + 1 else ("two-point",)
    fits = 3 <= answers <= Subset.bounds["answers"][1]
    return tuple(law for law in found if law != "subset" or fits)


def _with_odds(
    kind: Kind, epsilon: float, law: str | None, enough: Callable[[Question], bool]
) -> tuple[Question, tuple[str, ...]]:
    """The question, and what to write for it in the survey file."""
    named = {} if law is None else {"law": law}
    question = kind.question(epsilon=epsilon, **named)
    if isinstance(question.law, KAry | OneOf):
        return _with_coin(kind, epsilon, enough)
    lines = [f"epsilon = {epsilon:g}"]
    if kind.question(epsilon=epsilon).law.name != question.law.name:
        lines.append(f'law = "{law}"')
    return question, tuple(lines)


def _with_coin(
    kind: Kind, epsilon: float, enough: Callable[[Question], bool]
) -> tuple[Question, tuple[str, ...]]:
    steps = (max(FIRST, round(epsilon * STEPS) - 1), round(epsilon * STEPS), LAST)
    before, least, most = (_truth(_coin_law(kind, step / STEPS)) for step in steps)
    most = min(SLACK * least, most)
    # The least chance that will do lies between two steps of ε; a round one may as well.
    chances = (simplest_between(before, most), simplest_between(least, most), least)
    found = ((kind.question(coin=str(chance)), (f'coin = "{chance}"',)) for chance in chances)
    return next(pair for pair in found if enough(pair[0]))


def _coin_law(kind: Kind, epsilon: float) -> Law:
    named = {"law": "k-ary"} if kind.kind in LAWS else {}
    return kind.question(epsilon=epsilon, **named).law


def _truth(law: Law) -> Fraction:
    """The chance of the truth, if any answer alike is given otherwise."""
    assert isinstance(law, KAry | OneOf)
    answers = law.answers if isinstance(law, KAry) else 2
    return Fraction(law.truth - law.other, law.truth + (answers - 1) * law.other)


def _in_words(law: Law) -> str:
    if isinstance(law, KAry):
        others = "a second, fair coin" if law.answers == 2 else f"any of {law.answers:,} answers"
        return f"truth with chance {_truth(law)}, otherwise {others}"
    if isinstance(law, OneOf):
        return (
            f"one of the {law.options} options, drawn by lot: of it the truth with chance "
            f"{_truth(law)}, otherwise a second, fair coin"
        )
    return f"those of the {law.name} law"
