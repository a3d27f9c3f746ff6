// What the shared vectors mean, for Node and browsers alike: tests/vectors, one scenario each.

import {
  floatUp,
  logUp,
  makeReport,
  parseReport,
  parseSurvey,
  randbelow,
  readLaw,
} from "../../respondent/web/respondent.js";

const bytesOf = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));

/** Randomness from hexadecimal digits; `left` says how many bytes are unused. */
function scripted(hex) {
  let bytes = bytesOf(hex);
  const take = (size) => {
    if (size > bytes.length) throw new RangeError("more bytes were drawn than the vector has");
    const taken = bytes.slice(0, size);
    bytes = bytes.slice(size);
    return taken;
  };
  return { take, left: () => bytes.length };
}

/** What `work` throws, as [name, message or problems], or null if it does not. */
function refusal(work) {
  try {
    work();
  } catch (error) {
    return [error.name, error.problems ?? error.message];
  }
  return null;
}

function randomise({ vectors }) {
  return vectors.map(({ law, answer, bytes, response }) => {
    const { take, left } = scripted(bytes);
    const found = readLaw(law).randomise(answer, (total) => randbelow(total, take));
    return [[found, left()], [response, 0]];
  });
}

function published(vector) {
  const data = vector.hex === undefined ? vector.published : bytesOf(vector.hex);
  if (vector.problems) {
    return [[refusal(() => parseSurvey(data)), ["InvalidSurvey", vector.problems]]];
  }
  const survey = parseSurvey(data);
  const found = [survey.publish(), survey.fingerprint, survey.epsilon, survey.delta];
  const told = Object.keys(vector.explain).map((language) => [
    survey.explain(language),
    ...survey.questions.map((question) => question.explain(language)),
  ]);
  const again = parseSurvey(new TextEncoder().encode(data)).fingerprint;
  return [
    [found, [vector.published, vector.fingerprint, vector.epsilon, vector.delta]],
    [told, Object.values(vector.explain)],
    [again, vector.fingerprint],
  ];
}

function reports({ answers, bytes, report, responses, problem }, survey) {
  if (answers && problem !== undefined) {
    return [[refusal(() => makeReport(survey, answers)), ["InvalidAnswer", problem]]];
  }
  if (answers) {
    const { take, left } = scripted(bytes);
    const made = makeReport(survey, answers, take);
    return [
      [[made.text, left()], [report, 0]],
      [parseReport(survey, report).text, made.text],
    ];
  }
  if (problem !== undefined) {
    return [[refusal(() => parseReport(survey, report)), ["InvalidReport", problem]]];
  }
  return [[[...parseReport(survey, report).responses], responses]];
}

function exact({ vectors }) {
  return vectors.map(({ top, bottom, epsilon }) => [
    floatUp(logUp(BigInt(top), BigInt(bottom)), 1n << 120n),
    epsilon,
  ]);
}

/**
 * Pairs of what was found and what is expected, never none.
 * @param {string} folder @param {object} vector
 * @param {(name: string) => object} publishedVector reads a vector of the folder "published"
 */
export function compare(folder, vector, publishedVector) {
  const survey = vector.survey && parseSurvey(publishedVector(vector.survey).published);
  const pairs = { randomise, published, reports, exact }[folder](vector, survey);
  if (pairs.length === 0) throw new RangeError("a vector without cases");
  return pairs;
}
