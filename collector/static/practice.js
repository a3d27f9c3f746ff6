/**
 * The practice round: a harmless question and a wheel with a real question's odds. It draws as
 * the form does, and keeps and sends nothing.
 */

import { countsOf, randbelow, readLaw, word } from "../respondent/respondent.js";
import { radios } from "./choices.js";
import { button, element, listed, shape, spoken, text, w } from "./dom.js";

const COIN = { law: "k-ary", answers: 2, truth: 3, other: 1 };

/** Questions with more answers would make a wheel of splinters. */
const MOST_SECTORS = 8;

const RADIUS = 100;
const TURNS = 4;

/** Longer than the needle's transition in the stylesheet, whose end is awaited. */
const LONGEST_SPIN = 4_000;

/** @param {import("../respondent/respondent.js").Survey} survey */
export function practiceFor(survey) {
  const question = survey.questions.find(fits);
  const answers = [word(spoken, "yes"), word(spoken, "no")];
  const group = radios(answers.map((answer) => element("span", {}, answer)), chosen);
  const odds = question ? w("practice-odds", { question: text(question.ask) }) : w("practice-coin");
  const spinner = element("div", { class: "spinner" });
  const outcome = element("div", { class: "outcome", role: "status" });
  const once = button(w("spin"), () => spin(1));
  const often = button(w("spin-hundred"), () => spin(100), { class: "quiet" });
  const rest = element(
    "div",
    { hidden: true },
    element("p", { class: "hint" }, odds),
    spinner,
    element("div", { class: "actions" }, once, often),
    outcome,
  );
  let wheel;
  let counts;
  let turning = false;

  function chosen() {
    wheel = wheelOf(question?.law ?? readLaw(COIN), group.index(), question?.labels ?? [], answers);
    counts = wheel.parts.map(() => 0);
    spinner.replaceChildren(wheel.drawing, legendOf(wheel.parts));
    outcome.replaceChildren();
    once.textContent = w("spin");
    rest.hidden = false;
  }

  async function spin(times) {
    if (turning) return;
    turning = true;
    outcome.replaceChildren();
    const drawn = Array.from({ length: times }, wheel.draw);
    for (const { part } of drawn) counts[wheel.parts.indexOf(part)] += 1;
    const { part, angle } = drawn.at(-1);
    await turn(wheel.needle, angle);
    outcome.replaceChildren(...told(part, wheel.parts, counts));
    once.textContent = w("spin-again");
    turning = false;
  }

  return [
    element("h2", { tabindex: "-1" }, w("practice")),
    element("p", {}, w("practice-why")),
    element(
      "fieldset",
      { class: "question", role: "radiogroup" },
      element("legend", {}, w("practice-ask")),
      element("div", { class: "options pair" }, ...group.elements),
      rest,
    ),
    element("p", {}, w("practice-lesson")),
  ];
}

/** Whether a question's odds can be drawn as a wheel for a yes or no. */
function fits({ kind, law }) {
  if (!["yes-no", "choice", "scale"].includes(kind)) return false;
  if (law.name === "table") return law.answers === 2 && law.responses === 2;
  return law.name === "k-ary" && law.answers <= MOST_SECTORS;
}

/** The wheel of one answer: its parts in drawing order, a drawing, and draws from the law. */
function wheelOf(law, answer, labels, answers) {
  const total = law.total(answer);
  const parts = partsOf(law, answer, labels, answers);
  const needle = shape("g", { class: "needle" }, shape("path", { d: "M0 -90 L8 6 L0 18 L-8 6 Z" }));
  return {
    parts,
    needle,
    drawing: drawingOf(parts, total, needle),
    draw() {
      let drawn;
      const response = law.randomise(answer, (below) => (drawn = randbelow(below)));
      const part = parts.find(({ holds }) => holds(response));
      return { part, angle: (360 * (drawn + 0.5)) / total };
    },
  };
}

