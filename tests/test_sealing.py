"""One person, one report, whatever happens: random sequences of events on the real collector."""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from waitress.server import create_server

from collector import create_app
from collector.store import Store
from respondent import Survey
from respondent.client import Client, NotSent

from .support import EXAMPLES

COIN = Survey.load(EXAMPLES / "coin.toml")


class Line:
    """The line between device and collector, which can cut off a request or a reply."""

    def __init__(self, data: Path) -> None:
        self.data = data
        self.bodies: list[bytes] = []
        self.trouble = ""
        self.restart()

    def restart(self) -> None:
        self.application: Any = create_app([COIN], self.data)

    def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        if environ["REQUEST_METHOD"] == "POST":
            body = environ["wsgi.input"].read()
            self.bodies.append(body)
            if self.trouble != "request lost":
                client = self.application.test_client()
                client.post(environ["PATH_INFO"], data=body, content_type="application/json")
            if self.trouble:
                start("504 Gateway Timeout", [("Content-Length", "0")])
                return [b""]
            start("201 Created", [("Content-Length", "0")])
            return [b""]
        return self.application(environ, start)  # type: ignore[no-any-return]


class OnePerson(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.line = Line(self.folder / "reports.db")
        self.server = create_server(self.line, host="127.0.0.1", port=0, threads=2)
        self.thread = threading.Thread(target=self.server.run, daemon=True)
        self.thread.start()
        self.url = f"http://127.0.0.1:{self.server.effective_port}/s/coin"
        self.visit()

    def teardown(self) -> None:
        self.server.close()
        self.thread.join()
        shutil.rmtree(self.folder)

    @rule()
    def visit(self) -> None:
        """A reload, a second visit, another process: nothing is remembered but the disk."""
        self.client = Client(self.folder / "home", pause=lambda seconds: None)

    @rule(answer=st.sampled_from(["Yes", "No"]))
    def answer(self, answer: str) -> None:
        self.client.seal(COIN, {"cheated": answer})

    @rule(trouble=st.sampled_from(["", "", "request lost", "reply lost"]))
    def send(self, trouble: str) -> None:
        if self.client.sealed(COIN) is None:
            return
        self.line.trouble = trouble
        try:
            self.client.send(self.url, COIN)
            assert not trouble
        except NotSent:
            assert trouble

    @rule(answer=st.sampled_from(["Yes", "No"]))
    def two_at_once(self, answer: str) -> None:
        tabs = [
            threading.Thread(target=self.client.seal, args=(COIN, {"cheated": answer}))
            for _ in range(2)
        ]
        for tab in tabs:
            tab.start()
        for tab in tabs:
            tab.join()

    @rule()
    def collector_restarts(self) -> None:
        self.line.restart()

    @invariant()
    def one_body_and_one_row(self) -> None:
        assert len(set(self.line.bodies)) <= 1
        rows = list(Store(self.line.data).reports(COIN))
        assert len(rows) <= 1
        if rows:
            assert str(rows[0][0]).encode() in self.line.bodies[0]


TestOnePerson = OnePerson.TestCase
TestOnePerson.settings = settings(
    max_examples=40, stateful_step_count=20, deadline=None, derandomize=True
)
