"""Replicate weights: for straight sums they give the closed form, for ratios R's numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas
import pytest

from analysis import (
    SurveyDesign,
    bootstrap_weights,
    brr_weights,
    designs,
    jackknife_weights,
    replicate_weights,
    weighted,
    weighted_total,
)
from analysis.sampling import sampled

from .support import ROOT

SCHOOLS = pandas.read_csv(ROOT / "tests" / "reference" / "data" / "apiclus1.csv").assign(
    w=6194 / 183, level=lambda data: data["stype"].map({"E": 0, "H": 1, "M": 2})
)
TYPES = designs.direct(["E", "H", "M"])


def paired(strata: int, seed: int = 1) -> pandas.DataFrame:
    """Two clusters of two in each stratum."""
    rng = np.random.default_rng(seed)
    size = 4 * strata
    return pandas.DataFrame(
        {
            "h": np.repeat(np.arange(strata), 4),
            "c": np.tile([1, 1, 2, 2], strata),
            "w": rng.uniform(1, 5, size),
            "y": rng.integers(0, 2, size),
        }
    )


@pytest.mark.parametrize("make", [jackknife_weights, brr_weights], ids=["jackknife", "BRR"])
@pytest.mark.parametrize("strata", [1, 3, 4, 7])
def test_totals_have_the_closed_form_exactly(make: Any, strata: int) -> None:
    """Of a sum, both variances are that of linearisation (Wolter 2007, 3.4 and 4.5)."""
    data = paired(strata)
    survey = SurveyDesign("w", "h" if strata > 1 else None, "c")
    expected = weighted_total(data, "y", designs.direct(), survey)
    found = weighted_total(data, "y", designs.direct(), make(data, survey))
    np.testing.assert_allclose(found.covariance, expected.covariance, rtol=1e-9)
    assert found["Yes"].estimate == pytest.approx(expected["Yes"].estimate)
    assert found["Yes"].freedom == expected["Yes"].freedom == strata


def test_jackknife_of_the_survey_package() -> None:
    """``svytotal(~stype, as.svrepdesign(dclus1))`` of R's survey, printed on its page of summary
    statistics: 1333.32, 158.70 and 167.55. That design has 15 of 757 districts and corrects
    for it, which ours does not."""
    made = jackknife_weights(SCHOOLS, SurveyDesign("w", clusters="dnum"))
    assert made.method == "jackknife (JK1)"
    found = weighted_total(SCHOOLS, "level", TYPES, made)
    errors = [row.se * np.sqrt(1 - 15 / 757) for row in found.rows]
    np.testing.assert_allclose(errors, [1333.32, 158.70, 167.55], atol=0.006)
    np.testing.assert_allclose(
        [row.estimate for row in found.rows], [4873.97, 473.86, 846.17], atol=0.006
    )


def test_bootstrap_agrees_with_linearisation() -> None:
    """A bootstrap variance of R draws is off by √(2/R) of itself: 2.2 % at 4000; four of those."""
    data = paired(12)
    survey = SurveyDesign("w", "h", "c")
    made = bootstrap_weights(data, survey, 4000, seed=3)
    exact = weighted_total(data, "y", designs.direct(), survey)["Yes"]
    found = weighted_total(data, "y", designs.direct(), made)["Yes"]
    assert found.se**2 == pytest.approx(exact.se**2, rel=4 * np.sqrt(2 / 4000))
    again = bootstrap_weights(data, survey, 4000, seed=3)
    np.testing.assert_array_equal(made.replicates, again.replicates)


def test_each_replicate_is_raked() -> None:
    margins = {"wide": {"No": 1000.0, "Yes": 5194.0}, "stype": {"E": 4421, "H": 755, "M": 1018}}
    survey = SurveyDesign("w", clusters="dnum", margins=margins)
    made = jackknife_weights(SCHOOLS, survey)
    assert "raked" in made.method
    for weights in (made.weights, *made.replicates.T):
        sums = pandas.Series(weights).groupby(SCHOOLS["wide"]).sum()
        np.testing.assert_allclose(sums, [1000, 5194], rtol=1e-9)
    # What was raked to does not vary.
    found = weighted_total(SCHOOLS, "level", TYPES, made)
    np.testing.assert_allclose([row.se for row in found.rows], 0, atol=1e-5)


def test_weights_that_came_with_the_data() -> None:
    data = paired(5)
    survey = SurveyDesign("w", "h", "c")
    made = brr_weights(data, survey)
    names = [f"r{number}" for number in range(made.replicates.shape[1])]
    table = pandas.concat([data, pandas.DataFrame(made.replicates, columns=names)], axis=1)
    given = replicate_weights(table, "w", names, 1 / len(names))
    one = weighted(data, "y", designs.coin(0.5), made)["Yes"]
    other = weighted(table, "y", designs.coin(0.5), given)["Yes"]
    assert other.se == pytest.approx(one.se)
    assert given.freedom(np.ones(len(data), dtype=bool)) == 5, "rank less one"
    fixed = replicate_weights(table, "w", names, 1 / len(names), freedom=3)
    assert weighted(table, "y", designs.coin(0.5), fixed)["Yes"].freedom == 3


def test_brr_takes_each_half_equally_often() -> None:
    data = paired(3)
    made = brr_weights(data, SurveyDesign("w", "h", "c"))
    shares = made.replicates / data["w"].to_numpy()[:, None]
    assert set(np.unique(shares)) == {0, 2}
    np.testing.assert_allclose(shares.mean(axis=1), 1)


def test_a_group_that_a_replicate_loses_has_no_interval() -> None:
    data = paired(2).assign(g=[0, 0, 1, 1, 1, 1, 1, 1])
    made = jackknife_weights(data, SurveyDesign("w", "h", "c"))
    found = weighted(data, "y", designs.direct(), made, by="g")
    assert found[0, "Yes"].flag == "too few clusters: no interval"
    assert found[1, "Yes"].flag == ""


PAIRED = paired(3)
SURVEY = SurveyDesign("w", "h", "c")


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: jackknife_weights(PAIRED, SurveyDesign("w", fpc="w")), "fpc: replicates here"),
        (lambda: jackknife_weights(PAIRED, SurveyDesign()), "at least one of weights"),
        (lambda: brr_weights(PAIRED, SurveyDesign("w", "h")), "exactly two clusters"),
        (lambda: bootstrap_weights(PAIRED, SURVEY, 1), "replicates: must be at least 2"),
        (lambda: bootstrap_weights(PAIRED, SURVEY, 10**8), "too many"),
        (lambda: jackknife_weights(PAIRED, lonely()), "stratum 0 has one cluster only"),
        (lambda: replicate_weights(PAIRED, "w", ["w"], 1), "at least two replicates"),
        (lambda: replicate_weights(PAIRED, "w", ["w", "y"], 0), "scales: must be above 0"),
        (lambda: replicate_weights(gappy(), "w", ["w", "y"], 1), "column y: replicate weights"),
        (lambda: weighted(PAIRED[:4], "y", designs.direct(), made()), "are of 12 respondents"),
    ],
)
def test_mistakes(make: Any, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        make()


def lonely() -> SurveyDesign:
    return SurveyDesign("w", clusters="h", strata="h", lonely="centre")


def gappy() -> pandas.DataFrame:
    return PAIRED.assign(y=[None] + [1.0] * 11)


def made() -> Any:
    return jackknife_weights(PAIRED, SURVEY)


def test_a_category_that_a_replicate_loses() -> None:
    data = PAIRED.assign(g=["x", "x"] + ["y"] * 10)
    survey = SurveyDesign("w", "h", "c", margins={"g": {"x": 10, "y": 90}})
    assert sampled(data, survey, 12).weights.sum() == pytest.approx(100)
    with pytest.raises(ValueError, match="a category of g has no weight"):
        jackknife_weights(data, survey)
