"""Shares, means and categories in words, for sentences that tell effect sizes."""

from __future__ import annotations

import numpy as np

from correspondence._util.text import one_line
from correspondence.data.readable_columns import is_bare_number

__all__ = ["format_category", "format_count", "format_number", "format_share"]

MAX_SHARE_DIGITS = 4


def format_category(column: str, kind: str, category: str) -> str:
    """Name a category by its column: "sex = f", "grade 1", "text: word".

    Examples
    --------
    >>> format_category("sex", "label", "f"), format_category("grade", "label", "1")
    ('sex = f', 'grade 1')
    >>> format_category("note", "text", "tea")
    'note: tea'
    """
    sign = " = " if kind in ("label", "boolean") else ": "
    return one_line(f"{column}{' ' if is_bare_number(category) else sign}{category}", 60)


def format_share(share: float, other: float) -> tuple[str, str]:
    """Write two shares in per cent, with as many digits as distinguish them from each other and from 0.

    Examples
    --------
    >>> format_share(0.714, 0.52), format_share(0.0213, 0.0192), format_share(0.0041, 0.0002)
    (('71 %', '52 %'), ('2.1 %', '1.9 %'), ('0.41 %', '0.02 %'))
    """
    for digits in range(MAX_SHARE_DIGITS + 1):
        texts = f"{100 * share:.{digits}f}", f"{100 * other:.{digits}f}"
        are_zero = [float(text) == 0 < value for text, value in zip(texts, (share, other), strict=True)]
        if texts[0] != texts[1] and not any(are_zero):
            break
    return f"{texts[0]} %", f"{texts[1]} %"


def format_count(n: float) -> str:
    """Write a number of rows, or a total weight.

    Examples
    --------
    >>> format_count(1000000.0), format_count(12.25)
    ('1,000,000', '12.25')
    """
    return f"{n:,.0f}" if n == round(n) else f"{n:,.6g}"


def format_number(value: float, kind: str = "number") -> str:
    """Write a mean with three digits, that of dates as a date and that of times of day as a time.

    Examples
    --------
    >>> format_number(14.7105), format_number(48213.4), format_number(18000.5, "date"), format_number(30600, "time")
    ('14.7', '48,213', '2019-04-14', '08:30')
    """
    if kind == "date":
        return str(np.datetime64(0, "D") + np.timedelta64(int(value), "D"))
    if kind == "time":
        return f"{int(value // 3600):02d}:{int(value % 3600 // 60):02d}"
    text = f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return text + (" s" if kind == "duration" else "")
