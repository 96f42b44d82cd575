"""The tree of classes beside the heatmap of their overlaps."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

import correspondence as co
from correspondence._util.user_warnings import CorrespondenceWarning

rng = np.random.default_rng(0)


def make_similarity(k, n=400):
    P = rng.dirichlet(np.full(k, 0.15), size=n)
    P[:, 0] += P[:, 1] * rng.random(n)  # 0 and 1 go together
    return co.ClassifierCA.from_beliefs(P / P.sum(axis=1, keepdims=True), [f"class {i}" for i in range(k)])


def list_names(ticks):
    return [label.get_text() for label in ticks]


@pytest.mark.parametrize("k", [2, 10, pytest.param(100, marks=pytest.mark.slow)])
def test_tree_and_heatmap_have_one_order_and_nothing_is_cut(k):
    cca = make_similarity(k)
    similarity = cca.class_similarity()
    ax = co.plot.class_similarity(cca)
    figure, tree = ax.figure, ax.child_axes[0]
    figure.canvas.draw()
    names = similarity.classes[similarity.order].tolist()
    assert list_names(ax.get_yticklabels()) == list_names(ax.get_xticklabels()) == names
    # A leaf of the tree is as high as its row: SciPy has leaf i at 10 i + 5.
    for i in (0, k - 1):
        at_leaf = tree.transData.transform((0.5, 10 * i + 5))[1]
        assert at_leaf == pytest.approx(ax.transData.transform((0, i))[1], abs=0.5)
    lines = np.vstack([path.vertices for path in tree.collections[0].get_paths()])
    assert lines[:, 0].max() <= tree.get_xlim()[0]  # the root is in the picture
    room = figure.bbox
    for artist in [tree.xaxis.label, *ax.get_yticklabels(), *ax.get_xticklabels()]:
        box = artist.get_window_extent()
        assert box.x0 >= -1
        assert box.y0 >= -1
        assert box.x1 <= room.x1 + 1
    (note,) = (text.get_text() for text in ax.texts if text.get_gid() == "caption")
    assert f"{similarity.max_overlap / 2:.2g} or more" in note
    frames = [patch for patch in ax.patches if patch.get_gid() == "group"]
    assert len(frames) == len(similarity.find_groups())
    plt.close(figure)


def test_the_title_of_the_colours_fits_beside_two_classes_with_long_names():
    P = np.array([[0.6, 0.4], [0.1, 0.9], [0.7, 0.3]])
    figure = co.plot.class_similarity(co.ClassifierCA.from_beliefs(P, ["m" * 40, "n" * 40])).figure
    figure.canvas.draw()
    box = figure.axes[-1].yaxis.label.get_window_extent()
    assert figure.bbox.y0 <= box.y0 < box.y1 <= figure.bbox.y1
    assert box.x1 <= figure.bbox.x1
    plt.close(figure)


def test_cells_are_overlaps_and_frames_are_groups():
    similarity = make_similarity(6).class_similarity()
    ax = co.plot.class_similarity(similarity, min_overlap=0.99)
    assert not [patch for patch in ax.patches if patch.get_gid() == "group"]
    written = [text for text in ax.texts if text.get_gid() == "figure"]
    assert len(written) == 30
    order = similarity.order
    shown = {tuple(map(int, text.get_position())): text.get_text() for text in written}
    assert shown[(1, 0)] == f"{similarity.overlap[order[0], order[1]]:.2f}".lstrip("0")
    assert {text.get_gid() for text in ax.texts} == {"figure"}


def test_it_draws_on_axes_given_and_classes_never_predicted():
    P = np.array([[0.8, 0.2, 0.0], [0.3, 0.7, 0.0], [0.5, 0.5, 0.0]])
    with pytest.warns(CorrespondenceWarning, match="never predicted"):
        cca = co.ClassifierCA.from_beliefs(P, ["$a", "b_$", "never"])
    own = plt.figure().add_subplot()
    assert co.plot.class_similarity(cca, own) is own
    assert sorted(list_names(own.get_yticklabels())) == ["$a", "b_$", "never"]
    own.figure.canvas.draw()
    certain = co.ClassifierCA.from_beliefs(np.eye(3)[[0, 1, 2, 0]])
    co.plot.class_similarity(certain).figure.canvas.draw()
    with pytest.raises(TypeError, match="similarity must"):
        co.plot.class_similarity(P)
