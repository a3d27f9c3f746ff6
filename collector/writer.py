"""Group commit: one thread writes what is waiting in one transaction, then all are answered.

A commit waits for the disk. With one commit for each report the disk sets the pace; with one
for all that came meanwhile, the pace follows the load. A reply still means durable.
"""

from __future__ import annotations

import contextlib
import os
import queue
import sqlite3
import threading
import time
from dataclasses import dataclass, field
from itertools import pairwise

from .store import Arrival, Intake, Store

#: Reports in one transaction, at most.
MOST = 1_000

#: Seconds for which a busy writer lets more reports come before it commits them together.
GATHER = 0.005

#: Seconds without a report after which the journal is emptied.
REST = 1.0


@dataclass(slots=True)
class Waiting:
    """A report and the thread that waits for it, held by a lock until there is news."""

    arrival: Arrival
    outcome: str = ""
    problem: Exception | None = None
    news: threading.Lock = field(default_factory=threading.Lock)
    #: Who hears next. Each wakes one other: all at once would fight for the interpreter.
    then: Waiting | None = None


class Writer:
    """Takes reports from many threads. Its own thread starts with the first report, so that
    a server may fork after the application was made."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._waiting: queue.SimpleQueue[Waiting] = queue.SimpleQueue()
        self._process = 0

    def add(self, arrival: Arrival) -> str:
        """What became of the report, once that is durable; ``sqlite3.Error`` if it is not."""
        if self._process != os.getpid():
            self._start()
        mine = Waiting(arrival)
        mine.news.acquire()
        self._waiting.put(mine)
        mine.news.acquire()
        if mine.then is not None:
            mine.then.news.release()
        if mine.problem is not None:
            raise mine.problem
        return mine.outcome

    def _start(self) -> None:
        with self._lock:
            if self._process != os.getpid():
                self._waiting = queue.SimpleQueue()
                threading.Thread(target=self._run, args=(self._waiting,), daemon=True).start()
                self._process = os.getpid()

    def _run(self, waiting: queue.SimpleQueue[Waiting]) -> None:
        intake = Intake(self._store)
        rested = True
        while True:
            try:
                batch = [waiting.get(timeout=None if rested else REST)]
            except queue.Empty:
                with contextlib.suppress(sqlite3.Error):  # someone reads; the next rest will do
                    intake.rest()
                rested = True
                continue
            rested = False
            if not waiting.empty():
                time.sleep(GATHER)
            with contextlib.suppress(queue.Empty):
                while len(batch) < MOST:
                    batch.append(waiting.get_nowait())
            _write(intake, batch)


def _write(intake: Intake, batch: list[Waiting]) -> None:
    try:
        outcomes = intake.add([waiting.arrival for waiting in batch])
        for waiting, outcome in zip(batch, outcomes, strict=True):
            waiting.outcome = outcome
    except Exception as problem:  # each of the waiting must hear of it
        for waiting in batch:
            waiting.problem = problem
    for waiting, then in pairwise(batch):
        waiting.then = then
    batch[0].news.release()
