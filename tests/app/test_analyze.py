"""The main job: what a file holds, what is found in it, and that its files are written all or not at all."""

import json
import os
import signal
import threading
import warnings
from pathlib import Path

import narwhals as nw
import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from PIL import Image

import correspondence as co
from correspondence.app.analyze import files as files_module
from correspondence.app.analyze import job as job_module
from correspondence.app.analyze.files import RESULT_FILES, check_folder, write_analysis
from correspondence.app.analyze.inputs import Request, read_data
from correspondence.app.analyze.job import analyze_data, find_saving_obstacle, format_summary
from correspondence.describe.axis_words import find_axis_words
from correspondence.page import pairs_page
from correspondence.results.component_tests import LatentDimension
from correspondence.selection.method_registry import METHODS, PairsProfile, make_estimator


@pytest.fixture
def wines():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(120, 2))
    grade = np.digitize(x[:, 0] + 0.4 * rng.normal(size=120), [-0.5, 0.5]) + 3
    return pl.DataFrame(
        {
            "id": [f"w{i}" for i in range(120)],
            "acidity": x[:, 0],
            "sugar": x[:, 1],
            "grade": grade,
            "colour": np.where(x[:, 0] > 0, "red", "white"),
        }
    )


@pytest.fixture
def save(tmp_path):
    def to_file(frame, name="data.csv"):
        path = tmp_path / name
        write_as = {".csv": frame.write_csv, ".parquet": frame.write_parquet, ".jsonl": frame.write_ndjson}
        write_as[path.suffix](path)
        return path

    return to_file


def data_of(path, **options):
    return read_data(Request(Path(path), **options))


def sentence(error):
    text = str(error.value)
    assert "\n" not in text
    assert text.endswith(".")
    return text


# --- what a file holds


def test_types_are_told(wines, save):
    data = data_of(save(wines), y=["grade"])
    assert data.lines == [
        "x: 2 columns of numbers, 1 of labels (acidity, sugar, colour)",
        "y: labels, 3 different (grade)",
        "Not used: id, which looks like an id.",
        "grade is taken as labels: 3 different whole numbers; --numbers grade takes it as numbers.",
        "4 of 5 columns take part, not id.",
    ]
    assert data.y.values.tolist() == [str(grade) for grade in wines["grade"]]
    assert data_of(save(wines), y=["grade"], numbers=["grade"]).lines[1] == "y: numbers (grade)"
    with pytest.raises(ValueError, match="--numbers"):
        data_of(save(wines), y=["grade"], labels=["grade"], numbers=["grade"])


@pytest.mark.parametrize("name", ["data.csv", "data.parquet"])
def test_whole_numbers_with_gaps_are_labels_as_without(wines, save, name):
    """pandas writes them with a decimal point."""
    frame = wines.with_columns(pl.when(pl.int_range(120) % 7 > 0).then(pl.col("grade").cast(pl.Float64)).alias("grade"))
    data = data_of(save(frame, name), x=["acidity"], y=["grade"])
    assert data.y.values[:2].tolist() == ["(missing)", str(wines["grade"][1])]
    assert data_of(save(frame, name), x=["acidity"], y=["grade"], numbers=["grade"]).y.kind == "numbers"


def test_numbers_can_be_labels(wines, save):
    data = data_of(save(wines), x=["acidity", "sugar"], y=["grade"], labels=["grade"])
    assert data.lines == ["x: 2 columns of numbers (acidity, sugar)", "y: labels, 3 different (grade)"]
    assert data.y.values.tolist() == [str(grade) for grade in wines["grade"]]


@pytest.mark.parametrize("name", ["data.csv", "data.parquet", "data.jsonl"])
def test_the_same_from_every_format(wines, save, name):
    data = data_of(save(wines, name), x=["acidity"], y=["colour"], id="id", groups="grade")
    assert data.ids == wines["id"].to_list()
    assert data.id_name == "id"
    assert data.groups == wines["grade"].to_list()
    assert data.y.values.tolist() == wines["colour"].to_list()
    np.testing.assert_allclose(nw.from_native(data.x.values)["acidity"].to_numpy(), wines["acidity"], rtol=1e-12)


