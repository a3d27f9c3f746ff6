"""Shares of answers: unbiased estimates with intervals, and beside them the feasible ones.

A response supports an answer with chance p if the answer is true and q if not, so the
support count is binomial with rate λ = q + (p − q)π, and π̂ = (λ̂ − q)/(p − q)
(Warner 1965; Wang et al. 2017). Intervals of λ go through the same line.

**Which interval.** Wilson's, unclipped, also where the estimate leaves [0, 1]: what it
covers of [0, 1] covers the truth as often as it says. Only where it covers nothing of
[0, 1] is the likelihood-ratio interval on [0, 1] taken, and flagged. Taking that for
every estimate outside [0, 1] would rescue nearly all intervals that miss a rare answer
from below: measured on the grid of ``benchmarks/coverage.py``, a mean coverage of 95.9 %
instead of 95.35 %, and 11 cells of 96 above 97.5 % instead of 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from respondent import Question
from respondent.laws import KAry, OneOf, Plain, Subset, SupportLaw, Table

from .channel import Floats, Ints, channel, left_inverse, support_counts, supporting
from .feasible import feasible_shares
from .intervals import (
    BinomialInterval,
    Interval,
    bonferroni,
    bounded_score,
    clopper_pearson,
    likelihood_ratio,
    normal_quantile,
    score,
    through_line,
    wilson,
)
from .means import BOUNDED, FLAGS, OUTSIDE, ROUNDING, UNDRAWN, Arrays, mean_interval
from .result import NOTHING, Difference, Result, Value
from .tally import Tally, answer_names

#: Results with more answers than this print their top entries only.
MOST_PRINTED = 40

METHODS: dict[BinomialInterval, str] = {
    wilson: "Wilson intervals",
    clopper_pearson: "Clopper–Pearson intervals",
    likelihood_ratio: "likelihood-ratio intervals on [0, 1]",
}


@dataclass(frozen=True)
class Entry(Value):
    """An entry of a long list. ``above_zero`` holds for all such entries at once."""

    above_zero: bool = False


# Arithmetic, for one survey or for many side by side


def support_shares(
    supports: npt.ArrayLike,
    n: npt.ArrayLike,
    p: float,
    q: float,
    level: float = 0.95,
    target: str = "population",
    interval: BinomialInterval = wilson,
) -> Arrays:
    """Shares from support counts; ``supports[..., answer]`` out of ``n`` responses.

    For the population, se = √(λ̂(1 − λ̂)/(n − 1)) / |p − q|. For these respondents only
    the law's noise counts: V(π) = (π p(1−p) + (1−π) q(1−q)) / (p − q)² for one response,
    and the interval is Wilson's with that variance.
    """
    if p == q:
        raise ValueError("odds of one to one: responses say nothing about answers")
    supports, n = np.asarray(supports, dtype=float), np.asarray(n, dtype=float)
    rate = supports / n
    estimate = (rate - q) / (p - q)
    if target == "population":
        se = np.sqrt(rate * (1 - rate) / np.maximum(n - 1, 1)) / abs(p - q)
        if interval is likelihood_ratio:
            found = _bounded_likelihood(supports, n, p, q, level)
        else:
            found = through_line(interval(supports, n, level), p, q)
    else:
        _only_wilson(interval, "for these respondents")
        v0, v1 = q * (1 - q), p * (1 - p)
        noise = (v0 / (p - q) ** 2, (v1 - v0) / (p - q) ** 2, 0.0)
        se = np.sqrt((noise[0] + noise[1] * np.clip(estimate, 0, 1)) / n)
        found = score(estimate, n, level, noise)
    flag, away = _outside(estimate, found)
    if away.any():
        size = np.broadcast_to(n, away.shape)[away]
        if target == "population":
            instead = _bounded_likelihood(supports[away], size, p, q, level)
        else:
            instead = bounded_score(estimate[away], size, level, noise)
        found = _replaced(found, away, instead)
    return Arrays(rate, estimate, se, *found, flag)


def _bounded_likelihood(supports: Floats, n: Floats, p: float, q: float, level: float) -> Interval:
    rates = likelihood_ratio(supports, n, level, min(p, q), max(p, q))
    return through_line(rates, p, q)


def _only_wilson(interval: BinomialInterval, where: str) -> None:
    if interval is not wilson:
        raise ValueError(f"interval: {where} only wilson is to be had; no count is binomial there")


def table_shares(
    counts: npt.ArrayLike,
    matrix: Floats,
    level: float = 0.95,
    target: str = "population",
    interval: BinomialInterval = wilson,
) -> Arrays:
    """Shares through a general channel; ``counts[..., response]``.

    π̂ = L λ̂ with L P = 1 (``left_inverse``), covariance as in ``channel.covariance``. The
    interval is Wilson's for a linear estimate: θ with n(θ̂ − θ)² ≤ z² V(θ), where V(θ) is
    the variance of L's row under shares of answers that are moved from those estimated
    until the answer's is θ, all others taking equal parts in that. If L's row has two
    values only, it is the binomial Wilson interval.
    """
    _only_wilson(interval, "with a table of more than two responses")
    counts = np.asarray(counts, dtype=float)
    n = counts.sum(axis=-1, keepdims=True)
    inverse = left_inverse(matrix)
    rates = counts / n
    moments = Moments.of([inverse], [matrix])
    noisy = rates @ likeliest(matrix)
    square = rates @ (inverse**2).T
    return linear_shares(noisy, rates @ inverse.T, square, moments, n, level, target)


def likeliest(matrix: Floats) -> Floats:
    """1 where a response is as likely under an answer as under any, else 0."""
    found = matrix >= matrix.max(axis=1, keepdims=True) * (1 - ROUNDING)
    return np.asarray(found, dtype=float)


@dataclass(frozen=True, eq=False)
class Moments:
    """Expectations of the squared L of an answer's row, over one response."""

    #: When all give this answer.
    own: Floats
    #: When all give other answers, each as often.
    others: Floats
    #: The least of the noise alone, whatever is answered.
    least: Floats

    @classmethod
    def of(cls, inverses: Sequence[Floats], matrices: Sequence[Floats]) -> Moments:
        """Of several questions together, one axis each: their L and P are products."""
        own, total, least = np.ones(()), np.ones(()), np.ones(())
        for inverse, matrix in zip(inverses, matrices, strict=True):
            square = inverse**2 @ matrix
            own = np.multiply.outer(own, np.diag(square))
            total = np.multiply.outer(total, square.sum(axis=1))
            least = np.multiply.outer(least, square.min(axis=1))
        return cls(own, (total - own) / (own.size - 1), np.minimum(least, own - 1))


