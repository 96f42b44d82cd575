import datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import tables

import correspondence as co
from correspondence.core.decomposition import as_decomposition


def full(counts):
    """Full decomposition and the joint distribution it is of."""
    return co.CA().fit(counts).decomposition_, counts / counts.sum()


@given(tables())
def test_functions_are_orthonormal(counts):
    d, P = full(counts)
    F, G = d.f(range(P.shape[0])), d.g(range(P.shape[1]))
    identity = np.eye(d.n_components)
    np.testing.assert_allclose(P.sum(1) @ F, 0, atol=1e-12)
    np.testing.assert_allclose(P.sum(0) @ G, 0, atol=1e-12)
    np.testing.assert_allclose(F.T @ (P.sum(1)[:, None] * F), identity, atol=1e-12)
    np.testing.assert_allclose(G.T @ (P.sum(0)[:, None] * G), identity, atol=1e-12)
    np.testing.assert_allclose(F.T @ P @ G, np.diag(d.correlations), atol=1e-12)


@given(tables())
def test_conditional_expectation_diagonalises(counts):
    d, P = full(counts)
    F, G = d.f(range(P.shape[0])), d.g(range(P.shape[1]))
    np.testing.assert_allclose((P / P.sum(0)).T @ F, G * d.correlations, atol=1e-12 / P.sum(0).min())
    np.testing.assert_allclose((P.T / P.sum(1)).T @ G, F * d.correlations, atol=1e-12 / P.sum(1).min())


@given(tables())
def test_lancaster_reconstruction_is_exact_at_full_rank(counts):
    d, P = full(counts)
    rows, columns = range(P.shape[0]), range(P.shape[1])
    expected = P / np.outer(P.sum(1), P.sum(0))
    ratio = d.density_ratio(rows, columns, pairwise=True)
    np.testing.assert_allclose(ratio, expected, rtol=1e-12, atol=1e-12 * expected.max())


@given(tables())
def test_pics_are_in_the_unit_interval_and_sum_to_chi2(counts):
    d, P = full(counts)
    expected = np.outer(P.sum(1), P.sum(0))
    assert ((d.pics >= 0) & (d.pics <= 1)).all()
    assert (np.diff(d.pics) <= 0).all()
    assert d.n_components == min(P.shape) - 1
    assert d.pics.sum() == pytest.approx(((P - expected) ** 2 / expected).sum(), abs=1e-12)
    assert d.chi2 == pytest.approx(d.pics.sum(), abs=1e-12)
    assert d.k_correlation(d.n_components) == pytest.approx(d.chi2, abs=1e-12)


@pytest.mark.slow
@given(tables(), st.data())
def test_mmse_formula_is_the_conditional_mean(counts, data):
    d, P = full(counts)
    h = np.array(data.draw(st.lists(st.floats(-10, 10), min_size=P.shape[1], max_size=P.shape[1])))
    direct = (P @ h) / P.sum(1)
    rows = range(P.shape[0])
    np.testing.assert_allclose(d.conditional_expectation(h, rows), direct, atol=1e-10)
    np.testing.assert_allclose(d.conditional_expectation(lambda y: h[y], rows), direct, atol=1e-10)
    np.testing.assert_allclose(d.conditional_expectation(dict(enumerate(h)), rows), direct, atol=1e-10)
    both = d.conditional_expectation(np.column_stack([h, 2 * h]), rows)
    np.testing.assert_allclose(both, np.column_stack([direct, 2 * direct]), atol=1e-10)


def test_truncate_keeps_the_leading_components_and_the_total():
    d = co.CA().fit(co.datasets.load_housetasks()).decomposition_
    short = d.truncate(1)
    assert short.pics == pytest.approx(d.pics[:1])
    assert short.f(["Repairs"]).shape == (1, 1)
    assert short.chi2 == d.chi2
    assert short.inertia_ratios[0] == pytest.approx(d.inertia_ratios[0])
    assert short.maximal_correlation == d.maximal_correlation == pytest.approx(np.sqrt(d.pics[0]))
    assert d.truncate(0).maximal_correlation == 0
    for k in (-1, 4):
        with pytest.raises(ValueError, match="from 0 to 3"):
            d.truncate(k)


def test_it_is_frozen():
    d = co.CA().fit(co.datasets.load_smoke()).decomposition_
    with pytest.raises(AttributeError):
        d.pics = None
    with pytest.raises(ValueError, match="read-only"):
        d.pics[0] = 1
    ca = co.CA().fit(co.datasets.load_smoke())
    for array in (ca.rows_.standard, ca.rows_.mass, d.f.values, d.g.mass):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_density_ratio_pairs_and_their_lengths():
    d = co.CA().fit(co.datasets.load_smoke()).decomposition_
    rows, columns = ["SM", "JE"], ["none", "heavy"]
    every = d.density_ratio(rows, columns, pairwise=True)
    np.testing.assert_allclose(d.density_ratio(rows, columns), np.diag(every))
    with pytest.raises(ValueError, match="pairwise=True"):
        d.density_ratio(rows, ["none"])


