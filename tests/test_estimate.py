"""Estimates against R (tests/reference), closed forms, scipy and seeded simulation.

Tolerances of seeded checks are in standard errors and stated with each.
"""

from __future__ import annotations

import dataclasses
import json
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

from analysis import clopper_pearson, estimate, likelihood_ratio, simulate, wilson
from analysis.channel import channel, left_inverse
from analysis.feasible import feasible_shares, k_ary_shares, likelihood, maximise
from analysis.shares import support_shares, table_shares
from analysis.simulate import generator, respond
from analysis.tally import Tally
from respondent import Question, Survey, odds
from respondent.laws import KAry, OneOf, Plain, Projective, Subset, Table

from .support import EXAMPLES, question, reference

CAMPUS = Survey.load(EXAMPLES / "campus.toml")
COIN = question(coin="1/2")


def table_question(matrix: list[list[float]]) -> Question:
    """A question with R's channel P[report][truth] in whole numbers, 16 digits deep."""
    columns = [
        [round(chance * 10**15) for chance in column] for column in zip(*matrix, strict=True)
    ]
    return question(Table(tuple(map(tuple, columns))))


def dense(law: object, counts: list[int]) -> Tally:
    found = np.array(counts)
    used = np.flatnonzero(found)
    return Tally(used, found[used], len(counts))


# R


@pytest.mark.parametrize("case", reference("univariate_binary"), ids=lambda case: case["name"])
def test_yes_no_designs_are_as_in_r(case: dict) -> None:
    """RRreg 0.7.6 RRuni (moment), GLMMRR 0.6.0, DescTools 0.99.59: closed forms at 1e-9."""
    outputs = case["outputs"]
    result = estimate(table_question(case["channel"]["P"]), case["data"]["counts_report_0_1"])
    found = result["answer 1"]
    moment = outputs["RRreg_RRuni_moment"]
    assert found.estimate == pytest.approx(np.ravel(moment["pi"])[-1], abs=1e-9)
    assert found.se == pytest.approx(np.ravel(moment["se_n_minus_1"])[-1], abs=1e-9)
    assert found.estimate == pytest.approx(outputs["GLMMRR_getMLPrevalence"]["pi"], abs=1e-9)
    # GLMMRR divides by n.
    n = case["data"]["n"]
    se = outputs["GLMMRR_getMLPrevalence"]["se"]
    assert found.se * np.sqrt((n - 1) / n) == pytest.approx(se, abs=1e-9)
    low, high = outputs["ci95_pi_unclipped"]["wilson"]
    if high > 0:
        assert (found.low, found.high) == pytest.approx((low, high), abs=1e-9)
    if "multi_freq_ldpy_IBU_constrained_MLE" in outputs:
        # multi-freq-ldpy 0.2.5's own EM stops early: 1e-6.
        shares = outputs["multi_freq_ldpy_IBU_constrained_MLE"]["pi_all_categories"]
        assert result.feasible == pytest.approx(shares, abs=1e-6)


@pytest.mark.parametrize(
    "case",
    [case for case in reference("univariate_binary") if case["tags"] == "boundary"],
    ids=lambda case: case["name"],
)
def test_at_the_boundary_there_is_a_feasible_estimate_and_an_interval(case: dict) -> None:
    """RRreg's own numbers are wrong there; the feasible value is the nearest end of [0, 1]."""
    result = estimate(table_question(case["channel"]["P"]), case["data"]["counts_report_0_1"])
    found = result["answer 1"]
    assert found.feasible == pytest.approx(min(max(found.estimate, 0), 1), abs=1e-9)
    assert max(found.low, 0) < min(found.high, 1)
    low, high = case["outputs"]["ci95_pi_unclipped"]["wilson"]
    if high <= 0:
        assert "likelihood-ratio" in found.flag
        assert found.low == 0 < found.high <= 1


