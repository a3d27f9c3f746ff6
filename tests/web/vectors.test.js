// The vectors that Python reads too: tests/vectors, one scenario each.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";

import {
  floatUp,
  logUp,
  makeReport,
  parseReport,
  parseSurvey,
  randbelow,
  readLaw,
} from "../../respondent/web/respondent.js";

const VECTORS = new URL("../vectors/", import.meta.url);

const readVector = (path) => JSON.parse(readFileSync(new URL(path, VECTORS), "utf-8"));

/** One test for each file of a folder. */
function eachVector(folder, run) {
  const files = readdirSync(new URL(`${folder}/`, VECTORS));
  const names = files.filter((name) => name.endsWith(".json"));
  test(`${folder} has vectors`, () => assert.notEqual(names.length, 0));
  for (const name of names) {
    const vector = readVector(`${folder}/${name}`);
    test(`${folder}/${name}: ${vector.comment}`, () => run(vector));
  }
}

/** Randomness from hexadecimal digits; `left` says how many bytes are unused. */
function scripted(hex) {
  let bytes = Buffer.from(hex, "hex");
  const take = (size) => {
    assert.ok(size <= bytes.length, "must not need more bytes than the vector has");
    const taken = new Uint8Array(bytes.subarray(0, size));
    bytes = bytes.subarray(size);
    return taken;
  };
  return { take, left: () => bytes.length };
}

const publishedData = ({ published, hex }) =>
  published ?? new Uint8Array(Buffer.from(hex, "hex"));

function problemsOf(data) {
  try {
    parseSurvey(data);
  } catch (error) {
    assert.equal(error.name, "InvalidSurvey");
    return [...error.problems];
  }
  return [];
}

eachVector("randomise", ({ vectors }) => {
  assert.notEqual(vectors.length, 0);
  for (const { law, answer, bytes, response } of vectors) {
    const { take, left } = scripted(bytes);
    const found = readLaw(law).randomise(answer, (total) => randbelow(total, take));
    assert.deepEqual([found, left()], [response, 0], JSON.stringify({ law, answer, bytes }));
  }
});

eachVector("published", (vector) => {
  const data = publishedData(vector);
  if (vector.problems) {
    assert.deepEqual(problemsOf(data), vector.problems);
    return;
  }
  const survey = parseSurvey(data);
  assert.equal(survey.publish(), vector.published);
  assert.equal(parseSurvey(new TextEncoder().encode(data)).fingerprint, vector.fingerprint);
  assert.equal(survey.fingerprint, vector.fingerprint);
  assert.equal(survey.epsilon, vector.epsilon);
  assert.equal(survey.delta, vector.delta);
  assert.notEqual(Object.keys(vector.explain).length, 0);
  for (const [language, sentences] of Object.entries(vector.explain)) {
    const questions = survey.questions.map((question) => question.explain(language));
    assert.deepEqual([survey.explain(language), ...questions], sentences);
  }
});

eachVector("reports", ({ survey: name, answers, bytes, report, responses, problem }) => {
  const survey = parseSurvey(readVector(`published/${name}`).published);
  if (answers && problem !== undefined) {
    assert.throws(() => makeReport(survey, answers), { name: "InvalidAnswer", message: problem });
  } else if (answers) {
    const { take, left } = scripted(bytes);
    const made = makeReport(survey, answers, take);
    assert.deepEqual([made.text, left()], [report, 0]);
    assert.deepEqual(parseReport(survey, report), made);
  } else if (problem !== undefined) {
    assert.throws(() => parseReport(survey, report), { name: "InvalidReport", message: problem });
  } else {
    assert.deepEqual([...parseReport(survey, report).responses], responses);
  }
});

test("exact.json: ε to the last bit", () => {
  const { vectors } = readVector("exact.json");
  assert.notEqual(vectors.length, 0);
  for (const { top, bottom, epsilon } of vectors) {
    assert.equal(floatUp(logUp(BigInt(top), BigInt(bottom)), 1n << 120n), epsilon);
  }
});
