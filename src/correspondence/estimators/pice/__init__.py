"""The principal inertia component estimator (PICE): two nets, learned, that end in one Decomposition.

`feature_net` turns data of one variable into features, `losses` says what the nets minimise, `training` minimises it,
`data` serves the pairs, `checkpoint` keeps an interrupted run, `estimator` is what users see.
"""

try:
    import torch as _torch  # noqa: F401
except ImportError as error:
    raise ImportError('PICE needs torch: pip install "correspondence[neural]".') from error

from correspondence.estimators.pice.estimator import PICE

__all__ = ["PICE"]
