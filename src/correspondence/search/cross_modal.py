"""Finding one variable by the other: tags for a photo, photos for a tag, in the space of f and g."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import softmax

from correspondence._util import files
from correspondence._util.arguments import (
    check_flag,
    check_weights,
    check_whole,
    is_number,
    length,
    read_only,
    to_floats,
)
from correspondence._util.labels import as_labels, label_from_json, label_to_json, objects
from correspondence._util.text import brief
from correspondence.core.decomposition import Decomposition, as_decomposition
from correspondence.core.functions import LabelFunctions, PrincipalFunctions
from correspondence.data.encoders import Category, Columns
from correspondence.data.table import Backend, to_frame
from correspondence.search.nearest_items import Scores, check_engine, within

__all__ = ["CrossModalIndex", "Matches", "label_shares"]

FORMAT, VERSION = "correspondence.CrossModalIndex", 1
BLOCK, FEW = 4096, 16  # queries at a time
Items = tuple[Any, np.ndarray, np.ndarray]  # labels, places and priors
RANKINGS = ("posterior", "gaussian", "ratio", "distance")
LIMIT = 0.995  # of correlations in the Gaussian ratio, which has no density at 1


@dataclass(frozen=True, eq=False, repr=False)
class Matches:
    """What an index found for each query, the best first.

    Found by `k`, all attributes are arrays of shape (n, k). Found by `radius`, they are arrays of n arrays, each as
    long as there are items within it, as in scikit-learn.

    Attributes
    ----------
    labels : ndarray
        Of the items found.
    index : ndarray
        Their positions in the index.
    distances : ndarray
        Of f(x) and g(y).
    ratios : ndarray
        Density ratios p(x, y) / (p(x) p(y)): how many times likelier than by chance the two go together (by Mehler's
        formula if the index ranks by it, otherwise by Lancaster's).
    probabilities : ndarray
        Of the item given the query. By "gaussian" those of all items of the index sum to 1; otherwise they are prior
        times ratio, held between 0 and 1. Of an x for a y they are therefore small in a large index.

    Examples
    --------
    >>> import correspondence as co
    >>> ca = co.CA().fit(co.datasets.load_housetasks())
    >>> who = ca.columns_.labels
    >>> found = co.CrossModalIndex(ca, who, who).tags(["Laundry", "Repairs"], k=2)
    >>> found
    Matches for 2 queries: label (probability), the best first
      0: Wife (0.886), Alternating (0.0795)
      1: Husband (0.97), Alternating (0.0182)
    >>> found.ratios[:, 0].round(1)                 # times likelier than by chance
    array([2.6, 4.4])
    """

    labels: np.ndarray
    index: np.ndarray
    distances: np.ndarray
    ratios: np.ndarray
    _find_probabilities: Callable[[], np.ndarray]

    def __post_init__(self) -> None:
        read_only(self, "labels", "index", "distances", "ratios")

    @cached_property
    def probabilities(self) -> np.ndarray:  # noqa: D102 (above); found when asked for: all items of the index take part
        return self._find_probabilities()

    def __len__(self) -> int:
        return len(self.labels)

    def to_frame(self, backend: Backend | None = None) -> Any:
        """Data frame with a row for each match: query, rank (from 1), label, index, distance, ratio, probability.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            Which library; one that is installed by default.

        Returns
        -------
        frame
            As many rows as matches.
        """
        counts = [len(found) for found in self.index]
        columns = {
            "query": np.repeat(np.arange(len(self)), counts),
            "rank": np.concatenate([np.arange(1, count + 1) for count in counts] or [np.empty(0, int)]),
        }
        names = {"label": "labels", "index": "index", "distance": "distances", "ratio": "ratios"}
        for column, name in (names | {"probability": "probabilities"}).items():
            columns[column] = np.concatenate([*getattr(self, name)] or [np.empty(0)])
        return to_frame(columns, backend)

    def __repr__(self) -> str:
        lines = [f"Matches for {len(self)} quer{'y' if len(self) == 1 else 'ies'}: label (probability), the best first"]
        for i, (labels, values) in enumerate(zip(self.labels[:10], self.probabilities, strict=False)):
            shown = [f"{label} ({value:.3g})" for label, value in zip(labels[:5], values, strict=False)]
            lines.append(f"  {i}: {', '.join(shown) or 'none'}{', ...' if len(labels) > 5 else ''}")
        return "\n".join([*lines, *(["  ..."] if len(self) > 10 else [])])


@dataclass(frozen=True, eq=False)
class _Side:
    """The items of one variable, and how they are ranked."""

    labels: np.ndarray
    places: np.ndarray
    prior: np.ndarray
    correlations: np.ndarray
    by: str
    scaled: bool
    engine: str

    def __post_init__(self) -> None:
        read_only(self, "labels", "places", "prior")

    def find(self, queries: np.ndarray, k: int | None, radius: float | None) -> Matches:
        """Items that belong to places of the other side."""
        if k is not None:
            check_whole(k, "k", 1)
        if radius is None:
            blocks = [self._nearest(queries[i : i + BLOCK], k or 5) for i in range(0, len(queries), BLOCK)]
            return self._matches(queries, *(np.vstack(column) for column in zip(*blocks, strict=True)))
        if not is_number(radius) or radius < 0:
            raise ValueError(f"radius must be a number of at least 0, got {brief(radius)}.")
        inside = within(self._in_space(self.places), self._in_space(queries), radius)
        each = [self._matched(q[None], self._ordered(q[None], i)[:, :k]) for q, i in zip(queries, inside, strict=True)]
        return self._matches(queries, *(objects([found[j][0] for found in each]) for j in range(4)))

    def _matches(
        self, queries: np.ndarray, labels: np.ndarray, index: np.ndarray, distances: np.ndarray, ratios: np.ndarray
    ) -> Matches:
        return Matches(labels, index, distances, ratios, partial(self._probabilities, queries, index, ratios))

    def _nearest(self, queries: np.ndarray, k: int) -> tuple[np.ndarray, ...]:
        return self._matched(queries, self._scores.best(self._asked(queries), min(k, len(self.labels))))

    def _matched(self, queries: np.ndarray, index: np.ndarray) -> tuple[np.ndarray, ...]:
        """Labels, index, distances and ratios of items chosen for each query, all of shape (n, k)."""
        places = self.places[index]
        distances = np.linalg.norm(self._in_space(queries)[:, None] - self._in_space(places), axis=2)
        return self.labels[index], index, distances, self._ratios(queries, places)

    def _probabilities(self, queries: np.ndarray, index: np.ndarray, ratios: np.ndarray) -> np.ndarray:
        """Probabilities of the items chosen, as an array of arrays if `index` is one."""
        if self.by == "gaussian":
            return self._among_all(queries, index)
        if index.dtype != object:
            return np.clip(self.prior[index] * ratios, 0, 1)
        return objects([np.clip(self.prior[i] * r, 0, 1) for i, r in zip(index, ratios, strict=True)])

    def _among_all(self, queries: np.ndarray, index: np.ndarray) -> np.ndarray:
        """Probabilities that sum to 1 over all items."""
        found = []
        for start in range(0, len(queries), FEW):  # all items take part: a few queries at a time
            scores = queries[start : start + FEW] @ self._scores.positions.T + self._scores.offsets
            shares = softmax(scores, axis=1)
            found += [share[i] for share, i in zip(shares, index[start : start + FEW], strict=True)]
        return objects(found) if index.dtype == object else np.array(found)

    def _ratios(self, queries: np.ndarray, places: np.ndarray) -> np.ndarray:
        """Density ratios, of Gaussian functions if items are ranked by these, otherwise by Lancaster's formula."""
        if self.by != "gaussian":
            return 1 + np.einsum("nd,nkd->nk", queries * self.correlations, places)
        s, precision = _gaussian(self.correlations)
        products = np.einsum("nd,nkd->nk", queries * (s * precision), places)
        squares = (queries**2)[:, None] @ (s**2 * precision) + places**2 @ (s**2 * precision)
        return np.exp(np.minimum(products - squares / 2 + np.log(precision).sum() / 2, 700))

    def _ordered(self, query: np.ndarray, index: np.ndarray) -> np.ndarray:
        """Chosen items of one query, the best first."""
        index = np.sort(index)[None]
        return np.take_along_axis(index, np.argsort(-self._scores.of(self._asked(query), index), kind="stable"), axis=1)

    @cached_property
    def _scores(self) -> Scores:
        if self.by == "distance":
            places = self._in_space(self.places)
            return Scores(places, -0.5 * (places**2).sum(axis=1), self.engine)
        if self.by == "gaussian":
            s, precision = _gaussian(self.correlations)
            offsets = np.log(np.maximum(self.prior, 1e-300)) - self.places**2 @ (s**2 * precision) / 2
            return Scores(self.places * (s * precision), offsets, self.engine)
        weights = self.prior if self.by == "posterior" else np.ones(len(self.places))
        return Scores(weights[:, None] * self.places * self.correlations, weights, self.engine)

    def _asked(self, queries: np.ndarray) -> np.ndarray:
        return self._in_space(queries) if self.by == "distance" else queries

    def _in_space(self, places: np.ndarray) -> np.ndarray:
        """Places in the space in which distances are taken."""
        return places * self.correlations if self.scaled else places


def _gaussian(correlations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Correlations s, held below 1, and 1 / (1 - s^2): what Mehler's formula for the density ratio is made of."""
    s = np.minimum(correlations, LIMIT)
    return s, 1 / (1 - s**2)


class CrossModalIndex:
    """Search of the values of one variable by those of the other.

    Each item has a place in the space of the principal functions: a tag or another y at g(y), a photo or another x at
    f(x). What belongs together is close there, and Lancaster's formula turns two places into a probability.

    Parameters
    ----------
    d : Decomposition or fitted estimator
        With the functions f and g.
    items_y : array-like of shape (m,) or None
        Labels of the y that can be found, such as tags; positions if None.
    Y : array-like, frame, ...
        Their values, one row for each label, as for `fit`.
    items_x, X : optional
        The same of the x that can be found, such as names of photos and the photos.
    by : {"auto", "posterior", "gaussian", "ratio", "distance"}
        Which items come first. "posterior": the likeliest, p(y | x) = p(y) (1 + sum_i sqrt(lambda_i) f_i(x) g_i(y)),
        and p(x | y) likewise: exact if no component is missing. "gaussian": the likeliest if f and g were jointly
        normal, the sum over all components in closed form (Mehler's formula). "ratio": as "posterior" without p(y), so
        that rare items come first as often as common ones. "distance": the smallest Euclidean distance of f(x) and
        g(y), the paper's. "auto" is "posterior" for labels (if Y of the fit was one column of them) and tags, which
        many x share, and "gaussian" for other values, of which one is to be found: what ranks best on held-out data
        (``correspondence reproduce flickr``).
    scaled : bool
        Scale f and g by sqrt(lambda) in distances and for `radius`, so that weak components count less.
    prior : array-like of shape (m,), optional
        How often each y occurs; made to sum to 1. By default the share of labels in the fit, and equal ones for
        anything else. (Those of x are by default, too.)
    engine : {"auto", "sklearn", "faiss"}
        What searches, without approximation; faiss in single precision, so that of nearly equal items another may come
        first. "auto" takes faiss (if it is installed) for few queries of 100,000 items or more, where it is faster,
        otherwise scikit-learn.

    Attributes
    ----------
    decomposition : Decomposition
        With the functions f and g.
    items_y, items_x : ndarray
        Labels; `items_x` is None without them.
    g, f : ndarray of shape (m, d)
        Places of the items; `f` is None without `X`.
    prior : ndarray of shape (m,)
        Probabilities of the y; of an index made by `of_tags` they do not sum to 1, since a photo has several tags.

    See Also
    --------
    CrossModalIndex.of_tags : For tags that come several at a time.

    Examples
    --------
    >>> import correspondence as co
    >>> ca = co.CA().fit(co.datasets.load_housetasks())
    >>> who = ["Wife", "Alternating", "Husband", "Jointly"]
    >>> index = co.CrossModalIndex(ca, who, who, ["Laundry", "Repairs"], ["Laundry", "Repairs"])
    >>> index.tags(["Laundry", "Driving"], k=2)
    Matches for 2 queries: label (probability), the best first
      0: Wife (0.886), Alternating (0.0795)
      1: Husband (0.54), Alternating (0.367)
    >>> index.items(["Husband"], k=1).labels
    array([['Repairs']], dtype=object)
    """

    def __init__(
        self,
        d: Decomposition | Any,
        items_y: Any,
        Y: Any,
        items_x: Any = None,
        X: Any = None,
        *,
        by: str = "auto",
        scaled: bool = False,
        prior: Any = None,
        engine: str = "auto",
    ) -> None:
        d = as_decomposition(d)
        if items_x is not None and X is None:
            raise ValueError("X is missing: give the values of items_x.")
        g = _places(d.g, Y, "Y")
        f = None if X is None else _places(d.f, X, "X")
        priors = _priors(d.g, Y, len(g)) if prior is None else _normed(check_weights(prior, len(g), "prior"))
        if isinstance(by, str) and by == "auto":
            by = "gaussian" if label_shares(d.g) is None else "posterior"
        x = None if f is None else (items_x, f, _priors(d.f, X, len(f)))
        self._set(d, (items_y, g, priors), x, by, scaled, engine)

    @classmethod
    def of_tags(
        cls,
        d: Decomposition | Any,
        tags: Any,
        Y: Any,
        has_tag: Any,
        items_x: Any = None,
        X: Any = None,
        *,
        by: str = "auto",
        scaled: bool = False,
        engine: str = "auto",
    ) -> CrossModalIndex:
        """Index of tags of which each y has several, such as the words of captions.

        A tag lies at the mean of g over the y that have it, and its prior is their share. Then p(tag | x) is the
        paper's conditional expectation of having the tag, `Decomposition.conditional_expectation`.

        Parameters
        ----------
        d : Decomposition or fitted estimator
            With the functions f and g.
        tags : array-like of shape (m,)
            Labels of the tags.
        Y : array-like, frame, ... of length n
            Values of y, best those of the training.
        has_tag : array or sparse matrix of shape (n, m)
            1 where a y has the tag, 0 elsewhere.
        items_x, X, by, scaled, engine
            As for the index itself.

        Returns
        -------
        CrossModalIndex

        Examples
        --------
        >>> import numpy as np
        >>> import correspondence as co
        >>> rng = np.random.default_rng(0)
        >>> is_wet, is_cold = rng.random((2, 500)) < 0.5
        >>> X = np.column_stack([is_wet, is_cold]) + 0.3 * rng.normal(size=(500, 2))
        >>> Y = np.column_stack([is_wet, is_cold, rng.random(500) < 0.5]).astype(float)
        >>> index = co.CrossModalIndex.of_tags(co.CCA().fit(X, Y), ["rain", "snow", "car"], Y, Y)
        >>> index.tags([[1, 0]], k=1).labels
        array([['rain']], dtype=object)
        """
        d = as_decomposition(d)
        members = _members(has_tag, length(Y, "Y"))
        counts = np.asarray(members.sum(axis=0)).ravel()
        if not counts.all():
            raise ValueError(f"has_tag has {int((counts == 0).sum())} tag(s) that no y has: leave them out.")
        g = (members.T @ _places(d.g, Y, "Y")) / counts[:, None]
        f = None if X is None else _places(d.f, X, "X")
        by = "posterior" if by == "auto" else by
        index = cls.__new__(cls)
        x = None if f is None else (items_x, f, _priors(d.f, X, len(f)))
        index._set(d, (tags, g, counts / members.shape[0]), x, by, scaled, engine, "tags")
        return index

    def _set(
        self, d: Decomposition, y: Items, x: Items | None, by: str, scaled: bool, engine: str, name: str = "items_y"
    ) -> None:
        if not isinstance(by, str) or by not in RANKINGS:
            raise ValueError(f"by must be one of {', '.join(map(repr, RANKINGS))}, got {brief(by)}.")
        check_flag(scaled, "scaled")
        check_engine(engine)

        def side(items: Items, name: str) -> _Side:
            labels, places, prior = items
            return _Side(_labels(labels, len(places), name), places, prior, d.correlations, by, bool(scaled), engine)

        self.decomposition = d
        self._y, self._x = side(y, name), None if x is None else side(x, "items_x")

    def ranked(self, by: str, scaled: bool = False) -> CrossModalIndex:
        """The same items in the same places, ranked in another way.

        Parameters
        ----------
        by : {"posterior", "gaussian", "ratio", "distance"}
            Which items come first.
        scaled : bool
            Scale f and g by sqrt(lambda) in distances.

        Returns
        -------
        CrossModalIndex
        """
        index = type(self).__new__(type(self))
        x = None if self._x is None else (self._x.labels, self._x.places, self._x.prior)
        index._set(self.decomposition, (self.items_y, self.g, self.prior), x, by, scaled, self._y.engine)
        return index

    # --- searching

    def tags(self, x: Any, k: int | None = None, radius: float | None = None) -> Matches:
        """Find the y of the index that belong to each x.

        Parameters
        ----------
        x : array-like, frame, ...
            Queries, one row each, as for `fit`.
        k : int, optional
            How many at most; 5 unless told otherwise, and all with `radius`.
        radius : float, optional
            Only those at most so far away from f(x): the paper's tau.

        Returns
        -------
        Matches
        """
        return self._y.find(_places(self.decomposition.f, x, "x"), k, radius)

    def items(self, y: Any = None, k: int | None = None, radius: float | None = None, *, tags: Any = None) -> Matches:
        """Find the x of the index that belong to each y.

        Parameters
        ----------
        y : array-like, frame, ...
            Queries, one row each, as for `fit`.
        k : int, optional
            How many at most; 5 unless told otherwise, and all with `radius`.
        radius : float, optional
            Only those at most so far away from g(y): the paper's tau.
        tags : array-like, optional
            Labels among `items_y`, instead of y.

        Returns
        -------
        Matches
        """
        if self._x is None:
            raise ValueError("This index has no x to find: make it with items_x and X.")
        if (y is None) == (tags is None):
            raise ValueError("Give either y or tags: values of y, or labels among items_y.")
        return self._x.find(self._places_of(tags) if y is None else self._places_at(y), k, radius)

    def _places_at(self, y: Any) -> np.ndarray:
        try:
            return _places(self.decomposition.g, y, "y")
        except (TypeError, ValueError):
            names = [y] if isinstance(y, str) else y if isinstance(y, list | tuple) else []
            known = self.items_y.tolist()
            if names and all(isinstance(name, str | int) and name in known for name in names):
                raise ValueError(
                    f"y: {brief(names[0])} is a label of items_y, write tags=[...] to ask by label."
                ) from None
            raise

    def _places_of(self, tags: Any) -> np.ndarray:
        wanted = as_labels(tags, "tags").tolist()
        try:
            unknown = [tag for tag in wanted if tag not in self._position]
        except TypeError:
            wanted = []
        if not wanted:
            raise ValueError("tags must be a list of labels among items_y, and not empty.")
        if unknown:
            similar = get_close_matches(str(unknown[0]), map(str, self._position), 1)
            hint = f": do you mean {brief(similar[0])}?" if similar else "."
            raise ValueError(f"tags: {brief(unknown[0])} is not among items_y{hint}")
        return self.g[[self._position[tag] for tag in wanted]]

    @cached_property
    def _position(self) -> dict[Any, int]:
        labels = self.items_y.tolist()
        position = {label: i for i, label in enumerate(labels)}
        if len(position) < len(labels):
            raise ValueError("tags cannot be looked up, since items_y has some labels more than once: give y.")
        return position

    # --- what it holds

    @property
    def items_y(self) -> np.ndarray:
        """Labels of the y."""
        return self._y.labels

    @property
    def items_x(self) -> np.ndarray | None:
        """Labels of the x, if there are any."""
        return None if self._x is None else self._x.labels

    @property
    def g(self) -> np.ndarray:
        """Places of the y."""
        return self._y.places

    @property
    def f(self) -> np.ndarray | None:
        """Places of the x, if there are any."""
        return None if self._x is None else self._x.places

    @property
    def prior(self) -> np.ndarray:
        """Probabilities of the y."""
        return self._y.prior

    @property
    def by(self) -> str:
        """How items are ranked."""
        return self._y.by

    @property
    def scaled(self) -> bool:
        """Whether f and g are scaled by sqrt(lambda) in distances."""
        return self._y.scaled

    def __repr__(self) -> str:
        x = "" if self._x is None else f" and {len(self._x.labels)} x"
        space = f"{self.decomposition.n_components} components"
        return f"CrossModalIndex of {len(self.items_y)} y{x}, {space}, by {self.by!r}"

    # --- files

    def save(self, path: str | Path) -> None:
        """Write functions and items to one file, without pickle; `load` reads it back.

        Parameters
        ----------
        path : str or Path
            Replaced if it exists, and only once the new file is complete.
        """
        description, state = self.decomposition.state()
        arrays = {f"decomposition.{name}": value for name, value in state.items()}
        for name, side in (("y", self._y), ("x", self._x)):
            if side is not None:
                labels = files.encode([label_to_json(label) for label in side.labels.tolist()])
                arrays |= {f"{name}.labels": labels, f"{name}.places": side.places, f"{name}.prior": side.prior}
        how = {"by": self.by, "scaled": self.scaled, "decomposition": description}
        files.write(path, arrays, how, FORMAT, VERSION)

    @classmethod
    def load(cls, path: str | Path, x_net: Any = None, y_net: Any = None, engine: str = "auto") -> CrossModalIndex:
        """Read an index that `save` wrote.

        Parameters
        ----------
        path : str or Path
            The file.
        x_net, y_net : torch.nn.Module, optional
            Nets of your own that the model was fitted with; their weights are read from the file.
        engine : {"auto", "sklearn", "faiss"}
            What searches.

        Returns
        -------
        CrossModalIndex
        """
        arrays, how = files.read(path, FORMAT, VERSION)
        with files.restoring(path):
            d = Decomposition.from_state(how["decomposition"], files.below(arrays, "decomposition."), x_net, y_net)
            y = _items(arrays, "y", d.n_components)
            x = _items(arrays, "x", d.n_components) if "x.labels" in arrays else None
            by, scaled = how["by"], how["scaled"]
        index = cls.__new__(cls)
        index._set(d, y, x, by, scaled, engine)
        return index


def _items(arrays: dict[str, np.ndarray], name: str, d: int) -> Items:
    """Items of one side, as a file has them."""
    labels, places, prior = (arrays[f"{name}.{part}"] for part in ("labels", "places", "prior"))
    if places.shape != (len(prior), d) or prior.ndim != 1 or not np.isfinite(np.column_stack([places, prior])).all():
        raise TypeError("There must be a place, and a prior, for each item.")
    return _decoded(labels), places, prior


def _decoded(array: np.ndarray) -> np.ndarray:
    return as_labels([label_from_json(label) for label in files.decode(array)], "labels")


def _places(functions: Any, values: Any, name: str) -> np.ndarray:
    """Values of principal functions, which must exist and be finite."""
    if not length(values, name):
        raise ValueError(f"{name} is empty: give at least one value.")
    places = functions(values)
    lost = int((~np.isfinite(places).all(axis=1)).sum())
    if lost:
        raise ValueError(
            f"{name} has {lost} value(s) without a place, such as labels that never occurred: leave them out."
        )
    return places


def _priors(functions: PrincipalFunctions, values: Any, m: int) -> np.ndarray:
    """Probability of each value: that of labels in the fit, equal ones for anything else."""
    shares = label_shares(functions)
    if shares is None:
        return np.full(m, 1 / m)
    return np.array([shares[label] for label in as_labels(values, "labels").tolist()])


def _normed(weights: np.ndarray) -> np.ndarray:
    weights = weights / weights.max()
    return weights / weights.sum()


def label_shares(functions: PrincipalFunctions) -> dict[Any, float] | None:
    """Share of each label in the fit, if the variable is one column of labels."""
    if isinstance(functions, LabelFunctions):
        return dict(zip(functions.labels.tolist(), functions.mass.tolist(), strict=True))
    encoder = getattr(getattr(functions, "features", None), "encoder", None)
    columns = list(encoder.columns.values()) if isinstance(encoder, Columns) else []
    if len(columns) != 1 or not isinstance(columns[0], Category):
        return None
    return dict(zip(columns[0].labels, columns[0].shares, strict=True))


def _labels(items: Any, m: int, name: str) -> np.ndarray:
    labels = np.arange(m) if items is None else as_labels(items, name).copy()
    if len(labels) != m:
        raise ValueError(f"{name} must have a label for each of the {m} values, got {len(labels)}.")
    return labels


def _members(has_tag: Any, n: int) -> Any:
    """0 or 1 for each y and tag."""
    members = sp.csr_array(has_tag) if sp.issparse(has_tag) else to_floats(has_tag, "has_tag")
    values = members.data if sp.issparse(members) else members
    if members.ndim != 2 or members.shape[0] != n:
        raise ValueError(f"has_tag must have a row for each of the {n} y, got shape {members.shape}.")
    if not np.isin(values, (0, 1)).all():
        raise ValueError("has_tag must be 1 where a y has the tag and 0 elsewhere, such as `counts > 0`.")
    return members.astype(np.float64)
