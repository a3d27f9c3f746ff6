"""The store: noisy responses in SQLite, and nothing that says who or when. All SQL is here.

One table for each version of a survey and each arm, one column for each question. The
random key is the primary key and the only order on disk (``WITHOUT ROWID``), so arrival
order is not kept. Counts are kept up to date in the transaction that adds a report.

Another database needs a class with the public methods of ``Store``; they take and return
plain values, surveys and reports.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from sqlite_utils import Database

from respondent import Question, Report, Survey

#: How a report came about, and the table it goes to. Test reports never count.
ARMS = {"device": "reports", "own-coin": "own_coin", "test": "test"}

STATES = ("open", "paused", "closed")

#: Seconds to wait for a database that another program has locked.
PATIENCE = 5.0

#: The writer keeps pages in memory and lets the journal grow to 16 MB between checkpoints:
#: random keys touch pages everywhere, and each is then written back once for many reports.
WRITER_SETTINGS = ("cache_size = -65536", "wal_autocheckpoint = 4000")

#: Steps from one version of the schema to the next; SQLite's ``user_version`` counts them.
MIGRATIONS = (
    (
        "surveys (fingerprint TEXT PRIMARY KEY, id TEXT NOT NULL, published BLOB NOT NULL)",
        "settings (id TEXT PRIMARY KEY, state TEXT NOT NULL, invited INTEGER NOT NULL)",
        "counts (reports TEXT NOT NULL, question TEXT NOT NULL, response INTEGER NOT NULL, "
        "count INTEGER NOT NULL, PRIMARY KEY (reports, question, response))",
        "invitations (survey TEXT NOT NULL, hash TEXT NOT NULL, spent INTEGER NOT NULL, "
        "PRIMARY KEY (survey, hash))",
        "researchers (name TEXT PRIMARY KEY, hash TEXT NOT NULL UNIQUE, "
        "once INTEGER NOT NULL, used INTEGER NOT NULL)",
        "secrets (name TEXT PRIMARY KEY, value BLOB NOT NULL)",
    ),
)


@dataclass(frozen=True)
class Settings:
    """What a researcher has decided for a survey, all its versions alike."""

    state: str = "open"
    invited: bool = False


@dataclass(frozen=True)
class Arrival:
    """A report on its way into the store."""

    survey: Survey
    report: Report
    arm: str = "device"
    #: The invitation's token, where the survey needs one.
    invitation: str | None = None
    #: Whether the researcher vouches for it, so that neither state nor invitation matter.
    vouched: bool = False


@dataclass(frozen=True)
class Key:
    """A researcher's key, by name. The key itself is not kept."""

    name: str
    once: bool
    used: bool


