"""The own-coin form: over WSGI what it takes and refuses, and in Chromium without any script."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode

import pytest
from axe_playwright_python.sync_playwright import Axe
from flask.testing import FlaskClient
from playwright.sync_api import Browser, Page, Request, sync_playwright
from werkzeug.test import TestResponse

from collector import Store, create_app, own_form
from collector.intake import REFUSALS
from collector.own_words import WORDS
from collector.serve import serving
from collector.store import table
from respondent import InvalidReport, Survey, parse_report
from respondent.canonical import canonical
from respondent.words import LANGUAGES, word

from .support import EXAMPLES, needs
from .test_web import FLAGS

SURVEY = Survey.load(EXAMPLES / "own-coin.toml")
URL = "/s/own-coin/own-coin"

#: Responses that fit together: a licence, so questions 3 and 4 apply.
FITTING = {
    "licence": "0",
    "age": "07",
    "phone": "1",
    "drunk": "0",
    "fare": "1",
    "crash": "0",
    "drug": "2",
    "often": "1",
}

#: Every kind of plain question, some of them shown to some people only.
KINDS = Survey.parse(
    {
        "id": "kinds",
        "title": "<b>Kinds</b>",
        "own-coin": True,
        "question": [
            {"id": "member", "ask": "Member?", "kind": "yes-no", "protect": False},
            {
                "id": "income",
                "ask": "Income?",
                "kind": "number",
                "range": [0, 10_000],
                "step": 10,
                "protect": False,
                "skip": True,
            },
            {
                "id": "fee",
                "ask": "Fee?",
                "kind": "number",
                "range": [0, 1_000],
                "unit": "€",
                "protect": False,
                "show-if": {"member": "Yes"},
            },
            {
                "id": "sports",
                "ask": "Which?",
                "kind": "choices",
                "options": ["Chess", "Go"],
                "protect": False,
                "skip": True,
                "show-if": {"member": "Yes"},
            },
            {
                "id": "town",
                "ask": "Where?",
                "kind": "list",
                "options": [f"Town {number}" for number in range(30)],
                "protect": False,
            },
            {
                "id": "mood",
                "ask": "Mood?",
                "kind": "scale",
                "range": [1, 3],
                "ends": ["low", "high"],
                "coin": "1/2",
            },
        ],
    }
)
KINDS_FITTING = {
    "member": "0",
    "income": "120",
    "fee": "5",
    "sports.0": "1",
    "sports.1": "0",
    "sports.2": "0",
    "town": "09",
    "mood": "2",
}


class Form(HTMLParser):
    """What a page would send, and what it offers."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.chosen: dict[str, str] = {}
        self.offered: dict[str, list[str]] = {}
        self.select = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        name, value = found.get("name") or "", found.get("value") or ""
        if tag == "select":
            self.select = name
        elif tag == "option":
            first = self.select not in self.offered
            self._offer(self.select, value, first or "selected" in found)
        elif tag == "input":
            self._offer(name, value, found.get("type") != "radio" or "checked" in found)

    def _offer(self, name: str, value: str, chosen: bool) -> None:
        self.offered.setdefault(name, []).append(value)
        if chosen:
            self.chosen[name] = value


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "reports.db"


@pytest.fixture
def web(data: Path) -> FlaskClient:
    campus = Survey.load(EXAMPLES / "campus.toml")
    return create_app([SURVEY, KINDS, campus], data).test_client()


def opened(web: FlaskClient, url: str = URL) -> Form:
    page = web.get(url)
    assert page.status_code == 200
    return Form(page.text)


def post(web: FlaskClient, fields: object, url: str = URL) -> TestResponse:
    body = urlencode(fields) if isinstance(fields, dict | list) else fields
    return web.post(url, data=body, content_type="application/x-www-form-urlencoded")


def send(web: FlaskClient, responses: dict[str, str], url: str = URL) -> TestResponse:
    return post(web, opened(web, url).chosen | responses, url)


def rows(data: Path, arm: str = "own-coin", survey: Survey = SURVEY) -> list[tuple[Any, ...]]:
    return sqlite3.connect(data).execute(f"SELECT * FROM {table(survey, arm)}").fetchall()


