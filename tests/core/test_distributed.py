"""Every estimator on every engine equals the one on one machine, however the rows are parted, whatever is lost."""

import itertools
import os
import signal
import time
from functools import partial
from threading import Thread

import engines
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from engines import X, Y
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

import correspondence as co
from correspondence.data.pairs.arrow_tables import ROWS_PER_BATCH

duckdb = pytest.importorskip("duckdb")
pytest.importorskip("dask.dataframe")
pytest.importorskip("distributed")

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("engines")]

NUMBERS = ["number", "other"]
EQUAL = 1e-10
ESTIMATORS = {
    "cca": partial(co.CCA, 2),
    "ridge": partial(co.CCA, 2, regularization=0.1),
    "ace": partial(co.ACE, 2),
    "kernel": partial(co.KernelCCA, 2, n_landmarks=40),
}


@pytest.fixture(scope="module")
def table():
    return engines.mixed(2500)


@pytest.fixture(scope="module")
def one_machine(table):
    return {name: make().fit(table.select(X), table.select(Y)) for name, make in ESTIMATORS.items()}


@pytest.fixture(scope="module")
def classifier(table):
    return LogisticRegression(max_iter=200).fit(
        table.select(NUMBERS).to_pandas().to_numpy(), table["answer"].to_pylist()
    )


@pytest.fixture(params=["parquet", "csv", "lazy", "dask-1", "dask-3", "dask-7"])
def source(request, table, tmp_path):
    kind, _, parts = request.param.partition("-")
    if kind == "parquet":
        for i in range(3):
            pq.write_table(table.slice(i * 1000, 1000), tmp_path / f"{i}.parquet")
        return str(tmp_path / "*.parquet")
    if kind == "csv":
        pl.from_arrow(table).write_csv(tmp_path / "pairs.csv")
        return tmp_path / "pairs.csv"
    if kind == "lazy":
        return pl.from_arrow(table).lazy()
    request.getfixturevalue("dask_client")
    return engines.on_dask(table, int(parts))


def assert_same(a, b, x, y):
    np.testing.assert_allclose(a.correlations_, b.correlations_, atol=EQUAL, rtol=0)
    for mine, other in zip(a.transform(x, y), b.transform(x, y), strict=True):
        np.testing.assert_allclose(mine, other, atol=EQUAL, rtol=0)


def assert_same_evaluation(a, b):
    assert a.n == b.n
    for name in ("correlations", "intervals", "captured", "captured_interval"):
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), atol=EQUAL, rtol=0)


def test_every_estimator_equals_one_machine(source, table, one_machine, classifier):
    check_estimators(source, table, one_machine, classifier)


def check_estimators(source, table, one_machine, classifier):
    x, y = table.select(X), table.select(Y)
    pairs = co.Pairs(source, x=X, y=Y)
    for name, whole in one_machine.items():
        est = ESTIMATORS[name]().fit(pairs)
        assert_same(est, whole, x, y)
        assert est.feature_names_in_.tolist() == X
    assert_same_evaluation(est.evaluate(pairs), whole.evaluate(x, y))
    pairs = co.Pairs(source, x=NUMBERS, y="answer")
    inputs = table.select(NUMBERS).to_pandas().to_numpy()
    est, whole = co.ClassifierCA(classifier).fit(pairs), co.ClassifierCA(classifier).fit(inputs)
    assert_same(est, whole, inputs, table["answer"].to_pylist())
    assert_same_evaluation(est.evaluate(pairs), whole.evaluate(inputs, table["answer"].to_pylist()))
    F, G = inputs, inputs[:, :1] ** 2
    square = lambda column: column.to_numpy()[:, None] ** 2  # noqa: E731
    features = co.distributed.moments(co.Pairs(source, x=NUMBERS, y="number"), y_features=square)
    np.testing.assert_allclose(features.cov_fg, co.Moments().update(F, G).cov_fg, atol=EQUAL, rtol=0)


def test_functions_of_every_row_are_written_once(source, table, one_machine, tmp_path):
    check_files(source, table, one_machine, tmp_path)


