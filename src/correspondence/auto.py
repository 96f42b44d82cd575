"""One call for any two variables: which estimator to use, and why."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

from correspondence import sources
from correspondence.ca import CA
from correspondence.checks import brief, check_whole
from correspondence.compare import Comparison, compare
from correspondence.decomposition import Decomposition
from correspondence.latent import LatentDimension, latent_dimension
from correspondence.methods import METHODS, Pairs, estimator, sensible
from correspondence.notices import NothingFound
from correspondence.validation import CrossFit, fitted

__all__ = ["FEW", "NOTHING", "Choice", "choose", "decompose"]

FEW = 40  # pairs, below which components cannot be tested
NOTHING = "Nothing was found: no component has a held-out correlation clearly above 0, and what is kept may be chance."


@dataclass(frozen=True, eq=False)
class Choice:
    """What `choose` has decided, and found."""

    method: str
    reason: str
    """Why this method, and how many components are significant."""
    decomposition: Decomposition
    dimension: LatentDimension | None = None
    """The test of the components on held-out pairs, where one was made."""
    is_compared: bool = False
    """Whether the method was chosen by what it captures of the same pairs, which flatters the test a little."""

    @property
    def origin(self) -> str:
        """Method and reason in a sentence."""
        return f"{self.method}: {self.reason}."

    @property
    def is_nothing(self) -> bool:
        """Whether components were tested and none is significant."""
        return self.dimension is not None and not self.dimension.n_components


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
    if isinstance(X, sources.Pairs):
        raise ValueError("X are Pairs, for which the method is yours to choose, such as ACE(3).fit(pairs).")
    choice = choose(
        X, Y, n_components, method, groups=groups, random_state=random_state, n_jobs=n_jobs, progress=progress
    )
    if choice.is_nothing:
        warnings.warn(NOTHING, NothingFound, stacklevel=2)
    if verbose:
        print(choice.origin, file=sys.stderr)
    return choice.decomposition


def choose(
    X: Any,
    Y: Any = None,
    n_components: int | None = None,
    method: str = "auto",
    *,
    among: Collection[str] = tuple(METHODS),
    test: bool = False,
    **options: Any,
) -> Choice:
    """Do the work of `decompose`, and keep what it has learnt on the way.

    Parameters
    ----------
    X, Y, n_components, method
        As for `decompose`.
    among : collection of str
        Methods that "auto" may choose.
    test : bool
        Test the components on held-out pairs even if their number is given, and those of `CA`, from 40 pairs on.
    **options
        groups, random_state, n_jobs and progress, as for `decompose`.
    """
    if not isinstance(method, str) or (method != "auto" and method not in METHODS):
        raise ValueError(f"method must be auto, {', '.join(METHODS)}, got {brief(method)}.")
    if n_components is not None:
        check_whole(n_components, "n_components", 1)
    choice = (
        _of_table(X, n_components, method)
        if Y is None
        else _of_pairs(X, Y, n_components, method, among, test, _Options(**options))
    )
    return replace(choice, decomposition=replace(choice.decomposition, origin=choice.origin))


@dataclass(frozen=True, eq=False)
class _Options:
    """Of all fits."""

    groups: Any = None
    random_state: int = 0
    n_jobs: int | None = None
    progress: bool | None = None


def _of_table(X: Any, n_components: int | None, method: str) -> Choice:
    if method not in ("auto", "ca"):
        raise ValueError(f"Y is missing: method {brief(method)} needs pairs (x, y).")
    try:
        return Choice("ca", "X is a table of counts", CA(n_components=n_components).fit(X).decomposition_)
    except ValueError as error:
        raise ValueError(f"Y is missing, and without it X must be a table of counts: {error}") from None


def _of_pairs(
    X: Any, Y: Any, n_components: int | None, method: str, among: Collection[str], test: bool, options: _Options
) -> Choice:
    pairs = Pairs.of(X, Y)
    names = [name for name in sensible(pairs) if name in among] or ["kernel"] if method == "auto" else [method]
    best, reason, compared = _chosen(X, Y, names, n_components, method, pairs, options)
    is_counted = n_components is None and best != "ca"
    most, tested = n_components or (pairs.limit if pairs.n >= FEW else 1), None
    if pairs.n >= FEW and (is_counted or test):
        most, tested = _counted(X, Y, best, most, compared if is_counted else None, pairs, options)
        reason += f"; {tested.n_components} of {len(tested.pvalues)} components significant on held-out pairs"
    if best == "ca":
        return Choice(best, reason, CA(n_components=n_components).fit(X, Y).decomposition_, tested)
    d = fitted(estimator(best, pairs, most, options.random_state), X, Y, options.groups).decomposition_
    if is_counted and tested:  # of the functions that were tested: a fit with fewer components would be another one
        d = d.truncate(max(1, tested.n_components))
    return Choice(best, reason, d, tested, is_compared=len(names) > 1)


def _counted(
    X: Any, Y: Any, method: str, most: int, compared: CrossFit | None, pairs: Pairs, options: _Options
) -> tuple[int, LatentDimension]:
    """Test of the components, and of how many.

    A fit of many components may learn so much by heart that none of them holds. If the comparison has shown that
    there is something, as many as it had are tested instead.
    """
    tested = latent_dimension(estimator(method, pairs, most, options.random_state), X, Y, **vars(options))
    if tested.n_components or compared is None or len(compared.correlations) >= most:
        return most, tested
    if compared.captured_interval[0] <= 0:
        return most, tested
    fewer = len(compared.correlations)
    return fewer, latent_dimension(estimator(method, pairs, fewer, options.random_state), X, Y, **vars(options))


def _chosen(
    X: Any, Y: Any, names: list[str], n_components: int | None, method: str, pairs: Pairs, options: _Options
) -> tuple[str, str, CrossFit | None]:
    """Method, reason, and what it was on held-out pairs if it was compared with others."""
    if names == ["ca"]:
        reason = "asked for" if method != "auto" else f"X and Y are {pairs.x.labels} and {pairs.y.labels} labels"
        return "ca", reason, None
    if len(names) == 1:
        return names[0], "asked for" if method != "auto" else "nothing else suits", None
    comparison = compare(X, Y, names, n_components, **vars(options))
    return comparison.best, _why(comparison, comparison.best), comparison.results[comparison.best]


def _why(comparison: Comparison, best: str) -> str:
    captured = {name: result.captured for name, result in comparison.results.items() if name != best}
    mine = f"captures {comparison.results[best].captured:.3g} on held-out pairs"
    others = ", ".join(f"{name} {value:.3g}" for name, value in sorted(captured.items(), key=lambda item: -item[1]))
    return f"{mine} ({others})" if others else mine
