"""The HTTP API: what it promises in its own description, and what it refuses."""

from __future__ import annotations

import sqlite3
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from flask import Flask
from flask.testing import FlaskClient
from hypothesis import HealthCheck, settings
from schemathesis import Case
from schemathesis.checks import negative_data_rejection, positive_data_acceptance

from analysis import simulate
from collector import Store, create_app
from collector.keys import issue
from collector.openapi import document
from respondent import Survey

from .support import EXAMPLES

CAMPUS = Survey.load(EXAMPLES / "campus.toml")
COIN = Survey.load(EXAMPLES / "coin.toml")


@schemathesis.serializer("application/x-ndjson")
def lines(context: Any, value: Any) -> bytes:
    return str(value).encode("utf-8", "replace")


def with_known_names() -> dict[str, Any]:
    """The description with ids that there are, so that requests get past "no such survey"."""
    known = {
        "id": ["coin", "campus-2026"],
        "question": ["cheated", "mood", "debt"],
        "version": [CAMPUS.fingerprint],
    }
    found = deepcopy(document())
    for path in found["paths"].values():
        for operation in path.values():
            for parameter in operation["parameters"]:
                if parameter["name"] in known:
                    parameter["schema"] = {"enum": known[parameter["name"]]}
                if parameter["name"] == "where":
                    parameter["schema"]["items"] = {"enum": ["year:1", "year:4+", "hall:Yes"]}
    return found


class Here:
    """The WSGI application of the moment, for schemas that are read when tests are collected."""

    app: Flask

    def __call__(self, environ: Any, start_response: Any) -> Any:
        return self.app(environ, start_response)


HERE = Here()
AS_SERVED = schemathesis.openapi.from_dict(document())
KNOWN_NAMES = schemathesis.openapi.from_dict(with_known_names())
AS_SERVED.app = KNOWN_NAMES.app = HERE

#: A report's bytes are fixed to the last space, which JSON Schema cannot say.
BEYOND_SCHEMA = {"/s/{id}/reports", "/s/{id}/test/reports", "/api/surveys/{id}/batch"}

few = settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> str:
    data = tmp_path_factory.mktemp("api") / "reports.db"
    HERE.app = create_app([COIN, CAMPUS], data)
    store = Store(data)
    store.add_vouched(CAMPUS, simulate(CAMPUS, n=300, seed=1).reports)
    return issue(store, "test")


def check(case: Case, key: str) -> None:
    # An unknown parameter with an empty list for its value is nothing in a URL, so that what
    # was meant to be refused is in order; unknown parameters are tried by hand below.
    left_out = [negative_data_rejection]
    if case.operation.path in BEYOND_SCHEMA:
        left_out.append(positive_data_acceptance)
    headers = {"Authorization": f"Bearer {key}"}
    case.call_and_validate(headers=headers, excluded_checks=left_out)


@AS_SERVED.parametrize()
@few
def test_every_reply_is_described(case: Case, key: str) -> None:
    check(case, key)


@KNOWN_NAMES.parametrize()
@few
def test_every_reply_about_a_known_survey_is_described(case: Case, key: str) -> None:
    check(case, key)


def test_every_address_is_described(tmp_path: Path) -> None:
    described = {
        (path, method.upper()) for path, item in document()["paths"].items() for method in item
    }
    served = {
        (rule.rule.replace("<survey_id>", "{id}").replace("<question_id>", "{question}"), method)
        for rule in create_app([], tmp_path / "reports.db").url_map.iter_rules()
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
        if rule.rule.startswith("/api/")
    }
    assert {one for one in described if one[0].startswith("/api/")} == served


# By hand

TWO = Survey.parse(
    {
        "id": "two",
        "title": "Two",
        "question": [
            {"id": "year", "ask": "?", "kind": "choice", "options": ["1", "2"], "protect": False},
            {"id": "q", "ask": "?", "kind": "yes-no", "coin": "1/2"},
        ],
    }
)
LINES = b"".join(bytes(report) + b"\n" for report in simulate(TWO, n=200, seed=3).reports)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "reports.db")


