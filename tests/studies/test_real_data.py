"""The studies with real data: run quickly, with the files that they write read back."""

import numpy as np
import pytest
from pages import data_of
from records import check_record, read_rows, require_data

import correspondence as co
from correspondence.studies import brands, cooking, training, wine
from correspondence.studies.reproducing import reproduce_study

pytestmark = pytest.mark.slow

NEEDS = {
    "cooking": "whats_cooking/train.json.zip",
    "wine": "wine/winequality-red.csv",
    "brands": "brands/brandassoc.csv",
    "boundary": "cifar10/test_batch.xz",
    "training-mnist": "mnist/train-images-idx3-ubyte.gz",
    "compas": "compas/compas_train.csv",
}
FILES = {
    "cooking": [f"cooking{end}" for end in (".csv", ".png", "-plane.png", "-explore.html", ".md", ".json")],
    "wine": ["wine.csv", "wine.png", "wine-methods.png", "wine-explore.html", "wine.md", "wine.json"],
    "brands": ["brands.csv", "brands.png", "brands-others.png", "brands.md", "brands.json"],
    "boundary": ["boundary.csv", "boundary.png", "boundary-confusing.png", "boundary.md", "boundary.json"],
    "training-mnist": [
        f"training-mnist{end}" for end in (".csv", ".png", "-timeline.png", ".mp4", ".html", ".md", ".json")
    ],
    "compas": ["compas.csv", "compas.png", "compas-where.png", "compas.md", "compas.json"],
}


def run_quickly(name, folder):
    """Run a study quickly and return the rows and the text."""
    require_data(NEEDS[name])
    files = reproduce_study(name, folder / name, seeds=1, quick=True)
    assert [path.name for path in files] == FILES[name]
    for path in files:
        assert path.suffix != ".png" or path.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
        assert path.suffix != ".mp4" or path.read_bytes()[4:8] == b"ftyp"
    rows = read_rows(files[0])
    text = files[-2].read_text(encoding="utf-8")
    assert f"correspondence reproduce {name} " in text
    assert ("## What it corrects" in text) == (name != "compas")  # which the paper does not have
    for path in files[1:-2]:
        assert f"({path.name})" in text or name == "brands"
    check_record(folder / name, name)
    return rows, text


def test_cooking(tmp_path):
    rows, text = run_quickly("cooking", tmp_path)
    assert [row["method"] for row in rows[::2]] == list(cooking.METHODS)
    total = {(row["method"], row["data"]): float(row["sum"]) for row in rows}
    assert total["CA", "training"] > 9.9  # memorised
    assert total["CA", "held out"] < 2
    assert total["ACE, net", "held out"] > total["CCA", "held out"] > 4
    assert total["auto", "held out"] >= total["CCA", "held out"]
    for row in rows:
        assert float(row["sum"]) == pytest.approx(sum(float(row[f"correlation_{i}"]) for i in range(1, 11)), abs=1e-4)
    assert "0.909 | 0.867 | 0.841" in text
    assert "soy sauce" in text
    page = data_of(tmp_path / "cooking" / "cooking-explore.html")
    x, y, marks = page["clouds"]
    assert (x["n"], y["n"], marks["n"]) == (200, len(page["classes"]["names"]), 146)
    assert any("soy sauce" in recipe for recipe in x["labels"])
    assert "soy sauce" in marks["labels"]
    assert len(page["axes"]) == 10
    assert 0.6 < page["axes"][0]["held_out"] < 1


def test_the_vocabulary_is_learned_from_training_recipes_only(monkeypatch):
    seen = []
    fit = cooking.Ingredients.fit
    monkeypatch.setattr(cooking.Ingredients, "fit", lambda self, X, y=None: seen.append(len(X)) or fit(self, X))
    monkeypatch.setattr(cooking, "METHODS", {"ACE, net": ("", lambda X, y, seed: co.CCA(2).fit(X, y))})
    recipes = co.datasets.Recipes(
        [["salt", "soy sauce"], ["salt", "pasta"], ["pasta", "basil"], ["soy sauce", "rice"], ["curry"]] * 40,
        np.array(["a", "b", "b", "a", "c"] * 40, dtype=object),
    )
    results, _ = cooking.run_split(recipes, 200, seed=0)
    assert seen == [160]
    assert results["ACE, net"].held_out[0] > 0.9


