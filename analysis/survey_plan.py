"""A whole survey before anybody is asked: what each question will tell with n people."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from respondent import Question

from .planning import (
    margin_of_error,
    mean_margin,
    n_for_margin,
    n_for_mean_margin,
    question_values,
)
from .power import detectable_difference, detectable_mean_difference


@dataclass(frozen=True)
class QuestionPlan:
    """What to expect of one question: of its shares in parts of 1, of its mean in its units."""

    question: Question
    #: "share" or "mean".
    of: str
    n: int
    margin: float
    #: The least difference between two halves of n that is found; None if none is.
    difference: float | None
    n_for_margin: int
    #: Of the range, for means; shares range from 0 to 1.
    width: float

    @property
    def name(self) -> str:
        return self.question.id + (" (mean)" if self.of == "mean" else "")


def plan_survey(
    questions: Iterable[Question],
    n: int = 1000,
    *,
    margin: float = 0.05,
    level: float = 0.95,
    share: float = 0.5,
    power: float = 0.8,
    alpha: float = 0.05,
) -> list[QuestionPlan]:
    """The margin at n, the difference found with ``power``, and the n for ``margin``.

    Of a share of ``share``; numbers, and scales too, have a mean, for which ``margin`` is a
    part of the range. ``questions``: a survey, or some of its questions.
    """
    found = []
    for question in questions:
        if question.kind != "number":
            found.append(_of_share(question, n, margin, level, share, power, alpha))
        if question.kind in ("number", "scale"):
            found.append(_of_mean(question, n, margin, level, power, alpha))
    return found


def _of_share(
    question: Question,
    n: int,
    margin: float,
    level: float,
    share: float,
    power: float,
    alpha: float,
) -> QuestionPlan:
    expected = margin_of_error(question, n, level, share)
    difference = None
    if n > 1:
        difference = detectable_difference(question, n, share=share, power=power, alpha=alpha)
    needed = n_for_margin(question, margin, level, share)
    return QuestionPlan(question, "share", n, expected, difference, needed, 1.0)


def _of_mean(
    question: Question, n: int, margin: float, level: float, power: float, alpha: float
) -> QuestionPlan:
    values = question_values(question)
    width = float(values[-1] - values[0])
    difference = None
    if n > 1:
        least = detectable_mean_difference(question, n, power=power, alpha=alpha)
        # No two means differ by more than the range.
        difference = least if least <= width else None
    expected = mean_margin(question, n, level)
    needed = n_for_mean_margin(question, margin * width, level)
    return QuestionPlan(question, "mean", n, expected, difference, needed, width)
