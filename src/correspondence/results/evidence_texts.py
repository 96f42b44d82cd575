"""What is known of components, in one or two sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from correspondence.results.evidence import Evidence

__all__ = ["describe_holding", "describe_significant"]

MAX_COMPONENTS_TOLD = 3


def describe_holding(evidence: Evidence, captured_interval: Any, pairs: str) -> str:
    """Say which components hold on held-out pairs, and what all of them capture.

    Parameters
    ----------
    evidence : Evidence
        What is known of the components.
    captured_interval : (float, float)
        The interval of what is captured.
    pairs : str
        What was held out, such as "120 pairs".
    """
    d, n, intervals = len(evidence.correlations), evidence.n_holding, evidence.intervals
    assert intervals is not None
    listed = [
        f"{evidence.correlations[i]:.2f} [{intervals[i, 0]:.2f}, {intervals[i, 1]:.2f}]"
        for i in range(min(n, MAX_COMPONENTS_TOLD))
    ]
    more = ", ..." if n > len(listed) else ""
    found = (
        f"None of {d} components has" if not n else f"{n} of {d} component{'s' * (d != 1)} ha{'s' if n == 1 else 've'}"
    )
    held = f"{found} a correlation above 0 on {pairs} held out{': ' * bool(n)}{', '.join(listed)}{more}."
    low, high = captured_interval
    return f"{held}\nTogether the functions capture a total inertia of {evidence.captured:.3g} [{low:.3g}, {high:.3g}]."


def describe_significant(evidence: Evidence, kind: str) -> str:
    """Say how many components are more than chance, by a test of this kind."""
    d, n = len(evidence.correlations), evidence.n_holding
    assert evidence.pvalues is not None
    which = f"{n or 'None'} of {d} component{'s' * (d != 1)} {'are' if n > 1 else 'is'} more than chance"
    listed = ", ".join(f"{value:.2g}" for value in evidence.pvalues[: n + 1])
    return f"{which} ({kind}; p-values {listed}{', ...' if n + 1 < d else ''})."
