"""A random intercept by group: the integral beside other ways to it."""

from __future__ import annotations

import numpy as np
import pandas
import pytest
from numpy.polynomial.hermite_e import hermegauss
from scipy.optimize import minimize
from scipy.special import expit

from analysis import Mixed, designs, logistic, mixed
from analysis.channel import Floats

from .support import reference_case, reference_data

CASE = reference_case("mixed_random_intercept_FR")
DATA = reference_data(CASE)
DESIGN = {"resp": designs.table(CASE["channel"]["P"])}
X, Y = DATA["cov"].to_numpy(), DATA["resp"].to_numpy()
GROUP = np.unique(DATA["group"], return_inverse=True)[1]


@pytest.fixture(scope="module")
def found() -> Mixed:
    return mixed("resp ~ cov", DATA, DESIGN, "group")


def by_group(values: Floats) -> Floats:
    return np.stack([values[GROUP == each].sum(axis=0) for each in range(20)])


def test_the_likelihood_by_plain_quadrature(found: Mixed) -> None:
    """80 fixed nodes for all groups alike, and scipy to find the top."""
    points, weights = hermegauss(80)

    def minus(place: Floats) -> float:
        logits = place[0] + place[1] * X[:, None] + place[2] * points
        rate = 0.2 + 0.7 * expit(logits)
        values = by_group(np.log(np.where(Y[:, None] == 1, rate, 1 - rate)))
        return -float(np.log(np.exp(values) @ weights / np.sqrt(2 * np.pi)).sum())

    best = minimize(minus, [0, 0, 1], method="BFGS", options={"gtol": 1e-6})
    np.testing.assert_allclose(found.coef, best.x, rtol=0, atol=1e-4)
    assert found.loglik == pytest.approx(-best.fun, abs=1e-6)
    assert found.sigma == found["groups", "sigma"].estimate == found.coef[2]
    assert found.groups == 20 and not found.flags


def test_the_reference_is_an_approximation_of_it(found: Mixed) -> None:
    """RRmixed and GLMMRR have glmer maximise Laplace's approximation, in which the expected
    information stands for the second derivative. At their estimates it has their value and
    their estimates, 1e-2 each; the likelihood itself has its top 0.2 standard errors away."""

    def laplace(place: Floats) -> float:
        b = np.zeros(20)
        for _ in range(50):
            share = expit(place[0] + place[1] * X + place[2] * b[GROUP])
            rate, slope = 0.2 + 0.7 * share, 0.7 * share * (1 - share)
            weight = place[2] ** 2 * by_group(slope**2 / (rate * (1 - rate)))
            score = place[2] * by_group((Y - rate) / (rate * (1 - rate)) * slope)
            b = b + (score - b) / (1 + weight)
        values = by_group(np.log(np.where(Y == 1, rate, 1 - rate)))
        return float((values - b**2 / 2 - np.log1p(weight) / 2).sum())

    outputs = CASE["outputs"]
    theirs = np.array([*outputs["fixef"].values(), outputs["sd_group"]])
    assert laplace(theirs) == pytest.approx(outputs["logLik"], abs=1e-2)
    best = minimize(lambda place: -laplace(place), theirs, method="Nelder-Mead")
    np.testing.assert_allclose(best.x, theirs, rtol=0, atol=1e-2)
    assert (np.abs(found.coef - theirs) < 0.25 * found.se).all()
    np.testing.assert_allclose(found.se[:2], outputs["se"], rtol=0.06)


def test_groups_that_do_not_differ() -> None:
    """A dealt-out group has no say: σ is near 0 and the slope that of plain regression."""
    data = DATA.assign(group=np.arange(len(DATA)) % 25)
    apart = mixed("resp ~ cov", data, DESIGN, "group")
    plain = logistic("resp ~ cov", data, DESIGN)
    assert abs(apart.sigma) < 0.5
    assert apart["cov"].estimate == pytest.approx(plain["cov"].estimate, abs=0.5 * plain["cov"].se)
    assert apart.loglik >= plain.loglik - 1e-6


def test_large_groups_have_nodes_where_they_are_needed() -> None:
    """Ten groups of 600: each intercept is known within 0.2, and the truth is found."""
    random = np.random.default_rng(8)
    b = np.linspace(-1.5, 1.5, 10)
    group, x = np.repeat(np.arange(10), 600), random.normal(size=6_000)
    true = random.random(6_000) < expit(-0.3 + 0.6 * x + b[group])
    y = np.where(random.random(6_000) < 0.8, true, ~true).astype(int)
    data = pandas.DataFrame({"y": y, "x": x, "group": group})
    found = mixed("y ~ x", data, {"y": designs.warner(0.8)}, "group")
    assert abs(found["x"].estimate - 0.6) < 4 * found["x"].se
    assert found.sigma == pytest.approx(np.sqrt((b**2).mean()), abs=0.15)


def test_terms_are_tested_and_predicted(found: Mixed) -> None:
    ratio = found.test("cov")
    alone = mixed("resp ~ 1", DATA, DESIGN, "group")
    assert ratio.statistic == pytest.approx(2 * (found.loglik - alone.loglik), abs=1e-3)
    predicted = found.predict({"cov": [0.0]})
    assert predicted["estimate"][0] == pytest.approx(expit(found.coef[0]))
    assert "random intercept by group" in str(found)


def test_missing_groups_are_left_out() -> None:
    data = DATA.copy()
    data.loc[:4, "group"] = None
    assert mixed("resp ~ 1", data, DESIGN, "group").dropped == 5


@pytest.mark.parametrize(
    ("group", "formula", "told"),
    [
        ("school", "resp ~ cov", "column school is missing"),
        ("same", "resp ~ cov", "column same: must have more than one group"),
        ("group", "Y ~ resp", "resp is protected; mixed takes a protected outcome only"),
    ],
)
def test_mistakes(group: str, formula: str, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        mixed(formula, DATA.assign(same=1, Y=Y), DESIGN, group)
