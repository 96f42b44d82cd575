"""Associations of columns: a heatmap in an order with blocks, hollow where it may be chance, bars for a target."""

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb

import correspondence as co
from correspondence import plot
from correspondence.scene.associations import make_heatmap
from correspondence.scene.colours import ROWS

HOSTILE = "$x_1$ <b>\n_name"


def make_table(n=200, k=6, seed=0):
    """Make columns of two blocks."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, 2))
    return pd.DataFrame({f"q{j}": z[:, j % 2] + 0.5 * rng.normal(size=n) for j in range(k)}).assign(
        **{HOSTILE: rng.choice(["a", "b"], n)}
    )


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def a():
    return co.associations(make_table())


@pytest.fixture(scope="module")
def told():
    return co.associations(make_table(), target="q0")


def hollow_cells(ax):
    cells = [patch for patch in ax.patches if patch.get_gid() == "hollow"]
    return {tuple(round(v + patch.get_width() / 2) for v in patch.get_xy()[::-1]) for patch in cells}


def figures_of(ax):
    return {text.get_position()[::-1]: text.get_text() for text in ax.texts if text.get_gid() == "figure"}


def caption_of(ax):
    return " ".join(text.get_text() for text in ax.texts if text.get_gid() == "caption")


def test_cells_are_in_the_order_of_the_associations(a):
    ax = plot.associations(a)
    names = [text.get_text() for text in ax.get_yticklabels()]
    assert names == [text.get_text() for text in ax.get_xticklabels()]
    order = np.asarray(a.columns)[a.order].tolist()
    assert names == ["$x_1$ <b> _name" if name == HOSTILE else name for name in order]
    blocks = [int(name[1]) % 2 for name in names if name.startswith("q")]
    assert sum(one != other for one, other in itertools.pairwise(blocks)) == 1
    ax.figure.canvas.draw()


def test_pairs_that_may_be_chance_are_hollow_and_all_figures_are_written(a):
    ax = plot.associations(a)
    heatmap = make_heatmap(a, "correlations")
    chance = ~heatmap.found & ~np.eye(7, dtype=bool)
    assert 0 < chance.sum() < 42
    assert hollow_cells(ax) == {tuple(cell) for cell in np.argwhere(chance).tolist()}
    written = figures_of(ax)
    assert len(written) == 42
    i, j = np.argwhere(heatmap.found)[0]
    assert written[i, j] == f"{heatmap.figures[i, j]:.2f}".lstrip("0")
    (image,) = ax.images
    colours = np.asarray(image.get_array())[..., :3]
    np.testing.assert_allclose(colours[chance], 1)
    assert (colours[heatmap.found].sum(axis=-1) < 3).all()
    assert "5 %" in caption_of(ax)


def test_what_is_predicted_depends_on_the_direction(a):
    ax = plot.associations(a, "predicted")
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("predicted column", "known column")
    np.testing.assert_allclose(
        make_heatmap(a, "predicted").figures[0, 1], np.asarray(a.predicted)[a.order[0], a.order[1]]
    )
    assert plot.associations(a, "captured").figure.axes[1].get_ylabel().startswith("Captured")


@pytest.mark.slow
def test_more_columns_have_smaller_cells_and_at_last_few_names():
    middle = plot.associations(co.associations(make_table(k=29)))
    assert figures_of(middle) == {}
    assert len(middle.get_xticklabels()) == 30
    many = plot.associations(co.associations(make_table(n=100, k=99)))
    assert hollow_cells(many) == set()
    names = [text.get_text() for text in many.get_xticklabels()]
    assert 5 <= len(names) <= 20
    assert HOSTILE not in names
    assert f"{len(names)} of 100 columns" in caption_of(many)
    colours = np.asarray(many.images[0].get_array())[..., :3]
    assert colours.max() <= 1
    assert len(np.unique(colours.reshape(-1, 3), axis=0)) > 50


@pytest.mark.slow
def test_of_many_columns_those_of_the_strongest_pairs_are_named():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(100, 90)), columns=[f"q{j}" for j in range(90)])
    none = plot.associations(co.associations(frame))
    assert [*none.get_xticks()] == []
    assert "without the names of 90 columns" in caption_of(none)
    frame["q7"] = frame["q70"] + 0.1 * rng.normal(size=100)
    names = [text.get_text() for text in plot.associations(co.associations(frame)).get_yticklabels()]
    assert set(names) == {"q7", "q70"}


def test_a_target_has_bars_the_longest_above(told):
    ax = plot.associations(told)
    lengths = [bar.get_width() for bar in ax.patches]
    assert len(lengths) == 6
    assert lengths == sorted(lengths)
    found = np.asarray(told.found)[list(told.columns).index("q0")]
    filled = [bar for bar in ax.patches if bar.get_facecolor()[3] > 0]
    assert len(filled) == found.sum() - found[list(told.columns).index("q0")]
    assert all(bar.get_facecolor()[:3] == to_rgb(ROWS) for bar in filled)
    assert ax.get_yticklabels()[-1].get_text() in ("q2", "q4")
    assert ax.get_xlabel().endswith("with q0")
    few = plot.associations(told, max_bars=2)
    assert len(few.patches) == 2
    assert "4 shorter bars" in caption_of(few)


def test_both_directions_of_a_target_are_drawn(told):
    ax = plot.associations(told, "predicted")
    target = list(told.columns).index("q0")
    best = list(told.columns).index(ax.get_yticklabels()[-1].get_text())
    bar = next(patch for patch in ax.patches if patch.get_y() > 4)
    np.testing.assert_allclose(bar.get_width(), told.predicted[best, target])
    dots = next(line for line in ax.lines if len(line.get_xdata()) == 6)
    np.testing.assert_allclose(dots.get_xdata()[-1], told.predicted[target, best])
    assert len(ax.get_legend().get_texts()) == 2


def test_what_cannot_be_drawn_is_refused(a):
    with pytest.raises(TypeError, match=r"a must .* returned"):
        plot.associations(co.CA().fit(co.datasets.load_smoke()))
    with pytest.raises(ValueError, match="values"):
        plot.associations(a, "pvalues")
    with pytest.raises(TypeError, match="ax"):
        plot.associations(a, ax=3)
    with pytest.raises(ValueError, match="max_bars"):
        plot.associations(a, max_bars=0)
    own = plt.subplots()[1]
    assert plot.associations(a, ax=own) is own


@pytest.mark.slow
@pytest.mark.parametrize("target", [None, "q0"])
def test_the_title_says_what_is_given(target):
    frame = make_table()
    assert (
        plot.associations(co.associations(frame, target, given=["q1", HOSTILE]))
        .get_title(loc="left")
        .startswith("Given q1")
    )
    assert plot.associations(co.associations(frame, target)).get_title(loc="left") == ""
