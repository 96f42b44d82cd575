"""Tests of the constraints of an analysis by permutation, as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from correspondence._util.arguments import check_seed, check_whole
from correspondence._util.labels import as_labels, encode_labels, find_missing_labels
from correspondence._util.progress import ProgressArgument, make_progress_bar
from correspondence._util.text import short_repr
from correspondence._util.threads import limit_blas_threads
from correspondence.core.row_matching import read_row_variables
from correspondence.data.table import Table
from correspondence.estimators.ca.constrained.algebra import ConstrainedTable
from correspondence.estimators.ca.constrained.orders import RowOrders
from correspondence.estimators.ca.constrained.permutation import count_at_least, find_expected_inertia
from correspondence.estimators.ca.constrained.tested_model import Effect, TestedModel
from correspondence.results.anova import Anova

__all__ = ["ConstraintTester", "adjust_share", "run_anova"]

KINDS = (None, "term", "margin", "axis")
MAX_SEED = 2**32
MAX_NUMBERS_FOR_ONE_THREAD = 1 << 20  # of the residuals: products with fewer are done before a second thread is there


class ConstraintTester:
    """What `CA` can test if constraints were given."""

    table_: Table

    def _require_constraints(self, name: str) -> ConstrainedTable:
        raise NotImplementedError

    @property
    def adjusted_r2_(self) -> float:
        """Share of the inertia that the constraints explain, less what they would explain by chance.

        It is the adjusted R2 of vegan, with the exact mean over all permutations where vegan draws some; NaN if
        conditions and constraints fit everything.
        """
        return adjust_share(_make_tested_model(self._require_constraints("adjusted_r2_")))

    def anova(
        self,
        by: str | None = None,
        n_permutations: int = 999,
        *,
        groups: Any = None,
        random_state: Any = 0,
        progress: bool | None = None,
    ) -> Anova:
        """Test by permutations whether the constraints explain more than chance.

        Parameters
        ----------
        by : {None, "term", "margin", "axis"}
            Test all constraints together (None), each variable after those before it ("term"), each after all others
            ("margin"), or each constrained axis after those before it ("axis").
        n_permutations : int
            Draw so many permutations. If there are no more than 5040 (or than these), all of them are taken, and the
            p-values are exact.
        groups : column with a stratum for each row, optional
            Permute rows only within their stratum: a site, a block, a year.
        random_state : int, Generator or None
            The permutations depend on this seed.
        progress : bool or None
            Whether to show a progress bar; by default after two seconds.

        Returns
        -------
        Anova
            Degrees of freedom, inertias, F and p-values; print it for the table.

        Notes
        -----
        Degrees of freedom, inertias, F and `pvalues` are those of ``anova`` of R's vegan. Its test supposes that counts
        scatter about as Poisson's do; where they scatter more and the totals of sites are unequal, its p-values are too
        small, while ``site_pvalues`` hold their level (docs/constraints.md).

        Examples
        --------
        >>> import numpy as np
        >>> import correspondence as co
        >>> rng = np.random.default_rng(0)
        >>> wet, noise = rng.normal(size=(2, 20))
        >>> counts = rng.poisson(np.exp(np.outer(wet, [1.0, 0.5, -0.5, -1.0]) + 1))
        >>> ca = co.CA().fit(counts, constraints={"wet": wet, "noise": noise})
        >>> ca.anova("margin")
        Permutation test of constraints: marginal effects of terms (each after all others)
        999 permutations
                  Df  ChiSquare        F  Pr(>F)  Pr(sites)
        wet        1    0.29462  30.6337  0.0010     0.0010
        noise      1    0.02338   2.4307  0.1180     0.0810
        Residual  17    0.16350
        """
        explained = self._require_constraints("anova")
        if by not in KINDS:
            raise ValueError(f'by must be None, "term", "margin" or "axis", got {short_repr(by)}.')
        check_whole(n_permutations, "n_permutations", 1)
        if not explained.constraints.terms:
            raise ValueError("anova needs constraints to test, got only conditions. Fit with constraints=.")
        strata = None if groups is None else read_strata(groups, self.table_, explained.rows)
        seed = int(check_seed(random_state).integers(MAX_SEED))
        return run_anova(_make_tested_model(explained), by, n_permutations, strata, seed, progress)


def _make_tested_model(explained: ConstrainedTable) -> TestedModel:
    X = explained.constraints
    return TestedModel.from_arrays(
        explained.row_mass, explained.residuals, X.matrix, explained.given.matrix, X.term_of_column, X.terms
    )


def read_strata(groups: Any, table: Table, rows: np.ndarray) -> np.ndarray:
    """Read the stratum of each row that takes part, as a code.

    Parameters
    ----------
    groups : column, or frame with one
        A stratum for each row of the table.
    table : Table
        The table of the fit.
    rows : ndarray of int
        The positions of the rows that take part.
    """
    columns = read_row_variables(groups, "groups", table.rows)
    if len(columns) > 1:
        raise ValueError(f"groups must be one column, got {len(columns)}. Combine them into one.")
    values = as_labels(columns[0][1], "groups", allow_missing=True)[rows]
    n_missing = int(find_missing_labels(values).sum())
    if n_missing:
        raise ValueError(
            f"groups must have a stratum for each row, got {n_missing} missing. Give them one of their own."
        )
    codes, _ = encode_labels(values, "groups")
    if np.bincount(codes).max() == 1:
        raise ValueError("groups must have a stratum with at least two rows, got one row in each. Merge strata.")
    return codes


def run_anova(
    model: TestedModel,
    by: str | None,
    n_permutations: int,
    strata: np.ndarray | None = None,
    seed: int = 0,
    progress: ProgressArgument = None,
) -> Anova:
    """Test the constraints of a model by both kinds of permutations.

    Parameters
    ----------
    model : TestedModel
        The table with its conditions and constraints.
    by : {None, "term", "margin", "axis"}
        Test all constraints together, or these in turn.
    n_permutations : int
        Draw so many permutations, unless there are few: then all are taken.
    strata : ndarray of int of shape (n,), optional
        Rows are permuted only within their stratum.
    seed : int
        The permutations depend on this seed.
    progress : bool or None
        Whether to show a bar.

    Examples
    --------
    >>> counts, x = np.array([[5.0, 1], [3, 3], [2, 6], [0, 9]]), np.arange(4.0)[:, None]
    >>> P = counts / counts.sum()
    >>> r, c = P.sum(axis=1), P.sum(axis=0)
    >>> Q = (P - np.outer(r, c)) / np.sqrt(np.outer(r, c))
    >>> model = TestedModel.from_arrays(r, Q, x, np.empty((4, 0)), np.array([0]), ["x"])
    >>> run_anova(model, "term", 999)
    Permutation test of constraints: terms added sequentially (first to last)
    All 23 permutations that there are
              Df  ChiSquare         F  Pr(>F)  Pr(sites)
    x          1    0.41288  405.7586  0.0417     0.0833
    Residual   2    0.00204
    """
    rows = np.zeros(len(model.mass), dtype=np.intp) if strata is None else strata
    hypotheses = model.list_hypotheses(by)
    effects = model.measure_effects(hypotheses)
    pvalues = np.full((2, len(effects)), np.nan)
    defined = [i for i, effect in enumerate(effects) if not np.isnan(effect.f)]
    orders = RowOrders.choose(rows, n_permutations, seed) if defined else RowOrders(rows, 0, False, seed)
    is_small = model.residuals.size <= MAX_NUMBERS_FOR_ONE_THREAD
    with make_progress_bar(2 * orders.n_orders, "permutations", progress) as bar, limit_blas_threads(is_small):
        for kind in (0, 1):
            counts = count_at_least(model, [hypotheses[i] for i in defined], orders, are_sites=kind == 1, bar=bar)
            pvalues[kind, defined] = (1 + counts) / (1 + orders.n_orders)
    sizes = None if strata is None else np.unique(strata, return_counts=True)[1]
    return _make_table(model, effects, pvalues, by, orders, sizes)


def _make_table(
    model: TestedModel,
    effects: Sequence[Effect],
    pvalues: np.ndarray,
    by: str | None,
    orders: RowOrders,
    sizes: np.ndarray | None,
) -> Anova:
    """Put a row for what is left below the effects."""
    residual_dof = model.count_residual_dof(len(effects) if by == "axis" else None)
    return Anova(
        terms=np.array([*(effect.name for effect in effects), "Residual"], dtype=object),
        df=np.array([*(effect.dof for effect in effects), residual_dof]),
        chi_square=np.array([*(effect.chi_square for effect in effects), model.left_inertia]),
        f=np.array([*(effect.f for effect in effects), np.nan]),
        pvalues=np.append(pvalues[0], np.nan),
        site_pvalues=np.append(pvalues[1], np.nan),
        by=by,
        n_permutations=orders.n_orders,
        is_complete=orders.is_complete,
        stratum_sizes=sizes,
    )


def adjust_share(model: TestedModel) -> float:
    """Adjust the share of the inertia that the constraints explain for what they would explain by chance.

    This is the adjusted R2 of vegan, with the exact mean over all permutations instead of a simulated one. In a
    partial analysis it is that of conditions and constraints together, less that of the conditions. NaN if nothing
    is left.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> r, Q = np.full(50, 0.02), rng.normal(size=(50, 4))
    >>> Q -= Q.mean(axis=0)
    >>> model = TestedModel.from_arrays(r, Q, rng.normal(size=(50, 3)), np.empty((50, 0)), np.arange(3), list("abc"))
    >>> bool(adjust_share(model) < model.products[1:, 1:].trace() / model.total)
    True
    """
    ends = (model.directions.shape[1], model.n_before)
    if not model.left_inertia:
        return np.nan  # a model that fits everything explains as much by chance
    both, given = (_adjust_one(model, end) for end in ends)
    return both - given


def _adjust_one(model: TestedModel, end: int) -> float:
    """Adjust the share of the directions after the constant, up to a position."""
    explained = float(np.trace(model.products[1:end, 1:end])) / model.total
    by_chance = find_expected_inertia(model.directions[:, 1:end], model.residuals) / model.total
    return 1 - (1 - explained) / (1 - by_chance)
