/**
 * One field for each question: what a person sees of it, and the answer they gave. Answers
 * live in the inputs of the page and nowhere else.
 */

import { word } from "../respondent/respondent.js";
import { boxes, radios } from "./choices.js";
import { combobox } from "./combobox.js";
import { asked, element, freshId, listed, said, spoken, text, w } from "./dom.js";
import { readNumber, spellNumber } from "./numbers.js";

/** Longer choices are searched rather than listed. */
const SHORT = 30;

/** A scale with labels up to this long is a row. */
const NARROW = 3;

/**
 * @typedef {object} Control What one kind of question adds to the frame.
 * @property {Node[]} elements
 * @property {() => {answer: unknown, words: string} | {problem: string}} read
 * @property {() => void} clear
 * @property {() => void} focus
 * @property {HTMLElement} [input] the one that a problem is about, if not the whole group
 */

/**
 * @param {import("../respondent/respondent.js").Question} question
 * @param {() => void} changed called whenever the answer may have changed
 */
export function fieldOf(question, changed) {
  const ids = { label: freshId(), hint: freshId(), problem: freshId() };
  const control = controlOf(question)(question, ids, () => {
    tell("");
    changed();
  });
  const problem = element("p", { id: ids.problem, class: "problem", hidden: true });
  const frame = element(
    "fieldset",
    { class: "question", role: control.role, "aria-describedby": ids.problem },
    said("legend", { id: ids.label }, question.ask),
    question.protected ? null : element("p", { class: "tag plain" }, w("sent-as-it-is")),
    question.help ? said("p", { class: "help" }, question.help) : null,
    ...control.elements,
    problem,
    question.protected ? protection(question) : null,
  );

  function tell(message) {
    problem.textContent = message;
    problem.hidden = !message;
    const invalid = control.input ?? (control.role === "radiogroup" ? frame : null);
    if (message) invalid?.setAttribute("aria-invalid", "true");
    else invalid?.removeAttribute("aria-invalid");
  }

  return {
    question,
    element: frame,
    read: control.read,
    focus: control.focus,
    tell,
    clear() {
      control.clear();
      tell("");
    },
  };
}

function controlOf({ kind, options }) {
  if (kind === "choices") return ticks;
  if (kind === "number") return number;
  if (kind === "list" || (kind === "choice" && options.length > SHORT)) return list;
  return choice;
}

/** The odds in words, for who wants to know. */
function protection(question) {
  return element(
    "details",
    { class: "protection" },
    element("summary", {}, w("how-protected")),
    element("p", {}, question.explain(asked)),
  );
}

const labelOf = (option) => said("span", {}, option);

function choice(question, _, changed) {
  const { kind, options, ends, skip } = question;
  const group = radios(options.map(labelOf), changed);
  const scores = skip ? options.slice(0, -1) : options;
  const row = kind === "scale" && scores.every((option) => text(option).length <= NARROW);
  return {
    ...group,
    role: "radiogroup",
    elements: [
      element(
        "div",
        { class: row ? "options row" : "options" },
        ...group.elements.slice(0, scores.length),
      ),
      ends.length ? endsOf(ends) : null,
      ...group.elements.slice(scores.length),
    ],
    read() {
      const index = group.index();
      if (index < 0) return { problem: w("need-choice") };
      return { answer: text(options[index]), words: text(options[index]) };
    },
  };
}

const endsOf = (ends) =>
  element("div", { class: "ends" }, ...ends.map((end) => said("span", {}, end)));

function ticks({ options, skip }, _, changed) {
  const group = boxes(options.map(labelOf), changed, skip ? options.length - 1 : -1);
  return {
    ...group,
    elements: [
      element("p", { class: "hint" }, w("tick-any")),
      element("div", { class: "options" }, ...group.elements),
    ],
    read() {
      const answer = group.indexes().map((index) => text(options[index]));
      return { answer, words: answer.length ? listed(answer) : w("nothing-ticked") };
    },
  };
}

/** "Prefer not to say" as a box of its own, which empties the rest and is emptied by it. */
function skipping(label, changed, clearRest) {
  return boxes([label], () => {
    clearRest();
    changed();
  });
}

function list({ options, skip }, ids, changed) {
  const entries = (skip ? options.slice(0, -1) : options).map(text);
  const last = options.at(-1);
  const box = skip ? skipping(labelOf(last), changed, () => search.clear()) : null;
  const search = combobox(entries, {
    label: ids.label,
    describedBy: `${ids.hint} ${ids.problem}`,
    changed() {
      box?.clear();
      changed();
    },
  });
  return {
    ...search,
    elements: [
      element("p", { id: ids.hint, class: "hint" }, w("list-hint")),
      ...search.elements,
      ...(box?.elements ?? []),
    ],
    clear() {
      search.clear();
      box?.clear();
    },
    read() {
      if (box?.indexes().length) return { answer: text(last), words: text(last) };
      if (search.index() < 0) return { problem: w("need-entry") };
      const entry = entries[search.index()];
      return { answer: entry, words: entry };
    },
  };
}

function number(question, ids, changed) {
  const ends = [0, question.law.answers - 1 - (question.skip ? 1 : 0)];
  const [least, most] = ends.map((cell) => measured(question, cell));
  const step = spellNumber(question.step, spoken);
  const hint = w(question.step === "1" ? "number-range" : "number-steps", { least, most, step });
  const skip = word(asked, "skip");
  const box = question.skip
    ? skipping(element("span", {}, skip), changed, () => (input.value = counted.textContent = ""))
    : null;
  const counted = element("p", { class: "hint live", role: "status" });
  const input = element("input", {
    type: "text",
    inputmode: question.low.startsWith("-") ? "text" : "decimal",
    autocomplete: "off",
    spellcheck: "false",
    "aria-labelledby": ids.label,
    "aria-describedby": `${ids.hint} ${ids.problem}`,
    oninput() {
      box?.clear();
      changed();
    },
    // Not at each digit: the field would talk all the time.
    onchange() {
      const { cell, words } = read();
      const asTyped = cell === undefined || question.value(cell) === input.value.trim();
      counted.textContent = asTyped ? "" : w("counts-as", { value: words });
    },
  });

  function read() {
    if (box?.indexes().length) return { answer: null, words: skip };
    const answer = readNumber(input.value, spoken);
    try {
      const cell = question.encode(answer);
      return { answer, cell, words: measured(question, cell) };
    } catch {
      return { problem: w("need-number", { least, most }) };
    }
  }

  return {
    input,
    elements: [
      element("p", { id: ids.hint, class: "hint" }, hint),
      element(
        "div",
        { class: "measure" },
        input,
        question.unit ? said("span", { class: "unit" }, question.unit) : null,
      ),
      counted,
      ...(box?.elements ?? []),
    ],
    read,
    focus: () => input.focus(),
    clear() {
      input.value = counted.textContent = "";
      box?.clear();
    },
  };
}

/** The number of a cell with its unit; cells may lie outside the range. */
export function measured(question, cell) {
  const value = spellNumber(question.value(cell), spoken);
  return question.unit ? `${value} ${text(question.unit)}` : value;
}
