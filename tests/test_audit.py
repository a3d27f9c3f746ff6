"""The audit accepts every law, in both languages, and rejects samplers that break theirs.

Draws are seeded, so verdicts repeat. An honest sampler would be rejected once in a
million seeds: the bounds hold with confidence 1 − 1e-6 (4.9 standard errors).
"""

from __future__ import annotations

import math
import random
from collections import Counter
from fractions import Fraction

import pytest
from scipy.stats import beta

from analysis.audit import (
    Counts,
    audit,
    laws_to_audit,
    proven_epsilon,
    python_sampler,
    web_sampler,
)
from respondent import odds
from respondent.laws import KAry, Law, OneOf

from .support import needs

DRAWS = 10**6
LAWS = laws_to_audit()


@pytest.mark.parametrize("name", LAWS)
def test_python_keeps_its_promise(name: str) -> None:
    found = audit(LAWS[name], python_sampler(LAWS[name]), DRAWS, seed=1)
    assert not found.rejected
    # The audit sees most of the loss, so it would have seen more.
    assert found.proven > 0.9 * found.claimed


@pytest.mark.parametrize("name", LAWS)
def test_the_browser_module_keeps_its_promise(name: str) -> None:
    needs("node")
    found = audit(LAWS[name], web_sampler(LAWS[name]), DRAWS, seed=1)
    assert not found.rejected
    assert found.proven > 0.9 * found.claimed


@pytest.mark.parametrize("seed", range(0, 100, 10))
@pytest.mark.parametrize(
    ("claimed", "real"),
    [
        (odds.k_ary(2, Fraction(1)), odds.k_ary(2, Fraction("1.05"))),
        (odds.k_ary(10, Fraction(1)), odds.k_ary(10, Fraction("1.05"))),
    ],
    ids=["2 options", "10 options"],
)
def test_a_little_too_much_epsilon_is_rejected_each_time(
    claimed: Law, real: Law, seed: int
) -> None:
    assert audit(claimed, python_sampler(real), DRAWS, seed).rejected


@pytest.mark.parametrize("seed", range(0, 100, 10))
def test_a_byte_modulo_the_total_is_rejected_each_time(seed: int) -> None:
    law = KAry(10, 27, 10)  # total 117: bytes 234 to 255 favour the first 22 draws

    def sample(answer: int, draws: int, seed: int | None) -> Counts:
        data = random.Random(seed).randbytes(draws)
        return Counter(
            law.randomise(answer, lambda total, byte=byte: byte % total) for byte in data
        )

    assert audit(law, sample, 100_000, seed).rejected


@pytest.mark.parametrize("seed", range(0, 100, 10))
def test_a_tick_that_is_never_taken_back_is_rejected_each_time(seed: int) -> None:
    law = OneOf(3, 3, 1)

    def sample(answer: int, draws: int, seed: int | None) -> Counts:
        honest = python_sampler(law)(answer, draws, seed)
        found: Counter[int] = Counter()
        for response, count in honest.items():
            ticked = answer >> (response // 2) & 1
            found[response | ticked] += count
        return found

    assert audit(law, sample, 100_000, seed).rejected


@pytest.mark.parametrize(("hits", "misses", "n"), [(750, 250, 1000), (30, 3, 100), (5, 0, 10)])
def test_proven_epsilon_is_the_ratio_of_clopper_pearson_bounds(
    hits: int, misses: int, n: int
) -> None:
    low = beta.ppf(0.005, hits, n - hits + 1)
    high = beta.ppf(0.995, misses + 1, n - misses)
    assert proven_epsilon(hits, n, misses, n, alpha=0.01) == pytest.approx(
        math.log(low / high), rel=1e-12
    )


def test_nothing_seen_proves_nothing() -> None:
    assert proven_epsilon(0, 100, 0, 100) == float("-inf")
