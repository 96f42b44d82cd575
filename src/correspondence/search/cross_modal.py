"""Finding one variable by the other: tags for a photo, photos for a tag, in the space of f and g."""

from __future__ import annotations

from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from correspondence._util import files
from correspondence._util.arguments import (
    check_flag,
    check_weights,
    count_observations,
    to_floats,
)
from correspondence._util.labels import as_labels, label_from_json, label_to_json
from correspondence._util.text import short_repr
from correspondence.core.decomposition import Decomposition, as_decomposition
from correspondence.core.functions import PrincipalFunctions, find_label_shares
from correspondence.results.matches import Matches
from correspondence.search.item_side import ItemSide
from correspondence.search.nearest_items import check_engine

__all__ = ["CrossModalIndex"]

FILE_FORMAT, FILE_VERSION = "correspondence.CrossModalIndex", 1
Items = tuple[Any, np.ndarray, np.ndarray]  # labels, places and priors
RANKING_NAMES = ("posterior", "gaussian", "ratio", "distance")


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
        anything else. (The priors of x follow the same default.)
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
        g = find_places(d.g, Y, "Y")
        f = None if X is None else find_places(d.f, X, "X")
        priors = (
            find_priors(d.g, Y, len(g)) if prior is None else _normalise_weights(check_weights(prior, len(g), "prior"))
        )
        if isinstance(by, str) and by == "auto":
            by = "gaussian" if find_label_shares(d.g) is None else "posterior"
        x = None if f is None else (items_x, f, find_priors(d.f, X, len(f)))
        self._set_sides(d, (items_y, g, priors), x, by, scaled, engine)

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
        members = check_members(has_tag, count_observations(Y, "Y"))
        counts = np.asarray(members.sum(axis=0)).ravel()
        if not counts.all():
            raise ValueError(f"has_tag has {int((counts == 0).sum())} tag(s) that no y has: leave them out.")
        g = (members.T @ find_places(d.g, Y, "Y")) / counts[:, None]
        f = None if X is None else find_places(d.f, X, "X")
        by = "posterior" if by == "auto" else by
        index = cls.__new__(cls)
        x = None if f is None else (items_x, f, find_priors(d.f, X, len(f)))
        index._set_sides(d, (tags, g, counts / members.shape[0]), x, by, scaled, engine, "tags")
        return index

    def _set_sides(
        self, d: Decomposition, y: Items, x: Items | None, by: str, scaled: bool, engine: str, name: str = "items_y"
    ) -> None:
        if not isinstance(by, str) or by not in RANKING_NAMES:
            raise ValueError(f"by must be one of {', '.join(map(repr, RANKING_NAMES))}, got {short_repr(by)}.")
        check_flag(scaled, "scaled")
        check_engine(engine)

        def side(items: Items, name: str) -> ItemSide:
            labels, places, prior = items
            return ItemSide(
                _check_labels(labels, len(places), name), places, prior, d.correlations, by, bool(scaled), engine
            )

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
        index._set_sides(self.decomposition, (self.items_y, self.g, self.prior), x, by, scaled, self._y.engine)
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
        return self._y.find_matches(find_places(self.decomposition.f, x, "x"), k, radius)

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
        return self._x.find_matches(self._locate_tags(tags) if y is None else self._locate_values(y), k, radius)

    def _locate_values(self, y: Any) -> np.ndarray:
        try:
            return find_places(self.decomposition.g, y, "y")
        except (TypeError, ValueError):
            names = [y] if isinstance(y, str) else y if isinstance(y, list | tuple) else []
            known = self.items_y.tolist()
            if names and all(isinstance(name, str | int) and name in known for name in names):
                raise ValueError(
                    f"y: {short_repr(names[0])} is a label of items_y, write tags=[...] to ask by label."
                ) from None
            raise

    def _locate_tags(self, tags: Any) -> np.ndarray:
        wanted = as_labels(tags, "tags").tolist()
        try:
            unknown = [tag for tag in wanted if tag not in self._position]
        except TypeError:
            wanted = []
        if not wanted:
            raise ValueError("tags must be a list of labels among items_y, and not empty.")
        if unknown:
            similar = get_close_matches(str(unknown[0]), map(str, self._position), 1)
            hint = f": do you mean {short_repr(similar[0])}?" if similar else "."
            raise ValueError(f"tags: {short_repr(unknown[0])} is not among items_y{hint}")
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
        state = self.decomposition.state()
        arrays = state.prefix_arrays("decomposition.")
        for name, side in (("y", self._y), ("x", self._x)):
            if side is not None:
                labels = files.encode_json([label_to_json(label) for label in side.labels.tolist()])
                arrays |= {f"{name}.labels": labels, f"{name}.places": side.places, f"{name}.prior": side.prior}
        how = {"by": self.by, "scaled": self.scaled, "decomposition": state.description}
        files.write_safetensors(path, arrays, how, FILE_FORMAT, FILE_VERSION)

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
        arrays, how = files.read_safetensors(path, FILE_FORMAT, FILE_VERSION)
        with files.explain_damage(path):
            d = Decomposition.from_state(
                how["decomposition"], files.strip_prefix(arrays, "decomposition."), x_net, y_net
            )
            y = read_items(arrays, "y", d.n_components)
            x = read_items(arrays, "x", d.n_components) if "x.labels" in arrays else None
            by, scaled = how["by"], how["scaled"]
        index = cls.__new__(cls)
        index._set_sides(d, y, x, by, scaled, engine)
        return index


