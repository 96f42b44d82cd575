import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import correspondence as co
from correspondence.datasets.data_folder import explain_damaged_data


def needs(name):
    path = Path(os.environ.get("CORRESPONDENCE_DATA", "nowhere"), name)
    return pytest.mark.skipif(not path.is_file(), reason=f"CORRESPONDENCE_DATA does not hold {name}")


def test_small_tables():
    shapes = [load().shape for load in (co.datasets.load_smoke, co.datasets.load_housetasks, co.datasets.load_hair_eye)]
    assert shapes == [(5, 4), (13, 4), (4, 4)]


def test_dune_meadows_are_those_of_vegan():
    dune, folder = co.datasets.load_dune(), Path(__file__).parents[1] / "oracle" / "many"
    wanted, environment = (pd.read_csv(folder / f"dune{name}_data.csv", index_col=0) for name in ("", "_env"))
    assert dune.table.rows.tolist() == dune.environment["site"].to_list() == wanted.index.astype(str).tolist()
    assert dune.table.columns.tolist() == wanted.columns.tolist()
    np.testing.assert_array_equal(dune.table.toarray(), wanted)
    for name in environment:
        assert dune.environment[name].to_list() == environment[name].astype(float if name == "A1" else str).tolist()
    assert dune.environment.schema["Use"].categories.to_list() == ["Hayfield", "Haypastu", "Pasture"]


@pytest.mark.slow
@needs("scale/20news-bydate.tar.xz")
def test_newsgroups():
    table = co.datasets.fetch_newsgroups()
    assert table.shape == (18846, 173762)
    assert table.counts.nnz == 2952534
    assert table.total == 5467226


def test_newsgroups_come_from_scikit_learn_without_a_data_folder(monkeypatch):
    from types import SimpleNamespace

    posts = SimpleNamespace(filenames=["a/1", "b/2"], data=["hello world", "hello again"])
    monkeypatch.delenv("CORRESPONDENCE_DATA", raising=False)
    monkeypatch.setattr("sklearn.datasets.fetch_20newsgroups", lambda **kwargs: posts)
    table = co.datasets.fetch_newsgroups()
    assert table.rows.tolist() == ["a/1", "b/2"]
    assert table.columns.tolist() == ["again", "hello", "world"]


@pytest.mark.parametrize(
    ("color", "qualities", "repeated"),
    [
        pytest.param("red", [10, 53, 681, 638, 199, 18], 240, marks=needs("wine/winequality-red.csv")),
        pytest.param("white", [20, 163, 1457, 2198, 880, 175, 5], 937, marks=needs("wine/winequality-white.csv")),
    ],
)
def test_wine(color, qualities, repeated):
    wine = co.datasets.fetch_wine(color)
    assert wine.X.shape == (sum(qualities), 11)
    assert wine.X.dtype == np.float64
    assert wine.quality.dtype.kind == "i"
    assert np.bincount(wine.quality)[3:].tolist() == qualities
    assert wine.attributes[0] == "fixed acidity"
    assert wine.attributes[-1] == "alcohol"
    assert len(wine.X) - len(np.unique(wine.groups)) == repeated


def test_wines_with_equal_measurements_are_one_group():
    wine = co.datasets.Wine(np.array([[1.0, 2.0], [0.0, 1.0], [1.0, 2.0]]), np.array([5, 5, 6]), ["a", "b"])
    assert wine.groups.tolist() == [1, 0, 1]


def test_wine_is_red_or_white():
    with pytest.raises(ValueError, match="color must"):
        co.datasets.fetch_wine("rose")


@needs("brands/brandassoc.csv")
def test_brands():
    table = co.datasets.fetch_brands()
    assert table.shape == (42, 15)
    assert table.rows[0] == "Porsche"
    assert table.columns[[0, -1]].tolist() == ["Charming", "Wholesome"]
    assert table.counts[0, 0] == 0.5
    assert (table.counts >= 0).all()
    assert (table.counts <= 1).all()


@pytest.mark.slow
@needs("whats_cooking/train.json.zip")
def test_recipes():
    recipes = co.datasets.fetch_recipes()
    assert len(recipes.ingredients) == len(recipes.cuisine) == 39774
    assert len(set(recipes.cuisine)) == 20
    assert sum(map(len, recipes.ingredients)) == 428275
    assert len({name for names in recipes.ingredients for name in names}) == 6714


@pytest.fixture
def no_folder(monkeypatch):
    monkeypatch.delenv("CORRESPONDENCE_DATA", raising=False)


@pytest.mark.usefixtures("no_folder")
def test_recipes_say_where_to_get_them():
    with pytest.raises(FileNotFoundError, match=r"kaggle\.com/c/whats-cooking/data .*whats_cooking.train\.json\.zip"):
        co.datasets.fetch_recipes()


