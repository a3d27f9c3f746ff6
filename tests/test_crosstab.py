"""Cross-tables, against explicit matrices, scipy, and surveys repeated 2,000 times."""

from __future__ import annotations

import json
import time
import tracemalloc
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas
import pytest
from scipy.optimize import brentq, minimize
from scipy.stats import chi2, chi2_contingency

from analysis import correlation, crosstab, crosstab_of_counts, designs, estimate, simulate
from analysis.channel import Floats, kronecker_covariance, kronecker_solve
from analysis.designs import Design
from analysis.joint import Stratum, fit, joint_shares
from analysis.odds_ratio import climb, odds_ratios, profile
from respondent import Survey

from .support import EXAMPLES, question

CAMPUS = Survey.load(EXAMPLES / "campus.toml")
COIN = designs.coin(0.5)
#: Yes to No in both questions.
YES = ((1, 0), (1, 0))
DESIGNS = {"a": designs.warner(0.8), "b": designs.k_ary(["x", "y", "z"], 0.7)}
COUNTS = np.array([[200, 90, 60], [80, 110, 60]])


def both(rows: float, columns: float, ratio: float) -> Floats:
    """The 2 × 2 table with these shares of yes and this odds ratio, No first."""

    def off(yes: float) -> float:
        return float(yes * (1 - rows - columns + yes) - ratio * (rows - yes) * (columns - yes))

    yes = brentq(off, max(0, rows + columns - 1), min(rows, columns))
    return np.array([[1 - rows - columns + yes, columns - yes], [rows - yes, yes]])


def surveys(truth: Floats, one: Design, other: Design, n: int, size: int, seed: int) -> Floats:
    rates = one.channel @ truth @ other.channel.T
    drawn = np.random.default_rng(seed).multinomial(n, rates.ravel(), size=size)
    return drawn.reshape(size, *rates.shape).astype(float)


# Shares


def test_joint_shares_by_the_written_out_product() -> None:
    found = crosstab_of_counts(DESIGNS, COUNTS)
    channels = [each.channel for each in DESIGNS.values()]
    rates = COUNTS / COUNTS.sum()
    np.testing.assert_allclose(found.shares.estimate, kronecker_solve(channels, rates), atol=1e-12)
    known = np.sqrt(np.diag(kronecker_covariance(channels, rates, 600))).reshape(2, 3)
    np.testing.assert_allclose(found.shares.se, known, atol=1e-12)
    assert found["Yes", "y"].estimate == found.shares.estimate[1, 1]
    np.testing.assert_allclose(found.feasible, found.shares.estimate, atol=1e-12)


def test_margins_are_the_questions_by_themselves() -> None:
    sample = simulate(CAMPUS, n=3_000, seed=5)
    names = ("cheated", "copied", "year")
    found = crosstab(sample.responses, {name: CAMPUS[name] for name in names})
    for name in names:
        known = estimate(CAMPUS[name], sample.counts[name]).values()
        for value, other in zip(found.marginal(name), known, strict=True):
            assert value.name == other.name
            assert value.estimate == pytest.approx(other.estimate, abs=1e-12)
            assert (value.low, value.high) == (
                pytest.approx(other.low, abs=1e-12),
                pytest.approx(other.high, abs=1e-12),
            )


def test_a_margin_in_another_order() -> None:
    sample = simulate(CAMPUS, n=500, seed=5)
    found = crosstab(sample.responses, {name: CAMPUS[name] for name in ("cheated", "drug", "year")})
    turned = found.margin("year", "cheated")
    straight = crosstab(sample.responses, {"cheated": CAMPUS["cheated"], "year": CAMPUS["year"]})
    np.testing.assert_allclose(turned.shares.estimate, straight.shares.estimate.T, atol=1e-12)


def test_conditional_shares_by_the_delta_method() -> None:
    """Derivatives by differences, covariance from the written-out product."""
    found = crosstab_of_counts(DESIGNS, COUNTS).conditional("b", given="a")
    channels = [each.channel for each in DESIGNS.values()]
    rates = COUNTS / COUNTS.sum()
    shares, covariance = (
        kronecker_solve(channels, rates),
        kronecker_covariance(channels, rates, 600),
    )

    def ratio(table: Floats) -> Floats:
        table = table.reshape(2, 3)
        return np.asarray((table / table.sum(axis=1, keepdims=True)).ravel())

    step = 1e-6
    slopes = np.array(
        [
            (ratio(shares.ravel() + step * unit) - ratio(shares.ravel() - step * unit)) / (2 * step)
            for unit in np.eye(6)
        ]
    ).T
    known = np.sqrt(np.diag(slopes @ covariance @ slopes.T))
    assert [value.name for value in found[:2]] == ["x | No", "y | No"]
    np.testing.assert_allclose([value.estimate for value in found], ratio(shares), atol=1e-12)
    np.testing.assert_allclose([value.se for value in found], known, rtol=1e-6)
    np.testing.assert_allclose(
        [value.high - value.low for value in found], 2 * 1.959964 * known, rtol=1e-6
    )


