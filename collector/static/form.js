/**
 * The respondent's form: welcome, practice, questions, one draw, and the sealed report on its
 * way. Answers are in this page's inputs until the draw and then nowhere. The browser's
 * history holds which view is shown, never what was answered.
 */

import { browserStore, parseReport, parseSurvey, sealReport } from "../respondent/respondent.js";
import { button, element, said, text, w } from "./dom.js";
import { outbox } from "./outbox.js";
import { practiceFor } from "./practice.js";
import { questionsOf } from "./questions.js";
import { receiptOf, save } from "./receipt.js";

const page = document.querySelector("main").dataset;
const [welcome, stage, ready, begin] = ["welcome", "stage", "ready", "begin"].map((id) =>
  document.getElementById(id),
);
const test = "test" in page;
const offline = "offline" in page;
const TEST_STORE = "deniable-test";
const store = browserStore(test ? TEST_STORE : undefined);
const TOKEN = /^[\w-]{22,}$/;

/** Something that the person at the page must know, by the name of its words. */
class Trouble extends Error {
  constructor(words) {
    super(words);
    this.words = words;
  }
}

/** @type {import("../respondent/respondent.js").Survey} */
let survey;
let questions = null;
let report = null;

/** Whether the draw has begun or something failed: there is no way back to the questions. */
let over = false;

// ---------------------------------------------------------------- beginning

async function start() {
  carryFragment();
  ready.classList.remove("late");
  ready.textContent = w("checking");
  survey = await loadSurvey();
  const line = await kept(() => store.get(survey.fingerprint));
  if (line !== undefined) return showSealed(line);
  if (["closed", "not-yet"].includes(page.state)) return ready.remove();
  if ("invited" in page && !invitation()) throw new Trouble("need-invitation");
  ready.textContent = w("checked");
  begin.hidden = false;
  begin.addEventListener("click", () => {
    questions ??= questionsOf(survey);
    go({ view: "practice" });
  });
  history.replaceState({ view: "welcome" }, "");
  addEventListener("popstate", ({ state }) => show(state ?? { view: "welcome" }));
}

/** The invitation is in the address after "#", where no request shows it. */
function invitation() {
  const token = location.hash.slice(1);
  return TOKEN.test(token) ? token : undefined;
}

/** Links to this page in another language keep the invitation. */
function carryFragment() {
  for (const link of document.querySelectorAll("a[data-carry]")) link.hash = location.hash;
}

/** The published survey, read strictly; it must be the one that the page describes. */
async function loadSurvey() {
  let found;
  try {
    found = parseSurvey(await published());
  } catch {
    throw new Trouble("not-loaded");
  }
  if (found.fingerprint !== page.fingerprint) throw new Trouble("not-the-same");
  return found;
}

async function published() {
  const here = document.getElementById("published");
  if (here) return JSON.parse(here.textContent);
  const reply = await fetch(page.survey, { cache: "no-store", credentials: "omit" });
  return new Uint8Array(await reply.arrayBuffer());
}

/** What the browser's store gives; where there is none, nothing may be drawn. */
async function kept(work) {
  try {
    return await work();
  } catch {
    throw new Trouble("cannot-keep");
  }
}

// ---------------------------------------------------------------- views

const VIEWS = { practice, page: questionPage, review };

function go(view) {
  history.pushState(view, "");
  show(view);
}

/** Once a report is sealed there is nothing to go back to. */
function show(wanted) {
  if (over) return;
  const { view, number } = reachable(wanted);
  welcome.hidden = view !== "welcome";
  stage.hidden = !welcome.hidden;
  stage.replaceChildren(...(VIEWS[view]?.(number) ?? []));
  scrollTo(0, 0);
  stage.querySelector("h2")?.focus({ preventScroll: true });
}

/** The view itself, or an earlier one where something is still to be answered. */
function reachable({ view, number }) {
  if (!questions) return { view: "welcome" };
  if (view === "welcome" || view === "practice") return { view };
  const lacking = questions.unanswered();
  if (view === "review") {
    return lacking === undefined ? { view } : { view: "page", number: lacking };
  }
  const open = questions.open();
  const most = Math.min(number, lacking ?? number);
  return { view: "page", number: open.findLast((other) => other <= most) ?? open[0] };
}

function practice() {
  const [first] = questions.open();
  return [
    ...practiceFor(survey),
    navigation(button(w("to-questions"), () => go({ view: "page", number: first }))),
  ];
}

function questionPage(number) {
  const next = () => {
    if (!questions.check(number)) return;
    const following = questions.open().find((other) => other > number);
    go(following === undefined ? { view: "review" } : { view: "page", number: following });
  };
  const byEnter = ({ key, target }) => {
    const field = target.matches('input[type="text"]:not([role="combobox"])');
    if (key === "Enter" && field) next();
  };
  return [
    progress(number),
    element("div", { onkeydown: byEnter }, ...questions.pageOf(number)),
    navigation(button(w("next"), next)),
  ];
}

function progress(number) {
  const open = questions.open();
  const place = open.indexOf(number);
  const label = w("page-of", { number: place + 1, total: open.length });
  return element(
    "div",
    { class: "progress" },
    element("span", {}, label),
    element("progress", { max: open.length + 1, value: place + 1, "aria-label": label }),
  );
}

