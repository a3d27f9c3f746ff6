"""What to expect before anybody is asked: ε, the number of people, and the margin of error.

Any two of the three give the third. ``Kind`` is a question whose odds are not chosen yet.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from respondent import InvalidSurvey, Question, Survey
from respondent.author import LEAST_EPSILON, MOST_EPSILON
from respondent.laws import NumberLaw, OneOf, Plain, Subset, SupportLaw

from .channel import Floats, channel, left_inverse
from .designs import Design
from .intervals import normal_quantile
from .numbers import expectations
from .numbers import scores as number_scores
from .shares import inverse_columns
from .tally import answer_names

#: Whatever says how answers become responses.
Source: TypeAlias = Design | Question

#: ε is looked for in steps of one over this, from the first to the last that a survey may
#: have; at the largest ε itself the odds, being whole numbers, are refused.
STEPS = 1000
FIRST, LAST = math.ceil(LEAST_EPSILON * STEPS), math.ceil(MOST_EPSILON * STEPS) - 1
#: Numbers that differ by less than this share of themselves differ by rounding.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Kind:
    """What is asked, in the words of the survey file, before its odds are chosen.

    ``Kind("yes-no")``, ``Kind("choice", options=5)``, ``Kind("scale", range=(1, 7))``,
    ``Kind("number", range=(0, 10_000), step=100)``; ``options`` is how many there are.
    """

    kind: str
    options: int | None = None
    range: tuple[float, float] | None = None
    step: float | None = None

    def question(self, **odds: object) -> Question:
        """The question with odds as in the survey file: ``epsilon=1``, ``coin="1/2"``, …"""
        fields: dict[str, Any] = {"id": "q", "ask": "?", "kind": self.kind} | odds
        if self.options is not None:
            count = check_whole(self.options, "options", 2)
            fields["options"] = [str(number) for number in np.arange(1, count + 1)]
        if self.range is not None:
            fields["range"] = [_as_written(end) for end in self.range]
        if self.step is not None:
            fields["step"] = _as_written(self.step)
        try:
            return Survey.parse({"id": "plan", "title": "Plan", "question": [fields]})["q"]
        except InvalidSurvey as problem:
            raise ValueError(problem.problems[0].removeprefix("question 1 (q), ")) from None

    def __str__(self) -> str:
        many = f" of {self.options:,}" if self.options is not None else ""
        ends = f" from {self.range[0]:,.10g} to {self.range[1]:,.10g}" if self.range else ""
        return self.kind + many + ends


def _as_written(value: float) -> float:
    """Whole numbers as such: a survey file tells 1 from 1.0."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


# Shares


@dataclass(frozen=True)
class Precision:
    """How exactly one answer's share is estimated: V(π) = ``base`` + ``slope`` π − π².

    V is the variance of one response's part in the estimate. ``rate`` has the chances p and
    q < p that a response counts for the answer if it is true and if it is not, where the
    estimate is (K/n − q)/(p − q) of a binomial count K; then V = λ(1 − λ)/(p − q)² with
    λ = q + (p − q)π. ``part``: the share of respondents who are asked about this answer.
    """

    base: float
    slope: float
    rate: tuple[float, float] | None = None
    part: float = 1.0

    def variance(self, share: float) -> float:
        return max(0.0, self.base + self.slope * share - share**2)


def precision(source: Source, answer: str | None = None, share: float = 0.5) -> Precision:
    """That of an answer: by default Yes, else the one whose ``share`` is hardest to estimate.

    In a table of more than two answers, those who do not give this one are taken to give
    the others alike.
    """
    names, place = _answer_of(source, answer)
    if isinstance(source, Question) and isinstance(source.law, Plain):
        return of_rate(1.0, 0.0)
    if isinstance(source, Question) and isinstance(source.law, SupportLaw):
        found = of_rate(float(source.law.p), float(source.law.q))
        part = 1 / source.law.options if isinstance(source.law, OneOf) else 1.0
        return replace(found, part=part)
    matrix = source.channel if isinstance(source, Design) else channel(source.law)
    places = range(len(names)) if place is None else [place]
    return max(
        (_of_channel(matrix, place) for place in places),
        key=lambda found: found.variance(share),
    )


def _answer_of(source: Source, answer: str | None) -> tuple[tuple[str, ...], int | None]:
    """The answers' names, and the number of the one that is meant if it is one."""
    if isinstance(source, Design):
        names, where = source.answers, source.name
        place = names.index("Yes") if "Yes" in names else None
    elif isinstance(source, Question):
        names, where = tuple(answer_names(source)), f"question {source.id}"
        place = 0 if source.kind == "yes-no" else None
        if source.kind == "number":
            raise ValueError(f"{where}: a number has no shares; see mean_margin")
    else:
        raise TypeError("source: must be a Design or a question of a survey")
    if answer is None:
        return names, place
    if answer not in names:
        raise ValueError(f"{where}: has no answer {answer!r}; it has {', '.join(names[:10])}")
    return names, names.index(answer)


