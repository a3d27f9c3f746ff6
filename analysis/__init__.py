"""Deniable for researchers: from counts to estimates, and surveys tried out beforehand."""

from .counts import counts
from .estimate import Number, Result, Shares, estimate
from .intervals import clopper_pearson, goodman, likelihood_ratio, wilson
from .simulate import Sample, simulate
from .study import Study, study

__all__ = [
    "Number",
    "Result",
    "Sample",
    "Shares",
    "clopper_pearson",
    "counts",
    "estimate",
    "goodman",
    "likelihood_ratio",
    "Study",
    "simulate",
    "study",
    "wilson",
]
