"""Unbiased values: what each report says, as numbers whose expectation is the truth.

Over the coin, the value of a report for an answer averages to 1 if that answer is true and
to 0 if not. So every estimate that is a weighted sum stays valid when these values stand in
for the answers that nobody knows (Chaudhuri 2011), here or in another program.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from respondent import Question
from respondent.laws import NumberLaw, OneOf, Plain

from .channel import Bools, Floats
from .designs import MISSING, Design, Designs, Responses, column_of, responses
from .numbers import noise_variance, scores
from .tally import answer_names

if TYPE_CHECKING:
    import pandas

#: (ratios, factors) → Σ factor × covariance of value − ratio · base, over the coin alone.
Noise: TypeAlias = Callable[[Floats, Floats], Floats]


@dataclass(frozen=True, eq=False)
class Unbiased:
    """What each report adds: an estimate is Σ weight · value / Σ weight · base over reports.

    A column for each of ``names``, a row for each report; 0 where ``known`` is false. The
    last column is a mean, not a share, if ``mean`` says so.
    ``ends`` are the least and the largest possible estimate. ``noise`` is unbiased for the
    part of the variance that the coin makes; where no function of one response is, it errs
    upwards. ``floors`` are the least variances that the coin gives values, whatever is true.
    """

    names: tuple[str, ...]
    mean: bool
    values: Floats
    bases: Floats
    known: Bools
    not_asked: int
    ends: Floats
    noise: Noise
    floors: Floats

    @property
    def missing(self) -> int:
        """How many gave no response, those who were not asked included."""
        return int((~self.known).sum())

    def take(self, places: Sequence[int]) -> Unbiased:
        """Some of the columns."""
        own = list(places)

        def noise(ratios: Floats, factors: Floats) -> Floats:
            every = np.zeros(len(self.names))
            every[own] = ratios
            return self.noise(every, factors)[np.ix_(own, own)]

        return Unbiased(
            tuple(self.names[place] for place in own),
            self.mean and len(self.names) - 1 in own,
            self.values[:, own],
            self.bases[:, own],
            self.known,
            self.not_asked,
            self.ends[own],
            noise,
            self.floors[:, own],
        )


def unbiased(
    data: Mapping[str, Any] | Any, column: str, designs: Designs, arm: str | None = None
) -> Unbiased:
    """Read a column of responses as unbiased values (arguments as ``designs.responses``)."""
    every: list[Any] = list(designs.values()) if isinstance(designs, Mapping) else [designs]
    kinds = {each.kind if isinstance(each, Question) else "design" for each in every}
    if kinds == {"number"}:
        return _numbers(data, column, designs, arm, every)
    if "number" in kinds:
        raise ValueError("designs: numbers and other questions cannot be arms of one another")
    if "choices" in kinds:
        if len(every) > 1:
            raise ValueError("designs: tick-all-that-apply questions cannot be arms")
        return _ticks(data, column, every[0])
    return _answers(responses(data, column, designs, arm), kinds == {"scale"})


def _answers(read: Responses, scale: bool) -> Unbiased:
    """A column for each answer; of a scale, also one for the mean of those who gave a score."""
    indicators = np.nan_to_num(read.unbiased)
    size = len(read.answers)
    lines, base_lines = np.eye(size), np.zeros((size, size))
    ends = np.tile([0.0, 1.0], (size, 1))
    values, bases = indicators, np.repeat(read.known[:, None], size, axis=1).astype(float)
    names = read.answers
    if scale:
        points = np.array(read.scores)
        scored = ~np.isnan(points)
        middle = (np.nanmin(points) + np.nanmax(points)) / 2
        # Values of one report need not add up to 1; centring keeps that noise out.
        line = np.where(scored, points - middle, 0.0)
        base = scored.astype(float) * (not scored.all())
        own = indicators @ base if base.any() else read.known.astype(float)
        values = np.column_stack([values, indicators @ line + middle * own])
        bases = np.column_stack([bases, own])
        lines = np.vstack([lines, line + middle * base])
        base_lines = np.vstack([base_lines, base])
        ends = np.vstack([ends, [np.nanmin(points), np.nanmax(points)]])
        names = (*names, "mean")

    def noise(ratios: Floats, factors: Floats) -> Floats:
        # E[t tᵀ − diag t | answer] is the covariance of indicators t, since 1² = 1, 0² = 0.
        spread = (indicators.T * factors) @ indicators - np.diag(factors @ indicators)
        line = lines - ratios[:, None] * base_lines
        return np.asarray(line @ spread @ line.T)

    # Of a ratio of two values no least variance is known.
    floors = _floors(read, lines) * ~base_lines.any(axis=1)
    return Unbiased(names, scale, values, bases, read.known, read.not_asked, ends, noise, floors)


def _floors(read: Responses, lines: Floats) -> Floats:
    """For each report the least variance, over answers, of lines of its values."""
    found = np.zeros((len(read), len(lines)))
    for number, each in enumerate(read.designs):
        mine = read.known & (read.arm == number)
        if mine.any():
            worth = lines @ each.inverse
            spread = worth**2 @ each.channel - (worth @ each.channel) ** 2
            found[mine] = np.maximum(spread.min(axis=1), 0)
    return found


def _numbers(
    data: Any, column: str, designs: Designs, arm: str | None, every: Sequence[Any]
) -> Unbiased:
    """One column, in the question's units: each response's score."""
    readers: Any = _reader(every[0])
    if isinstance(designs, Mapping):
        readers = {name: _reader(each) for name, each in zip(designs, every, strict=True)}
    read = responses(data, column, readers, arm)
    known = read.known.copy()
    values, least, most = np.zeros((3, len(read)))
    for number, question in enumerate(every):
        mine = read.known & (read.arm == number)
        if question.skip:
            # Numbers that may be skipped are plain; their last response says so.
            mine &= read.codes != question.law.responses - 1
            known &= mine | (read.arm != number)
        low, step = float(question.low or 0), float(question.step or 1)
        values[mine] = low + step * scores(question.law)[read.codes[mine]]
        if isinstance(question.law, NumberLaw):
            spread = step**2 * noise_variance(question.law)
            least[mine], most[mine] = spread.min(), spread.max()
    cells = [each.value(cell) for each in every for cell in (0, _last(each))]
    ends = np.array([[float(min(cells)), float(max(cells))]])

    def noise(ratios: Floats, factors: Floats) -> Floats:
        return np.array([[factors @ most]])

    bases = known.astype(float)[:, None]
    return Unbiased(
        ("mean",), True, values[:, None], bases, known, read.not_asked, ends, noise, least[:, None]
    )


def _last(question: Question) -> int:
    return question.law.answers - 1 - (1 if question.skip else 0)


def _ticks(data: Any, column: str, question: Question) -> Unbiased:
    """A column for each option, from those who drew it; m in place of 1, for m options."""
    read = responses(data, column, _reader(question))
    law, options = question.law, np.arange(len(question.options))
    codes = read.codes[:, None]
    if isinstance(law, OneOf):
        p, q = float(law.p), float(law.q)
        drawn = read.known[:, None] & (codes // 2 == options)
        bases = law.options * drawn.astype(float)
        values = bases * (codes % 2 - q) / (p - q)
    else:
        assert isinstance(law, Plain)
        bases = np.repeat(read.known[:, None], len(options), axis=1).astype(float)
        values = bases * (np.where(codes == MISSING, 0, codes) >> options & 1)

    def noise(ratios: Floats, factors: Floats) -> Floats:
        if isinstance(law, Plain):
            return np.zeros((len(options), len(options)))
        own = values - ratios * bases
        return np.asarray((own.T * factors) @ own)

    ends = np.tile([0.0, 1.0], (len(options), 1))
    names = tuple(answer_names(question))
    floors = np.zeros_like(values)
    if isinstance(law, OneOf):
        # Given which option was drawn, its coin's.
        floors = bases**2 * p * q / (p - q) ** 2
    return Unbiased(names, False, values, bases, read.known, read.not_asked, ends, noise, floors)


def _reader(question: Question) -> Design:
    """A design that only knows which responses there are, for questions without a small one."""
    size = question.law.responses
    return Design(
        question.id, np.full((size, 1), 1 / size), ("any",), (np.nan,), question.not_asked
    )


def unbiased_values(
    data: Mapping[str, Any] | Any,
    column: str,
    designs: Designs,
    arm: str | None = None,
    *,
    keep: Sequence[str] = (),
) -> pandas.DataFrame:
    """For each report the unbiased value of every answer, for any other survey program.

    Columns are named ``cheated_Yes``; a number has one, ``income_value``, in its units. The
    columns ``keep`` (weights, strata, clusters, groups) come first. Missing where there is
    no response and, of tick-all-that-apply questions, where another option was drawn: such
    rows are left out of that column's mean. The mean of a column, weighted as the survey
    needs it, estimates the share of the answer, and its design-based standard error is right
    as it is unless a finite-population correction is made (see ``weighted``).

    ``unbiased_values(…).to_csv("values.csv", index=False)`` is read by R and by Stata.
    """
    import pandas

    found = unbiased(data, column, designs, arm)
    table: dict[str, Any] = {name: column_of(data, name) for name in keep}
    for place, name in enumerate(_labels(found)):
        there = found.bases[:, place] > 0
        label = f"{column}_{name}"
        if label in table:
            raise ValueError(f"keep: {label} is the name of a column of values")
        own = np.full(len(there), np.nan)
        np.divide(found.values[:, place], found.bases[:, place], out=own, where=there)
        table[label] = own
    return pandas.DataFrame(table)


def _labels(found: Unbiased) -> tuple[str, ...]:
    """Names of the columns to write: a scale's mean follows from its answers."""
    if found.mean:
        return found.names[:-1] or ("value",)
    return found.names
