"""What all regressions share: coefficients with errors, tests, intervals and tables."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import brentq
from scipy.stats import chi2, norm

from .channel import Bools, Floats
from .climb import RIVAL, Hill, Top, climb, rising, search, solved
from .designs import Responses
from .hidden import Family, Model
from .intervals import check_level, normal_quantile
from .result import PathLike, aligned

if TYPE_CHECKING:
    import pandas

    from .formula import Frame

COVARIANCES = ("hessian", "sandwich")
#: What each way to standard errors is called in tables.
ERRORS = {"hessian": "observed information", "sandwich": "sandwich"}
#: Doubt above which the likelihood is told to be too flat to rely on.
WEAK = 0.3
#: A profile-likelihood interval that is not closed after so many doublings is open.
DOUBLINGS = 8


@dataclass(frozen=True)
class Coefficient:
    """One coefficient. ``part`` says of what: an answer, or a hidden predictor; "" if plain."""

    part: str
    term: str
    estimate: float
    se: float
    z: float
    p: float
    low: float
    high: float


@dataclass(frozen=True)
class LikelihoodRatio:
    """Twice the log-likelihood that ``terms`` add, and its p by χ² with ``df``."""

    terms: str
    statistic: float
    df: int
    p: float


@dataclass(frozen=True, eq=False)
class Regression:
    """A fitted regression. Children say what its coefficients mean and predict with them."""

    kind: str
    frame: Frame = field(repr=False)
    #: What is explained, such as "cheated = Yes".
    outcome: str
    #: (part, term) of each parameter; the formula's own parts are ``parts``.
    names: tuple[tuple[str, str], ...]
    parts: tuple[str, ...]
    coef: Floats
    covariance: Floats
    errors: str
    level: float
    flags: tuple[str, ...]
    #: Places of the coefficients that the likelihood sends to infinity.
    endless: tuple[int, ...]
    model: Hill | None = field(repr=False)
    top: Top | None = field(repr=False)

    @property
    def n(self) -> int:
        return self.frame.n

    @property
    def dropped(self) -> int:
        """Rows that were left out because something was missing."""
        return self.frame.dropped

    @property
    def formula(self) -> str:
        return self.frame.formula

    @property
    def se(self) -> Floats:
        return np.sqrt(np.diag(self.covariance))

    @property
    def loglik(self) -> float:
        """The log-likelihood; not a number where none was maximised."""
        return math.nan if self.top is None else self.top.value

    @property
    def aic(self) -> float:
        return 2 * len(self.coef) - 2 * self.loglik

    @property
    def bic(self) -> float:
        return math.log(self.n) * len(self.coef) - 2 * self.loglik

    def __getitem__(self, name: str | tuple[str, str]) -> Coefficient:
        """A coefficient by its term, or by part and term."""
        return self.coefficients()[self._place(name)]

    def coefficients(self, level: float | None = None) -> list[Coefficient]:
        """All coefficients with Wald tests and intervals."""
        low, high = self.intervals(level)
        with np.errstate(divide="ignore", invalid="ignore"):
            z = self.coef / self.se
        numbers = np.column_stack([self.coef, self.se, z, 2 * norm.sf(np.abs(z)), low, high])
        return [
            Coefficient(*name, *map(float, row))
            for name, row in zip(self.names, numbers, strict=True)
        ]

    def intervals(self, level: float | None = None) -> tuple[Floats, Floats]:
        """Wald intervals: estimate ± z se."""
        width = normal_quantile(self.level if level is None else level) * self.se
        return self.coef - width, self.coef + width

    def profile(
        self, name: str | tuple[str, str], level: float | None = None
    ) -> tuple[float, float]:
        """The profile-likelihood interval of one coefficient: values b with
        2(ℓ̂ − max ℓ given b) ≤ χ²₁(level). An end that there is none of is infinite."""
        model, top = self._likelihood()
        place = self._place(name)
        most = math.sqrt(chi2.ppf(check_level(self.level if level is None else level), 1))
        return (
            _profile_end(model, top, place, -1.0, most, self._unit(place, most)),
            _profile_end(model, top, place, 1.0, most, self._unit(place, most)),
        )

    def profiles(self, level: float | None = None) -> pandas.DataFrame:
        """Profile-likelihood intervals of all coefficients of the formula."""
        import pandas

        rows = []
        for part, term in self.names:
            if part in self.parts:
                low, high = self.profile((part, term), level)
                rows.append({"part": part, "term": term, "low": low, "high": high})
        return pandas.DataFrame(rows)

    def tests(self) -> pandas.DataFrame:
        """Likelihood-ratio tests of every term of the formula, the others staying in."""
        import pandas

        return pandas.DataFrame([asdict(self.test(term)) for term in self.frame.matrix.terms])

    def test(self, *terms: str) -> LikelihoodRatio:
        """Likelihood-ratio test of some terms of the formula together."""
        model, top = self._likelihood()
        free = self._without(terms)
        smaller = search(model, free)
        # What the smaller model finds is within reach of this one.
        full = max(top.value, climb(model, smaller.place).value)
        return _ratio(" + ".join(terms), full - smaller.value, int((~free).sum()))

    def about(self) -> dict[str, Any]:
        """What every table says about how it came to be."""
        return {
            "model": self.kind,
            "formula": self.formula,
            "outcome": self.outcome,
            "designs": "; ".join(map(_design_words, self.frame.protected)),
            "n": self.n,
            "dropped": self.dropped,
            "loglik": self.loglik,
            "aic": self.aic,
            "bic": self.bic,
            "errors": self.errors,
            "level": self.level,
            "flags": "; ".join(self.flags),
        }

    def to_frame(self) -> pandas.DataFrame:
        """One row for each coefficient."""
        import pandas

        return pandas.DataFrame([asdict(each) for each in self.coefficients()])

    def to_csv(self, path: PathLike | None = None) -> str:
        """The same with everything needed to cite it."""
        about = self.about()
        records = [asdict(each) | about for each in self.coefficients()]
        out = io.StringIO()
        writer = csv.DictWriter(out, list(records[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(records)
        return _written(out.getvalue(), path)

    def to_json(self, path: PathLike | None = None) -> str:
        document = self.about() | {"coefficients": [asdict(each) for each in self.coefficients()]}
        text = json.dumps(_finite(document), ensure_ascii=False, indent=2, allow_nan=False)
        return _written(text + "\n", path)

    def summary(self) -> str:
        """A table such as statsmodels prints."""
        body = self._body()
        head = self._head()
        width = max(map(len, [*body, *head]))
        double, single = "=" * width, "-" * width
        notes = [line for flag in self.flags for line in wrap(f"Note: {flag}", width)]
        title = self.kind.center(width).rstrip()
        return "\n".join([title, double, *head, double, body[0], single, *body[1:], double, *notes])

    def __str__(self) -> str:
        return self.summary()

    def _body(self) -> list[str]:
        tail = (1 - self.level) / 2
        header = ["", "coef", "std err", "z", "P>|z|", f"[{tail:.3g}", f"{1 - tail:.3g}]"]
        rows, part = [header], ""
        for each in self.coefficients():
            if each.part != part:
                part = each.part
                rows.append([part, *[""] * 6])
            numbers = (each.estimate, each.se, each.z, each.p, each.low, each.high)
            digits = (4, 3, 3, 3, 3, 3)
            cells = [_number(value, many) for value, many in zip(numbers, digits, strict=True)]
            rows.append([f"{'  ' if part else ''}{each.term}", *cells])
        return aligned(rows, {0})

    def _head(self) -> list[str]:
        left = [
            ("Outcome:", self.outcome),
            *(("Design:", _design_words(each)) for each in self.frame.protected),
            ("Errors:", self.errors),
        ]
        right = [
            ("Respondents:", str(self.n)),
            ("Missing, dropped:", str(self.dropped)),
            *self._numbers(),
        ]
        many = max(len(left), len(right))
        left += [("", "")] * (many - len(left))
        right += [("", "")] * (many - len(right))
        pairs = [(*one, "", *other) for one, other in zip(left, right, strict=True)]
        formula = f"{'Formula:':{max(len(name) for name, _ in left)}}  {self.formula}"
        return [formula, *aligned(pairs, {0, 1, 3})]

    def _numbers(self) -> list[tuple[str, str]]:
        if self.top is None or self.frame.weights is not None:
            return []
        return [
            ("Log-likelihood:", f"{self.loglik:.4f}"),
            ("AIC:", f"{self.aic:.3f}"),
            ("BIC:", f"{self.bic:.3f}"),
        ]

    def _likelihood(self) -> tuple[Hill, Top]:
        if self.model is None or self.top is None:
            raise ValueError("least squares has no likelihood: use the Wald tests and intervals")
        if self.frame.weights is not None:
            raise ValueError("weights: likelihoods of weighted respondents cannot be compared")
        return self.model, self.top

    def _place(self, name: str | tuple[str, str]) -> int:
        for place, (part, term) in enumerate(self.names):
            if name in ((part, term), term):
                return place
        raise ValueError(f"{name}: is no coefficient of {self.formula}")

    def _without(self, terms: Sequence[str]) -> Bools:
        """Which parameters stay when terms are left out."""
        known = self.frame.matrix.terms
        for term in terms:
            if term not in known:
                raise ValueError(f"{term}: is no term of {self.formula}")
        columns = {self.frame.matrix.columns[place] for term in terms for place in known[term]}
        return np.array([not (part in self.parts and term in columns) for part, term in self.names])

    def _unit(self, place: int, most: float) -> float:
        """How far to look for the end of an interval at first."""
        if place in self.endless or not np.isfinite(self.se[place]):
            return max(float(abs(self.coef[place])), 1.0) / 4
        return most * float(self.se[place])

    @cached_property
    def _own(self) -> list[int]:
        """Places of the parameters of the formula's own parts."""
        return [place for place, (part, _) in enumerate(self.names) if part in self.parts]

    def _covariates(self, data: Any) -> Floats:
        """The formula's columns of a table; without one, of the respondents."""
        if data is not None:
            return self.frame.matrix.of(data)
        if self.frame.hidden:
            raise ValueError("data: must be given, with answers of the protected predictors")
        return self.frame.matrix.values[0]

    def _errors(self, gradient: Floats) -> Floats:
        """The standard error of each row's combination of the formula's own parameters."""
        inner = self.covariance[np.ix_(self._own, self._own)]
        return np.asarray(np.sqrt(((gradient @ inner) * gradient).sum(axis=1)))