def check_files(source, table, one_machine, tmp_path):
    folder = tmp_path / "out" / "deep"
    files = co.distributed.transform(one_machine["ace"], co.Pairs(source, x=X, y=Y), folder, keep=["id"])
    assert [*sorted(file.name for file in files), "_SUCCESS"] == sorted(
        os.listdir(folder), key=lambda n: (n[0] == "_", n)
    )
    written = pa.concat_tables([pq.read_table(file) for file in files])
    assert written.column_names == ["id", "f1", "f2", "g1", "g2"]
    np.testing.assert_array_equal(written["id"].to_numpy(), np.arange(table.num_rows))
    F, G = one_machine["ace"].transform(table.select(X), table.select(Y))
    for i in range(2):
        np.testing.assert_allclose(written[f"f{i + 1}"].to_numpy(), F[:, i], atol=1e-12)
        np.testing.assert_allclose(written[f"g{i + 1}"].to_numpy(), G[:, i], atol=1e-12)


def test_spark(spark, table, one_machine, classifier, tmp_path):
    """All of it in one test: each pass takes about a second."""
    frame = engines.on_spark(spark, table, 3)
    few = {name: one_machine[name] for name in ("cca", "ace")}
    check_estimators(frame, table, few, classifier)
    check_files(frame, table, one_machine, tmp_path)
    pairs = co.Pairs(frame, x="id", y="label")
    assert np.concatenate([x.to_numpy() for x, _ in pairs]).tolist() == table["id"].to_pylist()
    assert pairs.map(lambda x, y, number: number) == [0, 2]
    missing = table.to_pandas()
    missing.loc[2000, "heavy"] = np.inf
    with pytest.raises(ValueError, match="'heavy' of X contains infinity"):
        co.CCA(1).fit(co.Pairs(engines.on_spark(spark, pa.table(missing), 2), x=X, y=Y))


@settings(max_examples=6)
@given(st.lists(st.integers(0, 10**6), max_size=4))
def test_any_split_of_the_rows_gives_the_same(cuts):
    import dask
    import dask.dataframe as dd

    table = engines.mixed(400, seed=3)
    bounds = [0, *sorted(cut % 401 for cut in cuts), 400]
    frames = [table.slice(a, b - a).to_pandas() for a, b in itertools.pairwise(bounds)]
    frame = dd.from_delayed([dask.delayed(f) for f in frames], meta=frames[0].iloc[:0], verify_meta=False)
    with dask.config.set(scheduler="synchronous"):
        for make in (ESTIMATORS["cca"], ESTIMATORS["ace"]):
            est = make().fit(co.Pairs(frame, x=X, y=Y))
            assert_same(est, make().fit(table.select(X), table.select(Y)), table.select(X), table.select(Y))


def test_more_rows_than_a_survey_on_several_batches(rng):
    n = 110_000
    frame = pl.DataFrame({"x": rng.normal(size=n), "l": rng.choice(list("abc"), n)})
    frame = frame.with_columns(y=pl.col("x") ** 2 + (pl.col("l") == "a") + pl.Series(rng.normal(size=n)))
    assert n > ROWS_PER_BATCH
    for est in (co.CCA(1), co.ACE(1)):
        pairs = est.fit(co.Pairs(frame.lazy(), x=["x", "l"], y="y"))
        whole = type(est)(1).fit(frame.select("x", "l"), frame["y"])
        assert_same(pairs, whole, frame.select("x", "l")[:1000], frame["y"][:1000])


# --- workers that are lost


def slow(folder):
    """Feature that takes a while, and leaves a note of the process that computes it."""

    def feature(column):
        (folder / f"{os.getpid()}-{time.time_ns()}").touch()
        time.sleep(0.3)
        return column.to_numpy()[:, None] ** 1.0

    return feature


def while_one_is_killed(notes, client, work):
    """Result of some work, during which a worker that is in the middle of it gets SIGKILL."""
    pids = set(client.run(os.getpid).values())

    def kill():
        while len(working := [int(note.name.split("-")[0]) for note in notes.iterdir()]) < 3:
            time.sleep(0.02)
        os.kill(next(pid for pid in working[::-1] if pid in pids), signal.SIGKILL)

    killer = Thread(target=kill)
    killer.start()
    result = work()
    killer.join()
    return result


