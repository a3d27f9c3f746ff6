"""``counts``: from reports, wherever they are kept, to how often each response came.

Files are read in batches, so memory does not grow with the number of reports. Every value
is checked; a message names the file, the column and the rule.
"""

from __future__ import annotations

import csv
import io
import json
import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from respondent import InvalidReport, Question, Report, Survey, parse_report

from .channel import Ints
from .tally import MOST_NAMED

#: Columns that are not responses.
BESIDE = ("survey", "key", "day")
OTHERS = ("refuse", "skip", "count")

#: Laws with up to this many responses are counted in one array, others in a dict.
MOST_DENSE = 2**22
BLOCK = 2**20
ROWS = 100_000


def counts(survey: Survey, source: object, others: str = "refuse") -> dict[str, dict[int, int]]:
    """For each question of the survey, how often each response was reported.

    ``source``: reports (``Report``, dict or bytes) in an iterable; a DataFrame; or the path
    of a file of JSON lines (.jsonl, .ndjson), CSV, Parquet, or the collector's SQLite file.
    Tables have one column of responses for each question id, and may have ``survey`` (the
    fingerprint), ``key`` and ``day``.
    ``others``: what to do with reports of another survey or version of it. They are an
    error (``"refuse"``), left out (``"skip"``), or counted as this survey's (``"count"``),
    for when only words were changed.

    A file that was cut within a line is refused; one cut between two lines cannot be told
    from a shorter one, so compare with the number of reports (``estimate(…, n=…)``).
    """
    if not isinstance(survey, Survey):
        raise TypeError("survey: must be a Survey")
    if others not in OTHERS:
        raise ValueError(f"others: must be one of {', '.join(OTHERS)}")
    counter = _Counter(survey, others)
    if hasattr(source, "columns") and hasattr(source, "to_numpy"):
        counter.table(_frame_batch(survey, source), "the table")
    elif isinstance(source, str | Path):
        _read_file(counter, Path(source))
    elif isinstance(source, Iterable):
        counter.reports(source, "reports")
    else:
        raise TypeError("source: must be reports, a DataFrame or the path of a file")
    return counter.result()


def counted(question: Question, responses: Ints) -> dict[int, int]:
    """How often each response is in an array that is known to be in order."""
    totals = _Totals(question)
    totals.add(responses)
    return totals.result()