def of_rate(p: float, q: float) -> Precision:
    if p == q:
        raise ValueError("these odds cannot tell the answers apart")
    if p < q:
        # The responses that speak against the answer are as good a count.
        p, q = 1 - p, 1 - q
    return Precision(q * (1 - q) / (p - q) ** 2, (1 - 2 * q) / (p - q), (p, q))


def _of_channel(matrix: Floats, answer: int) -> Precision:
    line = left_inverse(matrix)[answer]
    high = np.isclose(line, line.max())
    if np.isclose(line[~high], line.min()).all():
        # Two values only: the estimate is that of a count.
        chances = matrix[high].sum(axis=0)
        return of_rate(float(chances[answer]), float(np.delete(chances, answer)[0]))
    squares = line**2 @ matrix
    others = float(np.delete(squares, answer).mean())
    return Precision(others, float(squares[answer]) - others)


def margin_of_error(
    source: Source, n: int, level: float = 0.95, share: float = 0.5, answer: str | None = None
) -> float:
    """Half the width of the interval to expect for a share, z √(V/n), for the population.

    V is the variance of one response's part in the estimate of an answer that ``share`` of
    the population give; see ``precision`` for which answer. Of one of m ticks, only n/m
    people tell.
    """
    check_whole(n, "n", 1)
    found = precision(source, answer, check_share(share))
    return normal_quantile(level) * math.sqrt(found.variance(share) / (n * found.part))


def n_for_margin(
    source: Source,
    margin: float,
    level: float = 0.95,
    share: float = 0.5,
    answer: str | None = None,
) -> int:
    """The least n whose ``margin_of_error`` is at most ``margin``."""
    return _least_n(margin_of_error(source, 1, level, share, answer), margin)


def _least_n(margin_of_one: float, margin: float) -> int:
    if not 0 < margin < math.inf:
        raise ValueError("margin: must be above 0")
    return max(1, math.ceil((margin_of_one / margin) ** 2 * (1 - ROUNDING)))


# Means


def mean_margin(question: Question, n: int, level: float = 0.95, sd: float | None = None) -> float:
    """The same for the mean of a number or scale, in its units; see ``mean_variance``."""
    check_whole(n, "n", 1)
    return normal_quantile(level) * math.sqrt(mean_variance(question, sd) / n)


def n_for_mean_margin(
    question: Question, margin: float, level: float = 0.95, sd: float | None = None
) -> int:
    """The least n whose ``mean_margin`` is at most ``margin``."""
    return _least_n(mean_margin(question, 1, level, sd), margin)


def mean_variance(question: Question, sd: float | None = None, mean: float | None = None) -> float:
    """Variance of one response's part in the estimated mean, in the question's units squared.

    By default when all values are alike. For a number, the answers' spread ``sd`` and their
    ``mean``, in the middle if not given, can be known better; where that mean allows less
    than the spread of all values alike, the most that it allows is taken.
    """
    if question.kind not in ("number", "scale"):
        raise ValueError(f"question {question.id}: only numbers and scales have a mean")
    if question.kind == "number":
        return _number(question, sd, mean)
    if sd is not None:
        raise ValueError("sd: is for numbers; scales are planned with all values alike")
    return _scale(question)


def question_values(question: Question) -> Floats:
    """The values that an answer to a number or scale can have, in its units."""
    cells = question.law.answers - (1 if question.skip else 0)
    first = float(question.low or 0) if question.kind == "number" else float(question.first or 0)
    return np.asarray(first + float(question.step or 1) * np.arange(cells), dtype=float)


def _scale(question: Question) -> float:
    """Of the mean score, or of the ratio Σ s π̂ / Σ π̂ where some may prefer not to say."""
    law = question.law
    scored = law.answers - (1 if question.skip else 0)
    # Measured from the middle score, neither needs to know the mean.
    scores = (np.arange(scored) - (scored - 1) / 2) * law.answers / scored
    if isinstance(law, Subset):
        # There may be very many sets, but any two answers share as many of them.
        k, d = law.answers, law.size
        alone = d / k - d * (d - 1) / (k * (k - 1))
        return float((scores**2).sum() * alone / float(law.p - law.q) ** 2)
    lines = inverse_columns(law, np.arange(law.responses))[:scored]
    line, matrix = scores @ lines, channel(law)
    return float((line**2 @ matrix).mean() - (line @ matrix).mean() ** 2)


