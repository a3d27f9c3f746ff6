"""Weighted estimates beside R's survey and RRTCS, and in simulated surveys."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas
import pytest
from scipy import stats

from analysis import SurveyDesign, Weighted, designs, jackknife_weights, weighted, weighted_total
from analysis.numbers import noise_variance
from respondent import Survey

from .support import EXAMPLES, ROOT, question, reference, reference_case, reference_data

CAMPUS = Survey.load(EXAMPLES / "campus.toml")
COIN = designs.coin(0.5)
EXACT = 1e-9


# The reference cases


def test_total_of_rrtcs() -> None:
    """Horvitz–Thompson with the variance of RRTCS, its interval being the normal one."""
    case = reference_case("rrtcs_warner_total")
    data = reference_data(case).assign(w=lambda d: 1 / d["Pi"], N=case["data"]["N"])
    design, told = designs.warner(case["design"]["p"]), case["outputs"]
    total = weighted_total(data, "z", design, SurveyDesign("w", fpc="N"))["Yes"]
    assert total.estimate == pytest.approx(told["total"], abs=EXACT * 802)
    assert total.se**2 == pytest.approx(told["variance"], rel=EXACT)
    mean = weighted(data, "z", design, SurveyDesign("w", fpc="N"))["Yes"]
    assert mean.estimate == pytest.approx(told["mean"], abs=EXACT)
    assert mean.se**2 == pytest.approx(told["mean_variance"], rel=EXACT)
    wider = stats.t.ppf(0.975, 124) / stats.norm.ppf(0.975)
    low, high = told["mean_ci95"]
    assert mean.high - mean.low == pytest.approx(wider * (high - low), rel=EXACT)


@pytest.mark.parametrize("case", reference("published_finite_population"), ids=lambda c: c["name"])
def test_means_of_rrtcs(case: Any) -> None:
    data = {
        "z": np.repeat([0, 1], case["data"]["counts_report_0_1"]),
        "N": np.full(case["data"]["n"], case["data"]["N"]),
    }
    design = designs.unrelated(case["design"]["p"], case["design"]["alpha"])
    found = weighted(data, "z", design, SurveyDesign(fpc="N"))["Yes"]
    assert found.estimate == pytest.approx(case["outputs"]["estimate"], abs=EXACT)
    assert found.se**2 == pytest.approx(case["outputs"]["variance"], rel=EXACT)


def test_mean_of_the_survey_package() -> None:
    case = reference_case("survey_svymean_of_debiased_values")
    data, told = reference_data(case).assign(w=lambda d: 1 / d["Pi"]), case["outputs"]
    design = designs.forced(0.2, 0.2)
    found = weighted(data, "z", design, SurveyDesign("w", "ST"))["Yes"]
    assert found.estimate == pytest.approx(told["mean_stratified"], abs=EXACT)
    assert found.se == pytest.approx(told["se_stratified"], rel=EXACT)
    assert found.freedom == 442 - 19
    # R's interval there is the normal one.
    width = (told["ci95_stratified"][1] - told["ci95_stratified"][0]) / 2
    assert stats.norm.ppf(0.975) * found.se == pytest.approx(width, rel=EXACT)
    flat = weighted(data, "z", design, SurveyDesign("w"))["Yes"]
    assert flat.se == pytest.approx(told["se_unstratified"], rel=EXACT)


def person_by_person(values: Any, chances: Any) -> float:
    """The variance that RRTCS gives a total: Deville's for people drawn one by one, and the
    coin's, Σ r(r − 1)/π."""
    part = (1 - chances) / (1 - chances).sum()
    away = values / chances - (part * values / chances).sum()
    deville = ((1 - chances) * away**2).sum() / (1 - (part**2).sum())
    return float(deville + (values * (values - 1) / chances).sum())


