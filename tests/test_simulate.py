"""Simulation: the laws' own arithmetic draw for draw, and truths of every kind."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pandas
import pytest

from analysis import counts, estimate, simulate
from analysis.channel import channel
from analysis.simulate import generator, respond
from respondent import Survey, odds, parse_report
from respondent.laws import Law, Plain, Projective, Subset

from .support import EXAMPLES, SMALL_LAWS

CAMPUS = Survey.load(EXAMPLES / "campus.toml")
HALF = {"Yes": 0.3, "No": 0.7}


def every_draw(law: Law, answer: int) -> list[tuple[tuple[int, ...], int]]:
    """Each sequence of draws with the response that the law itself gives to it."""
    found, todo = [], [()]
    while todo:
        script = todo.pop()
        left, missing = list(script), []

        def below(total: int, left: list = left, missing: list = missing) -> int:
            if left:
                return left.pop(0)
            missing.append(total)
            return 0

        response = law.respond(answer, below)
        if missing:
            todo += [(*script, draw) for draw in range(missing[0])]
        else:
            found.append((script, response))
    return found


@pytest.mark.parametrize("law", SMALL_LAWS, ids=str)
def test_every_draw_gives_the_response_of_the_law(law: Law) -> None:
    for answer in range(law.answers):
        for script, response in every_draw(law, answer):
            left = list(script)

            def below(total: Any, size: int, left: list = left) -> np.ndarray:
                return np.array([left.pop(0)] if size else [], dtype=np.int64)

            assert respond(law, np.array([answer]), below)[0] == response


@pytest.mark.parametrize("law", SMALL_LAWS, ids=str)
def test_many_at_once_are_as_one_by_one(law: Law) -> None:
    """Sets and points are looked up in a table when there are many people."""
    if isinstance(law, Plain | Subset):
        return
    pairs = [(x, *case) for x in range(law.answers) for case in every_draw(law, x)]
    times = 1 + 3 * law.answers * law.responses // len(pairs)
    answers = np.array([x for x, _, _ in pairs] * times)
    draws = np.array([script[0] for _, script, _ in pairs] * times)
    found = respond(law, answers, lambda total, size: draws)
    assert found.tolist() == [response for _, _, response in pairs] * times


@pytest.mark.parametrize(
    "law",
    [
        Subset(6, 3, 3, 1),
        Projective(12, 3, 3, 5, 2),
        odds.exponential(5, Fraction(1)),
        odds.laplace(10, Fraction(1)),
    ],
    ids=str,
)
def test_responses_come_as_often_as_the_weights_say(law: Law) -> None:
    """100,000 draws from each of two answers: every response within 5 standard errors."""
    rng = np.random.default_rng(1)
    matrix = channel(law)
    for answer in (0, law.answers - 1):
        found = respond(law, np.full(100_000, answer), generator(rng))
        shares = np.bincount(found, minlength=law.responses) / 100_000
        chances = matrix[:, answer]
        assert (abs(shares - chances) < 5 * np.sqrt(chances / 100_000) + 1e-4).all()


def test_a_sample_has_truth_responses_counts_and_reports() -> None:
    sample = simulate(CAMPUS, {"cheated": HALF}, n=300, seed=1)
    assert sample.n == 300
    assert set(sample.truth) == set(sample.responses) == {q.id for q in CAMPUS}
    assert sum(sample.counts["cheated"].values()) == 300
    for report in sample.reports[:20]:
        assert parse_report(CAMPUS, bytes(report)) == report
    assert len({report.key for report in sample.reports}) == 300
    assert counts(CAMPUS, sample.reports) == sample.counts
    # Those not in year 1 are not asked about a room.
    asked = sample.responses["year"] == 0
    assert (sample.responses["hall"][asked] < 2).all()
    assert (sample.responses["hall"][~asked] == 2).all()


def test_the_seed_decides() -> None:
    one, two, other = (simulate(CAMPUS, n=100, seed=seed) for seed in (1, 1, 2))
    assert one.counts == two.counts and one.reports == two.reports
    assert one.counts != other.counts


def shares_of(sample: Any, name: str, answer: int) -> float:
    return float((sample.truth[name] == answer).mean())


def test_truth_as_shares_of_every_kind() -> None:
    """20,000 people; shares within 5 standard errors (0.018)."""
    sample = simulate(
        CAMPUS,
        {
            "cheated": HALF,
            "copied": [0.1, 0.9],
            "drug": {"None": 0.5, "Cannabis": 0.2, None: 0.3},
            "mood": {1: 0.5, 7: 0.5},
            "income": {0: 0.5, 10_000: 0.5},
            "worries": {"Money": 0.9, "Exams": 0.1},
        },
        n=20_000,
        seed=3,
    )
    for name, answer, share in (
        ("cheated", 0, 0.3),
        ("copied", 0, 0.1),
        ("drug", 4, 0.3),
        ("mood", 6, 0.5),
        ("income", 100, 0.5),
        ("year", 0, 0.25),
    ):
        assert shares_of(sample, name, answer) == pytest.approx(share, abs=0.018)
    ticks = sample.truth["worries"]
    assert (ticks & 1).mean() == pytest.approx(0.9, abs=0.018)
    assert (ticks >> 1 & 1).mean() == pytest.approx(0.1, abs=0.018)
    assert (ticks >> 2 == 0).all()


def test_truth_as_a_joint_table() -> None:
    table = {("Yes", "Yes"): 0.4, ("No", "No"): 0.6}
    for value in (table, np.array([[0.4, 0], [0, 0.6]])):
        sample = simulate(CAMPUS, {("cheated", "copied"): value}, n=1000, seed=4)
        assert (sample.truth["cheated"] == sample.truth["copied"]).all()
        assert shares_of(sample, "cheated", 0) == pytest.approx(0.4, abs=0.08)


def test_truth_as_arrays_and_frames() -> None:
    frame = pandas.DataFrame(
        {
            "cheated": ["Yes", "No", "No"],
            "income": [100, 149.9, 10_000],
            "drug": ["None", None, "Other"],
            "worries": [["Money"], [], ["Exams", "Money"]],
            "mood": [1, 2, 7],
        }
    )
    sample = simulate(CAMPUS, frame, seed=5)
    assert sample.truth["cheated"].tolist() == [0, 1, 1]
    assert sample.truth["income"].tolist() == [1, 1, 100]
    assert sample.truth["drug"].tolist() == [0, 4, 3]
    assert sample.truth["worries"].tolist() == [1, 0, 3]
    assert simulate(CAMPUS, frame, n=50, seed=5).n == 50
    sample = simulate(CAMPUS, {"cheated": ["Yes", "No", "Yes"]}, seed=6)
    assert sample.truth["cheated"].tolist() == [0, 1, 0]
    sample = simulate(CAMPUS, {"income": np.array([0, 250.0])}, n=2, seed=6)
    assert sample.truth["income"].tolist() == [0, 3]


@pytest.mark.parametrize(
    ("truth", "words"),
    [
        ({"cheated": {"Yes": 0.3, "No": 0.6}}, "add up to 0.9, not to 1"),
        ({"cheated": {"Yes": 0.3}}, "add up to 0.3"),
        ({"cheated": [0.3, 0.3, 0.4]}, "3 shares for 2 answers"),
        ({"cheated": {"Yes": -0.3, "No": 1.3}}, "from 0 to 1"),
        ({"cheated": {"Yes": float("nan"), "No": 0.7}}, "from 0 to 1"),
        ({"cheated": {"Yes": "0.3", "No": 0.7}}, "from 0 to 1"),
        ({"cheated": {"Maybe": 1.0}}, "Maybe"),
        ({"married": HALF}, "not a question"),
        ({"cheated": ["Yes", "No"]}, "2 answers for 10 people"),
        ({"cheated": ["Yes"] * 9 + ["Maybe"]}, "Maybe"),
        ({("cheated", "copied"): {("Yes", "No"): 0.5}}, "add up to 0.5"),
        ({("cheated", "copied"): {"Yes": 1.0}}, "2 answers each"),
        ({("cheated", "copied"): np.ones((2, 3))}, "shape"),
        ({("cheated", "copied"): np.array([[np.nan, 1], [0, 0]])}, "from 0 to 1"),
        ({"worries": {"Money": 1.5}}, "from 0 to 1"),
        ({"worries": [0.5]}, "each option"),
        (pandas.DataFrame({"cheated": []}), "no rows"),
        (pandas.DataFrame({"nothing": [1]}), "not a question"),
    ],
)
def test_bad_truths_are_refused(truth: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        simulate(CAMPUS, truth, n=10, seed=1)


def test_other_bad_arguments() -> None:
    for n in (0, -1, 1.5, True):
        with pytest.raises(ValueError, match="n:"):
            simulate(CAMPUS, n=n, seed=1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="n:"):
        simulate(CAMPUS, seed=1)
    with pytest.raises(TypeError, match="truth"):
        simulate(CAMPUS, 5, n=10)
    with pytest.raises(ValueError, match="shares"):
        simulate(CAMPUS, n=10, safe=0.7, random=0.7)
    with pytest.raises(ValueError, match="safe_answers"):
        simulate(CAMPUS, n=10, safe=0.7, safe_answers={"cheated": "Maybe"})


def test_people_who_do_not_comply() -> None:
    """50,000 people all of whom did it: the estimate within 5 standard errors (0.05)."""
    everybody = {"cheated": {"Yes": 1.0}}

    def estimated(**how: Any) -> float:
        sample = simulate(CAMPUS, everybody, n=50_000, seed=7, **how)
        assert (sample.truth["cheated"] == 0).all()
        value: float = estimate(CAMPUS["cheated"], sample.counts["cheated"])["Yes"].estimate
        return value

    assert estimated() == pytest.approx(1, abs=0.05)
    assert estimated(safe=0.3) == pytest.approx(0.7, abs=0.05)
    assert estimated(safe=0.3, safe_answers={"cheated": "Yes"}) == pytest.approx(1, abs=0.05)
    assert estimated(random=0.4) == pytest.approx(0.8, abs=0.05)
    refusing = simulate(CAMPUS, everybody, n=50_000, seed=7, refuse=0.2)
    assert refusing.n == pytest.approx(40_000, abs=5 * np.sqrt(50_000 * 0.16))
