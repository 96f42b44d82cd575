"""What held-out pairs say of the components: one evidence type, of one evaluation or of a cross-fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from correspondence._util.arguments import check_whole, read_only
from correspondence._util.html_tables import HtmlTable
from correspondence._util.summaries import WithSummary
from correspondence.results.evidence_texts import describe_holding

__all__ = [
    "Component",
    "CrossFit",
    "Evidence",
    "HeldOut",
    "compute_gain",
    "find_judged",
    "find_points",
    "list_components",
    "number_components",
]

ALPHA = 0.05  # significance level of a test that states none
MIN_INTERVAL_WIDTH = 1e-9  # an interval of less is a point
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
        if self.intervals is not None:
            is_there = is_there & ~find_points(self.intervals)
        return int(np.cumprod(is_there).sum())


def find_judged(intervals: np.ndarray) -> np.ndarray:
    """Find the components whose correlation could be judged on held-out pairs.

    Parameters
    ----------
    intervals : ndarray of shape (d, 2)
        These are intervals of held-out correlations; that of a function that is constant on these pairs, or decided by
        a few of them, is [-1, 1], and a point says nothing either.

    Returns
    -------
    ndarray of bool of shape (d,)

    Examples
    --------
    >>> find_judged(np.array([[0.2, 0.6], [-1.0, 1.0], [1.0, 1.0]]))
    array([ True, False, False])
    """
    return ~((intervals[:, 0] <= -1) & (intervals[:, 1] >= 1)) & ~find_points(intervals)


def find_points(intervals: np.ndarray) -> np.ndarray:
    """Find the components whose interval is a point, which says that it could not be estimated.

    They are not judged, and not significant.

    Parameters
    ----------
    intervals : ndarray of shape (d, 2)
        These are intervals of held-out correlations.

    Returns
    -------
    ndarray of bool of shape (d,)

    Examples
    --------
    >>> find_points(np.array([[0.2, 0.6], [1.0, 1.0]]))
    array([False,  True])
    """
    return np.abs(intervals[:, 1] - intervals[:, 0]) < MIN_INTERVAL_WIDTH


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
    share : float or None
        Share of the PIC in the total inertia.
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
    share: float | None = np.nan
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
        band = np.where(unknown, np.nan, evidence.band)  # chance keeps nothing where nothing was judged
        known["chance_low"], known["chance_high"] = -band, band
    return known


@dataclass(frozen=True, eq=False, repr=False)
class HeldOut(WithSummary, HtmlTable):
    """What a decomposition reaches on pairs not used in the fit.

    Attributes
    ----------
    correlations : ndarray of shape (d,)
        Pearson correlation of f_i(x) and g_i(y) over the pairs; 0, with the interval [-1, 1], where one of them is
        constant.
    intervals : ndarray of shape (d, 2)
        Confidence intervals of the correlations, for any distribution: by leaving out each pair in turn, on Fisher's z
        scale, with a quantile of Student's t that allows for heavy tails. If few pairs decide, evaluation gives the
        warning `UncertainInterval`.
    captured : float
        Lower bound on the total inertia that the functions prove: in the population equal to it only for the true
        decomposition, and negative if they predict worse than no dependence at all. The estimate has no bias: the
        moments of x and y are multiplied without the terms of a pair with itself. Nothing is left out for a single
        pair, or for the shares of a population (weights that add up to 1 at most).
    captured_interval : ndarray of shape (2,)
        Confidence interval of `captured`, from -inf to inf for two pairs or fewer.
    n : float
        Number of pairs. Weights count as numbers of pairs: a weight of 3 is the same as three copies of the pair, and
        the sum of the weights is the sample size. Scale weights that are not counts accordingly.
    level : float
        Confidence level of the intervals.

    Examples
    --------
    >>> import numpy as np
    >>> import correspondence as co
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(1000, 1)); y = x + rng.normal(size=(1000, 1))          # the exact correlation is 0.71
    >>> held = co.CCA(n_components=1).fit(x[:500], y[:500]).evaluate(x[500:], y[500:])
    >>> held
    HeldOut on n 500: captured 0.4976 [0.4315, 0.5636] (95 %)
      correlation 1: 0.7090 [0.6604, 0.7517]
    """

    correlations: np.ndarray
    intervals: np.ndarray
    captured: float
    captured_interval: np.ndarray
    n: float
    level: float

    @property
    def evidence(self) -> Evidence:
        """Evidence about the components, in the form that pictures and sentences read."""
        return Evidence(self.correlations, intervals=self.intervals, level=self.level, captured=self.captured)

    def write_summary(self) -> str:
        """Write which components hold, and what all of them capture.

        Returns
        -------
        str
            The lines that `summary` prints.
        """
        return describe_holding(self.evidence, self.captured_interval, f"{self.n:,.10g} pairs")

    def _collect_columns(self) -> dict[str, np.ndarray]:
        low, high = self.intervals.T
        return number_components({"held_out": self.correlations, "low": low, "high": high})

    def __repr__(self) -> str:
        low, high = self.captured_interval
        lines = [
            f"HeldOut on n {self.n:g}: captured {self.captured:.4g} [{low:.4g}, {high:.4g}] ({100 * self.level:g} %)"
        ]
        for i, (value, (low, high)) in enumerate(zip(self.correlations, self.intervals, strict=True), start=1):
            lines.append(f"  correlation {i}: {value:.4f} [{low:.4f}, {high:.4f}]")
        return "\n".join(lines)


def number_components(figures: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Put the numbers of the components, from 1, before the columns of their figures.

    Examples
    --------
    >>> number_components({"pic": np.array([0.5, 0.2])})
    {'component': array([1, 2]), 'pic': array([0.5, 0.2])}
    """
    n = len(next(iter(figures.values())))
    return {"component": np.arange(1, n + 1)} | figures


