"""An estimator whose number of components depends on the number of pairs."""

import correspondence as co
from correspondence.core.estimator import Estimator


class Varying(Estimator):
    """CCA that finds one component fewer in more than 200 pairs."""

    def __init__(self, n_components=2):
        self.n_components = n_components

    def fit(self, X, Y=None):
        self.decomposition_ = co.CCA(n_components=1 if len(X) > 200 else 2).fit(X, Y).decomposition_
        return self
