"""Several classifiers of the same inputs, and where they disagree."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from correspondence._util.arguments import check_whole, read_only
from correspondence._util.text import short_repr
from correspondence.data.table import Backend, Table, to_frame

__all__ = ["ClassifierComparison"]


@dataclass(frozen=True, eq=False, repr=False)
class ClassifierComparison:
    """Beliefs of several classifiers of the same inputs; what `compare_classifiers` returns.

    Attributes
    ----------
    names : list of str
        Of the m models.
    classes : ndarray of shape (k,)
        In the order of the first model.
    beliefs : ndarray of shape (m, n, k)
        Of each model, input and class.
    models : dict from name to ClassifierCA
        Each model for itself; they take beliefs for X.
    common : ClassifierCA
        All models together, as if an input were given to one of them at random: a space in which the beliefs of all of
        them have a place, and the same boundaries.
    disagreement : ndarray of shape (n,)
        For each input the mean distance between two models: the largest difference between the probabilities that they
        give to any set of classes (total variation), from 0 to 1.
    scores : dict from name to dict
        If labels were given: ``accuracy``, ``log_loss`` and ``captured`` of each model.

    Examples
    --------
    >>> import numpy as np
    >>> import correspondence as co
    >>> careful = lambda X: np.column_stack([1 - X[:, 0], X[:, 0]])
    >>> bold = lambda X: np.column_stack([X[:, 0] < 0.4, X[:, 0] >= 0.4]).astype(float)
    >>> X = np.linspace(0.05, 0.95, 10)[:, None]
    >>> comparison = co.compare_classifiers({"careful": careful, "bold": bold}, X)
    >>> comparison
    2 classifiers of 10 inputs, 2 classes
      careful: correlations 0.574
      bold: correlations 1.000
      careful and bold predict the same class for 90.0 % of the inputs
      mean disagreement of beliefs 0.2600, largest 0.5500
    >>> X[comparison.most_index(1)]
    array([[0.45]])
    """

    names: list[str]
    classes: np.ndarray
    beliefs: np.ndarray
    models: dict[str, Any]
    common: Any
    disagreement: np.ndarray
    scores: dict[str, dict[str, float]]

    def __post_init__(self) -> None:
        read_only(self, "beliefs", "disagreement")

    @property
    def predictions(self) -> np.ndarray:
        """The likeliest class of each input by each model, of shape (m, n)."""
        return self.classes[self.beliefs.argmax(axis=2)]

    @property
    def agreement(self) -> np.ndarray:
        """Share of the inputs for which two models predict the same class, of shape (m, m)."""
        top = self.beliefs.argmax(axis=2)
        return (top[:, None] == top[None]).mean(axis=2)

    def positions(self, name: str) -> np.ndarray:
        """Where one of the models sees the inputs: their f in the common space.

        Parameters
        ----------
        name : str
            Of the model.

        Returns
        -------
        ndarray of shape (n, d)
            In the order of the inputs.
        """
        return self.common.locate(self.beliefs[self._find_model(name)])

    def table(self, first: str | None = None, second: str | None = None) -> Table:
        """How often one model predicts a class and another a class: a table for `CA`.

        Parameters
        ----------
        first, second : str, optional
            Names of the models; the first two by default, or one and the first other.

        Returns
        -------
        Table
            Predictions of the first in the rows, of the second in the columns.
        """
        i = 0 if first is None else self._find_model(first)
        j = int(i == 0) if second is None else self._find_model(second)
        counts = np.zeros((len(self.classes),) * 2)
        top = self.beliefs.argmax(axis=2)
        np.add.at(counts, (top[i], top[j]), 1)
        return Table(counts, self.classes, self.classes)

    def most(self, n: int = 10, backend: Backend | None = None) -> Any:
        """Data frame of the inputs on which the models disagree most: index, disagreement, prediction of each model.

        Parameters
        ----------
        n : int
            At most so many.
        backend : {"pandas", "polars", "pyarrow"}, optional
            Which library; one that is installed by default.

        Returns
        -------
        frame
            One row for each input, the largest disagreement first.
        """
        rows = self.most_index(n)
        predicted = {name: self.predictions[i, rows] for i, name in enumerate(self.names)}
        return to_frame({"index": rows, "disagreement": self.disagreement[rows], **predicted}, backend)

    def most_index(self, n: int = 10) -> np.ndarray:
        """Find the inputs on which the models disagree most.

        Parameters
        ----------
        n : int
            At most so many.

        Returns
        -------
        ndarray of int
            Their positions, the largest disagreement first.
        """
        return np.argsort(-self.disagreement, kind="stable")[: check_whole(n, "n", 1)]

    def _find_model(self, name: str) -> int:
        if not isinstance(name, str) or name not in self.names:
            raise ValueError(f"There is no model {short_repr(name)}: choose one of {', '.join(self.names)}.")
        return self.names.index(name)

    def __repr__(self) -> str:
        n = self.beliefs.shape[1]
        lines = [f"{len(self.names)} classifiers of {n:,} inputs, {len(self.classes)} classes"]
        for name in self.names:
            shown = " ".join(f"{r:.3f}" for r in self.models[name].correlations_[:5])
            scores = "".join(f", {_spaced(what)} {value:.4f}" for what, value in self.scores.get(name, {}).items())
            lines.append(f"  {name}: correlations {shown}{scores}")
        for i, j in combinations(range(len(self.names)), 2):
            same = 100 * self.agreement[i, j]
            lines.append(f"  {self.names[i]} and {self.names[j]} predict the same class for {same:.1f} % of the inputs")
        mean, largest = self.disagreement.mean(), self.disagreement.max()
        lines.append(f"  mean disagreement of beliefs {mean:.4f}, largest {largest:.4f}")
        return "\n".join(lines)


def _spaced(name: str) -> str:
    return name.replace("_", " ")
