"""Peak memory and time of counting 1e8 responses from Parquet and from CSV.

    python -m benchmarks.memory

Files are written in parts to a temporary directory, and each is counted in a process of its
own, whose largest resident size is what the system says it was. It says at least what the
parent's was when it started the process; so this one stays small, and another writes.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from respondent import Survey

REPORTS, QUESTIONS, PART = 10**7, 10, 10**6
MOST = 500
FILES = ("reports.parquet", "reports.csv")

WRITE = """
import sys
from pathlib import Path
from benchmarks.memory import write
write(Path(sys.argv[1]))
"""
COUNT = """
import resource, sys, time
from analysis import counts
from benchmarks.memory import survey
start = time.perf_counter()
found = counts(survey(), sys.argv[1])
taken = time.perf_counter() - start
total = sum(sum(each.values()) for each in found.values())
print(total, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, taken)
"""


def survey() -> Survey:
    questions = [
        {
            "id": f"q{number}",
            "ask": "?",
            "kind": "choice",
            "epsilon": 1.0,
            "options": [f"option {option}" for option in range(2 + number)],
        }
        for number in range(QUESTIONS)
    ]
    return Survey.parse({"id": "s", "title": "S", "question": questions})


def write(folder: Path) -> None:
    import numpy as np
    import pyarrow
    from pyarrow import csv, parquet

    asked, rng = survey(), np.random.default_rng(1)
    schema = pyarrow.schema([(question.id, pyarrow.int64()) for question in asked])
    with (
        parquet.ParquetWriter(folder / FILES[0], schema) as columns,
        csv.CSVWriter(folder / FILES[1], schema) as lines,
    ):
        for _ in range(REPORTS // PART):
            table = pyarrow.table(
                [rng.integers(0, question.law.responses, PART) for question in asked],
                schema=schema,
            )
            columns.write_table(table)
            lines.write_table(table)


def main() -> None:
    print(f"{REPORTS * QUESTIONS:,} responses: {REPORTS:,} reports, {QUESTIONS} questions")
    print(f"{'':20}{'file, MB':>10}{'peak, MB':>10}{'seconds':>10}")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-c", WRITE, folder], check=True)
        for path in (Path(folder) / name for name in FILES):
            run = [sys.executable, "-c", COUNT, str(path)]
            total, peak, taken = map(float, subprocess.check_output(run, text=True).split())
            if total != REPORTS * QUESTIONS:
                raise SystemExit(f"{path.name}: {total:,.0f} responses were counted")
            size = path.stat().st_size / 2**20
            more = "" if peak < MOST else f"  more than {MOST} MB"
            print(f"{path.name:20}{size:10.0f}{peak:10.0f}{taken:10.1f}{more}")


if __name__ == "__main__":
    main()
