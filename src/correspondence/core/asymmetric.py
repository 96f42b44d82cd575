"""The result of a non-symmetric correspondence analysis: how one discrete variable predicts another.

Names and the usual symbols, for rows that predict columns: P are the shares of the cells, r and c the margins, and
Pi_ij = p_ij / r_i - c_j. With D_r^(1/2) Pi = U diag(s) V^T the functions are f = D_r^(-1/2) U, of mean 0 and variance 1
under r, and g = V, whose squares sum to 1 with each column counting once, so that

    p(y | x) = p(y) + sum_i s_i f_i(x) g_i(y).

The sum of s_i^2 is the numerator of Goodman and Kruskal's tau: the part of the Gini index 1 - sum_j c_j^2 of the
columns that knowing the row saves. Unlike in a `Decomposition`, s_i is not a correlation, and g_1, g_2, ... are
correlated with each other under c; f_i and g_j are uncorrelated for different i and j in both.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from correspondence._util import files
from correspondence._util.arguments import check_weights, check_whole, read_only
from correspondence._util.files import State
from correspondence._util.html_tables import HtmlTable
from correspondence._util.labels import encode_labels
from correspondence._util.text import format_components
from correspondence.core.functions import LabelFunctions, evaluate_h
from correspondence.core.pair_summary import Spread, sum_four_powers
from correspondence.core.scoring import score_pairs
from correspondence.results.asymmetric import HeldOutTau
from correspondence.results.evidence import number_components

__all__ = ["ASYMMETRIC_FORMAT", "AsymmetricDecomposition", "find_asymmetric", "load_asymmetric"]

ASYMMETRIC_FORMAT = "correspondence.AsymmetricDecomposition"
ASYMMETRIC_FORMAT_VERSION = 1


@dataclass(frozen=True, eq=False, repr=False)
class AsymmetricDecomposition(HtmlTable):
    """Decomposition of how one variable predicts the other: p(y | x) = p(y) + sum_i s_i f_i(x) g_i(y).

    This is for columns, y, as the response; for rows x and y change places. It is no `Decomposition`: functions that
    take one refuse it.

    Attributes
    ----------
    pics : ndarray of shape (d,)
        The inertias s_i^2, largest first: parts of the numerator of tau. Their roots are `singular_values`.
    f, g : LabelFunctions
        Functions of the rows and of the columns. Those of the predictor have mean 0 and variance 1 and are
        uncorrelated. Those of the response are orthonormal directions, in which each label counts once.
    total : float
        Sum of all inertias, those not kept included: the numerator of tau.
    n : float
        Number (total weight) of the pairs of the fit.
    response : {"rows", "columns"}
        The variable that is predicted.

    Examples
    --------
    >>> import correspondence as co
    >>> d = co.CA(response="columns").fit(co.datasets.load_smoke()).decomposition_
    >>> d
    AsymmetricDecomposition of the columns by the rows, 3 components, tau 0.03218, n 193
      component          1        2        3
      inertia       0.0215   0.0018   0.0001
      % of tau        92.0      7.6      0.4
      correlation   0.2678   0.0978   0.0204
    >>> d.conditional_probabilities(["SE"]).round(3)               # of none, light, medium and heavy
    array([[0.49 , 0.196, 0.235, 0.078]])
    """

    pics: np.ndarray
    f: LabelFunctions
    g: LabelFunctions
    total: float
    n: float
    response: str

    def __post_init__(self) -> None:
        read_only(self, "pics")

    @property
    def n_components(self) -> int:
        """Number of components kept."""
        return len(self.pics)

    @property
    def singular_values(self) -> np.ndarray:
        """Roots of the inertias: the covariances of f_i and g_i."""
        return np.sqrt(self.pics)

    @property
    def correlations(self) -> np.ndarray:
        """Correlation of each pair of functions over the pairs of the fit; not the root of an inertia."""
        s, deviations = self.singular_values, np.sqrt(self.response_variances)
        return np.divide(s, deviations, out=np.zeros(len(s)), where=(s > 0) & (deviations > 0))

    @property
    def response_variances(self) -> np.ndarray:
        """Variances of the functions of the response over the pairs of the fit."""
        mass, values = self._response_mass, np.nan_to_num(self._response_functions.values)
        return np.asarray(mass @ (values - mass @ values) ** 2)

    @property
    def inertia_ratios(self) -> np.ndarray:
        """Share of each component in tau."""
        return self.pics / self.total if self.total > 0 else np.zeros(self.n_components)

    @property
    def tau(self) -> float:
        """Goodman and Kruskal's tau: the share of the Gini index of the response that the predictor saves."""
        gini = 1 - float((self._response_mass**2).sum())
        return min(self.total / gini, 1.0) if gini > 0 else 0.0  # rounding may leave more than all

    @property
    def _response_functions(self) -> LabelFunctions:
        return self.g if self.response == "columns" else self.f

    @property
    def _predictor_functions(self) -> LabelFunctions:
        return self.f if self.response == "columns" else self.g

    @property
    def _response_mass(self) -> np.ndarray:
        return self._response_functions.mass

    def truncate(self, k: int) -> AsymmetricDecomposition:
        """Keep only the first k components.

        Parameters
        ----------
        k : int
            The number of components must be from 0 to `n_components`.

        Returns
        -------
        AsymmetricDecomposition
            These components, with the same tau.
        """
        k = check_whole(k, "k", 0, self.n_components)
        return replace(self, pics=self.pics[:k], f=self.f.truncate(k), g=self.g.truncate(k))

    def conditional_probabilities(self, values: Any) -> np.ndarray:
        """Compute the probability of each label of the response, given values of the predictor.

        Parameters
        ----------
        values : array-like
            Labels of the predictor.

        Returns
        -------
        ndarray of shape (n, number of labels)
            The rows sum to 1. With all components these are the profiles of the table; with fewer, some may be slightly
            negative.
        """
        directions = np.nan_to_num(self._response_functions.values)
        scores = self._predictor_functions(values) * self.singular_values
        return np.asarray(self._response_mass + scores @ directions.T)

    def conditional_expectation(self, h: Any, values: Any) -> np.ndarray:
        """Compute the expectation of a function of the response, given values of the predictor.

        Parameters
        ----------
        h : callable, mapping or array-like
            It is a function of all labels of the response, a dictionary from label to value, or a value for each label.
            Several values for each label give as many columns.
        values : array-like
            Labels of the predictor.

        Returns
        -------
        ndarray of shape (n,) or (n, number of values)
            Predictions for each of the values.
        """
        labels = self._response_functions.labels
        return np.asarray(self.conditional_probabilities(values) @ evaluate_h(h, labels))

    def evaluate(self, X: Any, Y: Any, sample_weight: Any = None) -> HeldOutTau:
        """Evaluate the predictions on pairs, ideally pairs that were not used in the fit.

        Parameters
        ----------
        X, Y : column of labels
            The pairs must be in the same order.
        sample_weight : array-like of shape (n,), optional
            The pairs have these weights; each is 1 by default.

        Returns
        -------
        HeldOutTau
            ``.tau``, ``.correlations`` of each component, their intervals and ``.n``.
        """
        (i, rows), (j, columns) = (encode_labels(values, name) for values, name in ((X, "X"), (Y, "Y")))
        if len(i) != len(j):
            raise ValueError(f"X and Y must have the same length, got {len(i)} and {len(j)}.")
        weights = np.ones(len(i)) if sample_weight is None else check_weights(sample_weight, len(i), "sample_weight")
        counts = sp.csr_array(sp.coo_array((weights, (i, j)), shape=(len(rows), len(columns))))
        return self.evaluate_counts(rows, columns, counts)

    def evaluate_counts(self, rows: np.ndarray, columns: np.ndarray, counts: Any) -> HeldOutTau:
        """Evaluate the predictions on the pairs that a table counts.

        Parameters
        ----------
        rows, columns : ndarray of shape (r,) and (c,)
            The labels. Those not in the fit are an error or lie at the average, as the functions handle them.
        counts : array or sparse array of shape (r, c)
            How often they occur together.

        Returns
        -------
        HeldOutTau
            See `evaluate`.
        """
        F, G = np.nan_to_num(self.f(rows)), np.nan_to_num(self.g(columns))
        scored = score_pairs(F, G, self.singular_values, counts, warn=True)
        counts = sp.coo_array(counts)
        if self.response == "columns":
            saved, base = self._compute_savings(F, columns, counts.row, counts.col)
        else:
            saved, base = self._compute_savings(G, rows, counts.col, counts.row)
        weights = counts.data / counts.data.sum()
        tau = float(weights @ saved / (weights @ base)) if weights @ base > 0 else 0.0
        influence = (saved - tau * base) / max(float(weights @ base), 1e-300)
        spread = Spread.from_moments(scored.n, np.array(sum_four_powers(weights, influence)))
        reach = spread.compute_reach(scored.level)
        return HeldOutTau(scored.correlations, scored.intervals, tau, tau + reach, scored.n, scored.level)

    def _compute_savings(
        self, F: np.ndarray, labels: np.ndarray, at: np.ndarray, label_at: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Compute the Brier score of the overall probabilities for pairs, and what predictions save of it.

        The score of probabilities q for a pair whose response is j is sum_k (1[k = j] - q_k)^2 = 1 - 2 q_j + |q|^2.
        """
        response, mass = self._response_functions, self._response_mass
        position = {label: i for i, label in enumerate(response.labels.tolist())}
        found = np.array([position.get(label, -1) for label in labels.tolist()], dtype=np.intp)
        is_known = found >= 0  # the fit gives a label that it does not know no probability
        directions = np.where(is_known[:, None], np.nan_to_num(response.values)[found], 0.0)
        base = 1 - 2 * np.where(is_known, mass[found], 0.0) + mass @ mass
        scores = F * self.singular_values
        # The directions are orthonormal: |c + V z|^2 = |c|^2 + 2 z^T V^T c + |z|^2.
        longer = 2 * scores @ (mass @ np.nan_to_num(response.values)) + (scores**2).sum(axis=1)
        saved = 2 * np.einsum("kd,kd->k", scores[at], directions[label_at]) - longer[at]
        return saved, base[label_at]

    def save(self, path: str | Path) -> None:
        """Write the decomposition to one file (safetensors with a JSON description); `load` reads it back.

        Parameters
        ----------
        path : str or Path
            A file that exists is replaced once the new one is complete.
        """
        description, arrays = self.state()
        files.write_safetensors(path, arrays, description, ASYMMETRIC_FORMAT, ASYMMETRIC_FORMAT_VERSION)

    def state(self) -> State:
        """Take the decomposition apart, for a file format of your own.

        Returns
        -------
        description : dict
            Plain values, for JSON.
        arrays : dict of str to ndarray
            Arrays by name.
        """
        sides = State.join({"f": self.f.state(), "g": self.g.state()})
        numbers = {"total": self.total, "n": self.n, "response": self.response}
        return State(numbers | sides.description, {"pics": self.pics} | sides.arrays)

    @classmethod
    def from_state(cls, description: dict[str, Any], arrays: dict[str, np.ndarray]) -> AsymmetricDecomposition:
        """Put together what `state` took apart.

        Parameters
        ----------
        description : dict
            These are the plain values.
        arrays : dict of str to ndarray
            These are the arrays by name.

        Returns
        -------
        AsymmetricDecomposition
            The same decomposition.
        """
        f, g = (LabelFunctions.from_state(description[name], files.strip_prefix(arrays, f"{name}.")) for name in "fg")
        pics, numbers = arrays["pics"], [description[name] for name in ("total", "n")]
        if pics.ndim != 1 or not (np.isfinite(pics) & (pics >= 0)).all() or not np.isfinite(numbers).all():
            raise TypeError("pics, total and n must be finite numbers, and pics non-negative.")
        if not f.width == g.width == len(pics) or description["response"] not in ("rows", "columns"):
            raise TypeError("pics and functions must be equally many.")
        return cls(pics, f, g, numbers[0], numbers[1], description["response"])

    def _collect_columns(self) -> dict[str, np.ndarray]:
        shares = {"inertia": self.pics, "% of tau": 100 * self.inertia_ratios, "correlation": self.correlations}
        return number_components(shares)

    def __repr__(self) -> str:
        other = "rows" if self.response == "columns" else "columns"
        plural = "" if self.n_components == 1 else "s"
        lines = [
            f"AsymmetricDecomposition of the {self.response} by the {other}, {self.n_components} component{plural}, "
            f"tau {self.tau:.4g}, n {self.n:,.10g}"
        ]
        figures = {"inertia": self.pics, "% of tau": self.inertia_ratios, "correlation": self.correlations}
        lines += format_components(figures, self.n_components)
        return "\n".join(lines)


def load_asymmetric(path: str | Path) -> AsymmetricDecomposition:
    """Read what `AsymmetricDecomposition.save` wrote."""
    arrays, description = files.read_safetensors(path, ASYMMETRIC_FORMAT, ASYMMETRIC_FORMAT_VERSION)
    with files.explain_damage(path):
        return AsymmetricDecomposition.from_state(description, arrays)


def find_asymmetric(d_or_est: Any) -> AsymmetricDecomposition | None:
    """Find the decomposition of an analysis with a response, given itself or the estimator; None for any other."""
    d = getattr(d_or_est, "decomposition_", d_or_est)
    return d if isinstance(d, AsymmetricDecomposition) else None
