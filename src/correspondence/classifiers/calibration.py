"""Whether beliefs can be taken at their word: what they claim, what labels show, and the temperature that helps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

from correspondence.results.held_out import HeldOut

__all__ = ["Calibration", "Claims", "best_temperature", "calibration_error", "log_loss"]

MAX_TEMPERATURE = 20.0  # temperatures are sought from one over this to this
MIN_TRUE_CLASS_BELIEF = 1e-12  # belief in the true class that the log loss counts, at least


@dataclass(frozen=True, eq=False)
class Claims:
    """What beliefs claim and what they are worth.

    Attributes
    ----------
    correlations : ndarray of shape (d,)
        Claimed: those of the belief channel.
    held_out : HeldOut
        The same functions against the true labels.
    log_loss : float
        Mean of -log P(true class), in nats.
    calibration_error : float
        Mean distance between the belief in the predicted class and how often it is right, over 15 bins of equal size.
    """

    correlations: np.ndarray
    held_out: HeldOut
    log_loss: float
    calibration_error: float

    @property
    def gap(self) -> np.ndarray:
        """How much more is claimed than labels show, for each component; above 0 the model is overconfident."""
        return self.correlations - self.held_out.correlations


@dataclass(frozen=True, eq=False, repr=False)
class Calibration:
    """Effect of a temperature on what beliefs claim and are worth; what ``ClassifierCA.calibration`` returns.

    Attributes
    ----------
    temperature : float
        Best for the log loss of all the labels given, of the model's own beliefs; above 1 it is overconfident.
    before, after : Claims
        Of the beliefs as they are, and with temperatures found on labels of other inputs.
    n : int
        Number of the labels.

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


def best_temperature(P: np.ndarray, codes: np.ndarray) -> float:
    """Temperature at which beliefs have the smallest log loss.

    Parameters
    ----------
    P : ndarray of shape (n, k)
        Beliefs.
    codes : ndarray of shape (n,)
        Column of the true class of each.

    Examples
    --------
    >>> P = np.array([[0.99, 0.01]] * 10)
    >>> best_temperature(P, np.array([0] * 8 + [1] * 2)) > 2      # 99 % sure, and right in 80 % of the cases
    True
    """
    possible = P[np.arange(len(P)), codes] > 0  # no temperature helps where the truth is taken for impossible
    if not possible.any():
        return MAX_TEMPERATURE
    with np.errstate(divide="ignore"):
        logs = np.log(P[possible])
    truth = logs[np.arange(len(logs)), codes[possible]]

    def loss(coldness: float) -> float:
        """Log loss at 1 / temperature, of which it is a convex function: there is one minimum."""
        return float((logsumexp(coldness * logs, axis=1) - coldness * truth).mean())

    return 1 / float(minimize_scalar(loss, bounds=(1 / MAX_TEMPERATURE, MAX_TEMPERATURE), method="bounded").x)


def log_loss(P: np.ndarray, codes: np.ndarray) -> float:
    """Mean of -log P(true class)."""
    return float(-np.log(np.maximum(P[np.arange(len(P)), codes], MIN_TRUE_CLASS_BELIEF)).mean())


def calibration_error(P: np.ndarray, codes: np.ndarray, bins: int = 15) -> float:
    """Mean distance between belief in the predicted class and how often it is right, over bins of equal size."""
    top = P.argmax(axis=1)
    belief, right = P[np.arange(len(P)), top], top == codes
    order = np.argsort(belief, kind="stable")
    parts = [part for part in np.array_split(order, min(bins, len(P))) if len(part)]
    return float(sum(abs(belief[part].mean() - right[part].mean()) * len(part) for part in parts) / len(P))
