"""Raking and post-stratification: margins met, by hand and against closed forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas
import pytest

from analysis import rake
from analysis.calibration import MET, Goal, effective_size


def people(*counts: int) -> pandas.DataFrame:
    """A two-by-two table, as people."""
    cells = [("f", "old"), ("f", "young"), ("m", "old"), ("m", "young")]
    rows = [cell for cell, count in zip(cells, counts, strict=True) for _ in range(count)]
    return pandas.DataFrame(rows, columns=["sex", "age"])


def test_post_stratification_is_target_over_count() -> None:
    data = people(10, 30, 20, 40)
    found = rake(data, {"sex": {"f": 600, "m": 400}})
    assert found.rounds == 1 and found.gap < MET
    np.testing.assert_allclose(found.weights[:40], 600 / 40)
    np.testing.assert_allclose(found.weights[40:], 400 / 60)
    assert found.factors == pytest.approx((400 / 60, 15))


def test_raking_meets_both_margins_and_keeps_the_odds_ratio() -> None:
    """The odds ratio of a raked table is that of the table it started from."""
    data = people(10, 30, 20, 40)
    found = rake(data, {"sex": {"f": 600, "m": 400}, "age": {"old": 450, "young": 550}})
    table = data.assign(w=found.weights).groupby(["sex", "age"])["w"].sum().unstack()
    np.testing.assert_allclose(table.sum(axis=1), [600, 400], rtol=1e-9)
    np.testing.assert_allclose(table.sum(axis=0), [450, 550], rtol=1e-9)
    a, b, c, d = table.to_numpy().ravel()
    assert a * d / (b * c) == pytest.approx(10 * 40 / (30 * 20), rel=1e-9)
    assert [row.after for row in found.margins] == pytest.approx([600, 400, 450, 550])
    assert [row.before for row in found.margins] == [40, 60, 30, 70]


def test_shares_keep_what_the_weights_add_up_to() -> None:
    data = people(10, 30, 20, 40).assign(w=2.0)
    found = rake(data, {"sex": {"f": 0.6, "m": 0.4}}, weights="w")
    assert found.weights.sum() == pytest.approx(200)
    assert found.weights[0] == pytest.approx(0.6 * 200 / 40)


def test_weights_of_zero_stay_zero() -> None:
    data = people(2, 2, 2, 2).assign(w=[0.0, 1, 1, 1, 1, 1, 1, 1])
    found = rake(data, {"sex": {"f": 30, "m": 40}}, weights="w")
    assert found.weights[0] == 0 and found.weights[1] == pytest.approx(10)


def test_residuals_are_those_of_least_squares() -> None:
    rng = np.random.default_rng(1)
    data = people(20, 30, 25, 25)
    weights = rng.uniform(1, 3, 100)
    goal = Goal.read(data, {"sex": {"f": 1, "m": 1}, "age": {"old": 1, "young": 1}}, weights)
    values = rng.normal(size=(100, 2))
    dummies = np.column_stack([np.ones(100), data["sex"] == "f", data["age"] == "old"])
    root = np.sqrt(weights)[:, None]
    slopes = np.linalg.lstsq(root * dummies, root * values, rcond=None)[0]
    np.testing.assert_allclose(goal.residuals(values, weights), values - dummies @ slopes)


def test_it_says_what_was_done() -> None:
    text = str(rake(people(10, 30, 20, 40), {"sex": {"f": 600, "m": 400}}))
    assert "sex     f            600      40    600" in text
    assert "1 rounds" in text and "6.667 to 15" in text


def test_effective_size() -> None:
    assert effective_size([1, 1, 1, 1]) == 4
    assert effective_size([3, 1]) == pytest.approx(16 / 10)


@pytest.mark.parametrize(
    ("margins", "told"),
    [
        ({}, "at least one column"),
        ({"sex": {"f": 1, "m": 1}, "age": {"old": 1, "young": 2}}, "age adds up to 3, sex to 2"),
        ({"sex": {"f": 1, "m": 0}}, "sex 'm' must be a number above 0"),
        ({"sex": {"f": 1, "m": float("nan")}}, "must be a number above 0"),
        ({"sex": {"f": 1, "m": 1, "x": 1}}, "nobody in the data has sex 'x'"),
        ({"sex": {"f": 1}}, "sex 'm' is in the data but has no target"),
        ({"town": {"a": 1}}, "column town is missing"),
        ({"part": {"a": 1}}, "column part: margins need a category for everybody"),
    ],
)
def test_mistakes(margins: Any, told: str) -> None:
    data = people(1, 1, 1, 1).assign(part=["a", None, "a", "a"])
    with pytest.raises(ValueError, match=told):
        rake(data, margins)


def test_a_category_without_weight_is_a_zero_cell() -> None:
    data = people(1, 1, 1, 1).assign(w=[1.0, 1.0, 0.0, 0.0])
    with pytest.raises(ValueError, match="nobody in the data has sex 'm'"):
        rake(data, {"sex": {"f": 1, "m": 1}}, weights="w")


def test_margins_that_contradict_each_other() -> None:
    """Only old women and young men: the two margins say different things about one split."""
    data = people(5, 0, 0, 5)
    with pytest.raises(ValueError, match="not met after"):
        rake(data, {"sex": {"f": 0.5, "m": 0.5}, "age": {"old": 0.4, "young": 0.6}})


@pytest.mark.parametrize(
    ("weights", "told"),
    [
        ([1.0, None, 1.0, 1.0], "column w: 1 weights are missing"),
        ([1.0, -1.0, 1.0, 1.0], "numbers from 0 on"),
        ([1.0, float("inf"), 1.0, 1.0], "numbers from 0 on"),
        ([0.0] * 4, "all weights are 0"),
        (["a"] * 4, "must have numbers"),
    ],
)
def test_bad_weights(weights: list[Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        rake(people(1, 1, 1, 1).assign(w=weights), {"sex": {"f": 1, "m": 1}}, weights="w")