def receipt(page: str) -> str:
    found = re.search(r'<pre id="report">(.*)</pre>', page)
    assert found
    return found[1].replace("&#34;", '"')


# Words


@pytest.mark.parametrize("language", LANGUAGES)
def test_all_languages_say_the_same(language: str) -> None:
    assert list(WORDS) == list(LANGUAGES)
    places = {name: sorted(re.findall(r"\{\w*\}", text)) for name, text in WORDS[language].items()}
    assert places == {
        name: sorted(re.findall(r"\{\w*\}", text)) for name, text in WORDS["en"].items()
    }
    assert all(text.strip() for text in WORDS[language].values())


def test_every_word_is_used_and_every_refusal_has_words() -> None:
    package = Path(own_form.__file__).parent
    sources = [*package.glob("*.py"), *package.glob("templates/own-coin*.html")]
    text = "".join(p.read_text("utf-8") for p in sources if p.name != "own_words.py")
    made = {f"{thing}-{many}" for thing in ("coin", "die") for many in ("once", "twice", "times")}
    made |= {f"rule-{rule}" for rule in ("forced", "truth", "opposite")} | set(REFUSALS)
    made |= {"or", "language"}
    assert set(REFUSALS) <= set(WORDS["en"])
    quoted = set(re.findall(r"""["']([a-z-]+)["']""", text))
    assert set(WORDS["en"]) - quoted - made == set()


# The page


def test_where_there_is_a_form(web: FlaskClient) -> None:
    assert web.get(URL).status_code == 200
    for url, told in (
        ("/s/campus-2026/own-coin", "This survey has no form for coins and dice"),
        ("/s/other/own-coin", "there is no such survey here"),
    ):
        page = web.get(url)
        assert page.status_code == 404
        assert told in page.text
        assert page.mimetype == "text/html"
        assert post(web, {}, url).status_code == 404


def test_headers(web: FlaskClient) -> None:
    replies = [
        web.get(URL),
        send(web, FITTING),
        post(web, {"x": "1"}),
        web.get("/s/other/own-coin"),
    ]
    assert [reply.status_code for reply in replies] == [200, 201, 400, 404]
    for reply in replies:
        assert reply.headers["Content-Security-Policy"] == (
            "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; "
            "frame-ancestors 'none'"
        )
        assert reply.headers["Cache-Control"] == "no-store"
        assert "Set-Cookie" not in reply.headers
        assert "<script" not in reply.text
        assert " style=" not in reply.text


def test_each_page_has_a_key_of_its_own(web: FlaskClient) -> None:
    keys = {opened(web).chosen["key"] for _ in range(20)}
    assert len(keys) == 20
    assert all(re.fullmatch("[0-9a-f]{32}", key) for key in keys)


def test_the_page_explains_and_escapes(web: FlaskClient) -> None:
    page = web.get("/s/kinds/own-coin").text
    assert "&lt;b&gt;Kinds" in page
    assert "<b>" not in page
    assert page.count("This answer is sent as it is, without protection.") == 5
    assert page.count("Protected: nobody, not even this device, learns your true answer.") == 1
    assert "You need a die." in page
    assert "even if it is not your true answer" in page
    assert "Only if you answered “Yes” to question 1. Otherwise leave this empty." in page
    assert "A number from 0 to 10000. Leave it empty if you prefer not to say." in page
    assert "1 (low)" in page
    assert "3 (high)" in page


