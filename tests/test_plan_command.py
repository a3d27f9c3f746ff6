"""``deniable plan``, called as people call it."""

from __future__ import annotations

import csv
import io
import json
import math
from pathlib import Path
from typing import Any

import pytest

from analysis import (
    Kind,
    detectable_difference,
    group_power,
    logistic_power,
    margin_of_error,
    mean_margin,
    n_for_margin,
    share_sample_size,
)
from respondent import Survey

from .test_cli import CAMPUS, COIN, bad, call, good
from .test_plots import texts

YES_NO = ("plan", "--kind", "yes-no")


def records(*arguments: str) -> list[dict[str, Any]]:
    found = json.loads(good(*arguments, "--format", "json"))
    assert isinstance(found, list)
    return found


# One question


def test_epsilon_and_margin_give_n() -> None:
    """((e + 1)/(e − 1))² times the 385 of asking directly."""
    said = good(*YES_NO, "--epsilon", "1", "--margin", "0.05")
    assert "1,799" in said and "n = 385" in said and "4.67" in said
    assert "margin of error of a share of 50 %, level 95 %" in said
    (found,) = records(*YES_NO, "--epsilon", "1", "--margin", "0.05")
    ratio = (math.e + 1) / (math.e - 1)
    assert found["n"] == pytest.approx(ratio**2 * 384.15, abs=1)
    assert found["factor"] == pytest.approx(math.e, rel=1e-5)


def test_epsilon_and_n_give_the_margin() -> None:
    arguments = (*YES_NO, "--epsilon", "0.5", "--coin", "1/2", "-n", "100", "-n", "1000")
    found = records(*arguments, "--share", "0.2")
    assert [(round(row["epsilon"], 3), row["n"]) for row in found] == [
        (0.5, 100), (0.5, 1000), (1.099, 100), (1.099, 1000),
    ]  # fmt: skip
    asked = Kind("yes-no").question(coin="1/2")
    assert found[-1]["margin"] == margin_of_error(asked, 1000, share=0.2)
    assert found[-1]["margin_direct"] == pytest.approx(1.959964 * math.sqrt(0.16 / 1000))


def test_n_and_margin_give_the_coin() -> None:
    said = good(*YES_NO, "-n", "1537", "--margin", "0.05")
    assert "truth with chance 1/2" in said and 'coin = "1/2"' in said
    assert "4.0 times as many" in said and "factor of at most 3 " in said
    (found,) = records(*YES_NO, "-n", "1537", "--margin", "0.05")
    assert found["file"] == 'coin = "1/2"' and found["n_direct"] == 385


def test_tests() -> None:
    coin = Kind("yes-no").question(coin="1/2")
    arguments = ("--coin", "1/2", "--share", "0.1", "--null", "0", "--power", "0.8")
    (found,) = records(*YES_NO, *arguments)
    assert found["n"] == share_sample_size(coin, 0.1, 0.8)
    (one,) = records(*YES_NO, *arguments, "--one-sided", "--alpha", "0.01")
    sided = {"alpha": 0.01, "alternative": "one-sided"}
    assert one["n"] == share_sample_size(coin, 0.1, 0.8, **sided)
    groups = ("--coin", "1/2", "--groups", "0.1", "0.2", "-n", "900")
    (two,) = records(*YES_NO, *groups)
    assert two["power"] == group_power(coin, (0.1, 0.2), 900)
    assert "n in each group" in good(*YES_NO, *groups)
    said = good(*YES_NO, "--share", "0.1", "--power", "0.8", "-n", "900")
    assert "power to tell a share of 10 % from 0 %" in said and "coin = " in said


def test_numbers_have_means() -> None:
    number = ("plan", "--kind", "number", "--range", "0", "10000", "--step", "100")
    asked = Kind("number", range=(0, 10_000), step=100).question(epsilon=1)
    (found,) = records(*number, "--epsilon", "1", "-n", "500")
    assert found["margin"] == mean_margin(asked, 500)
    assert "± 948.4" in good(*number, "--epsilon", "1", "-n", "500")
    (test,) = records(*number, "--epsilon", "3", "-n", "500", "--mean", "3000", "--null", "3500")
    assert 0 < test["power"] < 1
    (spread,) = records(*number, "--epsilon", "3", "-n", "500", "--sd", "1000")
    assert spread["margin"] < mean_margin(
        Kind("number", range=(0, 10_000), step=100).question(epsilon=3), 500
    )


