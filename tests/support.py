"""What several test files need: small laws, scripted randomness, every possible draw."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pandas
import pytest

from respondent import Question, Survey
from respondent.laws import (
    Distance,
    KAry,
    Law,
    OneOf,
    Plain,
    Projective,
    Subset,
    Table,
    TwoPoint,
    Wave,
)

ROOT = Path(__file__).parent.parent
VECTORS = ROOT / "tests" / "vectors"
EXAMPLES = ROOT / "examples"

#: Laws whose every draw can be tried, corner cases among them.
SMALL_LAWS: list[Law] = [
    Plain(3),
    KAry(2, 3, 1),
    KAry(2, 1, 3),
    KAry(3, 1, 1),
    KAry(5, 4, 3),
    OneOf(2, 3, 1),
    OneOf(4, 5, 2),
    Table(((9, 1), (2, 3))),
    Table(((6, 3, 1), (1, 3, 6))),
    Subset(4, 1, 3, 1),
    Subset(5, 2, 5, 2),
    Subset(6, 3, 3, 1),
    Projective(3, 2, 2, 3, 2),
    Projective(7, 2, 3, 3, 2),
    Projective(12, 3, 3, 5, 2),
    Projective(20, 5, 3, 3, 1),
    TwoPoint(1, 3, 1),
    TwoPoint(6, 3, 1),
    Wave(3, 0, 5, 2),
    Wave(6, 2, 5, 2),
    Distance(1, 0, (3, 1)),
    Distance(4, 0, (16, 8, 4, 2, 2)),
    Distance(3, 2, (9, 6, 4, 2, 1, 1)),
    Distance(2, 1, (8, 5, 2, 1), (3, 2)),
]


#: Some answers to each question of campus.toml that is always shown.
CAMPUS_ANSWERS: dict[str, list[Any]] = {
    "year": ["1", "2", "3", "4+"],
    "cheated": ["Yes", "No"],
    "copied": ["Yes", "No"],
    "ghostwriter": ["Yes", "No"],
    "drug": ["None", "Cannabis", "Cocaine", "Other", None],
    "worries": [[], ["Money"], ["Money", "Exams", "Loneliness", "Health", "Family"]],
    "mood": [1, 4, 7],
    "income": [0, 2_400, 10_000],
    "debt": [0, 20_000],
    "hours": [0, 40],
    "country": ["Polynesia", "Africa, Eastern"],
}


def vectors(folder: str) -> list[Any]:
    """Every vector file of a folder, its name under "name"."""
    found = [
        json.loads(path.read_text(encoding="utf-8")) | {"name": path.name}
        for path in sorted((VECTORS / folder).glob("*.json"))
    ]
    assert found
    return found


def published(name: str) -> Survey:
    text = json.loads((VECTORS / "published" / name).read_text(encoding="utf-8"))["published"]
    return Survey.from_published(text.encode())


class Script:
    """Randomness that was written down: bytes in order, and an error past their end."""

    def __init__(self, hexadecimal: str) -> None:
        self.left = bytes.fromhex(hexadecimal)

    def __call__(self, size: int) -> bytes:
        assert len(self.left) >= size, "more bytes were drawn than the script has"
        data, self.left = self.left[:size], self.left[size:]
        return data


class _Tree:
    """A ``randbelow`` that follows a script and tells what it would have drawn next."""

    def __init__(self, script: tuple[int, ...]) -> None:
        self.left = list(script)
        self.chance = Fraction(1)
        self.missing = 0

    def __call__(self, total: int) -> int:
        self.chance /= total
        if self.left:
            return self.left.pop(0)
        self.missing = self.missing or total
        return 0


def outcomes(randomise: Callable[[Callable[[int], int]], int]) -> dict[int, Fraction]:
    """Run a sampler over every sequence of draws: each response's exact probability."""
    found: dict[int, Fraction] = {}
    todo: list[tuple[int, ...]] = [()]
    while todo:
        script = todo.pop()
        tree = _Tree(script)
        response = randomise(tree)
        if tree.missing:
            todo += [(*script, draw) for draw in range(tree.missing)]
        else:
            found[response] = found.get(response, Fraction(0)) + tree.chance
    return found


def needs(program: str) -> str:
    """The path of a program that a test needs; without it the test is skipped, or fails in CI."""
    found = shutil.which(program)
    if found is None:
        package = {"node": "nodejs"}.get(program, program)
        told = f"{program} is not installed: apt-get install {package}"
        if os.environ.get("CI") == "true":
            pytest.fail(told)
        pytest.skip(told)
    return found


def reference(kind: str) -> list[Any]:
    """Cases of ``tests/reference``: what R packages give for the same data."""
    found = [case for case in _reference_cases() if case["kind"] == kind]
    assert found
    return found


def reference_case(name: str) -> Any:
    return next(case for case in _reference_cases() if case["name"] == name)


def reference_data(case: Any) -> pandas.DataFrame:
    """The table of a reference case."""
    return pandas.read_csv(ROOT / "tests" / "reference" / case["data"]["csv"])


@cache
def _reference_cases() -> Any:
    path = ROOT / "tests" / "reference" / "cases.json"
    return json.loads(path.read_text(encoding="utf-8"))["cases"]


def question(law: Law | None = None, /, **fields: Any) -> Question:
    """A question from a researcher's fields, or one that a law is simply put into."""
    source = {"id": "q", "ask": "?", "kind": "yes-no"} | fields
    if law is not None and "kind" not in fields:
        names = tuple(f"answer {number}" for number in range(law.answers))
        return Question("q", "choice", "?", law, options=names)
    if not {"epsilon", "coin", "odds", "protect", "forced", "crosswise", "table"} & set(source):
        source["epsilon"] = 1
    return Survey.parse({"id": "s", "title": "S", "question": [source]})["q"]
