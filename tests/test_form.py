"""The respondent's form in headless Chromium, against a real collector."""

from __future__ import annotations

import dataclasses
import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, Request, Route, expect

from collector import Store
from collector.serve import serving
from collector.words import LANGUAGES, interface_language, word
from respondent import Survey, parse_report

from .browsing import (
    FLAGS,
    PATIENCE,
    Site,
    answer,
    answer_all,
    begin,
    chromium,
    dump,
    forward,
    new_context,
    question,
    send,
    sent,
    site_of,
    stored,
)
from .support import EXAMPLES, ROOT, needs

expect.set_options(timeout=PATIENCE)

#: Without dates: the tests outlive the example.
CAMPUS = dataclasses.replace(Survey.load(EXAMPLES / "campus.toml"), opens=None, closes=None)

CAMPUS_ANSWERS: dict[str, object] = {
    "Which year are you in?": "1",
    "Have you found a room in a hall of residence yet?": "No",
    "Have you cheated in an exam this year?": "Yes",
    "Have you handed in someone else's work as your own?": "No",
    "Have you paid someone to write for you?": "No",
    "Which of these have you used most in the last month?": "Prefer not to say",
    "What worries you? Tick all that apply.": ["Money", "Family"],
    "How low have you felt in the last two weeks?": "4",
    "What is your monthly income?": "2,400",
    "How much do you owe?": "500",
    "How many hours a week do you work for money?": "12",
    "In which region were you born?": "Polynesia",
}

COIN = Survey.load(EXAMPLES / "coin.toml")
CHEATED = "Have you cheated in an exam this year?"

SMALL = Survey.parse(
    {
        "id": "small",
        "title": "Small",
        "question": [
            {"id": "a", "ask": "A?", "kind": "yes-no", "coin": "1/2"},
            {"id": "b", "ask": "B?", "kind": "yes-no", "coin": "1/2"},
            {
                "id": "c",
                "ask": "C?",
                "kind": "choice",
                "options": ["one", "a much longer option than that", "three"],
                "skip": True,
                "epsilon": 1,
            },
        ],
    }
)

#: Draws of all ones never fall on the truth here, and never have to be repeated.
SECRETIVE = Survey.parse(
    {
        "id": "secretive",
        "title": "Secretive",
        "question": [
            {
                "id": "place",
                "ask": "Where?",
                "kind": "list",
                "options": [
                    str(place) for place in Survey.load(EXAMPLES / "names.toml")["place"].options
                ],
                "odds": [16_384 - 9_999, 1],
            },
            {
                "id": "money",
                "page": "More",
                "ask": "How much?",
                "kind": "number",
                "range": [0, 26_214_400],
                "step": 100,
                "odds": [3, 1],
            },
            {"id": "did", "ask": "Did you?", "kind": "yes-no", "coin": "1/2"},
        ],
    }
)
PLACE, PLACE_TYPED, MONEY = "Eldidiwick", "eldidiwi", "24827400"
SECRETS = [PLACE, PLACE_TYPED, MONEY, MONEY.removesuffix("00")]
ALL_ONES = "crypto.getRandomValues = (array) => array.fill(255);"

HOSTILE = "<img src=x onerror=alert(1)>"
MARKUP = Survey.parse(
    {
        "id": "markup",
        "title": f"Title {HOSTILE}",
        "intro": f"Intro {HOSTILE}",
        "by": f"By {HOSTILE}",
        "consent": f"Consent {HOSTILE}",
        "question": [
            {
                "id": "q",
                "page": f"Page {HOSTILE}",
                "ask": f"Ask {HOSTILE}",
                "help": f"Help {HOSTILE}",
                "kind": "choice",
                "options": [f"One {HOSTILE}", "Two"],
                "epsilon": 1,
            },
            {
                "id": "l",
                "ask": f"List {HOSTILE}",
                "kind": "list",
                "options": [f"Here {HOSTILE}", "There"],
                "epsilon": 1,
            },
            {
                "id": "n",
                "ask": f"Number {HOSTILE}",
                "kind": "number",
                "range": [0, 10],
                "unit": f"Unit {HOSTILE}",
                "epsilon": 1,
            },
        ],
    }
)

ARABIC = Survey.parse(
    {
        "id": "arabic",
        "languages": ["ar"],
        "title": "الحياة الجامعية",
        "intro": "ستة أسئلة في دقيقتين.",
        "by": "مشروع بحث طلابي",
        "consent": "المشاركة طوعية.",
        "own-coin": False,
        "question": [
            {
                "id": "year",
                "ask": "في أي سنة تدرس؟",
                "kind": "choice",
                "options": ["الأولى", "الثانية"],
                "protect": False,
            },
            {"id": "did", "ask": "هل غششت في امتحان؟", "kind": "yes-no", "coin": "1/2"},
            {
                "id": "mood",
                "ask": "كم شعرت بالحزن؟",
                "kind": "scale",
                "range": [1, 7],
                "ends": ["أبدًا", "كثيرًا"],
                "epsilon": 1,
            },
            {
                "id": "money",
                "ask": "ما دخلك الشهري؟",
                "kind": "number",
                "range": [0, 10_000],
                "step": 100,
                "unit": "درهم",
                "epsilon": 1,
            },
            {
                "id": "place",
                "ask": "أين ولدت؟",
                "kind": "list",
                "options": ["القاهرة", "الرباط", "تونس", "بغداد"],
                "skip": True,
                "epsilon": 1,
            },
            {
                "id": "worries",
                "ask": "ما الذي يقلقك؟",
                "kind": "choices",
                "options": ["المال", "الصحة"],
                "skip": True,
                "epsilon": 1,
            },
        ],
    }
)
ARABIC_ANSWERS: dict[str, object] = {
    "في أي سنة تدرس؟": "الأولى",
    "هل غششت في امتحان؟": "لا",
    "كم شعرت بالحزن؟": "3",
    "ما دخلك الشهري؟": "٢٤٠٠",
    "أين ولدت؟": "الرباط",
    "ما الذي يقلقك؟": ["المال"],
}