def test_clusters_count_where_rrtcs_is_blind_to_them() -> None:
    """Whole student groups were drawn: 14 and 11 of 50 each (Pi = 0.28 and 0.22).

    RRTCS takes inclusion chances of persons only, so its variance is that of persons drawn one
    by one. Each group's students answer more alike than that: its own sum is the unit drawn.
    """
    data = pandas.read_csv(ROOT / "tests" / "reference" / "data" / "rrtcs_horvitz_cluster.csv")
    data = data.assign(w=1 / data["Pi"], N=50)
    design = designs.unrelated(0.6, 0.5)
    right = weighted_total(data, "z", design, SurveyDesign("w", "ST", "CL", "N"))["Yes"]
    values = (data["z"] - 0.2) / 0.6
    # By hand: sums of clusters, each stratum by itself, and the coin's part of those drawn.
    sums = (data["w"] * values).groupby([data["ST"], data["CL"]]).sum()
    spread = sums.groupby("ST").var() * sums.groupby("ST").size()
    part = sums.groupby("ST").size() / 50
    coin = (data["w"] * values * (values - 1)).sum()
    assert right.estimate == pytest.approx((data["w"] * values).sum())
    assert right.se**2 == pytest.approx(float(((1 - part) * spread).sum() + coin), rel=EXACT)
    assert right.freedom == 25 - 2
    blind = np.sqrt(person_by_person(values, data["Pi"]))
    assert right.se == pytest.approx(69.966, abs=0.001)
    assert blind == pytest.approx(61.631, abs=0.001), "12 % too small"
    # On its own terms the formula is that of the package.
    case = reference_case("rrtcs_warner_total")
    own = reference_data(case)
    variance = person_by_person((own["z"] - 0.3) / 0.4, own["Pi"])
    assert variance == pytest.approx(case["outputs"]["variance"], rel=EXACT)


#: R's survey on its own data apiclus1 (15 of 757 districts drawn, all their schools asked).
SCHOOLS = pandas.read_csv(ROOT / "tests" / "reference" / "data" / "apiclus1.csv").assign(
    w=6194 / 183, fpc=757
)
SCORE = question(kind="number", range=[0, 1000], protect=False)
KINDS = {"stype": {"E": 4421.0, "H": 755.0, "M": 1018.0}}
WIDE = {"wide": {"No": 1000.0, "Yes": 5194.0}}


@pytest.mark.parametrize(
    ("margins", "estimate", "se"),
    [
        # survey 4.5: svymean(~api00, d), d = svydesign(id=~dnum, weights=~pw, fpc=~fpc)
        (None, 644.169398907104, 23.542240693781),
        # … postStratify(d, ~stype, …)
        (KINDS, 642.310788211584, 23.9204864450905),
        # … rake(d, list(~stype, ~sch.wide), …, control = list(epsilon = 1e-12))
        (KINDS | WIDE, None, 23.745841047537),
    ],
)
def test_calibration_of_the_survey_package(margins: Any, estimate: float | None, se: float) -> None:
    design = SurveyDesign("w", clusters="dnum", fpc="fpc", margins=margins)
    found = weighted(SCHOOLS, "api00", SCORE, design)["mean"]
    assert found.se == pytest.approx(se, rel=EXACT)
    assert found.freedom == 14
    if estimate is not None:
        assert found.estimate == pytest.approx(estimate, rel=1e-12)


def test_groups_of_the_survey_package() -> None:
    """``svycontrast(svyby(~api00, ~stype, d, svymean, covmat=TRUE), …)`` of survey 4.5 without
    fpc: H/E = 0.953308493576269 (se 0.04682352757304), H·E = 401371.240079365 (35264.9638828295).
    """
    found = weighted(SCHOOLS, "api00", SCORE, SurveyDesign("w", clusters="dnum"), by="stype")
    e, h, m = (row.estimate for row in found.rows)
    assert [row.group for row in found.rows] == ["E", "H", "M"]
    assert h / e == pytest.approx(0.953308493576269, rel=1e-12)
    ratio, product = np.array([-h / e**2, 1 / e, 0]), np.array([h, e, 0])
    assert np.sqrt(ratio @ found.covariance @ ratio) == pytest.approx(0.04682352757304, rel=1e-9)
    assert np.sqrt(product @ found.covariance @ product) == pytest.approx(
        35264.9638828295, rel=1e-9
    )
    difference = found.difference(("H", "mean"), ("E", "mean"))
    line = np.array([-1.0, 1, 0])
    assert difference.estimate == pytest.approx(h - e)
    assert difference.se == pytest.approx(np.sqrt(line @ found.covariance @ line))
    assert (difference.one, difference.other) == ("H mean", "E mean")
    # High schools are in 6 of the 15 districts.
    assert found["H", "mean"].freedom == SCHOOLS[SCHOOLS["stype"] == "H"]["dnum"].nunique() - 1


