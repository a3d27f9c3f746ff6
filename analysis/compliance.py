"""Who does not play along: models that estimate cheating and inattention from the design.

Two sub-samples with different odds, or an anchor question whose answer is known, tell one
thing more than the share itself. Nothing is clipped: what leaves the possible is flagged, and
speaks against the model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import xlogy
from scipy.stats import norm

from .calibration import effective_size
from .channel import Floats
from .designs import crosswise, responses
from .intervals import check_level, normal_quantile
from .means import FLAGS, OUTSIDE, ROUNDING
from .replicates import ReplicateWeights
from .result import aligned
from .sampling import SurveyDesign
from .weighting import Weighted, read_sample, value_within

if TYPE_CHECKING:
    import pandas


NOBODY = "nobody to estimate it from"
ANCHORED = ("naive", "corrected", "attentive")


@dataclass(frozen=True)
class Parameter:
    """One estimated share."""

    name: str
    estimate: float
    se: float
    low: float
    high: float
    flag: str = ""


@dataclass(frozen=True)
class HonestyTest:
    """Likelihood-ratio test that everybody plays along, against that some do not.

    ``statistic`` is the signed root of 2(ℓ − ℓ₀): above 0 if some seem not to.
    """

    statistic: float
    p_value: float


@dataclass(frozen=True, eq=False)
class TwoSamples:
    """What two sub-samples with different odds say: ``result["cheaters"].estimate``."""

    model: str
    yes: tuple[int, int]
    n: tuple[int, int]
    p: tuple[float, float]
    level: float
    parameters: tuple[Parameter, ...]
    covariance: Floats
    test: HonestyTest | None

    def __getitem__(self, name: str) -> Parameter:
        for parameter in self.parameters:
            if parameter.name == name:
                return parameter
        known = ", ".join(parameter.name for parameter in self.parameters)
        raise KeyError(f"{name!r}: is not one of {known}")

    def to_frame(self) -> pandas.DataFrame:
        import pandas

        return pandas.DataFrame.from_records([asdict(each) for each in self.parameters])

    def __str__(self) -> str:
        flagged = any(each.flag for each in self.parameters)
        lines = [["share", "estimate", "se", "low", "high", *(["flag"] if flagged else [])]]
        for each in self.parameters:
            numbers = (each.estimate, each.se, each.low, each.high)
            lines.append(
                [each.name, *(f"{x:.4f}" for x in numbers), *([each.flag] if flagged else [])]
            )
        caption = f"{self.model}; n = {self.n[0]} + {self.n[1]}; {100 * self.level:g} % intervals"
        if self.test is not None:
            caption += f"; all honest: z = {self.test.statistic:.2f}, p = {self.test.p_value:.2g}"
        return "\n".join([*aligned(lines, (0, 5)), caption])


def cheater_detection(
    yes: Sequence[int], n: Sequence[int], p: Sequence[float], *, level: float = 0.95
) -> TwoSamples:
    """Honest yes, honest no, and cheaters who say no whatever the coin (Clark & Desharnais 1998).

    ``yes`` of ``n`` responses in each of two sub-samples, in which a yes was forced with
    chance ``p``, so that λ = π + β p. The shares of honest yes π, honest no β and cheaters
    γ = 1 − π − β come with a test of γ = 0. What cheaters would truly answer is not known:
    the share of yes is between π and π + γ.
    """
    rates, errors = _rates(yes, n, p)
    slope = 1 / (p[1] - p[0])
    honest_no = np.array([-slope, slope])
    honest_yes = np.array([1.0, 0.0]) - p[0] * honest_no
    lines = np.stack([honest_yes, honest_no, -honest_yes - honest_no])
    estimates = lines @ rates + [0, 0, 1]
    names = ("honest yes", "honest no", "cheaters")
    test = _test(yes, n, p, float(estimates[2]))
    model = "cheater detection"
    return _found(model, yes, n, p, level, names, estimates, lines, errors, test)


def stochastic_lie_detector(
    yes: Sequence[int], n: Sequence[int], p: Sequence[float], *, level: float = 0.95
) -> TwoSamples:
    """Share of carriers, and how many of them answer truthfully (Moshagen et al. 2012).

    The device shows the sensitive statement with chance ``p``, else its negation. Those to
    whom it does not apply answer by the rules; carriers do with chance t and otherwise say
    no: λ = π t + (1 − π)(1 − p). The test is of t = 1.
    """
    rates, errors = _rates(yes, n, p)
    slope = 1 / (p[1] - p[0])
    others = np.array([slope, -slope])
    told = np.array([1.0, 0.0]) - (1 - p[0]) * others
    share = float(1 - others @ rates)
    # Where nobody carries it, no share of them tells the truth.
    base = share if abs(share) > ROUNDING else float("nan")
    truthful = float(told @ rates) / base
    lines = np.stack([-others, (told + truthful * others) / base])
    estimates = np.array([share, truthful])
    names = ("carriers", "truthful")
    test = _test(yes, n, (1 - p[0], 1 - p[1]), 1 - truthful)
    model = "stochastic lie detector"
    return _found(model, yes, n, p, level, names, estimates, lines, errors, test)


def unrelated_unknown(
    yes: Sequence[int], n: Sequence[int], p: Sequence[float], *, level: float = 0.95
) -> TwoSamples:
    """Unrelated question whose own share of yes is estimated too (Greenberg et al. 1969).

    The sensitive question is asked with chance ``p``: λ = p π + (1 − p) π_u.
    """
    rates, errors = _rates(yes, n, p)
    lines = np.linalg.inv(np.array([[p[0], 1 - p[0]], [p[1], 1 - p[1]]]))
    names = ("sensitive", "unrelated")
    model = "unrelated question of unknown share"
    return _found(model, yes, n, p, level, names, lines @ rates, lines, errors, None)


def _rates(yes: Sequence[int], n: Sequence[int], p: Sequence[float]) -> tuple[Floats, Floats]:
    """Shares of yes responses, and their variances with divisor n − 1."""
    for name, values in (("yes", yes), ("n", n), ("p", p)):
        if len(values) != 2:
            raise ValueError(f"{name}: must have two numbers, one for each sub-sample")
    if not all(0 <= chance <= 1 for chance in p):
        raise ValueError("p: must be chances from 0 to 1")
    if p[0] == p[1]:
        raise ValueError("p: must differ between the sub-samples")
    for count, size in zip(yes, n, strict=True):
        if not all(isinstance(x, int | np.integer) for x in (count, size)):
            raise TypeError("yes, n: must be whole numbers")
        if size < 2 or not 0 <= count <= size:
            raise ValueError("yes: must be from 0 to n, and n at least 2")
    sizes = np.asarray(n, dtype=float)
    rates = np.asarray(yes, dtype=float) / sizes
    return rates, rates * (1 - rates) / (sizes - 1)


def _found(
    model: str,
    yes: Sequence[int],
    n: Sequence[int],
    p: Sequence[float],
    level: float,
    names: Sequence[str],
    estimates: Floats,
    lines: Floats,
    errors: Floats,
    test: HonestyTest | None,
) -> TwoSamples:
    """Standard errors by the delta method: ``lines`` are derivatives by the two rates."""
    z = normal_quantile(level)
    covariance = (lines * errors) @ lines.T
    parameters = []
    for name, estimate, variance in zip(names, estimates, np.diag(covariance), strict=True):
        se = float(np.sqrt(variance))
        flag = "" if -ROUNDING <= estimate <= 1 + ROUNDING else FLAGS[OUTSIDE]
        parameters.append(
            Parameter(
                name,
                float(estimate),
                se,
                float(estimate - z * se),
                float(estimate + z * se),
                NOBODY if np.isnan(estimate) else flag,
            )
        )
    return TwoSamples(
        model,
        (int(yes[0]), int(yes[1])),
        (int(n[0]), int(n[1])),
        (float(p[0]), float(p[1])),
        level,
        tuple(parameters),
        covariance,
        test,
    )


def _test(
    yes: Sequence[int], n: Sequence[int], forced: Sequence[float], excess: float
) -> HonestyTest:
    """Of λ = π + (1 − π) · forced in both sub-samples, against rates of their own."""
    counts, sizes, chances = (np.asarray(x, dtype=float) for x in (yes, n, forced))

    def likelihood(rates: Floats) -> float:
        return float((xlogy(counts, rates) + xlogy(sizes - counts, 1 - rates)).sum())

    def lost(share: float) -> float:
        return -likelihood(np.clip(share + (1 - share) * chances, 1e-300, 1))

    best = minimize_scalar(lost, bounds=(0, 1), method="bounded", options={"xatol": 1e-12})
    gain = max(2 * (likelihood(counts / sizes) + min(best.fun, lost(0.0), lost(1.0))), 0.0)
    statistic = float(np.copysign(np.sqrt(gain), excess))
    return HonestyTest(statistic, float(norm.sf(statistic)))


def anchor_corrected(
    data: Mapping[str, Any] | Any,
    column: str,
    anchor: str,
    p: float,
    anchor_p: float | None = None,
    survey: SurveyDesign | ReplicateWeights | None = None,
    *,
    level: float = 0.95,
) -> Weighted:
    """Crosswise share corrected for those who answer at random (Atsusaka & Stevenson 2023).

    ``column`` and ``anchor`` have crosswise responses, 1 for "same" and 0 for "different",
    to the sensitive statement and to one that is known to be true of nobody; the other
    statements are true with chances ``p`` and ``anchor_p`` (the same if not given). A share γ
    is attentive, the rest answer each at random:

        λ = γ((2p − 1)π + 1 − p) + (1 − γ)/2,    λ_a = γ(1 − p_a) + (1 − γ)/2

    Rows ``naive`` (as if γ = 1), ``corrected`` and ``attentive``, from those who answered
    both, with standard errors by linearisation or by replicate weights.
    """
    other = p if anchor_p is None else anchor_p
    for name, chance in (("p", p), ("anchor_p", other)):
        if chance == 0.5:
            raise ValueError(f"{name}: at a chance of one half responses say nothing")
    survey = survey or SurveyDesign()
    if isinstance(survey, SurveyDesign) and survey.fpc is not None:
        raise ValueError("fpc: leave it out; which part of this variance is chance is not known")
    own, known = responses(data, column, crosswise(p)), responses(data, anchor, crosswise(other))
    sample = read_sample(data, survey, len(own))
    inside = own.known & known.known & (sample.weights > 0)
    if not inside.any():
        raise ValueError(f"columns {column}, {anchor}: nobody answered both")
    signs = np.stack([own.codes, known.codes], axis=1) - 0.5

    def estimates(weights: Floats) -> Floats:
        sums = weights[inside].T @ signs[inside]
        mine, anchored = (sums / weights[inside].sum(axis=0)[:, None]).T
        naive, attentive = 0.5 - mine / (1 - 2 * p), anchored / (0.5 - other)
        return np.stack([naive, 0.5 - (0.5 - naive) / attentive, attentive], axis=1)

    found = estimates(sample.weights[:, None])[0]
    if isinstance(sample, ReplicateWeights):
        covariance = sample.covariance(estimates)
    else:
        naive, corrected, attentive = found
        weights = np.where(inside, sample.weights, 0.0)
        each = weights[:, None] / weights.sum() * (signs - weights @ signs / weights.sum())
        for_naive, for_attentive = -each[:, 0] / (1 - 2 * p), each[:, 1] / (0.5 - other)
        # By the derivative of ½ − (½ − naive)/attentive.
        for_corrected = (for_naive + (0.5 - corrected) * for_attentive) / attentive
        covariance = sample.covariance(np.stack([for_naive, for_corrected, for_attentive], axis=1))
    freedom, n = sample.freedom(inside), int(inside.sum())
    rows = [
        replace(
            value_within(float(estimate), float(se), level, freedom, (0.0, 1.0)), name=name, n=n
        )
        for name, estimate, se in zip(ANCHORED, found, np.sqrt(np.diag(covariance)), strict=True)
    ]
    return Weighted(
        column=column,
        by=None,
        rows=tuple(rows),
        covariance=covariance,
        level=check_level(level),
        method=f"crosswise with anchor {anchor}, {sample.method}",
        n=n,
        missing=int((~(own.known & known.known)).sum()),
        not_asked=own.not_asked,
        zeros=sample.zeros,
        effective_n=effective_size(sample.weights[inside]),
    )
