"""Pictures of a decomposition, a comparison, a classifier or its training, which only read, never estimate."""

from correspondence.plot.charts import comparison, dimension, scree
from correspondence.plot.circles import correlation_circle
from correspondence.plot.classifiers import classifiers
from correspondence.plot.dendrograms import dendrogram
from correspondence.plot.heatmaps import associations
from correspondence.plot.panels import multiples
from correspondence.plot.planes import plane
from correspondence.plot.point_bars import contributions, quality
from correspondence.plot.similarity import class_similarity
from correspondence.plot.style import STYLES
from correspondence.plot.timelines import timeline
from correspondence.scene.colours import COLUMNS, GREY, ROWS
from correspondence.scene.points import MAPS

__all__ = [
    "COLUMNS",
    "GREY",
    "MAPS",
    "ROWS",
    "STYLES",
    "associations",
    "class_similarity",
    "classifiers",
    "comparison",
    "contributions",
    "correlation_circle",
    "dendrogram",
    "dimension",
    "multiples",
    "plane",
    "quality",
    "scree",
    "timeline",
]