def test_variance_of_warner() -> None:
    """Warner's (1965) variance at a known share is that of the unbiased values."""
    for row in reference_case("warner_theoretical_variance")["outputs"]["grid"]:
        design = designs.warner(row["p"])
        rates = design.channel @ [1 - row["pi"], row["pi"]]
        values = design.inverse[1]
        variance = (rates @ values**2 - (rates @ values) ** 2) / row["n"]
        assert variance == pytest.approx(row["var"], rel=EXACT)


# Closed forms


def test_a_simple_sample_has_the_usual_standard_error() -> None:
    """√(λ̂(1−λ̂)/(n−1))/|p−q|, and of numbers s/√n."""
    data = {"y": np.repeat([0, 1], [620, 380])}
    found = weighted(data, "y", COIN, SurveyDesign())["Yes"]
    assert found.estimate == pytest.approx((0.38 - 0.25) / 0.5)
    assert found.se == pytest.approx(np.sqrt(0.38 * 0.62 / 999) / 0.5)
    assert (found.freedom, found.n) == (999, 1000)
    plain = question(kind="number", range=[0, 9], protect=False)
    ages = [1, 4, 4, 9, 0]
    mean = weighted({"y": ages}, "y", plain, SurveyDesign())["mean"]
    assert mean.estimate == pytest.approx(np.mean(ages))
    assert mean.se == pytest.approx(stats.sem(ages))
    income = CAMPUS["income"]
    high = weighted({"y": data["y"]}, "y", income, SurveyDesign())["mean"]
    p = income.law.truth / (income.law.truth + income.law.other)  # type: ignore[attr-defined]
    assert high.se == pytest.approx(10_000 * np.sqrt(0.38 * 0.62 / 999) / (2 * p - 1))


def test_when_everybody_was_asked_only_the_coin_is_uncertain() -> None:
    """Σ r(r − 1)/n² is then all the variance: unbiased for Σ V(r)/n²."""
    codes = np.repeat([0, 1], [700, 300])
    found = weighted({"y": codes, "N": np.full(1000, 1000)}, "y", COIN, SurveyDesign(fpc="N"))
    values = (codes - 0.25) / 0.5
    assert found["Yes"].se == pytest.approx(np.sqrt((values * (values - 1)).sum()) / 1000)
    direct = weighted(
        {"y": codes, "N": np.full(1000, 1000)}, "y", designs.direct(), SurveyDesign(fpc="N")
    )
    assert direct["Yes"].se == pytest.approx(0, abs=1e-12)


def test_a_group_is_a_domain() -> None:
    """Its mean's variance is that of w·1[group](r − mean)/Σw over the whole sample."""
    rng = np.random.default_rng(3)
    data = pandas.DataFrame(
        {"y": rng.integers(0, 2, 200), "w": rng.uniform(1, 4, 200), "g": rng.integers(0, 3, 200)}
    )
    found = weighted(data, "y", COIN, SurveyDesign("w"), by="g")[1, "Yes"]
    inside, values = data["g"] == 1, (data["y"] - 0.25) / 0.5
    mean = np.average(values[inside], weights=data["w"][inside])
    parts = data["w"] * inside * (values - mean) / data["w"][inside].sum()
    assert found.estimate == pytest.approx(mean)
    assert found.se == pytest.approx(np.sqrt(200 * parts.var()))
    assert found.n == inside.sum()


