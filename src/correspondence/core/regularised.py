"""Most correlated combinations of features under a quadratic penalty, whose strength the data choose.

The covariance C_f of the features becomes C_f + strength * R_f (and C_g likewise), which chooses the shape of the
functions; they are then whitened without the penalty, so that it does not shrink them. The strength is chosen for each
pair of functions by what the pair adds on held-out folds, from the moments of the folds alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from correspondence._util.arguments import is_number
from correspondence._util.text import short_repr
from correspondence._util.threads import limit_blas_threads
from correspondence.core.moments import Moments
from correspondence.core.penalised_coordinates import (
    RANK_TOLERANCE,
    DiagonalPenalty,
    PenalisedCoordinates,
    Penalty,
    WholePenalty,
)
from correspondence.core.scoring import score_moments

__all__ = [
    "MAX_LOSS",
    "N_FOLDS",
    "PenalisedFit",
    "check_strengths",
    "compute_fold_moments",
    "find_strongest_penalty",
    "fit_penalised",
    "merge_folds",
]

N_FOLDS = 5
MAX_PARALLEL_SINE = 1e-7  # directions at an angle with a smaller sine differ by rounding only
LATER_STRENGTH_STRIDE = 3  # later components try one in this many strengths
MIN_CLEAR_STANDARD_ERRORS = 1.5  # a component is clear if it raises the scores by this many standard errors
MAX_FEATURES_FOR_ONE_THREAD = 800  # features of one side; with fewer, a second thread costs more than it gains
MAX_LOSS = 0.1  # share of what a clear component adds that smoothness may cost, unless features are rich
MIN_VARIANCE_SHARE_LEFT = 1e-6  # share of the variance of a function that must be left after others are subtracted
MIN_HARMLESS_CORRELATION = 0.97  # correlation of a function before and after a rotation that hardly changes it


@dataclass(frozen=True, eq=False)
class PenalisedFit:
    """Weights of the features, one column for each function, with the correlations on the data of the fit."""

    moments: Moments
    A: np.ndarray
    B: np.ndarray
    correlations: np.ndarray
    strength: np.ndarray
    """Strength of the penalty of each function."""


def check_strengths(value: Any, name: str) -> Sequence[float] | np.ndarray:
    """Read strengths of a penalty: one for all components, or an array with one row for each and one column."""
    given = value if isinstance(value, list | tuple | np.ndarray) and np.ndim(value) else [value]
    if not len(given) or not all(is_number(each) and 0 <= float(each) <= 1e100 for each in given):
        raise ValueError(
            f'{name} must be "auto", or numbers from 0 to 1e100, got {short_repr(value)}. '
            "Give one number, or one for each component."
        )
    return np.array(given, dtype=np.float64)[:, None] if given is value else (float(given[0]),)


def compute_fold_moments(
    batches: Iterable[tuple[np.ndarray, np.ndarray]], groups: np.ndarray | None = None, first: int = 0
) -> list[Moments]:
    """Compute moments of features in folds; rows go to the folds in turn, or by the numbers of their groups.

    Parameters
    ----------
    batches : iterable of pairs of ndarray
        Each batch holds the features of the two sides.
    groups : ndarray, optional
        The groups must be those of all rows, these and others.
    first : int
        The first of these rows has this number.
    """
    folds, seen = [Moments() for _ in range(N_FOLDS)], first
    for F, G in batches:
        rows = seen + np.arange(len(F))
        fold = (rows if groups is None else groups[rows]) % N_FOLDS
        for k, moments in enumerate(folds):
            moments.update(F[fold == k], G[fold == k])
        seen += len(F)
    return folds


def merge_folds(parts: Iterable[Sequence[Moments]]) -> list[Moments]:
    """Merge the folds of parts of the rows."""
    return [sum(fold, start=Moments()) for fold in zip(*parts, strict=True)]


def fit_penalised(
    folds: Sequence[Moments],
    penalty: Penalty,
    n_components: int,
    strengths: Sequence[float] | np.ndarray,
    *,
    is_rich: bool = False,
) -> PenalisedFit:
    """Find pairs of functions one after the other, each with the penalty that suits it.

    The first pair is the one that a fit of one component finds. Each later pair is uncorrelated with those before it
    and has a strength of its own, chosen by what the pair adds to them on held-out folds. So asking for more components
    never changes the first ones.

    Parameters
    ----------
    folds : sequence of Moments
        The moments of the features must be those of different pairs.
    penalty : pair of ndarray
        These are R_f and R_g.
    n_components : int
        Find at most this many components; the rank of the features may be smaller.
    strengths : sequence of float, or ndarray of shape (n_components, 1)
        Choose from these ascending strengths the largest that is within a standard error of the best. An array with two
        dimensions fixes the strength of each component.
    is_rich : bool
        If true, the features are so many, as those of a kernel, that functions without a penalty may take any values
        between the data.
    """
    total = sum(folds, start=Moments())
    n_leading = 2 * n_components + 8  # each pair rules out two directions of each side for the next
    choices = list_steps(strengths, n_components, ("turn", "avoid" if is_rich else "keep"))
    folds = [fold for fold in folds if fold.n]  # fewer groups than folds leave some empty
    can_choose = any(r.any() for r in penalty) and len(folds) > 1 and total.n >= N_FOLDS
    max_loss = np.inf if is_rich else MAX_LOSS
    with limit_blas_threads(max(len(total.mean_f), len(total.mean_g)) <= MAX_FEATURES_FOR_ONE_THREAD):
        steps = (
            choose_steps(folds, penalty, choices, n_leading, max_loss) if can_choose else [own[0] for own in choices]
        )
        pairs = _PairsFound.make_empty(WholePenalty(total, penalty, n_leading))
        for step in steps:
            pairs = pairs.add_pair(step)
    order = np.argsort(-pairs.correlations, kind="stable")
    A, B = pairs.weights
    used = np.array([step.strength for step in steps])[order]
    return PenalisedFit(total, A[:, order], B[:, order], np.clip(pairs.correlations[order], 0, 1), used)


@dataclass(frozen=True)
class Step:
    """How one more pair of functions is found."""

    strength: float
    kind: str
    """"turn" if earlier pairs may change; otherwise what the new pair shares with them is subtracted ("keep"), or
    avoided by functions as smooth as the strength demands ("avoid")."""


def list_steps(strengths: Sequence[float] | np.ndarray, d: int, kinds: tuple[str, str]) -> list[list[Step]]:
    """List the steps to choose from for each component; among equally good ones the last is taken."""
    values = np.asarray(strengths, dtype=np.float64)
    if values.ndim == 2:  # one for each component
        given = [values[min(i, len(values) - 1), 0] for i in range(d)]
        return [[Step(given[0], "keep")], *([Step(s, kind) for kind in kinds] for s in given[1:])]
    first = [Step(s, "keep") for s in values.tolist()]
    coarse = values[::-LATER_STRENGTH_STRIDE][::-1].tolist()
    later = [Step(s, kind) for kind in kinds for s in coarse]
    return [first, *([later] * (d - 1))]


def choose_steps(
    folds: Sequence[Moments], penalty: Penalty, choices: list[list[Step]], n_leading: int, max_loss: float
) -> list[Step]:
    """Choose the step to each component by what it adds on each fold, fitted to the others, to earlier components."""
    if all(len(steps) == 1 for steps in choices):
        return [steps[0] for steps in choices]
    rests = [sum([*folds[:k], *folds[k + 1 :]], start=Moments()) for k in range(len(folds))]
    found = [_PairsFound.make_empty(DiagonalPenalty(rest, penalty, n_leading)) for rest in rests]
    chosen: list[Step] = []
    before = np.zeros(len(folds))
    for steps in choices:
        candidates = [[pairs.add_pair(step) for step in steps] for pairs in found]
        scores = np.array([[c.score_fold(fold) for c in row] for row, fold in zip(candidates, folds, strict=True)])
        kept = np.min([[c.kept for c in row] for row in candidates], axis=0)
        best = choose_best_step(scores, steps, before, kept, max_loss)
        chosen.append(steps[best])
        before, found = scores[:, best], [row[best] for row in candidates]
    return chosen


def choose_best_step(
    scores: np.ndarray, steps: list[Step], before: np.ndarray, kept: np.ndarray, max_loss: float
) -> int:
    """Choose the step that scores best, penalised as strongly as the scores allow.

    A rotation that turns earlier pairs is allowed only if the new component is clear, by the scores before it: noise
    would harm them. Whether to rotate is decided without the extreme folds, in which a single pair far from the others
    may decide; how strongly to penalise is decided with them, because functions must not be extreme anywhere.
    """
    gains = scores - before[:, None]
    mean, error = compute_trimmed_mean(gains)
    kinds = np.array([step.kind for step in steps])
    allowed = np.flatnonzero(
        (kinds != "turn") | (mean > MIN_CLEAR_STANDARD_ERRORS * error) | (kept >= MIN_HARMLESS_CORRELATION)
    )
    alike = [allowed[kinds[allowed] == kind] for kind in dict.fromkeys(kinds[allowed])]
    finalists = [int(same[find_strongest_penalty(gains[:, same], max_loss)]) for same in alike]
    return finalists[int(np.argmax(mean[finalists]))]


def compute_trimmed_mean(gains: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute the mean of each column without its smallest and largest value, and the standard error of that mean."""
    n = len(gains)
    cut = int(n > 3)
    ordered = np.sort(gains, axis=0)[cut : n - cut]
    winsorised = np.pad(ordered, ((cut, cut), (0, 0)), mode="edge")
    return ordered.mean(axis=0), winsorised.std(axis=0, ddof=1) * np.sqrt(n) / len(ordered)


