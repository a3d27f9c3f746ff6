"""Surveys tried out: made-up answers, randomised with the client's own whole-number odds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from math import comb
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from respondent import Report, Survey
from respondent.laws import (
    Distance,
    KAry,
    Law,
    OneOf,
    Plain,
    Projective,
    Subset,
    Table,
    TwoPoint,
    Wave,
)

from .channel import Ints, binomials, point_numbers, set_members
from .counts import counted
from .truth import Answers, answers_of, safe_answer

if TYPE_CHECKING:
    import pandas

#: Uniform whole numbers below a total, or below each of several totals.
Below = Callable[[Any, int], Ints]

#: People at a time where arithmetic takes many steps: what stays in the cache is faster.
PART = 2**15


# Responses of many people at once: for each law the same arithmetic as its ``respond``


def respond(law: Law, answers: Ints, below: Below) -> Ints:
    """One response to each answer. ``below(total, size)`` draws as ``randbelow`` does."""
    size = len(answers)
    if isinstance(law, Plain):
        return answers
    if isinstance(law, KAry):
        return _k_ary(law, answers, below(law.total(0), size))
    if isinstance(law, OneOf):
        option, coin = np.divmod(below(law.total(0), size), law.truth + law.other)
        ticked = (answers >> option) & 1
        return np.asarray(2 * option + np.where(coin < law.truth, ticked, 1 - ticked))
    if isinstance(law, Table):
        totals = np.array([law.total(answer) for answer in range(law.answers)])
        sums = np.cumsum(np.array(law.rows), axis=1)
        draws = below(totals[answers], size)
        return np.asarray((draws[:, None] >= sums[answers]).sum(axis=1))
    if isinstance(law, Subset):
        return _subset(law, answers, below)
    if isinstance(law, Projective):
        return _projective(law, answers, below(law.total(0), size))
    if isinstance(law, TwoPoint):
        high = law.other * law.steps + (law.truth - law.other) * answers
        return (below(law.total(0), size) < high).astype(np.int64)
    if isinstance(law, Wave):
        return _wave(law, answers, below(law.total(0), size))
    if isinstance(law, Distance):
        return _distance(law, answers, below(law.total(0), size))
    raise TypeError(f"{law.name}: is not a law that analysis knows")


def _k_ary(law: KAry, answers: Ints, draws: Ints) -> Ints:
    other = draws - law.truth
    if law.other > 1:
        other //= law.other
    other += other >= answers
    return np.where(draws < law.truth, answers, other)


def _subset(law: Subset, answers: Ints, below: Below) -> Ints:
    inside = law.inside * law.size
    total = inside + law.outside * (law.answers - law.size)
    within = below(total, len(answers)) < inside
    found = np.empty(len(answers), dtype=np.int64)
    for chosen, size in ((within, law.size - 1), (~within, law.size)):
        true, ranks = answers[chosen], comb(law.answers - 1, size)
        draws = below(ranks, len(true))
        sets = partial(_set_numbers, law, size)
        found[chosen] = _each_once(sets, true, draws, law.answers, ranks)
    return found


def _set_numbers(law: Subset, size: int, answers: Ints, draws: Ints) -> Ints:
    """The sets of ``size`` others, with the answer itself if that leaves room for it."""
    others = set_members(draws, law.answers, size)
    others += others >= answers[:, None]
    if size < law.size:
        others = np.concatenate([others, answers[:, None]], axis=1)
    return set_numbers(np.sort(others, axis=1), law.answers)


def _each_once(
    compute: Callable[[Ints, Ints], Ints], answers: Ints, ranks: Ints, most: int, size: int
) -> Ints:
    """``compute(answers, ranks)``, by a table of all pairs where there are fewer of them."""
    if 2 * most * size > len(answers):
        found = np.empty(len(answers), dtype=np.int64)
        for start in range(0, len(answers), PART):
            part = slice(start, start + PART)
            found[part] = compute(answers[part], ranks[part])
        return found
    pairs = np.divmod(np.arange(most * size, dtype=np.int64), size)
    return np.asarray(compute(*pairs)[answers * size + ranks])


def set_numbers(members: Ints, answers: int) -> Ints:
    """Colexicographic numbers of sets, one row each, smallest member first."""
    tables = binomials(answers, members.shape[1])
    numbers = np.zeros(len(members), dtype=np.int64)
    for place in range(1, members.shape[1] + 1):
        numbers += tables[place][members[:, place - 1]]
    return numbers


def _projective(law: Projective, answers: Ints, draws: Ints) -> Ints:
    inside = law.points(law.dimension - 1)
    orthogonal = draws < inside * law.inside
    beyond = (draws - inside * law.inside) // law.outside + inside
    ranks = np.where(orthogonal, draws // law.inside, beyond)
    points = partial(_ranked_points, law)
    return _each_once(points, answers, ranks, law.answers, law.responses)


def _ranked_points(law: Projective, answers: Ints, ranks: Ints) -> Ints:
    """The points orthogonal to each answer come first, in ascending order, then the others.

    Vectors are numbers in base q throughout, first coordinate most significant.
    """
    q, inside = law.prime, law.points(law.dimension - 1)
    inverses = np.array([0, *(pow(value, -1, q) for value in range(1, q))], dtype=np.int64)
    if law.answers <= len(answers):
        every = _ends(law, np.arange(law.answers), inverses)
        unit, inverse, true_before = (column[answers] for column in every)
    else:
        unit, inverse, true_before = _ends(law, answers, inverses)
    orthogonal = ranks < inside
    found = np.where(orthogonal, point_numbers(law, ranks), ranks - inside)
    before = found // unit
    value = _modulo((~orthogonal - _products(law, true_before, before)) * inverse, q)
    vectors = found + unit * ((q - 1) * before + value)
    if q**law.dimension > len(vectors):
        return _points(law, vectors, inverses)
    return np.asarray(_points(law, np.arange(1, q**law.dimension), inverses)[vectors - 1])


def _ends(law: Projective, answers: Ints, inverses: Ints) -> tuple[Ints, Ints, Ints]:
    """The coordinate left out, as in the law the last one where the answer is not zero.

    Its unit, the inverse of its value there, and the coordinates before it.
    """
    true, unit = point_numbers(law, answers), np.ones(len(answers), dtype=np.int64)
    for place in range(1, law.dimension):
        unit[true % law.prime**place == 0] = law.prime**place
    before, last = np.divmod(true // unit, law.prime)
    return unit, inverses[last], before


def _modulo(values: Ints, q: int) -> Ints:
    """``values % q``; numpy divides by one number several times faster than it does that."""
    return np.asarray(values - values // q * q)


def _products(law: Projective, one: Ints, other: Ints) -> Ints:
    """Inner products of vectors, not yet modulo q."""
    found = np.zeros(len(one), dtype=np.int64)
    for _ in range(law.dimension - 1):
        one_left, other_left = one // law.prime, other // law.prime
        found += (one - one_left * law.prime) * (other - other_left * law.prime)
        one, other = one_left, other_left
    return found


def _points(law: Projective, vectors: Ints, inverses: Ints) -> Ints:
    """The numbers of the points on which these vectors lie."""
    q, t = law.prime, law.dimension
    powers = q ** np.arange(t, dtype=np.int64)
    free = np.searchsorted(powers, vectors, side="right") - 1
    scale = inverses[vectors // powers[free]]
    number = np.zeros(len(vectors), dtype=np.int64)
    for place in range(t):
        left = vectors // q
        number += _modulo((vectors - left * q) * scale, q) * q**place
        vectors = left
    # The leading 1 stands for q^free; points with fewer free digits come before.
    firsts = np.array([law.points(free) - q**free for free in range(t)], dtype=np.int64)
    return np.asarray(number + firsts[free])


def _wave(law: Wave, answers: Ints, draws: Ints) -> Ints:
    width = 2 * law.half_width + 1
    near = width * law.near
    cell = (draws - near) // law.far
    far = np.where(cell < answers, cell, cell + width)
    return np.where(draws < near, answers + draws // law.near, far)


def _distance(law: Distance, answers: Ints, draws: Ints) -> Ints:
    weights = np.array(law.weights, dtype=np.int64)
    sums = np.cumsum(np.concatenate([weights[:1], 2 * weights[1:]]))
    distance = np.searchsorted(sums, draws, side="right")
    below = (distance > 0) & (draws < sums[distance] - weights[distance])
    cell = answers + law.margin + np.where(below, -distance, distance)
    return np.clip(cell, 0, law.responses - 1)


# Whole surveys


@dataclass(frozen=True, eq=False)
class Sample:
    """A simulated survey: true answers and responses, one array for each question.

    Answers and responses are the whole numbers that laws use. People who refused are in
    neither.
    """

    survey: Survey
    truth: Mapping[str, Ints]
    responses: Mapping[str, Ints]
    seed: int | None

    @property
    def n(self) -> int:
        return len(next(iter(self.responses.values())))

    @cached_property
    def counts(self) -> dict[str, dict[int, int]]:
        """For each question how often each response was reported."""
        return {
            question.id: counted(question, self.responses[question.id]) for question in self.survey
        }

    @property
    def reports(self) -> list[Report]:
        """The reports, as the clients would have sent them; keys follow from a seed if given."""
        return list(self.each_report())

    def each_report(self) -> Iterator[Report]:
        rng = np.random.default_rng(None if self.seed is None else [7, self.seed])
        columns = [self.responses[question.id].tolist() for question in self.survey]
        for row in zip(*columns, strict=True):
            yield Report(self.survey.fingerprint, rng.bytes(16).hex(), row, self.survey.widths)

    def to_frame(self) -> pandas.DataFrame:
        import pandas

        return pandas.DataFrame(
            {question.id: self.responses[question.id] for question in self.survey}
        )

    def to_csv(self, path: str | Path) -> None:
        """One column of responses for each question, as ``counts`` reads them."""
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(",".join(self.responses) + "\n")
            columns = [array.tolist() for array in self.responses.values()]
            for row in zip(*columns, strict=True):
                file.write(",".join(map(str, row)) + "\n")

    def to_json_lines(self, path: str | Path) -> None:
        with open(path, "wb") as file:
            for report in self.each_report():
                file.write(bytes(report) + b"\n")

    def to_parquet(self, path: str | Path) -> None:
        import pyarrow
        from pyarrow import parquet

        parquet.write_table(pyarrow.table(dict(self.responses)), str(path))


def simulate(
    survey: Survey,
    truth: object = None,
    n: int | None = None,
    seed: int | None = None,
    *,
    safe: float = 0.0,
    random: float = 0.0,
    refuse: float = 0.0,
    safe_answers: Mapping[str, object] | None = None,
) -> Sample:
    """Make up ``n`` people, their answers and their reports.

    ``truth`` maps question ids to shares (``{"Yes": 0.3, "No": 0.7}``, or one share for each
    answer; chances to tick each option for tick-all-that-apply), to one answer for each
    person, or tuples of ids to a joint table; or it is a DataFrame of answers. Questions
    left out: every answer alike. With a DataFrame and ``n``, rows are drawn with
    replacement; without, they are the people.

    Not everybody does as told: ``safe`` is the share of people who always give the safe
    answer, ``random`` of those who answer anything alike, ``refuse`` of those who send no
    report. The device still randomises what it is told. The safe answer is "No", the first
    option, nothing ticked or the low end, unless ``safe_answers`` gives another.
    """
    rng = np.random.default_rng(seed)
    if min(safe, random, refuse) < 0 or safe + random + refuse > 1 or refuse == 1:
        raise ValueError("safe, random, refuse: must be shares that add up to at most 1")
    people: Answers = answers_of(survey, truth, n, rng)
    told = _told(survey, people, rng, (safe, random, refuse), safe_answers or {})
    responses: dict[str, Ints] = {}
    for question in survey:
        found = respond(question.law, told.answers[question.id], generator(rng))
        for condition in question.show_if:
            shown = np.isin(responses[condition.question], condition.among)
            found = np.where(shown, found, question.law.responses)
        responses[question.id] = found
    return Sample(survey, told.truth, responses, seed)


def generator(rng: np.random.Generator) -> Below:
    def below(total: Any, size: int) -> Ints:
        return rng.integers(0, total, size=size, dtype=np.int64)

    return below


@dataclass(frozen=True, eq=False)
class _Told:
    """What is true of those who report, and what they tell their devices."""

    truth: dict[str, Ints]
    answers: dict[str, Ints]


def _told(
    survey: Survey,
    people: Answers,
    rng: np.random.Generator,
    shares: tuple[float, float, float],
    safe_answers: Mapping[str, object],
) -> _Told:
    if not any(shares):
        return _Told(people, people)
    size = len(next(iter(people.values())))
    safe, random, refuse = np.cumsum(shares)
    kind = rng.random(size)
    staying = (kind < random) | (kind >= refuse)
    truth = {name: array[staying] for name, array in people.items()}
    kind = kind[staying]
    if not len(kind):
        raise ValueError("refuse: nobody is left to report")
    answers = {}
    for question in survey:
        own = truth[question.id]
        careful = safe_answer(question, safe_answers.get(question.id))
        anything = rng.integers(0, question.law.answers, size=len(kind), dtype=np.int64)
        answers[question.id] = np.where(
            kind < safe, careful, np.where(kind < random, anything, own)
        )
    return _Told(truth, answers)
