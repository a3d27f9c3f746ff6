"""Error of the mean of a number under each law offered, and which one is the default.

    python -m benchmarks.mean

Standard error of the mean, times √n, in per cent of the range of 100 steps: exact, from the
laws' weights, for answers spread evenly, all at the low end, half at each end, and at worst.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from analysis.numbers import noise_variance
from respondent import odds
from respondent.laws import NumberLaw

STEPS = 100
EPSILONS = ("0.5", "1", "2", "4")

CELLS = np.arange(STEPS + 1)
POPULATIONS = {
    "even": np.full(STEPS + 1, 1 / (STEPS + 1)),
    "low end": np.eye(STEPS + 1)[0],
    "middle": np.eye(STEPS + 1)[STEPS // 2],
    "two ends": (np.eye(STEPS + 1)[0] + np.eye(STEPS + 1)[-1]) / 2,
}


def laws(epsilon: Fraction) -> dict[str, NumberLaw]:
    return {
        "two-point": odds.two_point(STEPS, epsilon),
        "wave": odds.wave(STEPS, epsilon),
        "Laplace": odds.laplace(STEPS, epsilon),
        "Gaussian, δ = 0.001": odds.gaussian(STEPS, epsilon, Fraction(1, 1000)),
    }


def errors(law: NumberLaw) -> dict[str, float]:
    """Noise of one response by population, and the largest over all populations."""
    noise = noise_variance(law)
    found = {name: float(np.sqrt(shares @ noise)) for name, shares in POPULATIONS.items()}
    return found | {"worst": float(np.sqrt(noise.max()))}


def main() -> None:
    names = [*POPULATIONS, "worst"]
    print(f"{'ε':>4} {'law':22}" + "".join(f"{name:>10}" for name in names) + "   ")
    for text in EPSILONS:
        epsilon = Fraction(text)
        default = odds.number(STEPS, epsilon)
        table = {name: errors(law) for name, law in laws(epsilon).items()}
        least = min(row["worst"] for row in table.values())
        for name, row in table.items():
            chosen = laws(epsilon)[name] == default
            mark = f"default, {row['worst'] / least:.3f} of the least" if chosen else ""
            numbers = "".join(f"{row[column]:10.2f}" for column in names)
            print(f"{text:>4} {name:22}{numbers}   {mark}")


if __name__ == "__main__":
    main()
