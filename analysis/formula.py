"""Formulas: from a table and ``outcome ~ terms`` to matrices, in which nothing is missing.

Whoever needs this module imports it late: with formulaic comes pandas.
"""

from __future__ import annotations

import ast
import builtins
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from formulaic import Formula, SimpleFormula  # type: ignore[import-untyped]
from formulaic.errors import DataMismatchWarning, FormulaicError  # type: ignore[import-untyped]
from formulaic.transforms import TRANSFORMS  # type: ignore[import-untyped]

from .channel import Floats
from .designs import Designs, Responses, as_numbers, responses
from .hidden import check_informative

if TYPE_CHECKING:
    import pandas

#: A formula may hide at most this many combinations of answers.
MOST_COMBINATIONS = 100
#: What is left of a column after those before it, as a share of it, if it is no news.
COLLINEAR = 1e-7


@dataclass(frozen=True, eq=False)
class Matrix:
    """Columns of numbers by respondent, and how to make the same of other tables."""

    columns: tuple[str, ...]
    #: For each combination of hidden answers, respondents × columns; one if none is hidden.
    values: tuple[Floats, ...]
    #: The places of each term's columns.
    terms: dict[str, tuple[int, ...]]
    #: The columns of the table that they are made of.
    variables: tuple[str, ...]
    spec: Any

    def of(self, data: Any) -> Floats:
        """The same columns of another table."""
        table = _table(data)
        _check_columns(table, self.variables)
        gone = [name for name in self.variables if table[name].isna().any()]
        if gone:
            raise ValueError(f"column {gone[0]}: must have no missing values")
        with warnings.catch_warnings():
            warnings.simplefilter("error", DataMismatchWarning)
            try:
                return np.asarray(self.spec.get_model_matrix(table), dtype=float)
            except DataMismatchWarning as error:
                raise ValueError(f"a category was not seen in the fit: {error}") from None


@dataclass(frozen=True, eq=False)
class Frame:
    """What a regression needs of a table: complete rows only."""

    formula: str
    outcome: str
    #: The outcome's responses if it is protected, else its values.
    responses: Responses | None
    values: Any
    matrix: Matrix
    #: Protected predictors, and the answers of each combination of theirs.
    hidden: tuple[Responses, ...]
    combinations: tuple[tuple[int, ...], ...]
    #: What the hidden answers may depend on.
    given: Matrix | None
    weights: Floats | None
    #: The complete rows of every column that was used.
    rows: pandas.DataFrame
    dropped: int

    @property
    def n(self) -> int:
        return len(self.rows)

    @property
    def protected(self) -> tuple[Responses, ...]:
        return (*([self.responses] if self.responses else []), *self.hidden)

    def log_chances(self) -> Floats:
        """log P(responses of the protected predictors | combination), combinations × n."""
        found = np.zeros((len(self.combinations), self.n))
        with np.errstate(divide="ignore"):
            logs = [np.log(each.chances.T) for each in self.hidden]
        for place, combination in enumerate(self.combinations):
            for each, answer in zip(logs, combination, strict=True):
                found[place] += each[answer]
        return found

    def combination_names(self) -> list[str]:
        """Such as "drug = Cannabis, cheated = Yes"."""
        return [
            ", ".join(
                f"{each.name} = {each.answers[answer]}"
                for each, answer in zip(self.hidden, combination, strict=True)
            )
            for combination in self.combinations
        ]


