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
        Names of the m models.
    classes : ndarray of shape (k,)
        Classes in the order of the first model.
    beliefs : ndarray of shape (m, n, k)
        Belief of each model, for each input, in each class.
    models : dict from name to ClassifierCA
        The analysis of each model on its own; these take beliefs for X.
    common : ClassifierCA
        The analysis of all models together, as if each input were given to one of them at random: a space in which the
        beliefs of all models have a place, with the same boundaries.
    disagreement : ndarray of shape (n,)
        Mean distance between two models for each input: the largest difference between the probabilities that they give
        to any set of classes (total variation), from 0 to 1.
    scores : dict from name to dict
        ``accuracy``, ``log_loss`` and ``captured`` of each model, if labels were given.

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
        """Locate the inputs as one of the models sees them: their f in the common space.

        Parameters
        ----------
        name : str
            The name of the model.

        Returns
        -------
        ndarray of shape (n, d)
            Positions in the order of the inputs.
        """
        return self.common.locate(self.beliefs[self._find_model(name)])

    def table(self, first: str | None = None, second: str | None = None) -> Table:
        """Count how often two models predict each pair of classes: a table for `CA`.

        Parameters
        ----------
        first, second : str, optional
            The names of the models; by default they are the first two, or the one given and the first of the others.

        Returns
        -------
        Table
            Predictions of the first model in the rows, those of the second in the columns.
        """
        i = 0 if first is None else self._find_model(first)
        j = int(i == 0) if second is None else self._find_model(second)
        counts = np.zeros((len(self.classes),) * 2)
        top = self.beliefs.argmax(axis=2)
        np.add.at(counts, (top[i], top[j]), 1)
        return Table(counts, self.classes, self.classes)

    def most(self, n: int = 10, backend: Backend | None = None) -> Any:
        """Return a data frame of the inputs on which the models disagree most.

        Parameters
        ----------
        n : int
            Return at most this many inputs.
        backend : {"pandas", "polars", "pyarrow"}, optional
            Make a frame of this library; by default it is the first of these that is installed.

        Returns
        -------
        frame
            One row for each input, the largest disagreement first: index, disagreement, prediction of each model.
        """
        rows = self.most_index(n)
        predicted = {name: self.predictions[i, rows] for i, name in enumerate(self.names)}
        return to_frame({"index": rows, "disagreement": self.disagreement[rows], **predicted}, backend)

    def most_index(self, n: int = 10) -> np.ndarray:
        """Find the inputs on which the models disagree most.

        Parameters
        ----------
        n : int
            Return at most this many inputs.

        Returns
        -------
        ndarray of int
            Positions of the inputs, the largest disagreement first.
        """
        return np.argsort(-self.disagreement, kind="stable")[: check_whole(n, "n", 1)]

    def _find_model(self, name: str) -> int:
        if not isinstance(name, str) or name not in self.names:
            raise ValueError(f"name must be one of {', '.join(self.names)}, got {short_repr(name)}.")
        return self.names.index(name)

    def __repr__(self) -> str:
        n = self.beliefs.shape[1]
        lines = [f"{len(self.names)} classifiers of {n:,} inputs, {len(self.classes)} classes"]
        for name in self.names:
            shown = " ".join(f"{r:.3f}" for r in self.models[name].correlations_[:5])
            scores = "".join(
                f", {what.replace('_', ' ')} {value:.4f}" for what, value in self.scores.get(name, {}).items()
            )
            lines.append(f"  {name}: correlations {shown}{scores}")
        for i, j in combinations(range(len(self.names)), 2):
            same = 100 * self.agreement[i, j]
            lines.append(f"  {self.names[i]} and {self.names[j]} predict the same class for {same:.1f} % of the inputs")
        mean, largest = self.disagreement.mean(), self.disagreement.max()
        lines.append(f"  mean disagreement of beliefs {mean:.4f}, largest {largest:.4f}")
        return "\n".join(lines)
