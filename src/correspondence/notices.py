"""Warnings of this package, each of a class of its own, to be caught or silenced by what they say."""

__all__ = ["UncertainInterval"]


class UncertainInterval(UserWarning):
    """A few pairs decide a confidence interval, which may therefore be too narrow.

    Examples
    --------
    >>> import warnings
    >>> from correspondence.notices import UncertainInterval
    >>> warnings.filterwarnings("ignore", category=UncertainInterval)           # to silence it
    """
