"""Weights that meet known totals of the population: post-stratification and raking.

With one column of totals this is post-stratification; with several, each round meets them
one after the other until all hold at once (Deming & Stephan 1940).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from .channel import Bools, Floats, Ints
from .designs import as_numbers, column_of
from .result import aligned

#: By column, the number or the share of people in each of its categories.
Margins: TypeAlias = Mapping[str, Mapping[Any, float]]

#: Margins are met when none is off by a larger share of itself.
MET = 1e-10
MOST_ROUNDS = 1000
#: Margins may differ in their totals, or shares from 1, by this much: numbers that were rounded.
SLACK = 1e-6


def group_codes(values: Any) -> tuple[Ints, list[Any]]:
    """A column of groups as numbers, and the groups in order; missing values are −1."""
    import pandas

    found = np.asarray(values)
    codes, names = pandas.factorize(
        found.astype(object) if found.dtype.kind in "US" else found, sort=True
    )
    return np.asarray(codes, dtype=np.int64), np.asarray(names).tolist()


def read_weights(data: Mapping[str, Any] | Any, column: str) -> Floats:
    """A column of weights, checked."""
    found = as_numbers(column_of(data, column), column)
    gone = int(np.isnan(found).sum())
    if gone:
        raise ValueError(f"column {column}: {gone} weights are missing; drop or weight those rows")
    if np.isinf(found).any() or (found < 0).any():
        raise ValueError(f"column {column}: weights must be numbers from 0 on")
    if not found.any():
        raise ValueError(f"column {column}: all weights are 0")
    return found


@dataclass(frozen=True)
class Margin:
    """One category: how many it should stand for, and what the weights add up to."""

    column: str
    category: Any
    target: float
    before: float
    after: float


@dataclass(frozen=True, eq=False)
class Raked:
    """Weights that meet the margins, and how they came to.

    ``gap``: the largest part of a margin that is still missing. ``factors``: the least and
    the largest by which a weight was changed; far from 1 they cost precision.
    """

    weights: Floats
    margins: tuple[Margin, ...]
    rounds: int
    gap: float
    factors: tuple[float, float]

    def __str__(self) -> str:
        head = ("column", "category", "target", "before", "after")
        rows = [
            (
                row.column,
                str(row.category),
                *(f"{x:.6g}" for x in (row.target, row.before, row.after)),
            )
            for row in self.margins
        ]
        return "\n".join(
            [
                *aligned([head, *rows], (0, 1)),
                f"{self.rounds} rounds; off by at most {self.gap:.1g} of a margin; "
                f"weights changed by factors of {self.factors[0]:.4g} to {self.factors[1]:.4g}",
            ]
        )


def rake(data: Mapping[str, Any] | Any, margins: Margins, weights: str | None = None) -> Raked:
    """Change weights as little as need be for them to meet known margins.

    ``margins``: for each column the number of people in each of its categories, such as
    ``{"sex": {"f": 5200, "m": 4800}, "age": {"18-29": 2500, "30+": 7500}}``, or their shares.
    Shares are of what the weights add up to now. Every category in the data needs a target
    and every target somebody in the data. ``weights``: the column to start from (all alike
    if none).

    Standard errors must know of it: give the margins to ``SurveyDesign``, rather than the
    new weights alone.
    """
    start = read_weights(data, weights) if weights else np.ones(len(column_of(data, _one(margins))))
    goal = Goal.read(data, margins, start)
    found, rounds, gap = goal.met(start[:, None])
    after = found[:, 0]
    used = start > 0
    changed = after[used] / start[used]
    return Raked(
        after,
        tuple(goal.table(start, after)),
        rounds,
        gap,
        (float(changed.min()), float(changed.max())),
    )


def _one(margins: Margins) -> str:
    if not isinstance(margins, Mapping) or not margins:
        raise ValueError("margins: must give at least one column with its categories")
    return next(iter(margins))


@dataclass(frozen=True, eq=False)
class Goal:
    """Margins beside the data: each respondent's category in each column, and the targets."""

    columns: tuple[str, ...]
    categories: tuple[list[Any], ...]
    codes: tuple[Ints, ...]
    targets: tuple[Floats, ...]
    #: Whether the targets were shares, which say nothing about the number of people.
    shares: bool

    @classmethod
    def read(cls, data: Mapping[str, Any] | Any, margins: Margins, weights: Floats) -> Goal:
        _one(margins)
        found = [_read(data, column, wanted, weights > 0) for column, wanted in margins.items()]
        totals = [targets.sum() for _, _, targets in found]
        shares = abs(totals[0] - 1) <= SLACK
        for column, total in zip(margins, totals, strict=True):
            if abs(total / totals[0] - 1) > SLACK:
                raise ValueError(
                    f"margins: {column} adds up to {total:g}, {_one(margins)} to {totals[0]:g}; "
                    "all must be of one population"
                )
        size = weights.sum() if shares else totals[0]
        return cls(
            tuple(margins),
            tuple(names for names, _, _ in found),
            tuple(codes for _, codes, _ in found),
            tuple(targets * (size / targets.sum()) for _, _, targets in found),
            shares,
        )

    def met(self, weights: Floats) -> tuple[Floats, int, float]:
        """Weights, a column each, raked to the margins; rounds that took, and what is missing."""
        members = [
            _members(codes, len(t)) for codes, t in zip(self.codes, self.targets, strict=True)
        ]
        found = weights
        for rounds in range(1, MOST_ROUNDS + 1):
            for column, member, codes, target in zip(
                self.columns, members, self.codes, self.targets, strict=True
            ):
                sums = member @ found
                if (sums <= 0).any():
                    raise ValueError(
                        f"margins: a category of {column} has no weight in some of the replicates"
                    )
                found = found * (target[:, None] / sums)[codes]
            gap = max(
                float(np.abs(member @ found / target[:, None] - 1).max())
                for member, target in zip(members, self.targets, strict=True)
            )
            if gap <= MET:
                return found, rounds, gap
        raise ValueError(
            f"margins: not met after {MOST_ROUNDS} rounds, still off by {gap:.2g} of a margin; "
            "combinations that nobody in the data has may rule them out together"
        )

    def residuals(self, values: Floats, weights: Floats) -> Floats:
        """What the categories leave unexplained of each column of values, by least squares."""
        indicators = sparse.vstack(
            [_members(codes, len(t)) for codes, t in zip(self.codes, self.targets, strict=True)]
        )
        weighted = indicators.multiply(weights)
        # Columns of several margins are dependent, so the least of many solutions is taken.
        slopes = np.linalg.lstsq(
            (weighted @ indicators.T).toarray(), weighted @ values, rcond=1e-12
        )[0]
        return np.asarray(values - indicators.T @ slopes)

    def table(self, before: Floats, after: Floats) -> list[Margin]:
        rows = []
        for column, names, codes, targets in zip(
            self.columns, self.categories, self.codes, self.targets, strict=True
        ):
            old, new = (np.bincount(codes, each, len(names)) for each in (before, after))
            numbers = (targets.tolist(), old.tolist(), new.tolist())
            rows += [Margin(column, *each) for each in zip(names, *numbers, strict=True)]
        return rows


