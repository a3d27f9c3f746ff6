"""The ``deniable`` command, called as people call it: files, pipes, and what they get wrong."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from analysis import counts, estimate, simulate
from collector.cli import main
from respondent import Survey

from .support import EXAMPLES, ROOT

COIN = str(EXAMPLES / "coin.toml")
CAMPUS = str(EXAMPLES / "campus.toml")


def call(*arguments: str, data: bytes | None = None) -> Result:
    return CliRunner().invoke(main, list(arguments), input=data)


def good(*arguments: str, data: bytes | None = None) -> str:
    result = call(*arguments, data=data)
    assert result.exit_code == 0, result.output
    return result.stdout


def bad(*arguments: str, data: bytes | None = None) -> str:
    """What a failing call says: one line, no traceback, nothing on stdout."""
    result = call(*arguments, data=data)
    assert result.exit_code == 1, result.output
    assert isinstance(result.exception, SystemExit)
    assert not result.stdout
    lines = result.stderr.strip().split("\n")
    assert len(lines) == 1 and lines[0].startswith("Error: "), result.stderr
    return lines[0]


@pytest.fixture
def reports(tmp_path: Path) -> str:
    path = tmp_path / "reports.csv"
    simulate(Survey.load(CAMPUS), n=400, seed=1).to_csv(path)
    return str(path)


def real(*arguments: str, data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """The command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "collector.cli", *arguments],
        input=data,
        capture_output=True,
        cwd=ROOT,
        env=os.environ | {"PYTHONIOENCODING": "utf-8"},
    )


# Help


@pytest.mark.parametrize("command", [None, *main.commands])
def test_help_teaches_with_examples(command: str | None) -> None:
    said = good(*([command] if command else []), "--help")
    others = {
        "demo": "deniable demo",
        "keys": "deniable keys add anna --data reports.db",
        "backup": "deniable backup reports.db",
        "restore": "deniable restore backup-monday.db",
        "integrity": "deniable integrity reports.db",
    }
    example = others.get(command or "", f"deniable {command or 'check'} survey.toml")
    assert example in said
    assert "-h, --help" in said


# check


def test_check_explains(tmp_path: Path) -> None:
    survey = Survey.load(CAMPUS)
    said = good("check", CAMPUS)
    assert survey.fingerprint in said and survey.explain() in said
    for question in survey:
        assert f"{question.id}: {question.explain()}" in said
    for size in ("n = 100", "n = 1,000", "n = 10,000"):
        assert size in said
    assert "income (mean)" in said and "mood (mean)" in said


@pytest.mark.parametrize("name", ["coin.toml", "names.toml"])
def test_check_reads_a_pipe(name: str) -> None:
    path = EXAMPLES / name
    assert good("check", "-", data=path.read_bytes()) == good("check", str(path))
    published = Survey.load(path).publish()
    assert good("check", "-", data=published) == good("check", str(path))


def test_check_lists_all_problems_at_once() -> None:
    text = 'id = "s"\ntitle = "S"\nquota = 1\n[[question]]\nid = "q"\nask = "Q?"\nkind = "yesno"\n'
    result = call("check", "-", data=text.encode())
    assert result.exit_code == 1
    assert "2 problems" in result.stderr
    assert "quota" in result.stderr and "yesno" in result.stderr
    assert "and 1 more: see deniable check" in bad("simulate", "-", "-n", "5", data=text.encode())


# simulate


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_simulate_writes_what_counts_reads(ending: str, tmp_path: Path) -> None:
    out = tmp_path / f"r.{ending}"
    assert good("simulate", CAMPUS, "-n", "50", "--seed", "7", "-o", str(out)) == ""
    survey = Survey.load(CAMPUS)
    assert counts(survey, out) == simulate(survey, n=50, seed=7).counts


def test_simulate_takes_a_truth(tmp_path: Path) -> None:
    truth = tmp_path / "truth.json"
    truth.write_text('{"cheated": {"Yes": 1, "No": 0}}', encoding="utf-8")
    arguments = ["simulate", COIN, "-n", "2000", "--seed", "1", "--truth"]
    yes = good(*arguments, str(truth)).split().count("0")
    no = good(*arguments, "-", data=b'{"cheated": {"Yes": 0, "No": 1}}').split().count("0")
    # 3 of 4 and 1 of 4 send Yes, response 0; six standard errors are 116.
    assert abs(yes - 1500) < 116 and abs(no - 500) < 116


@pytest.mark.parametrize(
    ("truth", "said"),
    [
        (b"", "is not JSON"),
        (b"[1]", "must be an object"),
        (b'{"cheated": {"Yes": 0.3}}', "add up to 0.3, not to 1"),
        (b'{"cheated": {"Maybe": 1}}', "Maybe"),
        (b'{"nothing": {"Yes": 1}}', "'nothing' is not a question"),
        (b'{"cheated": 3}', "cheated"),
        (b"\xff\xfe", "is not text in UTF-8"),
    ],
)
def test_bad_truths(truth: bytes, said: str) -> None:
    assert said in bad("simulate", COIN, "-n", "5", "--truth", "-", data=truth)
    assert bad("study", COIN, "--repetitions", "5", "--truth", "-", data=truth)


