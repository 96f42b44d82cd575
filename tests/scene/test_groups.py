"""Groups of individuals: codes of labels and clusters, means, ellipses that hold what they claim, hulls."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import chi2

from correspondence.scene.groups import check_hulls, read_groups, scale_to_members, trace_groups

RNG = np.random.default_rng(0)


def is_inside(points, mean, ellipses, j=0):
    """Tell which points lie in an ellipse, by its lengths and angle."""
    angle = np.radians(ellipses.angle[j])
    turned = (points - mean) @ np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    return (turned / [ellipses.width[j] / 2, ellipses.height[j] / 2]) ** 2 @ [1, 1] <= 1


# --- which group


def test_labels_are_sorted_and_missing_ones_have_no_group():
    found = read_groups(pd.Series(["b", None, "a", "b"]), 4)
    assert found.names == ["a", "b"]
    assert found.codes.tolist() == [1, -1, 0, 1]
    assert found.n_missing == 1
    assert list(found.legend) == ["a", "b", "(missing): 1"]
    assert len(set(found.point_colours.tolist())) == 3


@pytest.mark.parametrize("gap", [[], [None]])
def test_ordered_categories_keep_their_order(gap):
    levels = ["low", "middle", "high"]
    groups = pl.Series(["high", "low", "middle", *gap], dtype=pl.Enum(levels))
    assert read_groups(groups, 3 + len(gap)).names == levels
    assert read_groups(groups.to_pandas(), 3 + len(gap)).names == levels


def test_many_numbers_become_ranges_and_few_whole_ones_stay_whole():
    found = read_groups(RNG.normal(size=200), 200)
    assert len(found.names) == 7
    assert np.bincount(found.codes).min() >= 28
    assert read_groups([1, 2, None, 2], 4).names == ["1", "2"]
    assert read_groups(np.array([0.5, np.nan, 1.5]), 3).codes.tolist() == [0, -1, 1]
    assert read_groups([True, False], 2).names == ["False", "True"]


def test_labels_that_read_alike_have_names_that_differ():
    assert read_groups([1, "1", "2"], 3).names == ["1", "'1'", "'2'"]


def test_clusters_are_counted_from_one_in_their_order():
    clusters = SimpleNamespace(labels_=np.arange(12))
    assert read_groups(clusters, 12).names == [f"cluster {i}" for i in range(1, 13)]


def test_groups_of_all_rows_are_reduced_to_those_of_the_fit():
    est = SimpleNamespace(_row_positions=np.array([0, 2]), _n_rows_given=3)
    assert read_groups(["a", "b", "c"], 2, est).codes.tolist() == [0, 2]
    with pytest.raises(ValueError, match=r"groups .* 2"):
        read_groups(["a", "b", "c", "d"], 2, est)


def test_known_classes_keep_their_colours():
    est = SimpleNamespace(classes_=np.array(["a", "b", "c"], object))
    assert read_groups(["c", "b"], 2, est).colours == read_groups(["a", "b", "c"], 3, est).colours[1:]


def test_what_is_no_column_of_groups_is_refused():
    with pytest.raises(TypeError, match=r"groups .* text"):
        read_groups("sex", 3)
    with pytest.raises(ValueError, match="groups"):
        read_groups(np.array([["a", "b"]]), 2)
    with pytest.raises(ValueError, match=r"groups .* fit"):
        read_groups(SimpleNamespace(get_params=dict), 2)
    with pytest.raises(ValueError, match=r"groups .* different"):
        read_groups([f"id {i}" for i in range(600)], 600)


# --- means and ellipses


@given(arrays(float, (12, 2), elements=st.floats(-10, 10)), st.lists(st.integers(-1, 2), min_size=12, max_size=12))
def test_whole_weights_are_repetitions(xy, codes):
    codes, times = np.array(codes), np.arange(12) % 3
    again = np.repeat(np.arange(12), times)
    weighted = trace_groups(xy, codes, 3, weights=times, ellipses="confidence")
    repeated = trace_groups(xy[again], codes[again], 3, ellipses="confidence")
    np.testing.assert_allclose(weighted.means, repeated.means)
    both = (weighted.n_members >= 3) & (repeated.n_members >= 3)
    for name in ("width", "height"):
        a, b = (getattr(shapes.ellipses, name)[both] for shapes in (weighted, repeated))
        np.testing.assert_allclose(a, b, atol=1e-6)


def test_an_ellipse_of_a_mean_is_hotellings_and_of_members_that_of_a_normal():
    xy = RNG.normal(size=(7, 2)) @ [[2, 1], [0, 0.5]]
    codes = np.zeros(7, int)
    mean, S = xy.mean(axis=0), np.cov(xy.T)
    lengths = np.sqrt(np.linalg.eigvalsh(S)[::-1])
    members = trace_groups(xy, codes, 1, ellipses="concentration", level=0.9).ellipses
    np.testing.assert_allclose([members.width[0], members.height[0]], 2 * lengths * np.sqrt(chi2.ppf(0.9, 2)))
    shapes = trace_groups(xy, codes, 1, ellipses="confidence", level=0.9)
    np.testing.assert_allclose(shapes.means[0], mean)
    # P(F(2, m) <= q) = 1 - (1 + 2 q / m)^(-m / 2), with m = 5
    quantile = 5 / 2 * (0.1 ** (-2 / 5) - 1)
    expected = 2 * lengths * np.sqrt(2 * 6 / 5 * quantile / 7)
    np.testing.assert_allclose([shapes.ellipses.width[0], shapes.ellipses.height[0]], expected)


@pytest.mark.parametrize("n", [4, 30])
def test_ellipses_of_means_hold_the_mean_as_often_as_they_claim(n):
    k = 1500
    xy = RNG.normal(size=(k * n, 2)) @ [[1, 0.7], [0, 2]]
    shapes = trace_groups(xy, np.repeat(np.arange(k), n), k, ellipses="confidence")
    held = [is_inside(np.zeros(2), shapes.means[j], shapes.ellipses, j) for j in range(k)]
    assert abs(np.mean(held) - 0.95) < 0.02


def test_ellipses_of_members_hold_their_share():
    xy = RNG.normal(size=(4000, 2)) @ [[1, 0.7], [0, 2]]
    shapes = trace_groups(xy, np.zeros(4000, int), 1, ellipses="concentration", level=0.8)
    assert abs(is_inside(xy, shapes.means[0], shapes.ellipses).mean() - 0.8) < 0.02


def test_small_and_empty_groups_have_no_ellipse():
    xy = RNG.normal(size=(6, 2))
    shapes = trace_groups(xy, np.array([0, 1, 1, 3, 3, 3]), 4, ellipses="confidence", hull_share=1)
    assert shapes.n_members.tolist() == [1, 2, 0, 3]
    assert np.isfinite(shapes.ellipses.width).tolist() == [False, False, False, True]
    assert np.isnan(shapes.means[2]).all()
    assert [len(hull) for hull in shapes.hulls] == [0, 2, 0, 3]


def test_points_of_weight_zero_are_no_members():
    xy = RNG.normal(size=(5, 2))
    shapes = trace_groups(xy, np.zeros(5, int), 1, weights=np.array([1, 1, 0, 1, 0]), hull_share=1)
    assert shapes.n_members.tolist() == [3]
    np.testing.assert_allclose(shapes.means[0], xy[[0, 1, 3]].mean(axis=0))


@given(arrays(float, 8, elements=st.floats(0.01, 10)), st.floats(0.001, 1000))
def test_masses_count_as_equally_heavy_members_whatever_their_unit(mass, unit):
    codes = np.array([0, 0, 0, 1, 1, 1, 1, -1])
    sums = np.bincount(codes[:7], scale_to_members(mass, codes)[:7])
    np.testing.assert_allclose(sums, np.bincount(codes[:7], scale_to_members(unit * mass, codes)[:7]))
    assert (sums <= [3 + 1e-9, 4 + 1e-9]).all()
    np.testing.assert_allclose(scale_to_members(np.full(8, unit), codes)[:7], 1)


# --- hulls


@given(arrays(float, (9, 2), elements=st.integers(-5, 5).map(float)), st.sampled_from([0.3, 0.8, 1.0]))
def test_hulls_are_made_of_members_and_hold_them(xy, share):
    (hull,) = trace_groups(xy, np.zeros(9, int), 1, hull_share=share).hulls
    assert {tuple(corner) for corner in hull.tolist()} <= {tuple(point) for point in xy.tolist()}
    if share == 1 and len(hull) > 2:
        edges = np.roll(hull, -1, axis=0) - hull
        for corner, (dx, dy) in zip(hull, edges, strict=True):  # all lie to the left of each edge
            assert (dx * (xy[:, 1] - corner[1]) - dy * (xy[:, 0] - corner[0]) >= -1e-9).all()


def test_a_share_leaves_the_outermost_out():
    xy = np.vstack([RNG.normal(size=(19, 2)), [[50, 50]]])
    (hull,) = trace_groups(xy, np.zeros(20, int), 1, hull_share=0.95).hulls
    assert hull.max() < 10


def test_shapes_are_checked():
    assert [check_hulls(value) for value in (True, False, 0.5)] == [1, 0, 0.5]
    for value in (0, 2, "yes", None):
        with pytest.raises(ValueError, match="hulls"):
            check_hulls(value)
    with pytest.raises(ValueError, match="level"):
        trace_groups(np.zeros((3, 2)), np.zeros(3, int), 1, level=1)
