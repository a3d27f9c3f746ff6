/** Delivers a sealed report: the same bytes, however often. */

import { randbelow } from "../respondent/respondent.js";

const TIMEOUT = 20_000;
const FIRST_PAUSE = 2_000;
const LONGEST_PAUSE = 60_000;

/** The collector may take the same bytes later. */
const LATER = new Set([408, 425, 429]);

/** Other replies by which the page can say more than the collector does. */
const REFUSALS = new Map([
  [403, "uninvited"],
  [410, "closed"],
]);

/**
 * @param {{
 *   url: string,
 *   text: string,
 *   invitation?: string,
 *   retry: boolean whether to go on by itself where the collector cannot be reached
 *   arrived: () => Promise<void>,
 *   tell: (name: string, values?: {problem?: string, seconds?: number}) => void,
 * }} job `tell` hears how it stands: "sending", "sent", "waiting" (to try again), "unreached",
 *   "refused", "uninvited" or "closed"
 */
export function outbox({ url, text, invitation, retry, arrived, tell }) {
  let pause = FIRST_PAUSE;
  let timer;
  let busy = false;

  async function send() {
    if (busy) return;
    busy = true;
    clearTimeout(timer);
    tell("sending");
    const { name, problem } = await post(url, text, invitation);
    busy = false;
    if (name === "unreached" && retry) return wait(problem);
    if (name === "sent") {
      removeEventListener("online", send);
      await arrived();
    }
    tell(name, { problem });
  }

  /** Try again after a pause that doubles; a part of it is chance, or all would come at once. */
  function wait(problem) {
    const milliseconds = pause / 2 + randbelow(pause / 2);
    pause = Math.min(2 * pause, LONGEST_PAUSE);
    timer = setTimeout(send, milliseconds);
    tell("waiting", { problem, seconds: Math.ceil(milliseconds / 1000) });
  }

  if (retry) addEventListener("online", send);
  return { send };
}

async function post(url, text, invitation) {
  const headers = { "Content-Type": "application/json" };
  if (invitation) headers["Deniable-Invitation"] = invitation;
  try {
    const reply = await fetch(url, {
      method: "POST",
      body: text,
      headers,
      cache: "no-store",
      credentials: "omit",
      keepalive: true,
      redirect: "error",
      referrerPolicy: "no-referrer",
      signal: AbortSignal.timeout(TIMEOUT),
    });
    if (reply.status === 201) return { name: "sent" };
    const later = LATER.has(reply.status) || reply.status >= 500;
    const name = later ? "unreached" : (REFUSALS.get(reply.status) ?? "refused");
    return { name, problem: await problemOf(reply) };
  } catch {
    return { name: "unreached" };
  }
}

/** The collector's own explanation, if it gives one. */
async function problemOf(reply) {
  try {
    return String((await reply.json()).problem);
  } catch {
    return String(reply.status);
  }
}