@pytest.mark.parametrize("case", reference("univariate_kary"), ids=lambda case: case["name"])
def test_several_answers_are_as_in_r(case: dict) -> None:
    """RRreg 0.7.6 RRuni, van den Hout & van der Heijden (2002), DescTools: 1e-9."""
    matrix, outputs = np.array(case["channel"]["P"]), case["outputs"]
    counts = case["data"]["counts_by_report"]
    asked = table_question(matrix.tolist())
    result = estimate(asked, counts)
    moment = outputs["RRreg_RRuni_moment"]
    assert result.arrays.estimate == pytest.approx(moment["pi"], abs=1e-9)
    assert result.arrays.se == pytest.approx(moment["se_n_minus_1"], abs=1e-9)
    name = "covariance_van_den_Hout_van_der_Heijden_2002_n_minus_1"
    for one, other in ((0, 1), (1, 2)):
        cov = np.array(outputs[name])
        expected = np.sqrt(cov[one, one] + cov[other, other] - 2 * cov[one, other])
        difference = result.difference(f"answer {one}", f"answer {other}")
        assert difference.se == pytest.approx(expected, abs=1e-9)
        assert difference.estimate == pytest.approx(moment["pi"][one] - moment["pi"][other])
    if "multi_freq_ldpy_IBU_constrained_MLE" in outputs:
        shares = outputs["multi_freq_ldpy_IBU_constrained_MLE"]["pi_all_categories"]
        assert result.feasible == pytest.approx(shares, abs=1e-5)
    if "per_category_95_wilson_pi" not in outputs:
        return
    p, q = matrix[0, 0], matrix[0, 1]
    by_supports = support_shares(counts, sum(counts), p, q)
    assert by_supports.estimate == pytest.approx(moment["pi"], abs=1e-9)
    assert by_supports.se == pytest.approx(moment["se_n_minus_1"], abs=1e-9)
    for name, method in (
        ("per_category_95_wilson_pi", wilson),
        ("per_category_95_clopper_pearson_pi", clopper_pearson),
    ):
        found = support_shares(counts, sum(counts), p, q, interval=method)
        expected = np.array(outputs[name])
        inside = expected[:, 1] > 0
        pairs = np.stack([found.low, found.high], axis=1)
        assert pairs[inside] == pytest.approx(expected[inside], abs=1e-9)
    # A table whose rows are k-ary gives Wilson's intervals too.
    through_table = np.stack([result.arrays.low, result.arrays.high], axis=1)
    expected = np.array(outputs["per_category_95_wilson_pi"])
    inside = expected[:, 1] > 0
    assert through_table[inside] == pytest.approx(expected[inside], abs=1e-8)


def test_simultaneous_intervals_with_wilson_are_goodmans() -> None:
    """DescTools 0.99.59 MultinomCI(method = "goodman"), mapped."""
    case = next(c for c in reference("univariate_kary") if c["name"] == "fr_k3_uniform")
    asked = question(KAry(3, 8, 1))
    found = estimate(
        asked, case["data"]["counts_by_report"], interval=wilson, simultaneous=True
    ).arrays
    expected = case["outputs"]["simultaneous95_goodman_pi_unclipped"]
    assert np.stack([found.low, found.high], axis=1) == pytest.approx(np.array(expected), abs=1e-9)


def test_kuk_with_five_cards() -> None:
    """RRreg 0.7.6, Kuk with 5 cards: mean number of red ones, variance under the model."""
    (case,) = reference("univariate_repeated")
    matrix = np.array(case["channel"]["P"])
    counts = np.array(case["data"]["counts_report_0_to_5"])
    line = (np.arange(6) / 5 - 0.3) / 0.4
    pi = counts @ line / counts.sum()
    assert pi == pytest.approx(case["outputs"]["pi"], abs=1e-9)
    # The variance of Kuk (1990): of the 5n cards about their rate, and of the n people.
    rate, n = 0.3 + 0.4 * pi, counts.sum()
    variance = rate * (1 - rate) / 0.4**2 / (5 * n - 1) + (1 - 1 / 5) * pi * (1 - pi) / (n - 1)
    assert np.sqrt(variance) == pytest.approx(case["outputs"]["se"], abs=1e-9)
    # Our own estimate weighs responses by what they tell, so it differs, within 1 se.
    ours = estimate(table_question(matrix.tolist()), counts.tolist())["answer 1"]
    assert abs(ours.estimate - pi) < case["outputs"]["se"]
    assert ours.se < 1.05 * case["outputs"]["se"]


