"""Kill the collector under load, again and again: nothing that was acknowledged may be lost.

    python -m tests.durability --cycles 1000

The suite runs 50 cycles.
"""

from __future__ import annotations

import argparse
import http.client
import os
import random
import signal
import tempfile
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

from collector.serve import serving
from collector.store import Store
from respondent import Survey, make_report

SENDERS = 4
EXAMPLE = Path(__file__).parent.parent / "examples" / "coin.toml"
HEADERS = {"Content-Type": "application/json"}


class Senders:
    """Devices that send reports until told to stop, each report until it is acknowledged."""

    def __init__(self, survey: Survey) -> None:
        self.survey = survey
        self.acknowledged: set[str] = set()
        self.made: dict[str, bytes] = {}
        self.unanswered: list[str] = []

    def run(self, url: str, stop: threading.Event) -> None:
        """Send over one connection until it breaks."""
        parts = urlsplit(f"{url}/s/{self.survey.id}/reports")
        connection = http.client.HTTPConnection(parts.netloc, timeout=5)
        while not stop.is_set():
            key = self._next()
            try:
                connection.request("POST", parts.path, self.made[key], HEADERS)
                reply = connection.getresponse()
                reply.read()
            except (OSError, http.client.HTTPException):
                self.unanswered.append(key)
                break
            assert reply.status == 201, reply.status
            self.acknowledged.add(key)
        connection.close()

    def _next(self) -> str:
        """What had no reply is sent again, as devices do; it may be in the store already."""
        if self.unanswered:
            return self.unanswered.pop()
        report = make_report(self.survey, {"cheated": "Yes"})
        self.made[report.key] = bytes(report)
        return report.key


def kill_cycles(data: Path, cycles: int) -> tuple[int, int]:
    """How many reports were acknowledged and how many were stored. Raises if one was lost."""
    survey = Survey.load(EXAMPLE)
    senders, chance = Senders(survey), random.Random(1)
    for _ in range(cycles):
        with serving([EXAMPLE], data) as server:
            stop = threading.Event()
            devices = [
                threading.Thread(target=senders.run, args=(server.url, stop))
                for _ in range(SENDERS)
            ]
            for device in devices:
                device.start()
            time.sleep(chance.uniform(0.02, 0.15))
            for process in (*children(server.process.pid), server.process.pid):
                os.kill(process, signal.SIGKILL)
            for device in devices:
                device.join()
    store = Store(data)
    stored = [str(row[0]) for row in store.reports(survey)]
    lost = senders.acknowledged - set(stored)
    assert not lost, f"{len(lost)} acknowledged reports are lost"
    assert len(stored) == len(set(stored)) == store.count(survey)
    assert set(stored) <= set(senders.made)
    assert store.problems() == []
    return len(senders.acknowledged), len(stored)


def children(pid: int) -> list[int]:
    """The processes that a process has started (Linux)."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def main() -> None:
    parser = argparse.ArgumentParser(description="Kill the collector under load, again and again.")
    parser.add_argument("--cycles", type=int, default=1000)
    cycles = parser.parse_args().cycles
    with tempfile.TemporaryDirectory() as folder:
        acknowledged, stored = kill_cycles(Path(folder) / "reports.db", cycles)
    print(f"{cycles} kills: {acknowledged} reports acknowledged, {stored} stored, none lost")


if __name__ == "__main__":
    main()
