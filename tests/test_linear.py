"""Linear regression: least squares of unbiased values, and protected predictors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas
import pytest

from analysis import designs, estimate, linear
from analysis.designs import design
from analysis.linear import response_values
from respondent import Survey

from .support import EXAMPLES, reference, reference_case, reference_data

CAMPUS = Survey.load(EXAMPLES / "campus.toml")
LIN = reference_data(reference_case("lin_warner_plus_covariate"))


# A protected number


@pytest.mark.parametrize("name", ["cheated", "copied", "mood", "income", "debt", "hours"])
def test_responses_are_worth_the_answer_on_average(name: str) -> None:
    found = design(CAMPUS[name])
    mean = found.channel.T @ response_values(found)
    np.testing.assert_allclose(mean, found.scores, rtol=0, atol=1e-6 * np.ptp(found.scores))


def test_least_squares_with_robust_errors() -> None:
    """statsmodels 0.15.0: ols('s ~ z + out').fit(cov_type='HC1') with s = (ya − 0.2)/0.6."""
    found = linear("ya ~ z + out", LIN, {"ya": designs.warner(0.8)})
    want = [0.2067968492313521, -0.009405975572550625, 0.06858481917675056]
    np.testing.assert_allclose(found.coef, want, rtol=0, atol=1e-9)
    want = [0.10839335387407463, 0.022141074222819676, 0.008904982097989081]
    np.testing.assert_allclose(found.se, want, rtol=0, atol=1e-9)
    assert found.sigma == pytest.approx(0.8145918674542656, abs=1e-9)
    # wls(weights = yk + 1).fit(cov_type='HC1')
    weighted = linear(
        "ya ~ z + out", LIN.assign(w=LIN.yk + 1), {"ya": designs.warner(0.8)}, weights="w"
    )
    want = [0.22726823201600735, -0.013775797745885944, 0.06511588313370997]
    np.testing.assert_allclose(weighted.coef, want, rtol=0, atol=1e-9)
    want = [0.11940292280520182, 0.024172614418015295, 0.009806169938898839]
    np.testing.assert_allclose(weighted.se, want, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", ["income", "mood"])
def test_the_mean_is_that_of_the_estimate(name: str) -> None:
    question = CAMPUS[name]
    random = np.random.default_rng(5)
    codes = random.integers(0, question.law.responses, 400)
    found = linear(f"{name} ~ 1", {name: codes}, {name: question})
    counts = {code: int((codes == code).sum()) for code in range(question.law.responses)}
    result = estimate(question, counts)
    mean = result.mean if name == "income" else result.summary()[0]
    assert found.coef[0] == pytest.approx(mean.estimate, rel=1e-9)
    assert found.se[0] == pytest.approx(mean.se, rel=1e-3)


def test_a_true_slope_is_found() -> None:
    """Within 4 standard errors: true incomes rise by 1,000 with x, all that is seen is a coin."""
    question, random = CAMPUS["income"], np.random.default_rng(6)
    x = random.uniform(-1, 1, 20_000)
    true = np.rint((5_000 + 1_000 * x + random.normal(size=len(x)) * 800).clip(0, 10_000) / 100)
    high = design(question).channel[1][true.astype(int)]
    data = {"income": (random.random(len(x)) < high).astype(int), "x": x}
    found = linear("income ~ x", data, {"income": question})
    assert abs(found["x"].estimate - 1_000) < 4 * found["x"].se
    assert abs(found["Intercept"].estimate - 5_000) < 4 * found["Intercept"].se
    predicted = found.predict({"x": [0.5]})
    assert predicted["estimate"][0] == pytest.approx(found.coef @ [1, 0.5])
    assert predicted["low"][0] < 5_500 < predicted["high"][0]


def test_least_squares_has_no_likelihood() -> None:
    found = linear("ya ~ z", LIN, {"ya": designs.warner(0.8)})
    assert np.isnan(found.loglik)
    for call in (found.tests, found.profiles, lambda: found.test("z")):
        with pytest.raises(ValueError, match="least squares has no likelihood"):
            call()
    assert "Log-likelihood" not in str(found)


# Protected predictors


@pytest.mark.parametrize(
    "case", reference("linear_rr_predictor"), ids=lambda case: str(case["name"])
)
def test_rrlin(case: Any) -> None:
    """RRlin's optimiser stops a little short: our likelihood is never below its."""
    formula, outputs = case["data"]["formula"], case["outputs"]
    column = formula.split()[2]
    found = linear(formula, LIN, {column: designs.table(case["channel"]["P"][0])}, given="1")
    assert not found.flags
    np.testing.assert_allclose(found.coef[:3], list(outputs["beta"].values()), rtol=1e-3)
    np.testing.assert_allclose(found.se[:3], list(outputs["se"].values()), rtol=1e-3)
    assert found.sigma == pytest.approx(outputs["sigma"], abs=1e-3)
    assert outputs["logLik"] <= found.loglik + 1e-8 and found.loglik < outputs["logLik"] + 1e-3
    logits = np.concatenate([[0], found.coef[4:]])
    shares = np.exp(logits) / np.exp(logits).sum()
    np.testing.assert_allclose(shares, list(outputs["pi"].values()), rtol=0, atol=1e-3)


