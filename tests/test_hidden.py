"""Likelihoods with hidden answers: exact derivatives, and logistic with protected predictors."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from analysis import Logistic, designs, logistic
from analysis.channel import Floats
from analysis.hidden import Choice, Model, Normal

from .support import reference_case, reference_data

NIGERIA = reference_case("nigeria_rrreg_predictor_table4")
COVARIATES = "asset + married + I(age / 10) + I((age / 10) ** 2) + education + female"


def model(family: str, combinations: int) -> Model:
    """A small model with everything in it: weights, hidden predictors, impossible responses."""
    random = np.random.default_rng(combinations)
    n = 60
    if family == "choice":
        chances = random.dirichlet(np.ones(3), size=n).T
        chances[0, :5] = 0
        with np.errstate(divide="ignore"):
            outcome: Choice | Normal = Choice(np.log(chances))
    else:
        outcome = Normal(random.normal(size=n) * 2 + 1)
    common = random.normal(size=(n, 2))
    covariates = tuple(
        np.column_stack([np.ones(n), common, *([np.full(n, which)] if combinations > 1 else [])])
        for which in range(combinations)
    )
    return Model(
        outcome,
        covariates,
        np.log(random.dirichlet(np.ones(combinations) * 2, size=n).T),
        np.column_stack([np.ones(n), common[:, 0]]),
        random.uniform(0.5, 2, n),
    )


def slope(value: Callable[[Floats], Floats], place: Floats) -> Floats:
    """Central differences."""
    steps = np.eye(len(place)) * 1e-5
    return np.array([(value(place + step) - value(place - step)) / 2e-5 for step in steps])


@pytest.mark.parametrize("family", ["choice", "normal"])
@pytest.mark.parametrize("combinations", [1, 2, 4])
def test_derivatives(family: str, combinations: int) -> None:
    hill = model(family, combinations)
    place = np.random.default_rng(3).normal(size=sum(hill.sizes)) / 2
    found = hill.slopes(place)
    numeric = slope(lambda at: np.array(hill.slopes(at).value), place)
    np.testing.assert_allclose(found.gradient, numeric, rtol=1e-6, atol=1e-6)
    numeric = -slope(lambda at: hill.slopes(at).gradient, place)
    np.testing.assert_allclose(found.information, numeric, rtol=1e-6, atol=1e-5)
    np.testing.assert_allclose(hill.weights @ hill.scores(place), found.gradient, atol=1e-9)
    assert np.linalg.eigvalsh(found.complete()).min() >= -1e-9


def test_the_likelihood_written_out() -> None:
    """P(y, w | z) = Σ_h P(w | h) P(h | z) f(y | h, z), respondent by respondent."""
    hill = model("normal", 2)
    assert isinstance(hill.family, Normal)
    place = np.array([0.3, -0.2, 0.5, 1.1, 0.4, -0.6, 0.7])
    coef, deviation, hidden = place[:4], np.exp(place[4]), place[5:]
    total = 0.0
    for row in range(hill.n):
        yes = expit(hill.given[row] @ hidden)
        chance = 0.0
        for which, share in enumerate((1 - yes, yes)):
            away = (hill.family.values[row] - hill.covariates[which][row] @ coef) / deviation
            density = np.exp(-(away**2) / 2) / np.sqrt(2 * np.pi) / deviation
            chance += np.exp(hill.log_chances[which, row]) * share * density
        total += hill.weights[row] * np.log(chance)
    assert hill.slopes(place).value == pytest.approx(total, rel=1e-12)


# Logistic regression on a protected answer


def test_nigeria_errors_of_rr() -> None:
    """rr does not maximise the likelihood: its M-step leaves out those who were told what to
    say, though their outcome is informative, and has a Cauchy prior with scale 2.5 on each
    coefficient per standard deviation. Its standard errors are of likelihood and prior, and
    so are those here, at its coefficients: ours to 1e-6, far within the 2e-3 of rr."""
    found = nigeria()
    assert found.model is not None
    outputs = NIGERIA["outputs"]
    theirs = np.array([*outputs["outcome_coef"].values(), *outputs["latent_coef"]])
    deviations = np.concatenate([[1], found.model.given[:, 1:].std(axis=0, ddof=1)])
    scale = np.concatenate([deviations, [1], deviations])
    scaled = theirs * scale
    prior = 2 * (2.5**2 - scaled**2) / (2.5**2 + scaled**2) ** 2
    information = found.model.slopes(theirs).information + np.diag(prior * scale**2)
    errors = np.sqrt(np.diag(np.linalg.inv(information)))
    want = [*outputs["outcome_se"].values(), *outputs["latent_se"]]
    np.testing.assert_allclose(errors, want, rtol=0, atol=1e-6)
    # What rr reports is less likely than our maximum.
    assert found.model.slopes(theirs).value < found.loglik - 1


def nigeria() -> Logistic:
    data = reference_data(NIGERIA)
    design = designs.forced(1 / 6, 1 / 6)
    return logistic(f"civic ~ {COVARIATES} + rr_q1", data, {"rr_q1": design})


def test_nigeria_likelihood_maximised_otherwise() -> None:
    """The likelihood of Blair, Imai & Zhou (2015), written out and left to scipy's BFGS."""
    data = reference_data(NIGERIA).dropna()
    age = data["age"] / 10
    z = np.column_stack(
        [np.ones(len(data)), data["asset"], data["married"], age, age**2]
        + [data["education"], data["female"]]
    )
    scale = np.concatenate([[1], z[:, 1:].std(axis=0)])
    z = z / scale
    response, civic = data["rr_q1"].to_numpy(), data["civic"].to_numpy()

    def minus(place: Floats) -> float:
        prevalence, base = expit(z @ place[8:]), z @ place[:7]
        yes, no = (
            np.where(civic == 1, expit(base + more), expit(-base - more))
            for more in (place[7], 0.0)
        )
        said = np.where(response == 1, 5 / 6, 1 / 6)
        return -float(np.log(said * prevalence * yes + (1 - said) * (1 - prevalence) * no).sum())

    best = minimize(minus, np.zeros(15), method="BFGS", options={"gtol": 1e-5})
    found = nigeria()
    assert found.n == 2423 and found.dropped == 34
    assert found.loglik == pytest.approx(-best.fun, abs=1e-6)
    unscaled = best.x / np.concatenate([scale, [1], scale])
    assert (np.abs(found.coef - unscaled) < 1e-3 * found.se).all()
    assert found["rr_q1"].estimate == pytest.approx(0.4066, abs=5e-4)
    assert found["rr_q1 = Yes", "female"].estimate == pytest.approx(-0.5688, abs=5e-4)