/** Responses that differ from the answer are one part where there are several. */
function partsOf(law, answer, labels, answers) {
  const part = (response, name, count, holds) => {
    const weight = law.weight(answer, response);
    const chance = [BigInt(weight) * BigInt(count), BigInt(law.total(answer))];
    const yours = labels.length ? null : response === answer;
    return { name, weight, count, chance, holds, yours };
  };
  if (law.name === "table") {
    const names = labels.length ? labels.map(text) : answers;
    return names.map((name, response) => part(response, name, 1, (other) => other === response));
  }
  const other = answer === 0 ? 1 : 0;
  const [yours, another] =
    law.answers === 2 ? [answers[answer], answers[other]] : [w("your-answer"), w("another-answer")];
  return [
    part(answer, yours, 1, (response) => response === answer),
    part(other, another, law.answers - 1, (response) => response !== answer),
  ];
}

function drawingOf(parts, total, needle) {
  const label = w("wheel", { odds: listed(shares(parts)) });
  return shape(
    "svg",
    { class: "wheel", viewBox: "-106 -106 212 212", role: "img", "aria-label": label },
    shape("defs", {}, hatch()),
    ...sectors(parts, total),
    needle,
    shape("circle", { class: "hub", r: 9 }),
  );
}

/** Told apart without colours too. */
const hatch = () =>
  shape(
    "pattern",
    {
      id: "hatch",
      width: 9,
      height: 9,
      patternUnits: "userSpaceOnUse",
      patternTransform: "rotate(45)",
    },
    shape("rect", { class: "hatch", width: 9, height: 9 }),
    shape("rect", { class: "hatch line", width: 3, height: 9 }),
  );

function sectors(parts, total) {
  let sum = 0;
  return parts.flatMap(({ weight, count }, place) =>
    Array.from({ length: count }, () => {
      const [from, to] = [sum / total, (sum += weight) / total];
      const fill = place === 0 ? null : "url(#hatch)";
      return shape("path", { class: "sector", d: sector(from, to), fill });
    }),
  );
}

/** The path of a sector; from and to are parts of the turn, clockwise from the top. */
function sector(from, to) {
  const point = (part) => {
    const angle = 2 * Math.PI * part;
    return `${(RADIUS * Math.sin(angle)).toFixed(3)} ${(-RADIUS * Math.cos(angle)).toFixed(3)}`;
  };
  const large = to - from > 0.5 ? 1 : 0;
  return `M0 0 L${point(from)} A${RADIUS} ${RADIUS} 0 ${large} 1 ${point(to)} Z`;
}

/** What each part gets, in words: "Yes: 75 of 100". */
function shares(parts) {
  const [total, counts] = countsOf(parts.map(({ chance }) => chance), spoken);
  return parts.map(({ name }, place) => w("share", { name, count: counts[place], total }));
}

function legendOf(parts) {
  const entries = shares(parts).map((share, place) =>
    element("li", { class: place === 0 ? "first" : "second" }, share),
  );
  return element("ul", { class: "legend", "aria-hidden": "true" }, ...entries);
}

/** Turn the needle to an angle, some turns on; at once for who wants no motion. */
async function turn(needle, angle) {
  const before = Number(needle.dataset.turned ?? 0);
  const turned = (Math.floor(before / 360) + TURNS) * 360 + angle;
  needle.dataset.turned = turned;
  needle.style.transform = `rotate(${turned}deg)`;
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  await new Promise((resolve) => {
    needle.addEventListener("transitionend", resolve, { once: true });
    setTimeout(resolve, LONGEST_SPIN);
  });
}

/** What came of the spin, and of all spins so far. */
function told({ name, yours }, parts, counts) {
  const meaning = yours === null ? "drawn-label" : yours ? "drawn-truth" : "drawn-other";
  const times = parts.map((part, place) => w("times", { name: part.name, count: counts[place] }));
  const spins = counts.reduce((sum, count) => sum + count, 0);
  return [
    element("p", { class: "result" }, w("would-send", { response: name })),
    element("p", {}, w(meaning)),
    spins > 1 ? element("p", { class: "hint" }, w("tally", { spins, tally: listed(times) })) : null,
  ].filter(Boolean);
}
