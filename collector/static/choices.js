/**
 * Buttons to choose with. The inputs have no names, so that no browser remembers, restores or
 * submits what was chosen; what a name would do for a group of them is done here.
 */

import { element, freshId } from "./dom.js";

/**
 * One of several.
 * @param {Node[]} labels
 * @param {() => void} changed
 */
export function radios(labels, changed) {
  const inputs = labels.map((_, place) =>
    element("input", {
      type: "radio",
      autocomplete: "off",
      "aria-posinset": place + 1,
      "aria-setsize": labels.length,
      onchange: () => choose(place),
      onkeydown: (event) => move(event, place),
    }),
  );
  const index = () => inputs.findIndex((input) => input.checked);

  function settle() {
    const chosen = Math.max(index(), 0);
    inputs.forEach((input, place) => (input.tabIndex = place === chosen ? 0 : -1));
  }

  function choose(chosen) {
    inputs.forEach((input, place) => (input.checked = place === chosen));
    settle();
    changed();
  }

  function move(event, place) {
    const step = stepOf(event);
    if (!step) return;
    event.preventDefault();
    const next = (place + step + inputs.length) % inputs.length;
    inputs[next].focus();
    choose(next);
  }

  function clear() {
    for (const input of inputs) input.checked = false;
    settle();
  }

  settle();
  return {
    elements: inputs.map((input, place) => option(input, labels[place])),
    index,
    clear,
    focus: () => inputs[Math.max(index(), 0)].focus(),
  };
}

/** Forward or back, for the keys that move within a group. */
function stepOf({ key, target, altKey, ctrlKey, metaKey }) {
  if (altKey || ctrlKey || metaKey) return 0;
  const forward = getComputedStyle(target).direction === "rtl" ? "ArrowLeft" : "ArrowRight";
  if (key === "ArrowDown" || key === forward) return 1;
  return ["ArrowUp", "ArrowLeft", "ArrowRight"].includes(key) ? -1 : 0;
}

/**
 * Any of several; the one at `alone`, if given, goes with no other.
 * @param {Node[]} labels
 * @param {() => void} changed
 */
export function boxes(labels, changed, alone = -1) {
  const inputs = labels.map((_, place) =>
    element("input", { type: "checkbox", autocomplete: "off", onchange: () => ticked(place) }),
  );

  function ticked(place) {
    if (inputs[place].checked) {
      inputs.forEach((input, other) => {
        if (other !== place && (place === alone || other === alone)) input.checked = false;
      });
    }
    changed();
  }

  return {
    elements: inputs.map((input, place) => option(input, labels[place])),
    indexes: () => inputs.flatMap((input, place) => (input.checked ? [place] : [])),
    clear: () => inputs.forEach((input) => (input.checked = false)),
    focus: () => inputs[0].focus(),
  };
}

function option(input, label) {
  input.id = freshId();
  return element("label", { class: "option", for: input.id }, input, label);
}