@pytest.mark.parametrize("case", reference("univariate_two_group"), ids=lambda case: case["name"])
def test_two_group_designs_are_linear_systems(case: dict) -> None:
    """RRreg 0.7.6; the formulae in the cases' notes, solved with ``left_inverse``."""
    outputs, model = case["outputs"], case["design"]["RRreg_model"]
    p = np.array(case["design"]["RRreg_p"])
    groups = [case["data"]["group1"], case["data"]["group2"]]
    rates = np.array([group["yes"] / group["n"] for group in groups])
    n = np.array([group["n"] for group in groups])
    variances = rates * (1 - rates) / (n - 1)
    matrix = {
        "UQTunknown": np.stack([p, 1 - p], axis=1),
        "CDM": np.stack([np.ones(2), p], axis=1),
        "SLD": np.stack([np.ones(2), 1 - p], axis=1),
    }[model]
    inverse = left_inverse(matrix)
    first, second = inverse @ rates
    pi = 1 - second if model == "SLD" else first
    assert pi == pytest.approx(outputs["pi"], abs=1e-9)
    row = inverse[1] if model == "SLD" else inverse[0]
    assert np.sqrt(row**2 @ variances) == pytest.approx(outputs["piSE"], abs=1e-9)


def test_warners_variance() -> None:
    """Warner (1965): Var = (1/(16(p − ½)²) − (π − ½)²)/n, at the rate expected."""
    (case,) = reference("formula")
    for cell in case["outputs"]["grid"]:
        p, pi, n = cell["p"], cell["pi"], cell["n"]
        rate = p * pi + (1 - p) * (1 - pi)
        found = support_shares(rate * n, n, p, 1 - p)
        assert found.se**2 * (n - 1) / n == pytest.approx(cell["var"], rel=1e-9)


# What a result is


def test_the_result_keeps_its_inputs_and_says_how_it_came_to_be() -> None:
    counts = {0: 430, 1: 570}
    result = estimate(COIN, counts, level=0.9, fingerprint="ab" * 32)
    counts[0] = 0
    assert result.counts == {0: 430, 1: 570}
    assert (result.n, result.level, result.target) == (1000, 0.9, "population")
    assert result.epsilon == COIN.epsilon and result.delta == 0
    assert result.fingerprint == "ab" * 32 and result.question is COIN
    assert "Wilson" in result.method
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.level = 0.5  # type: ignore[misc]
    text = str(result)
    for part in ("Yes", "0.3600", "n = 1000", "90 %", "ε = 1.099", "abababababababab"):
        assert part in text


def test_result_tables() -> None:
    result = estimate(CAMPUS["drug"], [200, 190, 199, 193, 218])
    frame = result.to_frame()
    assert frame["estimate"].tolist() == [value.estimate for value in result.values()]
    assert {"n", "epsilon", "method", "level", "target", "fingerprint"} <= set(frame.columns)
    assert result.to_csv().count("\n") == 6
    document = json.loads(result.to_json())
    assert document["values"][1]["answer"] == "Cannabis"
    assert document["n"] == 1000
    assert result.to_markdown().splitlines()[2].startswith("| None | 0.2000 |")
    assert "\\toprule" in result.to_latex()


def test_result_files(tmp_path) -> None:  # type: ignore[no-untyped-def]
    import pandas

    result = estimate(CAMPUS["drug"], [200, 190, 199, 193, 218])
    result.to_csv(tmp_path / "a.csv")
    result.to_json(tmp_path / "a.json")
    result.to_parquet(tmp_path / "a.parquet")
    assert pandas.read_csv(tmp_path / "a.csv")["low"].tolist() == result.arrays.low.tolist()
    assert pandas.read_parquet(tmp_path / "a.parquet")["low"].tolist() == result.arrays.low.tolist()
    assert json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))["question"] == "drug"


def test_latex_and_markdown_escape() -> None:
    asked = question(kind="choice", options=["50 % & more", "a|b_c"], epsilon=1)
    result = estimate(asked, [40, 60])
    assert r"50 \% \& more" in result.to_latex() and r"a|b\_c" in result.to_latex()
    assert r"a\|b_c" in result.to_markdown()


def test_answers_go_by_any_language_and_unknown_ones_are_named() -> None:
    result = estimate(CAMPUS["drug"], [200, 190, 199, 193, 218])
    assert result["Kokain"] == result["Cocaine"]
    with pytest.raises(KeyError, match="Cannabis"):
        result["Tea"]