def test_simulate_refuses_other_endings(tmp_path: Path) -> None:
    assert "must end in .csv" in bad("simulate", COIN, "-n", "5", "-o", str(tmp_path / "r.xls"))
    assert "No such file" in bad("simulate", COIN, "-n", "5", "-o", str(tmp_path / "no" / "r.csv"))


# estimate


def test_estimate_gives_what_python_gives(reports: str) -> None:
    survey = Survey.load(CAMPUS)
    found = counts(survey, reports)
    results = [estimate(q, found[q.id], 0.9, fingerprint=survey.fingerprint) for q in survey]
    rows = list(csv.DictReader(io.StringIO(
        good("estimate", CAMPUS, reports, "--level", "0.9", "--format", "csv")
    )))  # fmt: skip
    expected = [record for result in results for record in result.records()]
    assert rows == [{key: str(value) for key, value in row.items()} for row in expected]
    documents = json.loads(good("estimate", CAMPUS, reports, "--level", "0.9", "--format", "json"))
    assert documents == [json.loads(result.to_json()) for result in results]
    tables = good("estimate", CAMPUS, reports, "--level", "0.9")
    assert all(str(result) in tables for result in results)


def test_estimate_one_question(reports: str, tmp_path: Path) -> None:
    out = tmp_path / "e.json"
    options = ["--question", "cheated", "--format", "json", "-o", str(out)]
    assert good("estimate", CAMPUS, reports, *options) == ""
    assert json.loads(out.read_text(encoding="utf-8"))["question"] == "cheated"


@pytest.mark.parametrize(("form", "sign"), [("markdown", "| Yes |"), ("latex", "\\toprule")])
def test_estimate_for_papers(form: str, sign: str, reports: str) -> None:
    assert sign in good("estimate", CAMPUS, reports, "--question", "cheated", "--format", form)


def test_estimate_says_a_scale_s_mean(reports: str) -> None:
    for form in ("table", "csv", "json", "markdown", "latex"):
        said = good("estimate", CAMPUS, reports, "--question", "mood", "--format", form)
        assert re.search(r"\bmean\b", said), form


def test_estimate_leaves_out_what_nobody_was_shown(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    survey = Survey.load(CAMPUS)
    truth = {"year": {"2": 1.0}}
    simulate(survey, truth, n=5, seed=1).to_csv(path)
    result = call("estimate", CAMPUS, str(path))
    assert result.exit_code == 0
    assert "left out: question hall" in result.stderr
    assert "question hall" in bad("estimate", CAMPUS, str(path), "--question", "hall")


def test_estimate_reads_a_pipe(reports: str) -> None:
    data = Path(reports).read_bytes()
    assert good("estimate", CAMPUS, "-", data=data) == good("estimate", CAMPUS, reports)


FINGERPRINT = Survey.load(COIN).fingerprint


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "is empty"),
        (b"cheated\n", "has no reports"),
        (b"cheated\n0\n1", "was cut"),
        (b"cheated\n0\n\n1\n", "missing value"),
        (b"cheated\n0\nYes\n", "invalid value"),
        (b"cheated\n7\n", "not from 0 to 1"),
        (b"cheated\n-1\n", "not from 0 to 1"),
        (b"other\n0\n", "column cheated is missing"),
        (b"cheated,extra\n0,1\n", "extra"),
        (b"cheated\n0,1\n", "columns"),
        (b"survey,cheated\nabc,0\n", "another survey or version"),
        (b"\x00\x01\x02\xff\n", "standard input"),
        (b"\xff\xfe\n", "not a CSV file in UTF-8"),
        (b'{"survey":"x"}\n', "line 1"),
        (b'{"survey":\n', "was it cut"),
        (f'{{"survey":"{FINGERPRINT}","key":"00","responses":[0]}}\n'.encode(), "key"),
        (b"PAR1 and then nothing", "cannot be read as Parquet"),
        (b"SQLite format 3\x00 and then nothing", "cannot be read as SQLite"),
    ],
)
def test_bad_reports(data: bytes, said: str) -> None:
    message = bad("estimate", COIN, "-", data=data)
    assert said.casefold() in message.casefold()


def test_missing_files(tmp_path: Path) -> None:
    missing = str(tmp_path / "no.csv")
    assert "no.csv: cannot be read" in bad("estimate", COIN, missing)
    assert "no.csv: cannot be read" in bad("estimate", missing, missing)
    assert "cannot be read" in bad("estimate", COIN, str(tmp_path))
    for command in ("check", "simulate", "study"):
        more = ["-n", "5"] if command == "simulate" else []
        result = call(command, missing, *more)
        assert result.exit_code == 1 and "cannot be read" in result.stderr


