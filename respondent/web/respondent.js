/**
 * Deniable for respondents, in one module for browsers and Node: read a published survey,
 * randomise answers, make and seal a report. What the Python package `respondent` does,
 * with the same draws from the same bytes, the same ε to the last bit and the same words.
 *
 * The page may come over plain http on a local network, where `crypto.subtle` and
 * `navigator.locks` do not exist: SHA-256 is therefore here, and IndexedDB does the locking.
 */

import words from "./words.js";

/** @typedef {(size: number) => Uint8Array} RandBytes */
/** @typedef {(total: number) => number} RandBelow */
/** @typedef {[top: bigint, bottom: bigint]} Fraction */
/** @typedef {string | Record<string, string>} Text One text, or one for each language. */

// ---------------------------------------------------------------- errors

/** Base of the others: data from outside broke a rule. Messages never contain an answer. */
export class InvalidData extends Error {
  get name() { return this.constructor.name; }
}

/** A survey broke rules; `problems` lists every one of them. */
export class InvalidSurvey extends InvalidData {
  /** @param {string[]} problems @param {string} [source] */
  constructor(problems, source = "the survey") {
    const count = problems.length === 1 ? "1 problem" : `${problems.length} problems`;
    super([`${source} has ${count}:`, ...problems].join("\n  "));
    this.problems = Object.freeze([...problems]);
  }
}

/** An answer does not fit its question; the message names the question only. */
export class InvalidAnswer extends InvalidData {}

/** A report does not fit its survey. */
export class InvalidReport extends InvalidData {}

// ---------------------------------------------------------------- randomness

/** @type {RandBytes} */
const systemBytes = (size) => crypto.getRandomValues(new Uint8Array(size));

/**
 * One uniform whole number from 0 to `total - 1`, without bias, by rejection.
 * @param {number} total below 2^53
 * @param {RandBytes} [randbytes]
 */
export function randbelow(total, randbytes = systemBytes) {
  if (!Number.isSafeInteger(total) || total < 1) throw new RangeError("total: must be 1 to 2^53-1");
  const bits = total === 1 ? 0 : (total - 1).toString(2).length;
  const size = Math.ceil(bits / 8);
  const surplus = size * 8 - bits;
  for (;;) {
    const value = leadingBits(randbytes(size), surplus);
    if (value < total) return value;
  }
}

/** The bytes as a number, less its `surplus` low bits, which could pass 2^53. */
function leadingBits(bytes, surplus) {
  let value = 0;
  bytes.forEach((byte, place) => {
    const drop = place === bytes.length - 1 ? surplus : 0;
    value = value * 2 ** (8 - drop) + (byte >> drop);
  });
  return value;
}

// ---------------------------------------------------------------- exact

/** Totals of weights stay below this, so numbers hold them exactly. */
const LIMIT = 2 ** 53;

const BITS = 120n;
const ONE = 1n << BITS;

const bitLength = (value) => value.toString(2).length;

/** Quotient of whole numbers below 2^53; a plain division could round up to the next. */
const quotient = (top, bottom) => (top - (top % bottom)) / bottom;

/**
 * An upper bound of ln(top/bottom), top ≥ bottom, as a numerator over 2^120.
 * `exact.py` says why it is one.
 * @param {bigint} top @param {bigint} bottom @returns {bigint}
 */
export function logUp(top, bottom) {
  if (top < bottom || bottom < 1n) throw new RangeError("ratio: must be at least 1");
  if (top === bottom) return 0n;
  let shift = BigInt(bitLength(top) - bitLength(bottom));
  if (top < bottom << shift) shift -= 1n;
  const base = bottom << shift;
  const units = 2n * (atanh(top - base, top + base) + shift * atanh(1n, 3n));
  return units + 512n * (shift + 1n);
}

function atanh(top, bottom) {
  const z = (top * ONE) / bottom;
  const square = (z * z) / ONE;
  let total = 0n;
  for (let power = z, odd = 1n; power; power = (power * square) / ONE, odd += 2n) {
    total += power / odd;
  }
  return total;
}

/**
 * The smallest double that is not below a fraction ≥ 0.
 * @param {bigint} top @param {bigint} bottom @returns {number}
 */
export function floatUp(top, bottom) {
  if (top < 0n || bottom < 1n) throw new RangeError("value: must be at least 0");
  if (top === 0n) return 0;
  // Scale so that the quotient, rounded up, has the 53 bits of a double.
  let shift = 53 - (bitLength(top) - bitLength(bottom));
  if (scaled(top, shift) >= scaled(bottom, -shift) << 53n) shift -= 1;
  shift = Math.min(shift, 1074);
  const [dividend, divisor] = [scaled(top, shift), scaled(bottom, -shift)];
  return Number((dividend + divisor - 1n) / divisor) * 2 ** -shift;
}

const scaled = (value, shift) => (shift > 0 ? value << BigInt(shift) : value);

/** @returns {Fraction} in lowest terms */
function fraction(top, bottom) {
  const [a, b] = [BigInt(top), BigInt(bottom)];
  let [divisor, rest] = [a, b];
  while (rest) [divisor, rest] = [rest, divisor % rest];
  return [a / divisor, b / divisor];
}

/** The ratio of two weights, the larger on top. */
const spread = (one, other) => fraction(Math.max(one, other), Math.min(one, other));

const isLess = (one, other) => one[0] * other[1] < other[0] * one[1];
const smaller = (one, other) => (isLess(other, one) ? other : one);
const larger = (one, other) => (isLess(one, other) ? other : one);
const add = (one, other) => fraction(one[0] * other[1] + other[0] * one[1], one[1] * other[1]);
const ceil = (top, bottom) => (top + bottom - 1n) / bottom;

// ---------------------------------------------------------------- laws

const MOST_ANSWERS = 10 ** 6;
const MOST_STEPS = 10 ** 6;
const MOST_CELLS = 20_000;
const MOST_TICKS = 50;
const WEIGHT = [1, LIMIT - 1];

/**
 * The law by which an answer becomes a response: whole-number weights and nothing else.
 * P(response | answer) = weight(answer, response) / total(answer). A child defines its
 * parameters, weights and draw order; `largestRatio` is that of two answers' probabilities
 * of one response, so ε = ln ratio.
 */
class Law {
  /** Smallest and largest value of each whole-number parameter. */
  static bounds = {};
  static optional = [];

  #ratio;
  #delta;
  #epsilonBound;

  constructor(parameters) {
    for (const [key, value] of Object.entries(parameters)) this[camel(key)] = value;
  }

  static get parameters() { return Object.keys(this.bounds); }
  get name() { return this.constructor.law; }

  /** The largest total that `respond` draws below. */
  get largestDraw() { return this.total(0); }

  /** Rules that parameters within their bounds can still break together. */
  problems() { return []; }

  /** Probability mass outside `ratio`; zero for every law but some `Distance`. */
  excess() { return [0n, 1n]; }