@dataclass(frozen=True)
class Store:
    """A SQLite file. Each call opens a connection of its own, so threads need no care."""

    path: Path

    # Surveys and what is decided about them

    def publish(self, survey: Survey) -> None:
        """Keep the survey and make room for its reports."""
        self.path.touch(mode=0o600)
        columns = "".join(f", {_name(question.id)} INTEGER NOT NULL" for question in survey)
        with self._change() as database:
            _migrate(database)
            database.execute(
                "INSERT OR IGNORE INTO surveys VALUES (?, ?, ?)",
                [survey.fingerprint, survey.id, survey.publish()],
            )
            database.execute("INSERT OR IGNORE INTO settings VALUES (?, 'open', 0)", [survey.id])
            for arm in ARMS:
                database.execute(
                    f"CREATE TABLE IF NOT EXISTS {_name(table(survey, arm))} "
                    f"(key TEXT PRIMARY KEY{columns}) STRICT, WITHOUT ROWID"
                )

    def versions(self, survey_id: str) -> list[Survey]:
        """Every version of a survey that this file has reports or room for."""
        with self._open() as database:
            rows = database.execute(
                "SELECT published FROM surveys WHERE id = ? ORDER BY fingerprint", [survey_id]
            ).fetchall()
        return [Survey.from_published(published) for (published,) in rows]

    def settings(self, survey_id: str) -> Settings:
        with self._open() as database:
            return _settings(database.conn, survey_id)

    def set_state(self, survey_id: str, state: str) -> None:
        if state not in STATES:
            raise ValueError(f"state: must be one of {', '.join(STATES)}")
        with self._change() as database:
            database.execute("UPDATE settings SET state = ? WHERE id = ?", [state, survey_id])

    # Reports

    def add(self, arrivals: Sequence[Arrival]) -> list[str]:
        """Keep reports for good, in one transaction; see ``Intake`` for one writer of many.

        Says of each "stored" (now or before: the first report of a key stays), or why it was
        not: "paused", "closed", "not-yet", "uninvited" or "spent".
        """
        with self._open() as database:
            return _add(database.conn, arrivals)[0]

    def add_vouched(self, survey: Survey, reports: Sequence[Report], arm: str = "device") -> int:
        """Keep reports that a researcher vouches for, all or none; how many of them are new."""
        arrivals = [Arrival(survey, report, arm, vouched=True) for report in reports]
        with self._open() as database:
            return _add(database.conn, arrivals)[1]

    def count(self, survey: Survey, arm: str = "device") -> int:
        """How many reports there are."""
        with self._open() as database:
            found: int = database.execute(
                "SELECT COALESCE(SUM(count), 0) FROM counts WHERE reports = ? AND question = ?",
                [table(survey, arm), survey.questions[0].id],
            ).fetchone()[0]
        return found

    def counts(self, survey: Survey, arm: str = "device") -> dict[str, dict[int, int]]:
        """How often each response was reported, by question: kept, not counted anew."""
        found: dict[str, dict[int, int]] = {question.id: {} for question in survey}
        with self._open() as database:
            rows = database.execute(
                "SELECT question, response, count FROM counts WHERE reports = ?",
                [table(survey, arm)],
            )
            for question, response, count in rows:
                found[question][response] = count
        return found

    def count_where(
        self,
        survey: Survey,
        where: Mapping[str, int],
        arm: str = "device",
        questions: Iterable[Question] | None = None,
    ) -> dict[str, dict[int, int]]:
        """The same of the reports that have these responses to plain questions.

        Counted anew, so it takes a while; for these ``questions`` only, if given.
        """
        condition = " AND ".join(f"{_name(question)} = ?" for question in where) or "TRUE"
        values = list(where.values())
        found = {}
        with self._open() as database:
            for question in survey if questions is None else questions:
                column = _name(question.id)
                found[question.id] = dict(
                    database.execute(
                        f"SELECT {column}, COUNT(*) FROM {_name(table(survey, arm))} "
                        f"WHERE {condition} GROUP BY {column}",
                        values,
                    ).fetchall()
                )
        return found

    def count_together(
        self, survey: Survey, questions: Sequence[str], arm: str = "device"
    ) -> dict[tuple[int, ...], int]:
        """How often each combination of responses to these questions was reported."""
        columns = ", ".join(map(_name, questions))
        with self._open() as database:
            rows = database.execute(
                f"SELECT {columns}, COUNT(*) FROM {_name(table(survey, arm))} GROUP BY {columns}"
            )
            return {tuple(row[:-1]): row[-1] for row in rows}

    def reports(self, survey: Survey, arm: str = "device") -> Iterator[tuple[str | int, ...]]:
        """Every report as key and responses, in the order of the random keys."""
        with self._open() as database:
            yield from database.execute(f"SELECT * FROM {_name(table(survey, arm))} ORDER BY key")

    def report(self, survey: Survey, key: str, arm: str = "device") -> Report | None:
        """The report that was kept under a key."""
        with self._open() as database:
            row = database.execute(
                f"SELECT * FROM {_name(table(survey, arm))} WHERE key = ?", [key]
            ).fetchone()
        return row and Report(survey.fingerprint, key, tuple(row[1:]), survey.widths)

    def delete_tests(self, survey: Survey) -> None:
        """Forget what was sent in test mode."""
        name = table(survey, "test")
        with self._change() as database:
            database.execute(f"DELETE FROM {_name(name)}")
            database.execute("DELETE FROM counts WHERE reports = ?", [name])

    # Invitations

    def invite(self, survey_id: str, tokens: Sequence[str]) -> None:
        """Keep hashes of single-use tokens; from now on the survey needs one."""
        rows = [(survey_id, fold(token), 0) for token in tokens]
        with self._change() as database:
            database.conn.executemany("INSERT INTO invitations VALUES (?, ?, ?)", rows)
            database.execute("UPDATE settings SET invited = 1 WHERE id = ?", [survey_id])

    def invitations(self, survey_id: str) -> tuple[int, int]:
        """How many invitations there are, and how many of them are spent."""
        with self._open() as database:
            issued, spent = database.execute(
                "SELECT COUNT(*), COALESCE(SUM(spent), 0) FROM invitations WHERE survey = ?",
                [survey_id],
            ).fetchone()
        return issued, spent

    # Researchers

    def add_key(self, name: str, key: str, once: bool = False) -> None:
        with self._change() as database:
            _migrate(database)
            try:
                database.execute(
                    "INSERT INTO researchers VALUES (?, ?, ?, 0)", [name, fold(key), int(once)]
                )
            except sqlite3.IntegrityError:
                raise ValueError(f"there is a key named {name} already") from None

    def keys(self) -> list[Key]:
        with self._open() as database:
            rows = database.execute("SELECT name, once, used FROM researchers ORDER BY name")
            return [Key(name, bool(once), bool(used)) for name, once, used in rows]

    def revoke_key(self, name: str) -> bool:
        """Whether there was such a key; it opens nothing any more."""
        with self._change() as database:
            return database.execute("DELETE FROM researchers WHERE name = ?", [name]).rowcount > 0

    def use_key(self, key: str, log_in: bool = False) -> str | None:
        """The name of the key, if it is one. A one-time key opens one log-in, nothing else."""
        with self._change() if log_in else self._open() as database:
            found: tuple[str, int, int] | None = database.execute(
                "SELECT name, once, used FROM researchers WHERE hash = ?", [fold(key)]
            ).fetchone()
            if found is None or (found[1] and (found[2] or not log_in)):
                return None
            if log_in and not found[2]:
                database.execute("UPDATE researchers SET used = 1 WHERE name = ?", [found[0]])
        return found[0]

    def key_name(self, folded: str) -> str | None:
        """The name of a key, by what ``fold`` makes of it, while it is not revoked."""
        with self._open() as database:
            row = database.execute(
                "SELECT name FROM researchers WHERE hash = ?", [folded]
            ).fetchone()
        return row and str(row[0])

    def secret(self, name: str, fresh: bytes) -> bytes:
        """A secret of this file, such as what signs sessions; ``fresh`` if there is none yet."""
        with self._change() as database:
            _migrate(database)
            database.execute("INSERT OR IGNORE INTO secrets VALUES (?, ?)", [name, fresh])
            found: bytes = database.execute(
                "SELECT value FROM secrets WHERE name = ?", [name]
            ).fetchone()[0]
        return found

    # The file as a whole

    def back_up(self, target: Path) -> None:
        """Write a copy while the collector runs: whole, in key order, without a journal."""
        with self._open() as database:
            database.execute("VACUUM INTO ?", [str(target)])

    def tidy(self) -> None:
        """Rewrite the file in key order and empty its journal, so that no page tells an order."""
        with self._open() as database:
            database.execute("VACUUM")
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()

    def problems(self) -> list[str]:
        """What is wrong with the file: damage, responses out of range, counts that disagree."""
        with self._open() as database:
            found = [row[0] for row in database.execute("PRAGMA integrity_check")]
            if found != ["ok"]:
                return found
            surveys = [
                Survey.from_published(published)
                for (published,) in database.execute("SELECT published FROM surveys")
            ]
        return [problem for survey in surveys for problem in self._survey_problems(survey)]

    def _survey_problems(self, survey: Survey) -> Iterator[str]:
        for arm in ARMS:
            kept, counted = self.counts(survey, arm), self.count_where(survey, {}, arm)
            for question in survey:
                where = f"{survey.id} ({table(survey, arm)}), {question.id}"
                if kept[question.id] != counted[question.id]:
                    yield f"{where}: the counts do not agree with the reports"
                if any(not 0 <= y <= question.largest_response for y in counted[question.id]):
                    yield f"{where}: has a response out of range"

    @contextmanager
    def _open(self) -> Iterator[Database]:
        with closing(self.connect()) as connection:
            yield Database(connection)

    @contextmanager
    def _change(self) -> Iterator[Database]:
        """One transaction that may write, from its beginning."""
        with self._open() as database:
            database.execute("BEGIN IMMEDIATE")
            with database.conn:
                yield database

    def connect(self) -> sqlite3.Connection:
        """A connection for which a commit means durable."""
        connection = sqlite3.connect(self.path, timeout=PATIENCE)
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchone()
            connection.execute("PRAGMA synchronous = FULL")
        except sqlite3.Error:
            connection.close()
            raise
        return connection


