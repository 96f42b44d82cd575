"""How similar the classes of a classifier are to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import fcluster, leaves_list

from correspondence._util.arguments import is_number, read_only
from correspondence._util.text import list_names, short_repr
from correspondence.results.points import FrameResult

__all__ = ["ClassSimilarity"]

MAX_PAIRS_SHOWN, MAX_GROUPS_SHOWN = 5, 5


@dataclass(frozen=True, eq=False, repr=False)
class ClassSimilarity(FrameResult):
    """Which classes a classifier confuses, as ``ClassifierCA.class_similarity`` returns it.

    Two classes are similar if the model believes in both about the same inputs. `to_frame` has one row for each pair of
    classes, the most similar first, and the columns a, b, overlap, b_given_a and a_given_b.

    Attributes
    ----------
    classes : ndarray of shape (k,)
        The names of the classes.
    overlap : ndarray of shape (k, k)
        The cosine between the beliefs in two classes, E[P_a P_b] / sqrt(E[P_a^2] E[P_b^2]) over the inputs: 1 if one is
        always a multiple of the other, 0 if no input is believed to be possibly both. How frequent classes are does not
        matter. It is the cosine between the points of the two classes in the factoring space of all axes, seen from
        where a class lies that is never believed.
    confusion : ndarray of shape (k, k)
        Row a, column b: E[P_a P_b] / E[P_a], the mean belief in b where the model means a; rows sum to 1. It is the
        confusion matrix that one would expect of two independent answers, both drawn from the beliefs.
    prior : ndarray of shape (k,)
        The mean belief in each class.
    linkage : ndarray of shape (k - 1, 4)
        The tree of average overlaps as SciPy's linkage matrix, with heights of 1 minus the overlap.

    Examples
    --------
    >>> import correspondence as co
    >>> P = [[0.6, 0.4, 0.0], [0.3, 0.7, 0.0], [0.0, 0.1, 0.9], [0.0, 0.0, 1.0]]
    >>> similarity = co.ClassifierCA.from_beliefs(P, ["cat", "dog", "car"]).class_similarity()
    >>> similarity
    Similarity of 3 classes, the most confused pairs first
      cat and dog, overlap 0.826: belief in dog where it means cat 0.500, in cat where it means dog 0.375
      dog and car, overlap 0.082: belief in car where it means dog 0.075, in dog where it means car 0.047
      groups with overlaps of 0.41 or more: cat, dog
    >>> similarity.order.tolist()
    [2, 1, 0]
    """

    classes: np.ndarray
    overlap: np.ndarray
    confusion: np.ndarray
    prior: np.ndarray
    linkage: np.ndarray

    def __post_init__(self) -> None:
        read_only(self, "overlap", "confusion", "prior", "linkage")

    @property
    def order(self) -> np.ndarray:
        """The positions of the classes, similar ones beside each other: the leaves of the tree."""
        return leaves_list(self.linkage)

    @property
    def max_overlap(self) -> float:
        """The overlap of the most confused pair."""
        return float(np.triu(self.overlap, 1).max())

    def find_groups(self, min_overlap: float | None = None) -> list[list[Any]]:
        """Find the groups of classes that are confused among themselves, the most confused first.

        Parameters
        ----------
        min_overlap : float, optional
            The branches of the tree are cut where the average overlap falls below this number; by default half the
            overlap of the most confused pair.

        Returns
        -------
        list of list
            The classes of each group of two or more. Each can be given to ``ClassifierCA.focus``.

        Examples
        --------
        >>> import correspondence as co
        >>> P = [[0.6, 0.4, 0.0], [0.3, 0.7, 0.0], [0.0, 0.1, 0.9], [0.0, 0.0, 1.0]]
        >>> co.ClassifierCA.from_beliefs(P, ["cat", "dog", "car"]).class_similarity().find_groups()
        [['cat', 'dog']]
        """
        least = self.max_overlap / 2 if min_overlap is None else min_overlap
        if not is_number(least) or not 0 <= least <= 1:
            raise ValueError(f"min_overlap must be a number from 0 to 1, got {short_repr(min_overlap)}.")
        if self.max_overlap == 0:
            return []
        codes = fcluster(self.linkage, 1 - least + 1e-12, "distance")
        groups = [group for code in np.unique(codes) if len(group := np.flatnonzero(codes == code)) > 1]
        groups.sort(key=lambda group: -self.overlap[np.ix_(group, group)][np.triu_indices(len(group), 1)].mean())
        return [self.classes[group].tolist() for group in groups]

    def _collect_columns(self) -> dict[str, np.ndarray]:
        a, b = self._rank_pairs()
        overlap = self.overlap[a, b]
        columns = {"a": self.classes[a], "b": self.classes[b], "overlap": overlap}
        return columns | {"b_given_a": self.confusion[a, b], "a_given_b": self.confusion[b, a]}

    def _rank_pairs(self) -> tuple[np.ndarray, np.ndarray]:
        a, b = np.triu_indices(len(self.classes), 1)
        ranked = np.argsort(-self.overlap[a, b], kind="stable")
        return a[ranked], b[ranked]

    def __repr__(self) -> str:
        if self.max_overlap == 0:
            return f"Similarity of {len(self.classes)} classes, no two of which are believed of the same input"
        lines = [f"Similarity of {len(self.classes)} classes, the most confused pairs first"]
        for i, j in zip(*(index[:MAX_PAIRS_SHOWN] for index in self._rank_pairs()), strict=True):
            if self.overlap[i, j] > 0:
                a, b = (list_names([self.classes[index]]) for index in (i, j))
                lines.append(
                    f"  {a} and {b}, overlap {self.overlap[i, j]:.3f}: belief in {b} where it means {a} "
                    f"{self.confusion[i, j]:.3f}, in {a} where it means {b} {self.confusion[j, i]:.3f}"
                )
        groups = self.find_groups()
        if groups:
            listed = list_names(groups, MAX_GROUPS_SHOWN, "; ", lambda group: list_names(group, 8))
            lines.append(f"  groups with overlaps of {self.max_overlap / 2:.2g} or more: {listed}")
        return "\n".join(lines)
