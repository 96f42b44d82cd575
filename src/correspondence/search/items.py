"""Items that can be found: their labels, places and priors, checked, and as arrays of a file."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from correspondence._util import files
from correspondence._util.arguments import check_weights, count_observations, to_floats
from correspondence._util.labels import as_labels, label_from_json, label_to_json
from correspondence.core.functions import PrincipalFunctions, find_label_shares

__all__ = ["Items", "check_labels", "find_places", "pack_items", "place_items", "place_tags", "read_items"]

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
    members = sp.csr_array(has_tag) if sp.issparse(has_tag) else to_floats(has_tag, "has_tag")
    values = members.data if sp.issparse(members) else members
    if members.ndim != 2 or members.shape[0] != n:
        raise ValueError(f"has_tag must have a row for each of the {n} y, got shape {members.shape}.")
    if not np.isin(values, (0, 1)).all():
        raise ValueError("has_tag must be 1 where a y has the tag and 0 elsewhere, such as `counts > 0`.")
    members = members.astype(np.float64)
    counts = np.asarray(members.sum(axis=0)).ravel()
    if not counts.all():
        raise ValueError(f"has_tag has {int((counts == 0).sum())} tag(s) that no y has: leave them out.")
    # E[g_i(Y) | tag] = sum over the y that have the tag / their number
    return tags, (members.T @ find_places(functions, Y, "Y")) / counts[:, None], counts / n


def find_places(functions: PrincipalFunctions, values: Any, name: str) -> np.ndarray:
    """Evaluate principal functions at values, all of which must have a place."""
    if not count_observations(values, name):
        raise ValueError(f"{name} is empty: give at least one value.")
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
