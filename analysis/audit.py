"""Auditing a sampler: how much privacy loss its own draws prove.

Draws from two answers show how often each response comes. A response, or a set of them,
that is far likelier under one answer than under the other proves a loss: exact binomial
(Clopper & Pearson 1934) bounds of its two chances bound ε from below. If that bound
exceeds the ε claimed, the sampler breaks its promise. Two sets are tried: the one that
the law's own weights make the worst, and the one that looks worst in draws made for that
purpose, so that looking at many sets costs no confidence (Bichsel et al. 2021, "DP-Sniper").

    python -m analysis.audit --draws 10000000
"""

from __future__ import annotations

import argparse
import json
import math
import random
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from importlib.resources import files
from itertools import repeat

from scipy.stats import beta

from respondent import odds
from respondent.document import law_document
from respondent.laws import KAry, Law, Table
from respondent.randomness import randbelow

Counts = Mapping[int, int]
#: (answer, draws, seed) → how often each response came; a seed of None means real entropy.
Sampler = Callable[[int, int, int | None], Counts]

#: The chance that an honest sampler is rejected.
ALPHA = 1e-6


@dataclass(frozen=True)
class Audit:
    """What the draws prove about one law."""

    law: str
    claimed: float
    proven: float
    draws: int

    @property
    def rejected(self) -> bool:
        return self.proven > self.claimed


def worst_event(law: Law, one: int, other: int, seen: Iterable[int]) -> frozenset[int]:
    """The responses seen whose weights tell most for ``one`` and against ``other``."""
    ratios = {y: law.probability(one, y) / law.probability(other, y) for y in seen}
    worst = law.ratio if law.delta else max(ratios.values())
    return frozenset(y for y, ratio in ratios.items() if ratio >= worst)


def choose_event(one: Counts, other: Counts, delta: float) -> frozenset[int]:
    """The responses that in these draws tell most for ``one`` and against ``other``."""
    ranked = sorted(one, key=lambda y: (one[y] + 1) / (other.get(y, 0) + 1), reverse=True)
    n_one, n_other = sum(one.values()), sum(other.values())
    best, size, hits, misses = -math.inf, 0, 0, 0
    for number, response in enumerate(ranked, 1):
        hits += one[response]
        misses += other.get(response, 0)
        if number < len(ranked) and one[ranked[number]] == 1 and hits < 1000:
            continue  # too few so far to tell
        bound = proven_epsilon(hits, n_one, misses, n_other, delta)
        if bound > best:
            best, size = bound, number
    return frozenset(ranked[:size])


def proven_epsilon(
    hits: int, n_hits: int, misses: int, n_misses: int, delta: float = 0.0, alpha: float = ALPHA
) -> float:
    """Lower bound of ln((p − δ) / q), with p and q seen ``hits`` and ``misses`` times.

    Each bound fails with chance α/2 (Clopper & Pearson 1934), so both hold with 1 − α.
    """
    low = beta.ppf(alpha / 2, hits, n_hits - hits + 1) if hits else 0.0
    high = beta.ppf(1 - alpha / 2, misses + 1, n_misses - misses) if misses < n_misses else 1.0
    return math.log((low - delta) / high) if low > delta else -math.inf


def audit(law: Law, sample: Sampler, draws: int, seed: int | None = None) -> Audit:
    """Draw from the law's first and last answer and bound ε both ways, by both sets."""
    answers, delta = (0, law.answers - 1), float(law.delta)
    seeds: Iterator[int | None] = repeat(None) if seed is None else iter(range(seed, seed + 4))
    pilot = [sample(answer, max(1000, draws // 10), next(seeds)) for answer in answers]
    main = [sample(answer, draws, next(seeds)) for answer in answers]
    bounds = []
    for one, other in ((0, 1), (1, 0)):
        seen = main[one].keys() | main[other].keys()
        events = (
            worst_event(law, answers[one], answers[other], seen),
            choose_event(pilot[one], pilot[other], delta),
        )
        for event in events:
            hits, misses = (sum(main[i].get(y, 0) for y in event) for i in (one, other))
            bounds.append(proven_epsilon(hits, draws, misses, draws, delta, ALPHA / 4))
    return Audit(law.name, law.epsilon, max(bounds), draws)


def python_sampler(law: Law) -> Sampler:
    def sample(answer: int, draws: int, seed: int | None) -> Counts:
        draw = randbelow
        if seed is not None:
            draw = partial(randbelow, randbytes=random.Random(seed).randbytes)
        return Counter(law.randomise(answer, draw) for _ in range(draws))

    return sample


def web_sampler(law: Law) -> Sampler:
    """The same law drawn by the browser module, in Node."""
    node = shutil.which("node")
    if node is None:
        raise FileNotFoundError("node is not installed, so the browser module is not audited")
    script = str(files("respondent") / "web" / "sample.js")

    def sample(answer: int, draws: int, seed: int | None) -> Counts:
        job = {"law": law_document(law), "answer": answer, "draws": draws, "seed": seed}
        result = subprocess.run(
            [node, script], input=json.dumps(job), capture_output=True, text=True, check=True
        )
        return {int(response): count for response, count in json.loads(result.stdout).items()}

    return sample


def laws_to_audit() -> dict[str, Law]:
    """One of each law, at sizes whose worst responses are common enough to be seen."""
    one = Fraction(1)
    return {
        "coin flip": KAry(2, 3, 1),
        "k-ary, 10 options": odds.k_ary(10, one),
        "one-of, 5 options": odds.one_of(5, one),
        "table, forced response": Table(((5, 1), (1, 5))),
        "table, exponential scale": odds.exponential(7, one),
        "subset, 20 options": odds.subset(20, one),
        "projective, 1,000 entries": odds.projective(1000, one),
        "two-point, 100 steps": odds.two_point(100, one),
        "wave, 100 steps": odds.wave(100, one),
        "distance, Laplace": odds.laplace(20, one),
        "distance, Gaussian": odds.gaussian(20, one, Fraction(1, 100)),
    }


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m analysis.audit",
        description="Draw from every law, in Python and in the browser module, and compare the "
        "ε that the draws prove with the ε claimed. Uses the operating system's entropy.",
    )
    parser.add_argument(
        "--draws", type=int, default=10**6, help="draws for each of two answers (%(default)s)"
    )
    draws = parser.parse_args(arguments).draws
    makers = {"Python": python_sampler, "browser": web_sampler}
    rejected = 0
    print(f"{'law':28}{'in':>9}{'claimed ε':>12}{'proven ε ≥':>12}")
    for name, law in laws_to_audit().items():
        for where, make in makers.items():
            print(f"\rauditing {name} …\r", end="", file=sys.stderr)
            found = audit(law, make(law), draws)
            rejected += found.rejected
            verdict = "REJECTED" if found.rejected else "holds"
            print(f"{name:28}{where:>9}{found.claimed:12.6f}{found.proven:12.6f}  {verdict}")
    return 1 if rejected else 0


if __name__ == "__main__":
    sys.exit(main())
