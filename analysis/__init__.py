"""Deniable for researchers: from counts to estimates, and surveys tried out beforehand."""

from .correlation import Correlations, correlation
from .counts import counts
from .crosstab import CrossTable, crosstab, crosstab_of_counts
from .estimate import Number, Result, Shares, estimate
from .groups import Comparison, compare
from .intervals import clopper_pearson, goodman, likelihood_ratio, wilson
from .paper import codebook, methods_paragraph, recompute_script
from .planning import margin_of_error, mean_margin
from .simulate import Sample, simulate
from .study import Study, study

__all__ = [
    "Comparison",
    "Correlations",
    "CrossTable",
    "Number",
    "Result",
    "Sample",
    "Shares",
    "Study",
    "clopper_pearson",
    "codebook",
    "compare",
    "correlation",
    "counts",
    "crosstab",
    "crosstab_of_counts",
    "estimate",
    "goodman",
    "likelihood_ratio",
    "margin_of_error",
    "mean_margin",
    "methods_paragraph",
    "recompute_script",
    "simulate",
    "study",
    "wilson",
]
