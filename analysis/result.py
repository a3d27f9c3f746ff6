"""What all estimates share: the inputs they keep, and the tables they become."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from respondent import Question
from respondent.checking import say

from .tally import Counts

if TYPE_CHECKING:
    import pandas

PathLike: TypeAlias = str | Path
TARGETS = ("population", "respondents")

#: Columns of numbers, as every table names them.
NUMBERS = ("noisy", "estimate", "se", "low", "high", "feasible")


@dataclass(frozen=True)
class Value:
    """One estimated value. ``noisy`` is what the responses show before debiasing."""

    name: str
    noisy: float
    estimate: float
    se: float
    low: float
    high: float
    feasible: float
    flag: str = ""


#: A mean that there is none of.
NOTHING = Value("mean", *(math.nan,) * 6)


@dataclass(frozen=True)
class Difference:
    """The estimated share of one answer less that of another."""

    one: str
    other: str
    estimate: float
    se: float
    low: float
    high: float
    level: float


@dataclass(frozen=True, eq=False)
class Result:
    """An estimate with what it was made from. Children say what the values are."""

    question: Question
    counts: Counts
    level: float
    target: str
    method: str
    fingerprint: str | None
    n: int
    not_asked: int

    @property
    def epsilon(self) -> float:
        """ε of the question; 0 for a plain one, which nothing protects."""
        return self.question.epsilon

    @property
    def delta(self) -> float:
        return self.question.delta

    def values(self) -> Sequence[Value]:
        """Every estimated value, as the tables list them."""
        raise NotImplementedError

    def shown(self) -> Sequence[Value]:
        """What ``print`` shows; less than ``values`` where there are very many."""
        return self.values()

    def summary(self) -> Sequence[Value]:
        """Values of another unit that close a table, such as the mean score of a scale."""
        return ()

    def about(self) -> dict[str, Any]:
        """What every table says about how it came to be."""
        return {
            "question": self.question.id,
            "n": self.n,
            "not_asked": self.not_asked,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "level": self.level,
            "method": self.method,
            "target": self.target,
            "fingerprint": self.fingerprint,
        }

    def records(self) -> list[dict[str, Any]]:
        """One row for each value, each with everything needed to cite it."""
        about = self.about()
        question = {"question": about.pop("question")}
        return [question | _row(value) | about for value in (*self.values(), *self.summary())]

    def to_frame(self) -> pandas.DataFrame:
        import pandas

        return pandas.DataFrame.from_records(self.records())

    def to_csv(self, path: PathLike | None = None) -> str:
        return _csv(self.records(), path)

    def to_json(self, path: PathLike | None = None) -> str:
        values = [_row(value) for value in (*self.values(), *self.summary())]
        return _json(self.about() | {"values": values}, path)

    def to_parquet(self, path: PathLike) -> None:
        import pyarrow
        from pyarrow import parquet

        parquet.write_table(pyarrow.Table.from_pylist(self.records()), str(path))

    def to_markdown(self, path: PathLike | None = None) -> str:
        header, rows = self._cells([*self.shown(), *self.summary()])
        lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
        text = "\n".join(
            "| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines
        )
        return _written(f"{text}\n\n{self._caption()}\n", path)

    def to_latex(self, path: PathLike | None = None) -> str:
        """A booktabs table."""
        header, rows = self._cells([*self.shown(), *self.summary()])
        lines = [
            f"% {self._caption()}",
            f"\\begin{{tabular}}{{l{'r' * (len(header) - 1)}}}",
            "\\toprule",
            _latex_line(header),
            "\\midrule",
            *map(_latex_line, rows),
            "\\bottomrule",
            "\\end{tabular}",
        ]
        return _written("\n".join(lines) + "\n", path)

    def plot(self, path: PathLike | None = None, **options: Any) -> Any:
        """A picture of the estimates; the path's ending says which format."""
        from .plots import plot_estimate

        return plot_estimate(self, path, **options)

    def __str__(self) -> str:
        header, rows = self._cells([*self.shown(), *self.summary()])
        words = {place for place, name in enumerate(header) if place == 0 or name == "flag"}
        ask = say(self.question.ask, "en")
        lines = ruled(header, rows, words)
        return "\n".join([f"{self.question.id}: {ask}", *lines, self._caption()])

    def _caption(self) -> str:
        parts = [
            f"n = {self.n}",
            *([f"{self.not_asked} not asked"] if self.not_asked else []),
            f"ε = {self.epsilon:.4g}" if self.question.protected else "not protected",
            *([f"δ = {self.delta:.2g}"] if self.delta else []),
            f"{100 * self.level:g} % intervals for "
            + ("the population" if self.target == "population" else "these respondents"),
            self.method,
            *([f"survey {self.fingerprint[:16]}"] if self.fingerprint else []),
        ]
        return "; ".join(parts)

    def _digits(self) -> int:
        return 4

    def _cells(self, values: Sequence[Value]) -> tuple[list[str], list[list[str]]]:
        flagged = any(value.flag for value in values)
        header = ["answer", *NUMBERS, *(["flag"] if flagged else [])]
        digits = self._digits()
        rows = []
        for value in values:
            numbers = [_number(getattr(value, name), digits) for name in NUMBERS]
            rows.append([value.name, *numbers, *([value.flag] if flagged else [])])
        return header, rows