def test_rrlin_published() -> None:
    """Heck & Moshagen (2018), section 4.4: the stochastic lie detector with two groups. RRlin
    takes the share of honest carriers, t, from the responses alone; carriers say yes with
    chance t, others with 1 − p of their group."""
    case = reference_case("published_minarets_RRlin")
    honest = reference_case("published_minarets_SLD_RRuni")["outputs"]["t"]
    arms = {
        group: designs.table([[p, 1 - honest], [1 - p, honest]], name="SLD")
        for group, p in zip((1, 2), case["design"]["RRreg_p"], strict=True)
    }
    data = reference_data(case).query("RRdesign == 1")
    found = linear(
        "leftRight ~ rrt + age", data, {"rrt": arms}, arms={"rrt": "condition"}, given="1"
    )
    outputs = case["outputs"]
    np.testing.assert_allclose(
        found.coef[:3], [each["estimate"] for each in outputs["coef"]], rtol=0, atol=1e-3
    )
    np.testing.assert_allclose(
        found.se[:3], [each["se"] for each in outputs["coef"]], rtol=0, atol=1e-3
    )
    assert found.sigma == pytest.approx(outputs["sigma"], abs=1e-3)
    assert found.loglik == pytest.approx(outputs["logLik"], abs=1e-3)
    printed = np.array(case["published"]["coef"])
    np.testing.assert_allclose(found.coef[:3], printed[:, 0], rtol=0, atol=6e-5)
    np.testing.assert_allclose(found.se[:3], printed[:, 1], rtol=0, atol=6e-5)


def test_a_predictor_without_noise_gives_ordinary_least_squares() -> None:
    """statsmodels 0.15.0: ols('out ~ ya*z'); the likeliest σ has divisor n."""
    found = linear("out ~ ya*z", LIN, {"ya": designs.direct()}, given="1")
    want = [0.6114074363521953, 1.3399116156479638, 0.563056597868857, -0.08835979076946796]
    np.testing.assert_allclose(found.coef[:4], want, rtol=0, atol=1e-8)
    assert found.sigma == pytest.approx(2.2815254770987874, abs=1e-9)
    share = LIN.ya.mean()
    of_answers = len(LIN) * (share * np.log(share) + (1 - share) * np.log1p(-share))
    assert found.loglik == pytest.approx(-3365.6742320207813 + of_answers, abs=1e-8)


def test_two_protected_predictors_and_an_interaction() -> None:
    """Within 4 standard errors of what made the data; the answers depend on each other."""
    random = np.random.default_rng(11)
    n = 6_000
    z = random.normal(size=n)
    one = (random.random(n) < 0.4).astype(int)
    two = (random.random(n) < np.where(one == 1, 0.7, 0.2)).astype(int)
    y = 1 + 2 * one - 1.5 * two + 0.5 * z + 0.8 * one * z + random.normal(size=n)
    data = {
        "y": y,
        "z": z,
        "one": np.where(random.random(n) < 0.8, one, 1 - one),
        "two": np.where(random.random(n) < 0.85, two, 1 - two),
    }
    design = {"one": designs.warner(0.8), "two": designs.warner(0.85)}
    found = linear("y ~ one*z + two", data, design, given="1")
    truth = {"Intercept": 1, "one": 2, "z": 0.5, "two": -1.5, "one:z": 0.8}
    for name, value in truth.items():
        assert abs(found[name].estimate - value) < 4 * found[name].se, name
    assert ("one = Yes, two = Yes", "Intercept") in found.names
    assert found.test("one:z").p < 1e-6
    predicted = found.predict(pandas.DataFrame({"one": [1], "two": [0], "z": [1.0]}))
    assert predicted["estimate"][0] == pytest.approx(4.3, abs=4 * predicted["se"][0])
    with pytest.raises(ValueError, match="data: must be given"):
        found.predict()


@pytest.mark.parametrize(
    ("formula", "told"),
    [
        ("ya ~ yb", "ya and yb are both protected"),
        ("name ~ ya", "column name: must have numbers"),
        ("always ~ ya", "column always: every response is the same"),
        ("np.log(out) ~ ya", r"np.log\(out\): must have finite numbers"),
        ("out ~ skipped", "'Prefer not to say' has no number; write C"),
        ("skipped ~ z", "an answer without a number has no mean"),
    ],
)
def test_mistakes(formula: str, told: str) -> None:
    data = LIN.assign(name="a", always=1.0, skipped=0)
    skipped = designs.design(CAMPUS["drug"])
    protected = {"ya": designs.warner(0.8), "yb": designs.warner(0.8), "skipped": skipped}
    with pytest.raises(ValueError, match=told):
        linear(formula, data, protected)


def test_odds_that_do_not_tell_the_mean() -> None:
    with pytest.raises(ValueError, match="do not tell the mean"):
        response_values(designs.table([[0.5, 0.3, 0.5], [0.5, 0.7, 0.5]]))