def read(
    formula: str,
    data: Any,
    designs: Mapping[str, Designs],
    arms: Mapping[str, str] | None = None,
    weights: str | None = None,
    given: str | None = None,
    group: str | None = None,
) -> Frame:
    """Read a formula from a table (a DataFrame, or a dict of columns).

    Rows in which something that the formula uses is missing are left out and counted. A
    protected predictor stands for its answers' numbers (1 for yes, a scale's score), within
    ``C(…)`` for their names.
    """
    outcome, terms = _sides(formula)
    table, arms, name = _table(data), arms or {}, str(outcome)
    inside = [each for each in sorted(_variables(terms)) if each in designs]
    used = [*([name] if name in designs else []), *inside]
    if not used:
        raise ValueError("designs: none of them is of a column in the formula")
    hidden_terms = _given(terms, inside, given) if inside else None
    sides = [outcome, terms, *([] if hidden_terms is None else [hidden_terms])]
    needed = {each for side in sides for each in _variables(side)}
    needed |= {arms[each] for each in used if each in arms}
    needed |= {each for each in (weights, group) if each}
    _check_columns(table, sorted(needed))
    rows, found = _complete(table[sorted(needed)], used, designs, arms)
    hidden = tuple(found[each] for each in inside)
    for each in hidden:
        check_informative(each)
    combinations = _combinations(hidden)
    return Frame(
        formula=formula,
        outcome=name,
        responses=found.get(name),
        values=None if name in found else _outcome_values(outcome, rows),
        matrix=_matrix(terms, rows, hidden, combinations, formula),
        hidden=hidden,
        combinations=combinations,
        given=None if hidden_terms is None else _matrix(hidden_terms, rows, (), ((),), formula),
        weights=_weights(rows, weights),
        rows=rows,
        dropped=len(table) - len(rows),
    )


def _complete(
    table: pandas.DataFrame,
    used: Sequence[str],
    designs: Mapping[str, Designs],
    arms: Mapping[str, str],
) -> tuple[pandas.DataFrame, dict[str, Responses]]:
    """The rows in which nothing is missing, and the responses in them."""
    rows = table[table.notna().all(axis=1)].reset_index(drop=True)
    found = {each: responses(rows, each, designs[each], arms.get(each)) for each in used}
    known = np.all([each.known for each in found.values()], axis=0)
    if not known.any():
        raise ValueError("no respondent has a value in every column of the formula")
    taken = {name: each.take(known) for name, each in found.items()}
    return rows[known].reset_index(drop=True), taken


def _combinations(hidden: Sequence[Responses]) -> tuple[tuple[int, ...], ...]:
    found = tuple(product(*(range(len(each.answers)) for each in hidden)))
    if len(found) > MOST_COMBINATIONS:
        raise ValueError(
            f"formula: its protected predictors have {len(found)} combinations of answers; "
            f"at most {MOST_COMBINATIONS} can be told apart"
        )
    return found


def _table(data: Any) -> pandas.DataFrame:
    import pandas

    return data if isinstance(data, pandas.DataFrame) else pandas.DataFrame(dict(data))


def _check_columns(table: pandas.DataFrame, names: Sequence[str]) -> None:
    for name in names:
        if name not in table.columns:
            raise ValueError(f"column {name} is missing")


def _parsed(formula: str) -> Any:
    try:
        return Formula(formula)
    except FormulaicError as error:
        raise ValueError(f"formula: {str(error).splitlines()[0]}") from None


def _sides(formula: str) -> tuple[SimpleFormula, SimpleFormula]:
    if not isinstance(formula, str):
        raise TypeError("formula: must be text such as 'cheated ~ age + year'")
    found = _parsed(formula)
    outcome: Any = getattr(found, "lhs", None)
    terms: Any = getattr(found, "rhs", None)
    plain = isinstance(outcome, SimpleFormula) and isinstance(terms, SimpleFormula)
    if not plain or len(outcome) != 1 or not len(terms):
        raise ValueError("formula: must have one outcome and terms, such as 'cheated ~ age + year'")
    return outcome, terms


def _variables(side: SimpleFormula) -> set[str]:
    """The columns that a side needs. Formulaic leaves out those within center(…), bs(…), …"""
    found = {str(each) for each in side.required_variables}
    calls = set()
    for factor in {factor.expr for term in side for factor in term.factors}:
        try:
            nodes = list(ast.walk(ast.parse(factor, mode="eval")))
        except SyntaxError:  # a name in backticks
            continue
        found |= {node.id for node in nodes if isinstance(node, ast.Name)}
        calls |= {getattr(node.func, "id", "") for node in nodes if isinstance(node, ast.Call)}
    return found - set(TRANSFORMS) - (calls & set(dir(builtins)))


def _given(terms: SimpleFormula, hidden: Sequence[str], given: str | None) -> SimpleFormula:
    """What hidden answers may depend on: by default every term without a hidden one."""
    if given is None:
        plain = [str(term) for term in terms if not _variables(SimpleFormula([term])) & set(hidden)]
        given = " + ".join(["1", *plain])
    found = _parsed(given)
    if not isinstance(found, SimpleFormula):
        raise ValueError("given: must be terms such as 'age + year', or '1'")
    inside = _variables(found) & set(hidden)
    if inside:
        raise ValueError(f"given: {min(inside)} is itself a protected predictor")
    return found