def test_repr_shows_what_matters():
    text = repr(co.CA().fit(co.datasets.load_smoke()).decomposition_)
    assert "3 components" in text
    assert "87.8" in text
    many = repr(co.CA().fit(np.eye(30) + 1).decomposition_)
    assert "..." in many


def test_anything_else_is_not_a_decomposition():
    with pytest.raises(TypeError, match="est must"):
        as_decomposition(co.CA())


# --- files


LABELS = [
    ["a", "ü", "", "</script>", "1"],
    [1, 2, 3, 4, 5],
    [0.5, 1.5, 2.5, 3.5, 4.5],
    [True, False],
    [("a", 1), ("b", 2), ("b", 3)],
    [datetime.date(2020, 1, 1), datetime.date(2021, 1, 1)],
    [datetime.datetime(2020, 1, 1, 12), datetime.datetime(2021, 1, 1)],
    [datetime.timedelta(1), datetime.timedelta(hours=5)],
    ["a", 1, 2.5],
    np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[D]"),
    np.array([1, 2, 3], dtype=np.uint8),
]


@pytest.mark.parametrize("labels", LABELS, ids=str)
def test_save_and_load_give_the_same_functions(labels, tmp_path, rng):
    x = list(labels) * 20
    y = rng.choice(["u", "v", "w"], len(x))
    d = co.CA().fit(x, y).decomposition_
    d.save(tmp_path / "model.safetensors")
    again = co.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(again.f(x), d.f(x))
    np.testing.assert_array_equal(again.g(y), d.g(y))
    np.testing.assert_array_equal(again.pics, d.pics)
    assert (again.chi2, again.n) == (d.chi2, d.n)
    h = np.arange(len(y))
    np.testing.assert_array_equal(again.conditional_expectation(h, x), d.conditional_expectation(h, x))


def test_labels_that_cannot_be_saved_leave_no_file(tmp_path):
    d = co.CA().fit([frozenset("a"), frozenset("b")], ["u", "v"]).decomposition_
    with pytest.raises(TypeError, match="cannot be saved"):
        d.save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "model.safetensors"
    co.CA().fit(co.datasets.load_smoke()).decomposition_.save(path)
    return path


def test_every_cut_and_every_changed_byte_is_noticed(saved):
    whole = saved.read_bytes()
    for cut in (0, 1, 7, 8, 100, len(whole) // 2, len(whole) - 1):
        saved.write_bytes(whole[:cut])
        with pytest.raises(ValueError, match=str(saved)):
            co.load(saved)
    for position in range(0, len(whole), 7):
        broken = bytearray(whole)
        broken[position] ^= 1
        saved.write_bytes(broken)
        with pytest.raises(ValueError, match=str(saved)):
            co.load(saved)


def test_foreign_and_missing_files(tmp_path):
    from safetensors.numpy import save_file

    with pytest.raises(FileNotFoundError, match="no file"):
        co.load(tmp_path / "none")
    save_file({"weight": np.ones(3)}, tmp_path / "other")
    with pytest.raises(ValueError, match="not written by this package"):
        co.load(tmp_path / "other")
    (tmp_path / "text").write_text("hello, this is no model at all")
    with pytest.raises(ValueError, match="damaged"):
        co.load(tmp_path / "text")


def test_a_file_of_another_version_says_so(saved, tmp_path, monkeypatch):
    monkeypatch.setattr("correspondence.core.decomposition.FILE_FORMAT_VERSION", 2)
    with pytest.raises(ValueError, match="version 1"):
        co.load(saved)


def test_save_replaces_only_when_complete(saved, monkeypatch):
    before = saved.read_bytes()

    def fail(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr("correspondence._util.files.to_bytes", fail)
    with pytest.raises(KeyboardInterrupt):
        co.CA().fit([[1, 2], [3, 4]]).decomposition_.save(saved)
    assert saved.read_bytes() == before
    assert [p.name for p in saved.parent.iterdir()] == [saved.name]


def test_save_into_nowhere(tmp_path):
    d = co.CA().fit([[1, 2], [3, 4]]).decomposition_
    with pytest.raises(FileNotFoundError, match="no folder"):
        d.save(tmp_path / "no" / "model")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        d.save(tmp_path)


def test_there_is_no_pickle_in_the_package():
    from pathlib import Path

    root = Path(co.__file__).parent
    users = {path.relative_to(root).parts[0] for path in root.rglob("*.py") if "import pickle" in path.read_text()}
    assert users == {"datasets"}  # CIFAR-10 is published so; what is no array is refused, see test_datasets.py
