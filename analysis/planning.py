"""What to expect before anybody is asked: the margin of error at a given n."""

from __future__ import annotations

import math

import numpy as np

from respondent import Question
from respondent.laws import NumberLaw, OneOf, Plain, SupportLaw, Table, TwoPoint

from .channel import channel, left_inverse
from .intervals import normal_quantile
from .numbers import expectations, scores


def margin_of_error(question: Question, n: int, level: float = 0.95) -> float:
    """Half the width of the interval to expect, z √(V/n), for the population.

    Shares: V is the variance of one response's part in the estimate of an answer that half
    of the population give, the others being alike; with a table, of the answer for which it
    is largest. Numbers: V is that of one response's part in the mean, in the question's
    units, when all values are alike.
    """
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise ValueError("n: must be a whole number of at least 1")
    size = n / question.law.options if isinstance(question.law, OneOf) else n
    variance = _number(question) if question.kind == "number" else _share(question)
    return normal_quantile(level) * math.sqrt(variance / size)


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
        return step**2 * float(expectations(law, (scores(law) - middle) ** 2).mean())
    values = np.arange(law.answers - (1 if question.skip else 0))
    return step**2 * float(values.var())
