"""Exact arithmetic for privacy: logarithms and rounding that never err towards less ε.

The browser module repeats ``log_up`` and ``float_up`` step by step with BigInt, so
both languages give the same double.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

#: Totals of weights stay below this, so JavaScript numbers hold them exactly.
LIMIT = 2**53

BITS = 120
ONE = 1 << BITS


def log_up(ratio: Fraction) -> Fraction:
    """An upper bound of ln ``ratio`` (≥ 1), less than 2^-110 above it.

    ratio = 2^shift · m with 1 ≤ m < 2, and ln m = 2·atanh((m − 1)/(m + 1)), both in
    fixed point. Every division truncates, which loses less than one unit a term;
    the 512 units added at the end cover all of them.
    """
    top, bottom = ratio.numerator, ratio.denominator
    if top == bottom:
        return Fraction(0)
    shift = top.bit_length() - bottom.bit_length()
    if top < bottom << shift:
        shift -= 1
    bottom <<= shift
    units = 2 * (_atanh(top - bottom, top + bottom) + shift * _atanh(1, 3))
    return Fraction(units + 512 * (shift + 1), ONE)


def _atanh(top: int, bottom: int) -> int:
    z = top * ONE // bottom
    square = z * z // ONE
    power, odd, total = z, 1, 0
    while power:
        total += power // odd
        power = power * square // ONE
        odd += 2
    return total


def float_up(value: Fraction) -> float:
    """The smallest float that is not below ``value``."""
    nearest = float(value)
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)


def exp_between(epsilon: Fraction) -> tuple[Fraction, Fraction]:
    """Fractions just below and just above e^ε, 40 digits deep."""
    low, high = Context(40, ROUND_FLOOR), Context(40, ROUND_CEILING)
    top, bottom = Decimal(epsilon.numerator), Decimal(epsilon.denominator)
    # Decimal's exp rounds to nearest whatever the context says: one more ulp each way.
    below = low.next_minus(low.exp(low.divide(top, bottom)))
    above = high.next_plus(high.exp(high.divide(top, bottom)))
    return Fraction(below), Fraction(above)


def simplest_between(low: Fraction, high: Fraction) -> Fraction:
    """The fraction with the smallest terms in the closed interval [low, high]."""
    whole = math.floor(low)
    if whole == low:
        return low
    if whole + 1 <= high:
        return Fraction(whole + 1)
    return whole + 1 / simplest_between(1 / (high - whole), 1 / (low - whole))


def round_half_up(value: Fraction) -> int:
    """The nearest whole number; a half goes up. Python's own ``round`` goes to even."""
    return math.floor(value + Fraction(1, 2))
