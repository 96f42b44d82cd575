"""The triplot: sites, species, arrows of numbers and centroids of categories, at the scalings that scores has."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import PathCollection
from matplotlib.patches import Polygon
from matplotlib.text import Annotation

import correspondence as co
from correspondence import plot
from correspondence.scene.triplot import choose_arrow_factor, make_triplot


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def make_sites(n=24, seed=0):
    """Make counts of twelve species at sites whose water and use decide which species grow there."""
    rng = np.random.default_rng(seed)
    water, chalk = rng.uniform(0, 10, n), rng.normal(size=n)
    use = rng.choice(["grazed", "mown", "none"], n)
    centre = np.linspace(0, 10, 12)
    liking = -0.5 * (water[:, None] - centre) ** 2 / 6 + 0.8 * (use == "mown")[:, None] * np.sin(centre)
    counts = rng.poisson(12 * np.exp(liking) + 0.5)
    sites = [f"site {i}" for i in range(n)]
    table = pd.DataFrame(counts, index=sites, columns=[f"species {j}" for j in range(12)])
    level = pd.Categorical(
        np.where(chalk > 0.4, "high", np.where(chalk < -0.4, "low", "middle")), ["low", "middle", "high"], ordered=True
    )
    env = pd.DataFrame({"water": water, "chalk": chalk, "use": use, "level": level}, index=sites)
    return table, env


@pytest.fixture(scope="module")
def data():
    return make_sites()


@pytest.fixture(scope="module")
def ca(data):
    table, env = data
    return co.CA().fit(table, constraints=env[["water", "chalk", "use"]])


def clouds_of(ax):
    return {c.get_label(): np.asarray(c.get_offsets()) for c in ax.collections if isinstance(c, PathCollection)}


def written(ax):
    ax.figure.canvas.draw()
    texts = [text for text in ax.texts if isinstance(text, Annotation) and text.get_visible()]
    return [text for text in texts if text.get_text() and text.get_gid() != "caption"]


def caption_of(ax):
    return " ".join(text.get_text() for text in ax.texts if text.get_gid() == "caption").replace("\n", " ")


def tips_of(ax):
    """List the ends of arrows."""
    return np.array([text.xy for text in ax.texts if text.arrow_patch is not None and not text.get_text()])


def factor_of(ax):
    return float(caption_of(ax).split("biplot scores times ")[1].split(",")[0])


@pytest.mark.parametrize(("map", "scaling"), [(None, "species"), ("rowprincipal", "sites"), ("symbiplot", "symmetric")])
def test_everything_lies_where_scores_of_the_same_scaling_say(ca, map, scaling):
    ax = plot.plane(ca, map=map)
    drawn = clouds_of(ax)
    np.testing.assert_allclose(drawn["species"], ca.scores("species", scaling=scaling).values[:, :2], atol=1e-12)
    # Faint points are drawn in the order of their places.
    sites = ca.scores("wa", scaling=scaling).values[:, :2]
    np.testing.assert_allclose(drawn["sites"][:, 0], np.sort(sites[:, 0]), atol=1e-8)
    centroids = next(xy for name, xy in drawn.items() if name not in ("sites", "species"))
    np.testing.assert_allclose(centroids, ca.scores("cn", scaling=scaling).values[:, :2], atol=1e-12)
    numbers = ca.scores("bp", scaling=scaling).values[:2, :2]
    np.testing.assert_allclose(tips_of(ax), factor_of(ax) * numbers, atol=1e-12)
    assert f'scaling "{scaling}"' in caption_of(ax)


def test_sites_may_be_linear_combinations(ca):
    drawn = clouds_of(plot.plane(ca, sites="lc"))
    linear = ca.scores("lc").values[:, :2]
    np.testing.assert_allclose(drawn["sites"][:, 0], np.sort(linear[:, 0]), atol=1e-8)
    assert "linear combinations" in caption_of(plt.gca())


def test_axes_have_names_and_both_shares(ca):
    ax = plot.plane(ca, axes=("CCA1", "CA1"))
    partition = ca.partition_
    share, own = 100 * ca.pics_[0] / partition.total, 100 * ca.pics_[0] / partition.constrained
    assert ax.get_xlabel() == f"CCA1 ({share:.1f} % of inertia, {own:.1f} % of the constrained)"
    rest = ca.unconstrained_.pics
    share, own = 100 * rest[0] / partition.total, 100 * rest[0] / rest.sum()
    assert ax.get_ylabel() == f"CA1 ({share:.1f} % of inertia, {own:.1f} % of the unconstrained)"
    np.testing.assert_allclose(tips_of(ax)[:, 1], 0, atol=1e-12)
    assert "nothing about CA1" in caption_of(ax)
    n = len(ca.pics_)
    assert plot.plane(ca, axes=(1, n + 1)).get_ylabel() == ax.get_ylabel()


def test_one_number_as_constraint_has_the_first_free_axis_beside(data):
    table, env = data
    ca = co.CA().fit(table, constraints=env[["water"]])
    ax = plot.plane(ca)
    assert ax.get_xlabel().startswith("CCA1 (")
    assert ax.get_ylabel().startswith("CA1 (")
    (tip,) = tips_of(ax)
    assert abs(tip[0]) > 0.1
    assert tip[1] == pytest.approx(0)


@pytest.mark.slow
def test_names_overlap_neither_each_other_nor_arrows(ca):
    ax = plot.plane(ca)
    texts = written(ax)
    renderer = ax.figure.canvas.get_renderer()
    boxes = [text.get_window_extent(renderer) for text in texts]
    assert {"water", "chalk", "grazed", "mown"} <= {text.get_text() for text in texts}
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
    share = np.linspace(0, 1, 400)[:, None]
    for tip in tips_of(ax):
        for x, y in ax.transData.transform(share * tip):
            assert not any(box.shrunk(0.9, 0.6).contains(x, y) for box in boxes)


def test_categories_in_order_are_joined(data):
    table, env = data
    ca = co.CA().fit(table, constraints=env[["water", "level"]])
    ax = plot.plane(ca)
    (line,) = [line for line in ax.lines if line.get_gid() == "ordered"]
    np.testing.assert_allclose(line.get_xydata(), ca.scores("cn").values[:, :2])
    assert len(tips_of(ax)) == 1  # polynomials of the levels are no numbers
    assert "joined in their order" in caption_of(ax)


@pytest.mark.slow
def test_groups_colour_sites_and_name_a_category_once(data, ca):
    use = data[1]["use"]
    ax = plot.plane(ca, groups=use, hulls=True)
    assert sum(isinstance(patch, Polygon) for patch in ax.get_children()) == 6
    names = [text.get_text() for text in written(ax)]
    for category in ("grazed", "mown"):
        assert names.count(category) == 1
    assert "hulls" in caption_of(ax)


def test_conditions_are_told(data):
    table, env = data
    ca = co.CA().fit(table, constraints=env[["water"]], given=env[["use"]])
    assert "without what use explains" in caption_of(plot.plane(ca))
    only = co.CA().fit(table, given=env[["use"]])
    ax = plot.plane(only)
    assert ax.get_xlabel().startswith("CA1 (")
    assert not len(tips_of(ax))


@pytest.mark.slow
def test_constraints_and_names_may_be_left_out(ca):
    ax = plot.plane(ca, variables=False, names=("farms", "plants"), size="mass")
    assert not len(tips_of(ax))
    assert set(clouds_of(ax)) == {"farms", "plants"}
    assert "plants" in caption_of(ax)
    assert {text.get_text() for text in written(plot.plane(ca, labels="none"))} == set()
    assert "species 0" not in {text.get_text() for text in written(plot.plane(ca, labels="rows"))}


def test_sites_without_observations_and_many_sites_are_drawn(data):
    table, env = make_sites(150)
    table.iloc[3] = 0
    with pytest.warns(UserWarning, match="site 3"):
        ca = co.CA().fit(table, constraints=env[["water", "use"]])
    ax = plot.plane(ca)
    assert len(clouds_of(ax)["sites"]) == 149
    assert not any(text.get_text().startswith("site") for text in written(ax))


def test_a_line_of_one_axis(ca):
    ax = plot.plane(ca, axes=(1,))
    np.testing.assert_allclose(clouds_of(ax)["species"][:, 1], 0)


def test_scree_has_constrained_axes_apart(ca):
    ax = plot.scree(ca)
    names = [text.get_text() for text in ax.get_xticklabels()]
    n = len(ca.pics_)
    assert names == list(ca.scores().axes)[: len(names)]
    heights = [bar.get_height() for bar in ax.patches]
    np.testing.assert_allclose(heights[:n], ca.pics_)
    gaps = np.diff(ax.get_xticks())
    assert gaps[n - 1] > gaps[0]
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert f"{100 * ca.r2_:.1f} %" in legend[0]
    assert len(plot.scree(ca, n_components=2).patches) == 2


@pytest.mark.parametrize("side", ["rows", "columns"])
def test_contributions_of_both_sides(ca, side):
    ax = plot.contributions(ca, 1, side, most=3)
    points = getattr(ca, f"{side}_")
    largest = np.argsort(points.contributions[:, 0])[-3:]
    assert [text.get_text() for text in ax.get_yticklabels()] == points.labels[largest].tolist()
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], 100 * points.contributions[largest, 0])


def test_values_of_the_constraints_are_known_at_each_site(data, ca):
    values = make_triplot(ca).values
    np.testing.assert_allclose(values["water"], data[1]["water"])
    assert values["use"].tolist() == data[1]["use"].tolist()


def test_the_factor_of_arrows_has_two_digits_and_reaches_the_points():
    points, arrows = np.array([[3.0, 0.2], [-1.0, 1.0]]), np.array([[0.3, 0.0], [0.0, 0.17]])
    ones = np.ones(2)
    assert choose_arrow_factor(points, arrows, ones) == 4.4 < 0.75 * 1.0 / 0.17
    assert choose_arrow_factor(points, np.zeros((0, 2)), ones) == 1
    assert choose_arrow_factor(points, np.zeros((1, 2)), ones) == 1


def test_numbers_that_hardly_go_with_the_axes_have_short_arrows():
    """A correlation of 1 would reach 1.5 times as far as the points, whatever the scaling."""
    points, weak = np.array([[3.0, 0.2], [-1.0, 1.0]]), np.array([[0.05, 0.0]])
    assert choose_arrow_factor(points, weak, np.ones(2)) == 4.5
    assert choose_arrow_factor(points, 3 * weak, np.array([3.0, 3.0])) == 1.5


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"axes": ("CCA1", "CCA9")}, "axes .*CCA9"),
        ({"axes": (1, 99)}, "axes"),
        ({"axes": "CCA1"}, "axes"),
        ({"sites": "both"}, "sites"),
        ({"map": "vegan"}, "map"),
        ({"labels": "some"}, "labels"),
        ({"ellipses": "confidence"}, "ellipses"),
        ({"groups": ["a", "b"]}, "groups"),
    ],
)
def test_what_cannot_be_drawn_is_refused(ca, options, match):
    with pytest.raises(ValueError, match=match):
        plot.plane(ca, **options)


def test_what_belongs_to_other_pictures_is_refused(ca):
    for options in ({"X": [1]}, {"Y": [1]}, {"boundaries": True}, {"marks": (["a"], [1])}):
        with pytest.raises(TypeError, match=next(iter(options))):
            plot.plane(ca, **options)
    with pytest.raises(TypeError, match="sites"):
        plot.plane(co.CA().fit(co.datasets.load_smoke()), sites="lc")
