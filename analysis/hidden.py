"""Likelihoods with hidden answers: of the outcome, of predictors, or of both.

With y what is seen of the outcome, w the responses to the protected predictors, h a
combination of their answers, z plain covariates and x(h, z) the columns of the formula:

    P(y, w | z) = Σ_h P(w | h) P(h | z; γ) f(y | x(h, z); θ)

P(w | h) is known from the designs, P(h | z; γ) is a multinomial logit, and f is a family
below. Derivatives are exact; with hidden predictors by Louis (1982).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Protocol, Self

import numpy as np

from .channel import Floats, Ints
from .climb import Slopes
from .designs import Responses

#: Of the other starts, and of the sample that they are tried on.
SEED = 1982


@dataclass(frozen=True, eq=False)
class FamilySlopes:
    """log f of each respondent and its derivatives by the predictors, which come first.
    ``information`` is minus the second derivative, ``complete`` what it would be, in
    expectation, if nothing were hidden."""

    value: Floats
    gradient: Floats
    information: Floats
    complete: Floats


class Family(Protocol):
    """f(y | predictors), the predictors being rows of an array predictors × respondents."""

    @property
    def predictors(self) -> int: ...

    def columns(self, covariates: Floats) -> list[Floats]:
        """The columns that each predictor is a combination of."""

    def slopes(self, predictors: Floats) -> FamilySlopes: ...

    def targets(self) -> Floats:
        """Predictors to start from."""

    def spread(self) -> Floats:
        """How far off each predictor other starts may be."""

    def take(self, rows: Ints) -> Self: ...


@dataclass(frozen=True, eq=False)
class Choice:
    """Multinomial logit of an answer seen through its channel. ``log_chances`` are those of
    the respondent's response, answers × respondents, the reference answer first:

    f = Σ_a P(response | a) e^{η_a} / Σ_a e^{η_a}, with η of the reference 0.
    """

    log_chances: Floats

    @property
    def predictors(self) -> int:
        return len(self.log_chances) - 1

    def columns(self, covariates: Floats) -> list[Floats]:
        return [covariates] * self.predictors

    def slopes(self, predictors: Floats) -> FamilySlopes:
        full = np.vstack([np.zeros_like(predictors[:1]), predictors])
        before, shares = softmax(full)
        after, posterior = softmax(full + self.log_chances)
        complete = spreads(shares[1:])
        return FamilySlopes(
            value=after - before,
            gradient=posterior[1:] - shares[1:],
            information=complete - spreads(posterior[1:]),
            complete=complete,
        )

    def targets(self) -> Floats:
        shares = mixture_shares(self.log_chances)
        logits = np.log(shares[1:] / shares[0])
        return np.repeat(logits[:, None], self.log_chances.shape[1], axis=1)

    def spread(self) -> Floats:
        return np.full(self.predictors, 1.5)

    def take(self, rows: Ints) -> Self:
        return replace(self, log_chances=self.log_chances[:, rows])


@dataclass(frozen=True, eq=False)
class Normal:
    """Normal outcome; the predictors are its mean and the logarithm of its deviation."""

    values: Floats

    @property
    def predictors(self) -> int:
        return 2

    def columns(self, covariates: Floats) -> list[Floats]:
        return [covariates, np.ones((len(covariates), 1))]

    def slopes(self, predictors: Floats) -> FamilySlopes:
        mean, log_deviation = predictors
        deviation = np.exp(log_deviation)
        away = (self.values - mean) / deviation
        cross = 2 * away / deviation
        precision = deviation**-2
        none = np.zeros_like(away)
        return FamilySlopes(
            value=-0.5 * np.log(2 * np.pi) - log_deviation - away**2 / 2,
            gradient=np.stack([away / deviation, away**2 - 1]),
            information=np.array([[precision, cross], [cross, 2 * away**2]]),
            complete=np.array([[precision, none], [none, none + 2]]),
        )

    def targets(self) -> Floats:
        return np.stack([self.values, np.full(len(self.values), np.log(self.values.std()))])

    def spread(self) -> Floats:
        return np.array([self.values.std() / 2, 0.0])

    def take(self, rows: Ints) -> Self:
        return replace(self, values=self.values[rows])


@dataclass(frozen=True, eq=False)
class Model:
    """The likelihood above. ``covariates`` has x(h, z) for each combination h of hidden
    answers, ``log_chances`` log P(w | h), combinations × respondents, ``given`` the columns
    that P(h | z) is a logit of. Parameters: θ by predictor, then γ by combination, the first
    combination being the reference."""

    family: Family
    covariates: tuple[Floats, ...]
    log_chances: Floats
    given: Floats
    weights: Floats

    @property
    def n(self) -> int:
        return len(self.weights)

    @cached_property
    def sizes(self) -> list[int]:
        """How many parameters each predictor has, those of the hidden answers last."""
        outcome = [part.shape[1] for part in self.family.columns(self.covariates[0])]
        return outcome + [self.given.shape[1]] * (len(self.covariates) - 1)

    def slopes(self, place: Floats) -> Slopes:
        parts = self._parts(place)
        found = [self.family.slopes(self._predicted(x, parts)) for x in self.covariates]
        if len(found) == 1:
            return self._seen(found[0])
        shares, value, posterior = self._mixed(found, parts)
        scores = np.zeros((self.n, len(place)))
        information = self._summed([each.information for each in found], shares, posterior)
        each = zip(self.covariates, self._gradients(found, shares), posterior, strict=True)
        for x, gradient, share in each:
            own = scored(self._columns(x), gradient)
            scores += own * share[:, None]
            information -= own.T @ (own * (share * self.weights)[:, None])
        information += scores.T @ (scores * self.weights[:, None])
        return Slopes(
            float(self.weights @ value),
            self.weights @ scores,
            information,
            partial(self._summed, [each.complete for each in found], shares, posterior),
        )

    def scores(self, place: Floats) -> Floats:
        """The derivative of each respondent's log-likelihood, unweighted."""
        parts = self._parts(place)
        found = [self.family.slopes(self._predicted(x, parts)) for x in self.covariates]
        shares, _, posterior = self._mixed(found, parts)
        each = zip(self.covariates, self._gradients(found, shares), posterior, strict=True)
        total = np.zeros((self.n, len(place)))
        for x, gradient, weight in each:
            total += scored(self._columns(x), gradient) * weight[:, None]
        return total

    def start(self) -> Floats:
        """Ordinary fits to the predictors' targets, and the hidden answers' shares."""
        return self._start

    @cached_property
    def _start(self) -> Floats:
        columns = self._columns(self._expected)
        targets = [*self.family.targets(), *self._hidden_targets]
        return np.concatenate(
            [fitted(each, target) for each, target in zip(columns, targets, strict=True)]
        )

    @cached_property
    def scale(self) -> Floats:
        """The complete data's information at the start."""
        return self.slopes(self.start()).complete()

    def other_starts(self, many: int) -> list[Floats]:
        """The start with the outcome's predictors moved at random, by a fixed seed: some
        little, some as far as steps go."""
        random = np.random.default_rng(SEED)
        start, columns = self.start(), self.family.columns(self._expected)
        roots = [rooted(part) for part in columns]
        found = []
        for number in range(many):
            moved, far = start.copy(), 2.0 ** (number % 4 - 1)
            at = 0
            for root, spread in zip(roots, self.family.spread(), strict=True):
                draw = random.normal(size=len(root))
                moved[at : at + len(root)] += far * spread * np.linalg.solve(root.T, draw)
                at += len(root)
            found.append(moved)
        return found

    def sample(self, rows: int) -> Self:
        """At most so many respondents, by a fixed seed."""
        if self.n <= rows:
            return self
        kept = np.sort(np.random.default_rng(SEED).permutation(self.n)[:rows])
        return replace(
            self,
            family=self.family.take(kept),
            covariates=tuple(x[kept] for x in self.covariates),
            log_chances=self.log_chances[:, kept],
            given=self.given[kept],
            weights=self.weights[kept],
        )

    def _seen(self, found: FamilySlopes) -> Slopes:
        """The same with no hidden predictor."""
        columns = self._columns(self.covariates[0])
        return Slopes(
            float(self.weights @ found.value),
            np.concatenate(
                [(g * self.weights) @ x for g, x in zip(found.gradient, columns, strict=True)]
            ),
            blocks(columns, found.information * self.weights),
            partial(blocks, columns, found.complete * self.weights),
        )

    def _parts(self, place: Floats) -> list[Floats]:
        return np.split(place, np.cumsum(self.sizes)[:-1])

    def _columns(self, covariates: Floats) -> list[Floats]:
        return self.family.columns(covariates) + [self.given] * (len(self.covariates) - 1)

    def _predicted(self, covariates: Floats, parts: Sequence[Floats]) -> Floats:
        columns = self.family.columns(covariates)
        return np.stack([x @ part for x, part in zip(columns, parts, strict=False)])

    def _mixed(
        self, found: Sequence[FamilySlopes], parts: Sequence[Floats]
    ) -> tuple[Floats, Floats, Floats]:
        """P(h | z), the log-likelihood of each respondent, and P(h | z, w, y)."""
        hidden = [self.given @ part for part in parts[self.family.predictors :]]
        logits = np.vstack([np.zeros(self.n), *hidden])
        total, shares = softmax(logits)
        joint = logits - total + self.log_chances + np.stack([each.value for each in found])
        value, posterior = softmax(joint)
        return shares, value, posterior

    def _gradients(self, found: Sequence[FamilySlopes], shares: Floats) -> list[Floats]:
        """For each combination, by all predictors: the outcome's and the hidden answers'."""
        own = np.eye(len(shares))
        return [
            np.vstack([each.gradient, own[place][1:, None] - shares[1:]])
            for place, each in enumerate(found)
        ]

    def _summed(self, outcome: Sequence[Floats], shares: Floats, posterior: Floats) -> Floats:
        """Information on the parameters, given each combination, over the posterior."""
        ends = np.cumsum([0, *self.sizes])
        size, own = ends[-1], ends[self.family.predictors]
        total = np.zeros((size, size))
        for x, second, share in zip(self.covariates, outcome, posterior, strict=True):
            total[:own, :own] += blocks(self.family.columns(x), second * share * self.weights)
        hidden = [self.given] * (len(shares) - 1)
        total[own:, own:] = blocks(hidden, spreads(shares[1:]) * self.weights)
        return total

    @cached_property
    def _expected(self) -> Floats:
        """The covariates to be expected from the responses to the hidden predictors alone."""
        if len(self.covariates) == 1:
            return self.covariates[0]
        _, posterior = softmax(np.log(self._shares)[:, None] + self.log_chances)
        return np.asarray(np.einsum("kn,knp->np", posterior, np.stack(self.covariates)))

    @cached_property
    def _shares(self) -> Floats:
        return mixture_shares(self.log_chances)

    @property
    def _hidden_targets(self) -> list[Floats]:
        first, *others = self._shares
        return [np.full(self.n, np.log(share / first)) for share in others]


