"""A million answers randomised and all shares estimated, beside the peers, in one run.

    python -m benchmarks.estimates

Peers are called as their own examples do: one answer at a time, a list of reports, one call
that estimates. Slow ones are given fewer answers, as many as half a second or so allows, and
their time is scaled up; the fastest rival is then timed again with all. Ours is ``simulate``
and ``estimate``: it draws the true answers too, and gives standard errors and intervals, which
the peers do not. A peer's theoretical variance is q(1 − q)/(p − q)² of its own p and q (Wang
et al. 2017); it is a rival if that is at most 10 % above ours. Others are timed once only.
Fast local hashing is taken for a rival by p and q of local hashing, though its few hash
functions add an error that these do not show.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from statistics import median

import numpy as np
import numpy.typing as npt
from scipy import fft

from analysis import estimate, simulate
from analysis.counts import counted
from analysis.simulate import generator, respond
from respondent import Question, Survey
from respondent.laws import KAry, Projective

PEOPLE, EPSILON, ROUNDS = 10**6, 1.0, 3
SIZES = (2, 16, 128, 1024)
ENTRIES = 10**5
#: Seconds that one round of a peer may take; answers are as many as fit.
BUDGET = 0.5
HASHES = 500

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Peer:
    """``work(answers)`` randomises a list of answers and estimates all shares."""

    name: str
    p: float
    q: float
    work: Callable[[list[int]], object]

    @property
    def variance(self) -> float:
        return self.q * (1 - self.q) / (self.p - self.q) ** 2


def survey(options: int, law: str | None = None) -> Survey:
    question = {
        "id": "q",
        "ask": "?",
        "kind": "choice" if options < 100 else "list",
        "epsilon": EPSILON,
        "options": [f"option {number}" for number in range(options)],
    } | ({"law": law} if law else {})
    return Survey.parse({"id": "s", "title": "S", "question": [question]})


# Peers, with p and q as their own code has them


def chances(k: int) -> dict[str, tuple[float, float]]:
    e, half = math.exp(EPSILON), math.exp(EPSILON / 2)
    g = round(e) + 1
    size = max(1, round(k / (e + 1)))
    total = size * e + k - size
    theta = min(np.linspace(0.5, 1, 1001), key=lambda theta: _variance(*_threshold(theta)))
    return {
        "direct": (e / (e + k - 1), 1 / (e + k - 1)),
        "symmetric unary": (half / (half + 1), 1 / (half + 1)),
        "optimal unary": (1 / 2, 1 / (e + 1)),
        "binary hashing": (e / (e + 1), 1 / 2),
        "optimal hashing": (e / (e + g - 1), 1 / g),
        "Hadamard response": (e / (e + 1), 1 / 2),
        "threshold histogram": _threshold(theta),
        "subset": (
            size * e / total,
            (size * e * (size - 1) + (k - size) * size) / ((k - 1) * total),
        ),
    }


def _variance(p: float, q: float) -> float:
    return q * (1 - q) / (p - q) ** 2


def _threshold(theta: float) -> tuple[float, float]:
    return (
        1 - 0.5 * math.exp(EPSILON * (theta - 1) / 2),
        0.5 * math.exp(-EPSILON * theta / 2),
    )


def pure_ldp(k: int) -> list[Peer]:
    from pure_ldp.frequency_oracles.direct_encoding import DEClient, DEServer
    from pure_ldp.frequency_oracles.hadamard_response import (
        HadamardResponseClient,
        HadamardResponseServer,
    )
    from pure_ldp.frequency_oracles.histogram_encoding import HEClient, HEServer
    from pure_ldp.frequency_oracles.local_hashing import (
        FastLHClient,
        FastLHServer,
        LHClient,
        LHServer,
    )
    from pure_ldp.frequency_oracles.unary_encoding import UEClient, UEServer

    common = {"epsilon": EPSILON, "d": k, "index_mapper": lambda answer: answer}
    fast = FastLHServer(k=HASHES, use_olh=True, **common)
    pairs = {
        ("direct", ""): (DEClient(**common), DEServer(**common)),
        ("symmetric unary", ""): (UEClient(**common), UEServer(**common)),
        ("optimal unary", ""): (
            UEClient(use_oue=True, **common),
            UEServer(use_oue=True, **common),
        ),
        ("binary hashing", ""): (LHClient(**common), LHServer(**common)),
        ("optimal hashing", ""): (
            LHClient(use_olh=True, **common),
            LHServer(use_olh=True, **common),
        ),
        ("optimal hashing", ", fast"): (FastLHClient(k=HASHES, use_olh=True, **common), fast),
        ("Hadamard response", ""): (
            HadamardResponseClient(hash_funcs=None, **common),
            HadamardResponseServer(**common),
        ),
        ("threshold histogram", ""): (HEClient(**common), HEServer(use_the=True, **common)),
    }
    known = chances(k)

    def working(client: object, server: object) -> Callable[[list[int]], object]:
        def work(answers: list[int]) -> object:
            server.reset()
            if server is fast:
                server.hash_counts[:] = 0
            server.aggregate_all([client.privatise(answer) for answer in answers])
            return server.estimate_all(range(k), suppress_warnings=True)

        return work

    return [
        Peer(f"pure-ldp, {name}{more}", *known[name], working(*pair))
        for (name, more), pair in pairs.items()
    ]


def multi_freq_ldpy(k: int) -> list[Peer]:
    from multi_freq_ldpy.pure_frequency_oracles.ADP import ADP_Aggregator_MI, ADP_Client
    from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Aggregator_MI, GRR_Client
    from multi_freq_ldpy.pure_frequency_oracles.HE import HE_Aggregator_MI, HE_Client
    from multi_freq_ldpy.pure_frequency_oracles.LH import LH_Aggregator_MI, LH_Client
    from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Aggregator_MI, SS_Client
    from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Aggregator_MI, UE_Client

    e, known = EPSILON, chances(k)

    def work(client: Callable[..., object], estimated: Callable[..., object], *more: object):
        return lambda answers: estimated([client(answer, k, e, *more) for answer in answers])

    found = {
        "direct": work(GRR_Client, lambda sent: GRR_Aggregator_MI(sent, k, e)),
        "symmetric unary": work(UE_Client, lambda sent: UE_Aggregator_MI(sent, e, False), False),
        "optimal unary": work(UE_Client, lambda sent: UE_Aggregator_MI(sent, e)),
        "binary hashing": work(LH_Client, lambda sent: LH_Aggregator_MI(sent, k, e, False), False),
        "optimal hashing": work(LH_Client, lambda sent: LH_Aggregator_MI(sent, k, e)),
        "threshold histogram": work(HE_Client, lambda sent: HE_Aggregator_MI(sent, k, e)),
        "subset": work(SS_Client, lambda sent: SS_Aggregator_MI(sent, k, e)),
    }
    peers = [Peer(f"multi-freq-ldpy, {name}", *known[name], call) for name, call in found.items()]
    best = min("direct", "optimal unary", key=lambda name: _variance(*known[name]))
    adaptive = work(ADP_Client, lambda sent: ADP_Aggregator_MI(sent, k, e))
    return [*peers, Peer("multi-freq-ldpy, adaptive", *known[best], adaptive)]


# Timing


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def in_turn(works: dict[str, Callable[[], object]], rounds: int = ROUNDS) -> dict[str, float]:
    """Medians, every work done once in each round; the first round warms up."""
    found = [{name: seconds(work) for name, work in works.items()} for _ in range(rounds + 1)]
    return {name: median(one[name] for one in found[1:]) for name in works}


def fitting(peer: Peer, answers: list[int]) -> int:
    """How many answers a peer can be given within the budget, found by doubling."""
    size = 100
    peer.work(answers[:size])
    while True:
        part = answers[:size]
        if size == len(answers) or seconds(partial(peer.work, part)) > BUDGET / 2:
            return size
        size = min(2 * size, len(answers))


def against_peers(k: int) -> float:
    """Prints a table; the fastest rival's time as a multiple of ours."""
    asked = survey(k)
    law = asked["q"].law
    answers = np.random.default_rng(1).integers(0, k, PEOPLE).tolist()
    peers = [*pure_ldp(k), *multi_freq_ldpy(k)]
    sizes = {peer.name: fitting(peer, answers) for peer in peers}
    ours = f"deniable, {law.name}"
    works: dict[str, Callable[[], object]] = {
        ours: lambda: estimate(asked["q"], simulate(asked, None, PEOPLE, 1).counts["q"])
    }
    rivals = [peer.name for peer in peers if peer.variance <= 1.1 * float(law.variance)]
    calls = {peer.name: partial(peer.work, answers[: sizes[peer.name]]) for peer in peers}
    found = in_turn(works | {name: calls[name] for name in rivals})
    found |= {name: seconds(call) for name, call in calls.items() if name not in rivals}
    scaled = {name: found[name] * PEOPLE / sizes[name] for name in calls}
    print(f"{f'{k} options':40}{'variance':>9}{'answers':>10}{'s for 1e6':>11}{'× ours':>9}")
    print(f"{ours:40}{float(law.variance):9.2f}{PEOPLE:10,}{found[ours]:11.3f}{1:9.1f}")
    for peer in peers:
        taken = scaled[peer.name]
        print(
            f"{peer.name:40}{peer.variance:9.2f}{sizes[peer.name]:10,}{taken:11.2f}"
            f"{taken / found[ours]:9.1f}{'  rival' if peer.name in rivals else ''}"
        )
    fastest = min(rivals, key=lambda name: scaled[name])
    whole = {peer.name: partial(peer.work, answers) for peer in peers}
    found = in_turn(works | {fastest: whole[fastest]})
    ratio = found[fastest] / found[ours]
    print(
        f"fastest rival, now with all answers: {fastest}, {found[fastest]:.2f} s "
        f"to our {found[ours]:.3f} s: {ratio:.1f} ×\n"
    )
    return ratio


