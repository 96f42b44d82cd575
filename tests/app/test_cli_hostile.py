"""``analyze`` and ``embed`` on data that are meant to break them: a right result, or one sentence."""

import json
import os
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from PIL import Image

from correspondence.app.analyze import files
from correspondence.app.cli import main
from correspondence.app.commands.options import names_of
from correspondence.validation.fitting import fit_copy

LONG = 10**20  # more than 64 bits


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def invoke(*arguments):
        return CliRunner().invoke(main, [str(argument) for argument in arguments])

    return invoke


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 60))
    grade = np.digitize(a + 0.3 * rng.normal(size=60), [-0.5, 0.5])
    labels = np.array(["low", "mid", "high"])[grade]
    return pl.DataFrame({"a": a, "b": b, "long": [LONG + i * 10**18 for i in range(60)], "label": labels})


@pytest.fixture
def images(tmp_path):
    """Two rows for each of 24 images, dark or bright."""
    rng = np.random.default_rng(0)
    (tmp_path / "photos").mkdir()
    for i in range(24):
        pixels = rng.integers(0, 80, (8, 8)) + 120 * (i % 2)
        Image.fromarray(pixels.astype(np.uint8)).save(tmp_path / "photos" / f"{i}.png")
    names = [f"{i // 2}.png" for i in range(48)]
    tone = ["bright" if i // 2 % 2 else "dark" for i in range(48)]
    pl.DataFrame({"image": names, "tone": tone}).write_csv(tmp_path / "list.csv")


def refused(result, text, code=1):
    assert result.exit_code == code
    assert isinstance(result.exception, SystemExit), "a traceback"
    assert text in result.stderr


def done(result):
    assert not result.exception, result.output
    return result


# --- numbers that NumPy does not have


def test_numbers_of_more_than_64_bits(frame, run):
    frame.write_parquet("long.parquet")
    done(run("analyze", "long.parquet", "--x", "long", "--y", "a", "--method", "cca", "-o", "out"))
    done(run("embed", "out", "long.parquet", "-o", "new.csv"))
    new, old = pl.read_csv("new.csv"), pl.read_parquet("out/x.parquet")
    np.testing.assert_allclose(new["f_1"], old["f_1"], rtol=1e-8)


def test_ids_of_more_than_64_bits_stay_as_they_are(frame, run):
    frame.write_parquet("long.parquet")
    done(run("analyze", "long.parquet", "--x", "a", "--y", "b", "--id", "long", "--method", "cca", "-o", "out"))
    assert [int(i) for i in pl.read_parquet("out/x.parquet")["long"]] == frame["long"].to_list()


def test_counts_of_more_than_64_bits(run, tmp_path):
    (tmp_path / "table.csv").write_text(f"row,a,b\nu,{LONG},{LONG}\nv,{LONG},{3 * LONG}\n")
    done(run("analyze", "table.csv", "--table", "-o", "out"))
    done(run("embed", "out", "table.csv", "-o", "new.csv"))
    np.testing.assert_allclose(pl.read_csv("new.csv")["f_1"], pl.read_parquet("out/x.parquet")["f_1"], rtol=1e-8)


# --- columns of lists


def test_lists_are_no_labels(frame, run):
    frame.with_columns(lists=pl.concat_list("a", "b")).write_parquet("lists.parquet")
    refused(run("analyze", "lists.parquet", "--x", "a", "--y", "lists", "--labels", "lists"), "'lists' holds List")
    done(run("analyze", "lists.parquet", "--x", "a", "--y", "label", "--method", "cca", "-o", "out"))
    refused(run("embed", "out", "lists.parquet", "--y", "lists"), "'lists' holds List")


# --- names


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ('"a, b",c', ["a, b", "c"]),
        ('c , "a, b" ', ["c", "a, b"]),
        ('"say ""a, b"""', ['say "a, b"']),
        ('a"b,c', ['a"b', "c"]),
        ('"a,b', ['"a', "b"]),
        ("a,,b, ", ["a", "b"]),
        ("two\nlines,😀", ["two\nlines", "😀"]),
    ],
)
def test_names_with_commas_stand_in_quotes(given, names):
    assert names_of(None, None, (given,)) == names


def test_a_column_with_a_comma(frame, run):
    frame.rename({"a": "height, cm"}).write_parquet("data.parquet")
    done(run("analyze", "data.parquet", "--x", '"height, cm",b', "--y", "label", "--method", "cca", "-o", "out"))
    done(run("embed", "out", "data.parquet", "-o", "new.csv"))
    np.testing.assert_allclose(pl.read_csv("new.csv")["f_1"], pl.read_parquet("out/x.parquet")["f_1"], rtol=1e-8)


