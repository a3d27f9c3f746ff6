"""What to expect before anybody is asked: the margin of error at a given n."""

from __future__ import annotations

import math

import numpy as np

from respondent import Question
from respondent.laws import NumberLaw, OneOf, Plain, Subset, SupportLaw, Table, TwoPoint

from .channel import channel, left_inverse
from .intervals import normal_quantile
from .numbers import expectations
from .numbers import scores as number_scores
from .shares import inverse_columns


def margin_of_error(question: Question, n: int, level: float = 0.95) -> float:
    """Half the width of the interval to expect for a share, z √(V/n), for the population.

    V is the variance of one response's part in the estimate of an answer that half of the
    population give, the others being alike; with a table, of the answer for which it is
    largest.
    """
    if question.kind == "number":
        raise ValueError(f"question {question.id}: a number has no shares; see mean_margin")
    size = n / question.law.options if isinstance(question.law, OneOf) else n
    return _margin(_share(question), n, size, level)


def mean_margin(question: Question, n: int, level: float = 0.95) -> float:
    """The same for the mean of a number or scale, in its units, when all values are alike."""
    if question.kind == "number":
        return _margin(_number(question), n, n, level)
    if question.kind == "scale":
        return _margin(_scale(question), n, n, level)
    raise ValueError(f"question {question.id}: only numbers and scales have a mean")


def _margin(variance: float, n: int, size: float, level: float) -> float:
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise ValueError("n: must be a whole number of at least 1")
    return normal_quantile(level) * math.sqrt(variance / size)


def _scale(question: Question) -> float:
    """Of the mean score, or of the ratio Σ s π̂ / Σ π̂ where some may prefer not to say."""
    law = question.law
    scored = law.answers - (1 if question.skip else 0)
    # Measured from the middle score, neither needs to know the mean.
    scores = (np.arange(scored) - (scored - 1) / 2) * law.answers / scored
    if isinstance(law, Subset):
        # There may be very many sets, but any two answers share as many of them.
        k, d = law.answers, law.size
        alone = d / k - d * (d - 1) / (k * (k - 1))
        return float((scores**2).sum() * alone / float(law.p - law.q) ** 2)
    lines = inverse_columns(law, np.arange(law.responses))[:scored]
    line, matrix = scores @ lines, channel(law)
    return float((line**2 @ matrix).mean() - (line @ matrix).mean() ** 2)


def _share(question: Question) -> float:
    law = question.law
    if isinstance(law, SupportLaw):
        p, q = float(law.p), float(law.q)
        rate = (p + q) / 2
        return rate * (1 - rate) / (p - q) ** 2
    if isinstance(law, Plain):
        return 0.25
    assert isinstance(law, Table)
    matrix = channel(law)
    inverse = left_inverse(matrix)
    half = np.full((law.answers, law.answers), 0.5 / (law.answers - 1))
    np.fill_diagonal(half, 0.5)
    return float((inverse**2 * (matrix @ half).T).sum(axis=1).max() - 0.25)


def _number(question: Question) -> float:
    law, step = question.law, float(question.step or 1)
    if isinstance(law, TwoPoint):
        gap = (law.truth - law.other) / (law.truth + law.other)
        return 0.25 * (step * law.steps / gap) ** 2
    if isinstance(law, NumberLaw):
        middle = law.steps / 2
        return step**2 * float(expectations(law, (number_scores(law) - middle) ** 2).mean())
    values = np.arange(law.answers - (1 if question.skip else 0))
    return step**2 * float(values.var())
