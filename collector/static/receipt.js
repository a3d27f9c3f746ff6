/** The receipt: the exact text that is sent, and what each number in it says. */

import { word } from "../respondent/respondent.js";
import { asked, button, element, listed, said, text, w } from "./dom.js";
import { measured } from "./fields.js";

/** So many answers that a pattern fits are named. */
const SAMPLE = 5;

/**
 * @param {import("../respondent/respondent.js").Survey} survey
 * @param {import("../respondent/respondent.js").Report} report
 */
export function receiptOf(survey, report) {
  const rows = survey.questions.map((question, place) =>
    element(
      "tr",
      {},
      said("th", { scope: "row" }, question.ask),
      element("td", {}, meaning(question, report.responses[place]), plainTag(question)),
      element("td", { class: "number" }, String(report.responses[place])),
    ),
  );
  return element(
    "section",
    { class: "receipt card" },
    element("h3", {}, w("receipt")),
    element("p", {}, w("receipt-note")),
    element(
      "table",
      {},
      element("caption", { class: "unseen" }, w("receipt-each")),
      element("thead", {}, element("tr", {}, ...["question", "response", "number"].map(heading))),
      element("tbody", {}, ...rows),
    ),
    element("h4", {}, w("receipt-text", { count: report.text.length })),
    element("pre", { dir: "ltr", id: "bytes", tabindex: "0" }, report.text),
    element("p", { class: "hint" }, w("receipt-key")),
    element(
      "div",
      { class: "actions unprinted" },
      button(w("save-receipt"), () => save(survey, report), { class: "quiet" }),
      button(w("print"), () => print(), { class: "quiet" }),
    ),
  );
}

const heading = (name) => element("th", { scope: "col" }, w(`receipt-${name}`));

const plainTag = (question) =>
  question.protected ? null : element("span", { class: "tag plain" }, w("not-protected"));

/** One line of JSON, as a collector takes it in a file too. */
export function save(survey, report) {
  const file = new Blob([`${report.text}\n`], { type: "application/jsonl" });
  const href = URL.createObjectURL(file);
  const name = `${survey.id}-${report.key.slice(0, 8)}.jsonl`;
  element("a", { href, download: name }).click();
  // Not at once: some browsers have not begun to read it yet.
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}

/** What a response says, in words. */
export function meaning(question, response) {
  const { law, kind, options, labels, skip } = question;
  if (response === question.notAsked) return w("not-asked");
  switch (law.name) {
    case "one-of":
      return tick(options[Math.floor(response / 2)], response % 2);
    case "two-point":
      return word(asked, response ? "high" : "low");
    case "wave":
      return measured(question, response - law.halfWidth);
    case "distance":
      return measured(question, response - law.margin);
    case "subset":
      return w("one-of-these", { options: listed(fitting(question, response, options.length)) });
    case "projective": {
      const values = { number: response, total: law.responses - 1 };
      return w("pattern", { ...values, options: listed(fitting(question, response, SAMPLE)) });
    }
  }
  if (kind === "choices") return ticks(options, response);
  if (kind === "number") {
    const skipped = skip && response === law.answers - 1;
    return skipped ? word(asked, "skip") : measured(question, response);
  }
  return text((labels.length ? labels : options)[response]);
}

const tick = (option, ticked) => w(ticked ? "ticked" : "not-ticked", { option: text(option) });

/** The options in a plain answer, a mask of up to 50 bits. */
function ticks(options, response) {
  const found = options.filter((_, place) => Math.floor(response / 2 ** place) % 2);
  return found.length ? listed(found.map(text)) : w("nothing-ticked");
}

/** The first answers that a response supports. */
function fitting({ law, options }, response, most) {
  const found = [];
  for (let answer = 0; answer < options.length && found.length < most; answer += 1) {
    if (law.weight(answer, response) === law.inside) found.push(text(options[answer]));
  }
  return found;
}
