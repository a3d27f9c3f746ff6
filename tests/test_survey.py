"""Surveys: every vector file, exact ε, round trips, and what a survey may not do."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import runpy
import tomllib
from fractions import Fraction
from pathlib import Path

import pytest

from respondent import InvalidAnswer, InvalidSurvey, Survey
from respondent.checking import Checker
from respondent.document import read_law

from .support import EXAMPLES, VECTORS, published, vectors

FILES = sorted((VECTORS / "surveys").glob("*.toml"))
LN3 = 1.0986122886681098  # ln 3 = 1.09861228866810969…, and the next double above it


def expected(path: Path, word: str) -> tuple[str, ...]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return tuple(
        line.removeprefix(f"# {word}: ") for line in lines if line.startswith(f"# {word}: ")
    )


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_researchers_files(path: Path) -> None:
    problems = expected(path, "problem")
    if problems:
        with pytest.raises(InvalidSurvey) as caught:
            Survey.load(path)
        assert caught.value.problems == problems
    else:
        survey = Survey.load(path)
        assert (survey.fingerprint,) == expected(path, "fingerprint")
        twin = json.loads((VECTORS / "published" / f"{path.stem}.json").read_text("utf-8"))
        assert survey.publish().decode() == twin["published"]


def test_there_are_enough_researchers_files_and_most_are_invalid() -> None:
    invalid = [path for path in FILES if expected(path, "problem")]
    assert len(FILES) >= 100
    assert len(invalid) > len(FILES) / 2


@pytest.mark.parametrize("vector", vectors("published"), ids=lambda v: v["name"])
def test_published_documents(vector: dict) -> None:
    data = (
        bytes.fromhex(vector["hex"])
        if "hex" in vector
        else vector["published"].encode("utf-8", "surrogatepass")
    )
    if "problems" in vector:
        with pytest.raises(InvalidSurvey) as caught:
            Survey.from_published(data)
        assert list(caught.value.problems) == vector["problems"]
        return
    survey = Survey.from_published(data)
    assert survey.publish() == data
    assert survey.fingerprint == vector["fingerprint"] == hashlib.sha256(data).hexdigest()
    assert survey.epsilon == vector["epsilon"]
    assert survey.delta == vector["delta"]
    for language, sentences in vector["explain"].items():
        told = [survey.explain(language), *(question.explain(language) for question in survey)]
        assert told == sentences


@pytest.mark.parametrize("name", ["coin", "campus", "names"])
def test_examples_round_trip(name: str) -> None:
    survey = Survey.load(EXAMPLES / f"{name}.toml")
    again = Survey.from_published(survey.publish())
    assert again == survey
    assert again.publish() == survey.publish()


def test_toml_and_json_give_the_same_survey(tmp_path: Path) -> None:
    path = tmp_path / "coin.json"
    path.write_text(
        json.dumps(
            {
                "id": "coin",
                "title": "One question",
                "intro": "One question. Your own device flips a coin before anything is sent.",
                "own-coin": True,
                "question": [
                    {
                        "id": "cheated",
                        "ask": "Have you cheated in an exam this year?",
                        "kind": "yes-no",
                        "coin": "1/2",
                    }
                ],
            }
        )
    )
    survey = Survey.load(EXAMPLES / "coin.toml")
    assert Survey.load(path) == survey
    path.write_bytes(survey.publish())
    assert Survey.load(path) == survey


@pytest.mark.parametrize(
    ("odds", "ratio"),
    [
        ({"coin": "1/2"}, "3"),
        ({"forced": {"yes": "1/6", "no": "1/6"}}, "5"),
        ({"warner": "0.7"}, "7/3"),
        ({"crosswise": 0.25}, "3"),
        # 2/3 + 1/3·1/4 = 9/12 against 1/12; 1/3·3/4 = 3/12 against 11/12
        ({"unrelated": {"sensitive": "2/3", "yes": "1/4"}}, "9"),
        # 9/10 against 2/5, and 3/5 against 1/10: the larger of 9/4 and 6
        ({"table": [[9, 1], [2, 3]]}, "6"),
        ({"odds": [7, 2]}, "7/2"),
    ],
    ids=str,
)
def test_exact_epsilon_of_named_designs(odds: dict, ratio: str) -> None:
    survey = Survey.parse(
        {"id": "v", "title": "V", "question": [{"id": "q", "ask": "?", "kind": "yes-no"} | odds]}
    )
    assert survey["q"].law.ratio == Fraction(ratio)
    assert survey.epsilon == pytest.approx(math.log(Fraction(ratio)), rel=1e-15)


def test_epsilon_adds_up_over_questions_and_people() -> None:
    coin = {"ask": "?", "kind": "yes-no", "coin": "1/2"}
    plain = {"id": "plain", "ask": "?", "kind": "yes-no", "protect": False}
    survey = Survey.parse(
        {"id": "v", "title": "V", "question": [coin | {"id": "a"}, coin | {"id": "b"}, plain]}
    )
    assert survey["a"].epsilon == LN3
    assert survey["plain"].epsilon == 0
    assert survey.epsilon == pytest.approx(math.log(9), rel=1e-15)
    assert survey.epsilon >= Fraction(math.log(9))
    assert survey.epsilon_of_group(5) == pytest.approx(math.log(9**5), rel=1e-15)


def test_objects_are_frozen() -> None:
    survey = Survey.load(EXAMPLES / "coin.toml")
    with pytest.raises(dataclasses.FrozenInstanceError):
        survey.title = "Another"  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        survey["cheated"].law.truth = 1000  # type: ignore[misc, attr-defined]


def test_another_word_or_coin_is_another_fingerprint() -> None:
    text = (EXAMPLES / "coin.toml").read_text()
    prints = {
        Survey.parse(tomllib.loads(changed)).fingerprint
        for changed in (text, text.replace("this year", "ever"), text.replace("1/2", "2/3"))
    }
    assert len(prints) == 3


def test_ten_million_options_are_refused_at_once() -> None:
    question = {"id": "q", "ask": "?", "kind": "list", "epsilon": 1, "options": ["x"] * 10**7}
    with pytest.raises(InvalidSurvey, match="must be a list of 2 to 1000000 texts"):
        Survey.parse({"id": "v", "title": "V", "question": [question]})


def test_a_million_options_work() -> None:
    law = read_law(
        {"law": "projective", "answers": 10**6, "prime": 3, "dimension": 14,
         "inside": 1264, "outside": 465}, "law", Checker(),
    )  # fmt: skip
    assert law is not None
    assert 0 <= law.randomise(999_999) < law.responses


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("none.toml", None, "cannot be read: No such file or directory"),
        ("cut.toml", b'id = "v', "Illegal character|Expected|Unterminated|Invalid"),
        ("bytes.toml", b"\xff\xfe", "is not text in UTF-8"),
        ("list.json", b"[]", "must be an object with named fields"),
        ("cut.json", b"{", "Expecting property name"),
        ("deep.json", b"[" * 100_000, "recursion|must be an object"),
    ],
)
def test_files_that_are_no_survey(
    tmp_path: Path, name: str, content: bytes | None, problem: str
) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InvalidSurvey, match=problem) as caught:
        Survey.load(path)
    assert name in str(caught.value)


def test_a_long_list_is_published_briefly() -> None:
    survey = Survey.load(EXAMPLES / "names.toml")
    texts = sum(len(str(option).encode()) for option in survey["place"].options)
    assert len(survey["place"].options) == 10_000
    assert len(survey.publish()) - texts < 200_000


def test_names_toml_is_what_its_script_writes() -> None:
    script = runpy.run_path(str(EXAMPLES / "make_names.py"))
    survey = Survey.load(EXAMPLES / "names.toml")
    assert list(survey["place"].options) == script["names"]()


def test_encode_never_names_the_answer() -> None:
    survey = published("ok-campus.json")
    for question in survey:
        with pytest.raises(InvalidAnswer) as caught:
            question.encode("my secret 4711")
        assert "4711" not in str(caught.value)
        assert caught.value.__cause__ is None
        assert caught.value.__suppress_context__ or caught.value.__context__ is None