def test_rows_are_numbered_in_the_file(save):
    path = save(pl.DataFrame({"a": [1.0, None, 3.0, 4.0], "b": ["x", "y", "", "z"]}))
    data = data_of(path, missing="drop")
    assert data.ids == [1, 4]
    assert data.lines[0].startswith("Only 2 of 4 rows (50%) take part")
    kept = data_of(path)
    assert kept.ids == [1, 2, 3, 4]
    assert any("missing: a 1, b 1" in line for line in kept.lines)
    assert kept.y.values.tolist() == ["x", "y", "(missing)", "z"]
    with pytest.raises(ValueError, match="--missing"):
        data_of(path, missing="error")


def test_without_x_all_others_in_the_order_of_the_file(save):
    path = save(pl.DataFrame({"a": [1.5, 2, 4, 3], "b": list("xyxy"), "c": [5.0, 6, 7, 9], "g": list("uuvv")}))
    data = data_of(path, y=["b"], groups="g")
    assert nw.from_native(data.x.values).to_dict(as_series=False) == {"a": [1.5, 2, 4, 3], "c": [5, 6, 7, 9]}
    assert data.groups == ["u", "u", "v", "v"]
    assert data_of(path, x=["c", "a", "c"], y=["b", "b"]).x.columns == ("c", "a")


def test_rows_without_a_group_are_left_out(save):
    path = save(pl.DataFrame({"a": [1.5, 2, 4, 3], "b": list("xyxy"), "g": ["u", None, "v", "v"]}))
    assert data_of(path, x=["a"], y=["b"], groups="g").ids == [1, 3, 4]


def test_two_columns_need_no_names(save):
    data = data_of(save(pl.DataFrame({"id": ["a", "b", "c"], "tea": ["yes", "no", "yes"]})))
    assert (data.x.name, data.y.name) == ("id", "tea")


def test_two_columns_beside_an_id(save):
    frame = pl.DataFrame(
        {"key": ["k1", "k2", "k3", "k4"], "sex": ["f", "m", "f", "m"], "tea": ["yes", "no", "no", "no"]}
    )
    data = data_of(save(frame))
    assert (data.x.name, data.y.name) == ("sex", "tea")
    assert data.notes == ("Not used: key, which looks like an id.",)
    assert [(fact.kind, fact.is_used, fact.n_different) for fact in data.facts if fact.column == "key"] == [
        ("id", False, 4)
    ]


def test_an_id_is_used_if_asked_for(save):
    frame = pl.DataFrame({"id": [1, 2, 3, 4], "a": [1.0, 2, 3, 1], "b": ["x", "y", "y", "y"]})
    assert data_of(save(frame), x=["id"], y=["b"]).x.columns == ("id",)


@pytest.mark.slow
def test_texts_stand_alone(save):
    texts = [f"{word} number {i} is here" for i, word in enumerate(["one", "two", "three", "four"] * 5)]
    frame = pl.DataFrame({"text": texts, "kind": ["a", "b", "c", "d"] * 5, "size": np.arange(20.0)})
    assert data_of(save(frame), x=["text"], y=["kind"]).x.text == "texts (text)"
    assert data_of(save(frame.select("text", "kind"))).x.kind == "texts"
    data = data_of(save(frame), y=["kind"])
    assert data.x.text == "1 column of numbers, 1 of texts (text, size)"


def test_lists_of_json_are_texts(tmp_path):
    path = tmp_path / "recipes.jsonl"
    rows = [{"cuisine": f"c{i % 2}", "ingredients": ["salt", f"item {i}", "oil"]} for i in range(30)]
    path.write_text("\n".join(map(json.dumps, rows)))
    data = data_of(path, x=["ingredients"], y=["cuisine"])
    assert data.x.kind == "texts"
    assert data.x.values[3] == "salt, item 3, oil"


def test_dates_are_used(save):
    dates = pl.date_range(pl.date(2020, 1, 1), pl.date(2020, 1, 20), eager=True)
    frame = pl.DataFrame({"day": dates, "a": np.arange(20.0), "b": ["x", "y"] * 10, "c": np.arange(20.0) ** 2})
    data = data_of(save(frame, "data.parquet"), y=["b"])
    assert data.x.text == "2 columns of numbers, 1 of dates (day, a, c)"
    assert [fact.kind for fact in data.facts] == ["date", "number", "number", "label"]


def test_constant_columns_are_left_out(save):
    frame = pl.DataFrame({"one": [1] * 60, "a": ["x", "y", "z"] * 20, "b": ["p", "q"] * 30})
    data = data_of(save(frame), y=["b"])
    assert data.x.columns == ("a",)
    assert data.x.kind == "labels"
    assert data.notes == ("Left out, because they are constant: column(s) 'one' of x.",)
    assert analyze_data(data).method in ("ca", "ridge-ca")