@pytest.mark.parametrize(
    ("url", "accept", "language", "direction"),
    [
        (URL, "", "en", "ltr"),
        (URL, "ar,en;q=0.5", "ar", "rtl"),
        (URL, "fr", "en", "ltr"),
        (f"{URL}?lang=ar", "en", "ar", "rtl"),
        (f"{URL}?lang=xx", "", "en", "ltr"),
    ],
)
def test_languages(web: FlaskClient, url: str, accept: str, language: str, direction: str) -> None:
    page = web.get(url, headers={"Accept-Language": accept}).text
    assert f'<html lang="{language}" dir="{direction}">' in page
    assert f'action="{URL}?lang={language}"' in page
    assert WORDS[language]["promise"] in page


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_page_in_every_language(data: Path, language: str) -> None:
    yes = word(language, "yes")
    source = {
        "id": "v",
        "languages": [language],
        "title": "T",
        "own-coin": True,
        "question": [
            {"id": "a", "ask": "?", "kind": "yes-no", "protect": False},
            {"id": "b", "ask": "?", "kind": "yes-no", "odds": [45, 3], "show-if": {"a": yes}},
            {"id": "c", "ask": "?", "kind": "yes-no", "table": [[2, 3, 1], [1, 3, 2]],
             "responses": ["x", "y", "z"]},
        ],
    }  # fmt: skip
    survey = Survey.parse(source)
    web = create_app([survey], data).test_client()
    url = "/s/v/own-coin"
    pages = [web.get(url), post(web, opened(web, url).chosen, url)]
    pages.append(send(web, {"a": "0", "b": "1", "c": "2"}, url))
    assert [page.status_code for page in pages] == [200, 400, 201]
    for page in pages:
        assert f'<html lang="{language}"' in page.text
        assert "{" not in re.sub(r"<pre.*</pre>", "", page.text)


# What is sent


def test_a_form_is_kept_and_shown(web: FlaskClient, data: Path) -> None:
    reply = send(web, FITTING)
    assert reply.status_code == 201
    report = parse_report(SURVEY, receipt(reply.text).encode())
    assert rows(data) == [(report.key, *map(int, FITTING.values()))]
    assert rows(data) == [(report.key, *report.responses)]
    assert rows(data, "device") == rows(data, "test") == []
    store = Store(data)
    assert store.count(SURVEY, "own-coin") == 1
    assert store.report(SURVEY, report.key, "own-coin") == report
    assert store.report(SURVEY, report.key) is None
    assert store.problems() == []


def test_sent_twice_is_kept_once_and_the_first_stays(web: FlaskClient, data: Path) -> None:
    form = opened(web).chosen | FITTING
    replies = [post(web, form) for _ in range(3)]
    assert {(reply.status_code, reply.text) for reply in replies} == {(201, replies[0].text)}
    changed = post(web, form | {"fare": "0"})
    assert changed.status_code == 201
    assert receipt(changed.text) == receipt(replies[0].text)
    assert "What was sent first stays" in changed.text
    assert "What was sent first stays" not in replies[0].text
    assert len(rows(data)) == 1


def test_a_form_is_as_long_whatever_is_entered(web: FlaskClient, data: Path) -> None:
    """Every combination of a survey with conditions, ticks and responses of two digits."""
    survey = Survey.parse(
        {
            "id": "v",
            "title": "V",
            "own-coin": True,
            "question": [
                {"id": "a", "ask": "?", "kind": "yes-no", "protect": False},
                {"id": "b", "ask": "?", "kind": "yes-no", "coin": "1/2", "show-if": {"a": "Yes"}},
                {"id": "c", "ask": "?", "kind": "scale", "range": [0, 10], "protect": False},
                {"id": "d", "ask": "?", "kind": "choices", "options": ["x", "y"],
                 "protect": False, "show-if": {"a": "Yes"}},
                {"id": "e", "ask": "?", "kind": "number", "range": [0, 19], "protect": False},
            ],
        }
    )  # fmt: skip
    client = create_app([survey], data).test_client()
    form = opened(client, "/s/v/own-coin")
    names = [name for name in form.offered if name not in ("survey", "key")]
    assert names == ["a", "b", "c", "d.0", "d.1", "e"]
    offered = [[value for value in form.offered[name] if value] for name in names]
    lengths, fitting = set(), 0
    for values in product(*offered):
        entered = dict(zip(names, values, strict=True))
        lengths.add(len(urlencode(form.chosen | entered)))
        found = own_form.read(survey, entered, "en")
        fitting += not found.problems
    assert len(lengths) == 1
    assert fitting == 2 * 11 * 4 * 20 + 11 * 20


