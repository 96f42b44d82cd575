"""Frames of messy columns, as files have them, through the public entry points: no raw error, and one result.

Each column has a kind (numbers as text, dates in several spellings, ids, lists in a cell, money, ...) and a share of
missing values. The judge of `hostile` says what may come out.
"""

import datetime
import warnings

import hostile
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import correspondence as co

pytestmark = pytest.mark.slow

# --- columns: a list of n values of a kind that depend on z, which all columns of a frame have in common

DATE_SPELLINGS = [
    *("%Y-%m-%d", "%b %d %Y", "%d.%m.%Y", "%m/%d/%Y", "%Y-%m-%dT%H:%M:%SZ", "%d %B %Y", "%Y-%m-%d %H:%M"),
    *("%b-%Y", "%b %Y", "%d-%b-%y", "%d/%m/%Y %H:%M:%S", "%a, %d %b %Y %H:%M:%S", "%Y-%m-%d %H:%M:%S+02:00"),
]
MISSING_MARKERS = ["", "NA", "N/A", "nan", "?", "-", "null"]
WORDS = ["red", "green", "salt", "house", "river", "north", "old", "seven"]


def _dates(rng, z):
    days = (1000 * (z - z.min())).astype(int) + rng.integers(0, 300, len(z))
    return [datetime.datetime(1999, 1, 31) + datetime.timedelta(days=int(d), minutes=int(37 * d)) for d in days]


def _spelled_dates(rng, z):
    spelling = str(rng.choice(DATE_SPELLINGS))
    return [date.strftime(spelling) for date in _dates(rng, z)]


def _texts(rng, z):
    return [" ".join(rng.choice(WORDS, rng.integers(3, 9))) + (" north" if v > 0 else " old") for v in z]


def _lists(rng, z):
    return [list(rng.choice(WORDS, rng.integers(0, 4), replace=False)) + (["up"] if v > 0 else []) for v in z]


def _joined_lists(rng, z):
    separator = str(rng.choice([", ", ";", "|"]))
    return [separator.join(items) for items in _lists(rng, z)]


def _words_of_truth(rng, z):
    no, yes = [("no", "yes"), ("False", "True"), ("N", "Y"), ("f", "t"), ("off", "on")][rng.integers(5)]
    return [yes if v > 0 else no for v in z + 0.3 * rng.normal(size=len(z))]


def _money(rng, z):
    shape = ["${:,.2f}", "€ {:.2f}", "{:,.0f} USD", "-${:.0f}"][rng.integers(4)]
    return [shape.format(1000 * np.exp(v)) for v in z]


def _noisy(rng, z):
    return z + rng.normal(size=len(z))


KINDS = {
    "numbers": lambda rng, z: _noisy(rng, z).tolist(),
    "huge numbers": lambda rng, z: (1e200 * _noisy(rng, z)).tolist(),
    "numbers as text": lambda rng, z: [f"{v:,.2f}" for v in 3000 * _noisy(rng, z)],
    "numbers with units": lambda rng, z: [f"{v:.0f} kg" for v in 60 + 9 * z],
    "percentages": lambda rng, z: [f"{50 + 9 * v:.1f}%" for v in z],
    "money": _money,
    "few whole numbers": lambda rng, z: np.clip(_noisy(rng, z).round() + 3, 1, 5).astype(int).tolist(),
    "whole ids": lambda rng, z: (rng.permutation(len(z)) + 10**6).tolist(),
    "ids": lambda rng, z: [f"u-{i:05d}" for i in rng.permutation(len(z))],
    "labels": lambda rng, z: [WORDS[int(i)] for i in np.clip(np.abs(2 * _noisy(rng, z)), 0, 7)],
    "zips": lambda rng, z: [f"{int(i):05d}" for i in np.clip(900 + 3 * z.round(), 0, 99999)],
    "dates": _dates,
    "spelled dates": _spelled_dates,
    "durations": lambda rng, z: [datetime.timedelta(hours=float(abs(v))) for v in z],
    "times of day": lambda rng, z: [f"{int(12 + 3 * v) % 24:02d}:{int(60 * abs(v)) % 60:02d}" for v in z],
    "booleans": lambda rng, z: (_noisy(rng, z) > 0).tolist(),
    "words of truth": _words_of_truth,
    "texts": _texts,
    "lists": _lists,
    "joined lists": _joined_lists,
    "constant": lambda rng, z: ["same"] * len(z),
    "constant number": lambda rng, z: [7] * len(z),
    "all missing": lambda rng, z: [None] * len(z),
}


