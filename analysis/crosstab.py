"""Cross-tables of two or more questions, protected or plain: joint, marginal and conditional
shares, odds ratios, correlation, and the test of independence.

The joint channel of several questions is the Kronecker product of theirs (van den Hout & van
der Heijden 2002), worked on one axis at a time, so that tables of thousands of cells take no
more memory than their counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import chi2

from respondent import Question

from .channel import Floats, Ints
from .correlation import Correlation, pair, protected
from .designs import Design, Designs, Responses, as_design, plain, responses
from .intervals import check_level, normal_quantile
from .joint import Fit, Stratum, fit, joint_shares, merged, moment, size, strata, value
from .means import OUTSIDE, ROUNDING, Arrays
from .odds_ratio import EDGE, OPEN, OddsRatio, odds_ratio
from .result import NUMBERS, Parts, Test, Value, text_table

#: Tables with more joint cells than this print their margins only.
MOST_PRINTED = 40
#: Fewer respondents than this for each joint cell make chi-square a rough guide.
FEW = 5
METHOD = (
    "Wilson intervals of joint and marginal shares, delta method for conditional ones, "
    "profile likelihood for odds ratios"
)
NO_BASE = "nobody seems to have given that answer: no share"


@dataclass(frozen=True, eq=False)
class CrossTable(Parts):
    """Joint shares of the answers to several questions: ``table["Yes", "No"].estimate``."""

    names: tuple[str, ...]
    #: Respondents by the designs that they had; only one where all had the same.
    strata: tuple[Stratum, ...]

    @property
    def designs(self) -> tuple[Design, ...]:
        return self.strata[0].designs

    @property
    def answers(self) -> tuple[tuple[str, ...], ...]:
        return tuple(each.answers for each in self.designs)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(map(len, self.answers))

    @property
    def cells(self) -> int:
        return prod(self.shape)

    @cached_property
    def shares(self) -> Arrays:
        """All joint cells at once, one axis for each question: estimate, se, low, high …"""
        return joint_shares(self.strata, self.level)

    @cached_property
    def fit(self) -> Fit:
        return fit(self.strata)

    @property
    def feasible(self) -> Floats:
        """The likeliest joint shares, all of them from 0 to 1."""
        return self.fit.shares

    def __getitem__(self, answers: tuple[str, ...]) -> Value:
        if isinstance(answers, str) or len(answers) != len(self.names):
            raise KeyError(f"must be {len(self.names)} answers, one for each question")
        return self._value(tuple(map(self._place, self.names, answers)))

    def _place(self, name: str, answer: str) -> int:
        return self.designs[self._axis(name)].answer(answer)

    def _axis(self, name: str) -> int:
        if name not in self.names:
            raise ValueError(f"{name!r} is not a question of this table: {', '.join(self.names)}")
        return self.names.index(name)

    def _value(self, cell: tuple[int, ...]) -> Value:
        name = " × ".join(answers[place] for answers, place in zip(self.answers, cell, strict=True))
        return value(name, self.shares, cell, float(self.feasible[cell]))

    def margin(self, *names: str) -> CrossTable:
        """The table of some of the questions, in this order, of the same respondents."""
        if names == self.names:
            return self
        axes = [self._axis(name) for name in names]
        if not names or len(set(axes)) < len(axes):
            raise ValueError("names: must be questions of the table, each once")
        others = tuple(axis for axis in range(len(self.names)) if axis not in axes)
        order = np.argsort(np.argsort(axes))
        found = [
            Stratum(
                tuple(part.designs[axis] for axis in axes),
                part.counts.sum(axis=others).transpose(order),
            )
            for part in self.strata
        ]
        return CrossTable(self.level, self.method, self.n, self.missing, names, merged(found))

    def marginal(self, name: str) -> list[Value]:
        """Shares of the answers to one question, with the intervals of ``estimate``."""
        own = self.margin(name)
        return [own._value((place,)) for place in range(len(own.answers[0]))]

    def conditional(self, of: str, given: str) -> list[Value]:
        """Shares of one question's answers among those with each answer to another.

        R = π(i,j)/π(i), its variance by the delta method: that of (L(i,j) − R L(i))/π(i) over
        respondents, divided by n − 1; the interval is R ± z se.
        """
        both = self.margin(given, of)
        joint, base = both.shares.estimate, moment(both.margin(given).strata, [1])[:, None]
        square, mixed = moment(both.strata, [2, 2]), moment(both.strata, [2, 1])
        own = moment(both.margin(given).strata, [2])[:, None]
        base = np.where(base > ROUNDING, base, np.nan)
        ratio = joint / base
        spread = np.maximum(square - 2 * ratio * mixed + ratio**2 * own, 0)
        se = np.sqrt(spread / max(self.n - 1, 1)) / base
        with np.errstate(invalid="ignore"):
            noisy = both.shares.noisy / both.shares.noisy.sum(axis=1, keepdims=True)
            feasible = both.feasible / both.feasible.sum(axis=1, keepdims=True)
        width = normal_quantile(self.level) * se
        outside = (ratio < -ROUNDING) | (ratio > 1 + ROUNDING)
        arrays = Arrays(
            noisy, ratio, se, ratio - width, ratio + width, np.where(outside, OUTSIDE, 0)
        )
        found = []
        for i, j in np.ndindex(*joint.shape):
            name = f"{both.answers[1][j]} | {both.answers[0][i]}"
            if np.isnan(base[i, 0]):
                found.append(Value(name, *(np.nan,) * 3, 0.0, 1.0, np.nan, NO_BASE))
            else:
                found.append(value(name, arrays, (i, j), float(feasible[i, j])))
        return found

    def odds_ratio(
        self,
        one: str | None = None,
        other: str | None = None,
        answers: Mapping[str, tuple[str, str]] | None = None,
    ) -> OddsRatio:
        """Odds of ``other``'s answer given ``one``'s, this answer against that one.

        By default of the table's two questions, each of which must then have two answers:
        Yes, or else the second, against the other. ``answers`` names (this, that) of a
        question with more. Maximum likelihood, with the profile-likelihood interval.
        """
        names = self._two(one, other)
        both = self.margin(*names)
        block = tuple(both._pair(name, (answers or {}).get(name)) for name in names)
        found = odds_ratio(both.strata, (block[0], block[1]), self.level, both.fit)
        said = tuple(
            (both.answers[axis][this], both.answers[axis][that])
            for axis, (this, that) in enumerate(block)
        )
        flag = OPEN if found["low"] == 0 or found["high"] == np.inf else ""
        flag = flag if np.isfinite(found["log_se"]) else EDGE
        return OddsRatio(names, (said[0], said[1]), **found, level=self.level, flag=flag)

    def _two(self, one: str | None, other: str | None) -> tuple[str, str]:
        if one is not None and other is not None:
            return one, other
        if one is not None or other is not None or len(self.names) != 2:
            raise ValueError("one, other: must name two questions of the table")
        return self.names[0], self.names[1]

    def _pair(self, name: str, chosen: tuple[str, str] | None) -> tuple[int, int]:
        each = self.designs[self._axis(name)]
        if chosen is not None:
            if len(chosen) != 2 or chosen[0] == chosen[1]:
                raise ValueError(f"answers: {name} needs two different answers, this and that")
            return each.answer(chosen[0]), each.answer(chosen[1])
        if len(each.answers) != 2:
            raise ValueError(f"answers: {name} has more than two; say which, this and that")
        return each.answer(), 1 - each.answer()

    @cached_property
    def independence(self) -> Test:
        """Likelihood-ratio test that the questions are (mutually) independent.

        Both models are fitted on shares from 0 to 1. Independent answers have independent
        responses, so under the hypothesis each question is fitted by itself: the
        log-likelihood of either model has one peak only. χ² with Π k − 1 − Σ (k − 1)
        degrees of freedom, (r − 1)(c − 1) for two questions.
        """
        alone = [self.margin(name).fit for name in self.names]
        statistic = 2 * (self.fit.log_likelihood - sum(each.log_likelihood for each in alone))
        statistic = max(statistic, 0.0)
        df = self.cells - 1 - sum(each - 1 for each in self.shape)
        flag = ""
        if self.n < FEW * self.cells:
            flag = f"fewer than {FEW} respondents for each joint cell: a rough guide"
        elif self.fit.zeros.any():
            flag = f"{EDGE}: p is rather too large"
        return Test(
            "independence (likelihood ratio)", statistic, df, float(chi2.sf(statistic, df)), flag
        )

    def correlation(self, one: str | None = None, other: str | None = None) -> Correlation:
        """Pearson's correlation of two questions' scores; phi where both are yes or no."""
        names = self._two(one, other)
        both = self.margin(*names)
        counts, codes, arms = [], [], []
        for number, part in enumerate(both.strata):
            counts.append(part.counts.ravel())
            codes.append(np.indices(part.counts.shape).reshape(2, -1))
            arms.append(np.full(part.counts.size, number))
        cells, arm = np.concatenate(codes, axis=1), np.concatenate(arms)
        columns = [
            protected(_column(name, cells[axis], both.strata, axis, arm))
            for axis, name in enumerate(names)
        ]
        return pair(columns[0], columns[1], np.concatenate(counts), self.level)

    def parts(self) -> Mapping[str, Callable[[], list[dict[str, Any]]]]:
        found: dict[str, Callable[[], list[dict[str, Any]]]] = {
            "joint": self._joint_rows,
            "marginal": self._marginal_rows,
            "conditional": self._conditional_rows,
            "tests": lambda: [dict(vars(self.independence))],
        }
        if self._binary:
            found["odds_ratio"] = lambda: [_odds_row(self.odds_ratio())]
        return found

    @property
    def _binary(self) -> bool:
        return self.shape == (2, 2)

    def _joint_rows(self) -> list[dict[str, Any]]:
        rows = []
        for cell in np.ndindex(*self.shape):
            said = {
                name: answers[place]
                for name, answers, place in zip(self.names, self.answers, cell, strict=True)
            }
            rows.append(said | _numbers(self._value(cell)))
        return rows

    def _marginal_rows(self) -> list[dict[str, Any]]:
        return [
            {"question": name, "answer": each.name} | _numbers(each)
            for name in self.names
            for each in self.marginal(name)
        ]

    def _conditional_rows(self) -> list[dict[str, Any]]:
        return [
            {"question": of, "given": given, "answer": each.name} | _numbers(each)
            for of, given in permutations(self.names, 2)
            for each in self.conditional(of, given)
        ]

    def __str__(self) -> str:
        small = self.cells <= MOST_PRINTED
        lines = [" × ".join(self.names)]
        lines += text_table(self._joint_rows() if small else self._marginal_rows())
        if self._binary:
            lines += ["", *text_table([_odds_row(self.odds_ratio())])]
        lines += ["", *text_table([dict(vars(self.independence))])]
        return "\n".join([*lines, self._caption()])


def _numbers(found: Value) -> dict[str, Any]:
    return {name: getattr(found, name) for name in (*NUMBERS, "flag")}


def _odds_row(found: OddsRatio) -> dict[str, Any]:
    told = " × ".join(
        f"{name}: {this} to {that}"
        for name, (this, that) in zip(found.questions, found.answers, strict=True)
    )
    fields = ("estimate", "log_se", "low", "high", "flag")
    return {"odds ratio": told} | {name: getattr(found, name) for name in fields}


def _column(
    name: str, codes: Ints, parts: Sequence[Stratum], axis: int, stratum: Ints
) -> Responses:
    """The cells of a table as a column of responses, its arms the different designs."""
    designs = list({id(part.designs[axis]): part.designs[axis] for part in parts}.values())
    numbers = [next(n for n, d in enumerate(designs) if d is part.designs[axis]) for part in parts]
    return Responses(name, codes, tuple(designs), np.array(numbers)[stratum], 0)


# Making one


def crosstab(
    data: Mapping[str, Any] | Any,
    questions: Mapping[str, Designs | None],
    *,
    arms: Mapping[str, str] | None = None,
    level: float = 0.95,
) -> CrossTable:
    """Cross-tabulate the answers to two or more questions from their noisy responses.

    ``questions`` maps each column to its design or question, or to None for a plain column,
    whose values are the answers; to a dict of designs by arm where ``arms`` names the
    column that says which arm each respondent was in. Only those who have a response to
    all of them count; the others are said to be missing.
    """
    if len(questions) < 2:
        raise ValueError("questions: must be two columns or more")
    arms = arms or {}
    columns = [
        plain(data, name) if designs is None else responses(data, name, designs, arms.get(name))
        for name, designs in questions.items()
    ]
    kept = np.all([column.known for column in columns], axis=0)
    if not kept.any():
        raise ValueError("questions: nobody has a response to all of them")
    return _crosstab(tuple(questions), strata(columns, kept), int((~kept).sum()), level)


def crosstab_of_counts(
    questions: Mapping[str, Design | Question], counts: npt.ArrayLike, *, level: float = 0.95
) -> CrossTable:
    """The same from a joint table of counts, one axis of responses for each question.

    An axis may have one entry more, those who were not asked; they are missing.
    """
    if len(questions) < 2:
        raise ValueError("questions: must be two or more")
    designs = tuple(map(as_design, questions.values()))
    table = np.asarray(counts)
    if table.ndim != len(designs):
        raise ValueError(f"counts: must have {len(designs)} axes, one for each question")
    if table.dtype.kind not in "iuf" or (table % 1 != 0).any() or (table < 0).any():
        raise ValueError("counts: must be whole numbers from 0")
    for axis, (name, each) in enumerate(zip(questions, designs, strict=True)):
        most = each.responses + (each.not_asked is not None)
        if table.shape[axis] not in (each.responses, most):
            raise ValueError(
                f"counts: axis {axis} must have {each.responses} entries, one for each "
                f"response to {name}, not {table.shape[axis]}"
            )
    asked = table[tuple(slice(each.responses) for each in designs)].astype(float)
    if not asked.any():
        raise ValueError("counts: nobody has a response to all questions")
    missing = int(table.sum() - asked.sum())
    return _crosstab(tuple(questions), (Stratum(designs, asked),), missing, level)


def _crosstab(
    names: tuple[str, ...], parts: tuple[Stratum, ...], missing: int, level: float
) -> CrossTable:
    for part in parts:
        for name, each in zip(names, part.designs, strict=True):
            if len(each.answers) < 2:
                raise ValueError(f"{name}: has only one answer, so there is nothing to compare")
            if not each.informative:
                raise ValueError(f"{name}: these odds cannot tell the answers apart")
    return CrossTable(
        level=check_level(level),
        method=METHOD,
        n=int(size(parts).sum()),
        missing=missing,
        names=names,
        strata=parts,
    )