def test_counted_pairs(save):
    frame = pl.DataFrame({"hair": ["dark", "dark", "fair"], "eye": ["blue", "brown", "blue"], "Freq": [3, 5, 4]})
    data = data_of(save(frame), x=["hair"], y=["eye"], weights="Freq")
    assert data.table.toarray().tolist() == [[3, 5], [4, 0]]
    hinted = data_of(save(frame), x=["hair"], y=["eye"])
    assert hinted.notes == ("Freq is not used: --weights Freq, if it says how often each pair was counted.",)


# --- arrays


@pytest.fixture
def arrays():
    rng = np.random.default_rng(0)
    return {
        "X": rng.normal(size=(50, 3)),
        "Y": rng.integers(3, size=50),
        "names": np.array([f"n{i}" for i in range(50)]),
    }


def test_arrays(arrays, tmp_path):
    np.savez(tmp_path / "a.npz", **arrays)
    data = data_of(tmp_path / "a.npz", labels=["Y"], id="names")
    assert data.lines == ["x: 3 columns of numbers (X)", "y: labels, 3 different (Y)"]
    assert data.ids[:2] == ["n0", "n1"]
    assert data_of(tmp_path / "a.npz", x=["names"], y=["Y"]).x.kind == "labels"


def test_arrays_with_missing_values(arrays, tmp_path):
    arrays["X"][3, 1] = np.nan
    np.savez(tmp_path / "a.npz", **arrays)
    assert data_of(tmp_path / "a.npz").n_missing == 0
    data = data_of(tmp_path / "a.npz", missing="drop")
    assert data.n_missing == 1
    assert 4 not in data.ids
    assert len(data.x.values) == len(data.y.values) == 49


@pytest.mark.parametrize(
    ("shape", "text"),
    [
        ((50, 6, 5), "50 images, 6 x 5, grey"),
        ((50, 3, 6, 5), "50 images, 6 x 5, colour"),
        ((50, 6, 5, 3), "50 images, 6 x 5, colour"),
    ],
)
def test_arrays_of_images(arrays, tmp_path, shape, text):
    images = np.random.default_rng(0).integers(255, size=shape).astype(np.uint8)
    np.savez(tmp_path / "a.npz", x=images, y=arrays["Y"])
    data = data_of(tmp_path / "a.npz")
    assert data.x.text == text
    assert data.x.values.ndim == 4
    assert data.x.values.shape[2:] == (6, 5)


# --- tables


def test_table_with_names(tmp_path):
    (tmp_path / "t.csv").write_text(",a,b\nx,1,2\ny,3,4\n")
    data = data_of(tmp_path / "t.csv", table=True)
    assert data.table.rows.tolist() == ["x", "y"]
    assert data.table.columns.tolist() == ["a", "b"]
    assert data.table.toarray().tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("text", "rows"),
    [("a,b\n1,2\n3,4\n", ["1", "2"]), ("task,a,b\nx,1,2\ny,3,4\n", ["x", "y"]), (",a,b\n7,1,2\n9,3,4\n", ["7", "9"])],
)
def test_names_of_rows(tmp_path, text, rows):
    (tmp_path / "t.csv").write_text(text)
    data = data_of(tmp_path / "t.csv", table=True)
    assert data.table.rows.tolist() == rows
    assert data.table.columns.tolist() == ["a", "b"]


def test_sparse_table(tmp_path):
    counts = sp.csr_array(np.array([[3, 0, 1], [0, 2, 5]]))
    sp.save_npz(tmp_path / "t.npz", counts)
    data = data_of(tmp_path / "t.npz", table=True)
    np.testing.assert_array_equal(data.table.toarray(), counts.toarray())
    np.savez(tmp_path / "u.npz", counts=counts.toarray(), rows=np.array(["p", "q"]))
    assert data_of(tmp_path / "u.npz", table=True).table.rows.tolist() == ["p", "q"]


# --- images


