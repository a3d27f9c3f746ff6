"""Multinomial logistic regression of a protected answer with several options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit

from .channel import Floats
from .designs import Designs, Responses, direct, responses
from .hidden import Choice, check_informative, scored, softmax
from .intervals import check_level, normal_quantile
from .regression import Regression, fit, hidden_names

if TYPE_CHECKING:
    import pandas

    from .formula import Frame


@dataclass(frozen=True, eq=False)
class Multinomial(Regression):
    """ln P(answer)/P(reference) = x β, one part for each answer but the reference."""

    answers: tuple[str, ...]
    reference: str

    def predict(self, data: Any = None, level: float | None = None) -> pandas.DataFrame:
        """P(answer | x) for every row and answer, with intervals made on the logit scale.

        ``data``: other people's covariates, the true answers of protected predictors among
        them; by default those of the respondents.
        """
        import pandas

        x = self._covariates(data)
        shares, slopes = self._shares(x)
        frames = []
        for place, name in enumerate(self.answers):
            estimate = shares[place]
            se = self._errors(scored([x] * len(self.parts), slopes[place]))
            low, high = logit_interval(estimate, se, self.level if level is None else level)
            frames.append(
                pandas.DataFrame(
                    {"answer": name, "estimate": estimate, "se": se, "low": low, "high": high},
                    index=getattr(data, "index", None),
                )
            )
        together = pandas.concat(frames).reset_index(names="row")
        order = np.arange(len(together)).reshape(len(self.answers), -1).T.ravel()
        return together.iloc[order].reset_index(drop=True)

    def odds_ratios(self, level: float | None = None) -> pandas.DataFrame:
        """e^β: by what factor one unit more changes the odds against the reference."""
        return odds_ratios(self, level)

    def _shares(self, x: Floats) -> tuple[Floats, Floats]:
        """P(answer) and its derivatives by the predictors: answers × predictors × rows."""
        coef = self.coef[self._own].reshape(len(self.parts), -1)
        _, shares = softmax(np.vstack([np.zeros(len(x)), coef @ x.T]))
        own = np.eye(len(shares))[:, 1:, None]
        return shares, shares[:, None] * (own - shares[None, 1:])


def multinomial(
    formula: str,
    data: Any,
    designs: Mapping[str, Designs],
    *,
    arms: Mapping[str, str] | None = None,
    reference: str | None = None,
    level: float = 0.95,
    covariance: str = "hessian",
    weights: str | None = None,
    given: str | None = None,
) -> Multinomial:
    """Multinomial logistic regression of an answer seen through its design.

    P(response | x) = Σ_a P(response | a) P(a | x) with P(a | x) ∝ e^{x β_a}, and β = 0 for the
    ``reference``, by default the first answer. Likeliest β, by EM and Newton's method. The other
    arguments are those of ``logistic``.

    Reference: van den Hout, van der Heijden & Gilchrist (2007), for more than two answers.
    """
    from .formula import read

    frame = read(formula, data, designs, arms, weights, given)
    found = outcome_answers(frame)
    return _multinomial(frame, found, reference, level, covariance)


def _multinomial(
    frame: Frame, found: Responses, reference: str | None, level: float, covariance: str
) -> Multinomial:
    first = 0 if reference is None else found.designs[0].answer(reference)
    order = [first, *(place for place in range(len(found.answers)) if place != first)]
    answers = tuple(found.answers[place] for place in order)
    columns = frame.matrix.columns
    names = [(part, term) for part in answers[1:] for term in columns] + hidden_names(frame)
    fitted = fit(frame, Choice(log_chances(found, order)), names, covariance)
    return Multinomial(
        kind="Multinomial logistic regression",
        frame=frame,
        outcome=f"{frame.outcome} (reference: {answers[0]})",
        names=tuple(names),
        parts=answers[1:],
        level=check_level(level),
        answers=answers,
        reference=answers[0],
        **vars(fitted),
    )


def outcome_answers(frame: Frame) -> Responses:
    """The outcome's responses; a plain one's answers are what they are."""
    if frame.responses is not None:
        check_informative(frame.responses)
        found = frame.responses
    else:
        names, codes = np.unique(np.asarray(frame.values, dtype=str), return_inverse=True)
        found = responses({frame.outcome: codes}, frame.outcome, direct(tuple(names.tolist())))
    return varied(found)


def varied(found: Responses) -> Responses:
    """The same responses, unless there is nothing in them to be explained."""
    if (found.codes == found.codes[0]).all() and (found.arm == found.arm[0]).all():
        raise ValueError(f"column {found.name}: every response is the same")
    return found


def log_chances(found: Responses, order: list[int]) -> Floats:
    """log P(response | answer), answers × respondents, the answers in this order."""
    chances = found.chances.T[order]
    if not chances.any(axis=0).all():
        raise ValueError(f"column {found.name}: has a response that no answer can give")
    with np.errstate(divide="ignore"):
        return np.log(chances)


def logit_interval(estimate: Floats, se: Floats, level: float) -> tuple[Floats, Floats]:
    """logit⁻¹(logit p ± z se / (p(1 − p)))."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logit = np.log(estimate) - np.log1p(-estimate)
        width = normal_quantile(level) * se / (estimate * (1 - estimate))
    return expit(logit - width), expit(logit + width)


def odds_ratios(found: Regression, level: float | None) -> pandas.DataFrame:
    import pandas

    rows = [each for each in found.coefficients(level) if each.part in found.parts]
    with np.errstate(over="ignore"):
        return pandas.DataFrame(
            [
                {
                    "part": each.part,
                    "term": each.term,
                    "odds_ratio": float(np.exp(each.estimate)),
                    "low": float(np.exp(each.low)),
                    "high": float(np.exp(each.high)),
                    "p": each.p,
                }
                for each in rows
            ]
        )
