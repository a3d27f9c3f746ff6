"""The browser module, by Node's test runner and in headless Chromium."""

from __future__ import annotations

import functools
import http.server
import json
import subprocess
import tempfile
import threading
from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Page, sync_playwright

from respondent import Survey, parse_report

from .support import CAMPUS_ANSWERS, EXAMPLES, ROOT, VECTORS, needs

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run "
    "--disable-background-networking --disable-component-update --disable-sync"
).split()

RUN_VECTORS = """async ([vectors, published]) => {
  const { compare } = await import("/tests/web/vectors.js");
  const wrong = [];
  let pairs = 0;
  for (const [folder, name, vector] of vectors) {
    for (const [found, expected] of compare(folder, vector, (name) => published[name])) {
      pairs += 1;
      if (JSON.stringify(found) !== JSON.stringify(expected)) wrong.push([name, found, expected]);
    }
  }
  return { pairs, wrong };
}"""

SEAL = """async ([survey, answers, database]) => {
  const { browserStore, parseSurvey, sealReport } =
    await import("/respondent/web/respondent.js");
  return sealReport(parseSurvey(survey), answers, browserStore(database));
}"""


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    """The project's files on loopback."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            pass

    handler = functools.partial(Quiet, directory=ROOT)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def context() -> Iterator[BrowserContext]:
    executable = needs("chromium")
    with tempfile.TemporaryDirectory() as profile, sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            profile, executable_path=executable, args=FLAGS
        )
        yield context
        context.close()


@pytest.fixture
def page(context: BrowserContext, site: str) -> Iterator[Page]:
    page = context.new_page()
    page.goto(f"{site}/respondent/web/package.json")
    yield page
    page.close()


def test_node() -> None:
    command = [needs("node"), "--test", "tests/web/"]
    result = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert result.returncode == 0, result.stdout
    assert "# fail 0" in result.stdout
    assert "# skipped 0" in result.stdout


def test_the_shared_vectors_in_chromium(page: Page) -> None:
    folders = ["randomise", "published", "reports"]
    paths = [(folder, path) for folder in folders for path in (VECTORS / folder).glob("*.json")]
    paths.append(("exact", VECTORS / "exact.json"))
    vectors = [[folder, path.name, json.loads(path.read_text("utf-8"))] for folder, path in paths]
    published = {name: vector for folder, name, vector in vectors if folder == "published"}
    result = page.evaluate(RUN_VECTORS, [vectors, published])
    assert result["wrong"] == []
    assert result["pairs"] > 2_700


def test_sealed_once_over_reloads_tabs_and_edits(
    page: Page, context: BrowserContext, site: str
) -> None:
    survey = Survey.load(EXAMPLES / "coin.toml")
    published = survey.publish().decode()
    first = page.evaluate(SEAL, [published, {"cheated": "Yes"}, "reload"])
    parse_report(survey, first.encode())
    page.reload()
    assert page.evaluate(SEAL, [published, {"cheated": "No"}, "reload"]) == first
    other = context.new_page()
    other.goto(f"{site}/respondent/web/package.json")
    assert other.evaluate(SEAL, [published, {"cheated": "No"}, "reload"]) == first
    other.close()


def test_racing_calls_seal_one_report(page: Page) -> None:
    published = Survey.load(EXAMPLES / "coin.toml").publish().decode()
    race = f"""async (job) => {{
      const seal = {SEAL};
      return Promise.all(Array.from({{ length: 20 }}, () => seal(job)));
    }}"""
    sealed = page.evaluate(race, [published, {"cheated": "Yes"}, "race"])
    assert len(sealed) == 20
    assert len(set(sealed)) == 1


def test_browser_storage_holds_the_noisy_report_only(page: Page) -> None:
    survey = Survey.load(EXAMPLES / "names.toml")
    secret = str(survey["place"].options[4711])
    report = page.evaluate(SEAL, [survey.publish().decode(), {"place": secret}, "storage"])
    stored = page.evaluate(
        """async () => {
          const open = indexedDB.open("storage");
          const database = await new Promise((resolve) => {
            open.onsuccess = () => resolve(open.result);
          });
          const found = {};
          for (const name of database.objectStoreNames) {
            const store = database.transaction(name).objectStore(name);
            for (const ask of ["getAllKeys", "getAll"]) {
              const request = store[ask]();
              found[`${name} ${ask}`] = await new Promise((resolve) => {
                request.onsuccess = () => resolve(request.result);
              });
            }
          }
          database.close();
          const local = Object.keys(localStorage).length + Object.keys(sessionStorage).length;
          return { found, local };
        }"""
    )
    assert stored["local"] == 0
    assert stored["found"] == {
        "reports getAllKeys": [survey.fingerprint],
        "reports getAll": [report],
        "notes getAllKeys": [],
        "notes getAll": [],
    }
    assert secret not in json.dumps(stored)


def test_a_thousand_reports_have_one_length(page: Page) -> None:
    survey = Survey.load(EXAMPLES / "campus.toml")
    lengths = page.evaluate(
        """async ([published, answers]) => {
          const { makeReport, parseSurvey } = await import("/respondent/web/respondent.js");
          const survey = parseSurvey(published);
          const one = (list) => list[Math.floor((crypto.getRandomValues(new Uint8Array(1))[0] / 256)
            * list.length)];
          const lengths = new Set();
          for (let i = 0; i < 1000; i += 1) {
            const given = Object.fromEntries(Object.entries(answers).map(([id, list]) =>
              [id, one(list)]));
            if (given.year === "1") given.hall = "No";
            lengths.add(makeReport(survey, given).text.length);
          }
          return [...lengths];
        }""",
        [survey.publish().decode(), CAMPUS_ANSWERS],
    )
    assert len(lengths) == 1
