"""Counts from every source agree, and every way a file can be wrong is named."""

from __future__ import annotations

import sqlite3
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pandas
import pytest

from analysis import counts, simulate
from analysis.counts import table_name
from respondent import Survey, make_report

from .support import EXAMPLES

CAMPUS = Survey.load(EXAMPLES / "campus.toml")
SAMPLE = simulate(CAMPUS, {"cheated": {"Yes": 0.3, "No": 0.7}}, n=500, seed=1)
SMALL = Survey.parse(
    {
        "id": "small",
        "title": "Small",
        "question": [
            {"id": "a", "ask": "?", "kind": "yes-no", "coin": "1/2"},
            {"id": "b", "ask": "?", "kind": "choice", "options": ["x", "y", "z"], "epsilon": 1},
        ],
    }
)
ROWS = "a,b\n0,0\n1,2\n1,1\n"
EXPECTED = {"a": {0: 1, 1: 2}, "b": {0: 1, 1: 1, 2: 1}}


def database(path: Path, survey: Survey = CAMPUS) -> Path:
    """As the collector keeps reports: one strict table for each survey."""
    columns = ", ".join(f'"{question.id}" INTEGER NOT NULL' for question in survey)
    name = table_name(survey.fingerprint)
    with sqlite3.connect(path) as connection:
        connection.execute(
            f"CREATE TABLE {name} (key TEXT PRIMARY KEY, {columns}) STRICT, WITHOUT ROWID"
        )
        places = ",".join("?" * (len(survey.questions) + 1))
        connection.executemany(
            f"INSERT INTO {name} VALUES ({places})",
            [(report.key, *report.responses) for report in SAMPLE.reports],
        )
    connection.close()
    return path


def test_every_source_gives_the_same_counts(tmp_path: Path) -> None:
    SAMPLE.to_csv(tmp_path / "a.csv")
    SAMPLE.to_json_lines(tmp_path / "a.jsonl")
    SAMPLE.to_parquet(tmp_path / "a.parquet")
    frame = SAMPLE.to_frame()
    for source in (
        tmp_path / "a.csv",
        str(tmp_path / "a.jsonl"),
        tmp_path / "a.parquet",
        database(tmp_path / "a.sqlite"),
        frame,
        frame.assign(survey=CAMPUS.fingerprint, key=range(500)),
        SAMPLE.reports,
        [bytes(report) for report in SAMPLE.reports],
        (
            {"survey": r.survey, "key": r.key, "responses": list(r.responses)}
            for r in SAMPLE.reports
        ),
    ):
        assert counts(CAMPUS, source) == SAMPLE.counts


def test_small_questions_name_every_response() -> None:
    report = make_report(SMALL, {"a": "Yes", "b": "x"})
    found = counts(SMALL, [report])
    assert list(found["a"]) == [0, 1] and list(found["b"]) == [0, 1, 2]
    assert sum(found["b"].values()) == 1


def test_fingerprints_in_a_column_are_checked(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    own, other = SMALL.fingerprint, CAMPUS.fingerprint
    path.write_text(f"survey,a,b\n{own},0,0\n{other},1,2\n{own},1,1\n")
    with pytest.raises(ValueError, match="another survey or version"):
        counts(SMALL, path)
    assert counts(SMALL, path, others="skip") == {"a": {0: 1, 1: 1}, "b": {0: 1, 1: 1, 2: 0}}
    assert counts(SMALL, path, others="count") == EXPECTED
    with pytest.raises(ValueError, match="another survey or version"):
        counts(SMALL, SAMPLE.reports)
    with pytest.raises(ValueError, match="others"):
        counts(SMALL, path, others="ignore")


def test_columns_in_any_order_and_quoted(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b'\xef\xbb\xbf"b","key","a"\r\n0,k1,0\r\n2,k2,1\r\n1,k3,1\r\n')
    assert counts(SMALL, path) == EXPECTED


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ("a,b\n", "has no reports"),
        ("a\n0\n", "column b is missing"),
        ("a,c\n0,0\n", "column b is missing"),
        ("a,b,c\n0,0,0\n", "column c is not a question"),
        ("a,b,a\n0,0,0\n", "two columns"),
        ("a,b\n0,0\n1,", "was cut"),
        ("a,b\n0,0\n1\n", "Expected 2 columns, got 1"),
        ("a,b\n0,0\n1,\n", "column b"),
        ("a,b\n0,0\n\n1,1\n", "a.csv"),
        ("a,b\n0,3\n", "from 0 to 2"),
        ("a,b\n-1,0\n", "from 0 to 1"),
        ("a,b\n0.5,0\n", "a.csv"),
        ("a,b\nYes,0\n", "a.csv"),
        ('{"survey":"x"\n', "was it cut"),
        ('{"survey":"x"}\n', "survey, key and responses only"),
    ],
)
def test_bad_files_are_refused(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=words):
        counts(SMALL, path)


