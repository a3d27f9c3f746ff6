"""Designs: how answers become responses, as an explicit channel, even one per respondent.

What follows counts (groups, cross-tables, regression, weights) needs no law, only the
channel P[response, answer]. So a survey question, a design of someone else's survey, a
direct-question arm and a coin that was changed half-way are all analysed alike, and together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import stats

from respondent import Question
from respondent.checking import say
from respondent.laws import OneOf

from .channel import Bools, Floats, Ints, channel, left_inverse

NO_YES = ("No", "Yes")

#: What stands for no response in ``Responses.codes``.
MISSING = -1

#: A plain column with more different values than this is a number, not a question.
MOST_VALUES = 1000


@dataclass(frozen=True, eq=False)
class Design:
    """A channel with names. ``channel[response, answer]``: each column sums to 1."""

    name: str
    channel: Floats
    answers: tuple[str, ...]
    #: The number that each answer stands for: 0 and 1 for no and yes, a scale's score, …
    scores: tuple[float, ...]
    #: The response of those who were not shown the question, if there is one.
    not_asked: int | None = None

    def __post_init__(self) -> None:
        matrix = np.asarray(self.channel, dtype=float)
        if matrix.ndim != 2 or matrix.shape[1] != len(self.answers):
            raise ValueError(
                f"channel: must have one column for each of {len(self.answers)} answers"
            )
        if len(self.scores) != len(self.answers):
            raise ValueError("scores: must have one number for each answer")
        if not np.isfinite(matrix).all() or (matrix < 0).any():
            raise ValueError("channel: must have chances from 0 to 1")
        if not np.allclose(matrix.sum(axis=0), 1, rtol=0, atol=1e-9):
            raise ValueError("channel: each column, the chances of one answer, must sum to 1")
        matrix = matrix.copy()
        matrix.flags.writeable = False
        object.__setattr__(self, "channel", matrix)

    @property
    def responses(self) -> int:
        return int(self.channel.shape[0])

    @property
    def informative(self) -> bool:
        """Whether many responses can tell all answers apart."""
        return int(np.linalg.matrix_rank(self.channel)) == len(self.answers)

    @cached_property
    def inverse(self) -> Floats:
        """L[answer, response]: its expectation over the responses is the answer's indicator."""
        if not self.informative:
            raise ValueError(f"{self.name}: these odds cannot tell the answers apart")
        return left_inverse(self.channel)

    def worth(self, wanted: npt.ArrayLike) -> Floats:
        """For each response a number whose expectation is the ``wanted`` one of the answer.

        Of all such numbers those of least variance when all answers are alike. Some there
        are of channels that cannot tell all answers apart, such as a mean by two points.
        """
        goal = np.asarray(wanted, dtype=float)
        root = np.sqrt(self.channel.mean(axis=1))
        seen = root > 0
        scaled = self.channel[seen] / root[seen, None]
        solved = np.linalg.lstsq(scaled.T, goal, rcond=1e-10)[0]
        found = np.zeros(len(root))
        found[seen] = solved / root[seen]
        if not np.allclose(found @ self.channel, goal, rtol=0, atol=1e-8 * np.abs(goal).max()):
            raise ValueError(f"{self.name}: these odds cannot tell the answers apart")
        return found

    def answer(self, name: str | None = None) -> int:
        """The number of an answer; by default that of "Yes", else of the last."""
        if name is None:
            return self.answers.index("Yes") if "Yes" in self.answers else len(self.answers) - 1
        if name not in self.answers:
            raise ValueError(
                f"{self.name}: has no answer {name!r}; it has {', '.join(self.answers)}"
            )
        return self.answers.index(name)


def design(question: Question, language: str = "en") -> Design:
    """The design of a survey's question. Tick-all-that-apply questions have no small one."""
    if isinstance(question.law, OneOf):
        raise ValueError(f"{question.id}: tick-all-that-apply is analysed option by option")
    matrix = channel(question.law)
    if question.kind == "number":
        cells = [question.value(cell) for cell in range(question.law.answers)]
        names, scores = [format(cell, "f") for cell in cells], [float(cell) for cell in cells]
    else:
        names = [say(option, language) for option in question.options]
        first = question.first or 0
        scores = [float(first + place) for place in range(len(names))]
    if question.kind == "yes-no":
        scores = [1.0, 0.0] + [np.nan] * (len(names) - 2)
    if question.skip:
        scores[-1] = np.nan
    return Design(question.id, matrix, tuple(names), tuple(scores), question.not_asked)


def table(
    matrix: npt.ArrayLike, answers: Sequence[str] | None = None, name: str = "table"
) -> Design:
    """Any channel P[response, answer]."""
    found = np.asarray(matrix, dtype=float)
    if found.ndim != 2:
        raise ValueError("channel: must be a table of responses by answers")
    names = tuple(answers) if answers is not None else _names(found.shape[1])
    return Design(name, found, names, tuple(map(float, range(len(names)))))