def read_items(arrays: dict[str, np.ndarray], name: str, d: int) -> Items:
    """Items of one side, as a file has them."""
    labels, places, prior = (arrays[f"{name}.{part}"] for part in ("labels", "places", "prior"))
    if places.shape != (len(prior), d) or prior.ndim != 1 or not np.isfinite(np.column_stack([places, prior])).all():
        raise TypeError("There must be a place, and a prior, for each item.")
    return _decoded(labels), places, prior


def _decoded(array: np.ndarray) -> np.ndarray:
    return as_labels([label_from_json(label) for label in files.decode_json(array)], "labels")


def find_places(functions: Any, values: Any, name: str) -> np.ndarray:
    """Values of principal functions, which must exist and be finite."""
    if not count_observations(values, name):
        raise ValueError(f"{name} is empty: give at least one value.")
    places = functions(values)
    lost = int((~np.isfinite(places).all(axis=1)).sum())
    if lost:
        raise ValueError(
            f"{name} has {lost} value(s) without a place, such as labels that never occurred: leave them out."
        )
    return places


def find_priors(functions: PrincipalFunctions, values: Any, m: int) -> np.ndarray:
    """Probability of each value: that of labels in the fit, equal ones for anything else."""
    shares = find_label_shares(functions)
    if shares is None:
        return np.full(m, 1 / m)
    return np.array([shares[label] for label in as_labels(values, "labels").tolist()])


def _normalise_weights(weights: np.ndarray) -> np.ndarray:
    weights = weights / weights.max()
    return weights / weights.sum()


def _check_labels(items: Any, m: int, name: str) -> np.ndarray:
    labels = np.arange(m) if items is None else as_labels(items, name).copy()
    if len(labels) != m:
        raise ValueError(f"{name} must have a label for each of the {m} values, got {len(labels)}.")
    return labels


def check_members(has_tag: Any, n: int) -> Any:
    """0 or 1 for each y and tag."""
    members = sp.csr_array(has_tag) if sp.issparse(has_tag) else to_floats(has_tag, "has_tag")
    values = members.data if sp.issparse(members) else members
    if members.ndim != 2 or members.shape[0] != n:
        raise ValueError(f"has_tag must have a row for each of the {n} y, got shape {members.shape}.")
    if not np.isin(values, (0, 1)).all():
        raise ValueError("has_tag must be 1 where a y has the tag and 0 elsewhere, such as `counts > 0`.")
    return members.astype(np.float64)