# --- names given twice


def test_embed_refuses_a_column_twice(frame, run):
    frame.write_parquet("data.parquet")
    done(run("analyze", "data.parquet", "--x", "a,b", "--y", "label", "--method", "cca", "-o", "out"))
    refused(run("embed", "out", "data.parquet", "--x", "a,a"), "--x must name different columns")


@pytest.mark.parametrize("groups", ["image", "tone"])
def test_images_whose_groups_are_another_role(images, groups, run):
    result = run("analyze", "list.csv", "--images", "photos", "--y", "tone", "--groups", groups, "--method", "cca")
    if groups == "image":
        done(result)
    else:
        done(result)
        assert "groups, and 15 are needed" in result.output


# --- counts and beliefs that are none


@pytest.mark.slow
@pytest.mark.parametrize("count", ["-1", "inf"])
def test_embed_refuses_what_is_no_count(count, run, tmp_path):
    (tmp_path / "table.csv").write_text("row,a,b\nu,30,10\nv,10,30\n")
    (tmp_path / "new.csv").write_text(f"row,a,b\nw,1,2\nz,{count},4\n")
    done(run("analyze", "table.csv", "--table", "-o", "out"))
    refused(run("embed", "out", "new.csv"), f"got {count} in row 2")
    assert not list(tmp_path.glob("*embedded*"))


@pytest.mark.parametrize("shape", [(4,), (2, 2, 2)])
def test_a_table_of_arrays_has_rows_and_columns(shape, run):
    np.savez("table.npz", counts=np.ones(shape))
    refused(run("analyze", "table.npz", "--table", "--x", "counts"), "'counts' of table.npz must have rows")


def test_beliefs_are_numbered_as_in_the_file(run, tmp_path):
    (tmp_path / "beliefs.csv").write_text("u,v\n,0.5\n0.5,0.5\n0.9,0.9\n")
    refused(run("analyze", "beliefs.csv", "--beliefs"), "row 3 of beliefs.csv sums to 1.8")


def test_embed_asks_for_the_folder_of_images(images, run):
    done(run("analyze", "list.csv", "--images", "photos", "--y", "tone", "--method", "cca", "-o", "out"))
    refused(run("embed", "out", "list.csv"), "'image' must be images")


# --- damaged models


@pytest.mark.parametrize(
    "change", [{"x": None}, {"form": "table"}, {"y": {}}, {"id": ...}, {"form": ...}], ids=lambda change: str(change)
)
def test_a_summary_that_was_changed(change, frame, run, tmp_path):
    frame.write_parquet("data.parquet")
    done(run("analyze", "data.parquet", "--x", "a,b", "--y", "label", "--method", "cca", "-o", "out"))
    path = tmp_path / "out" / "summary.json"
    content = json.loads(path.read_text()) | change
    path.write_text(json.dumps({name: value for name, value in content.items() if value is not ...}))
    refused(
        run("embed", "out", "data.parquet"), "summary.json is damaged: give the file of the model, with --x or --y."
    )


def test_arrays_that_do_not_fit_the_model(frame, run):
    frame.write_parquet("data.parquet")
    done(run("analyze", "data.parquet", "--x", "a", "--y", "label", "--method", "cca", "-o", "out"))
    np.savez("new.npz", y=["low", "mid"], ids=[1, 2, 3], wide=np.ones((2, 2)))
    refused(run("embed", "out", "new.npz", "--y", "y", "--id", "ids"), "same length, got 3 and 2")
    refused(run("embed", "out", "new.npz", "--y", "wide"), "'wide' of new.npz must hold one label")


# --- what a terminal would obey, and what a failure leaves


def test_errors_have_no_control_characters(frame, run):
    frame.rename({"label": "la\x07bel"}).write_parquet("data.parquet")
    result = run("analyze", "data.parquet", "--x", "a", "--y", "nothing")
    refused(result, "There is no column")
    assert "\x07" not in result.stderr
    assert "\x07" not in run("analyze", "no\x07.csv").stderr
    refused(run("analyze", "data.parquet", "-o", "data.parquet/o\x07"), "data.parquet/o : ")


