"""``deniable invite``, ``backup``, ``restore`` and ``integrity``, as a researcher runs them."""

from __future__ import annotations

import csv
import os
import sqlite3
import stat
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from collector.cli import main
from collector.store import Arrival, Store
from respondent import Survey, make_report

from .support import EXAMPLES

COIN_FILE = str(EXAMPLES / "coin.toml")
COIN = Survey.load(COIN_FILE)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


def store(name: str = "reports.db", reports: int = 5) -> Store:
    found = Store(Path(name))
    found.publish(COIN)
    found.add([Arrival(COIN, make_report(COIN, {"cheated": "Yes"})) for _ in range(reports)])
    return found


def test_invite() -> None:
    result = run(
        *("invite", COIN_FILE, "-n", "20", "--address", "https://survey.example.org/"),
        *("-o", "class.csv", "--page", "class.html"),
    )
    assert result.exit_code == 0, result.output
    assert result.output == "20 links in class.csv, to print: class.html\n"
    with open("class.csv") as file:
        links = [row["link"] for row in csv.DictReader(file)]
    tokens = [link.removeprefix("https://survey.example.org/s/coin#") for link in links]
    assert len(set(tokens)) == 20 and {len(token) for token in tokens} == {22}
    page = Path("class.html").read_text()
    assert page.count("<svg") == 20 and all(link in page for link in links)
    assert stat.S_IMODE(os.stat("class.csv").st_mode) == 0o600
    invited = Store(Path("reports.db"))
    assert invited.settings("coin").invited
    assert invited.invitations("coin") == (20, 0)
    report = make_report(COIN, {"cheated": "No"})
    assert invited.add([Arrival(COIN, report, invitation=tokens[7])]) == ["stored"]


def test_links_are_never_overwritten() -> None:
    Path("invitations.csv").write_text("precious")
    result = run("invite", COIN_FILE, "-n", "2")
    assert result.exit_code == 1
    assert "invitations.csv: exists" in result.output
    assert Path("invitations.csv").read_text() == "precious"
    assert not Path("reports.db").exists()


def test_html_in_a_title_is_text_on_the_page_of_codes(folder: Path) -> None:
    file = folder / "survey.toml"
    file.write_text(
        'id = "x"\ntitle = "<b>&"\n'
        '[[question]]\nid = "q"\nask = "?"\nkind = "yes-no"\ncoin = "1/2"\n'
    )
    assert run("invite", str(file), "-n", "1", "--page", "p.html").exit_code == 0
    assert "<b>" not in Path("p.html").read_text()


def test_back_up_and_restore() -> None:
    kept = list(store().reports(COIN))
    assert run("backup", "reports.db", "copy.db").output == "copy.db: ok\n"
    assert stat.S_IMODE(os.stat("copy.db").st_mode) == 0o600
    assert "exists" in run("backup", "reports.db", "copy.db").output
    store(reports=3)
    assert "say --replace" in run("restore", "copy.db", "reports.db").output
    assert run("restore", "copy.db", "reports.db", "--replace").output == "reports.db: restored\n"
    assert list(Store(Path("reports.db")).reports(COIN)) == kept
    assert Store(Path("reports.db.before")).count(COIN) == 8, "nothing is lost"
    assert run("restore", "copy.db", "new.db").exit_code == 0


def test_a_file_in_use_is_not_replaced() -> None:
    store()
    run("backup", "reports.db", "copy.db")
    connection = Store(Path("reports.db")).connect()
    connection.execute("CREATE TABLE t (x)")
    result = run("restore", "copy.db", "reports.db", "--replace")
    connection.close()
    assert result.exit_code == 1
    assert "stop the collector" in result.output


def test_integrity() -> None:
    store()
    assert run("integrity", "reports.db").output == "reports.db: ok\n"
    with sqlite3.connect("reports.db") as database:
        database.execute("UPDATE counts SET count = 9")
    database.close()
    result = run("integrity", "reports.db")
    assert result.exit_code == 1 and "do not agree" in result.output
    assert run("restore", "reports.db", "other.db").exit_code == 1, "a damaged backup is refused"


def test_damaged_and_foreign_files() -> None:
    store(reports=400)
    content = bytearray(Path("reports.db").read_bytes())
    content[8192:12288] = os.urandom(4096)
    Path("damaged.db").write_bytes(content)
    Path("text.db").write_text("no database" * 100)
    for name in ("damaged.db", "text.db"):
        result = run("integrity", name)
        assert result.exit_code == 1
        assert result.output.startswith(f"Error: {name}: ")
    assert run("integrity", "missing.db").exit_code == 2
