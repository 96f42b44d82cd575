"""What every estimator does around its decomposition."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import correspondence as co
from correspondence.core.estimator import PairsEstimator


def test_a_score_has_no_interval_to_warn_of(rng):
    x = rng.standard_t(2, size=(400, 1))
    est = co.CCA(n_components=1).fit(x[:200], x[:200] + rng.standard_t(2, size=(200, 1)))
    assert np.isfinite(est.score(x[200:], x[200:]))


class Plain(PairsEstimator):
    """Whitens the columns as they are."""

    def __init__(self, n_components=1):
        self.n_components = n_components

    def fit(self, X, Y=None):
        pairs, _ = self._open_pairs(X, Y)
        self._set_decomposition(co.Moments().update(pairs.x, pairs.y).decompose(self.n_components), X)
        return self


def test_everything_reads_the_decomposition(rng):
    X, Y = rng.normal(size=(2, 50, 2))
    est = Plain()
    with pytest.raises(NotFittedError):
        est.transform(X)
    F, G = est.fit(X, Y).transform(X, Y)
    np.testing.assert_array_equal(F, est.decomposition_.f(X))
    np.testing.assert_array_equal(G, est.transform_y(Y))
    assert est.get_feature_names_out().tolist() == ["f1"]
    assert est.n_features_in_ == 2
    assert est.set_output(transform="pandas").transform_y(Y).columns.tolist() == ["g1"]
    assert est.score(X, Y) == est.evaluate(X, Y).captured


def test_pairs_must_be_pairs(rng):
    X, Y = rng.normal(size=(2, 50, 2))
    for arguments, message in (((X,), "Y is missing"), ((X, Y[:9]), "same length"), ((X[:1], Y[:1]), "n_components=1")):
        with pytest.raises(ValueError, match=message):
            Plain().fit(*arguments)
    with pytest.raises(ValueError, match="Y must"):
        Plain().fit(X, Y).evaluate(X)
    with pytest.warns(co.FewerComponents, match="n_components = 5"):
        Plain(5).fit(X, Y)