@pytest.mark.usefixtures("no_folder")
def test_a_file_is_downloaded_once_its_checksum_is_known(monkeypatch, tmp_path):
    pooch = pytest.importorskip("pooch")
    calls = []

    def retrieve(url, known_hash, fname, path):
        calls.append((url, known_hash, fname, path))
        (tmp_path / fname).write_text(',Charming,"Upper class"\nPorsche,0.5,0.89\n')
        return str(tmp_path / fname)

    monkeypatch.setattr(pooch, "retrieve", retrieve)
    table = co.datasets.fetch_brands()
    assert table.toarray().tolist() == [[0.5, 0.89]]
    assert table.columns.tolist() == ["Charming", "Upper class"]
    [(url, known_hash, fname, path)] = calls
    assert url.endswith("/inst/extdata/brandassoc.csv")
    assert known_hash.startswith("sha256:ffd90967")
    assert fname == "brandassoc.csv"
    assert path == pooch.os_cache("correspondence")


@pytest.mark.usefixtures("no_folder")
@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ConnectionError("no route\nto host"), "ConnectionError"),
        (ValueError("SHA256 hash of downloaded file does not match"), "its checksum is wrong"),
    ],
)
def test_a_failed_download_is_one_sentence(monkeypatch, error, reason):
    pooch = pytest.importorskip("pooch")

    def retrieve(*args):
        raise error

    monkeypatch.setattr(pooch, "retrieve", retrieve)
    message = (
        rf"winequality-white\.csv could not be downloaded \({reason}\): put the file at wine/winequality-white\.csv"
    )
    with pytest.raises(OSError, match=message):
        co.datasets.fetch_wine("white")


