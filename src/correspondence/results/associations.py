"""What goes with what among the columns of a table."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from correspondence._util.arguments import check_whole, read_only
from correspondence._util.summaries import WithSummary
from correspondence._util.text import list_names, short_repr
from correspondence.data.table import Backend, to_frame
from correspondence.results.points import FrameResult

__all__ = ["Associations"]

MAX_PAIRS_SHOWN = 5
MAX_GIVEN_NAMED = 6
MIN_DIFFERENCE_TOLD = 0.1  # of the shares that two columns tell of each other, for a sentence to name the direction


@dataclass(frozen=True, eq=False, repr=False)
class Associations(WithSummary, FrameResult):
    """How strongly all pairs of columns of a table go together, on held-out rows.

    Matrices have a row and a column for each column of the table, in its order. With a `target` the pairs without it
    are NaN. `to_frame` has one row for each pair, the strongest first, and the columns x, y, correlation, captured,
    y_from_x, x_from_y, pvalue, adjusted_pvalue and n, and also given if something is.

    Attributes
    ----------
    columns : ndarray of shape (k,)
        The names of the columns that take part.
    kinds : ndarray of shape (k,)
        What each is: "number", "label", "boolean", "date", "time" or "duration".
    n : float
        The number of rows, or their weight.
    correlations : ndarray of shape (k, k)
        The maximal correlation: of the two functions, one of each column, that are most strongly correlated. They are
        fitted on training rows, and this is their correlation on held-out rows; 1 on the diagonal.
    captured : ndarray of shape (k, k)
        All dependence that was found, on held-out rows: at most the sum of all principal inertia components.
    training_correlations : ndarray of shape (k, k)
        The maximal correlations on the training rows, averaged over the fits.
    predicted : ndarray of shape (k, k)
        Row i, column j: how much of column j a regression on column i predicts on held-out rows, as a share of the
        variance of its ranks (as normal scores), of labels of their squared chi-square distances.
    pvalues : ndarray of shape (k, k)
        P-values of the hypothesis that two columns are independent, adjusted for the number of pairs tested: of the
        pairs with a p-value up to `alpha`, at most this share is expected to be false.
    raw_pvalues : ndarray of shape (k, k)
        The same before they are adjusted.
    n_pairs : ndarray of shape (k, k)
        The number of rows in which both columns are given.
    order : ndarray of int of shape (k,)
        The positions of the columns, those that go together beside each other.
    alpha : float
        The false discovery rate.
    target : object or None
        The name of the column that the others are compared with.
    notes : tuple of str
        What was decided about the rows.
    given : tuple of str
        The names of the given columns: all figures and p-values are those of what is left once they are known.

    Examples
    --------
    >>> import numpy as np
    >>> import correspondence as co
    >>> rng = np.random.default_rng(0)
    >>> u = rng.normal(size=500)
    >>> X = np.column_stack([u, np.cos(2 * u) + 0.3 * rng.normal(size=500), rng.normal(size=500)])
    >>> a = co.associations(X)
    >>> a.correlations.round(2).tolist()[0]
    [1.0, 0.91, -0.16]
    >>> [float(a.predicted[i, j].round(2)) for i, j in ((0, 1), (1, 0))]  # the number tells the cosine, not the reverse
    [0.71, -0.01]
    """

    _n_text_lines = None

    columns: np.ndarray
    kinds: np.ndarray
    n: float
    correlations: np.ndarray
    captured: np.ndarray
    training_correlations: np.ndarray
    predicted: np.ndarray
    pvalues: np.ndarray
    raw_pvalues: np.ndarray
    n_pairs: np.ndarray
    order: np.ndarray
    alpha: float = 0.05
    target: Any = None
    notes: tuple[str, ...] = field(default=())
    given: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        matrices = ("correlations", "captured", "training_correlations", "predicted", "pvalues", "raw_pvalues")
        read_only(self, "columns", "kinds", *matrices, "n_pairs", "order")

    @property
    def condition(self) -> str:
        """What is given, in words, such as "given age, sex"; "" if nothing is."""
        return f"given {list_names(self.given, MAX_GIVEN_NAMED, show=str)}" if self.given else ""

    @property
    def found(self) -> np.ndarray:
        """Which pairs go together more than chance, a symmetric array of shape (k, k)."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.pvalues <= self.alpha)

    def to_matrix(self, backend: Backend | None = None, values: str = "correlations") -> Any:
        """Return a matrix as a data frame, with the names of the columns in front.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            Make a frame of this library; by default it is the first of these that is installed.
        values : str
            The name of the matrix: "correlations", "captured", "training_correlations", "predicted", "pvalues",
            "raw_pvalues" or "n_pairs".

        Returns
        -------
        frame
            A native frame of that library.
        """
        names = ("correlations", "captured", "training_correlations", "predicted", "pvalues", "raw_pvalues", "n_pairs")
        if values not in names:
            raise ValueError(f"values must be one of {', '.join(names)}, got {short_repr(values)}.")
        matrix, labels = getattr(self, values), [str(name) for name in self.columns]
        first = next(name for name in ("column", "column_", "column__") if name not in labels)
        return to_frame({first: np.array(labels, dtype=object)} | dict(zip(labels, matrix.T, strict=True)), backend)

    def strongest(self, n: int = 10, backend: Backend | None = None) -> Any:
        """Return the strongest pairs among those that go together more than chance, as a data frame.

        Parameters
        ----------
        n : int
            At most this many pairs.
        backend : {"pandas", "polars", "pyarrow"}, optional
            See `to_frame`.

        Returns
        -------
        frame
            The first rows of `to_frame`, without pairs that may be chance.
        """
        check_whole(n, "n", 1)
        x, y = self._rank_pairs()
        kept = np.flatnonzero(self.found[x, y])[:n]
        return to_frame(self._list_pairs(x[kept], y[kept]), backend)

    def write_summary(self) -> str:
        """Put into words what goes with what.

        Returns
        -------
        str
            A sentence, and one for each of the strongest pairs.
        """
        x, y = self._rank_pairs()
        kept = np.flatnonzero(self.found[x, y])
        pairs = f"pairs with {self.target}" if self.target is not None else "pairs of columns"
        condition = f", {self.condition}" if self.given else ""
        lines = [
            f"{len(kept):,} of {len(x):,} {pairs} go together more than chance{condition} "
            f"(false discovery rate {100 * self.alpha:g} %)."
        ]
        return "\n".join([*lines, *(self._describe_pair(int(x[i]), int(y[i])) for i in kept[:MAX_PAIRS_SHOWN])])

    def _describe_pair(self, i: int, j: int) -> str:
        one, other = str(self.columns[i]), str(self.columns[j])
        text = f"{one} goes with {other}: correlation {self.correlations[i, j]:.2f} on held-out rows"
        forward, back = self.predicted[i, j], self.predicted[j, i]
        if abs(forward - back) <= MIN_DIFFERENCE_TOLD:
            return f"{text}."
        source, goal = (one, other) if forward > back else (other, one)
        high, low = max(forward, back), max(min(forward, back), 0.0)
        return f"{text}; {source} tells {100 * high:.0f} % of {goal}, the other way round {100 * low:.0f} %."

    def _rank_pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the positions of all pairs that were tested, the strongest first; a target comes second."""
        x, y = np.triu_indices(len(self.columns), 1)
        if self.target is not None:
            place = self.columns.tolist().index(self.target)
            x = np.delete(np.arange(len(self.columns)), place)
            y = np.full(len(x), place)
        order = np.argsort(-self.correlations[x, y], kind="stable")
        return x[order], y[order]

    def _collect_columns(self) -> dict[str, Any]:
        return self._list_pairs(*self._rank_pairs())

    def _collect_preview(self, n: int) -> tuple[Any, int]:
        x, y = self._rank_pairs()
        return self._list_pairs(x[:n], y[:n]), len(x)

    def _list_pairs(self, x: np.ndarray, y: np.ndarray) -> dict[str, Any]:
        given = {"given": np.full(len(x), ", ".join(self.given), dtype=object)} if self.given else {}
        return {
            "x": self.columns[x],
            "y": self.columns[y],
            "correlation": self.correlations[x, y],
            "captured": self.captured[x, y],
            "y_from_x": self.predicted[x, y],
            "x_from_y": self.predicted[y, x],
            "pvalue": self.raw_pvalues[x, y],
            "adjusted_pvalue": self.pvalues[x, y],
            "n": self.n_pairs[x, y],
            **given,
        }

    def __len__(self) -> int:
        return len(self.columns)

    def __repr__(self) -> str:
        head = (
            f"Associations of {len(self)} columns ({list_names(list(self.columns), 6, show=str)}), {self.n:,.0f} rows"
        )
        head += f", {self.condition}" if self.given else ""
        return "\n".join([head, *(f"  {line}" for line in self.write_summary().split("\n"))])