def linear_shares(
    noisy: Floats,
    estimate: Floats,
    square: Floats,
    moments: Moments,
    n: npt.ArrayLike,
    level: float,
    target: str = "population",
) -> Arrays:
    """Shares that are means of L over n responses, ``square`` the means of L².

    Wilson's interval for a linear estimate, as ``table_shares`` says.
    """
    n = np.asarray(n, dtype=float)
    slope = moments.own - moments.others
    base = square - slope * estimate
    if target == "population":
        variance: tuple[Floats, Floats, float] = (base, slope + 0 * base, -1.0)
        now = np.maximum(square - estimate**2, 0)
        se = np.sqrt(now / np.maximum(n - 1, 1))
    else:
        variance = (base, slope - 1 + 0 * base, 0.0)
        se = np.sqrt(np.maximum(square - estimate, 0) / n)
    found = score(estimate, n, level, variance)
    flag, away = _outside(estimate, found)
    if away.any():
        near = np.clip(estimate, 0, 1)
        there = variance[0] + variance[1] * near + variance[2] * near**2
        # Whatever the answers, the variance is at least the noise of some one answer.
        part = (np.maximum(there, moments.least)[away], np.zeros(int(away.sum())), 0.0)
        size = np.broadcast_to(n, away.shape)[away]
        found = _replaced(found, away, bounded_score(estimate[away], size, level, part))
    return Arrays(noisy, estimate, se, *found, flag)