def test_csv_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["analysis.counts"], "find_spec", lambda name: None)
    path = tmp_path / "a.csv"
    path.write_text(ROWS)
    assert counts(SMALL, path) == EXPECTED
    path.write_text(ROWS.replace("a,b", "survey,a,b").replace("\n", f"\n{SMALL.fingerprint},", 3))
    assert counts(SMALL, path) == EXPECTED
    for text, words in (
        ("a,b\n0,0\n1\n", "Expected 2 columns, got 1"),
        ("a,b\n0,0\n1,\n", "whole numbers"),
        ("a,b\n0,0\n\n", "Expected 2"),
        ("a,b\n0,0.5\n", "whole numbers"),
        ("a,b\n0,3\n", "from 0 to 2"),
        ("a,b\n", "has no reports"),
    ):
        path.write_text(text)
        with pytest.raises(ValueError, match=words):
            counts(SMALL, path)


def test_a_file_that_is_not_there_or_not_text(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="cannot be read"):
        counts(SMALL, tmp_path / "nothing.csv")
    (tmp_path / "a.csv").write_bytes(b"\xff\xfe\x00a\n")
    with pytest.raises(ValueError, match="UTF-8"):
        counts(SMALL, tmp_path / "a.csv")
    with pytest.raises(TypeError, match="source"):
        counts(SMALL, 5)
    with pytest.raises(TypeError, match="survey"):
        counts("small", [])  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["a.parquet", "a.sqlite", "a.jsonl", "a.csv"])
def test_a_file_cut_in_the_middle_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name == "a.parquet":
        SAMPLE.to_parquet(path)
    elif name == "a.sqlite":
        database(path)
    elif name == "a.jsonl":
        SAMPLE.to_json_lines(path)
    else:
        SAMPLE.to_csv(path)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2 - 7])
    with pytest.raises(ValueError, match=name):
        counts(CAMPUS, path)
    path.write_bytes(b"")
    with pytest.raises(ValueError, match="is empty"):
        counts(CAMPUS, path)
    if name in ("a.parquet", "a.sqlite"):
        path.write_bytes(b"hello, world\n")
        with pytest.raises(ValueError, match="is not a"):
            counts(CAMPUS, path)


def test_a_database_without_the_survey_says_what_it_has(tmp_path: Path) -> None:
    path = database(tmp_path / "a.sqlite")
    with pytest.raises(ValueError, match=table_name(CAMPUS.fingerprint)):
        counts(SMALL, path)


def test_bad_tables_are_refused() -> None:
    good = pandas.DataFrame({"a": [0, 1], "b": [2, 1]})
    assert counts(SMALL, good)["b"] == {0: 0, 1: 1, 2: 1}
    for bad, words in (
        (good.drop(columns="b"), "column b is missing"),
        (good.assign(c=1), "column c is not"),
        (good.assign(b=[0.5, 1]), "whole numbers"),
        (good.assign(b=[np.nan, 1]), "missing"),
        (good.assign(b=["x", "y"]), "whole numbers"),
        (good.assign(b=[0, 3]), "from 0 to 2"),
        (good.iloc[:0], "no rows"),
    ):
        with pytest.raises(ValueError, match=words):
            counts(SMALL, bad)


def test_bad_reports_are_refused() -> None:
    report = make_report(SMALL, {"a": "Yes", "b": "x"})
    good = {"survey": SMALL.fingerprint, "key": "0" * 32, "responses": [1, 2]}
    assert counts(SMALL, [good])["a"] == {0: 0, 1: 1}
    for bad, words in (
        ([report, report], "key was there before"),
        ([good | {"responses": [1]}], "must have 2 responses"),
        ([good | {"responses": [1, 3]}], "responses, b"),
        ([good | {"responses": [1, True]}], "whole numbers"),
        ([good | {"responses": [1, 1.0]}], "whole numbers"),
        ([good | {"key": "k"}], "key"),
        ([good | {"extra": 1}], "only"),
        ([b'{"survey":'], "was it cut"),
        ([5], "must be an object"),
    ):
        with pytest.raises(ValueError, match=words):
            counts(SMALL, bad)


def test_questions_not_shown_must_say_so() -> None:
    frame = SAMPLE.to_frame()
    assert (frame["hall"] == 2).any()
    frame["hall"] = 0
    with pytest.raises(ValueError, match="hall must be 2 where the question was not shown"):
        counts(CAMPUS, frame)


def test_memory_does_not_grow_with_the_reports(tmp_path: Path) -> None:
    """The same peak for 300,000 as for 1,200,000 rows, a megabyte apart."""
    pytest.importorskip("pyarrow")
    peaks = []
    for times in (3, 12):
        path = tmp_path / f"{times}.csv"
        block = "0,0\n1,2\n" * 50_000
        path.write_text("a,b\n" + block * times)
        tracemalloc.start()
        found = counts(SMALL, path)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert found["b"] == {0: 50_000 * times, 1: 0, 2: 50_000 * times}
    assert peaks[1] < peaks[0] + 2**20
