"""Formulas: matrices of a table, hidden answers written out, missing values counted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas
import pytest

from analysis import designs
from analysis.formula import Frame, read
from respondent import Survey

from .support import EXAMPLES

CAMPUS = Survey.load(EXAMPLES / "campus.toml")
WARNER = designs.warner(0.8)
DATA = pandas.DataFrame(
    {
        "y": [0, 1, 1, 0, 1, None],
        "x": [1.0, 2.0, 4.0, None, 3.0, 5.0],
        "g": ["a", "b", "c", "a", "b", "c"],
        "h": [0, 1, 0, 1, 1, 0],
        "arm": ["rr", "dq", "rr", "rr", "dq", "rr"],
    }
)


def test_columns_of_a_formula() -> None:
    data = pandas.concat([DATA.assign(x=[1.0, 2, 4, 7, 3, 5], y=0)] * 2, ignore_index=True)
    data["x"] += np.arange(12) ** 2 / 10
    found = read("y ~ x*C(g) + np.log(x)", data, {"y": WARNER}).matrix
    assert found.columns == (
        *("Intercept", "x", "C(g)[T.b]", "C(g)[T.c]", "np.log(x)"),
        *("x:C(g)[T.b]", "x:C(g)[T.c]"),
    )
    assert found.terms["x:C(g)"] == (5, 6) and found.terms["Intercept"] == (0,)
    x = data["x"].to_numpy()
    np.testing.assert_allclose(found.values[0][:, 4], np.log(x))
    np.testing.assert_allclose(found.values[0][:, 5], x * (data["g"] == "b"))
    assert read("y ~ 0 + x", data, {"y": WARNER}).matrix.columns == ("x",)
    np.testing.assert_allclose(found.of(data.head(2)), found.values[0][:2])


def test_what_a_transformation_learnt_is_kept() -> None:
    data = DATA.dropna()
    found = read("y ~ center(x)", data, {"y": WARNER}).matrix
    np.testing.assert_allclose(found.of({"x": [2.5]}), [[1, 0]])


def test_rows_with_something_missing_are_left_out_and_counted() -> None:
    found = read("y ~ x", DATA, {"y": WARNER})
    assert (found.n, found.dropped) == (4, 2)
    assert found.responses is not None
    assert found.responses.codes.tolist() == [0, 1, 1, 1]
    assert read("y ~ center(x)", DATA, {"y": WARNER}).dropped == 2
    # Only what the formula uses counts.
    assert read("y ~ g", DATA.iloc[[0, 1, 2, 3, 4]], {"y": WARNER}).dropped == 0


def test_those_not_asked_are_left_out() -> None:
    hall = CAMPUS["hall"]
    found = read("hall ~ x", {"hall": [0, 2, 1, 1], "x": [1, 2, 3, 5]}, {"hall": hall})
    assert (found.n, found.dropped) == (3, 1)


def test_a_design_for_each_arm() -> None:
    arms = {"rr": WARNER, "dq": designs.direct()}
    found = read("y ~ x", DATA, {"y": arms}, {"y": "arm"})
    assert found.responses is not None
    np.testing.assert_allclose(found.responses.chances, [[0.8, 0.2], [0, 1], [0.2, 0.8], [0, 1]])


def test_hidden_answers_are_written_out() -> None:
    found = read("x ~ h*g", DATA.iloc[[0, 1, 4]].assign(g=["a", "b", "a"]), {"h": WARNER})
    no, yes = found.matrix.values
    np.testing.assert_allclose(no, [[1, 0, 0, 0], [1, 0, 1, 0], [1, 0, 0, 0]])
    np.testing.assert_allclose(yes, [[1, 1, 0, 0], [1, 1, 1, 1], [1, 1, 0, 0]])
    assert found.combination_names() == ["h = No", "h = Yes"]
    np.testing.assert_allclose(np.exp(found.log_chances()), [[0.8, 0.2, 0.2], [0.2, 0.8, 0.8]])
    assert found.given is not None and found.given.columns == ("Intercept", "g[T.b]")
    np.testing.assert_allclose(found.values, [1, 2, 3])


def test_answers_by_number_or_by_name() -> None:
    data = {"y": [0, 1, 1, 0], "drug": [0, 1, 2, 4], "mood": [0, 3, 6, 2]}
    mood = read("y ~ mood", data, {"mood": CAMPUS["mood"]}).matrix
    np.testing.assert_allclose([values[0, 1] for values in mood.values], np.arange(1, 8))
    drug = read("y ~ C(drug)", data, {"drug": CAMPUS["drug"]}).matrix
    assert drug.columns[1:] == tuple(
        f"C(drug)[T.{name}]" for name in ("Cocaine", "None", "Other", "Prefer not to say")
    )
    with pytest.raises(ValueError, match="'Prefer not to say' has no number"):
        read("y ~ drug", data, {"drug": CAMPUS["drug"]})


def test_several_hidden_predictors_have_all_combinations() -> None:
    data = DATA.dropna()
    found = read("x ~ y + h", data, {"y": WARNER, "h": designs.warner(0.7)}, given="1")
    assert len(found.matrix.values) == 4
    assert found.combination_names()[-1] == "h = Yes, y = Yes"
    chances = np.exp(found.log_chances()[-1])
    want = np.where(data["h"] == 1, 0.7, 0.3) * np.where(data["y"] == 1, 0.8, 0.2)
    np.testing.assert_allclose(chances, want)


def test_an_outcome_may_be_an_expression() -> None:
    found = read("np.sqrt(x) ~ h", DATA.iloc[[0, 1, 2]], {"h": WARNER})
    np.testing.assert_allclose(found.values, np.sqrt([1, 2, 4]))


def test_other_designs_do_no_harm() -> None:
    everything = {question.id: question for question in CAMPUS if question.kind != "choices"}
    found = read("cheated ~ x", {"cheated": [0, 1, 0], "x": [1, 2, 4]}, everything)
    assert [each.name for each in found.protected] == ["cheated"]


@pytest.mark.parametrize(
    ("formula", "told"),
    [
        ("y ~ z", "column z is missing"),
        ("y ~ x + I(2*x + 1)", r"I\(2 \* x \+ 1\): is a combination of Intercept, x; leave one"),
        ("y ~ g + C(g)", r"is a combination of g\[T.b\]"),
        ("y ~ x*g", "6 columns cannot be told apart by 4 respondents"),
        ("y + h ~ x", "formula: must have one outcome and terms"),
        ("y ~ x | g", "formula: must have one outcome and terms"),
        ("y ~ 0", "formula: must have one outcome and terms"),
        ("~ x", "formula: must have one outcome and terms"),
        ("y ~ (x", "formula: Could not find matching"),
        ("x ~ g", "designs: none of them"),
    ],
)
def test_mistakes(formula: str, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        read(formula, DATA, {"y": WARNER, "h": WARNER} if "h" in formula else {"y": WARNER})


def test_a_formula_is_text() -> None:
    with pytest.raises(TypeError, match="formula: must be text"):
        read(3, DATA, {"y": WARNER})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ({"g": ["a"]}, "column x is missing"),
        ({"x": [np.nan], "g": ["a"]}, "column x: must have no missing values"),
        ({"x": [1.0], "g": ["z"]}, "a category was not seen in the fit"),
    ],
)
def test_other_tables_must_have_the_same_columns(data: Any, told: str) -> None:
    found: Frame = read("y ~ x + g", pandas.concat([DATA.dropna()] * 2), {"y": WARNER})
    with pytest.raises(ValueError, match=told):
        found.matrix.of(data)
