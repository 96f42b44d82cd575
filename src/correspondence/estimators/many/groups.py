"""Groups of columns that count equally: multiple factor analysis, from moments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from correspondence._util.text import list_names, short_repr
from correspondence.core.column_blocks import ColumnBlock, FeatureMoments, find_block_axes, whiten_blocks
from correspondence.results.group_relations import GroupRelations

__all__ = ["GroupedColumns", "relate_groups"]

MAX_PARTIAL_AXES = 5  # axes of the analysis of each group that are compared with those of all


@dataclass(frozen=True, eq=False)
class GroupedColumns:
    """Which columns belong to which group.

    Attributes
    ----------
    names : list of str
        The names of the groups.
    positions : list of ndarray
        The positions of the columns of each group.
    """

    names: list[str]
    positions: list[np.ndarray]

    @classmethod
    def from_names(cls, groups: Any, columns: Sequence[Any]) -> GroupedColumns:
        """Find the columns of each group by name; every column must be in just one of them."""
        if not isinstance(groups, Mapping) or len(groups) < 1:
            raise ValueError(f"groups must be a dict from a name to columns, got {short_repr(groups)}.")
        place = {name: j for j, name in enumerate(columns)}
        owner: dict[Any, str] = {}
        for group, members in groups.items():
            for member in [members] if isinstance(members, str) else members:
                if member in owner:
                    pair = f"{owner[member]!r} and {group!r}"
                    raise ValueError(f"groups must have each column once, got {short_repr(member)} in {pair}.")
                owner[member] = group
        absent = [name for name in columns if name not in owner]
        if absent:
            raise ValueError(f"groups must have all active columns, but lack {list_names(absent, 5)}. Add them.")
        found = {group: [place[name] for name in place if owner[name] == group] for group in groups}
        kept = {group: own for group, own in found.items() if own}
        return cls(list(kept), [np.array(own) for own in kept.values()])

    def balance(self, blocks: Sequence[ColumnBlock], moments: FeatureMoments) -> list[ColumnBlock]:
        """Divide the weights of the columns by the largest inertia of their group's own analysis.

        Parameters
        ----------
        blocks : sequence of ColumnBlock
            The columns with their weights.
        moments : FeatureMoments
            The moments of the features.

        Returns
        -------
        list of ColumnBlock
            The columns with balanced weights.
        """
        balanced = list(blocks)
        for own in self.positions:
            first = float(find_group_axes([blocks[j] for j in own], moments)[0].eigenvalues[0])
            for j in own:
                balanced[j] = replace(blocks[j], weight=blocks[j].weight / first)
        return balanced


def find_group_axes(blocks: Sequence[ColumnBlock], moments: FeatureMoments) -> tuple[Any, sp.csr_array]:
    """Find the axes of some columns alone, and the matrix that whitens their features."""
    features = np.concatenate([np.arange(block.features.start, block.features.stop) for block in blocks])
    own = FeatureMoments(moments.n, moments.mean[features], moments.cov[np.ix_(features, features)])
    starts = np.cumsum([0, *(block.width for block in blocks)])
    moved = [
        replace(block, features=slice(int(a), int(b)))
        for block, a, b in zip(blocks, starts[:-1], starts[1:], strict=True)
    ]
    whitening = whiten_blocks(own, moved)
    axes = find_block_axes(own, whitening)
    wide = np.zeros((len(moments.mean), whitening.shape[1]))
    wide[features] = whitening.toarray()
    weights = np.zeros((len(moments.mean), axes.weights.shape[1]))
    weights[features] = axes.weights
    return replace(axes, weights=weights), sp.csr_array(wide)


def relate_groups(
    grouped: GroupedColumns,
    active: Sequence[bool],
    blocks: Sequence[ColumnBlock],
    moments: FeatureMoments,
    weights: np.ndarray,
    eigenvalues: np.ndarray,
) -> GroupRelations:
    """Relate groups of columns to the axes and to each other.

    Parameters
    ----------
    grouped : GroupedColumns
        The groups, supplementary ones included.
    active : sequence of bool
        Whether each group is active.
    blocks : sequence of ColumnBlock
        All columns with balanced weights.
    moments : FeatureMoments
        The moments of all features.
    weights : ndarray of shape (p, d)
        The weights of all features in the scores; 0 for supplementary ones.
    eigenvalues : ndarray of shape (d,)
        The inertias of the axes.

    Returns
    -------
    GroupRelations
        Coordinates, contributions, correlations, Lg and RV coefficients.
    """
    found = [find_group_axes([blocks[j] for j in own], moments) for own in grouped.positions]
    is_active = np.array(active)
    covariance = moments.cov @ weights
    coordinates = np.array([((W.T @ covariance) ** 2).sum(axis=0) for _, W in found])
    Lg = np.array([[float(((V.T @ (moments.cov @ W)) ** 2).sum()) for _, W in found] for _, V in found])
    correlations, spreads = _correlate_partial_scores(found, covariance, moments)
    partial_axes, eigen = [], []
    for axes, _ in found:
        k = min(MAX_PARTIAL_AXES, len(axes.eigenvalues))
        partial_axes.append(axes.weights[:, :k].T @ covariance)
        eigen.append(axes.eigenvalues)
    return GroupRelations(
        labels=np.array(grouped.names, dtype=object),
        is_active=is_active,
        coordinates=coordinates,
        contributions=np.where(is_active[:, None], coordinates / eigenvalues, np.nan),
        correlations=correlations,
        Lg=_add_compromise(Lg, is_active, eigenvalues[0]),
        partial_axes=partial_axes,
        separate_inertias=eigen,
        inertia_ratio=_compute_inertia_ratio(eigenvalues, spreads[is_active]),
    )


def _correlate_partial_scores(
    found: Sequence[tuple[Any, sp.csr_array]], covariance: np.ndarray, moments: FeatureMoments
) -> tuple[np.ndarray, np.ndarray]:
    """Correlate each axis with the scores as each group alone sees them; return also the variances of these."""
    correlations, spreads = [], []
    for _, W in found:
        # The part of the axis that the group's whitened features see: W' cov(phi, z), applied to them again.
        direction = W @ (W.T @ covariance)
        with_scores = np.einsum("ij,ij->j", direction, covariance)
        spread = np.einsum("ij,ij->j", direction, moments.cov @ direction)
        correlations.append(with_scores / np.sqrt(np.where(spread > 0, spread, np.inf)))
        spreads.append(spread)
    return np.array(correlations), np.array(spreads)


def _add_compromise(Lg: np.ndarray, is_active: np.ndarray, first: float) -> np.ndarray:
    """Add the analysis of all active groups as a last row and column."""
    own = Lg[:, is_active].sum(axis=1) / first
    whole = float(own[is_active].sum() / first)
    return np.block([[Lg, own[:, None]], [own[None, :], np.array([[whole]])]])


def _compute_inertia_ratio(eigenvalues: np.ndarray, spreads: np.ndarray) -> np.ndarray:
    """Compute the share of the inertia of the partial points that their means have, on each axis."""
    # A partial point is G times the group's part of the score, whose variance is spread / eigenvalue.
    n_groups = len(spreads)
    return eigenvalues / (n_groups * spreads.sum(axis=0) / eigenvalues)
