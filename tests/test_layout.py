"""The shape of the project: who imports whom, and what may not appear where."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from .support import ROOT

ORDER = ["respondent", "analysis", "collector"]


def imports(path: Path) -> Iterator[str]:
    """Top-level names of the packages that a file imports, relative imports left out."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module.partition(".")[0]


@pytest.mark.parametrize("package", ORDER)
def test_imports_run_one_way(package: str) -> None:
    later = set(ORDER[ORDER.index(package) + 1 :])
    files = list((ROOT / package).rglob("*.py"))
    assert files
    for path in files:
        assert not later & set(imports(path)), path


def test_respondent_uses_the_standard_library_only() -> None:
    allowed = sys.stdlib_module_names | {"respondent"}
    for path in (ROOT / "respondent").rglob("*.py"):
        assert set(imports(path)) <= allowed, path


def test_respondent_never_touches_the_other_generator() -> None:
    for path in (ROOT / "respondent").rglob("*.py"):
        assert "random" not in set(imports(path)), path
    for path in (ROOT / "respondent" / "web").glob("*.js"):
        assert "Math.random" not in path.read_text(encoding="utf-8"), path


def test_respondent_runs_with_nothing_installed() -> None:
    """In an interpreter that sees no installed package at all."""
    code = "import respondent as r; s = r.Survey.load('examples/campus.toml'); print(s.fingerprint)"
    command = [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, '.'); {code}"]
    result = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert result.returncode == 0, result.stderr
    assert len(result.stdout.strip()) == 64


def test_importing_respondent_leaves_the_network_alone() -> None:
    network = "{'urllib.request', 'http', 'ssl', 'socket'}"
    code = f"import sys, respondent; print(sorted({network} & set(sys.modules)))"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert result.stdout.strip() == "[]"
