"""What tests of pages need: Chromium, a collector that remembers, and hands that fill in."""

from __future__ import annotations

import io
import sqlite3
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Locator, Page, sync_playwright
from werkzeug.serving import make_server

from collector import Store, create_app
from respondent import Survey

from .support import needs

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run "
    "--disable-background-networking --disable-component-update --disable-sync"
).split()

#: Longer than anything takes on a busy machine; what is not there by then will not come.
PATIENCE = 15_000


@contextmanager
def chromium() -> Iterator[Browser]:
    executable = needs("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=FLAGS)
        yield browser
        browser.close()


@dataclass(frozen=True)
class Seen:
    """One request as it reached the collector."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    def __contains__(self, text: str) -> bool:
        return text in f"{self.method} {self.path} {self.headers}" or text.encode() in self.body


@dataclass
class Site:
    """A collector on loopback that remembers everything that reached it."""

    url: str
    data: Path
    seen: list[Seen] = field(default_factory=list)

    @property
    def store(self) -> Store:
        return Store(self.data)

    def bodies(self, path: str = "/reports") -> list[bytes]:
        """What was sent to this address, in order."""
        posts = [seen for seen in self.seen if seen.method == "POST"]
        return [seen.body for seen in posts if seen.path.endswith(path)]

    def rows(self, survey: Survey, arm: str = "device") -> list[tuple[str | int, ...]]:
        return list(self.store.reports(survey, arm))


@contextmanager
def site_of(surveys: Iterable[Survey]) -> Iterator[Site]:
    with tempfile.TemporaryDirectory() as folder:
        site = Site("", Path(folder) / "reports.db")
        app = create_app(surveys, site.data)
        app.wsgi_app = remembering(app.wsgi_app, site.seen)  # type: ignore[method-assign]
        server = make_server("127.0.0.1", 0, app, threaded=True)
        site.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield site
        server.shutdown()
        thread.join()
        server.server_close()


def remembering(app: Callable[..., Any], seen: list[Seen]) -> Callable[..., Any]:
    def wrapped(environ: dict[str, Any], start_response: Any) -> Any:
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        environ["wsgi.input"] = io.BytesIO(body)
        headers = {key: str(value) for key, value in environ.items() if key.startswith("HTTP_")}
        headers["QUERY_STRING"] = environ.get("QUERY_STRING", "")
        seen.append(Seen(environ["REQUEST_METHOD"], environ["PATH_INFO"], headers, body))
        return app(environ, start_response)

    return wrapped


def new_context(browser: Browser, **options: Any) -> BrowserContext:
    """A browser of one person's own: no storage but theirs, no motion to wait for."""
    settings = {"locale": "en-GB", "reduced_motion": "reduce"} | options
    context = browser.new_context(**settings)
    context.set_default_timeout(PATIENCE)
    return context


def forward(page: Page) -> None:
    page.locator("nav .forward").click()


def begin(page: Page) -> None:
    """From the welcome page past the practice to the first question."""
    page.locator("#begin").click()
    forward(page)


def question(page: Page, ask: str) -> Locator:
    return page.locator("fieldset:visible", has=page.locator("legend", has_text=ask))


def answer(page: Page, ask: str, value: object) -> None:
    """Answer as a person with a mouse does: a list ticks, a text chooses or is typed."""
    field = question(page, ask)
    search, typed = field.get_by_role("combobox"), field.locator("input[type=text]")
    if search.count():
        search.fill(str(value))
        field.get_by_role("option", name=str(value), exact=True).click()
    elif typed.count():
        typed.fill(str(value))
    else:
        for label in value if isinstance(value, list) else [value]:
            field.get_by_label(str(label), exact=True).check()


def answer_all(page: Page, answers: dict[str, object]) -> None:
    """Go through the pages, answering whatever is asked, up to the review."""
    while page.locator("progress").count():
        for ask in page.locator("fieldset:visible legend").all_inner_texts():
            answer(page, ask, answers[ask])
        forward(page)


def send(page: Page) -> str:
    """Draw, seal and send from the review; the receipt's text once the report is stored."""
    forward(page)
    return sent(page)


def sent(page: Page) -> str:
    page.locator("[data-status=sent]").wait_for()
    return page.locator("#bytes").inner_text()


#: Everything that the page's storage and address hold, as one text.
STORED = """async () => {
  const found = [document.title, location.href, JSON.stringify(history.state), document.cookie];
  for (const storage of [localStorage, sessionStorage]) found.push(JSON.stringify(storage));
  const result = (request) => new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  for (const { name } of await indexedDB.databases()) {
    const database = await result(indexedDB.open(name));
    for (const kind of database.objectStoreNames) {
      const store = database.transaction(kind).objectStore(kind);
      const [keys, values] = [await result(store.getAllKeys()), await result(store.getAll())];
      if (keys.length) found.push(JSON.stringify([name, kind, keys, values]));
    }
    database.close();
  }
  return found.join("\\n");
}"""


def stored(page: Page) -> str:
    found: str = page.evaluate(STORED)
    return found


def dump(data: Path) -> str:
    """Every row of a database as text, but for the published surveys."""
    with sqlite3.connect(data) as connection:
        lines = [line for line in connection.iterdump() if 'INTO "surveys"' not in line]
    connection.close()
    return "\n".join(lines)
