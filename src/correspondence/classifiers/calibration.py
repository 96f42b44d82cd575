"""Calibration of beliefs: what they claim, what labels show, and the temperature that helps."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

from correspondence._util.arguments import check_weights
from correspondence._util.html_tables import HtmlTable
from correspondence._util.user_warnings import CorrespondenceWarning
from correspondence.classifiers.belief_moments import decompose_beliefs, sum_over_inputs
from correspondence.classifiers.beliefs import Beliefs, apply_temperature
from correspondence.core.decomposition import Decomposition
from correspondence.core.functions import LabelFunctions, LinearFunctions
from correspondence.core.scoring import score_pairs
from correspondence.results.evidence import HeldOut, number_components

__all__ = [
    "Calibration",
    "Claims",
    "calibrate_beliefs",
    "evaluate_on_labels",
    "find_best_temperature",
    "measure_calibration_error",
    "measure_log_loss",
]

MAX_TEMPERATURE = 20.0  # temperatures are sought from one over this to this
MIN_TRUE_CLASS_BELIEF = 1e-12  # belief in the true class that the log loss counts, at least


@dataclass(frozen=True, eq=False)
class Claims:
    """What beliefs claim and what they are worth.

    Attributes
    ----------
    correlations : ndarray of shape (d,)
        The claimed correlations, which are those of the belief channel.
    held_out : HeldOut
        The same functions against the true labels.
    log_loss : float
        The mean of -log P(true class), in nats.
    calibration_error : float
        The mean distance between the belief in the predicted class and how often it is right, over 15 bins of equal
        size.
    """

    correlations: np.ndarray
    held_out: HeldOut
    log_loss: float
    calibration_error: float

    @property
    def gap(self) -> np.ndarray:
        """The correlation claimed minus that on labels, for each component; above 0 the model is overconfident."""
        return self.correlations - self.held_out.correlations


@dataclass(frozen=True, eq=False, repr=False)
class Calibration(HtmlTable):
    """Effect of a temperature on what beliefs claim and are worth, as returned by ``ClassifierCA.calibration``.

    Attributes
    ----------
    temperature : float
        The temperature of the model's own beliefs with the smallest log loss on all labels; above 1 the model is
        overconfident.
    before, after : Claims
        The claims of the beliefs as they are, and with temperatures found on the labels of other inputs.
    n : int
        The number of labels.

    Examples
    --------
    A model that is always 99 % sure, and right in eight cases of ten:

    >>> import numpy as np
    >>> import correspondence as co
    >>> said = np.array(["no", "yes"] * 50)
    >>> P = np.where(said[:, None] == ["no", "yes"], 0.99, 0.01)
    >>> truth = said.copy(); truth[::10] = "yes"; truth[5::10] = "no"
    >>> result = co.ClassifierCA.from_beliefs(P, ["no", "yes"]).calibration(P, truth)
    >>> round(result.temperature, 1)                                # above 1: overconfident
    3.3
    >>> result.before.gap.round(2), result.after.gap.round(2)       # correlation claimed less what labels show
    (array([0.38]), array([0.02]))
    """

    temperature: float
    before: Claims
    after: Claims
    n: int

    def _list_text_lines(self) -> list[str]:
        head, *lines = repr(self).split("\n")
        return [head, *lines[-2:]]

    def _collect_columns(self) -> dict[str, np.ndarray]:
        columns: dict[str, np.ndarray] = {}
        for name, claims in (("before", self.before), ("after", self.after)):
            columns |= {f"{name}: claimed": claims.correlations, f"{name}: on labels": claims.held_out.correlations}
        d = min(map(len, columns.values()))
        return number_components({name: values[:d] for name, values in columns.items()})

    def __repr__(self) -> str:
        d = min(len(self.before.correlations), len(self.after.correlations), 8)
        rows = [("component", [str(i + 1) for i in range(d)])]
        for name, claims in (("before", self.before), ("after", self.after)):
            rows.append((f"{name}: claimed", [f"{r:.4f}" for r in claims.correlations[:d]]))
            rows.append((f"{name}: on labels", [f"{r:.4f}" for r in claims.held_out.correlations[:d]]))
        at_limit = not 1.01 / MAX_TEMPERATURE < self.temperature < 0.99 * MAX_TEMPERATURE
        lines = [f"Calibration on n {self.n}: temperature {self.temperature:.3f}" + " (the limit)" * at_limit]
        more = " ..." * (d < len(self.before.correlations))
        lines += [f"  {name:<17}" + "".join(f"{value:>9}" for value in values) + more for name, values in rows]
        for name, claims in (("before", self.before), ("after", self.after)):
            lines.append(
                f"  {name + ':':<8}captured {claims.held_out.captured:.4f}, log loss {claims.log_loss:.4f}, "
                f"calibration error {claims.calibration_error:.4f}"
            )
        return "\n".join(lines)


def calibrate_beliefs(
    P: np.ndarray, codes: np.ndarray, classes: np.ndarray, temperature: float, cv: int, rng: np.random.Generator
) -> Calibration:
    """Compare what beliefs claim with what labels show, before and after temperatures found on other labels."""
    part = rng.permutation(len(P)) % cv
    Q = np.empty_like(P)
    for i in range(cv):
        Q[part == i] = apply_temperature(P[part == i], find_best_temperature(P[part != i], codes[part != i]))
    before, after = (_measure_claims(beliefs, codes, classes) for beliefs in (P, Q))
    return Calibration(temperature * find_best_temperature(P, codes), before, after, len(P))


def _measure_claims(P: np.ndarray, codes: np.ndarray, classes: np.ndarray) -> Claims:
    beliefs = Beliefs(classes=classes)
    with warnings.catch_warnings(action="ignore", category=CorrespondenceWarning):  # classes never predicted: fit warns
        d, _ = decompose_beliefs(sum_over_inputs(beliefs, P)[0], classes, beliefs, None)
    held = evaluate_on_labels(d, P, codes)
    return Claims(d.correlations, held, measure_log_loss(P, codes), measure_calibration_error(P, codes))


def evaluate_on_labels(d: Decomposition, P: np.ndarray, codes: np.ndarray, sample_weight: Any = None) -> HeldOut:
    """Evaluate the functions on labels, without the inputs whose label is outside of the group (code -1).

    A class that is never predicted counts as the mean of the others, and so does an input with no belief in the group.
    """
    assert isinstance(d.f, LinearFunctions)
    assert isinstance(d.g, LabelFunctions)
    weights = None if sample_weight is None else check_weights(sample_weight, len(P), "sample_weight")
    if (codes < 0).any():
        rows = check_group_rows(codes)
        P, codes, weights = P[rows], codes[rows], None if weights is None else weights[rows]
    F = d.f.of_features(np.where(np.isnan(P), d.f.mean, P).astype(np.float64, copy=False))
    return score_pairs(F, np.nan_to_num(d.g.values)[codes], d.correlations, weights)


def check_group_rows(codes: np.ndarray) -> np.ndarray:
    """Return which inputs have labels in the group."""
    rows = np.flatnonzero(codes >= 0)
    if not len(rows):
        raise ValueError("Y must have labels in the group, but all are of other classes.")
    return rows


def find_best_temperature(P: np.ndarray, codes: np.ndarray) -> float:
    """Find the temperature at which beliefs have the smallest log loss.

    Parameters
    ----------
    P : ndarray of shape (n, k)
        The beliefs have a row for each input.
    codes : ndarray of shape (n,)
        The true class of each input is in this column.

    Examples
    --------
    >>> P = np.array([[0.99, 0.01]] * 10)
    >>> find_best_temperature(P, np.array([0] * 8 + [1] * 2)) > 2      # 99 % sure, and right in 80 % of the cases
    True
    """
    possible = P[np.arange(len(P)), codes] > 0  # no temperature helps where the truth is taken for impossible
    if not possible.any():
        return MAX_TEMPERATURE
    with np.errstate(divide="ignore"):
        logs = np.log(P[possible])
    truth = logs[np.arange(len(logs)), codes[possible]]

    def loss(coldness: float) -> float:
        """Return the log loss as a function of 1 / temperature, which is convex and has one minimum."""
        return float((logsumexp(coldness * logs, axis=1) - coldness * truth).mean())

    return 1 / float(minimize_scalar(loss, bounds=(1 / MAX_TEMPERATURE, MAX_TEMPERATURE), method="bounded").x)


def measure_log_loss(P: np.ndarray, codes: np.ndarray) -> float:
    """Measure the mean of -log P(true class)."""
    return float(-np.log(np.maximum(P[np.arange(len(P)), codes], MIN_TRUE_CLASS_BELIEF)).mean())


def measure_calibration_error(P: np.ndarray, codes: np.ndarray, bins: int = 15) -> float:
    """Measure the mean distance between belief in the predicted class and how often it is right, over equal bins."""
    top = P.argmax(axis=1)
    belief, right = P[np.arange(len(P)), top], top == codes
    order = np.argsort(belief, kind="stable")
    parts = [part for part in np.array_split(order, min(bins, len(P))) if len(part)]
    return float(sum(abs(belief[part].mean() - right[part].mean()) * len(part) for part in parts) / len(P))
