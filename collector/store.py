"""The store: noisy responses in SQLite, and nothing that says who or when.

One table for each version of a survey, one column for each question. The random key is
the primary key and the only order on disk (``WITHOUT ROWID``), so arrival order is not
kept. All SQL is here.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlite_utils import Database

from respondent import Report, Survey

SURVEYS = """
CREATE TABLE IF NOT EXISTS surveys (
    fingerprint TEXT PRIMARY KEY,
    id TEXT NOT NULL,
    published BLOB NOT NULL
) STRICT, WITHOUT ROWID
"""


@dataclass(frozen=True)
class Store:
    """A SQLite file. Each call opens a connection of its own, so threads need no care."""

    path: Path

    def publish(self, survey: Survey) -> None:
        """Keep the survey and make room for its reports."""
        columns = "".join(f", {_name(question.id)} INTEGER NOT NULL" for question in survey)
        with self._open() as database, database.atomic():
            database.execute(SURVEYS)
            database.table("surveys").insert(
                {
                    "fingerprint": survey.fingerprint,
                    "id": survey.id,
                    "published": survey.publish(),
                },
                ignore=True,
            )
            database.execute(
                f"CREATE TABLE IF NOT EXISTS {_table(survey)} "
                f"(key TEXT PRIMARY KEY{columns}) STRICT, WITHOUT ROWID"
            )

    def add(self, survey: Survey, report: Report) -> None:
        """Keep a report for good; one that is already there stays as it is."""
        places = ", ".join("?" * (len(report.responses) + 1))
        with self._open() as database, database.atomic():
            database.execute(
                f"INSERT OR IGNORE INTO {_table(survey)} VALUES ({places})",
                [report.key, *report.responses],
            )

    def count(self, survey: Survey) -> int:
        """How many reports there are."""
        with self._open() as database:
            found: int = database.execute(f"SELECT COUNT(*) FROM {_table(survey)}").fetchone()[0]
        return found

    @contextmanager
    def _open(self) -> Iterator[Database]:
        connection = sqlite3.connect(self.path, timeout=10)
        try:
            database = Database(connection)
            database.execute("PRAGMA journal_mode = WAL").fetchone()
            database.execute("PRAGMA synchronous = FULL")
            yield database
        finally:
            connection.close()


def _name(question_id: str) -> str:
    """A column's name in quotes; ids have no character that could end them."""
    return f'"{question_id}"'


def _table(survey: Survey) -> str:
    return f'"reports_{survey.fingerprint[:16]}"'