def against_numpy(k: int) -> float:
    """k-ary as a plain numpy kernel, on the same answers: our time as a multiple of it."""
    question = survey(k, "k-ary")["q"]
    law = question.law
    assert isinstance(law, KAry)
    rng = np.random.default_rng(1)
    answers = rng.integers(0, k, PEOPLE)
    p, q = float(law.p), float(law.q)

    def kernel() -> object:
        draws = rng.integers(0, law.total(0), PEOPLE)
        other = (draws - law.truth) // law.other
        sent = np.where(draws < law.truth, answers, other + (other >= answers))
        return (np.bincount(sent, minlength=k) / PEOPLE - q) / (p - q)

    def ours() -> object:
        return estimate(question, counted(question, respond(law, answers, generator(rng))))

    found = in_turn({"ours": ours, "kernel": kernel}, 15)
    ratio = found["ours"] / found["kernel"]
    print(f"{k:8}{1000 * found['ours']:10.1f}{1000 * found['kernel']:10.1f}{ratio:8.2f}")
    return ratio


def long_list() -> float:
    """``estimate`` of a long list as a multiple of its own fftn and bincount."""
    asked = survey(ENTRIES)
    question: Question = asked["q"]
    law = question.law
    assert isinstance(law, Projective)
    sample = simulate(asked, None, PEOPLE, 1)
    counts, sent = sample.counts["q"], sample.responses["q"]
    dense = np.bincount(sent, minlength=law.responses)
    cube = np.random.default_rng(1).random((law.prime,) * law.dimension)

    def transform() -> object:
        return fft.fftn(cube), np.bincount(sent, minlength=law.responses)

    found = in_turn(
        {
            "estimate, counts in a dict": lambda: estimate(question, counts),
            "estimate, counts in an array": lambda: estimate(question, dense),
            "fftn and bincount": transform,
        },
        15,
    )
    least = found["fftn and bincount"]
    print(f"\na list of {ENTRIES:,} entries, {PEOPLE:,} reports")
    for name, taken in found.items():
        print(f"{name:40}{1000 * taken:8.1f} ms{taken / least:8.2f}")
    return max(found.values()) / least


def main() -> None:
    warnings.simplefilter("ignore")
    print(f"{PEOPLE:,} answers at ε = {EPSILON:g}, randomised and estimated\n")
    faster = [against_peers(k) for k in SIZES]
    print(f"{'k-ary':>8}{'ours, ms':>10}{'numpy':>10}{'ratio':>8}")
    kernel = max(against_numpy(k) for k in SIZES)
    transform = long_list()
    print(f"\nfastest rival at least 10 × ours: {min(faster):.1f}")
    print(f"k-ary at most 2 × numpy: {kernel:.2f}")
    print(f"long list at most 3 × fftn and bincount: {transform:.2f}")


if __name__ == "__main__":
    main()
