"""Correspondence analysis of anything: the maximally correlated functions of two variables."""

from typing import Any

from correspondence import datasets, distributed, plot
from correspondence._util.user_warnings import (
    CorrespondenceWarning,
    FewerComponents,
    Inexact,
    LeftOut,
    NearlyCollinear,
    NotHeldOut,
    NothingFound,
    UncertainInterval,
)
from correspondence.classifiers.agreement import compare_classifiers
from correspondence.classifiers.calibration import Calibration
from correspondence.classifiers.estimator import ClassifierCA
from correspondence.core.decomposition import Decomposition, load
from correspondence.core.moments import Moments
from correspondence.data.counting import count_pairs, indicator_table
from correspondence.data.pairs import Pairs
from correspondence.data.table import Table
from correspondence.estimators.ace import ACE
from correspondence.estimators.ca.estimator import CA, Chi2Test
from correspondence.estimators.cca import CCA
from correspondence.estimators.kernel import KernelCCA
from correspondence.page import explore
from correspondence.recording.recorder import TrainingRecorder
from correspondence.results.bootstrap import Bootstrap
from correspondence.results.classifier_comparison import ClassifierComparison
from correspondence.results.comparison import Comparison
from correspondence.results.confusing import Confusing
from correspondence.results.cross_fit import CrossFit
from correspondence.results.held_out import HeldOut
from correspondence.results.latent_dimension import LatentDimension
from correspondence.results.permutation_test import PermutationTest
from correspondence.results.pic_intervals import PicIntervals
from correspondence.results.points import Points
from correspondence.results.timeline import Timeline, Transition
from correspondence.search.cross_modal import CrossModalIndex, Matches
from correspondence.selection.comparing import compare
from correspondence.selection.decompose import decompose
from correspondence.validation.crossfit import crossfit
from correspondence.validation.intervals import pic_intervals
from correspondence.validation.latent_dimension import latent_dimension
from correspondence.validation.permutation import permutation_test

__version__ = "0.1.0"

__all__ = [
    "ACE",
    "CA",
    "CCA",
    "PICE",
    "Bootstrap",
    "Calibration",
    "Chi2Test",
    "ClassifierCA",
    "ClassifierComparison",
    "Comparison",
    "Confusing",
    "CorrespondenceWarning",
    "CrossFit",
    "CrossModalIndex",
    "Decomposition",
    "FewerComponents",
    "HeldOut",
    "Inexact",
    "KernelCCA",
    "LatentDimension",
    "LeftOut",
    "Matches",
    "Moments",
    "NearlyCollinear",
    "NotHeldOut",
    "NothingFound",
    "Pairs",
    "PermutationTest",
    "PicIntervals",
    "Points",
    "Table",
    "Timeline",
    "TrainingRecorder",
    "Transition",
    "UncertainInterval",
    "compare",
    "compare_classifiers",
    "count_pairs",
    "crossfit",
    "datasets",
    "decompose",
    "distributed",
    "explore",
    "indicator_table",
    "latent_dimension",
    "load",
    "permutation_test",
    "pic_intervals",
    "plot",
]


def __getattr__(name: str) -> Any:
    """Import PICE, and torch with it, when it is first used."""
    if name == "PICE":
        from correspondence.estimators.pice import PICE

        return PICE
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
