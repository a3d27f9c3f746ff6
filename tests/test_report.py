"""Reports: the shared vectors, one length for all answers, nothing of an answer in sight."""

from __future__ import annotations

import os
import traceback
from collections import Counter
from itertools import product

import pytest

from respondent import InvalidAnswer, InvalidReport, Survey, make_report, parse_report

from .support import CAMPUS_ANSWERS, EXAMPLES, Script, published, vectors


@pytest.mark.parametrize("vector", vectors("reports"), ids=lambda v: v["name"])
def test_vectors(vector: dict) -> None:
    survey = published(vector["survey"])
    if "answers" in vector and "problem" in vector:
        with pytest.raises(InvalidAnswer) as caught:
            make_report(survey, vector["answers"])
        assert str(caught.value) == vector["problem"]
    elif "answers" in vector:
        script = Script(vector["bytes"])
        report = make_report(survey, vector["answers"], script)
        assert bytes(report).decode() == vector["report"]
        assert not script.left
        assert parse_report(survey, bytes(report)) == report
    elif "problem" in vector:
        with pytest.raises(InvalidReport) as invalid:
            parse_report(survey, vector["report"].encode())
        assert str(invalid.value) == vector["problem"]
    else:
        report = parse_report(survey, vector["report"].encode())
        assert list(report.responses) == vector["responses"]


def test_there_are_enough_vectors_and_most_are_invalid() -> None:
    found = vectors("reports")
    assert len(found) >= 60
    assert sum("problem" in vector for vector in found) > len(found) / 2


def test_the_same_number_of_bytes_whatever_was_answered() -> None:
    survey = Survey.load(EXAMPLES / "campus.toml")
    lengths = set()
    for number, values in enumerate(product(*CAMPUS_ANSWERS.values())):
        if number % 7 == 0:
            answers = dict(zip(CAMPUS_ANSWERS, values, strict=True))
            if answers["year"] == "1":
                answers["hall"] = "Yes"
            lengths.add(len(bytes(make_report(survey, answers))))
    assert len(lengths) == 1


def test_keys_are_128_random_bits() -> None:
    survey = Survey.load(EXAMPLES / "coin.toml")
    keys = {make_report(survey, {"cheated": "Yes"}).key for _ in range(1000)}
    assert len(keys) == 1000
    ones = Counter(bit for key in keys for bit in f"{int(key, 16):0128b}")
    # 128,000 fair bits: the standard deviation of the ones is 179; six of them are allowed.
    assert abs(ones["1"] - 64_000) < 6 * 179


def test_a_report_is_sealed() -> None:
    survey = Survey.load(EXAMPLES / "coin.toml")
    report = make_report(survey, {"cheated": "Yes"})
    assert bytes(report) == bytes(report)
    with pytest.raises(AttributeError):
        report.responses = (1,)  # type: ignore[misc]


@pytest.mark.parametrize("nesting", [1_000, 10_000, 1_000_000])
def test_deep_nesting_is_refused(nesting: int) -> None:
    survey = Survey.load(EXAMPLES / "coin.toml")
    with pytest.raises(InvalidReport):
        parse_report(survey, b"[" * nesting)


def test_no_traceback_shows_an_answer() -> None:
    survey = Survey.load(EXAMPLES / "campus.toml")
    answers: dict[str, object] = {"year": "2", "cheated": "my secret 4711"}
    try:
        make_report(survey, answers)
    except InvalidAnswer:
        shown = traceback.format_exc()
    assert "4711" not in shown
    assert "cheated" in shown


def test_an_answer_is_not_in_the_report() -> None:
    """With coins that never tell the truth, nothing of the answer is left."""
    survey = Survey.load(EXAMPLES / "coin.toml")

    def never_true(size: int) -> bytes:
        return b"\xff" * size if size == 1 else os.urandom(size)

    report = make_report(survey, {"cheated": "Yes"}, never_true)
    assert report.responses == (1,)
    assert "Yes" not in repr(report)
    assert b"Yes" not in bytes(report)
