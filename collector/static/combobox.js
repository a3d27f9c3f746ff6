/**
 * A search in a long list: the combobox pattern of WAI-ARIA 1.2, with a list that opens below.
 * Searching is done here; nothing that is typed goes anywhere.
 */

import { element, freshId, w } from "./dom.js";

/** So many matches are shown. */
const MOST = 50;

/** Texts without case and accents, so that "cote" finds "Côte". */
const folded = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().trim();

/**
 * @param {string[]} options
 * @param {{label: string, describedBy: string, changed: () => void}} settings
 */
export function combobox(options, { label, describedBy, changed }) {
  let known;
  let chosen = -1;
  let shown = [];
  let active = -1;
  const listId = freshId();
  const list = element("ul", { id: listId, role: "listbox", "aria-labelledby": label });
  const status = element("p", { class: "hint live", role: "status" });
  const input = element("input", {
    type: "text",
    role: "combobox",
    "aria-autocomplete": "list",
    "aria-controls": listId,
    "aria-labelledby": label,
    "aria-describedby": describedBy,
    autocomplete: "off",
    autocapitalize: "none",
    autocorrect: "off",
    // Some browsers send what is spell-checked to their makers.
    spellcheck: "false",
    oninput: typed,
    onclick: () => list.hidden && reopen(),
    onkeydown: pressed,
    onblur: close,
  });

  function search(wanted) {
    const [begin, hold] = [[], []];
    let total = 0;
    (known ??= options.map(folded)).forEach((option, index) => {
      const at = option.indexOf(wanted);
      if (at < 0) return;
      total += 1;
      const matches = at === 0 ? begin : hold;
      if (matches.length < MOST) matches.push(index);
    });
    return { total, matches: [...begin, ...hold].slice(0, MOST) };
  }

  function open(wanted) {
    const { total, matches } = search(wanted);
    shown = matches;
    list.replaceChildren(...matches.map(entry));
    setOpen(matches.length > 0);
    activate(matches.indexOf(chosen));
    const name = total === 0 ? "list-none" : total > shown.length ? "list-more" : "list-found";
    status.textContent = w(name, { count: shown.length, total });
  }

  /** On what was typed so far or, with a choice made, on the whole list again. */
  const reopen = () => open(chosen < 0 ? folded(input.value) : "");

  function entry(index) {
    // On mousedown, for by the time of a click the field has lost the focus and the list is gone.
    const pick = (event) => {
      event.preventDefault();
      choose(index);
    };
    const selected = String(index === chosen);
    const attributes = { id: freshId(), role: "option", "aria-selected": selected };
    return element("li", { ...attributes, onmousedown: pick }, options[index]);
  }

  function setOpen(is) {
    list.hidden = !is;
    input.setAttribute("aria-expanded", is);
    if (!is) activate(-1);
  }

  function close() {
    setOpen(false);
    status.textContent = "";
  }

  function activate(place) {
    active = place;
    [...list.children].forEach((item, index) => item.classList.toggle("active", index === place));
    const item = list.children[place];
    input.setAttribute("aria-activedescendant", item?.id ?? "");
    item?.scrollIntoView({ block: "nearest" });
  }

  function choose(index) {
    chosen = index;
    input.value = options[index];
    close();
    changed();
  }

  function typed() {
    chosen = spelt(input.value);
    open(folded(input.value));
    changed();
  }

  /** The option that is spelt out in full, and so needs no choosing; -1 if none or several. */
  function spelt(value) {
    const same = options.indexOf(value.trim());
    if (same >= 0) return same;
    const wanted = folded(value);
    known ??= options.map(folded);
    const first = known.indexOf(wanted);
    return first === known.lastIndexOf(wanted) ? first : -1;
  }

  function pressed(event) {
    const { key, altKey } = event;
    const last = shown.length - 1;
    if (key === "Escape") {
      if (list.hidden) clear();
      else close();
    } else if (key === "Enter") {
      if (active >= 0) choose(shown[active]);
    } else if (key === "ArrowDown" || key === "ArrowUp") {
      if (list.hidden) reopen();
      const step = key === "ArrowDown" ? 1 : -1;
      if (!altKey && !list.hidden) {
        activate(active < 0 && step < 0 ? last : (active + step + shown.length) % shown.length);
      }
    } else return;
    event.preventDefault();
  }

  function clear() {
    chosen = -1;
    input.value = "";
    close();
  }

  close();
  return {
    elements: [element("div", { class: "combobox" }, input, status, list)],
    input,
    index: () => chosen,
    clear,
    focus: () => input.focus(),
  };
}
