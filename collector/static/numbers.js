/** Numbers as people write them: with their language's marks for thousands and decimals. */

// Sentences about odds have these digits too, in every language.
const FORMAT = { numberingSystem: "latn", maximumFractionDigits: 6 };

/** A decimal number given as a text, for reading. */
export const spellNumber = (number, language) =>
  new Intl.NumberFormat(language, FORMAT).format(number);

/**
 * What was typed as a decimal number with a point, as `Question.encode` takes it. A mark for
 * thousands counts as one only where thousands are; "2.5" is two and a half in German too.
 */
export function readNumber(typed, language) {
  const parts = new Intl.NumberFormat(language, FORMAT).formatToParts(-1234567.5);
  const mark = (type) => parts.find((part) => part.type === type).value;
  const [group, decimal] = [mark("group"), mark("decimal")];
  let number = typed
    .normalize("NFKC")
    .replace(/[\s'’٬]/g, "")
    .replace(/[−‐‑]/g, "-")
    .replace("٫", ".");
  const pieces = number.split(group);
  const [first, ...rest] = pieces;
  const inThousands =
    rest.length > 0 &&
    /^[-+]?\d{1,3}$/.test(first) &&
    rest.slice(0, -1).every((piece) => /^\d{3}$/.test(piece)) &&
    /^\d{3}(\D|$)/.test(rest.at(-1));
  if (inThousands) number = pieces.join("");
  return decimal === "." ? number : number.replace(decimal, ".");
}
