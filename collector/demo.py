"""The demo: a whole survey on this machine, from simulated respondents to an estimate."""

from __future__ import annotations

import secrets
import sys
import tempfile
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from waitress.server import create_server

from analysis import counts, estimate
from respondent import Survey, make_report

from . import create_app

EXAMPLES = Path(__file__).parent.parent / "examples"
PEOPLE = 2_000
TRUE_YES = 600


def run(port: int) -> None:
    """Serve the example surveys until Ctrl-C, from a file that is gone afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        demo(Path(folder) / "reports.db", port)


def demo(data: Path, port: int) -> None:
    coin, campus = (Survey.load(EXAMPLES / f"{name}.toml") for name in ("coin", "campus"))
    with serving(create_app([coin, campus], data), port) as url:
        take_part(f"{url}/s/{coin.id}/reports", coin)
        found = counts(coin, data)["cheated"]
        print(f"\n{PEOPLE} simulated people were asked: {coin['cheated'].ask}")
        print(f"True yes: {TRUE_YES / PEOPLE:.1%}. The collector saw noisy responses only:\n")
        print(estimate(coin["cheated"], found, fingerprint=coin.fingerprint))
        print(f"\nThe coin flip:      {url}/s/{coin.id}")
        print(f"Every kind of question: {url}/s/{campus.id}")
        print(f"Take part yourself: python -m respondent {url}/s/{coin.id}")
        print("\nStop with Ctrl-C.", flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            print()


@contextmanager
def serving(app: object, port: int) -> Iterator[str]:
    """The application on loopback, from a thread of its own."""
    server = create_server(app, host="127.0.0.1", port=port, threads=8)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.effective_port}"
    finally:
        server.close()


def take_part(url: str, survey: Survey) -> None:
    """Each simulated person's device flips its coins and sends one report."""
    people = ["Yes"] * TRUE_YES + ["No"] * (PEOPLE - TRUE_YES)
    secrets.SystemRandom().shuffle(people)
    for number, answer in enumerate(people, 1):
        report = bytes(make_report(survey, {"cheated": answer}))
        headers = {"Content-Type": "application/json"}
        with urllib.request.urlopen(urllib.request.Request(url, report, headers), timeout=20):
            pass
        if number % 50 == 0:
            bar = "█" * (30 * number // PEOPLE)
            end = "\n" if number == PEOPLE else ""
            print(
                f"\rreports sent {bar:30} {number}/{PEOPLE}", end=end, file=sys.stderr, flush=True
            )
