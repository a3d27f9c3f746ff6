"""What researchers see: log-in, keys, surveys and results, over HTTP and in a browser."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas
import pytest
from axe_playwright_python.sync_playwright import Axe
from click.testing import CliRunner
from flask.testing import FlaskClient
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

import analysis
from analysis import simulate
from collector import Store, create_app, keys
from collector.cli import main
from collector.serve import serving
from respondent import Survey, make_report

from .support import EXAMPLES, needs
from .test_web import FLAGS

CAMPUS = replace(Survey.load(EXAMPLES / "campus.toml"), opens=None, closes=None)
COIN = Survey.load(EXAMPLES / "coin.toml")
TRUTH = {"cheated": {"Yes": 0.3, "No": 0.7}, "year": [0.4, 0.3, 0.295, 0.005]}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "reports.db")


@pytest.fixture
def web(store: Store) -> FlaskClient:
    return create_app([COIN, CAMPUS], store.path).test_client()


def csrf(web: FlaskClient, url: str = "/researcher/log-in") -> str:
    found = re.search(r'name="csrf" value="([^"]+)"', web.get(url).text)
    assert found
    return found[1]


def log_in(web: FlaskClient, key: str) -> Any:
    return web.post("/researcher/log-in", data={"csrf": csrf(web), "key": key})


@pytest.fixture
def inside(web: FlaskClient, store: Store) -> FlaskClient:
    """A client that is logged in."""
    assert log_in(web, keys.issue(store, "anna")).status_code == 303
    return web


def act(web: FlaskClient, url: str, **form: str) -> Any:
    """Send a form of a page that is logged in."""
    return web.post(url, data={"csrf": csrf(web, "/researcher/keys"), **form})


# Keys


def test_keys_are_long_and_only_a_hash_is_kept(store: Store) -> None:
    made = {keys.issue(store, f"number {number}") for number in range(20)}
    assert len(made) == 20
    assert all(re.fullmatch(r"dnb_[A-Za-z0-9_-]{32}", key) for key in made)
    kept = b"".join(path.read_bytes() for path in store.path.parent.iterdir())
    assert len(kept) > 10_000
    assert not any(key.encode() in kept for key in made)


@pytest.mark.parametrize("name", ["", " ", " a", "a" * 65, "a\nb", "\x00"])
def test_names_of_keys(store: Store, name: str) -> None:
    with pytest.raises(ValueError, match="name: must be 1 to 64"):
        keys.issue(store, name)


def test_keys_from_the_command_line(store: Store, web: FlaskClient) -> None:
    def call(*arguments: str) -> Any:
        return CliRunner().invoke(main, ["keys", *arguments, "--data", str(store.path)])

    added = call("add", "anna")
    assert added.exit_code == 0
    assert log_in(web, added.stdout.strip()).status_code == 303
    assert call("add", "anna").stderr == "Error: there is a key named anna already\n"
    once = call("add", "bob", "--once").stdout.strip()
    listed = call("list").stdout
    assert [line.split("  ")[0] for line in listed.splitlines()] == ["name", "anna", "bob"]
    assert once not in listed
    assert call("revoke", "anna").exit_code == 0
    assert call("revoke", "anna").stderr == "Error: there is no key named anna\n"
    store.path.write_bytes(b"something else")
    assert "is not a collector's file" in call("list").stderr


# Log-in


def test_log_in_and_out(web: FlaskClient, store: Store) -> None:
    assert web.get("/researcher").headers["Location"] == "/researcher/log-in"
    assert web.get("/api/surveys").status_code == 401
    reply = log_in(web, keys.issue(store, "anna"))
    cookie = reply.headers["Set-Cookie"]
    assert cookie.startswith("deniable=")
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and "Secure" not in cookie
    assert "Campus life" in web.get("/researcher").text
    assert web.get("/api/surveys").status_code == 200
    assert act(web, "/researcher/log-out").status_code == 303
    assert web.get("/researcher").status_code == 303


def test_cookies_are_for_https_where_the_page_is(web: FlaskClient) -> None:
    reply = web.get("/researcher/log-in", base_url="https://localhost")
    assert "Secure" in reply.headers["Set-Cookie"]


def test_respondents_get_no_cookie(inside: FlaskClient) -> None:
    for url in ("/s/coin", "/s/coin/survey.json"):
        assert "Set-Cookie" not in inside.get(url).headers


def test_a_session_reads_the_api_but_changes_nothing_there(inside: FlaskClient) -> None:
    assert inside.get("/api/surveys/coin").status_code == 200
    assert inside.put("/api/surveys/coin/state", json={"state": "closed"}).status_code == 401
    wrong = {"Authorization": "Bearer dnb_wrong"}
    assert inside.get("/api/surveys/coin", headers=wrong).status_code == 401


def test_a_one_time_key_opens_one_log_in(web: FlaskClient, store: Store) -> None:
    key = keys.issue(store, "start", once=True)
    assert log_in(web, key).status_code == 303
    assert web.get("/researcher").status_code == 200
    other = web.application.test_client()
    assert log_in(other, key).status_code == 403
    assert other.get("/researcher").status_code == 303


def test_a_revoked_key_is_logged_out(inside: FlaskClient, store: Store) -> None:
    store.revoke_key("anna")
    assert inside.get("/researcher").status_code == 303
    assert inside.get("/api/surveys").status_code == 401
    keys.issue(store, "anna")  # another key of the same name
    assert inside.get("/researcher").status_code == 303


def test_a_session_ends_after_twelve_hours(
    inside: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 12 * 3600 - 60)
    assert inside.get("/researcher").status_code == 200
    monkeypatch.setattr(time, "time", lambda: now + 12 * 3600 + 60)
    assert inside.get("/researcher").status_code == 303


def test_ten_wrong_keys_in_a_minute(
    web: FlaskClient, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = keys.issue(store, "anna")
    for _ in range(10):
        assert log_in(web, "dnb_wrong").status_code == 403
    for tried in ("dnb_wrong", key):
        reply = log_in(web, tried)
        assert reply.status_code == 429
        assert 0 < int(reply.headers["Retry-After"]) <= 60
        assert "<h1>" in reply.text
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now + 60)
    assert log_in(web, key).status_code == 303


POSTS = [
    ("/researcher/log-in", {"key": "dnb_wrong"}),
    ("/researcher/log-out", {}),
    ("/researcher/keys", {"name": "eve"}),
    ("/researcher/keys/revoke", {"name": "anna"}),
    ("/researcher/coin/state", {"state": "closed"}),
    ("/researcher/coin/delete-tests", {}),
]


@pytest.mark.parametrize(("url", "form"), POSTS)
@pytest.mark.parametrize("token", [{}, {"csrf": ""}, {"csrf": "wrong"}])
def test_forms_of_other_sites_do_nothing(
    inside: FlaskClient, store: Store, url: str, form: dict[str, str], token: dict[str, str]
) -> None:
    reply = inside.post(url, data=form | token)
    assert reply.status_code == 400
    assert "this form has expired" in reply.text
    assert [key.name for key in store.keys()] == ["anna"]
    assert store.settings("coin").state == "open"
    assert inside.get("/researcher").status_code == 200


# Pages

PAGES = [
    "/researcher",
    "/researcher/keys",
    "/researcher/campus-2026",
    "/researcher/campus-2026/poster",
    "/researcher/campus-2026/results",
]


@pytest.mark.parametrize("url", PAGES)
def test_pages_keep_to_a_strict_policy(inside: FlaskClient, url: str) -> None:
    page = inside.get(url)
    assert page.status_code == 200
    policy = page.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'") and "form-action 'self'" in policy
    assert "unsafe" not in policy
    assert not re.search(r"<style|style=|onclick|<script(?! type=\"module\" src)", page.text)


def test_errors_are_pages_for_people_and_json_for_programs(inside: FlaskClient) -> None:
    for url, status in (
        ("/researcher/nothing", 404),
        ("/researcher/coin/nothing", 404),
        ("/researcher/coin/results?level=2", 400),
        ("/researcher/campus-2026/results?where=year:1&where=year:2", 409),
    ):
        page = inside.get(url)
        assert (page.status_code, page.mimetype) == (status, "text/html")
    assert act(inside, "/researcher/coin/results").status_code == 405
    assert inside.get("/api/nothing").get_json()["problem"]


def test_a_survey_is_paused_closed_and_reopened(inside: FlaskClient) -> None:
    report = bytes(make_report(COIN, {"cheated": "Yes"}))
    for state, status, offered in (
        ("paused", 503, ["Resume", "Close"]),
        ("closed", 410, ["Reopen"]),
        ("open", 201, ["Pause", "Close"]),
    ):
        assert act(inside, "/researcher/coin/state", state=state).status_code == 303
        sent = inside.post("/s/coin/reports", data=report, content_type="application/json")
        assert sent.status_code == status
        page = inside.get("/researcher/coin").text
        buttons = re.findall(r"<button>(\w+)</button>", page)
        assert [button for button in buttons if button not in ("Log", "Delete")] == offered
    assert act(inside, "/researcher/coin/state", state="shut").status_code == 400


def test_test_reports_are_counted_apart_and_deleted(inside: FlaskClient, store: Store) -> None:
    store.add_vouched(COIN, simulate(COIN, n=40, seed=1).reports, "test")
    store.add_vouched(COIN, simulate(COIN, n=50, seed=2).reports)
    cells = re.findall(r'<td class="number">(\d+)</td>', inside.get("/researcher/coin").text)
    assert cells == ["50", "0", "40"]
    assert "test reports, which are no data" in inside.get("/researcher/coin/results?arm=test").text
    act(inside, "/researcher/coin/delete-tests")
    assert (store.count(COIN), store.count(COIN, "test")) == (50, 0)


def test_invitations_are_counted(inside: FlaskClient, store: Store) -> None:
    assert "No invitation is needed" in inside.get("/researcher/coin").text
    store.invite("coin", ["a", "b", "c"])
    report = bytes(make_report(COIN, {"cheated": "No"}))
    headers = {"Deniable-Invitation": "a", "Content-Type": "application/json"}
    assert inside.post("/s/coin/reports", data=report, headers=headers).status_code == 201
    assert "3 issued, 1 spent" in " ".join(inside.get("/researcher/coin").text.split())


def test_versions_can_be_chosen(inside: FlaskClient, store: Store) -> None:
    store.add_vouched(COIN, simulate(COIN, n=60, seed=1).reports)
    newer = replace(COIN, title="One question, again")
    again = create_app([newer], store.path).test_client()
    log_in(again, keys.issue(store, "bob"))
    page = again.get("/researcher/coin/results").text
    assert page.count(COIN.fingerprint) == 1 and "no reports to estimate from" in page.lower()
    old = again.get(f"/researcher/coin/results?version={COIN.fingerprint}").text
    assert "n = 60" in old and f"version={COIN.fingerprint}" in old


def test_words_are_escaped(store: Store) -> None:
    survey = Survey.parse(
        {
            "id": "v",
            "title": "<script>alert(1)</script>",
            "question": [
                {
                    "id": "p",
                    "ask": "<b>?</b>",
                    "kind": "choice",
                    "options": ['"><script>', "b"],
                    "protect": False,
                }
            ],
        }
    )
    web = create_app([survey], store.path).test_client()
    log_in(web, keys.issue(store, "<i>anna</i>"))
    store.add_vouched(survey, simulate(survey, n=100, seed=1).reports)
    for url in ("", "/keys", "/v", "/v/poster", "/v/results", '/v/results?where=p:"><script>'):
        page = web.get(f"/researcher{url}")
        assert page.status_code == 200
        assert "<script>" not in page.text and "<i>" not in page.text and "<b>" not in page.text


@pytest.mark.parametrize("name", ["keys", "log-in", "log-out"])
def test_names_that_pages_have(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="take another"):
        create_app([replace(COIN, id=name)], tmp_path / "reports.db")


# In a browser


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Store]]:
    """A collector with 4,000 simulated respondents."""
    folder = tmp_path_factory.mktemp("site")
    store = Store(folder / "reports.db")
    files = [folder / f"{survey.id}.json" for survey in (COIN, CAMPUS)]
    for survey, file in zip((COIN, CAMPUS), files, strict=True):
        file.write_bytes(survey.publish())
        store.publish(survey)
    store.add_vouched(CAMPUS, simulate(CAMPUS, TRUTH, n=4_000, seed=11).reports)
    store.add_vouched(CAMPUS, simulate(CAMPUS, n=3, seed=12).reports, "test")
    with serving(files, store.path) as server:
        yield server.url, store


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=needs("chromium"), args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context()
    yield context
    context.close()


def enter(page: Page, site: tuple[str, Store], name: str) -> None:
    """Log in by a one-time link, as the serve command prints it."""
    url, store = site
    page.goto(f"{url}/researcher/log-in#{keys.issue(store, name, once=True)}")
    page.wait_for_url(f"{url}/researcher")


def test_from_log_in_to_results_and_out(
    context: BrowserContext, site: tuple[str, Store], tmp_path: Path
) -> None:
    url, store = site
    page = context.new_page()
    enter(page, site, "whole way")
    assert "dnb_" not in page.url
    page.go_back()
    assert "dnb_" not in page.url
    page.goto(f"{url}/researcher")
    page.get_by_role("link", name="Campus life", exact=True).click()
    page.get_by_role("link", name="Results and downloads").click()
    row = page.get_by_role("region", name="Table of cheated").get_by_role("row", name="Yes")
    noisy, estimate, se = (float(cell) for cell in row.get_by_role("cell").all_inner_texts()[:3])
    # 30 % cheat, so 40 % say yes. The standard error is 1.6; 4.5 of them are allowed.
    assert 1 < se < 2
    assert abs(estimate - 30) < 4.5 * se
    assert abs(noisy - 40) < 4.5 * se / 2
    images = page.locator(".figure img")
    assert images.count() == len(CAMPUS.questions)
    images.last.scroll_into_view_if_needed()
    images.last.evaluate("image => image.decode()")
    downloads_are_good(page, tmp_path)

    page.get_by_label("Only where year is").select_option("1")
    page.get_by_role("button", name="Show").click()
    n = store.counts(CAMPUS)["year"][0]
    section = page.locator("section", has=page.locator("#cheated"))
    assert f"n = {n:,}" in section.inner_text()
    assert page.get_by_role("option", name="4+ (too few)").is_disabled()

    page.goto(f"{url}/researcher/campus-2026")
    report = bytes(simulate(CAMPUS, n=1, seed=99).reports[0])
    for button, status in (("Pause", 503), ("Close", 410), ("Reopen", 201)):
        page.get_by_role("button", name=button).click()
        page.wait_for_load_state()
        sent = context.request.post(
            f"{url}/s/campus-2026/reports",
            data=report,
            headers={"Content-Type": "application/json"},
        )
        assert sent.status == status
    page.get_by_role("button", name="Log out").click()
    page.wait_for_url(f"{url}/researcher/log-in")
    page.goto(f"{url}/researcher/campus-2026/results")
    assert page.url == f"{url}/researcher/log-in"


def downloads_are_good(page: Page, folder: Path) -> None:
    """Every link gives a file that opens; estimates are those of the downloaded reports."""
    start = f"campus-2026-{CAMPUS.fingerprint[:8]}-"
    files: dict[str, Path] = {}
    links = page.locator("a[download]")
    wanted = {
        *(f"estimates.{form}" for form in ("csv", "json", "parquet")),
        *(f"estimates-mood.{form}" for form in ("csv", "json", "parquet")),
        *(f"mood.{form}" for form in ("svg", "png", "pdf")),
        *(f"reports.{form}" for form in ("csv", "jsonl", "parquet")),
        *(f"counts.{form}" for form in ("csv", "json")),
        "methods.md",
        "codebook.md",
        "recompute.py",
        "survey.json",
    }
    other_questions = {question.id for question in CAMPUS} - {"mood"}
    for place in range(links.count()):
        about = links.nth(place).get_attribute("aria-label") or ""
        if about.rpartition(" ")[2] in other_questions:
            continue
        if len(files) % 8 == 0:  # a tab gives up to ten files, then it asks
            tab = page.context.new_page()
            tab.goto(page.url)
        with tab.expect_download() as begun:
            tab.locator("a[download]").nth(place).click()
        name = begun.value.suggested_filename
        files[name.removeprefix(start)] = folder / name
        begun.value.save_as(folder / name)
    assert set(files) == wanted
    check_files(files)


def check_files(files: dict[str, Path]) -> None:
    survey = Survey.load(files["survey.json"])
    assert survey == CAMPUS
    frames = [
        pandas.read_csv(files["estimates.csv"], keep_default_na=False, na_values=["nan"]),
        pandas.read_parquet(files["estimates.parquet"]),
    ]
    for form in ("csv", "jsonl", "parquet"):
        found = analysis.counts(survey, files[f"reports.{form}"])
        expected = pandas.concat(
            [
                analysis.estimate(q, found[q.id], fingerprint=survey.fingerprint).to_frame()
                for q in survey
            ],
            ignore_index=True,
        )
        for frame in frames:
            pandas.testing.assert_frame_equal(
                frame.drop(columns="feasible"),
                expected.drop(columns="feasible"),
                check_dtype=False,
                rtol=1e-9,
                atol=1e-9,
            )
            assert (frame["feasible"] - expected["feasible"]).abs().max() < 1e-3
    told = json.loads(files["estimates.json"].read_text(encoding="utf-8"))
    assert [one["question"] for one in told["estimates"]] == [q.id for q in survey]
    (mood,) = json.loads(files["estimates-mood.json"].read_text(encoding="utf-8"))["estimates"]
    assert mood == next(one for one in told["estimates"] if one["question"] == "mood")
    assert len(pandas.read_parquet(files["estimates-mood.parquet"])) == 8
    counted = json.loads(files["counts.json"].read_text(encoding="utf-8"))["counts"]
    assert sum(counted["cheated"].values()) == 4_000
    assert pandas.read_csv(files["counts.csv"])["count"].sum() == 4_000 * len(survey.questions)
    assert files["mood.png"].read_bytes().startswith(b"\x89PNG")
    assert files["mood.pdf"].read_bytes().startswith(b"%PDF")
    assert b"<svg" in files["mood.svg"].read_bytes()
    assert survey.fingerprint in files["methods.md"].read_text(encoding="utf-8")
    assert "`cheated`" in files["codebook.md"].read_text(encoding="utf-8")
    compile(files["recompute.py"].read_text(encoding="utf-8"), "recompute.py", "exec")


def test_without_javascript_the_key_is_pasted(browser: Browser, site: tuple[str, Store]) -> None:
    url, store = site
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{url}/researcher/log-in")
    page.keyboard.press("Tab")  # skip link
    page.keyboard.press("Tab")
    page.keyboard.type(keys.issue(store, "pasted"))
    page.keyboard.press("Enter")
    page.wait_for_url(f"{url}/researcher")
    context.close()


def test_a_key_is_added_shown_once_and_revoked_by_keyboard(
    context: BrowserContext, browser: Browser, site: tuple[str, Store]
) -> None:
    url, _ = site
    page = context.new_page()
    enter(page, site, "keeper")
    page.goto(f"{url}/researcher/keys")
    page.get_by_label("Name").focus()
    page.keyboard.type("colleague")
    page.keyboard.press("Enter")
    key = page.locator("#new-key").inner_text()
    assert key.startswith("dnb_")
    page.goto(f"{url}/researcher/keys")
    assert key not in page.content()

    other = browser.new_context()
    theirs = other.new_page()
    theirs.goto(f"{url}/researcher/log-in#{key}")
    theirs.wait_for_url(f"{url}/researcher")
    page.get_by_role("button", name="Revoke colleague").focus()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Revoke colleague").wait_for(state="detached")
    theirs.reload()
    assert theirs.url == f"{url}/researcher/log-in"
    other.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_are_accessible_and_fit_a_phone(
    browser: Browser, site: tuple[str, Store], scheme: Any
) -> None:
    url, store = site
    context = browser.new_context(
        color_scheme=scheme, viewport={"width": 360, "height": 740}, reduced_motion="reduce"
    )
    page = context.new_page()
    page.goto(f"{url}/researcher/log-in")
    check_page(page)
    enter(page, site, f"phone {scheme}")
    for path in (*PAGES, "/researcher/coin/results", "/researcher/nothing"):
        page.goto(url + path)
        for details in page.locator("details").all():
            details.locator("summary").click()
        check_page(page)
    for path in ("/researcher/campus-2026", "/researcher/campus-2026/results"):
        page.set_viewport_size({"width": 1280, "height": 800})
        page.goto(url + path)
        check_page(page)
    context.close()


def check_page(page: Page) -> None:
    found = Axe().run(page)
    assert found.violations_count == 0, f"{page.url}: {found.generate_report()}"
    wide = page.evaluate("document.documentElement.scrollWidth > window.innerWidth")
    assert not wide, page.url
