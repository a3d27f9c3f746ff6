"""One writer for many threads: everything is stored, everybody is answered, also in trouble."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from analysis import simulate
from collector import store as store_module
from collector.store import Arrival, Store
from collector.writer import Writer
from respondent import Survey

from .support import EXAMPLES

COIN = Survey.load(EXAMPLES / "coin.toml")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(tmp_path / "reports.db")
    store.publish(COIN)
    return store


def arrivals(count: int) -> list[Arrival]:
    return [Arrival(COIN, report) for report in simulate(COIN, n=count).each_report()]


def test_many_threads_few_commits(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    commits = []
    add: Callable[..., list[str]] = store_module._add
    monkeypatch.setattr(
        store_module, "_add", lambda *given: commits.append(len(given[1])) or add(*given)
    )
    writer, sent = Writer(store), arrivals(2_000)
    with ThreadPoolExecutor(50) as people:
        assert set(people.map(writer.add, sent)) == {"stored"}
    assert store.count(COIN) == 2_000 == sum(commits)
    assert len(commits) < 1_000, "reports that wait together are committed together"
    assert store.problems() == []


def test_a_reply_comes_after_the_commit(store: Store) -> None:
    writer = Writer(store)
    for arrival in arrivals(20):
        writer.add(arrival)
        database = sqlite3.connect(store.path)
        keys = [row[0] for row in database.execute(f"SELECT key FROM reports_{_short()}")]
        database.close()
        assert arrival.report.key in keys


def _short() -> str:
    return COIN.fingerprint[:16]


def test_a_locked_file_fails_for_all_that_wait_and_recovers(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "PATIENCE", 0.2)
    writer, sent = Writer(store), arrivals(20)
    lock = sqlite3.connect(store.path, isolation_level=None)
    lock.execute("BEGIN IMMEDIATE")
    with ThreadPoolExecutor(20) as people:
        waiting = [people.submit(writer.add, arrival) for arrival in sent]
        problems = [each.exception(timeout=20) for each in waiting]
    assert all(isinstance(problem, sqlite3.OperationalError) for problem in problems)
    lock.execute("ROLLBACK")
    lock.close()
    assert store.count(COIN) == 0, "no false reply, nothing half-way"
    assert {writer.add(arrival) for arrival in sent} == {"stored"}
    assert store.count(COIN) == 20


def test_the_journal_is_emptied_when_nothing_comes(store: Store) -> None:
    writer = Writer(store)
    for arrival in arrivals(30):
        writer.add(arrival)
    journal = store.path.with_name(store.path.name + "-wal")
    assert journal.stat().st_size > 0
    for _ in range(100):
        if journal.stat().st_size == 0:
            break
        threading.Event().wait(0.05)
    assert journal.stat().st_size == 0
    assert writer.add(arrivals(1)[0]) == "stored"
