"""Correspondence analysis of anything: the maximally correlated functions of two variables."""

from typing import Any

from correspondence import datasets, distributed, plot
from correspondence.ace import ACE
from correspondence.auto import decompose
from correspondence.bootstrap import Bootstrap
from correspondence.boundary import Confusing
from correspondence.ca import CA, Chi2Test
from correspondence.calibration import Calibration
from correspondence.cca import CCA
from correspondence.classifier import ClassifierCA
from correspondence.compare import Comparison, compare
from correspondence.decomposition import Decomposition, load
from correspondence.disagreement import ClassifierComparison, compare_classifiers
from correspondence.explore import explore
from correspondence.heldout import HeldOut
from correspondence.kernel import KernelCCA
from correspondence.latent import LatentDimension, latent_dimension
from correspondence.moments import Moments
from correspondence.notices import (
    CorrespondenceWarning,
    FewerComponents,
    Inexact,
    LeftOut,
    NearlyCollinear,
    NotHeldOut,
    NothingFound,
    UncertainInterval,
)
from correspondence.pairs import count_pairs, indicator_table
from correspondence.points import Points
from correspondence.recorder import TrainingRecorder
from correspondence.retrieval import CrossModalIndex, Matches
from correspondence.sources import Pairs
from correspondence.table import Table
from correspondence.timeline import Timeline, Transition
from correspondence.validation import (
    CrossFit,
    PermutationTest,
    PicIntervals,
    crossfit,
    permutation_test,
    pic_intervals,
)

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
        from correspondence.pice import PICE

        return PICE
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
