"""What tests of components return: p-values, the number of components, intervals of the PICs."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from correspondence._util.arguments import check_whole, read_only
from correspondence._util.html_tables import HtmlTable
from correspondence._util.summaries import WithSummary
from correspondence.results.evidence import Evidence, find_points, number_components
from correspondence.results.evidence_texts import describe_significant

__all__ = ["ALL_PAIRS", "LEFT_OF_ALL_PAIRS", "LatentDimension", "PermutationTest", "PicIntervals"]

ALL_PAIRS = "all pairs"
LEFT_OF_ALL_PAIRS = "what is left of all pairs"


@dataclass(frozen=True, eq=False, repr=False)
class PermutationTest(WithSummary, HtmlTable):
    """Test of whether each component is more than chance.

    Attributes
    ----------
    pvalues : ndarray of shape (d,)
        P-value of each component, never smaller than that of the one before.
    correlations : ndarray of shape (d,)
        Correlations on the held-out pairs, without what a component has in common with earlier ones; for a test on all
        pairs, the training correlations.
    statistics : ndarray of shape (d,)
        What is compared with chance: the held-out correlation, or for a test on all pairs singular value i of the
        covariances of its first kind of features (for the first component, of covariances in units of their standard
        errors). It is 0 for components that were not tested because an earlier one failed.
    null : ndarray of shape (n_permutations, d)
        The same statistics by chance: for permuted pairs, or, for later components of a test on all pairs, for
        variables without these components.
    n_permutations : int
        Number of permutations drawn.
    kind : {"all pairs", "what is left of all pairs", "held-out pairs", "refitted", "all rows"}
        Kind of the test. "what is left of all pairs" is that of pairs with given variables, whose chance is drawn by
        random signs instead of permutations; "all rows" is that of many columns, whose statistics are eigenvalues
        divided by the number of columns, that is inertias.

    Examples
    --------
    >>> import numpy as np
    >>> import correspondence as co
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2)); Y = X + rng.normal(size=(300, 2))
    >>> test = co.permutation_test(co.CCA(n_components=2), X, Y, 99)
    >>> test.pvalues                                    # none of 99 exchanges does as well
    array([0.01, 0.01])
    >>> bool((test.statistics > test.band).all())
    True
    """

    pvalues: np.ndarray
    correlations: np.ndarray
    statistics: np.ndarray
    null: np.ndarray
    n_permutations: int
    kind: str

    def __post_init__(self) -> None:
        read_only(self, "pvalues", "correlations", "statistics", "null")

    @property
    def band(self) -> np.ndarray:
        """Statistic of each component that chance exceeds in 5 % of the permutations."""
        return np.quantile(self.null, 0.95, axis=0)

    def take_first(self, d: int) -> PermutationTest:
        """Return the test of the first components.

        Parameters
        ----------
        d : int
            Keep this many components.

        Returns
        -------
        PermutationTest
            The same test without the other components.
        """
        arrays = {name: getattr(self, name)[..., :d] for name in ("pvalues", "correlations", "statistics", "null")}
        return replace(self, **arrays)

    @property
    def evidence(self) -> Evidence:
        """Evidence about the components, in the form that pictures and sentences read."""
        is_held_out = self.kind == "held-out pairs"
        return Evidence(self.correlations, is_held_out, pvalues=self.pvalues, band=self.band if is_held_out else None)

    def write_summary(self) -> str:
        """Write how many components are more than chance.

        Returns
        -------
        str
            The lines that `summary` prints.
        """
        return describe_significant(self.evidence, self._describe_kind())

    def _collect_columns(self) -> dict[str, np.ndarray]:
        figure = "held_out" if self.kind == "held-out pairs" else "training"
        return number_components({figure: self.correlations, "pvalue": self.pvalues})

    def __repr__(self) -> str:
        figure = "held out" if self.kind == "held-out pairs" else "training"
        lines = [f"PermutationTest {self._describe_kind()}", f"  component  {figure:>11}  p-value"]
        rows = zip(self.correlations, self.pvalues, strict=True)
        return "\n".join(lines + [f"  {i:>9}  {r:>11.4f}  {p:>7.4f}" for i, (r, p) in enumerate(rows, 1)])

    def _describe_kind(self) -> str:
        if self.kind == "refitted":
            return f"of training correlations, refitted {self.n_permutations} times"
        how = "random signs" if self.kind == LEFT_OF_ALL_PAIRS else "permutations"
        return f"on {self.kind}, {self.n_permutations} {how}"


@dataclass(frozen=True, eq=False, repr=False)
class LatentDimension(WithSummary, HtmlTable):
    """How many components two variables share.

    Attributes
    ----------
    n_components : int
        Number of leading components whose p-value is at most `alpha`.
    interval : tuple of int
        Smallest and largest number that the data allow. The smallest counts the components whose p-value is at most
        half of `alpha`; the largest is `n_components` plus the components that the data do not rule out, wherever they
        are: one is ruled out if its interval lies below `negligible`.
    pvalues : ndarray of shape (d,)
        P-value of each component tested, never smaller than that of the one before: the p-values of
        `permutation_test`, and 1 after the first component that is not significant.
    correlations : ndarray of shape (d,)
        Correlations of f_i and g_i on held-out pairs, without what they have in common with earlier components.
    intervals : ndarray of shape (d, 2)
        Confidence intervals of the correlations at the level 1 - `alpha`.
    training : ndarray of shape (d,)
        Correlations of the fits on their own pairs, averaged over the fits.
    band : ndarray of shape (d,)
        Held-out correlation that chance exceeds with probability `alpha`. A test on all pairs has more power than one
        on the held-out pairs alone, so a component may be significant though it does not reach the band.
    alpha, negligible : float
        Values of these arguments of `latent_dimension`.
    test : PermutationTest
        The underlying permutation test.

    Examples
    --------
    >>> import numpy as np
    >>> import correspondence as co
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 3)); Y = rng.normal(size=(300, 3)); Y[:, 0] += X[:, 0]
    >>> result = co.latent_dimension(co.CCA(n_components=3), X, Y)
    >>> result.summary()
    1 component (what a shared variable with 2 classes would give)
    >>> (result.pvalues <= result.alpha).tolist()
    [True, False, False]
    """

    _n_text_lines = 2

    n_components: int
    interval: tuple[int, int]
    pvalues: np.ndarray
    correlations: np.ndarray
    intervals: np.ndarray
    training: np.ndarray
    band: np.ndarray
    alpha: float
    negligible: float
    test: PermutationTest
    can_be_more: bool = True
    """Whether the estimator could have more components than were tested."""

    def __post_init__(self) -> None:
        read_only(self, "pvalues", "correlations", "intervals", "training", "band")

    @property
    def at_least(self) -> bool:
        """Whether all components tested are significant, so that there may be more; test more `n_components`."""
        return self.can_be_more and self.n_components == len(self.pvalues) > 0

    @property
    def n_classes(self) -> int:
        """Number of classes of a variable that, if it is all the two variables share, gives as many components."""
        return self.n_components + 1

    def take_first(self, n_components: int) -> LatentDimension:
        """Keep what is known of the first components.

        Parameters
        ----------
        n_components : int
            Keep this many components.

        Returns
        -------
        LatentDimension
            The result for these; `interval` begins with no more than these and still ends where it did.
        """
        check_whole(n_components, "n_components", 1)
        if n_components >= len(self.pvalues):
            return self
        arrays = ("pvalues", "correlations", "intervals", "training", "band")
        return replace(
            self,
            n_components=min(self.n_components, n_components),
            interval=(min(self.interval[0], n_components), self.interval[1]),
            test=self.test.take_first(n_components),
            can_be_more=self.n_components > n_components,
            **{name: getattr(self, name)[:n_components] for name in arrays},
        )

    def limit(self, n_components: int) -> LatentDimension:
        """Leave out the components that the functions do not have.

        Parameters
        ----------
        n_components : int
            The functions have this many components; if they have none, everything is kept.

        Returns
        -------
        LatentDimension
            The result for these, with an `interval` that ends with them.
        """
        if not 0 < n_components < len(self.pvalues):
            return self
        low, high = self.interval
        return replace(
            self.take_first(n_components), interval=(min(low, n_components), min(high, n_components)), can_be_more=False
        )

    @property
    def evidence(self) -> Evidence:
        """Evidence about the components, in the form that pictures and sentences read."""
        return Evidence(
            self.correlations,
            intervals=self.intervals,
            level=1 - self.alpha,
            pvalues=self.pvalues,
            alpha=self.alpha,
            band=self.band,
            training=self.training,
            may_be_more=self.at_least,
        )

    def write_summary(self) -> str:
        """Put the answer into words.

        Returns
        -------
        str
            One line.
        """
        found = "1 component" if self.n_components == 1 else f"{self.n_components} components"
        if self.at_least:
            return f"at least {found}, as many as were tested"
        if not self.n_components:
            return "0 components: none is more than chance"
        return f"{found} (what a shared variable with {self.n_classes} classes would give)"

    def _collect_columns(self) -> dict[str, np.ndarray]:
        is_judged = ~find_points(self.intervals)
        low, high = np.where(is_judged, self.intervals.T, np.nan)
        held_out = np.where(is_judged, self.correlations, np.nan)
        figures = {"training": self.training, "held_out": held_out, "low": low, "high": high}
        return number_components(figures | {"pvalue": self.pvalues})

    def __repr__(self) -> str:
        low, high = self.interval
        more = " or more" if self.can_be_more and high == len(self.pvalues) else ""
        lines = [
            f"LatentDimension: {self.write_summary()}",
            f"  interval {low} to {high}{more}, alpha {self.alpha:g}, "
            f"{self.test.n_permutations} permutations of {self.test.kind}",
            "  component  training  held out                    p-value",
        ]
        rows = zip(self.training, self.correlations, self.intervals, self.pvalues, strict=True)
        for i, (t, r, (a, b), p) in enumerate(rows, 1):
            judged = "not judged" if find_points(np.array([[a, b]]))[0] else f"{r:.4f} [{a:.4f}, {b:.4f}]"
            lines.append(f"  {i:>9}  {t:>8.4f}  {judged:<26}  {p:>7.4f}")
        return "\n".join(lines)


@dataclass(frozen=True, eq=False, repr=False)
class PicIntervals(HtmlTable):
    """PICs of the population, with confidence intervals.

    Attributes
    ----------
    pics : ndarray of shape (d,)
        PICs without the bias of the training values.
    intervals : ndarray of shape (d, 2)
        Confidence intervals of the PICs; their roots are intervals of the correlations.
    training : ndarray of shape (d,)
        PICs of the fit to all pairs.
    level : float
        Confidence level of the intervals.
    n_resamples : int
        Number of half-samples drawn.

    Examples
    --------
    >>> import numpy as np
    >>> import correspondence as co
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(300, 1)); y = x + rng.normal(size=(300, 1))            # the exact PIC is 0.5
    >>> result = co.pic_intervals(co.CCA(n_components=1), x, y)
    >>> bool(result.intervals[0, 0] < 0.5 < result.intervals[0, 1])
    True
    """

    pics: np.ndarray
    intervals: np.ndarray
    training: np.ndarray
    level: float
    n_resamples: int

    def __post_init__(self) -> None:
        read_only(self, "pics", "intervals", "training")

    def _collect_columns(self) -> dict[str, np.ndarray]:
        low, high = self.intervals.T
        return number_components({"training": self.training, "pic": self.pics, "low": low, "high": high})

    def __repr__(self) -> str:
        lines = [
            f"PICs with {100 * self.level:g} % intervals from {self.n_resamples} half-samples",
            "  component  training     PIC",
        ]
        rows = zip(self.training, self.pics, self.intervals, strict=True)
        lines += [f"  {i:>9}  {t:>8.4f}  {v:.4f} [{a:.4f}, {b:.4f}]" for i, (t, v, (a, b)) in enumerate(rows, 1)]
        return "\n".join(lines)