def test_counts_by_name_by_number_and_in_a_row_agree() -> None:
    by_name = estimate(COIN, {"Yes": 430, "No": 570})
    by_number = estimate(COIN, {np.int64(0): 430, 1: np.int64(570)})
    in_a_row = estimate(COIN, np.array([430, 570]))
    assert by_name["Yes"] == by_number["Yes"] == in_a_row["Yes"]
    assert by_name["Yes"].estimate == pytest.approx(0.36)


# Bad input


@pytest.mark.parametrize(
    ("counts", "error", "words"),
    [
        ({0: 1}, ValueError, "response 1 is missing"),
        ({0: 1, 1: 2, 2: 3}, ValueError, "not one of its responses"),
        ({0: 1, 1: 2, "Maybe": 3}, ValueError, "not one of its responses"),
        ({0: 1, True: 3}, ValueError, "not one of its responses"),
        ({0: 1, "No": 1, 1: 1}, ValueError, "twice"),
        ([1, 2, 3], ValueError, "there must be 2"),
        ([1], ValueError, "there must be 2"),
        ([-1, 2], ValueError, "negative"),
        ([0.5, 2], TypeError, "whole numbers"),
        ([float("nan"), 2], TypeError, "whole numbers"),
        ([True, 2], TypeError, "whole numbers"),
        ([None, 2], TypeError, "whole numbers"),
        (["1", 2], TypeError, "whole numbers"),
        (np.array([1.0, 2.0]), TypeError, "whole numbers"),
        ("12", TypeError, "mapping"),
        (None, TypeError, "mapping"),
        ([0, 0], ValueError, "no responses"),
        ({0: 0, 1: 0}, ValueError, "no responses"),
    ],
)
def test_bad_counts_are_refused(counts: object, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        estimate(COIN, counts)  # type: ignore[arg-type]


def test_counts_that_do_not_sum_are_refused() -> None:
    assert estimate(COIN, [430, 570], n=1000).n == 1000
    with pytest.raises(ValueError, match="add up to 1000, not to 999"):
        estimate(COIN, [430, 570], n=999)


def test_other_bad_arguments() -> None:
    with pytest.raises(ValueError, match="target"):
        estimate(COIN, [1, 2], target="sample")
    with pytest.raises(ValueError, match="level"):
        estimate(COIN, [1, 2], level=95)
    with pytest.raises(TypeError, match="question"):
        estimate("cheated", [1, 2])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="only wilson"):
        estimate(COIN, [1, 2], target="respondents", interval=clopper_pearson)
    with pytest.raises(ValueError, match="one to one"):
        estimate(question(KAry(2, 1, 1)), [1, 2])
    with pytest.raises(ValueError, match="must differ"):
        estimate(COIN, [1, 2]).difference("Yes", "Yes")


SMALL = [
    COIN,
    CAMPUS["copied"],
    CAMPUS["ghostwriter"],
    CAMPUS["drug"],
    CAMPUS["mood"],
    question(kind="choice", options=list("abcdefgh"), epsilon=1, law="subset"),
    question(kind="list", options=list("abcdefghijklm"), epsilon=1, law="projective"),
    question(kind="yes-no", protect=False),
    question(kind="number", range=[0, 10], epsilon=1, law="two-point"),
    question(kind="number", range=[0, 10], epsilon=1, law="wave"),
    question(kind="number", range=[0, 10], epsilon=1, noise="laplace"),
    question(kind="number", range=[0, 10], epsilon=1, noise="gaussian", delta=0.001),
    question(kind="number", range=[0, 10], protect=False),
]


@pytest.mark.parametrize("target", ["population", "respondents"])
@pytest.mark.parametrize("total", [1, 2, 20])
@pytest.mark.parametrize("asked", SMALL, ids=lambda q: f"{q.kind}, {q.law.name}")
def test_one_response_or_all_alike_give_a_result_without_nan(
    asked: Question, total: int, target: str
) -> None:
    for response in (0, asked.law.responses - 1):
        counts = [0] * asked.law.responses
        counts[response] = total
        result = estimate(asked, counts, target=target)
        for value in result.values():
            numbers = (value.noisy, value.estimate, value.se, value.low, value.high, value.feasible)
            assert np.isfinite(numbers).all()
            if asked.protected:
                assert value.low < value.high
        assert str(result)


