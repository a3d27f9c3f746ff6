"""Logistic regression through a design: beside R packages, closed forms and statsmodels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import expit, logit

from analysis import Logistic, designs, logistic
from analysis.designs import Design
from respondent import Survey

from .support import EXAMPLES, reference, reference_case, reference_data

CASES = reference("logistic_rr_outcome")
NAMES = [case["name"] for case in CASES]


def fitted(case: Any) -> Logistic:
    design = designs.table(case["channel"]["P"])
    return logistic(case["data"]["formula"], reference_data(case), {"y": design})


def values(table: dict[str, float]) -> list[float]:
    return list(table.values())


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_coefficients_of_the_r_packages(case: Any) -> None:
    found, outputs = fitted(case), case["outputs"]
    assert not found.flags
    glmmrr = outputs["GLMMRR_RRglm"]
    np.testing.assert_allclose(found.coef, values(glmmrr["coef"]), rtol=0, atol=2e-5)
    assert found.loglik == pytest.approx(glmmrr["logLik"], abs=1e-6)
    assert found.aic == pytest.approx(glmmrr["AIC"], abs=1e-6)
    rrlog = outputs["RRreg_RRlog"]
    np.testing.assert_allclose(found.coef, values(rrlog["coef"]), rtol=0, atol=5e-3)
    np.testing.assert_allclose(found.se, values(rrlog["se_observed_hessian"]), rtol=0, atol=5e-3)
    low, high = found.intervals()
    np.testing.assert_allclose(np.column_stack([low, high]), rrlog["wald_ci95"], rtol=0, atol=5e-3)
    if "rr_rrreg" in outputs:
        rr = outputs["rr_rrreg"]
        np.testing.assert_allclose(found.coef, values(rr["coef"]), rtol=0, atol=2e-3)
        np.testing.assert_allclose(found.se, values(rr["se_hessian_optimTRUE"]), rtol=0, atol=2e-3)
        mean = found.predict()["estimate"].mean()
        assert mean == pytest.approx(rr["mean_predicted_pi"], abs=2e-3)


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_other_errors_of_the_r_packages(case: Any) -> None:
    """rr's default are outer products of scores, GLMMRR's the expected information."""
    found = fitted(case)
    assert found.model is not None
    if "rr_rrreg" in case["outputs"]:
        scores = found.model.scores(found.coef)
        outer = np.sqrt(np.diag(np.linalg.inv(scores.T @ scores)))
        want = values(case["outputs"]["rr_rrreg"]["se_opg"])
        np.testing.assert_allclose(outer, want, rtol=0, atol=2e-3)
    x, (no, yes) = found.frame.matrix.values[0], case["channel"]["P"][1]
    share = expit(x @ found.coef)
    rate = no + (yes - no) * share
    weight = ((yes - no) * share * (1 - share)) ** 2 / (rate * (1 - rate))
    expected = np.sqrt(np.diag(np.linalg.inv((x.T * weight) @ x)))
    want = values(case["outputs"]["GLMMRR_RRglm"]["se_expected_fisher"])
    np.testing.assert_allclose(expected, want, rtol=0, atol=2e-5)


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_likelihood_ratios_profiles_and_predictions(case: Any) -> None:
    found, outputs = fitted(case), case["outputs"]
    tests = found.tests()
    rrlog = outputs["RRreg_RRlog"]
    np.testing.assert_allclose(tests["statistic"], values(rrlog["LRT_deltaG2"]), atol=5e-3)
    np.testing.assert_allclose(tests["p"], values(rrlog["LRT_p"]), rtol=5e-3)
    assert (tests["df"] == 1).all()
    # R interpolates its profiles, here to about 3e-5.
    profiles = found.profiles()[["low", "high"]]
    np.testing.assert_allclose(profiles, outputs["GLMMRR_profile_ci95"], rtol=0, atol=1e-4)
    attribute = outputs["RRreg_predict_attribute"]
    predicted = found.predict(pandas.DataFrame(attribute["newdata"]))
    for ours, theirs in [
        ("estimate", "predict"),
        ("se", "se_delta"),
        ("low", "ci_lower"),
        ("high", "ci_upper"),
    ]:
        np.testing.assert_allclose(predicted[ours], attribute[theirs], rtol=0, atol=5e-3)


def test_two_groups_have_a_closed_form() -> None:
    case = reference_case("two_group_compare_warner")
    found, moments = fitted(case), case["outputs"]["RRuni_by_group"]
    want = [logit(moments["pi0"]), logit(moments["pi1"]) - logit(moments["pi0"])]
    np.testing.assert_allclose(found.coef, want, rtol=0, atol=1e-9)
    predicted = found.predict({"grp": [0, 1]})
    np.testing.assert_allclose(
        predicted["estimate"], [moments["pi0"], moments["pi1"]], rtol=0, atol=1e-9
    )
    # Their divisor is n − 1, that of a likelihood n.
    sizes = np.array([case["data"]["counts"][f"group{each}"]["n"] for each in (0, 1)])
    want = np.array([moments["se0"], moments["se1"]]) * np.sqrt((sizes - 1) / sizes)
    np.testing.assert_allclose(predicted["se"], want, rtol=0, atol=1e-9)


def test_a_single_share() -> None:
    case = reference_case("crosswise_p0.25_partial_plagiarism")
    no, yes = case["data"]["counts_report_0_1"]
    found = logistic("y ~ 1", {"y": [0] * no + [1] * yes}, {"y": designs.crosswise(0.25)})
    glm = case["outputs"]["GLMMRR_RRglm_intercept"]
    assert found["Intercept"].estimate == pytest.approx(glm["logit"], abs=1e-9)
    assert found["Intercept"].se == pytest.approx(glm["se_logit"], abs=1e-7)
    assert -2 * found.loglik == pytest.approx(glm["deviance"], abs=1e-9)
    ends = expit(found.profile("Intercept"))
    # Exact by likelihood ratio; GLMMRR's own profile is interpolated.
    np.testing.assert_allclose(ends, case["outputs"]["ci95_pi_unclipped"]["lik"], rtol=0, atol=1e-5)


def test_a_direct_question_is_the_ordinary_regression() -> None:
    """statsmodels 0.15.0: smf.logit('rrt ~ leftRight + age', minarets[condition == 0])."""
    data = reference_data(reference_case("published_minarets_SLD_RRuni"))
    asked = data[data.condition == 0]
    found = logistic("rrt ~ leftRight + age", asked, {"rrt": designs.direct()})
    want = [-0.4184865532623926, 0.3790278995415291, 0.013256855675845452]
    np.testing.assert_allclose(found.coef, want, rtol=0, atol=1e-9)
    want = [0.39252408769166613, 0.06451778671934255, 0.0158182249280175]
    np.testing.assert_allclose(found.se, want, rtol=0, atol=1e-9)
    assert found.loglik == pytest.approx(-228.3304283777739, abs=1e-9)
    assert found.aic == pytest.approx(462.6608567555478, abs=1e-9)
    assert found.bic == pytest.approx(474.36054881629525, abs=1e-9)
    robust = logistic(
        "rrt ~ leftRight + age", asked, {"rrt": designs.direct()}, covariance="sandwich"
    )
    # fit(cov_type="HC0")
    want = [0.4063763802644695, 0.06635055750566042, 0.01656637562710157]
    np.testing.assert_allclose(robust.se, want, rtol=0, atol=1e-9)


def test_arms_with_a_design_each() -> None:
    """Direct questions and Warner's: with a coefficient for the arm each share is its own."""
    data = {"y": [1] * 168 + [0] * 332 + [1] * 235 + [0] * 265, "arm": ["dq"] * 500 + ["rr"] * 500}
    arms = {"dq": designs.direct(), "rr": designs.warner(0.8)}
    found = logistic("y ~ arm", data, {"y": arms}, arms={"y": "arm"})
    shares = found.predict({"arm": ["dq", "rr"]})["estimate"]
    np.testing.assert_allclose(shares, [168 / 500, (235 / 500 - 0.2) / 0.6], rtol=0, atol=1e-9)

    def value(share: float) -> float:
        rate = 0.2 + 0.6 * share
        return -(
            168 * np.log(share)
            + 332 * np.log1p(-share)
            + 235 * np.log(rate)
            + 265 * np.log1p(-rate)
        )

    best = minimize_scalar(value, bounds=(0.01, 0.99), method="bounded", options={"xatol": 1e-12})
    rates = np.array([0.336, 0.47])
    apart = float(500 * (rates @ np.log(rates) + (1 - rates) @ np.log1p(-rates)))
    assert found.test("arm").statistic == pytest.approx(2 * (apart + best.fun), abs=1e-6)