def _read(
    data: Mapping[str, Any] | Any, column: str, wanted: Mapping[Any, float], used: Bools
) -> tuple[list[Any], Ints, Floats]:
    codes, names = group_codes(column_of(data, column))
    if (codes < 0).any():
        raise ValueError(f"column {column}: margins need a category for everybody; some have none")
    for name, target in wanted.items():
        if not target > 0 or not np.isfinite(target):
            raise ValueError(f"margins: {column} {name!r} must be a number above 0")
        if name not in names or not (used & (codes == names.index(name))).any():
            raise ValueError(
                f"margins: nobody in the data has {column} {name!r}; join it with another category"
            )
    strange = [name for name in names if name not in wanted]
    if strange:
        raise ValueError(f"margins: {column} {strange[0]!r} is in the data but has no target")
    return names, codes, np.array([float(wanted[name]) for name in names])


def _members(codes: Ints, size: int) -> Any:
    """Rows are categories, columns respondents."""
    rows = np.arange(len(codes))
    return sparse.csr_array((np.ones(len(codes)), (codes, rows)), shape=(size, len(codes)))


def effective_size(weights: Sequence[float] | Floats) -> float:
    """How many equally weighted respondents tell as much: (Σw)²/Σw² (Kish 1965)."""
    found = np.asarray(weights, dtype=float)
    return float(found.sum() ** 2 / (found**2).sum())