@pytest.mark.filterwarnings("ignore::correspondence.FewerComponents")  # labels 3 and 8 are rare
def test_wine(tmp_path):
    rows, text = run_quickly("wine", tmp_path)
    first = {row["method"]: float(row["held_out"]) for row in rows if row["component"] == "1"}
    assert list(first) == list(wine.make_methods(None))
    assert min(first.values()) > 0.5
    assert first["ACE, trees"] > 0.6
    assert "## How many components are real?" in text
    page = data_of(tmp_path / "wine" / "wine-explore.html")
    x, y = page["clouds"]
    assert [column["name"] for column in x["columns"]][-1] == "alcohol"
    assert y["labels"] == list("345678")
    assert page["axes"][0]["pvalue"] < 0.01
    for attribute in ("alcohol", "sulphates", "volatile acidity", "pH"):
        assert f"| {attribute} |" in text


def test_brands(tmp_path):
    rows, text = run_quickly("brands", tmp_path)
    assert [row["label"] for row in rows if row["side"] == "brand"] == list(brands.BRAND_NAMES)
    assert len([row for row in rows if row["side"] == "trait"]) == 15
    assert "upper class is 2.2 times" in text  # from exact CA, and by hand: see the next test
    assert "Seed" not in text


def test_the_ratio_of_a_brand_by_hand():
    require_data(NEEDS["brands"])
    table = co.datasets.fetch_brands()
    chosen = np.isin(table.rows, brands.BRAND_NAMES)
    counts = np.asarray(table.counts)[chosen]
    row, column = table.rows[chosen].tolist().index("Mercedes"), table.columns.tolist().index("Upper class")
    ratio = counts[row, column] * counts.sum() / counts[row].sum() / counts[:, column].sum()
    assert ratio == pytest.approx(2.2, abs=0.05)


@pytest.mark.parametrize("name", NEEDS)
def test_without_the_data(name, tmp_path, monkeypatch):
    def offline(*args, **options):
        raise ConnectionError

    monkeypatch.delenv("CORRESPONDENCE_DATA", raising=False)
    monkeypatch.setattr(pytest.importorskip("pooch"), "retrieve", offline)
    with pytest.raises(co.datasets.MissingDataError, match="CORRESPONDENCE_DATA"):
        reproduce_study(name, tmp_path / name, quick=True)
    assert not list(tmp_path.iterdir())


def test_boundary(tmp_path):
    rows, text = run_quickly("boundary", tmp_path)
    assert [row["component"] for row in rows] == ["1", "2"]
    assert float(rows[0]["test_accuracy"]) > 0.5
    assert float(rows[0]["claimed"]) > float(rows[1]["claimed"]) > 0
    assert all(float(row["low"]) < float(row["on_labels"]) < float(row["high"]) for row in rows)
    assert "| paper, VGG-16 | 0.9024 | 0.8683 |" in text
    assert "g(ship)" in text
    assert "Calibration on n 400: temperature" in text


def test_training_mnist(tmp_path):
    rows, text = run_quickly("training-mnist", tmp_path)
    steps = [int(row["step"]) for row in rows]
    assert steps == [*range(0, 40, 4), steps[-1]]
    accuracy = [float(row["accuracy_on_probes"]) for row in rows]
    assert accuracy[-1] > 0.5 > 0.3 > accuracy[0]
    assert float(rows[-1]["chi2"]) > 1 > 0.1 > float(rows[0]["chi2"])
    assert "| paper | 0.9530 | 0.9501 |" in text
    page = (tmp_path / "training-mnist" / "training-mnist.html").read_text(encoding="utf-8")
    assert 'type="range"' in page


def test_compas(tmp_path):
    rows, text = run_quickly("compas", tmp_path)
    assert [row["model"] for row in rows] == ["forest", "boosting"]
    assert all(float(row["accuracy"]) > 0.5 for row in rows)
    assert 0.5 < float(rows[0]["agreement"]) < 1
    assert "| forest \\ boosting | high | low | medium |" in text
    assert "| boosting | temperature" in text


def test_a_missing_ffmpeg_is_found_before_the_training(tmp_path, monkeypatch):
    require_data(NEEDS["training-mnist"])

    def missing():
        raise ImportError("A movie as .mp4 needs ffmpeg.")

    monkeypatch.setattr(training, "find_ffmpeg", missing)
    monkeypatch.setattr(training, "train_and_record", lambda *arguments: pytest.fail("it trains first"))
    with pytest.raises(ImportError, match="needs ffmpeg"):
        reproduce_study("training-mnist", tmp_path / "new", quick=True)
    assert not (tmp_path / "new").exists()
