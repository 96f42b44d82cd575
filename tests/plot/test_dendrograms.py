"""The picture of the tree of clusters."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

import correspondence as co
from correspondence.scene.groups import read_groups


def test_leaves_cut_and_gains():
    ca = co.CA(n_components=2).fit(co.datasets.load_housetasks())
    clusters = co.Clusters(3, n_resamples=0).fit(ca)
    ax = co.plot.dendrogram(clusters)
    names = [label.get_text() for label in ax.get_xticklabels()]
    assert sorted(names) == sorted(ca.rows_.labels)
    (cut,) = [line.get_ydata()[0] for line in ax.lines]
    heights = clusters.linkage_[:, 2]
    assert heights[-3] < cut < heights[-2]
    (inset,) = ax.child_axes
    np.testing.assert_allclose([bar.get_height() for bar in inset.patches], clusters.inertia_gains_[:12])
    drawn = {tuple(branch.get_colors()[0][:3]) for branch in ax.collections for _ in [0] if len(branch.get_colors())}
    palette = [plt.matplotlib.colors.to_rgb(colour) for colour in read_groups(clusters, 13).colours]
    assert set(palette) <= drawn
    plt.close("all")


def test_many_leaves_are_cut_off():
    X = np.random.default_rng(0).normal(size=(500, 2))
    est = co.MixedCA(n_components=2).fit(X)
    ax = co.plot.dendrogram(co.Clusters(4, n_resamples=0).fit(est), max_leaves=20, gains=False)
    names = [label.get_text() for label in ax.get_xticklabels()]
    assert len(names) == 20
    assert "brackets" in ax.get_xlabel()
    assert sum(int(name.strip("()")) if name.startswith("(") else 1 for name in names) == 500
    assert not ax.child_axes
    plt.close("all")


def test_wrong_input():
    with pytest.raises(TypeError, match="clusters must"):
        co.plot.dendrogram(co.Clusters())
    ca = co.CA(n_components=2).fit(co.datasets.load_housetasks())
    clusters = co.Clusters(3, n_resamples=0).fit(ca)
    for options, name in (({"max_leaves": 1}, "max_leaves"), ({"labels": ["a"]}, "labels"), ({"gains": 2}, "gains")):
        with pytest.raises(ValueError, match=name):
            co.plot.dendrogram(clusters, **options)
    plt.close("all")