def softmax(logits: Floats) -> tuple[Floats, Floats]:
    """log Σ e^x over the first axis, and the shares of each e^x in the sum."""
    top = logits.max(axis=0)
    powers = np.exp(logits - top)
    total = powers.sum(axis=0)
    return top + np.log(total), powers / total


def spreads(shares: Floats) -> Floats:
    """diag p − p pᵀ of each column."""
    found = -shares[:, None] * shares[None, :]
    for place, share in enumerate(shares):
        found[place, place] += share
    return found


def blocks(columns: Sequence[Floats], second: Floats) -> Floats:
    """Second derivatives by the parameters, from those by the predictors."""
    ends = np.cumsum([0, *(x.shape[1] for x in columns)])
    total = np.empty((ends[-1], ends[-1]))
    for one, x in enumerate(columns):
        here = slice(ends[one], ends[one + 1])
        for two in range(one + 1):
            there = slice(ends[two], ends[two + 1])
            total[here, there] = (x * second[one, two][:, None]).T @ columns[two]
            total[there, here] = total[here, there].T
    return total


def scored(columns: Sequence[Floats], gradient: Floats) -> Floats:
    """Each respondent's derivatives by the parameters, from those by the predictors."""
    return np.hstack([x * part[:, None] for x, part in zip(columns, gradient, strict=True)])


