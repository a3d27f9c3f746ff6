"""Groups compared: the share of an answer, or the mean score, by a question that is not protected.

Groups are different people, so their estimates are independent; what is noise and what is a
difference follows from the channel that each respondent's answer went through.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from scipy.stats import chi2, chi2_contingency
from scipy.stats import t as student

from respondent import Question

from .channel import Bools, Floats, Ints
from .designs import MISSING, Design, Designs, Responses, plain, responses
from .intervals import bonferroni, check_level
from .joint import Fit, fit, joint_shares, strata, value
from .means import mean_interval
from .odds_ratio import EDGE
from .result import NOTHING, NUMBERS, Difference, Parts, Test, Value, text_table
from .shares import least_variance, likeliest

CORRECTIONS = ("holm", "bonferroni")
#: More groups than this are a variable that has not been grouped.
MOST_GROUPS = 100
NOBODY = "nobody responded: no estimate"
ALONE = "one response: no standard error"
#: Pearson's test is a rough guide where fewer are expected.
FEW = 5


@dataclass(frozen=True)
class Group(Value):
    """The estimate of one group; its ``n`` responses, and how many in it gave none."""

    n: int = 0
    missing: int = 0


@dataclass(frozen=True)
class GroupDifference(Difference):
    """The estimate of group ``one`` less that of ``other``."""

    p: float
    #: p corrected for the number of differences.
    adjusted: float


@dataclass(frozen=True, eq=False)
class Comparison(Parts):
    """Estimates by group: ``result["female"].estimate``, ``result.differences``,
    ``result.tests``."""

    column: str
    by: str
    #: The answer whose share it is, or None for the mean of scores.
    answer: str | None
    groups: tuple[Group, ...]
    differences: tuple[GroupDifference, ...]
    tests: tuple[Test, ...]
    #: How p is corrected for the number of differences; None also where there is only one.
    correction: str | None
    #: Respondents whose group is not known.
    ungrouped: int

    def __getitem__(self, name: str) -> Group:
        for group in self.groups:
            if group.name == name:
                return group
        known = ", ".join(group.name for group in self.groups)
        raise KeyError(f"{name!r} is not a group of {self.by}: {known}")

    def about(self) -> dict[str, Any]:
        what = "mean" if self.answer is None else self.answer
        own = {"column": self.column, "by": self.by, "answer": what, "ungrouped": self.ungrouped}
        return own | super().about()

    def parts(self) -> Mapping[str, Callable[[], list[dict[str, Any]]]]:
        fields = ("n", "missing", *NUMBERS, "flag")
        return {
            "groups": lambda: [
                {"group": group.name} | {name: getattr(group, name) for name in fields}
                for group in self.groups
            ],
            "differences": lambda: [dict(vars(each)) for each in self.differences],
            "tests": lambda: [dict(vars(each)) for each in self.tests],
        }

    def __str__(self) -> str:
        what = "mean" if self.answer is None else f"share of {self.answer}"
        lines = [f"{self.column} by {self.by}: {what}"]
        for name, rows in self.parts().items():
            found = [{key: value for key, value in row.items() if key != "level"} for row in rows()]
            if found:
                lines += [*([""] if name != "groups" else []), *text_table(found)]
        left = [f"{self.ungrouped} without a group"] if self.ungrouped else []
        return "\n".join([*lines, self._caption(*left)])


def compare(
    data: Mapping[str, Any] | Any,
    column: str,
    designs: Designs,
    by: str | Question,
    *,
    answer: str | None = None,
    mean: bool | None = None,
    level: float = 0.95,
    arm: str | None = None,
    reference: str | None = None,
    correction: str | None = "holm",
) -> Comparison:
    """Estimate an answer's share in each group, with all differences and tests of equality.

    ``by``: the column that says each one's group, or a plain question of the survey.
    ``answer``: whose share; by default Yes, else the second of two. ``mean``: the mean of
    scores instead, the default for numbers and scales.
    ``reference``: compare with this group only, not all pairs.
    ``correction`` of the differences' p for their number: ``"holm"`` (Holm 1979),
    ``"bonferroni"`` or None. With either their intervals hold all at once (Bonferroni).
    ``designs`` may be a dict by the values of the column ``arm``.

    Missing responses and groups are counted. A group without a response has no estimate.
    """
    check_level(level)
    if correction is not None and correction not in CORRECTIONS:
        raise ValueError(f"correction: must be one of {', '.join(CORRECTIONS)}, or None")
    found = responses(data, column, designs, arm)
    place, member, names = _members(data, by)
    mean = _is_mean(designs, answer) if mean is None else mean
    if mean and answer is not None:
        raise ValueError("answer: the mean is of all answers' scores; give one of the two only")
    wanted = None if mean else _wanted(found, answer)
    parts = {name: _Part(found, member == number, wanted) for number, name in enumerate(names)}
    used = {name: part for name, part in parts.items() if part.n}
    if len(used) < 2:
        raise ValueError(f"by: {place} must have at least two groups with responses")
    if reference is not None and reference not in used:
        raise ValueError(f"reference: {reference!r} is not a group with responses")
    pooled = _Part(found, member != MISSING, wanted)
    groups = tuple(part.group(name, level) for name, part in parts.items())
    differences = _differences(used, found, wanted, level, reference, correction)
    correction = correction if len(differences) > 1 else None
    return Comparison(
        level=level,
        method=_method(pooled, mean, correction),
        n=pooled.n,
        missing=pooled.missing,
        column=column,
        by=place,
        answer=wanted,
        groups=groups,
        differences=differences,
        tests=_tests(list(used.values()), pooled, [group for group in groups if group.n]),
        correction=correction,
        ungrouped=int((member == MISSING).sum()),
    )


def _members(data: Any, by: str | Question) -> tuple[str, Ints, list[str]]:
    """The column of the groups, each respondent's group, and the groups' names."""
    if isinstance(by, Question):
        if by.protected:
            raise ValueError(f"by: {by.id} is protected, so groups are not known; use crosstab")
        found = responses(data, by.id, by)
    else:
        found = plain(data, by)
    names = list(found.answers)
    if len(names) > MOST_GROUPS:
        raise ValueError(f"by: {found.name} has {len(names)} different values; group them first")
    return found.name, found.codes, names


def _wanted(column: Responses, answer: str | None) -> str:
    answers = column.answers
    if answer is None and len(answers) > 2 and "Yes" not in answers:
        raise ValueError(f"answer: must be one of {', '.join(answers)}")
    return answers[column.designs[0].answer(answer)]


def _is_mean(designs: Designs, answer: str | None) -> bool:
    each = next(iter(designs.values())) if isinstance(designs, Mapping) else designs
    return answer is None and isinstance(each, Question) and each.kind in ("number", "scale")


def _method(pooled: _Part, mean: bool, correction: str | None) -> str:
    method = "Student intervals of means" if mean else "Wilson intervals"
    if not mean and any(each.channel.shape != (2, 2) for each in pooled.designs):
        method += " of linear estimates"
    method += ", of differences by Newcombe's method"
    if correction:
        method += f", all at once (Bonferroni); p adjusted ({correction.capitalize()})"
    return method


# One group


class _Part:
    """The respondents of one group, or of several together."""

    def __init__(self, column: Responses, inside: Bools, answer: str | None) -> None:
        self.column = column
        self.inside = inside & column.known
        self.answer = answer
        self.n = int(self.inside.sum())
        self.missing = int(inside.sum()) - self.n
        self.strata = strata([column], self.inside) if self.n else ()

    @property
    def designs(self) -> list[Design]:
        return [part.designs[0] for part in self.strata]

    @cached_property
    def rank(self) -> int:
        """How many dimensions of the shares the responses tell about, their sum included."""
        stacked = np.concatenate([each.channel for each in self.designs])
        return int(np.linalg.matrix_rank(stacked))

    @cached_property
    def fit(self) -> Fit:
        return fit(self.strata)

    def group(self, name: str, level: float) -> Group:
        found = self._mean(level) if self.answer is None else self._share(self.answer, level)
        if self.n == 1:
            found = replace(found, se=np.nan, flag=ALONE)
        return Group(**vars(found) | {"name": name}, n=self.n, missing=self.missing)

    def _share(self, answer: str, level: float) -> Value:
        if not self.n:
            return replace(NOTHING, low=0.0, high=1.0, flag=NOBODY)
        place = self.designs[0].answer(answer)
        arrays = joint_shares(self.strata, level)
        return value(answer, arrays, (place,), float(self.fit.shares[place]))

    def _mean(self, level: float) -> Value:
        """Σ s π / Σ π over the answers with a score, linear where all have one."""
        scores = np.array(self.column.scores)
        ends = float(np.nanmin(scores)), float(np.nanmax(scores))
        scored = ~np.isnan(scores)
        counts = [part.counts for part in self.strata]
        tops = [each.worth(np.where(scored, scores, 0.0)) for each in self.designs]
        bottoms = [each.worth(scored.astype(float)) for each in self.designs]
        share = _total(counts, bottoms) / max(self.n, 1)
        if share <= 0:
            return replace(NOTHING, low=ends[0], high=ends[1], flag=NOBODY)
        ratio = _total(counts, tops) / self.n / share
        lines = [
            ratio + (top - ratio * bottom) / share
            for top, bottom in zip(tops, bottoms, strict=True)
        ]
        floors = [
            np.array([least_variance(each.channel, line)] * len(line))
            for each, line in zip(self.designs, lines, strict=True)
        ]
        floor = _total(counts, floors) / self.n
        found = mean_interval(np.concatenate(lines), np.concatenate(counts), level, ends, floor)
        noisy = np.sum([part.counts @ likeliest(part.channels[0]) for part in self.strata], axis=0)
        return replace(
            value("mean", found, (), _average(self.fit.shares[scored], scores[scored])),
            noisy=_average(noisy[scored], scores[scored]),
        )


def _total(counts: Sequence[Floats], values: Sequence[Floats]) -> float:
    return sum(float(own @ each) for own, each in zip(counts, values, strict=True))


def _average(weights: Floats, scores: Floats) -> float:
    total = float(weights.sum())
    return float(weights @ scores) / total if total > 0 else np.nan


# Differences


def _differences(
    used: Mapping[str, _Part],
    column: Responses,
    answer: str | None,
    level: float,
    reference: str | None,
    correction: str | None,
) -> tuple[GroupDifference, ...]:
    """Every later group less every earlier one, or every other one less the reference."""
    pairs = [(one, other) for other, one in combinations(used, 2)]
    if reference is not None:
        pairs = [(one, reference) for one in used if one != reference]
    each = bonferroni(level, len(pairs)) if correction else level
    values = {name: part.group(name, each) for name, part in used.items()}
    ps = []
    for one, other in pairs:
        first, second = used[one], used[other]
        both = _Part(column, first.inside | second.inside, answer)
        ps.append(_two_groups([first, second], both, values[one], values[other]))
    return tuple(
        GroupDifference(one, other, *_newcombe(values[one], values[other]), level, p, adjusted)
        for (one, other), p, adjusted in zip(pairs, ps, corrected(ps, correction), strict=True)
    )


def _newcombe(one: Group, other: Group) -> tuple[float, float, float, float]:
    """Estimate, standard error and interval: distances to the two groups' own ends, squared
    (Newcombe 1998, method 10)."""
    estimate = one.estimate - other.estimate
    below = np.hypot(max(one.estimate - one.low, 0), max(other.high - other.estimate, 0))
    above = np.hypot(max(one.high - one.estimate, 0), max(other.estimate - other.low, 0))
    se = np.hypot(one.se, other.se)
    return estimate, float(se), float(estimate - below), float(estimate + above)


def _two_groups(parts: Sequence[_Part], both: _Part, one: Group, other: Group) -> float:
    """p of one difference: by likelihood ratio where the responses tell about nothing else,
    else by Welch's test of the two estimates."""
    if both.rank == 2:
        return _likelihood_ratio(parts, both).p
    squares = np.array([one.se**2, other.se**2])
    if not squares.sum() > 0:
        return np.nan
    freedom = np.maximum([part.n - 1 for part in parts], 1)
    df = squares.sum() ** 2 / (squares**2 / freedom).sum()
    distance = abs(one.estimate - other.estimate) / np.sqrt(squares.sum())
    return float(2 * student.sf(distance, df))