def test_an_odds_ratio_is_simulated() -> None:
    arguments = ("--epsilon", "2", "--share", "0.3", "--odds-ratio", "2", "--seed", "1")
    (found,) = records(*YES_NO, *arguments, "-n", "300", "--repetitions", "200")
    asked = Kind("yes-no").question(epsilon=2)
    again = logistic_power(asked, 0.3, 2, 300, repetitions=200, seed=1)
    assert (found["power"], found["se"], found["failed"]) == (again.power, again.se, 0)
    said = good(*YES_NO, *arguments, "--power", "0.8", "--repetitions", "50")
    assert "power to find an odds ratio of 2" in said


def test_csv() -> None:
    said = good(*YES_NO, "--epsilon", "1", "--epsilon", "2", "-n", "100", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(said)))
    assert [round(float(row["epsilon"]), 3) for row in rows] == [1.0, 2.0]
    assert set(rows[0]) >= {"law", "factor", "n", "margin", "margin_direct"}


def test_output_goes_to_a_file(tmp_path: Path) -> None:
    out = tmp_path / "plan.txt"
    assert good(*YES_NO, "--epsilon", "1", "-n", "100", "-o", str(out)) == ""
    assert out.read_text(encoding="utf-8") == good(*YES_NO, "--epsilon", "1", "-n", "100")


# A survey


def test_every_question_of_a_survey() -> None:
    survey = Survey.load(CAMPUS)
    found = records("plan", CAMPUS, "-n", "500")
    named = {(row["question"], row["of"]): row for row in found}
    assert {question for question, _ in named} == {question.id for question in survey}
    cheated = named["cheated", "share"]
    assert cheated["margin"] == margin_of_error(survey["cheated"], 500)
    assert cheated["difference"] == detectable_difference(survey["cheated"], 500)
    assert cheated["n_for_margin"] == n_for_margin(survey["cheated"], 0.05) == 1537
    assert named["mood", "mean"]["margin"] == mean_margin(survey["mood"], 500)
    assert named["year", "share"]["epsilon"] is None
    said = good("plan", CAMPUS, "-n", "500")
    assert "± 8.8 points" in said and "24.7 points" in said and "income (mean)" in said


def test_some_questions_at_other_settings() -> None:
    found = records(
        "plan", CAMPUS, "--question", "drug", "-n", "200", "-n", "900", "--margin", "0.1",
        "--share", "0.2", "--level", "0.9", "--power", "0.9",
    )  # fmt: skip
    asked = Survey.load(CAMPUS)["drug"]
    assert [row["n"] for row in found] == [200, 900]
    assert found[1]["margin"] == margin_of_error(asked, 900, 0.9, 0.2)
    assert found[1]["difference"] == detectable_difference(asked, 900, share=0.2, power=0.9)
    assert found[1]["n_for_margin"] == n_for_margin(asked, 0.1, 0.9, 0.2)


def test_a_survey_through_a_pipe_and_too_few_people() -> None:
    data = Path(COIN).read_bytes()
    assert good("plan", "-", data=data) == good("plan", COIN, "-n", "1000")
    assert "–" in good("plan", COIN, "-n", "1")


# Pictures


