"""Unbiased values: their expectation over the coin is the truth, by the laws' exact chances."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pandas
import pytest

from analysis import designs, unbiased_values
from analysis.channel import channel
from analysis.unbiased import Unbiased, unbiased
from respondent import Question, Survey

from .support import EXAMPLES, question, reference_case, reference_data

CAMPUS = Survey.load(EXAMPLES / "campus.toml")
DESIGNS = [
    designs.warner(0.2),
    designs.forced(0.3, 0.1),
    designs.kuk(0.7, 0.3, 5),
    designs.k_ary(4, 0.4),
    designs.direct(),
]


def every_response(source: Any, size: int) -> Unbiased:
    return unbiased({"y": np.arange(size)}, "y", source)


@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.name)
def test_values_of_answers_are_unbiased_and_so_is_their_noise(design: designs.Design) -> None:
    found = every_response(design, design.responses)
    np.testing.assert_allclose(
        design.channel.T @ found.values, np.eye(len(design.answers)), atol=1e-12
    )
    for answer, chances in enumerate(design.channel.T):
        mean = chances @ found.values
        spread = (found.values.T * chances) @ found.values - np.outer(mean, mean)
        told = found.noise(np.zeros(len(design.answers)), chances)
        np.testing.assert_allclose(told, spread, atol=1e-10, err_msg=str(answer))


@pytest.mark.parametrize("name", ["income", "debt", "hours"])
def test_numbers_are_unbiased_in_their_own_units(name: str) -> None:
    asked = CAMPUS[name]
    found = every_response(asked, asked.law.responses)
    chances = channel(asked.law)
    values = [float(asked.value(cell)) for cell in range(asked.law.answers)]
    np.testing.assert_allclose(chances.T @ found.values[:, 0], values, atol=1e-6 * values[-1])
    spread = chances.T @ found.values[:, 0] ** 2 - np.square(values)
    told = [found.noise(np.zeros(1), own)[0, 0] for own in chances.T]
    assert (np.array(told) >= spread * (1 - 1e-9)).all(), "noise of a number errs upwards"
    assert told[0] == pytest.approx(spread.max())


def test_ticks_are_unbiased_over_the_option_drawn_too() -> None:
    asked = CAMPUS["worries"]
    found = every_response(asked, asked.law.responses)
    for mask in (0, 1, 0b10110):
        chances = np.array(
            [asked.law.weight(mask, y) / asked.law.total(mask) for y in range(asked.law.responses)]
        )
        ticks = [mask >> option & 1 for option in range(5)]
        np.testing.assert_allclose(chances @ found.values, ticks, atol=1e-12)
        np.testing.assert_allclose(chances @ found.bases, 1)


def test_plain_ticks_and_numbers_are_themselves() -> None:
    ticks = question(kind="choices", options=["a", "b", "c"], protect=False)
    found = unbiased({"y": [0b101, None, 0b010]}, "y", ticks)
    np.testing.assert_array_equal(found.values, [[1, 0, 1], [0, 0, 0], [0, 1, 0]])
    assert not found.noise(np.zeros(3), np.ones(3)).any()
    age = question(kind="number", range=[10, 20], step=2, protect=False, skip=True)
    found = unbiased({"y": [0, 5, 6, None]}, "y", age)
    np.testing.assert_array_equal(found.values[:, 0], [10, 20, 0, 0])
    np.testing.assert_array_equal(found.known, [True, True, False, False])
    assert found.ends.tolist() == [[10, 20]]


def test_the_mean_of_a_scale_leaves_out_those_who_would_not_say() -> None:
    plain = question(kind="scale", range=[1, 5], protect=False, skip=True)
    found = unbiased({"y": [0, 4, 5, 2]}, "y", plain)
    np.testing.assert_allclose(found.values[:, -1], [1, 5, 0, 3])
    np.testing.assert_allclose(found.bases[:, -1], [1, 1, 0, 1])
    protected = CAMPUS["mood"]
    own = every_response(protected, protected.law.responses)
    np.testing.assert_allclose(channel(protected.law).T @ own.values[:, -1], range(1, 8))


def test_exported_values_give_the_reference_mean() -> None:
    """The debiased column of the reference, with its weights, as ``svymean`` takes it."""
    case = reference_case("survey_svymean_of_debiased_values")
    data = reference_data(case)
    table = unbiased_values(data, "z", designs.forced(0.2, 0.2), keep=["ST", "Pi"])
    assert list(table) == ["ST", "Pi", "z_No", "z_Yes"]
    again = pandas.read_csv(io.StringIO(table.to_csv(index=False)))
    mean = np.average(again["z_Yes"], weights=1 / again["Pi"])
    assert mean == pytest.approx(case["outputs"]["mean_stratified"], abs=1e-9)


def test_exported_columns() -> None:
    income = CAMPUS["income"]
    table = unbiased_values({"income": [0, None, 1]}, "income", income)
    low, high = (float(income.law.score(y)) * 100 for y in (0, 1))  # type: ignore[attr-defined]
    np.testing.assert_allclose(table["income_value"], [low, np.nan, high])
    ticks = unbiased_values({"w": [0, 3, 9]}, "w", CAMPUS["worries"])
    assert ticks.notna().to_numpy().tolist() == [
        [True, False, False, False, False],
        [False, True, False, False, False],
        [False, False, False, False, True],
    ], "missing where another option was drawn"
    mood = unbiased_values({"m": [0]}, "m", CAMPUS["mood"])
    assert list(mood) == [f"m_{score}" for score in range(1, 8)]


def test_arms() -> None:
    data = {"y": [1, 1, None], "arm": ["a", "b", "b"]}
    arms = {"a": designs.direct(), "b": designs.warner(0.8)}
    table = unbiased_values(data, "y", arms, "arm")
    np.testing.assert_allclose(table["y_Yes"], [1, 4 / 3, np.nan])
    debt, hours = CAMPUS["debt"], CAMPUS["hours"]
    found = unbiased({"y": [3, 3], "arm": [0, 1]}, "y", {0: debt, 1: hours}, "arm")
    alone = [unbiased({"y": [3]}, "y", each).values[0, 0] for each in (debt, hours)]
    np.testing.assert_allclose(found.values[:, 0], alone)


def both(first: Question, second: Question) -> dict[int, Question]:
    return {0: first, 1: second}


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: read(both(CAMPUS["debt"], CAMPUS["cheated"])), "numbers and other questions"),
        (lambda: read(both(CAMPUS["worries"], CAMPUS["worries"])), "cannot be arms"),
        (lambda: read(designs.warner(0.5)), "cannot tell the answers apart"),
        (lambda: unbiased({"y": [10]}, "y", CAMPUS["worries"]), "must be from 0 to 9"),
        (
            lambda: unbiased_values({"y": [1], "y_No": [1]}, "y", designs.direct(), keep=["y_No"]),
            "keep: y_No",
        ),
    ],
)
def test_mistakes(make: Any, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        make()


def read(source: Any) -> Unbiased:
    return unbiased({"y": [1, 0], "arm": [0, 1]}, "y", source, "arm")