@pytest.fixture
def web(store: Store) -> FlaskClient:
    """A client with a key."""
    app = create_app([TWO], store.path)
    client = app.test_client()
    client.environ_base["HTTP_AUTHORIZATION"] = f"Bearer {issue(store, 'anna')}"
    return client


def send(web: FlaskClient, body: bytes, query: str = "", kind: str = "application/x-ndjson") -> Any:
    return web.post(f"/api/surveys/two/batch{query}", data=body, content_type=kind)


@pytest.mark.parametrize(
    "header",
    [None, "", "Bearer", "Bearer ", "Bearer dnb_wrong", "Basic YTpi", "bearer \xff", "Bearer a b"],
)
def test_a_key_is_needed(web: FlaskClient, header: str | None) -> None:
    del web.environ_base["HTTP_AUTHORIZATION"]
    headers = {} if header is None else {"Authorization": header}
    for url, method in (("/api/surveys", "get"), ("/api/surveys/two/batch", "post")):
        reply = getattr(web, method)(url, headers=headers)
        assert reply.status_code == 401
        assert reply.headers["WWW-Authenticate"] == "Bearer"
        assert reply.get_json()["problem"]
    assert web.get("/api/openapi.json").status_code == 200


def test_revoked_and_one_time_keys_open_nothing(web: FlaskClient, store: Store) -> None:
    assert web.get("/api/surveys").status_code == 200
    store.revoke_key("anna")
    assert web.get("/api/surveys").status_code == 401
    once = {"Authorization": f"Bearer {issue(store, 'once', once=True)}"}
    assert web.get("/api/surveys", headers=once).status_code == 401


def test_a_batch_is_stored_once(web: FlaskClient, store: Store) -> None:
    first, again = send(web, LINES), send(web, LINES.removesuffix(b"\n"))
    assert (first.status_code, first.get_json()) == (200, {"stored": 200, "new": 200})
    assert again.get_json() == {"stored": 200, "new": 0}
    assert store.count(TWO) == 200
    assert store.problems() == []
    assert web.get("/api/surveys/two/reports").data == b"".join(sorted(LINES.splitlines(True)))


def test_a_batch_needs_no_open_survey_and_no_invitation(web: FlaskClient, store: Store) -> None:
    store.set_state("two", "closed")
    store.invite("two", ["token"])
    assert send(web, LINES, "?arm=own-coin").get_json()["new"] == 200
    assert (store.count(TWO), store.count(TWO, "own-coin")) == (0, 200)
    assert store.invitations("two") == (1, 0)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b"", "line 1"),
        (b"\n", "line 1"),
        (LINES + b"\n" + LINES, "line 201"),
        (LINES + b"{}\n", "line 201"),
        (LINES.replace(b"\n", b"\r\n"), "line 1"),
        (LINES[:-10], "line 200"),
    ],
)
def test_a_wrong_line_is_named_and_nothing_is_stored(
    web: FlaskClient, store: Store, body: bytes, told: str
) -> None:
    reply = send(web, body)
    assert reply.status_code == 400
    assert f"{told}:" in reply.get_json()["problem"]
    assert store.count(TWO) == 0


def test_sizes_and_types_of_a_batch(web: FlaskClient) -> None:
    assert len(LINES) > 16 * 1024
    assert send(web, LINES, kind="application/json").status_code == 415
    assert send(web, b"x" * (16 * 1024 * 1024 + 1)).status_code == 413
    report = web.post("/s/two/reports", data=LINES, content_type="application/json")
    assert report.status_code == 413


