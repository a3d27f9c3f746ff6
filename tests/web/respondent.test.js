// What the shared vectors do not cover: SHA-256, draws, sealing, hostile keys, secrecy.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";

import {
  InvalidAnswer,
  InvalidData,
  InvalidSurvey,
  canonical,
  floatUp,
  logUp,
  makeReport,
  parseReport,
  parseSurvey,
  randbelow,
  readLaw,
  sealReport,
  sha256,
} from "../../respondent/web/respondent.js";

const QUESTIONS = [
  {
    id: "cheated",
    ask: "Cheated?",
    kind: "yes-no",
    options: ["Yes", "No"],
    law: { law: "k-ary", answers: 2, truth: 3, other: 1 },
  },
  {
    id: "income",
    ask: "Income?",
    kind: "number",
    low: "0",
    step: "0.1",
    law: { law: "two-point", steps: 100, truth: 3, other: 1 },
  },
  {
    id: "worries",
    ask: "Worries?",
    kind: "choices",
    options: ["Money", "Exams", "Health"],
    law: { law: "one-of", options: 3, truth: 3, other: 1 },
  },
];

const ANSWERS = { cheated: "Yes", income: 1.25, worries: ["Money"] };

function published(questions = QUESTIONS, more = {}) {
  return canonical({ deniable: 1, id: "t", languages: ["en"], title: "Test", questions, ...more });
}

/** Bytes from a list; an error if it is not long enough. */
function scripted(bytes) {
  const rest = [...bytes];
  const take = (size) => {
    assert.ok(size <= rest.length, "must not need more bytes");
    return Uint8Array.from(rest.splice(0, size));
  };
  return { take, rest };
}

/** A store in memory that is as slow as a real one. */
function memoryStore() {
  const sealed = new Map();
  const later = () => new Promise((resolve) => setTimeout(resolve, 1));
  return {
    sealed,
    async get(fingerprint) {
      await later();
      return sealed.get(fingerprint);
    },
    async add(fingerprint, text) {
      await later();
      if (!sealed.has(fingerprint)) sealed.set(fingerprint, text);
      return sealed.get(fingerprint);
    },
  };
}

function problemsOf(text) {
  try {
    parseSurvey(text);
  } catch (error) {
    assert.ok(error instanceof InvalidSurvey, String(error));
    return [...error.problems];
  }
  return [];
}

test("sha256 is Node's", () => {
  for (const length of [...Array(201).keys(), 1_000_000]) {
    const bytes = Uint8Array.from({ length }, (_, place) => (place * 167 + length) % 256);
    assert.equal(sha256(bytes), createHash("sha256").update(bytes).digest("hex"));
  }
  assert.throws(() => sha256("text"), TypeError);
});

test("canonical sorts keys and escapes as Python's json does", () => {
  assert.equal(
    canonical({ b: [1, true, null], a: 'é"\\\n\u0001/\u2028' }),
    '{"a":"é\\"\\\\\\n\\u0001/\u2028","b":[1,true,null]}',
  );
});

const DRAWS = [
  { total: 1, bytes: [], value: 0, why: "one outcome needs no bytes" },
  { total: 2, bytes: [0x7f], value: 0, why: "the high bit counts" },
  { total: 2, bytes: [0x80], value: 1, why: "the high bit counts" },
  { total: 4, bytes: [0xff], value: 3, why: "a power of two never refuses" },
  { total: 5, bytes: [0xa0, 0xff, 0x9f], value: 4, why: "5 and 7 are refused" },
  { total: 256, bytes: [0xff], value: 255, why: "a whole byte" },
  { total: 257, bytes: [0x80, 0x7f], value: 256, why: "9 bits of 2 bytes" },
  { total: 257, bytes: [0x80, 0x80, 0x00, 0xff], value: 1, why: "257 is refused" },
  { total: 2 ** 49, bytes: Array(7).fill(0xff), value: 2 ** 49 - 1, why: "56 bits less 7" },
  { total: 2 ** 52 + 1, bytes: [0x80, 0, 0, 0, 0, 0, 7], value: 2 ** 52, why: "53 bits" },
  { total: 2 ** 53 - 1, bytes: [...Array(7).fill(0xff), 255, 255, 255, 255, 255, 255, 0xf7],
    value: 2 ** 53 - 2, why: "the largest total refuses one value only" },
];

