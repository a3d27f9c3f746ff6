"""What regressions share: their tables, tests and files."""

from __future__ import annotations

import csv
import io
import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import chi2, norm

from analysis import Logistic, compare_models, designs, linear, logistic
from analysis.channel import Floats

from .support import reference_case, reference_data

DATA = reference_data(reference_case("logit_warner_0.8"))
DESIGN = {"y": designs.warner(0.8)}


@pytest.fixture(scope="module")
def found() -> Logistic:
    return logistic("y ~ x1 + x2 + g", DATA, DESIGN)


#: Laid out as statsmodels' summary; the numbers are those of the reference, rounded.
TABLE = """\
                     Logistic regression
==============================================================
Formula:  y ~ x1 + x2 + g
Outcome:  y = Yes                 Respondents:            1500
Design:   y, warner               Missing, dropped:          0
Errors:   observed information    Log-likelihood:    -984.7828
                                  AIC:                1977.566
                                  BIC:                1998.818
==============================================================
              coef  std err       z  P>|z|  [0.025  0.975]
--------------------------------------------------------------
Intercept  -0.6133    0.146  -4.211  0.000  -0.899  -0.328
x1          0.7342    0.120   6.143  0.000   0.500   0.968
x2         -0.4014    0.076  -5.290  0.000  -0.550  -0.253
g           0.8771    0.206   4.251  0.000   0.473   1.281
=============================================================="""


def test_the_table(found: Logistic) -> None:
    assert str(found) == found.summary() == TABLE


def test_coefficients_by_name(found: Logistic) -> None:
    x1 = found["x1"]
    assert (x1.part, x1.term) == ("", "x1")
    assert x1.z == x1.estimate / x1.se
    assert x1.p == pytest.approx(2 * norm.sf(abs(x1.z)))
    assert x1.high - x1.estimate == pytest.approx(1.959964 * x1.se, abs=1e-6)
    assert found.coefficients(0.9)[1].high < x1.high
    with pytest.raises(ValueError, match="x9: is no coefficient"):
        found["x9"]


def test_frames_and_files(found: Logistic, tmp_path: Path) -> None:
    frame = found.to_frame()
    assert list(frame["term"]) == ["Intercept", "x1", "x2", "g"]
    np.testing.assert_allclose(frame["estimate"], found.coef)
    text = found.to_csv(tmp_path / "coefficients.csv")
    assert (tmp_path / "coefficients.csv").read_text() == text
    rows = list(csv.DictReader(io.StringIO(text)))
    assert float(rows[3]["estimate"]) == found["g"].estimate
    assert rows[0]["formula"] == "y ~ x1 + x2 + g" and rows[0]["n"] == "1500"
    document = json.loads(found.to_json(tmp_path / "coefficients.json"))
    assert document["coefficients"][1]["term"] == "x1"
    assert document["designs"] == "y, warner" and document["errors"] == "observed information"


def test_numbers_that_are_not_finite_are_empty_in_json() -> None:
    least_squares = linear("y ~ x1", DATA, DESIGN)
    assert json.loads(least_squares.to_json())["loglik"] is None


def test_odds_ratios(found: Logistic) -> None:
    ratios = found.odds_ratios()
    np.testing.assert_allclose(ratios["odds_ratio"], np.exp(found.coef))
    np.testing.assert_allclose(ratios["high"], np.exp(found.intervals()[1]))


def test_missing_rows_are_told() -> None:
    data = DATA.copy()
    data.loc[:9, "x1"] = np.nan
    data.loc[5:19, "y"] = np.nan
    some = logistic("y ~ x1", data, DESIGN)
    assert (some.n, some.dropped) == (1480, 20)
    assert "Missing, dropped:" in str(some) and "   20" in str(some)
    np.testing.assert_allclose(some.coef, logistic("y ~ x1", DATA[20:], DESIGN).coef)


def test_terms_of_several_columns_are_tested_together(found: Logistic) -> None:
    data = DATA.assign(third=np.arange(len(DATA)) % 3)
    larger = logistic("y ~ x1 + C(third)", data, DESIGN)
    smaller = logistic("y ~ x1", data, DESIGN)
    ratio = larger.test("C(third)")
    assert ratio.df == 2
    assert ratio.statistic == pytest.approx(2 * (larger.loglik - smaller.loglik), abs=1e-6)
    assert ratio.p == pytest.approx(chi2.sf(ratio.statistic, 2))
    assert compare_models(smaller, larger).statistic == pytest.approx(ratio.statistic, abs=1e-6)
    with pytest.raises(ValueError, match="third: is no term"):
        larger.test("third")


def test_only_a_part_can_be_compared(found: Logistic) -> None:
    with pytest.raises(ValueError, match="fewer terms"):
        compare_models(found, found)
    with pytest.raises(ValueError, match="terms that the larger regression lacks"):
        compare_models(logistic("y ~ I(x1**2)", DATA, DESIGN), found)
    with pytest.raises(ValueError, match="of the same outcome"):
        compare_models(logistic("y ~ x1", DATA[:100], DESIGN), found)


def test_a_profile_ends_where_the_likelihood_has_fallen(found: Logistic) -> None:
    """With x2 held there, and scipy to find the others, 2(ℓ̂ − ℓ) is χ²₁'s quantile."""
    model = found.model
    assert model is not None
    others = [0, 1, 3]

    def minus(place: Floats, end: float) -> tuple[float, Floats]:
        slopes = model.slopes(np.insert(place, 2, end))
        return -slopes.value, -slopes.gradient[others]

    for end in found.profile("x2", level=0.9):
        best = minimize(minus, found.coef[others], args=(end,), jac=True, method="BFGS")
        assert 2 * (found.loglik + best.fun) == pytest.approx(chi2.ppf(0.9, 1), abs=1e-5)


def test_a_result_can_be_kept(found: Logistic) -> None:
    again = pickle.loads(pickle.dumps(found))
    assert str(again) == str(found)
    assert again.test("g") == found.test("g")
    assert len(repr(found)) < 2_000