def fitted(columns: Floats, target: Floats) -> Floats:
    """Ordinary least squares, the shortest solution if there are several."""
    return np.asarray(np.linalg.lstsq(columns.T @ columns, columns.T @ target, rcond=1e-12)[0])


def rooted(columns: Floats) -> Floats:
    """A triangle R with R Rᵀ the columns' mean products."""
    products = columns.T @ columns / len(columns)
    return np.asarray(np.linalg.cholesky(products + np.diag(1e-9 * np.diag(products) + 1e-12)))


def mixture_shares(log_chances: Floats, rounds: int = 20) -> Floats:
    """About the likeliest shares of answers that nothing else is known of, by a little EM."""
    chances = np.exp(log_chances)
    shares = np.full(len(chances), 1 / len(chances))
    for _ in range(rounds):
        joint = chances * shares[:, None]
        shares = (joint / joint.sum(axis=0)).mean(axis=1)
    return np.asarray((shares + 0.01) / (1 + 0.01 * len(shares)))


def check_informative(found: Responses) -> None:
    """Whether all arms together tell the answers apart."""
    together = np.vstack([found.designs[arm].channel for arm in np.unique(found.arm)])
    if np.linalg.matrix_rank(together) < len(found.answers):
        raise ValueError(f"column {found.name}: these odds cannot tell the answers apart")
