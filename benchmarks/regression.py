"""Logistic regression through a coin, beside ordinary logistic regression, in one run.

    python -m benchmarks.regression

100,000 respondents and 10 covariates. statsmodels' Logit is given arrays and the responses as if
they were answers; ours the table and a formula, so its time has the formula, the checks, the
other starts and the search for separation in it. Best of several rounds of each, in turn.
Then what a fit that takes responses for answers makes of a slope of 0.5.

Last, the highest top: small surveys with outliers, by the standard error of a logit in them, and
how often one of twelve random starts of scipy's BFGS led higher than ours. Those must be flagged.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pandas
import statsmodels.api
from scipy.optimize import minimize
from scipy.special import expit

from analysis import designs, logistic
from analysis.channel import Floats

PEOPLE, COVARIATES, TRUTH, ROUNDS = 100_000, 10, 0.75, 7
SURVEYS, ERRORS = 600, (0, 0.5, 0.7, 1, np.inf)
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


def small_survey(random: np.random.Generator, outliers: bool) -> tuple[pandas.DataFrame, float]:
    """Few respondents, heavy tails, and in some surveys responses turned round far out."""
    n, covariates = int(random.choice([60, 120, 300, 800])), int(random.integers(1, 4))
    x = random.standard_t(3, size=(n, covariates))
    truth = float(random.choice([0.65, 0.7, 0.8, 0.9, 0.95]))
    true = random.random(n) < expit(x @ random.normal(size=covariates) + random.normal())
    y = np.where(random.random(n) < truth, true, ~true).astype(int)
    if outliers:
        far = np.argsort(-np.abs(x[:, 0]))[: n // 10]
        y[far] = 1 - y[far]
    table = pandas.DataFrame(x, columns=[f"x{place}" for place in range(covariates)])
    return table.assign(y=y), truth


def highest(random: np.random.Generator, x: Floats, y: Floats, truth: float) -> float:
    """The highest log-likelihood of twelve starts."""

    def minus(place: Floats) -> tuple[float, Floats]:
        share = expit(x @ place)
        rate = 1 - truth + (2 * truth - 1) * share
        chance = np.where(y == 1, rate, 1 - rate)
        slope = (2 * y - 1) * (2 * truth - 1) * share * (1 - share) / chance
        return -float(np.log(chance).sum()), -x.T @ slope

    starts = [
        far * random.normal(size=x.shape[1]) for far in (0, 0.5, 1, 1, 2, 2, 3, 3, 5, 5, 8, 8)
    ]
    return max(-minimize(minus, start, jac=True, method="BFGS").fun for start in starts)


def tops() -> None:
    random = np.random.default_rng(3)
    rows = []
    for number in range(SURVEYS):
        table, truth = small_survey(random, outliers=number % 3 == 0)
        if table["y"].nunique() == 1:
            continue
        names = [name for name in table if name != "y"]
        found = logistic(f"y ~ {' + '.join(names)}", table, {"y": designs.warner(truth)})
        x = found.frame.matrix.values[0]
        error = np.sqrt(np.trace(found.covariance @ (x.T @ x)) / len(x))
        best = highest(random, x, table["y"].to_numpy(), truth)
        rows.append((error, best > found.loglik + 1e-3, bool(found.flags)))
    errors, higher, flagged = map(np.array, zip(*rows, strict=True))
    print(f"{'error of a logit':22}{'surveys':>9}{'higher':>9}{'unflagged':>11}")
    for low, high in pairwise(ERRORS):
        last = np.isinf(high)
        here = (errors >= low) & (errors < high) | (np.isnan(errors) & last)
        missed = int((higher & ~flagged & here).sum())
        name = f"{low:g} or more, or none" if last else f"{low:g} to {high:g}"
        print(f"{name:22}{here.sum():9d}{(higher & here).sum():9d}{missed:11d}")


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
        f"responses taken for answers {naive.params[-1]:.3f}\n"
    )
    tops()


if __name__ == "__main__":
    main()
