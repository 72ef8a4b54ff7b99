"""Metrics: pure functions on tensors, one number an image, and a table that says how to read them.

The chain of a deletion metric, each link a function:

    keep_sets(attribution, "most")               which tokens stay at each step
    accuracy_curve(unmasked, masked, reference)  what an image contributes at each point
    mif_accuracy(curve)                          one number an image
    mean_estimate(numbers)                       mean and standard error over images

Curves and numbers belong to one image each and are only ever averaged, so either may be stored as
rows and pooled later. Values are float64 shares (a table shows 100 times as much), turned so that
higher is better for MIF, LIF and SRG, as the paper prints them.
"""

from libragrad.metrics.area import mean_area, trapezoid_area
from libragrad.metrics.average_precision import average_precision
from libragrad.metrics.bootstrap import bootstrap_interval
from libragrad.metrics.chance import CHANCE_SRG, chance_average_precision, chance_share
from libragrad.metrics.completeness import (
    completeness_error,
    pooled_relative_error,
    relative_completeness_error,
)
from libragrad.metrics.curves import accuracy_curve, aopc_curve, predicted_label
from libragrad.metrics.estimate import Estimate, mean_estimate, standard_error
from libragrad.metrics.lif import lif_accuracy, lif_aopc
from libragrad.metrics.mass_accuracy import mass_accuracy
from libragrad.metrics.metric import Metric
from libragrad.metrics.mif import mif_accuracy, mif_aopc
from libragrad.metrics.order import order
from libragrad.metrics.paper_bounds import (
    accuracy_variance,
    area_upper_bound,
    fold_variance,
    printed_upper_bound,
    srg_upper_bound,
)
from libragrad.metrics.pointing_game import pointing_game
from libragrad.metrics.srg import srg_accuracy, srg_aopc
from libragrad.metrics.steps import FRACTIONS, REMOVED, keep_sets, kept_tokens, removed_fractions
from libragrad.metrics.table import METRICS, find_metric

__all__ = [
    "CHANCE_SRG",
    "FRACTIONS",
    "METRICS",
    "REMOVED",
    "Estimate",
    "Metric",
    "accuracy_curve",
    "accuracy_variance",
    "aopc_curve",
    "area_upper_bound",
    "average_precision",
    "bootstrap_interval",
    "chance_average_precision",
    "chance_share",
    "completeness_error",
    "find_metric",
    "fold_variance",
    "keep_sets",
    "kept_tokens",
    "lif_accuracy",
    "lif_aopc",
    "mass_accuracy",
    "mean_area",
    "mean_estimate",
    "mif_accuracy",
    "mif_aopc",
    "order",
    "pointing_game",
    "pooled_relative_error",
    "predicted_label",
    "printed_upper_bound",
    "relative_completeness_error",
    "removed_fractions",
    "srg_accuracy",
    "srg_aopc",
    "srg_upper_bound",
    "standard_error",
    "trapezoid_area",
]
