"""PICs of the population with their confidence intervals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from correspondence._util.arguments import read_only

__all__ = ["PicIntervals"]


@dataclass(frozen=True, eq=False, repr=False)
class PicIntervals:
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

    def __repr__(self) -> str:
        lines = [
            f"PICs with {100 * self.level:g} % intervals from {self.n_resamples} half-samples",
            "  component  training     PIC",
        ]
        rows = zip(self.training, self.pics, self.intervals, strict=True)
        lines += [f"  {i:>9}  {t:>8.4f}  {v:.4f} [{a:.4f}, {b:.4f}]" for i, (t, v, (a, b)) in enumerate(rows, 1)]
        return "\n".join(lines)