def _outside(estimate: Floats, found: Interval) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Flags, and where the interval holds nothing of [0, 1]."""
    flag = np.where((estimate < -ROUNDING) | (estimate > 1 + ROUNDING), OUTSIDE, 0)
    away = np.asarray((found[1] <= 0) | (found[0] >= 1) | np.isnan(found[0]))
    return np.where(away, BOUNDED, flag), away


def _replaced(found: Interval, where: npt.NDArray[np.bool_], instead: Interval) -> Interval:
    low, high = np.array(found[0]), np.array(found[1])
    low[where], high[where] = instead
    return low, high


def one_of_shares(
    counts: npt.ArrayLike,
    law: OneOf,
    level: float = 0.95,
    target: str = "population",
    interval: BinomialInterval = wilson,
) -> tuple[Arrays, Ints]:
    """Ticks of each option, from those who drew it; and how many that were."""
    pairs = np.asarray(counts).reshape(*np.shape(counts)[:-1], law.options, 2)
    drawn = pairs.sum(axis=-1)
    found = support_shares(
        np.where(drawn > 0, pairs[..., 1], 0.5),
        np.maximum(drawn, 1),
        float(law.p),
        float(law.q),
        level,
        target,
        interval,
    )
    missing = drawn == 0
    if missing.any():
        nothing = {name: np.where(missing, np.nan, getattr(found, name)) for name in ESTIMATED}
        found = replace(
            found,
            **nothing,
            low=np.where(missing, 0.0, found.low),
            high=np.where(missing, 1.0, found.high),
            flag=np.where(missing, UNDRAWN, found.flag),
        )
    return found, drawn


ESTIMATED = ("noisy", "estimate", "se")


def share_arrays(
    question: Question,
    tally: Tally,
    level: float,
    target: str,
    interval: BinomialInterval,
) -> Arrays:
    """The shares of every answer of a question, by its law."""
    law = question.law
    if isinstance(law, OneOf):
        return one_of_shares(tally.dense(), law, level, target, interval)[0]
    if isinstance(law, Plain):
        ticks = question.kind == "choices"
        supports = plain_ticks(question, tally) if ticks else tally.dense()
        if target == "respondents":
            # Nothing is random about what these respondents said.
            rate = supports / tally.n
            return Arrays(rate, rate, 0 * rate, rate, rate, np.zeros(len(rate)))
        return support_shares(supports, tally.n, 1.0, 0.0, level, target, interval)
    if isinstance(law, SupportLaw):
        supports = support_counts(law, tally.responses, tally.counts)
        p, q = float(law.p), float(law.q)
        return support_shares(supports, tally.n, p, q, level, target, interval)
    matrix = channel(law)
    if law.responses == 2 == law.answers:
        return binary_table(tally.dense(), matrix, level, target, interval)
    return table_shares(tally.dense(), matrix, level, target, interval)


def binary_table(
    counts: npt.ArrayLike,
    matrix: Floats,
    level: float,
    target: str,
    interval: BinomialInterval,
) -> Arrays:
    """Two answers and two responses: each answer's count is that of the response it favours."""
    counts = np.asarray(counts, dtype=float)
    n = counts.sum(axis=-1)
    parts = []
    for answer in (0, 1):
        response = int(np.argmax(matrix[:, answer] - matrix[:, 1 - answer]))
        p, q = matrix[response, answer], matrix[response, 1 - answer]
        found = support_shares(
            counts[..., response, None], n[..., None], p, q, level, target, interval
        )
        parts.append(found)
    columns = {
        name: np.concatenate([getattr(part, name) for part in parts], axis=-1)
        for name in ("noisy", "estimate", "se", "low", "high", "flag")
    }
    return Arrays(**columns)


def plain_ticks(question: Question, tally: Tally) -> Ints:
    """How many ticked each option of an unprotected tick-all-that-apply question."""
    options = np.arange(len(question.options))
    bits = (tally.responses[:, None] >> options) & 1
    return np.asarray(tally.counts @ bits)


def usual_interval(question: Question, target: str, simultaneous: bool) -> BinomialInterval:
    """Wilson's; for all answers at once the exact one, where a count is binomial.

    At the levels that many answers at once need, Wilson's misses rare answers too often:
    measured, 92 % instead of 95 % for 30 answers, ε = 3 and n = 200.
    """
    law = question.law
    binomial = isinstance(law, SupportLaw | Plain) or (law.responses == 2 == law.answers)
    exact = simultaneous and binomial and target == "population"
    return clopper_pearson if exact else wilson


# The result


