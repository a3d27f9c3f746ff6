"""Serving: the application under granian, one process with many threads and one writer."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from respondent import Survey

from .app import DATA, SURVEYS
from .keys import issue
from .store import Store

#: Requests that can wait for the disk at once; one commit serves all that wait.
THREADS = 128

#: Seconds for the server to come up, and to finish what it has begun.
PATIENCE = 20.0

ONE_TIME = "one-time"


@dataclass(frozen=True)
class Server:
    """A running server: its address and its process."""

    url: str
    process: subprocess.Popen[bytes]


@contextmanager
def serving(
    files: Sequence[Path],
    data: Path,
    host: str = "127.0.0.1",
    port: int = 0,
    app: str = "collector.wsgi:app",
) -> Iterator[Server]:
    """Serve the survey files from a process of its own until the block ends."""
    port = _free_port(host, port)
    command = [
        *(sys.executable, "-m", "granian", app),
        *("--interface", "wsgi", "--host", host, "--port", str(port), "--http", "1", "--no-ws"),
        *("--workers", "1", "--blocking-threads", str(THREADS), "--log-level", "error"),
    ]
    environment = os.environ | {
        SURVEYS: os.pathsep.join(map(str, files)),
        DATA: str(data),
    }
    process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL)
    try:
        url = f"http://{f'[{host}]' if ':' in host else host}:{port}"
        _wait_for(process, url)
        yield Server(url, process)
    finally:
        process.terminate()
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def run(files: Sequence[Path], data: Path, host: str, port: int, address: str | None) -> None:
    """Serve until Ctrl-C or a polite signal, then leave the file in order."""
    surveys = [Survey.load(file) for file in files]
    store = Store(data)
    for survey in surveys:
        store.publish(survey)
    key = one_time_key(store)
    stop_politely()
    with serving(files, data, host, port) as server:
        url = (address or server.url).rstrip("/")
        for survey in surveys:
            print(f"Respondents:  {url}/s/{survey.id}")
        print(f"Researchers:  {url}/researcher/log-in#{key}")
        print("              (this link logs in once; deniable keys adds lasting keys)")
        print(f"Reports:      {data}\n\nStop with Ctrl-C.", flush=True)
        try:
            server.process.wait()
        except KeyboardInterrupt:
            print()
    store.tidy()


def one_time_key(store: Store) -> str:
    """A key for one log-in; the one before it is void."""
    store.revoke_key(ONE_TIME)
    return issue(store, ONE_TIME, once=True)


def stop_politely() -> None:
    """Take a service manager's signal for Ctrl-C, so that what was started is ended too."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, stop)


def _free_port(host: str, port: int) -> int:
    """The port, if nobody listens there; a free one for 0."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as problem:
            raise OSError(problem.errno, problem.strerror, f"{host} port {port}") from None
        found: int = probe.getsockname()[1]
    return found


def _wait_for(process: subprocess.Popen[bytes], url: str) -> None:
    """Return once the server answers, whatever it says."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}/healthy", timeout=1):
                return
        except urllib.error.HTTPError as reply:
            reply.close()
            return
        except OSError:
            time.sleep(0.02)
    raise OSError(f"the server did not come up at {url}")