def direct(answers: Sequence[str] = NO_YES) -> Design:
    """The question asked as it is."""
    return table(np.eye(len(answers)), answers, "direct")


def coin(truth: float) -> Design:
    """With chance ``truth`` the true answer, otherwise a second, fair coin."""
    truth = _chance(truth, "truth")
    return forced((1 - truth) / 2, (1 - truth) / 2, name="coin")


def warner(p: float) -> Design:
    """With chance ``p`` the question, otherwise its negation (Warner 1965)."""
    p = _chance(p, "p")
    return table([[p, 1 - p], [1 - p, p]], NO_YES, "warner")


def crosswise(p: float) -> Design:
    """Same (1) or different (0) as a statement that is true with chance ``p`` (Yu et al. 2008)."""
    p = _chance(p, "p")
    return table([[p, 1 - p], [1 - p, p]], NO_YES, "crosswise")


def forced(yes: float, no: float, name: str = "forced") -> Design:
    """Forced yes and forced no with these chances, otherwise the truth (Boruch 1971)."""
    yes, no = _chance(yes, "yes"), _chance(no, "no")
    if yes + no > 1:
        raise ValueError("yes, no: must sum to at most 1")
    return table([[1 - yes, no], [yes, 1 - no]], NO_YES, name)


def unrelated(sensitive: float, yes: float) -> Design:
    """With chance ``sensitive`` the question, otherwise one to which a share ``yes`` says yes."""
    sensitive, yes = _chance(sensitive, "sensitive"), _chance(yes, "yes")
    other = 1 - sensitive
    return table(
        [
            [sensitive + other * (1 - yes), other * (1 - yes)],
            [other * yes, sensitive + other * yes],
        ],
        NO_YES,
        "unrelated",
    )


def kuk(yes: float, no: float, rounds: int = 1) -> Design:
    """Red cards in ``rounds`` draws: chance ``yes`` each if true, else ``no`` (Kuk 1990)."""
    yes, no = _chance(yes, "yes"), _chance(no, "no")
    reds = np.arange(rounds + 1)
    return table(
        np.stack([stats.binom.pmf(reds, rounds, p) for p in (no, yes)], axis=1), NO_YES, "kuk"
    )


def k_ary(answers: Sequence[str] | int, truth: float) -> Design:
    """The true answer with chance ``truth``, each other one alike."""
    names = _names(answers) if isinstance(answers, int) else tuple(answers)
    truth = _chance(truth, "truth")
    size = len(names)
    matrix = np.full((size, size), (1 - truth) / (size - 1))
    np.fill_diagonal(matrix, truth)
    return table(matrix, names, "k-ary")


def _names(size: int) -> tuple[str, ...]:
    return NO_YES if size == 2 else tuple(map(str, range(size)))


def _chance(value: float, name: str) -> float:
    if not 0 <= value <= 1:
        raise ValueError(f"{name}: must be a chance from 0 to 1")
    return float(value)


#: Whatever says how answers became responses: one design, or one for each arm.
Designs: TypeAlias = Design | Question | Mapping[Any, Design | Question]


@dataclass(frozen=True, eq=False)
class Responses:
    """What each respondent sent to one question, and the design that each had."""

    name: str
    codes: Ints
    designs: tuple[Design, ...]
    arm: Ints
    not_asked: int

    @property
    def answers(self) -> tuple[str, ...]:
        return self.designs[0].answers

    @property
    def scores(self) -> tuple[float, ...]:
        return self.designs[0].scores

    @cached_property
    def known(self) -> Bools:
        """Who gave a response."""
        return np.asarray(self.codes != MISSING)

    @property
    def missing(self) -> int:
        """How many gave none, those who were not asked included."""
        return int((~self.known).sum())

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, kept: Bools | Ints) -> Responses:
        """The same of some respondents only."""
        return Responses(self.name, self.codes[kept], self.designs, self.arm[kept], 0)

    @cached_property
    def chances(self) -> Floats:
        """P(this respondent's response | answer), a row each; all 1 where there is none."""
        found = np.ones((len(self.codes), len(self.answers)))
        for number, each in enumerate(self.designs):
            mine = self.known & (self.arm == number)
            found[mine] = each.channel[self.codes[mine]]
        return found

    @cached_property
    def unbiased(self) -> Floats:
        """For each respondent and answer a value whose expectation is 1 if that answer is
        true and 0 if not, over the design's randomness. Not a number where there is none."""
        found = np.full((len(self.codes), len(self.answers)), np.nan)
        for number, each in enumerate(self.designs):
            mine = self.known & (self.arm == number)
            if mine.any():
                found[mine] = each.inverse.T[self.codes[mine]]
        return found


