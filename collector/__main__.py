"""Try Deniable: ``python -m collector demo`` runs a whole survey on this machine."""

from __future__ import annotations

import argparse
import secrets
import sys
import tempfile
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from waitress.server import create_server

from analysis import estimate
from respondent import Survey, make_report

from . import Store, create_app

EXAMPLES = Path(__file__).parent.parent / "examples"
PEOPLE = 2_000
TRUE_YES = 600


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m collector", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser(
        "demo",
        help="serve the example surveys after simulated respondents have taken part",
        description=f"Serves the example surveys on this machine, lets {PEOPLE} simulated "
        "respondents send their reports over HTTP, and prints what the noisy responses say.",
    )
    command.add_argument("--port", type=int, default=0, help="a free one unless given")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        return demo(Path(folder) / "reports.db", options.port)


def demo(data: Path, port: int) -> int:
    coin, campus = (Survey.load(EXAMPLES / f"{name}.toml") for name in ("coin", "campus"))
    with serving(create_app([coin, campus], data), port) as url:
        take_part(f"{url}/s/{coin.id}/reports", coin)
        counts = Store(data).counts(coin)["cheated"]
        print(f"\n{PEOPLE} simulated people were asked: {coin['cheated'].ask}")
        print(f"True yes: {TRUE_YES / PEOPLE:.1%}. The collector saw noisy responses only:\n")
        print(estimate(coin["cheated"], counts, fingerprint=coin.fingerprint))
        print(f"\nThe coin flip:      {url}/s/{coin.id}")
        print(f"Every kind of question: {url}/s/{campus.id}")
        print(f"Take part yourself: python -m respondent {url}/s/{coin.id}")
        print("\nStop with Ctrl-C.", flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            print()
    return 0


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


if __name__ == "__main__":
    sys.exit(main())
