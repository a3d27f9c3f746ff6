"""Logarithms and rounding that never err towards less ε."""

from __future__ import annotations

import json
import math
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest

from respondent.exact import exp_between, float_up, log_up, round_half_up, simplest_between

from .support import VECTORS

CASES = json.loads((VECTORS / "exact.json").read_text())["vectors"]


def test_vectors() -> None:
    assert len(CASES) > 100
    for case in CASES:
        ratio = Fraction(int(case["top"]), int(case["bottom"]))
        assert float_up(log_up(ratio)) == case["epsilon"], case


@pytest.mark.parametrize("case", CASES[1:20], ids=lambda c: f"{c['top']}/{c['bottom']}")
def test_log_up_is_a_close_upper_bound(case: dict) -> None:
    ratio = Fraction(int(case["top"]), int(case["bottom"]))
    with localcontext() as context:
        context.prec = 80
        exact = Fraction((Decimal(ratio.numerator) / ratio.denominator).ln())
    assert 0 <= log_up(ratio) - exact < Fraction(1, 2**100)


def test_float_up_rounds_up() -> None:
    assert float_up(Fraction(1, 3)) == math.nextafter(1 / 3, 1)
    assert float_up(Fraction(1, 2)) == 0.5
    assert float_up(Fraction(0)) == 0.0


@pytest.mark.parametrize("epsilon", ["0.01", "0.5", "1", "3.7", "10"])
def test_exp_between_encloses(epsilon: str) -> None:
    low, high = exp_between(Fraction(epsilon))
    with localcontext() as context:
        context.prec = 80
        exact = Fraction(Decimal(epsilon).exp())
    assert low < exact < high
    assert (high - low) / exact < Fraction(1, 10**36)


@pytest.mark.parametrize(
    ("low", "high", "simplest"),
    [("1/3", "1/2", "1/2"), ("2.71", "2.72", "19/7"), ("3.1", "3.2", "16/5"), ("2", "9", "2")],
)
def test_simplest_between(low: str, high: str, simplest: str) -> None:
    found = simplest_between(Fraction(low), Fraction(high))
    assert found == Fraction(simplest)
    smaller = range(1, found.denominator)
    assert not any(math.floor(Fraction(high) * d) >= math.ceil(Fraction(low) * d) for d in smaller)


@pytest.mark.parametrize(("value", "whole"), [("1/2", 1), ("-1/2", 0), ("5/2", 3), ("12/5", 2)])
def test_round_half_up(value: str, whole: int) -> None:
    assert round_half_up(Fraction(value)) == whole