@pytest.fixture
def photos(tmp_path):
    """Twelve small images in three colours, one of them damaged."""
    folder = tmp_path / "photos"
    (folder / "more").mkdir(parents=True)
    colours = {"red": (250, 0, 0), "green": (0, 250, 0), "blue": (0, 0, 250)}
    rows = []
    for i in range(12):
        colour = list(colours)[i % 3]
        where = "more/" if i % 2 else ""
        image = np.full((9, 7, 3), colours[colour]) + np.random.default_rng(i).integers(5, size=(9, 7, 3))
        Image.fromarray(image.astype(np.uint8)).save(folder / f"{where}p{i}.png")
        rows.append((f"{where}p{i}.png", colour))
    (folder / "p2.png").write_bytes(b"no image")
    return folder, rows


def test_images_with_labels(photos, tmp_path):
    folder, rows = photos
    pl.DataFrame([*rows, ("gone.png", "red")], schema=["file", "colour"], orient="row").write_csv(tmp_path / "l.csv")
    data = data_of(tmp_path / "l.csv", images=folder, size=8)
    assert data.x.values.shape == (11, 3, 8, 8)
    assert data.x.text == "11 images, 8 x 8, colour"
    assert data.ids == [name for name, _ in rows if name != "p2.png"]
    assert data.y.values.tolist() == [colour for name, colour in rows if name != "p2.png"]
    assert data.notes == (
        "1 row(s) left out: there is no such image file.",
        "1 image file(s) cannot be read and are left out.",
    )
    means = data.x.values.mean(axis=(2, 3))
    assert [("red", "green", "blue")[k] for k in means.argmax(axis=1)] == data.y.values.tolist()
    swapped = data_of(folder, images=tmp_path / "l.csv", size=8)
    np.testing.assert_array_equal(swapped.x.values, data.x.values)


def test_names_without_ending_and_captions(photos, tmp_path):
    folder, rows = photos
    captions = [
        (Path(name).stem, f"caption {k} of a {colour} thing {i}")
        for i, (name, colour) in enumerate(rows)
        for k in ("one", "two")
    ]
    pl.DataFrame(captions, schema=["photo", "caption"], orient="row").write_ndjson(tmp_path / "c.jsonl")
    data = data_of(tmp_path / "c.jsonl", images=folder, size=8)
    assert len(data.ids) == 11
    assert data.y.kind == "texts"
    assert data.y.values[0] == "caption one of a red thing 0 caption two of a red thing 0"


def test_grey_images_have_one_channel(tmp_path):
    (tmp_path / "g").mkdir()
    for i in range(4):
        Image.fromarray(np.full((5, 5), 60 * i, np.uint8)).save(tmp_path / "g" / f"{i}.png")
    (tmp_path / "l.csv").write_text("name,y\n" + "".join(f"{i}.png,{'ab'[i % 2]}\n" for i in range(4)))
    data = data_of(tmp_path / "l.csv", images=tmp_path / "g", size=5)
    assert data.x.values.shape == (4, 1, 5, 5)
    np.testing.assert_array_equal(data.x.values[:, 0, 0, 0], [0, 60, 120, 180])


# --- beliefs


@pytest.fixture
def beliefs():
    rng = np.random.default_rng(0)
    P = rng.dirichlet([0.4, 0.4, 0.4], size=200)
    truth = np.array([rng.choice(["a", "b", "c"], p=p) for p in P])
    return P, truth


def test_beliefs(beliefs, tmp_path):
    P, truth = beliefs
    pl.DataFrame({"a": P[:, 0], "b": P[:, 1], "c": P[:, 2], "truth": truth}).write_csv(tmp_path / "b.csv")
    found = analyze_data(data_of(tmp_path / "b.csv", beliefs=True, y=["truth"]))
    expected = co.ClassifierCA.from_beliefs(P, classes=["a", "b", "c"])
    np.testing.assert_allclose(found.decomposition.pics, expected.pics_)
    held_out = expected.evaluate(P, truth)
    np.testing.assert_allclose([c.held_out for c in found.components], held_out.correlations)
    np.testing.assert_allclose([(c.low, c.high) for c in found.components], held_out.intervals)
    assert {c.pvalue for c in found.components} == {None}


def test_beliefs_without_labels(beliefs, tmp_path):
    P, truth = beliefs
    np.save(tmp_path / "b.npy", P)
    found = analyze_data(data_of(tmp_path / "b.npy", beliefs=True))
    assert found.held_out is None
    assert found.not_held_out == "the true labels are not given"
    np.savez(tmp_path / "b.npz", P=P, classes=["a", "b", "c"], truth=truth)
    both = analyze_data(data_of(tmp_path / "b.npz", beliefs=True, y=["truth"]))
    np.testing.assert_allclose(both.decomposition.pics, found.decomposition.pics)
    assert both.held_out is not None


