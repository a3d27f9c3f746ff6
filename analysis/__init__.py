"""Deniable for researchers: from counts to estimates, and surveys tried out beforehand."""

from .advice import Advice, advise
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
from .goals import GroupTest, Margin, MeanTest, ShareTest
from .groups import Comparison, compare
from .intervals import clopper_pearson, goodman, likelihood_ratio, wilson
from .linear import Linear, linear
from .logistic import Logistic, logistic
from .mixed import Mixed, mixed
from .multinomial import Multinomial, multinomial
from .paper import codebook, methods_paragraph, recompute_script
from .planning import (
    Kind,
    MarginPlan,
    epsilon_for_margin,
    margin_of_error,
    mean_margin,
    n_for_margin,
    n_for_mean_margin,
    plan_margin,
)
from .power import (
    detectable_difference,
    detectable_mean_difference,
    group_power,
    group_sample_size,
    mean_power,
    mean_sample_size,
    share_power,
    share_sample_size,
)
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
from .simulated_power import (
    SimulatedPower,
    logistic_power,
    logistic_sample_size,
    simulated_power,
    simulated_sample_size,
)
from .study import Study, study
from .survey_plan import QuestionPlan, plan_survey
from .unbiased import unbiased_values
from .weighting import Weighted, weighted, weighted_total

__all__ = [
    "Advice",
    "Comparison",
    "Correlations",
    "CrossTable",
    "GroupTest",
    "Kind",
    "LikelihoodRatio",
    "Linear",
    "Logistic",
    "Margin",
    "MarginPlan",
    "MeanTest",
    "Mixed",
    "Multinomial",
    "Number",
    "QuestionPlan",
    "Raked",
    "Regression",
    "ReplicateWeights",
    "Result",
    "Sample",
    "Sensitivity",
    "ShareTest",
    "Shares",
    "SimulatedPower",
    "Study",
    "SurveyDesign",
    "TwoSamples",
    "Weighted",
    "advise",
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
    "detectable_difference",
    "detectable_mean_difference",
    "epsilon_for_margin",
    "estimate",
    "goodman",
    "group_power",
    "group_sample_size",
    "jackknife_weights",
    "likelihood_ratio",
    "linear",
    "logistic",
    "logistic_power",
    "logistic_sample_size",
    "margin_of_error",
    "mean_margin",
    "mean_power",
    "mean_sample_size",
    "methods_paragraph",
    "mixed",
    "multinomial",
    "n_for_margin",
    "n_for_mean_margin",
    "plan_margin",
    "plan_survey",
    "rake",
    "recompute_script",
    "replicate_weights",
    "sensitivity",
    "share_power",
    "share_sample_size",
    "simulate",
    "simulated_power",
    "simulated_sample_size",
    "stochastic_lie_detector",
    "study",
    "unbiased_values",
    "unrelated_unknown",
    "weighted",
    "weighted_total",
    "wilson",
]
