"""What all estimates share: the inputs they keep, and the tables they become."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
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
        import csv

        records, out = self.records(), io.StringIO()
        writer = csv.DictWriter(out, list(records[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(records)
        return _written(out.getvalue(), path)

    def to_json(self, path: PathLike | None = None) -> str:
        values = [_row(value) for value in (*self.values(), *self.summary())]
        document = self.about() | {"values": values}
        text = json.dumps(_without_nan(document), ensure_ascii=False, indent=2, allow_nan=False)
        return _written(text + "\n", path)

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
        lines = aligned([header, *rows], words)
        rule = "-" * max(map(len, lines))
        ask = say(self.question.ask, "en")
        return "\n".join(
            [f"{self.question.id}: {ask}", lines[0], rule, *lines[1:], self._caption()]
        )

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
    return "–" if math.isnan(value) else f"{value:.{digits}f}"


def _row(value: Value) -> dict[str, Any]:
    return {"answer": value.name} | {key: getattr(value, key) for key in (*NUMBERS, "flag")}


def _without_nan(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_nan(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_nan(item) for item in value]
    return None if isinstance(value, float) and math.isnan(value) else value


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
