"""Pictures of a decomposition, and of a comparison of several. They only read, never estimate."""

from correspondence.plot.charts import comparison, contributions, scree
from correspondence.plot.classifiers import classifiers
from correspondence.plot.planes import MAPS, plane
from correspondence.plot.style import COLUMNS, GREY, ROWS, STYLES
from correspondence.plot.style import one_line as _text  # noqa: F401
from correspondence.plot.style import plain as _plain  # noqa: F401
from correspondence.plot.style import shaded as _shaded  # noqa: F401

__all__ = ["COLUMNS", "GREY", "MAPS", "ROWS", "STYLES", "classifiers", "comparison", "contributions", "plane", "scree"]
