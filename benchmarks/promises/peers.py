"""What others offer for the same questions: Pearson, Bartlett, distance correlation, HSIC, cca-zoo."""

from __future__ import annotations

import importlib.util

import numpy as np
from scipy.stats import chi2, norm, pearsonr
from scipy.stats import t as t_distribution
from sklearn.linear_model import RidgeCV
from sklearn.preprocessing import SplineTransformer

ALPHA = 0.05
PACKAGES = {"hyppo": "hyppo", "cca-zoo": "cca_zoo"}  # what it is called and what is imported


def is_installed(package: str) -> bool:
    return importlib.util.find_spec(PACKAGES[package]) is not None


def reject_by_pearson(X, Y) -> bool:
    return bool(pearsonr(np.ravel(X), np.ravel(Y)).pvalue <= ALPHA)


def canonical_correlations(X, Y) -> np.ndarray:
    bases = [np.linalg.qr(values - values.mean(axis=0))[0] for values in (as_matrix(X), as_matrix(Y))]
    return np.clip(np.linalg.svd(bases[0].T @ bases[1], compute_uv=False), 0, 1 - 1e-12)


def count_by_bartlett(X, Y) -> int:
    """Count the canonical correlations that differ from 0, by Bartlett's sequence of chi-square tests."""
    r, (n, p), q = canonical_correlations(X, Y), as_matrix(X).shape, as_matrix(Y).shape[1]
    for k in range(len(r)):
        statistic = -(n - 1 - (p + q + 1) / 2) * np.log1p(-(r[k:] ** 2)).sum()
        if chi2.sf(statistic, (p - k) * (q - k)) > ALPHA:
            return k
    return len(r)


def reject_by_dcor(X, Y) -> bool:
    return _reject_by_hyppo("Dcorr", X, Y)


def reject_by_hsic(X, Y) -> bool:
    return _reject_by_hyppo("Hsic", X, Y)


def _reject_by_hyppo(name, X, Y) -> bool:
    """Run a test of hyppo with its chi-square approximation of the null distribution."""
    from hyppo import independence

    test = getattr(independence, name)()
    return bool(test.test(as_matrix(X), as_matrix(Y), reps=1000, auto=True)[1] <= ALPHA)


def fit_cca_zoo(name, X, Y, d):
    """Return f and g of a model of cca-zoo as one callable of X and Y; linear ones are as many as columns."""
    from cca_zoo import linear, nonparametric

    columns = min(as_matrix(values).shape[1] for values in (X, Y))
    model = {
        "CCA": lambda: linear.CCA(n_components=min(d, columns)),
        "KCCA": lambda: nonparametric.KCCA(n_components=d, kernel="rbf"),
    }[name]()
    model.fit([as_matrix(X), as_matrix(Y)])
    return lambda X, Y: model.transform([as_matrix(X), as_matrix(Y)])


def reject_by_partial_correlation(x, y, Z, seed=0) -> bool:
    """Run the t test of the correlation of what is left by linear regressions on z, labels as indicators."""
    Z = as_numbers(Z)
    r = float(np.corrcoef(*(leave_by(Z, values) for values in (x, y)))[0, 1])
    freedom = len(x) - 2 - np.linalg.matrix_rank(Z - Z.mean(axis=0))
    return bool(2 * t_distribution.sf(abs(r) * np.sqrt(freedom / (1 - r**2)), freedom) <= ALPHA)


def reject_by_covariance_measure(x, y, Z, seed=0) -> bool:
    """Run the test of the generalised covariance measure, with additive regressions on splines of z."""
    Z = as_numbers(Z)
    if not np.isin(Z, (0, 1)).all():
        Z = SplineTransformer(n_knots=6).fit_transform(Z)
    products = np.prod([leave_by(Z, values) for values in (x, y)], axis=0)
    return bool(2 * norm.sf(abs(products.mean()) / products.std() * np.sqrt(len(x))) <= ALPHA)


def leave_by(Z, values) -> np.ndarray:
    """Return what a regression on z leaves, with a ridge that generalised cross-validation chooses for splines."""
    strengths = np.logspace(-3, 2, 11) if Z.shape[1] > 5 else [1e-9]
    return values - RidgeCV(strengths).fit(Z, values).predict(Z)


def as_numbers(Z) -> np.ndarray:
    if np.asarray(Z).dtype.kind in "US":
        return (np.asarray(Z)[:, None] == np.unique(Z)[1:]).astype(float)
    return as_matrix(Z)


def as_matrix(values) -> np.ndarray:
    values = np.asarray(values, dtype=float)
    return values[:, None] if values.ndim == 1 else values
