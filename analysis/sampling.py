"""How respondents were sampled, and the variance that follows (Taylor linearisation)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .calibration import Goal, Margins, group_codes, read_weights
from .channel import Bools, Floats, Ints
from .designs import as_numbers, column_of

LONELY = ("error", "centre")


@dataclass(frozen=True)
class SurveyDesign:
    """How respondents were sampled, by names of columns. What is left out was not done.

    ``weights``: how many people each respondent stands for, or in proportion to that.
    ``strata``: parts of the population that were sampled by themselves.
    ``clusters``: what was drawn first, such as schools; numbered anew in each stratum or not.
    ``fpc``: how many clusters (people, if there are none) the stratum has in the population.
    Without it the variance is that of drawing with replacement, which errs on the safe side.
    With it, clusters that were drawn are taken to have been asked completely.
    ``margins``: known numbers or shares that weights are raked to, as in ``rake``; one column
    of them is post-stratification.
    ``lonely``: a stratum of which one cluster was drawn shows no variance. That is an
    *error*, or it is taken from the *centre* of all clusters, which overstates it.
    """

    weights: str | None = None
    strata: str | None = None
    clusters: str | None = None
    fpc: str | None = None
    margins: Margins | None = None
    lonely: str = "error"

    def __post_init__(self) -> None:
        if self.lonely not in LONELY:
            raise ValueError(f"lonely: must be one of {', '.join(LONELY)}")


@dataclass(frozen=True, eq=False)
class Sampled:
    """A survey design beside its data.

    ``weights`` meet the margins, ``start`` are those before. ``stratum`` and ``cluster``
    number those of each respondent; ``within`` is the stratum of each cluster, ``sizes`` how
    many clusters each stratum has, ``fractions`` which part of its population they are.
    ``totals``: whether weights are numbers of people.
    """

    weights: Floats
    start: Floats
    stratum: Ints
    cluster: Ints
    within: Ints
    sizes: Ints
    fractions: Floats
    goal: Goal | None
    lonely: tuple[Any, ...]
    totals: bool
    method: str

    @property
    def zeros(self) -> int:
        """How many have a weight of 0; they are left out."""
        return int((self.weights == 0).sum())

    def covariance(self, influence: Floats) -> Floats:
        """Of sums over respondents of ``influence``, a column each, weights included.

        Σ_h (1 − f_h) n_h/(n_h − 1) Σ_c (z_hc − z̄_h)(z_hc − z̄_h)ᵀ with z_hc the sum over
        cluster c of stratum h (Binder 1983). If weights meet margins, influences are first
        replaced by what the margins leave unexplained (Deville & Särndal 1992).
        """
        if self.goal is not None:
            influence = self._unexplained(influence)
        sums = _summed(influence, self.cluster, len(self.within))
        means = _summed(sums, self.within, len(self.sizes)) / self.sizes[:, None]
        alone = self.sizes == 1
        means[alone] = sums.mean(axis=0)
        scale = (1 - self.fractions) * np.where(
            alone, 1.0, self.sizes / np.maximum(self.sizes - 1, 1)
        )
        away = sums - means[self.within]
        return np.asarray((away.T * scale[self.within]) @ away)

    def _unexplained(self, influence: Floats) -> Floats:
        assert self.goal is not None
        used = self.weights > 0
        each = np.zeros_like(influence)
        each[used] = influence[used] / self.weights[used, None]
        return self.goal.residuals(each, self.start) * self.weights[:, None]

    def freedom(self, inside: Bools) -> int:
        """Clusters less strata, of those respondents (Korn & Graubard 1999)."""
        clusters = np.unique(self.cluster[inside])
        return len(clusters) - len(np.unique(self.within[clusters]))

    @property
    def fraction(self) -> Floats:
        """Of each respondent's stratum."""
        return np.asarray(self.fractions[self.stratum])