def test_arms_multiply_the_own_unbiased_values() -> None:
    rng = np.random.default_rng(6)
    data = pandas.DataFrame(
        {
            "a": rng.integers(0, 2, 500),
            "b": rng.integers(0, 2, 500),
            "arm": rng.choice(["rr", "dq"], 500),
        }
    )
    arms = {"rr": designs.warner(0.7), "dq": designs.direct()}
    found = crosstab(data, {"a": arms, "b": COIN}, arms={"a": "arm"})
    one = designs.responses(data, "a", arms, "arm").unbiased
    other = designs.responses(data, "b", COIN).unbiased
    values = one[:, :, None] * other[:, None, :]
    np.testing.assert_allclose(found.shares.estimate, values.mean(axis=0), atol=1e-12)
    known = values.std(axis=0, ddof=1) / np.sqrt(500)
    np.testing.assert_allclose(found.shares.se, known, atol=1e-12)
    # The likeliest shares, by a general optimiser on each respondent's chances.
    chances = [
        designs.responses(data, "a", arms, "arm").chances,
        designs.responses(data, "b", COIN).chances,
    ]

    def minus(free: Floats) -> float:
        weights = np.exp(free - free.max()).reshape(2, 2)
        return -float(np.log(np.einsum("ni,nj,ij->n", *chances, weights / weights.sum())).sum())

    best = minimize(minus, np.zeros(4), options={"gtol": 1e-8})
    assert found.fit.log_likelihood == pytest.approx(-best.fun, abs=1e-5)


def test_intervals_of_joint_cells_cover() -> None:
    """2,000 surveys of 300 with two coins, cells from 5 % to 60 %: each cell is covered in
    95 % within 4 standard errors (2 points)."""
    truth = np.array([[0.6, 0.2], [0.15, 0.05]])
    tables = surveys(truth, COIN, COIN, 300, 2_000, 21)
    found = joint_shares([Stratum((COIN, COIN), tables)], 0.95)
    covered = ((found.low <= truth) & (truth <= found.high)).mean(axis=0)
    assert (np.abs(covered - 0.95) < 0.02).all(), covered


# Odds ratios


@pytest.mark.parametrize(
    ("n", "rows", "columns", "ratio"),
    [(5_000, 0.3, 0.3, 4.0), (500, 0.3, 0.3, 4.0), (5_000, 0.1, 0.1, 4.0)],
)
def test_intervals_of_odds_ratios_cover(n: int, rows: float, columns: float, ratio: float) -> None:
    """2,000 surveys with two 3-to-1 coins: 95 % intervals hold the truth in 93.5 to 96.5 %."""
    tables = surveys(both(rows, columns, ratio), COIN, COIN, n, 2_000, 22)
    fits = [fit([Stratum((COIN, COIN), table)]) for table in tables]
    found = odds_ratios([Stratum((COIN, COIN), tables)], YES, 0.95, fits)
    covered = ((found["low"] <= ratio) & (ratio <= found["high"])).mean()
    assert 0.935 <= covered <= 0.965


def test_many_surveys_side_by_side_are_each_as_by_itself() -> None:
    tables = surveys(both(0.3, 0.3, 4), COIN, COIN, 400, 5, 23)
    fits = [fit([Stratum((COIN, COIN), table)]) for table in tables]
    found = odds_ratios([Stratum((COIN, COIN), tables)], YES, 0.95, fits)
    for number, table in enumerate(tables):
        own = crosstab_of_counts({"a": COIN, "b": COIN}, table).odds_ratio()
        for name in ("estimate", "log_se", "low", "high"):
            assert getattr(own, name) == pytest.approx(found[name][number], rel=1e-6, nan_ok=True)


