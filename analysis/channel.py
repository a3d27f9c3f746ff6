"""Laws as arrays: channels, which responses support which answers, and their inverses.

A channel is ``P[response, answer]``: its columns sum to 1, and shares of responses are
λ = P π for shares π of answers (van den Hout & van der Heijden 2002).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import fft

from respondent.laws import (
    Distance,
    KAry,
    Law,
    OneOf,
    Plain,
    Projective,
    Subset,
    SupportLaw,
    Table,
    TwoPoint,
    Wave,
)

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

#: Channels with more entries than this are not written out.
MOST_ENTRIES = 2**25


def channel(law: Law) -> Floats:
    """P[response, answer] of a law that is small enough to be written out."""
    if law.responses * law.answers > MOST_ENTRIES:
        raise ValueError(
            f"a channel of {law.responses} responses by {law.answers} answers is too large "
            "to be written out"
        )
    weights = _weights(law)
    return np.asarray(weights / weights.sum(axis=0))


def _weights(law: Law) -> Floats:
    responses, answers = np.ogrid[: law.responses, : law.answers]
    if isinstance(law, Plain):
        return np.eye(law.answers)
    if isinstance(law, KAry):
        return np.where(responses == answers, float(law.truth), float(law.other))
    if isinstance(law, OneOf):
        told = (answers >> responses // 2) & 1 == responses & 1
        return np.where(told, float(law.truth), float(law.other))
    if isinstance(law, Table):
        totals = np.array([law.total(answer) for answer in range(law.answers)], dtype=float)
        return np.asarray(np.array(law.rows, dtype=float).T / totals)
    if isinstance(law, Subset | Projective):
        inside = np.stack(
            [supporting(law, np.arange(law.responses), x) for x in range(law.answers)], axis=1
        )
        return np.where(inside, float(law.inside), float(law.outside))
    if isinstance(law, TwoPoint):
        near = np.where(responses == 1, answers, law.steps - answers)
        return np.asarray(law.truth * near + law.other * (law.steps - near), dtype=float)
    if isinstance(law, Wave):
        near = (answers <= responses) & (responses <= answers + 2 * law.half_width)
        return np.where(near, float(law.near), float(law.far))
    if isinstance(law, Distance):
        weights, tails = _distance_weights(law)
        distance = np.abs(responses - law.margin - answers)
        at_end = (responses == 0) | (responses == law.responses - 1)
        return np.asarray(np.where(at_end, tails[distance], weights[distance]))
    raise TypeError(f"{law.name}: is not a law that analysis knows")


def _distance_weights(law: Distance) -> tuple[Floats, Floats]:
    """Weights by distance, and the sums of each with all farther ones."""
    weights = np.array(law.weights, dtype=float)
    return weights, np.cumsum(weights[::-1])[::-1]


# Which responses support which answers


@lru_cache(maxsize=64)
def binomials(answers: int, size: int) -> tuple[Ints, ...]:
    """For each place 0 … size: C(member, place) of every member below ``answers``."""
    return tuple(
        np.array([comb(member, place) for member in range(answers)], dtype=np.int64)
        for place in range(size + 1)
    )


def set_members(numbers: Ints, answers: int, size: int) -> Ints:
    """The sets with these colexicographic numbers, one row each, largest member first."""
    left = numbers.astype(np.int64, copy=True)
    found = np.empty((len(left), size), dtype=np.int64)
    tables = binomials(answers, size)
    for column, place in enumerate(range(size, 0, -1)):
        # Members below place − 1 have C = 0 too; the last of equals is the one meant.
        found[:, column] = np.searchsorted(tables[place], left, side="right") - 1
        left -= tables[place][found[:, column]]
    return found


def point_numbers(law: Projective, points: Ints) -> Ints:
    """The vectors of these points, first non-zero coordinate 1, as numbers in base q."""
    firsts = np.array([law.points(free) for free in range(law.dimension + 1)], dtype=np.int64)
    # A vector is its leading 1, which stands for q^free, followed by its free digits.
    ahead = law.prime ** np.arange(law.dimension + 1, dtype=np.int64) - firsts
    return np.asarray(points + ahead[np.searchsorted(firsts, points, side="right") - 1])


def point_vectors(law: Projective, points: Ints) -> Ints:
    """The vectors of these points, one row each."""
    number = point_numbers(law, points)
    vectors = np.empty((len(points), law.dimension), dtype=np.int64)
    for place in range(law.dimension - 1, -1, -1):
        number, vectors[:, place] = np.divmod(number, law.prime)
    return vectors


def supporting(law: SupportLaw, responses: Ints, answer: int) -> Bools:
    """Which of these responses support the answer."""
    if isinstance(law, KAry):
        return np.asarray(responses == answer)
    if isinstance(law, Subset):
        found = (set_members(responses, law.answers, law.size) == answer).any(axis=1)
        return np.asarray(found)
    if isinstance(law, Projective):
        true = np.array(law.vector(answer, law.dimension), dtype=np.int64)
        return np.asarray(point_vectors(law, responses) @ true % law.prime == 0)
    raise TypeError(f"{law.name}: its responses support no single answers")


def support_counts(law: SupportLaw, responses: Ints, counts: Ints) -> Ints:
    """How many of the responses, each sent ``counts`` times, support each answer."""
    if isinstance(law, KAry):
        return _spread(responses, counts, law.answers)
    if isinstance(law, Subset):
        members = set_members(responses, law.answers, law.size)
        found = np.bincount(
            members.ravel(), weights=np.repeat(counts, law.size), minlength=law.answers
        )
        return np.rint(found).astype(np.int64)
    if isinstance(law, Projective):
        dense = _spread(responses, counts, law.responses).astype(float)
        return np.rint(orthogonal_sums(law, dense)[: law.answers]).astype(np.int64)
    raise TypeError(f"{law.name}: its responses support no single answers")


def _spread(responses: Ints, counts: Ints, size: int) -> Ints:
    found = np.zeros(size, dtype=np.int64)
    found[responses] = counts
    return found


def orthogonal_sums(law: Projective, values: Floats) -> Floats:
    """For every point the sum of ``values`` over all points orthogonal to it, by one FFT.

    With each value on all q − 1 multiples of its point, Σ_u Σ_c value(u) ω^(c u·v) =
    F[v] counts q − 1 for each orthogonal u and −1 for the others, so that the sum is
    (F[0] + (q − 1) F[v]) / (q (q − 1)).
    """
    q, t = law.prime, law.dimension
    cube = np.empty(q**t)
    cube[0] = 0.0
    for multiple in range(1, q):
        digits = np.arange(q, dtype=np.int64) * multiple % q
        index = np.zeros(1, dtype=np.int64)
        for free in range(t):
            size = q**free
            block = values[law.points(free) : law.points(free + 1)]
            if multiple == 1:
                cube[size : 2 * size] = block
            else:
                cube[multiple * size + index] = block
                if free < t - 1:
                    index = ((digits * size)[:, None] + index).ravel()
    transformed = fft.fftn(cube.reshape((q,) * t)).real.ravel()
    at_points = np.concatenate([transformed[q**free : 2 * q**free] for free in range(t)])
    return np.asarray((transformed[0] + (q - 1) * at_points) / (q * (q - 1)))


# Inverses


def left_inverse(matrix: Floats, weights: Floats | None = None) -> Floats:
    """L with L P = 1: the inverse of a square channel, else weighted least squares.

    L = (Pᵀ W P)⁻¹ Pᵀ W with W = diag(weights). The default, one over each response's
    chance when all answers are alike, is near the best and, being fixed, keeps L λ̂
    unbiased.
    """
    if np.linalg.matrix_rank(matrix) < matrix.shape[1]:
        raise ValueError("these odds cannot tell the answers apart")
    if matrix.shape[0] == matrix.shape[1]:
        return np.asarray(np.linalg.inv(matrix))
    weights = 1 / matrix.mean(axis=1) if weights is None else weights
    weighted = matrix.T * weights
    return np.asarray(np.linalg.solve(weighted @ matrix, weighted))


def covariance(inverse: Floats, shares: Floats, n: int) -> Floats:
    """Cov π̂ = L (diag λ − λλᵀ) Lᵀ / (n − 1) (van den Hout & van der Heijden 2002).

    For the population that the respondents are a sample of. ``shares`` are those of the
    responses; with n = 1 the divisor is 1.
    """
    spread = np.diag(shares) - np.outer(shares, shares)
    return np.asarray(inverse @ spread @ inverse.T / max(n - 1, 1))


def kronecker_solve(channels: Sequence[Floats], table: npt.ArrayLike) -> Floats:
    """Joint shares of several questions' answers from the joint table of their responses.

    ``table`` has one axis for each question. The joint channel is the Kronecker product
    of the questions' channels; it is never written out, each axis is solved by itself.
    """
    solved = np.asarray(table, dtype=float)
    if solved.ndim != len(channels):
        raise ValueError(f"the table must have {len(channels)} axes, one for each channel")
    for axis, matrix in enumerate(channels):
        if solved.shape[axis] != matrix.shape[0]:
            raise ValueError(
                f"axis {axis} of the table must have {matrix.shape[0]} entries, "
                f"one for each response, not {solved.shape[axis]}"
            )
        solved = along(left_inverse(matrix), solved, axis)
    return solved


def kronecker_covariance(channels: Sequence[Floats], table: npt.ArrayLike, n: int) -> Floats:
    """Covariance of ``kronecker_solve`` for a small table, answers in C order."""
    inverse: Floats = np.eye(1)
    for matrix in channels:
        inverse = np.asarray(np.kron(inverse, left_inverse(matrix)), dtype=float)
    return covariance(inverse, np.asarray(table, dtype=float).ravel(), n)


def along(matrix: Floats, table: npt.NDArray[Any], axis: int) -> Floats:
    """``matrix`` applied to one axis of a table."""
    return np.moveaxis(np.tensordot(matrix, table, axes=(1, axis)), 0, axis)
