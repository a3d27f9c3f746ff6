"""From a requested ε to whole-number odds: met from below, losing less than 1e-6 of it.

Only researchers' files are made with this. Clients receive the weights and never
compute a logarithm or an exponential to use them. Decimal arithmetic, unlike floats,
gives the same weights on every machine, and so the same fingerprint.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from math import ceil, floor

from .exact import LIMIT, exp_between, round_half_up, simplest_between
from .laws import (
    MOST_CELLS,
    Distance,
    KAry,
    OneOf,
    Projective,
    Subset,
    SupportLaw,
    Table,
    TwoPoint,
    Wave,
    is_prime,
)

#: The share of a requested ε that may be lost.
LOSS = Fraction(1, 10**6)

DIGITS = Context(40)


def odds(epsilon: Fraction) -> tuple[int, int]:
    """The smallest whole numbers whose ratio meets ε: (larger, smaller)."""
    ratio = simplest_between(*_allowed(epsilon))
    return ratio.numerator, ratio.denominator


def _allowed(epsilon: Fraction) -> tuple[Fraction, Fraction]:
    """Ratios from here to there meet ε."""
    return exp_between(epsilon * (1 - LOSS))[1], exp_between(epsilon)[0]


def coin(chance: Fraction, answers: int) -> tuple[int, int]:
    """Truth with ``chance``, otherwise any answer alike: the odds (truth, other)."""
    ratio = (chance + (1 - chance) / answers) / ((1 - chance) / answers)
    return ratio.numerator, ratio.denominator


def k_ary(answers: int, epsilon: Fraction) -> KAry:
    return KAry(answers, *odds(epsilon))


def one_of(options: int, epsilon: Fraction) -> OneOf:
    return OneOf(options, *odds(epsilon))


def subset(answers: int, epsilon: Fraction) -> Subset:
    """The size with least variance among those whose sets can be numbered below 2^53."""
    laws = (Subset(answers, size, *odds(epsilon)) for size in range(1, answers // 2 + 1))
    usable = (law for law in laws if law.largest_draw < LIMIT)
    return min(usable, key=lambda law: law.variance)


def projective(answers: int, epsilon: Fraction) -> Projective:
    """The prime with least variance; the best is near e^ε + 1."""
    return min(_projectives(answers, *odds(epsilon)), key=lambda law: law.variance)


def _projectives(answers: int, inside: int, outside: int) -> Iterator[Projective]:
    for prime in filter(is_prime, range(2, 4 * (inside // outside) + 8)):
        dimension = 2
        while (prime**dimension - 1) // (prime - 1) < answers:
            dimension += 1
        law = Projective(answers, prime, dimension, inside, outside)
        if law.largest_draw < LIMIT:
            yield law


def least_variance(answers: int, epsilon: Fraction) -> SupportLaw:
    """The law for a choice: of k-ary, subset and projective the one with least variance."""
    laws: list[SupportLaw] = [k_ary(answers, epsilon)]
    if answers > 2:
        laws.append(projective(answers, epsilon))
        if answers <= Subset.bounds["answers"][1]:
            laws.append(subset(answers, epsilon))
    return min(laws, key=lambda law: law.variance)


def exponential(answers: int, epsilon: Fraction) -> Table:
    """Exponential mechanism on a scale (McSherry & Talwar 2007): weights fall with distance.

    Rows differ in their totals, so the rate of the fall that meets ε is searched for.
    """
    least, most = _allowed(epsilon)
    with localcontext(DIGITS):
        low, high = Decimal(0), _decimal(epsilon)
        while True:
            rate = (low + high) / 2
            weights = [_whole(2**40 * (-rate * d).exp()) for d in range(answers)]
            scale = range(answers)
            law = Table(tuple(tuple(weights[abs(x - y)] for y in scale) for x in scale))
            if law.ratio > most:
                high = rate
            elif law.ratio < least:
                low = rate
            else:
                return law


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def _whole(weight: Decimal) -> int:
    """The nearest whole number, at least 1: a weight of 0 would prove an answer."""
    return max(1, int(weight.to_integral_value()))


def number(steps: int, epsilon: Fraction) -> TwoPoint | Wave:
    """The law for a number: of two-point and wave the one whose mean errs least at worst."""
    laws: list[TwoPoint | Wave] = [two_point(steps, epsilon)]
    if steps <= MOST_CELLS // 2:
        laws.append(wave(steps, epsilon))
    # Two-point errs most in the middle, wave at the ends.
    return min(laws, key=lambda law: law.variance(steps // 2 if law is laws[0] else 0))


def two_point(steps: int, epsilon: Fraction) -> TwoPoint:
    return TwoPoint(steps, *odds(epsilon))


def wave(steps: int, epsilon: Fraction) -> Wave:
    return wave_of(steps, epsilon, *odds(epsilon))


def wave_of(steps: int, epsilon: Fraction, near: int, far: int) -> Wave:
    """Half-width (εe^ε − e^ε + 1) / (2e^ε(e^ε − 1 − ε)) of the range (Li et al. 2020)."""
    e = exp_between(epsilon)[0]
    share = (epsilon * e - e + 1) / (2 * e * (e - 1 - epsilon))
    return Wave(steps, round_half_up(share * steps), near, far)


def laplace(steps: int, epsilon: Fraction) -> Distance:
    """Two-sided geometric noise, clamped to the range.

    What is clamped away says nothing about the answer, as geometric tails look alike
    from anywhere (Ghosh, Roughgarden & Sundararajan 2012): clamping costs no accuracy.
    """
    with localcontext(DIGITS):
        rate = _decimal(epsilon * (1 - LOSS / 2) / steps)
        tail = 1 / (1 - (-rate).exp())
        # A first weight of 2^36 keeps rounding far below the loss; long ranges take less.
        first = min(2**36, floor(LIMIT / (2 * tail + 2)))
        weights = [first * (-rate * distance).exp() for distance in range(steps + 1)]
        weights[-1] *= tail
        return Distance(steps, 0, tuple(map(_whole, weights)))


def gaussian(steps: int, epsilon: Fraction, delta: Fraction) -> Distance:
    """Gaussian noise with the least spread that meets (ε, δ), found to one part in 10,000."""
    bound = odds(epsilon)
    low, high = Fraction(0), Fraction(steps)
    while (law := _gaussian(steps, high, bound)).delta > delta:
        low, high = high, 2 * high
    while high - low > high / 10_000:
        middle = (low + high) / 2
        closer = _gaussian(steps, middle, bound)
        if closer.delta > delta:
            low = middle
        else:
            high, law = middle, closer
    return law


def _gaussian(steps: int, spread: Fraction, bound: tuple[int, int]) -> Distance:
    """Weights e^(−d²/2·spread²), the cells reaching five spreads beyond the range."""
    margin = ceil(5 * spread)
    if steps + margin >= MOST_CELLS:
        raise ValueError("the range has too many steps for noise this wide; use a larger step")
    with localcontext(DIGITS):
        rate = _decimal(1 / (2 * spread * spread))
        first = min(2**44, floor(LIMIT / (4 * spread + 4)))
        weights = [first, _whole(first * (-rate).exp())]
        for distance in range(2, steps + margin):
            target = _whole(first * (-rate * distance * distance).exp())
            # Rounding must not make the weights fall more slowly: see Distance.problems.
            weights.append(max(1, min(target, weights[-1] ** 2 // weights[-2])))
        beyond = range(steps + margin, steps + 2 * margin)
        tail = sum((first * (-rate * d * d).exp() for d in beyond), Decimal(0))
        weights.append(_whole(tail))
    return Distance(steps, margin, tuple(weights), bound)
