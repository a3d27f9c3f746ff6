"""Taking part in a real terminal: a pseudo-terminal, typed at and read back."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from respondent import Survey, parse_report
from respondent.__main__ import main

from .collector_double import Collector
from .support import EXAMPLES, published

CTRL_C = b"\x03"
LEAVES_SECOND_SCREEN = "\x1b[?1049l"


class Terminal:
    """A program on a pseudo-terminal."""

    def __init__(self, *arguments: str) -> None:
        self.pid, self.file = pty.fork()
        if self.pid == 0:
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # whoever runs the tests may ignore it
            os.execv(sys.executable, [sys.executable, "-m", "respondent", *arguments])
        self.screen = ""

    def read_until(self, text: str, seconds: float = 20, pressing: bytes = b"") -> None:
        """Read until ``text`` appears, pressing a key again whenever nothing does for 2 s."""
        end = time.monotonic() + seconds
        start = len(self.screen)
        while text not in self.screen[start:]:
            assert time.monotonic() < end, f"{text!r} did not appear in {self.screen!r}"
            if pressing and not select.select([self.file], [], [], 0)[0]:
                os.write(self.file, pressing)
            while select.select([self.file], [], [], 2 if pressing else 0.1)[0]:
                try:
                    self.screen += os.read(self.file, 65536).decode()
                except OSError:  # the program has ended
                    assert text in self.screen[start:], self.screen
                    return
                if text in self.screen[start:]:
                    return

    def type(self, text: str) -> None:
        os.write(self.file, text.encode() + b"\n")

    def close(self) -> int:
        try:
            while data := os.read(self.file, 65536):
                self.screen += data.decode()
        except OSError:
            pass
        os.close(self.file)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def test_a_person_takes_part(collector: Collector, tmp_path: Path) -> None:
    survey = published("ok-campus.json")
    collector.published = survey.publish()
    terminal = Terminal("--home", str(tmp_path), collector.url)
    terminal.read_until("Take part? [y/N]")
    before = terminal.screen
    assert "Of 100 people whose true answer is Yes, 75 send Yes and 25 send No." in before
    assert survey.fingerprint in before
    assert "ε = 10.81" in re.sub(r"\s+", " ", before)
    terminal.type("y")
    typed = ["1", "no such option", "2", "1", "2", "1", "3", "1 4", "7", "4711", "500", "12", "9"]
    for text in typed:
        terminal.read_until(": ")
        terminal.type(text)
    terminal.read_until("Send now?")
    terminal.type("y")
    terminal.read_until("These")
    assert terminal.close() == 0
    during, _, after = terminal.screen.partition(LEAVES_SECOND_SCREEN)
    assert "4711" in during
    assert "4711" not in after
    assert "Cocaine" not in after
    assert len(collector.bodies) == 1
    assert collector.bodies[0].decode() in after
    assert f"These {len(collector.bodies[0])} bytes" in after
    assert parse_report(survey, collector.bodies[0]).responses[0] == 0


def test_stopping_half_way_sends_nothing(collector: Collector, tmp_path: Path) -> None:
    terminal = Terminal("--home", str(tmp_path), collector.url)
    terminal.read_until("Take part?")
    terminal.type("y")
    terminal.read_until("Number: ")
    # Between a prompt and the read that follows it, Python overlooks a first Ctrl-C.
    terminal.read_until("Nothing was sent.", pressing=CTRL_C)
    assert terminal.close() == 1
    assert LEAVES_SECOND_SCREEN in terminal.screen
    assert collector.bodies == []
    assert not list(tmp_path.iterdir())


def take_part(collector: Collector, home: Path, typed: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "respondent", "--home", str(home), collector.url]
    return subprocess.run(command, input=typed, capture_output=True, text=True, timeout=60)


def test_a_second_visit_sends_the_same_bytes(collector: Collector, tmp_path: Path) -> None:
    assert take_part(collector, tmp_path, "y\n1\ny\n").returncode == 0
    again = take_part(collector, tmp_path, "")
    assert "sealed already; sending the same bytes" in again.stdout
    assert len(collector.bodies) == 2
    assert len(set(collector.bodies)) == 1


def test_saying_no_sends_nothing(collector: Collector, tmp_path: Path) -> None:
    assert take_part(collector, tmp_path, "\n").returncode == 1
    assert take_part(collector, tmp_path, "y\n1\nn\n").returncode == 1
    assert collector.bodies == []


def test_a_long_list_is_searched(collector: Collector, tmp_path: Path) -> None:
    collector.published = Survey.load(EXAMPLES / "names.toml").publish()
    result = take_part(collector, tmp_path, "y\nAlabec\nAlabebach\ny\n")
    assert result.returncode == 0, result.stderr
    assert "  Alabecobach" not in result.stdout
    assert len(json.loads(collector.bodies[0])["responses"]) == 1


def test_the_ledger_is_shown(
    collector: Collector, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    take_part(collector, tmp_path, "y\n1\ny\n")
    assert main(["--ledger", "--home", str(tmp_path)]) == 0
    first, last = capsys.readouterr().out.splitlines()
    assert first.split() == ["1.0986", "coin", Survey.load(EXAMPLES / "coin.toml").fingerprint[:16],
                             "sent"]  # fmt: skip
    assert last.split() == ["1.0986", "in", "all"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--limit", "0.5"], "above your limit of 0.5"),
        (["--language", "tlh"], "has no language tlh"),
        (["--fingerprint", "0" * 64], "fingerprint is not the expected one"),
    ],
)
def test_refusals_are_one_clear_line(
    collector: Collector,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    told: str,
) -> None:
    assert main([*arguments, "--home", str(tmp_path), collector.url]) == 1
    assert told in capsys.readouterr().err


def test_help_teaches(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    told = capsys.readouterr().out
    assert "Your answers never leave this device" in told
    assert "python -m respondent --ledger" in told