def test_a_question_of_a_survey() -> None:
    """Its first answer is Yes, and so is its response 0."""
    question = Survey.load(EXAMPLES / "campus.toml")["cheated"]
    responses = [0] * 430 + [1] * 570
    found = logistic("cheated ~ 1", {"cheated": responses}, {"cheated": question})
    assert found.outcome == "cheated = Yes"
    assert found.predict({"cheated": [0]})["estimate"][0] == pytest.approx(0.36, abs=1e-9)
    no = logistic("cheated ~ 1", {"cheated": responses}, {"cheated": question}, answer="No")
    np.testing.assert_allclose(no.coef, -found.coef, atol=1e-9)


def test_more_responses_than_answers() -> None:
    """Kuk's cards drawn five times: the likelihood of a share on a fine grid."""
    design = designs.kuk(0.7, 0.3, 5)
    counts = np.array([60, 130, 190, 200, 150, 70])
    data = {"reds": np.repeat(np.arange(6), counts)}
    found = logistic("reds ~ 1", data, {"reds": design})
    best = minimize_scalar(
        lambda share: -counts @ np.log(design.channel @ [1 - share, share]),
        bounds=(0.01, 0.99),
        method="bounded",
        options={"xatol": 1e-12},
    )
    assert expit(found.coef[0]) == pytest.approx(best.x, abs=1e-6)
    assert found.loglik == pytest.approx(-best.fun, abs=1e-9)