def test_rounded_beliefs_are_mended(beliefs, tmp_path):
    P, _ = beliefs
    np.save(tmp_path / "b.npy", P.round(3))
    np.testing.assert_allclose(data_of(tmp_path / "b.npy", beliefs=True).x.values.sum(axis=1), 1)


# --- what is wrong with a file


@pytest.mark.parametrize(
    ("name", "content", "options", "message"),
    [
        ("none.csv", None, {}, "There is no file"),
        ("d.csv", "", {}, ".csv: it is empty"),
        ("d.txt", "a,b\n1,2\n", {}, "must end in .csv, .tsv"),
        ("d.parquet", "no parquet", {}, "cannot be read as .parquet"),
        ("d.npz", "no arrays", {}, "cannot be read as .npz"),
        ("d.csv", "a,b\n1,x\n", {}, "has 1 row"),
        ("d.csv", "a,b\n,x\n1,\n", {"missing": "drop"}, "has no row"),
        ("d.csv", "a,b\n", {}, "has no row"),
        ("d.tsv", "a\tb", {}, "has no row"),
        ("d.csv", "a,b\n1,2\n4,5\n", {"labels": ["q"]}, "no column 'q' .* a, b"),
        ("d.csv", "a,b\n1,2\n4,5\n", {"groups": "q"}, "no column 'q'"),
        ("d.csv", "a,b\n1,2\n4,5\n", {"x": ["a", "b"], "y": ["b"]}, "'b' in both"),
        ("d.csv", "a,b\n1,2\n4,5\n", {"y": ["a", "b"]}, "--x must name"),
        ("d.csv", "a,b,c\n1,2,3\n4,5,6\n", {}, "--y must name .* a, b, c"),
        ("d.csv", "alcohol,b\n1,2\n4,5\n", {"y": ["alkohol"]}, "no column 'alkohol' .* alcohol"),
        ("d.csv", "a,b\n1,2\n4,5\n", {"x": ["a"], "y": ["a"]}, "'a' in both"),
        ("d.csv", "a,b\n1,2\n1,5\n", {}, "x has one value only"),
        ("d.csv", "a,b\n1,2\n3,5\n", {"x": ["a"], "y": ["b"], "weights": "a"}, "--weights .* labels"),
        ("d.csv", "r,a\nx,y\nz,w\n", {"table": True}, "--table: column 'a' .* counts, .* 'y'"),
        ("d.csv", ",a,b\nx,1,\ny,2,3\n", {"table": True}, "column 'b' .* empty cell in row 'x'"),
        ("d.csv", ",a,b\nx,1,2\n", {"table": True}, "1 row.* two of each"),
        ("d.csv", ",a,b\nx,1,2\nx,2,3\n", {"table": True}, "label 'x' more than once"),
        ("d.csv", ",a,b\nx,1,-2\ny,2,3\n", {"table": True}, "Negative values"),
        ("d.csv", "a,b\n0.4,0.6\n0.5,0.8\n", {"beliefs": True}, "row 2 .* sums to 1.3"),
        ("d.csv", "a,b\n0.4,0.6\n1.5,-0.5\n", {"beliefs": True}, "row 2 .* negative"),
        ("d.csv", "a,b,t\n0.4,0.6,a\n0.5,0.5,z\n", {"beliefs": True, "y": ["t"]}, "label 'z' .* classes"),
        ("d.csv", "a,t\n1,a\n1,z\n", {"beliefs": True}, "--beliefs: .* two classes"),
    ],
)
def test_wrong_files(tmp_path, name, content, options, message):
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(ValueError, match=message) as error:
        data_of(tmp_path / name, **options)
    sentence(error)


def test_wrong_arrays(arrays, tmp_path):
    np.savez(tmp_path / "a.npz", **arrays, more=np.zeros(4))
    for options, message in (
        ({"x": ["X", "Y"]}, "--x must name one array"),
        ({"x": ["more"], "y": ["Y"]}, "same length, got 4 and 50"),
        ({"x": ["names"]}, "--x and --y must name two arrays"),
    ):
        with pytest.raises(ValueError, match=message) as error:
            data_of(tmp_path / "a.npz", **options)
        sentence(error)
    np.savez(tmp_path / "b.npz", X=np.zeros((0, 3)), y=np.zeros(0))
    with pytest.raises(ValueError, match="has no row"):
        data_of(tmp_path / "b.npz")


