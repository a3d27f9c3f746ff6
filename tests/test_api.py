"""The HTTP API: what it promises in its own description, and what it refuses."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
import schemathesis
from flask import Flask
from hypothesis import HealthCheck, settings
from schemathesis import Case
from schemathesis.checks import positive_data_acceptance

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
    max_examples=20,
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
    left_out = [positive_data_acceptance] if case.operation.path in BEYOND_SCHEMA else []
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
