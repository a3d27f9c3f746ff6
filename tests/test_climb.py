"""Climbing likelihoods: the highest of several tops, flat ones, and coordinates that stay."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from analysis.channel import Floats
from analysis.climb import Slopes, climb, rising, search, solved


@dataclass(frozen=True)
class TwoTops:
    """log of two bells in the plane, the right one higher by 1; climbs begin left of both."""

    apart: float = 3.0
    n: int = 100

    def slopes(self, place: Floats) -> Slopes:
        bells = np.array([[-self.apart, 0.0], [self.apart, 0.0]])
        away = place - bells
        heights = np.array([0.0, 1.0]) - (away**2).sum(axis=1) / 2
        shares = np.exp(heights - heights.max())
        value = float(heights.max() + np.log(shares.sum()))
        shares = shares / shares.sum()
        mean = shares @ away
        spread = (away * shares[:, None]).T @ away - np.outer(mean, mean)
        return Slopes(value, -mean, np.eye(2) - spread, lambda: np.eye(2))

    def start(self) -> Floats:
        return np.array([-2 * self.apart, 1.0])

    @property
    def scale(self) -> Floats:
        return np.eye(2)

    def other_starts(self, many: int) -> list[Floats]:
        return [np.array([float(side), 0.5]) for side in range(1, many + 1)]

    def sample(self, rows: int) -> TwoTops:
        return self


def test_a_climb_ends_on_the_nearest_top() -> None:
    hill = TwoTops()
    left, right = climb(hill, np.array([-2.0, 1.0])), climb(hill, np.array([2.0, 1.0]))
    np.testing.assert_allclose(left.place, [-3, 0], atol=1e-5)
    np.testing.assert_allclose(right.place, [3, 0], atol=1e-5)
    assert left.converged and right.converged
    np.testing.assert_allclose(right.slopes.gradient, 0, atol=1e-9)


def test_a_search_ends_on_the_highest_and_tells_of_the_other() -> None:
    found = search(TwoTops())
    np.testing.assert_allclose(found.place, [3, 0], atol=1e-5)
    assert found.rival == pytest.approx(1, abs=1e-3)
    assert found.doubt == pytest.approx(np.sqrt(2 / 100), rel=1e-3)


def test_coordinates_that_stay() -> None:
    hill = TwoTops()
    found = climb(hill, np.array([-1.0, 1.0]), np.array([True, False]))
    assert found.place[1] == 1 and found.place[0] == pytest.approx(-3, abs=1e-4)
    nothing = climb(hill, np.array([1.0, 1.0]), np.array([False, False]))
    assert nothing.converged and nothing.place.tolist() == [1, 1]
    assert search(hill, np.array([True, False])).place[1] == 0


@dataclass(frozen=True)
class Slope(TwoTops):
    """−e^−x − y²/2: ever less steep to the right, and never falling."""

    def slopes(self, place: Floats) -> Slopes:
        x, y = place
        falling = np.exp(-x)
        return Slopes(
            float(-falling - y**2 / 2),
            np.array([falling, -y]),
            np.diag([falling, 1.0]),
            lambda: np.diag([1.0, 1.0]),
        )

    def start(self) -> Floats:
        return np.zeros(2)


def test_where_a_likelihood_never_falls() -> None:
    found = climb(Slope(), np.zeros(2))
    away = rising(Slope(), found)
    assert away is not None
    way, size = away
    assert way[0] > 0 and size[0] > 10 * size[1]
    assert rising(TwoTops(), climb(TwoTops(), np.array([3.0, 0.0]))) is None


def test_systems_without_a_solution() -> None:
    assert solved(np.array([[1.0, 2.0], [2.0, 1.0]]), np.ones(2)) is None
    assert solved(np.array([[0.0, 0.0], [0.0, 1.0]]), np.ones(2)) is None
    assert solved(np.array([[np.nan, 0.0], [0.0, 1.0]]), np.ones(2)) is None
    # Very different scales are no obstacle.
    found = solved(np.diag([1e-12, 1e12]), np.array([1e-12, 1e12]))
    assert found is not None
    np.testing.assert_allclose(found, [1, 1])