def test_a_worker_that_is_killed_loses_nothing(table, dask_client, tmp_path):
    pairs = co.Pairs(engines.on_dask(table, 8), x="number", y="response")
    moments = while_one_is_killed(
        tmp_path, dask_client, lambda: co.distributed.moments(pairs, x_features=slow(tmp_path))
    )
    whole = co.Moments().update(*(table[name].to_numpy()[:, None] for name in ("number", "response")))
    assert moments.n == whole.n
    np.testing.assert_allclose(moments.cov_fg, whole.cov_fg, atol=EQUAL, rtol=0)
    assert len(list(tmp_path.iterdir())) > 7  # what was lost was computed again


def test_a_worker_that_is_killed_leaves_each_file_once(table, dask_client, tmp_path):
    notes, folder = tmp_path / "notes", tmp_path / "files"
    notes.mkdir()
    x, y = (table[name].to_numpy()[:, None] for name in ("number", "response"))
    d = (
        co.Moments()
        .update(x, y)
        .decompose(x_features=slow(notes), y_features=lambda column: column.to_numpy()[:, None])
    )
    pairs = co.Pairs(engines.on_dask(table, 8), x="number", y="response")
    files = while_one_is_killed(notes, dask_client, lambda: co.distributed.transform(d, pairs, folder, keep=["id"]))
    assert {*os.listdir(folder)} == {"_SUCCESS", *(file.name for file in files)}
    written = pa.concat_tables([pq.read_table(file) for file in files])
    np.testing.assert_array_equal(written["id"].to_numpy(), np.arange(table.num_rows))
    assert len(list(notes.iterdir())) > 7


# --- files


def test_many_batches_go_to_few_files(tmp_path, monkeypatch):
    monkeypatch.setattr("correspondence.distributed.BATCHES_PER_FILE", 2)
    n = 4 * ROWS_PER_BATCH + 5
    frame = pl.LazyFrame({"x": np.arange(n) % 7, "y": np.arange(n) % 3})
    ca = co.CA(1).fit(np.arange(21) % 7, np.arange(21) % 3 + (np.arange(21) % 7 > 3))
    with pytest.raises(ValueError, match="label -10"):
        co.distributed.transform(
            ca.decomposition_, co.Pairs(frame.with_columns(x=pl.col("x") - 10), "x", "y"), tmp_path
        )
    assert list(tmp_path.iterdir()) == []
    files = co.distributed.transform(ca, co.Pairs(frame, "x", "y"), tmp_path)
    assert [pq.read_metadata(file).num_rows for file in files] == [2 * ROWS_PER_BATCH, 2 * ROWS_PER_BATCH, 5]


def test_a_folder_that_is_not_empty(table, one_machine, tmp_path):
    pairs = co.Pairs(table, x=X, y=Y)
    co.distributed.transform(one_machine["cca"], pairs, tmp_path)
    (tmp_path / "part-00099.parquet").touch()
    (tmp_path / "mine.txt").touch()
    with pytest.raises(ValueError, match="folder must"):
        co.distributed.transform(one_machine["cca"], pairs, tmp_path)
    co.distributed.transform(one_machine["cca"], pairs, tmp_path, overwrite=True)
    assert {*os.listdir(tmp_path)} == {"part-00000.parquet", "_SUCCESS", "mine.txt"}
    with pytest.raises(ValueError, match="folder must"):
        co.distributed.transform(one_machine["cca"], pairs, tmp_path / "mine.txt")


def test_a_loaded_decomposition_is_applied(table, one_machine, tmp_path):
    one_machine["ace"].decomposition_.save(tmp_path / "model")
    files = co.distributed.transform(co.load(tmp_path / "model"), co.Pairs(table, x=X, y=Y), tmp_path / "out")
    F = one_machine["ace"].transform(table.select(X))
    np.testing.assert_allclose(pq.read_table(files[0])["f1"].to_numpy(), F[:, 0], atol=1e-12)


def test_columns_to_keep(table, one_machine, tmp_path):
    pairs = co.Pairs(table.append_column("f1", table["id"]), x=X, y=Y)
    with pytest.raises(ValueError, match="keep must"):
        co.distributed.transform(one_machine["cca"], pairs, tmp_path, keep=["f1"])
    with pytest.raises(ValueError, match="no column 'none'"):
        co.distributed.transform(one_machine["cca"], pairs, tmp_path, keep=["none"])


