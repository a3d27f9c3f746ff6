"""``deniable serve`` and other WSGI servers: the application answers under each of them."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from collector.store import Store
from respondent import Survey
from respondent.client import Client

from .support import EXAMPLES, ROOT

COIN = EXAMPLES / "coin.toml"


@dataclass
class Running:
    """A server, and what it had said when it ended."""

    process: subprocess.Popen[str]
    told: tuple[str, str] = ("", "")


@contextmanager
def running(command: list[str], **environment: str) -> Iterator[Running]:
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        found = Running(process)
        yield found
    finally:
        process.send_signal(signal.SIGTERM)
        found.told = process.communicate(timeout=20)


def test_serve(tmp_path: Path) -> None:
    data = tmp_path / "reports.db"
    command = [sys.executable, "-m", "collector", "serve", str(COIN), "--data", str(data)]
    with running([*command, "--port", "0"]) as server:
        assert server.process.stdout is not None
        told = ""
        for line in server.process.stdout:
            told += line
            if "Stop with Ctrl-C" in line:
                break
        respondents = re.search(r"Respondents: +(\S+)", told)
        researchers = re.search(r"Researchers: +\S+/researcher/log-in#(dnb_\S+)", told)
        assert respondents and researchers, told
        take_part(respondents[1], tmp_path / "home")
        assert Store(data).use_key(researchers[1], log_in=True) == "one-time"
    assert server.process.returncode == 0
    assert Store(data).count(Survey.load(COIN)) == 1
    assert not data.with_name("reports.db-wal").exists(), "nothing is left in a journal"


def test_nothing_about_anyone_in_the_log(tmp_path: Path) -> None:
    """Good and bad requests of a device with a name that would stand out."""
    data, port = str(tmp_path / "reports.db"), str(free_port())
    command = [sys.executable, "-m", "collector", "serve", str(COIN), "--data", data]
    with running([*command, "--port", port]) as server:
        url = f"http://127.0.0.1:{port}"
        wait_for(f"{url}/s/coin/survey.json")
        for path, body in [
            ("", None),
            ("/reports", b"{}"),
            ("/reports", b"x" * 99_999),
            ("?q=9", None),
        ]:
            headers = {"User-Agent": "unmistakable", "Content-Type": "application/json"}
            request = urllib.request.Request(f"{url}/s/coin{path}", body, headers)
            try:
                urllib.request.urlopen(request, timeout=10).close()
            except urllib.error.HTTPError as problem:
                problem.close()
    told, problems = server.told
    assert "unmistakable" not in told + problems
    assert problems == ""
    assert told.rstrip().endswith("Stop with Ctrl-C."), told


def take_part(url: str, home: Path) -> None:
    person = Client(home, pause=lambda seconds: None)
    survey = person.fetch(url)
    person.seal(survey, {"cheated": "Yes"})
    person.send(url, survey)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


@pytest.mark.parametrize(
    "server",
    [
        "gunicorn --workers 1 --threads 8 --bind 127.0.0.1:{port} collector.wsgi:app",
        "gunicorn --preload --workers 2 --threads 4 --bind 127.0.0.1:{port} collector.wsgi:app",
        "waitress --listen 127.0.0.1:{port} --threads 8 collector.wsgi:app",
    ],
)
def test_other_servers(tmp_path: Path, server: str) -> None:
    port, data = free_port(), tmp_path / "reports.db"
    command = [sys.executable, "-m", *server.format(port=port).split()]
    url = f"http://127.0.0.1:{port}/s/coin"
    with running(command, DENIABLE_SURVEYS=str(COIN), DENIABLE_DATA=str(data)):
        wait_for(f"{url}/survey.json")
        for number in range(10):
            take_part(url, tmp_path / f"home{number}")
    assert Store(data).count(Survey.load(COIN)) == 10
    assert Store(data).problems() == []


def wait_for(url: str) -> None:
    for _ in range(400):
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except urllib.error.URLError:
            time.sleep(0.05)
    raise AssertionError("the server did not come up")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "Missing argument 'SURVEY"),
        (["no-such-file.toml"], "no-such-file.toml: cannot be read"),
        ([str(COIN), "--port", "99999"], "is not in the range"),
    ],
)
def test_mistakes(arguments: list[str], told: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "collector", "serve", *arguments]
    data = ["--data", str(tmp_path / "reports.db")]
    result = subprocess.run([*command, *data], capture_output=True, text=True, cwd=ROOT)
    assert result.returncode in (1, 2)
    assert told in result.stderr
    assert "Traceback" not in result.stderr


def test_a_taken_port(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        command = [sys.executable, "-m", "collector", "serve", str(COIN), "--port", port]
        data = ["--data", str(tmp_path / "reports.db")]
        result = subprocess.run([*command, *data], capture_output=True, text=True, cwd=ROOT)
    assert result.returncode == 1
    assert "Address already in use" in result.stderr
    assert "Traceback" not in result.stderr


def test_without_its_variables(tmp_path: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-c", "import collector.wsgi"], capture_output=True, text=True, cwd=ROOT
    )
    assert "set DENIABLE_SURVEYS and DENIABLE_DATA" in result.stderr
