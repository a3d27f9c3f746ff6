"""Survey designs: columns read and checked, and variances against the textbook's sums."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas
import pytest

from analysis import SurveyDesign
from analysis.sampling import sampled

DATA = pandas.DataFrame(
    {
        "w": [2.0, 2, 3, 3, 1, 1, 4, 0],
        "h": list("aaaabbbb"),
        "c": [1, 1, 2, 3, 1, 2, 2, 3],
        "N": [30.0] * 4 + [3.0] * 4,
    }
)
VALUES = np.array([[1.0], [2], [3], [5], [8], [13], [21], [0]])


def by_hand(values: list[list[float]], fractions: list[float]) -> float:
    """Σ (1 − f) n/(n − 1) Σ (z − z̄)² of cluster sums, one list for each stratum."""
    total = 0.0
    for sums, fraction in zip(values, fractions, strict=True):
        n, mean = len(sums), sum(sums) / len(sums)
        total += (1 - fraction) * n / (n - 1) * sum((z - mean) ** 2 for z in sums)
    return total


@pytest.mark.parametrize(
    ("design", "sums", "fractions"),
    [
        (SurveyDesign(), [[1, 2, 3, 5, 8, 13, 21, 0]], [0]),
        (SurveyDesign(strata="h"), [[1, 2, 3, 5], [8, 13, 21, 0]], [0, 0]),
        (SurveyDesign(clusters="c"), [[11, 37, 5]], [0]),
        # Clusters numbered anew in each stratum are clusters of their own.
        (SurveyDesign(strata="h", clusters="c"), [[3, 3, 5], [8, 34, 0]], [0, 0]),
        (SurveyDesign("w", "h", "c", "N"), [[3, 3, 5], [8, 34, 0]], [0.1, 1]),
    ],
)
def test_variance(design: SurveyDesign, sums: list[list[float]], fractions: list[float]) -> None:
    found = sampled(DATA, design, 8)
    assert found.covariance(VALUES)[0, 0] == pytest.approx(by_hand(sums, fractions))


def test_degrees_of_freedom_are_clusters_less_strata() -> None:
    found = sampled(DATA, SurveyDesign(strata="h", clusters="c"), 8)
    everybody = np.ones(8, dtype=bool)
    assert found.freedom(everybody) == 6 - 2
    assert found.freedom(np.arange(8) < 4) == 3 - 1, "of a group, those it is in"
    assert found.freedom(np.arange(8) < 1) == 0


def test_without_weights_the_population_says_them() -> None:
    found = sampled(DATA, SurveyDesign(strata="h", fpc="N", clusters="c"), 8)
    np.testing.assert_allclose(found.weights, [10.0] * 4 + [1.0] * 4)
    assert found.totals
    assert not sampled(DATA, SurveyDesign(strata="h"), 8).totals


def test_zero_weights_are_counted_and_stay_clusters() -> None:
    found = sampled(DATA, SurveyDesign("w", "h", "c"), 8)
    assert found.zeros == 1
    assert found.sizes.tolist() == [3, 3]


def test_margins_that_explain_everything_leave_no_variance() -> None:
    margins = {"h": {"a": 20, "b": 30}}
    found = sampled(DATA, SurveyDesign("w", margins=margins), 8)
    assert found.weights.sum() == pytest.approx(50)
    indicator = np.where(DATA["h"] == "a", 1.0, 0.0)[:, None] * found.weights[:, None]
    assert found.covariance(indicator)[0, 0] == pytest.approx(0, abs=1e-20)


def test_a_stratum_with_one_cluster() -> None:
    data = DATA.assign(c=[1, 1, 2, 3, 1, 1, 1, 1])
    with pytest.raises(ValueError, match="column h: stratum 'b' has one cluster only"):
        sampled(data, SurveyDesign(strata="h", clusters="c"), 8)
    centred = SurveyDesign(strata="h", clusters="c", lonely="centre")
    found = sampled(data, centred, 8)
    assert found.lonely == ("b",)
    assert "strata of one cluster (1) centred on all" in found.method
    mean = (3 + 3 + 5 + 42) / 4
    expected = by_hand([[3, 3, 5]], [0]) + (42 - mean) ** 2
    assert found.covariance(VALUES)[0, 0] == pytest.approx(expected)
    # Certain to be drawn, it adds no variance and needs no other.
    certain = data.assign(N=[30.0] * 4 + [1.0] * 4)
    found = sampled(certain, SurveyDesign(strata="h", clusters="c", fpc="N"), 8)
    assert found.covariance(VALUES)[0, 0] == pytest.approx(by_hand([[3, 3, 5]], [0.1]))


@pytest.mark.parametrize(
    ("design", "told"),
    [
        ({"weights": "v"}, "column v is missing"),
        ({"strata": "gap"}, "column gap: 1 values are missing"),
        ({"clusters": "gap"}, "column gap: 1 values are missing"),
        ({"fpc": "gap"}, "column gap: 1 values are missing"),
        ({"fpc": "N"}, "column N: must be the same for everybody in a stratum"),
        ({"strata": "h", "fpc": "N"}, "column N: must be the number of clusters"),
        ({"clusters": "one"}, "there is one cluster only"),
        ({"lonely": "skip"}, "lonely: must be one of error, centre"),
    ],
)
def test_mistakes(design: dict[str, Any], told: str) -> None:
    data = DATA.assign(gap=[1, 1, 1, 1, 2, 2, 2, None], one=1)
    with pytest.raises(ValueError, match=told):
        sampled(data, SurveyDesign(**design), 8)


def test_a_design_must_be_one() -> None:
    with pytest.raises(TypeError, match="survey: must be a SurveyDesign"):
        sampled(DATA, {"weights": "w"}, 8)  # type: ignore[arg-type]
