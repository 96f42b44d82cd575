"""The studies: run quickly, with the files that they write read back."""

import re
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from records import check_record, read_rows

import correspondence as co
from correspondence.studies import gaussian, problems, runs
from correspondence.studies.markdown import make_table
from correspondence.studies.report import Report, write_report
from correspondence.studies.reproducing import STUDIES, reproduce_study
from correspondence.studies.runs import Runs, Settings

SIMULATED = ("bsc", "gaussian")
"""Those with real data are in test_real_data.py."""


def mark_simulated(test):
    """Mark a test of the results, which are made once, in one worker."""
    return pytest.mark.slow(pytest.mark.xdist_group("studies")(test))


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """A results folder of each study, made once, by nets that are trained for a few steps."""
    made = {}
    few_steps = SimpleNamespace(PICE=partial(co.PICE, max_steps=200))
    for name in SIMULATED:
        made[name] = tmp_path_factory.mktemp("results") / "new" / name
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(runs, "co", few_steps)
            files = reproduce_study(name, made[name], seeds=2, quick=True)
        assert [path.name for path in files] == [f"{name}.csv", f"{name}.png", f"{name}.md", f"{name}.json"]
    return made


def read_table(folders, name):
    return read_rows(folders[name] / f"{name}.csv")


def read_numbers(rows, column):
    return np.array([float(row[column]) for row in rows if row["component"] != "mean"])


@mark_simulated
@pytest.mark.parametrize("name", SIMULATED)
def test_files(folders, name):
    ends = (".csv", ".json", ".md", ".png")
    assert sorted(path.name for path in folders[name].iterdir()) == [f"{name}{end}" for end in ends]
    check_record(folders[name], name)
    assert (folders[name] / f"{name}.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


@mark_simulated
@pytest.mark.parametrize("name", SIMULATED)
def test_text_says_how_it_was_made(folders, name):
    text = (folders[name] / f"{name}.md").read_text(encoding="utf-8")
    assert text.startswith(f"# {STUDIES[name].title}\n")
    assert f"correspondence reproduce {name} --seeds 2 --quick" in text
    assert "Seeds 0 to 1" in text
    assert f"correspondence {co.__version__}" in text
    assert re.search(r"\d+\.\d seconds in all", text)
    assert "quick run" in text
    assert f"({name}.png)" in text
    assert "## What it corrects" in text


@mark_simulated
def test_bsc_beside_its_exact_values(folders):
    rows = read_table(folders, "bsc")
    fair, rare = rows[:16], rows[16:]
    assert np.allclose(read_numbers(fair, "exact"), [0.8] * 5 + [0.64] * 10)
    assert np.allclose(read_numbers(fair, "exact_pic"), [0.64] * 5 + [0.4096] * 10)
    assert np.allclose(read_numbers(rare, "exact"), 0.6247, atol=5e-5)
    assert [row["paper"] for row in fair[:5]] == ["0.801100", "0.794200", "0.791800", "0.788300", ""]
    assert float(fair[-1]["error"]) < 0.1
    assert float(rare[-1]["error"]) < 0.1


@mark_simulated
def test_gaussian_beside_its_exact_values(folders):
    rows = read_table(folders, "gaussian")
    assert np.allclose(read_numbers(rows, "exact"), 2 ** (-np.arange(1, 5) / 2), atol=1e-6)
    assert read_numbers(rows, "paper_analytic").tolist() == [0.6977, 0.4675, 0.2979, 0.2113]
    assert float(rows[-1]["error"]) < 0.1
    text = (folders["gaussian"] / "gaussian.md").read_text(encoding="utf-8")
    told = float(re.search(r"eight functions: (\d\.\d{4})", text)[1])
    assert told == pytest.approx(float(rows[-1]["distance"]), abs=5.1e-5)  # rounded once, not twice as here


@mark_simulated
@pytest.mark.parametrize("name", SIMULATED)
def test_ranges_hold_their_means(folders, name):
    rows = read_table(folders, name)
    for kind in ("held_out", "training"):
        mean, low, high = (read_numbers(rows, kind + suffix) for suffix in ("", "_low", "_high"))
        assert (low <= mean).all()
        assert (mean <= high).all()
    means = [float(row["error"]) for row in rows if row["component"] == "mean"]
    parts = {row["problem"]: [] for row in rows}
    for row in rows:
        if row["component"] != "mean":
            parts[row["problem"]].append(float(row["error"]))
    assert np.allclose(means, [np.mean(errors) for errors in parts.values()], atol=1e-6)


def test_distance_of_known_functions():
    """The exact functions are at distance 0 whatever their signs, a constant factor c is at |c - 1|."""

    class Known:
        def __init__(self, factor):
            self.factor = factor * np.array([1, -1, 1, -1])

        def f(self, X):
            return self.factor * hermite(X[:, 0])

        def g(self, Y):
            return self.factor * hermite(Y[:, 0] / np.sqrt(2))

    def hermite(x):
        values = [x, (x**2 - 1) / 2**0.5, (x**3 - 3 * x) / 6**0.5, (x**4 - 6 * x**2 + 3) / 24**0.5]
        return np.column_stack(values)

    problem = problems.make_gaussian()
    nothing = np.zeros((2, 4))
    runs = Runs(problem, 1, 1, nothing, nothing, np.zeros(2), [Known(1.0), Known(1.5)])
    for curves in gaussian.compute_curves(runs).values():
        assert np.allclose(curves.distances, [[0] * 4, [0.5] * 4], atol=1e-5)


def test_settings():
    assert Settings.from_options().seeds == 10
    assert Settings.from_options(quick=True).seeds == 2
    assert Settings.from_options(3, True).seeds == 3
    assert Settings.from_options().fresh == 200_000
    assert Settings.from_options().count_training_pairs(problems.make_bsc()) == problems.make_bsc().n
    with pytest.raises(ValueError, match="seeds must"):
        Settings.from_options(0)


def test_unknown_study(tmp_path):
    with pytest.raises(ValueError, match="name must"):
        reproduce_study("bcs", tmp_path)
    assert not list(tmp_path.iterdir())


def test_markdown_table():
    assert make_table(["a", "b"], [[1, None], [2, 0.5]]) == "| a | b |\n| ---: | ---: |\n| 1 |  |\n| 2 | 0.5000 |"


def test_texts_are_on_the_left_of_a_table():
    marks = make_table(["a", "b", "c"], [["x", "0.5 [0, 1]", ""], [1, "-2", "**y**"]]).splitlines()[1]
    assert marks == "| --- | ---: | --- |"


def test_an_old_file_survives_a_failure(tmp_path):
    """A figure that cannot be drawn leaves the picture of the last run, and nothing half-written."""

    class Broken:
        def savefig(self, path, dpi):
            path.write_bytes(b"half")
            raise OSError(28, "No space left on device")

    (tmp_path / "x.png").write_bytes(b"old")
    with pytest.raises(OSError, match="No space"):
        write_report(Report([{"a": 1}], ["text"], {"": Broken()}), "x", "Title", tmp_path, "origin")
    assert (tmp_path / "x.png").read_bytes() == b"old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.csv", "x.png"]
