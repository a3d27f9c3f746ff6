"""The methods paragraph, the codebook and the script, against the survey they are made from."""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from analysis import counts, estimate, simulate
from analysis.paper import REFERENCES, codebook, methods_paragraph, recompute_script
from respondent import Survey
from respondent.checking import say
from respondent.laws import Subset, SupportLaw, members

from .support import EXAMPLES, ROOT, published

N = 500


@pytest.fixture(scope="module")
def campus() -> Survey:
    return Survey.load(EXAMPLES / "campus.toml")


@pytest.fixture(scope="module")
def results(campus: Survey) -> list[Any]:
    found = simulate(campus, n=N, seed=1).counts
    return [estimate(q, found[q.id], 0.9, fingerprint=campus.fingerprint) for q in campus]


def test_the_paragraph_says_everything(campus: Survey, results: list[Any]) -> None:
    text = methods_paragraph(campus, results)
    assert campus.fingerprint in text and f"{N:,} reports" in text and "90 %" in text
    assert "Deniable" in text and "honestly" in text and "random sample" in text
    for question, result in zip(campus, results, strict=True):
        assert f"“{question.id}” ({question.kind}, n = {result.n:,})" in text
        assert result.method in text
        law = question.law
        if isinstance(law, SupportLaw):
            assert f"p = {law.p}, q = {law.q}" in text
    for question in campus:
        weights = [getattr(question.law, name, None) for name in ("truth", "other", "near", "far")]
        assert all(str(weight) in text for weight in weights if weight is not None)


def test_epsilon_in_the_paragraph_is_never_too_small(campus: Survey, results: list[Any]) -> None:
    text = methods_paragraph(campus, results)
    said = [float(number) for number in re.findall(r"ε = (\d+(?:\.\d+)?)", text)]
    known = [campus.epsilon] + [question.epsilon for question in campus if question.protected]
    assert len(said) == len(known)
    for one, other in zip(said, known, strict=True):
        assert other <= one <= other + 1e-4


def test_every_citation_has_its_reference(campus: Survey, results: list[Any]) -> None:
    body, references = methods_paragraph(campus, results).split("\n\nReferences\n\n")
    listed = references.strip().split("\n")
    for name, reference in REFERENCES.items():
        if name in body:
            assert f"- {reference}" in listed


def test_the_paragraph_of_one_question() -> None:
    survey = Survey.load(EXAMPLES / "coin.toml")
    found = simulate(survey, n=50, seed=1).counts
    result = estimate(survey["cheated"], found["cheated"])
    law = survey["cheated"].law
    text = methods_paragraph(survey, {"cheated": result})
    assert isinstance(law, SupportLaw)
    assert f"odds of {law.weight(0, 0)} for the true answer to {law.weight(0, 1)}" in text


def test_results_of_another_survey_are_refused(campus: Survey, results: list[Any]) -> None:
    coin = Survey.load(EXAMPLES / "coin.toml")
    with pytest.raises(ValueError, match="year is not a question of this survey"):
        methods_paragraph(coin, results)
    found = simulate(coin, n=5, seed=1).counts
    other = estimate(coin["cheated"], found["cheated"], fingerprint=campus.fingerprint)
    with pytest.raises(ValueError, match="another survey"):
        methods_paragraph(coin, [other])
    with pytest.raises(ValueError, match="at least one"):
        methods_paragraph(coin, [])


VECTORS = ["ok-choice-20", "ok-gaussian", "ok-list-200", "ok-plain", "ok-shown", "ok-unrelated"]


@pytest.mark.parametrize("name", [None, *VECTORS])
def test_the_codebook_has_every_question(name: str | None, campus: Survey) -> None:
    survey = campus if name is None else published(f"{name}.json")
    text = codebook(survey)
    assert survey.fingerprint in text
    sections = re.split(r"^## \d+\. ", text, flags=re.MULTILINE)[1:]
    assert len(sections) == len(survey.questions)
    for question, section in zip(survey, sections, strict=True):
        assert section.startswith(f"`{question.id}`")
        assert f"- Kind: {question.kind}" in section and f"- Law: {question.law.name}" in section
        for place, option in enumerate(question.options):
            assert f"| {place} | {say(option, 'en')} |" in section
        if question.not_asked is not None:
            assert f"- {question.not_asked}: the question was not shown" in section


def test_the_codebook_lists_small_channels() -> None:
    survey = Survey.load(EXAMPLES / "coin.toml")
    law = survey["cheated"].law
    for answer, option in enumerate(survey["cheated"].options):
        cells = [law.weight(answer, 0), law.weight(answer, 1), law.total(answer)]
        assert f"| {option} | {' | '.join(map(str, cells))} |" in codebook(survey)


def test_the_codebook_lists_small_sets() -> None:
    options = ["a", "b", "c", "d", "e", "f"]
    question = {"id": "q", "ask": "Q?", "kind": "choice", "options": options, "epsilon": 0.5}
    survey = Survey.parse({"id": "s", "title": "S", "question": [question | {"law": "subset"}]})
    law = survey["q"].law
    assert isinstance(law, Subset)
    for response in range(law.responses):
        names = ", ".join(options[place] for place in sorted(members(response, law.size)))
        assert f"- {response}: {names}\n" in codebook(survey)


def test_the_codebook_survives_signs_of_markdown() -> None:
    question = {"id": "q", "ask": "A | B?", "kind": "choice", "options": ["a|b", "c\\d", "e"]}
    survey = Survey.parse({"id": "s", "title": "S", "question": [question | {"epsilon": 1}]})
    assert "| 0 | a\\|b |" in codebook(survey)


def test_the_script_recomputes_every_number(campus: Survey, tmp_path: Path) -> None:
    reports, script, out = (tmp_path / name for name in ("r.csv", "recompute.py", "e.csv"))
    simulate(campus, n=N, seed=3).to_csv(reports)
    script.write_text(recompute_script(campus, level=0.9), encoding="utf-8")
    result = subprocess.run(
        [sys.executable, script, reports, out],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"},
        cwd=tmp_path,
    )
    assert result.returncode == 0, result.stderr
    with out.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    found = counts(campus, reports)
    expected = [
        record
        for question in campus
        for record in estimate(
            question, found[question.id], 0.9, fingerprint=campus.fingerprint
        ).records()
    ]
    assert [{key: str(value) for key, value in row.items()} for row in expected] == rows
    assert re.search(r"^mean ", result.stdout, re.MULTILINE)


@pytest.mark.parametrize("arguments", [[], ["a", "b", "c"], ["missing.csv"]])
def test_the_script_says_what_it_needs(arguments: list[str], tmp_path: Path) -> None:
    script = tmp_path / "recompute.py"
    coin = Survey.load(EXAMPLES / "coin.toml")
    script.write_text(recompute_script(coin), encoding="utf-8")
    result = subprocess.run(
        [sys.executable, script, *arguments],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        cwd=tmp_path,
    )
    assert result.returncode == 1
    assert "usage" in result.stderr or "missing.csv: cannot be read" in result.stderr
