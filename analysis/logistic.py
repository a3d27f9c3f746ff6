"""Logistic regression of a protected yes-no answer, or of a plain one on protected answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit

from .designs import Designs, Responses, as_numbers, direct, responses
from .hidden import Choice
from .intervals import check_level
from .multinomial import (
    log_chances,
    logit_interval,
    odds_ratios,
    outcome_answers,
    varied,
)
from .regression import Regression, fit, hidden_names

if TYPE_CHECKING:
    import pandas

    from .formula import Frame


@dataclass(frozen=True, eq=False)
class Logistic(Regression):
    """ln P(answer)/(1 − P(answer)) = x β."""

    answer: str

    def predict(self, data: Any = None, level: float | None = None) -> pandas.DataFrame:
        """P(answer | x) for every row, with intervals made on the logit scale.

        ``data``: other people's covariates, the true answers of protected predictors among
        them; by default those of the respondents.
        """
        import pandas

        x = self._covariates(data)
        estimate = expit(x @ self.coef[self._own])
        se = estimate * (1 - estimate) * self._errors(x)
        low, high = logit_interval(estimate, se, self.level if level is None else level)
        return pandas.DataFrame(
            {"estimate": estimate, "se": se, "low": low, "high": high},
            index=getattr(data, "index", None),
        )

    def odds_ratios(self, level: float | None = None) -> pandas.DataFrame:
        """e^β: by what factor one unit more changes the odds of the answer."""
        return odds_ratios(self, level)


def logistic(
    formula: str,
    data: Any,
    designs: Mapping[str, Designs],
    *,
    arms: Mapping[str, str] | None = None,
    answer: str | None = None,
    level: float = 0.95,
    covariance: str = "hessian",
    weights: str | None = None,
    given: str | None = None,
) -> Logistic:
    """Logistic regression in which the outcome, predictors or both were randomised.

    A protected outcome: P(response | x) = Σ_a P(response | a) P(a | x), which for two responses
    is q + (p − q) σ(xβ). Protected predictors: their answers are summed over, see ``hidden``.
    The likeliest β, by EM and Newton's method from several starts.

    ``formula``: as in R, such as "cheated ~ age + C(year)". ``data``: a DataFrame, or a dict of
    columns. ``designs``: for each protected column its question, its design, or a dict of
    designs by arm; then ``arms`` names the column that holds the arm. ``answer``: the answer
    whose probability is modelled, by default Yes. ``covariance``: "hessian", of the observed
    information, or "sandwich", which holds if the model does not. ``weights``: a column of
    survey weights; errors are then the sandwich's. ``given``: what protected predictors may
    depend on, such as "age + year"; by default all plain terms, "1" for nothing.

    References: Maddala (1983), Scheers & Dayton (1988), van den Hout, van der Heijden &
    Gilchrist (2007); for protected predictors Blair, Imai & Zhou (2015).
    """
    from .formula import read

    frame = read(formula, data, designs, arms, weights, given)
    found = two_answers(frame)
    event = found.designs[0].answer(answer)
    family = Choice(log_chances(found, [1 - event, event]))
    names = [("", term) for term in frame.matrix.columns] + hidden_names(frame)
    fitted = fit(frame, family, names, covariance)
    return Logistic(
        kind="Logistic regression",
        frame=frame,
        outcome=f"{frame.outcome} = {found.answers[event]}",
        names=tuple(names),
        parts=("",),
        level=check_level(level),
        answer=found.answers[event],
        **vars(fitted),
    )


def two_answers(frame: Frame) -> Responses:
    """The outcome's responses, if it has two answers."""
    if frame.responses is None:
        codes = as_numbers(np.asarray(frame.values), frame.outcome)
        if not np.isin(codes, (0, 1)).all():
            raise ValueError(f"column {frame.outcome}: must be 0 or 1, or be among the designs")
        return varied(responses({frame.outcome: codes}, frame.outcome, direct()))
    found = outcome_answers(frame)
    if len(found.answers) != 2:
        raise ValueError(
            f"column {frame.outcome}: has {len(found.answers)} answers; use multinomial"
        )
    return found
