"""Every reader of files, and the command line, on files that are meant to break them."""

import gzip
import io
import json
import lzma
import os
import pickle
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from files import FILES, NUMBERS, LABELS, finite, judged, limited, lines, told
from hypothesis import example, given, settings
from hypothesis import strategies as st
from safetensors.numpy import save_file

import correspondence as co
from correspondence import io as model_files
from correspondence import reading, retrieval
from correspondence.cli import main
from correspondence.decomposition import FORMAT, VERSION
from correspondence.reading import column_names, read_frame, read_pairs

NAMES = ("data", "'a'", "'b'", "x ", "n_components")  # one of which a sentence must have


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def backend(request, monkeypatch):
    monkeypatch.setattr(reading, "BACKENDS", (request.param,))


def run(*arguments):
    with limited():
        return CliRunner().invoke(main, [str(argument) for argument in arguments])


def left(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


# --- readers


@pytest.mark.parametrize("backend", ["polars", "pandas", "pyarrow"], indirect=True)
@pytest.mark.usefixtures("backend")
def test_pairs_of_files(tmp_path):
    for name, write in FILES.items():
        (tmp_path / name).mkdir()
        path = write(tmp_path / name)
        found = judged(lambda path=path: read_pairs(path, ["a"], ["b"]), path.name, "'a'")
        assert found is None or len(found.X) > 0
        judged(lambda path=path: read_frame(path), path.name)


def test_names_for_the_shell_never_fail(here):
    """A shell that completes the names of columns shows nothing where there are none."""
    from correspondence.commands import _complete

    context = main.make_context("correspondence", ["analyze"], resilient_parsing=True)
    for name, write in FILES.items():
        context.args = [str(write(here))]
        assert isinstance(_complete(context, None, ""), list), name


# --- models


RNG = np.random.default_rng(0)
X2 = RNG.normal(size=(40, 2))
Y1 = np.where(X2[:, 0] + 0.3 * RNG.normal(size=40) > 0, "up", "down")
FITS = {
    "labels": lambda: (co.CA().fit(co.datasets.load_smoke()), (["SE", "JE"], ["none", "light"])),
    "numbers": lambda: (co.CCA(1).fit(X2, Y1), (X2, Y1)),
    "frame": lambda: (co.ACE(1).fit(pl.DataFrame({"a": X2[:, 0], "b": Y1}), X2[:, 1]), None),
    "kernel": lambda: (co.KernelCCA(1).fit(X2, X2[:, 0] ** 2), (X2, X2[:, 0] ** 2)),
}


def used(path, values):
    """What a model that was read says of values."""
    d = co.load(path)
    repr(d)
    finite(d.pics, d.chi2, d.n)
    if values is not None:
        finite(*(d.f(values[0]), d.g(values[1])))
    return d


@pytest.fixture(scope="module", params=FITS)
def model(request, tmp_path_factory):
    est, values = FITS[request.param]()
    path = tmp_path_factory.mktemp("model") / "model.safetensors"
    est.decomposition_.save(path)
    return path, values


def test_damaged_models(model, tmp_path):
    path, values = model
    whole, bad = path.read_bytes(), tmp_path / "model.safetensors"
    cuts = [0, 1, 7, 8, 9, 100, len(whole) // 2, len(whole) - 1]
    flips = RNG.integers(0, len(whole), 60)
    contents = [whole[:cut] for cut in cuts] + [whole + b"\0"]
    contents += [whole[:i] + bytes([whole[i] ^ 1]) + whole[i + 1 :] for i in flips]
    contents += [b"\xff" * 8 + whole[8:], b"\0" * 8 + whole[8:], b"\xff" * 100]
    for content in contents:
        bad.write_bytes(content)
        assert judged(lambda: used(bad, values), bad.name) is None
    assert used(path, values) is not None


def test_foreign_models(model, tmp_path):
    path, values = model
    bad = tmp_path / "model.safetensors"
    arrays, description = model_files.read(path, FORMAT, VERSION)
    save_file({"a": np.ones(3)}, bad)
    assert judged(lambda: used(bad, values), bad.name) is None
    for kind, version in ((FORMAT, 99), ("correspondence.Other", VERSION), ("other", VERSION)):
        model_files.write(bad, arrays, description, kind, version)
        assert judged(lambda: used(bad, values), bad.name) is None
    for write in FILES.values():
        assert judged(lambda write=write: co.load(write(tmp_path)), "data") is None
    assert judged(lambda: co.load(tmp_path), tmp_path.name) is None
    assert judged(lambda: co.load(tmp_path / "none" / "a"), "none") is None
    for nothing in (None, 3, b"model", [], np.ones(3)):
        assert judged(lambda nothing=nothing: co.load(nothing), "path") is None


def _changes(value):
    """The same description with one entry gone, or of another kind."""
    for key in value:
        rest = {name: part for name, part in value.items() if name != key}
        yield rest
        for other in (None, "text", -1, [], {}, [None], {"kind": "none"}, 1e400):
            yield rest | {key: other}
        if isinstance(value[key], dict):
            yield from (rest | {key: part} for part in _changes(value[key]))


def _odd(array):
    yield from (array[:0], array.reshape(-1)[:-1], array.reshape(-1, 1, 1), array.astype(np.int8), np.array(3.0))
    yield from (np.full(array.shape, value) for value in (np.nan, np.inf, -1e6))


def test_models_that_were_changed_with_their_checksum(model, tmp_path):
    """What `load` takes must also work, as far as labels go.

    The features of other functions are not looked into: who forges a checksum can have them be anything.
    """
    path, values = model
    bad = tmp_path / "model.safetensors"
    arrays, description = model_files.read(path, FORMAT, VERSION)
    cases = [(arrays, changed) for changed in _changes(description)]
    for name, array in arrays.items():
        rest = {key: value for key, value in arrays.items() if key != name}
        cases += [(rest, description), *((rest | {name: odd}, description) for odd in _odd(array))]
    for changed, described in cases:
        model_files.write(bad, changed, described, FORMAT, VERSION)
        judged(lambda: used(bad, values if isinstance(values and values[0], list) else None))


def test_indexes_that_are_damaged_or_changed(tmp_path):
    path, bad = tmp_path / "index.safetensors", tmp_path / "bad.safetensors"
    table = co.datasets.load_smoke()
    co.CrossModalIndex(co.CA().fit(table), table.columns, table.columns, table.rows, table.rows).save(path)
    whole = path.read_bytes()
    kind, version = retrieval.FORMAT, retrieval.VERSION
    arrays, description = model_files.read(path, kind, version)

    def ranked():
        index = co.CrossModalIndex.load(bad)
        found = index.tags(["SE"], 2)
        finite(found.distances, found.ratios, found.probabilities)
        return index

    for content in (whole[:0], whole[:50], whole[:-1], whole + b"\0", b"PAR1" * 50):
        bad.write_bytes(content)
        assert judged(ranked, bad.name) is None
    cases = [(arrays, changed) for changed in _changes(description)]
    for name, array in arrays.items():
        rest = {key: value for key, value in arrays.items() if key != name}
        cases += [(rest, description), *((rest | {name: odd}, description) for odd in _odd(array))]
    for changed, described in cases:
        model_files.write(bad, changed, described, kind, version)
        judged(ranked)
    model_files.write(bad, arrays, description, kind, version)
    assert ranked() is not None
    assert judged(lambda: co.load(bad), bad.name) is None


@pytest.mark.parametrize("path", [None, 3, b"a", "", ".", "none/a.safetensors", "a\0b"])
def test_places_where_nothing_can_be_written(path, here):
    ca = co.CA().fit(co.datasets.load_smoke())
    index = co.CrossModalIndex(ca, ["none"], ["none"])
    for write in (ca.decomposition_.save, index.save, lambda path: co.explore(ca, path=path)):
        assert judged(lambda write=write: write(path), "path", "folder", "file") is None
    assert left(here) == []
