"""Linear regression of a protected number, or of a plain one on protected answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .channel import Floats
from .designs import Design, Designs, Responses, as_numbers
from .hidden import Normal
from .intervals import check_level, normal_quantile
from .regression import Regression, fit, hidden_names

if TYPE_CHECKING:
    import pandas

    from .formula import Frame

#: The deviation's part in the table of coefficients.
SIGMA = ("sigma", "log(sigma)")


@dataclass(frozen=True, eq=False)
class Linear(Regression):
    """E(outcome) = x β. ``sigma``: the outcome's deviation around that, noise included."""

    sigma: float

    def predict(self, data: Any = None, level: float | None = None) -> pandas.DataFrame:
        """The mean of the outcome for every row, with its interval.

        ``data``: other people's covariates, the true answers of protected predictors among
        them; by default those of the respondents.
        """
        import pandas

        x = self._covariates(data)
        estimate, se = x @ self.coef[self._own], self._errors(x)
        width = normal_quantile(self.level if level is None else level) * se
        return pandas.DataFrame(
            {"estimate": estimate, "se": se, "low": estimate - width, "high": estimate + width},
            index=getattr(data, "index", None),
        )


def linear(
    formula: str,
    data: Any,
    designs: Mapping[str, Designs],
    *,
    arms: Mapping[str, str] | None = None,
    level: float = 0.95,
    covariance: str = "hessian",
    weights: str | None = None,
    given: str | None = None,
) -> Linear:
    """Linear regression in which the outcome or predictors were randomised.

    A protected outcome: each response is worth a number s with E(s | answer) = answer, so least
    squares on these numbers is unbiased for the regression of the true ones, whatever their
    distribution. Errors are the sandwich's (HC1), as the noise depends on the answer.
    Protected predictors: their answers are summed over, see ``hidden``, with normal errors;
    likeliest β, σ and shares, by EM and Newton's method from several starts.

    The arguments are those of ``logistic``.

    References: van den Hout & Kooiman (2006) for predictors; MacKinnon & White (1985) for HC1.
    """
    from .formula import read

    frame = read(formula, data, designs, arms, weights, given)
    if frame.responses is not None:
        return _least_squares(frame, frame.responses, level)
    values = as_numbers(np.asarray(frame.values), frame.outcome)
    if not np.isfinite(values).all():
        raise ValueError(f"{frame.outcome}: must have finite numbers only")
    _check_varied(values, frame.outcome)
    names = [("", term) for term in frame.matrix.columns] + [SIGMA] + hidden_names(frame)
    fitted = fit(frame, Normal(values), names, covariance)
    return Linear(
        kind="Linear regression",
        frame=frame,
        outcome=frame.outcome,
        names=tuple(names),
        parts=("",),
        level=check_level(level),
        sigma=float(np.exp(fitted.coef[names.index(SIGMA)])),
        **vars(fitted),
    )


def _least_squares(frame: Frame, found: Responses, level: float) -> Linear:
    """β = (XᵀWX)⁻¹XᵀWs, Cov β = n/(n − p) (XᵀWX)⁻¹ Xᵀ diag(w²e²) X (XᵀWX)⁻¹."""
    if frame.hidden:
        raise ValueError(
            f"formula: {frame.outcome} and {frame.hidden[0].name} are both protected; "
            "linear regression takes a protected outcome or protected predictors"
        )
    x, values = frame.matrix.values[0], unbiased_values(found)
    _check_varied(values, frame.outcome)
    n, size = x.shape
    if n <= size:
        raise ValueError(f"formula: {size} coefficients need more than {n} respondents")
    weights = np.ones(n) if frame.weights is None else frame.weights
    weighted = x * weights[:, None]
    bread = np.linalg.inv(weighted.T @ x)
    coef = bread @ (weighted.T @ values)
    away = values - x @ coef
    meat = weighted * away[:, None]
    return Linear(
        kind="Linear regression",
        frame=frame,
        outcome=frame.outcome,
        names=tuple(("", term) for term in frame.matrix.columns),
        parts=("",),
        coef=coef,
        covariance=n / (n - size) * bread @ (meat.T @ meat) @ bread,
        errors="sandwich (HC1)",
        level=check_level(level),
        flags=(),
        endless=(),
        model=None,
        top=None,
        sigma=float(np.sqrt(weights @ away**2 / (n - size))),
    )


def unbiased_values(found: Responses) -> Floats:
    """For each respondent a number whose expectation is the true one."""
    values = np.empty(len(found))
    for number, each in enumerate(found.designs):
        mine = found.arm == number
        if mine.any():
            values[mine] = response_values(each)[found.codes[mine]]
    return values


def response_values(design: Design) -> Floats:
    """What each response is worth: Σ_y P(y | a) s(y) = score of a for all answers a, with the
    least Σ_y P(y) s(y)² when all answers are alike."""
    scores = np.array(design.scores)
    if not np.isfinite(scores).all():
        raise ValueError(f"{design.name}: an answer without a number has no mean")
    root = np.sqrt(design.channel.mean(axis=1))
    root = np.where(root > 0, root, 1.0)
    worth = np.linalg.lstsq((design.channel / root[:, None]).T, scores, rcond=None)[0] / root
    if np.abs(design.channel.T @ worth - scores).max() > 1e-6 * max(np.ptp(scores), 1e-12):
        raise ValueError(f"{design.name}: these odds do not tell the mean")
    return np.asarray(worth)


def _check_varied(values: Floats, name: str) -> None:
    if len(np.unique(values)) == 1:
        raise ValueError(f"column {name}: every response is the same")
