"""Numbers written as texts: with separators between the thousands, decimal commas, money, percentages and gaps.

The whole column decides. Its texts are numbers only if all of them are, in one spelling: one separator of the thousands
and one of the decimals. If two spellings fit, the one that was taken and the other are both reported.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

import polars as pl

from correspondence._util.text import list_names, one_line

__all__ = ["DECIMALS", "MISSING_MARKERS", "NumberTexts", "parse_number_texts"]

DECIMALS = {"point": ".", "comma": ","}  # the separators of decimals, by their names
# What people write for a missing number, in lower case; read so only in a column whose other texts are numbers.
MISSING_MARKERS = frozenset(
    (
        *("", "?", "??", "???", "-", "--", "---", ".", "..", "...", "*", "na", "n/a", "n.a.", "#n/a", "#na", "<na>"),
        *("null", "none", "nan", "nil", "unknown", "missing", "not available"),
    )
)
SPACES = "[\\s\u00a0\u2007\u2009\u202f]+"  # those of numbers may be non-breaking or thin
MINUS_SIGNS = "[\u2010-\u2015\u2212\ufe63\uff0d]"
APOSTROPHES = "[\u2019\u02bc\u00b4`]"
CURRENCY_SYMBOLS = r"(?:US|HK|NZ|A|C|R|S)?\$|[€£¥₹₽₩₪₺₫฿₴₱₦₡₲₵₸]"
CURRENCY_CODES = (
    "USD|EUR|GBP|JPY|CHF|CAD|AUD|NZD|CNY|RMB|INR|SEK|NOK|DKK|ISK|PLN|CZK|HUF|RON|BGN|BRL|MXN|ARS|CLP|COP|PEN|ZAR|KRW|TRY|"
    "RUB|UAH|SGD|HKD|TWD|ILS|THB|IDR|MYR|PHP|VND|AED|SAR|QAR|EGP|NGN|KES|PKR|Fr\\.|kr\\.?|zł|Kč|Rs\\.?|Ft"
)
UNIT_PATTERN = f"{CURRENCY_SYMBOLS}|{CURRENCY_CODES}|%"
BODY_PATTERN = r"[0-9.,](?:[0-9.,' ]*[0-9.,])?(?:e[-+]?[0-9]+)?|inf(?:inity)?"
# A sign before or after the unit, the digits, and the unit before or after them; parentheses mean a negative number.
AMOUNT_PATTERN = (
    rf"(?i)^(?P<opened>\()? ?(?P<sign>[-+])? ?(?P<before>{UNIT_PATTERN})? ?(?P<inner_sign>[-+])? ?"
    rf"(?P<body>{BODY_PATTERN}) ?(?P<after>{UNIT_PATTERN})? ?(?P<closed>\))?$"
)
WHOLE_PATTERN = r"^[-+]?[0-9]+$"
LEADING_ZERO_PATTERN = r"^[-+]?0[0-9]"  # codes, such as the zip code 01234
# Points that may separate thousands: polars would take them for decimal points.
GROUPS_OR_DECIMALS_PATTERN = r"^[-+]?(?:[1-9][0-9]{0,2}(?:\.[0-9]{3})+|[0-9]{1,3})$"
LOOKS_GROUPED_PATTERN = r"^[1-9][0-9]{0,2},[0-9]{3}$"
N_TEXTS_TRIED_FIRST = 1000  # texts that can show that a column is not what it is tried for
MAX_INT64_DIGITS, MAX_INT128_DIGITS = 18, 38  # digits of a whole number that certainly fits


class NumberTexts(NamedTuple):
    """Numbers that were read from a column of texts."""

    numbers: pl.Series
    """The numbers as they are written, of a percentage 12.5 for "12.5 %"; whole ones if all are."""
    unit: Literal["", "money", "percent"]
    """What the numbers are amounts of."""
    sign: str
    """The sign of the unit, such as "$", "EUR" or "%"."""
    n_markers: int
    """The number of cells with a marker that were read as missing."""
    markers: tuple[str, ...]
    """The different markers."""
    example: str
    """A text that is not a plain number, or "" if all are."""
    reading: str
    """How the example was read, such as "1234 (commas between the thousands)"."""
    other_reading: str
    """The other number that the example may be, or "" if it has one reading only."""
    other_decimal: Literal["", "point", "comma"]
    """The separator of decimals that would give the other reading."""
    decimal: Literal["", "point", "comma"]
    """The separator of decimals that the texts prove; "" if they are whole or have another reading."""
    taken: Literal["", "point", "comma"] = ""
    """The separator of decimals with which they were read; "" if they are whole and have no separators."""

    def list_notes(self, name: str, option: str = "") -> list[str]:
        """Say in sentences what was not read literally.

        Parameters
        ----------
        name : str
            The name of the column.
        option : str
            The option or argument that chooses the separator of decimals, if there is one.
        """
        notes = []
        if self.example:
            may_be = f"; it may be {self.other_reading}" if self.other_reading else ""
            change = f", which {option} {self.other_decimal} reads" if option and self.other_reading else ""
            notes.append(f"{name}: {self.example!r} is read as {self.reading}{may_be}{change}.")
        if self.n_markers:
            shown = list_names(self.markers, 5, show=repr)
            notes.append(f"{name}: {self.n_markers} cell(s) with {shown} are read as missing: all others are numbers.")
        return notes


class _Spelling(NamedTuple):
    thousands: str
    decimal: str
    is_indian: bool = False

    @property
    def pattern(self) -> str:
        between, point = re.escape(self.thousands), re.escape(self.decimal)
        whole = "[0-9]+"
        if self.is_indian:  # lakhs and crores: 12,34,567
            whole = f"(?:[1-9][0-9]?(?:{between}[0-9]{{2}})*{between}[0-9]{{3}}|[0-9]{{1,3}})"
        elif self.thousands:
            whole = f"(?:[1-9][0-9]{{0,2}}(?:{between}[0-9]{{3}})+|[0-9]{{1,3}})"
        return rf"(?i)^(?:{whole}(?:{point}[0-9]*)?|{point}[0-9]+)(?:e[-+]?[0-9]+)?$|^inf"

    @property
    def text(self) -> str:
        names = {",": "commas", ".": "points", " ": "spaces", "'": "apostrophes"}
        parts = [f"{names[self.thousands]} between the thousands"] if self.thousands else []
        return " and ".join(parts + ["a decimal comma"] * (self.decimal == ","))


PLAIN, GROUPED_BY_COMMAS, GROUPED_BY_POINTS = _Spelling("", "."), _Spelling(",", "."), _Spelling(".", ",")
DECIMAL_COMMA = _Spelling("", ",")
# If several fit, the first of those with the chosen separator of decimals is taken: the more decimals are separated by
# something that also separates thousands, the later it stands.
SPELLINGS = (
    *(GROUPED_BY_COMMAS, _Spelling(" ", "."), _Spelling("'", "."), _Spelling(",", ".", is_indian=True)),
    *(DECIMAL_COMMA, GROUPED_BY_POINTS, _Spelling(" ", ","), _Spelling("'", ",")),
)


def parse_number_texts(texts: pl.Series, decimal: Literal["point", "comma"] | None = None) -> NumberTexts | None:
    """Parse a column of texts as numbers if all of them are numbers in one spelling.

    Parameters
    ----------
    texts : polars Series of texts
        The column; nulls stay missing, and so do markers such as "?" or "n/a" if all other texts are numbers.
    decimal : {"point", "comma"}, optional
        The separator of decimals, which decides where a text such as "1,234" has two readings; by default commas
        before three digits, and before nothing else, separate thousands.

    Returns
    -------
    NumberTexts or None
        None if the texts are not numbers: words, codes with leading zeros such as "01234", or several spellings.

    Examples
    --------
    >>> import polars as pl
    >>> found = parse_number_texts(pl.Series(["$1,234.50", "($99)", "n/a"]))
    >>> found.numbers.to_list(), found.unit, found.markers
    ([1234.5, -99.0, None], 'money', ('n/a',))
    >>> parse_number_texts(pl.Series(["1,234", "999"])).list_notes("income")
    ["income: '1,234' is read as 1234 (commas between the thousands); it may be 1.234."]
    >>> parse_number_texts(pl.Series(["01234", "20001"])) is None
    True
    """
    if texts.dtype != pl.String:
        raise TypeError(f"texts must be a column of texts, got {texts.dtype}.")
    numbers = _parse_plain(texts)
    if numbers is not None:
        proof: Literal["", "point"] = "point" if numbers.dtype.is_float() else ""
        return NumberTexts(numbers, "", "", 0, (), "", "", "", "", proof, proof)
    if not _are_amounts(_clean_texts(texts.drop_nulls().head(N_TEXTS_TRIED_FIRST))):
        return None  # one text that is not a number is enough, and words are common
    distinct = texts.drop_nulls().unique(maintain_order=True)
    clean = _clean_texts(distinct)
    is_marker = _find_markers(clean)
    parts = _take_apart(clean.filter(~is_marker))
    if parts is None:
        return None
    chosen = _choose_spelling(parts["body"], None if decimal is None else DECIMALS[decimal])
    if chosen is None:
        return None
    values = _to_numbers(parts, chosen.spelling)
    return _describe_numbers(texts, distinct, is_marker, parts, values, chosen)


def _parse_plain(texts: pl.Series) -> pl.Series | None:
    """Parse a column of plain numbers, which is fast; None if it must be looked at more closely."""
    n_missing = texts.null_count()
    if n_missing == len(texts) or texts.str.contains(LEADING_ZERO_PATTERN).any():
        return None
    whole = texts.cast(pl.Int64, strict=False)
    if whole.null_count() == n_missing:
        return whole
    floats = texts.cast(pl.Float64, strict=False)
    if floats.null_count() > n_missing or floats.is_nan().any():
        return None
    first = texts.drop_nulls().head(N_TEXTS_TRIED_FIRST)
    for pattern in (WHOLE_PATTERN, GROUPS_OR_DECIMALS_PATTERN):  # huge numbers, and perhaps thousands
        if first.str.contains(pattern).all() and texts.str.contains(pattern).all():
            return None
    return floats


def _are_whole(bodies: pl.Series) -> bool:
    return bool(bodies.str.contains(WHOLE_PATTERN).all())


def _find_markers(clean: pl.Series) -> pl.Series:
    return clean.str.to_lowercase().is_in(list(MISSING_MARKERS))


def _are_amounts(clean: pl.Series) -> bool:
    return bool((clean.str.contains(AMOUNT_PATTERN) | _find_markers(clean)).all())


def _clean_texts(texts: pl.Series) -> pl.Series:
    """Write all kinds of spaces, minus signs and apostrophes in one way."""
    clean = texts.str.replace_all(SPACES, " ").str.replace_all(MINUS_SIGNS, "-").str.replace_all(APOSTROPHES, "'")
    return clean.str.strip_chars()


def _take_apart(texts: pl.Series) -> pl.DataFrame | None:
    """Take amounts apart into their sign, unit and digits; None if one of the texts is not an amount."""
    if not len(texts) or not texts.str.contains(AMOUNT_PATTERN).all():
        return None
    parts = texts.str.extract_groups(AMOUNT_PATTERN).struct.unnest().with_columns(text=texts)
    body = parts["body"]
    signs, marks = (
        parts.select(pl.sum_horizontal(pl.col(columns).is_not_null().cast(pl.Int8))).to_series()
        for columns in (["sign", "inner_sign", "opened"], ["before", "after"])
    )
    in_brackets = parts["opened"].is_not_null()
    is_amount = (
        not body.str.contains("^0[0-9]").any()
        and body.str.contains("[0-9]").any()
        and bool((signs <= 1).all() and (marks <= 1).all())
        and (in_brackets == parts["closed"].is_not_null()).all()
        and not in_brackets.all()  # (1), (2) are the names of items
    )
    return parts if is_amount and _have_one_unit(parts) else None


def _have_one_unit(parts: pl.DataFrame) -> bool:
    """Say whether all amounts have the same unit; a bare zero may have any."""
    units = _get_units(parts)
    bare = parts["body"].filter(units.is_null())
    n_units = units.drop_nulls().str.to_lowercase().n_unique()
    return n_units == 0 or (n_units == 1 and bool(bare.str.contains("^[0.,]+$").all()))


def _get_units(parts: pl.DataFrame) -> pl.Series:
    return parts.select(pl.coalesce("before", "after")).to_series()


class _SpellingChoice(NamedTuple):
    spelling: _Spelling
    other: _Spelling | None = None


def _choose_spelling(bodies: pl.Series, decimal: str | None) -> _SpellingChoice | None:
    """Choose the spelling that fits all digits; `decimal` decides if there is another that gives other numbers."""
    if _fits(bodies, PLAIN):
        has_other = bool(bodies.str.contains(".", literal=True).any()) and _fits(bodies, GROUPED_BY_POINTS)
        if has_other and decimal == ",":
            return _SpellingChoice(GROUPED_BY_POINTS, PLAIN)
        # All have three decimals: numbers rounded to three. Some have none: perhaps 999 and 1.234 are whole numbers.
        has_other = has_other and decimal is None and not bodies.str.contains(".", literal=True).all()
        return _SpellingChoice(PLAIN, GROUPED_BY_POINTS if has_other else None)
    fitting = [spelling for spelling in SPELLINGS if _fits(bodies, spelling)]
    if not fitting or (fitting == [DECIMAL_COMMA] and decimal != "," and _look_grouped(bodies)):
        return None
    taken = next((spelling for spelling in fitting if spelling.decimal == decimal), fitting[0])
    is_ambiguous = GROUPED_BY_COMMAS in fitting and DECIMAL_COMMA in fitting
    other = DECIMAL_COMMA if taken == GROUPED_BY_COMMAS else GROUPED_BY_COMMAS
    return _SpellingChoice(taken, other if is_ambiguous else None)


def _fits(bodies: pl.Series, spelling: _Spelling) -> bool:
    return bool(bodies.str.contains(spelling.pattern).all())


def _look_grouped(bodies: pl.Series) -> bool:
    """Say whether commas look like those of thousands, which other texts do not have: 1,234 beside 5678."""
    return bool(bodies.filter(bodies.str.contains(",", literal=True)).str.contains(LOOKS_GROUPED_PATTERN).all())


def _to_numbers(parts: pl.DataFrame, spelling: _Spelling) -> pl.Series:
    """Convert the digits to whole numbers if all are, otherwise to floats, with their signs."""
    body = parts["body"]
    if spelling.thousands:
        body = body.str.replace_all(spelling.thousands, "", literal=True)
    body = body.str.replace_all(spelling.decimal, ".", literal=True)
    is_negative = pl.col("sign").eq_missing("-") | pl.col("inner_sign").eq_missing("-") | pl.col("opened").is_not_null()
    signs = parts.select(pl.when(is_negative).then(pl.lit("-")).otherwise(pl.lit(""))).to_series()
    n_digits = int(body.str.len_chars().max() or 0)  # type: ignore[arg-type]
    if _are_whole(body) and n_digits <= MAX_INT128_DIGITS:
        return (signs + body).cast(pl.Int64 if n_digits <= MAX_INT64_DIGITS else pl.Int128)
    return (signs + body).cast(pl.Float64)


def _describe_numbers(
    texts: pl.Series,
    distinct: pl.Series,
    is_marker: pl.Series,
    parts: pl.DataFrame,
    values: pl.Series,
    chosen: _SpellingChoice,
) -> NumberTexts:
    """Put the numbers back in the rows of their texts, and say how they were read."""
    numbers = texts.replace_strict(distinct.filter(~is_marker), values, default=None, return_dtype=values.dtype)
    markers = distinct.filter(is_marker)
    seen = tuple(markers.filter(markers.str.strip_chars() != "").to_list())
    units = _get_units(parts).drop_nulls()
    sign = units[0] if len(units) else ""
    unit: Literal["", "money", "percent"] = "" if not sign else "percent" if sign == "%" else "money"
    example, reading, other = _describe_reading(parts, values, chosen, unit)
    n_markers = int(texts.is_in(list(seen)).sum()) if seen else 0
    told = (n_markers, seen, example, reading, other, _name_decimal(chosen.other))
    taken = _name_decimal(chosen.spelling) if parts["body"].str.contains("[.,]").any() else ""
    return NumberTexts(numbers.alias(texts.name), unit, sign, *told, _find_proof(parts["body"], chosen), taken)


def _name_decimal(spelling: _Spelling | None) -> Literal["", "point", "comma"]:
    if spelling is None:
        return ""
    return "comma" if spelling.decimal == "," else "point"


def _find_proof(bodies: pl.Series, chosen: _SpellingChoice) -> Literal["", "point", "comma"]:
    """Return the separator of decimals if the texts allow no other one."""
    has_separator = bool(bodies.str.contains("[.,]").any())
    decimals = {s.decimal for s in (PLAIN, *SPELLINGS) if _fits(bodies, s)}
    return _name_decimal(chosen.spelling) if has_separator and len(decimals) == 1 else ""


def _describe_reading(
    parts: pl.DataFrame, values: pl.Series, chosen: _SpellingChoice, unit: str
) -> tuple[str, str, str]:
    """Return a text that is not a plain number, how it was read, and the other number that it may be."""
    if chosen == _SpellingChoice(PLAIN) and not unit:
        return "", "", ""
    score = parts["body"].str.count_matches("[,.' ]") + parts["text"].str.contains("[^0-9]").cast(pl.UInt32)
    i = int(score.arg_max() or 0)  # the text in which most can be misread
    how = [chosen.spelling.text] if chosen.spelling.text else []
    how += [{"money": "money", "percent": "a percentage"}[unit]] if unit else []
    other = _format_number(_to_numbers(parts[i : i + 1], chosen.other)[0]) if chosen.other else ""
    reading = _format_number(values[i]) + (f" ({', '.join(how)})" if how else "")
    return one_line(parts["text"][i]), reading, other


def _format_number(value: float) -> str:
    return f"{value:.15g}"