@pytest.mark.parametrize("ending", ["svg", "png", "pdf"])
def test_pictures(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"plan.{ending}"
    for arguments in (
        (CAMPUS, "-n", "500"),
        (*YES_NO[1:], "--epsilon", "1", "--epsilon", "2", "--margin", "0.05"),
        (*YES_NO[1:], "-n", "700", "--margin", "0.06"),
        (*YES_NO[1:], "--epsilon", "1", "--groups", "0.1", "0.2", "--power", "0.8"),
        ("--kind", "number", "--range", "0", "9", "--epsilon", "1", "-n", "20000"),
    ):
        first = good("plan", *arguments, "--plot", str(path))
        assert first and path.stat().st_size > 1000
        before = path.read_bytes()
        good("plan", *arguments, "--plot", str(path))
        assert path.read_bytes() == before


def test_what_a_picture_says() -> None:
    from analysis.plots import plot_plan

    curves = {f"ε = {e}": [(n, e * 10 / n**0.5) for n in (100, 1000, 10**6)] for e in range(1, 9)}
    for power in (False, True):
        figure = plot_plan(
            curves, title="A plan", label="margin (points)", wanted=1, power=power, note="a note"
        )
        found = dict(texts(figure))
        assert {"A plan", "margin (points)", "a note", "n, people", "ε = 8", "1,000,000"} <= set(
            found
        )
        width, height = figure.canvas.get_width_height()
        for box in found.values():
            assert box.x0 >= 0 and box.y0 >= 0 and box.x1 <= width and box.y1 <= height
    with pytest.raises(ValueError, match="there is nothing to draw"):
        plot_plan({}, title="A plan", label="margin")


# What people get wrong


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "give a survey file, or --kind"),
        (("--kind", "yes-no"), "give two of --epsilon (or --coin), -n and --margin"),
        (("--kind", "yes-no", "--epsilon", "1"), "give two of --epsilon"),
        (("--kind", "yes-no", "--epsilon", "1", "-n", "9", "--margin", "0.1"), "give two of"),
        (("--kind", "yes-no", "--share", "0.1", "--null", "0", "-n", "9"), "-n and --power"),
        (("--kind", "yes-no", "--power", "0.8", "-n", "9"), "a test needs what is expected"),
        (
            ("--kind", "yes-no", "--power", "0.8", "--margin", "0.1", "--share", "0.1"),
            "--margin does not go with a test of a share",
        ),
        (
            ("--kind", "yes-no", "--groups", "0.1", "0.2", "--share", "0.1"),
            "--share does not go with --groups",
        ),
        (
            ("--kind", "yes-no", "--groups", "0.1", "0.2", "--null", "0"),
            "--null does not go with --groups",
        ),
        (("--kind", "number", "--mean", "3"), "--mean is tested against --null"),
        (("--kind", "number", "--share", "0.3"), "--share is not for numbers; see --mean"),
        (("--kind", "yes-no", "--sd", "3"), "--sd is for means"),
        (("--kind", "yes-no", "--one-sided"), "--one-sided goes with a test"),
        (("--kind", "yes-no", "--seed", "3"), "--seed goes with --odds-ratio"),
        (("--kind", "yes-no", "--question", "q"), "--question goes with a survey file"),
        (("--kind", "yes-no", "--odds-ratio", "2", "-n", "9"), "--odds-ratio needs --share"),
        (
            ("--kind", "yes-no", "--odds-ratio", "2", "--margin", "0.1"),
            "--margin does not go with --odds-ratio",
        ),
        (
            ("--kind", "yes-no", "--odds-ratio", "2", "--plot", "p.svg"),
            "--plot does not go with --odds-ratio",
        ),
        ((COIN, "--epsilon", "1"), "--epsilon is for a single question, not for a survey file"),
        ((COIN, "--kind", "yes-no"), "--kind is for a single question"),
        ((COIN, "--question", "drug"), "'drug' is not a question of the survey"),
        ((COIN, "--plot", "p.jpg"), "p.jpg: its name must end in .svg, .png, .pdf"),
        (("--kind", "yesno", "--epsilon", "1", "-n", "9"), 'did you mean "yes-no"?'),
        (("--kind", "choice", "--epsilon", "1", "-n", "9"), "options: is missing"),
        (("--kind", "yes-no", "--epsilon", "99", "-n", "9"), "epsilon: must be a number from"),
        (("--kind", "yes-no", "--coin", "2", "-n", "9"), "coin: must be a chance between"),
        (("--kind", "yes-no", "--epsilon", "1", "--margin", "-1"), "margin: must be above 0"),
        (("--kind", "yes-no", "-n", "20", "--margin", "0.05"), "n: 20 people are too few"),
        (
            ("--kind", "yes-no", "--epsilon", "1", "--share", "0.1", "--power", "0.04"),
            "power: must be above alpha",
        ),
        (
            ("--kind", "yes-no", "--epsilon", "1", "--share", "0.1", "--null", "0.1", "-n", "9"),
            "share, null: must differ",
        ),
        (("missing.toml",), "missing.toml: cannot be read"),
    ],
)
def test_wrong_combinations_get_one_line(arguments: tuple[str, ...], said: str) -> None:
    assert said in bad("plan", *arguments)


def test_wrong_values_are_click_s_to_refuse() -> None:
    for arguments in (("-n", "0"), ("--share", "2"), ("--power", "1"), ("--level", "0")):
        assert call(*YES_NO, *arguments).exit_code == 2