@dataclass(frozen=True, eq=False)
class Fit:
    """What a maximised likelihood gives any regression."""

    coef: Floats
    covariance: Floats
    errors: str
    flags: tuple[str, ...]
    endless: tuple[int, ...]
    model: Hill
    top: Top


def fit(frame: Frame, family: Family, names: Sequence[tuple[str, str]], covariance: str) -> Fit:
    """Maximise the likelihood of a family, hidden predictors and all."""
    if covariance not in COVARIANCES:
        raise ValueError(f"covariance: must be {' or '.join(COVARIANCES)}")
    covariance = "sandwich" if frame.weights is not None else covariance
    model = Model(
        family,
        frame.matrix.values,
        frame.log_chances(),
        np.ones((frame.n, 1)) if frame.given is None else frame.given.values[0],
        np.ones(frame.n) if frame.weights is None else frame.weights,
    )
    top = search(model)
    found = inverse(top) if covariance == "hessian" else _sandwich(model, top)
    return finished(model, top, names, found, ERRORS[covariance])


def finished(
    hill: Hill, top: Top, names: Sequence[tuple[str, str]], covariance: Floats, errors: str
) -> Fit:
    """What is to be told of a top."""
    endless, ends = _ends(hill, top, names)
    return Fit(top.place, covariance, errors, tuple(_flags(top, ends)), endless, hill, top)


