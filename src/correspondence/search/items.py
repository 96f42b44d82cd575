"""The items of an index, on either side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property, partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import expit, log_softmax, logit, softmax

from correspondence._util import files
from correspondence._util.arguments import (
    check_weights,
    check_whole,
    count_observations,
    is_number,
    read_only,
    to_floats,
)
from correspondence._util.labels import as_labels, label_from_json, label_to_json, to_object_array
from correspondence._util.text import short_repr
from correspondence.core.functions import PrincipalFunctions, find_label_shares
from correspondence.results.matches import Matches
from correspondence.search.nearest_items import ItemScores, find_within_radius

__all__ = [
    "Claim",
    "ItemSide",
    "Items",
    "check_labels",
    "check_members",
    "find_label_positions",
    "find_places",
    "number_labels",
    "pack_items",
    "place_items",
    "place_tags",
    "read_items",
    "refuse_labels",
]

Items = tuple[Any, np.ndarray, np.ndarray]  # labels, places and priors


def place_items(functions: PrincipalFunctions, labels: Any, values: Any, name: str, prior: Any = None) -> Items:
    """Find the places of values, and their priors: those given, shares of labels in the fit, or equal ones."""
    places = find_places(functions, values, name)
    m = len(places)
    if prior is not None:
        weights = check_weights(prior, m, "prior")
        weights = weights / weights.max()  # the sum of very large ones would overflow
        return labels, places, weights / weights.sum()
    shares = find_label_shares(functions)
    if shares is None:
        return labels, places, np.full(m, 1 / m)
    return labels, places, np.array([shares[label] for label in as_labels(values, "labels").tolist()])


def place_tags(functions: PrincipalFunctions, tags: Any, Y: Any, has_tag: Any) -> Items:
    """Find the places of tags, at the mean of g over the y that have them, and the shares of these y."""
    n = count_observations(Y, "Y")
    members = check_members(has_tag, n, "has_tag")
    counts = np.asarray(members.sum(axis=0)).ravel()
    if not counts.all():
        raise ValueError(f"has_tag has {int((counts == 0).sum())} tag(s) that no y has: leave them out.")
    # E[g_i(Y) | tag] = sum over the y that have the tag / their number
    return tags, (members.T @ find_places(functions, Y, "Y")) / counts[:, None], counts / n


def check_members(has_tag: Any, n: int, name: str) -> Any:
    """Return an array or CSR array of n rows that says which tags (columns) each has, by 1 and 0."""
    members = sp.csr_array(has_tag) if sp.issparse(has_tag) else to_floats(has_tag, name)
    values = members.data if sp.issparse(members) else members
    if members.ndim != 2 or members.shape[0] != n:
        raise ValueError(f"{name} must have a row for each of the {n} y, got shape {members.shape}.")
    if not np.isin(values, (0, 1)).all():
        raise ValueError(f"{name} must be 1 where a y has the tag and 0 elsewhere, such as `counts > 0`.")
    return members.astype(np.float64)


def find_places(functions: PrincipalFunctions, values: Any, name: str) -> np.ndarray:
    """Evaluate principal functions at values, all of which must have a place."""
    if not count_observations(values, name):
        raise ValueError(f"{name} is empty: give at least one value.")
    if functions.needs_given:
        raise ValueError("d must be fitted without given variables for an index: places of items would depend on them.")
    places = functions(values)
    lost = int((~np.isfinite(places).all(axis=1)).sum())
    if lost:
        raise ValueError(
            f"{name} has {lost} value(s) without a place, such as labels that never occurred: leave them out."
        )
    return places


def check_labels(labels: Any, m: int, name: str) -> np.ndarray:
    """Return a label for each item; positions by default."""
    checked = np.arange(m) if labels is None else as_labels(labels, name).copy()
    if len(checked) != m:
        raise ValueError(f"{name} must have a label for each of the {m} values, got {len(checked)}.")
    return checked


def number_labels(labels: np.ndarray) -> dict[Any, int]:
    """Return the position of each label of items_y, all of which must be different."""
    position = {label: i for i, label in enumerate(labels.tolist())}
    if len(position) < len(labels):
        raise ValueError("tags must be None, because items_y has some labels more than once. Give y.")
    return position


def find_label_positions(tags: Any, position: dict[Any, int]) -> list[int]:
    """Find the positions of labels that must be among those of items_y."""
    wanted = as_labels(tags, "tags").tolist()
    try:
        unknown = [tag for tag in wanted if tag not in position]
    except TypeError:  # it cannot be hashed
        wanted = []
    if not wanted:
        raise ValueError(f"tags must be a list of labels among items_y, got {short_repr(tags)}.")
    if unknown:
        similar = get_close_matches(str(unknown[0]), map(str, position), 1)
        hint = f" Do you mean {short_repr(similar[0])}?" if similar else ""
        raise ValueError(f"tags must be among items_y, got {short_repr(unknown[0])}.{hint}")
    return [position[tag] for tag in wanted]


def refuse_labels(y: Any, labels: np.ndarray) -> None:
    """Raise an error if y are labels of items where values are wanted."""
    names = [y] if isinstance(y, str) else y if isinstance(y, list | tuple) else []
    known = labels.tolist()
    if names and all(isinstance(name, str | int) and name in known for name in names):
        raise ValueError(
            f"y must be values, got {short_repr(names[0])}, a label of items_y. Write tags=[...] to ask by it."
        ) from None


def pack_items(items: Items, name: str) -> dict[str, np.ndarray]:
    """Pack items as arrays of a file."""
    labels, places, prior = items
    packed = files.encode_json([label_to_json(label) for label in labels.tolist()])
    return {f"{name}.labels": packed, f"{name}.places": places, f"{name}.prior": prior}


def read_items(arrays: dict[str, np.ndarray], name: str, d: int) -> Items:
    """Read items of d components that `pack_items` has packed."""
    labels, places, prior = (arrays[f"{name}.{part}"] for part in ("labels", "places", "prior"))
    if places.shape != (len(prior), d) or prior.ndim != 1 or not np.isfinite(np.column_stack([places, prior])).all():
        raise TypeError("There must be a place, and a prior, for each item.")
    return as_labels([label_from_json(label) for label in files.decode_json(labels)], "labels"), places, prior


QUERIES_PER_BLOCK, QUERIES_PER_SOFTMAX = 4096, 16
DEFAULT_K = 5
MAX_GAUSSIAN_CORRELATION = 0.995  # the Gaussian ratio has no density at 1
MIN_RATIO = 1e-3  # a smaller density ratio, of components that are missing, has no logarithm
MAX_ODDS_SHARE = 1 - 1e-3  # a larger claim, of components that are missing, has no odds
MIN_LENGTH = 1e-12  # a shorter vector has no direction


@dataclass(frozen=True)
class Claim:
    """How scores become probabilities, learned on held-out pairs.

    Attributes
    ----------
    slope : float
        The logarithms of the scores are multiplied by it: the inverse of a temperature.
    intercept : float
        What is added then, if several items belong to a query.
    is_several : bool
        Whether several items belong to a query, so that each has a probability of its own. Otherwise one does, and the
        probabilities of all items sum to 1.
    """

    slope: float
    intercept: float = 0.0
    is_several: bool = False


@dataclass(frozen=True, eq=False)
class ItemSide:
    """The items of one variable, how they are ranked, and what that claims."""

    labels: np.ndarray
    places: np.ndarray
    prior: np.ndarray
    correlations: np.ndarray
    by: str
    scaled: bool
    engine: str
    claim: Claim | None = None

    def __post_init__(self) -> None:
        read_only(self, "labels", "places", "prior")

    @classmethod
    def from_items(cls, items: Items, name: str, **how: Any) -> ItemSide:
        """Make a side of items whose labels are checked under the name of their argument."""
        labels, places, prior = items
        return cls(check_labels(labels, len(places), name), places, prior, **how)

    def find_matches(self, queries: np.ndarray, k: int | None, radius: float | None) -> Matches:
        """Find the items that belong to places of the other side."""
        if k is not None:
            check_whole(k, "k", 1)
        if radius is None:
            starts = range(0, len(queries), QUERIES_PER_BLOCK)
            blocks = [self._find_nearest(queries[i : i + QUERIES_PER_BLOCK], k or DEFAULT_K) for i in starts]
            return self._make_matches(queries, *(np.vstack(column) for column in zip(*blocks, strict=True)))
        if not is_number(radius) or radius < 0:
            raise ValueError(f"radius must be a number of at least 0, got {short_repr(radius)}.")
        inside = find_within_radius(self._to_distance_space(self.places), self._to_distance_space(queries), radius)
        each = [
            self._measure_items(q[None], self._order_items(q[None], i)[:, :k])
            for q, i in zip(queries, inside, strict=True)
        ]
        return self._make_matches(queries, *(to_object_array([found[j][0] for found in each]) for j in range(4)))

    def _make_matches(
        self, queries: np.ndarray, labels: np.ndarray, index: np.ndarray, distances: np.ndarray, ratios: np.ndarray
    ) -> Matches:
        find_scores = partial(self._find_scores, queries, index, distances, ratios)
        find_probabilities = None if self.claim is None else partial(self._find_probabilities, queries, index)
        return Matches(labels, index, distances, ratios, find_scores, find_probabilities)

    def _find_nearest(self, queries: np.ndarray, k: int) -> tuple[np.ndarray, ...]:
        return self._measure_items(
            queries, self._scores.find_best(self._to_score_space(queries), min(k, len(self.labels)))
        )

    def _measure_items(self, queries: np.ndarray, index: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return labels, index, distances and ratios of the items chosen for each query, all of shape (n, k)."""
        places = self.places[index]
        distances = np.linalg.norm(self._to_distance_space(queries)[:, None] - self._to_distance_space(places), axis=2)
        return self.labels[index], index, distances, self._find_ratios(queries, places)

    def _find_scores(
        self, queries: np.ndarray, index: np.ndarray, distances: np.ndarray, ratios: np.ndarray
    ) -> np.ndarray:
        """Find what the items chosen are ranked by, as an array of arrays if `index` is one."""
        if self.by == "gaussian":
            return self._choose_items(queries, index, lambda scores: softmax(scores, axis=1))
        if self.by == "cosine":
            lengths = np.linalg.norm(self._to_distance_space(queries), axis=1, keepdims=True)
            cosines = self._choose_items(queries, index, lambda scores: scores)
            return cosines / np.maximum(lengths if cosines.ndim == 2 else lengths[:, 0], MIN_LENGTH)
        if self.by == "ratio":
            return ratios
        if self.by == "distance":
            return -distances
        if index.dtype != object:
            return np.clip(self.prior[index] * ratios, 0, 1)
        return to_object_array([np.clip(self.prior[i] * r, 0, 1) for i, r in zip(index, ratios, strict=True)])

    def _find_probabilities(self, queries: np.ndarray, index: np.ndarray) -> np.ndarray:
        """Find the calibrated probabilities of the items chosen."""
        assert self.claim is not None
        return self._choose_items(queries, index, partial(to_probabilities, claim=self.claim, by=self.by))

    def _choose_items(
        self, queries: np.ndarray, index: np.ndarray, convert: Callable[[np.ndarray], np.ndarray]
    ) -> np.ndarray:
        """Convert the logarithmic scores of all items, and take those of the items chosen."""
        found = []
        for start in range(0, len(queries), QUERIES_PER_SOFTMAX):  # all items take part: a few queries at a time
            values = convert(self.find_log_scores(queries[start : start + QUERIES_PER_SOFTMAX]))
            found += [own[i] for own, i in zip(values, index[start : start + QUERIES_PER_SOFTMAX], strict=True)]
        return to_object_array(found) if index.dtype == object else np.array(found)

    def find_log_scores(self, queries: np.ndarray) -> np.ndarray:
        """Find the logarithms of the scores of all items (columns) for queries (rows)."""
        raw = self._to_score_space(queries) @ self._scores.positions.T + self._scores.offsets
        return self._take_logarithms(raw, queries, self._scores.offsets)

    def find_partner_scores(self, queries: np.ndarray, places: np.ndarray) -> np.ndarray:
        """Find the logarithm of the score that an item in each of these places would have for its own query."""
        mean_prior = np.full(len(places), self.prior.mean())
        partners = replace(self, labels=np.arange(len(places)), places=places, prior=mean_prior)
        offsets = partners._scores.offsets
        raw = np.einsum("nd,nd->n", self._to_score_space(queries), partners._scores.positions) + offsets
        return self._take_logarithms(raw[:, None], queries, offsets[:, None])[:, 0]

    def _take_logarithms(self, raw: np.ndarray, queries: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        """Turn linear scores into logarithms of densities, as far as the ranking has one."""
        if self.by in ("posterior", "ratio"):  # raw is weight * ratio, and offsets are the weights
            return np.log(np.maximum(np.maximum(raw, MIN_RATIO * offsets), np.finfo(float).tiny))
        if self.by == "distance":  # -|f - g|^2 / 2
            return raw - (self._to_distance_space(queries) ** 2).sum(axis=1, keepdims=True) / 2
        if self.by == "gaussian":
            s, precision = find_gaussian_weights(self.correlations)
            return raw - (queries**2 @ (s**2 * precision))[:, None] / 2 + np.log(precision).sum() / 2
        return raw  # |f| times the cosine: a query far from the centre says more

    def _find_ratios(self, queries: np.ndarray, places: np.ndarray) -> np.ndarray:
        """Find density ratios, of Gaussian functions if items are ranked by these, otherwise by Lancaster's formula."""
        if self.by != "gaussian":  # 1 + sum_i sqrt(lambda_i) f_i(x) g_i(y)
            return 1 + np.einsum("nd,nkd->nk", queries * self.correlations, places)
        # Mehler's formula: prod_i (1 - s_i^2)^(-1/2) exp((s_i f_i g_i - s_i^2 (f_i^2 + g_i^2) / 2) / (1 - s_i^2))
        s, precision = find_gaussian_weights(self.correlations)
        products = np.einsum("nd,nkd->nk", queries * (s * precision), places)
        squares = (queries**2)[:, None] @ (s**2 * precision) + places**2 @ (s**2 * precision)
        return np.exp(np.minimum(products - squares / 2 + np.log(precision).sum() / 2, 700))

    def _order_items(self, query: np.ndarray, index: np.ndarray) -> np.ndarray:
        """Order chosen items of one query, the best first."""
        index = np.sort(index)[None]
        order = np.argsort(-self._scores.score_items(self._to_score_space(query), index), kind="stable")
        return np.take_along_axis(index, order, axis=1)

    @cached_property
    def _scores(self) -> ItemScores:
        if self.by == "distance":
            places = self._to_distance_space(self.places)
            return ItemScores(places, -0.5 * (places**2).sum(axis=1), self.engine)
        if self.by == "cosine":
            places = self._to_distance_space(self.places)
            lengths = np.maximum(np.linalg.norm(places, axis=1, keepdims=True), MIN_LENGTH)
            return ItemScores(places / lengths, np.zeros(len(places)), self.engine)
        if self.by == "gaussian":
            s, precision = find_gaussian_weights(self.correlations)
            offsets = np.log(np.maximum(self.prior, 1e-300)) - self.places**2 @ (s**2 * precision) / 2
            return ItemScores(self.places * (s * precision), offsets, self.engine)
        weights = self.prior if self.by == "posterior" else np.ones(len(self.places))
        return ItemScores(weights[:, None] * self.places * self.correlations, weights, self.engine)

    def _to_score_space(self, queries: np.ndarray) -> np.ndarray:
        return self._to_distance_space(queries) if self.by in ("distance", "cosine") else queries

    def _to_distance_space(self, places: np.ndarray) -> np.ndarray:
        """Scale places to the space in which distances are taken."""
        return places * self.correlations if self.scaled else places


def to_probabilities(scores: np.ndarray, claim: Claim, by: str) -> np.ndarray:
    """Turn logarithmic scores of all items (columns) into probabilities."""
    if not claim.is_several:
        return softmax(claim.slope * scores, axis=1)
    return expit(claim.slope * to_log_odds(scores, by) + claim.intercept)


def to_log_odds(scores: np.ndarray, by: str) -> np.ndarray:
    """Turn logarithmic scores of all tags (columns) into log odds, up to a line that is learned."""
    if by == "posterior":
        return logit(np.minimum(np.exp(scores), MAX_ODDS_SHARE))
    # How far away all tags are from a query says little, so these count by their shares.
    return log_softmax(scores, axis=1) if by in ("gaussian", "distance") else scores


def find_gaussian_weights(correlations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return correlations s, kept below 1, and 1 / (1 - s^2), for Mehler's formula of the density ratio."""
    s = np.minimum(correlations, MAX_GAUSSIAN_CORRELATION)
    return s, 1 / (1 - s**2)
