"""Writes randomise/*.json: laws, answers and bytes, with the response that must follow.

    python tests/vectors/make_randomise.py

The expected responses do not come from the package: each law's row is listed here
response by response, in the order that docs/spec.md gives, and counted off.
"""

import json
import random
from itertools import combinations, product
from pathlib import Path

HERE = Path(__file__).parent


def k_ary(law, answer):
    others = [r for r in range(law["answers"]) if r != answer]
    return [[(answer, law["truth"])] + [(r, law["other"]) for r in others]]


def one_of(law, answer):
    row = []
    for option in range(law["options"]):
        ticked = (answer >> option) & 1
        row += [(2 * option + ticked, law["truth"]), (2 * option + 1 - ticked, law["other"])]
    return [row]


def table(law, answer):
    return [list(enumerate(law["rows"][answer]))]


def subset(law, answer):
    """Two draws: with or without the answer, then which of those sets."""
    k, d = law["answers"], law["size"]
    sets = sorted(combinations(range(k), d), key=lambda s: s[::-1])
    inside = [n for n, s in enumerate(sets) if answer in s]
    outside = [n for n, s in enumerate(sets) if answer not in s]
    first = [(inside, law["inside"] * d), (outside, law["outside"] * (k - d))]
    return [first, lambda chosen: [(number, 1) for number in chosen]]


def projective(law, answer):
    q, t = law["prime"], law["dimension"]
    vectors = list(product(range(q), repeat=t))
    points = [v for v in vectors if any(v) and next(x for x in v if x) == 1]
    number = {v: n for n, v in enumerate(points)}
    true = points[answer]

    def times(v):
        return sum(a * b for a, b in zip(true, v, strict=True)) % q

    def point(v):
        scaled = ([x * s % q for x in v] for s in range(1, q))
        return next(number[tuple(s)] for s in scaled if tuple(s) in number)

    row = [(number[v], law["inside"]) for v in points if times(v) == 0]
    return [row + [(point(v), law["outside"]) for v in vectors if times(v) == 1]]


def two_point(law, answer):
    g, w, s = law["steps"], law["truth"], law["other"]
    return [[(1, s * (g - answer) + w * answer), (0, w * (g - answer) + s * answer)]]


def wave(law, answer):
    b = law["half-width"]
    cells = range(-b, law["steps"] + b + 1)
    near = [(y + b, law["near"]) for y in cells if abs(y - answer) <= b]
    return [near + [(y + b, law["far"]) for y in cells if abs(y - answer) > b]]


def distance(law, answer):
    g, m, weights = law["steps"], law["margin"], law["weights"]

    def cell(y):
        return min(max(y, -m), g + m) + m

    row = [(cell(answer), weights[0])]
    for d, weight in enumerate(weights[1:], 1):
        row += [(cell(answer - d), weight), (cell(answer + d), weight)]
    return [row]