def test_ends_of_the_interval_are_where_scipy_puts_them() -> None:
    """2(max ℓ − max ℓ given ψ) = χ²₁(0.95), the inner maximum by scipy over both margins."""
    tables = surveys(both(0.4, 0.3, 3), COIN, COIN, 3_000, 1, 24)[0]
    found = crosstab_of_counts({"a": COIN, "b": COIN}, tables).odds_ratio()
    rates = tables / tables.sum()
    top = float((tables * np.log(rates)).sum())

    def given(ratio: float) -> float:
        def minus(free: npt.NDArray[Any]) -> float:
            weights = np.exp([[0, free[0]], [free[1], free[0] + free[1] + np.log(ratio)]])
            shares = weights / weights.sum()
            return -float((tables * np.log(COIN.channel @ shares @ COIN.channel.T)).sum())

        return -float(minimize(minus, [-0.5, -0.5], options={"gtol": 1e-7}).fun)

    for end in (found.low, found.high):
        assert 2 * (top - given(end)) == pytest.approx(chi2.ppf(0.95, 1), abs=1e-4)


def test_direct_odds_ratio() -> None:
    """ad/bc and Woolf's standard error, √(Σ 1/count), but for the divisor n − 1."""
    found = crosstab_of_counts(
        {"a": designs.direct(), "b": designs.direct()}, [[60, 20], [30, 40]]
    ).odds_ratio()
    assert found.estimate == pytest.approx(60 * 40 / (20 * 30))
    woolf = np.sqrt(1 / 60 + 1 / 20 + 1 / 30 + 1 / 40)
    assert found.log_se == pytest.approx(woolf * np.sqrt(150 / 149))
    assert found.answers == (("Yes", "No"), ("Yes", "No"))


def test_the_highest_peak_is_found() -> None:
    """Far from the estimate the profile has several: no start at random finds a higher one."""
    rng = np.random.default_rng(25)
    tables = surveys(both(0.3, 0.3, 4), COIN, COIN, 500, 40, 26)
    stratum = [Stratum((COIN, COIN), tables)]
    near = np.stack([fit([Stratum((COIN, COIN), table)]).shares for table in tables])
    for log_psi in (-9.0, 5.0, 14.0):
        asked = np.full(40, log_psi)
        found = profile(stratum, YES, asked, near)
        spread = []
        for _ in range(8):
            start = rng.dirichlet(np.full(4, 0.5), size=40).reshape(40, 2, 2) + 1e-4
            spread.append(climb(stratum, YES, asked, start))
        assert (np.max(spread, axis=0) <= found + 1e-6).all()
    assert np.ptp(spread, axis=0).max() > 1, "one climb would not have been enough"


def test_chosen_answers_of_a_larger_table() -> None:
    """In 2 × 2 tables nothing else matters; in larger ones the other cells stay free."""
    found = crosstab_of_counts(DESIGNS, COUNTS)
    chosen = found.odds_ratio("a", "b", {"b": ("y", "x")})
    cells = found.shares.estimate
    assert chosen.estimate == pytest.approx(
        cells[1, 1] * cells[0, 0] / (cells[1, 0] * cells[0, 1]), rel=1e-9
    )
    turned = found.odds_ratio("b", "a", {"b": ("x", "y")})
    assert (turned.low, turned.high) == (
        pytest.approx(1 / chosen.high, rel=1e-5),
        pytest.approx(1 / chosen.low, rel=1e-5),
    )
    assert chosen.low < chosen.estimate < chosen.high


def test_a_table_at_its_edge_says_so() -> None:
    """Nobody seems to be in a cell: no standard error, an open end, and a flag."""
    found = crosstab_of_counts({"a": COIN, "b": COIN}, [[280, 215], [215, 90]])
    assert found["Yes", "Yes"].estimate < 0
    ratio = found.odds_ratio()
    assert ratio.estimate == 0 and ratio.low == 0 and 0 < ratio.high < np.inf
    assert np.isnan(ratio.log_se) and ratio.flag == "at the edge of the possible"
    assert found.independence.flag.startswith("at the edge")
    open_end = crosstab_of_counts({"a": COIN, "b": COIN}, [[50, 30], [28, 22]]).odds_ratio()
    assert open_end.flag == "the interval reaches the edge of the possible"
    assert open_end.low == 0 or open_end.high == np.inf


# Independence and correlation


@pytest.mark.parametrize("design", [designs.direct(), COIN])
def test_independence_is_that_of_the_responses(design: Design) -> None:
    """Where all estimates are possible a channel changes no likelihood: scipy's G²."""
    counts = np.array([[160, 90], [80, 110]])
    found = crosstab_of_counts({"a": design, "b": design}, counts).independence
    known = chi2_contingency(counts, correction=False, lambda_="log-likelihood")
    assert found.statistic == pytest.approx(known.statistic, abs=1e-9)
    assert (found.df, found.p) == (1, pytest.approx(known.pvalue))


