/**
 * Counts responses of one law, for audits: `node sample.js < job.json`.
 * A job is {law, answer, draws, seed}; a seed of null means the system's entropy.
 */

import { createCipheriv, createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { randbelow, readLaw } from "./respondent.js";

/** Bytes that follow from a seed: AES in counter mode. */
function seeded(seed) {
  const key = createHash("sha256").update(String(seed)).digest();
  const cipher = createCipheriv("aes-256-ctr", key, Buffer.alloc(16));
  const zeros = Buffer.alloc(1 << 16);
  let block = cipher.update(zeros);
  let place = 0;
  return (size) => {
    if (place + size > block.length) {
      block = cipher.update(zeros);
      place = 0;
    }
    place += size;
    return block.subarray(place - size, place);
  };
}

const job = JSON.parse(readFileSync(0, "utf8"));
const law = readLaw(job.law);
const bytes = job.seed === null ? undefined : seeded(job.seed);
const draw = (total) => randbelow(total, bytes);
const counts = new Map();
for (let i = 0; i < job.draws; i += 1) {
  const response = law.randomise(job.answer, draw);
  counts.set(response, (counts.get(response) ?? 0) + 1);
}
process.stdout.write(JSON.stringify(Object.fromEntries(counts)));
