"""Pictures of a decomposition, a comparison, a classifier or its training. They only read, never estimate."""

from correspondence.plot.charts import comparison, contributions, dimension, scree
from correspondence.plot.classifiers import classifiers
from correspondence.plot.planes import plane
from correspondence.plot.timelines import timeline
from correspondence.scene.maps import MAPS
from correspondence.scene.style import COLUMNS, GREY, ROWS, STYLES

__all__ = [
    "COLUMNS",
    "GREY",
    "MAPS",
    "ROWS",
    "STYLES",
    "classifiers",
    "comparison",
    "contributions",
    "dimension",
    "plane",
    "scree",
    "timeline",
]
