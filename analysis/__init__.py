"""Deniable for researchers: from counts to estimates, and surveys tried out beforehand."""

from .calibration import Raked, rake
from .compliance import (
    TwoSamples,
    anchor_corrected,
    cheater_detection,
    stochastic_lie_detector,
    unrelated_unknown,
)
from .correlation import Correlations, correlation
from .counts import counts
from .crosstab import CrossTable, crosstab, crosstab_of_counts
from .estimate import Number, Result, Shares, estimate
from .groups import Comparison, compare
from .intervals import clopper_pearson, goodman, likelihood_ratio, wilson
from .linear import Linear, linear
from .logistic import Logistic, logistic
from .mixed import Mixed, mixed
from .multinomial import Multinomial, multinomial
from .paper import codebook, methods_paragraph, recompute_script
from .planning import margin_of_error, mean_margin
from .regression import LikelihoodRatio, Regression, compare_models
from .replicates import (
    ReplicateWeights,
    bootstrap_weights,
    brr_weights,
    jackknife_weights,
    replicate_weights,
)
from .sampling import SurveyDesign
from .sensitivity import Sensitivity, sensitivity
from .simulate import Sample, simulate
from .study import Study, study
from .unbiased import unbiased_values
from .weighting import Weighted, weighted, weighted_total

__all__ = [
    "Comparison",
    "Correlations",
    "CrossTable",
    "LikelihoodRatio",
    "Linear",
    "Logistic",
    "Mixed",
    "Multinomial",
    "Number",
    "Raked",
    "Regression",
    "ReplicateWeights",
    "Result",
    "Sample",
    "Sensitivity",
    "Shares",
    "Study",
    "SurveyDesign",
    "TwoSamples",
    "Weighted",
    "anchor_corrected",
    "bootstrap_weights",
    "brr_weights",
    "cheater_detection",
    "clopper_pearson",
    "codebook",
    "compare",
    "compare_models",
    "correlation",
    "counts",
    "crosstab",
    "crosstab_of_counts",
    "estimate",
    "goodman",
    "jackknife_weights",
    "likelihood_ratio",
    "linear",
    "logistic",
    "margin_of_error",
    "mean_margin",
    "methods_paragraph",
    "mixed",
    "multinomial",
    "rake",
    "recompute_script",
    "replicate_weights",
    "sensitivity",
    "simulate",
    "stochastic_lie_detector",
    "study",
    "unbiased_values",
    "unrelated_unknown",
    "weighted",
    "weighted_total",
    "wilson",
]
