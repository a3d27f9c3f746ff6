"""Groups compared, against reference results, published examples and repeated surveys."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import xlogy
from scipy.stats import binomtest, chi2, chi2_contingency

from analysis import compare, designs, estimate, simulate
from analysis.groups import corrected
from respondent import Survey

from .support import EXAMPLES, question, reference_case, reference_data

CAMPUS = Survey.load(EXAMPLES / "campus.toml")
COIN = designs.coin(0.5)


def rows(*groups: tuple[object, int, int]) -> dict[str, Any]:
    """A table from (group, responses 1, responses 0)."""
    return {
        "y": np.concatenate([[1] * yes + [0] * no for _, yes, no in groups]).astype(int),
        "g": np.concatenate([[name] * (yes + no) for name, yes, no in groups]),
    }


# Numbers from elsewhere


def test_reference_two_groups() -> None:
    """RRreg's estimates by group, and its likelihood-ratio test from an optimiser."""
    case = reference_case("two_group_compare_warner")
    known = case["outputs"]["RRuni_by_group"]
    found = compare(reference_data(case), "y", designs.warner(0.8), "grp")
    near = {"abs": 1e-9}
    for number in "01":
        assert found[number].estimate == pytest.approx(known[f"pi{number}"], **near)
        assert found[number].se == pytest.approx(known[f"se{number}"], **near)
    (difference,) = found.differences
    assert (difference.one, difference.other) == ("1", "0")
    assert difference.estimate == pytest.approx(known["diff_derived"], **near)
    assert difference.se == pytest.approx(known["se_diff_derived"], **near)
    ratio, pearson, wald = found.tests
    assert ratio.statistic == pytest.approx(
        case["outputs"]["RRreg_RRlog"]["LRT_deltaG2"]["grp"], abs=5e-3
    )
    assert difference.p == ratio.p
    assert pearson.p == pytest.approx(known["prop_test_on_raw_reports"], **near)
    assert wald.statistic == pytest.approx(known["z_derived"] ** 2, **near)
    assert wald.p == pytest.approx(known["p_two_sided_derived"], **near)


def test_likelihood_ratio_is_that_of_the_responses() -> None:
    """Where every estimate is possible, one channel for all changes no likelihood."""
    data = rows(("a", 40, 60), ("b", 90, 110), ("c", 60, 40))
    found = compare(data, "y", COIN, "g")
    table = [[40, 60], [90, 110], [60, 40]]
    known = chi2_contingency(table, correction=False, lambda_="log-likelihood")
    assert found.tests[0].statistic == pytest.approx(known.statistic, abs=1e-9)
    assert found.tests[0].df == 2


def test_newcombe_1998() -> None:
    """56 of 70 against 48 of 80, method 10: 0.0524 to 0.3339 (his table II)."""
    data = rows(("one", 56, 14), ("other", 48, 32))
    found = compare(data, "y", designs.direct(), "g", reference="other").differences[0]
    assert (found.one, found.other) == ("one", "other")
    assert (found.low, found.high) == (
        pytest.approx(0.0524, abs=5e-5),
        pytest.approx(0.3339, abs=5e-5),
    )


def test_corrections() -> None:
    """R's p.adjust(c(.01, .04, .03, .005)) by its two methods; one p is not known."""
    ps = [0.01, 0.04, np.nan, 0.03, 0.005]
    holm, bonferroni = corrected(ps, "holm"), corrected(ps, "bonferroni")
    np.testing.assert_allclose(holm, [0.03, 0.06, np.nan, 0.06, 0.02])
    np.testing.assert_allclose(bonferroni, [0.04, 0.16, np.nan, 0.12, 0.02])
    np.testing.assert_array_equal(corrected(ps, None), ps)
    assert corrected([0.6, 0.9], "bonferroni") == [1, 1]


def test_interval_of_a_group_is_the_binomial_one() -> None:
    found = compare(rows(("a", 30, 70), ("b", 50, 50)), "y", COIN, "g", level=0.9)["a"]
    known = binomtest(30, 100).proportion_ci(0.9, "wilson")
    np.testing.assert_allclose([found.low, found.high], (np.array(known) - 0.25) / 0.5, atol=1e-12)
    assert found.feasible == pytest.approx((0.3 - 0.25) / 0.5)