def test_mutual_independence_of_three() -> None:
    counts = np.random.default_rng(27).poisson(50, (2, 3, 2))
    each = {"a": designs.direct(), "b": designs.direct(["x", "y", "z"]), "c": designs.direct()}
    found = crosstab_of_counts(each, counts).independence
    known = chi2_contingency(counts, correction=False, lambda_="log-likelihood")
    assert (found.statistic, found.df) == (pytest.approx(known.statistic), known.dof)


def test_independent_answers_are_seldom_called_dependent() -> None:
    """1,000 surveys of two independent coins: 5 % rejected within 3 standard errors."""
    tables = surveys(both(0.4, 0.3, 1), COIN, COIN, 800, 1_000, 28)
    rejected = [
        crosstab_of_counts({"a": COIN, "b": COIN}, table).independence.p < 0.05 for table in tables
    ]
    assert abs(np.mean(rejected) - 0.05) < 3 * np.sqrt(0.05 * 0.95 / 1_000)


def test_correlation_is_that_of_the_respondents() -> None:
    rng = np.random.default_rng(29)
    data = {
        "a": rng.integers(0, 2, 400),
        "b": rng.integers(0, 3, 400),
        "arm": rng.integers(0, 2, 400),
    }
    arms = {0: designs.warner(0.9), 1: COIN}
    questions: dict[str, Any] = {"a": arms, "b": DESIGNS["b"]}
    found = crosstab(data, questions, arms={"a": "arm"}).correlation()
    known = correlation(data, questions, arms={"a": "arm"})["a", "b"]
    for name in ("n", "noisy", "estimate", "se", "low", "high", "p"):
        assert getattr(found, name) == pytest.approx(getattr(known, name), rel=1e-9)


# Large tables


def test_27000_joint_cells() -> None:
    """Three questions of 30 answers. The joint channel would have 7·10⁸ entries, 5.8 GB; the
    table itself has 0.2 MB.

    Errors of all cells, over their variance in theory, square to 1 on average; the tolerance is
    4 standard deviations of that average over 30 surveys made in this way (0.0085)."""
    rng = np.random.default_rng(30)
    size, n = 30, 200_000
    each = designs.k_ary(size, 0.5)
    shares = [rng.dirichlet(np.full(size, 5.0)) for _ in range(3)]
    truth = np.stack([rng.choice(size, n, p=share) for share in shares])
    kept = rng.random(truth.shape) < 0.5
    sent = np.where(kept, truth, (truth + rng.integers(1, size, truth.shape)) % size)
    data = dict(zip("abc", sent, strict=True))
    started = time.perf_counter()
    tracemalloc.start()
    found = crosstab(data, dict.fromkeys("abc", each))
    estimate, se = found.shares.estimate, found.shares.se
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100e6
    joint = np.einsum("i,j,k->ijk", *shares)
    squares = [np.linalg.inv(each.channel) ** 2 @ each.channel @ share for share in shares]
    variance = (np.einsum("i,j,k->ijk", *squares) - joint**2) / n
    assert abs(((estimate - joint) ** 2 / variance).mean() - 1) < 4 * 0.0085
    assert (se**2).mean() == pytest.approx(variance.mean(), rel=1e-4)
    assert estimate.sum() == pytest.approx(1)
    assert found.feasible.sum() == pytest.approx(1) and found.feasible.min() >= 0
    assert found.independence.df == 27_000 - 1 - 3 * 29
    assert str(found).count("\n") < 120, "margins only"
    assert time.perf_counter() - started < 60


# Input and output


def test_tiny_tables_have_estimates_or_flags() -> None:
    """From three respondents to twelve, all corners of the table: no error, no warning."""
    rng = np.random.default_rng(33)
    each = {"a": designs.kuk(0.8, 0.2, 2), "b": COIN, "c": designs.direct()}
    for _ in range(30):
        counts = rng.multinomial(rng.integers(3, 13), np.full(12, 1 / 12)).reshape(3, 2, 2)
        table = crosstab_of_counts(each, counts)
        assert json.loads(table.to_json())["n"] == counts.sum()
        ratio = table.odds_ratio("a", "b")
        assert 0 <= ratio.low <= ratio.high
        assert ratio.flag, "so few say nothing that excludes an end"
        assert table.independence.p <= 1


def test_data_and_counts_give_the_same() -> None:
    rng = np.random.default_rng(31)
    data = {"a": rng.integers(0, 2, 300), "b": rng.integers(0, 3, 300)}
    counts = np.zeros((2, 3), dtype=int)
    np.add.at(counts, (data["a"], data["b"]), 1)
    one, other = crosstab(data, DESIGNS), crosstab_of_counts(DESIGNS, counts)
    assert one.to_json() == other.to_json()


