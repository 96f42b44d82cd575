"""The methods by name and what they are, in a module that the command line can list without importing them."""

from __future__ import annotations

__all__ = ["METHOD_TEXTS"]

METHOD_TEXTS: dict[str, str] = {
    "ca": "correspondence analysis of two columns of labels",
    "ridge-ca": "correspondence analysis that trusts rare labels less",
    "cca": "linear functions of the columns",
    "ace": "sums of smooth functions of the columns",
    "kernel": "functions of a Gaussian kernel",
    "logistic": "beliefs of a logistic regression, for labels",
    "forest": "conditional expectations by a random forest",
    "mlp": "beliefs of a small neural net of scikit-learn, for labels",
    "pice": "two neural nets (needs torch)",
}
"""From simple to flexible."""