# --- what cannot be done


def test_missing_values_are_those_of_one_machine(table, dask_client):
    frame = table.to_pandas()
    frame.loc[2000:2100, "heavy"] = np.nan
    for source in (engines.on_dask(pa.table(frame), 3), pl.from_pandas(frame).lazy()):
        for est in (co.CCA(1), co.ACE(1)):
            here = est.fit(frame[X], frame[Y]).pics_
            np.testing.assert_allclose(est.fit(co.Pairs(source, x=X, y=Y)).pics_, here, rtol=1e-9)
        with pytest.raises(ValueError, match="F contains NaN"):
            co.distributed.moments(co.Pairs(source, x=["heavy"], y="other"))


def test_text_has_to_become_numbers():
    words = np.random.default_rng(0).choice(["red", "green", "blue", "old", "new"], (200, 6))
    frame = pl.LazyFrame({"text": [f"{i} " + " ".join(row) for i, row in enumerate(words)], "y": range(200)})
    for est in (co.CCA(1), co.ACE(1), co.KernelCCA(1)):
        with pytest.raises(ValueError, match=r"X .*text"):
            est.fit(co.Pairs(frame, x="text", y="y"))


def test_pice_takes_no_weights(table):
    with pytest.raises(ValueError, match="CA only"):
        co.PICE(1).fit(co.Pairs(table, x=X, y=Y, weights="id"))


@pytest.mark.parametrize("est", [co.CCA(1), co.ACE(1), co.KernelCCA(1), co.ClassifierCA(lambda x: x)])
def test_what_goes_with_pairs(est, table):
    pairs = co.Pairs(table, x=X, y=Y)
    with pytest.raises(ValueError, match=r"Y .*Pairs"):
        est.fit(pairs, table.select(Y))
    with pytest.raises(ValueError, match="CA only"):
        est.fit(co.Pairs(table, x=X, y=Y, weights="id"))
    if not isinstance(est, co.ClassifierCA):
        with pytest.raises(ValueError, match="groups must"):
            est.fit(pairs, groups=np.arange(table.num_rows))


def test_other_things_that_need_data_in_memory(table):
    pairs = co.Pairs(table, x=X, y=Y)
    with pytest.raises(ValueError, match="X must not be Pairs"):
        co.ACE(1, x_regressor=LogisticRegression()).fit(pairs)
    with pytest.raises(ValueError, match="does not choose a method"):
        co.decompose(pairs)
    with pytest.raises(ValueError, match="Pairs must be more"):
        co.CCA(1).fit(co.Pairs(engines.mixed(6), x=NUMBERS, y=["label", "response", "second", "answer"]))
    with pytest.raises(ValueError, match=r"distributed\.transform"):
        co.CCA(1).fit(pairs).transform(pairs)
    with pytest.raises(TypeError, match="pairs must"):
        co.distributed.moments(table)
    with pytest.raises(ValueError, match="x_features"):
        co.distributed.moments(pairs)
    assert co.CCA(1).fit(pairs).decomposition_.g.sample is None


def test_columns_are_left_out_with_the_same_words(table):
    frame = table.append_column("constant", [np.ones(table.num_rows)])
    frame = frame.append_column("name", [[f"row{i}" for i in range(table.num_rows)]])
    names = [*X, "constant", "name"]
    for source in (engines.on_dask(frame, 3), frame):
        with pytest.warns(co.LeftOut, match="Left out") as told:
            est = co.ACE(1).fit(co.Pairs(source, x=names, y="response"))
        assert ["they are constant" in str(w.message) for w in told] == [True, False]
        assert all(w.filename == __file__ for w in told)
        assert list(est.decomposition_.f.features.encoder.columns) == X


# --- nets