for (const { total, bytes, value, why } of DRAWS) {
  test(`randbelow(${total}): ${why}`, () => {
    const { take, rest } = scripted(bytes);
    assert.deepEqual([randbelow(total, take), rest], [value, []]);
  });
}

test("randbelow refuses totals that numbers cannot hold", () => {
  for (const total of [0, -1, 1.5, 2 ** 53, Infinity, NaN, "2", 2n]) {
    assert.throws(() => randbelow(total), RangeError);
  }
});

test("randbelow draws from the system within range", () => {
  const seen = new Set(Array.from({ length: 500 }, () => randbelow(3)));
  // All three are seen but with chance 3·(2/3)^500 < 10^-87.
  assert.deepEqual([...seen].sort(), [0, 1, 2]);
});

test("every draw of a small law gives the weights back", () => {
  const laws = [
    { law: "k-ary", answers: 4, truth: 5, other: 2 },
    { law: "one-of", options: 3, truth: 3, other: 1 },
    { law: "table", rows: [[1, 2, 3], [3, 2, 2]] },
    { law: "projective", answers: 13, prime: 3, dimension: 3, inside: 5, outside: 2 },
    { law: "two-point", steps: 4, truth: 3, other: 1 },
    { law: "wave", steps: 5, "half-width": 2, near: 4, far: 1 },
    { law: "distance", steps: 3, margin: 1, weights: [9, 5, 3, 2, 4] },
  ];
  for (const law of laws.map(readLaw)) {
    for (let answer = 0; answer < law.answers; answer += 1) {
      const counts = Array(law.responses).fill(0);
      for (let drawn = 0; drawn < law.total(answer); drawn += 1) {
        counts[law.randomise(answer, () => drawn)] += 1;
      }
      assert.deepEqual(counts, counts.map((_, response) => law.weight(answer, response)), law.name);
    }
  }
});

test("floatUp is the smallest double that is not below", () => {
  assert.equal(floatUp(0n, 7n), 0);
  assert.equal(floatUp(1n, 2n), 0.5);
  assert.equal(floatUp(1n, 10n), 0.1);
  assert.equal(floatUp(3n, 10n), 0.3 + 2 ** -54);
  assert.equal(floatUp(2n ** 53n + 1n, 1n), 2 ** 53 + 2);
  assert.equal(floatUp(2n ** 60n - 1n, 2n ** 60n), 1);
  assert.equal(floatUp(1n, 2n ** 1080n), Number.MIN_VALUE);
  assert.throws(() => floatUp(-1n, 1n), RangeError);
  assert.throws(() => logUp(1n, 2n), RangeError);
});

test("a report is frozen and has one length whatever the answers", () => {
  const survey = parseSurvey(published());
  const report = makeReport(survey, ANSWERS);
  assert.ok(Object.isFrozen(report) && Object.isFrozen(report.responses));
  assert.ok(Object.isFrozen(survey) && Object.isFrozen(survey.questions[0].options));
  const other = makeReport(survey, { cheated: "No", income: "10", worries: [] });
  assert.equal(other.text.length, report.text.length);
  assert.deepEqual(parseReport(survey, new TextEncoder().encode(report.text)), report);
});

test("numbers are exact decimals, rounded half up", () => {
  const { questions } = parseSurvey(published());
  const cells = [[0, 0], [0.04, 0], [0.05, 1], ["0.15", 2], ["1e1", 100], [" 1_0 ", 100]];
  for (const [answer, cell] of [...cells, ["١٫٥".replace("٫", "."), 15], ["+.5", 5]]) {
    assert.equal(questions[1].encode(answer), cell);
  }
  assert.deepEqual([questions[1].value(15), questions[1].value(-10)], ["1.5", "-1.0"]);
});

test("sealing keeps the first report, whatever is answered later", async () => {
  const survey = parseSurvey(published());
  const store = memoryStore();
  const first = await sealReport(survey, ANSWERS, store);
  const again = await sealReport(survey, { ...ANSWERS, cheated: "No" }, store);
  const unanswered = await sealReport(survey, {}, store);
  assert.deepEqual([again, unanswered], [first, first]);
  assert.deepEqual([...store.sealed], [[survey.fingerprint, first]]);
  assert.equal(parseReport(survey, first).text, first);
});