# Several arms


def test_a_direct_arm_against_a_randomised_one() -> None:
    """Groups that are arms: only the likelihood can compare them. The constrained maximum
    is found by scipy's bounded search."""
    data = rows(("dq", 168, 332), ("rr", 235, 265)) | {"arm": np.repeat(["dq", "rr"], 500)}
    arms = {"rr": designs.warner(0.8), "dq": designs.direct()}
    found = compare(data, "y", arms, "g", arm="arm")

    def minus(share: float) -> float:
        rates = share, 0.2 + 0.6 * share
        return -sum(
            xlogy(yes, rate) + xlogy(500 - yes, 1 - rate)
            for yes, rate in zip((168, 235), rates, strict=True)
        )

    free = sum(xlogy(c, c / 500) + xlogy(500 - c, 1 - c / 500) for c in (168, 235))
    best = minimize_scalar(minus, bounds=(0, 1), method="bounded", options={"xatol": 1e-10})
    ratio, pearson, _ = found.tests
    assert ratio.statistic == pytest.approx(2 * (free + best.fun), abs=1e-6)
    assert ratio.df == 1
    assert np.isnan(pearson.p) and "no arm" in pearson.flag
    assert (found["dq"].estimate, found["rr"].estimate) == (
        pytest.approx(0.336),
        pytest.approx(0.45),
    )


def test_arms_within_groups() -> None:
    """Each respondent counts with the unbiased value of the own design."""
    rng = np.random.default_rng(5)
    data = pandas.DataFrame(
        {
            "y": rng.integers(0, 2, 400),
            "g": rng.choice(["a", "b"], 400),
            "arm": rng.integers(0, 2, 400),
        }
    )
    found = compare(
        data, "y", {0: designs.warner(0.8), 1: designs.forced(0.2, 0.1)}, "g", arm="arm"
    )
    worth = np.where(data.arm == 0, (data.y - 0.2) / 0.6, (data.y - 0.2) / 0.7)
    for name, values in pandas.Series(worth).groupby(data.g):
        assert found[str(name)].estimate == pytest.approx(values.mean(), abs=1e-12)
        assert found[str(name)].se == pytest.approx(values.std() / np.sqrt(len(values)), abs=1e-12)
    tables = [pandas.crosstab(part.g, part.y) for _, part in data.groupby("arm")]
    known = sum(chi2_contingency(table, correction=False).statistic for table in tables)
    assert found.tests[1].statistic == pytest.approx(known, abs=1e-9)
    assert (found.tests[0].df, found.tests[1].df) == (1, 2)


# Means


@pytest.mark.parametrize("name", ["mood", "income", "hours"])
def test_means_are_those_of_estimate(name: str) -> None:
    sample = simulate(CAMPUS, n=2_000, seed=3)
    found = compare(sample.responses, name, CAMPUS[name], CAMPUS["year"])
    assert found.answer is None
    for code, year in enumerate(CAMPUS["year"].options):
        mine = sample.responses[name][sample.responses["year"] == code]
        counts = np.bincount(mine, minlength=CAMPUS[name].law.responses)
        known = estimate(CAMPUS[name], counts).mean
        group = found[str(year)]
        assert group.n == len(mine)
        assert group.estimate == pytest.approx(known.estimate, rel=1e-6)
        assert group.se == pytest.approx(known.se, rel=1e-3)


def test_mean_of_those_who_say() -> None:
    """With prefer not to say among the answers, the ratio that ``estimate`` gives."""
    scale = question(kind="scale", range=[1, 5], epsilon=2, skip=True)
    rng = np.random.default_rng(8)
    data = {"q": rng.integers(0, scale.law.responses, 600), "g": rng.integers(0, 2, 600)}
    found = compare(data, "q", scale, "g")
    for group in (0, 1):
        counts = np.bincount(data["q"][data["g"] == group], minlength=scale.law.responses)
        known = estimate(scale, counts).mean
        assert found[str(group)].estimate == pytest.approx(known.estimate, rel=1e-9)
        assert found[str(group)].se == pytest.approx(known.se, rel=1e-9)


