"""How much of a classifier a plane preserves: its predictions, and who is near whom."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

import correspondence as co
from correspondence._util.user_warnings import CorrespondenceWarning
from correspondence.core.faithfulness import measure_kept_neighbours
from tests.browser import opened

rng = np.random.default_rng(0)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return co.ClassifierCA(LogisticRegression(C=0.001, max_iter=200).fit(X[::2], y[::2])).fit(X[1::2]), X[1::2]


def count_kept_neighbours(places, index, k):
    """Count, by sorting all distances, how many of the k nearest in the plane are among the k nearest of all."""
    whole, plane = (
        cdist(points, points) + np.diag(np.full(len(points), np.inf)) for points in (places, places[:, index])
    )
    nearest = [np.argsort(distances, axis=1)[:, :k] for distances in (whole, plane)]
    return np.mean([len(set(a) & set(b)) / k for a, b in zip(*nearest, strict=True)])


def test_neighbours_are_counted(digits):
    cca, X = digits
    places = cca.transform(X) * cca.correlations_
    for axes in ((1, 2), (2, 5), (3,)):
        counted = count_kept_neighbours(places, [axis - 1 for axis in axes], 10)
        assert cca.faithfulness(X, axes).neighbours == pytest.approx(counted, abs=1e-9)
    noise = rng.normal(size=(400, 6))
    places = np.column_stack([rng.normal(size=(400, 2)), 100 * noise])
    (share,), k = measure_kept_neighbours(places, [[0, 1]], 20)
    assert share == pytest.approx(k / 399, abs=0.02)  # a plane that has nothing to do with the rest


def test_predictions_are_read_back_from_the_axes(digits):
    cca, X = digits
    F = cca.transform(X)
    F[:, 2:] = 0
    told, truth = cca.beliefs_at(F).argmax(axis=1), cca.beliefs(X).argmax(axis=1)
    found = cca.faithfulness(X)
    assert found.predictions == pytest.approx(np.mean(told == truth))
    assert found.predictions_by_class[6] == pytest.approx(np.mean(told[truth == 6] == 6))
    assert np.array_equal(found.counts, np.bincount(truth, minlength=10))
    assert found.to_frame("polars")["predictions"].to_list() == found.predictions_by_class.tolist()
    assert "by chance 1 %" in repr(found)


def test_all_axes_preserve_everything(digits):
    cca, X = digits
    focused = cca.focus(X, [1, 8, 9])
    found = focused.faithfulness(X)
    assert (found.predictions, found.neighbours, found.n) == (1, 1, focused.find_members(X).sum())
    assert focused.faithfulness(X, (1,)).predictions < 0.9
    pair = cca.focus(X)
    assert pair.faithfulness(X).axes == (1,)
    assert pair.faithfulness(X).predictions == 1


def test_all_axes_are_those_of_the_beliefs_even_if_only_some_are_kept(digits):
    cca, X = digits
    P = cca.beliefs(X)
    cut = co.ClassifierCA.from_beliefs(P, n_components=2)
    found, whole = cut.faithfulness(P), cca.faithfulness(X)
    assert (found.predictions, found.neighbours) == pytest.approx((whole.predictions, whole.neighbours), abs=1e-3)
    assert "44 % of the 10 nearest" in read_caption(co.plot.plane(cut, X=P))


def test_equal_points_are_all_neighbours():
    """Saturated beliefs are the same for many inputs: which of them are listed as neighbours must not matter."""
    P = np.repeat(np.eye(4), 50, axis=0)
    found = co.ClassifierCA.from_beliefs(P).faithfulness(P, n_neighbors=10)
    assert found.n_neighbors == 10
    assert found.neighbours > 0.45  # axes 1 and 2 keep at least two of the four classes apart from the others
    assert co.ClassifierCA.from_beliefs(P[:, :] * 0.9 + 0.025).faithfulness(P, n_neighbors=10).predictions >= 0.5


def test_few_inputs_and_classes_never_predicted():
    P = np.array([[0.7, 0.2, 0.1, 0.0], [0.1, 0.8, 0.1, 0.0], [0.2, 0.2, 0.6, 0.0], [0.4, 0.3, 0.3, 0.0]])
    with pytest.warns(CorrespondenceWarning, match="never predicted"):
        cca = co.ClassifierCA.from_beliefs(P)
    found = cca.faithfulness(P)
    assert (found.n_neighbors, found.counts.tolist()) == (1, [2, 1, 1, 0])
    assert np.isnan(found.predictions_by_class[3])
    one = cca.faithfulness(P[:1])
    assert np.isnan(one.neighbours)
    assert "neighbours" not in repr(one)
    with pytest.raises(ValueError, match="axes must"):
        cca.faithfulness(P, (1, 9))
    with pytest.raises(ValueError, match="n_neighbors"):
        cca.faithfulness(P, n_neighbors=0)
    with pytest.raises(ValueError, match="X must have an input"):
        cca.focus(P, [0, 1]).faithfulness(P[2:3])


@pytest.mark.slow
def test_large_samples_are_drawn(digits):
    places = rng.normal(size=(5000, 3)) * [2, 1, 0.3]
    (share,), k = measure_kept_neighbours(places, [[0, 1]], 10)
    assert k == 10
    assert share == pytest.approx(count_kept_neighbours(places[:2000], [0, 1], 10), abs=0.03)


def read_caption(ax):
    (caption,) = (text.get_text() for text in ax.texts if text.get_gid() == "caption")
    return " ".join(caption.split())


def test_planes_say_how_faithful_they_are(digits):
    cca, X = digits
    found = cca.faithfulness(X, (2, 3))
    caption = read_caption(co.plot.plane(cca, (2, 3), X=X))
    assert f"{100 * found.predictions:.0f} % of the predictions" in caption
    assert f"{100 * found.neighbours:.0f} % of the 10 nearest neighbours" in caption
    focused = cca.focus(X, [1, 8, 9])
    assert "preserve" not in read_caption(co.plot.plane(focused, X=X))  # these are all its axes


@pytest.mark.slow
def test_a_page_says_how_faithful_its_axes_are(digits, tmp_path):
    cca, X = digits
    co.explore(cca.focus(X, [1, 3, 8, 9]), X, path=tmp_path / "group.html")
    focused = cca.focus(X, [1, 3, 8, 9])
    with opened(tmp_path / "group.html") as seen:
        for second in (2, 3):
            seen.page.select_option("#second", str(second - 1))
            note = seen.page.text_content("#note")
            found = focused.faithfulness(X, (1, second))
            assert f"Axes 1 and {second} preserve {100 * found.predictions:.0f} % of the predictions" in note
        assert f"Not drawn: {len(X) - found.n} of {len(X)} inputs" in note
        assert not seen.problems
