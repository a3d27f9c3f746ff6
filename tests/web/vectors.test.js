// The shared vectors in Node.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";

import { compare } from "./vectors.js";

const VECTORS = new URL("../vectors/", import.meta.url);

const readVector = (path) => JSON.parse(readFileSync(new URL(path, VECTORS), "utf-8"));

function check(folder, path) {
  const vector = readVector(path);
  test(`${path}: ${vector.comment}`, () => {
    const pairs = compare(folder, vector, (name) => readVector(`published/${name}`));
    for (const [found, expected] of pairs) assert.deepEqual(found, expected);
  });
}

for (const folder of ["randomise", "published", "reports"]) {
  const names = readdirSync(new URL(`${folder}/`, VECTORS)).filter((n) => n.endsWith(".json"));
  test(`${folder} has vectors`, () => assert.notEqual(names.length, 0));
  for (const name of names) check(folder, `${folder}/${name}`);
}
check("exact", "exact.json");
