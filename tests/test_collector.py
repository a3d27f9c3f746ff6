"""The collector over its WSGI interface: what it takes, what it keeps, what it refuses."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from analysis import counts
from collector import Store, create_app
from respondent import Survey, make_report

from .support import EXAMPLES

COIN = Survey.load(EXAMPLES / "coin.toml")
URL = "/s/coin/reports"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "reports.db"


@pytest.fixture
def web(data: Path) -> FlaskClient:
    campus = Survey.load(EXAMPLES / "campus.toml")
    return create_app([COIN, campus], data).test_client()


def post(web: FlaskClient, body: bytes, url: str = URL, kind: str = "application/json") -> int:
    reply = web.post(url, data=body, content_type=kind)
    if reply.status_code != 201:
        assert reply.get_json()["problem"]
    return reply.status_code


def test_a_report_is_kept_once(web: FlaskClient, data: Path) -> None:
    report = make_report(COIN, {"cheated": "Yes"})
    replies = [web.post(URL, data=bytes(report), content_type="application/json") for _ in "abc"]
    assert {reply.status_code for reply in replies} == {201}
    assert len({reply.data for reply in replies}) == 1
    rows = sqlite3.connect(data).execute(f"SELECT * FROM reports_{COIN.fingerprint[:16]}")
    assert rows.fetchall() == [(report.key, *report.responses)]


def test_counts(web: FlaskClient, data: Path) -> None:
    for _ in range(50):
        assert post(web, bytes(make_report(COIN, {"cheated": "No"}))) == 201
    found = counts(COIN, data)["cheated"]
    assert sum(found.values()) == 50 == Store(data).count(COIN)
    assert set(found) == {0, 1}


def test_every_column_is_known(web: FlaskClient, data: Path) -> None:
    """Nobody adds an address or a time unnoticed; no table keeps arrival order."""
    found = sqlite3.connect(data)
    tables = dict(found.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'table'"))
    columns = {
        name: [row[1] for row in found.execute(f"PRAGMA table_info({name})")] for name in tables
    }
    campus = Survey.load(EXAMPLES / "campus.toml")
    reports = {
        f"{arm}_{survey.fingerprint[:16]}": ["key", *(question.id for question in survey)]
        for survey in (COIN, campus)
        for arm in ("reports", "own_coin", "test")
    }
    assert columns == reports | {
        "surveys": ["fingerprint", "id", "published"],
        "settings": ["id", "state", "invited"],
        "counts": ["reports", "question", "response", "count"],
        "invitations": ["survey", "hash", "spent"],
        "researchers": ["name", "hash", "once", "used"],
        "secrets": ["name", "value"],
    }
    assert all(sql.endswith("STRICT, WITHOUT ROWID") for sql in map(str.strip, tables.values()))


GOOD = bytes(make_report(COIN, {"cheated": "Yes"}))
RESPONSE = b'"responses":[' + GOOD[-3:-2]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b"", "is not JSON"),
        (b"{}", "must be an object with survey, key and responses only"),
        (b"[" * 10_000, "is not JSON"),
        (b'{"a":' * 2_000, "is not JSON"),
        (GOOD.replace(COIN.fingerprint.encode(), b"0" * 64), "must be the survey's fingerprint"),
        (GOOD.replace(b":[", b":[0,"), "must be a list of 1"),
        (GOOD.replace(RESPONSE, b'"responses":['), "must be a list of 1"),
        (GOOD.replace(RESPONSE, b'"responses":[2'), "must be a whole number from 0 to 1"),
        (GOOD.replace(RESPONSE, b'"responses":[-1'), "must be a whole number from 0 to 1"),
        (GOOD.replace(RESPONSE, b'"responses":["1"'), "must be a whole number from 0 to 1"),
        (GOOD.replace(RESPONSE, b'"responses":[1e308'), "must be a whole number from 0 to 1"),
        (GOOD.replace(RESPONSE, b'"responses":[null'), "must be a whole number from 0 to 1"),
        (GOOD.replace(b'"key":"', b'"key":"x'), "key: must be 32 hexadecimal digits"),
        (GOOD + b" ", "is not in canonical form"),
        (b"\xff" + GOOD, "is not"),
    ],
)
def test_bad_reports_are_refused_and_not_kept(
    web: FlaskClient, data: Path, body: bytes, told: str
) -> None:
    reply = web.post(URL, data=body, content_type="application/json")
    assert reply.status_code == 400
    assert told in reply.get_json()["problem"]
    assert Store(data).count(COIN) == 0


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"x" * 10_000_000, "application/json", 413),
        (b"survey=1", "application/x-www-form-urlencoded", 415),
        (GOOD, "text/plain", 415),
        (GOOD, "", 415),
    ],
)
def test_other_bodies(web: FlaskClient, data: Path, body: bytes, kind: str, status: int) -> None:
    assert post(web, body, kind=kind) == status
    assert Store(data).count(COIN) == 0


def test_an_invitation_is_needed_once_there_are_some(web: FlaskClient, data: Path) -> None:
    Store(data).invite("coin", ["first"])

    def send(token: str | None, body: bytes) -> int:
        headers = {"Deniable-Invitation": token} if token else {}
        reply = web.post(URL, data=body, content_type="application/json", headers=headers)
        return reply.status_code

    other = bytes(make_report(COIN, {"cheated": "Yes"}))
    assert [send(None, GOOD), send("forged", GOOD), send("first", GOOD)] == [403, 403, 201]
    assert [send("first", GOOD), send("first", other)] == [201, 403]
    assert Store(data).count(COIN) == 1


@pytest.mark.parametrize(("state", "status"), [("paused", 503), ("closed", 410)])
def test_states_over_http(web: FlaskClient, data: Path, state: str, status: int) -> None:
    Store(data).set_state("coin", state)
    assert post(web, GOOD) == status
    assert post(web, GOOD, "/s/coin/test/reports") == 201
    assert Store(data).count(COIN) == 0
    Store(data).set_state("coin", "open")
    assert post(web, GOOD) == 201


def test_headers_of_every_reply(web: FlaskClient) -> None:
    for url in ("/s/coin", "/s/coin/survey.json", "/nowhere", "/static/page.css"):
        with web.get(url) as reply:
            headers = reply.headers
        assert headers["Content-Security-Policy"].startswith("default-src 'none'")
        assert "unsafe" not in headers["Content-Security-Policy"]
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["Cache-Control"] == "no-store"
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["X-Frame-Options"] == "DENY"
        assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
        assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert "Set-Cookie" not in headers
        assert "Strict-Transport-Security" not in headers
    secure = web.get("/s/coin", headers={"X-Forwarded-Proto": "https"})
    assert secure.headers["Strict-Transport-Security"].startswith("max-age=")


def test_unknown_surveys_and_methods(web: FlaskClient) -> None:
    assert post(web, b"{}", "/s/other/reports") == 404
    assert web.get("/s/other").status_code == 404
    assert web.get(URL).status_code == 405


def test_a_locked_database_is_503_and_recovers(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    web = create_app([COIN], data).test_client()
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda path, timeout=0: connect(path, timeout=0.05))
    report = bytes(make_report(COIN, {"cheated": "Yes"}))
    lock = connect(data, isolation_level=None)
    lock.execute("BEGIN EXCLUSIVE")
    assert post(web, report) == 503
    lock.execute("ROLLBACK")
    lock.close()
    assert post(web, report) == 201
    assert Store(data).count(COIN) == 1


def test_the_page_explains_and_escapes(data: Path) -> None:
    survey = Survey.parse(
        {
            "id": "v",
            "title": "<script>alert(1)</script>",
            "question": [{"id": "q", "ask": "<b>?</b>", "kind": "yes-no", "coin": "1/2"}],
        }
    )
    page = create_app([survey], data).test_client().get("/s/v")
    assert b"<script>" not in page.data
    assert b"&lt;script&gt;" in page.data
    assert b"75 send Yes and 25 send No" in page.data
    assert survey.fingerprint.encode() in page.data
    assert page.headers["Content-Security-Policy"].startswith("default-src 'none'")


def test_the_published_survey_is_served_byte_for_byte(web: FlaskClient) -> None:
    assert web.get("/s/coin/survey.json").data == COIN.publish()
