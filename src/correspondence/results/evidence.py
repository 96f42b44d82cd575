"""Evidence about components from beyond the training pairs, whichever procedure found it, and the table of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Component", "Evidence", "find_judged", "list_components"]

ALPHA = 0.05  # significance level of a test that states none
LEVEL = 0.95  # confidence level of intervals that state none


@dataclass(frozen=True, eq=False)
class Evidence:
    """What a procedure knows of the components of a fit; every result that can be compared with a fit has one.

    Attributes
    ----------
    correlations : ndarray of shape (d,)
        Correlations of f_i and g_i: on held-out pairs, or on the training pairs if none were held out.
    is_held_out : bool
        Whether they are correlations on held-out pairs.
    intervals : ndarray of shape (d, 2) or None
        Confidence intervals of the correlations.
    level : float
        Confidence level of the intervals.
    pvalues : ndarray of shape (d,) or None
        P-value of each component.
    alpha : float
        Largest p-value of a significant component.
    band : ndarray of shape (d,) or None
        Size of a held-out correlation that chance rarely exceeds.
    training : ndarray of shape (d,) or None
        Correlations of the fits to parts of the pairs on their own pairs.
    captured : float or None
        What all components together capture of the held-out pairs.
    may_be_more : bool
        Whether all components tested are significant, so that more could be found.
    """

    correlations: np.ndarray
    is_held_out: bool = True
    intervals: np.ndarray | None = None
    level: float = LEVEL
    pvalues: np.ndarray | None = None
    alpha: float = ALPHA
    band: np.ndarray | None = None
    training: np.ndarray | None = None
    captured: float | None = None
    may_be_more: bool = False

    @property
    def is_judged(self) -> np.ndarray:
        """Whether each component could be judged on held-out pairs."""
        if not self.is_held_out or self.intervals is None:
            return np.full(len(self.correlations), self.is_held_out)
        return find_judged(self.intervals)

    @property
    def n_holding(self) -> int:
        """Number of leading components that are significant or, without a test, have intervals above 0."""
        if self.pvalues is not None:
            is_there = self.pvalues <= self.alpha
        elif self.intervals is not None:
            is_there = self.intervals[:, 0] > 0
        else:
            is_there = np.ones(len(self.correlations), dtype=bool)
        return int(np.cumprod(is_there).sum())


def find_judged(intervals: np.ndarray) -> np.ndarray:
    """Find the components whose correlation could be judged on held-out pairs.

    Parameters
    ----------
    intervals : ndarray of shape (d, 2)
        These are intervals of held-out correlations; that of a function that is constant on these pairs is [-1, 1].

    Returns
    -------
    ndarray of bool of shape (d,)

    Examples
    --------
    >>> find_judged(np.array([[0.2, 0.6], [-1.0, 1.0]]))
    array([ True, False])
    """
    return ~((intervals[:, 0] <= -1) & (intervals[:, 1] >= 1))


@dataclass(frozen=True)
class Component:
    """One pair of functions in the table of components; None stands for what is not known.

    Attributes
    ----------
    component : int
        Number of the component, from 1.
    pic, training : float
        PIC, and correlation on the training pairs.
    held_out, low, high : float or None
        Correlation on held-out pairs, and the ends of its interval.
    pvalue : float or None
        P-value of the component.
    share : float
        Share of the PIC in chi2.
    chance_low, chance_high : float or None
        Range of held-out correlations that chance explains.
    """

    component: int
    pic: float
    training: float
    held_out: float | None = None
    low: float | None = None
    high: float | None = None
    pvalue: float | None = None
    share: float = np.nan
    chance_low: float | None = None
    chance_high: float | None = None

    def to_record(self) -> dict[str, Any]:
        """Return the values that tables and files hold, by name."""
        names = ("component", "pic", "training", "held_out", "low", "high", "pvalue")
        return {name: getattr(self, name) for name in names}


def list_components(d: Any, evidence: Evidence | None = None) -> list[Component]:
    """List the components of a decomposition with what is known of each.

    Parameters
    ----------
    d : Decomposition
        The fit gives the values on the training pairs.
    evidence : Evidence, optional
        The evidence gives the values on other pairs.

    Returns
    -------
    list of Component
        One entry for each component of the fit.

    Examples
    --------
    >>> import correspondence as co
    >>> d = co.CA().fit(co.datasets.load_smoke()).decomposition_
    >>> [(c.component, round(c.training, 2)) for c in list_components(d)]
    [(1, 0.27), (2, 0.1), (3, 0.02)]
    """
    known = {} if evidence is None else _list_known(evidence)
    return [
        Component(
            component=i + 1,
            pic=float(d.pics[i]),
            training=float(d.correlations[i]),
            share=float(d.inertia_ratios[i]),
            **{name: float(values[i]) for name, values in known.items() if i < len(values) and np.isfinite(values[i])},
        )
        for i in range(d.n_components)
    ]


def _list_known(evidence: Evidence) -> dict[str, np.ndarray]:
    """List what is known of all components, by the names of `Component`; NaN where nothing is known."""
    unknown = ~evidence.is_judged
    known = {"held_out": np.where(unknown, np.nan, evidence.correlations)}
    if evidence.intervals is not None:
        known["low"], known["high"] = np.where(unknown[:, None], np.nan, evidence.intervals).T
    if evidence.pvalues is not None:
        known["pvalue"] = evidence.pvalues
    if evidence.band is not None:
        known["chance_low"], known["chance_high"] = -evidence.band, evidence.band
    return known