/** Back, forward, and the way out. */
function navigation(forward) {
  forward.classList.add("forward");
  const back = button(w("back"), () => history.back(), { class: "quiet" });
  const out = button(w("stop"), stop, { class: "link" });
  return element("nav", { class: "actions", "aria-label": w("steps") }, back, forward, out);
}

function stop() {
  forget();
  go({ view: "welcome" });
}

/** Answers are gone from the page, and the form with them. */
function forget() {
  questions?.clear();
  questions = null;
}

function review() {
  const items = questions.review().map(({ question, words, page: number }) =>
    element(
      "li",
      {},
      said("span", { class: "ask" }, question.ask),
      element("span", { class: "answer", dir: "auto" }, words),
      button(w("change"), () => go({ view: "page", number }), {
        class: "link",
        "aria-label": `${w("change")}: ${text(question.ask)}`,
      }),
    ),
  );
  const steps = ["draw", "seal", offline ? "deliver" : "send", "forget"].map((name) =>
    element("li", {}, w(`then-${name}`)),
  );
  return [
    element("h2", { tabindex: "-1" }, w("review")),
    element("p", {}, w("review-then")),
    element("ol", { class: "then card" }, ...steps),
    element("p", {}, w("review-once")),
    element(
      "details",
      { class: "card" },
      element("summary", {}, w("look-again")),
      element("ol", { class: "answers" }, ...items),
    ),
    navigation(button(w(offline ? "draw-and-seal" : "draw-and-send"), seal)),
  ];
}

// ---------------------------------------------------------------- the one draw

async function seal() {
  if (over) return;
  over = true;
  const answers = questions.answers();
  forget();
  stage.replaceChildren(element("p", { role: "status" }, w("sealing")));
  const note = { invitation: invitation() };
  if (note.invitation) await kept(() => store.setNote(survey.fingerprint, note));
  await showSealed(await kept(() => sealReport(survey, answers, store)));
}

/** From now on there is only this report, on this visit and every other. */
async function showSealed(line) {
  over = true;
  report = readSealed(line);
  const note = await kept(() => store.note(survey.fingerprint));
  const heading = element("h2", { tabindex: "-1" });
  const explained = element("p");
  const status = element("p", { class: "status", role: "status" });
  const again = button(w(offline ? "send-now" : "try-now"), () => box.send());
  const toFile = button(w("save-sealed"), () => save(survey, report), { class: "quiet" });

  function tell(name, { problem = "", seconds } = {}) {
    const done = name === "sent";
    heading.textContent = w(done ? "sent" : "sealed");
    explained.textContent = w(done ? "sent-said" : "sealed-said");
    status.dataset.status = name;
    status.replaceChildren(w(`status-${name}`, { seconds }));
    if (problem) status.append(" ", element("span", { lang: "en", dir: "ltr" }, problem));
    again.hidden = done || name === "sending";
    toFile.hidden = done || !offline;
  }

  const box = outbox({
    url: page.reports,
    text: report.text,
    invitation: invitation() ?? note.invitation,
    retry: !offline,
    tell,
    // The invitation has done its work and is not kept any longer. Where this cannot be
    // noted, the next visit sends the same bytes again.
    arrived: () => store.setNote(survey.fingerprint, { sent: true }).catch(() => {}),
  });
  tell(note.sent ? "sent" : offline ? "unsent" : "sending");
  welcome.hidden = true;
  stage.hidden = false;
  stage.replaceChildren(
    heading,
    explained,
    element("div", { class: "delivery unprinted" }, status, again, toFile),
    receiptOf(survey, report),
    element("p", { class: "hint" }, w("receipt-again")),
    ...(test ? [button(w("test-again"), testAgain)] : []),
  );
  scrollTo(0, 0);
  heading.focus({ preventScroll: true });
  if (!note.sent && !offline) await box.send();
}

function readSealed(line) {
  try {
    return parseReport(survey, line);
  } catch {
    throw new Trouble("damaged");
  }
}

/** Only test reports can be discarded: they are never counted, so nothing can be averaged. */
function testAgain() {
  const request = indexedDB.deleteDatabase(TEST_STORE);
  request.onsuccess = () => location.reload();
}

// ---------------------------------------------------------------- what can go wrong

/** Whatever happens: no answer stays, and nothing further is done. */
function fail(error) {
  forget();
  const unknown = report ? "broken-sealed" : "broken";
  const words = error instanceof Trouble ? error.words : unknown;
  over = true;
  const notice = element("p", { class: "notice bad", role: "alert" }, w(words));
  ready.replaceChildren();
  begin.hidden = true;
  if (welcome.hidden) stage.replaceChildren(notice);
  else ready.replaceWith(notice);
}

addEventListener("error", ({ error }) => fail(error));
addEventListener("unhandledrejection", (event) => {
  if (event.reason instanceof Trouble) event.preventDefault();
  fail(event.reason);
});

// Leaving the page forgets; a copy of it that the browser keeps for "back" is at the beginning.
addEventListener("pagehide", () => {
  if (over) return;
  forget();
  show({ view: "welcome" });
});

start();