def test_an_option_that_nobody_drew_says_so() -> None:
    result = estimate(CAMPUS["worries"], [3, 2, 0, 0, 1, 1, 1, 1, 1, 1])
    found = result["Exams"]
    assert np.isnan(found.estimate) and "nobody drew it" in found.flag
    assert (found.low, found.high) == (0, 1)
    assert json.loads(result.to_json())["values"][1]["estimate"] is None
    assert result.drawn.tolist() == [5, 0, 2, 2, 2]


def test_those_not_asked_are_left_out_of_n() -> None:
    result = estimate(CAMPUS["hall"], [30, 20, 950])
    assert (result.n, result.not_asked) == (50, 950)
    assert result["Yes"].estimate == 0.6
    assert "950 not asked" in str(result)
    with pytest.raises(ValueError, match="not asked"):
        estimate(CAMPUS["hall"], [30, 20])
    assert estimate(CAMPUS["hall"], {0: 30, 1: 20, 2: 950})["Yes"].low == result["Yes"].low


# Methods


def test_the_switch_to_likelihood_ratio_is_where_wilson_holds_nothing_possible() -> None:
    p, q = 0.75, 0.25
    for yes in range(0, 101):
        found = support_shares([yes], 100, p, q)
        low, high = wilson(yes, 100)
        empty = high <= q or low >= p
        assert (found.flag[0] == 2) == empty
        assert (found.flag[0] > 0) == (yes < 25 or yes > 75)
        if empty:
            expected = likelihood_ratio(yes, 100, 0.95, q, p)
            assert (found.low[0], found.high[0]) == pytest.approx(
                [(end - q) / (p - q) for end in expected]
            )


def test_methods_by_name() -> None:
    exact = estimate(COIN, [430, 570], interval=clopper_pearson)
    assert "Clopper" in exact.method
    assert exact["Yes"].low < estimate(COIN, [430, 570])["Yes"].low
    bounded = estimate(COIN, [240, 760], interval=likelihood_ratio)["Yes"]
    assert bounded.low == 0
    together = estimate(CAMPUS["drug"], [200, 190, 199, 193, 218], simultaneous=True)
    alone = estimate(CAMPUS["drug"], [200, 190, 199, 193, 218])
    assert (together.arrays.low < alone.arrays.low).all()
    assert "all at once" in together.method and "Clopper" in together.method


def test_a_table_with_two_answers_per_response_is_the_binomial() -> None:
    """L's rows then have two values, so the linear Wilson is the binomial one."""
    matrix = np.array([[0.8, 0.3], [0.2, 0.7]])
    found = table_shares([[400, 600]], matrix)
    direct = support_shares([600], 1000, 0.7, 0.2)
    assert found.low[0, 1] == pytest.approx(direct.low[0], abs=1e-12)
    assert found.high[0, 1] == pytest.approx(direct.high[0], abs=1e-12)


def test_intervals_for_these_respondents_cover_them() -> None:
    """4,000 surveys of 500 fixed people, 150 of them Yes, at ε = 3: within 4 standard errors.

    The interval for the population, which adds sampling, must be wider.
    """
    law = odds.k_ary(2, Fraction(3))
    p, q = float(law.p), float(law.q)
    rng = np.random.default_rng(5)
    yes = rng.binomial(150, p, 4000) + rng.binomial(350, q, 4000)
    own = support_shares(yes[:, None], 500, p, q, target="respondents")
    held = (own.low <= 0.3) & (0.3 <= own.high)
    assert abs(held.mean() - 0.95) < 4 * np.sqrt(0.95 * 0.05 / 4000)
    wider = support_shares(yes[:, None], 500, p, q)
    assert (wider.high - wider.low).mean() > 1.5 * (own.high - own.low).mean()