def _number(question: Question, sd: float | None, mean: float | None) -> float:
    """From E[(score − middle)² | answer], which is quadratic in the answer.

    Exactly so for two-point, wave and plain responses; for distance laws, whose noise is even
    but at the ends, nearly. So the mean and the spread of answers are all that matters.
    """
    law, values = question.law, question_values(question)
    middle, half = (values[0] + values[-1]) / 2, (values[-1] - values[0]) / 2
    # Answers from −1 to 1.
    place = 0.0 if mean is None else (mean - middle) / half
    most = math.sqrt(max(0.0, 1 - place**2))
    if sd is not None and not 0 <= sd <= most * half * (1 + ROUNDING):
        raise ValueError(f"sd: must be from 0 to {most * half:g}, the most that answers can spread")
    answers = (values - middle) / half
    spread = min(float(answers.std()), most) if sd is None else sd / half
    squares = answers**2
    if isinstance(law, NumberLaw):
        scored = 2 * number_scores(law) / law.steps - 1
        squares = expectations(law, scored**2)
    powers = np.polynomial.polynomial.polyfit(answers, squares, min(2, len(answers) - 1))
    moments = [1.0, place, spread**2 + place**2]
    expected = float(powers @ moments[: len(powers)])
    return float(max(0.0, expected - place**2) * half**2)


# ε ↔ n ↔ margin


def least_epsilon(
    kind: Kind, enough: Callable[[Question], bool], law: str | None = None
) -> float | None:
    """The least ε, in thousandths, that is enough; None if the largest a survey may have is not.

    ``law``: that one only, instead of the one that a survey file takes by default. Where that
    choice, or a whole number in a law, changes with ε, a little more ε may do a little worse:
    so what was found is compared with ε down to a quarter below.
    """
    named = {} if law is None else {"law": law}

    def passes(step: int) -> bool:
        return enough(kind.question(epsilon=step / STEPS, **named))

    found: int | None = LAST if passes(LAST) else None
    least = None
    while found is not None:
        low, least = FIRST - 1, found
        while least - low > 1:
            middle = (low + least) // 2
            low, least = (low, middle) if passes(middle) else (middle, least)
        lower = sorted({math.floor(least * 0.98**place) for place in range(1, 15)})
        found = next((step for step in lower if FIRST <= step < least and passes(step)), None)
    return None if least is None else least / STEPS


def epsilon_for_margin(
    kind: Kind,
    n: int,
    margin: float,
    level: float = 0.95,
    share: float = 0.5,
    sd: float | None = None,
) -> float:
    """The least ε at which n people give this margin: of the mean of a number, else of a share."""
    check_whole(n, "n", 1)

    def needed(question: Question) -> int:
        return _n_needed(question, margin, level, share, sd)

    found = least_epsilon(kind, lambda question: needed(question) <= n)
    if found is None:
        least = needed(kind.question(epsilon=LAST / STEPS))
        raise ValueError(
            f"margin: {margin:.4g} is out of reach with n = {n:,}; "
            f"even ε = {LAST / STEPS:g} needs n = {least:,}"
        )
    return found


def _n_needed(
    question: Question, margin: float, level: float, share: float, sd: float | None
) -> int:
    if question.kind == "number":
        return n_for_mean_margin(question, margin, level, sd)
    return n_for_margin(question, margin, level, share)


@dataclass(frozen=True)
class MarginPlan:
    """ε, n and margin that go together, and the question with the law that was chosen."""

    question: Question
    epsilon: float
    n: int
    margin: float
    level: float


def plan_margin(
    asked: Kind | Question,
    *,
    epsilon: float | None = None,
    n: int | None = None,
    margin: float | None = None,
    level: float = 0.95,
    share: float = 0.5,
    sd: float | None = None,
) -> MarginPlan:
    """Give two of ε, n and margin and get the third; a question of a survey has its own ε.

    The margin is that of a share, in the worst case half, or of the mean of a number, in its
    units and with ``sd`` the spread of answers if it is known. The margin in the plan is
    what the n in it gives.
    """
    if isinstance(asked, Kind):
        if [epsilon, n, margin].count(None) != 1:
            raise ValueError("epsilon, n, margin: give two of them")
        if epsilon is None:
            assert n is not None and margin is not None
            epsilon = epsilon_for_margin(asked, n, margin, level, share, sd)
        question = asked.question(epsilon=epsilon)
    else:
        if epsilon is not None or [n, margin].count(None) != 1:
            raise ValueError("n, margin: give one of them; the question has its own epsilon")
        question = asked
    if n is None:
        assert margin is not None
        n = _n_needed(question, margin, level, share, sd)
    if question.kind == "number":
        reached = mean_margin(question, n, level, sd)
    else:
        reached = margin_of_error(question, n, level, share)
    return MarginPlan(question, question.epsilon, n, reached, level)


# Checks


def check_whole(value: int, name: str, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ValueError(f"{name}: must be a whole number of at least {least}")
    return int(value)


def check_share(share: float, name: str = "share") -> float:
    if not 0 <= share <= 1:
        raise ValueError(f"{name}: must be a share from 0 to 1")
    return float(share)