# The highest top


def two_tops(seed: int) -> tuple[pandas.DataFrame, Design]:
    """Most respondents say that the slope is up; those far out say down."""
    random = np.random.default_rng(seed)
    x = np.concatenate([random.normal(size=90), random.normal(size=10) * 8])
    true = random.random(100) < expit(np.where(np.arange(100) < 90, 2 * x, -x))
    responses = np.where(random.random(100) < 0.8, true, ~true).astype(int)
    return pandas.DataFrame({"y": responses, "x": x}), designs.warner(0.8)


@pytest.mark.parametrize("seed", range(8))
def test_the_highest_of_several_tops(seed: int) -> None:
    """Every slope and intercept on a grid, the best of them made better: none is higher."""
    data, design = two_tops(seed)
    x, y = data["x"].to_numpy(), data["y"].to_numpy()
    chances = design.channel[y]

    def heights(intercepts: np.ndarray, slopes: np.ndarray) -> np.ndarray:
        shares = expit(intercepts[:, None, None] + slopes[None, :, None] * x)
        return np.log(chances[:, 0] * (1 - shares) + chances[:, 1] * shares).sum(axis=-1)

    slopes = np.concatenate([-np.geomspace(0.01, 60, 150), [0], np.geomspace(0.01, 60, 150)])
    grid = heights(np.linspace(-6, 6, 61), slopes)
    alone = heights(np.array([0.0]), slopes)[0]
    found = logistic("y ~ x", data, {"y": design})
    assert found.loglik >= grid.max() - 1e-3
    through_zero = logistic("y ~ 0 + x", data, {"y": design})
    assert through_zero.loglik >= alone.max() - 1e-3
    # The test of the intercept rests on the highest top of both.
    assert found.test("Intercept").statistic == pytest.approx(
        2 * (found.loglik - through_zero.loglik), abs=1e-4
    )