class _Totals:
    """Running counts of one question."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self.size = question.largest_response + 1
        self.dense = np.zeros(self.size, dtype=np.int64) if self.size <= MOST_DENSE else None
        self.sparse: dict[int, int] = {}

    def add(self, responses: Ints) -> None:
        if self.dense is not None:
            self.dense += np.bincount(responses, minlength=self.size)
            return
        for response, count in zip(*np.unique(responses, return_counts=True), strict=True):
            self.sparse[int(response)] = self.sparse.get(int(response), 0) + int(count)

    def result(self) -> dict[int, int]:
        """Small laws name every response, so that a missing one is never taken for a zero."""
        if self.dense is None:
            return dict(sorted(self.sparse.items()))
        if self.size <= MOST_NAMED + 1:
            return dict(enumerate(self.dense.tolist()))
        used = np.flatnonzero(self.dense)
        return dict(zip(used.tolist(), self.dense[used].tolist(), strict=True))


class _Counter:
    """Checks batches of responses and adds them up."""

    def __init__(self, survey: Survey, others: str) -> None:
        self.survey = survey
        self.others = others
        self.totals = {question.id: _Totals(question) for question in survey}
        self.rows = 0

    def result(self) -> dict[str, dict[int, int]]:
        return {name: totals.result() for name, totals in self.totals.items()}

    def keep(self, fingerprint: object, where: str) -> bool:
        """Whether a report of this fingerprint is counted."""
        if fingerprint == self.survey.fingerprint or self.others == "count":
            return True
        if self.others == "skip":
            return False
        raise ValueError(
            f"{where}: has a report of another survey or version, {str(fingerprint)[:16]} "
            f"instead of {self.survey.fingerprint[:16]}; "
            'say others="skip" or others="count" if that is meant'
        )

    def columns(self, found: Iterable[str], where: str) -> None:
        """The columns of a table must be the survey's questions, and nothing unknown."""
        names = list(found)
        if len(set(names)) < len(names):
            raise ValueError(f"{where}: has two columns of the same name")
        missing = [name for name in self.totals if name not in names]
        if missing:
            raise ValueError(f"{where}: column {', '.join(missing)} is missing")
        strange = [name for name in names if name not in self.totals and name not in BESIDE]
        if strange and self.others == "refuse":
            raise ValueError(
                f"{where}: column {', '.join(strange)} is not a question of this survey; "
                'say others="count" to leave such columns out'
            )

    def table(self, batch: Mapping[str, npt.NDArray[Any]], where: str) -> None:
        """Count one batch: arrays of responses, and perhaps of fingerprints."""
        size = len(next(iter(batch.values())))
        keep = None
        if "survey" in batch:
            known, inverse = np.unique(batch["survey"].astype(str), return_inverse=True)
            wanted = np.array([self.keep(name, where) for name in known.tolist()], dtype=bool)
            keep = wanted[inverse.ravel()]
        columns = {name: self._whole(batch[name], name, where) for name in self.totals}
        if keep is not None and not keep.all():
            columns = {name: column[keep] for name, column in columns.items()}
        for question in self.survey:
            self._check_range(question, columns, where)
            self.totals[question.id].add(columns[question.id])
        self.rows += size

    def _whole(self, column: npt.NDArray[Any], name: str, where: str) -> Ints:
        if column.dtype.kind in "iu":
            return column.astype(np.int64, copy=False)
        if column.dtype.kind == "f" and np.isfinite(column).all() and not (column % 1).any():
            return column.astype(np.int64)
        raise ValueError(
            f"{where}: column {name} must hold whole numbers only, and none may be missing"
        )

    def _check_range(self, question: Question, columns: Mapping[str, Ints], where: str) -> None:
        column, most = columns[question.id], question.law.responses - 1
        if question.show_if:
            shown = np.ones(len(column), dtype=bool)
            for condition in question.show_if:
                shown &= np.isin(columns[condition.question], condition.among)
            if (column[~shown] != question.law.responses).any():
                raise ValueError(
                    f"{where}: column {question.id} must be {question.law.responses} "
                    "where the question was not shown"
                )
            column = column[shown]
        if len(column) and (column.min() < 0 or column.max() > most):
            raise ValueError(
                f"{where}: column {question.id} has a response that is not from 0 to {most}"
            )

    def reports(self, found: Iterable[object], where: str) -> None:
        """Count reports one by one, refusing a key that comes twice."""
        keys: set[str] = set()
        batch: list[tuple[int, ...]] = []
        for number, report in enumerate(found, 1):
            at = f"{where}, number {number}"
            read = self._report(report, at)
            if read is None:
                continue
            if read.key in keys:
                raise ValueError(f"{at}: its key was there before; a report counts once")
            keys.add(read.key)
            batch.append(read.responses)
            if len(batch) == ROWS:
                self._rows(batch, where)
                batch = []
        self._rows(batch, where)

    def lines(self, found: Iterable[bytes], where: str) -> None:
        """Count lines of JSON. The store keeps keys apart, so they are not compared here."""
        batch: list[tuple[int, ...]] = []
        for number, line in enumerate(found, 1):
            at = f"{where}, line {number}"
            if not line.endswith(b"\n"):
                raise ValueError(f"{at}: has no end; the file was cut")
            read = self._report(line.rstrip(b"\r\n"), at)
            if read is not None:
                batch.append(read.responses)
            if len(batch) == ROWS:
                self._rows(batch, where)
                batch = []
        self._rows(batch, where)

    def _rows(self, batch: list[tuple[int, ...]], where: str) -> None:
        if batch:
            array = np.array(batch, dtype=np.int64)
            self.table({name: array[:, place] for place, name in enumerate(self.totals)}, where)

    def _report(self, report: object, at: str) -> Report | None:
        if isinstance(report, Report):
            if len(report.responses) != len(self.totals) and self.others != "skip":
                self.keep(report.survey, at)
                raise ValueError(f"{at}: must have {len(self.totals)} responses")
            return report if self.keep(report.survey, at) else None
        if isinstance(report, str):
            report = report.encode()
        try:
            document = json.loads(report) if isinstance(report, bytes) else report
        except ValueError:
            raise ValueError(f"{at}: is not a report in JSON; was it cut?") from None
        if not isinstance(document, Mapping) or set(document) != {"survey", "key", "responses"}:
            raise ValueError(f"{at}: must be an object with survey, key and responses only")
        if not self.keep(document["survey"], at):
            return None
        widths = [question.width for question in self.survey]
        responses = document["responses"]
        if not isinstance(responses, list | tuple) or len(responses) != len(widths):
            raise ValueError(f"{at}: must have {len(widths)} responses")
        if not all(type(response) is int for response in responses):
            raise ValueError(f"{at}: responses must be whole numbers")
        sent = Report(
            self.survey.fingerprint, str(document["key"]), tuple(responses), tuple(widths)
        )
        try:
            return parse_report(self.survey, bytes(sent))
        except InvalidReport as problem:
            raise ValueError(f"{at}: {problem}") from None


