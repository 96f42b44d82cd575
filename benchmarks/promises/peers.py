"""What others offer for the same questions: Pearson, Bartlett, distance correlation, HSIC, cca-zoo."""

from __future__ import annotations

import importlib.util

import numpy as np
from scipy.stats import chi2, pearsonr

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


def as_matrix(values) -> np.ndarray:
    values = np.asarray(values, dtype=float)
    return values[:, None] if values.ndim == 1 else values