@dataclass(frozen=True)
class Test:
    """A test of a hypothesis; not a number where there was nothing to test."""

    #: Keeps pytest from taking this for a class of tests.
    __test__ = False

    name: str
    statistic: float
    df: float
    p: float
    flag: str = ""


@dataclass(frozen=True, eq=False)
class Parts:
    """A result that is several tables. Children name them, the main one first."""

    level: float
    method: str
    #: Respondents that it rests on, and those left out because something was missing.
    n: int
    missing: int

    def parts(self) -> Mapping[str, Callable[[], list[dict[str, Any]]]]:
        raise NotImplementedError

    def about(self) -> dict[str, Any]:
        """What every table says about how it came to be."""
        return {"n": self.n, "missing": self.missing, "level": self.level, "method": self.method}

    def records(self, part: str | None = None) -> list[dict[str, Any]]:
        """The rows of one table, each with everything needed to cite it."""
        parts = self.parts()
        part = next(iter(parts)) if part is None else part
        if part not in parts:
            raise ValueError(f"part: must be one of {', '.join(parts)}")
        return [row | _about(self, row) for row in parts[part]()]

    def to_frame(self, part: str | None = None) -> pandas.DataFrame:
        import pandas

        return pandas.DataFrame.from_records(self.records(part))

    def to_csv(self, path: PathLike | None = None, part: str | None = None) -> str:
        return _csv(self.records(part), path)

    def to_json(self, path: PathLike | None = None) -> str:
        """All tables in one document."""
        return _json(self.about() | {name: rows() for name, rows in self.parts().items()}, path)

    def _caption(self, *more: str) -> str:
        return "; ".join(
            [
                f"n = {self.n}",
                *([f"{self.missing} missing"] if self.missing else []),
                *more,
                f"{100 * self.level:g} % intervals for the population",
                self.method,
            ]
        )


def _about(result: Parts, row: Mapping[str, Any]) -> dict[str, Any]:
    """What a result says of itself, save where a row says it of its own."""
    return {key: value for key, value in result.about().items() if key not in row}


def text_table(rows: Sequence[Mapping[str, Any]], digits: int = 4) -> list[str]:
    """Lines of a table from its records; columns that are empty throughout are left out."""
    names = [name for name in rows[0] if any(row[name] != "" for row in rows)]
    words = {place for place, name in enumerate(names) if isinstance(rows[0][name], str)}
    cells = [[_cell(name, row[name], digits) for name in names] for row in rows]
    return ruled(names, cells, words)


def _cell(name: str, value: Any, digits: int) -> str:
    if not isinstance(value, float):
        return str(value)
    if name in ("p", "adjusted") and value < 10**-digits:
        return f"<{10**-digits:.{digits}f}"
    return _number(value, digits)


def ruled(header: list[str], rows: list[list[str]], words: Collection[int]) -> list[str]:
    """Lines of a table with a rule below its header."""
    lines = aligned([header, *rows], words)
    return [lines[0], "-" * max(map(len, lines)), *lines[1:]]


def aligned(rows: Sequence[Sequence[str]], words: Collection[int]) -> list[str]:
    """Lines of a table with its columns in line: ``words`` flush left, numbers flush right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if place in words else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _number(value: float, digits: int) -> str:
    if not math.isfinite(value):
        return "–" if math.isnan(value) else "∞" if value > 0 else "-∞"
    return f"{value:.{digits}f}"


def _row(value: Value) -> dict[str, Any]:
    return {"answer": value.name} | {key: getattr(value, key) for key in (*NUMBERS, "flag")}


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _csv(records: Sequence[Mapping[str, Any]], path: PathLike | None) -> str:
    import csv

    out = io.StringIO()
    writer = csv.DictWriter(out, list(records[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return _written(out.getvalue(), path)


def _json(document: Mapping[str, Any], path: PathLike | None) -> str:
    text = json.dumps(_finite(document), ensure_ascii=False, indent=2, allow_nan=False)
    return _written(text + "\n", path)


def _written(text: str, path: PathLike | None) -> str:
    if path is not None:
        Path(path).write_text(text, encoding="utf-8", newline="")
    return text


LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "%": r"\%", "&": r"\&", "#": r"\#",
    "$": r"\$", "_": r"\_", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "–": "--",
}  # fmt: skip


def _latex_line(cells: Iterable[str]) -> str:
    return " & ".join("".join(LATEX.get(c, c) for c in cell) for cell in cells) + r" \\"
