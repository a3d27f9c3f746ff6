/**
 * Elements from code. Texts become text nodes and nothing else, so no text can be markup.
 */

import { say, speaker } from "../respondent/respondent.js";
import words from "./words.js";

const root = document.documentElement;
const { language } = document.querySelector("main").dataset;
const speak = speaker(words);

/** The language of the page around the survey's texts. */
export const spoken = root.lang;

/** The language of the survey's texts. */
export const asked = language;

/** A word of the page. */
export const w = (name, values) => speak(spoken, name, values);

/** A text of the survey as a string. */
export const text = (said) => say(said, asked);

/** A text of the survey as an element, which says its language where that is another. */
export function said(tag, attributes, words) {
  const foreign = asked === spoken ? {} : { lang: asked, dir: "auto" };
  return element(tag, { ...attributes, ...foreign }, text(words));
}

/**
 * @param {string} tag
 * @param {Record<string, unknown>} [attributes] left out where false, null or undefined;
 *   a function under `onclick` and the like listens
 * @param {...(Node | string | null)} children
 */
export const element = (tag, attributes, ...children) =>
  filled(document.createElement(tag), attributes, children);

/** The same for drawings. */
export const shape = (tag, attributes, ...children) =>
  filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

function filled(made, attributes = {}, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== null && value !== false) {
      made.setAttribute(name, value === true ? "" : value);
    }
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

/** @param {() => void} onclick */
export const button = (label, onclick, attributes = {}) =>
  element("button", { type: "button", onclick, ...attributes }, label);

let count = 0;

/** An id that no other element has. */
export const freshId = () => `e${(count += 1)}`;

/** Several texts in one line; they may have commas of their own. */
export const listed = (items) => items.join(" · ");
