"""What is known of components beyond the training pairs, whichever procedure found it out, and the table of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

__all__ = ["Component", "Evidence", "find_judged", "list_components"]

ALPHA = 0.05  # significance level of a test that has none of its own
LEVEL = 0.95  # confidence level of intervals that have none of their own


@dataclass(frozen=True, eq=False)
class Evidence:
    """What a procedure knows of the components of a fit; every result that can be held against a fit has one.

    Attributes
    ----------
    correlations : ndarray of shape (d,)
        Correlations of f_i and g_i: on held-out pairs, or those of the training if nothing was held out.
    is_held_out : bool
        Whether they are of pairs not used in the fit.
    intervals : ndarray of shape (d, 2) or None
        Confidence intervals of the correlations.
    level : float
        Their confidence level.
    pvalues : ndarray of shape (d,) or None
        P-value of each component.
    alpha : float
        Largest p-value of a significant component.
    band : ndarray of shape (d,) or None
        Size of a held-out correlation that chance hardly exceeds.
    training : ndarray of shape (d,) or None
        Correlations that the fits to parts of the pairs had on their own pairs.
    captured : float or None
        What all components together capture of the held-out pairs.
    may_be_more : bool
        Whether all components that were tested are there, so that more could be found.
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
        """Number of leading components that hold: that are significant, or have intervals above 0."""
        if self.pvalues is not None:
            is_there = self.pvalues <= self.alpha
        elif self.intervals is not None:
            is_there = self.intervals[:, 0] > 0
        else:
            is_there = np.ones(len(self.correlations), dtype=bool)
        return int(np.cumprod(is_there).sum())


def find_judged(intervals: np.ndarray) -> np.ndarray:
    """Tell the components whose correlation could be judged from those of which nothing is known.

    Parameters
    ----------
    intervals : ndarray of shape (d, 2)
        Intervals of held-out correlations; [-1, 1] is that of a function that is constant on the held-out pairs.

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
    """One pair of functions in the table of components; None is what is not known.

    Attributes
    ----------
    component : int
        Its number, from 1.
    pic, training : float
        Its PIC and its correlation on the training pairs.
    held_out, low, high : float or None
        Its correlation on held-out pairs, and the interval of that.
    pvalue : float or None
        Its p-value.
    share : float
        Share of the PIC in chi2.
    chance_low, chance_high : float or None
        Where chance keeps the held-out correlation.
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
        """Return what tables and files hold of it, by name."""
        record = asdict(self)
        return {name: record[name] for name in ("component", "pic", "training", "held_out", "low", "high", "pvalue")}


def list_components(d: Any, evidence: Evidence | None = None) -> list[Component]:
    """List the components of a decomposition with what is known of each.

    Parameters
    ----------
    d : Decomposition
        The fit, with its values on the training pairs.
    evidence : Evidence, optional
        What is known of other pairs.

    Returns
    -------
    list of Component

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
    """What is known of all components, by the names of `Component`; NaN where nothing is."""
    unknown = ~evidence.is_judged
    known = {"held_out": np.where(unknown, np.nan, evidence.correlations)}
    if evidence.intervals is not None:
        known["low"], known["high"] = np.where(unknown[:, None], np.nan, evidence.intervals).T
    if evidence.pvalues is not None:
        known["pvalue"] = evidence.pvalues
    if evidence.band is not None:
        known["chance_low"], known["chance_high"] = -evidence.band, evidence.band
    return known