def test_plain_columns_and_missing_values() -> None:
    data = pandas.DataFrame(
        {
            "cheated": pandas.array([0, 1, None, 1, 0, 0], dtype="Int64"),
            "sex": ["f", "m", "m", None, "f", "m"],
        }
    )
    found = crosstab(data, {"cheated": CAMPUS["cheated"], "sex": None})
    assert found.answers == (("Yes", "No"), ("f", "m"))
    assert (found.n, found.missing) == (4, 2)
    assert found.margin("sex").shares.estimate == pytest.approx([0.5, 0.5])


def test_those_who_were_not_asked_are_missing() -> None:
    counts = [[10, 20], [5, 10], [3, 4]]
    found = crosstab_of_counts({"hall": CAMPUS["hall"], "cheated": CAMPUS["cheated"]}, counts)
    assert (found.n, found.missing) == (45, 7)


def test_nobody_with_an_answer_has_no_conditional_share() -> None:
    found = crosstab_of_counts({"a": COIN, "b": COIN}, [[300, 120], [60, 20]])
    assert found.marginal("a")[1].estimate < 0
    value = found.conditional("b", given="a")[2]
    assert np.isnan(value.estimate) and value.flag.startswith("nobody seems")
    ratio = found.odds_ratio()
    assert (ratio.low, ratio.high) == (0, np.inf), "anything is possible"


def test_tables() -> None:
    sample = simulate(CAMPUS, n=400, seed=32)
    found = crosstab(sample.responses, {name: CAMPUS[name] for name in ("cheated", "copied")})
    text = str(found)
    assert text.startswith("cheated × copied\n") and "odds ratio" in text
    assert "delta method for conditional ones" in text
    frame = found.to_frame()
    assert list(frame.columns[:2]) == ["cheated", "copied"] and len(frame) == 4
    assert len(found.to_frame("conditional")) == 8
    assert found.to_csv(part="marginal").splitlines()[1].startswith("cheated,Yes,")
    assert set(json.loads(found.to_json())) >= {"joint", "marginal", "tests", "odds_ratio"}


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: crosstab({"a": [1]}, {"a": COIN}), "two columns or more"),
        (lambda: crosstab({"a": [1], "b": [None]}, {"a": COIN, "b": COIN}), "nobody has"),
        (lambda: crosstab({"a": [1], "b": ["x"]}, {"a": COIN, "b": None}), "only one answer"),
        (lambda: crosstab_of_counts({"a": COIN}, [1, 2]), "two or more"),
        (lambda: crosstab_of_counts({"a": COIN, "b": COIN}, [1, 2]), "must have 2 axes"),
        (lambda: crosstab_of_counts({"a": COIN, "b": COIN}, np.ones((2, 3))), "axis 1 must have 2"),
        (lambda: crosstab_of_counts({"a": COIN, "b": COIN}, [[1, 2], [3, -4]]), "whole numbers"),
        (lambda: crosstab_of_counts({"a": COIN, "b": COIN}, [[1, 2], [3, 0.5]]), "whole numbers"),
        (lambda: crosstab_of_counts({"a": COIN, "b": COIN}, [[0, 0], [0, 0]]), "nobody has"),
        (
            lambda: crosstab_of_counts({"a": COIN, "b": designs.warner(0.5)}, [[1, 2], [3, 4]]),
            "b: these odds cannot tell",
        ),
        (lambda: crosstab_of_counts(DESIGNS, COUNTS).odds_ratio(), "b has more than two"),
        (
            lambda: crosstab_of_counts(DESIGNS, COUNTS).odds_ratio(answers={"b": ("x", "x")}),
            "two different answers",
        ),
        (lambda: crosstab_of_counts(DESIGNS, COUNTS).odds_ratio("a"), "must name two questions"),
        (lambda: crosstab_of_counts(DESIGNS, COUNTS).marginal("c"), "'c' is not a question"),
        (lambda: crosstab_of_counts(DESIGNS, COUNTS).margin("a", "a"), "each once"),
        (
            lambda: crosstab(
                {"q": [1], "a": [1]}, {"q": question(kind="choices", options=["x", "y"]), "a": COIN}
            ),
            "option by option",
        ),
    ],
)
def test_mistakes(make: object, told: str) -> None:
    assert callable(make)
    with pytest.raises(ValueError, match=told):
        make()


def test_a_cell_needs_all_its_answers() -> None:
    with pytest.raises(KeyError, match="must be 2 answers"):
        crosstab_of_counts(DESIGNS, COUNTS)["Yes",]