def test_the_coin_makes_some_variance_whatever_the_responses() -> None:
    """All responses alike have none of their own; a coin of 3 to 1 makes 3/4 a report, an asked
    number what its law does at least."""
    weights = np.array([1.0, 2, 3, 4])
    data = {"y": np.ones(4), "w": weights}
    found = weighted(data, "y", COIN, SurveyDesign("w"))["Yes"]
    assert found.se == pytest.approx(np.sqrt(0.75 * (weights**2).sum()) / 10)
    total = weighted_total(data, "y", COIN, SurveyDesign("w"))["Yes"]
    assert total.se == pytest.approx(np.sqrt(0.75 * (weights**2).sum()))
    assert weighted(data, "y", designs.direct(), SurveyDesign("w"))["Yes"].se == 0
    hours = weighted(data, "y", CAMPUS["hours"], SurveyDesign())["mean"]
    least = noise_variance(CAMPUS["hours"].law).min()  # type: ignore[arg-type]
    assert hours.se == pytest.approx(np.sqrt(least / 4))


def test_coverage_in_small_samples() -> None:
    """2,000 samples of five with a rare answer: one in five has all responses alike."""
    rng = np.random.default_rng(20_260_104)
    held = 0
    for _ in range(2000):
        codes = flipped(rng.random(5) < 0.05, rng)
        found = weighted({"y": codes}, "y", COIN, SurveyDesign(), answer="Yes")["Yes"]
        held += found.low <= 0.05 <= found.high
    assert held / 2000 >= 0.935


def test_two_arms_together() -> None:
    """The mean over a direct and a coin arm of equal weight, arms being strata."""
    data = pandas.DataFrame({"y": [1, 0, 0, 0, 1, 1, 0, 0], "arm": ["dq"] * 4 + ["rr"] * 4})
    arms = {"dq": designs.direct(), "rr": COIN}
    found = weighted(data, "y", arms, SurveyDesign(strata="arm"), arm="arm")["Yes"]
    assert found.estimate == pytest.approx((0.25 + 0.5) / 2)
    variances = [0.25 * 0.75 / 3, 0.5 * 0.5 / 3 / 0.25]
    assert found.se == pytest.approx(np.sqrt(sum(variances) / 4))


