"""A reply means durable: killed under load, a full disk, and what reaches the disk."""

from __future__ import annotations

import re
import resource
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

from collector.serve import serving
from collector.store import Store
from respondent import Survey, make_report

from .durability import children, kill_cycles
from .support import EXAMPLES, ROOT, needs

COIN = Survey.load(EXAMPLES / "coin.toml")

ADD = """
import sys
from pathlib import Path
from collector.store import Arrival, Intake, Store
from respondent import Survey, make_report
survey = Survey.load(sys.argv[1])
store = Store(Path(sys.argv[2]))
store.publish(survey)
intake = Intake(store)
for _ in range(int(sys.argv[3])):
    intake.add([Arrival(survey, make_report(survey, {"cheated": "Yes"}))])
"""


def test_killed_under_load(tmp_path: Path) -> None:
    acknowledged, stored = kill_cycles(tmp_path / "reports.db", 50)
    assert acknowledged >= 50
    assert stored >= acknowledged


def test_every_commit_reaches_the_disk(tmp_path: Path) -> None:
    """Counted by the operating system: at least one fsync of the journal for each commit."""
    trace, data = tmp_path / "trace", tmp_path / "reports.db"
    command = [needs("strace"), "-f", "-y", "-e", "trace=fsync,fdatasync", "-o", str(trace)]
    program = [sys.executable, "-c", ADD, str(EXAMPLES / "coin.toml"), str(data), "40"]
    subprocess.run([*command, *program], check=True, cwd=ROOT)
    synced = re.findall(r"f(?:data)?sync\(\d+<[^>]*reports\.db-wal>\) += 0", trace.read_text())
    assert Store(data).count(COIN) == 40
    assert len(synced) >= 40


def send(url: str) -> int:
    body = bytes(make_report(COIN, {"cheated": "No"}))
    request = urllib.request.Request(
        f"{url}/s/coin/reports", body, {"Content-Type": "application/json"}
    )
    try:
        with urllib.request.urlopen(request, timeout=20) as reply:
            status: int = reply.status
    except urllib.error.HTTPError as problem:
        with problem:
            assert b"send it again" in problem.read()
        status = problem.code
    return status


def test_a_full_disk_is_503_and_recovers(tmp_path: Path) -> None:
    """No file of the server may grow: writes fail as they do on a full disk."""
    data = tmp_path / "reports.db"
    with serving([EXAMPLES / "coin.toml"], data) as server:
        assert [send(server.url) for _ in range(3)] == [201] * 3
        (worker,) = children(server.process.pid)
        limits = resource.prlimit(worker, resource.RLIMIT_FSIZE)
        resource.prlimit(worker, resource.RLIMIT_FSIZE, (1, limits[1]))
        assert [send(server.url) for _ in range(3)] == [503] * 3
        resource.prlimit(worker, resource.RLIMIT_FSIZE, limits)
        assert [send(server.url) for _ in range(3)] == [201] * 3
    assert Store(data).count(COIN) == 6
    assert Store(data).problems() == []
