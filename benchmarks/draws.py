"""Draws per second of one yes-no answer and of a 10-option choice, beside the peers.

    python -m benchmarks.draws

All in one run, in turn, the middle of several rounds. The peers are called as a client
would call them, one answer at a time: opendp spends most of it on the way from Python
into its library and back; pure-ldp draws from Python's ``random``, which is not fit for
privacy but fast. Long lists and importing are measured too.
"""

from __future__ import annotations

import math
import subprocess
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from statistics import median

from respondent import Survey, make_report
from respondent.laws import KAry
from respondent.odds import k_ary

ROUNDS, DRAWS = 7, 20_000
EXAMPLES = Path(__file__).parent.parent / "examples"


def peers() -> dict[str, Callable[[], object]]:
    import opendp.prelude as dp
    from pure_ldp.frequency_oracles.direct_encoding import DEClient

    dp.enable_features("contrib")
    coin = dp.m.make_randomized_response_bool(prob=0.75)
    ten = dp.m.make_randomized_response(list(range(10)), prob=math.e / (math.e + 9))
    pure_coin = DEClient(epsilon=math.log(3), d=2, index_mapper=lambda x: x)
    pure_ten = DEClient(epsilon=1.0, d=10, index_mapper=lambda x: x)
    return {
        "yes-no, opendp": lambda: coin(True),
        "yes-no, pure-ldp": lambda: pure_coin.privatise(1),
        "10 options, opendp": lambda: ten(3),
        "10 options, pure-ldp": lambda: pure_ten.privatise(3),
    }


def ours() -> dict[str, Callable[[], object]]:
    coin, ten = KAry(2, 3, 1), k_ary(10, Fraction(1))
    return {
        "yes-no, deniable": lambda: coin.randomise(1),
        "10 options, deniable": lambda: ten.randomise(3),
    }


def rate(draw: Callable[[], object]) -> float:
    start = time.perf_counter()
    for _ in range(DRAWS):
        draw()
    return DRAWS / (time.perf_counter() - start)


def milliseconds(work: Callable[[], object], times: int) -> float:
    def once() -> float:
        start = time.perf_counter()
        work()
        return 1000 * (time.perf_counter() - start)

    return median(once() for _ in range(times))


def import_milliseconds() -> float:
    code = (
        "import time; start = time.perf_counter(); import respondent; "
        "print(1000 * (time.perf_counter() - start))"
    )
    run = [sys.executable, "-c", code]
    return median(float(subprocess.check_output(run, text=True)) for _ in range(11))


def main() -> None:
    draws = ours() | peers()
    rounds = [{name: rate(draw) for name, draw in draws.items()} for _ in range(ROUNDS)]
    found = {name: median(one[name] for one in rounds) for name in draws}
    print(f"{'draws a second, one answer at a time':40}{'':>12}{'× opendp':>10}")
    for name in sorted(found):
        peer = found[name.partition(",")[0] + ", opendp"]
        print(f"{name:40}{found[name]:12,.0f}{found[name] / peer:10.1f}")
    survey = Survey.load(EXAMPLES / "names.toml")
    place = str(survey["place"].options[4711])
    report = milliseconds(lambda: make_report(survey, {"place": place}), 101)
    print(f"one report, 10,000 entries: {report:.3f} ms")
    print(f"import respondent: {import_milliseconds():.1f} ms")


if __name__ == "__main__":
    main()