@pytest.mark.parametrize(
    ("changed", "number", "told"),
    [
        ({"licence": None}, 1, "Nothing is entered here."),
        ({"age": ""}, 2, "Nothing is entered here."),
        ({"often": None}, 8, "Nothing is entered here."),
        ({"licence": "1", "drunk": "2"}, 3, "By your earlier answers this question is not for you"),
        ({"drunk": "2"}, 4, "By your earlier answers this question is for you"),
    ],
)
def test_what_is_missing_is_asked_again(
    web: FlaskClient, data: Path, changed: dict[str, str | None], number: int, told: str
) -> None:
    entered = {name: value for name, value in (FITTING | changed).items() if value is not None}
    form = opened(web).chosen | entered
    reply = post(web, form)
    assert reply.status_code == 400
    identifier = list(FITTING)[number - 1]
    assert re.search(rf'<li><a href="#q-{identifier}">Question {number}</a>:\s+{told}', reply.text)
    assert reply.text.count('<li><a href="#q-') == 1
    again = Form(reply.text).chosen
    assert again == form
    assert rows(data) == []
    assert post(web, again | FITTING).status_code == 201
    assert rows(data)[0][0] == form["key"]


@pytest.mark.parametrize(
    ("fields", "status", "told"),
    [
        ({"fare": "2"}, 400, "fare: must be a whole number from 0 to 1"),
        ({"age": "7"}, 400, "age: must be a whole number from 00 to 82"),
        ({"fare": "٣"}, 400, "fare: must be"),
        ({"key": "1"}, 400, "key: must be 32 hexadecimal digits"),
        ({"key": '0","responses":[]'}, 400, "the report"),
        ({"survey": "0" * 64}, 409, "The survey has changed"),
        ({"answer": "Yes"}, 400, "The form was not sent as it was made."),
        ({"invitation_code": "x"}, 400, "The form was not sent as it was made."),
    ],
)
def test_forms_that_nobody_made_are_refused(
    web: FlaskClient, data: Path, fields: dict[str, str], status: int, told: str
) -> None:
    reply = send(web, FITTING | fields)
    assert reply.status_code == status
    assert told in reply.text
    assert reply.mimetype == "text/html"
    assert rows(data) == []


def test_other_ways_to_send_are_refused(web: FlaskClient, data: Path) -> None:
    form = opened(web).chosen | FITTING
    kinds = ("application/json", "multipart/form-data; boundary=x", "text/plain", "")
    for kind in kinds:
        assert web.post(URL, data=urlencode(form), content_type=kind).status_code == 415
    assert post(web, [*form.items(), ("fare", "0")]).status_code == 400
    assert post(web, urlencode(form) + "&x=" + "y" * 16 * 1024).status_code == 413
    assert post(web, b"").status_code == 409
    assert rows(data) == []


@pytest.mark.parametrize(
    ("changed", "responses"),
    [
        ({}, (0, 12, 5, 1, 9, 2)),
        ({"income": ""}, (0, 1001, 5, 1, 9, 2)),
        ({"income": "10000"}, (0, 1000, 5, 1, 9, 2)),
        ({"sports.0": "0", "sports.2": "1"}, (0, 12, 5, 4, 9, 2)),
        (
            {"member": "1", "fee": "", "sports.0": "2", "sports.1": "2", "sports.2": "2"},
            (1, 12, 1001, 8, 9, 2),
        ),
    ],
)
def test_plain_questions_of_every_kind(
    web: FlaskClient, data: Path, changed: dict[str, str], responses: tuple[int, ...]
) -> None:
    reply = send(web, KINDS_FITTING | changed, "/s/kinds/own-coin")
    assert reply.status_code == 201
    assert [row[1:] for row in rows(data, survey=KINDS)] == [responses]


