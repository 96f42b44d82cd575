"""Tests of the number of axes of a table: Malinvaud's, beside the permutation test."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import chi2
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from correspondence._util.arguments import check_whole
from correspondence.core.asymmetric import find_asymmetric
from correspondence.data.counting import are_whole
from correspondence.results.axis_tests import AxisTests
from correspondence.validation.permutation import permutation_test

__all__ = ["axis_tests"]


def axis_tests(ca: Any, n_permutations: int = 999, *, random_state: int = 0) -> AxisTests:
    """Test how many axes of a table are more than chance: by Malinvaud's chi-square, and by permutations.

    After k axes, n times the inertia that is left has about the chi-square distribution if the table has no more than k
    axes, and if every cell is expected to hold some pairs (Malinvaud 1987). The p-values of permutations beside it hold
    where labels are rare too: component k + 1 is compared with those of tables that have k axes and nothing else.

    Parameters
    ----------
    ca : fitted CA
        The analysis of a whole table, without a ridge. As many axes are tested as it has.
    n_permutations : int
        Draw this many permutations; 0 leaves them out.
    random_state : int
        Draw them with this seed.

    Returns
    -------
    AxisTests
        A row for each number of axes, from 0.

    Examples
    --------
    >>> import correspondence as co
    >>> tests = co.axis_tests(co.CA().fit(co.datasets.load_housetasks()), 99)
    >>> tests.statistic.round(1), tests.dof
    (array([1944.5,  997.7,  221.6]), array([36, 22, 10]))
    """
    _check_table(ca)
    check_whole(n_permutations, "n_permutations", 0)
    r, c = (points.mass[points.mass > 0] for points in (ca.rows_, ca.columns_))
    d, n = ca.decomposition_, float(ca.decomposition_.n)
    k = np.arange(min(len(d.pics), min(len(r), len(c)) - 1))
    # chi2 is the sum of all principal inertias; what is left after all of them is the rounding error of 0.
    inertia = np.maximum(d.chi2 - np.concatenate([[0.0], np.cumsum(d.pics)])[: len(k)], 0)
    dof = (len(r) - k - 1) * (len(c) - k - 1)
    pvalues = np.full(len(k), np.nan)
    if n_permutations and len(k) and are_whole(ca.table_.counts):
        test = permutation_test(clone(ca), ca.table_, n_permutations=n_permutations, random_state=random_state)
        pvalues[: len(test.pvalues)] = test.pvalues[: len(k)]
    least = float(n * r.min() * c.min())
    return AxisTests(inertia, n * inertia, dof, chi2.sf(n * inertia, dof), pvalues, n, least, n_permutations)


def _check_table(ca: Any) -> None:
    """Refuse what is not the exact analysis of a whole table."""
    if not getattr(ca, "_takes_tables", False):
        advice = "Use permutation_test for other estimators" if hasattr(ca, "fit") else "Fit CA() to the table first"
        raise ValueError(f"ca must be a fitted CA, got {type(ca).__name__}. {advice}.")
    check_is_fitted(ca)
    if find_asymmetric(ca) is not None:
        raise ValueError(f"ca must be without a response, got response={ca.response!r}. See its tau_test_ instead.")
    if getattr(ca, "_explained", None) is not None:
        raise ValueError('ca must be without constraints or conditions, got a fit with some. Use ca.anova(by="axis").')
    if ca.subset_rows is not None or ca.subset_columns is not None:
        raise ValueError("ca must be of a whole table, got one of a subset. Fit it without subset_rows and columns.")
    if ca.regularization_:
        raise ValueError(f"ca must be without a ridge, got regularization_ {ca.regularization_:g}. Fit it without.")