def test_no_clip_bias() -> None:
    """k = 128, ε = 1, n = 2,000, a leading share of 17.6 %: bias below 0.5 points.

    200 surveys with the law that is chosen for 128 options; within 4 standard errors, and the
    standard error itself is below 0.5 points.
    """
    law = odds.least_variance(128, Fraction(1))
    asked = question(law)
    shares = np.full(128, (1 - 0.176) / 127)
    shares[0] = 0.176
    rng = np.random.default_rng(6)
    found = []
    for _ in range(200):
        answers = rng.choice(128, 2000, p=shares)
        responses = respond(law, answers, generator(rng))
        result = estimate(asked, np.bincount(responses, minlength=law.responses))
        found.append(result.arrays.estimate[0])
    se = np.std(found) / np.sqrt(len(found))
    assert abs(np.mean(found) - 0.176) < 4 * se
    assert se < 0.005
    assert abs(np.mean(found) - 0.176) < 0.005
    # Exactly: the estimate's expectation is the truth.
    support = float(law.q) + float(law.p - law.q) * 0.176
    assert support_shares([support * 2000], 2000, float(law.p), float(law.q)).estimate[
        0
    ] == pytest.approx(0.176)


# Feasible


def test_k_ary_closed_form_is_the_em_maximum() -> None:
    rng = np.random.default_rng(7)
    for truth, other, size in ((3, 1, 2), (1, 3, 2), (5, 2, 4), (2, 5, 4), (3, 2, 9)):
        law = KAry(size, truth, other)
        for _ in range(20):
            counts = rng.multinomial(60, rng.dirichlet(np.full(size, 0.3)))
            tally = dense(law, counts.tolist())
            matrix = channel(law)
            exact = k_ary_shares(counts.astype(float), float(law.p), float(law.q))
            assert exact.sum() == pytest.approx(1) and exact.min() >= 0
            by_em = maximise(likelihood(law, tally))
            value = counts @ np.log(matrix @ exact)
            assert value >= counts @ np.log(matrix @ by_em) - 1e-9
            assert exact == pytest.approx(by_em, abs=2e-3)


@pytest.mark.parametrize(
    "law",
    [Subset(6, 3, 3, 1), Projective(7, 2, 3, 3, 2), Projective(12, 3, 3, 5, 2)],
    ids=str,
)
def test_feasible_shares_of_sets_and_points_are_the_maximum(law: Subset | Projective) -> None:
    """D = Pᵀ(c/Pπ)/n must be at most 1 everywhere and 1 where π > 0 (Lindsay 1983)."""
    rng = np.random.default_rng(8)
    matrix = channel(law)
    for _ in range(5):
        counts = rng.multinomial(300, matrix @ rng.dirichlet(np.full(law.answers, 0.3)))
        pi = feasible_shares(law, dense(law, counts.tolist()))
        assert pi.sum() == pytest.approx(1) and pi.min() >= 0
        slope = (counts / (matrix @ pi)) @ matrix / counts.sum()
        assert slope.max() < 1 + 1e-5
        assert slope[pi > 1e-3] == pytest.approx(1, abs=1e-3)


# Scales, differences, lists


def test_the_mean_of_a_scale_without_noise_is_the_mean() -> None:
    asked = question(kind="scale", range=[1, 5], protect=False)
    counts = [10, 20, 40, 20, 10]
    values = np.repeat([1, 2, 3, 4, 5], counts)
    found = estimate(asked, counts).mean
    assert found.estimate == pytest.approx(values.mean())
    assert found.se == pytest.approx(values.std(ddof=1) / 10)


@pytest.mark.parametrize("law", ["k-ary", "subset", "projective", "exponential"])
@pytest.mark.parametrize("skip", [False, True])
def test_the_mean_of_a_scale_is_right_when_the_counts_are_expected_ones(
    law: str, skip: bool
) -> None:
    asked = question(kind="scale", range=[0, 6], epsilon=1, law=law, skip=skip)
    shares = np.array([0.3, 0.2, 0.1, 0.1, 0.1, 0.1, 0.1])
    shares = np.append(0.8 * shares, 0.2) if skip else shares
    counts = np.rint(10**9 * channel(asked.law) @ shares).astype(int)
    result = estimate(asked, counts)
    assert result.mean.estimate == pytest.approx(2.2, abs=1e-4)
    assert result.mean.low < 2.2 < result.mean.high
    assert result.mean.feasible == pytest.approx(2.2, abs=1e-2)
    with pytest.raises(ValueError, match="only a scale"):
        estimate(COIN, [1, 2]).mean  # noqa: B018