def make_columns(kinds, n, share, seed):
    """Columns of these kinds: a share of their values is missing, in texts by any of the common markers."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=n)
    columns = {}
    for i, kind in enumerate(kinds):
        values = KINDS[kind](rng, z)
        missing = rng.random(n) < share * (i % 2)
        markers = [None, *MISSING_MARKERS] if all(isinstance(value, str) for value in values) else [None]
        columns[f"{kind} {i}"] = [
            markers[rng.integers(len(markers))] if gone else value for value, gone in zip(values, missing, strict=True)
        ]
    return columns


def to_pandas(columns):
    return pd.DataFrame(columns)


def to_polars(columns):
    return pl.DataFrame({name: pl.Series(values, strict=False) for name, values in columns.items()})


@st.composite
def messy_pairs(draw, min_rows=1, max_rows=60):
    """Columns of both sides, by name."""
    kinds = st.sampled_from(list(KINDS))
    n, seed = draw(st.integers(min_rows, max_rows)), draw(st.integers(0, 2**16))
    share = draw(st.sampled_from([0.0, 0.1, 0.6]))
    sides = draw(st.lists(kinds, min_size=1, max_size=4)), draw(st.lists(kinds, min_size=1, max_size=2))
    return make_columns(sides[0], n, share, seed), make_columns(sides[1], n, share, seed)


# --- nothing breaks


def use(est, X, Y):
    """Everything that a fitted estimator says of the rows of its fit."""
    d = est.fit(X, Y).decomposition_
    return [d, d.f(X), d.g(Y), est.transform(X, Y), est.evaluate(X, Y)]


CALLS = {
    "CCA": lambda X, Y: use(co.CCA(1), X, Y),
    "ACE": lambda X, Y: use(co.ACE(1), X, Y),
    "KernelCCA": lambda X, Y: use(co.KernelCCA(1), X, Y),
    "decompose": lambda X, Y: co.decompose(X, Y, 1, "cca", verbose=False),
    "crossfit": lambda X, Y: co.crossfit(co.CCA(1), X, Y, 2),
    "drop": lambda X, Y: co.CCA(1, missing="drop").fit(X, Y).decomposition_,
    "error": lambda X, Y: co.CCA(1, missing="error").fit(X, Y).decomposition_,
    "describe_columns": lambda X, Y: str(co.describe_columns(X)),
    "CA": lambda X, Y: co.CA(1).fit(X[X.columns[0]], Y[Y.columns[0]]).decomposition_,
}
MAKERS = {"pandas": to_pandas, "polars": to_polars}


@settings(max_examples=60)
@given(pairs=messy_pairs(), call=st.sampled_from(list(CALLS)), maker=st.sampled_from(list(MAKERS)))
def test_messy_frames_give_a_result_or_a_sentence(pairs, call, maker):
    X, Y = (MAKERS[maker](side) for side in pairs)
    assert hostile.judge(CALLS[call], X, Y) == ""


@settings(max_examples=20)
@given(pairs=messy_pairs(min_rows=20, max_rows=40), call=st.sampled_from(["CCA", "ACE", "describe_columns"]))
def test_duplicated_columns(pairs, call):
    """Both of values and of names."""
    X, Y = (to_pandas(side) for side in pairs)
    doubled = pd.concat([X, X], axis=1)
    assert hostile.judge(CALLS[call], doubled, Y) == ""
    assert hostile.judge(CALLS[call], doubled.set_axis([f"{i}" for i in range(doubled.shape[1])], axis=1), Y) == ""


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_alone(kind, maker):
    """Also of a single row, and of many missing values."""
    for n, share in ((40, 0.0), (40, 0.5), (1, 0.0), (2, 0.0)):
        X = MAKERS[maker](make_columns(["numbers", kind], n, share, 3))
        Y = MAKERS[maker](make_columns(["numbers"], n, 0, 3))
        assert hostile.judge(CALLS["CCA"], X, Y) == ""
        assert hostile.judge(CALLS["CCA"], X[X.columns[-1:]] if maker == "pandas" else X[:, [-1]], Y) == ""


# --- one result for both libraries


def find_outcome(call, maker, pairs):
    """The correlations that come out, or the first words of the error."""
    with warnings.catch_warnings(action="ignore"):
        try:
            result = call(*(maker(side) for side in pairs))
        except (ValueError, TypeError) as error:
            return str(error)
    return getattr(result, "decomposition_", result).correlations


@settings(max_examples=60)
@given(pairs=messy_pairs(min_rows=5))
def test_pandas_and_polars_agree(pairs):
    one, other = (find_outcome(lambda X, Y: co.CCA(1).fit(X, Y), maker, pairs) for maker in MAKERS.values())
    assert isinstance(one, str) == isinstance(other, str), (one, other)
    if not isinstance(one, str):
        np.testing.assert_allclose(one, other, atol=1e-8)


# --- nothing is misread

READ = {
    "numbers": 0.5,
    "numbers as text": 0.5,
    "percentages": 0.95,
    "money": 0.8,
    "few whole numbers": 0.5,
    "labels": 0.1,
    "dates": 0.9,
    "spelled dates": 0.9,
    "durations": 0.1,
    "booleans": 0.4,
    "words of truth": 0.6,
    "texts": 0.5,
    "lists": 0.6,
    "joined lists": 0.6,
}
"""Kinds, and the correlation with z that a linear function of what they say has at least, on rows not in the fit."""


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("kind", READ)
@pytest.mark.parametrize("seed", range(3))
def test_a_kind_is_read_for_what_it_says(kind, maker, seed):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=400)
    target = np.abs(z) if kind in ("durations", "labels") else z
    X = MAKERS[maker]({"x": KINDS[kind](rng, z)})
    train, test = (X.iloc[:300], X.iloc[300:]) if maker == "pandas" else (X[:300], X[300:])
    with warnings.catch_warnings(action="ignore"):
        d = co.CCA(1).fit(train, target[:300]).decomposition_
        f = d.f.accept_unknown()(test.reset_index(drop=True) if maker == "pandas" else test)
    assert abs(np.corrcoef(f[:, 0], target[300:])[0, 1]) > READ[kind]


# --- new rows

UNSEEN = {
    "numbers": [1e6],
    "labels": ["never seen"],
    "spelled dates": ["soon"],
    "money": ["free"],
    "lists": [["never seen"]],
    "ids": ["z"],
}


@settings(max_examples=40)
@given(
    kinds=st.lists(st.sampled_from(list(KINDS)), min_size=1, max_size=3),
    maker=st.sampled_from(list(MAKERS)),
    share=st.sampled_from([0.0, 0.3]),
    seed=st.integers(0, 99),
)
def test_new_rows_may_be_missing_or_unseen(kinds, maker, share, seed):
    """A gap is never an error in new rows, nor is a value that was not in the fit where unknown ones are accepted."""
    columns = make_columns(["numbers", *kinds], 40, share, seed)
    Y = np.array(columns["numbers 0"])
    with warnings.catch_warnings(action="ignore"):
        f = co.CCA(1).fit(MAKERS[maker](columns), Y).decomposition_.f
    gaps = {name: [values[0], None, None] for name, values in columns.items()}
    unseen = {name: [values[0], *2 * UNSEEN.get(name[:-2], values[1:2])] for name, values in columns.items()}
    for function, rows in ((f, gaps), (f.accept_unknown(), unseen)):
        with warnings.catch_warnings(action="ignore"):
            assert np.isfinite(function(_make_like(rows, columns, maker))).all()


def _make_like(rows, columns, maker):
    """New rows, with the types that the columns of the fit have, as in the rest of a file."""
    whole = MAKERS[maker]({name: [*rows[name], *values] for name, values in columns.items()})
    return whole.iloc[:3].reset_index(drop=True) if maker == "pandas" else whole[:3]


@pytest.mark.parametrize("kind", KINDS)
def test_a_saved_model_reads_new_rows_alike(kind, tmp_path):
    columns = make_columns(["numbers", kind], 40, 0.2, 11)
    X, Y = to_pandas(columns), np.array(columns["numbers 0"])
    with warnings.catch_warnings(action="ignore"):
        d = co.CCA(1).fit(X, Y).decomposition_
    d.save(tmp_path / "model.safetensors")
    again = co.load(tmp_path / "model.safetensors")
    np.testing.assert_allclose(again.f(X), d.f(X))