def test_wrong_images(photos, tmp_path):
    folder, _ = photos
    (tmp_path / "empty").mkdir()
    for text, where, message in (
        ("file,label\nx,1\ny,2\n", folder, "No column of .* names image files"),
        ("file,label,more\np0,1,2\np3,2,3\n", folder, "--y must name the labels or captions"),
        ("file,label\np2.png,1\ngone,2\n", folder, "2 images of .* none"),
        ("file,label\np0,1\np3,2\n", tmp_path / "empty", "There is no image in"),
        ("file,label\np0,1\np3,2\n", tmp_path / "nowhere", "--images: "),
    ):
        (tmp_path / "l.csv").write_text(text)
        with pytest.raises(ValueError, match=message) as error:
            data_of(tmp_path / "l.csv", images=where)
        sentence(error)


# --- the job


def test_components_are_those_of_the_estimator(wines, save):
    data = data_of(save(wines), x=["acidity", "sugar"], y=["grade"], labels=["grade"])
    found = analyze_data(data, "cca", random_state=3)
    tested = co.latent_dimension(
        co.CCA(n_components=2), data.x.values, data.y.values, n_permutations=499, random_state=3
    )
    expected = co.CCA(n_components=max(1, tested.n_components)).fit(data.x.values, data.y.values)
    np.testing.assert_array_equal([c.pic for c in found.components], expected.pics_)
    np.testing.assert_array_equal([c.training for c in found.components], expected.correlations_)
    k = len(expected.pics_)
    np.testing.assert_array_equal([c.held_out for c in found.components], tested.correlations[:k])
    np.testing.assert_array_equal([(c.low, c.high) for c in found.components], tested.intervals[:k])
    np.testing.assert_array_equal([c.pvalue for c in found.components], tested.pvalues[:k])
    assert found.n_significant == tested.n_components
    assert len(found.sentences) == 3


def test_as_many_components_as_asked_for(wines, save):
    data = data_of(save(wines), x=["acidity", "sugar"], y=["grade"], labels=["grade"])
    found = analyze_data(data, "cca", 2)
    assert len(found.components) == len(found.held_out.pvalues) == 2


@pytest.mark.slow
def test_a_table_keeps_all_and_tells_how_many_are_significant(tmp_path):
    table = co.datasets.load_housetasks()
    table.to_frame("polars").write_csv(tmp_path / "t.csv")
    found = analyze_data(data_of(tmp_path / "t.csv", table=True))
    np.testing.assert_allclose([c.pic for c in found.components], co.CA().fit(table).pics_)
    assert found.n_significant == 3
    assert not found.held_out.at_least
    assert found.reason.startswith("a table of counts; captures ")
    assert found.reason.endswith("; 3 components significant")
    one = analyze_data(data_of(tmp_path / "t.csv", table=True), n_components=1)
    assert len(one.components) == 1


@pytest.mark.slow
def test_counts_and_pairs_are_the_same(save):
    rng = np.random.default_rng(0)
    x = rng.choice(["a", "b", "c"], 300)
    y = np.where(rng.random(300) < 0.5, x, rng.choice(["a", "b", "c"], 300))
    pairs = pl.DataFrame({"x": x, "y": y})
    counted = pairs.group_by("x", "y").len("n").sort("x", "y")
    one = analyze_data(data_of(save(pairs), x=["x"], y=["y"]))
    two = analyze_data(data_of(save(counted, "counted.csv"), x=["x"], y=["y"], weights="n"))
    np.testing.assert_allclose(one.decomposition.pics, two.decomposition.pics)
    assert isinstance(one.held_out, LatentDimension)
    assert isinstance(two.held_out, LatentDimension)
    assert one.method == two.method == "ca"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (",a,b\nx,0.5,0.2\ny,0.1,0.9\n", "not whole numbers"),
        (",a,b\nx,5,2\ny,1,9\n", "only 17 counts"),
    ],
)
def test_why_nothing_is_held_out(tmp_path, text, why):
    (tmp_path / "t.csv").write_text(text)
    found = analyze_data(data_of(tmp_path / "t.csv", table=True))
    assert why in found.not_held_out
    assert found.held_out is None
    assert [(c.held_out, c.low, c.high, c.pvalue) for c in found.components] == [(None,) * 4]


