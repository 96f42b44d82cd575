"""decompose(..., given=): the methods that suit, the test, and one clear sentence for what does not go."""

import numpy as np
import pandas as pd
import pytest

import correspondence as co

pytestmark = pytest.mark.filterwarnings("ignore::correspondence.UncertainInterval")


@pytest.fixture(scope="module")
def caused():
    rng = np.random.default_rng(0)
    z, a, b = rng.normal(size=(3, 500))
    return z + 0.7 * a, z**2 + 0.7 * b, z, a


def decompose(*arguments, **options):
    return co.decompose(*arguments, verbose=False, **options)


@pytest.mark.slow
def test_nothing_is_left_of_a_common_cause(caused):
    x, y, z, _ = caused
    assert "significant" in decompose(x, y).origin
    with pytest.warns(co.NothingFound):
        found = decompose(x, y, given=z)
    assert found.origin.startswith(("cca: of what is left given 1 column;", "ace: of what is left given 1 column;"))


@pytest.mark.slow
def test_what_is_left_is_found_and_evaluated(caused):
    x, y, z, a = caused
    frame = pd.DataFrame({"age": z, "town": np.resize(["p", "q", "r"], 500)})
    d = decompose(x, y + 0.7 * a, given=frame)
    assert "given age, town" in d.origin
    assert d.correlations[0] == pytest.approx(0.7, abs=0.1)
    assert d.evaluate(x, y + 0.7 * a, given=frame).correlations[0] == pytest.approx(0.7, abs=0.1)
    with pytest.raises(ValueError, match="given must hold"):
        d.f(x)


@pytest.mark.slow
def test_curves_take_ace(caused):
    _, _, z, a = caused
    d = decompose(z + a, z + a**2, given=z)
    assert d.origin.startswith("ace: ")
    assert decompose(z + a, z + a**2, method="cca", n_components=1, given=z).origin.startswith("cca: ")


@pytest.mark.slow
def test_groups_are_kept_together(caused):
    x, y, z, a = caused
    d = decompose(x, y + 0.7 * a, given=z, groups=np.arange(500) // 5)
    assert "1 component significant" in d.origin or "components significant" in d.origin


@pytest.mark.slow
def test_labels_merged_and_saved(caused, tmp_path):
    x, y, z, a = caused
    labels = np.where(x > 1, "high", np.where(x < -1, "low", "middle")).astype(object)
    labels[:4] = ["one", "two", "three", "four"]
    d = decompose(labels, y + 2 * a, given=z)
    assert "labels that occur fewer than 2 times are merged" in d.origin
    d.save(tmp_path / "model.safetensors")
    again = co.load(tmp_path / "model.safetensors")
    np.testing.assert_allclose(again.f(labels, given=z), d.f(labels, given=z))


@pytest.mark.slow
def test_missing_values_are_left_out_together(caused):
    x, y, z, a = caused
    gaps = z.copy()
    gaps[:50] = np.nan
    with pytest.warns(co.LeftOut, match="50 of 500 pairs"):
        assert decompose(x, y + a, given=gaps, missing="drop").n == 450
    assert decompose(x, y + a, given=gaps).n == 500


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "pice"}, "method must be auto, cca, ace if there are given"),
        ({"given": [1.0, 2.0]}, "given must have one row"),
        ({"given": np.zeros(500)}, "given has one value"),
    ],
)
def test_errors(caused, options, words):
    x, y, z, _ = caused
    with pytest.raises(ValueError, match=words):
        decompose(x, y, **{"given": z} | options)


def test_pictures_and_tables_are_refused(caused):
    _, y, z, _ = caused
    with pytest.raises(ValueError, match="X and Y must be tables"):
        decompose(np.random.default_rng(0).random((500, 1, 8, 8)), y, given=z)
    with pytest.raises(ValueError, match="Y is missing"):
        decompose(co.datasets.load_smoke(), given=z)
