"""Correlations with the noise taken off, against RRreg and repeated surveys."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from analysis import correlation, designs, simulate
from respondent import Survey

from .support import EXAMPLES, reference_case, reference_data

CAMPUS = Survey.load(EXAMPLES / "campus.toml")
COIN = designs.coin(0.5)


def test_reference_matrix_of_mixed_designs() -> None:
    """RRcor's closed form, and its bootstrap of 1,000, whose own error is 2.2 %: 3 of them."""
    case = reference_case("cor_matrix_mixed_designs")
    known = case["outputs"]
    variables: dict[str, Any] = {
        "ya": designs.warner(0.8),
        "yb": designs.forced(yes=0.2, no=0.1),
        "yk": designs.k_ary(4, 0.76),
        "yu": designs.unrelated(0.75, 0.3),
        "x": None,
    }
    found = correlation(reference_data(case), variables)
    assert list(found.names) == known["order"]
    np.testing.assert_allclose(found.r, known["r"], rtol=0, atol=1e-9)
    for each in found.pairs:
        i, j = (known["order"].index(name) for name in (each.one, each.other))
        assert each.noisy == pytest.approx(known["observed_r"][i][j], abs=1e-9)
    boot = known["boot_se_nonparametric_1000"]
    for i, j in ((0, 1), (0, 2), (1, 2)):
        pair = found[boot["order"][i], boot["order"][j]]
        assert pair.se == pytest.approx(boot["se"][i][j], rel=3 * 0.022)


def test_reference_two_arms_of_minarets() -> None:
    """A stochastic lie detector: its chance t of an honest yes is estimated first, which makes
    two designs that are known. λ_g = π t + (1 − π)(1 − p_g), solved for π and t."""
    case = reference_case("published_minarets_RRcor")
    data = reference_data(case).query("RRdesign == 1")
    p = case["design"]["RRreg_p"]
    rates = [data.rrt[data.condition == group].mean() for group in (1, 2)]
    share = 1 - (rates[0] - rates[1]) / (p[1] - p[0])
    honest = (rates[0] - (1 - share) * (1 - p[0])) / share
    arms = {
        group: designs.table([[p[group - 1], 1 - honest], [1 - p[group - 1], honest]])
        for group in (1, 2)
    }
    variables = {"rrt": arms, "age": None, "leftRight": None}
    found = correlation(data, variables, arms={"rrt": "condition"})
    np.testing.assert_allclose(found.r, case["outputs"]["r"], rtol=0, atol=1e-9)


def test_plain_numbers_have_the_usual_correlation() -> None:
    rng = np.random.default_rng(1)
    # Far from 0 and of very different sizes: no digits may get lost.
    data = {"a": 1e6 + rng.normal(size=200), "b": 1e-6 * rng.normal(size=200)}
    data["b"] += 1e-6 * data["a"]
    (found,) = correlation(data, {"a": None, "b": None}).pairs
    known = np.corrcoef(data["a"], data["b"])[0, 1]
    assert found.estimate == pytest.approx(known, abs=1e-9)
    # Normal variables: (1 − r²)/√n within 15 %.
    assert found.se == pytest.approx((1 - known**2) / np.sqrt(200), rel=0.15)


@pytest.mark.parametrize(("n", "size"), [(200, 400), (2_000, 300)])
def test_intervals_cover(n: int, size: int) -> None:
    """Phi of two coins and a coin with a number, true values 0.6 and about 0.57: 95 % of
    intervals hold them, within 3 standard errors."""
    rng = np.random.default_rng(2)
    hits = np.zeros(2)
    # a and b are the same but for a redraw of two fifths; x adds noise to a.
    truths = np.array([0.6, 0.5 / np.sqrt(0.25 + 0.52)])
    for _ in range(size):
        a = rng.integers(0, 2, n)
        b = np.where(rng.random(n) < 0.6, a, rng.integers(0, 2, n))
        data = {
            "a": np.where(rng.random(n) < 0.5, a, rng.integers(0, 2, n)),
            "b": np.where(rng.random(n) < 0.5, b, rng.integers(0, 2, n)),
            "x": a + rng.normal(0, np.sqrt(0.52), n),
        }
        found = correlation(data, {"a": COIN, "b": COIN, "x": None})
        pairs = found["a", "b"], found["a", "x"]
        hits += [each.low <= t <= each.high for each, t in zip(pairs, truths, strict=True)]
    assert (np.abs(hits / size - 0.95) < 3 * np.sqrt(0.95 * 0.05 / size)).all(), hits / size