@dataclass(frozen=True, eq=False)
class Shares(Result):
    """Estimated shares of a question's answers: ``result["Yes"].estimate`` and so on."""

    tally: Tally
    arrays: Arrays
    simultaneous: bool
    interval: BinomialInterval

    @cached_property
    def answers(self) -> list[str]:
        return answer_names(self.question)

    @cached_property
    def _index(self) -> dict[str, int]:
        return {
            word: number
            for number, option in enumerate(self.question.options)
            for word in ([option] if isinstance(option, str) else option.values())
        }

    @cached_property
    def feasible(self) -> Floats:
        """Maximum-likelihood shares; for tick-all-that-apply, of each option by itself."""
        if self.question.kind == "choices":
            return np.clip(self.arrays.estimate, 0, 1)
        return feasible_shares(self.question.law, self.tally)

    @property
    def drawn(self) -> Ints:
        """How many responses each answer's share rests on."""
        if isinstance(self.question.law, OneOf):
            return np.asarray(self.tally.dense().reshape(-1, 2).sum(axis=1))
        return np.full(len(self.question.options), self.n)

    def __getitem__(self, answer: str) -> Value:
        return self._value(self._number(answer))

    def _number(self, answer: str) -> int:
        if answer not in self._index:
            known = ", ".join(self.answers[:10]) + (" …" if len(self.answers) > 10 else "")
            raise KeyError(f"{answer!r} is not an answer to {self.question.id}: {known}")
        return self._index[answer]

    def _fields(
        self, arrays: Arrays, number: int
    ) -> tuple[str, float, float, float, float, float, float, str]:
        """What a ``Value`` is made of, in its order."""
        return (
            self.answers[number],
            float(arrays.noisy[number]),
            float(arrays.estimate[number]),
            float(arrays.se[number]),
            float(arrays.low[number]),
            float(arrays.high[number]),
            float(self.feasible[number]),
            FLAGS[int(arrays.flag[number])],
        )

    def _value(self, number: int) -> Value:
        return Value(*self._fields(self.arrays, number))

    def values(self) -> list[Value]:
        return [self._value(number) for number in range(len(self.answers))]

    def shown(self) -> Sequence[Value]:
        return self.values() if len(self.answers) <= MOST_PRINTED else self.top()

    def top(self, count: int = 20, level: float | None = None) -> list[Entry]:
        """The entries with the largest estimates, their intervals holding for *all* entries.

        Each interval is at level 1 − (1 − level)/k for k entries (Bonferroni), exact
        (Clopper & Pearson 1934) where supports are binomial, so with ``level`` no entry of
        the list, shown or not, lies outside its own. An entry is above zero if its
        interval is.
        """
        each = bonferroni(self.level if level is None else level, len(self.answers))
        interval = usual_interval(self.question, self.target, simultaneous=True)
        arrays = share_arrays(self.question, self.tally, each, self.target, interval)
        order = np.argsort(-np.nan_to_num(arrays.estimate, nan=-np.inf), kind="stable")[:count]
        return [
            Entry(*self._fields(arrays, number), above_zero=bool(arrays.low[number] > 0))
            for number in map(int, order)
        ]

    def difference(self, one: str, other: str, level: float | None = None) -> Difference:
        """The share of one answer less that of another, with an interval for the population.

        For laws whose responses support answers: with a of n responses supporting only the
        one and b only the other, (a − b)/n/(p − q); the interval adds half a response to
        each of the four cells (Agresti & Min 2005). Options of a tick-all-that-apply
        question rest on different people, so their variances add up. Tables use the
        covariance of their estimates.
        """
        if self.target != "population":
            raise ValueError("difference: its interval is for the population; estimate for that")
        level = self.level if level is None else level
        first, second = self._number(one), self._number(other)
        if first == second:
            raise ValueError("difference: the two answers must differ")
        law = self.question.law
        estimate = float(self.arrays.estimate[first] - self.arrays.estimate[second])
        z = normal_quantile(level)
        if isinstance(law, OneOf):
            se = float(np.hypot(self.arrays.se[first], self.arrays.se[second]))
            low, high = self._newcombe(first, second, level)
        elif isinstance(law, SupportLaw | Plain):
            gap = float(law.p - law.q) if isinstance(law, SupportLaw) else 1.0
            a, b = self._discordant(first, second)
            se = _paired_spread(a, b, self.n, max(self.n - 1, 1)) / abs(gap)
            middle = (a - b) / (self.n + 2) / gap
            half = z * _paired_spread(a + 0.5, b + 0.5, self.n + 2, self.n + 2) / abs(gap)
            low, high = middle - half, middle + half
        else:
            matrix = channel(law)
            inverse = left_inverse(matrix)
            line = inverse[first] - inverse[second]
            counts = self.tally.dense().astype(float)
            found = mean_interval(line, counts, level, (-1.0, 1.0), least_variance(matrix, line))
            se, low, high = float(found.se), float(found.low), float(found.high)
        return Difference(self.answers[first], self.answers[second], estimate, se, low, high, level)

    def _newcombe(self, first: int, second: int, level: float) -> tuple[float, float]:
        """Newcombe (1998), method 10: distances to the two answers' own ends, squared."""
        own = share_arrays(self.question, self.tally, level, "population", wilson)
        e, low, high = own.estimate, own.low, own.high
        below = np.hypot(e[first] - low[first], high[second] - e[second])
        above = np.hypot(high[first] - e[first], e[second] - low[second])
        return float(e[first] - e[second] - below), float(e[first] - e[second] + above)

    def _discordant(self, first: int, second: int) -> tuple[float, float]:
        """Responses that support only the first, and only the second, of two answers."""
        law, responses = self.question.law, self.tally.responses
        if isinstance(law, SupportLaw):
            one, other = supporting(law, responses, first), supporting(law, responses, second)
        elif self.question.kind == "choices":
            one, other = (responses >> first) & 1 == 1, (responses >> second) & 1 == 1
        else:
            one, other = responses == first, responses == second
        counts = self.tally.counts
        return float(counts[one & ~other].sum()), float(counts[other & ~one].sum())

    def summary(self) -> Sequence[Value]:
        return (self.mean,) if self.question.kind == "scale" else ()

    @cached_property
    def mean(self) -> Value:
        """The mean score of a scale, of those who did not prefer not to say.

        c + Σ (s − c) π̂ over the scores s with mean c, linear in the responses: estimated
        shares need not add up to 1, and centring keeps that noise out. With "prefer not to
        say" among the answers it is the ratio Σ s π̂ / Σ π̂ over the others; its variance is
        that of the ratio's linear part (Cochran 1977, 2.11).
        """
        if self.question.kind != "scale":
            raise ValueError(f"question {self.question.id}: only a scale has a mean score")
        first = self.question.first or 0
        scored = len(self.answers) - (1 if self.question.skip else 0)
        scores = first + np.arange(scored, dtype=float)
        lines = inverse_columns(self.question.law, self.tally.responses)[:scored]
        counts = self.tally.counts.astype(float)
        top, bottom = scores @ lines, lines.sum(axis=0)
        centre = float(scores.mean())
        share = float(counts @ bottom / self.n)
        if share <= 0:
            ends = float(scores[0]), float(scores[-1])
            return replace(NOTHING, low=ends[0], high=ends[1], flag=NO_MEAN)
        ratio = float(counts @ top / self.n) / share
        part = centre + top - centre * bottom
        if self.question.skip:
            part = ratio + (top - ratio * bottom) / share
        floor = 0.0
        if isinstance(self.question.law, Table | KAry):
            matrix = channel(self.question.law)
            every = inverse_columns(self.question.law, np.arange(len(matrix)))[:scored]
            line = centre + (scores - centre) @ every
            if self.question.skip:
                line = ratio + (scores - ratio) @ every / share
            floor = least_variance(matrix, line)
        found = mean_interval(part, counts, self.level, (scores[0], scores[-1]), floor)
        noisy, feasible = self.arrays.noisy[:scored], self.feasible[:scored]
        return Value(
            "mean",
            float(noisy @ scores / noisy.sum()) if noisy.sum() else float("nan"),
            float(found.estimate),
            float(found.se),
            float(found.low),
            float(found.high),
            float(feasible @ scores / feasible.sum()) if feasible.sum() else float("nan"),
            FLAGS[int(found.flag)],
        )


NO_MEAN = "nobody seems to have answered: no mean"


def _paired_spread(a: float, b: float, n: float, divisor: float) -> float:
    return float(np.sqrt(max((a + b) / n - ((a - b) / n) ** 2, 0) / divisor))


def least_variance(matrix: Floats, line: Floats) -> float:
    """The least variance that a score can have, whatever the answers: that of one answer."""
    means = line @ matrix
    return float(max((line**2 @ matrix - means**2).min(), 0.0))


def inverse_columns(law: Subset | SupportLaw | Table | Plain | object, responses: Ints) -> Floats:
    """What each of these responses adds to each answer's estimated share: L[answer, response]."""
    if isinstance(law, Plain):
        return np.asarray(np.arange(law.answers)[:, None] == responses, dtype=float)
    if isinstance(law, SupportLaw):
        p, q = float(law.p), float(law.q)
        supports = np.stack([supporting(law, responses, x) for x in range(law.answers)])
        return np.asarray((supports - q) / (p - q))
    assert isinstance(law, Table)
    return left_inverse(channel(law))[:, responses]