def test_two_points_tell_the_mean_and_nothing_else() -> None:
    """So the likelihood ratio is about the mean, with one degree of freedom."""
    data = {"income": np.repeat([0, 1, 0, 1], [300, 200, 200, 300]), "g": np.repeat([0, 1], 500)}
    found = compare(data, "income", CAMPUS["income"], "g")
    known = chi2_contingency([[300, 200], [200, 300]], correction=False, lambda_="log-likelihood")
    assert found.tests[0].statistic == pytest.approx(known.statistic, abs=1e-5)
    assert found.tests[0].df == 1
    with pytest.raises(ValueError, match="cannot tell the answers apart"):
        compare(data, "income", CAMPUS["income"], "g", answer="100")


# Missing, empty, alike


def test_missing_is_counted() -> None:
    data = pandas.DataFrame(
        {
            "y": pandas.array([1, 0, None, 1, 0, 1, None, 0], dtype="Int64"),
            "g": ["a", "a", "a", "b", "b", None, None, "b"],
        }
    )
    found = compare(data, "y", COIN, "g")
    assert (found.n, found.missing, found.ungrouped) == (5, 1, 2)
    assert [(group.n, group.missing) for group in found.groups] == [(2, 1), (3, 0)]


def test_not_asked_is_missing() -> None:
    data = {"hall": [0, 1, 2, 1, 0, 2], "g": [0, 0, 0, 1, 1, 1]}
    found = compare(data, "hall", CAMPUS["hall"], "g")
    assert (found.n, found.missing) == (4, 2)


def test_a_group_without_responses_is_listed_and_left_out() -> None:
    data = {"y": [1, 0, 1, 0, np.nan], "g": ["a", "a", "b", "b", "c"]}
    found = compare(data, "y", COIN, "g")
    assert found["c"].n == 0 and np.isnan(found["c"].estimate)
    assert found["c"].flag == "nobody responded: no estimate"
    assert len(found.differences) == 1
    assert found.tests[0].df == 1
    assert np.isnan(compare(data, "y", COIN, "g", mean=True)["c"].estimate)


def test_a_group_of_one() -> None:
    data = {"y": [1, 0, 1, 0, 1], "g": ["a", "a", "a", "a", "b"]}
    found = compare(data, "y", COIN, "g")
    assert np.isnan(found["b"].se) and found["b"].flag == "one response: no standard error"
    assert found["b"].low < 0.5 < found["b"].high
    assert np.isnan(found.differences[0].se)
    assert 0 < found.differences[0].p <= 1
    assert found.tests[2].flag == "no standard error in b"


def test_every_response_alike() -> None:
    found = compare(rows(("a", 0, 30), ("b", 0, 50)), "y", COIN, "g")
    assert found["a"].feasible == 0 and found["a"].flag
    ratio, pearson, wald = found.tests
    assert ratio.statistic == pytest.approx(0, abs=1e-6) and ratio.flag.startswith("at the edge")
    assert np.isnan(pearson.p) and np.isnan(wald.p)


def test_tiny_groups_have_estimates_or_flags() -> None:
    """Two to eight respondents in two arms: no error but the one that says so, no warning."""
    rng = np.random.default_rng(13)
    arms = {0: designs.kuk(0.8, 0.2, 1), 1: designs.direct()}
    for _ in range(60):
        n = rng.integers(2, 9)
        data = {name: rng.integers(0, 2, n) for name in ("y", "g", "arm")}
        if len(set(data["g"])) < 2:
            continue
        for mean in (False, True):
            found = compare(data, "y", arms, "g", arm="arm", mean=mean)
            assert json.loads(found.to_json())["n"] == n
            (difference,) = found.differences
            assert difference.low <= difference.estimate <= difference.high


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"designs": designs.warner(0.5)}, "cannot tell the answers apart"),
        ({"by": "one"}, "at least two groups"),
        ({"by": "gone"}, "at least two groups"),
        ({"by": "nothing"}, "column nothing: has no values"),
        ({"by": "many"}, "group them first"),
        ({"by": "z"}, "column z is missing"),
        ({"by": CAMPUS["cheated"]}, "cheated is protected"),
        ({"answer": "Maybe"}, "has no answer 'Maybe'"),
        ({"answer": "Yes", "mean": True}, "give one of the two only"),
        ({"designs": designs.k_ary(["a", "b", "c"], 0.6)}, "answer: must be one of a, b, c"),
        ({"reference": "c"}, "'c' is not a group"),
        ({"correction": "fdr"}, "correction: must be one of"),
        ({"level": 1}, "level"),
    ],
)
def test_mistakes(change: dict[str, Any], told: str) -> None:
    data = rows(("a", 60, 60), ("b", 60, 60)) | {
        "one": ["x"] * 240,
        "gone": ["x"] * 239 + [None],
        "nothing": [None] * 240,
        "many": range(240),
    }
    asked = {"data": data, "column": "y", "designs": COIN, "by": "g"} | change
    with pytest.raises(ValueError, match=told):
        compare(**asked)


