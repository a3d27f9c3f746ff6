"""Models of cheating and inattention beside RRreg and cWise, and in simulated surveys."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas
import pytest
from scipy import stats

from analysis import (
    SurveyDesign,
    TwoSamples,
    anchor_corrected,
    bootstrap_weights,
    cheater_detection,
    stochastic_lie_detector,
    unrelated_unknown,
)

from .support import reference_case, reference_data

EXACT = 1e-9


def solved(name: str, model: Any) -> tuple[TwoSamples, dict[str, float]]:
    case = reference_case(name)
    groups = [case["data"][group] for group in ("group1", "group2")]
    yes, n = [group["yes"] for group in groups], [group["n"] for group in groups]
    return model(yes, n, case["design"]["RRreg_p"]), case["outputs"]


@pytest.mark.parametrize(
    ("name", "model", "names"),
    [
        (
            "cdm_clark_desharnais",
            cheater_detection,
            {"pi": "honest yes", "beta": "honest no", "gamma": "cheaters"},
        ),
        (
            "sld_stochastic_lie_detector",
            stochastic_lie_detector,
            {"pi": "carriers", "t": "truthful"},
        ),
        (
            "published_minarets_SLD_RRuni",
            stochastic_lie_detector,
            {"pi": "carriers", "t": "truthful"},
        ),
        ("uqt_unknown_0.75_0.25", unrelated_unknown, {"pi": "sensitive", "piUQ": "unrelated"}),
    ],
)
def test_estimates_of_rreg(name: str, model: Any, names: dict[str, str]) -> None:
    found, told = solved(name, model)
    for theirs, ours in names.items():
        assert found[ours].estimate == pytest.approx(told[theirs], abs=EXACT)
        assert found[ours].se == pytest.approx(told[f"{theirs}SE"], rel=EXACT)
        width = 1.959963984540054 * found[ours].se
        assert found[ours].low == pytest.approx(found[ours].estimate - width)
        assert found[ours].high == pytest.approx(found[ours].estimate + width)


def test_the_published_counts_are_those_of_the_data() -> None:
    case = reference_case("published_minarets_SLD_RRuni")
    data = reference_data(case)
    counts = data[data["RRdesign"] == 1].groupby("condition")["rrt"].agg(["sum", "size"])
    for row, group in zip(counts.to_numpy().tolist(), ("group1", "group2"), strict=True):
        assert row == [case["data"][group]["yes"], case["data"][group]["n"]]


def test_shares_of_cheater_detection_add_up() -> None:
    found, _ = solved("cdm_clark_desharnais", cheater_detection)
    assert sum(each.estimate for each in found.parameters) == pytest.approx(1)
    np.testing.assert_allclose(found.covariance.sum(axis=0), 0, atol=1e-15)


def test_no_cheating_is_tested_by_the_likelihood() -> None:
    """The restricted model λ = π + (1 − π)p by a fine grid; its G² is χ² with one degree."""
    yes, n, p = (230, 400), (600, 600), (0.25, 0.75)
    shares = np.linspace(0, 1, 200_001)
    rates = shares[:, None] + (1 - shares[:, None]) * p
    best = stats.binom.logpmf(yes, n, rates).sum(axis=1).max()
    free = stats.binom.logpmf(yes, n, np.divide(yes, n)).sum()
    test = cheater_detection(yes, n, p).test
    assert test is not None
    assert test.statistic**2 == pytest.approx(2 * (free - best), rel=1e-6)
    assert test.p_value == pytest.approx(stats.norm.sf(np.sqrt(2 * (free - best))), rel=1e-5)


def test_the_test_keeps_its_level() -> None:
    """2,000 pairs of honest sub-samples: rejected at 5 % in 3.5 to 6.5 % of them."""
    rng = np.random.default_rng(7)
    p = np.array([0.25, 0.75])
    found = [
        cheater_detection(yes.tolist(), (400, 500), p.tolist()).test
        for yes in rng.binomial((400, 500), 0.2 + 0.8 * p, size=(2000, 2))
    ]
    rejected = np.mean([test is not None and test.p_value < 0.05 for test in found])
    assert 0.035 <= rejected <= 0.065
    lies = stochastic_lie_detector((300, 230), (400, 400), (0.2, 0.8)).test
    assert lies is not None and lies.statistic > 0


SETTINGS = [
    (cheater_detection, (0.25, 0.75), lambda p: 0.2 + 0.7 * p, (0.2, 0.7, 0.1)),
    (stochastic_lie_detector, (0.2, 0.8), lambda p: 0.3 * 0.6 + 0.7 * (1 - p), (0.3, 0.6)),
    (unrelated_unknown, (0.75, 0.25), lambda p: 0.1 * p + 0.4 * (1 - p), (0.1, 0.4)),
]


@pytest.mark.parametrize(("model", "p", "rate", "truth"), SETTINGS, ids=["CDM", "SLD", "UQT"])
def test_coverage(model: Any, p: tuple[float, float], rate: Any, truth: tuple[float, ...]) -> None:
    """2,000 pairs of 600: 95 % intervals cover 93.5 to 96.5 %, three standard errors."""
    rng = np.random.default_rng(8)
    held = np.zeros(len(truth))
    for yes in rng.binomial(600, [rate(chance) for chance in p], size=(2000, 2)):
        found = model(yes.tolist(), (600, 600), p).parameters
        held += [each.low <= true <= each.high for each, true in zip(found, truth, strict=True)]
    assert ((held / 2000 >= 0.935) & (held / 2000 <= 0.965)).all(), held / 2000


def test_outside_the_possible_is_flagged_and_not_clipped() -> None:
    found = cheater_detection((200, 560), (600, 600), (0.25, 0.75))
    assert found["honest no"].estimate == pytest.approx(1.2)
    assert found["cheaters"].estimate == pytest.approx(-7 / 30)
    flags = [each.flag for each in found.parameters]
    assert flags == ["", "outside the possible", "outside the possible"]
    assert found.test is not None and found.test.p_value > 0.5
    assert "outside the possible" in str(found)


def test_nobody_carries_it() -> None:
    """With no carriers there is no share of them that tells the truth."""
    found = stochastic_lie_detector((480, 120), (600, 600), (0.2, 0.8))
    assert found["carriers"].estimate == pytest.approx(0, abs=1e-12)
    assert np.isnan(found["truthful"].estimate)
    assert found["truthful"].flag == "nobody to estimate it from"


def test_tables() -> None:
    found, _ = solved("cdm_clark_desharnais", cheater_detection)
    assert list(found.to_frame()["name"]) == ["honest yes", "honest no", "cheaters"]
    assert "all honest: z = 6.74" in str(found)
    assert "all honest" not in str(unrelated_unknown((1, 2), (9, 9), (0.7, 0.3)))
    with pytest.raises(KeyError, match="'liars': is not one of honest yes"):
        found["liars"]


@pytest.mark.parametrize(
    ("yes", "n", "p", "told"),
    [
        ((1,), (9, 9), (0.2, 0.8), "yes: must have two numbers"),
        ((1, 2), (9, 9), (0.2, 1.8), "p: must be chances"),
        ((1, 2), (9, 9), (0.5, 0.5), "p: must differ"),
        ((1, 10), (9, 9), (0.2, 0.8), "yes: must be from 0 to n"),
        ((1, 1), (9, 1), (0.2, 0.8), "n at least 2"),
    ],
)
def test_mistakes(yes: Any, n: Any, p: Any, told: str) -> None:
    for model in (cheater_detection, stochastic_lie_detector, unrelated_unknown):
        with pytest.raises(ValueError, match=told):
            model(yes, n, p)


def test_counts_are_whole() -> None:
    with pytest.raises(TypeError, match="whole numbers"):
        cheater_detection((1.5, 2), (9, 9), (0.2, 0.8))  # type: ignore[arg-type]


# Anchors

CWISE = reference_case("published_cwise_bias_corrected")
CMDATA = reference_data(CWISE)


@pytest.mark.parametrize("kind", ["unweighted", "weighted"])
def test_estimates_of_cwise(kind: str) -> None:
    """Printed to four digits. Its standard error is that of 200 bootstrap draws, which is off
    by 1/√400 = 5 % of itself: met within two of those."""
    told = CWISE["outputs"][kind]
    survey = SurveyDesign("weight") if kind == "weighted" else None
    found = anchor_corrected(CMDATA, "Y", "A", 0.15, 0.15, survey)
    assert found["naive"].estimate == pytest.approx(told["naive"][0], abs=5e-5)
    assert found["corrected"].estimate == pytest.approx(told["bias_corrected"][0], abs=5e-5)
    assert found["attentive"].estimate == pytest.approx(told["attentive_rate"], abs=5e-5)
    assert found["corrected"].se == pytest.approx(told["bias_corrected"][1], rel=0.1)
    if kind == "unweighted":
        assert found["naive"].se == pytest.approx(told["naive"][1], abs=5e-5)
    else:
        # There cWise takes the weights for the estimate but not for its error.
        assert found["naive"].se > 1.2 * told["naive"][1]


def test_its_standard_error_is_that_of_very_many_draws() -> None:
    """40,000 draws of the two-by-two table: off by 0.35 %, three of those."""
    counts = np.array([148, 425, 311, 1116])
    draws = np.random.default_rng(9).multinomial(2000, counts / 2000, size=40_000)
    same, anchored = draws[:, 2:].sum(axis=1) / 2000, draws[:, [1, 3]].sum(axis=1) / 2000
    again = 0.5 - (same - 0.5) / (anchored - 0.5) / 2
    found = anchor_corrected(CMDATA, "Y", "A", 0.15)["corrected"]
    assert found.se == pytest.approx(again.std(), rel=0.0105)


def test_replicates_agree() -> None:
    """500 bootstrap draws: 3.2 % of a standard error, three of those."""
    survey = SurveyDesign("weight")
    made = bootstrap_weights(CMDATA, survey, 500, seed=2)
    one = anchor_corrected(CMDATA, "Y", "A", 0.15, survey=survey)
    other = anchor_corrected(CMDATA, "Y", "A", 0.15, survey=made)
    for name in ("naive", "corrected", "attentive"):
        assert other[name].estimate == pytest.approx(one[name].estimate)
        assert other[name].se == pytest.approx(one[name].se, rel=0.095)


def test_correction_covers_where_the_naive_share_does_not() -> None:
    """1,000 surveys of 1,500 with 25 % inattentive: 93 to 97 %, three standard errors."""
    rng = np.random.default_rng(10)
    share, p, held, naive = 0.1, 0.2, 0, 0
    for _ in range(1000):
        attentive = rng.random(1500) < 0.75
        true = rng.random(1500) < share
        same = np.where(attentive, true == (rng.random(1500) < p), rng.random(1500) < 0.5)
        anchored = np.where(attentive, rng.random(1500) >= 0.15, rng.random(1500) < 0.5)
        data = {"y": same.astype(int), "a": anchored.astype(int)}
        found = anchor_corrected(data, "y", "a", p, 0.15)
        held += found["corrected"].low <= share <= found["corrected"].high
        naive += found["naive"].low <= share <= found["naive"].high
    assert 0.93 <= held / 1000 <= 0.97
    assert naive < 100


def test_who_answered_one_only_is_left_out() -> None:
    data = pandas.DataFrame({"y": [1, 0, 1, None, 1], "a": [1, 1, None, 1, 0]})
    found = anchor_corrected(data, "y", "a", 0.2)
    assert (found.n, found.missing) == (3, 2)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"p": 0.5}, "p: at a chance of one half"),
        ({"p": 0.2, "anchor_p": 0.5}, "anchor_p: at a chance of one half"),
        ({"p": 0.2, "survey": SurveyDesign(fpc="weight")}, "fpc: leave it out"),
    ],
)
def test_mistakes_with_anchors(arguments: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        anchor_corrected(CMDATA, "Y", "A", **arguments)


def test_nobody_answered_both() -> None:
    with pytest.raises(ValueError, match="nobody answered both"):
        anchor_corrected({"y": [1, None], "a": [None, 1]}, "y", "a", 0.2)
