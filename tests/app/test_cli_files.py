"""``correspondence analyze`` of files as people have them: read right, told, and written for everybody."""

import json
import os
import subprocess
import sys

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from PIL import Image

from correspondence.app.analyze import files
from correspondence.app.cli import main


@pytest.fixture
def run(tmp_path):
    def invoke(*arguments, command="analyze", output=tmp_path / "out"):
        result = CliRunner().invoke(main, [str(a) for a in [command, *arguments, "-o", output]])
        assert result.exit_code == 0, result.output
        return result

    return invoke


def read_summary(tmp_path):
    return json.loads((tmp_path / "out" / "summary.json").read_text())


# --- read right


YEARS = "year,red,green,blue\n1990,30,10,5\n1991,25,14,6\n1992,10,30,7\n1993,9,28,12\n1994,4,9,22\n"


@pytest.mark.slow
def test_years_name_the_rows_of_a_table(write, run, tmp_path):
    result = run(write(YEARS), "--table")
    assert "Table of 5 x 3 cells, total 221." in result.output
    assert "year names the rows" in result.output
    assert pl.read_csv(tmp_path / "out" / "x.csv")["year"].to_list() == [1990, 1991, 1992, 1993, 1994]
    assert "Table of 5 x 4 cells" in run(write(YEARS), "--table", "--x", "year,red,green,blue").output
    assert "Table of 5 x 2 cells" in run(write(YEARS), "--table", "--x", "red,green").output


@pytest.mark.slow
def test_counts_first_are_counts_unless_they_are_named(write, run):
    text = "a,b,c\n30,10,5\n10,30,7\n4,9,22\n"
    result = run(write(text), "--table")
    assert "Table of 3 x 3 cells" in result.output
    assert "--id a" in result.output
    assert "Table of 3 x 2 cells" in run(write(text), "--table", "--id", "a").output
    assert "Table of 3 x 2 cells" in run(write(text), "--table", "--id", "c").output


def test_labels_keep_their_leading_zeros(write, run, tmp_path, rng):
    zips, c = np.array(["01234", "1234", "20001"]), rng.integers(0, 3, 300)
    a = np.array([2.0, -2.0, 0.0])[c] + rng.normal(size=300)
    rows = "".join(f"{x:.3f},{zips[k]}\n" for x, k in zip(a, c, strict=True))
    run(write("a,zip\n" + rows), "--x", "a", "--y", "zip", "--labels", "zip", "--method", "cca")
    assert pl.read_parquet(tmp_path / "out" / "y.parquet")["zip"].to_list() == sorted(zips)
    assert read_summary(tmp_path)["components"][0]["training"] > 0.8


def test_a_marker_does_not_turn_numbers_into_labels(write, run, rng):
    a = rng.normal(size=300)
    rows = "".join(f"{x:.4f},{x + 0.3 * e:.4f}\n" for x, e in zip(a, rng.normal(size=300), strict=True))
    output = run(write(f"a,b\n{rows}?,1.0\n"), "--x", "a", "--y", "b", "--method", "cca").output
    assert "x: numbers (a)" in output
    assert "'?'" in output


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["16bit", "float", "alpha", "exif"])
def test_pictures_of_all_kinds(run, tmp_path, rng, kind):
    folder = tmp_path / "pictures"
    folder.mkdir()
    ending = {"float": "tif", "exif": "jpg"}.get(kind, "png")
    rows = []
    for i in range(80):
        values = rng.random((16, 16)) * 0.3
        values[:, :8] += 0.6 * (i % 2)
        save_picture(values, folder / f"{i}.{ending}", kind, rng)
        rows.append(f"{i}.{ending},{'left' if i % 2 else 'even'}\n")
    (tmp_path / "l.csv").write_text("image,label\n" + "".join(rows))
    run(tmp_path / "l.csv", "--images", folder, "--y", "label", "--method", "cca", "--size", "8")
    assert read_summary(tmp_path)["components"][0]["held_out"] > 0.9


def save_picture(values, path, kind, rng):
    image, exif = Image.fromarray((values * 255).astype(np.uint8)), Image.Exif()
    if kind == "16bit":
        image = Image.fromarray((values * 65535).astype(np.uint16))
    elif kind == "float":
        image = Image.fromarray(values.astype(np.float32))
    elif kind == "alpha":
        black = Image.new("L", image.size)
        image = Image.merge("RGBA", (black, black, black, image))
    elif rng.random() < 0.5:  # held sideways
        image, exif[0x0112] = image.convert("RGB").transpose(Image.Transpose.ROTATE_90), 6
    image.save(path, **({"exif": exif, "quality": 95} if kind == "exif" else {}))


