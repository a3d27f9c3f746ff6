"""The demo: a whole survey on this machine, from simulated respondents to estimates."""

from __future__ import annotations

import http.client
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import click

from analysis import counts, estimate, simulate
from respondent import Survey

from .serve import one_time_key, serving, stop_politely
from .store import Store

EXAMPLES = Path(__file__).parent.parent / "examples"
PEOPLE = 2_000
TRUTH = {"cheated": {"Yes": 0.3, "No": 0.7}}

#: What the simulated people of the campus survey are like; other questions: anything.
CAMPUS_TRUTH = TRUTH | {
    "copied": {"Yes": 0.12, "No": 0.88},
    "ghostwriter": {"Yes": 0.04, "No": 0.96},
    "drug": {
        "None": 0.62, "Cannabis": 0.21, "Cocaine": 0.04, "Other": 0.06, "Prefer not to say": 0.07,
    },
}  # fmt: skip

#: Simulated people who send at the same time.
AT_ONCE = 8


def run(port: int) -> None:
    """Serve the example surveys until Ctrl-C, from a file that is gone afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        demo(Path(folder) / "reports.db", port)


def demo(data: Path, port: int) -> None:
    stop_politely()
    files = [EXAMPLES / "coin.toml", EXAMPLES / "campus.toml"]
    coin, campus = map(Survey.load, files)
    with serving(files, data, port=port) as server:
        take_part(server.url, coin, TRUTH)
        take_part(server.url, campus, CAMPUS_TRUTH)
        found = counts(coin, data)["cheated"]
        print(f"\n{PEOPLE:,} simulated people were asked: {coin['cheated'].ask}")
        print("True yes: 30 %. The collector saw noisy responses only:\n")
        print(estimate(coin["cheated"], found, fingerprint=coin.fingerprint))
        print(f"\nTake part:               {server.url}/s/{coin.id}")
        print(f"Every kind of question:  {server.url}/s/{campus.id}")
        print(
            f"Results, for researchers: {server.url}/researcher/log-in#{one_time_key(Store(data))}"
        )
        print(f"From a terminal:         python -m respondent {server.url}/s/{coin.id}")
        print("\nStop with Ctrl-C.", flush=True)
        try:
            server.process.wait()
        except KeyboardInterrupt:
            print()


def take_part(url: str, survey: Survey, truth: Mapping[str, Mapping[str, float]]) -> None:
    """Each simulated person's device flips its coins and sends one report."""
    bodies = [bytes(report) for report in simulate(survey, truth, n=PEOPLE).each_report()]
    with (
        ThreadPoolExecutor(AT_ONCE) as people,
        click.progressbar(length=PEOPLE, label=f"reports to {survey.id}", file=sys.stderr) as bar,
    ):
        shares = [bodies[start::AT_ONCE] for start in range(AT_ONCE)]
        address = f"{url}/s/{survey.id}/reports"
        for sent in people.map(lambda share: _send(address, share), shares):
            bar.update(sent)


def _send(address: str, bodies: Sequence[bytes]) -> int:
    """Send reports over one connection, one after the other."""
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.netloc, timeout=20)
    headers = {"Content-Type": "application/json"}
    for body in bodies:
        connection.request("POST", parts.path, body, headers)
        reply = connection.getresponse()
        reply.read()
        if reply.status != 201:
            raise RuntimeError(f"the collector answers {reply.status}")
    connection.close()
    return len(bodies)