def test_few_pairs(wines, save):
    found = analyze_data(data_of(save(wines[:30]), x=["acidity"], y=["sugar"]), "cca")
    assert found.not_held_out == "there are only 30 pairs, and 40 are needed"
    assert len(found.components) == 1


def test_nothing_found_is_said(save):
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({"a": rng.normal(size=200), "b": rng.normal(size=200)})
    found = analyze_data(data_of(save(frame)), "cca")
    assert found.n_significant == 0
    assert len(found.components) == 1
    assert "Nothing was found" in found.notes[-1]


@pytest.mark.parametrize("method", ["auto", "ca"])
def test_a_wrong_number_of_components(tmp_path, method):
    (tmp_path / "t.csv").write_text(",a,b,c\nx,50,20,1\ny,10,90,1\nz,0,0,0\n")
    data = data_of(tmp_path / "t.csv", table=True)
    with pytest.raises(ValueError, match=r"--components 2 .* at most 1, because .* 2 rows") as error:
        analyze_data(data, method, 2)
    sentence(error)


@pytest.mark.parametrize(
    ("options", "arguments", "message"),
    [
        ({"y": ["grade"]}, ("ca",), "--method ca needs labels"),
        ({"y": ["grade"], "labels": ["grade"]}, ("cca", 3), "at most 2, because y has 3 labels"),
        ({"x": ["colour"], "y": ["grade"], "labels": ["grade"]}, ("ca", 2), "at most 1, because x has 2 labels"),
    ],
)
def test_wrong_jobs(wines, save, options, arguments, message):
    with pytest.raises(ValueError, match=message) as error:
        analyze_data(data_of(save(wines), **options), *arguments)
    sentence(error)


def test_a_table_has_one_method(tmp_path):
    (tmp_path / "t.csv").write_text(",a,b\nx,5,2\ny,1,9\n")
    with pytest.raises(ValueError, match="--method forest needs pairs") as error:
        analyze_data(data_of(tmp_path / "t.csv", table=True), "forest")
    sentence(error)


def test_torch_is_missing(wines, save, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "correspondence.estimators.pice", None)
    with pytest.raises(ImportError):
        analyze_data(data_of(save(wines), x=["acidity"], y=["sugar"]), "pice")


# --- which methods can be saved