def test_a_predictor_without_noise_gives_the_ordinary_regression() -> None:
    """statsmodels 0.15.0: logit('civic ~ rr_q1*female + age') on the responses as they are."""
    data = reference_data(NIGERIA).dropna()
    found = logistic("civic ~ rr_q1*female + age", data, {"rr_q1": designs.direct()})
    want = {
        "Intercept": (-0.6404994316446532, 0.11756326509294199),
        "rr_q1": (0.30786362080950325, 0.11572887674972913),
        "female": (0.09931880800789904, 0.10098073223615203),
        "rr_q1:female": (-0.29953749822870085, 0.17558032742131896),
        "age": (0.016248542235920885, 0.002642404425320368),
    }
    for name, (coef, se) in want.items():
        assert found[name].estimate == pytest.approx(coef, abs=1e-8)
        assert found[name].se == pytest.approx(se, abs=1e-8)


def people(seed: int, n: int) -> pandas.DataFrame:
    """A hidden answer that depends on z, and an outcome that depends on both."""
    random = np.random.default_rng(seed)
    z = random.normal(size=n)
    hidden = random.random(n) < expit(-0.4 + 0.7 * z)
    outcome = random.random(n) < expit(-0.5 + 1.2 * hidden + 0.5 * z)
    said = np.where(random.random(n) < 0.85, hidden, ~hidden)
    told = np.where(random.random(n) < 0.85, outcome, ~outcome)
    columns = {"z": z, "said": said, "outcome": outcome, "told": told}
    return pandas.DataFrame(columns).astype({"said": int, "outcome": int, "told": int})


def test_true_coefficients_are_found() -> None:
    """Within 4 standard errors of what made the data, with the outcome plain or protected."""
    data, design = people(21, 20_000), designs.warner(0.85)
    truth = np.array([-0.5, 1.2, 0.5, -0.4, 0.7])
    plain = logistic("outcome ~ said + z", data, {"said": design})
    both = logistic("told ~ said + z", data, {"said": design, "told": design})
    for found in (plain, both):
        assert (np.abs(found.coef - truth) < 4 * found.se).all()
        assert not found.flags
    assert both["said"].se > plain["said"].se
    # The naive slope of the response is far off.
    naive = logistic("outcome ~ said + z", data, {"said": designs.direct()})
    assert naive["said"].high < 1.2


def test_what_hidden_answers_depend_on_can_be_said() -> None:
    data, design = people(22, 4_000), {"said": designs.warner(0.85)}
    default = logistic("outcome ~ said + z", data, design)
    same = logistic("outcome ~ said + z", data, design, given="z")
    nothing = logistic("outcome ~ said + z", data, design, given="1")
    np.testing.assert_allclose(default.coef, same.coef)
    assert len(nothing.coef) == len(default.coef) - 1
    assert nothing.loglik < default.loglik - 50
    with pytest.raises(ValueError, match="given: said is itself a protected predictor"):
        logistic("outcome ~ said + z", data, design, given="said")
    with pytest.raises(ValueError, match="given: must be terms"):
        logistic("outcome ~ said + z", data, design, given="z ~ 1")


def test_names_of_answers_within_c() -> None:
    """The question's answers are Yes and No; with C(…) Yes is compared with No."""
    data, design = people(23, 4_000), designs.warner(0.85)
    number = logistic("outcome ~ said + z", data, {"said": design})
    name = logistic("outcome ~ C(said) + z", data, {"said": design})
    assert name["C(said)[T.Yes]"].estimate == pytest.approx(number["said"].estimate, abs=1e-7)
    first = name.predict({"said": ["Yes"], "z": [0.3]})["estimate"][0]
    second = number.predict({"said": [1], "z": [0.3]})["estimate"][0]
    assert first == pytest.approx(second, abs=1e-7)


def test_too_many_combinations() -> None:
    data = {name: [0, 1] * 20 for name in ("y", "a", "b")}
    wide = designs.k_ary(11, 0.5)
    with pytest.raises(ValueError, match="121 combinations"):
        logistic("y ~ a + b", data, {"a": wide, "b": wide})


def test_a_predictor_that_its_odds_hide_for_good() -> None:
    with pytest.raises(ValueError, match="column a: these odds cannot tell"):
        logistic("y ~ a", {"y": [0, 1, 1], "a": [1, 1, 0]}, {"a": designs.warner(0.5)})