LONG = Survey.parse(
    {
        "id": "long",
        "title": "Long",
        "question": [
            {
                "id": "entry",
                "ask": "Which entry?",
                "kind": "list",
                "options": [f"Entry {number:06}" for number in range(100_000)],
                "epsilon": 1,
            }
        ],
    }
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    context = new_context(browser)
    yield context
    context.close()


@pytest.fixture
def page(context: BrowserContext) -> Page:
    return context.new_page()


@pytest.fixture(scope="module")
def shared() -> Iterator[Site]:
    """A collector for tests that count nothing."""
    with site_of([CAMPUS, COIN, SMALL, MARKUP, ARABIC]) as site:
        yield site


@pytest.fixture
def site() -> Iterator[Site]:
    """A collector of the test's own."""
    with site_of([CAMPUS, COIN, SMALL, SECRETIVE]) as site:
        yield site


def open_coin(page: Page, site: Site, fragment: str = "") -> None:
    page.goto(f"{site.url}/s/coin{fragment}")


def take_coin(page: Page, site: Site, fragment: str = "") -> str:
    """One person, one question, one report."""
    open_coin(page, site, fragment)
    begin(page)
    answer_all(page, {CHEATED: "Yes"})
    return send(page)


def one_report(site: Site, survey: Survey = COIN) -> bytes:
    """The one body that was ever sent; it is the one row."""
    (body,) = set(site.bodies())
    report = parse_report(survey, body)
    assert site.rows(survey) == [(report.key, *report.responses)]
    return body


# 1. From welcome to receipt


def test_every_kind_of_question_from_welcome_to_receipt(page: Page, site: Site) -> None:
    page.goto(f"{site.url}/s/{CAMPUS.id}")
    begin(page)
    answer_all(page, CAMPUS_ANSWERS)
    receipt = send(page)
    (body,) = site.bodies()
    assert receipt.encode() == body
    report = parse_report(CAMPUS, body)
    assert site.rows(CAMPUS) == [(report.key, *report.responses)]
    # Plain answers arrive as they are: first year, no room.
    assert report.responses[:2] == (0, 1)
    with page.expect_download() as download:
        page.get_by_role("button", name="Save the receipt").click()
    assert download.value.path().read_bytes() == body + b"\n"
    assert page.locator(".receipt tbody tr").count() == len(CAMPUS.questions)


def test_the_receipt_says_what_each_number_means(page: Page, shared: Site) -> None:
    page.goto(f"{shared.url}/s/{CAMPUS.id}")
    said = page.evaluate(
        """async ([published, responses]) => {
          const { parseSurvey } = await import("/respondent/respondent.js");
          const { meaning } = await import("/static/receipt.js");
          const survey = parseSurvey(published);
          return responses.map(([id, response]) => meaning(survey.question(id), response));
        }""",
        [
            CAMPUS.publish().decode(),
            [
                ("year", 3),
                ("hall", 2),
                ("cheated", 1),
                ("ghostwriter", 0),
                ("drug", 4),
                ("worries", 2),
                ("worries", 3),
                ("mood", 6),
                ("income", 1),
                ("debt", 0),
                ("hours", 40),
                ("country", 0),
            ],
        ],
    )
    assert said == [
        "4+",
        "Not asked",
        "No",
        "Both or neither",
        "Prefer not to say",
        "“Exams” is not ticked",
        "“Exams” is ticked",
        "7",
        "High",
        "-5,000 €",
        "40",
        "This set of answers: Africa, Eastern · Africa, Middle · Africa, Northern · "
        "Africa, Southern · Africa, Western · America, Caribbean",
    ]


def test_questions_come_and_go_with_plain_answers(page: Page, shared: Site) -> None:
    page.goto(f"{shared.url}/s/{CAMPUS.id}")
    begin(page)
    hall = "Have you found a room"
    expect(question(page, hall)).to_have_count(0)
    answer(page, "Which year", "1")
    expect(question(page, hall)).to_have_count(1)
    answer(page, hall, "Yes")
    answer(page, "Which year", "2")
    expect(question(page, hall)).to_have_count(0)
    forward(page)
    expect(page.get_by_role("heading", name="Exams")).to_be_focused()


def test_what_is_missing_is_said_on_the_page(page: Page, shared: Site) -> None:
    page.goto(f"{shared.url}/s/{CAMPUS.id}")
    begin(page)
    forward(page)
    expect(page.locator(".problem:visible")).to_have_text("Please choose an answer.")
    expect(page.get_by_role("radio").first).to_be_focused()
    answer(page, "Which year", "2")
    expect(page.locator(".problem:visible")).to_have_count(0)


@pytest.mark.parametrize(
    ("typed", "counts"),
    [
        ("-1", None),
        ("20001", None),
        ("much", None),
        ("", None),
        ("2,400", "Counts as 2,500 €"),
        ("249.99", "Counts as 0 €"),
        ("250", "Counts as 500 €"),
        ("٥٠٠", "Counts as 500 €"),
        ("500", ""),
    ],
)
def test_numbers(numbers: Page, typed: str, counts: str | None) -> None:
    debt = question(numbers, "How much do you owe?")
    debt.locator("input").fill(typed)
    debt.locator("input").blur()
    forward(numbers)
    if counts is None:
        expect(debt.locator(".problem")).to_have_text("Please type a number from 0 € to 20,000 €.")
        expect(debt.locator("input")).to_be_focused()
        expect(debt.locator("input")).to_have_attribute("aria-invalid", "true")
    else:
        expect(debt.locator(".problem")).to_be_hidden()
        expect(debt.get_by_role("status")).to_have_text(counts)


@pytest.fixture(scope="module")
def numbers(browser: Browser, shared: Site) -> Iterator[Page]:
    """The campus form at its page of numbers, one of them answered last."""
    context = new_context(browser)
    page = context.new_page()
    page.goto(f"{shared.url}/s/{CAMPUS.id}")
    begin(page)
    answers = CAMPUS_ANSWERS | {"How much do you owe?": "", "How many hours a week": ""}
    while page.get_by_role("heading", name="Money").count() == 0:
        for ask in page.locator("fieldset:visible legend").all_inner_texts():
            answer(page, ask, answers[ask])
        forward(page)
    answer(page, "What is your monthly income?", "2400")
    yield page
    context.close()


@pytest.mark.parametrize(
    ("language", "typed", "number"),
    [
        ("en", "2,400", "2400"),
        ("en", "2,400.5", "2400.5"),
        ("en", "1,234,567", "1234567"),
        ("en", "12,5", "12,5"),
        ("de", "2.400", "2400"),
        ("de", "2.400,5", "2400.5"),
        ("de", "2,5", "2.5"),
        ("de", "2.5", "2.5"),
        ("fr", "2\u202f400,5", "2400.5"),
        ("es", "12.345", "12345"),
        ("ar", "٢٬٤٠٠٫٥", "٢٤٠٠.٥"),
        ("en", "−3", "-3"),
    ],
)
def test_numbers_as_people_write_them(
    numbers: Page, language: str, typed: str, number: str
) -> None:
    found = numbers.evaluate(
        """async ([typed, language]) => {
          const { readNumber } = await import("/static/numbers.js");
          return readNumber(typed, language);
        }""",
        [typed, language],
    )
    assert found == number


def test_prefer_not_to_say_goes_alone(page: Page, shared: Site) -> None:
    page.goto(f"{shared.url}/s/arabic")
    begin(page)
    worries = question(page, "ما الذي يقلقك؟")
    money, skip = worries.get_by_role("checkbox").first, worries.get_by_role("checkbox").last
    money.check()
    skip.check()
    expect(money).not_to_be_checked()
    money.check()
    expect(skip).not_to_be_checked()
    place = question(page, "أين ولدت؟")
    answer(page, "أين ولدت؟", "تونس")
    place.get_by_role("checkbox").check()
    expect(place.get_by_role("combobox")).to_have_value("")
    answer(page, "أين ولدت؟", "تونس")
    expect(place.get_by_role("checkbox")).not_to_be_checked()


def test_searching_in_a_hundred_thousand_entries(page: Page) -> None:
    with site_of([LONG]) as site:
        page.goto(f"{site.url}/s/long")
        begin(page)
        search = page.get_by_role("combobox")
        search.focus()
        took = search.evaluate(
            """(input) => ["", "e", "entry 0", "entry 09", "99999"].map((text) => {
              input.value = text;
              const start = performance.now();
              input.dispatchEvent(new Event("input"));
              return performance.now() - start;
            })"""
        )
        # The first search prepares the list; each later one takes some 20 ms.
        assert max(took[1:]) < 300
        expect(page.get_by_role("option")).to_have_text(["Entry 099999"])
        search.fill("entry 00")
        expect(page.get_by_role("option")).to_have_count(50)
        expect(page.locator(".combobox [role=status]")).to_contain_text("50 of 10000")
        search.fill("ENTRY 000731")
        search.press("Enter")
        forward(page)
        forward(page)
        said = page.locator(".receipt tbody td").first.inner_text()
        assert said.startswith("Pattern ")
        response = parse_report(LONG, sent(page).encode()).responses[0]
        law: Any = LONG["entry"].law
        named = [int(found) for found in re.findall(r"Entry (\d+)", said)]
        assert len(named) == 5
        assert all(law.weight(entry, response) == law.inside for entry in named)


# 2. No leak


def leaks(found: str) -> list[str]:
    return [secret for secret in SECRETS if secret in found]


def fill_secrets(page: Page) -> None:
    field = question(page, "Where?").get_by_role("combobox")
    field.fill(PLACE_TYPED)
    field.press("ArrowDown")
    field.press("Enter")
    expect(field).to_have_value(PLACE)
    forward(page)
    answer(page, "How much?", MONEY)
    answer(page, "Did you?", "Yes")


def test_the_true_answer_leaks_nowhere(
    browser: Browser, site: Site, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    requests: list[Request] = []
    said: list[str] = []
    context = browser.browser_type.launch_persistent_context(
        tmp_path / "profile", executable_path=needs("chromium"), args=FLAGS, reduced_motion="reduce"
    )
    context.add_init_script(ALL_ONES)
    page = context.new_page()
    page.on("console", lambda message: said.append(message.text))
    page.on("request", lambda request: requests.append(request))
    page.goto(f"{site.url}/s/secretive")
    begin(page)
    fill_secrets(page)
    assert not leaks(stored(page))
    forward(page)
    send(page)
    assert not leaks(stored(page))
    assert not leaks(page.content())
    said += [f"{sent.url} {sent.all_headers()} {sent.post_data}" for sent in requests]
    context.close()
    assert len(requests) >= len(site.seen) > 10
    assert not leaks("\n".join([*said, caplog.text, dump(site.data)]))
    assert not [seen for seen in site.seen for secret in SECRETS if secret in seen]
    # The draws were all lies: the last other place, "low", and "No".
    assert parse_report(SECRETIVE, one_report(site, SECRETIVE)).responses == (9_999, 0, 1)
    files = [site.data, *site.data.parent.glob("*-wal"), *site.data.parent.glob("*-shm")]
    typed = [PLACE_TYPED, MONEY]
    assert not [f for f in files for s in typed if s.encode() in f.read_bytes()]
    profile = [path for path in (tmp_path / "profile").rglob("*") if path.is_file()]
    assert len(profile) > 20
    for path, secret in itertools.product(profile, [PLACE, *typed]):
        data = path.read_bytes()
        assert secret.encode() not in data, path
        assert secret.encode("utf-16-le") not in data, path


def test_a_script_error_half_way_sends_and_keeps_nothing(page: Page, site: Site) -> None:
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(f"{error} {error.stack}"))

    def broken(route: Route) -> None:
        source = route.fetch().text()
        opening = "function questionPage(number) {"
        assert source.count(opening) == 1
        throw = f'{opening}\n  if (number === 1) throw new Error("injected");'
        route.fulfill(body=source.replace(opening, throw), content_type="text/javascript")

    page.route("**/static/form.js", broken)
    page.goto(f"{site.url}/s/secretive")
    begin(page)
    field = question(page, "Where?").get_by_role("combobox")
    field.fill(PLACE)
    forward(page)
    expect(page.get_by_role("alert")).to_contain_text("Nothing was sent")
    assert "injected" in "\n".join(said)
    assert not leaks("\n".join([*said, stored(page), page.content()]))
    assert page.evaluate("indexedDB.databases().then((found) => found.length)") <= 1
    assert "reports" not in stored(page)
    assert site.bodies() == []
    assert not [seen for seen in site.seen for secret in SECRETS if secret in seen]


def test_without_javascript_nothing_can_be_sent(browser: Browser, site: Site) -> None:
    # Not Playwright's own switch, under which <noscript> stays unseen.
    scriptless = browser.browser_type.launch(
        executable_path=needs("chromium"), args=[*FLAGS, "--blink-settings=scriptEnabled=false"]
    )
    page = scriptless.new_page()
    open_coin(page, site)
    expect(page.locator("noscript .notice")).to_be_visible()
    expect(page.locator("noscript .notice")).to_contain_text("needs JavaScript")
    expect(page.get_by_role("link", name="Use your own coin or dice instead")).to_be_visible()
    assert page.locator("button:visible, input, form, select, textarea").count() == 0
    assert {seen.method for seen in site.seen} == {"GET"}
    scriptless.close()


def test_inputs_have_no_names_and_there_is_no_form(page: Page, shared: Site) -> None:
    page.goto(f"{shared.url}/s/arabic")
    begin(page)
    inputs = page.locator("input")
    assert inputs.count() > 10
    assert page.locator("form, input[name], input[value]").count() == 0
    assert page.locator("input:not([autocomplete=off])").count() == 0


def test_leaving_forgets(page: Page, shared: Site) -> None:
    open_coin(page, shared)
    begin(page)
    answer(page, CHEATED, "Yes")
    page.evaluate("dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))")
    expect(page.locator("#begin")).to_be_visible()
    assert page.locator("input").count() == 0
    begin(page)
    expect(page.get_by_role("radio", checked=True)).to_have_count(0)
    answer(page, CHEATED, "Yes")
    page.get_by_role("button", name="Stop and forget").click()
    expect(page.locator("#begin")).to_be_visible()
    assert page.locator("input").count() == 0


# 3. Equal lengths


def test_requests_are_equally_long_for_all_answers(page: Page, site: Site) -> None:
    page.goto(f"{site.url}/s/small")
    yes_no, options = ["Yes", "No"], [*map(str, SMALL["c"].options[:-1]), None]
    combinations = [
        {"a": a, "b": b, "c": c} for a, b, c in itertools.product(yes_no, yes_no, options)
    ]
    told = page.evaluate(
        """async ([published, combinations, url]) => {
          const { browserStore, parseSurvey, sealReport } =
            await import("/respondent/respondent.js");
          const { outbox } = await import("/static/outbox.js");
          const survey = parseSurvey(published);
          const told = [];
          for (const [place, answers] of combinations.entries()) {
            const text = await sealReport(survey, answers, browserStore(`person ${place}`));
            const tell = (name) => told.push(name);
            await outbox({ url, text, retry: false, arrived: async () => {}, tell }).send();
          }
          return told;
        }""",
        [SMALL.publish().decode(), combinations, "/s/small/reports"],
    )
    assert told == ["sending", "sent"] * 16
    posts = [seen for seen in site.seen if seen.method == "POST"]
    assert len({seen.body for seen in posts}) == 16
    lengths = {
        (len(seen.body), sum(len(f"{k}{v}") for k, v in seen.headers.items())) for seen in posts
    }
    assert len(lengths) == 1


# 4. One draw


def test_reload_back_double_click_and_a_second_visit(page: Page, site: Site) -> None:
    open_coin(page, site)
    begin(page)
    answer_all(page, {CHEATED: "Yes"})
    # Faster than any finger: both reach the button before anything else happens.
    page.locator("nav .forward").evaluate("(button) => { button.click(); button.click(); }")
    receipt = sent(page)
    page.go_back()
    page.go_back()
    assert sent(page) == receipt
    assert page.locator("input, progress").count() == 0
    page.reload()
    assert sent(page) == receipt
    page.goto("about:blank")
    page.go_back()
    assert sent(page) == receipt
    open_coin(page, site)
    assert sent(page) == receipt
    assert one_report(site).decode() == receipt
    assert len(site.bodies()) == 1


def test_back_and_forward_within_the_form_lose_nothing(page: Page, site: Site) -> None:
    page.goto(f"{site.url}/s/{CAMPUS.id}")
    begin(page)
    answer(page, "Which year", "2")
    forward(page)
    answer(page, CHEATED, "Yes")
    page.go_back()
    expect(question(page, "Which year").get_by_label("2")).to_be_checked()
    page.go_forward()
    expect(question(page, CHEATED).get_by_label("Yes")).to_be_checked()
    page.get_by_role("button", name="Back").click()
    # A new question on an earlier page: the way forward leads to it first.
    answer(page, "Which year", "1")
    page.go_forward()
    expect(question(page, "Have you found a room")).to_be_visible()
    page.reload()
    expect(page.locator("#begin")).to_be_visible()
    page.go_back()
    expect(page.locator("#begin")).to_be_visible()
    assert site.bodies() == []


def test_two_tabs_make_one_report(context: BrowserContext, site: Site) -> None:
    tabs = [context.new_page(), context.new_page()]
    for tab, said in zip(tabs, ["Yes", "No"], strict=True):
        tab.bring_to_front()
        open_coin(tab, site)
        begin(tab)
        answer_all(tab, {CHEATED: said})
    second = send(tabs[1])
    tabs[0].bring_to_front()
    assert send(tabs[0]) == second == one_report(site).decode()


def test_a_lost_reply(page: Page, site: Site) -> None:
    def lose(route: Route) -> None:
        route.fetch()
        route.abort()

    page.route("**/reports", lose, times=1)
    open_coin(page, site)
    begin(page)
    answer_all(page, {CHEATED: "Yes"})
    forward(page)
    page.locator("[data-status=waiting]").wait_for()
    assert site.rows(COIN) != []
    page.get_by_role("button", name="Try now").click()
    assert sent(page) == one_report(site).decode()
    assert len(site.bodies()) == 2


def test_offline_then_online(page: Page, context: BrowserContext, site: Site) -> None:
    # Without timers for another try: the browser's word that it is online must do.
    page.add_init_script("""
      const timer = setTimeout;
      setTimeout = (work, pause) => (pause < 500 ? timer(work, pause) : 0);
    """)
    open_coin(page, site)
    begin(page)
    answer_all(page, {CHEATED: "No"})
    context.set_offline(True)
    forward(page)
    page.locator("[data-status=waiting]").wait_for()
    expect(page.get_by_role("heading", name="Sealed, not sent yet")).to_be_visible()
    receipt = page.locator("#bytes").inner_text()
    context.set_offline(False)
    assert sent(page) == receipt == one_report(site).decode()


def test_a_collector_that_restarts(page: Page, tmp_path: Path) -> None:
    """Gone when the report is sent; it waits and arrives by itself."""
    files, data = [EXAMPLES / "coin.toml"], tmp_path / "reports.db"
    with serving(files, data) as server:
        page.goto(f"{server.url}/s/coin")
        begin(page)
        answer_all(page, {CHEATED: "No"})
    forward(page)
    page.locator("[data-status=waiting]").wait_for()
    receipt = page.locator("#bytes").inner_text()
    with serving(files, data, port=int(server.url.rpartition(":")[2])):
        assert sent(page) == receipt
    rows = list(Store(data).reports(COIN))
    assert [row[0] for row in rows] == [json.loads(receipt)["key"]]


def test_an_unsent_report_is_sent_on_the_next_visit(context: BrowserContext, site: Site) -> None:
    first = context.new_page()
    first.route("**/reports", lambda route: route.abort())
    open_coin(first, site)
    begin(first)
    answer_all(first, {CHEATED: "No"})
    forward(first)
    first.locator("[data-status=waiting]").wait_for()
    receipt = first.locator("#bytes").inner_text()
    first.close()
    second = context.new_page()
    open_coin(second, site)
    assert sent(second) == receipt == one_report(site).decode()


def test_a_damaged_sealed_report_is_not_replaced(page: Page, site: Site) -> None:
    open_coin(page, site)
    page.evaluate(
        """async (fingerprint) => {
          const { browserStore } = await import("/respondent/respondent.js");
          await browserStore().add(fingerprint, "{}");
        }""",
        COIN.fingerprint,
    )
    page.reload()
    expect(page.get_by_role("alert")).to_contain_text("damaged")
    expect(page.locator("#begin")).to_be_hidden()
    assert site.bodies() == []


def test_a_survey_that_is_not_the_page_s_is_refused(page: Page, site: Site) -> None:
    other = SMALL.publish().decode()
    page.route("**/survey.json", lambda route: route.fulfill(body=other))
    open_coin(page, site)
    expect(page.get_by_role("alert")).to_contain_text("not the one described here")
    expect(page.locator("#begin")).to_be_hidden()


def test_without_a_store_nothing_is_drawn(page: Page, site: Site) -> None:
    page.add_init_script("Object.defineProperty(window, 'indexedDB', { value: null });")
    open_coin(page, site)
    expect(page.get_by_role("alert")).to_contain_text("nothing was sent")
    expect(page.locator("#begin")).to_be_hidden()
    assert site.bodies() == []


# Invitations, states, tests

TOKENS = ["aaaaaaaaaaaaaaaaaaaaaa", "BBBBBBBBBBB_BBBBBBBB-B"]


def test_an_invitation_goes_in_a_header_only(context: BrowserContext, site: Site) -> None:
    site.store.invite("coin", TOKENS)
    page = context.new_page()
    open_coin(page, site)
    expect(page.get_by_role("alert")).to_contain_text("by invitation")
    expect(page.locator("#begin")).to_be_hidden()
    page = context.new_page()
    take_coin(page, site, f"#{TOKENS[0]}")
    one_report(site)
    assert TOKENS[0] not in stored(page).replace(page.url, "")
    (post,) = [seen for seen in site.seen if seen.method == "POST"]
    assert post.headers["HTTP_DENIABLE_INVITATION"] == TOKENS[0]
    others = [seen for seen in site.seen if seen is not post]
    assert not [seen for seen in others if TOKENS[0] in seen]
    assert site.store.invitations("coin") == (2, 1)


def test_a_lost_reply_does_not_lose_an_invited_report(page: Page, site: Site) -> None:
    site.store.invite("coin", TOKENS)

    def lose(route: Route) -> None:
        route.fetch()
        route.abort()

    page.route("**/reports", lose, times=1)
    open_coin(page, site, f"#{TOKENS[1]}")
    begin(page)
    answer_all(page, {CHEATED: "Yes"})
    forward(page)
    page.locator("[data-status=waiting]").wait_for()
    # The next visit may lack the token: it is kept with the sealed report until that arrives.
    page.goto("about:blank")
    open_coin(page, site)
    assert sent(page) == one_report(site).decode()
    assert TOKENS[1] not in stored(page)


def test_a_wrong_invitation_and_then_the_right_one(page: Page, site: Site) -> None:
    site.store.invite("coin", TOKENS)
    open_coin(page, site, "#cccccccccccccccccccccc")
    begin(page)
    answer_all(page, {CHEATED: "Yes"})
    forward(page)
    page.locator("[data-status=uninvited]").wait_for()
    assert site.rows(COIN) == []
    page.goto("about:blank")
    open_coin(page, site, f"#{TOKENS[0]}")
    assert sent(page) == one_report(site).decode()


def test_paused_reports_wait_and_closed_surveys_have_no_form(page: Page, site: Site) -> None:
    site.store.set_state("coin", "paused")
    open_coin(page, site)
    expect(page.locator(".notice")).to_contain_text("paused")
    begin(page)
    answer_all(page, {CHEATED: "Yes"})
    forward(page)
    expect(page.locator("[data-status=waiting]")).to_contain_text("the survey is paused")
    receipt = page.locator("#bytes").inner_text()
    site.store.set_state("coin", "closed")
    page.reload()
    page.locator("[data-status=closed]").wait_for()
    assert page.locator("#bytes").inner_text() == receipt
    site.store.set_state("coin", "open")
    page.get_by_role("button", name="Try now").click()
    assert sent(page) == receipt == one_report(site).decode()


@pytest.mark.parametrize(
    ("dates", "notice"),
    [
        ({"closes": "2020-01-01"}, "closed"),
        ({"opens": "9999-01-01"}, "opens on 9999-01-01"),
    ],
)
def test_not_open(page: Page, dates: dict[str, str], notice: str) -> None:
    with site_of([dataclasses.replace(COIN, **dates)]) as site:
        open_coin(page, site)
        expect(page.locator(".notice")).to_contain_text(notice)
        page.wait_for_load_state("networkidle")
        expect(page.locator("#begin")).to_be_hidden()


def test_tests_are_never_counted_and_can_be_repeated(page: Page, site: Site) -> None:
    receipts = []
    site.store.invite("coin", TOKENS)
    page.goto(f"{site.url}/s/coin/test")
    for _ in range(2):
        expect(page.locator(".notice.warn")).to_contain_text("never counted")
        begin(page)
        answer_all(page, {CHEATED: "Yes"})
        receipts.append(send(page))
        page.get_by_role("button", name="Start another test").click()
        expect(page.locator("#begin")).to_be_visible()
    assert len(set(receipts)) == 2 == len(site.rows(COIN, "test"))
    assert site.rows(COIN) == []
    assert site.bodies("/s/coin/reports") == []
    real = take_coin(page, site, f"#{TOKENS[0]}")
    assert site.bodies("/s/coin/reports") == [real.encode()]
    assert page.get_by_role("button", name="Start another test").count() == 0


# Practice


@pytest.mark.parametrize(
    ("byte", "would_send", "meaning"),
    [(0, "Yes", "That is your answer."), (255, "No", "That is not your answer")],
)
def test_the_practice_draws_with_the_odds_and_touches_nothing(
    page: Page, site: Site, byte: int, would_send: str, meaning: str
) -> None:
    page.add_init_script(f"crypto.getRandomValues = (array) => array.fill({byte});")
    open_coin(page, site)
    page.locator("#begin").click()
    before = len(site.seen)
    expect(page.get_by_text("The wheel has the odds")).to_be_hidden()
    page.get_by_label("Yes").check()
    expect(page.get_by_text("The wheel has the odds")).to_contain_text(CHEATED)
    expect(page.get_by_role("img")).to_have_accessible_name(
        "Wheel of chance. Yes: 75 of 100 · No: 25 of 100."
    )
    # Three quarters, clockwise from the top to nine o'clock, and the last one.
    assert page.locator(".sector").evaluate_all(
        "(all) => all.map((one) => one.getAttribute('d'))"
    ) == [
        "M0 0 L0.000 -100.000 A100 100 0 1 1 -100.000 0.000 Z",
        "M0 0 L-100.000 0.000 A100 100 0 0 1 -0.000 -100.000 Z",
    ]
    page.get_by_role("button", name="Spin", exact=True).click()
    expect(page.get_by_role("status").filter(has_text="would send")).to_contain_text(would_send)
    expect(page.locator(".outcome")).to_contain_text(meaning)
    page.get_by_role("button", name="Spin again").click()
    expect(page.locator(".outcome")).to_contain_text("After 2 spins")
    page.get_by_role("button", name="Spin 100 times").click()
    expect(page.locator(".outcome")).to_contain_text(f"{would_send} 102×")
    assert len(site.seen) == before
    assert "reports" not in stored(page)


def test_the_needle_turns_to_where_the_draw_fell(browser: Browser, shared: Site) -> None:
    context = new_context(browser, reduced_motion="no-preference")
    context.add_init_script(ALL_ONES)
    page = context.new_page()
    open_coin(page, shared)
    page.locator("#begin").click()
    page.get_by_label("Yes").check()
    page.get_by_role("button", name="Spin", exact=True).click()
    expect(page.locator(".outcome")).to_be_empty()
    expect(page.locator(".outcome")).to_contain_text("would send: No")
    # Four whole turns, then the middle of the last of four parts.
    assert page.locator(".needle").evaluate("(one) => one.style.transform") == "rotate(1755deg)"
    context.close()


@pytest.mark.parametrize(
    ("asked", "odds", "legend"),
    [
        ({"kind": "number", "range": [0, 9], "epsilon": 1}, "coin flip, 3 to 1", "No: 75 of 100"),
        ({"kind": "yes-no", "crosswise": "1/4"}, "Q?", "Both or neither: 75 of 100"),
        ({"kind": "yes-no", "warner": "0.7"}, "Q?", "No: 70 of 100"),
        (
            {"kind": "choice", "options": list("abcde"), "coin": "1/2"},
            "Q?",
            "Another answer: 40 of 100",
        ),
    ],
)
def test_the_practice_has_the_survey_s_odds(
    page: Page, asked: dict[str, Any], odds: str, legend: str
) -> None:
    survey = Survey.parse(
        {"id": "coin", "title": "T", "question": [{"id": "q", "ask": "Q?"} | asked]}
    )
    with site_of([survey]) as site:
        open_coin(page, site)
        page.locator("#begin").click()
        page.get_by_label("No").check()
        expect(page.get_by_text("The wheel has the odds")).to_contain_text(odds)
        expect(page.locator(".legend")).to_contain_text(legend)
        page.get_by_role("button", name="Spin 100 times").click()
        expect(page.locator(".outcome")).to_contain_text("After 100 spins")


# 5. For everyone


def inspect(page: Page, where: str) -> None:
    """No accessibility problem, in light and dark, and no sideways scroll on a phone."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(Axe().axe_script)
    for scheme, rules in (("light", None), ("dark", ["color-contrast"])):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        options = {"runOnly": rules} if rules else {}
        found = page.evaluate("(options) => axe.run(options)", options)["violations"]
        told = [(problem["id"], [node["html"] for node in problem["nodes"]]) for problem in found]
        assert told == [], f"{where}, {scheme}"
    page.set_viewport_size({"width": 360, "height": 740})
    width, room = page.evaluate(
        "[document.scrollingElement.scrollWidth, document.scrollingElement.clientWidth]"
    )
    assert width <= room, where
    page.set_viewport_size({"width": 1280, "height": 720})


@pytest.mark.parametrize(
    ("survey", "answers"), [(CAMPUS, CAMPUS_ANSWERS), (ARABIC, ARABIC_ANSWERS)], ids=["en", "ar"]
)
def test_every_view_is_accessible(
    browser: Browser, shared: Site, survey: Survey, answers: dict[str, object]
) -> None:
    context = new_context(browser, bypass_csp=True)
    page = context.new_page()
    page.goto(f"{shared.url}/s/{survey.id}")
    page.locator("#begin").wait_for()
    for summary in page.locator("summary").all():
        summary.click()
    inspect(page, "welcome")
    page.locator("#begin").click()
    page.get_by_role("radio").first.check()
    page.locator(".spinner ~ .actions button").first.click()
    inspect(page, "practice")
    forward(page)
    forward(page)
    expect(page.locator(".problem:visible").first).to_be_visible()
    inspect(page, "problem")
    while page.locator("progress").count():
        for ask in page.locator("fieldset:visible legend").all_inner_texts():
            answer(page, ask, answers[ask])
        for summary in page.locator("summary:visible").all():
            summary.click()
        search = page.get_by_role("combobox")
        if search.count():
            search.click()
            expect(page.get_by_role("listbox")).to_be_visible()
        inspect(page, page.locator(".progress").inner_text())
        page.keyboard.press("Escape")
        forward(page)
    page.locator("summary:visible").click()
    inspect(page, "review")
    forward(page)
    sent(page)
    inspect(page, "receipt")
    assert page.locator("#bytes").evaluate("(bytes) => getComputedStyle(bytes).direction") == "ltr"
    context.close()


@pytest.mark.parametrize("state", ["paused", "closed"])
def test_notices_are_accessible(browser: Browser, site: Site, state: str) -> None:
    site.store.set_state("coin", state)
    context = new_context(browser, bypass_csp=True)
    page = context.new_page()
    open_coin(page, site)
    page.wait_for_load_state("networkidle")
    inspect(page, state)
    if state == "paused":
        begin(page)
        answer_all(page, {CHEATED: "Yes"})
        forward(page)
        page.locator("[data-status=waiting]").wait_for()
        inspect(page, "waiting")
        page.goto(f"{site.url}/s/coin/test")
        page.locator("#begin").wait_for()
        inspect(page, "test")
    context.close()


def tab_to(page: Page, selector: str) -> None:
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("(selector) => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"no Tab leads to {selector}")


def test_the_whole_form_by_keyboard(page: Page, site: Site) -> None:
    page.goto(f"{site.url}/s/{CAMPUS.id}")
    page.locator("#begin").wait_for()
    keys = page.keyboard
    tab_to(page, "#begin")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    keys.press("Enter")
    tab_to(page, "input[type=radio]")
    keys.press("Space")
    tab_to(page, ".actions button")
    keys.press("Enter")
    expect(page.locator(".outcome")).to_contain_text("would send")
    tab_to(page, "nav .forward")
    keys.press("Enter")
    while page.locator("progress").count():
        by_keyboard(page)
        tab_to(page, "nav .forward")
        keys.press("Enter")
    tab_to(page, "nav .forward")
    keys.press("Space")
    sent(page)
    responses = parse_report(CAMPUS, one_report(site, CAMPUS)).responses
    # Plain: the arrow went from the first year to the second, which has no question on halls.
    assert responses[:2] == (1, 2)


def by_keyboard(page: Page) -> None:
    keys = page.keyboard
    for field in page.locator("fieldset:visible").all():
        if field.get_by_role("combobox").count():
            tab_to(page, "[role=combobox]")
            keys.type("polyn")
            keys.press("ArrowDown")
            keys.press("Enter")
            expect(field.get_by_role("combobox")).to_have_value("Polynesia")
        elif field.locator("input[type=text]").count():
            tab_to(page, "input[type=text]")
            keys.type("20")
        elif field.get_by_role("checkbox").count():
            tab_to(page, "input[type=checkbox]")
            keys.press("Space")
            expect(field.get_by_role("checkbox").first).to_be_checked()
        else:
            tab_to(page, "input[type=radio]")
            keys.press("ArrowDown")
            expect(field.get_by_role("radio").nth(1)).to_be_checked()
            expect(field.get_by_role("radio").nth(1)).to_be_focused()


def test_paper_shows_the_odds_and_no_buttons(page: Page, shared: Site) -> None:
    open_coin(page, shared)
    page.locator("#begin").wait_for()
    page.emulate_media(media="print")
    expect(page.locator("#begin")).to_be_hidden()
    assert page.locator(".odds li p").first.evaluate(
        "(odds) => odds.checkVisibility({ contentVisibilityAuto: true }) && odds.offsetHeight > 0"
    )


# 6. Texts are texts


def test_markup_in_a_survey_is_shown_as_text(page: Page, shared: Site) -> None:
    dialogs: list[str] = []
    page.on("dialog", lambda dialog: dialogs.append(dialog.message))
    page.goto(f"{shared.url}/s/markup")
    page.locator("#begin").wait_for()
    for part in ("Title", "Intro", "By", "Consent", "Ask"):
        assert (
            f"{part} {HOSTILE}" in page.locator("main").inner_text()
            or page.get_by_text(f"{part} {HOSTILE}").count()
        )
    begin(page)
    for part in ("Page", "Ask", "Help", "One", "List", "Number", "Unit"):
        expect(page.locator("#stage").get_by_text(f"{part} {HOSTILE}").first).to_be_visible()
    answer_all(
        page,
        {
            f"Ask {HOSTILE}": f"One {HOSTILE}",
            f"List {HOSTILE}": f"Here {HOSTILE}",
            f"Number {HOSTILE}": "3",
        },
    )
    send(page)
    assert page.locator("img").count() == 0
    assert dialogs == []


# 8. Languages


def test_words_have_the_same_names_and_places_in_all_languages() -> None:
    assert set(word.all) == set(LANGUAGES)
    english = word.all["en"]
    for language in LANGUAGES:
        words = word.all[language]
        assert list(words) == list(english), language
        for name, text in words.items():
            assert text.strip(), (language, name)
            places = re.findall(r"\{\w+\}", text)
            assert sorted(places) == sorted(re.findall(r"\{\w+\}", english[name])), (language, name)


def test_every_word_is_used_and_every_used_word_is_there() -> None:
    """Names that are put together, such as then-draw, are listed here."""
    static = [path for path in (ROOT / "collector/static").glob("*.js") if path.name != "words.js"]
    sources = [*static, ROOT / "collector/templates/form.html"]
    text = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    made = {f"then-{name}" for name in ("draw", "seal", "send", "deliver", "forget")}
    made |= {f"receipt-{name}" for name in ("question", "response", "number")}
    made |= {f"{name}-{much}" for name in ("sees", "leak") for much in ("all", "some", "none")}
    made |= {name for name in word.all["en"] if name.startswith("status-")}
    quoted = set(re.findall(r"[\"']([a-z]+(?:-[a-z]+)*)[\"']", text))
    assert set(word.all["en"]) - made - quoted == set()
    used = set(re.findall(r"""\b(?:w|Trouble)\(["']([a-z]+(?:-[a-z]+)*)["']""", text))
    assert len(used) > 80
    assert used - set(word.all["en"]) == set()


@pytest.mark.parametrize(
    ("language", "interface"), [("de", "de"), ("de-AT", "de"), ("nl", "en"), ("ar", "ar")]
)
def test_the_page_speaks_the_nearest_language(language: str, interface: str) -> None:
    assert interface_language(language) == interface


def test_the_language_switch(browser: Browser, shared: Site) -> None:
    context = new_context(browser, locale="de-DE")
    page = context.new_page()
    page.goto(f"{shared.url}/s/{CAMPUS.id}#{TOKENS[0]}")
    expect(page.get_by_role("heading", level=1)).to_have_text("Leben auf dem Campus")
    expect(page.locator("html")).to_have_attribute("lang", "de")
    expect(page.locator("#begin")).to_have_text("Ich bin einverstanden, beginnen")
    page.get_by_role("link", name="en", exact=True).click()
    expect(page.locator("#begin")).to_have_text("I agree, begin")
    assert page.url.endswith(f"?lang=en#{TOKENS[0]}")
    assert context.cookies() == []
    context.close()


def test_arabic_is_mirrored(page: Page, shared: Site) -> None:
    page.goto(f"{shared.url}/s/arabic")
    expect(page.locator("html")).to_have_attribute("dir", "rtl")
    begin(page)
    first, last = (
        page.locator(".options.row .option").first,
        page.locator(".options.row .option").last,
    )
    boxes = first.bounding_box(), last.bounding_box()
    assert boxes[0] and boxes[1] and boxes[0]["x"] > boxes[1]["x"]
    mood = question(page, "كم شعرت بالحزن؟")
    mood.get_by_role("radio").first.check()
    page.keyboard.press("ArrowLeft")
    expect(mood.get_by_role("radio").nth(1)).to_be_checked()


def test_a_survey_in_another_language_says_so(page: Page) -> None:
    survey = Survey.parse(
        {
            "id": "coin",
            "languages": ["nl"],
            "title": "Titel",
            "question": [
                {
                    "id": "q",
                    "ask": "Vraag?",
                    "kind": "choice",
                    "options": ["Ja", "Nee"],
                    "coin": "1/2",
                }
            ],
        }
    )
    with site_of([survey]) as site:
        open_coin(page, site)
        expect(page.locator("html")).to_have_attribute("lang", "en")
        expect(page.locator("h1")).to_have_attribute("lang", "nl")
        begin(page)
        expect(page.locator("legend")).to_have_attribute("lang", "nl")
        answer_all(page, {"Vraag?": "Ja"})
        send(page)


def test_headers_and_modules(shared: Site, page: Page) -> None:
    reply = page.request.get(f"{shared.url}/s/coin")
    policy = reply.headers["content-security-policy"]
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    html = reply.text()
    assert not re.search(r"\sstyle=|\son\w+=|<script>|<style", html)
    assert page.request.get(f"{shared.url}/respondent/sample.js").status == 404
    module = page.request.get(f"{shared.url}/respondent/respondent.js")
    assert module.text() == (ROOT / "respondent/web/respondent.js").read_text("utf-8")
    assert module.headers["content-type"].startswith("text/javascript")
