"""The documentation's Python runs, in order per file, and prints what the page says it prints."""

from __future__ import annotations

import contextlib
import io
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from .support import EXAMPLES, ROOT

#: Pages with code; those that are not there are not tested.
PAGES = [
    page for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))] if page.exists()
]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path) -> list[tuple[str, str]]:
    return FENCE.findall(page.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if any(kind == "python" for kind, _ in blocks(page))],
    ids=lambda page: page.name,
)
def test_code_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A block of text after Python is what the Python since the last such block printed."""
    for folder in (EXAMPLES, ROOT / "tests" / "reference"):
        shutil.copytree(folder, tmp_path / folder.relative_to(ROOT))
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "__main__"}
    out = io.StringIO()
    before = ""
    for kind, text in blocks(page):
        if kind == "python":
            with contextlib.redirect_stdout(out):
                exec(compile(text, page.name, "exec"), names)
        elif kind == "text" and before == "python":
            assert out.getvalue().rstrip() == text.rstrip()
            out = io.StringIO()
        before = kind


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_fences_are_closed(page: Path) -> None:
    assert page.read_text(encoding="utf-8").count("\n```") % 2 == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target