def compute_gain(first: np.ndarray, second: np.ndarray) -> float:
    """Compute by how many standard errors the second of two `captured` values exceeds the first, from their terms."""
    difference = second - first
    if np.abs(difference).max(initial=0) <= 1e-9 * np.abs(first).max(initial=0):
        return 0.0  # the same functions but for rounding, whose errors may all have one sign
    error = difference.std() / np.sqrt(len(difference))
    return float(difference.mean() / error if error > 0 else np.sign(difference.mean()) * np.inf)


@dataclass(frozen=True, eq=False, repr=False)
class CrossFit(WithSummary, HtmlTable):
    """Functions of all pairs, each pair judged by a fit that did not use it.

    Attributes
    ----------
    correlations : ndarray of shape (d,)
        Correlations of f_i and g_i over all held-out pairs.
    intervals : ndarray of shape (d, 2)
        Confidence intervals of the correlations of the functions found. Whether a component exists is tested by
        `permutation_test`.
    captured, captured_interval : float, ndarray of shape (2,)
        What the functions capture of the held-out pairs, on average over the splits, and the confidence interval of
        what the fits capture in the population, on average.
    training : ndarray of shape (d,)
        Correlations of the fits on their own pairs, averaged over the splits.
    F, G : ndarray of shape (n, d)
        Out-of-fold values of f and g, with the signs of the first fit; NaN for pairs that no split holds out, and the
        value of the last split for pairs held out several times.
    splits : list of HeldOut
        Figures of each split on its own.
    seconds : float
        Mean duration of a fit.

    Examples
    --------
    >>> import numpy as np
    >>> import correspondence as co
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2)); Y = X + rng.normal(size=(300, 2))
    >>> result = co.crossfit(co.CCA(n_components=2), X, Y)
    >>> result.correlations.round(2)                    # the exact ones are 0.71
    array([0.74, 0.74])
    >>> result.F.shape, len(result.splits)
    ((300, 2), 5)
    """

    correlations: np.ndarray
    intervals: np.ndarray
    captured: float
    captured_interval: np.ndarray
    training: np.ndarray
    F: np.ndarray
    G: np.ndarray
    splits: list[HeldOut]
    seconds: float
    terms: np.ndarray
    """One term for each held-out pair, or group; their mean is `captured`."""
    nested_terms: np.ndarray | None = None
    """The terms of the first 1, 2, ..., d components alone, one row for each; see `captured_first`."""
    unit: str = "pairs"
    """What is held out: pairs, or rows of a table."""

    def __post_init__(self) -> None:
        read_only(self, "correlations", "intervals", "captured_interval", "training", "F", "G", "terms")
        if self.nested_terms is not None:
            read_only(self, "nested_terms")

    @property
    def n_held_out(self) -> int:
        """Number of pairs that a split holds out."""
        return int(np.isfinite(self.F).all(axis=1).sum())

    def captured_first(self, n_components: int) -> tuple[float, np.ndarray]:
        """Return what the first components capture without the others.

        Parameters
        ----------
        n_components : int
            Judge this many components, from 1 to all of them.

        Returns
        -------
        captured : float
            What these components capture of the held-out pairs, on average over the splits.
        terms : ndarray of shape (n,)
            One term for each pair, or group, whose mean is `captured`, to compare with those of another cross-fit.

        Examples
        --------
        >>> import numpy as np
        >>> import correspondence as co
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(300, 3)); Y = rng.normal(size=(300, 3)); Y[:, 0] += X[:, 0]      # one component
        >>> result = co.crossfit(co.CCA(n_components=3), X, Y)
        >>> [round(result.captured_first(k)[0], 2) for k in (1, 2, 3)]
        [0.49, 0.45, 0.45]
        """
        check_whole(n_components, "n_components", 1, len(self.correlations))
        if self.nested_terms is None:
            raise ValueError("nested_terms must be given to judge the first components alone. Use crossfit.")
        terms = self.nested_terms[n_components - 1]
        return float(terms.mean()), terms

    @property
    def evidence(self) -> Evidence:
        """Evidence about the components, in the form that pictures and sentences read."""
        return Evidence(self.correlations, intervals=self.intervals, training=self.training, captured=self.captured)

    def write_summary(self) -> str:
        """Write which components hold, and what all of them capture.

        Returns
        -------
        str
            The lines that `summary` prints.
        """
        return describe_holding(self.evidence, self.captured_interval, f"{self.n_held_out:,} {self.unit}")

    def _collect_columns(self) -> dict[str, np.ndarray]:
        low, high = self.intervals.T
        figures = {"training": self.training, "held_out": self.correlations}
        return number_components(figures | {"low": low, "high": high})

    def __repr__(self) -> str:
        low, high = self.captured_interval
        lines = [
            f"CrossFit with {len(self.splits)} splits, {self.n_held_out} {self.unit} held out: "
            f"captured {self.captured:.4g} [{low:.4g}, {high:.4g}] (95 %)",
            "  component  training  held out",
        ]
        rows = zip(self.training, self.correlations, self.intervals, strict=True)
        lines += [f"  {i:>9}  {t:>8.4f}  {r:>8.4f} [{a:.4f}, {b:.4f}]" for i, (t, r, (a, b)) in enumerate(rows, 1)]
        return "\n".join(lines)
