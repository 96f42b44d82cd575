"""Columns in a plane: categories, arrows and paths over a faint cloud of rows."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import PathCollection
from matplotlib.text import Annotation

import correspondence as co
from correspondence import plot


@pytest.fixture(scope="module")
def mixed():
    rng = np.random.default_rng(0)
    n = 600
    size, kind = rng.normal(size=n), rng.choice(["oak", "pine"], n)
    X = pd.DataFrame({"size": size, "noise": rng.normal(size=n), "kind": kind})
    Y = pd.DataFrame(
        {
            "price": size + 0.4 * rng.normal(size=n),
            "place": np.where(rng.random(n) < 0.95, np.char.add("near ", kind), "far"),
        }
    )
    return co.ACE(2).fit(X, Y), X, Y


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


def clouds(ax):
    return [c for c in ax.collections if isinstance(c, PathCollection)]


def written(ax):
    return [text.get_text() for text in ax.texts if text.get_text() and text.get_gid() != "caption"]


def caption(ax):
    return next((text.get_text() for text in ax.texts if text.get_gid() == "caption"), None)


def arrows(ax):
    """Tips of the arrows and paths."""
    return [text.xy for text in ax.texts if isinstance(text, Annotation) and text.arrow_patch is not None]


def test_categories_are_drawn_at_the_mean_of_their_rows(mixed):
    est, X, Y = mixed
    ax = plot.plane(est, X=X, Y=Y)
    assert {"oak", "pine", "near oak", "near pine"} <= set(written(ax))
    d = est.decomposition_
    f = d.f(X) * d.correlations
    expected = np.array([f[X["kind"] == kind, :2].mean(axis=0) for kind in ("oak", "pine")])
    drawn = np.asarray(clouds(ax)[2].get_offsets())
    assert sorted(map(tuple, drawn.round(9))) == sorted(map(tuple, expected.round(9)))


def test_rows_are_faint(mixed):
    est, X, Y = mixed
    rows, _, categories, _ = clouds(plot.plane(est, X=X, Y=Y))
    assert len(rows.get_offsets()) == len(X)
    assert rows.get_alpha() < 0.3 < categories.get_alpha()
    assert rows.get_sizes().max() < categories.get_sizes().min()


def test_rows_with_the_same_values_are_drawn_once(mixed):
    est, X, Y = mixed
    few = pd.concat([X[:50]] * 3)
    assert len(clouds(plot.plane(est, X=few, Y=Y))[0].get_offsets()) == 50


def test_an_arrow_ends_two_standard_deviations_above_the_mean(mixed):
    est, X, Y = mixed
    ax = plot.plane(est, X=X, Y=Y)
    assert "size" in written(ax)
    assert "noise" not in written(ax)
    d = est.decomposition_
    r = np.corrcoef(X["size"].rank(), d.f(X), rowvar=False)[0, 1:]
    tip = (2 * r * d.correlations)[:2]
    assert any(np.allclose(tip, at) for at in arrows(ax))


def test_a_number_that_bends_is_a_path(rng):
    X = pd.DataFrame({"dose": rng.normal(size=800), "age": rng.normal(size=800)})
    Y = pd.DataFrame({"a": X["dose"] ** 2 + 0.2 * rng.normal(size=800), "b": X["age"] + 0.2 * rng.normal(size=800)})
    est = co.ACE(2).fit(X, Y)
    ax = plot.plane(est, X=X, Y=Y)
    paths = [line for line in ax.lines if line.get_marker() == "."]
    assert len(paths) == 1
    d = est.decomposition_
    places = d.f(X) * d.correlations
    lowest = X["dose"] < np.quantile(X["dose"], 0.1)
    start = np.array([paths[0].get_xdata()[0], paths[0].get_ydata()[0]])
    np.testing.assert_allclose(start, places[lowest].mean(axis=0), atol=0.02)
    assert {"dose", "age", "a", "b"} <= set(written(ax))
    assert "paths" in caption(ax)
    assert "arrows" in caption(ax).lower()


def test_the_caption_counts_what_is_not_drawn(mixed):
    est, X, Y = mixed
    found = caption(plot.plane(est, X=X, Y=Y))
    assert "mean of their rows" in found
    assert "1 number" in found  # noise


def test_columns_may_be_switched_off_or_shown_without_names(mixed, rng):
    est, X, Y = mixed
    ax = plot.plane(est, X=X, Y=Y, variables=False)
    assert (written(ax), caption(ax), len(clouds(ax))) == ([], None, 2)
    Z = rng.normal(size=(300, 2))
    nameless = co.CCA(2).fit(Z, Z + rng.normal(size=(300, 2)))
    assert written(plot.plane(nameless, X=Z, Y=Z)) == []
    assert "column 1" in written(plot.plane(nameless, X=Z, Y=Z, variables=True))
    with pytest.raises(ValueError, match="columns must"):
        plot.plane(est, X=X, Y=Y, columns="all")


def test_labels_of_one_side(mixed):
    est, X, Y = mixed
    assert {"oak", "size"} <= set(written(plot.plane(est, X=X, Y=Y, labels="rows")))
    assert "near oak" not in written(plot.plane(est, X=X, Y=Y, labels="rows"))
    assert written(plot.plane(est, X=X, Y=Y, labels="none")) == []


def test_maps_scale_categories_and_arrows(mixed):
    est, X, Y = mixed
    d = est.decomposition_
    ax = plot.plane(est, X=X, Y=Y, map="rowprincipal", axes=(2, 1))
    shown = np.asarray(clouds(ax)[3].get_offsets())
    near = d.g(Y)[Y["place"] == "near oak"][:, [1, 0]].mean(axis=0)
    assert np.isclose(shown, near).all(axis=1).any()
    r = np.corrcoef(Y["price"].rank(), d.g(Y), rowvar=False)[0, 1:]
    assert any(np.allclose(2 * r[[1, 0]], at) for at in arrows(ax))


def test_one_axis_has_its_columns_on_a_line(mixed):
    _, X, Y = mixed
    est = co.ACE(1).fit(X, Y)
    ax = plot.plane(est, X=X, Y=Y)
    ax.figure.canvas.draw()
    assert not np.asarray(clouds(ax)[-1].get_offsets())[:, 1].any()
    assert all(tip[1] == 0 for tip in arrows(ax))


def test_many_rows_of_one_label_are_one_point(mixed):
    _, X, Y = mixed
    est = co.ACE(2).fit(X, Y["place"])
    ax = plot.plane(est, X=X, Y=Y["place"])
    assert len(clouds(ax)[1].get_offsets()) == 3
    assert sorted(set(written(ax)) - {"size", "noise", *X["kind"]}) == ["far", "near oak", "near pine"]


def test_missing_labels_and_numbers(rng):
    n = 400
    kind = rng.choice(["oak", "pine"], n).astype(object)
    kind[rng.random(n) < 0.3] = None
    X = pd.DataFrame({"kind": kind, "size": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n))})
    Y = pd.DataFrame(
        {"y": (X["kind"].isna() * 2.0) + X["size"].fillna(0) + 0.3 * rng.normal(size=n), "z": kind == "oak"}
    )
    ax = plot.plane(co.ACE(2).fit(X, Y), X=X, Y=Y)
    assert {"kind: (missing)", "size"} <= set(written(ax))


def test_hostile_names_are_text(rng):
    X = pd.DataFrame({"$x^2$": rng.normal(size=200), "a\nb": rng.choice(["$", r"$\frac{$"], 200)})
    Y = pd.DataFrame({"y": X["$x^2$"] + (X["a\nb"] == "$"), "_z": rng.normal(size=200)})
    ax = plot.plane(co.ACE(2).fit(X, Y), X=X, Y=Y)
    ax.figure.canvas.draw()
    assert not any(text.get_parse_math() for text in ax.texts if text.get_text() and text.get_gid() != "caption")
