"""Responses to one question or several together, counted: joint shares and their likelihood.

Answers are randomised independently, so the joint channel of several questions is the
Kronecker product of theirs. It is never written out: each axis is multiplied by itself.
Respondents who had the same designs form a stratum; where all had, there is only one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from .channel import MOST_ENTRIES, Bools, Floats, along
from .designs import Design, Responses
from .feasible import CLOSE, Likelihood, binary_shares, maximise
from .intervals import wilson
from .means import FLAGS, Arrays
from .result import Value
from .shares import Moments, binary_table, likeliest, linear_shares

#: Tables with more cells than this are fitted to so much of the log-likelihood for each cell
#: only, which does not matter beside so many degrees of freedom.
LONG, CLOSE_CELL = 20, 1e-5
#: A fitted share of less than so many respondents is 0.
NOBODY = 0.01


@dataclass(frozen=True, eq=False)
class Stratum:
    """Respondents who had the same designs, one for each question, and what they sent."""

    designs: tuple[Design, ...]
    #: One axis for each question; axes before these are surveys side by side.
    counts: Floats

    @property
    def channels(self) -> list[Floats]:
        return [each.channel for each in self.designs]

    @cached_property
    def inverses(self) -> list[Floats]:
        return [each.inverse for each in self.designs]

    @property
    def axes(self) -> tuple[int, ...]:
        return tuple(range(-len(self.designs), 0))

    @cached_property
    def n(self) -> Floats:
        """How many there are, with axes of length 1 for the questions."""
        return np.asarray(self.counts.sum(axis=self.axes, keepdims=True))

    @property
    def square(self) -> bool:
        return all(len(matrix) == matrix.shape[1] for matrix in self.channels)


def strata(columns: Sequence[Responses], kept: Bools) -> tuple[Stratum, ...]:
    """Count the responses of those who are kept, by the designs that they had."""
    arms = np.stack([column.arm[kept] for column in columns])
    codes = np.stack([column.codes[kept] for column in columns])
    found = []
    for combination in np.unique(arms, axis=1).T:
        designs = tuple(
            column.designs[arm] for column, arm in zip(columns, combination, strict=True)
        )
        shape = tuple(each.responses for each in designs)
        if np.prod(shape, dtype=float) > MOST_ENTRIES:
            raise ValueError(f"a table of {' × '.join(map(str, shape))} responses is too large")
        mine = codes[:, (arms == combination[:, None]).all(axis=0)]
        cells = np.ravel_multi_index(tuple(mine), shape)
        counts = np.bincount(cells, minlength=int(np.prod(shape))).reshape(shape)
        found.append(Stratum(designs, counts.astype(float)))
    return merged(found)


def merged(parts: Sequence[Stratum]) -> tuple[Stratum, ...]:
    """Strata that have the same designs put together."""
    found: dict[tuple[int, ...], Stratum] = {}
    for part in parts:
        key = tuple(map(id, part.designs))
        counts = part.counts + (found[key].counts if key in found else 0)
        found[key] = replace(part, counts=counts)
    return tuple(found.values())


def size(parts: Sequence[Stratum]) -> Floats:
    """How many respondents the strata have together."""
    return np.asarray(sum(part.n for part in parts))


def through(matrices: Sequence[Floats], table: Floats) -> Floats:
    """Each matrix applied to its axis, the last axes of the table."""
    for axis, matrix in zip(range(-len(matrices), 0), matrices, strict=True):
        table = along(matrix, table, axis)
    return table


def moment(parts: Sequence[Stratum], powers: Sequence[int]) -> Floats:
    """The mean over respondents of Π L^power, one power of L for each question."""
    total = sum(
        through(
            [
                inverse**power if power > 1 else inverse
                for inverse, power in zip(part.inverses, powers, strict=True)
            ],
            part.counts,
        )
        for part in parts
    )
    return np.asarray(total / size(parts))


def joint_shares(parts: Sequence[Stratum], level: float) -> Arrays:
    """Joint shares of answers, the mean over respondents of the products of their L.

    With one question of two answers and two responses: binomial intervals. Else Wilson's
    for linear estimates, the variances of several strata mixed as the respondents are.
    """
    first = parts[0]
    if len(parts) == 1 and len(first.designs) == 1 and first.channels[0].shape == (2, 2):
        _ = first.inverses
        return binary_table(first.counts, first.channels[0], level, "population", wilson)
    questions, n = len(first.designs), size(parts)
    moments = [Moments.of(part.inverses, part.channels) for part in parts]
    weights = [part.n / n for part in parts]
    mixed = Moments(
        *(
            np.asarray(
                sum(w * getattr(each, name) for w, each in zip(weights, moments, strict=True))
            )
            for name in ("own", "others", "least")
        )
    )
    noisy = sum(through([likeliest(m).T for m in part.channels], part.counts) for part in parts)
    return linear_shares(
        np.asarray(noisy / n),
        moment(parts, [1] * questions),
        moment(parts, [2] * questions),
        mixed,
        n,
        level,
    )


def value(name: str, arrays: Arrays, cell: tuple[int, ...], feasible: float) -> Value:
    """One entry of the arrays by itself."""
    return Value(
        name,
        float(arrays.noisy[cell]),
        float(arrays.estimate[cell]),
        float(arrays.se[cell]),
        float(arrays.low[cell]),
        float(arrays.high[cell]),
        feasible,
        FLAGS[int(arrays.flag[cell])],
    )


# Likelihood


@dataclass(frozen=True, eq=False)
class Fit:
    """The likeliest shares on the simplex, and the log-likelihood there."""

    shares: Floats
    log_likelihood: float
    n: float

    @property
    def zeros(self) -> Bools:
        """Shares that stand for nobody. EM comes near 0 only."""
        return np.asarray(self.shares * self.n <= NOBODY)


def fit(parts: Sequence[Stratum]) -> Fit:
    """Maximum likelihood of the joint shares, all of them from 0 to 1.

    The log-likelihood is concave in the shares, so its maximum is the only one. With one
    stratum and as many responses as answers it is the unbiased estimate wherever that is
    possible; else EM finds it.
    """
    problem = _likelihood(parts)
    first = parts[0]
    shape = tuple(len(each.answers) for each in first.designs)
    found = None
    if len(parts) == 1 and first.square and all(each.informative for each in first.designs):
        found = moment(parts, [1] * len(shape))
        if shape == (2,):
            found = binary_shares(first.counts / problem.counts.sum(), first.channels[0])
    if found is None or (found < 0).any():
        close = CLOSE if problem.answers <= LONG else CLOSE_CELL * problem.answers
        found = maximise(problem, close).reshape(shape)
    chances = problem.forward(found.ravel())
    return Fit(found, float(problem.counts @ np.log(chances)), float(problem.counts.sum()))


def _likelihood(parts: Sequence[Stratum]) -> Likelihood:
    """Of one survey's strata, over the responses that somebody sent."""
    shape = tuple(len(each.answers) for each in parts[0].designs)
    sent = [np.flatnonzero(part.counts) for part in parts]
    ends = np.cumsum([len(cells) for cells in sent])[:-1]

    def forward(shares: Floats) -> Floats:
        table = shares.reshape(shape)
        return np.concatenate(
            [
                through(part.channels, table).ravel()[cells]
                for part, cells in zip(parts, sent, strict=True)
            ]
        )

    def backward(values: Floats) -> Floats:
        total = np.zeros(shape)
        for part, cells, own in zip(parts, sent, np.split(values, ends), strict=True):
            table = np.zeros(part.counts.shape)
            table.ravel()[cells] = own
            total += through([matrix.T for matrix in part.channels], table)
        return total.ravel()

    counts = np.concatenate(
        [part.counts.ravel()[cells] for part, cells in zip(parts, sent, strict=True)]
    )
    return Likelihood(counts, int(np.prod(shape)), forward, backward)