@pytest.mark.parametrize(
    ("changed", "question", "told"),
    [
        ({"income": "10001"}, "income", "A number from 0 to 10000."),
        ({"income": "much"}, "income", "A number from 0 to 10000."),
        ({"fee": ""}, "fee", "Nothing is entered here."),
        ({"member": "1", "sports.0": "2", "sports.1": "2", "sports.2": "2"}, "fee", "not for you"),
        ({"sports.1": "2"}, "sports", "for all of these or for none"),
        ({"sports.2": "1"}, "sports", "“Prefer not to say” goes with no other choice."),
        ({"member": "", "fee": ""}, "member", "Nothing is entered here."),
    ],
)
def test_plain_questions_that_do_not_fit(changed: dict[str, str], question: str, told: str) -> None:
    problems = own_form.read(KINDS, KINDS_FITTING | changed, "en").problems
    assert list(problems) == [question]
    assert told in problems[question]


def test_ticks_that_nobody_offers() -> None:
    with pytest.raises(InvalidReport, match="sports"):
        own_form.read(KINDS, KINDS_FITTING | {"sports.0": "3"}, "en")


# When it is not taken


@pytest.mark.parametrize(("state", "status"), [("paused", 503), ("closed", 410)])
def test_a_survey_that_takes_nothing(web: FlaskClient, data: Path, state: str, status: int) -> None:
    form = opened(web).chosen | FITTING
    Store(data).set_state(SURVEY.id, state)
    page, reply = web.get(URL), post(web, form)
    assert page.status_code == reply.status_code == status
    assert WORDS["en"][state] in page.text
    assert "<form" not in page.text
    assert WORDS["en"][state] in reply.text
    assert Form(reply.text).chosen == form
    assert rows(data) == []


def test_a_survey_that_has_not_opened_yet(data: Path) -> None:
    source = {"id": "v", "title": "V", "own-coin": True, "opens": "2999-01-01"}
    asked = [{"id": "q", "ask": "?", "kind": "yes-no", "coin": "1/2"}]
    web = create_app([Survey.parse(source | {"question": asked})], data).test_client()
    page = web.get("/s/v/own-coin")
    assert page.status_code == 410
    assert "The survey has not opened yet." in page.text


def test_invitations(web: FlaskClient, data: Path) -> None:
    Store(data).invite(SURVEY.id, ["token-1", "token-2"])
    missing = send(web, FITTING)
    assert missing.status_code == 400
    assert "The invitation code is missing." in missing.text
    wrong = post(web, Form(missing.text).chosen | {"invitation_code": "token-3"})
    assert wrong.status_code == 403
    assert "this code is none of its" in wrong.text
    again = Form(wrong.text).chosen
    assert again.items() >= (FITTING | {"invitation_code": "token-3"}).items()
    link = "https://collector.example/s/own-coin#token-1"
    right = post(web, again | {"invitation_code": link})
    assert right.status_code == 201
    assert "token-1" not in right.text
    assert post(web, again | {"invitation_code": "token-1"}).status_code == 201
    spent = send(web, FITTING | {"invitation_code": " token-1 "})
    assert spent.status_code == 403
    assert "This invitation has been used already." in spent.text
    assert len(rows(data)) == 1
    assert Store(data).invitations(SURVEY.id) == (2, 1)


def test_a_locked_database_keeps_what_was_entered(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    web = create_app([SURVEY], data).test_client()
    form = opened(web).chosen | FITTING
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda path, timeout=0: connect(path, timeout=0.05))
    lock = connect(data, isolation_level=None)
    lock.execute("BEGIN IMMEDIATE")
    reply = post(web, form)
    lock.execute("ROLLBACK")
    lock.close()
    assert reply.status_code == 503
    assert "It could not be stored. Please send the form again." in reply.text
    assert Form(reply.text).chosen == form
    assert post(web, form).status_code == 201


