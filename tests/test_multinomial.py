"""Multinomial regression through a design: beside closed forms and statsmodels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas
import pytest

from analysis import compare_models, designs, logistic, multinomial

from .support import reference, reference_case, reference_data

#: Cases whose unbiased shares are possible, so that they are the likeliest ones too.
INSIDE = [
    case
    for case in reference("univariate_kary")
    if min(case["outputs"]["RRreg_RRuni_moment"]["pi"]) > 0
]


def counted(counts: list[int]) -> dict[str, Any]:
    return {"y": np.repeat(np.arange(len(counts)), counts)}


@pytest.mark.parametrize("case", INSIDE, ids=[case["name"] for case in INSIDE])
def test_shares_of_the_reference(case: Any) -> None:
    """With an intercept only the probabilities are the unbiased shares, and their errors, with
    divisor n instead of n − 1, are theirs."""
    counts = next(value for key, value in case["data"].items() if key.startswith("counts"))
    found = multinomial("y ~ 1", counted(counts), {"y": designs.table(case["channel"]["P"])})
    moment = case["outputs"]["RRreg_RRuni_moment"]
    predicted = found.predict({"y": [0]})
    np.testing.assert_allclose(predicted["estimate"], moment["pi"], rtol=0, atol=1e-9)
    n = sum(counts)
    want = np.array(moment["se_n_minus_1"]) * np.sqrt((n - 1) / n)
    np.testing.assert_allclose(predicted["se"], want, rtol=0, atol=1e-8)
    assert list(predicted["answer"]) == list(found.answers)


def test_plain_answers_give_the_ordinary_regression() -> None:
    """statsmodels 0.15.0: MNLogit(yk, add_constant([z, out])) on the table lin."""
    data = reference_data(reference_case("lin_k3_forced_scored"))
    found = multinomial("yk ~ z + out", data, {"yk": designs.direct(("0", "1", "2"))})
    want = [
        [-0.5620769772210136, 0.06868806921042167, -0.026250494979955026],
        [-0.4269924719844752, 0.008128916339164153, -0.057365189885934774],
    ]
    np.testing.assert_allclose(found.coef, np.ravel(want), rtol=0, atol=1e-9)
    want = [
        [0.3150630204156278, 0.06305799811950223, 0.025886088165126473],
        [0.3396018138799032, 0.06863067705672916, 0.028239155533924906],
    ]
    np.testing.assert_allclose(found.se, np.ravel(want), rtol=0, atol=1e-9)
    assert found.loglik == pytest.approx(-1600.0521020668727, abs=1e-9)


def test_two_answers_are_logistic() -> None:
    case = reference_case("logit_forced_asym")
    data, design = reference_data(case), {"y": designs.table(case["channel"]["P"])}
    both = multinomial("y ~ x1 + x2 + g", data, design)
    one = logistic("y ~ x1 + x2 + g", data, design)
    np.testing.assert_allclose(both.coef, one.coef, rtol=0, atol=1e-9)
    np.testing.assert_allclose(both.covariance, one.covariance, rtol=1e-7)
    assert both.names[1] == ("Yes", "x1")
    yes = both.predict(data.head(3)).query("answer == 'Yes'")
    for name in ("estimate", "se", "low", "high"):
        np.testing.assert_allclose(yes[name], one.predict(data.head(3))[name], atol=1e-9)


def people(seed: int, n: int) -> pandas.DataFrame:
    """Three answers that depend on x and a group, sent by a k-ary law with chance 0.7."""
    random = np.random.default_rng(seed)
    x, g = random.normal(size=n), random.choice(["a", "b"], n)
    logits = np.column_stack([np.zeros(n), 0.3 + 0.8 * x, -0.5 - 0.5 * x + (g == "b")])
    shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    true = (random.random(n)[:, None] > shares.cumsum(axis=1)).sum(axis=1)
    other = (true + random.integers(1, 3, n)) % 3
    return pandas.DataFrame({"y": np.where(random.random(n) < 0.7, true, other), "x": x, "g": g})


DESIGN = {"y": designs.k_ary(("None", "Cannabis", "Other"), 0.7)}


def test_true_coefficients_are_found() -> None:
    """Within 4 standard errors of what made the responses."""
    found = multinomial("y ~ x + g", people(1, 20_000), DESIGN)
    truth = [0.3, 0.8, 0.0, -0.5, -0.5, 1.0]
    assert (np.abs(found.coef - truth) < 4 * found.se).all()
    assert found["Other", "g[T.b]"].part == "Other"


def test_groups_have_a_closed_form() -> None:
    data = people(2, 3_000)
    found = multinomial("y ~ g", data, DESIGN)
    for group in ("a", "b"):
        counts = np.bincount(data.loc[data["g"] == group, "y"], minlength=3)
        want = DESIGN["y"].inverse @ counts / counts.sum()
        assert want.min() > 0
        predicted = found.predict({"g": [group]})
        np.testing.assert_allclose(predicted["estimate"], want, rtol=0, atol=1e-9)


def test_another_reference_answer() -> None:
    data = people(3, 2_000)
    found = multinomial("y ~ x", data, DESIGN)
    other = multinomial("y ~ x", data, DESIGN, reference="Other")
    assert other.answers == ("Other", "None", "Cannabis")
    assert other.loglik == pytest.approx(found.loglik, abs=1e-9)
    np.testing.assert_allclose(other.coef[:2], -found.coef[2:], rtol=0, atol=1e-7)
    low, high = found.profile(("Cannabis", "x"))
    assert low < found["Cannabis", "x"].estimate < high


def test_tests_of_terms_are_those_of_smaller_fits() -> None:
    data = people(4, 2_000)
    larger, smaller = (multinomial(f"y ~ {terms}", data, DESIGN) for terms in ("x + g", "x"))
    ratio = compare_models(smaller, larger)
    assert ratio.df == 2
    assert ratio.statistic == pytest.approx(larger.test("g").statistic, abs=1e-6)
    both = larger.test("x", "g")
    assert both.df == 4
    assert both.statistic == pytest.approx(
        compare_models(multinomial("y ~ 1", data, DESIGN), larger).statistic, abs=1e-6
    )


def test_odds_ratios_by_answer() -> None:
    found = multinomial("y ~ x", people(5, 2_000), DESIGN)
    ratios = found.odds_ratios(level=0.9)
    np.testing.assert_allclose(ratios["odds_ratio"], np.exp(found.coef))
    np.testing.assert_allclose(ratios["low"], np.exp(found.intervals(0.9)[0]))
    assert list(ratios["part"]) == ["Cannabis", "Cannabis", "Other", "Other"]


def test_a_plain_outcome_by_its_names() -> None:
    """Its answers are in order of their names; the predictor is protected."""
    data = people(6, 2_000)
    data["liked"] = np.where(data["x"] > 0.5, "tea", np.where(data["x"] < -0.5, "beer", "milk"))
    found = multinomial("liked ~ C(y)", data, DESIGN, given="1")
    assert found.answers == ("beer", "milk", "tea")
    assert ("tea", "C(y)[T.Other]") in found.names


def test_an_answer_that_nobody_gives_is_told() -> None:
    """Fewer name it than the noise alone would."""
    found = multinomial("y ~ 1", counted([600, 300, 100]), DESIGN)
    assert "Other: Intercept to −∞" in found.flags[0]


def test_mistakes() -> None:
    data = people(7, 50)
    with pytest.raises(ValueError, match="has no answer 'Tea'"):
        multinomial("y ~ x", data, DESIGN, reference="Tea")
    with pytest.raises(ValueError, match="every response is the same"):
        multinomial("y ~ x", data.assign(y=1), DESIGN)
    with pytest.raises(ValueError, match="a category was not seen"):
        multinomial("y ~ g", people(8, 300), DESIGN).predict({"g": ["z"]})