@dataclass
class Intake:
    """One writer's connection, kept open from one transaction to the next."""

    store: Store
    connection: sqlite3.Connection | None = None

    def add(self, arrivals: Sequence[Arrival]) -> list[str]:
        """As ``Store.add``. After an error the next call begins with a fresh connection."""
        if self.connection is None:
            self.connection = self.store.connect()
            for setting in WRITER_SETTINGS:
                self.connection.execute(f"PRAGMA {setting}").fetchone()
        try:
            return _add(self.connection, arrivals)[0]
        except BaseException:
            self.close()
            raise

    def rest(self) -> None:
        """Nothing more is waiting: empty the journal, which would show what came last."""
        if self.connection is not None:
            self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()

    def close(self) -> None:
        if self.connection is not None:
            self.connection.close()
            self.connection = None


def state_today(survey: Survey, settings: Settings) -> str:
    """Whether the survey takes reports: "open", "paused", "closed" or "not-yet"."""
    today = datetime.now(UTC).date().isoformat()
    if settings.state == "closed" or (survey.closes and today > survey.closes):
        return "closed"
    if survey.opens and today < survey.opens:
        return "not-yet"
    return settings.state


def table(survey: Survey, arm: str) -> str:
    """The table of a survey's version and arm."""
    return f"{ARMS[arm]}_{survey.fingerprint[:16]}"


