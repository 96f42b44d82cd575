"""How faithful a plane of a classifier is to what the classifier believes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from correspondence._util.arguments import read_only
from correspondence._util.text import list_names
from correspondence.results.points import FrameResult

__all__ = ["Faithfulness"]


@dataclass(frozen=True, eq=False, repr=False)
class Faithfulness(FrameResult):
    """What a plane preserves of a classifier, as ``ClassifierCA.faithfulness`` returns it.

    `to_frame` has one row for each class and the columns class, n (inputs predicted as it) and predictions.

    Attributes
    ----------
    axes : tuple of int
        The components, counted from 1.
    predictions : float
        The share of inputs whose likeliest class can still be told from the axes: the beliefs that are read back from
        these coordinates alone, with 0 in all others, have it as the largest.
    neighbours : float
        The mean share of the nearest neighbours of an input in the plane that are among its nearest ones in the space
        of all axes; NaN for fewer than three inputs.
    neighbours_by_chance : float
        What `neighbours` would be if the plane had nothing to do with the space.
    n_neighbors : int
        How many neighbours were compared.
    n : int
        The number of inputs. Neighbours are those of at most 2,000 of them, drawn at random.
    classes : ndarray of shape (k,)
        The names of the classes.
    counts : ndarray of int of shape (k,)
        How many inputs are predicted as each class.
    predictions_by_class : ndarray of shape (k,)
        The share of these whose class can still be told; NaN for a class without inputs.

    Examples
    --------
    >>> import correspondence as co
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = load_digits(return_X_y=True)
    >>> cca = co.ClassifierCA(LogisticRegression(C=0.001, max_iter=1000).fit(X[::2], y[::2])).fit(X[1::2])
    >>> cca.faithfulness(X[1::2])
    Faithfulness on 898 inputs
      axes 1 and 2 preserve 50 % of the predictions and 44 % of the 10 nearest neighbours (by chance 1 %)
      predictions by class: 1: 0 %, 3: 0 %, 5: 0 %, 8: 0 %, 9: 0 % and 5 more
    """

    axes: tuple[int, ...]
    predictions: float
    neighbours: float
    neighbours_by_chance: float
    n_neighbors: int
    n: int
    classes: np.ndarray
    counts: np.ndarray
    predictions_by_class: np.ndarray

    def __post_init__(self) -> None:
        read_only(self, "counts", "predictions_by_class")

    @property
    def sentence(self) -> str:
        """Both shares in words, for the caption of a picture."""
        preserved = f"{100 * self.predictions:.0f} % of the predictions"
        if np.isfinite(self.neighbours):
            preserved += f" and {100 * self.neighbours:.0f} % of the {self.n_neighbors} nearest neighbours"
        named = f"axes {self.axes[0]} and {self.axes[1]}" if len(self.axes) == 2 else f"axis {self.axes[0]}"
        return f"{named} preserve{'s' * (len(self.axes) == 1)} {preserved}"

    def _collect_columns(self) -> dict[str, np.ndarray]:
        return {"class": self.classes, "n": self.counts, "predictions": self.predictions_by_class}

    def __repr__(self) -> str:
        sentence, known = self.sentence, np.flatnonzero(self.counts)
        worst = known[np.argsort(self.predictions_by_class[known], kind="stable")]
        listed = list_names(
            worst, 5, show=lambda i: f"{list_names([self.classes[i]])}: {100 * self.predictions_by_class[i]:.0f} %"
        )
        chance = f" (by chance {100 * self.neighbours_by_chance:.0f} %)" if np.isfinite(self.neighbours) else ""
        lines = [f"Faithfulness on {self.n:,} inputs", f"  {sentence}{chance}", f"  predictions by class: {listed}"]
        return "\n".join(lines)
