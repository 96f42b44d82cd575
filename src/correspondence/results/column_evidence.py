"""What held-out rows and permutations say of an analysis of many columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from correspondence._util.arguments import read_only
from correspondence._util.html_tables import HtmlTable
from correspondence._util.summaries import WithSummary
from correspondence.results.component_tests import PermutationTest
from correspondence.results.evidence import Evidence
from correspondence.results.points import FrameResult, number_columns

__all__ = ["ColumnsDimension", "ColumnsHeldOut"]

MAX_AXES_SHOWN, MAX_COLUMNS_SHOWN = 6, 30


@dataclass(frozen=True, eq=False, repr=False)
class ColumnsHeldOut(FrameResult):
    """How much of each column the other columns predict, on rows that were not used in the fit.

    Each column is left out in turn: scores are computed from the others and predict it, with a regression on the rows
    of the fit. For answers the share is that of the squared chi-square distances from the mean. `to_frame` has one row
    for each column and the columns column, r2_1, r2_2, ..., training_1, training_2, ...

    Attributes
    ----------
    names : ndarray of shape (k,)
        The names of the columns.
    r2 : ndarray of shape (k, d)
        The share that the first 1, 2, ..., d axes together predict on held-out rows. It is negative if they predict
        worse than the mean of the training rows, and NaN for a column that does not vary.
    training : ndarray of shape (k, d)
        The same on the rows of the fit, averaged over the fits.
    n : float
        The total weight of the held-out rows.
    n_splits : int
        The number of fits.

    Examples
    --------
    >>> import numpy as np
    >>> import correspondence as co
    >>> rng = np.random.default_rng(0)
    >>> hidden = rng.integers(2, size=(500, 1))
    >>> X = np.where(rng.random((500, 5)) < 0.8, hidden, 1 - hidden).astype(str)
    >>> co.crossfit(co.MCA(n_components=2), X)
    ColumnsHeldOut on 500 rows, 5 fits: 1 axis of 2 predicts most, 0.249 of a column on average (training 0.255)
      axes       1       2
      mean   0.249   0.247
      0      0.233   0.233
      1      0.277   0.276
      2      0.242   0.229
      3      0.244   0.245
      4      0.249   0.250
    """

    names: np.ndarray
    r2: np.ndarray
    training: np.ndarray
    n: float
    n_splits: int = 1

    def __post_init__(self) -> None:
        read_only(self, "names", "r2", "training")

    @property
    def mean(self) -> np.ndarray:
        """The mean over the columns of what the first 1, 2, ..., d axes predict on held-out rows."""
        return _average_columns(self.r2)

    @property
    def training_mean(self) -> np.ndarray:
        """The same on the rows of the fit."""
        return _average_columns(self.training)

    @property
    def n_axes(self) -> int:
        """The number of axes that predict most on average; 0 if none predicts more than the mean does."""
        best = int(np.argmax(self.mean)) if len(self.mean) else 0
        return best + 1 if len(self.mean) and self.mean[best] > 0 else 0

    def _collect_columns(self) -> dict[str, Any]:
        return {"column": self.names} | number_columns("r2_", self.r2) | number_columns("training_", self.training)

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        d, k = self.r2.shape[1], self.n_axes
        fits = f"{self.n_splits} fits" if self.n_splits > 1 else "1 fit"
        text = f"ColumnsHeldOut on {self.n:g} rows, {fits}: "
        if k:
            verb = "axis of {} predicts" if k == 1 else "axes of {} predict"
            text += f"{k} {verb.format(d)} most, {self.mean[k - 1]:.3f} of a column on average"
            text += f" (training {self.training_mean[k - 1]:.3f})"
        else:
            text += f"none of {d} axes predicts more of a column than its mean does"
        shown, names = min(d, MAX_AXES_SHOWN), [str(name) for name in self.names[:MAX_COLUMNS_SHOWN]]
        width = max(4, *(len(name) for name in names))
        rows = [("axes", [f"{i + 1:>8}" for i in range(shown)])]
        values = zip(["mean", *names], np.vstack([self.mean, self.r2]), strict=False)
        rows += [(name, [f"{value:>8.3f}" for value in own[:shown]]) for name, own in values]
        more = ["  ..."] if len(self.names) > MAX_COLUMNS_SHOWN else []
        return "\n".join([text, *(f"  {name:<{width}}{''.join(own)}" for name, own in rows), *more])


def _average_columns(r2: np.ndarray) -> np.ndarray:
    known = np.isfinite(r2).all(axis=1)
    return r2[known].mean(axis=0) if known.any() else np.zeros(r2.shape[1])


@dataclass(frozen=True, eq=False, repr=False)
class ColumnsDimension(WithSummary, HtmlTable):
    """How many axes of many columns are more than chance.

    Attributes
    ----------
    n_components : int
        The number of leading axes whose p-value is at most `alpha`.
    pvalues : ndarray of shape (d,)
        The p-value of each axis, never smaller than that of the one before; 1 after the first that is not significant.
    alpha : float
        The level of each test.
    test : PermutationTest
        The test by permutations of each column.
    held_out : ColumnsHeldOut
        How much of each column the axes predict on held-out rows.
    can_be_more : bool
        Whether the table may have more axes than were tested.

    Examples
    --------
    >>> import numpy as np
    >>> import correspondence as co
    >>> rng = np.random.default_rng(0)
    >>> hidden = rng.integers(2, size=(500, 1))
    >>> X = np.where(rng.random((500, 5)) < 0.8, hidden, 1 - hidden).astype(str)
    >>> co.latent_dimension(co.MCA(n_components=3), X).summary()
    1 axis (what a hidden variable with 2 classes would give)
    """

    _n_text_lines = 2

    n_components: int
    pvalues: np.ndarray
    alpha: float
    test: PermutationTest
    held_out: ColumnsHeldOut
    can_be_more: bool = True

    def __post_init__(self) -> None:
        read_only(self, "pvalues")

    @property
    def evidence(self) -> Evidence:
        """The p-values of the axes, as pages and sentences read them; no axis has a correlation on held-out rows."""
        return Evidence(
            np.full(len(self.pvalues), np.nan),
            is_held_out=False,
            pvalues=self.pvalues,
            alpha=self.alpha,
            may_be_more=self.at_least,
        )

    @property
    def at_least(self) -> bool:
        """Whether all axes tested are significant, so that there may be more; test more `n_components`."""
        return self.can_be_more and self.n_components == len(self.pvalues) > 0

    def write_summary(self) -> str:
        """Put the answer into words.

        Returns
        -------
        str
            One line.
        """
        found = "1 axis" if self.n_components == 1 else f"{self.n_components} axes"
        if self.at_least:
            return f"at least {found}, as many as were tested"
        if not self.n_components:
            return "0 axes: none is more than chance"
        return f"{found} (what a hidden variable with {self.n_components + 1} classes would give)"

    def _collect_columns(self) -> dict[str, np.ndarray]:
        columns = {"axis": np.arange(1, len(self.pvalues) + 1)}
        for name, shares in (("predicted", self.held_out.mean), ("training", self.held_out.training_mean)):
            columns[name] = np.full(len(self.pvalues), np.nan)
            columns[name][: len(shares)] = shares[: len(self.pvalues)]
        return columns | {"pvalue": self.pvalues}

    def __repr__(self) -> str:
        lines = [
            f"ColumnsDimension: {self.write_summary()}",
            f"  alpha {self.alpha:g}, {self.test.n_permutations} permutations of {self.test.kind}; "
            "predicted: mean share of a column, by this axis and those before",
            "  axis  predicted (training)  p-value",
        ]
        held = np.column_stack([self.held_out.mean, self.held_out.training_mean])[: len(self.pvalues)]
        shown = min(len(self.pvalues), self.n_components + 5)
        for i, ((share, own), p) in enumerate(zip(held[:shown], self.pvalues, strict=False), start=1):
            lines.append(f"  {i:>4}  {share:>9.3f} ({own:>8.3f})  {p:>7.4f}")
        return "\n".join([*lines, *(["  ..."] if shown < len(self.pvalues) else [])])
