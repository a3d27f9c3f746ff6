"""Replicate weights: the survey again with some clusters left out or drawn anew.

How much an estimate moves from one set of weights to the next is its variance, whatever the
estimate is, and raking is repeated for every set (Wolter 2007).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import hadamard

from .calibration import read_weights
from .channel import Bools, Floats
from .designs import as_numbers, column_of
from .sampling import Sampled, SurveyDesign, sampled

#: Replicates times respondents; more would not fit into memory.
MOST_ENTRIES = 10**8


@dataclass(frozen=True, eq=False)
class ReplicateWeights:
    """Weights of a survey, and in the columns of ``replicates`` those of each replicate.

    The variance of an estimate θ̂ is Σ_r scale_r (θ̂_r − θ̂)².
    """

    weights: Floats
    replicates: Floats
    scales: Floats
    clusters_less_strata: int
    method: str
    #: Whether weights are numbers of people.
    totals: bool = True

    @property
    def zeros(self) -> int:
        """How many have a weight of 0; they are left out."""
        return int((self.weights == 0).sum())

    def freedom(self, inside: Bools) -> int:
        """Degrees of freedom; which clusters a group is in, replicates do not say."""
        return self.clusters_less_strata

    def covariance(self, estimator: Callable[[Floats], Floats]) -> Floats:
        """``estimator``: weights, a column for each set, to estimates, a row for each."""
        away = estimator(self.replicates) - estimator(self.weights[:, None])
        return np.asarray((away.T * self.scales) @ away)


def replicate_weights(
    data: Mapping[str, Any] | Any,
    weights: str,
    columns: Sequence[str],
    scales: float | Sequence[float],
    freedom: int | None = None,
) -> ReplicateWeights:
    """Replicate weights that came with the data.

    ``scales``: what the variance multiplies each squared deviation by, as the documentation
    of the data says. For R replicates: 1/R for bootstrap and BRR, 1/(R(1 − k)²) for BRR with
    Fay's k, (R − 1)/R for the jackknife without strata (JK1), (n_h − 1)/n_h for that with
    strata (JKn), one number for each column. ``freedom``: degrees of freedom; by default the
    rank of the replicates less 1.
    """
    if len(columns) < 2:
        raise ValueError("columns: must name at least two replicates")
    found = np.stack([_replicate(data, column) for column in columns], axis=1)
    factors = np.broadcast_to(np.asarray(scales, dtype=float), len(columns))
    if not (factors > 0).all():
        raise ValueError("scales: must be above 0")
    if freedom is None:
        freedom = int(np.linalg.matrix_rank(found.T @ found, hermitian=True)) - 1
    method = f"{len(columns)} replicate weights"
    return ReplicateWeights(read_weights(data, weights), found, factors, freedom, method)


def _replicate(data: Mapping[str, Any] | Any, column: str) -> Floats:
    found = as_numbers(column_of(data, column), column)
    if not np.isfinite(found).all():
        raise ValueError(f"column {column}: replicate weights must all be there")
    return found


def jackknife_weights(data: Mapping[str, Any] | Any, survey: SurveyDesign) -> ReplicateWeights:
    """Each cluster left out once: JK1 without strata, JKn with.

    The other clusters of its stratum h are weighted by n_h/(n_h − 1), and the scale is
    (n_h − 1)/n_h.
    """
    found = _read(data, survey)
    clusters = len(found.within)
    _check_size(len(found.start), clusters)
    sizes = found.sizes[found.within]
    same = found.stratum[:, None] == found.within
    factors = np.where(same, sizes / (sizes - 1), 1.0)
    factors[np.arange(len(found.cluster)), found.cluster] = 0
    kind = "JKn" if len(found.sizes) > 1 else "JK1"
    return _made(found, factors, (sizes - 1) / sizes, f"jackknife ({kind})")


def bootstrap_weights(
    data: Mapping[str, Any] | Any,
    survey: SurveyDesign,
    replicates: int = 500,
    seed: int | None = None,
) -> ReplicateWeights:
    """Clusters drawn anew: n_h − 1 of stratum h, with replacement (Rao & Wu 1988).

    A cluster that is drawn m times is weighted by m n_h/(n_h − 1).
    """
    if replicates < 2:
        raise ValueError("replicates: must be at least 2")
    found = _read(data, survey)
    _check_size(len(found.start), replicates)
    rng = np.random.default_rng(seed)
    drawn = np.empty((len(found.within), replicates))
    for stratum, size in enumerate(found.sizes):
        chances = np.full(size, 1 / size)
        draws = rng.multinomial(size - 1, chances, size=replicates)
        drawn[found.within == stratum] = draws.T * size / (size - 1)
    scales = np.full(replicates, 1 / replicates)
    return _made(found, drawn[found.cluster], scales, f"bootstrap of {replicates}")


def brr_weights(data: Mapping[str, Any] | Any, survey: SurveyDesign) -> ReplicateWeights:
    """Balanced half-samples: of each stratum's two clusters one counts double (McCarthy 1969).

    Which, is said by the columns of a Hadamard matrix.
    """
    found = _read(data, survey)
    if (found.sizes != 2).any():
        raise ValueError("survey: BRR needs exactly two clusters in each stratum")
    strata = len(found.sizes)
    signs = hadamard(1 << strata.bit_length())[:, 1 : strata + 1].T
    _check_size(len(found.start), signs.shape[1])
    first = np.zeros(len(found.within), dtype=bool)
    first[np.unique(found.within, return_index=True)[1]] = True
    side = np.where(first, 1, -1)[:, None] * signs[found.within]
    count = signs.shape[1]
    scales = np.full(count, 1 / count)
    return _made(found, (1.0 + side)[found.cluster], scales, f"BRR of {count}")


def _read(data: Mapping[str, Any] | Any, survey: SurveyDesign) -> Sampled:
    if survey.fpc is not None:
        raise ValueError(
            "fpc: replicates here are of drawing with replacement; leave it out, or give the "
            "SurveyDesign itself to weighted()"
        )
    column = survey.weights or survey.strata or survey.clusters
    if column is None:
        raise ValueError("survey: must name at least one of weights, strata and clusters")
    found = sampled(data, survey, len(column_of(data, column)))
    if found.lonely:
        raise ValueError(f"survey: stratum {found.lonely[0]!r} has one cluster only")
    return found


def _check_size(respondents: int, replicates: int) -> None:
    if respondents * replicates > MOST_ENTRIES:
        raise ValueError(
            f"{replicates} replicates of {respondents} respondents are too many; put people into "
            "some hundred random groups and name them as clusters, or use linearisation"
        )


def _made(found: Sampled, factors: Floats, scales: npt.ArrayLike, method: str) -> ReplicateWeights:
    replicates = found.start[:, None] * factors
    if found.goal is not None:
        replicates = found.goal.met(replicates)[0]
        method += ", each raked to the margins"
    freedom = len(found.within) - len(found.sizes)
    return ReplicateWeights(
        found.weights, replicates, np.asarray(scales, dtype=float), freedom, method, found.totals
    )