def test_a_database_that_cannot_be_read(web: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(path: object, timeout: float = 0) -> None:
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr(sqlite3, "connect", broken)
    page = web.get(URL)
    assert page.status_code == 503
    assert "It could not be stored." in page.text
    assert "disk" not in page.text


def test_odds_published_by_hand_that_cannot_be_thrown(data: Path) -> None:
    document = json.loads(SURVEY.publish())
    document["questions"] = document["questions"][4:5]
    document["questions"][0]["law"] = {"law": "k-ary", "answers": 2, "truth": 4, "other": 1}
    survey = Survey.from_published(canonical(document))
    page = create_app([survey], data).test_client().get(URL)
    assert page.status_code == 404
    assert "coins and dice cannot draw" in page.text


# In a browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=needs("chromium"), args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The address of a server and the file that it keeps reports in."""
    folder = tmp_path_factory.mktemp("served")
    kinds = folder / "kinds.json"
    kinds.write_bytes(KINDS.publish())
    data = folder / "reports.db"
    with serving([EXAMPLES / "own-coin.toml", kinds], data) as server:
        yield server.url, data


@pytest.fixture
def site(served: tuple[str, Path]) -> str:
    return served[0]


def fill(page: Page, responses: dict[str, str]) -> None:
    for name, value in responses.items():
        one = page.locator(f'[name="{name}"]').first
        if one.get_attribute("type") == "radio":
            page.check(f'input[name="{name}"][value="{value}"]')
        elif one.get_attribute("type") == "number":
            one.fill(value)
        else:
            one.select_option(value=value)


@pytest.mark.parametrize(
    ("survey", "entered"), [(SURVEY, FITTING), (KINDS, KINDS_FITTING)], ids=["designs", "kinds"]
)
def test_without_any_script(
    browser: Browser, served: tuple[str, Path], survey: Survey, entered: dict[str, str]
) -> None:
    site, data = served
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    requests: list[Request] = []
    context.on("request", lambda request: requests.append(request))
    page.goto(f"{site}/s/{survey.id}/own-coin?lang=en")
    fill(page, entered)
    page.get_by_role("button", name="Send").click()
    page.get_by_role("heading", name="Stored", exact=True).wait_for()
    shown = page.locator("#report").inner_text()
    report = parse_report(survey, shown.encode())
    assert (report.key, *report.responses) in rows(data, survey=survey)
    assert rows(data, "device", survey) == []
    assert context.cookies() == []
    context.close()
    styles = [r for r in requests if r.url == f"{site}/static/page.css"]
    first, sent = (r for r in requests if r not in styles)
    assert (first.method, first.post_data) == ("GET", None)
    assert sent.method == "POST"
    assert sent.url == f"{site}/s/{survey.id}/own-coin?lang=en"
    fields = parse_qs(sent.post_data or "", keep_blank_values=True)
    assert fields == {
        name: [value]
        for name, value in ({"survey": survey.fingerprint, "key": report.key} | entered).items()
    }


def test_the_browser_stops_an_unfinished_form(browser: Browser, served: tuple[str, Path]) -> None:
    site, data = served
    before = len(rows(data))
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{site}{URL}?lang=en")
    fill(page, {name: value for name, value in FITTING.items() if name != "drug"})
    page.get_by_role("button", name="Send").click()
    page.check('input[name="drug"][value="0"]')
    page.get_by_role("button", name="Send").click()
    page.get_by_role("heading", name="Stored", exact=True).wait_for()
    context.close()
    assert len(rows(data)) == before + 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    ("url", "width"),
    [(f"{URL}?lang=en", 1280), (f"{URL}?lang=ar", 360), ("/s/kinds/own-coin", 360)],
)
def test_accessible_and_no_wider_than_the_screen(
    browser: Browser, site: str, url: str, width: int, scheme: Any
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page = context.new_page()
    page.goto(f"{site}{url}")
    entered = FITTING if URL in url else KINDS_FITTING

    def look() -> None:
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
        assert page.evaluate("document.documentElement.scrollWidth") <= width

    look()
    page.evaluate("document.forms[0].noValidate = true")
    page.locator("button").click()
    page.locator("[role=alert]").wait_for()
    look()
    fill(page, entered)
    page.locator("button").click()
    page.locator("#report").wait_for()
    look()
    context.close()


def test_on_paper(browser: Browser, site: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{site}{URL}?lang=en")
    page.emulate_media(media="print")
    for hidden in ("button", "nav", "select", "details"):
        assert not page.locator(hidden).first.is_visible()
    for visible in ("input[type=radio]", ".line", "legend", "table", ".throw"):
        assert page.locator(visible).first.is_visible()
    assert page.pdf().startswith(b"%PDF")
    context.close()