def responses(
    data: Mapping[str, Any] | Any, column: str, designs: Designs, arm: str | None = None
) -> Responses:
    """Read a column of responses from a table (a DataFrame, or a dict of columns).

    ``designs``: the question or design, or a dict of them by the value in the column ``arm``,
    for sub-samples that were asked in different ways. All arms must have the same answers.
    Missing responses are kept as such; others must be whole numbers that the design has.
    """
    values = column_of(data, column)
    if isinstance(designs, Mapping):
        if arm is None:
            raise ValueError("arm: must name the column that says which design each one had")
        names = list(designs)
        found = tuple(as_design(each) for each in designs.values())
        arms = _arms(column_of(data, arm), names, arm)
    else:
        found, arms = (as_design(designs),), np.zeros(len(values), dtype=np.int64)
    if any(set(each.answers) != set(found[0].answers) for each in found):
        raise ValueError("designs: all arms must have the same answers")
    found = tuple(_reordered(each, found[0].answers) for each in found)
    return _checked(column, values, found, arms)


def plain(data: Mapping[str, Any] | Any, column: str) -> Responses:
    """Read a column that holds answers as they are; its different values are the answers.

    Numbers score as themselves, other values 0, 1, … in order. Missing values are kept as such.
    """
    values = column_of(data, column)
    known = np.array([not _is_missing(value) for value in values], dtype=bool)
    if not known.any():
        raise ValueError(f"column {column}: has no values")
    found = sorted(set(values[known].tolist()), key=_order)
    if len(found) > MOST_VALUES:
        raise ValueError(f"column {column}: has {len(found)} different values; group them first")
    places = {value: place for place, value in enumerate(found)}
    codes = np.full(len(values), MISSING, dtype=np.int64)
    codes[known] = [places[value] for value in values[known].tolist()]
    numeric = all(isinstance(value, int | float) for value in found)
    scores = [float(value) for value in found] if numeric else list(map(float, range(len(found))))
    names = tuple(f"{value:g}" if isinstance(value, float) else str(value) for value in found)
    each = Design(column, np.eye(len(found)), names, tuple(scores))
    return Responses(column, codes, (each,), np.zeros(len(codes), dtype=np.int64), 0)


def _order(value: Any) -> tuple[bool, float, str]:
    number = isinstance(value, int | float)
    return not number, float(value) if number else 0.0, str(value)


def as_design(source: Design | Question) -> Design:
    """The design of a question, or a design as it is."""
    if isinstance(source, Question):
        return design(source)
    if isinstance(source, Design):
        return source
    raise TypeError("designs: must be a Design, a question of a survey, or a dict of them by arm")


def _reordered(each: Design, answers: tuple[str, ...]) -> Design:
    """The same design with its answers in another order."""
    if each.answers == answers:
        return each
    order = [each.answers.index(name) for name in answers]
    scores = tuple(each.scores[place] for place in order)
    return Design(each.name, each.channel[:, order], answers, scores, each.not_asked)


def column_of(data: Any, name: str) -> npt.NDArray[Any]:
    """A column of a table as an array."""
    try:
        return np.asarray(data[name])
    except KeyError:
        raise ValueError(f"column {name} is missing") from None


def _arms(values: npt.NDArray[Any], names: list[Any], column: str) -> Ints:
    found = np.full(len(values), -1, dtype=np.int64)
    for number, name in enumerate(names):
        found[values == name] = number
    if (found < 0).any():
        strange = values[found < 0].tolist()[0]
        raise ValueError(f"column {column}: {strange!r} is not an arm of the designs")
    return found


def _checked(
    column: str, values: npt.NDArray[Any], designs: tuple[Design, ...], arms: Ints
) -> Responses:
    numbers = as_numbers(values, column)
    gone = np.isnan(numbers)
    if (numbers[~gone] % 1 != 0).any():
        raise ValueError(f"column {column}: responses must be whole numbers")
    codes = np.where(gone, MISSING, np.nan_to_num(numbers)).astype(np.int64)
    not_asked = 0
    for number, each in enumerate(designs):
        mine = (arms == number) & ~gone
        if each.not_asked is not None:
            unasked = mine & (codes == each.not_asked)
            not_asked += int(unasked.sum())
            codes[unasked] = MISSING
            mine &= ~unasked
        wrong = mine & ((codes < 0) | (codes >= each.responses))
        if wrong.any():
            raise ValueError(
                f"column {column}: responses of the design {each.name} "
                f"must be from 0 to {each.responses - 1}"
            )
    return Responses(column, codes, designs, arms, not_asked)


def as_numbers(values: npt.NDArray[Any], column: str) -> Floats:
    """A column as floats, with missing values as not-a-number."""
    if values.dtype.kind in "biuf":
        return values.astype(float)
    try:
        return np.array(
            [np.nan if _is_missing(value) else float(value) for value in values], dtype=float
        )
    except (TypeError, ValueError):
        raise ValueError(f"column {column}: must have numbers") from None


def _is_missing(value: Any) -> bool:
    # Pandas' own missing value cannot even be compared.
    return value is None or str(value) in ("<NA>", "") or value != value
