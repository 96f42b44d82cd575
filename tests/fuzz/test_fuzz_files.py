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
from files import FILES, finite, judged, limited, lines, told
from hypothesis import example, given, settings
from hypothesis import strategies as st
from safetensors.numpy import save_file

import correspondence as co
from correspondence._util import files as model_files
from correspondence.app.analyze.inputs import Request, read_data
from correspondence.app.cli import main
from correspondence.app.train.inputs import read_input
from correspondence.app.train.options import Job
from correspondence.core.decomposition import FILE_FORMAT, FILE_FORMAT_VERSION
from correspondence.data.file_formats import read_arrays, read_frame
from correspondence.search import cross_modal

pytestmark = pytest.mark.slow

NAMES = ("data", "photos", "'a'", "'b'", "x ", "y ", "n_components")  # one of which a sentence must have


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments):
    with limited():
        return CliRunner().invoke(main, [str(argument) for argument in arguments])


def left(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


# --- readers


def test_pairs_of_files(tmp_path):
    for name, write in FILES.items():
        (tmp_path / name).mkdir()
        path = write(tmp_path / name)
        found = judged(lambda path=path: read_data(Request(path, ["a"], ["b"])), path.name, *NAMES)
        assert found is None or len(found.ids) > 0
        judged(lambda path=path: read_frame(path), path.name)


def test_names_for_the_shell_never_fail(here):
    """A shell that completes the names of columns shows nothing where there are none."""
    from correspondence.app.commands.options import complete_column_names

    context = main.make_context("correspondence", ["analyze"], resilient_parsing=True)
    for name, write in FILES.items():
        context.args = [str(write(here))]
        assert isinstance(complete_column_names(context, None, ""), list), name


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
    arrays, description = model_files.read_safetensors(path, FILE_FORMAT, FILE_FORMAT_VERSION)
    save_file({"a": np.ones(3)}, bad)
    assert judged(lambda: used(bad, values), bad.name) is None
    for kind, version in (
        (FILE_FORMAT, 99),
        ("correspondence.Other", FILE_FORMAT_VERSION),
        ("other", FILE_FORMAT_VERSION),
    ):
        model_files.write_safetensors(bad, arrays, description, kind, version)
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
    with np.errstate(invalid="ignore"):  # ends of columns may be infinite
        whole = array.astype(np.int8)
    yield from (array[:0], array.reshape(-1)[:-1], array.reshape(-1, 1, 1), whole, np.array(3.0))
    yield from (np.full(array.shape, value) for value in (np.nan, np.inf, -1e6))


def test_models_that_were_changed_with_their_checksum(model, tmp_path):
    """What `load` takes must also work, as far as labels go.

    The features of other functions are not looked into: who forges a checksum can have them be anything.
    """
    path, values = model
    bad = tmp_path / "model.safetensors"
    arrays, description = model_files.read_safetensors(path, FILE_FORMAT, FILE_FORMAT_VERSION)
    cases = [(arrays, changed) for changed in _changes(description)]
    for name, array in arrays.items():
        rest = {key: value for key, value in arrays.items() if key != name}
        cases += [(rest, description), *((rest | {name: odd}, description) for odd in _odd(array))]
    for changed, described in cases:
        model_files.write_safetensors(bad, changed, described, FILE_FORMAT, FILE_FORMAT_VERSION)
        judged(lambda: used(bad, values if isinstance(values and values[0], list) else None))


def test_indexes_that_are_damaged_or_changed(tmp_path):
    path, bad = tmp_path / "index.safetensors", tmp_path / "bad.safetensors"
    table = co.datasets.load_smoke()
    co.CrossModalIndex(co.CA().fit(table), table.columns, table.columns, table.rows, table.rows).save(path)
    whole = path.read_bytes()
    kind, version = cross_modal.FILE_FORMAT, cross_modal.FILE_VERSION
    arrays, description = model_files.read_safetensors(path, kind, version)

    def ranked():
        index = co.CrossModalIndex.load(bad)
        found = index.tags(["SE"], 2)
        finite(found.distances, found.ratios, found.scores)
        return index

    for content in (whole[:0], whole[:50], whole[:-1], whole + b"\0", b"PAR1" * 50):
        bad.write_bytes(content)
        assert judged(ranked, bad.name) is None
    cases = [(arrays, changed) for changed in _changes(description)]
    for name, array in arrays.items():
        rest = {key: value for key, value in arrays.items() if key != name}
        cases += [(rest, description), *((rest | {name: odd}, description) for odd in _odd(array))]
    for changed, described in cases:
        model_files.write_safetensors(bad, changed, described, kind, version)
        judged(ranked)
    model_files.write_safetensors(bad, arrays, description, kind, version)
    assert ranked() is not None
    assert judged(lambda: co.load(bad), bad.name) is None


@pytest.mark.parametrize("path", [None, 3, b"a", "", ".", "none/a.safetensors", "a\0b"])
def test_places_where_nothing_can_be_written(path, here):
    ca = co.CA().fit(co.datasets.load_smoke())
    index = co.CrossModalIndex(ca, ["none"], ["none"])
    for write in (ca.decomposition_.save, index.save, co.explore(ca).save):
        assert judged(lambda write=write: write(path), "path", "folder", "file") is None
    assert left(here) == []


# --- the command line

COMMANDS = {
    "analyze": ("analyze", "FILE", "--x", "a", "--y", "b", "--method", "cca", "-o", "out"),
    "guess": ("analyze", "FILE", "--method", "cca", "--components", 1, "-o", "out"),
    "table": ("analyze", "FILE", "--table", "-o", "out"),
    "beliefs": ("analyze", "FILE", "--beliefs", "-o", "out"),
    "compare": ("compare", "FILE", "--x", "a", "--y", "b", "--methods", "cca", "--cv", 2, "-o", "out"),
    "images": ("analyze", "FILE", "--images", "photos", "-o", "out"),
    "embed": ("embed", "../model", "FILE", "-o", "out.csv"),
}
ENDINGS = {  # the others take no other way than with analyze
    "guess": ("npz", "csv c"),
    "compare": "parquet",
    "table": ("npz", "parquet", "jsonl", "csv c", "csv m"),
    "beliefs": ("npz", "parquet"),
}
OVERFLOWS = {("compare", "parquet huge")}  # a value of 1e308 that is held out: HeldOut.captured is NaN, with a warning


def written(folder):
    """Check that what a command has written is whole."""
    for path in folder.glob("out/*.parquet"):
        rows = pl.read_parquet(path)
        rows = rows.filter(pl.col("mass") > 0) if "mass" in rows.columns else rows  # others have no place
        finite(*(column for column in rows if column.name[:2] in ("f_", "g_")))
    for path in folder.glob("out/summary.json"):
        for component in json.loads(path.read_text())["components"]:
            finite(component["pic"], component["training"])
    assert not list(folder.rglob(".*"))


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Folder with a model of good pairs."""
    folder = tmp_path_factory.mktemp("place")
    (folder / "good.csv").write_text(lines("a", "b"))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert told(run("analyze", "good.csv", "--method", "cca", "-o", "model"))
    return folder


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_on_hostile_files(command, place, monkeypatch):
    failed = {}
    for number, (name, write) in enumerate(FILES.items()):
        if (command, name) in OVERFLOWS or not name.startswith(ENDINGS.get(command, "")):
            continue
        folder = place / f"{command}{number}"
        folder.mkdir()
        monkeypatch.chdir(folder)
        path = write(folder)
        (folder / "photos").mkdir()
        before = left(folder)
        try:
            done = told(run(*(path.name if part == "FILE" else part for part in COMMANDS[command])), *NAMES)
            written(folder)
            assert done or left(folder) == before
        except AssertionError as error:
            failed[name] = error
    assert failed == {}


def test_training_on_hostile_files(tmp_path):
    """What `train` reads, without the processes that it starts: in memory and in blocks."""
    options = {"components": 1, "loss": "dcca", "steps": 2, "batch_size": 8, "learning_rate": 1e-3, "labels": []}
    options |= {"schedule": "plateau", "evaluate_every": 1, "checkpoint_every": 1, "held_out": 0.2, "seed": 0}
    failed = {}
    for stream in (False, True):
        for name, write in FILES.items():
            if stream and not name.startswith(("parquet", "csv c", "csv w")):
                continue  # what DuckDB makes of the others is in test_fuzz_sources.py
            job = Job(files=[str(write(tmp_path))], folder="out", x=["a"], y=["b"], stream=stream, nproc=1, **options)
            try:
                judged(lambda job=job: read_input(job), "data.", "data ", "'a'", "x ")
            except AssertionError as error:
                failed[name, stream] = error
    assert failed == {}


WRONG = {
    "no command": ("annalyze", "data.csv"),
    "no file": ("analyze",),
    "a file that is not there": ("analyze", "none.csv"),
    "a folder": ("analyze", "."),
    "an option that is not there": ("analyze", "data.csv", "--why"),
    "a name that is empty": ("analyze", "data.csv", "--y", ""),
    "a name with commas only": ("analyze", "data.csv", "--y", ",,,"),
    "a name of other letters": ("analyze", "data.csv", "--y", "\U0001f600"),
    "a very long name": ("analyze", "data.csv", "--y", "y" * 5000),
    "no components": ("analyze", "data.csv", "--y", "b", "--components", "0"),
    "too many components": ("analyze", "data.csv", "--y", "b", "--components", "99999999999999999999"),
    "a seed below 0": ("analyze", "data.csv", "--y", "b", "--seed", "-1"),
    "an output that is a file": ("analyze", "data.csv", "--y", "b", "-o", "data.csv"),
    "an output below a file": ("analyze", "data.csv", "--y", "b", "-o", "data.csv/out"),
    "an output with a very long name": ("analyze", "data.csv", "--y", "b", "--method", "cca", "-o", "o" * 300),
    "compare without y": ("compare", "data.csv"),
    "compare with a method that is not there": ("compare", "data.csv", "--y", "b", "--methods", "magic"),
    "compare into a file": ("compare", "data.csv", "--y", "b", "--methods", "cca", "-o", "data.csv"),
    "embed without a model": ("embed", "none", "data.csv"),
    "embed by a file that is no model": ("embed", "data.csv", "data.csv"),
    "embed to an unknown ending": ("embed", "../model", "data.csv", "-o", "out.txt"),
    "embed into a folder that is not there": ("embed", "../model", "data.csv", "-o", "none/out.csv"),
    "train of nothing": ("train", "none-*.parquet"),
    "train of two kinds": ("train", "data.csv", "data.parquet", "--y", "b"),
    "train of a file twice": ("train", "data.csv", "data.csv", "--y", "b"),
    "train of a folder": ("train", "."),
    "train by more processes than pairs": ("train", "data.csv", "--y", "b", "--nproc", "9", "--batch-size", "8"),
    "reproduce nothing": ("reproduce", "everything"),
    "reproduce into a file": ("reproduce", "hermite", "--quick", "-o", "data.csv"),
    "reproduce by no seeds": ("reproduce", "hermite", "--seeds", "0"),
    "demo into a file": ("demo", "-o", "data.csv"),
    "completion of no shell": ("completion", "cmd"),
}


@pytest.mark.parametrize("arguments", WRONG.values(), ids=WRONG)
def test_wrong_usage(arguments, place, monkeypatch):
    folder = place / "wrong"
    folder.mkdir(exist_ok=True)
    monkeypatch.chdir(folder)
    (folder / "data.csv").write_text(lines("a", "b"))
    before = left(folder)
    result = run(*arguments)
    assert not told(result)
    assert left(folder) == before


# --- data sets


def _bytes_of(opener, content):
    buffer = io.BytesIO()
    with opener(buffer) as file:
        file.write(content)
    return buffer.getvalue()


def _zip(name, content):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(name, content)
    return buffer.getvalue()


def _tar(**members):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:xz") as archive:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def _xz(value):
    return _bytes_of(lambda buffer: lzma.open(buffer, "wb"), pickle.dumps(value, protocol=2))


def _gz(content):
    return gzip.compress(content, mtime=0)


def _idx(shape, content):
    return _gz(bytes([0, 0, 8, len(shape)]) + b"".join(n.to_bytes(4, "big") for n in shape) + content)


def _batch(labels, data=None):
    return _xz({b"data": np.zeros((len(labels), 3072), np.uint8) if data is None else data, b"labels": labels})


COMPAS = "sex_female,charge_felony,age,priors_count,length_of_stay_days,score_bin\n"
WINE = ";".join(f"c{i}" for i in range(12)) + "\n"
CIFAR = ["cifar10/data_batch_1.xz", "cifar10/test_batch.xz"]
MNIST = [f"mnist/{part}-{kind}-ubyte.gz" for part in ("train", "t10k") for kind in ("images-idx3", "labels-idx1")]
FLICKR = [f"flickr8k/Flickr_8k.{part}Images.txt" for part in ("train", "dev", "test")]
FLICKR = [*FLICKR, "flickr8k/Flickr8k.token.txt", "flickr8k/images64.zip"]
ANYTHING = [b"", b"\n", b"\0" * 50, b"\x89PNG\r\n", b"<html>log in</html>", b"a,b\n1,2\n"]
DATA = {  # what is read, by which function, from which files, and contents that are worse than anything
    "wine": (
        co.datasets.fetch_wine,
        ["wine/winequality-red.csv"],
        [WINE, WINE + "1;2\n", WINE + ";".join("x" * 12), WINE + ";".join(["nan"] * 12), "\xe9".encode("latin-1")],
    ),
    "brands": (
        co.datasets.fetch_brands,
        ["brands/brandassoc.csv"],
        [",a,b\nB,1\n", ",a\nB,-1\n", "a\nb\n", ",a,a\nB,1,1\n"],
    ),
    "recipes": (
        co.datasets.fetch_recipes,
        ["whats_cooking/train.json.zip"],
        [
            *(
                _zip("train.json", text)
                for text in (b"", b"[]", b"{}", b"[1]", b'[{"cuisine": "x"}]', b"null", b"[" * 9999)
            ),
            _zip("other.json", b"[]"),
            _zip("train.json", b"[]" * 50)[:-30],
        ],
    ),
    "compas": (
        co.datasets.fetch_compas,
        ["compas/compas_train.csv", "compas/compas_test.csv"],
        [
            COMPAS,
            COMPAS + "1,1,1,1,1,-1\n",
            COMPAS + "1,1,1,1,1,3\n",
            COMPAS + "1,1\n",
            COMPAS + "a,b,c,d,e,0\n",
            "age\n1\n",
        ],
    ),
    "mnist": (
        co.datasets.fetch_mnist,
        MNIST,
        [
            *(_gz(content) for content in (b"", b"\0\0\x08", b"\0\0\x08\xff", bytes(100), b"\0\0\x0d\x03" + bytes(50))),
            _idx((2, 28, 28), bytes(28 * 28)),
            _idx((0, 28, 28), b""),
            _idx((2,), b"\1\xff"),
            _idx((2**31 - 1,) * 3, b""),
            _idx((1, 1, 1), b"\0")[:-5],
        ],
    ),
    "cifar": (
        co.datasets.fetch_cifar10,
        CIFAR,
        [
            *(_xz(value) for value in (None, [], {}, {b"data": np.zeros(3)}, os.getcwd)),
            *(_batch([0, 10]), _batch([-1]), _batch([0.5]), _batch([]), _batch(["cat"])),
            *(_batch([1], np.zeros((1, 7))), _batch([1, 2], np.zeros((1, 3072), np.uint8))),
            _batch([1])[:-20],
        ],
    ),
    "newsgroups": (
        co.datasets.fetch_newsgroups,
        ["scale/20news-bydate.tar.xz"],
        [_tar(), _tar(a=b""), _tar(a=b"hello world" * 999)[:100]],
    ),
    "flickr": (
        co.datasets.fetch_flickr8k,
        FLICKR,
        [_zip("a.jpg", b"no image"), _zip("a.jpg", b"no image")[:-9], b"a.jpg\n", b"a.jpg#0\tA dog .\n", b"\xff\xfe\n"],
    ),
}


@pytest.mark.parametrize(("fetch", "names", "worse"), DATA.values(), ids=DATA)
def test_data_sets_that_are_damaged(fetch, names, worse, tmp_path, monkeypatch):
    """Whatever is in the files of the data folder, the sentence names one of them."""
    monkeypatch.setenv("CORRESPONDENCE_DATA", str(tmp_path))
    for content in (*ANYTHING, *worse):
        for name in names:
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
        assert judged(fetch, *(Path(name).name for name in names), "photographs") is None


@pytest.mark.parametrize(("fetch", "names", "worse"), DATA.values(), ids=DATA)
def test_data_sets_that_are_missing(fetch, names, worse, tmp_path, monkeypatch):
    """Folders in the place of files, no folder at all, no network."""

    def no_network(*arguments, **options):
        raise ConnectionError("no route to host")

    monkeypatch.setattr("pooch.retrieve", no_network)
    monkeypatch.setattr("sklearn.datasets.fetch_20newsgroups", no_network)
    for name in names:
        (tmp_path / name).mkdir(parents=True)
    for folder in (str(tmp_path), str(tmp_path / "none"), ""):
        monkeypatch.setattr("os.environ", {**os.environ, "CORRESPONDENCE_DATA": folder})
        assert judged(fetch, "CORRESPONDENCE_DATA") is None


def test_studies_of_damaged_data(here, monkeypatch):
    monkeypatch.setenv("CORRESPONDENCE_DATA", str(here))
    (here / "brands").mkdir()
    (here / "brands" / "brandassoc.csv").write_bytes(b"\0")
    before = left(here)
    assert not told(run("reproduce", "brands", "--quick", "-o", "out"), "brandassoc.csv")
    assert left(here) == before


# --- bytes at random


@settings(max_examples=120)
@given(
    st.one_of(
        st.binary(max_size=200),
        st.text(max_size=200).map(str.encode),
        st.lists(st.lists(st.text(max_size=5), min_size=1, max_size=4), min_size=1, max_size=6).map(
            lambda rows: "\n".join(",".join(row) for row in rows).encode()
        ),
        st.text('0123456789,;.\n"ab-e', max_size=120).map(lambda text: ("a,b\n" + text).encode()),
    ),
    st.sampled_from(["csv", "tsv", "jsonl", "parquet", "npz"]),
)
@example(b"a\n1\n", "csv")
def test_random_bytes(tmp_path_factory, content, ending):
    path = tmp_path_factory.getbasetemp() / f"random.{ending}"
    path.write_bytes(content)
    if ending == "npz":
        judged(lambda: read_arrays(path), path.name)
        return
    frame = judged(lambda: read_frame(path), path.name)
    if frame is not None and len(frame.columns) > 1:
        first, *rest = frame.columns
        judged(lambda: read_data(Request(path, [first], rest)), path.name, "column", *NAMES)