def corrected(ps: Sequence[float], correction: str | None) -> list[float]:
    """p-values corrected for their number; those that are not numbers are left out of it.

    Bonferroni: m p. Holm (1979): the i-th smallest times m + 1 − i, made increasing.
    """
    values = np.array(ps, dtype=float)
    known = np.flatnonzero(~np.isnan(values))
    if correction is None or not len(known):
        return list(map(float, values))
    factors = np.full(len(known), float(len(known)))
    order = known[np.argsort(values[known], kind="stable")]
    if correction == "holm":
        factors = np.arange(len(known), 0, -1, dtype=float)
    raised = values[order] * factors
    if correction == "holm":
        raised = np.maximum.accumulate(raised)
    values[order] = np.minimum(raised, 1)
    return list(map(float, values))


# Tests of equality


def _tests(parts: Sequence[_Part], pooled: _Part, groups: Sequence[Group]) -> tuple[Test, ...]:
    return _likelihood_ratio(parts, pooled), _pearson(parts, pooled), _wald(groups)


def _likelihood_ratio(parts: Sequence[_Part], pooled: _Part) -> Test:
    """That all groups have the same shares, both fitted on shares from 0 to 1.

    Each log-likelihood is concave in the shares, so none has a peak to get stuck on. Degrees of
    freedom: what the responses tell about the groups one by one less what they tell about all.
    """
    fits = [part.fit for part in parts]
    statistic = 2 * (sum(each.log_likelihood for each in fits) - pooled.fit.log_likelihood)
    df = sum(part.rank - 1 for part in parts) - (pooled.rank - 1)
    edge = any(each.zeros.any() for each in fits)
    flag = f"{EDGE}: p is rather too large" if edge else ""
    return _chi_square("likelihood ratio, of all shares", max(statistic, 0.0), df, flag)


