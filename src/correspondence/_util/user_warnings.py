"""Kinds of warnings, which can be silenced, recorded or made an error by their class."""

from __future__ import annotations

__all__ = [
    "CorrespondenceWarning",
    "FewerComponents",
    "Inexact",
    "LeftOut",
    "NearlyCollinear",
    "NotHeldOut",
    "NothingFound",
    "UncertainInterval",
]


class CorrespondenceWarning(UserWarning):
    """Base of all warnings of this package.

    Examples
    --------
    >>> import warnings
    >>> import correspondence as co
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", co.CorrespondenceWarning)
    ...     co.CA(n_components=5).fit([[10, 2], [3, 8]]).pics_.shape
    (1,)
    """


class FewerComponents(CorrespondenceWarning):
    """There are fewer components than asked for, or none at all.

    Examples
    --------
    >>> import warnings
    >>> import correspondence as co
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     ca = co.CA(n_components=5).fit([[10, 2], [3, 8]])
    >>> [warning.category.__name__ for warning in caught]
    ['FewerComponents']
    """


class LeftOut(CorrespondenceWarning):
    """Rows, columns, labels or another part of the data are not used.

    Examples
    --------
    >>> import warnings
    >>> import correspondence as co
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     ca = co.CA().fit([[10, 2, 0], [3, 8, 0]])
    >>> print(caught[0].category.__name__, "-", caught[0].message)
    LeftOut - Left out, because all their counts are zero: columns 2.
    """


class NothingFound(CorrespondenceWarning):
    """No component is more than chance on pairs not used in the fit.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> import correspondence as co
    >>> x, y = np.random.default_rng(0).normal(size=(2, 200))
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     d = co.decompose(x, y, method="cca", verbose=False)
    >>> [warning.category.__name__ for warning in caught]
    ['NothingFound']
    """


class NotHeldOut(CorrespondenceWarning):
    """There are too few pairs to hold some out of the fit, so these are training figures.

    Examples
    --------
    >>> import correspondence as co
    >>> issubclass(co.NotHeldOut, co.CorrespondenceWarning)
    True
    """


class NearlyCollinear(CorrespondenceWarning):
    """Columns are so nearly collinear that a combination of them is dropped, with the information in it.

    An exact dependence, such as a column that repeats another, holds no information and is dropped without a warning.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> import correspondence as co
    >>> start, ride = np.random.default_rng(0).normal(size=(2, 1000))
    >>> X = np.column_stack([start, start + 1e-3 * ride])
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     d = co.Moments().update(X, ride[:, None]).decompose(tol=1e-4)
    >>> [warning.category.__name__ for warning in caught]
    ['NearlyCollinear']
    """


class Inexact(CorrespondenceWarning):
    """An iteration stopped before the result was as exact as it should be.

    Examples
    --------
    >>> import correspondence as co
    >>> issubclass(co.Inexact, co.CorrespondenceWarning)
    True
    """


class UncertainInterval(CorrespondenceWarning):
    """A confidence interval depends on a few pairs, so it may be too narrow.

    Examples
    --------
    >>> import correspondence as co
    >>> issubclass(co.UncertainInterval, co.CorrespondenceWarning)
    True
    """