test("of two racing tabs the first to write wins for both", async () => {
  const survey = parseSurvey(published());
  const store = memoryStore();
  const seals = [1, 2, 3].map(() => sealReport(survey, ANSWERS, store));
  assert.equal(new Set(await Promise.all(seals)).size, 1);
});

test("nothing is sealed when an answer is wrong", async () => {
  const survey = parseSurvey(published());
  const store = memoryStore();
  await assert.rejects(sealReport(survey, { ...ANSWERS, income: "x" }, store), InvalidAnswer);
  assert.equal(store.sealed.size, 0);
});

const [COIN] = QUESTIONS;
const replaced = (key, value) => published([{ ...COIN, [key]: value }]);
const spliced = (text, before, after) => text.replace(before, () => after);

const HOSTILE = {
  "a field __proto__": [
    spliced(published(), '"deniable":1', '"__proto__":{"title":"x"},"deniable":1'),
    ["__proto__: is not a known field"],
  ],
  "a field constructor": [
    published([{ ...COIN, constructor: 1 }]),
    ["question 1 (cheated), constructor: is not a known field"],
  ],
  "a missing field on the prototype": [
    spliced(published([COIN]), '"title":"Test"', '"__proto__":{"title":"Test"}'),
    ["__proto__: is not a known field", "title: is missing"],
  ],
  "a kind toString": [
    replaced("kind", "toString"),
    [
      "question 1 (cheated), kind: " +
        "must be one of yes-no, choice, scale, list, choices, number",
    ],
  ],
  "a law constructor": [
    replaced("law", { law: "constructor" }),
    [
      "question 1 (cheated), law: must name a law: plain, k-ary, one-of, table, subset, " +
        "projective, two-point, wave, distance",
    ],
  ],
  "a language __proto__": [
    spliced(published([COIN]), '"Test"', '{"__proto__":"x"}'),
    ["title: must be a text or an object with a text for each of en"],
  ],
  "a condition on __proto__": [
    replaced("show-if", [{ question: "__proto__", among: [0] }]),
    ["question 1 (cheated), show-if: must name an earlier question"],
  ],
};

for (const [name, [text, problems]] of Object.entries(HOSTILE)) {
  test(`hostile survey: ${name}`, () => assert.deepEqual(problemsOf(text), problems));
}

test("constructor is an id, an option and an answer like any other", () => {
  const question = { ...COIN, id: "constructor", options: ["constructor", "__proto__"] };
  const survey = parseSurvey(published([question]));
  const text = JSON.stringify({ constructor: "__proto__" });
  const report = makeReport(survey, JSON.parse(text), (size) => new Uint8Array(size));
  assert.deepEqual([...report.responses], [1]);
  assert.throws(() => makeReport(survey, {}), { message: "question constructor: is not answered" });
  assert.throws(() => makeReport(survey, JSON.parse('{"__proto__":"x"}')), InvalidAnswer);
  assert.match(survey.questions[0].explain("constructor"), /^Of 100 people/);
  assert.equal(Object.prototype.title, undefined);
});

const SECRET = "s3cr3t";
const SECRETS = [
  { ...ANSWERS, cheated: SECRET },
  { ...ANSWERS, income: SECRET },
  { ...ANSWERS, income: "-271828" },
  { ...ANSWERS, income: 271828 },
  { ...ANSWERS, worries: [SECRET] },
  { ...ANSWERS, worries: SECRET },
  { ...ANSWERS, worries: { [SECRET]: true } },
  { ...ANSWERS, [SECRET]: SECRET },
];

test("errors never contain an answer", () => {
  const survey = parseSurvey(published());
  for (const answers of SECRETS) {
    assert.throws(() => makeReport(survey, answers), (error) => {
      assert.ok(error instanceof InvalidAnswer && error instanceof InvalidData);
      return !`${error.stack}${JSON.stringify(error)}`.match(/s3cr3t|271828/);
    });
  }
});

test("a survey with 10,000 options is read, and answered, quickly", () => {
  const options = Array.from({ length: 10_000 }, (_, place) => `Option number ${place}`);
  const law = { law: "k-ary", answers: 10_000, truth: 8, other: 3 };
  const text = published([{ ...COIN, kind: "list", options, law }]);
  const start = performance.now();
  const survey = parseSurvey(text);
  makeReport(survey, { cheated: options[9_999] });
  assert.ok(performance.now() - start < 500, "far above the usual 20 ms: something is quadratic");
});