def _matrix(
    terms: SimpleFormula,
    rows: pandas.DataFrame,
    hidden: Sequence[Responses],
    combinations: Sequence[tuple[int, ...]],
    formula: str,
) -> Matrix:
    """The table is written once for each combination of hidden answers, one below the other,
    so that interactions and transformations of a hidden answer come by themselves."""
    import pandas

    worth = [_worth(each, formula) for each in hidden]
    copies = [
        rows.assign(
            **{
                each.name: values[answer]
                for each, values, answer in zip(hidden, worth, combination, strict=True)
            }
        )
        for combination in combinations
    ]
    stacked = pandas.concat(copies, ignore_index=True) if len(copies) > 1 else copies[0]
    try:
        with np.errstate(all="ignore"):
            found = terms.get_model_matrix(stacked, na_action="ignore")
    except FormulaicError as error:
        raise ValueError(f"formula: {str(error).splitlines()[0]}") from None
    columns = tuple(map(str, found.columns))
    values = np.asarray(found, dtype=float)
    _check_values(values, columns)
    places = {str(term): tuple(where) for term, where in found.model_spec.term_indices.items()}
    return Matrix(
        columns,
        tuple(np.split(values, len(copies))),
        _named(places),
        tuple(sorted(_variables(terms))),
        found.model_spec,
    )


def _named(places: dict[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
    return {"Intercept" if term == "1" else term: where for term, where in places.items()}


def _worth(each: Responses, formula: str) -> Sequence[float] | Sequence[str]:
    """What stands in a hidden answer's place: its number, or within C(…) its name."""
    if re.search(rf"\bC\(\s*{re.escape(each.name)}\b", formula):
        return each.answers
    for answer, score in zip(each.answers, each.scores, strict=True):
        if not np.isfinite(score):
            raise ValueError(
                f"column {each.name}: the answer {answer!r} has no number; "
                f"write C({each.name}) in the formula"
            )
    return each.scores


def _check_values(values: Floats, columns: Sequence[str]) -> None:
    for place, name in enumerate(columns):
        if not np.isfinite(values[:, place]).all():
            raise ValueError(f"{name}: must have finite numbers only")
        if not values[:, place].any():
            raise ValueError(f"{name}: is 0 for every respondent, as an empty category is")
    triangle = np.asarray(np.linalg.qr(values, mode="r"))
    if len(triangle) < len(columns):
        raise ValueError(
            f"formula: {len(columns)} columns cannot be told apart by {len(values)} respondents"
        )
    for place in range(len(columns)):
        column = triangle[: place + 1, place]
        if abs(column[-1]) > COLLINEAR * np.linalg.norm(column):
            continue
        made_of = np.linalg.solve(triangle[:place, :place], column[:-1])
        size = np.abs(made_of) * np.linalg.norm(triangle[:place, :place], axis=0)
        partners = [columns[other] for other in np.flatnonzero(size > 1e-6 * size.max()).tolist()]
        raise ValueError(
            f"{columns[place]}: is a combination of {', '.join(partners)}; leave one out"
        )


def _outcome_values(outcome: SimpleFormula, rows: pandas.DataFrame) -> Any:
    name = str(outcome)
    if name in rows.columns:
        return rows[name].to_numpy()
    try:
        with np.errstate(all="ignore"):
            found = outcome.get_model_matrix(rows, na_action="ignore")
    except FormulaicError as error:
        raise ValueError(f"formula: {str(error).splitlines()[0]}") from None
    if found.shape[1] != 1:
        raise ValueError(f"{name}: an outcome must be one column")
    return np.asarray(found, dtype=float)[:, 0]


def _weights(rows: pandas.DataFrame, column: str | None) -> Floats | None:
    """Weights with mean 1."""
    if column is None:
        return None
    found = as_numbers(rows[column].to_numpy(), column)
    if not (np.isfinite(found).all() and (found > 0).all()):
        raise ValueError(f"column {column}: weights must be above zero")
    return np.asarray(found / found.mean())