@pytest.mark.usefixtures("no_folder")
def test_a_download_needs_pooch(monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(ImportError, match=r'\[data\]"'):
        co.datasets.fetch_wine()


@needs("mnist/train-images-idx3-ubyte.gz")
def test_mnist():
    mnist = co.datasets.fetch_mnist()
    assert mnist.train_images.shape == (60000, 28, 28)
    assert mnist.test_images.dtype == np.uint8
    assert mnist.test_labels[:5].tolist() == ["7", "2", "1", "0", "4"]
    assert np.bincount(mnist.train_labels.astype(int))[:2].tolist() == [5923, 6742]
    assert mnist.test_images[0].max() == 255  # the 7 is there, and its border is empty
    assert mnist.test_images[0, 0].max() == 0


@pytest.mark.slow
@needs("cifar10/test_batch.xz")
def test_cifar_takes_the_batches_that_are_there():
    cifar = co.datasets.fetch_cifar10()
    assert cifar.train_images.shape[1:] == (3, 32, 32)
    assert len(cifar.train_images) == len(cifar.train_labels) == 30000
    assert cifar.test_labels[:4].tolist() == ["cat", "ship", "ship", "airplane"]
    some = cifar.only("truck", "ship")
    assert some.classes == ["ship", "truck"]
    assert some.test_images.shape == (2000, 3, 32, 32)
    assert set(some.train_labels.tolist()) == {"ship", "truck"}
    with pytest.raises(ValueError, match="no class 'tank'"):
        cifar.only("tank")


def cifar_batch(n, label):
    return {b"data": np.full((n, 3072), label, np.uint8), b"labels": [label] * n}


def test_cifar_from_the_official_archive(tmp_path, monkeypatch):
    import io
    import pickle
    import tarfile

    (tmp_path / "cifar10").mkdir()
    with tarfile.open(tmp_path / "cifar10" / "cifar-10-python.tar.gz", "w:gz") as archive:
        for name, label in (("test_batch", 3), ("data_batch_2", 2), ("data_batch_1", 1), ("readme.html", 0)):
            content = pickle.dumps(cifar_batch(4, label), protocol=2)
            member = tarfile.TarInfo(f"cifar-10-batches-py/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    monkeypatch.setenv("CORRESPONDENCE_DATA", str(tmp_path))
    cifar = co.datasets.fetch_cifar10()
    assert cifar.train_labels.tolist() == ["automobile"] * 4 + ["bird"] * 4
    assert cifar.test_labels.tolist() == ["cat"] * 4
    assert (cifar.test_images == 3).all()


def test_a_pickle_that_is_no_array_is_refused(tmp_path, monkeypatch):
    import lzma
    import pickle

    (tmp_path / "cifar10").mkdir()
    for name in ("data_batch_1", "test_batch"):
        with lzma.open(tmp_path / "cifar10" / f"{name}.xz", "wb") as file:
            pickle.dump(os.getcwd, file)
    monkeypatch.setenv("CORRESPONDENCE_DATA", str(tmp_path))
    with pytest.raises(co.datasets.DamagedDataError, match=r"data_batch_1\.xz is damaged.*not an array"):
        co.datasets.fetch_cifar10()


@needs("compas/compas_train.csv")
def test_compas():
    compas = co.datasets.fetch_compas()
    assert compas.X_train.shape == (4320, 5)
    assert compas.X_test.shape == (1852, 5)
    assert compas.features[2] == "age"
    assert compas.y_train[:2].tolist() == ["medium", "low"]
    assert compas.X_train[1].tolist() == [0, 1, 36, 12, 13]


def test_compas_says_what_is_missing(monkeypatch):
    monkeypatch.delenv("CORRESPONDENCE_DATA", raising=False)
    with pytest.raises(co.datasets.MissingDataError, match="CORRESPONDENCE_DATA"):
        co.datasets.fetch_compas()


@pytest.mark.slow
@needs("flickr8k/images64.zip")
def test_flickr():
    flickr = co.datasets.fetch_flickr8k()
    assert flickr.images.shape == (8091, 3, 64, 64)
    assert flickr.images.dtype == np.uint8
    assert {len(captions) for captions in flickr.captions} == {5}
    sizes = {part: int((flickr.split == part).sum()) for part in ("train", "dev", "test", "")}
    assert sizes == {"train": 6000, "dev": 1000, "test": 1000, "": 91}
    assert flickr.names[0] == "1000268201_693b08cb0e.jpg"
    assert flickr.captions[0][1] == "A girl going into a wooden building ."


@pytest.fixture
def flickr_folder(tmp_path, monkeypatch):
    """Three photographs as the makers give them, a caption without a photograph, and a photograph without captions."""
    from PIL import Image

    folder = tmp_path / "flickr8k"
    photos = folder / "Flicker8k_Dataset"
    photos.mkdir(parents=True)
    for name, colour in (("b", "red"), ("a", "blue"), ("c", "white"), ("other", "black")):
        Image.new("RGB", (90, 50), colour).save(photos / f"{name}.jpg", quality=95)
    lines = [f"{name}.jpg#{i}\tA {name} {i} ." for name in ("b", "a", "c", "gone") for i in range(5)]
    (folder / "Flickr8k.token.txt").write_text("\n".join(lines) + "\n")
    for part, names in (("train", "b.jpg\n"), ("dev", "a.jpg\n"), ("test", "\n")):
        (folder / f"Flickr_8k.{part}Images.txt").write_text(names)
    monkeypatch.setenv("CORRESPONDENCE_DATA", str(tmp_path))
    return folder


@pytest.mark.usefixtures("flickr_folder")
def test_flickr_from_the_original_photographs():
    flickr = co.datasets.fetch_flickr8k()
    assert flickr.names == ["a.jpg", "b.jpg", "c.jpg"]
    assert flickr.split.tolist() == ["dev", "train", ""]
    assert flickr.captions[1] == [f"A b {i} ." for i in range(5)]
    assert np.abs(flickr.images.mean(axis=(2, 3)) - [[0, 0, 255], [255, 0, 0], [255, 255, 255]]).max() < 5
    train = flickr.only("train")
    assert train.names == ["b.jpg"]
    assert train.images.shape == (1, 3, 64, 64)
    with pytest.raises(ValueError, match="part must"):
        flickr.only("validation")


@pytest.mark.parametrize("missing", ["Flickr8k.token.txt", "Flickr_8k.devImages.txt", "Flicker8k_Dataset"])
def test_flickr_says_what_is_missing(flickr_folder, missing):
    (flickr_folder / missing).rename(flickr_folder / "elsewhere")
    with pytest.raises(co.datasets.MissingDataError, match=f"{missing} is missing"):
        co.datasets.fetch_flickr8k()


def test_flickr_says_what_is_damaged(flickr_folder):
    (flickr_folder / "Flicker8k_Dataset" / "a.jpg").write_bytes(b"no photograph")
    with pytest.raises(ValueError, match=r"damaged \(.*a.jpg"):
        co.datasets.fetch_flickr8k()
    (flickr_folder / "Flicker8k_Dataset" / "a.jpg").unlink()
    with pytest.raises(ValueError, match=r"are missing, such as a.jpg"):
        co.datasets.fetch_flickr8k()
    (flickr_folder / "Flickr8k.token.txt").rename(flickr_folder / "Flickr8k.token.txt.gz")
    with pytest.raises(ValueError, match=r"token.txt.gz is damaged"):
        co.datasets.fetch_flickr8k()


def test_a_file_for_which_memory_is_short_is_not_called_damaged(tmp_path):
    with pytest.raises(MemoryError), explain_damaged_data(tmp_path / "file"):
        raise MemoryError
