"""What is found for a query: items that match it, or inputs on which a classifier is least sure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from correspondence._util.arguments import read_only
from correspondence._util.text import list_names
from correspondence.results.points import FrameResult, number_columns

__all__ = ["Confusing", "MatchCalibration", "Matches"]


@dataclass(frozen=True, eq=False, repr=False)
class Matches(FrameResult):
    """Items that an index found for each query, the best first.

    A search for `k` items gives arrays of shape (n, k). A search within a `radius` gives arrays of n arrays, each as
    long as there are items within the radius, as in scikit-learn. `to_frame` has one row for each match and the columns
    query, rank (from 1), label, index, distance, ratio, score, and of a calibrated index probability.

    Attributes
    ----------
    labels : ndarray
        Labels of the items found.
    index : ndarray
        Positions of the items in the index.
    distances : ndarray
        Distances between f(x) and g(y).
    ratios : ndarray
        Density ratios p(x, y) / (p(x) p(y)): how many times likelier than by chance the two go together (by Mehler's
        formula if the index ranks by it, otherwise by Lancaster's).
    scores : ndarray
        What the index ranks by. "posterior": prior times ratio, clipped to [0, 1]; "gaussian": the share of the item in
        the sum over all items of prior times Mehler's ratio; "ratio": the ratio; "distance": minus the distance;
        "cosine": the cosine. The first two would be probabilities if the functions were exact, and often claim far too
        much.
    probabilities : ndarray
        Probabilities of the items given the query, if the index was calibrated on held-out pairs; otherwise asking for
        them is an error. If one item belongs to each query, those of all items sum to 1.

    Examples
    --------
    >>> import correspondence as co
    >>> ca = co.CA().fit(co.datasets.load_housetasks())
    >>> who = ca.columns_.labels
    >>> found = co.CrossModalIndex(ca, who, who).tags(["Laundry", "Repairs"], k=2)
    >>> found
    Matches for 2 queries: label (score), the best first
      0: Wife (0.886), Alternating (0.0795)
      1: Husband (0.97), Alternating (0.0182)
    >>> found.ratios[:, 0].round(1)                 # times likelier than by chance
    array([2.6, 4.4])
    """

    labels: np.ndarray
    index: np.ndarray
    distances: np.ndarray
    ratios: np.ndarray
    _find_scores: Callable[[], np.ndarray]
    _find_probabilities: Callable[[], np.ndarray] | None = None

    def __post_init__(self) -> None:
        read_only(self, "labels", "index", "distances", "ratios")

    @cached_property
    def scores(self) -> np.ndarray:  # noqa: D102 (above); computed when asked for, some from all items of the index
        return self._find_scores()

    @cached_property
    def probabilities(self) -> np.ndarray:  # noqa: D102 (above)
        if self._find_probabilities is None:
            raise AttributeError(
                "probabilities need an index that is calibrated on held-out pairs. Search index.calibrate(X, Y), or "
                "read scores."
            )
        return self._find_probabilities()

    @property
    def is_calibrated(self) -> bool:
        """Whether there are probabilities."""
        return self._find_probabilities is not None

    def __len__(self) -> int:
        return len(self.labels)

    def _collect_preview(self, n: int) -> tuple[Any, int]:
        n_queries = min(n, len(self))
        columns = self._collect_queries(n_queries)
        return {name: values[:n] for name, values in columns.items()}, sum(map(len, self.index))

    def _collect_columns(self) -> dict[str, np.ndarray]:
        return self._collect_queries(len(self))

    def _collect_queries(self, n: int) -> dict[str, np.ndarray]:
        counts = [len(found) for found in self.index[:n]]
        columns = {
            "query": np.repeat(np.arange(n), counts),
            "rank": np.concatenate([np.arange(1, count + 1) for count in counts] or [np.empty(0, int)]),
        }
        names = {"label": "labels", "index": "index", "distance": "distances", "ratio": "ratios", "score": "scores"}
        for column, name in (names | ({"probability": "probabilities"} if self.is_calibrated else {})).items():
            columns[column] = np.concatenate([*getattr(self, name)[:n]] or [np.empty(0)])
        return columns

    def __repr__(self) -> str:
        shown, what = (self.probabilities, "probability") if self.is_calibrated else (self.scores, "score")
        lines = [f"Matches for {len(self)} quer{'y' if len(self) == 1 else 'ies'}: label ({what}), the best first"]
        for i, (labels, values) in enumerate(zip(self.labels[:10], shown, strict=False)):
            listed = list_names(zip(labels, values, strict=True), 5, show=lambda match: "{} ({:.3g})".format(*match))
            lines.append(f"  {i}: {listed}")
        return "\n".join([*lines, *(["  ..."] if len(self) > 10 else [])])


@dataclass(frozen=True, eq=False, repr=False)
class MatchCalibration(FrameResult):
    """How an index was calibrated on held-out pairs, and how well its rankings do there.

    `to_frame` has one row for each ranking that was tried, the best first, and the columns by, scaled and value.

    Attributes
    ----------
    by : str
        The ranking that is used.
    scaled : bool
        Whether f and g are scaled by sqrt(lambda) in its distances and angles.
    slope, intercept : float
        Logarithms of scores are multiplied by the slope, the inverse of a temperature, and of tags the intercept is
        added to the log odds.
    claimed : float
        Mean probability of the first item found, before the calibration: what its score claims; NaN if that is no
        claim.
    calibrated : float
        The same after the calibration.
    hit_rate : float
        How often the first item found is right.
    n : int
        Number of held-out queries.
    measure : str
        What the rankings are compared by: "mean reciprocal rank" of the right item, or of tags "precision of the first
        5".
    rankings : dict of (str, bool) to float
        The measure of each ranking that was tried, by name and whether it is scaled.

    Examples
    --------
    >>> import numpy as np
    >>> import correspondence as co
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(600, 4)); Y = X + rng.normal(size=(600, 4))
    >>> cca = co.CCA(n_components=4).fit(X[:200], Y[:200])
    >>> index = co.CrossModalIndex(cca, None, Y[400:], held_out=(X[200:400], Y[200:400]))
    >>> calibration = index.calibration["tags"]
    >>> bool(abs(calibration.calibrated - calibration.hit_rate) < 0.03)
    True
    """

    by: str
    scaled: bool
    slope: float
    intercept: float
    claimed: float
    calibrated: float
    hit_rate: float
    n: int
    measure: str
    rankings: dict[tuple[str, bool], float]

    def _collect_columns(self) -> dict[str, np.ndarray]:
        best = sorted(self.rankings.items(), key=lambda item: -item[1])
        columns = {"by": [by for (by, _), _ in best], "scaled": [scaled for (_, scaled), _ in best]}
        return {name: np.array(values) for name, values in columns.items()} | {"value": np.array([v for _, v in best])}

    def __repr__(self) -> str:
        head = f"MatchCalibration on {self.n} held-out queries: first item right {self.hit_rate:.3f}"
        lines = [f"{head}, claimed {self.claimed:.3f}, calibrated {self.calibrated:.3f}", f"  {self.measure}:"]
        for (by, scaled), value in sorted(self.rankings.items(), key=lambda item: -item[1]):
            is_used = (by, scaled) == (self.by, self.scaled)
            lines.append(f"  {by + (', scaled' if scaled else ''):<18}{value:>8.4f}{'  (used)' if is_used else ''}")
        return "\n".join(lines)


@dataclass(frozen=True, eq=False, repr=False)
class Confusing(FrameResult):
    """The most ambiguous of some inputs, the closest call first.

    `to_frame` has one row for each input and the columns index, first, second, margin, f1, f2, ...

    Attributes
    ----------
    index : ndarray of shape (n,)
        Positions among the inputs.
    pairs : ndarray of shape (n, 2)
        The two classes that each input lies between, the likelier first.
    margin : ndarray of shape (n,)
        Belief in the first class less belief in the second.
    position : ndarray of shape (n, d)
        Values of f.
    beliefs : ndarray of shape (n, k)
        Beliefs in all classes.
    classes : ndarray of shape (k,)
        Names of the classes.

    Examples
    --------
    >>> import correspondence as co
    >>> P = [[0.9, 0.1], [0.2, 0.8], [0.55, 0.45]]
    >>> co.ClassifierCA.from_beliefs(P, ["no", "yes"]).confusing(P, n=2)
    Confusing: 2 inputs, the closest call first
             2  no 0.550 | yes, margin 0.1
             1  yes 0.800 | no, margin 0.6
    """

    index: np.ndarray
    pairs: np.ndarray
    margin: np.ndarray
    position: np.ndarray
    beliefs: np.ndarray
    classes: np.ndarray

    def __post_init__(self) -> None:
        read_only(self, "index", "pairs", "margin", "position", "beliefs")

    def __len__(self) -> int:
        return len(self.index)

    def _collect_columns(self) -> dict[str, np.ndarray]:
        columns = {"index": self.index, "first": self.pairs[:, 0], "second": self.pairs[:, 1], "margin": self.margin}
        return columns | number_columns("f", self.position)

    def __repr__(self) -> str:
        head = f"Confusing: {len(self)} inputs, the closest call first"
        rows = [
            f"  {i:>8}  {a} {self.beliefs[j].max():.3f} | {b}, margin {m:.3g}"
            for j, (i, (a, b), m) in enumerate(zip(self.index, self.pairs, self.margin, strict=True))
        ]
        return "\n".join([head, *rows[:20], *(["  ..."] if len(rows) > 20 else [])])
