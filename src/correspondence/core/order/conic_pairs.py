"""The most correlated pair of functions in cones, such as functions that rise with an ordered column.

Both sides are given in coordinates in which a function has the length 1 that it is to have: the pair maximises a^T K b
over unit vectors a and b. A cone is a matrix G: a function is in it if G a >= 0, and in its mirror image if G a <= 0.
Each ordered column has a cone, and its function may be in either image.

The maximum is not concave. From several starts, projections of K b and of K^T a on the cones alternate; a projection is
a problem of non-negative least squares. Each climb ends with the first singular pair of K between the faces of the
cones that it has reached.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

__all__ = ["ConicSide", "climb_to_conic_pair", "find_conic_pair"]

Signs = tuple[int, ...]
Pair = tuple[np.ndarray, np.ndarray]

MAX_SIGNS_LISTED = 16  # choices of rising or falling; of more, those of unordered axes are tried, and single changes
N_STARTING_AXES = 3  # unordered axes whose projections are starts
EXPLORING_STEPS = 4  # from each start
N_CLIMBS = 5  # from the best points that they reach, for each choice of signs
MAX_STEPS = 300  # of one climb
STEPS_BEFORE_EXACT = 5  # after which it is tried whether the climb has reached its faces
MIN_RELATIVE_GAIN = 1e-12  # of a step of a climb that continues
FACE_TOLERANCE = 1e-9  # of a row of a cone, of length 1, that is on its boundary
MAX_WRONG = 1e-10  # by which rounding may leave a cone
MAX_NNLS_STEPS = 50  # for each row of the cones


@dataclass(frozen=True, eq=False)
class ConicSide:
    """The cones of one side.

    Attributes
    ----------
    cones : sequence of ndarray of shape (m, r)
        A matrix for each ordered column, with rows of length 1.
    """

    cones: Sequence[np.ndarray]

    @classmethod
    def from_matrices(cls, matrices: Sequence[np.ndarray]) -> ConicSide:
        """Give the rows of matrices length 1, and leave out those that are zero."""
        cones = []
        for G in matrices:
            length = np.linalg.norm(G, axis=1)
            is_row = length > FACE_TOLERANCE * max(length.max(initial=0), 1e-300)
            cones.append(G[is_row] / length[is_row, None])
        return cls(cones)

    def rescale(self, factors: np.ndarray) -> ConicSide:
        """Return the same cones for coordinates that are to be multiplied by factors."""
        return ConicSide.from_matrices([G * factors for G in self.cones])

    def join_cones(self, signs: Signs) -> np.ndarray | None:
        """Join the cones, each in its image; None if there is none."""
        parts = [sign * G for sign, G in zip(signs, self.cones, strict=True) if len(G)]
        return np.vstack(parts) if parts else None

    def find_signs(self, a: np.ndarray) -> Signs:
        """Find the image of each cone that a function is nearer to."""
        return tuple(1 if (G @ a).sum() >= 0 else -1 for G in self.cones)

    def find_trend(self, signs: Signs, r: int) -> np.ndarray:
        """Find a function well inside all cones."""
        joined = self.join_cones(signs)
        return np.zeros(r) if joined is None else np.linalg.lstsq(joined, np.ones(len(joined)))[0]

    def find_inner(self, r: int) -> np.ndarray:
        """Find a function of length 1 in all cones."""
        signs = (1,) * len(self.cones)
        inner = project_on_cone(self.find_trend(signs, r), self.join_cones(signs))
        return inner if inner.any() else np.eye(r)[0]


def project_on_cone(z: np.ndarray, G: np.ndarray | None) -> np.ndarray:
    """Find the function in the cone G a >= 0 that is nearest to z, and give it length 1; zeros if it is 0."""
    a = z
    if G is not None and (G @ z).min(initial=0) < 0:
        # The dual problem: a = z + G^T m for the m >= 0 with the smallest |z + G^T m|.
        multipliers, _ = nnls(G.T, -z, maxiter=MAX_NNLS_STEPS * len(G))
        a = z + G.T @ multipliers
    length = float(np.linalg.norm(a))
    return a / length if length > MAX_WRONG * max(float(np.linalg.norm(z)), 1e-300) else np.zeros(len(z))


def climb_to_conic_pair(K: np.ndarray, x: ConicSide, y: ConicSide, known: Pair) -> tuple[Pair, float]:
    """Find a most correlated pair of functions in the images of the cones in which a known pair is, starting there.

    Parameters
    ----------
    K, x, y
        See `find_conic_pair`.
    known : (ndarray, ndarray)
        Coordinates of a pair nearby.

    Returns
    -------
    pair, value
        See `find_conic_pair`.
    """
    G, H = x.join_cones(x.find_signs(known[0])), y.join_cones(y.find_signs(known[1]))
    return _climb(K, G, H, _explore(K, G, H, known[1]))


def find_conic_pair(K: np.ndarray, x: ConicSide, y: ConicSide) -> tuple[Pair, float]:
    """Find the most correlated pair of functions in the cones.

    Parameters
    ----------
    K : ndarray of shape (r, s)
        The covariances in coordinates of both sides.
    x, y : ConicSide
        The cones of both sides.

    Returns
    -------
    pair : (ndarray, ndarray)
        Coordinates of length 1.
    value : float
        a^T K b.

    Examples
    --------
    The function of y is to rise or fall with its three values:

    >>> K = np.array([[0.5, 0.0], [0.0, 0.4]])
    >>> values = np.array([[-1.0, 1.0], [0.0, -2.0], [1.0, 1.0]]) / np.sqrt([2, 6])
    >>> (a, b), r = find_conic_pair(K, ConicSide([]), ConicSide.from_matrices([np.diff(values, axis=0)]))
    >>> round(r, 3), (values @ b).round(2) + 0.0
    (0.5, array([-0.71,  0.  ,  0.71]))
    """
    U, _, Vt = np.linalg.svd(K, full_matrices=False)
    starts = [(U[:, i], Vt[i]) for i in range(min(N_STARTING_AXES, len(Vt)))]
    # Without any dependence all pairs are as good: these are in the cones.
    best, value = (x.find_inner(len(K)), y.find_inner(K.shape[1])), 0.0
    for signs in list_signs(x, y, starts):
        pair, reached = _climb_with_signs(K, x, y, signs, starts)
        if reached > value:
            best, value = pair, reached
    if 2 ** max(len(x.cones) + len(y.cones) - 1, 0) > MAX_SIGNS_LISTED:
        best, value = _turn_single_columns(K, x, y, best, value)
    return best, value


def list_signs(x: ConicSide, y: ConicSide, starts: Sequence[Pair]) -> list[tuple[Signs, Signs]]:
    """List choices of rising and falling columns; one may be fixed, because both functions may change their signs."""
    p, q = len(x.cones), len(y.cones)
    if 2 ** max(p + q - 1, 0) <= MAX_SIGNS_LISTED:
        free = itertools.product((1, -1), repeat=max(p + q - 1, 0))
        return [((*(1,) * bool(p + q), *signs)[:p], (*(1,) * bool(p + q), *signs)[p:]) for signs in free]
    return list(dict.fromkeys((x.find_signs(a), y.find_signs(b)) for a, b in starts))


def _climb_with_signs(
    K: np.ndarray, x: ConicSide, y: ConicSide, signs: tuple[Signs, Signs], starts: Sequence[Pair]
) -> tuple[Pair, float]:
    """Climb from each start, and from functions well inside the cones."""
    G, H = x.join_cones(signs[0]), y.join_cones(signs[1])
    vectors = [sign * b for _, b in starts for sign in (1, -1)]
    vectors += [y.find_trend(signs[1], K.shape[1]), K.T @ x.find_trend(signs[0], len(K))]
    explored = [_explore(K, G, H, b) for b in vectors]
    explored.sort(key=lambda pair: -float(pair[0] @ K @ pair[1]))
    climbed = [_climb(K, G, H, pair) for pair in explored[:N_CLIMBS]]
    return max(climbed, key=lambda found: found[1])


def _explore(K: np.ndarray, G: np.ndarray | None, H: np.ndarray | None, b: np.ndarray) -> Pair:
    b = project_on_cone(b, H)
    a = project_on_cone(K @ b, G)
    for _ in range(EXPLORING_STEPS - 1):
        b = project_on_cone(K.T @ a, H)
        a = project_on_cone(K @ b, G)
    return a, b


def _climb(K: np.ndarray, G: np.ndarray | None, H: np.ndarray | None, pair: Pair) -> tuple[Pair, float]:
    """Alternate between both sides until nothing is gained."""
    (a, b), reached = pair, float(pair[0] @ K @ pair[1])
    for step in range(1, MAX_STEPS + 1):
        b = project_on_cone(K.T @ a, H)
        a = project_on_cone(K @ b, G)
        value = float(a @ K @ b)
        has_arrived = value <= reached + MIN_RELATIVE_GAIN * abs(reached)
        reached = max(value, reached)
        if has_arrived or step % STEPS_BEFORE_EXACT == 0:
            exact = _solve_on_faces(K, G, H, (a, b))
            if exact is not None and exact[1] >= reached - MIN_RELATIVE_GAIN * abs(reached):
                return exact
        if has_arrived:
            break
    return (a, b), reached


def _solve_on_faces(K: np.ndarray, G: np.ndarray | None, H: np.ndarray | None, pair: Pair) -> tuple[Pair, float] | None:
    """Find the first singular pair of K between the faces of a pair, if it is in the cones."""
    faces = [_span_face(M, z) for M, z in zip((G, H), pair, strict=True)]
    if not all(face.shape[1] for face in faces):
        return None
    U, s, Vt = np.linalg.svd(faces[0].T @ K @ faces[1], full_matrices=False)
    a, b = faces[0] @ U[:, 0], faces[1] @ Vt[0]
    if a @ pair[0] < 0:
        a, b = -a, -b
    is_inside = all(M is None or (M @ z).min(initial=0) >= -MAX_WRONG for M, z in ((G, a), (H, b)))
    return ((a, b), float(s[0])) if is_inside else None


def _span_face(G: np.ndarray | None, a: np.ndarray) -> np.ndarray:
    """Make an orthonormal basis of the functions on whose boundaries a lies."""
    touched = None if G is None else G[np.abs(G @ a) <= FACE_TOLERANCE]
    if touched is None or not len(touched):
        return np.eye(len(a))
    _, s, Vt = np.linalg.svd(touched)
    return Vt[int((s > FACE_TOLERANCE * s[0]).sum()) :].T


def _turn_single_columns(K: np.ndarray, x: ConicSide, y: ConicSide, pair: Pair, value: float) -> tuple[Pair, float]:
    """Let single columns fall instead of rise, and the other way round, as long as that is better."""
    sides, is_better = (x, y), True
    while is_better:
        is_better = False
        for side, j in [(i, j) for i in (0, 1) for j in range(len(sides[i].cones))]:
            signs = [list(own.find_signs(z)) for own, z in zip(sides, pair, strict=True)]
            signs[side][j] *= -1
            G, H = x.join_cones(tuple(signs[0])), y.join_cones(tuple(signs[1]))
            found, reached = _climb(K, G, H, _explore(K, G, H, pair[1]))
            if reached > value + 1e-10 * abs(value):
                pair, value, is_better = found, reached, True
    return pair, value
