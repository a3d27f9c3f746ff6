"""Logistic regression through a coin, beside ordinary logistic regression, in one run.

    python -m benchmarks.regression

100,000 respondents and 10 covariates. statsmodels' Logit is given arrays and the responses as if
they were answers; ours the table and a formula, so its time has the formula, the checks, the
other starts and the search for separation in it. Best of several rounds of each, in turn.
The last line is what a fit that takes responses for answers makes of a slope of 0.5.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pandas
import statsmodels.api
from scipy.special import expit

from analysis import designs, logistic

PEOPLE, COVARIATES, TRUTH, ROUNDS = 100_000, 10, 0.75, 7
SLOPES = np.linspace(-0.5, 0.5, COVARIATES)


def respondents(seed: int = 1) -> pandas.DataFrame:
    random = np.random.default_rng(seed)
    x = random.normal(size=(PEOPLE, COVARIATES))
    true = random.random(PEOPLE) < expit(-0.5 + x @ SLOPES)
    table = pandas.DataFrame(x, columns=[f"x{place}" for place in range(COVARIATES)])
    table["y"] = np.where(random.random(PEOPLE) < TRUTH, true, ~true).astype(int)
    return table


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main() -> None:
    table = respondents()
    names = [name for name in table if name != "y"]
    x, y = statsmodels.api.add_constant(table[names].to_numpy()), table["y"].to_numpy()
    formula = f"y ~ {' + '.join(names)}"
    design = {"y": designs.warner(TRUTH)}
    ours, theirs = [], []
    for _ in range(ROUNDS):
        theirs.append(seconds(lambda: statsmodels.api.Logit(y, x).fit(disp=False)))
        ours.append(seconds(lambda: logistic(formula, table, design)))
    print(f"statsmodels Logit, responses as they are {1000 * min(theirs):8.0f} ms")
    print(f"logistic, through the coin               {1000 * min(ours):8.0f} ms")
    print(f"ratio                                    {min(ours) / min(theirs):8.2f}")
    found, naive = logistic(formula, table, design), statsmodels.api.Logit(y, x).fit(disp=False)
    last = found[names[-1]]
    print(
        f"slope of 0.5: {last.estimate:.3f} ({last.low:.3f} to {last.high:.3f}), "
        f"responses taken for answers {naive.params[-1]:.3f}"
    )


if __name__ == "__main__":
    main()
