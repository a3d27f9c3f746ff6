"""Designs as channels, and columns of responses read with one design or several."""

from __future__ import annotations

import numpy as np
import pandas
import pytest

from analysis import designs
from analysis.designs import Design, Responses, responses
from respondent import Survey

from .support import EXAMPLES, reference_case

CAMPUS = Survey.load(EXAMPLES / "campus.toml")

#: The designs of the reference cases, with their parameters as the R packages take them.
CASES = {
    "warner_p0.8_interior": designs.warner(0.8),
    "forced_sym_1_6_1_6": designs.forced(1 / 6, 1 / 6),
    "coinflip_3_4_1_4_eps_ln3": designs.coin(0.5),
    "uqt_known_0.7_0.25": designs.unrelated(0.7, 0.25),
    "kuk_single": designs.kuk(0.8, 0.2),
    "kuk_rep5": designs.kuk(0.7, 0.3, 5),
}


@pytest.mark.parametrize("name", CASES)
def test_channels_of_the_reference(name: str) -> None:
    case = reference_case(name)
    np.testing.assert_allclose(CASES[name].channel, case["channel"]["P"], rtol=0, atol=1e-9)


def test_a_question_has_a_design() -> None:
    found = designs.design(CAMPUS["cheated"])
    assert found.answers == ("Yes", "No")
    assert found.scores == (1, 0)
    assert found.answer() == 0
    np.testing.assert_allclose(found.channel, [[0.75, 0.25], [0.25, 0.75]])
    hours = designs.design(CAMPUS["hours"])
    assert hours.answers[-1] == "40" and hours.scores[-1] == 40
    assert np.isnan(designs.design(CAMPUS["drug"]).scores[-1]), "prefer not to say"


def test_unbiased_values_average_to_the_answer() -> None:
    for each in (*CASES.values(), designs.design(CAMPUS["drug"]), designs.k_ary(5, 0.4)):
        np.testing.assert_allclose(
            each.inverse @ each.channel, np.eye(len(each.answers)), atol=1e-9
        )


def test_responses_are_worth_what_is_wanted() -> None:
    """Also by channels that cannot tell all answers apart: a mean by two points."""
    for name in ("mood", "income", "debt", "hours"):
        each = designs.design(CAMPUS[name])
        wanted = np.array(each.scores)
        np.testing.assert_allclose(each.worth(wanted) @ each.channel, wanted, rtol=1e-8, atol=1e-8)
    kuk = designs.kuk(0.7, 0.3, 5)
    np.testing.assert_allclose(kuk.worth([0, 1]), kuk.inverse[1], atol=1e-9)
    with pytest.raises(ValueError, match="cannot tell the answers apart"):
        designs.design(CAMPUS["income"]).worth(np.eye(101)[3])


def test_plain_columns() -> None:
    numbers = designs.plain({"y": [2.5, None, 10, 2.5]}, "y")
    assert numbers.answers == ("2.5", "10") and numbers.scores == (2.5, 10)
    assert numbers.codes.tolist() == [0, -1, 1, 0]
    words = designs.plain(pandas.DataFrame({"y": ["m", "f", pandas.NA, ""]}), "y")
    assert words.answers == ("f", "m") and words.scores == (0, 1)
    assert words.missing == 2
    with pytest.raises(ValueError, match="column y: has no values"):
        designs.plain({"y": [None]}, "y")
    with pytest.raises(ValueError, match="group them first"):
        designs.plain({"y": np.arange(2_000)}, "y")


def test_a_published_estimate_is_the_mean_of_unbiased_values() -> None:
    """RRreg's vignette; its standard error has the divisor n − 1."""
    case = reference_case("published_RRreg_vignette_warner")
    codes = np.repeat([0, 1], case["data"]["counts_report_0_1"])
    values = responses({"y": codes}, "y", designs.warner(1 / 6)).unbiased[:, 1]
    assert values.mean() == pytest.approx(case["outputs"]["pi"], abs=1e-9)
    error = values.std(ddof=1) / len(values) ** 0.5
    assert error == pytest.approx(case["outputs"]["se"], abs=1e-9)


def test_arms_with_designs_of_their_own() -> None:
    data = pandas.DataFrame({"y": [1, 0, 1, None], "arm": ["rr", "dq", "dq", "rr"]})
    found = responses(data, "y", {"rr": designs.warner(0.8), "dq": designs.direct()}, arm="arm")
    np.testing.assert_allclose(found.chances, [[0.2, 0.8], [1, 0], [0, 1], [1, 1]])
    assert found.missing == 1
    assert np.isnan(found.unbiased[3]).all()
    np.testing.assert_allclose(found.unbiased[0], [-1 / 3, 4 / 3])


def test_answers_in_another_order_are_matched_by_name() -> None:
    question = CAMPUS["cheated"]
    both = responses(
        {"y": [0, 1], "arm": [0, 1]}, "y", {0: question, 1: designs.direct()}, arm="arm"
    )
    assert both.answers == ("Yes", "No")
    np.testing.assert_allclose(both.chances, [[0.75, 0.25], [1, 0]])


def test_not_asked_is_missing_and_counted() -> None:
    hall = CAMPUS["hall"]
    found = responses({"hall": [0, 2, 1, None]}, "hall", hall)
    assert (found.missing, found.not_asked) == (2, 1)


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: designs.warner(1.2), "p: must be a chance"),
        (lambda: designs.forced(0.7, 0.7), "at most 1"),
        (lambda: designs.table([[0.5, 0.5], [0.4, 0.5]]), "sum to 1"),
        (lambda: designs.table([0.5, 0.5]), "table of responses by answers"),
        (lambda: designs.warner(0.5).inverse, "cannot tell the answers apart"),
        (lambda: designs.design(CAMPUS["worries"]), "option by option"),
        (lambda: designs.warner(0.8).answer("Maybe"), "has no answer 'Maybe'"),
        (lambda: read([0, 2]), "must be from 0 to 1"),
        (lambda: read([0.5]), "whole numbers"),
        (lambda: read(["yes"]), "must have numbers"),
        (lambda: responses({"y": [1]}, "z", designs.direct()), "column z is missing"),
        (lambda: responses({"y": [1]}, "y", {"a": designs.direct()}), "arm: must name"),
    ],
)
def test_mistakes(make: object, told: str) -> None:
    assert callable(make)
    with pytest.raises(ValueError, match=told):
        make()


def read(values: list[object]) -> Responses:
    return responses({"y": values}, "y", designs.direct())


def test_an_unknown_arm() -> None:
    with pytest.raises(ValueError, match="'c' is not an arm"):
        responses({"y": [1], "arm": ["c"]}, "y", {"a": designs.direct()}, arm="arm")


def test_a_design_keeps_its_channel_to_itself() -> None:
    matrix = np.eye(2)
    found = Design("mine", matrix, ("No", "Yes"), (0.0, 1.0))
    matrix[0, 0] = 0
    assert found.channel[0, 0] == 1