def fold(token: str) -> str:
    """What is kept of a key or token: it has 128 random bits, so a plain hash is enough."""
    return hashlib.sha256(token.encode()).hexdigest()


def _name(name: str) -> str:
    """A table's or column's name in quotes; ids have no character that could end them."""
    return f'"{name}"'


def _migrate(database: Database) -> None:
    """Bring the file to the newest schema, within a transaction."""
    version = database.execute("PRAGMA user_version").fetchone()[0]
    if version > len(MIGRATIONS):
        raise ValueError("this file was made by a newer version of Deniable")
    for tables in MIGRATIONS[version:]:
        for columns in tables:
            database.execute(f"CREATE TABLE {columns} STRICT, WITHOUT ROWID")
    if version < len(MIGRATIONS):
        database.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")


def _settings(connection: sqlite3.Connection, survey_id: str) -> Settings:
    row = connection.execute(
        "SELECT state, invited FROM settings WHERE id = ?", [survey_id]
    ).fetchone()
    return Settings(row[0], bool(row[1])) if row else Settings()


def _add(connection: sqlite3.Connection, arrivals: Sequence[Arrival]) -> tuple[list[str], int]:
    """What became of each, and how many of them are new."""
    connection.execute("BEGIN IMMEDIATE")
    with connection:  # commits, or rolls back if anything goes wrong
        surveys = {arrival.survey.id: arrival.survey for arrival in arrivals}
        rules = {name: _rules(connection, survey) for name, survey in surveys.items()}
        outcomes = [""] * len(arrivals)
        fresh: dict[str, list[Arrival]] = {}
        # In the order of the keys, so that not even one commit's pages tell who came first.
        keys = [arrival.report.key for arrival in arrivals]
        for place in sorted(range(len(arrivals)), key=keys.__getitem__):
            arrival = arrivals[place]
            name = table(arrival.survey, arrival.arm)
            outcomes[place], new = _add_one(connection, name, arrival, *rules[arrival.survey.id])
            if new:
                fresh.setdefault(name, []).append(arrival)
        connection.executemany(
            "INSERT INTO counts VALUES (?, ?, ?, ?) "
            "ON CONFLICT DO UPDATE SET count = count + excluded.count",
            [row for name, added in fresh.items() for row in _count_rows(name, added)],
        )
    return outcomes, sum(map(len, fresh.values()))


def _rules(connection: sqlite3.Connection, survey: Survey) -> tuple[str, bool]:
    """The state of a survey and whether it needs invitations, at the time of a transaction."""
    settings = _settings(connection, survey.id)
    return state_today(survey, settings), settings.invited


def _add_one(
    connection: sqlite3.Connection, name: str, arrival: Arrival, state: str, invited: bool
) -> tuple[str, bool]:
    """What became of a report, and whether it is a new one."""
    report = arrival.report
    free = arrival.vouched or arrival.arm == "test"
    if not free and (invited or state != "open"):
        known = connection.execute(f'SELECT 1 FROM "{name}" WHERE key = ?', [report.key])
        if known.fetchone():
            return "stored", False
        if state != "open":
            return state, False
        refusal = _spend(connection, arrival.survey.id, arrival.invitation or "")
        if refusal:
            return refusal, False
    added = connection.execute(
        _insert(name, len(report.responses) + 1), (report.key, *report.responses)
    )
    return "stored", added.rowcount == 1


@cache
def _insert(name: str, columns: int) -> str:
    return f'INSERT OR IGNORE INTO "{name}" VALUES ({", ".join("?" * columns)})'


def _spend(connection: sqlite3.Connection, survey_id: str, token: str) -> str:
    """Mark an invitation as spent; "" if that was possible. Nothing says for which report."""
    marked = connection.execute(
        "UPDATE invitations SET spent = 1 WHERE survey = ? AND hash = ? AND spent = 0",
        [survey_id, fold(token)],
    )
    if marked.rowcount == 1:
        return ""
    known = connection.execute(
        "SELECT 1 FROM invitations WHERE survey = ? AND hash = ?", [survey_id, fold(token)]
    ).fetchone()
    return "spent" if known else "uninvited"


def _count_rows(name: str, added: Sequence[Arrival]) -> Iterator[tuple[str, str, int, int]]:
    columns = zip(*(arrival.report.responses for arrival in added), strict=True)
    for question, column in zip(added[0].survey, columns, strict=True):
        for response, count in Counter(column).items():
            yield name, question.id, response, count
