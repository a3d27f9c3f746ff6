"""Coverage of nominal 95 % intervals: law × ε × n × prevalence, many surveys each.

    python -m benchmarks.coverage --repetitions 10000

For questions with several answers the row is the first answer's, the others sharing the rest.
For numbers the prevalence is the mean as a share of the range; answers lie at both ends, the
hardest case. "outside": estimates below 0 or above 1; "bounded": intervals that held nothing
possible, so that the likelihood-ratio interval took their place. That interval always holds
the nearest possible value, which is why cells with many of them cover more than 95 %.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np

from analysis import study
from analysis.study import StudyRow
from respondent import Question, Survey

EPSILONS = (0.5, 1.0, 3.0)
SIZES = (200, 5000)
PREVALENCES = (0.02, 0.3)

#: Name of a row and the question that it stands for, but for ε.
DESIGNS = {
    "k-ary, yes-no": {"kind": "yes-no"},
    "k-ary, 4 options": {"kind": "choice", "options": 4, "law": "k-ary"},
    "subset, 8 options": {"kind": "choice", "options": 8, "law": "subset"},
    "projective, 30": {"kind": "list", "options": 30, "law": "projective"},
    "table, forced": {"kind": "yes-no", "forced": True},
    "table, scale of 4": {"kind": "scale", "range": [1, 4], "law": "exponential"},
    "one-of, 4 options": {"kind": "choices", "options": 4},
    "two-point, mean": {"kind": "number", "range": [0, 100], "law": "two-point"},
    "wave, mean": {"kind": "number", "range": [0, 100], "law": "wave"},
    "Laplace, mean": {"kind": "number", "range": [0, 100], "noise": "laplace"},
    "Gaussian, mean": {"kind": "number", "range": [0, 30], "noise": "gaussian", "delta": 0.001},
}


def question(design: dict, epsilon: float) -> Question:
    fields = {"id": "q", "ask": "?", "epsilon": epsilon} | design
    if isinstance(fields.get("options"), int):
        fields["options"] = [f"option {number}" for number in range(fields["options"])]
    if fields.pop("forced", False):
        # An asymmetric forced response whose larger ratio is e^ε, to three digits.
        high = round(1000 * np.exp(epsilon))
        del fields["epsilon"]
        fields["table"] = [[high, 1000], [1000, 1000]]
    return Survey.parse({"id": "s", "title": "S", "question": [fields]})["q"]


def truth(question: Question, prevalence: float) -> object:
    if question.kind == "choices":
        return [prevalence] + [0.3] * (len(question.options) - 1)
    size = question.law.answers
    if question.kind == "number":
        return [1 - prevalence] + [0.0] * (size - 2) + [prevalence]
    return [prevalence] + [(1 - prevalence) / (size - 1)] * (size - 1)


def cells(repetitions: int, seed: int = 1) -> Iterator[tuple[str, float, int, float, StudyRow]]:
    """(design, ε, n, prevalence, what was found) of every cell of the grid."""
    for name, design in DESIGNS.items():
        for epsilon in EPSILONS:
            asked = question(design, epsilon)
            for prevalence in PREVALENCES:
                for size in SIZES:
                    seed += 1
                    found = study(asked, {"q": truth(asked, prevalence)}, size, repetitions, seed)
                    row = found.rows[0]
                    yield name, epsilon, size, prevalence, row


def together(repetitions: int) -> Iterator[tuple[str, float, int, float]]:
    """(design, ε, n, coverage) of simultaneous intervals of all answers."""
    for name, design in DESIGNS.items():
        if design["kind"] in ("number", "yes-no"):
            continue
        for epsilon in EPSILONS:
            asked = question(design, epsilon)
            if asked.kind == "scale":
                continue  # its mean is no share
            for size in SIZES:
                found = study(
                    asked, {"q": truth(asked, 0.3)}, size, repetitions, 7, simultaneous=True
                )
                yield name, epsilon, size, found.together["q", size]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=10_000)
    repetitions = parser.parse_args().repetitions
    print(f"{'law':20}{'ε':>5}{'n':>7}{'true':>7}{'coverage':>11}{'outside':>10}{'bounded':>10}")
    coverages = []
    for name, epsilon, size, prevalence, row in cells(repetitions):
        coverages.append(row.coverage)
        print(
            f"{name:20}{epsilon:5g}{size:7d}{prevalence:7g}{100 * row.coverage:9.2f} %"
            f"{100 * row.flagged:8.1f} %{100 * row.bounded:8.1f} %"
        )
    found = 100 * np.array(coverages)
    print(
        f"mean {found.mean():.2f} %, least {found.min():.2f} %, most {found.max():.2f} %, "
        f"{len(found)} cells of {repetitions} surveys"
    )
    print("\nall answers at once, true share of the first 0.3")
    for name, epsilon, size, coverage in together(repetitions):
        print(f"{name:20}{epsilon:5g}{size:7d}{100 * coverage:9.2f} %")


if __name__ == "__main__":
    main()
