"""The law chosen for a choice, against subset selection at its best size, which is optimal.

python -m benchmarks.variance
"""

from __future__ import annotations

from fractions import Fraction

from respondent.exact import exp_between
from respondent.odds import least_variance

ANSWERS = (2, 3, 5, 10, 20, 50, 128, 1024, 10**4, 10**5)
EPSILONS = ("0.5", "1", "2", "3", "4")


def optimum(k: int, e: Fraction) -> Fraction:
    """Least variance over all sizes d, from p* and q* of Ye & Barg (2018)."""
    middle = int(k / (e + 1))

    def variance(d: int) -> Fraction:
        p = d * e / (d * e + k - d)
        q = (d * e * (d - 1) + (k - d) * d) / ((k - 1) * (d * e + k - d))
        return q * (1 - q) / (p - q) ** 2

    return min(variance(d) for d in range(max(1, middle - 2), min(k - 1, middle + 3) + 1))


def main() -> None:
    print("Variance of the chosen law as a multiple of the optimum")
    print(f"{'answers':>8}" + "".join(f"{'ε = ' + epsilon:>20}" for epsilon in EPSILONS))
    worst = {True: Fraction(0), False: Fraction(0)}
    for answers in ANSWERS:
        line = f"{answers:8}"
        for epsilon in map(Fraction, EPSILONS):
            law = least_variance(answers, epsilon)
            ratio = law.variance / optimum(answers, exp_between(epsilon)[0])
            worst[answers <= 50] = max(worst[answers <= 50], ratio)
            line += f"{law.name:>12}{float(ratio):8.4f}"
        print(line)
    print(f"worst up to 50 answers: {float(worst[True]):.4f}; above: {float(worst[False]):.4f}")


if __name__ == "__main__":
    main()
