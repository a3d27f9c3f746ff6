"""Pictures: no text overlaps another, none leaves the page, and the small print is there."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis import estimate, simulate, study
from analysis.plots import plot_estimate, plot_study
from respondent import Survey

from .support import EXAMPLES

LONG = "a wording that somebody in an ethics committee made rather longer than it was "


def choice(options: list[str], **more: Any) -> Survey:
    question = {"id": "q", "ask": "Which one?", "kind": "choice", "options": options, "epsilon": 1}
    return Survey.parse({"id": "s", "title": "S", "question": [question | more]})


def number(**more: Any) -> Survey:
    question = {"id": "q", "ask": "How many?", "kind": "number", "range": [0, 100], "epsilon": 1}
    return Survey.parse({"id": "s", "title": "S", "question": [question | more]})


@lru_cache(maxsize=1)
def names() -> Survey:
    return Survey.load(EXAMPLES / "names.toml")


def result_of(survey: Survey, question: str, truth: Any = None, n: int = 2000) -> Any:
    sample = simulate(survey, truth, n=n, seed=1)
    return estimate(survey[question], sample.counts[question], fingerprint=survey.fingerprint)


def texts(figure: Any) -> list[tuple[str, Any]]:
    """Every text that is drawn, with its box."""
    import matplotlib.text

    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    hidden = set()
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            # Ticks beyond the ends of an axis are kept by matplotlib but not drawn.
            drawn = {id(tick) for tick in axis._update_ticks()}
            every = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
            hidden |= {id(tick.label1) for tick in every if id(tick) not in drawn}
    return [
        (artist.get_text(), artist.get_window_extent(renderer))
        for artist in figure.findobj(matplotlib.text.Text)
        if artist.get_visible() and artist.get_text().strip() and id(artist) not in hidden
    ]


def check(figure: Any) -> list[str]:
    found = texts(figure)
    page = figure.bbox
    for text, box in found:
        assert box.x0 >= 0 and box.y0 >= 0, text
        assert box.x1 <= page.width and box.y1 <= page.height, text
    for (one, a), (other, b) in combinations(found, 2):
        apart = a.x1 <= b.x0 or b.x1 <= a.x0 or a.y1 <= b.y0 or b.y1 <= a.y0
        assert apart, f"{one!r} overlaps {other!r}"
    return [text for text, _ in found]


@pytest.mark.parametrize("words", ["short", "long"])
@pytest.mark.parametrize("size", [2, 5, 30])
def test_options_fit(size: int, words: str, tmp_path: Path) -> None:
    tail = "" if words == "short" else LONG * 3
    survey = choice([f"{place} {tail}"[: 20 + 15 * place].strip() for place in range(size)])
    found = check(plot_estimate(result_of(survey, "q"), tmp_path / "q.png"))
    said = " ".join(found)
    assert f"survey {survey.fingerprint[:16]}" in said
    assert "n = 2,000" in said and "ε = " in said and "95 %" in said


def test_one_option_fits() -> None:
    result = result_of(Survey.load(EXAMPLES / "coin.toml"), "cheated")
    found = check(plot_estimate(result, answers=["Yes"]))
    assert "Yes" in found and "No" not in found


@pytest.mark.parametrize("n", [200, 50_000])
def test_top_twenty_of_a_long_list_fit(n: int) -> None:
    survey = names()
    shares = 1 / np.arange(1, survey["place"].law.answers + 1)
    result = result_of(survey, "place", {"place": (shares / shares.sum()).tolist()}, n)
    found = check(plot_estimate(result))
    known = set(result.answers)
    assert len([text for text in found if text in known]) == 20
    assert f"{len(known):,} answers" in " ".join(found)


@pytest.mark.parametrize("question", [q.id for q in Survey.load(EXAMPLES / "campus.toml")])
def test_every_kind_fits(question: str) -> None:
    check(plot_estimate(result_of(Survey.load(EXAMPLES / "campus.toml"), question)))


@pytest.mark.parametrize("n", [1, 10, 2000])
@pytest.mark.parametrize(
    "more",
    [
        {"law": "two-point"},
        {"law": "wave"},
        {"law": "wave", "range": [0, 1], "step": 0.001},
        {"law": "wave", "range": [-5_000_000, 5_000_000], "step": 5000, "unit": "rupees a year"},
        {"noise": "laplace"},
        {"noise": "gaussian", "delta": 0.00001},
    ],
)
def test_numbers_fit(more: dict[str, Any], n: int) -> None:
    check(plot_estimate(result_of(number(**more), "q", n=n)))


@pytest.mark.parametrize("n", [1, 3])
def test_few_respondents_fit(n: int) -> None:
    """Estimates far outside the possible, and their flags."""
    found = check(plot_estimate(result_of(choice(["a", "b", "c"]), "q", n=n)))
    assert any("*" in text for text in found)


def test_options_nobody_drew_have_no_estimate() -> None:
    survey = choice(["a", "b", "c", "d"], kind="choices")
    assert "no estimate" in check(plot_estimate(result_of(survey, "q", n=1)))


def test_texts_are_not_mathematics() -> None:
    survey = choice(["$5 to $10", "a_b^c", "100 %", "\\alpha"])
    assert "$5 to $10" in check(plot_estimate(result_of(survey, "q")))


def test_studies_fit(tmp_path: Path) -> None:
    survey = Survey.load(EXAMPLES / "campus.toml")
    found = study(survey, n=[100, 200, 1000, 5000], repetitions=20, seed=1)
    said = " ".join(check(plot_study(found, tmp_path / "s.png", fingerprint=survey.fingerprint)))
    assert survey.fingerprint[:16] in said and "20 repetitions" in said


def test_study_against_epsilon_fits() -> None:
    questions = [
        {"id": f"q{place}", "ask": "Q?", "kind": "yes-no", "epsilon": epsilon}
        for place, epsilon in enumerate([0.25, 0.5, 1, 2, 4])
    ]
    survey = Survey.parse({"id": "s", "title": "S", "question": questions})
    for sizes in ([500], [200, 5000]):
        found = check(plot_study(study(survey, n=sizes, repetitions=20, seed=1)))
        assert "ε of the question" in found


@pytest.mark.parametrize(
    ("ending", "start"), [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")]
)
def test_the_ending_says_the_format(ending: str, start: bytes, tmp_path: Path) -> None:
    result = result_of(choice(["a", "b"]), "q")
    once, again = tmp_path / f"a.{ending}", tmp_path / f"b.{ending}"
    result.plot(once)
    result.plot(again)
    assert once.read_bytes().startswith(start)
    assert once.read_bytes() == again.read_bytes()


@pytest.mark.parametrize("name", ["q.gif", "q", "q.svg.txt"])
def test_other_endings_are_refused(name: str, tmp_path: Path) -> None:
    result = result_of(choice(["a", "b"]), "q")
    with pytest.raises(ValueError, match=r"must end in \.svg, \.png, \.pdf"):
        plot_estimate(result, tmp_path / name)
    assert not list(tmp_path.iterdir())