def find_strongest_penalty(gains: np.ndarray, max_loss: float) -> int:
    """Find the last column of gains that is within a standard error of the best one.

    A clear component must not lose more than the share `max_loss` of what it adds either: the standard error of a few
    folds is large, and would make functions straight that are not.
    """
    best = int(np.argmax(gains.mean(axis=0)))
    loss = gains[:, [best]] - gains
    error = loss.std(axis=0, ddof=1) / np.sqrt(len(gains))
    is_good = loss.mean(axis=0) <= error
    mean, error = compute_trimmed_mean(gains[:, [best]])
    if mean > MIN_CLEAR_STANDARD_ERRORS * error and max_loss < np.inf:
        is_good &= loss.mean(axis=0) <= max_loss * max(gains[:, best].mean(), 0.0)
    return int(np.flatnonzero(is_good).max())


@dataclass(frozen=True, eq=False)
class _PairsFound:
    """Pairs of functions (u_i, v_i) of variance 1; u_i and v_i are uncorrelated with u_j and v_j for j other than i."""

    coordinates: PenalisedCoordinates
    U: np.ndarray
    V: np.ndarray
    CU: np.ndarray
    KV: np.ndarray
    CV: np.ndarray
    KU: np.ndarray
    """C_f U, C_fg V, C_g V and C_gf U are kept, because each new pair has to be orthogonal to them."""
    kept: float = 1.0
    """Smallest correlation of a function with what it was before the last rotation."""

    @classmethod
    def make_empty(cls, coordinates: PenalisedCoordinates) -> _PairsFound:
        """Start without any pair."""
        x, y = (np.empty((size, 0)) for size in coordinates.shape)
        return cls(coordinates, x, y, x, x, y, y)

    @property
    def correlations(self) -> np.ndarray:
        return np.einsum("ij,ij->j", self.U, self.KV)

    @property
    def weights(self) -> tuple[np.ndarray, np.ndarray]:
        """Weights of the features of x and of y, one column for each function."""
        return self.coordinates.on_features(self.U, self.V)

    def add_pair(self, step: Step) -> _PairsFound:
        """Add the most correlated pair under a penalty that is uncorrelated with those before, if one is left.

        Either all pairs are then rotated on to each other, which may change earlier ones, or only the new pair is
        changed: what u and E[v_j | x], or v and E[u_j | y], have in common is subtracted, or avoided beforehand. What
        is subtracted is not penalised: that costs little with few features, but with those of a kernel it may take any
        values between the data.
        """
        W, s, V = self.coordinates.get_family(step.strength)
        # Beyond the rank, directions are rounding: they are used only if there are no others.
        rank = int((s > RANK_TOLERANCE * s.max(initial=0)).sum())
        if rank > self.U.shape[1]:
            W, s, V = W[:, :rank], s[:rank], V[:, :rank]
        ruled_x, ruled_y = self.CU, self.CV
        if step.kind == "avoid":
            ruled_x, ruled_y = np.hstack([self.CU, self.KV]), np.hstack([self.CV, self.KU])
        free_x, free_y = find_free_directions(W, ruled_x), find_free_directions(V, ruled_y)
        if not min(free_x.shape[1], free_y.shape[1]):
            return self if step.kind != "avoid" else self.add_pair(Step(step.strength, "keep"))
        P, _, Qt = np.linalg.svd(free_x.T @ (s[:, None] * free_y))
        u, v = W @ (free_x @ P[:, 0]), V @ (free_y @ Qt[0])
        if step.kind == "turn":
            return self._append_functions(u, v)._rotate_pairs()
        if step.kind == "avoid":
            return self._append_functions(u, v)
        Cu, _, Cv, _ = self.coordinates.multiply_covariances(u, v)
        expected_x, expected_y = self.coordinates.invert_covariances(self.KV, self.KU)
        left_u = _subtract_projection(u, Cu, np.hstack([self.U, expected_x]), np.hstack([self.CU, self.KV]))
        left_v = _subtract_projection(v, Cv, np.hstack([self.V, expected_y]), np.hstack([self.CV, self.KU]))
        if left_u @ Cu < MIN_VARIANCE_SHARE_LEFT * (u @ Cu) or left_v @ Cv < MIN_VARIANCE_SHARE_LEFT * (v @ Cv):
            return self._append_functions(u, v)._rotate_pairs()  # with few labels, say, nothing else is left
        return self._append_functions(left_u, left_v)

    def _append_functions(self, u: np.ndarray, v: np.ndarray) -> _PairsFound:
        Cu, Kv, Cv, Ku = self.coordinates.multiply_covariances(u, v)
        a, b = (1 / np.sqrt(np.maximum(z @ Cz, np.finfo(float).tiny)) for z, Cz in ((u, Cu), (v, Cv)))
        return _PairsFound(
            self.coordinates,
            U=np.column_stack([self.U, a * u]),
            V=np.column_stack([self.V, b * v]),
            CU=np.column_stack([self.CU, a * Cu]),
            KV=np.column_stack([self.KV, b * Kv]),
            CV=np.column_stack([self.CV, b * Cv]),
            KU=np.column_stack([self.KU, a * Ku]),
        )

    def _rotate_pairs(self) -> _PairsFound:
        P, _, Qt = np.linalg.svd(self.U.T @ self.KV)
        Q = Qt.T
        rotated = self.U @ P, self.V @ Q, self.CU @ P, self.KV @ Q, self.CV @ Q, self.KU @ P
        kept = np.abs(np.concatenate([np.diag(P)[:-1], np.diag(Q)[:-1]])).min(initial=1.0)
        return _PairsFound(self.coordinates, *rotated, kept=float(kept))

    def score_fold(self, fold: Moments) -> float:
        """Compute what the functions capture of a held-out fold."""
        A, B = self.weights
        own = self.coordinates.moments
        return score_moments(fold, own.mean_f, A, own.mean_g, B, np.clip(self.correlations, 0, 1))


def find_free_directions(directions: np.ndarray, ruled_out: np.ndarray) -> np.ndarray:
    """Find orthonormal combinations of the directions that are orthogonal to those ruled out."""
    if not ruled_out.size:
        return np.eye(directions.shape[1])
    D = directions.T @ ruled_out
    Q, s, _ = np.linalg.svd(D / np.maximum(np.linalg.norm(D, axis=0), np.finfo(float).tiny))
    return Q[:, int((s > MAX_PARALLEL_SINE * s[0]).sum()) :]  # without a penalty E[v_j | x] is parallel to u_j


def _subtract_projection(u: np.ndarray, Cu: np.ndarray, D: np.ndarray, CD: np.ndarray) -> np.ndarray:
    """Make a function uncorrelated with the functions D; C is the covariance of the features."""
    # E[v_j | x] is parallel to u_j where nothing is penalised: their difference is rounding, not a direction.
    return u - D @ (np.linalg.pinv(D.T @ CD, rcond=MAX_PARALLEL_SINE**2, hermitian=True) @ (D.T @ Cu)) if D.size else u
