"""The principal inertia component estimator (PICE): two nets, learned, that end in one Decomposition.

`preparation` encodes the pairs and holds some out, and `data` serves them; `feature_net` turns data of one variable
into features; `losses` says what the nets minimise, and `training` minimises it; `judging` says how good functions are,
and `models` which of them compete; `checkpoint` keeps an interrupted run; `estimator` is what users see.
"""

from correspondence._util.extras import explain_missing_extra

try:
    import torch as _torch  # noqa: F401
except ImportError as error:
    raise ImportError(explain_missing_extra("PICE needs torch", "neural")) from error

from correspondence.estimators.pice.estimator import PICE

__all__ = ["PICE"]
