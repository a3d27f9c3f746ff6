"""The README's first command: a whole survey over real HTTP, on loopback."""

from __future__ import annotations

import re
import subprocess
import sys
import urllib.request

from respondent import Survey
from respondent.client import Client

from .support import EXAMPLES, ROOT


def test_demo() -> None:
    demo = subprocess.Popen(
        [sys.executable, "-m", "collector", "demo"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert demo.stdout is not None
        told = ""
        for line in demo.stdout:
            told += line
            if "Stop with Ctrl-C" in line:
                break
        yes = re.search(r"^Yes +(\S+) +(\S+) +(\S+)", told, re.MULTILINE)
        assert yes, told
        # 600 of 2,000 say yes; the estimate's standard error is 0.022: six of them are allowed.
        assert abs(float(yes[2]) - 0.3) < 6 * 0.022
        urls = re.findall(r"http://127\.0\.0\.1:\d+/s/\S+", told)
        assert len(urls) == 3
        for url in urls:
            with urllib.request.urlopen(url, timeout=10) as reply:
                assert reply.status == 200
        assert Client().fetch(urls[0]) == Survey.load(EXAMPLES / "coin.toml")
    finally:
        demo.terminate()
        demo.wait(10)
        if demo.stdout:
            demo.stdout.close()