def test_differences_of_sets_have_the_right_variance_and_cover() -> None:
    """1,000 surveys of 400 people, sets of 2 or 3 of 8: coverage within 4 standard errors."""
    law = odds.subset(8, Fraction(1))
    asked = question(law)
    shares = np.array([0.4, 0.2, 0.1, 0.1, 0.05, 0.05, 0.05, 0.05])
    rng = np.random.default_rng(9)
    rows = rng.multinomial(400, channel(law) @ shares, size=1000)
    found = [estimate(asked, row).difference("answer 0", "answer 1") for row in rows]
    held = [d.low <= 0.2 <= d.high for d in found]
    assert abs(np.mean(held) - 0.95) < 4 * np.sqrt(0.95 * 0.05 / 1000)
    estimates = np.array([d.estimate for d in found])
    assert abs(estimates.mean() - 0.2) < 4 * estimates.std() / np.sqrt(1000)
    assert np.mean([d.se for d in found]) == pytest.approx(estimates.std(), rel=0.1)


def test_difference_of_ticks_adds_variances() -> None:
    result = estimate(CAMPUS["worries"], [60, 40, 50, 50, 55, 45, 50, 50, 45, 55])
    difference = result.difference("Exams", "Money")
    expected = np.hypot(result["Exams"].se, result["Money"].se)
    assert difference.se == pytest.approx(expected)
    assert difference.low < difference.estimate < difference.high


def test_the_top_of_a_long_list() -> None:
    """5,000 entries, 50,000 people, three popular ones: found, above zero, and no other."""
    asked = question(kind="list", options=[f"e{n}" for n in range(5000)], epsilon=2)
    rng = np.random.default_rng(10)
    shares = np.full(5000, 0.4 / 4997)
    shares[[17, 1234, 4999]] = [0.3, 0.2, 0.1]
    responses = respond(asked.law, rng.choice(5000, 50_000, p=shares), generator(rng))
    result = estimate(asked, np.bincount(responses, minlength=asked.law.responses))
    top = result.top(20)
    assert [entry.name for entry in top[:3]] == ["e17", "e1234", "e4999"]
    assert [entry.name for entry in top if entry.above_zero] == ["e17", "e1234", "e4999"]
    for entry, share in zip(top, (0.3, 0.2, 0.1), strict=False):
        assert entry.low <= share <= entry.high
        # For all 5,000 at once each interval is at level 1 − 0.05/5000: z = 4.4, not 1.96.
        assert entry.high - entry.low > 2 * 4 * entry.se
    assert top[0].feasible > 0.2 and result.feasible.sum() == pytest.approx(1)
    assert len(str(result).splitlines()) == 24


def test_a_mapping_of_a_long_list_may_leave_zeros_out() -> None:
    asked = question(kind="list", options=[f"e{n}" for n in range(5000)], epsilon=2)
    one = estimate(asked, {5: 10, 7000: 3})
    dense = np.zeros(asked.law.responses, dtype=int)
    dense[[5, 7000]] = 10, 3
    assert one.arrays.estimate.tolist() == estimate(asked, dense).arrays.estimate.tolist()


def test_plain_ticks() -> None:
    asked = question(kind="choices", options=["a", "b", "c"], protect=False)
    result = estimate(asked, [10, 20, 0, 30, 0, 0, 0, 40])
    assert result.arrays.estimate == pytest.approx([0.9, 0.7, 0.4])
    assert result.difference("a", "b").estimate == pytest.approx(0.2)


def test_one_of_uses_the_coin_of_the_drawn_option() -> None:
    asked = question(OneOf(2, 3, 1))
    asked = dataclasses.replace(asked, kind="choices", options=("a", "b"))
    result = estimate(asked, [60, 40, 25, 75])
    assert result["a"].estimate == pytest.approx((0.4 - 0.25) / 0.5)
    assert result["b"].estimate == pytest.approx(1)
    low, high = binom(100, 0.4).interval(0.95)
    assert result["a"].low == pytest.approx((low / 100 - 0.25) / 0.5, abs=0.03)
    assert result["a"].high == pytest.approx((high / 100 - 0.25) / 0.5, abs=0.03)


def test_simulated_counts_go_straight_in() -> None:
    sample = simulate(CAMPUS, {"cheated": {"Yes": 0.3, "No": 0.7}}, n=10_000, seed=1)
    result = estimate(CAMPUS["cheated"], sample.counts["cheated"], level=0.95)
    assert result["Yes"].low < 0.3 < result["Yes"].high
    assert isinstance(CAMPUS["year"].law, Plain)