def hidden_names(frame: Frame) -> list[tuple[str, str]]:
    """(part, term) of the parameters that say how hidden answers are spread."""
    if frame.given is None:
        return []
    return [(part, term) for part in frame.combination_names()[1:] for term in frame.given.columns]


def compare_models(smaller: Regression, larger: Regression) -> LikelihoodRatio:
    """Likelihood-ratio test of a regression within another, of the same respondents."""
    for each in (smaller, larger):
        each._likelihood()
    df = len(larger.coef) - len(smaller.coef)
    same = (smaller.kind, smaller.outcome, smaller.n) == (larger.kind, larger.outcome, larger.n)
    if not same or df <= 0:
        raise ValueError("smaller: must be a regression of the same outcome with fewer terms")
    columns = larger.frame.matrix.values[-1]
    both = np.hstack([columns, smaller.frame.matrix.values[-1]])
    if np.linalg.matrix_rank(both) > columns.shape[1]:
        raise ValueError("smaller: has terms that the larger regression lacks")
    return _ratio(f"{larger.formula} against {smaller.formula}", larger.loglik - smaller.loglik, df)


def _ratio(terms: str, gain: float, df: int) -> LikelihoodRatio:
    statistic = max(2 * gain, 0.0)
    return LikelihoodRatio(terms, statistic, df, float(chi2.sf(statistic, df)))