def _summed(values: Floats, codes: Ints, size: int) -> Floats:
    return np.stack([np.bincount(codes, column, size) for column in values.T], axis=1)


def sampled(data: Mapping[str, Any] | Any, design: SurveyDesign, n: int) -> Sampled:
    """Read the columns that a survey design names, of ``n`` respondents."""
    if not isinstance(design, SurveyDesign):
        raise TypeError("survey: must be a SurveyDesign or ReplicateWeights")
    stratum, strata = _groups(data, design.strata, n)
    cluster, within = _clusters(data, design.clusters, stratum)
    sizes = np.bincount(within, minlength=len(strata))
    population = _population(data, design.fpc, stratum, sizes)
    if design.weights is not None:
        start = read_weights(data, design.weights)
    else:
        start = (population / sizes)[stratum] if design.fpc else np.ones(n)
    fractions = sizes / population
    lonely = (sizes == 1) & (fractions < 1)
    if lonely.any() and design.lonely == "error":
        name = strata[int(np.argmax(lonely))]
        where = f"column {design.strata}: stratum {name!r} has" if design.strata else "there is"
        raise ValueError(
            f"{where} one cluster only, which shows no variance; join strata that are alike, "
            'or choose lonely="centre"'
        )
    weights, goal = start, None
    if design.margins is not None:
        goal = Goal.read(data, design.margins, start)
        weights = goal.met(start[:, None])[0][:, 0]
    names = tuple(name for name, alone in zip(strata, lonely, strict=True) if alone)
    totals = design.weights is not None or design.fpc is not None
    if goal is not None:
        totals = not goal.shares
    return Sampled(
        weights, start, stratum, cluster, within, sizes, fractions, goal, names, totals,
        _method(design, len(sizes), len(within), names),
    )  # fmt: skip


def _method(design: SurveyDesign, strata: int, clusters: int, lonely: tuple[Any, ...]) -> str:
    parts = [
        "linearisation",
        *([f"{strata} strata"] if design.strata else []),
        *([f"{clusters} clusters"] if design.clusters else []),
        *(["finite-population correction"] if design.fpc else []),
        *([f"raked to {', '.join(design.margins)}"] if design.margins else []),
        *([f"strata of one cluster ({len(lonely)}) centred on all"] if lonely else []),
    ]
    return ", ".join(parts)


def _groups(data: Mapping[str, Any] | Any, column: str | None, n: int) -> tuple[Ints, list[Any]]:
    if column is None:
        return np.zeros(n, dtype=np.int64), ["all"]
    codes, names = group_codes(column_of(data, column))
    if (codes < 0).any():
        raise ValueError(f"column {column}: {int((codes < 0).sum())} values are missing")
    return codes, names


def _clusters(
    data: Mapping[str, Any] | Any, column: str | None, stratum: Ints
) -> tuple[Ints, Ints]:
    """The cluster of each respondent, and the stratum of each cluster."""
    if column is None:
        return np.arange(len(stratum)), stratum
    own, names = _groups(data, column, len(stratum))
    pairs, cluster = np.unique(stratum * len(names) + own, return_inverse=True)
    return cluster, pairs // len(names)


def _population(
    data: Mapping[str, Any] | Any, column: str | None, stratum: Ints, sizes: Ints
) -> Floats:
    """How many clusters each stratum has; infinite if that is not said."""
    if column is None:
        return np.full(len(sizes), np.inf)
    values = as_numbers(column_of(data, column), column)
    if np.isnan(values).any():
        raise ValueError(f"column {column}: {int(np.isnan(values).sum())} values are missing")
    found = np.zeros(len(sizes))
    found[stratum] = values
    if (found[stratum] != values).any():
        raise ValueError(f"column {column}: must be the same for everybody in a stratum")
    if (found < sizes).any():
        raise ValueError(
            f"column {column}: must be the number of clusters in the population of the stratum, "
            "at least as many as were drawn"
        )
    return found