def test_a_folder_that_could_not_be_filled_is_taken_away(frame, run, tmp_path, monkeypatch):
    frame.write_parquet("data.parquet")
    replace = os.replace

    def full(source, target):
        if str(target).endswith("x.parquet"):
            raise OSError(28, "No space left on device")
        replace(source, target)

    monkeypatch.setattr("correspondence.app.analyze.files.os.replace", full)
    result = run("analyze", "data.parquet", "--x", "a", "--y", "label", "--method", "cca", "-o", "out")
    refused(result, "--output: cannot write to the folder out: No space")
    assert [path.name for path in tmp_path.iterdir()] == ["data.parquet"]


def test_runs_into_the_same_folder_take_turns(tmp_path, monkeypatch):
    """The files of one run stay together, though both move them at the same time."""
    folder, replace = tmp_path / "out", os.replace

    def slow(source, target):
        time.sleep(0.01)
        replace(source, target)

    def write(text):
        with files.new_files(folder) as temporary:
            for name in files.RESULT_FILES:
                (temporary / name).write_text(text)

    write("an earlier result")
    monkeypatch.setattr("correspondence.app.analyze.files.os.replace", slow)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, "abcd"))  # which raises what they raise
    assert {path.name for path in folder.iterdir()} == set(files.RESULT_FILES)
    assert len({path.read_text() for path in folder.iterdir()}) == 1


# --- rows that are left out


@pytest.fixture
def holes(frame):
    """Rows 1 and 4 lack a value."""
    a = [None if i in (0, 3) else value for i, value in enumerate(frame["a"])]
    named = frame.with_columns(a=pl.Series(a), name=pl.Series([f"n{i}" for i in range(60)]))
    return named.drop("long")


@pytest.mark.parametrize("kind", ["parquet", "npz"])
def test_ids_belong_to_their_rows(holes, kind, run):
    if kind == "npz":
        np.savez("data.npz", a=holes["a"].to_numpy(), label=holes["label"].to_list(), name=holes["name"].to_list())
    else:
        holes.write_parquet("data.parquet")
    options = ("--id", "name", "--method", "cca", "--missing", "drop", "-o", "out")
    done(run("analyze", f"data.{kind}", "--x", "a", "--y", "label", *options))
    assert pl.read_parquet("out/x.parquet")["name"].to_list() == [f"n{i}" for i in range(60) if i not in (0, 3)]


@pytest.mark.parametrize("kind", ["parquet", "npz", "images"])
def test_groups_reach_the_test_and_belong_to_their_rows(holes, images, kind, run, monkeypatch):
    """Those of the rows that are kept, whatever the file is."""
    seen = {}

    def choose(X, Y, *arguments, groups, **options):
        seen["groups"] = groups
        raise ValueError("stop")

    monkeypatch.setattr("correspondence.app.analyze.job.choose_decomposition", choose)
    groups = [f"g{i // 2}" for i in range(60)]
    arguments = (f"data.{kind}", "--x", "a", "--y", "label")
    kept = [group for i, group in enumerate(groups) if i not in (0, 3)]
    if kind == "npz":
        np.savez("data.npz", a=holes["a"].to_numpy(), label=holes["label"].to_list(), group=groups)
    elif kind == "parquet":
        holes.with_columns(group=pl.Series(groups)).write_parquet("data.parquet")
    else:
        listed = pl.read_csv("list.csv").with_columns(group=pl.Series(groups[:48]))
        tone = [None if i in (0, 3) else value for i, value in enumerate(listed["tone"])]
        listed.with_columns(tone=pl.Series(tone)).write_csv("holes.csv")
        arguments, kept = ("holes.csv", "--images", "photos", "--y", "tone"), kept[:46]
    refused(run("analyze", *arguments, "--groups", "group", "--missing", "drop"), "stop")
    assert seen["groups"] == kept


@pytest.mark.slow
def test_the_seed_reaches_the_test_of_a_table(run, tmp_path):
    (tmp_path / "table.csv").write_text("row,a,b,c\nu,30,10,9\nv,10,30,8\nw,7,9,20\n")
    found = []
    for seed in (0, 0, 1):
        done(run("analyze", "table.csv", "--table", "--seed", seed, "-o", "out"))
        found.append(json.loads((tmp_path / "out" / "summary.json").read_text())["components"][0]["held_out"])
    assert found[0] == found[1] != found[2]


def test_embed_takes_columns_in_the_order_in_which_they_are_named(frame, run):
    frame.write_parquet("data.parquet")
    done(run("analyze", "data.parquet", "--x", "a,b", "--y", "label", "--method", "cca", "-o", "out"))
    frame.select(p="b", q="a").write_parquet("new.parquet")
    done(run("embed", "out", "new.parquet", "--x", "q,p", "-o", "new.csv"))
    np.testing.assert_allclose(pl.read_csv("new.csv")["f_1"], pl.read_parquet("out/x.parquet")["f_1"], rtol=1e-8)


