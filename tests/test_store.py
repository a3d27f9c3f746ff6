"""The store: arms, states, invitations, keys, counts, backups, and no order on disk."""

from __future__ import annotations

import sqlite3
import stat
from pathlib import Path

import pytest
from scipy import stats

from analysis import simulate
from collector.store import Arrival, Intake, Store, fold
from respondent import Survey, make_report

from .support import EXAMPLES

COIN = Survey.load(EXAMPLES / "coin.toml")
CAMPUS = Survey.load(EXAMPLES / "campus.toml")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(tmp_path / "reports.db")
    store.publish(COIN)
    return store


def arrival(arm: str = "device", invitation: str | None = None, vouched: bool = False) -> Arrival:
    return Arrival(COIN, make_report(COIN, {"cheated": "Yes"}), arm, invitation, vouched)


def test_only_its_owner_reads_the_file(store: Store) -> None:
    writer = Intake(store)
    writer.add([arrival()])
    modes = {stat.S_IMODE(path.stat().st_mode) for path in store.path.parent.iterdir()}
    writer.close()
    assert modes == {0o600}


def test_counts_are_kept_with_the_reports(store: Store) -> None:
    store.publish(CAMPUS)
    sample = simulate(CAMPUS, n=500, seed=4)
    arrivals = [Arrival(CAMPUS, report) for report in sample.each_report()]
    assert set(store.add(arrivals[:300])) == {"stored"}
    assert set(store.add(arrivals)) == {"stored"}, "the first 300 come again"
    kept = store.counts(CAMPUS)
    assert kept == store.count_where(CAMPUS, {})
    nonzero = {
        name: {response: count for response, count in found.items() if count}
        for name, found in sample.counts.items()
    }
    assert kept == nonzero
    assert store.count(CAMPUS) == 500
    assert store.count(COIN) == 0


def test_the_first_report_of_a_key_stays(store: Store) -> None:
    first = arrival()
    other = Arrival(COIN, type(first.report)(*_swapped(first)))
    assert store.add([first, other, first]) == ["stored"] * 3
    assert list(store.reports(COIN)) == [(first.report.key, *first.report.responses)]
    assert store.count(COIN) == 1


def _swapped(arrival: Arrival) -> tuple[str, str, tuple[int, ...], tuple[int, ...]]:
    report = arrival.report
    return report.survey, report.key, (1 - report.responses[0],), report.widths


def test_counting_a_group(store: Store) -> None:
    store.publish(CAMPUS)
    sample = simulate(CAMPUS, n=400, seed=5)
    store.add([Arrival(CAMPUS, report) for report in sample.each_report()])
    chosen = sample.responses["year"] == 2
    found = store.count_where(CAMPUS, {"year": 2})
    assert found["year"] == {2: int(chosen.sum())}
    assert sum(found["drug"].values()) == chosen.sum()
    assert found["cheated"][0] == int((sample.responses["cheated"][chosen] == 0).sum())


def test_arms_are_kept_apart(store: Store) -> None:
    store.add([arrival(), arrival("own-coin"), arrival("test"), arrival("test")])
    assert [store.count(COIN, arm) for arm in ("device", "own-coin", "test")] == [1, 1, 2]
    store.delete_tests(COIN)
    assert [store.count(COIN, arm) for arm in ("device", "own-coin", "test")] == [1, 1, 0]
    assert store.problems() == []


@pytest.mark.parametrize("state", ["paused", "closed"])
def test_states(store: Store, state: str) -> None:
    early = arrival()
    store.add([early])
    store.set_state("coin", state)
    assert store.add([arrival(), early, arrival("own-coin")]) == [state, "stored", state]
    assert store.add([arrival("test"), arrival(vouched=True)]) == ["stored", "stored"]
    store.set_state("coin", "open")
    assert store.add([arrival()]) == ["stored"]
    with pytest.raises(ValueError, match="state: must be one of open, paused, closed"):
        store.set_state("coin", "ajar")


@pytest.mark.parametrize(
    ("opens", "closes", "outcome"),
    [
        ("2020-01-01", "2020-12-31", "closed"),
        ("2999-01-01", None, "not-yet"),
        (None, None, "stored"),
    ],
)
def test_dates(tmp_path: Path, opens: str | None, closes: str | None, outcome: str) -> None:
    dates = {"opens": opens, "closes": closes}
    survey = Survey.parse(
        {
            "id": "dated",
            "title": "Dated",
            "question": [{"id": "q", "ask": "?", "kind": "yes-no", "coin": "1/2"}],
        }
        | {name: date for name, date in dates.items() if date}
    )
    store = Store(tmp_path / "reports.db")
    store.publish(survey)
    assert store.add([Arrival(survey, make_report(survey, {"q": "No"}))]) == [outcome]


