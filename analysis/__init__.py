"""Deniable for researchers: from counts to estimates, and surveys tried out beforehand."""

from .estimate import estimate
from .intervals import clopper_pearson, goodman, likelihood_ratio, wilson

__all__ = [
    "clopper_pearson",
    "estimate",
    "goodman",
    "likelihood_ratio",
    "wilson",
]