def test_several_tops_are_there_and_told() -> None:
    """The grid of the test above does have two tops for some of its data."""
    told = [
        logistic("y ~ 0 + x", data, {"y": design}).flags for data, design in map(two_tops, range(8))
    ]
    assert any("several tops" in flag for flags in told for flag in flags)


# Estimates at infinity


def test_a_group_below_the_possible() -> None:
    """In group b fewer say yes than the coin alone would make: its share is 0."""
    data = pandas.DataFrame(
        {
            "y": [1] * 80 + [0] * 120 + [1] * 20 + [0] * 180 + [1] * 90 + [0] * 110,
            "g": ["a"] * 200 + ["b"] * 200 + ["c"] * 200,
        }
    )
    found = logistic("y ~ g", data, {"y": designs.warner(0.8)})
    assert len(found.flags) == 1 and "separation" in found.flags[0]
    assert "g[T.b] to −∞" in found.flags[0] and "g[T.c]" not in found.flags[0]
    assert np.isfinite(found.coef).all()
    assert "Note: separation" in str(found)
    # The others are not harmed.
    assert found["Intercept"].estimate == pytest.approx(logit((0.4 - 0.2) / 0.6), abs=1e-6)
    assert found["g[T.c]"].estimate == pytest.approx(logit(0.25 / 0.6) - logit(0.2 / 0.6), abs=1e-6)
    low, high = found.profile("g[T.b]")
    assert low == -np.inf and -5 < high < 0
    # All three tops of the likelihood are known: the rates of a and c, and 0.2 for b.
    best = [80 * np.log(0.4) + 120 * np.log(0.6), 90 * np.log(0.45) + 110 * np.log(0.55)]
    assert found.loglik == pytest.approx(sum(best) + 20 * np.log(0.2) + 180 * np.log(0.8), abs=1e-6)


def test_complete_separation() -> None:
    x = np.linspace(-2, 2, 40)
    found = logistic("y ~ x", {"y": (x > 0).astype(int), "x": x}, {"y": designs.direct()})
    assert "separation" in found.flags[0] and "x to +∞" in found.flags[0]
    assert np.isfinite(found.coef).all()
    assert found.profile("x")[1] == np.inf


# Weights, intervals, coverage


def test_weights_weigh() -> None:
    """Whole-number weights give the coefficients of rows repeated as often."""
    case = reference_case("logit_warner_0.8")
    data = reference_data(case).head(400)
    data["often"] = 1 + np.arange(400) % 3
    design = {"y": designs.warner(0.8)}
    found = logistic("y ~ x1 + g", data, design, weights="often")
    repeated = data.loc[data.index.repeat(data["often"])]
    np.testing.assert_allclose(
        found.coef, logistic("y ~ x1 + g", repeated, design).coef, rtol=0, atol=1e-7
    )
    # Binder's (1983) linearisation, written out.
    assert found.model is not None and found.top is not None
    bread = np.linalg.inv(found.top.slopes.information)
    weights = data["often"].to_numpy() / data["often"].mean()
    scores = found.model.scores(found.coef) * weights[:, None]
    np.testing.assert_allclose(found.covariance, bread @ scores.T @ scores @ bread, rtol=1e-9)
    assert found.errors == "sandwich"
    with pytest.raises(ValueError, match="weights: likelihoods"):
        found.tests()


