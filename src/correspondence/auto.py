"""One call for any two variables: which estimator to use, and why."""

from __future__ import annotations

import sys
import warnings
from dataclasses import replace
from typing import Any

from correspondence.ca import CA
from correspondence.checks import check_whole
from correspondence.compare import Comparison, compare
from correspondence.decomposition import Decomposition
from correspondence.latent import latent_dimension
from correspondence.methods import METHODS, Pairs, estimator, sensible
from correspondence.validation import fitted

__all__ = ["decompose"]

FEW = 40  # pairs, below which components cannot be tested


def decompose(
    X: Any,
    Y: Any = None,
    n_components: int | None = None,
    method: str = "auto",
    *,
    groups: Any = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: bool | None = None,
    verbose: bool = True,
) -> Decomposition:
    """Decompose the dependence of two variables of any kind, by the method that suits them.

    A table of counts and two columns of labels go to `CA`. For anything else the sensible methods are compared by what
    they capture of pairs that they have not seen, the simplest of those not clearly behind the best is taken, and
    fitted to all pairs.

    Parameters
    ----------
    X : table of counts, or with Y array-like, frame, list of labels, sparse matrix, list of texts or array of images
        One row for each pair.
    Y : the same, optional
        The other variable.
    n_components : int, optional
        By default those of ten that are significant (`latent_dimension`), at least one; one if there are fewer than
        40 pairs; all for `CA`.
    method : str
        "auto", or one of "ca", "cca", "ace", "kernel", "logistic", "forest", "mlp" and "pice".
    groups : array-like of shape (n,), optional
        Pairs of the same group, such as duplicates, are never on both sides of a split.
    random_state : int
        Seed of folds and methods.
    n_jobs : int, optional
        Fits at the same time.
    progress : bool or None
        Show bars, by default from two seconds on.
    verbose : bool
        Say in one line, on the error output, which method was taken and why. It is also the `origin` of the result.

    Returns
    -------
    Decomposition

    Examples
    --------
    >>> import numpy as np
    >>> import correspondence as co
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 2)); Y = X[:, 0] + rng.normal(size=400)
    >>> d = co.decompose(X, Y, method="cca", verbose=False)
    >>> d.n_components, d.origin
    (1, 'cca: asked for; 1 of 1 components significant on held-out pairs.')
    """
    if not isinstance(method, str) or (method != "auto" and method not in METHODS):
        raise ValueError(f"method must be auto, {', '.join(METHODS)}, got {method!r}.")
    if n_components is not None:
        check_whole(n_components, "n_components", 1)
    if Y is None:
        d, origin = _of_table(X, n_components, method)
    else:
        d, origin = _of_pairs(X, Y, n_components, method, groups, random_state, n_jobs, progress)
    if verbose:
        print(origin, file=sys.stderr)
    return replace(d, origin=origin)


def _of_table(X: Any, n_components: int | None, method: str) -> tuple[Decomposition, str]:
    if method not in ("auto", "ca"):
        raise ValueError(f"Y is missing: method {method!r} needs pairs (x, y).")
    try:
        return CA(n_components=n_components).fit(X).decomposition_, "ca: X is a table of counts."
    except ValueError as error:
        raise ValueError(f"Y is missing, and without it X must be a table of counts: {error}") from None


def _of_pairs(
    X: Any, Y: Any, n_components: int | None, method: str, groups: Any, random_state: int, n_jobs: Any, progress: Any
) -> tuple[Decomposition, str]:
    pairs = Pairs.of(X, Y)
    names = sensible(pairs) if method == "auto" else [method]
    reason = "asked for" if method != "auto" else f"X and Y are {pairs.x.labels} and {pairs.y.labels} labels"
    if names == ["ca"]:
        return CA(n_components=n_components).fit(X, Y).decomposition_, f"ca: {reason}."
    if n_components is not None and len(names) == 1:
        est = estimator(names[0], pairs, n_components, random_state)
        return fitted(
            est, X, Y, groups
        ).decomposition_, f"{names[0]}: {reason if method != 'auto' else 'nothing else suits'}."
    comparison = compare(
        X,
        Y,
        names,
        n_components,
        groups=groups,
        random_state=random_state,
        n_jobs=n_jobs,
        progress=progress,
    )
    best = comparison.best
    if len(names) > 1:
        reason = _why(comparison, best)
    if n_components is not None:
        return fitted(comparison.estimators[best], X, Y, groups).decomposition_, f"{best}: {reason}."
    common = {"groups": groups, "random_state": random_state, "n_jobs": n_jobs, "progress": progress}
    count, tested = 1, pairs.n >= FEW
    if tested:
        dimension = latent_dimension(estimator(best, pairs, pairs.limit, random_state), X, Y, **common)
        count = dimension.n_components
        reason += f"; {count} of {len(dimension.pvalues)} components significant on held-out pairs"
    if not count:
        warnings.warn(
            "Nothing was found: no component has a held-out correlation clearly above 0, and the one that is kept "
            "may be chance.",
            UserWarning,
            stacklevel=3,
        )
    est = estimator(best, pairs, max(1, count), random_state)
    return fitted(est, X, Y, groups).decomposition_, f"{best}: {reason}."


def _why(comparison: Comparison, best: str) -> str:
    captured = {name: result.captured for name, result in comparison.results.items() if name != best}
    mine = f"captures {comparison.results[best].captured:.3g} on held-out pairs"
    others = ", ".join(f"{name} {value:.3g}" for name, value in sorted(captured.items(), key=lambda item: -item[1]))
    return f"{mine} ({others})" if others else mine
