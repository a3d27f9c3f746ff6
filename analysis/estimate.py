"""``estimate``: from the counts of a question to what a researcher reports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from respondent import Question
from respondent.laws import OneOf, Table

from .intervals import BinomialInterval, bonferroni, check_level
from .numbers import Number, estimate_number
from .result import TARGETS, Result
from .shares import METHODS, Shares, share_arrays, usual_interval
from .tally import Counts, tally

__all__ = ["Number", "Result", "Shares", "estimate"]


def estimate(
    question: Question,
    counts: Counts,
    level: float = 0.95,
    *,
    target: str = "population",
    interval: BinomialInterval | None = None,
    simultaneous: bool = False,
    n: int | None = None,
    fingerprint: str | None = None,
) -> Any:
    """Estimate what the answers to a question were, from the counts of its responses.

    Returns ``Shares`` (``result["Yes"].estimate``), or ``Number`` for a number question
    (``result.mean.estimate``). Both keep their inputs and become tables.

    ``counts`` maps each response to its count, or lists one count for each response. Those
    who were not asked (``law.responses``, of a question with show-if) are left out of n.
    ``target``: the *population* that the respondents are a random sample of, or these
    *respondents* themselves, for whom only the law's noise is uncertain.
    ``interval``: ``wilson`` (the default), ``clopper_pearson`` or ``likelihood_ratio`` of
    ``analysis``.
    ``simultaneous``: intervals that hold for all answers at once, by Bonferroni's correction;
    exact ones unless ``interval`` says otherwise. With ``wilson`` they are Goodman's (1965).
    ``n``: how many reports there are; counts that do not add up to it are refused.
    """
    if not isinstance(question, Question):
        raise TypeError('question: must be a question of a survey, such as survey["cheated"]')
    if target not in TARGETS:
        raise ValueError(f"target: must be one of {', '.join(TARGETS)}")
    check_level(level)
    found = tally(question, counts, n)
    if question.kind == "number":
        return estimate_number(question, _kept(counts), found, level, target, fingerprint)
    intervals = len(question.options)
    each = bonferroni(level, intervals) if simultaneous else level
    interval = interval or usual_interval(question, target, simultaneous)
    arrays = share_arrays(question, found, each, target, interval)
    return Shares(
        question=question,
        counts=_kept(counts),
        level=level,
        target=target,
        method=_method(question, interval, simultaneous),
        fingerprint=fingerprint,
        n=found.n,
        not_asked=found.not_asked,
        tally=found,
        arrays=arrays,
        simultaneous=simultaneous,
        interval=interval,
    )


def _kept(counts: Counts) -> Counts:
    """A copy that a later change of the caller's counts leaves alone."""
    if isinstance(counts, Mapping):
        return dict(counts)
    if isinstance(counts, np.ndarray):
        copy = counts.copy()
        copy.flags.writeable = False
        return copy
    return tuple(counts)


def _method(question: Question, interval: BinomialInterval, simultaneous: bool) -> str:
    law = question.law
    name = METHODS.get(interval, getattr(interval, "__name__", "intervals"))
    if isinstance(law, Table) and (law.responses, law.answers) != (2, 2):
        name = "Wilson intervals of linear estimates"
    if isinstance(law, OneOf):
        name += ", each option from those who drew it"
    return name + (", all at once (Bonferroni)" if simultaneous else "")