def inverse(top: Top) -> Floats:
    """The inverse of the observed information; not numbers if there is none."""
    size = len(top.place)
    found = solved(top.slopes.information, np.eye(size))
    return np.full((size, size), np.nan) if found is None else (found + found.T) / 2


def _sandwich(model: Model, top: Top) -> Floats:
    bread = inverse(top)
    weighted = model.scores(top.place) * model.weights[:, None]
    return np.asarray(bread @ (weighted.T @ weighted) @ bread)


def _ends(
    hill: Hill, top: Top, names: Sequence[tuple[str, str]]
) -> tuple[tuple[int, ...], list[str]]:
    """Which coefficients have no finite estimate, and where they go."""
    away = rising(hill, top)
    if away is None:
        return (), []
    way, size = away
    endless = tuple(np.flatnonzero(size > 0.1 * size.max()).tolist())
    return endless, [
        f"{': '.join(filter(None, names[place]))} to {'+' if way[place] > 0 else '−'}∞"
        for place in endless
    ]


def _flags(top: Top, ends: Sequence[str]) -> list[str]:
    found = []
    if not top.converged:
        found.append("the fit did not converge")
    if ends:
        found.append(
            f"separation: the likelihood never falls as these go together: {', '.join(ends)}; "
            "their coefficients and errors mean nothing"
        )
    elif top.rival < RIVAL:
        found.append(
            "several tops: quite different coefficients are nearly as likely (log-likelihood "
            f"lower by {top.rival:.2g}); Wald intervals do not show it"
        )
    elif top.doubt > WEAK:
        found.append(
            "little information: predictors are so unsure that coefficients elsewhere may be as "
            "likely; look at the profile intervals"
        )
    return found


def _profile_end(model: Hill, top: Top, place: int, way: float, most: float, unit: float) -> float:
    free = np.ones(len(top.place), dtype=bool)
    free[place] = False
    last = top

    def excess(distance: float) -> float:
        nonlocal last
        start = last.place.copy()
        start[place] = top.place[place] + way * distance
        last = climb(model, start, free)
        return math.sqrt(max(2 * (top.value - last.value), 0)) - most

    inside, outside = 0.0, unit
    for _ in range(DOUBLINGS):
        if excess(outside) > 0:
            found = brentq(excess, inside, outside, xtol=1e-8 * unit, rtol=1e-10)
            return float(top.place[place] + way * found)
        inside, outside = outside, 2 * outside
    return way * math.inf


def _design_words(each: Responses) -> str:
    used = [each.designs[arm].name for arm in np.unique(each.arm)]
    return f"{each.name}, {' and '.join(dict.fromkeys(used))}"


def _number(value: float, digits: int) -> str:
    if math.isnan(value):
        return "–"
    small = value != 0 and abs(value) < 10.0**-digits and digits == 4
    return f"{value:.3g}" if small or abs(value) >= 1e6 else f"{value:.{digits}f}"


def _finite(value: Any) -> Any:
    """The same with nothing where a number is not finite."""
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _written(text: str, path: PathLike | None) -> str:
    if path is not None:
        Path(path).write_text(text, encoding="utf-8", newline="")
    return text
