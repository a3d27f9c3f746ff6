"""The form in one file: what the bundler makes, and the file at work from a disk."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import html
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from playwright.sync_api import Browser, Page, Request, expect

from collector import create_app, offline
from respondent import Survey, parse_report

from .browsing import (
    PATIENCE,
    Site,
    answer_all,
    begin,
    chromium,
    forward,
    new_context,
    sent,
    site_of,
    stored,
)
from .support import EXAMPLES

expect.set_options(timeout=PATIENCE)

CAMPUS = dataclasses.replace(Survey.load(EXAMPLES / "campus.toml"), opens=None, closes=None)
AWKWARD = Survey.parse(
    {
        "id": "awkward",
        "languages": ["en", "de"],
        "title": {"en": "</script><script>alert(1)</script> & \\u003c <!--", "de": "Ärger"},
        "question": [
            {
                "id": "q",
                "ask": {"en": "Did you?", "de": "Haben Sie?"},
                "kind": "yes-no",
                "coin": "1/2",
            }
        ],
    }
)


@pytest.fixture
def web(tmp_path: Path) -> FlaskClient:
    return create_app([CAMPUS, AWKWARD], tmp_path / "reports.db").test_client()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = new_context(browser)
    yield context.new_page()
    context.close()


@pytest.fixture
def site() -> Iterator[Site]:
    with site_of([CAMPUS, AWKWARD]) as site:
        yield site


def saved(page: Page, site: Site, folder: Path, language: str = "en") -> Path:
    """The file as a browser saves it."""
    page.goto(f"{site.url}/s/awkward?lang={language}")
    page.locator(".check summary").click()
    with page.expect_download() as download:
        page.locator(".check a[download]").click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


def inlined(text: str, tag: str) -> str:
    (found,) = re.findall(rf"<{tag}>(.*?)</{tag.partition(' ')[0]}>", text, re.DOTALL)
    return str(found)


def test_the_policy_allows_the_file_s_own_parts_only(web: FlaskClient) -> None:
    reply = web.get("/s/awkward/offline.html?lang=de")
    assert reply.headers["Content-Disposition"] == 'attachment; filename="awkward-de.html"'
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]+)"', reply.text)
    rules = dict(rule.split(" ", 1) for rule in html.unescape(policy).split("; "))

    def hashed(text: str) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    assert rules == {
        "default-src": "'none'",
        "script-src": hashed(inlined(reply.text, 'script type="module"')),
        "style-src": hashed(inlined(reply.text, "style")),
        "connect-src": "http://localhost",
        "base-uri": "'none'",
        "form-action": "'none'",
    }


def test_the_survey_is_in_it_byte_for_byte(web: FlaskClient) -> None:
    for survey in (CAMPUS, AWKWARD):
        text = web.get(f"/s/{survey.id}/offline.html").text
        found = json.loads(inlined(text, 'script type="application/json" id="published"'))
        assert found.encode() == survey.publish()
        assert text.count("<script") == 2


def test_the_bundle_has_every_module_and_no_import() -> None:
    text = offline.bundle()
    assert not re.search(r"^(import|export) ", text, re.MULTILINE)
    # What the page loads, in eleven files of its own and two of the respondent.
    assert len(re.findall(r"^const module\d+ = ", text, re.MULTILINE)) == 13


def test_only_the_intake_may_be_called_from_elsewhere(web: FlaskClient) -> None:
    asked = {"Origin": "null", "Access-Control-Request-Method": "POST"}
    reply = web.options("/s/awkward/reports", headers=asked)
    assert reply.status_code == 200
    assert reply.headers["Access-Control-Allow-Origin"] == "*"
    assert reply.headers["Access-Control-Allow-Headers"] == "Content-Type, Deniable-Invitation"
    assert "Access-Control-Allow-Credentials" not in reply.headers
    assert web.post("/s/awkward/reports").headers["Access-Control-Allow-Origin"] == "*"
    for path in ("/s/awkward", "/s/awkward/survey.json", "/s/awkward/test", "/static/form.js"):
        with web.get(path) as other:
            assert "Access-Control-Allow-Origin" not in other.headers
    assert "Access-Control-Allow-Origin" not in web.post("/s/awkward/test/reports").headers


def test_from_disk_sealed_saved_and_sent(page: Page, site: Site, tmp_path: Path) -> None:
    path = saved(page, site, tmp_path)
    before = len(site.seen)
    requests: list[Request] = []
    page.on("request", lambda request: requests.append(request))
    page.goto(path.as_uri())
    expect(page.get_by_role("heading", level=1)).to_contain_text("</script><script>alert(1)")
    expect(page.locator(".notice").first).to_contain_text("one file")
    begin(page)
    answer_all(page, {"Did you?": "Yes"})
    page.get_by_role("button", name="Draw and seal").click()
    receipt = page.locator("#bytes").inner_text()
    assert len(site.seen) == before
    with page.expect_download() as download:
        page.get_by_role("button", name="Save the sealed report to a file").click()
    assert download.value.suggested_filename.endswith(".jsonl")
    assert download.value.path().read_text("utf-8") == f"{receipt}\n"
    page.reload()
    assert page.locator("#bytes").inner_text() == receipt
    assert len(site.seen) == before
    page.get_by_role("button", name="Send now").click()
    assert sent(page) == receipt
    assert site.bodies() == [receipt.encode()]
    report = parse_report(AWKWARD, receipt.encode())
    assert site.rows(AWKWARD) == [(report.key, *report.responses)]
    page.reload()
    assert sent(page) == receipt
    assert len(site.bodies()) == 1
    assert {request.url.partition("/s/")[0] for request in requests} <= {site.url, path.as_uri()}


def test_from_disk_without_a_connection(page: Page, site: Site, tmp_path: Path) -> None:
    path = saved(page, site, tmp_path, "de")
    page.context.set_offline(True)
    page.goto(path.as_uri())
    expect(page.locator("html")).to_have_attribute("lang", "de")
    begin(page)
    answer_all(page, {"Haben Sie?": "Ja"})
    forward(page)
    page.get_by_role("button", name="Jetzt senden").click()
    page.locator("[data-status=unreached]").wait_for()
    receipt = page.locator("#bytes").inner_text()
    assert receipt.replace('"', '\\"') in stored(page)
    page.context.set_offline(False)
    page.get_by_role("button", name="Jetzt senden").click()
    assert sent(page) == receipt
    assert site.bodies() == [receipt.encode()]


def test_a_page_that_cannot_be_inlined_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot be put into a page"):
        offline._inlined("let end = '</SCRIPT>'")
