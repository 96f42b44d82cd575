"""``correspondence analyze FILE --table --constraints ENV``: from two files to partition, scores and tests."""

import json

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import correspondence as co
from correspondence.app.cli import main


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(0)
    wet, depth = rng.normal(size=(2, 24))
    use = np.where(rng.random(24) < 0.5, "meadow", "pasture")
    optimum = np.array([[1.0, 0.5, -0.5, -1.0, 0.0], [0.0, -0.7, 0.6, 0.0, 0.5]])
    counts = rng.poisson(np.exp(np.outer(wet, optimum[0]) + np.outer(use == "meadow", optimum[1]) + 1.5))
    sites = [f"site {i}" for i in range(24)]
    table = pl.DataFrame({"site": sites, **{f"species {j}": counts[:, j] for j in range(5)}})
    env = pl.DataFrame({"site": sites, "wet": wet, "depth": depth, "use": use, "block": np.arange(24) // 6})
    env = env.with_columns(soil=pl.Series(np.arange(24) % 3 + 1))
    table.write_csv(tmp_path / "plants.csv")
    env.sample(fraction=1.0, shuffle=True, seed=1).write_csv(tmp_path / "env.csv")
    return tmp_path / "plants.csv", tmp_path / "env.csv"


def run(table, env, *options):
    arguments = ["analyze", table, "--table", "--constraints", env, *options]
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.mark.slow
def test_from_two_files_to_partition_scores_and_tests(files, tmp_path):
    done = run(*files, "--given", "depth", "--explained-by", "wet,use", "-o", tmp_path / "out")
    assert done.exit_code == 0, done.output
    out = tmp_path / "out"
    summary = json.loads((out / "summary.json").read_text())
    assert set(summary["files"]) == {path.name for path in out.iterdir()}
    assert (summary["constraints"], summary["given"]) == (["wet", "use"], ["depth"])
    # The rows of the environment, in another order, are found by their names.
    table, env = (pl.read_csv(path).to_pandas().set_index("site") for path in files)
    ca = co.CA().fit(table, constraints=env[["wet", "use"]], given=env[["depth"]])
    partition = pl.read_csv(out / "partition.csv")
    assert partition["part"].to_list() == ["total", "conditioned", "constrained", "unconstrained"]
    assert partition["inertia"][2] == pytest.approx(ca.partition_.constrained)
    scores = pl.read_csv(out / "scores.csv").filter(pl.col("display") == "species")
    np.testing.assert_allclose(scores["CCA1"], ca.scores("species").values[:, 0], atol=1e-8)
    tests = pl.read_csv(out / "anova.csv")
    assert tests["test"].unique(maintain_order=True).to_list() == ["all", "term", "margin", "axis"]
    assert tests.filter(pl.col("term") == "wet")["pvalue"].max() < 0.01
    for text in (done.stdout, (out / "report.html").read_text(encoding="utf-8")):
        assert "wet and use explain" in text
        assert "given (depth)" in text
    assert "explained by wet, use, given depth" in done.stdout
    assert co.load(out / "model.safetensors").n_components == len(summary["axes"])


def test_other_columns_explain_the_table_by_default_and_strata_do_not(files, tmp_path):
    done = run(*files, "--groups", "block", "--labels", "soil", "--components", 1, "--json", "-o", tmp_path / "out")
    assert done.exit_code == 0, done.output
    summary = json.loads(done.stdout[done.stdout.index("{") :])
    assert summary["constraints"] == ["wet", "depth", "use", "soil"]
    assert summary["strata"] == "block"
    assert len(summary["axes"]) == 1
    assert {"soil2", "soil3"} < set(summary["vif"])


def test_a_level_that_only_held_out_rows_have_counts_as_the_average():
    rng = np.random.default_rng(0)
    counts, level = rng.poisson(5, (20, 4)), np.array([*"aabbccddeeaabbccddef"])
    held_out = co.crossfit(co.CA(1), counts, constraints={"level": level})
    assert np.isfinite(held_out.evidence.captured)


def test_numbers_may_enter_as_curves(files, tmp_path):
    done = run(*files, "--explained-by", "wet", "--smooth", "--json", "-o", tmp_path / "out")
    assert set(json.loads(done.stdout[done.stdout.index("{") :])["smooth"]) == {"wet"}


def test_names_below_an_empty_heading_are_names(files, tmp_path):
    """write.csv of R writes the names of rows so; those of the environment are in another order."""
    wanted = run(*files, "--explained-by", "wet,use", "-o", tmp_path / "wanted")
    for path in files:
        path.write_text(path.read_text().replace("site,", '"",', 1))
    done = run(*files, "--explained-by", "wet,use", "-o", tmp_path / "out")
    assert done.exit_code == wanted.exit_code == 0, done.output
    of_both = [json.loads((tmp_path / name / "summary.json").read_text()) for name in ("wanted", "out")]
    assert of_both[1]["partition"] == of_both[0]["partition"]
    assert of_both[1]["constraints"] == ["wet", "use"]


def test_rows_without_names_are_taken_in_their_order(files, tmp_path):
    table, env = (pl.read_csv(path) for path in files)
    env = table.select("site").join(env, on="site", maintain_order="left").drop("site")
    env.write_csv(tmp_path / "bare.csv")
    done = run(files[0], tmp_path / "bare.csv", "--explained-by", "wet", "--json", "-o", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert "taken in the order" in done.stderr
    named = run(*files, "--explained-by", "wet", "--json", "-o", tmp_path / "named")
    one, other = (json.loads(own.stdout)["partition"] for own in (done, named))
    assert one == other


@pytest.mark.slow
def test_missing_values_are_an_answer_or_left_out(files, tmp_path):
    env = pl.read_csv(files[1]).with_columns(wet=pl.when(pl.int_range(24) != 3).then(pl.col("wet")))
    env.write_csv(tmp_path / "gaps.csv")
    for missing, code, message in (("drop", 0, "left out"), ("error", 1, "missing"), ("indicator", 0, "explain")):
        done = run(files[0], tmp_path / "gaps.csv", "--missing", missing, "-o", tmp_path / missing)
        assert (done.exit_code, message in done.output) == (code, True), done.output


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--given", "wett"], "wett"),
        (["--given", "wet", "--explained-by", "wet"], "--given"),
        (["--given", "wet,depth,use,block,soil"], "--constraints"),
        (["--groups", "use,"], "use,"),
        (["--method", "pice"], "--method"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(files, tmp_path, options, message):
    done = run(*files, *options, "-o", tmp_path / "out")
    assert done.exit_code == 1
    assert message in done.stderr.splitlines()[-1]
    assert not (tmp_path / "out").exists()


def test_rows_that_are_not_those_of_the_table_are_refused(files, tmp_path):
    env = pl.read_csv(files[1])
    env[:-1].write_csv(tmp_path / "short.csv")
    env.with_columns(site=pl.col("site").str.replace("site 0", "site x")).write_csv(tmp_path / "other.csv")
    env.drop("site")[:-1].write_csv(tmp_path / "bare.csv")
    env.with_columns(site=pl.col("site").str.replace("site", "plot")).write_csv(tmp_path / "none.csv")
    for name in ("short", "other", "bare", "none"):
        done = run(files[0], tmp_path / f"{name}.csv", "-o", tmp_path / "out")
        assert done.exit_code == 1
        assert done.stderr.splitlines()[-1].startswith("Error: --constraints:")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--constraints", "env.csv"],
        ["--table", "--given", "wet"],
        ["--given", "wet"],
        ["--y", "b", "--given", "wet"],
        ["--table", "--smooth"],
    ],
)
def test_options_that_need_others_are_wrong_usage(files, arguments):
    done = CliRunner().invoke(main, ["analyze", str(files[0]), *arguments])
    assert done.exit_code == 2
    assert "needs" in done.stderr


def test_strata_of_one_row_are_told(files, tmp_path):
    env = pl.read_csv(files[1]).with_columns(plot=pl.Series([f"plot {i}" for i in range(20)] + ["rest"] * 4))
    env.write_csv(tmp_path / "strata.csv")
    done = run(files[0], tmp_path / "strata.csv", "--explained-by", "wet", "--groups", "plot", "-o", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert "--groups: 20 of 21 strata have one row" in done.stderr