def laws(rng):
    """Small laws of each kind, and some with totals close to 2^53."""
    big = 2**53 - 1
    yield (
        "k-ary",
        k_ary,
        [
            {"answers": 2, "truth": 3, "other": 1},
            {"answers": 2, "truth": 1, "other": 3},
            {"answers": 3, "truth": 1, "other": 1},
            {"answers": 5, "truth": 1264, "other": 465},
            {"answers": 10, "truth": 27, "other": 10},
            {"answers": 2, "truth": big - 2**51, "other": 2**51},
            {"answers": 128, "truth": 300, "other": 2},
        ],
    )
    yield (
        "one-of",
        one_of,
        [
            {"options": 2, "truth": 3, "other": 1},
            {"options": 7, "truth": 1264, "other": 465},
            {"options": 50, "truth": 5, "other": 2},
        ],
    )
    yield (
        "table",
        table,
        [
            {"rows": [[9, 1], [2, 3]]},
            {"rows": [[5, 1], [1, 5]]},
            {"rows": [[6, 3, 1], [1, 3, 6]]},
            {"rows": [[8, 4, 2, 1], [4, 8, 4, 2], [2, 4, 8, 4], [1, 2, 4, 8]]},
            {"rows": [[2**52, 2**51], [1, 2]]},
        ],
    )
    yield (
        "subset",
        subset,
        [
            {"answers": 4, "size": 1, "inside": 3, "outside": 1},
            {"answers": 5, "size": 2, "inside": 5, "outside": 2},
            {"answers": 9, "size": 4, "inside": 3093, "outside": 1876},
            {"answers": 12, "size": 3, "inside": 1264, "outside": 465},
            {"answers": 16, "size": 5, "inside": 2564, "outside": 347},
        ],
    )
    yield (
        "projective",
        projective,
        [
            {"answers": 7, "prime": 2, "dimension": 3, "inside": 3, "outside": 2},
            {"answers": 4, "prime": 3, "dimension": 2, "inside": 5, "outside": 1},
            {"answers": 40, "prime": 3, "dimension": 4, "inside": 1264, "outside": 465},
            {"answers": 50, "prime": 7, "dimension": 3, "inside": 2564, "outside": 347},
            {"answers": 150, "prime": 5, "dimension": 4, "inside": 11, "outside": 2},
            {"answers": 20, "prime": 19, "dimension": 2, "inside": 20, "outside": 1},
        ],
    )
    yield (
        "two-point",
        two_point,
        [
            {"steps": 1, "truth": 3, "other": 1},
            {"steps": 10, "truth": 1264, "other": 465},
            {"steps": 100, "truth": 5, "other": 2},
            {"steps": 10**6, "truth": 5 * 10**9, "other": 10**9},
        ],
    )
    yield (
        "wave",
        wave,
        [
            {"steps": 6, "half-width": 2, "near": 5, "far": 2},
            {"steps": 3, "half-width": 0, "near": 5, "far": 2},
            {"steps": 1, "half-width": 1, "near": 3, "far": 1},
            {"steps": 100, "half-width": 26, "near": 1264, "far": 465},
            {"steps": 50, "half-width": 4, "near": 2**45, "far": 2**40},
        ],
    )
    yield (
        "distance",
        distance,
        [
            {"steps": 1, "margin": 0, "weights": [3, 1]},
            {"steps": 4, "margin": 0, "weights": [16, 8, 4, 2, 2]},
            {"steps": 3, "margin": 2, "weights": [9, 6, 4, 2, 1, 1]},
            {"steps": 2, "margin": 1, "weights": [8, 5, 2, 1], "bound": [3, 2]},
            {"steps": 40, "margin": 0, "weights": [2**45 // (d + 1) for d in range(41)]},
        ],
    )


def bytes_for(total, draw, rng, refused):
    """Bytes that make the draw, after as many refused ones as asked for and possible."""
    bits = (total - 1).bit_length()
    size = (bits + 7) // 8
    surplus = size * 8 - bits
    values = [rng.randrange(total, 2**bits) for _ in range(refused if 2**bits > total else 0)]
    return b"".join(
        ((value << surplus) + rng.getrandbits(surplus)).to_bytes(size, "big")
        for value in [*values, draw]
    )


def counted_off(row, draw):
    """The outcome on which a draw falls, counting weights from the start of the row."""
    for outcome, weight in row:
        if draw < weight:
            return outcome
        draw -= weight
    raise AssertionError("a draw past the end of its row")


def vector(name, rows, law, rng, case):
    answers = law.get("answers") or len(law.get("rows", ())) or law.get("steps", 0) + 1
    answers = 2 ** law["options"] if name == "one-of" else answers
    edge = {0: 0, 1: answers - 1}
    answer = edge.get(case, rng.randrange(answers))
    found, data, chosen = rows(law, answer), b"", None
    for row in found:
        row = row(chosen) if callable(row) else row
        total = sum(weight for _, weight in row)
        draw = {0: 0, 1: total - 1}.get(case, rng.randrange(total))
        data += bytes_for(total, draw, rng, refused=case % 4 if case > 3 else 0)
        chosen = counted_off(row, draw)
    law = {"law": name} | law
    return {"law": law, "answer": answer, "bytes": data.hex(), "response": chosen}


def main():
    rng = random.Random(20261118)
    for name, rows, parameters in laws(rng):
        each = -(-300 // len(parameters))
        vectors = [vector(name, rows, law, rng, case) for law in parameters for case in range(each)]
        comment = f"The {name} law: draws 0 and total - 1, then random ones, some after refusals."
        text = json.dumps({"comment": comment, "vectors": vectors})
        lines = text.replace('[{"law"', '[\n{"law"', 1).replace('}, {"law"', '},\n{"law"')
        (HERE / "randomise" / f"{name}.json").write_text(lines[:-2] + "\n]}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
