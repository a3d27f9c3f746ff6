/** All questions of a survey in pages, which of them are shown, and the answers to those. */

import { element, said, w } from "./dom.js";
import { fieldOf } from "./fields.js";

/** @param {import("../respondent/respondent.js").Survey} survey */
export function questionsOf(survey) {
  const fields = survey.questions.map((question) => fieldOf(question, update));
  const pages = [];
  for (const field of fields) {
    if (field.question.page || pages.length === 0) pages.push([]);
    pages.at(-1).push(field);
  }

  /** The fields that are shown, given the answers to plain questions so far. */
  function shown() {
    const responses = new Map();
    return fields.filter(({ question, read }) => {
      if (!survey.shown(question, responses)) {
        responses.set(question.id, question.notAsked);
        return false;
      }
      const found = question.protected ? {} : read();
      if ("answer" in found) responses.set(question.id, question.encode(found.answer));
      return true;
    });
  }

  function update() {
    const visible = new Set(shown());
    for (const field of fields) field.element.hidden = !visible.has(field);
  }

  /** The numbers of the pages that have anything to ask. */
  function open() {
    const visible = new Set(shown());
    const asks = (page) => page.some((field) => visible.has(field));
    return pages.flatMap((page, number) => (asks(page) ? number : []));
  }

  /** The first page that is not answered yet; undefined if all are. */
  function unanswered() {
    const visible = new Set(shown());
    const lacks = (field) => visible.has(field) && "problem" in field.read();
    return open().find((number) => pages[number].some(lacks));
  }

  /** Says on the page what is wrong there; goes to the first problem, if any. */
  function check(number) {
    const visible = new Set(shown());
    const wrong = pages[number].filter((field) => {
      const { problem = "" } = visible.has(field) ? field.read() : {};
      field.tell(problem);
      return problem;
    });
    wrong[0]?.focus();
    return wrong.length === 0;
  }

  update();
  return {
    open,
    unanswered,
    check,
    pageOf: (number) => page(pages[number]),
    /** What was answered, by question id. */
    answers: () =>
      Object.fromEntries(shown().map(({ question, read }) => [question.id, read().answer])),
    /** The same in words, with the page to change it on. */
    review: () =>
      shown().map((field) => ({
        question: field.question,
        words: field.read().words,
        page: pages.findIndex((page) => page.includes(field)),
      })),
    clear() {
      for (const field of fields) field.clear();
      update();
    },
  };
}

/** The first question of a page has its title. */
function page(fields) {
  const title = fields[0].question.page;
  return [
    title
      ? said("h2", { tabindex: "-1" }, title)
      : element("h2", { tabindex: "-1" }, w("questions")),
    ...fields.map((field) => field.element),
  ];
}
