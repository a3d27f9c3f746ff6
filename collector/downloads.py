"""Files for researchers: estimates, figures, counts and the noisy reports, in several formats."""

from __future__ import annotations

import csv
import io
import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from respondent import Report, Survey
from respondent.checking import say

from .results import Results, Selection
from .store import Store

if TYPE_CHECKING:
    from analysis import Result

#: Media types by format. The format is also the ending of the file's name.
MEDIA = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "jsonl": "application/x-ndjson",
    "md": "text/markdown; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
    "pdf": "application/pdf",
    "png": "image/png",
    "py": "text/x-python; charset=utf-8",
    "svg": "image/svg+xml",
}

#: What each kind of file can be had as; the first is the usual one.
FORMATS = {
    "estimates": ("json", "csv", "parquet"),
    "counts": ("json", "csv"),
    "reports": ("jsonl", "csv", "parquet"),
    "figure": ("svg", "png", "pdf"),
}

#: Reports that are written at a time; in Parquet a row group.
ROWS = 20_000

#: matplotlib keeps its settings in one place for all threads.
_drawing = threading.Lock()


def file_name(chosen: Selection, what: str, form: str) -> str:
    """``campus-2026-1f9118bc-estimates.csv``: says of which survey and version it is."""
    parts = [chosen.survey.id, chosen.survey.fingerprint[:8]]
    parts += [chosen.arm] if chosen.arm != "device" else []
    parts += [what, *(["filtered"] if chosen.where else [])]
    return f"{'-'.join(parts)}.{form}"


# Estimates


def estimates(results: Results, form: str) -> bytes:
    """All estimates in one file of this format: csv, json or parquet."""
    if form == "json":
        return _estimates_json(results)
    records = [record for result in results.found for record in result.records()]
    if form == "csv":
        return records_csv(records).encode()
    import pyarrow
    from pyarrow import parquet

    out = io.BytesIO()
    parquet.write_table(pyarrow.Table.from_pylist(records), out)
    return out.getvalue()


def records_csv(records: Sequence[Mapping[str, Any]]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(records[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return out.getvalue()


def _estimates_json(results: Results) -> bytes:
    chosen = results.selection
    document = {
        "survey": chosen.survey.id,
        "version": chosen.survey.fingerprint,
        "arm": chosen.arm,
        "level": chosen.level,
        "where": chosen.conditions,
        "estimates": [json.loads(result.to_json()) for result in results.found],
        "left_out": dict(results.left_out),
    }
    return json_bytes(document)


def json_bytes(document: object) -> bytes:
    return (json.dumps(document, ensure_ascii=False, indent=2) + "\n").encode()


def figure(result: Result, chosen: Selection, form: str) -> bytes:
    """The picture of a question's estimates. A filter is told in its title."""
    if chosen.note:
        ask = f"{say(result.question.ask, 'en')} ({chosen.note})"
        result = replace(result, question=replace(result.question, ask=ask))
    with _drawing, TemporaryDirectory() as folder:
        path = Path(folder) / f"figure.{form}"
        result.plot(path)
        return path.read_bytes()


# Counts


def counts(chosen: Selection, found: Mapping[str, Mapping[int, int]], form: str) -> bytes:
    """How often each response was reported; csv or json."""
    if form == "csv":
        lines = [
            f"{name},{response},{count}\n"
            for name, every in found.items()
            for response, count in every.items()
        ]
        return "".join(["question,response,count\n", *lines]).encode()
    document = {
        "survey": chosen.survey.id,
        "version": chosen.survey.fingerprint,
        "arm": chosen.arm,
        "where": chosen.conditions,
        "counts": found,
    }
    return json_bytes(document)


# Reports, in bounded memory


def reports(store: Store, survey: Survey, arm: str, form: str) -> Iterator[bytes]:
    """Every noisy report, piece by piece, as ``analysis.counts`` reads it: csv, jsonl, parquet.

    All formats hold the same: the survey's fingerprint, the random key, the responses. A line
    of JSON is, byte for byte, what the respondent's device sealed and sent.
    """
    write = {"csv": _csv, "jsonl": _json_lines, "parquet": _parquet}[form]
    return write(survey, store.reports(survey, arm))


Rows = Iterator[tuple[str | int, ...]]


def columns(survey: Survey) -> list[str]:
    return ["survey", "key", *(question.id for question in survey)]


def _csv(survey: Survey, rows: Rows) -> Iterator[bytes]:
    yield (",".join(columns(survey)) + "\n").encode()
    start = survey.fingerprint + ","
    for some in _batches(rows):
        yield "".join(start + ",".join(map(str, row)) + "\n" for row in some).encode()


def _json_lines(survey: Survey, rows: Rows) -> Iterator[bytes]:
    widths = tuple(question.width for question in survey)
    for some in _batches(rows):
        yield b"".join(
            bytes(Report(survey.fingerprint, str(key), tuple(map(int, responses)), widths)) + b"\n"
            for key, *responses in some
        )


def _parquet(survey: Survey, rows: Rows) -> Iterator[bytes]:
    import pyarrow
    from pyarrow import parquet

    names = columns(survey)
    types = [pyarrow.string(), pyarrow.string(), *[pyarrow.int64()] * len(survey.questions)]
    schema = pyarrow.schema(list(zip(names, types, strict=True)))
    out = _Drain()
    with parquet.ParquetWriter(pyarrow.PythonFile(out, "w"), schema) as writer:
        for some in _batches(rows):
            values = [[survey.fingerprint] * len(some), *map(list, zip(*some, strict=True))]
            arrays = [pyarrow.array(v, t) for v, t in zip(values, types, strict=True)]
            writer.write_table(pyarrow.Table.from_arrays(arrays, schema=schema))
            yield out.taken()
    yield out.taken()


class _Drain(io.RawIOBase):
    """A file that is emptied while it is written."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        piece = bytes(data)
        self._parts.append(piece)
        self._size += len(piece)
        return len(piece)

    def tell(self) -> int:
        return self._size

    def taken(self) -> bytes:
        found, self._parts = b"".join(self._parts), []
        return found


def _batches(rows: Rows) -> Iterator[list[tuple[str | int, ...]]]:
    while some := list(islice(rows, ROWS)):
        yield some