def _pearson(parts: Sequence[_Part], pooled: _Part) -> Test:
    """That in each arm all groups send the same responses, the arms' statistics added up."""
    statistic, df, few = 0.0, 0, False
    for design in pooled.designs:
        table = np.array(
            [
                stratum.counts
                for part in parts
                for stratum in part.strata
                if stratum.designs[0] is design
            ]
        )
        table = table[:, table.any(axis=0)]
        if min(table.shape) < 2:
            continue
        found = chi2_contingency(table, correction=False)
        statistic, df = statistic + float(found.statistic), df + int(found.dof)
        few = few or bool((found.expected_freq < FEW).any())
    flag = f"fewer than {FEW} expected: a rough guide" if few else ""
    if not df:
        flag = "no arm has two groups and two different responses"
    return _chi_square("Pearson, of responses", statistic if df else np.nan, df, flag)


def _wald(groups: Sequence[Group]) -> Test:
    """That all estimates are of the same value: Σ (θ̂ − θ̄)²/se², θ̄ weighted by 1/se²."""
    squares = np.array([group.se**2 for group in groups])
    name = "Wald, of the estimates"
    if not (squares > 0).all():
        still = next(group.name for group in groups if not group.se > 0)
        return _chi_square(name, np.nan, 0, f"no standard error in {still}")
    values = np.array([group.estimate for group in groups])
    middle = float((values / squares).sum() / (1 / squares).sum())
    return _chi_square(name, float(((values - middle) ** 2 / squares).sum()), len(groups) - 1, "")


def _chi_square(name: str, statistic: float, df: int, flag: str) -> Test:
    p = float(chi2.sf(statistic, df)) if df else np.nan
    return Test(name, statistic, df, p, flag)
