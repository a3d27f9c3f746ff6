"""Weighted estimates from randomised responses, with design-based standard errors.

Unbiased values take the place of answers (``unbiased``), so what is known of weighted means
of answers holds: Hájek's mean Σ w r / Σ w, Horvitz and Thompson's total Σ w r, variances by
linearisation or replicate weights.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import t as student

from .calibration import effective_size, group_codes
from .channel import Bools, Floats
from .designs import Designs, column_of
from .intervals import bounded_score, check_level, normal_quantile
from .means import BOUNDED, FLAGS, OUTSIDE, ROUNDING
from .replicates import ReplicateWeights
from .result import Difference, PathLike, aligned
from .sampling import Sampled, SurveyDesign, sampled
from .unbiased import Unbiased, unbiased

if TYPE_CHECKING:
    import pandas

NOTHING = "nothing to estimate from"
FEW_CLUSTERS = "too few clusters: no interval"


@dataclass(frozen=True)
class WeightedValue:
    """One estimate. ``group`` is None unless there are groups; ``n`` counts responses."""

    group: Any
    name: str
    estimate: float
    se: float
    low: float
    high: float
    freedom: int
    n: int
    flag: str = ""


@dataclass(frozen=True, eq=False)
class Weighted:
    """Weighted estimates: ``result["Yes"]``, or ``result["north", "Yes"]`` with groups.

    ``covariance`` is that of all rows, in their order. ``missing`` counts those without a
    response (``not_asked`` of them were not asked) or group, ``zeros`` those with a weight
    of 0; both are left out, and stay in the variance as part of the sample. ``effective_n``
    is Kish's (Σw)²/Σw².
    """

    column: str
    by: str | None
    rows: tuple[WeightedValue, ...]
    covariance: Floats
    level: float
    method: str
    n: int
    missing: int
    not_asked: int
    zeros: int
    effective_n: float

    def __getitem__(self, key: Any) -> WeightedValue:
        return self.rows[self._place(key)]

    def _place(self, key: Any) -> int:
        for place, row in enumerate(self.rows):
            if key == (row.name if self.by is None else (row.group, row.name)):
                return place
        known = "an answer" if self.by is None else f"a pair of {self.by} and answer"
        raise KeyError(f"{key!r}: is not {known} of this table")

    def difference(self, one: Any, other: Any) -> Difference:
        """One estimate less another, groups or answers, their covariance included.

        Its degrees of freedom are the fewer of the two.
        """
        first, second = self._place(one), self._place(other)
        line = np.zeros(len(self.rows))
        line[first], line[second] = 1.0, -1.0
        se = float(np.sqrt(np.maximum(line @ self.covariance @ line, 0.0)))
        estimate = self.rows[first].estimate - self.rows[second].estimate
        freedom = min(self.rows[first].freedom, self.rows[second].freedom)
        width = _quantile(self.level, freedom) * se
        names = (_named(self.rows[first]), _named(self.rows[second]))
        return Difference(*names, estimate, se, estimate - width, estimate + width, self.level)

    def to_frame(self) -> pandas.DataFrame:
        import pandas

        about = {"level": self.level, "method": self.method}
        table = pandas.DataFrame.from_records([asdict(row) | about for row in self.rows])
        table.insert(0, "column", self.column)
        return table.drop(columns="group") if self.by is None else table

    def to_csv(self, path: PathLike | None = None) -> str | None:
        """The table as CSV: written to ``path``, or returned if there is none."""
        text: str | None = self.to_frame().to_csv(path, index=False, lineterminator="\n")
        return text

    def __str__(self) -> str:
        head = ["answer", "estimate", "se", "low", "high", "n"]
        flagged = any(row.flag for row in self.rows)
        digits = 1 if any(abs(row.estimate) >= 100 for row in self.rows) else 4
        lines = [([self.by] if self.by else []) + head + (["flag"] if flagged else [])]
        for row in self.rows:
            numbers = (row.estimate, row.se, row.low, row.high)
            lines.append(
                ([str(row.group)] if self.by else [])
                + [
                    row.name,
                    *("–" if np.isnan(x) else f"{x:.{digits}f}" for x in numbers),
                    str(row.n),
                ]
                + ([row.flag] if flagged else [])
            )
        words = {0, 1 if self.by else 0, len(lines[0]) - 1 if flagged else 0}
        return "\n".join([*aligned(lines, words), self._caption()])

    def _caption(self) -> str:
        parts = [
            f"{self.column}: n = {self.n}",
            f"effective n = {self.effective_n:.0f}",
            *([f"{self.missing} missing"] if self.missing else []),
            *([f"{self.zeros} with weight 0"] if self.zeros else []),
            f"{100 * self.level:g} % intervals",
            self.method,
        ]
        return "; ".join(parts)


def _named(row: WeightedValue) -> str:
    return row.name if row.group is None else f"{row.group} {row.name}"


def weighted(
    data: Mapping[str, Any] | Any,
    column: str,
    designs: Designs,
    survey: SurveyDesign | ReplicateWeights,
    *,
    arm: str | None = None,
    by: str | None = None,
    answer: str | None = None,
    level: float = 0.95,
) -> Weighted:
    """Shares of answers in the population, or the mean of a number, from a weighted sample.

    ``column`` has responses, ``designs`` says how answers became them (``arm``: by which
    column, if there are several designs). ``survey``: how the sample was drawn.
    ``by``: a column of groups, each estimated as a domain of the whole sample.
    ``answer``: that one only. A scale's table ends with the mean of its scores.

    Estimates are Hájek's, Σ w r / Σ w with r the unbiased value of a report. Their variance
    is that of the sum of w (r − estimate)/Σ w over sampled clusters, with Student's interval
    on (clusters − strata) degrees of freedom. With a finite-population correction the coin's
    part of it, which does not shrink as more of the population is asked, is added:
    Σ f w² (r² − r)/(Σ w)², f the sampled part of the stratum (Chaudhuri 2011). With
    replicate weights it is their spread. It is taken to be at least what the coin alone makes.
    Estimates are not clipped; those outside the possible are flagged.
    """
    problem = _Problem.read(data, column, designs, survey, arm, by, answer)
    return problem.solved(level, total=False)


def weighted_total(
    data: Mapping[str, Any] | Any,
    column: str,
    designs: Designs,
    survey: SurveyDesign | ReplicateWeights,
    *,
    arm: str | None = None,
    by: str | None = None,
    answer: str | None = None,
    level: float = 0.95,
) -> Weighted:
    """How many people in the population would give an answer, or the sum of a number.

    As ``weighted``, for the estimate Σ w r of Horvitz & Thompson (1952). Weights must say how
    many people each respondent stands for. Those without a response add nothing.
    """
    problem = _Problem.read(data, column, designs, survey, arm, by, answer)
    if not problem.sample.totals:
        raise ValueError(
            "survey: a total needs weights or margins that are numbers of people, not shares"
        )
    if problem.values.mean and len(problem.values.names) > 1:
        # Nobody asks for the sum of all scores of a scale.
        answers = range(len(problem.values.names) - 1)
        problem = replace(problem, values=problem.values.take(answers))
    return problem.solved(level, total=True)


@dataclass(frozen=True, eq=False)
class _Problem:
    """Values and sample side by side; ``groups`` are the groups and who is in them."""

    column: str
    by: str | None
    values: Unbiased
    sample: Sampled | ReplicateWeights
    groups: list[tuple[Any, Bools]]
    missing: int

    @classmethod
    def read(
        cls,
        data: Mapping[str, Any] | Any,
        column: str,
        designs: Designs,
        survey: SurveyDesign | ReplicateWeights,
        arm: str | None,
        by: str | None,
        answer: str | None,
    ) -> _Problem:
        values = unbiased(data, column, designs, arm)
        sample = read_sample(data, survey, len(values.known))
        inside = values.known & (sample.weights > 0)
        groups: list[tuple[Any, Bools]] = [(None, inside)]
        missing = values.missing
        if by is not None:
            codes, names = group_codes(column_of(data, by))
            groups = [(name, inside & (codes == code)) for code, name in enumerate(names)]
            missing = int((~values.known | (codes < 0)).sum())
        if not any(mask.any() for _, mask in groups):
            raise ValueError(f"column {column}: there are no responses to estimate from")
        if answer is not None:
            if answer not in values.names:
                known = ", ".join(values.names)
                raise ValueError(f"answer: {column} has no {answer!r}; it has {known}")
            values = values.take([values.names.index(answer)])
        return cls(column, by, values, sample, groups, missing)

    def solved(self, level: float, total: bool) -> Weighted:
        check_level(level)
        estimates = self._estimates(self.sample.weights[:, None], total)[0]
        covariance = self._covariance(estimates, total)
        least = np.maximum(np.diag(covariance), self._floors(total))
        np.fill_diagonal(covariance, least)
        used = np.any([mask for _, mask in self.groups], axis=0)
        return Weighted(
            column=self.column,
            by=self.by,
            rows=tuple(self._rows(estimates, covariance, level, total)),
            covariance=covariance,
            level=level,
            method=("Horvitz–Thompson totals, " if total else "Hájek means, ") + self.sample.method,
            n=int(used.sum()),
            missing=self.missing,
            not_asked=self.values.not_asked,
            zeros=self.sample.zeros,
            effective_n=effective_size(self.sample.weights[used]),
        )

    def _estimates(self, weights: Floats, total: bool) -> Floats:
        """One row for each column of weights; estimates of each group in turn."""
        found = []
        for _, mask in self.groups:
            tops = weights[mask].T @ self.values.values[mask]
            if not total:
                tops = _ratio(tops, weights[mask].T @ self.values.bases[mask])
            found.append(tops)
        return np.concatenate(found, axis=1)

    def _covariance(self, estimates: Floats, total: bool) -> Floats:
        if isinstance(self.sample, ReplicateWeights):
            return self.sample.covariance(lambda weights: self._estimates(weights, total))
        size, weights = len(self.values.names), self.sample.weights
        factors = self.sample.fraction * weights**2
        influences = np.zeros((len(weights), len(estimates)))
        noise = np.zeros((len(estimates), len(estimates)))
        for group, (_, mask) in enumerate(self.groups):
            own = slice(group * size, (group + 1) * size)
            ratios, sums = np.zeros(size), np.ones(size)
            if not total:
                ratios = np.nan_to_num(estimates[own])
                sums = weights[mask] @ self.values.bases[mask]
            away = self.values.values[mask] - ratios * self.values.bases[mask]
            influences[mask, own] = np.nan_to_num(weights[mask, None] * _ratio(away, sums))
            if factors.any():
                coin = self.values.noise(ratios, np.where(mask, factors, 0.0))
                noise[own, own] = _ratio(coin, np.outer(sums, sums))
        return self.sample.covariance(influences) + noise

    def _floors(self, total: bool) -> Floats:
        """Variances that the coin alone makes, at least."""
        found = []
        for _, mask in self.groups:
            weights = self.sample.weights[mask]
            floors = weights**2 @ self.values.floors[mask]
            if not total:
                floors = _ratio(floors, (weights @ self.values.bases[mask]) ** 2)
            found.append(floors)
        return np.concatenate(found)

    def _rows(
        self, estimates: Floats, covariance: Floats, level: float, total: bool
    ) -> Iterator[WeightedValue]:
        errors = np.sqrt(np.maximum(np.diag(covariance), 0))
        number = 0
        for group, mask in self.groups:
            for place, name in enumerate(self.values.names):
                inside = mask & (self.values.bases[:, place] != 0)
                least, most = self.values.ends[place]
                if total:
                    people = float(self.sample.weights[mask].sum())
                    least, most = min(0.0, least * people), most * people
                    name = "total" if self.values.mean else name
                found = value_within(
                    float(estimates[number]),
                    float(errors[number]),
                    level,
                    self.sample.freedom(inside),
                    (least, most),
                )
                yield replace(found, group=group, name=name, n=int(inside.sum()))
                number += 1


def read_sample(
    data: Mapping[str, Any] | Any, survey: SurveyDesign | ReplicateWeights, n: int
) -> Sampled | ReplicateWeights:
    """The sample that ``n`` respondents are, by its design or its replicate weights."""
    if not isinstance(survey, ReplicateWeights):
        return sampled(data, survey, n)
    if len(survey.weights) != n:
        raise ValueError(
            f"survey: replicate weights are of {len(survey.weights)} respondents, the data of {n}"
        )
    return survey


def _ratio(tops: Floats, bases: Floats) -> Floats:
    """Not a number where there is nothing to divide by."""
    found = np.full(np.broadcast_shapes(tops.shape, bases.shape), np.nan)
    return np.asarray(np.divide(tops, bases, out=found, where=bases > 0))


def _quantile(level: float, freedom: int) -> float:
    """t with P(|T| ≤ t) = level; not a number if there are no degrees of freedom."""
    return float(student.ppf((1 + level) / 2, freedom)) if freedom > 0 else float("nan")


def value_within(
    estimate: float, se: float, level: float, freedom: int, ends: tuple[float, float]
) -> WeightedValue:
    """Student's interval; on the possible, by likelihood ratio, where it is wholly outside."""
    if np.isnan(estimate):
        return _value(estimate, estimate, estimate, estimate, freedom, NOTHING)
    width = _quantile(level, freedom) * se
    if np.isnan(width):
        return _value(estimate, width, width, width, freedom, FEW_CLUSTERS)
    low, high = estimate - width, estimate + width
    first, last = ends
    slack = ROUNDING * (last - first)
    flag = OUTSIDE if estimate < first - slack or estimate > last + slack else 0
    if high < first - slack or low > last + slack:
        flag = BOUNDED
        size = last - first
        # Student's quantile in place of the normal one that the other interval takes.
        spread = (width / size / normal_quantile(level)) ** 2
        found = bounded_score((estimate - first) / size, 1, level, (spread, 0.0, 0.0))
        low, high = (first + size * float(end) for end in found)
    return _value(estimate, se, low, high, freedom, FLAGS[flag])


def _value(
    estimate: float, se: float, low: float, high: float, freedom: int, flag: str
) -> WeightedValue:
    return WeightedValue(None, "", estimate, se, low, high, freedom, 0, flag)