def test_new_rows_are_read_as_those_of_the_analysis(write, run, tmp_path, rng):
    a = rng.normal(size=60) * 1000
    rows = "".join(f"{x:.3f};{x + e:.1f}\n" for x, e in zip(a, 300 * rng.normal(size=60), strict=True))
    run(write("a;b\n" + rows.replace(".", ",")), "--x", "a", "--y", "b", "--method", "cca")
    readings = read_summary(tmp_path)["readings"]
    assert (readings["decimal"], readings["dates"]) == ("comma", None)
    assert readings["columns"]["a"] == {"kind": "number", "decimal": "comma", "dates": None}
    places = {}
    for text in ("1,500", "1.5"):
        new = write(f"a;c\n{text};x\n", "new.csv")
        run(tmp_path / "out", new, command="embed", output=tmp_path / "p.csv")
        places[text] = pl.read_csv(tmp_path / "p.csv")["f_1"][0]
    assert places["1,500"] == pytest.approx(places["1.5"])


# --- written for everybody


TABLE = "row,a,b,c\n=u,30,10,5\nv,10,30,7\nw,4,9,22\n"


def test_coordinates_are_written_as_csv_too(write, run, tmp_path):
    run(write(TABLE), "--table")
    for side in "xy":
        parquet, text = (
            pl.read_parquet(tmp_path / "out" / f"{side}.parquet"),
            pl.read_csv(tmp_path / "out" / f"{side}.csv"),
        )
        assert text.columns == parquet.columns
        np.testing.assert_allclose(text[:, 1:].to_numpy(), parquet[:, 1:].to_numpy(), rtol=1e-8)
    assert (tmp_path / "out" / "x.csv").read_text().splitlines()[1].startswith("'=u,")


@pytest.mark.slow
def test_the_format_of_coordinates(write, run, tmp_path, monkeypatch):
    pytest.importorskip("xlsxwriter")
    pytest.importorskip("fastexcel")
    path = write(TABLE)
    run(path, "--table", "--format", "excel")
    assert {"coordinates.xlsx", "x.parquet"} <= {p.name for p in (tmp_path / "out").iterdir()}
    sheets = pl.read_excel(tmp_path / "out" / "coordinates.xlsx", sheet_id=0)
    assert sheets["x"]["row"].to_list() == ["=u", "v", "w"]
    assert set(sheets) == {"components", "x", "y"}
    assert not (tmp_path / "out" / "x.csv").exists()
    run(path, "--table", "--format", "parquet")
    names = {p.name for p in (tmp_path / "out").iterdir()}
    assert names == set(read_summary(tmp_path)["files"])
    assert not names & {"coordinates.xlsx", "x.csv", "y.csv"}
    monkeypatch.setattr(files, "MAX_CSV_CELLS", 10)
    run(path, "--table")
    assert not (tmp_path / "out" / "x.csv").exists()
    run(path, "--table", "--format", "csv")
    assert (tmp_path / "out" / "y.csv").exists()


def test_excel_without_the_extra(write, tmp_path, monkeypatch):
    monkeypatch.setattr(files, "find_spec", lambda name: None)
    arguments = ["analyze", str(write(TABLE)), "--table", "--format", "excel", "-o", str(tmp_path / "out")]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 1
    assert '[excel]"' in result.output


def test_names_that_are_not_text(tmp_path):
    source = tmp_path / os.fsdecode(b"t\xff.csv")
    source.write_text(TABLE)
    folder = tmp_path / os.fsdecode(b"out\xff")
    result = CliRunner().invoke(main, ["analyze", os.fspath(source), "--table", "-o", os.fspath(folder)])
    assert result.exit_code == 0, result.output
    assert (folder / "report.html").stat().st_size
    assert json.loads((folder / "summary.json").read_text(encoding="utf-8"))["title"].startswith("t")


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_an_output_that_is_full(write, tmp_path):
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "correspondence", "analyze", write(TABLE), "--table", "-o", tmp_path / "out"]
        result = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert result.returncode == 1
    assert "Traceback" not in result.stderr
    assert "No space left" in result.stderr.splitlines()[-1]
