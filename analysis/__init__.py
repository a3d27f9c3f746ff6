"""Deniable for researchers: from counts to estimates, and surveys tried out beforehand."""

from .counts import counts
from .estimate import Number, Result, Shares, estimate
from .intervals import clopper_pearson, goodman, likelihood_ratio, wilson
from .linear import Linear, linear
from .logistic import Logistic, logistic
from .mixed import Mixed, mixed
from .multinomial import Multinomial, multinomial
from .paper import codebook, methods_paragraph, recompute_script
from .planning import margin_of_error, mean_margin
from .regression import LikelihoodRatio, Regression, compare
from .simulate import Sample, simulate
from .study import Study, study

__all__ = [
    "LikelihoodRatio",
    "Linear",
    "Logistic",
    "Mixed",
    "Multinomial",
    "Number",
    "Regression",
    "Result",
    "Sample",
    "Shares",
    "Study",
    "clopper_pearson",
    "codebook",
    "compare",
    "counts",
    "estimate",
    "goodman",
    "likelihood_ratio",
    "linear",
    "logistic",
    "margin_of_error",
    "mean_margin",
    "methods_paragraph",
    "mixed",
    "multinomial",
    "recompute_script",
    "simulate",
    "study",
    "wilson",
]