# Repeated surveys


def test_intervals_of_differences_cover() -> None:
    """600 surveys of two groups of 100 and 300, 5 % and 20 % yes, a 3-to-1 coin: 95 % within
    3 standard errors (2.7 points), and half a point more allowed for the edge at 0."""
    rng = np.random.default_rng(11)
    shares = np.repeat([0.05, 0.2], [100, 300])
    data = {"g": np.repeat(["a", "b"], [100, 300])}
    hits = 0
    for _ in range(600):
        truth = rng.random(400) < shares
        data["y"] = np.where(rng.random(400) < 0.5, truth, rng.integers(0, 2, 400))
        (found,) = compare(data, "y", COIN, "g").differences
        hits += found.low <= 0.15 <= found.high
    assert 0.923 <= hits / 600 <= 0.98


def test_several_differences_hold_at_once_and_equal_groups_are_seldom_told_apart() -> None:
    """300 surveys of three equal groups: 5 % of them, within 3 standard errors (3.8 points),
    have a wrong interval, a corrected p below 0.05, or a test below 0.05."""
    rng = np.random.default_rng(12)
    data: dict[str, Any] = {"g": np.repeat(["a", "b", "c"], 200)}
    wrong = np.zeros(3)
    for _ in range(300):
        truth = rng.random(600) < 0.4
        data["y"] = np.where(rng.random(600) < 0.5, truth, rng.integers(0, 2, 600))
        found = compare(data, "y", COIN, "g")
        wrong += [
            any(each.low > 0 or each.high < 0 for each in found.differences),
            any(each.adjusted < 0.05 for each in found.differences),
            found.tests[0].p < 0.05,
        ]
    assert (wrong / 300 <= 0.05 + 0.038).all()
    assert wrong[2] / 300 >= 0.05 - 0.038


# Tables


def test_tables() -> None:
    sample = simulate(CAMPUS, n=500, seed=4)
    found = compare(sample.responses, "cheated", CAMPUS["cheated"], CAMPUS["year"])
    text = str(found)
    assert text.startswith("cheated by year: share of Yes\ngroup")
    assert "p adjusted (Holm)" in text and "n = 500" in text
    frame = found.to_frame()
    assert list(frame["group"]) == ["1", "2", "3", "4+"]
    assert frame["n"].sum() == 500 and set(frame["answer"]) == {"Yes"}
    assert len(found.to_frame("differences")) == 6
    assert found.to_csv(part="tests").startswith("name,statistic,df,p,flag,column,by,answer")
    document = json.loads(found.to_json())
    assert document["groups"][0]["group"] == "1" and len(document["differences"]) == 6
    with pytest.raises(ValueError, match="part: must be one of groups, differences, tests"):
        found.to_frame("rows")
    with pytest.raises(KeyError, match="'5' is not a group of year"):
        found["5"]


def test_reference_group_and_no_correction() -> None:
    data = rows((3, 20, 30), (1, 25, 25), (2, 30, 20))
    found = compare(data, "y", COIN, "g", reference="1", correction=None)
    assert [(each.one, each.other) for each in found.differences] == [("2", "1"), ("3", "1")]
    assert all(each.adjusted == each.p for each in found.differences)
    together = compare(data, "y", COIN, "g", reference="1")
    assert together.differences[0].low < found.differences[0].low
    assert chi2.sf(found.tests[0].statistic, 2) == pytest.approx(found.tests[0].p)
