"""Durable reports a second, as a share of what an empty reply of the same server reaches.

    python -m benchmarks.ingest

Two servers alike, one with the collector and one with a Flask view that returns nothing,
get the same reports in turn over 64 connections that are kept alive. The client only sends
bytes that were made before.
"""

from __future__ import annotations

import re
import selectors
import socket
import statistics
import tempfile
import time
from collections import deque
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

from flask import Flask

from analysis import simulate
from collector.serve import serving
from collector.store import Store
from respondent import Survey

app = Flask(__name__)


@app.post("/")
def nothing() -> str:
    return ""


CONNECTIONS = 64
REQUESTS = 6_000
ROUNDS = 5
EXAMPLES = Path(__file__).parent.parent / "examples"


def main() -> None:
    for name in ("coin", "campus"):
        survey = Survey.load(EXAMPLES / f"{name}.toml")
        with tempfile.TemporaryDirectory() as folder:
            measure(survey, EXAMPLES / f"{name}.toml", Path(folder) / "reports.db")


def measure(survey: Survey, file: Path, data: Path) -> None:
    bodies = [bytes(report) for report in simulate(survey, n=ROUNDS * REQUESTS).each_report()]
    with serving([file], data) as server, serving([], data, app="benchmarks.ingest:app") as bare:
        host, other = urlsplit(server.url).netloc, urlsplit(bare.url).netloc
        found = []
        for turn in range(ROUNDS):
            share = bodies[turn * REQUESTS : (turn + 1) * REQUESTS]
            reports = [request(host, f"/s/{survey.id}/reports", body) for body in share]
            empty = [request(other, "/", body) for body in share]
            found.append((load(other, empty, 200), load(host, reports, 201)))
        assert Store(data).count(survey) == len(bodies)
    rates = [stored[0] / nothing[0] for nothing, stored in found]
    tails = [stored[1] / nothing[1] for nothing, stored in found]
    rate, tail = statistics.median(rates), statistics.median(tails)
    print(f"{survey.id}: {len(survey.questions)} questions, {CONNECTIONS} connections")
    print(f"  empty replies a second      {statistics.median(n[0] for n, _ in found):8.0f}")
    print(f"  durable reports a second    {statistics.median(s[0] for _, s in found):8.0f}")
    print(f"  share of the empty reply    {rate:8.2f}   (asked: 0.4 or more)")
    print(f"  p99 over the empty reply's  {tail:8.2f}   (asked: 5 or less)")


def request(host: str, path: str, body: bytes) -> bytes:
    head = f"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {len(body)}\r\n"
    return f"{head}Content-Type: application/json\r\n\r\n".encode() + body


def load(host: str, requests: Iterable[bytes], status: int) -> tuple[float, float]:
    """Send everything over all connections; requests a second and the 99th percentile."""
    waiting = deque(requests)
    name, _, port = host.rpartition(":")
    times: list[float] = []
    with selectors.DefaultSelector() as ready:
        for _ in range(CONNECTIONS):
            connection = socket.create_connection((name, int(port)))
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            ready.register(connection, selectors.EVENT_READ, [time.perf_counter(), b""])
            connection.sendall(waiting.popleft())
        start = time.perf_counter()
        while ready.get_map():
            for key, _ in ready.select(10):
                found = key.fileobj
                assert isinstance(found, socket.socket)
                key.data[1] += found.recv(65536)
                if not complete(key.data[1]):
                    continue
                assert key.data[1].startswith(f"HTTP/1.1 {status}".encode()), key.data[1]
                now = time.perf_counter()
                times.append(now - key.data[0])
                if waiting:
                    key.data[:] = now, b""
                    found.sendall(waiting.popleft())
                else:
                    ready.unregister(found)
                    with closing(found):
                        pass
        elapsed = time.perf_counter() - start
    return len(times) / elapsed, statistics.quantiles(times, n=100)[98]


def complete(reply: bytes) -> bool:
    """Whether head and body of a reply are there."""
    head, _, body = reply.partition(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", head.lower())
    return length is not None and len(body) == int(length[1])


if __name__ == "__main__":
    main()