def test_invitations_open_once(store: Store) -> None:
    store.invite("coin", ["one", "two"])
    first = arrival(invitation="one")
    assert store.add([first]) == ["stored"]
    assert store.add([first]) == ["stored"], "a reply was lost; the same report comes again"
    assert store.add([arrival(invitation="one")]) == ["spent"]
    assert store.add([arrival(invitation="forged"), arrival()]) == ["uninvited", "uninvited"]
    assert store.add([arrival("test"), arrival(vouched=True)]) == ["stored", "stored"]
    assert store.invitations("coin") == (2, 1)
    assert store.count(COIN) == 2
    racing = [arrival(invitation="two"), arrival(invitation="two")]
    assert sorted(store.add(racing)) == ["spent", "stored"]


def test_tokens_and_keys_are_not_in_the_file(store: Store) -> None:
    store.invite("coin", ["invitation-in-plain-text"])
    store.add_key("mine", "key-in-plain-text")
    store.add([arrival(invitation="invitation-in-plain-text")])
    for path in store.path.parent.iterdir():
        assert b"in-plain-text" not in path.read_bytes()


def test_spent_marks_and_reports_share_no_key(store: Store) -> None:
    store.invite("coin", ["one"])
    sent = arrival(invitation="one")
    store.add([sent])
    database = sqlite3.connect(store.path)
    (mark,) = database.execute("SELECT * FROM invitations")
    (report,) = store.reports(COIN)
    assert not set(mark) & set(report) - {0, 1}


def test_keys(store: Store) -> None:
    store.add_key("lasting", "a")
    store.add_key("once", "b", once=True)
    assert store.use_key("a") == store.use_key("a", log_in=True) == "lasting"
    assert store.use_key("b") is None, "a one-time key is no key for the interface"
    assert store.use_key("b", log_in=True) == "once"
    assert store.use_key("b", log_in=True) is None
    assert store.key_name is not None, "the session it opened goes on"
    assert store.use_key("c") is None
    assert store.revoke_key("lasting") and not store.revoke_key("lasting")
    assert store.use_key("a") is None and store.key_name(fold("a")) is None
    with pytest.raises(ValueError, match="there is a key named once"):
        store.add_key("once", "d")


def test_a_secret_stays_the_same(store: Store) -> None:
    assert store.secret("session", b"first") == b"first"
    assert store.secret("session", b"second") == b"first"


def test_versions(store: Store) -> None:
    changed = Survey.parse(
        {
            "id": "coin",
            "title": "Other words",
            "question": [{"id": "q", "ask": "?", "kind": "yes-no", "coin": "1/2"}],
        }
    )
    store.publish(changed)
    store.publish(changed)
    assert {survey.title for survey in store.versions("coin")} == {COIN.title, "Other words"}


def test_a_file_of_the_future_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "reports.db"
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA user_version = 99")
    database.close()
    with pytest.raises(ValueError, match="newer version"):
        Store(path).publish(COIN)


def test_back_up(store: Store, tmp_path: Path) -> None:
    store.add([arrival() for _ in range(50)])
    copy = Store(tmp_path / "copy.db")
    store.back_up(copy.path)
    assert list(copy.reports(COIN)) == list(store.reports(COIN))
    assert copy.problems() == []


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        ("UPDATE counts SET count = count + 1", "do not agree"),
        (f"DELETE FROM reports_{COIN.fingerprint[:16]}", "do not agree"),
        (f"UPDATE reports_{COIN.fingerprint[:16]} SET cheated = 7", "out of range"),
    ],
)
def test_problems_are_found(store: Store, damage: str, told: str) -> None:
    store.add([arrival() for _ in range(3)])
    assert store.problems() == []
    with sqlite3.connect(store.path) as database:
        database.execute(damage)
    database.close()
    assert any(told in problem for problem in store.problems())


@pytest.mark.parametrize("tidied", [False, True])
def test_no_arrival_order_on_disk(store: Store, tidied: bool) -> None:
    """Order sent against order on disk, for 10,000 reports that came one by one or few at a time.

    Without any order the rank correlation has standard error 0.01; 0.03 is what was promised.
    """
    sent = [Arrival(COIN, report) for report in simulate(COIN, n=10_000, seed=6).each_report()]
    writer, left = Intake(store), list(sent)
    while left:
        size = 1 + len(left) % 9
        writer.add(left[:size])
        del left[:size]
    writer.close()
    if tidied:
        store.tidy()
    keys = [arrival.report.key for arrival in sent]
    in_query = {str(row[0]): place for place, row in enumerate(_raw(store))}
    file = store.path.read_bytes()
    offsets = {key: file.rfind(key.encode()) for key in keys}
    assert min(offsets.values()) > 0
    for order in (in_query, offsets):
        correlation = stats.spearmanr(range(len(keys)), [order[key] for key in keys]).statistic
        assert abs(correlation) < 0.03


def _raw(store: Store) -> list[tuple[str | int, ...]]:
    """Reports in whatever order the file gives them."""
    database = sqlite3.connect(store.path)
    rows = database.execute(f"SELECT * FROM reports_{COIN.fingerprint[:16]}").fetchall()
    database.close()
    return rows