def test_the_whitening_of_pice_does_not_depend_on_the_parts(table, dask_client):
    torch = pytest.importorskip("torch")
    pairs = co.Pairs(engines.on_dask(table, 7), x=X, y=Y)
    net = lambda width, k: torch.nn.Sequential(torch.nn.Linear(width, 16), torch.nn.SiLU(), torch.nn.Linear(16, k))  # noqa: E731
    est = co.PICE(2, x_net=net, y_net=net, max_steps=30, progress=False).fit(pairs)
    d = est.decomposition_
    rows = table.slice(0, 700).select(X)
    whole = d.f.features(rows)
    for cut in (1, 3, 64, 500):
        parts = [d.f.features(rows.slice(0, cut)), d.f.features(rows.slice(cut))]
        np.testing.assert_array_equal(np.vstack(parts), whole)
    again = co.distributed.moments(co.Pairs(table, x=X, y=Y), d.f.features, d.g.features).decompose(2)
    np.testing.assert_allclose(d.correlations, again.correlations, atol=EQUAL, rtol=0)
    np.testing.assert_allclose(
        d.g(table.select(Y)), again.g.of_features(d.g.features(table.select(Y))), atol=EQUAL, rtol=0
    )
    assert_same_evaluation(est.evaluate(pairs), est.evaluate(table.select(X), table.select(Y)))


def test_a_torch_classifier_is_asked_where_the_pairs_are(table, dask_client):
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(2, 32), torch.nn.ReLU(), torch.nn.Linear(32, 3))
    inputs = table.select(NUMBERS).to_pandas().to_numpy(np.float32)
    frame = table.set_column(1, "number", pa.array(inputs[:, 0])).set_column(2, "other", pa.array(inputs[:, 1]))
    est = co.ClassifierCA(net, classes=list("abc")).fit(co.Pairs(engines.on_dask(frame, 7), x=NUMBERS, y="answer"))
    assert_same(est, co.ClassifierCA(net, classes=list("abc")).fit(inputs), inputs, ["a"] * len(inputs))
    assert est.held_out_ is None


def test_a_classifier_gets_what_it_was_fitted_to(table):
    frame = table.to_pandas()
    on_frame = LogisticRegression(max_iter=200).fit(frame[NUMBERS], frame["answer"])
    est = co.ClassifierCA(on_frame).fit(co.Pairs(table, x=NUMBERS, y="answer"))
    assert_same(est, co.ClassifierCA(on_frame).fit(frame[NUMBERS]), frame[NUMBERS], frame["answer"])
    kinds = []

    def model(x):
        kinds.append(type(x).__name__)
        return np.tile([[0.2, 0.8], [0.6, 0.4]], (len(x), 1))[: len(x)]

    for x in (NUMBERS, "number", "label", ["number", "label"]):
        co.ClassifierCA(model).fit(co.Pairs(table, x=x, y="answer"))
    assert list(dict.fromkeys(kinds)) == ["ndarray", "list", "DataFrame"]


def test_mistakes_cost_no_files(table, one_machine, tmp_path):
    """Neither the source, nor what Spark has written, nor an earlier result is deleted before all is checked."""
    source = tmp_path / "part-00000.parquet"
    pq.write_table(table, source)
    cca, pairs = one_machine["cca"], co.Pairs(str(tmp_path / "*.parquet"), x=X, y=Y)
    with pytest.raises(ValueError, match="folder must"):
        co.distributed.transform(cca, pairs, tmp_path, overwrite=True)
    assert pq.read_table(source).equals(table)
    target = tmp_path / "out"
    (file,) = co.distributed.transform(cca, pairs, target, keep=["id", "id"])
    assert pq.ParquetFile(file).schema_arrow.names == ["id", "f1", "f2", "g1", "g2"][: 1 + 2 * cca.n_components]
    foreign = target / "part-00000-3f2a-c000.snappy.parquet"
    foreign.touch()
    with pytest.raises(ValueError, match="no column 'ids'"):
        co.distributed.transform(cca, pairs, target, keep=["ids"], overwrite=True)
    assert file.exists()
    co.distributed.transform(cca, pairs, target, overwrite=True)
    assert foreign.exists()


def test_a_relation_that_gives_other_rows_each_time_is_told(table):
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    connection.execute("SELECT setseed(0.5)").fetchall()
    connection.register("given", table)
    pairs = co.Pairs(connection.sql("SELECT * FROM given WHERE random() < 0.5"), x=X, y=Y)
    with pytest.raises(ValueError, match="other rows"):
        co.ACE(2).fit(pairs)
