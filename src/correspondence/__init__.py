"""Correspondence analysis of anything: the maximally correlated functions of two variables."""

from correspondence import datasets, plot
from correspondence.bootstrap import Bootstrap
from correspondence.ca import CA, Chi2Test
from correspondence.decomposition import Decomposition, load
from correspondence.explore import explore
from correspondence.moments import Moments
from correspondence.pairs import count_pairs, indicator_table
from correspondence.points import Points
from correspondence.table import Table
from correspondence.validation import HeldOut

__version__ = "0.1.0"

__all__ = [
    "CA",
    "Bootstrap",
    "Chi2Test",
    "Decomposition",
    "HeldOut",
    "Moments",
    "Points",
    "Table",
    "count_pairs",
    "datasets",
    "explore",
    "indicator_table",
    "load",
    "plot",
]