def _frame_batch(survey: Survey, frame: Any) -> dict[str, npt.NDArray[Any]]:
    counter = _Counter(survey, "refuse")
    counter.columns(map(str, frame.columns), "the table")
    if not len(frame):
        raise ValueError("the table: has no rows")
    names = [question.id for question in survey]
    if "survey" in frame.columns:
        names.append("survey")
    return {name: np.asarray(frame[name].to_numpy()) for name in names}


# Files


def _read_file(counter: _Counter, path: Path) -> None:
    name = path.name
    try:
        with path.open("rb") as file:
            start = file.read(16)
    except OSError as problem:
        raise ValueError(f"{name}: cannot be read: {problem.strerror}") from None
    if not start:
        raise ValueError(f"{name}: is empty")
    if start.startswith(b"SQLite format 3"):
        _read_sqlite(counter, path)
    elif start.startswith(b"PAR1"):
        _read_parquet(counter, path)
    elif path.suffix in (".parquet", ".pq", ".sqlite", ".sqlite3", ".db"):
        raise ValueError(f"{name}: is not a {path.suffix[1:]} file; was it cut or renamed?")
    elif start.lstrip().startswith(b"{"):
        with path.open("rb") as file:
            counter.lines(file, name)
    else:
        _read_csv(counter, path)
    if not counter.rows and counter.others != "skip":
        raise ValueError(f"{name}: has no reports")


def _read_csv(counter: _Counter, path: Path) -> None:
    name = path.name
    with path.open("rb") as file:
        file.seek(-1, io.SEEK_END)
        if file.read(1) != b"\n":
            raise ValueError(f"{name}: its last line has no end; the file was cut")
        file.seek(0)
        header = file.readline()
    try:
        columns = _header(header)
    except UnicodeDecodeError:
        raise ValueError(f"{name}: is not a CSV file in UTF-8") from None
    counter.columns(columns, name)
    wanted = [column for column in columns if column in counter.totals or column == "survey"]
    read = _csv_batches if find_spec("pyarrow") else _plain_csv_batches
    for batch in read(path, wanted):
        counter.table(batch, name)


def _header(line: bytes) -> list[str]:
    return next(csv.reader([line.decode("utf-8-sig").rstrip("\r\n")]))