def test_state(web: FlaskClient) -> None:
    url, report = "/api/surveys/two/state", LINES.splitlines()[0]
    for state, status in (("paused", 503), ("closed", 410), ("open", 201)):
        assert web.put(url, json={"state": state}).get_json() == {"state": state}
        assert web.get("/api/surveys/two").get_json()["state"] == state
        reply = web.post("/s/two/reports", data=report, content_type="application/json")
        assert reply.status_code == status
    for wrong in ([], {}, {"state": "shut"}, {"state": ["open"]}, {"state": "open", "x": 1}):
        assert web.put(url, json=wrong).status_code == 400
    assert web.put(url, data=b"[" * 10_000, content_type="application/json").status_code == 400


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("level=0.8", 200),
        ("level=0.5&arm=device", 200),
        ("where=year:1", 200),
        ("where=year:1&where=year:1", 200),
        ("where=year:1&where=year:2", 409),
        ("arm=test", 409),
        ("level=1", 400),
        ("level=0.4999", 400),
        ("level=nan", 400),
        ("level=1e-1", 400),
        ("level=0_9", 400),
        ("level=%200.9", 400),
        ("level=" + "9" * 5_000, 400),
        ("level=0.9&level=0.9", 400),
        ("level=", 400),
        ("Level=0.9", 400),
        ("format=xml", 400),
        ("arm=reports", 400),
        ("version=2ce60d89", 400),
        ("version=" + "0" * 64, 404),
        ("where=year", 400),
        ("where=:1", 400),
        ("where=q:Yes", 404),
        ("where=year:3", 404),
        ("where=%FF:%FE", 400),
        ("question=q", 200),
        ("question=x", 404),
    ],
)
def test_queries(web: FlaskClient, query: str, status: int) -> None:
    send(web, LINES)
    reply = web.get(f"/api/surveys/two/estimates?{query}")
    assert reply.status_code == status
    assert reply.is_json and ("problem" in reply.get_json()) == (status != 200)


def test_an_older_version_stays_within_reach(web: FlaskClient, store: Store) -> None:
    send(web, LINES)
    newer = replace(TWO, title="Two, again")
    again = create_app([newer], store.path).test_client()
    again.environ_base = web.environ_base
    about = again.get("/api/surveys/two").get_json()
    assert about["version"] == newer.fingerprint
    assert about["versions"][TWO.fingerprint]["device"] == 200
    assert about["versions"][newer.fingerprint]["device"] == 0
    assert again.get("/api/surveys/two/estimates").status_code == 409
    found = again.get(f"/api/surveys/two/estimates?version={TWO.fingerprint}").get_json()
    assert found["estimates"][1]["n"] == 200
    published = again.get(f"/api/surveys/two/published?version={TWO.fingerprint}")
    assert published.data == TWO.publish()


def test_files_have_names_and_types(web: FlaskClient) -> None:
    send(web, LINES)
    start = f"two-{TWO.fingerprint[:8]}"
    for url, kind, name in (
        ("estimates?format=csv", "text/csv; charset=utf-8", "estimates.csv"),
        ("estimates?format=csv&question=q", "text/csv; charset=utf-8", "estimates-q.csv"),
        ("estimates?where=year:1", "application/json", "estimates-filtered.json"),
        ("counts", "application/json", "counts.json"),
        ("reports?arm=test&format=csv", "text/csv; charset=utf-8", "reports.csv"),
        ("reports", "application/x-ndjson", "reports.jsonl"),
        ("figures/q", "image/svg+xml", "q.svg"),
        ("figures/q?format=pdf", "application/pdf", "q.pdf"),
        ("codebook", "text/markdown; charset=utf-8", "codebook.md"),
        ("methods", "text/markdown; charset=utf-8", "methods.md"),
        ("recompute", "text/x-python; charset=utf-8", "recompute.py"),
        ("published", "application/json", "survey.json"),
    ):
        reply = web.get(f"/api/surveys/two/{url}")
        assert reply.headers["Content-Type"] == kind
        between = "-test-" if "arm=test" in url else "-"
        said = f'attachment; filename="{start}{between}{name}"'
        assert reply.headers["Content-Disposition"] == said


def test_a_locked_file_is_503(web: FlaskClient, store: Store, monkeypatch: Any) -> None:
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda path, timeout=0: connect(path, timeout=0.05))
    lock = connect(store.path, isolation_level=None)
    lock.execute("BEGIN EXCLUSIVE")
    assert send(web, LINES).status_code == 503
    lock.execute("ROLLBACK")
    lock.close()
    assert send(web, LINES).get_json()["new"] == 200