def test_ticks_rest_on_those_who_drew_them() -> None:
    asked = CAMPUS["worries"]
    rng = np.random.default_rng(4)
    codes = rng.integers(0, 10, 500)
    found = weighted({"y": codes}, "y", asked, SurveyDesign())["Exams"]
    mine = codes[codes // 2 == 1] % 2
    p, q = float(asked.law.p), float(asked.law.q)  # type: ignore[attr-defined]
    assert found.estimate == pytest.approx((mine.mean() - q) / (p - q))
    assert found.n == len(mine)
    usual = np.sqrt(mine.mean() * (1 - mine.mean()) / len(mine)) / (p - q)
    assert found.se == pytest.approx(usual, rel=0.002), "n/(n−1) apart"
    total = weighted_total({"y": codes, "w": np.full(500, 2.0)}, "y", asked, SurveyDesign("w"))[
        "Exams"
    ]
    assert total.estimate == pytest.approx(2 * 5 * ((mine - q) / (p - q)).sum())


def test_a_scale_closes_with_its_mean() -> None:
    asked = CAMPUS["mood"]
    codes = np.random.default_rng(5).integers(0, 7, 400)
    found = weighted({"y": codes, "w": np.ones(400)}, "y", asked, SurveyDesign("w"))
    assert [row.name for row in found.rows] == [*"1234567", "mean"]
    shares = np.array([row.estimate for row in found.rows[:-1]])
    assert found["mean"].estimate == pytest.approx(shares @ np.arange(1, 8))
    line = np.append(np.arange(1, 8), 0.0)
    assert found["mean"].se == pytest.approx(np.sqrt(line @ found.covariance @ line))
    total = weighted_total({"y": codes, "w": np.ones(400)}, "y", asked, SurveyDesign("w"))
    assert "mean" not in [row.name for row in total.rows]


def test_those_who_would_not_say_are_no_part_of_a_scale_mean() -> None:
    scale = question(kind="scale", range=[1, 5], protect=False, skip=True)
    codes = [0, 0, 4, 5, 5, 5]
    found = weighted({"y": codes}, "y", scale, SurveyDesign())["mean"]
    assert found.estimate == pytest.approx(7 / 3)


# What is left out, and told


def small(**columns: Any) -> pandas.DataFrame:
    table: dict[str, Any] = {
        "y": [1, 0, 1, 1, 0, 0],
        "w": [1.0, 2, 1, 2, 1, 2],
        "g": list("aabbcc"),
    }
    return pandas.DataFrame(table | columns)


def test_missing_responses_are_left_out_and_counted() -> None:
    data = small(y=[1, 0, 1, 1, 0, None])
    found = weighted(data, "y", COIN, SurveyDesign("w"))
    kept = weighted(data[:5], "y", COIN, SurveyDesign("w"))
    assert found["Yes"].estimate == pytest.approx(kept["Yes"].estimate)
    assert (found.n, found.missing, found["Yes"].freedom) == (5, 1, 4)
    assert "1 missing" in str(found)
    by = weighted(small(g=["a", "a", "b", "b", None, None]), "y", COIN, SurveyDesign("w"), by="g")
    assert (by.missing, by.n) == (2, 4)


def test_the_question_was_not_shown_to_all() -> None:
    found = weighted({"y": [0, 1, 2, 2, 0]}, "y", CAMPUS["hall"], SurveyDesign())
    assert (found.n, found.missing, found.not_asked) == (3, 2, 2)


def test_weights_of_zero_are_left_out_and_counted() -> None:
    found = weighted(small(w=[1.0, 2, 1, 2, 1, 0]), "y", COIN, SurveyDesign("w"))
    assert (found.n, found.zeros) == (5, 1)
    assert "1 with weight 0" in str(found)


def test_a_group_without_responses_has_no_estimate() -> None:
    found = weighted(small(y=[1, 0, 1, 1, None, None]), "y", COIN, SurveyDesign("w"), by="g")
    row = found["c", "Yes"]
    assert np.isnan(row.estimate) and row.flag == "nothing to estimate from"
    assert found["a", "Yes"].flag == ""
    assert "–" in str(found)


def test_one_respondent_in_a_group_has_no_interval() -> None:
    found = weighted(small(g=list("abbbbb")), "y", COIN, SurveyDesign("w"), by="g")["a", "Yes"]
    assert found.flag == "too few clusters: no interval" and np.isnan(found.low)


def test_outside_the_possible_is_flagged_and_not_clipped() -> None:
    few = weighted({"y": np.repeat([0, 1], [80, 20])}, "y", COIN, SurveyDesign())["Yes"]
    assert few.estimate == pytest.approx(-0.1) and few.flag == "outside the possible"
    assert few.low < 0 < few.high
    none = weighted({"y": np.repeat([0, 1], [990, 10])}, "y", COIN, SurveyDesign())["Yes"]
    assert none.estimate < 0 and none.flag.endswith("likelihood-ratio interval")
    assert none.low == 0 < none.high < 0.02


def test_tables() -> None:
    found = weighted(small(), "y", COIN, SurveyDesign("w"), by="g", answer="Yes")
    frame = found.to_frame()
    assert list(frame.columns[:4]) == ["column", "group", "name", "estimate"]
    assert len(frame) == 3
    assert (found.to_csv() or "").startswith("column,group,name,estimate,se,low,high,freedom,n")
    head = ["g", "answer", "estimate", "se", "low", "high", "n", "flag"]
    assert str(found).splitlines()[0].split() == head
    assert "group" not in weighted(small(), "y", COIN, SurveyDesign("w")).to_frame()
    with pytest.raises(KeyError, match="pair of g and answer"):
        found["Yes"]


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: total(SurveyDesign()), "a total needs weights"),
        (lambda: total(SurveyDesign("w", margins={"g": dict.fromkeys("abc", 1 / 3)})), "shares"),
        (lambda: total(jackknife_weights(small(), SurveyDesign(clusters="g"))), "a total needs"),
        (lambda: weighted(small(), "y", COIN, SurveyDesign("w"), answer="Maybe"), "no 'Maybe'"),
        (lambda: weighted(small(), "y", COIN, SurveyDesign("w"), level=95), "level: must be"),
        (lambda: weighted(small(y=[None] * 6), "y", COIN, SurveyDesign("w")), "no responses"),
        (lambda: weighted(small(w=[-1.0] * 6), "y", COIN, SurveyDesign("w")), "from 0 on"),
    ],
)
def test_mistakes(make: Any, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        make()


def total(survey: Any) -> Weighted:
    return weighted_total(small(), "y", COIN, survey)


# Simulated surveys


class Country:
    """Four strata of 200 clusters with 15 to 40 people each, who answer alike in a cluster."""

    def __init__(self, rng: np.random.Generator) -> None:
        near = np.array([0.1, 0.2, 0.35, 0.15])[:, None] + rng.normal(0, 0.1, (4, 200))
        self.sizes = rng.integers(15, 41, (4, 200))
        self.there = np.arange(40) < self.sizes[:, :, None]
        self.answers = rng.random((4, 200, 40)) < np.clip(near, 0, 1)[:, :, None]
        self.share = float(self.answers[self.there].mean())

    def sample(self, rng: np.random.Generator) -> dict[str, npt.NDArray[Any]]:
        """Ten people of each of a few clusters; how few, depends on the stratum."""
        parts: dict[str, list[Any]] = {"w": [], "h": [], "c": [], "y": []}
        for stratum, drawn in enumerate((6, 8, 10, 12)):
            clusters = rng.choice(200, drawn, replace=False)
            order = np.where(self.there[stratum, clusters], rng.random((drawn, 40)), 2.0)
            people = np.argsort(order, axis=1)[:, :10]
            parts["y"].append(self.answers[stratum, clusters[:, None], people].ravel())
            parts["w"].append(np.repeat(200 / drawn * self.sizes[stratum, clusters] / 10, 10))
            parts["c"].append(np.repeat(clusters, 10))
            parts["h"].append(np.full(10 * drawn, stratum))
        found = {name: np.concatenate(part) for name, part in parts.items()}
        found["y"] = flipped(found["y"], rng)
        return found


def flipped(answers: npt.NDArray[Any], rng: np.random.Generator) -> npt.NDArray[Any]:
    """The truth with chance one half, otherwise a second, fair coin."""
    honest = rng.random(len(answers)) < 0.5
    return np.where(honest, answers, rng.random(len(answers)) < 0.5).astype(int)


def test_coverage_in_strata_and_clusters() -> None:
    """2,000 surveys: 95 % intervals cover 93.5 to 96.5 %, three standard errors either way."""
    rng = np.random.default_rng(20_260_101)
    country = Country(rng)
    design = SurveyDesign("w", "h", "c")
    held, estimates, errors = 0, [], []
    for _ in range(2000):
        found = weighted(country.sample(rng), "y", COIN, design, answer="Yes")["Yes"]
        held += found.low <= country.share <= found.high
        estimates.append(found.estimate)
        errors.append(found.se)
    assert 0.935 <= held / 2000 <= 0.965
    spread = np.std(estimates)
    assert abs(np.mean(estimates) - country.share) <= 4 * spread / np.sqrt(2000)
    assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(spread, rel=0.06)


def test_coverage_when_half_the_population_is_asked() -> None:
    """Without the coin's part of the variance these intervals would be a quarter too short and
    cover 84 %."""
    rng = np.random.default_rng(20_260_102)
    answers = rng.random(600) < 0.2
    held = 0
    for _ in range(2000):
        codes = flipped(rng.permutation(answers)[:300], rng)
        data = {"y": codes, "N": np.full(300, 600)}
        found = weighted(data, "y", COIN, SurveyDesign(fpc="N"), answer="Yes")["Yes"]
        held += found.low <= answers.mean() <= found.high
    assert 0.935 <= held / 2000 <= 0.965


def test_coverage_after_post_stratification() -> None:
    """Groups that answer differently and take part unequally; their numbers are known."""
    rng = np.random.default_rng(20_260_103)
    sizes, shares = np.array([5000, 3000, 2000]), np.array([0.1, 0.4, 0.7])
    truth = sizes @ shares / sizes.sum()
    design = SurveyDesign(margins={"g": dict(enumerate(sizes.tolist()))})
    held = 0
    for _ in range(2000):
        groups = rng.choice(3, 400, p=[0.3, 0.3, 0.4])
        codes = flipped(rng.random(400) < shares[groups], rng)
        found = weighted({"y": codes, "g": groups}, "y", COIN, design, answer="Yes")["Yes"]
        held += found.low <= truth <= found.high
    assert 0.935 <= held / 2000 <= 0.965
