"""Finding one variable by the other: tags for a photo, photos for a tag, in the space of f and g."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from correspondence._util import files
from correspondence._util.arguments import check_flag
from correspondence._util.html_tables import HtmlTable
from correspondence.core.decomposition import Decomposition, as_decomposition
from correspondence.core.functions import find_label_shares
from correspondence.results.matches import MatchCalibration, Matches
from correspondence.search.calibrating import (
    calibrate_side,
    check_ranking,
    choose_ranking,
    is_auto,
    measure_rankings,
    pack_calibration,
    read_calibration,
    read_held_out,
)
from correspondence.search.items import (
    Claim,
    Items,
    ItemSide,
    find_label_positions,
    find_places,
    number_labels,
    pack_items,
    place_items,
    place_tags,
    read_items,
    refuse_labels,
)
from correspondence.search.nearest_items import check_engine

__all__ = ["CrossModalIndex"]

FILE_FORMAT, FILE_VERSION = "correspondence.CrossModalIndex", 1
SIDES = {"tags": "_y", "items": "_x"}  # where the items are that each search finds


class CrossModalIndex(HtmlTable):
    """An index that finds the values of one variable by those of the other.

    Each item has a place in the space of the principal functions: a tag or another y at g(y), a photo or another x at
    f(x). What belongs together is close there, and Lancaster's formula turns two places into a density ratio. Held-out
    pairs turn that into probabilities, and say which ranking is best.

    Parameters
    ----------
    d : Decomposition or fitted estimator
        Its functions f and g say where items lie.
    items_y : array-like of shape (m,) or None
        The labels of the y that can be found, such as tags; positions if None.
    Y : array-like, frame, ...
        The values of these y, one row for each label, in the form that `fit` takes.
    items_x, X : optional
        The labels and values of the x that can be found, such as names of photos and the photos.
    by : {"auto", "posterior", "gaussian", "ratio", "distance", "cosine"}
        Which items come first. "posterior": the likeliest, p(y | x) = p(y) (1 + sum_i sqrt(lambda_i) f_i(x) g_i(y)),
        and p(x | y) likewise: exact if no component is missing. "gaussian": the likeliest if f and g were jointly
        normal, the sum over all components in closed form (Mehler's formula). "ratio": as "posterior" without p(y), so
        that rare items come first as often as common ones. "distance": the smallest Euclidean distance of f(x) and
        g(y), the paper's. "cosine": the smallest angle between them. "auto" is "posterior" for labels (if Y of the
        fit was one column of them) and tags, which many x share, and "gaussian" for other values, where one is to be
        found (``correspondence reproduce flickr``), unless another one is clearly better on the pairs `held_out`.
    scaled : bool, optional
        Scale f and g by sqrt(lambda) in distances and angles and for `radius`, so that weak components count less. By
        default they are not, unless "auto" finds on `held_out` that a ranking is better so.
    prior : array-like of shape (m,), optional
        How often each y occurs, in any unit. By default labels have their shares in the fit, and anything else equal
        ones. (The priors of x follow the same default.)
    held_out : (X, Y), optional
        Pairs that took part neither in the fit nor in the choice of its settings: the index is calibrated on them
        (`calibrate`), and "auto" takes the ranking that is best for them, the usual one if none is clearly better. A y
        that is not among the items joins them for its query.
    engine : {"auto", "sklearn", "faiss"}
        Search with this library, without approximation; faiss works in single precision, so that of nearly equal items
        another may come first. "auto" takes faiss (if it is installed) for few queries of 100,000 items or more, where
        it is faster, otherwise scikit-learn.

    Attributes
    ----------
    decomposition : Decomposition
        The decomposition with the functions f and g.
    items_y, items_x : ndarray
        The labels of the items; `items_x` is None without `X`.
    g, f : ndarray of shape (m, d)
        The places of the items; `f` is None without `X`.
    prior : ndarray of shape (m,)
        The probabilities of the y; those of `of_tags` do not sum to 1, since a photo has several tags.
    has_tags : bool
        Whether the y are tags, several of which belong to an x.
    calibration : dict of str to MatchCalibration
        What `calibrate` or `held_out` taught, for "tags" and for "items"; empty without them.

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
    Matches for 2 queries: label (score), the best first
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
        scaled: bool | None = None,
        prior: Any = None,
        held_out: Any = None,
        engine: str = "auto",
    ) -> None:
        d = as_decomposition(d)
        if items_x is not None and X is None:
            raise ValueError("X is missing: give the values of items_x.")
        y = place_items(d.g, items_y, Y, "Y", prior)
        x = None if X is None else place_items(d.f, items_x, X, "X")
        usual = "gaussian" if find_label_shares(d.g) is None else "posterior"
        self._set_sides(d, y, x, usual if is_auto(by) else by, scaled, engine)
        if held_out is not None:
            self._learn_from(held_out, by, scaled)

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
        scaled: bool | None = None,
        held_out: Any = None,
        engine: str = "auto",
    ) -> CrossModalIndex:
        """Make an index of tags, several of which a y may have, such as the words of captions.

        A tag lies at the mean of g over the y that have it, and its prior is their share. Then p(tag | x) is the
        paper's conditional expectation of having the tag, `Decomposition.conditional_expectation`.

        Parameters
        ----------
        d : Decomposition or fitted estimator
            Its functions f and g say where items lie.
        tags : array-like of shape (m,)
            The labels of the tags.
        Y : array-like, frame, ... of length n
            Values of y, best those of the training.
        has_tag : array or sparse matrix of shape (n, m)
            1 where a y has the tag, 0 elsewhere.
        items_x, X, by, scaled, held_out, engine
            These are the parameters of the index itself, but `held_out` is (X, has_tag): values of x that took no part
            in the fit, and which tags each has. Then each tag has a probability of its own; an x given a tag has none.

        Returns
        -------
        CrossModalIndex
            The index of the tags.

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
        y = place_tags(d.g, tags, Y, has_tag)
        x = None if X is None else place_items(d.f, items_x, X, "X")
        index = cls.__new__(cls)
        index._set_sides(d, y, x, "posterior" if is_auto(by) else by, scaled, engine, "tags")
        return index if held_out is None else index._learn_from(held_out, by, scaled)

    def _set_sides(
        self, d: Decomposition, y: Items, x: Items | None, by: str, scaled: Any, engine: str, name: str = "items_y"
    ) -> None:
        check_ranking(by)
        scaled = scaled is not None and check_flag(scaled, "scaled")
        how = {"correlations": d.correlations, "by": by, "scaled": scaled, "engine": check_engine(engine)}
        self.decomposition, self.has_tags = d, name == "tags"
        self._y = ItemSide.from_items(y, name, **how)
        self._x = None if x is None else ItemSide.from_items(x, "items_x", **how)
        self._calibration: dict[str, MatchCalibration] = {}

    def ranked(self, by: str, scaled: bool = False) -> CrossModalIndex:
        """Return an index of the same items in the same places, ranked in another way and not calibrated.

        Parameters
        ----------
        by : {"posterior", "gaussian", "ratio", "distance", "cosine"}
            Rank items in this way, as the index itself does.
        scaled : bool
            Scale f and g by sqrt(lambda) in distances and angles.

        Returns
        -------
        CrossModalIndex
            The new index.
        """
        how: dict[str, Any] = {"by": check_ranking(by), "scaled": check_flag(scaled, "scaled"), "claim": None}
        index = copy(self)
        index._y, index._x = replace(self._y, **how), None if self._x is None else replace(self._x, **how)
        index._calibration = {}
        return index

    # --- probabilities

    def calibrate(self, X: Any, Y: Any, by: str | None = None) -> CrossModalIndex:
        """Return an index of the same items whose matches have probabilities, learned on held-out pairs.

        One number, the inverse of a temperature, multiplies the logarithms of the scores, so that the first item found
        is right as often as claimed (the largest likelihood). It changes no ranking. Each tag of `of_tags` has a
        probability of its own, from a line in the log odds.

        Parameters
        ----------
        X, Y : array-like, frame, ...
            Held-out pairs, at least 20, in the form that `fit` takes; for `of_tags` Y says which tags each x has. A y
            that is not among the items joins them for its query.
        by : str, optional
            Rank in this way; by default as this index does. "auto" takes the ranking that is best on these pairs.

        Returns
        -------
        CrossModalIndex
            The new index; its `calibration` says what was learned.

        Examples
        --------
        >>> import numpy as np
        >>> import correspondence as co
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(900, 5)); Y = X + 0.5 * rng.normal(size=(900, 5))
        >>> cca = co.CCA(n_components=5).fit(X[:100], Y[:100])
        >>> index = co.CrossModalIndex(cca, None, Y[500:]).calibrate(X[100:500], Y[100:500])
        >>> found = index.tags(X[500:], k=1)
        >>> is_right = found.index[:, 0] == np.arange(400)
        >>> bool(abs(found.probabilities.mean() - is_right.mean()) < 0.05)
        True
        """
        index = self.ranked(self.by if by is None or is_auto(by) else by, self.scaled)
        return index._learn_from((X, Y), by)

    def _learn_from(self, held_out: Any, by: str | None, scaled: bool | None = None) -> CrossModalIndex:
        """Calibrate both sides on held-out pairs, with the best ranking for them if it is open."""
        sides = {"tags": self._y} if self._x is None or self.has_tags else {"tags": self._y, "items": self._x}
        held = read_held_out(held_out, self.decomposition, sides, self.has_tags)
        rankings = measure_rankings(sides, held)
        if is_auto(by):
            best = choose_ranking(rankings, (self.by, self.scaled), may_scale=scaled is None)
            sides = {name: replace(side, by=best[0], scaled=best[1]) for name, side in sides.items()}
            self._x = None if self._x is None else replace(self._x, by=best[0], scaled=best[1])
        self._y, self._x = sides["tags"], sides.get("items", self._x)
        return self._set_calibration({name: calibrate_side(side, held[name], rankings) for name, side in sides.items()})

    def _set_calibration(self, calibration: dict[str, MatchCalibration]) -> CrossModalIndex:
        self._calibration = calibration
        for name, learned in calibration.items():
            claim = Claim(learned.slope, learned.intercept, self.has_tags)
            setattr(self, SIDES[name], replace(getattr(self, SIDES[name]), claim=claim))
        return self

    @property
    def calibration(self) -> dict[str, MatchCalibration]:
        """What was learned on held-out pairs, for "tags" and for "items"; empty if nothing was."""
        return dict(self._calibration)

    # --- searching

    def tags(self, x: Any, k: int | None = None, radius: float | None = None) -> Matches:
        """Find the y of the index that belong to each x.

        Parameters
        ----------
        x : array-like, frame, ...
            Queries, one row each, in the form that `fit` takes.
        k : int, optional
            Find at most this many for each query: by default 5, or with `radius` all.
        radius : float, optional
            Find only those at most so far away from f(x): the paper's tau.

        Returns
        -------
        Matches
            What was found for each query, the best first.
        """
        return self._y.find_matches(find_places(self.decomposition.f, x, "x"), k, radius)

    def items(self, y: Any = None, k: int | None = None, radius: float | None = None, *, tags: Any = None) -> Matches:
        """Find the x of the index that belong to each y.

        Parameters
        ----------
        y : array-like, frame, ...
            Queries, one row each, in the form that `fit` takes.
        k : int, optional
            Find at most this many for each query: by default 5, or with `radius` all.
        radius : float, optional
            Find only those at most so far away from g(y): the paper's tau.
        tags : array-like, optional
            Query by these labels, which must be among `items_y`, instead of y.

        Returns
        -------
        Matches
            What was found for each query, the best first.
        """
        if self._x is None:
            raise ValueError("This index has no x to find: make it with items_x and X.")
        if (y is None) == (tags is None):
            raise ValueError("Give either y or tags: values of y, or labels among items_y.")
        places = self.g[find_label_positions(tags, self._position)] if y is None else self._locate_values(y)
        return self._x.find_matches(places, k, radius)

    def _locate_values(self, y: Any) -> np.ndarray:
        try:
            return find_places(self.decomposition.g, y, "y")
        except (TypeError, ValueError):
            refuse_labels(y, self.items_y)
            raise

    @cached_property
    def _position(self) -> dict[Any, int]:
        return number_labels(self.items_y)

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
        """The way in which items are ranked."""
        return self._y.by

    @property
    def scaled(self) -> bool:
        """Whether f and g are scaled by sqrt(lambda) in distances."""
        return self._y.scaled

    def _collect_columns(self) -> dict[str, np.ndarray]:
        return {"item_y": self.items_y, "prior": self.prior}

    def __repr__(self) -> str:
        x = "" if self._x is None else f" and {len(self._x.labels)} x"
        x += f", {self.decomposition.n_components} components, by {self.by!r}" + ", scaled" * self.scaled
        return f"CrossModalIndex of {len(self.items_y)} y{x}" + ", calibrated" * bool(self._calibration)

    def save(self, path: str | Path) -> None:
        """Write functions and items to one file, without pickle; `load` reads it back.

        Parameters
        ----------
        path : str or Path
            The file; an old one is replaced only once the new one is complete.
        """
        state = self.decomposition.state()
        arrays = state.prefix_arrays("decomposition.")
        for name, side in (("y", self._y), ("x", self._x)):
            if side is not None:
                arrays |= pack_items((side.labels, side.places, side.prior), name)
        how = {"by": self.by, "scaled": self.scaled, "decomposition": state.description}
        if self.has_tags or self._calibration:  # an index without these is written as before
            how |= {"tags": self.has_tags, "calibration": pack_calibration(self._calibration)}
        files.write_safetensors(path, arrays, how, FILE_FORMAT, FILE_VERSION)

    @classmethod
    def load(cls, path: str | Path, x_net: Any = None, y_net: Any = None, engine: str = "auto") -> CrossModalIndex:
        """Read an index that `save` wrote.

        Parameters
        ----------
        path : str or Path
            The file.
        x_net, y_net : torch.nn.Module, optional
            Your own nets, if the model was fitted with them; their weights are read from the file.
        engine : {"auto", "sklearn", "faiss"}
            Search with this library.

        Returns
        -------
        CrossModalIndex
            The index.
        """
        arrays, how = files.read_safetensors(path, FILE_FORMAT, FILE_VERSION)
        with files.explain_damage(path):
            d = Decomposition.from_state(
                how["decomposition"], files.strip_prefix(arrays, "decomposition."), x_net, y_net
            )
            y = read_items(arrays, "y", d.n_components)
            x = read_items(arrays, "x", d.n_components) if "x.labels" in arrays else None
            by, scaled, has_tags = how["by"], how["scaled"], bool(how.get("tags", False))
            calibration = read_calibration(how.get("calibration", {}), has_items=x is not None)
        index = cls.__new__(cls)
        index._set_sides(d, y, x, by, scaled, engine, "tags" if has_tags else "items_y")
        return index._set_calibration(calibration)
