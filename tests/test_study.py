"""Studies: bias, error and coverage, checked against closed forms and their own standard errors."""

from __future__ import annotations

import time

import numpy as np
import pandas
import pytest

from analysis import clopper_pearson, study
from benchmarks.coverage import DESIGNS, cells, together
from respondent import Survey

from .support import EXAMPLES, question

CAMPUS = Survey.load(EXAMPLES / "campus.toml")
COIN = question(coin="1/2")


def test_bias_error_and_coverage_of_the_coin() -> None:
    """10,000 surveys of 1,000: error by Warner's formula, coverage within 4 standard errors."""
    began = time.perf_counter()
    found = study(COIN, {"q": {"Yes": 0.3, "No": 0.7}}, 1000, 10_000, seed=1)
    assert time.perf_counter() - began < 5
    row = found.rows[0]
    error = np.sqrt(0.4 * 0.6 / 1000) / 0.5
    assert (row.answer, row.truth, row.n) == ("Yes", 0.3, 1000)
    assert row.rmse == pytest.approx(error, rel=4 / np.sqrt(2 * 10_000))
    assert abs(row.bias) < 4 * error / 100
    assert abs(row.coverage - 0.95) < 4 * found.coverage_se + 0.004  # whole counts jump
    text = str(found)
    assert "10000 repetitions" in text and "Yes" in text


def test_every_question_of_a_survey_and_several_n() -> None:
    found = study(CAMPUS, n=[200, 400], repetitions=50, seed=2)
    frame = found.to_frame()
    assert set(frame["question"]) == {q.id for q in CAMPUS}
    assert set(frame["n"]) == {200, 400}
    assert found.to_csv().count("\n") == len(found.rows) + 1
    numbers = frame.select_dtypes("number")
    assert np.isfinite(numbers.to_numpy()).all()
    # Every answer alike: the middle of the range.
    income = frame[(frame["question"] == "income") & (frame["n"] == 400)]
    assert income["truth"].item() == pytest.approx(5000)
    assert set(frame[frame["question"] == "mood"]["answer"]) >= {"1", "7", "mean"}


def test_the_same_numbers_as_one_by_one() -> None:
    """Estimates of many surveys side by side are those of each by itself."""
    from analysis import estimate
    from analysis.study import _Design

    rng = np.random.default_rng(3)
    for asked in CAMPUS:
        if asked.law.responses > 1000:
            continue
        design = _Design(asked, None, (0.0, 0.0, 0.0), {})
        (rows,) = design.batches(500, 3, rng)
        from analysis import wilson

        side_by_side = design.estimates(rows, 0.9, wilson)
        for place, row in enumerate(rows.astype(int)):
            counts = [*row, 0] if asked.show_if else row
            alone = estimate(asked, counts, level=0.9)
            values = [alone.mean] if asked.kind == "number" else alone.values()
            if asked.kind == "scale":
                values = [*values, alone.mean]
            for column, value in enumerate(values):
                for name in ("estimate", "se", "low", "high"):
                    assert getattr(side_by_side, name)[place, column] == pytest.approx(
                        getattr(value, name), rel=1e-9, abs=1e-9
                    )


def test_people_who_do_not_comply_show_as_bias() -> None:
    found = study(COIN, {"q": [1.0, 0.0]}, 2000, 500, seed=4, safe=0.2, refuse=0.5).rows[0]
    # Of those who report, 0.2/0.5 give the safe answer.
    assert found.bias == pytest.approx(-0.4, abs=0.02)
    assert found.coverage < 0.01


def test_long_lists_are_drawn_person_by_person() -> None:
    asked = question(kind="choice", options=[str(n) for n in range(22)], epsilon=1, law="subset")
    assert asked.law.responses > 20_000
    found = study(asked, n=300, repetitions=30, seed=5)
    assert len(found.rows) == 22
    assert np.mean([row.coverage for row in found.rows]) == pytest.approx(0.95, abs=0.05)


def test_progress(capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[tuple[int, int]] = []
    study(COIN, n=10, repetitions=20, seed=6, progress=lambda *done: seen.append(done))
    assert seen[-1] == (20, 20)
    study(COIN, n=10, repetitions=20, seed=6, progress=True)
    captured = capsys.readouterr()
    assert "20/20" in captured.err and not captured.out


def test_bad_arguments() -> None:
    for arguments, words in (
        ({"n": 0}, "n:"),
        ({"repetitions": 0}, "repetitions"),
        ({"level": 2}, "level"),
        ({"truth": {"other": [1.0, 0.0]}}, "not a question"),
        ({"truth": {"q": [0.5, 0.4]}}, "add up to 0.9"),
        ({"safe": 2.0}, "shares"),
    ):
        with pytest.raises(ValueError, match=words):
            study(COIN, **arguments)


def test_coverage_over_the_grid() -> None:
    """Must show 2 in small: 2,000 surveys each, so a standard error of 0.5 points.

    The mean over the grid must be as asked; cells are given 3 standard errors more, and the
    upper end does not bind where the likelihood-ratio interval took over.
    """
    found = list(cells(2000))
    assert len(found) == 12 * len(DESIGNS)
    coverages = [row.coverage for *_, row in found]
    assert 0.945 < np.mean(coverages) < 0.955
    assert min(coverages) > 0.93 - 0.015
    for *_, row in found:
        assert row.coverage < 0.975 + 0.015 or row.bounded > 0.01


def test_simultaneous_intervals_hold_together() -> None:
    """At least 94 %, with 3 standard errors of 0.5 points below."""
    for *_, coverage in together(2000):
        assert coverage > 0.94 - 0.015


def test_clopper_pearson_covers_at_least_as_often_as_it_says() -> None:
    """5,000 surveys of 100; within 3 standard errors of 95 % from below."""
    for prevalence in (0.02, 0.3):
        found = study(
            COIN, {"q": [prevalence, 1 - prevalence]}, 100, 5000, seed=8, interval=clopper_pearson
        ).rows[0]
        assert found.coverage > 0.95 - 3 * np.sqrt(0.95 * 0.05 / 5000)


def test_frames_are_pandas() -> None:
    assert isinstance(study(COIN, n=10, repetitions=5, seed=9).to_frame(), pandas.DataFrame)