def test_beliefs_with_ids(run, tmp_path):
    (tmp_path / "beliefs.csv").write_text("name,u,v\np,0.3,0.7\nq,,0.5\nr,0.5,0.5\ns,0.9,0.1\n")
    for options, ids in ((("--id", "name"), ["p", "r", "s"]), ((), [1, 3, 4])):
        done(run("analyze", "beliefs.csv", "--beliefs", "--x", "u,v", *options, "-o", "out"))
        assert pl.read_parquet("out/x.parquet")[:, 0].to_list() == ids


@pytest.mark.slow
def test_rows_of_the_same_image_are_held_out_together(run, tmp_path):
    """Otherwise labels that have nothing to do with the images are found again by heart."""
    rng = np.random.default_rng(1)
    (tmp_path / "noise").mkdir()
    for i in range(40):
        Image.fromarray(rng.integers(0, 255, (8, 8)).astype(np.uint8)).save(tmp_path / "noise" / f"{i}.png")
    label = rng.choice(["u", "v"], 40)
    rows = pl.DataFrame({"image": [f"{i % 40}.png" for i in range(120)], "label": np.tile(label, 3)})
    rows.write_csv("noise.csv")
    options = ("--images", "noise", "--y", "label", "--method", "kernel", "--size", 8)
    result = done(run("analyze", "noise.csv", *options, "-o", "out"))
    assert "120 rows name 40 images: those of the same image are held out together." in result.stderr
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["significant"] == 0
    rows[:40].write_csv("once.csv")
    assert "held out together" not in done(run("analyze", "once.csv", *options, "-o", "out")).stderr


def test_the_mass_of_labels_is_their_share(frame, run):
    frame.write_parquet("data.parquet")
    done(run("analyze", "data.parquet", "--x", "a,b", "--y", "label", "--method", "cca", "-o", "out"))
    found = pl.read_parquet("out/y.parquet")
    share = {label: (frame["label"] == label).sum() / 60 for label in frame["label"].unique()}
    assert dict(zip(found["label"], found["mass"], strict=True)) == pytest.approx(share)


def test_groups_reach_the_fit_that_is_kept(frame, run, monkeypatch):
    seen = []

    def spy(est, X, Y, groups=None):
        seen.append(groups)
        return fit_copy(est, X, Y, groups)

    monkeypatch.setattr("correspondence.selection.decompose.fit_copy", spy)
    groups = [f"g{i // 2}" for i in range(60)]
    frame.with_columns(group=pl.Series(groups)).write_parquet("data.parquet")
    done(run("analyze", "data.parquet", "--x", "a,b", "--y", "label", "--groups", "group", "--method", "cca"))
    (codes,) = seen
    assert len(set(zip(groups, codes.tolist(), strict=True))) == len(set(codes.tolist())) == 30


@pytest.fixture
def page(monkeypatch):
    """What the page is told."""
    told = {}

    def explore(est, X, Y, path, **options):
        told.update(options)
        path.write_text("page")

    monkeypatch.setattr(files, "explore", explore)
    return told


def test_the_page_has_names_of_rows_and_held_out_figures(holes, page, run):
    holes.write_parquet("data.parquet")
    options = ("--id", "name", "--method", "cca", "--missing", "drop", "-o", "out")
    done(run("analyze", "data.parquet", "--x", "a", "--y", "label", *options))
    assert page["x_labels"] == [f"n{i}" for i in range(60) if i not in (0, 3)]
    assert page["held_out"].correlations[0] == pytest.approx(pl.read_csv("out/pics.csv")["held_out"][0])


def test_the_page_of_beliefs_has_their_labels(page, run, tmp_path):
    (tmp_path / "beliefs.csv").write_text("u,v,true\n0.3,0.7,v\n0.6,0.4,u\n0.9,0.1,u\n0.2,0.8,u\n")
    done(run("analyze", "beliefs.csv", "--beliefs", "--y", "true", "-o", "out"))
    assert list(page["classes"]) == ["v", "u", "u", "u"]


def test_a_table_that_is_nearly_independent_has_nothing_held_out(run, tmp_path):
    (tmp_path / "table.csv").write_text("row,a,b,c\nu,21,19,20\nv,19,21,20\nw,20,20,20\n")
    done(run("analyze", "table.csv", "--table", "--seed", 7, "-o", "out"))
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["seed"] == 7
    assert summary["significant"] == 0
    assert summary["components"][0]["held_out"] < 0.3