def test_arms_are_weighted_by_what_they_tell() -> None:
    """A direct arm beside a noisy one: the standard error is below that of either alone."""
    rng = np.random.default_rng(3)
    a = rng.integers(0, 2, 3_000)
    arm = rng.integers(0, 2, 3_000)
    noise = rng.integers(0, 2, 3_000)
    data = {"a": np.where((arm == 1) & (rng.random(3_000) < 0.5), noise, a), "arm": arm}
    data["x"] = a + rng.normal(size=3_000)
    arms = {0: designs.direct(), 1: COIN}
    both = correlation(data, {"a": arms, "x": None}, arms={"a": "arm"}).pairs[0]
    alone = [
        correlation(
            {name: values[arm == number] for name, values in data.items()},
            {"a": arms[number], "x": None},
        ).pairs[0]
        for number in (0, 1)
    ]
    assert both.se < min(each.se for each in alone)
    truth = 0.5 / np.sqrt(0.25 + 1)
    assert abs(both.estimate - truth) < 3 * both.se


def test_missing_values_leave_out_pairs_only() -> None:
    data = {
        "a": [1, 0, None, 1, 0, 1, 0, 1],
        "x": [1.0, 2, 3, np.nan, 5, 1, 2, 8],
        "y": [1, 2, 3, 4, 6, 5, 7, 8],
    }
    found = correlation(data, {"a": designs.warner(0.9), "x": None, "y": None})
    assert found["a", "x"].n == 6 and found["x", "y"].n == 7
    assert (found.n, found.missing) == (8, 2)


@pytest.mark.parametrize(
    "data",
    [
        {"a": [1, 0, 1, 0, 1], "x": [0.1] * 5},
        {"a": [1] * 5, "x": [1, 2, 3, 4, 5]},
        {"a": [1, None, None, 0, None], "x": [1, 2, 3, 4, 5]},
    ],
    ids=["constant", "alike", "two respondents"],
)
def test_no_spread_no_correlation(data: dict[str, list[Any]]) -> None:
    (found,) = correlation(data, {"a": COIN, "x": None}).pairs
    assert np.isnan(found.estimate) and (found.low, found.high) == (-1, 1)
    assert found.flag.startswith("no spread is left")


def test_beyond_one_is_flagged() -> None:
    """Responses that agree more often than any answers would."""
    y = np.repeat([0, 1], 50)
    (found,) = correlation({"a": y, "b": y}, {"a": COIN, "b": COIN}).pairs
    assert found.estimate > 1 and found.feasible == 1
    assert found.flag == "outside the possible: likelihood-ratio interval"
    assert found.low < found.high == 1


def test_tables() -> None:
    sample = simulate(CAMPUS, n=600, seed=6)
    names = ("cheated", "mood", "year")
    found = correlation(sample.responses, {name: CAMPUS[name] for name in names})
    assert str(found).startswith("correlations\none") and "n = 600" in str(found)
    assert list(found.to_frame()["other"]) == ["mood", "year", "year"]
    assert len(json.loads(found.to_json())["correlations"]) == 3
    assert found["year", "mood"] is found["mood", "year"]
    assert np.isnan(np.diag(found.se)).all()
    with pytest.raises(KeyError, match="not a pair"):
        found["mood", "age"]


@pytest.mark.parametrize(
    ("variables", "told"),
    [
        ({"a": COIN}, "two columns or more"),
        ({"a": COIN, "x": None}, "column x: must have numbers"),
        ({"a": COIN, "n": None}, "column n: has no values"),
        ({"a": designs.warner(0.5), "b": COIN}, "cannot tell the answers apart"),
        ({"a": CAMPUS["drug"], "b": COIN}, "cross-tabulate it"),
        ({"a": CAMPUS["income"], "b": COIN}, "cannot tell the answers apart"),
        ({"a": {0: COIN}, "b": COIN}, "arm: must name"),
    ],
)
def test_mistakes(variables: dict[str, Any], told: str) -> None:
    data = {"a": [0, 1, 1], "b": [1, 0, 1], "x": ["p", "q", "r"], "n": [None] * 3}
    with pytest.raises(ValueError, match=told):
        correlation(data, variables)