def test_coverage_of_a_slope() -> None:
    """2,000 surveys: nominal 95 % intervals hold the true slope in 93.5 to 96.5 % of them
    (3 standard errors)."""
    random = np.random.default_rng(2007)
    design = {"y": designs.warner(0.8)}
    held = 0
    for _ in range(2000):
        x = random.normal(size=1000)
        true = random.random(1000) < expit(-0.5 + 0.8 * x)
        responses = np.where(random.random(1000) < 0.8, true, ~true).astype(int)
        low, high = logistic("y ~ x", {"y": responses, "x": x}, design).intervals()
        held += low[1] <= 0.8 <= high[1]
    assert 0.935 <= held / 2000 <= 0.965


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"formula": "y ~ z"}, "column z is missing"),
        ({"formula": "y ~ x + double"}, "double: is a combination of Intercept, x"),
        ({"formula": "y ~ g"}, r"g\[T.c\]: is 0 for every respondent"),
        ({"formula": "y ~ np.log(x)"}, r"np.log\(x\): must have finite numbers"),
        ({"formula": "x ~ y"}, "column x: must be 0 or 1"),
        ({"formula": "always ~ y"}, "column always: every response is the same"),
        ({"formula": "y"}, "formula: must have one outcome"),
        ({"formula": "y ~ x +"}, "formula: Operator"),
        ({"formula": "x ~ double"}, "designs: none of them"),
        ({"designs": {"y": designs.warner(0.5)}}, "column y: these odds cannot tell"),
        ({"designs": {"y": designs.k_ary(3, 0.6)}}, "has 3 answers; use multinomial"),
        (
            {"formula": "always ~ x", "designs": {"always": designs.warner(0.8)}},
            "column always: every response is the same",
        ),
        ({"weights": "negative"}, "column negative: weights must be above zero"),
        ({"weights": "zero"}, "column zero: weights must be above zero"),
        ({"answer": "Maybe"}, "has no answer 'Maybe'"),
        ({"covariance": "magic"}, "covariance: must be"),
        ({"level": 95}, "level: must be between"),
        ({"formula": "y ~ gone"}, "no respondent has a value in every column"),
    ],
)
def test_mistakes(change: dict[str, Any], told: str) -> None:
    x = np.linspace(-1, 1, 20)
    data = pandas.DataFrame({"y": [0, 1] * 10, "x": x, "double": 2 * x + 1, "always": 1})
    data["g"] = pandas.Categorical(["a", "b"] * 10, categories=["a", "b", "c"])
    data["negative"], data["zero"], data["gone"] = -1.0, 0.0, np.nan
    arguments = {"formula": "y ~ x", "data": data, "designs": {"y": designs.warner(0.8)}}
    with pytest.raises(ValueError, match=told):
        logistic(**(arguments | change))


def test_the_highest_top_where_another_package_stops_below() -> None:
    """Stochastic lie detector on the minarets data, its chance t of a true yes estimated too.

    RRreg prints a likelihood ratio of 15.96 for leftRight_c: its smaller model stops at a lower
    top. The maxima give 12.6147.
    """
    data = reference_data(reference_case("published_minarets_SLD_RRuni"))
    data = data[data["RRdesign"] == 1]
    groups = sorted(data["condition"].unique())

    def worst(t: float, formula: str) -> float:
        arms = {
            group: designs.table([[p, 1 - t], [1 - p, t]])
            for group, p in zip(groups, (2 / 12, 10 / 12), strict=True)
        }
        return -logistic(formula, data, {"rrt": arms}, arms={"rrt": "condition"}).loglik

    def highest(formula: str) -> float:
        found = minimize_scalar(
            worst, args=(formula,), bounds=(0.5, 0.8), method="bounded", options={"xatol": 1e-6}
        )
        return -float(found.fun)

    larger = highest("rrt ~ leftRight_c * age_c")
    smaller = highest("rrt ~ age_c + leftRight_c:age_c")
    assert 2 * (larger - smaller) == pytest.approx(12.6147, abs=1e-3)
