"""Sensitivity bands: by hand, against simulated people who always play safe, and as pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis import designs, estimate, sensitivity
from respondent import Survey

from .support import EXAMPLES
from .test_plots import texts

CAMPUS = Survey.load(EXAMPLES / "campus.toml")
CHEATED = CAMPUS["cheated"]


def test_by_hand() -> None:
    """λ = (1 − s)(1/4 + π/2): of those who send No whatever the coin, no response is Yes."""
    found = sensitivity(CHEATED, [380, 620], "No", shares=[0, 0.1])
    first, second = found.rows
    assert first.estimate == pytest.approx((0.38 - 0.25) / 0.5)
    assert second.estimate == pytest.approx((0.38 / 0.9 - 0.25) / 0.5)
    assert second.se == pytest.approx(np.sqrt(0.38 * 0.62 / 999) / (0.9 * 0.5))
    assert (second.least, second.most) == pytest.approx(
        (0.9 * second.estimate, 0.9 * second.estimate + 0.1)
    )


def test_through_the_coin() -> None:
    """λ = 1/4 + (1 − s)π/2: the device flips the coin on the safe answer too."""
    found = sensitivity(CHEATED, [380, 620], "No", shares=[0.1], through_coin=True)
    assert found.rows[0].estimate == pytest.approx(0.26 / 0.9)


def test_without_safe_answers_it_is_the_estimate() -> None:
    own = estimate(CHEATED, [380, 620])["Yes"]
    row = sensitivity(CHEATED, {"Yes": 380, "No": 620}, "No").rows[0]
    assert (row.estimate, row.se, row.low, row.high) == pytest.approx(
        (own.estimate, own.se, own.low, own.high)
    )
    drug = CAMPUS["drug"]
    counts = [300, 200, 150, 150, 200]
    one = estimate(drug, counts)["Cocaine"]
    row = sensitivity(drug, counts, "None", answer="Cocaine").rows[0]
    assert (row.estimate, row.low, row.high) == pytest.approx((one.estimate, one.low, one.high))


@pytest.mark.parametrize("through_coin", [False, True])
@pytest.mark.parametrize("design", [designs.forced(1 / 6, 1 / 6), designs.k_ary(4, 0.55)])
def test_the_right_share_gives_the_truth_back(design: designs.Design, through_coin: bool) -> None:
    """400 surveys of 800, 15 % of whom play safe: unbiased at that share, and 95 % covered;
    tolerances are four, and three, standard errors."""
    rng = np.random.default_rng(11)
    size = len(design.answers)
    truth = np.array([0.5, *np.full(size - 1, 0.5 / (size - 1))])
    safe = design.channel[:, 0] if through_coin else np.eye(size)[0]
    rates = 0.85 * design.channel @ truth + 0.15 * safe
    surveys, name = 400, design.answers[0]
    rows = [
        sensitivity(design, counts, name, shares=[0.15], through_coin=through_coin).rows[0]
        for counts in rng.multinomial(800, rates, size=surveys)
    ]
    found = np.array([row.estimate for row in rows])
    true = truth[design.answer()]
    assert abs(found.mean() - true) <= 4 * found.std() / np.sqrt(surveys)
    held = np.mean([row.low <= true <= row.high for row in rows])
    assert abs(held - 0.95) <= 3 * np.sqrt(0.95 * 0.05 / surveys)
    assert np.mean([row.se for row in rows]) == pytest.approx(found.std(), rel=0.11)


def test_more_than_gave_the_safe_response_is_flagged() -> None:
    found = sensitivity(designs.forced(0.25, 0.25), [200, 800], "No", shares=[0.1, 0.3])
    assert [row.flag for row in found.rows][1] == "more than gave the safe response"
    assert found.rows[1].estimate > 1, "not clipped"


def test_outside_the_possible_is_flagged() -> None:
    found = sensitivity(designs.forced(1 / 6, 1 / 6), [850, 150], "No", shares=[0, 0.2])
    assert found.rows[0].estimate < 0 and found.rows[0].flag.startswith("outside the possible")


def test_the_response_that_speaks_for_the_answer() -> None:
    """Crosswise at 1/4: "same" (1) speaks for No, though its number is that of Yes."""
    by_name = sensitivity(designs.crosswise(0.25), [300, 700], "No", shares=[0.2])
    by_number = sensitivity(designs.crosswise(0.25), [300, 700], 1, shares=[0.2])
    assert by_name.rows == by_number.rows
    assert by_number.safe_answer == "response 1"


def test_tables_and_pictures(tmp_path: Path) -> None:
    found = sensitivity(CHEATED, [380, 620], "No")
    assert list(found.to_frame()["safe"]) == [0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3]
    assert (found.to_csv() or "").startswith("safe,estimate,se,low,high,least,most,flag\n0.0,0.26")
    assert "always sends No" in str(found)
    figure = found.plot(tmp_path / "safe.svg")
    assert (tmp_path / "safe.svg").read_text(encoding="utf-8").startswith("<?xml")
    width, height = figure.canvas.get_width_height()
    for text, box in texts(figure):
        assert box.x0 >= 0 and box.y0 >= 0 and box.x1 <= width and box.y1 <= height, text
    with pytest.raises(ValueError, match="must end in"):
        found.plot(tmp_path / "safe.gif")


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: run("Maybe"), "has no answer 'Maybe'"),
        (lambda: run(2), "responses are from 0 to 1"),
        (lambda: run(0, through_coin=True), "must be an answer"),
        (lambda: run("No", shares=[1]), "shares: must be from 0 to less than 1"),
        (lambda: run("No", shares=[-0.1]), "shares: must be from 0 to less than 1"),
        (lambda: run("No", counts=[1, 2, 3]), "counts: must be 2 whole numbers"),
        (lambda: run("No", counts=[0, 0]), "no responses"),
        (lambda: run("No", counts=[0.5, 1.5]), "whole numbers"),
        (lambda: sensitivity(designs.table(BOTH), [1, 2, 3], "Yes"), "several responses"),
    ],
)
def test_mistakes(make: Any, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        make()


#: Two responses that speak for Yes alike.
BOTH = [[0.5, 0.2], [0.25, 0.4], [0.25, 0.4]]


def run(safe: Any, counts: Any = (60, 40), **options: Any) -> Any:
    return sensitivity(designs.coin(0.5), counts, safe, **options)


def test_a_question_or_a_design() -> None:
    with pytest.raises(TypeError, match="question: must be"):
        sensitivity("cheated", [1, 2], "No")  # type: ignore[arg-type]