  /** @returns {Fraction} */
  get ratio() { return (this.#ratio ??= this.largestRatio()); }

  /** @returns {Fraction} */
  get delta() { return (this.#delta ??= this.excess()); }

  /** ε, rounded up, as a numerator over 2^120. */
  get epsilonBound() { return (this.#epsilonBound ??= logUp(...this.ratio)); }

  /** ε as a double, rounded up. */
  get epsilon() { return floatUp(this.epsilonBound, ONE); }

  /** @returns {Fraction} */
  probability(answer, response) {
    return fraction(this.weight(answer, response), this.total(answer));
  }

  /**
   * One response to an answer, by exact draws.
   * @param {number} answer @param {RandBelow} [draw]
   */
  randomise(answer, draw = randbelow) {
    if (!Number.isInteger(answer) || answer < 0 || answer >= this.answers) {
      throw new InvalidAnswer("the answer is not one that this law knows");
    }
    return this.respond(answer, draw);
  }
}

/** No protection: the response is the answer, and no ε describes it. */
class Plain extends Law {
  static law = "plain";
  static bounds = { answers: [2, 2 ** MOST_TICKS] };

  get responses() { return this.answers; }
  total() { return 1; }
  weight(answer, response) { return answer === response ? 1 : 0; }
  respond(answer) { return answer; }
  largestRatio() { throw new TypeError("a plain law has no ratio"); }
}

/** The answer weighs `truth`, every other answer `other` (Warner 1965 for two). */
class KAry extends Law {
  static law = "k-ary";
  static bounds = { answers: [2, MOST_ANSWERS], truth: WEIGHT, other: WEIGHT };

  get responses() { return this.answers; }
  total() { return this.truth + (this.answers - 1) * this.other; }
  weight(answer, response) { return answer === response ? this.truth : this.other; }

  respond(answer, draw) {
    const drawn = draw(this.total());
    if (drawn < this.truth) return answer;
    const other = quotient(drawn - this.truth, this.other);
    return other < answer ? other : other + 1;
  }

  largestRatio() { return spread(this.truth, this.other); }
  get p() { return fraction(this.truth, this.total()); }
  get q() { return fraction(this.other, this.total()); }
}

/**
 * Tick all that apply: one option, drawn without regard to the answer, and its coin. An
 * answer is a bit mask of up to 50 bits, too many for the bit operators. Response
 * 2·option + 1 says the option is ticked, 2·option that it is not.
 */
class OneOf extends Law {
  static law = "one-of";
  static bounds = { options: [2, MOST_TICKS], truth: WEIGHT, other: WEIGHT };

  get answers() { return 2 ** this.options; }
  get responses() { return 2 * this.options; }
  total() { return this.options * (this.truth + this.other); }

  weight(answer, response) {
    const option = quotient(response, 2);
    return ticked(answer, option) === response % 2 ? this.truth : this.other;
  }

  respond(answer, draw) {
    const drawn = draw(this.total());
    const option = quotient(drawn, this.truth + this.other);
    const coin = drawn % (this.truth + this.other);
    const tick = ticked(answer, option);
    return 2 * option + (coin < this.truth ? tick : 1 - tick);
  }

  largestRatio() { return spread(this.truth, this.other); }
  get p() { return fraction(this.truth, this.truth + this.other); }
  get q() { return fraction(this.other, this.truth + this.other); }
}

const ticked = (answer, option) => Math.floor(answer / 2 ** option) % 2;

/** Any small design: one row of weights for each answer, one column for each response. */
class Table extends Law {
  static law = "table";
  static parameters = ["rows"];

  constructor(parameters) {
    super(parameters);
    this.sums = this.rows.map(accumulate);
  }

  get answers() { return this.rows.length; }
  get responses() { return this.rows[0].length; }
  total(answer) { return this.sums[answer].at(-1); }
  weight(answer, response) { return this.rows[answer][response]; }
  get largestDraw() { return Math.max(...this.sums.map((sums) => sums.at(-1))); }

  respond(answer, draw) {
    return bisectRight(this.sums[answer], draw(this.total(answer)));
  }

  largestRatio() {
    const ratios = this.rows[0].map((_, response) => {
      const column = this.rows.map((_, answer) => this.probability(answer, response));
      const [most, least] = [column.reduce(larger), column.reduce(smaller)];
      return fraction(most[0] * least[1], most[1] * least[0]);
    });
    return ratios.reduce(larger);
  }
}

function accumulate(values) {
  let sum = 0;
  return values.map((value) => (sum += value));
}

/** How many of the ascending `sums` are at most `value`. */
function bisectRight(sums, value) {
  let [low, high] = [0, sums.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (value < sums[middle]) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * Subset selection (Ye & Barg 2017): the response is a set of `size` answers. A set weighs
 * `inside` if the answer is in it and `outside` otherwise. Sets are numbered in
 * colexicographic order: c₁ < c₂ < … is number C(c₁,1) + C(c₂,2) + ….
 */
class Subset extends Law {
  static law = "subset";
  static bounds = { answers: [3, 128], size: [1, 127], inside: WEIGHT, outside: WEIGHT };

  problems() {
    return this.size < this.answers ? [] : ["size: must be smaller than the number of answers"];
  }

  get responses() { return comb(this.answers, this.size); }

  /** All the sets with, and all without, the answer: their weights in lowest terms. */
  get sides() {
    return [this.inside * this.size, this.outside * (this.answers - this.size)];
  }

  get largestDraw() {
    const [inside, outside] = this.sides;
    return Math.max(inside + outside, this.responses);
  }

  /** A bigint, for it may pass 2^53: `respond` draws side and set apart, each below it. */
  total() {
    const withAnswer = BigInt(comb(this.answers - 1, this.size - 1));
    const without = BigInt(this.responses) - withAnswer;
    return withAnswer * BigInt(this.inside) + without * BigInt(this.outside);
  }

  weight(answer, response) {
    return members(response, this.size).includes(answer) ? this.inside : this.outside;
  }

  respond(answer, draw) {
    const [inside, outside] = this.sides;
    const holds = draw(inside + outside) < inside;
    const size = holds ? this.size - 1 : this.size;
    const others = members(draw(comb(this.answers - 1, size)), size);
    const chosen = others.map((other) => (other >= answer ? other + 1 : other));
    if (holds) chosen.push(answer);
    chosen.sort((one, other) => one - other);
    return chosen.reduce((sum, member, place) => sum + comb(member, place + 1), 0);
  }

  largestRatio() { return spread(this.inside, this.outside); }

  get p() {
    const [inside, outside] = this.sides;
    return fraction(inside, inside + outside);
  }

  get q() {
    const [inside, outside] = this.sides.map(BigInt);
    const size = BigInt(this.size);
    const withOther = inside * (size - 1n) + outside * size;
    return fraction(withOther, BigInt(this.answers - 1) * (inside + outside));
  }
}

const pascal = [[1]];

/** C(top, bottom): exact below 2^53, and 2^53 or more where the true one is. */
function comb(top, bottom) {
  while (pascal.length <= top) {
    const last = pascal.at(-1);
    pascal.push([1, ...last.map((value, place) => value + (last[place + 1] ?? 0))]);
  }
  return pascal[top][bottom] ?? 0;
}

/** The set of `size` whole numbers that has this colexicographic number, largest first. */
function members(number, size) {
  const found = [];
  for (let place = size, rest = number; place > 0; place -= 1) {
    let member = place - 1;
    while (comb(member + 1, place) <= rest) member += 1;
    rest -= comb(member, place);
    found.push(member);
  }
  return found;
}

/**
 * Projective geometry (Feldman, Nelson, Nguyen & Talwar, ICML 2022). Answers and responses
 * are points of the projective space over F_prime of vector dimension `dimension`. Responses
 * orthogonal to the answer weigh `inside`, the rest `outside`. A point is its vector with
 * first non-zero coordinate 1; points are numbered so that these vectors, read as numbers in
 * base `prime`, ascend.
 */
class Projective extends Law {
  static law = "projective";
  static bounds = {
    answers: [2, MOST_ANSWERS],
    prime: [2, 100_000],
    dimension: [2, 40],
    inside: WEIGHT,
    outside: WEIGHT,
  };

  constructor(parameters) {
    super(parameters);
    this.points = [0];
    for (const points of this.points) {
      if (this.points.length > this.dimension) break;
      this.points.push(points * this.prime + 1);
    }
  }

  problems() {
    if (!isPrime(this.prime)) return ["prime: must be a prime number"];
    if (this.responses >= this.answers) return [];
    return ["dimension: has too few points for the answers"];
  }

  get responses() { return this.points[this.dimension]; }
  get insideTotal() { return this.points[this.dimension - 1] * this.inside; }

  total() {
    return this.insideTotal + (this.responses - this.points[this.dimension - 1]) * this.outside;
  }

  /** The point's vector, most significant coordinate first. */
  vector(point, dimension) {
    let free = 0;
    while (this.points[free + 1] <= point) free += 1;
    const zeros = Array(dimension - free - 1).fill(0);
    return [...zeros, 1, ...this.digits(point - this.points[free], free)];
  }

  /** The number of the point on which this non-zero vector lies. */
  point(vector) {
    const lead = vector.findIndex((value) => value !== 0);
    const scale = inverse(vector[lead], this.prime);
    const rest = vector.slice(lead + 1);
    const join = (number, value) => number * this.prime + ((value * scale) % this.prime);
    return this.points[rest.length] + rest.reduce(join, 0);
  }

  digits(number, length) {
    const found = Array(length);
    for (let place = length - 1, rest = number; place >= 0; place -= 1) {
      found[place] = rest % this.prime;
      rest = quotient(rest, this.prime);
    }
    return found;
  }

  weight(answer, response) {
    const [one, other] = [answer, response].map((point) => this.vector(point, this.dimension));
    return product(one, other) % this.prime === 0 ? this.inside : this.outside;
  }

  respond(answer, draw) {
    const drawn = draw(this.total());
    const [vector, wanted] = this.shorter(drawn);
    // The coordinate left out is the last one where the answer is not zero: what it must
    // be depends on the coordinates before it only, so ascending order is kept.
    const truth = this.vector(answer, this.dimension);
    const place = truth.reduce((last, value, index) => (value ? index : last), 0);
    const soFar = product(truth.slice(0, place), vector) % this.prime;
    const missing = (wanted - soFar + this.prime) * inverse(truth[place], this.prime);
    return this.point([...vector.slice(0, place), missing % this.prime, ...vector.slice(place)]);
  }

  /** The drawn response's vector without one coordinate, and its product with the answer's. */
  shorter(drawn) {
    const dimension = this.dimension - 1;
    if (drawn < this.insideTotal) {
      return [this.vector(quotient(drawn, this.inside), dimension), 0];
    }
    return [this.digits(quotient(drawn - this.insideTotal, this.outside), dimension), 1];
  }

  largestRatio() { return spread(this.inside, this.outside); }
  get p() { return fraction(this.insideTotal, this.total()); }

  get q() {
    const [two, one] = this.points.slice(this.dimension - 2);
    return fraction(two * this.inside + (one - two) * this.outside, this.total());
  }
}

function isPrime(number) {
  for (let factor = 2; factor * factor <= number; factor += 1) {
    if (number % factor === 0) return false;
  }
  return number > 1;
}

/** The inverse modulo a prime, by Euclid. */
function inverse(value, prime) {
  let [one, other, factor, next] = [value % prime, prime, 1, 0];
  while (other) {
    const times = quotient(one, other);
    [one, other, factor, next] = [other, one - times * other, next, factor - times * next];
  }
  return (factor + prime) % prime;
}

const product = (one, other) => one.reduce((sum, value, place) => sum + value * other[place], 0);

/** A law for the cells 0 … `steps` of a bounded number. */
class NumberLaw extends Law {
  get answers() { return this.steps + 1; }
}

/** Low or high end (Duchi, Jordan & Wainwright 2018): 1, "high", is likelier higher up. */
class TwoPoint extends NumberLaw {
  static law = "two-point";
  static bounds = { steps: [1, MOST_STEPS], truth: WEIGHT, other: WEIGHT };

  get responses() { return 2; }
  total() { return this.steps * (this.truth + this.other); }

  weight(answer, response) {
    const near = response ? answer : this.steps - answer;
    return this.truth * near + this.other * (this.steps - near);
  }

  respond(answer, draw) { return draw(this.total()) < this.weight(answer, 1) ? 1 : 0; }
  largestRatio() { return spread(this.truth, this.other); }
}

/**
 * Square wave (Li et al. 2020): cells within `halfWidth` of the answer weigh `near`. The
 * cells run from `halfWidth` below the range to as far above; response 0 is the lowest.
 */
class Wave extends NumberLaw {
  static law = "wave";
  static bounds = {
    steps: [1, MOST_CELLS],
    "half-width": [0, MOST_CELLS],
    near: WEIGHT,
    far: WEIGHT,
  };

  get responses() { return this.steps + 2 * this.halfWidth + 1; }
  get nearTotal() { return (2 * this.halfWidth + 1) * this.near; }
  total() { return this.nearTotal + this.steps * this.far; }

  weight(answer, response) {
    const near = answer <= response && response <= answer + 2 * this.halfWidth;
    return near ? this.near : this.far;
  }

  respond(answer, draw) {
    const drawn = draw(this.total());
    if (drawn < this.nearTotal) return answer + quotient(drawn, this.near);
    const cell = quotient(drawn - this.nearTotal, this.far);
    return cell < answer ? cell : cell + 2 * this.halfWidth + 1;
  }

  largestRatio() { return spread(this.near, this.far); }
}

/**
 * Noise added to a number: cell y gets the weight of |y − answer|, the ends the tails. The
 * cells run from `margin` below the range to as far above; response 0 is the lowest. With
 * `bound` (a ratio as two whole numbers), ε = ln bound and what exceeds it is δ.
 */
class Distance extends NumberLaw {
  static law = "distance";
  static bounds = { steps: [1, MOST_CELLS], margin: [0, MOST_CELLS] };
  static parameters = ["steps", "margin", "weights", "bound"];
  static optional = ["bound"];

  constructor(parameters) {
    super(parameters);
    this.sums = accumulate(this.weights.map((weight, place) => (place ? 2 * weight : weight)));
    this.tails = accumulate([...this.weights].reverse()).reverse();
  }

  problems() {
    const { weights, bound } = this;
    if (weights.length !== this.steps + this.margin + 1) {
      return ["weights: must be steps + margin + 1 of them"];
    }
    if (weights.slice(1, -1).some((far, place) => weights[place] < far)) {
      return ["weights: must not increase with distance (the last one excepted)"];
    }
    if (!bound) return [];
    const found = bound[0] <= bound[1] ? ["bound: must be above 1"] : [];
    if (!this.likelihoodRatioFalls()) {
      found.push("weights: must fall ever faster with distance for a law with a bound");
    }
    return found;
  }

  /** Whether P(y | x) / P(y | x + 1) falls with y, so that δ is largest at the ends. */
  likelihoodRatioFalls() {
    const weights = this.weights.map(BigInt);
    // Not from `this.tails`: before the total is checked, those may be inexact.
    const tails = [...weights];
    for (let d = tails.length - 2; d >= 0; d -= 1) tails[d] += tails[d + 1];
    for (let d = 1; d < weights.length - 2; d += 1) {
      if (weights[d] ** 2n < weights[d - 1] * weights[d + 1]) return false;
    }
    for (let d = Math.max(1, this.margin); d < this.steps + this.margin; d += 1) {
      if (tails[d] * weights[d] < tails[d + 1] * weights[d - 1]) return false;
    }
    return true;
  }

  get responses() { return this.steps + 2 * this.margin + 1; }
  total() { return this.sums.at(-1); }

  weight(answer, response) {
    const distance = Math.abs(response - this.margin - answer);
    const atEnd = response === 0 || response === this.responses - 1;
    return (atEnd ? this.tails : this.weights)[distance];
  }

  respond(answer, draw) {
    const drawn = draw(this.total());
    const distance = bisectRight(this.sums, drawn);
    const below = distance > 0 && drawn < this.sums[distance] - this.weights[distance];
    const cell = answer + this.margin + (below ? -distance : distance);
    return Math.min(Math.max(cell, 0), this.responses - 1);
  }

  largestRatio() {
    if (this.bound) return fraction(...this.bound);
    // Weights and tails fall with distance, so a cell's largest weight is that of the
    // nearest answer and its smallest that of the farthest. Cells mirror each other.
    const { steps, margin, weights, tails } = this;
    let largest = [BigInt(tails[margin]), BigInt(tails[steps + margin])];
    for (let cell = 1; cell < Math.floor((this.responses + 1) / 2); cell += 1) {
      const [near, far] = [weights[Math.max(0, margin - cell)], weights[steps + margin - cell]];
      largest = larger(largest, [BigInt(near), BigInt(far)]);
    }
    return fraction(...largest);
  }

  excess() {
    if (!this.bound) return [0n, 1n];
    const [top, bottom] = this.bound.map(BigInt);
    let sum = 0n;
    for (let cell = 0; cell < this.responses; cell += 1) {
      const [first, last] = [this.weight(0, cell), this.weight(this.steps, cell)];
      const mass = bottom * BigInt(first) - top * BigInt(last);
      if (mass > 0n) sum += mass;
    }
    return fraction(sum, bottom * BigInt(this.total()));
  }

  /** The largest distance that at least half of all draws reach. */
  get medianNoise() { return bisectRight(this.sums, quotient(this.total(), 2)); }
}

/** By name. Maps throughout, for on an object a hostile key may find the prototype's. */
const LAWS = new Map(
  [Plain, KAry, OneOf, Table, Subset, Projective, TwoPoint, Wave, Distance].map((kind) => [
    kind.law,
    kind,
  ]),
);

// ---------------------------------------------------------------- checking

const LONGEST_TEXT = 5_000;
const IDENTIFIER = /^[a-z0-9][a-z0-9-]{0,63}$/;
const LANGUAGE = /^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$/;
const DAY = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/;
const DECIMAL = /^-?(0|[1-9][0-9]{0,14})(\.[0-9]{0,5}[1-9])?$/;

/** Control characters other than a line break, and lone surrogates, which UTF-8 cannot hold. */
const FORBIDDEN = /[\x00-\x09\x0b-\x1f\x7f-\x9f\ud800-\udfff]/u;

const isText = (value) => typeof value === "string";
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const isWhole = (value, low, high) => Number.isInteger(value) && low <= value && value <= high;
const isList = (value, low, high) =>
  Array.isArray(value) && low <= value.length && value.length <= high;

const camel = (key) => key.replace(/-[a-z]/g, (match) => match[1].toUpperCase());
const within = (where, key) => (where ? `${where}, ${key}` : key);

/** Whether all are true, after looking at each: `every` would stop at the first that is not. */
const all = (values, test) => values.map(test).every(Boolean);

/**
 * Checks values and remembers everything that was wrong with them. `where` names a place in
 * the data as a person would: "question 2 (drug), law". Each method returns whether, or what,
 * it found in order.
 */
class Checker {
  /** @type {string[]} */
  problems = [];

  fail(where, rule) {
    this.problems.push(`${where}: ${rule}`);
    return false;
  }

  /** A rule that needs one check only. */
  rule(good, where, rule) { return good || this.fail(where, rule); }

  /** The known fields of an object; what is not there is undefined, which JSON never is. */
  fields(value, where, required, optional = []) {
    if (!isObject(value)) {
      this.fail(where || "the survey", "must be an object with named fields");
      return {};
    }
    const known = [...required, ...optional];
    for (const key of Object.keys(value)) {
      if (!known.includes(key)) this.fail(within(where, key), "is not a known field");
    }
    for (const key of required) {
      if (!Object.hasOwn(value, key)) this.fail(within(where, key), "is missing");
    }
    const found = known.filter((key) => Object.hasOwn(value, key));
    return Object.fromEntries(found.map((key) => [key, value[key]]));
  }

  whole(value, where, low, high) {
    return this.rule(
      isWhole(value, low, high),
      where,
      `must be a whole number from ${low} to ${high}`,
    );
  }

  identifier(value, where) {
    return this.rule(
      isText(value) && IDENTIFIER.test(value),
      where,
      "must be 1 to 64 of a-z, 0-9 and hyphens, beginning with a letter or digit",
    );
  }

  languages(value) {
    const good =
      isList(value, 1, 50) &&
      value.every((code) => isText(code) && LANGUAGE.test(code)) &&
      new Set(value).size === value.length;
    this.rule(good, "languages", 'must be a list of different language codes such as "en"');
    return good ? value : ["en"];
  }

  /** One text, or one for each language; `each` refuses one for several languages. */
  text(value, where, languages, each = true) {
    if (isText(value)) {
      if (!each || languages.length === 1) return this.string(value, where);
      return this.fail(where, `must have a text for each of ${languages.join(", ")}`);
    }
    const fits =
      isObject(value) &&
      Object.keys(value).length === languages.length &&
      languages.every((code) => Object.hasOwn(value, code));
    if (!fits) {
      const wanted = `an object with a text for each of ${languages.join(", ")}`;
      return this.fail(where, `must be a text or ${wanted}`);
    }
    return all(languages, (code) => this.string(value[code], `${where}, ${code}`));
  }

  texts(value, where, count, languages) {
    if (!isList(value, count, count)) return this.fail(where, `must be a list of ${count} texts`);
    return all(value, (text, place) =>
      this.text(text, `${where}, number ${place + 1}`, languages, false),
    );
  }

  string(value, where) {
    if (!isText(value) || !/[^ \n]/.test(value)) {
      return this.fail(where, "must be a text that is not empty");
    }
    if (value.length > LONGEST_TEXT && [...value].length > LONGEST_TEXT) {
      return this.fail(where, `must be at most ${LONGEST_TEXT} characters long`);
    }
    return this.rule(!FORBIDDEN.test(value), where, "must not contain control characters");
  }

  day(value, where) {
    const good = isText(value) && DAY.test(value) && isDay(value);
    return this.rule(good, where, "must be a date such as 2026-12-31");
  }
}

function isDay(text) {
  const date = new Date(`${text}T00:00:00Z`);
  // Some engines carry 30 February over into March; Python has no year 0.
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text) && text >= "0001";
}

/** A text in one language; where it lacks that, English, else the first by code. */
export function say(text, language) {
  if (!isObject(text)) return text ?? "";
  const codes = [language, "en", ...Object.keys(text).sort()];
  return text[codes.find((code) => Object.hasOwn(text, code))];
}

// ---------------------------------------------------------------- canonical

/** JSON with one spelling: what is hashed, sealed and sent. */
export function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const fields = Object.keys(value).sort();
  return `{${fields.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(",")}}`;
}

/**
 * The text of the data and what it says.
 * @param {string | Uint8Array} data
 * @returns {[text: string, value: unknown]}
 */
function readJson(data) {
  if (!isText(data) && !(data instanceof Uint8Array)) {
    throw new TypeError("data: must be a string or a Uint8Array");
  }
  try {
    // A byte order mark is part of the data: another spelling, so refused.
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    const text = isText(data) ? data : decoder.decode(data);
    return [text, JSON.parse(text)];
  } catch {
    throw new InvalidData("is not JSON in UTF-8");
  }
}

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
const ROUNDS = Uint32Array.from(
  (
    "428a2f98 71374491 b5c0fbcf e9b5dba5 3956c25b 59f111f1 923f82a4 ab1c5ed5 " +
    "d807aa98 12835b01 243185be 550c7dc3 72be5d74 80deb1fe 9bdc06a7 c19bf174 " +
    "e49b69c1 efbe4786 0fc19dc6 240ca1cc 2de92c6f 4a7484aa 5cb0a9dc 76f988da " +
    "983e5152 a831c66d b00327c8 bf597fc7 c6e00bf3 d5a79147 06ca6351 14292967 " +
    "27b70a85 2e1b2138 4d2c6dfc 53380d13 650a7354 766a0abb 81c2c92e 92722c85 " +
    "a2bfe8a1 a81a664b c24b8b70 c76c51a3 d192e819 d6990624 f40e3585 106aa070 " +
    "19a4c116 1e376c08 2748774c 34b0bcb5 391c0cb3 4ed8aa4a 5b9cca4f 682e6ff3 " +
    "748f82ee 78a5636f 84c87814 8cc70208 90befffa a4506ceb bef9a3f7 c67178f2"
  ).split(" "),
  (word) => parseInt(word, 16),
);

// The same of the square roots of the first 8 primes.
const START = [
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
];

const rotate = (word, bits) => (word >>> bits) | (word << (32 - bits));

/**
 * SHA-256 (FIPS 180-4) as 64 hexadecimal digits.
 * @param {Uint8Array} bytes
 */
export function sha256(bytes) {
  if (!(bytes instanceof Uint8Array)) throw new TypeError("bytes: must be a Uint8Array");
  const padded = new Uint8Array(Math.ceil((bytes.length + 9) / 64) * 64);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(bytes.length / 2 ** 29));
  view.setUint32(padded.length - 4, (bytes.length * 8) % 2 ** 32);
  const state = Uint32Array.from(START);
  const schedule = new Uint32Array(64);
  for (let offset = 0; offset < padded.length; offset += 64) {
    fillSchedule(schedule, view, offset);
    compress(state, schedule);
  }
  return Array.from(state, (word) => word.toString(16).padStart(8, "0")).join("");
}

function fillSchedule(w, view, offset) {
  for (let i = 0; i < 16; i += 1) w[i] = view.getUint32(offset + 4 * i);
  for (let i = 16; i < 64; i += 1) {
    const [x, y] = [w[i - 15], w[i - 2]];
    const s0 = rotate(x, 7) ^ rotate(x, 18) ^ (x >>> 3);
    const s1 = rotate(y, 17) ^ rotate(y, 19) ^ (y >>> 10);
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
}

function compress(state, w) {
  let [a, b, c, d, e, f, g, h] = state;
  for (let i = 0; i < 64; i += 1) {
    const s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + ROUNDS[i] + w[i]) | 0;
    const s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + t1) | 0, c, b, a, (t1 + t2) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((word, place) => (state[place] += word));
}

// ---------------------------------------------------------------- document

/** The version of the published document. */
const FORMAT = 1;

/** No response may be more than e^10 times as likely under one answer as under another. */
const MOST_RATIO = 22026n;

const MOST_QUESTIONS = 200;

/** Reports and their tables have these fields beside one for each question. */
const RESERVED = ["key", "survey"];

const CHOICE_LAWS = ["k-ary", "table", "subset", "projective"];

/** The laws of each kind of question. */
const KINDS = new Map([
  ["yes-no", CHOICE_LAWS],
  ["choice", CHOICE_LAWS],
  ["scale", CHOICE_LAWS],
  ["list", CHOICE_LAWS],
  ["choices", ["one-of"]],
  ["number", ["two-point", "wave", "distance"]],
]);

const DESIGNS = ["coin", "warner", "forced", "unrelated", "crosswise"];

const OWN_FIELDS = new Map([
  ["number", ["low", "step"]],
  ["scale", ["options", "first"]],
]);

const MAY_HAVE = new Map([
  ["number", "unit"],
  ["scale", "ends"],
]);

const QUESTION_FIELDS = [
  ["ask", "id", "kind", "law"],
  [
    ...["design", "ends", "first", "help", "labels", "low"],
    ...["options", "page", "show-if", "skip", "step", "unit"],
  ],
];

/** Note what is wrong with a document; give its questions' fields, each with its law. */
function checkDocument(document, check) {
  const found = check.fields(
    document,
    "",
    ["deniable", "id", "languages", "questions", "title"],
    ["by", "closes", "consent", "intro", "opens", "own-coin"],
  );
  if (![undefined, FORMAT].includes(found.deniable)) {
    check.fail("deniable", `must be ${FORMAT}, the version of the format`);
  }
  if (found.id !== undefined) check.identifier(found.id, "id");
  const languages = found.languages === undefined ? ["en"] : check.languages(found.languages);
  for (const key of ["title", "intro", "by", "consent"]) {
    if (found[key] !== undefined) check.text(found[key], key, languages);
  }
  checkDays(found, check);
  if (![undefined, true].includes(found["own-coin"])) {
    check.fail("own-coin", "must be true or left out");
  }
  return found.questions === undefined ? [] : checkQuestions(found.questions, languages, check);
}

function checkDays(found, check) {
  const days = ["opens", "closes"].filter(
    (key) => found[key] !== undefined && check.day(found[key], key),
  );
  if (days.length === 2 && found.closes < found.opens) {
    check.fail("closes", "must not be before opens");
  }
}

function checkQuestions(value, languages, check) {
  if (!isList(value, 1, MOST_QUESTIONS)) {
    check.fail("questions", `must be a list of 1 to ${MOST_QUESTIONS} questions`);
    return [];
  }
  const earlier = new Map();
  return value.map((item, index) => {
    const where = placeOf(index + 1, item);
    const found = check.fields(item, where, ...QUESTION_FIELDS);
    const law = checkQuestion(found, where, languages, check);
    if (found["show-if"] !== undefined) checkConditions(found["show-if"], where, earlier, check);
    if (isText(found.id)) {
      if (!earlier.has(found.id)) earlier.set(found.id, found);
      else check.fail(within(where, "id"), "is already the id of an earlier question");
    }
    return [found, law];
  });
}

/** How problems name a question: by its number, and its id if that is a text. */
function placeOf(number, item) {
  const named = isObject(item) && Object.hasOwn(item, "id") && isText(item.id);
  return `question ${number}${named ? ` (${item.id})` : ""}`;
}

/** Check one question apart from its conditions and return its law. */
function checkQuestion(found, where, languages, check) {
  const { kind } = found;
  const at = within(where, "id");
  if (found.id !== undefined && check.identifier(found.id, at) && RESERVED.includes(found.id)) {
    check.fail(at, "is a word that reports use themselves");
  }
  for (const key of ["ask", "help", "page"]) {
    if (found[key] !== undefined) check.text(found[key], within(where, key), languages);
  }
  if (![undefined, true].includes(found.skip)) {
    check.fail(within(where, "skip"), "must be true or left out");
  }
  if (!KINDS.has(kind)) {
    const kinds = [...KINDS.keys()].join(", ");
    if (kind !== undefined) check.fail(within(where, "kind"), `must be one of ${kinds}`);
    return null;
  }
  const good = checkBelongings(found, where, languages, check);
  if (found.law === undefined || !good) return null;
  const law = checkLaw(found.law, within(where, "law"), check);
  if (law === null) return null;
  const laws = KINDS.get(kind);
  if (law.name !== "plain" && !laws.includes(law.name)) {
    const rule = `must be plain, ${laws.join(" or ")} for a ${kind} question`;
    check.fail(within(where, "law"), rule);
    return null;
  }
  checkFit(found, law, where, languages, check);
  return law;
}

/** The fields that only some kinds of questions have. */
function checkBelongings(found, where, languages, check) {
  const { kind } = found;
  const tests = {
    options: (value, at) => checkOptions(value, at, kind, languages, check),
    first: (value, at) => check.whole(value, at, -1000, 1000),
    ends: (value, at) => check.texts(value, at, 2, languages),
    low: (value, at) => checkDecimal(value, at, check),
    step: (value, at) => checkDecimal(value, at, check),
    unit: (value, at) => check.text(value, at, languages, false),
  };
  const own = OWN_FIELDS.get(kind) ?? ["options"];
  return all(Object.entries(tests), ([key, test]) => {
    const at = within(where, key);
    if (found[key] === undefined) return !own.includes(key) || check.fail(at, "is missing");
    if (own.includes(key) || MAY_HAVE.get(kind) === key) return test(found[key], at);
    check.fail(at, `does not belong to a ${kind} question`);
    return true;
  });
}

/** Rules that tie a law to its question. */
function checkFit(found, law, where, languages, check) {
  const at = within(where, "law");
  if (found.kind === "number") {
    if (found.skip !== undefined && law.name !== "plain") {
      check.fail(within(where, "skip"), "a protected number cannot be skipped");
    }
    const [low, step] = [found.low.replace("-", ""), found.step].map(millionths);
    const span = step * BigInt(law.answers) + low;
    if (span >= LIMIT) check.fail(at, "has more or larger values than can be kept exact");
  } else {
    const { length } = found.options;
    const many = found.kind === "choices" ? 2 ** length : length;
    if (law.answers !== many) check.fail(at, "must have an answer for each option");
  }
  if (found.labels !== undefined) {
    const labels = within(where, "labels");
    const good = check.texts(found.labels, labels, law.responses, languages);
    if (good && !(law instanceof Table)) {
      check.fail(labels, "does not belong to a law other than table");
    }
  } else if (law instanceof Table && law.responses !== law.answers) {
    check.fail(within(where, "labels"), "is missing");
  }
  if (found.design !== undefined && !DESIGNS.includes(found.design)) {
    check.fail(within(where, "design"), `must be one of ${DESIGNS.join(", ")}`);
  }
}

function checkOptions(value, where, kind, languages, check) {
  const most = kind === "choices" ? MOST_TICKS : kind === "yes-no" ? 3 : MOST_ANSWERS;
  if (!isList(value, 2, most)) return check.fail(where, `must be a list of 2 to ${most} texts`);
  if (!check.texts(value, where, value.length, languages)) return false;
  const owner = new Map();
  for (const [index, option] of value.entries()) {
    for (const label of labelsOf(option)) {
      if (!owner.has(label)) owner.set(label, index);
      if (owner.get(label) !== index) {
        const rule = `is the same as number ${owner.get(label) + 1}`;
        return check.fail(`${where}, number ${index + 1}`, rule);
      }
    }
  }
  return true;
}

const labelsOf = (option) => (isText(option) ? [option] : Object.values(option));

function checkDecimal(value, where, check) {
  let good = isText(value) && DECIMAL.test(value);
  if (good && where.endsWith("step")) good = millionths(value) > 0n;
  const rule = "must be a decimal number as a text, with at most 6 digits after the point";
  return check.rule(good, where, rule);
}

function checkConditions(value, question, earlier, check) {
  const where = within(question, "show-if");
  if (!isList(value, 1, Infinity)) return check.fail(where, "must be a list of conditions");
  for (const item of value) {
    const found = check.fields(item, where, ["among", "question"]);
    if (Object.keys(found).length === 2) checkCondition(found, where, earlier, check);
  }
}

function checkCondition({ among, question }, where, earlier, check) {
  const other = earlier.get(question);
  if (!other) return check.fail(where, "must name an earlier question");
  const { law, kind, options } = other;
  if (!isObject(law) || !Object.hasOwn(law, "law") || law.law !== "plain") {
    return check.fail(where, "depends on a protected answer: it would show who answered what");
  }
  if (kind === "number" || kind === "choices") {
    return check.fail(where, "can depend on yes-no, choice, scale and list questions only");
  }
  const most = Array.isArray(options) ? options.length - 1 : 0;
  const good =
    isList(among, 1, Infinity) &&
    among.every((answer) => isWhole(answer, 0, most)) &&
    among.every((answer, place) => place === 0 || among[place - 1] < answer);
  return check.rule(good, where, `must list answers from 0 to ${most} in ascending order`);
}

/**
 * The law that a document describes.
 * @throws {InvalidSurvey}
 */
export function readLaw(document) {
  const check = new Checker();
  const law = checkLaw(document, "law", check);
  if (law === null) throw new InvalidSurvey(check.problems, "the law");
  return law;
}

/** The law that a document describes, or null with the problems noted. */
function checkLaw(document, where, check) {
  const named = isObject(document) && Object.hasOwn(document, "law");
  const kind = named ? LAWS.get(document.law) : undefined;
  if (!kind) {
    check.fail(where, `must name a law: ${[...LAWS.keys()].join(", ")}`);
    return null;
  }
  const before = check.problems.length;
  const required = kind.parameters.filter((name) => !kind.optional.includes(name));
  const { law: _, ...found } = check.fields(document, where, ["law", ...required], kind.optional);
  for (const [key, value] of Object.entries(found)) {
    checkParameter(kind, key, value, within(where, key), check);
  }
  if (check.problems.length > before) return null;
  const law = Object.freeze(new kind(found));
  const problems = lawProblems(law);
  for (const problem of problems) check.fail(where, problem);
  return problems.length ? null : law;
}

function checkParameter(kind, key, value, where, check) {
  if (Object.hasOwn(kind.bounds, key)) check.whole(value, where, ...kind.bounds[key]);
  else if (key === "rows") checkRows(value, where, check);
  else if (key === "bound") checkWeights(value, where, check, 2);
  else checkWeights(value, where, check);
}

function lawProblems(law) {
  const problems = law.problems();
  if (problems.length) return problems;
  if (law.largestDraw >= LIMIT) return ["weights must add up to less than 2^53"];
  if (law.responses > LIMIT) return ["must have at most 2^53 responses"];
  if (law instanceof Plain || law.ratio[0] <= MOST_RATIO * law.ratio[1]) return [];
  return [`some response is over ${MOST_RATIO} times likelier under one answer than another`];
}

function checkRows(value, where, check) {
  if (!isList(value, 2, 64)) return check.fail(where, "must be a list of 2 to 64 rows");
  if (!isList(value[0], 2, 64)) {
    return check.fail(`${where}, row 1`, "must be a list of 2 to 64 weights");
  }
  value.forEach((row, index) => {
    checkWeights(row, `${where}, row ${index + 1}`, check, value[0].length);
  });
}

function checkWeights(value, where, check, count) {
  if (!isList(value, count ?? 0, count ?? Infinity)) {
    return check.fail(where, count ? `must be a list of ${count} whole numbers` : "must be a list");
  }
  const good = value.every((weight) => isWhole(weight, ...WEIGHT));
  return check.rule(good, where, "must be whole numbers of at least 1 and below 2^53");
}

// ---------------------------------------------------------------- decimals

/** @typedef {{units: bigint, places: number}} Decimal units · 10^-places */

const NUMBER = /^([+-]?)(?=\.?\d)(\d*)\.?(\d*)(?:e([+-]?\d+))?$/i;

/** Past this a number is out of every range, or too close to another to matter. */
const MOST_PLACES = 10_000;

/** @returns {Decimal | null} null if the text is not a number */
function decimal(text) {
  const match = NUMBER.exec(text);
  if (!match) return null;
  const [, sign, whole, part, exponent = "0"] = match;
  const power = Math.max(-MOST_PLACES, Math.min(MOST_PLACES, Number(exponent)));
  const units = BigInt(`${sign === "-" ? "-" : ""}${whole}${part}`);
  return rescaled({ units, places: part.length - power }, Math.max(0, part.length - power));
}

const rescaled = ({ units, places }, wanted) => ({
  units: units * 10n ** BigInt(wanted - places),
  places: wanted,
});

/** Two decimals in units of the smaller place, as Python's `Decimal` adds them. */
function aligned(one, other) {
  const places = Math.max(one.places, other.places);
  return [rescaled(one, places).units, rescaled(other, places).units, places];
}

const millionths = (text) => rescaled(decimal(text), 6).units;

/** With every place that the decimal has, trailing zeros too. */
function spell({ units, places }) {
  const digits = String(units < 0n ? -units : units).padStart(places + 1, "0");
  const point = digits.length - places;
  const part = places ? `.${digits.slice(point)}` : "";
  return `${units < 0n ? "-" : ""}${digits.slice(0, point)}${part}`;
}

/** Digits of other scripts as ASCII: every script's ten are neighbours in Unicode. */
function asciiDigits(text) {
  return text.replace(/\p{Nd}/gu, (digit) => {
    let zero = digit.codePointAt(0);
    while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
    return String((digit.codePointAt(0) - zero) % 10);
  });
}

// ---------------------------------------------------------------- survey

/** One question with the law that protects it (`Plain` if none does). */
export class Question {
  constructor(found, law) {
    const { id, kind, ask, help = null, page = null, options = [], skip = false } = found;
    const { labels = [], design = null, first = null, ends = [] } = found;
    const { low = null, step = null, unit = null, "show-if": showIf = [] } = found;
    Object.assign(this, { id, kind, ask, law, help, page, options, skip, labels, design });
    Object.assign(this, { first, ends, low, step, unit, showIf });
    Object.freeze(this);
  }

  get protected() { return !(this.law instanceof Plain); }

  /** ε as a numerator over 2^120; 0 for a plain question, which no ε describes. */
  get epsilonBound() { return this.protected ? this.law.epsilonBound : 0n; }
  get epsilon() { return floatUp(this.epsilonBound, ONE); }
  get delta() { return floatUp(...this.law.delta); }

  /** The response that says the question was not shown; null if it always is. */
  get notAsked() { return this.showIf.length ? this.law.responses : null; }

  /** Digits of the largest response: every response is sent this wide. */
  get width() { return String(this.notAsked ?? this.law.responses - 1).length; }
  option(index, language) { return say(this.options[index], language); }

  /** The number, as a text, that a cell stands for; cells may lie outside the range. */
  value(cell) {
    const [low, step, places] = aligned(decimal(this.low ?? "0"), decimal(this.step ?? "1"));
    return spell({ units: low + BigInt(cell) * step, places });
  }

  /** So many steps, as a text. */
  steps(count) {
    const { units, places } = decimal(this.step ?? "1");
    return spell({ units: BigInt(count) * units, places });
  }

  /** The number of the option that has this label in some language, or undefined. */
  indexOf(label) {
    if (!isText(label)) return undefined;
    // Native search first: a long list has one text for all languages.
    const same = this.options.indexOf(label);
    if (same >= 0) return same;
    const index = this.options.findIndex((option) => labelsOf(option).includes(label));
    return index < 0 ? undefined : index;
  }

  /**
   * The answer as the law counts it. Errors name the question, never the answer.
   * @param {string | number | Iterable<string> | null} answer null: prefer not to say
   */
  encode(answer) {
    if (this.kind === "choices") return this.#encodeTicks(answer);
    if (answer === null && this.skip) return this.law.answers - 1;
    if (this.kind === "number") return this.#encodeNumber(answer);
    const label = this.kind === "scale" && Number.isInteger(answer) ? String(answer) : answer;
    const index = this.indexOf(label);
    if (index === undefined) this.#refuse("the answer must be one of its options");
    return index;
  }

  #refuse(rule) { throw new InvalidAnswer(`question ${this.id}: ${rule}`); }

  #encodeTicks(answer) {
    const last = this.options.length - 1;
    if (answer === null && this.skip) return 2 ** last;
    if (typeof answer?.[Symbol.iterator] !== "function" || isText(answer)) {
      this.#refuse("the answer must be a list of its options");
    }
    const ticks = new Set(Array.from(answer, (tick) => this.indexOf(tick)));
    if (ticks.has(undefined)) this.#refuse("the answer must be a list of its options");
    if (this.skip && ticks.has(last) && ticks.size > 1) {
      this.#refuse("prefer not to say goes with no other option");
    }
    return [...ticks].reduce((sum, tick) => sum + 2 ** tick, 0);
  }

  #encodeNumber(answer) {
    const usable = isText(answer) || typeof answer === "number";
    const found = usable ? decimal(asciiDigits(String(answer).trim().replaceAll("_", ""))) : null;
    if (found === null) this.#refuse("the answer must be a number");
    const last = this.law.answers - 1 - (this.skip ? 1 : 0);
    const places = Math.max(found.places, 6);
    const [value, low, step] = [found, decimal(this.low), decimal(this.step)].map(
      (number) => rescaled(number, places).units,
    );
    const above = value - low;
    if (above < 0n || above > BigInt(last) * step) {
      this.#refuse(`the answer must be from ${this.value(0)} to ${this.value(last)}`);
    }
    return Number((2n * above + step) / (2n * step));
  }

  /** @param {RandBelow} [draw] */
  randomise(answer, draw = randbelow) {
    return this.law.randomise(this.encode(answer), draw);
  }

  /** What the law does to an answer and what a response can tell, in plain sentences. */
  explain(language = "en") { return explainQuestion(this, language).join(" "); }
}

/** Everything a respondent's device needs, and what its fingerprint covers. */
export class Survey {
  #text;
  #fingerprint;

  constructor(document, questions, text) {
    const { id, title, languages, intro = null, by = null, consent = null } = document;
    const { opens = null, closes = null, "own-coin": ownCoin = false } = document;
    Object.assign(this, { id, title, questions: Object.freeze(questions), languages, intro, by });
    Object.assign(this, { consent, opens, closes, ownCoin });
    this.#text = text;
    Object.freeze(this);
  }

  /** The one document that clients download, with the weights in it. */
  publish() { return this.#text; }

  get fingerprint() {
    return (this.#fingerprint ??= sha256(new TextEncoder().encode(this.#text)));
  }

  /** ε as a numerator over 2^120. */
  get epsilonBound() {
    return this.questions.reduce((sum, question) => sum + question.epsilonBound, 0n);
  }

  /** What all protected responses of one person add up to. */
  get epsilon() { return floatUp(this.epsilonBound, ONE); }

  get delta() {
    return floatUp(...sumOfDeltas(this.questions.map((question) => question.law)));
  }

  /** What the reports of a group, say a household, can tell about the group as one. */
  epsilonOfGroup(people) { return floatUp(BigInt(people) * this.epsilonBound, ONE); }
  explain(language = "en") { return explainSurvey(this, language).join(" "); }

  question(id) {
    const found = this.questions.find((question) => question.id === id);
    if (!found) throw new RangeError("the survey has no question with this id");
    return found;
  }

  /**
   * Whether the question is shown, given the responses to earlier plain questions.
   * @param {Question} question @param {Map<string, number>} responses by question id
   */
  shown(question, responses) {
    return question.showIf.every((condition) =>
      condition.among.includes(responses.get(condition.question)),
    );
  }
}

/**
 * Read the canonical JSON that a collector publishes, strictly.
 * @param {string | Uint8Array} data
 * @throws {InvalidSurvey} with every problem
 */
export function parseSurvey(data, name = "the published survey") {
  const [text, document] = orElse(
    () => readJson(data),
    (problem) => new InvalidSurvey([problem], name),
  );
  const check = new Checker();
  const questions = checkDocument(document, check);
  if (check.problems.length) throw new InvalidSurvey(check.problems, name);
  if (canonical(document) !== text) {
    throw new InvalidSurvey(["is not in canonical form: it was changed or re-spelt"], name);
  }
  deepFreeze(document);
  return new Survey(document, questions.map(([found, law]) => new Question(found, law)), text);
}

/** What `read` gives, or another error made from the message of its `InvalidData`. */
function orElse(read, makeError) {
  try {
    return read();
  } catch (error) {
    throw error instanceof InvalidData ? makeError(error.message) : error;
  }
}

function deepFreeze(value) {
  if (typeof value !== "object" || value === null) return;
  Object.values(value).forEach(deepFreeze);
  Object.freeze(value);
}

// ---------------------------------------------------------------- report

const KEY = /^[0-9a-f]{32}$/;
const REPORT_FIELDS = ["survey", "key", "responses"];

/**
 * Noisy responses, one for each question, and a random key. Nothing here is an answer.
 * `text` is what is sealed and sent: as long for every report of a survey.
 * @typedef {{survey: string, key: string, responses: readonly number[], text: string}} Report
 */

/**
 * Randomise the answers, once. Send this text again rather than make another report.
 * @param {Survey} survey
 * @param {Record<string, unknown>} answers by question id: an option, a list of options, a
 *   number, or null for "prefer not to say". Questions that are not shown must not be answered.
 * @param {RandBytes} [randbytes]
 * @returns {Readonly<Report>}
 */
export function makeReport(survey, answers, randbytes = systemBytes) {
  const ids = new Set(survey.questions.map((question) => question.id));
  if (!Object.keys(answers).every((id) => ids.has(id))) {
    throw new InvalidAnswer("an answer was given to a question that the survey does not have");
  }
  const draw = (total) => randbelow(total, randbytes);
  const key = Array.from(randbytes(16), (byte) => byte.toString(16).padStart(2, "0")).join("");
  const responses = new Map();
  for (const question of survey.questions) {
    responses.set(question.id, respond(survey, question, answers, responses, draw));
  }
  return report(survey, key, [...responses.values()]);
}

function respond(survey, question, answers, responses, draw) {
  const answered = Object.hasOwn(answers, question.id);
  if (!survey.shown(question, responses)) {
    if (!answered) return question.notAsked;
    throw new InvalidAnswer(`question ${question.id}: was answered but is not shown`);
  }
  if (!answered) throw new InvalidAnswer(`question ${question.id}: is not answered`);
  return question.randomise(answers[question.id], draw);
}

function report(survey, key, responses) {
  const { fingerprint, questions } = survey;
  // Padded to the digits of each question's largest response: length tells nothing.
  const padded = responses.map((response, place) =>
    String(response).padStart(questions[place].width),
  );
  const text = `{"survey":"${fingerprint}","key":"${key}","responses":[${padded.join(",")}]}`;
  return Object.freeze({ survey: fingerprint, key, responses: Object.freeze(responses), text });
}

/**
 * Read a report, strictly.
 * @param {Survey} survey @param {string | Uint8Array} data
 * @returns {Readonly<Report>}
 * @throws {InvalidReport} saying what is wrong
 */
export function parseReport(survey, data) {
  const [text, found] = orElse(
    () => readJson(data),
    (problem) => new InvalidReport(`the report ${problem}`),
  );
  checkReport(survey, found);
  const made = report(survey, found.key, found.responses);
  if (made.text !== text) throw new InvalidReport("the report is not in canonical form");
  return made;
}

function checkReport(survey, found) {
  const { length } = survey.questions;
  const complete = isObject(found) && REPORT_FIELDS.every((key) => Object.hasOwn(found, key));
  if (!complete || Object.keys(found).length !== REPORT_FIELDS.length) {
    throw new InvalidReport("the report must be an object with survey, key and responses only");
  }
  if (found.survey !== survey.fingerprint) {
    throw new InvalidReport("survey: must be the survey's fingerprint");
  }
  if (!isText(found.key) || !KEY.test(found.key)) {
    throw new InvalidReport("key: must be 32 hexadecimal digits in lower case");
  }
  if (!isList(found.responses, length, length)) {
    throw new InvalidReport(`responses: must be a list of ${length}`);
  }
  checkResponses(survey, found.responses);
}

function checkResponses(survey, responses) {
  const byId = new Map();
  survey.questions.forEach((question, place) => {
    const [response, many] = [responses[place], question.law.responses];
    const shown = survey.shown(question, byId);
    if (!shown && response !== many) {
      throw new InvalidReport(`responses, ${question.id}: must be ${many}, for not shown`);
    }
    if (shown && !isWhole(response, 0, many - 1)) {
      const rule = `must be a whole number from 0 to ${many - 1}`;
      throw new InvalidReport(`responses, ${question.id}: ${rule}`);
    }
    byId.set(question.id, response);
  });
}

/**
 * Where sealed reports are kept, by fingerprint. `add` stores only if there is none yet and
 * resolves to what is then stored: the first write wins.
 * @typedef {object} Store
 * @property {(fingerprint: string) => Promise<string | undefined>} get
 * @property {(fingerprint: string, text: string) => Promise<string>} add
 */

/**
 * The one report to this survey, as text: the sealed one if there is one, whatever the
 * answers say now, else a new one. Fresh draws for the same person could be averaged.
 * @param {Survey} survey @param {Record<string, unknown>} answers @param {Store} store
 * @returns {Promise<string>}
 */
export async function sealReport(survey, answers, store) {
  const sealed = await store.get(survey.fingerprint);
  return sealed ?? store.add(survey.fingerprint, makeReport(survey, answers).text);
}

/**
 * What is kept beside a sealed report: the invitation until it has arrived, then that it has.
 * @typedef {{invitation?: string, sent?: boolean}} Note
 */

/**
 * A store in IndexedDB. It holds the noisy report and a note on it, never an answer.
 * @returns {Store & {
 *   note: (fingerprint: string) => Promise<Note>,
 *   setNote: (fingerprint: string, note: Note) => Promise<void>,
 * }}
 */
export function browserStore(name = "deniable") {
  const read = (kind, fingerprint) =>
    inDatabase(name, kind, "readonly", (kept, done) => {
      kept.get(fingerprint).onsuccess = (event) => done(event.target.result);
    });
  return {
    get: (fingerprint) => read("reports", fingerprint),
    // One transaction reads and writes, so of two tabs only one can be first.
    add: (fingerprint, text) =>
      inDatabase(name, "reports", "readwrite", (reports, done) => {
        reports.get(fingerprint).onsuccess = (event) => {
          const sealed = event.target.result;
          if (sealed === undefined) reports.add(text, fingerprint);
          done(sealed ?? text);
        };
      }),
    note: async (fingerprint) => (await read("notes", fingerprint)) ?? {},
    setNote: (fingerprint, note) =>
      inDatabase(name, "notes", "readwrite", (notes) => notes.put(note, fingerprint)),
  };
}

/** Run one transaction; resolve, once it is on disk, to what `work` called done with. */
async function inDatabase(name, kind, mode, work) {
  const database = await openDatabase(name);
  try {
    return await new Promise((resolve, reject) => {
      let result;
      const transaction = database.transaction(kind, mode, { durability: "strict" });
      transaction.oncomplete = () => resolve(result);
      transaction.onabort = () => reject(transaction.error);
      work(transaction.objectStore(kind), (value) => (result = value));
    });
  } finally {
    database.close();
  }
}

function openDatabase(name) {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(name, 1);
    request.onupgradeneeded = () => {
      for (const kind of ["reports", "notes"]) request.result.createObjectStore(kind);
    };
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

// ---------------------------------------------------------------- explain

/**
 * Reads a file of words: gives one of them, its {places} filled; English where there is no
 * other.
 */
export const speaker = (words) => (language, name, values = {}) => {
  const text = words[Object.hasOwn(words, language) ? language : "en"][name];
  // In one pass: what a value says is never taken for a place.
  return text.replace(/\{(\w+)\}/g, (_, place) => String(values[place]));
};

export const word = speaker(words);

/**
 * What the law does to an answer, then what one response can tell.
 * @returns {string[]} sentences
 */
export function explainQuestion(question, language = "en") {
  if (!question.protected) return [word(language, "plain")];
  return [...channel(question, language), tells([question.law], "tells", language)];
}

/**
 * What all responses add up to.
 * @returns {string[]} sentences
 */
export function explainSurvey(survey, language = "en") {
  const laws = survey.questions.filter((question) => question.protected).map(({ law }) => law);
  const plain = survey.questions.length - laws.length;
  return [
    ...(laws.length ? [tells(laws, "whole", language)] : []),
    ...(plain ? [word(language, "whole-plain", { count: plain })] : []),
  ];
}

const sumOfDeltas = (laws) => laws.map((law) => law.delta).reduce(add, [0n, 1n]);

function tells(laws, name, language) {
  const delta = sumOfDeltas(laws);
  const epsilon = laws.reduce((sum, law) => sum + law.epsilonBound, 0n);
  const multiply = (one, other) => [one[0] * other[0], one[1] * other[1]];
  return word(language, delta[0] ? `${name}-delta` : name, {
    count: laws.length,
    factor: roundedUp(...laws.map((law) => law.ratio).reduce(multiply)),
    epsilon: spell({ units: ceil(epsilon * 100n, ONE), places: 2 }),
    chance: delta[0] ? delta[1] / delta[0] : "",
  });
}

/** Two decimals below 10, one below 100, none up to a million, then a power of ten. */
function roundedUp(top, bottom) {
  if (top >= 1_000_000n * bottom) return powerOfTen(top, bottom);
  const places = top < 10n * bottom ? 2 : top < 100n * bottom ? 1 : 0;
  const text = spell({ units: ceil(top * 10n ** BigInt(places), bottom), places });
  return places ? text.replace(/\.?0+$/, "") : text;
}

function powerOfTen(top, bottom) {
  const power = String(top / bottom).length - 1;
  const tenths = ceil(top, bottom * 10n ** BigInt(power - 1));
  return tenths === 100n
    ? `1.0 × 10^${power + 1}`
    : `${spell({ units: tenths, places: 1 })} × 10^${power}`;
}

/** How many of 100 people if that comes out even, else of 1000; and those counts. */
export function countsOf(chances, language) {
  const even = chances.every(([top, bottom]) => (top * 100n) % bottom === 0n);
  const total = even ? 100n : 1000n;
  const counts = chances.map(([top, bottom]) => {
    const count = (2n * top * total + bottom) / (2n * bottom);
    return count * bottom === top * total ? String(count) : word(language, "about", { count });
  });
  return [total, counts];
}

function channel(question, language) {
  const { law } = question;
  if (law instanceof Table || (law instanceof KAry && law.answers <= 3)) {
    // A long table is shown by its first and last row.
    const rows = law.answers === 2 ? [0, 1] : law.answers === 3 ? [0, 1, 2] : [0, law.answers - 1];
    return rows.map((answer) => row(question, answer, language));
  }
  const values = law instanceof NumberLaw ? number(question, language) : supports(law, language);
  return [word(language, law.name, values)];
}

function row(question, answer, language) {
  const { law, labels, options } = question;
  const responses = Array.from({ length: law.responses }, (_, response) => response);
  const chances = responses.map((response) => law.probability(answer, response));
  const [total, counts] = countsOf(chances, language);
  const names = (labels.length ? labels : options).map((text) => say(text, language));
  const parts = counts.map((count, place) =>
    word(language, "sends", { count, response: names[place] }),
  );
  const first = parts.slice(0, -1).join(word(language, "comma"));
  const joined = word(language, "and", { first, last: parts.at(-1) });
  return word(language, "row", { total, answer: say(options[answer], language), parts: joined });
}

/** The values of the sentence about a law under which responses support answers. */
function supports(law, language) {
  const [total, [truth, other]] = countsOf([law.p, law.q], language);
  const { options = "", size = "", answers, responses } = law;
  return { total, truth, other, others: answers - 1, options, size, answers, responses };
}

/** The values of the sentence about a law for a number. */
function number(question, language) {
  const { law } = question;
  if (law instanceof TwoPoint) return twoPoint(question, language);
  const beyond = law.halfWidth ?? law.margin;
  const range = { least: question.value(-beyond), most: question.value(law.steps + beyond) };
  if (law instanceof Distance) return { ...range, median: question.steps(law.medianNoise) };
  const [total, [near]] = countsOf([fraction(law.nearTotal, law.total())], language);
  return { ...range, total, near, width: question.steps(beyond) };
}

function twoPoint(question, language) {
  const { law } = question;
  const ends = [0, law.steps];
  const [total, [other, truth]] = countsOf(
    ends.map((answer) => law.probability(answer, 1)),
    language,
  );
  const [least, most] = ends.map((cell) => question.value(cell));
  const [low, high] = ["low", "high"].map((name) => word(language, name));
  return { total, other, truth, least, most, low, high };
}