def test_a_file_cut_in_the_middle(reports: str, tmp_path: Path) -> None:
    data = Path(reports).read_bytes()
    cut = tmp_path / "cut.csv"
    cut.write_bytes(data[: len(data) // 2 + 1])
    assert "cut.csv" in bad("estimate", CAMPUS, str(cut))
    parquet = tmp_path / "r.parquet"
    good("simulate", CAMPUS, "-n", "50", "-o", str(parquet))
    parquet.write_bytes(parquet.read_bytes()[:-100])
    assert "cut" in bad("estimate", CAMPUS, str(parquet))


@pytest.mark.parametrize(
    "text", [b"", b"{", b"id = ", b"\xff", b"[]", b"{}", b"null", b"[[question]]\n"]
)
def test_bad_surveys(text: bytes) -> None:
    assert "standard-input" in bad("simulate", "-", "-n", "5", data=text)


def test_unknown_questions(reports: str, tmp_path: Path) -> None:
    for command in (["estimate"], ["plot", "-o", str(tmp_path / "p.svg")]):
        said = bad(*command, CAMPUS, reports, "--question", "nope")
        assert "'nope' is not a question" in said and "cheated" in said
    assert "'nope'" in bad("study", CAMPUS, "--question", "nope")


def test_intervals_that_a_law_does_not_have(reports: str) -> None:
    said = bad("estimate", CAMPUS, reports, "--interval", "clopper-pearson")
    assert "question mood" in said and "only wilson" in said
    options = ["--question", "cheated", "--interval", "clopper-pearson"]
    assert "Clopper–Pearson" in good("estimate", CAMPUS, reports, *options)


@pytest.mark.parametrize(
    "arguments",
    [
        ["nonsense"],
        ["estimate", COIN],
        ["estimate", "-", "-"],
        ["estimate", COIN, "r.csv", "--level", "1"],
        ["estimate", COIN, "r.csv", "--format", "xml"],
        ["simulate", COIN],
        ["simulate", COIN, "-n", "0"],
        ["simulate", COIN, "-n", "many"],
        ["simulate", COIN, "-n", "5", "--safe", "2"],
        ["simulate", "-", "-n", "5", "--truth", "-"],
        ["plot", COIN, "r.csv", "-o", "p.svg"],
        ["study", COIN, "--repetitions", "0"],
    ],
)
def test_bad_usage_exits_with_two(arguments: list[str]) -> None:
    result = call(*arguments)
    assert result.exit_code == 2
    assert "Usage:" in result.stderr


# plot and study


@pytest.mark.parametrize("ending", ["svg", "png", "pdf"])
def test_plot(ending: str, reports: str, tmp_path: Path) -> None:
    out = tmp_path / f"p.{ending}"
    assert good("plot", CAMPUS, reports, "--question", "drug", "-o", str(out)) == ""
    assert out.stat().st_size > 1000


def test_plot_refuses_other_endings(reports: str, tmp_path: Path) -> None:
    out = str(tmp_path / "p.gif")
    assert "must end in .svg" in bad("plot", CAMPUS, reports, "--question", "drug", "-o", out)


def test_study(tmp_path: Path) -> None:
    picture = tmp_path / "s.svg"
    options = ["-n", "50", "-n", "100", "--repetitions", "20", "--seed", "1", "--format", "csv"]
    said = good("study", CAMPUS, *options, "--plot", str(picture))
    rows = list(csv.DictReader(io.StringIO(said)))
    assert {row["n"] for row in rows} == {"50", "100"}
    assert {row["question"] for row in rows} == {q.id for q in Survey.load(CAMPUS)}
    assert picture.exists()
    assert "20 repetitions" in good("study", COIN, "--repetitions", "20", "--question", "cheated")


# In a process of its own


def test_pipes_between_processes() -> None:
    made = real("simulate", CAMPUS, "-n", "300", "--seed", "2")
    assert made.returncode == 0 and not made.stderr
    told = real("estimate", CAMPUS, "-", "--question", "cheated", data=made.stdout)
    assert told.returncode == 0, told.stderr
    assert "n = 300" in told.stdout.decode()


def test_errors_in_a_process() -> None:
    result = real("estimate", COIN, "-", data=b"")
    assert (result.returncode, result.stdout) == (1, b"")
    assert result.stderr.decode() == "Error: standard input: is empty\n"


def test_a_reader_that_leaves() -> None:
    """As in ``deniable simulate … | head -1``."""
    process: Any = subprocess.Popen(
        [sys.executable, "-m", "collector.cli", "simulate", COIN, "-n", "200000"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=ROOT,
    )
    process.stdout.readline()
    process.stdout.close()
    said = process.stderr.read().decode()
    process.stderr.close()
    process.wait()
    assert "Traceback" not in said
