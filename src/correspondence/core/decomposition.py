"""The one object that every estimator returns and every picture reads.

Names and the paper's symbols: ``pics`` are lambda_i, ``correlations`` are sqrt(lambda_i), ``f`` and ``g`` the
principal functions, ``chi2`` is chi^2(X; Y); the constant pair f_0 = g_0 = 1 with lambda_0 = 1 is left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from correspondence._util import files
from correspondence._util.arguments import check_weights, check_whole, read_only
from correspondence._util.files import State
from correspondence._util.html_tables import HtmlTable
from correspondence._util.summaries import WithSummary
from correspondence._util.text import format_components
from correspondence.core.asymmetric import ASYMMETRIC_FORMAT, AsymmetricDecomposition, load_asymmetric
from correspondence.core.functions import PrincipalFunctions, find_function_class
from correspondence.core.scoring import score_pairs, score_parts
from correspondence.data.beside_given import match_given
from correspondence.data.pairs.pairs import Pairs, check_source
from correspondence.results.evidence import HeldOut, number_components
from correspondence.results.points import FrameResult

__all__ = ["Decomposition", "as_decomposition", "load", "refuse_given"]

FILE_FORMAT = "correspondence.Decomposition"
FILE_FORMAT_VERSION = 1


@dataclass(frozen=True, eq=False, repr=False)
class Decomposition(WithSummary, HtmlTable):
    """Decomposition of a joint distribution: p(x, y) / (p(x) p(y)) = 1 + sum_i sqrt(lambda_i) f_i(x) g_i(y).

    Attributes
    ----------
    pics : ndarray of shape (d,)
        Principal inertia components lambda_1 >= ... >= lambda_d, each between 0 and 1.
    f, g : PrincipalFunctions
        ``f(X)`` and ``g(Y)`` are arrays of shape (n, d), with mean 0 and variance 1 on the data of the fit.
    chi2 : float
        Total inertia: the sum of all PICs, those not kept included; for a table its chi-square statistic divided by
        the total.
    n : float
        Number (total weight) of the pairs of the fit.
    origin : str
        How `decompose` chose it; empty if another procedure made it.

    Examples
    --------
    >>> import correspondence as co
    >>> d = co.CA().fit(co.datasets.load_smoke()).decomposition_
    >>> d
    Decomposition with 3 components, total inertia 0.08519, n 193
      component           1        2        3
      correlation    0.2734   0.1001   0.0203
      PIC            0.0748   0.0100   0.0004
      % of inertia     87.8     11.8      0.5
    >>> d.f(["SE"]).round(3)
    array([[1.392, 0.107, 0.254]])
    """

    pics: np.ndarray
    f: PrincipalFunctions
    g: PrincipalFunctions
    chi2: float
    n: float
    origin: str = ""

    def __post_init__(self) -> None:
        read_only(self, "pics")

    @property
    def n_components(self) -> int:
        """Number of components kept."""
        return len(self.pics)

    @property
    def correlations(self) -> np.ndarray:
        """Correlation E[f_i g_i] = sqrt(lambda_i) of each pair of functions."""
        return np.sqrt(self.pics)

    @property
    def inertia_ratios(self) -> np.ndarray:
        """Share of each component in the total inertia."""
        return self.pics / self.chi2 if self.chi2 > 0 else np.zeros(self.n_components)

    @property
    def maximal_correlation(self) -> float:
        """Largest correlation that functions of the two variables can have: sqrt(lambda_1)."""
        return float(self.correlations[0]) if self.n_components else 0.0

    def k_correlation(self, k: int) -> float:
        """Return the sum of the k largest PICs.

        Parameters
        ----------
        k : int
            The number of PICs must be from 0 to `n_components`.

        Returns
        -------
        float
            A number from 0 to the total inertia.
        """
        return float(self.pics[: self._check_k(k)].sum())

    def truncate(self, k: int) -> Decomposition:
        """Keep only the first k components.

        Parameters
        ----------
        k : int
            The number of components must be from 0 to `n_components`.

        Returns
        -------
        Decomposition
            The decomposition into these components, with the same total inertia.
        """
        k = self._check_k(k)
        return replace(self, pics=self.pics[:k], f=self.f.truncate(k), g=self.g.truncate(k))

    def evaluate(self, X: Any, Y: Any = None, sample_weight: Any = None, *, given: Any = None) -> HeldOut:
        """Evaluate the functions on pairs, ideally pairs that were not used in the fit.

        Parameters
        ----------
        X, Y : array-like
            The pairs must be in the same order. X alone may be `Pairs`, which are read twice, where they are.
        sample_weight : array-like of shape (n,), optional
            The pairs have these weights; each is 1 by default.
        given : array-like or frame, optional
            The given variables of the pairs, if the fit had some.

        Returns
        -------
        HeldOut
            ``.correlations`` of each component, ``.captured``, their intervals and ``.n``.
        """
        if isinstance(X, Pairs):
            check_source(X, Y, sample_weight)
            if self.f.needs_given or given is not None:
                raise ValueError(
                    "X must be in memory if there are given variables, got Pairs. Collect the pairs first."
                )
            parts = X.through(self.f.without_sample(), self.g.without_sample())
            return score_parts(parts.each, self.correlations, warn=True)
        X, Y = match_given(X, Y, given, is_needed=self.f.needs_given)
        F, G = self.f(X), self.g(Y)
        if len(F) != len(G):
            raise ValueError(f"X and Y must have the same length, got {len(F)} and {len(G)}.")
        weights = None if sample_weight is None else check_weights(sample_weight, len(F), "sample_weight")
        return score_pairs(F, G, self.correlations, weights, warn=True)

    def density_ratio(self, X: Any, Y: Any, pairwise: bool = False) -> np.ndarray:
        """Compute the ratio p(x, y) / (p(x) p(y)) by Lancaster's formula.

        Parameters
        ----------
        X, Y : array-like
            The ratio is computed at these values of the two variables.
        pairwise : bool
            If false, pair x_k with y_k; if true, pair every x with every y.

        Returns
        -------
        ndarray of shape (n,) or (len(X), len(Y))
            Ratios; 1 means unrelated. They may be slightly negative if some components are not kept.
        """
        if self.f.needs_given:
            raise ValueError(
                "given must be None in the fit for a density ratio: what is left of x and y given z may be spread "
                "differently for each z. Fit without given=, or compare d.f(X, given=Z) with d.g(Y, given=Z)."
            )
        F, G = self.f(X) * self.correlations, self.g(Y)
        if pairwise:
            return 1 + F @ G.T
        if len(F) != len(G):
            raise ValueError(
                f"X and Y must have the same length, got {len(F)} and {len(G)}. Use pairwise=True for all pairs."
            )
        return 1 + np.einsum("ij,ij->i", F, G)

    def conditional_expectation(
        self, h: Callable[[Any], Any] | Mapping[Any, float] | np.ndarray, X: Any, Y: Any = None
    ) -> np.ndarray:
        """Compute E[h(Y) | X = x], the best prediction of h(Y) from x in mean square.

        The paper's formula: with beta_i = E[h(Y) g_i(Y)] it is E[h(Y)] + sum_i sqrt(lambda_i) beta_i f_i(x).

        Parameters
        ----------
        h : callable, mapping or array-like
            It is a function of all values of Y, a dictionary from label to value, or the values themselves, one for
            each y of the fit (for a table: for each column). Several values for each y give as many columns.
        X : array-like
            Predict at these x.
        Y : array-like, optional
            Take the expectations of h over this sample of Y instead of that of the fit.

        Returns
        -------
        ndarray of shape (n,) or (n, number of values)
            Predictions for each x.
        """
        values, G, weights = self.g.evaluate_on_sample(h, Y)
        mean = weights @ values
        beta = (G * weights[:, None]).T @ values
        return mean + (self.f(X) * self.correlations) @ beta

    def save(self, path: str | Path) -> None:
        """Write the decomposition to one file (safetensors with a JSON description); `load` reads it back.

        Parameters
        ----------
        path : str or Path
            A file that exists is replaced once the new one is complete.
        """
        description, arrays = self.state()
        files.write_safetensors(path, arrays, description, FILE_FORMAT, FILE_FORMAT_VERSION)

    def state(self) -> State:
        """Take the decomposition apart, for a file format of your own.

        Returns
        -------
        description : dict
            Plain values, for JSON.
        arrays : dict of str to ndarray
            Arrays by name.
        """
        sides = State.join({"f": self.f.state(), "g": self.g.state()})
        numbers = {"chi2": self.chi2, "n": self.n, "origin": self.origin}
        return State(numbers | sides.description, {"pics": self.pics} | sides.arrays)

    @classmethod
    def from_state(
        cls, description: dict[str, Any], arrays: dict[str, np.ndarray], x_net: Any = None, y_net: Any = None
    ) -> Decomposition:
        """Put together what `state` took apart.

        Parameters
        ----------
        description : dict
            These are the plain values.
        arrays : dict of str to ndarray
            These are the arrays by name.
        x_net, y_net : torch.nn.Module, optional
            Give the nets of your own that the model was fitted with.

        Returns
        -------
        Decomposition
            The same decomposition.
        """
        nets = {"f": x_net, "g": y_net}
        sides = {name: _load_functions(name, description, arrays, nets[name]) for name in ("f", "g")}
        numbers = (description[name] for name in ("chi2", "n", "origin"))
        pics = arrays["pics"]
        if pics.ndim != 1 or not (np.isfinite(pics) & (pics >= 0)).all():
            raise TypeError("pics must be finite and non-negative.")
        if not all(math.isfinite(description[name]) for name in ("chi2", "n")):
            raise TypeError("chi2 and n must be finite numbers.")
        return cls(pics, sides["f"], sides["g"], *numbers)

    def _check_k(self, k: int) -> int:
        return check_whole(k, "k", 0, self.n_components)

    def write_summary(self) -> str:
        """Write how strong the first component is, and what share of the dependence it has.

        Returns
        -------
        str
            The lines that `summary` prints.
        """
        d = self.n_components
        if not d:
            return f"No component was found in {self.n:,.10g} pairs."
        first = "The only component" if d == 1 else f"The first of {d} components"
        share = f"{100 * self.inertia_ratios[0]:.0f} % of the total inertia of {self.chi2:.4g}"
        text = (
            f"{first} has a correlation of {self.correlations[0]:.2f} on the {self.n:,.10g} pairs of the fit, {share}."
        )
        return f"{text}\n{self.origin}" if self.origin else text

    def _list_text_lines(self) -> list[str]:
        return [repr(self).split("\n")[0], *([self.origin] if self.origin else [])]

    def _collect_columns(self) -> dict[str, np.ndarray]:
        shares = {"correlation": self.correlations, "pic": self.pics, "% of inertia": 100 * self.inertia_ratios}
        return number_components(shares)

    def __repr__(self) -> str:
        plural = "" if self.n_components == 1 else "s"
        sums = f"total inertia {self.chi2:.4g}, n {self.n:,.10g}"
        lines = [f"Decomposition with {self.n_components} component{plural}, {sums}"]
        figures = {"correlation": self.correlations, "PIC": self.pics, "% of inertia": self.inertia_ratios}
        lines += format_components(figures, self.n_components)
        if self.origin:
            lines.append(f"  {self.origin}")
        return "\n".join(lines)


def as_decomposition(d_or_est: Any) -> Decomposition:
    """Return a decomposition, given itself or a fitted estimator."""
    d = getattr(d_or_est, "decomposition_", d_or_est)
    if isinstance(d, AsymmetricDecomposition):
        raise TypeError(
            f"est must treat both variables alike, got an analysis with the {d.response} as the response, which "
            "decomposes probabilities and not their ratios. Fit CA() without a response."
        )
    if not isinstance(d, Decomposition):
        advice = "Call fit first."
        if hasattr(d_or_est, "labels_"):
            advice = "Give the analysis itself, and these clusters as its groups: co.explore(est, groups=clusters)."
        elif isinstance(d_or_est, FrameResult):
            advice = "Call its to_frame() for a table, or give the analysis that it is about."
        name = type(d_or_est).__name__
        raise TypeError(f"est must be a Decomposition or a fitted estimator, got {name}. {advice}")
    return d


def refuse_given(d: Decomposition, use: str, advice: str) -> None:
    """Raise an error if there were given variables in the fit, and a use of the decomposition does not take any.

    Parameters
    ----------
    d : Decomposition
        The decomposition.
    use : str
        The error says that the decomposition cannot be used for this.
    advice : str
        The error ends with this sentence.
    """
    if d.f.needs_given:
        raise ValueError(f"est must be fitted without given variables for {use}. {advice}")


def load(path: str | Path, x_net: Any = None, y_net: Any = None) -> Any:
    """Read a decomposition that `Decomposition.save` or `AsymmetricDecomposition.save` wrote.

    Parameters
    ----------
    path : str or Path
        The file must have been written by `save` of a decomposition.
    x_net, y_net : torch.nn.Module, optional
        Give the nets of your own that the model was fitted with; their weights are read from the file.

    Returns
    -------
    Decomposition or AsymmetricDecomposition
        The decomposition that was saved.

    Raises
    ------
    ValueError
        When the file is damaged, cut short, or not one of ours, or a net is missing or does not fit.

    Examples
    --------
    >>> import tempfile
    >>> import correspondence as co
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     co.CA().fit(co.datasets.load_smoke()).decomposition_.save(f"{folder}/smoke.safetensors")
    ...     d = co.load(f"{folder}/smoke.safetensors")
    >>> d.correlations.round(3)
    array([0.273, 0.1  , 0.02 ])
    """
    if files.find_format(path) == ASYMMETRIC_FORMAT:
        return load_asymmetric(path)
    arrays, description = files.read_safetensors(path, FILE_FORMAT, FILE_FORMAT_VERSION)
    with files.explain_damage(path):
        return Decomposition.from_state(description, arrays, x_net, y_net)


def _load_functions(
    name: str, description: dict[str, Any], arrays: dict[str, np.ndarray], net: Any
) -> PrincipalFunctions:
    functions = find_function_class(description[name]["kind"]).from_state(
        description[name], files.strip_prefix(arrays, f"{name}."), net
    )
    if functions.width != arrays["pics"].size:
        raise TypeError("pics and functions must be equally many.")
    return functions