def _csv_batches(path: Path, wanted: list[str]) -> Iterator[dict[str, npt.NDArray[Any]]]:
    import pyarrow
    from pyarrow import csv as arrow_csv

    types = {name: pyarrow.string() if name == "survey" else pyarrow.int64() for name in wanted}
    try:
        with arrow_csv.open_csv(
            path,
            read_options=arrow_csv.ReadOptions(block_size=BLOCK, use_threads=False),
            parse_options=arrow_csv.ParseOptions(ignore_empty_lines=False),
            convert_options=arrow_csv.ConvertOptions(
                include_columns=wanted, column_types=types, strings_can_be_null=True
            ),
        ) as reader:
            for batch in reader:
                yield _arrays(batch, path.name)
    except (pyarrow.ArrowInvalid, pyarrow.ArrowKeyError) as problem:
        raise ValueError(f"{path.name}: {problem}") from None


def _plain_csv_batches(path: Path, wanted: list[str]) -> Iterator[dict[str, npt.NDArray[Any]]]:
    """The same without pyarrow, some twenty times slower."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file)
        header = next(reader)
        places = [header.index(name) for name in wanted]
        while rows := list(islice(reader, ROWS)):
            for row in rows:
                if len(row) != len(header):
                    raise ValueError(
                        f"{path.name}, line {reader.line_num - len(rows) + 1} or later: "
                        f"Expected {len(header)} columns, got {len(row)}"
                    )
            try:
                yield {
                    name: np.array([row[place] for row in rows])
                    if name == "survey"
                    else np.array([int(row[place]) for row in rows], dtype=np.int64)
                    for name, place in zip(wanted, places, strict=True)
                }
            except ValueError:
                raise ValueError(
                    f"{path.name}: every column must hold whole numbers only, none missing"
                ) from None


def _read_parquet(counter: _Counter, path: Path) -> None:
    import pyarrow
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(path) as file:
            columns = file.schema_arrow.names
            counter.columns(columns, path.name)
            wanted = [name for name in columns if name in counter.totals or name == "survey"]
            for batch in file.iter_batches(ROWS, columns=wanted, use_threads=False):
                counter.table(_arrays(batch, path.name), path.name)
    except (pyarrow.ArrowInvalid, OSError) as problem:
        raise ValueError(f"{path.name}: cannot be read as Parquet; was it cut? {problem}") from None


def _arrays(batch: Any, where: str) -> dict[str, npt.NDArray[Any]]:
    """The columns of an Arrow batch; a missing value is an error, not a number."""
    found = {}
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if column.null_count:
            raise ValueError(f"{where}: column {name} has a missing value")
        found[name] = column.to_numpy(zero_copy_only=False)
    return found


def table_name(fingerprint: str) -> str:
    """The table of the collector's database that holds a survey's reports."""
    return f"reports_{fingerprint[:16]}"


def _read_sqlite(counter: _Counter, path: Path) -> None:
    table = table_name(counter.survey.fingerprint)
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as database:
            _count_tables(counter, database, table, path.name)
    except sqlite3.DatabaseError as problem:
        raise ValueError(f"{path.name}: cannot be read as SQLite: {problem}") from None


def _count_tables(counter: _Counter, database: sqlite3.Connection, table: str, where: str) -> None:
    names = [
        name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    ]
    if table not in names:
        kept = [name for name in names if re.fullmatch(r"reports_[0-9a-f]{16}", name)]
        raise ValueError(
            f"{where}: has no table {table}, so no reports of this survey; "
            f"it has {', '.join(kept) if kept else 'none of any survey'}"
        )
    columns = [row[1] for row in database.execute(f'PRAGMA table_info("{table}")')]
    counter.columns(columns, where)
    for question in counter.survey:
        most = question.largest_response
        rows = 0
        totals = counter.totals[question.id]
        for response, count in database.execute(
            f'SELECT "{question.id}", COUNT(*) FROM "{table}" GROUP BY "{question.id}"'
        ):
            if type(response) is not int or not 0 <= response <= most:
                raise ValueError(
                    f"{where}: column {question.id} has a response that is not from 0 to {most}"
                )
            if totals.dense is not None:
                totals.dense[response] += count
            else:
                totals.sparse[response] = count
            rows += count
        counter.rows = rows