@pytest.mark.parametrize("method", [name for name in METHODS if name != "pice"])
def test_every_method_can_be_saved(method, tmp_path):
    """All that "auto" may choose can be saved and loaded; a net is saved in the tests of the command."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 2))
    y = np.array(["a", "b", "c"], dtype=object)[np.digitize(X[:, 0], [-0.5, 0.5])]
    x = X if method not in ("ca", "ridge-ca") else np.where(X[:, 1] > 0, "p", "q").astype(object)
    est = make_estimator(method, PairsProfile.from_data(x, y), 1)
    if method == "forest":
        est.x_regressor.set_params(n_estimators=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        d = est.fit(x, y).decomposition_
    assert not find_saving_obstacle(d)
    d.save(tmp_path / "m")
    np.testing.assert_allclose(co.load(tmp_path / "m").f(x), d.f(x), atol=1e-6)


# --- files


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """An analysis that nothing is done to but writing it."""
    file = tmp_path_factory.mktemp("found") / "t.csv"
    file.write_text("row,a,b,c\nx,50,20,1\ny,10,90,1\nz,5,7,30\n")
    request = Request(file, table=True)
    return analyze_data(read_data(request)), request


def test_all_files(found, tmp_path):
    folder = tmp_path / "deep" / "out"
    summary = write_analysis(*found, folder, "Title", 7)
    assert sorted(path.name for path in folder.iterdir()) == sorted(RESULT_FILES)
    assert json.loads((folder / "summary.json").read_text()) == json.loads(json.dumps(summary))
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []
    heading = ["component", "PIC", "correlation:", "training", "held", "out", "p-value"]
    assert format_summary(summary).splitlines()[2].split() == heading
    loaded = co.load(folder / "model.safetensors")
    np.testing.assert_array_equal(loaded.pics, found[0].decomposition.pics)
    assert loaded.origin.startswith("ca: a table of counts")


def test_words_are_found_once(save, wines, tmp_path, monkeypatch):
    calls = []

    def count(*arguments, **options):
        calls.append(arguments)
        return find_axis_words(*arguments, **options)

    for module in (job_module, pairs_page):
        monkeypatch.setattr(module, "find_axis_words", count)
    request = Request(save(wines), y=["colour"])
    analysis = analyze_data(read_data(request), "cca")
    write_analysis(analysis, request, tmp_path / "out", "wines", 0)
    assert len(calls) == 1
    page = (tmp_path / "out" / "report.html").read_bytes()
    co.explore(
        analysis.est,
        analysis.data.x.values,
        analysis.data.y.values,
        tmp_path / "again.html",
        held_out=analysis.held_out,
        crossfit=analysis.crossfit,
        names=analysis.names,
        x_labels=[f"row {i}" for i in analysis.data.ids],
        title="wines",
        about=[*analysis.sentences, *analysis.data.coverage],
    )
    assert len(calls) == 2
    again = (tmp_path / "again.html").read_bytes()
    assert again == page.replace(b" about words", b" about")  # the code of the page names what was given


def test_a_name_that_clashes(tmp_path):
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"f_1": [f"i{i}" for i in range(60)], "a": rng.normal(size=60), "b": rng.normal(size=60)})
    frame.write_csv(tmp_path / "d.csv")
    request = Request(tmp_path / "d.csv", x=["a"], y=["b"], id="f_1")
    write_analysis(analyze_data(read_data(request), "cca", 1), request, tmp_path / "out", "t", 0)
    assert pl.read_parquet(tmp_path / "out" / "x.parquet").columns == ["f_1_", "f_1"]
    assert pl.read_parquet(tmp_path / "out" / "y.parquet").columns == ["f_1", "g_1"]


@pytest.mark.parametrize("failing", ["write_report", "to_parquet", "to_json"])
def test_an_error_leaves_everything_as_it_was(found, tmp_path, monkeypatch, failing):
    folder = tmp_path / "out"
    write_analysis(*found, folder, "First", 0)
    (folder / "mine.txt").write_text("mine")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}

    def fail(*arguments, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files_module, failing, fail)
    for target in (folder, tmp_path / "new" / "out"):
        with pytest.raises(OSError, match="No space left"):
            write_analysis(*found, target, "Second", 0)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("moves", range(12))
def test_a_move_that_fails_is_undone(found, tmp_path, monkeypatch, moves):
    folder = tmp_path / "out"
    write_analysis(*found, folder, "First", 0)
    (folder / "pics.csv").unlink()
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    replace, done = os.replace, []

    def fails(source, target):
        done.append(source)
        if len(done) == moves:
            raise OSError(5, "Input/output error")
        replace(source, target)

    monkeypatch.setattr(files_module.os, "replace", fails)
    if moves == 0:
        write_analysis(*found, folder, "Second", 0)
        assert b"Second" in (folder / "summary.json").read_bytes()
        return
    with pytest.raises(OSError, match="Input/output"):
        write_analysis(*found, folder, "Second", 0)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_ctrl_c_waits_until_files_are_moved(found, tmp_path, monkeypatch):
    """Workers of pytest are no main threads, so that signals cannot be sent to them."""
    heard, replace = ["before"], os.replace
    monkeypatch.setattr(files_module.threading, "main_thread", threading.current_thread)
    monkeypatch.setattr(files_module.signal, "signal", lambda number, handler: heard.append(handler) or heard[-2])
    moved = []
    monkeypatch.setattr(files_module.os, "replace", lambda a, b: (moved.append((b.parent, heard[-1])), replace(a, b)))
    write_analysis(*found, tmp_path / "out", "Title", 0)
    assert {handler for folder, handler in moved if folder == tmp_path / "out"} == {signal.SIG_IGN}
    assert heard == ["before", signal.SIG_IGN, "before"]


def test_old_files_that_do_not_belong_are_taken_away(found, tmp_path, monkeypatch):
    folder = tmp_path / "out"
    write_analysis(*found, folder, "First", 0)
    monkeypatch.setattr(type(found[0]), "is_saved", False)
    summary = write_analysis(*found, folder, "Second", 0)
    assert not (folder / "model.safetensors").exists()
    assert "model.safetensors" not in summary["files"]


def test_folders_are_checked_before(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    with pytest.raises(NotADirectoryError, match="is a file"):
        check_folder(tmp_path / "file")
    (tmp_path / "out" / "report.html").mkdir(parents=True)
    with pytest.raises(IsADirectoryError, match=r"report\.html is a folder"):
        check_folder(tmp_path / "out")
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(PermissionError, match="may not be written to"):
        check_folder(tmp_path / "new" / "folder")
