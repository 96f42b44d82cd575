"""Groups in a plane: colours, names at the means, ellipses and hulls, for analyses of every kind."""

import pickle
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import PathCollection
from matplotlib.colors import to_hex
from matplotlib.patches import Ellipse
from matplotlib.text import Annotation
from surveys import make_survey

import correspondence as co
from correspondence import plot
from correspondence.scene.groups import MISSING_COLOUR

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(90, 3)), columns=["a", "b", "c"])
KIND = np.array(["p", "q", "r"], object)[X.to_numpy().argmax(axis=1)]


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def survey():
    return make_survey()


@pytest.fixture(scope="module")
def mca(survey):
    return co.MCA().fit(survey, supplementary=["age", "sex"], supplementary_rows=[3, 5])


def shapes_of(ax, gid):
    return [patch for patch in ax.patches if patch.get_gid() == gid]


def written(ax):
    ax.figure.canvas.draw()
    return [
        t.get_text() for t in ax.texts if isinstance(t, Annotation) and t.get_visible() and t.get_gid() != "caption"
    ]


def caption_of(ax):
    return " ".join(text.get_text() for text in ax.texts if text.get_gid() == "caption").replace("\n", " ")


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def find_rows(ax):
    return next(c for c in ax.collections if isinstance(c, PathCollection))


def test_groups_of_survey_rows_have_colours_names_and_ellipses(survey, mca):
    ax = plot.plane(mca, groups=survey["sex"], ellipses="concentration")
    assert {"f", "m"} <= set(legend(ax))
    assert {"f", "m"} <= set(written(ax))
    kept = np.delete(survey["sex"].to_numpy(), [3, 5])  # the other rows took no part in the fit
    ellipses = shapes_of(ax, "ellipse")
    expected = [mca.rows_.principal[kept == sex, :2].mean(axis=0) for sex in ("f", "m")]
    np.testing.assert_allclose([ellipse.center for ellipse in ellipses], expected)
    assert len(np.unique(find_rows(ax).get_facecolor(), axis=0)) == 2
    assert "95 % of the members" in caption_of(ax)
    # As for any label in the picture, the reader sees whose answer it is.
    assert "sugar: yes" in written(ax)


def test_confidence_ellipses_are_smaller_and_grow_with_their_level(survey, mca):
    widths = [
        shapes_of(plot.plane(mca, groups=survey["sex"], ellipses=kind, level=level), "ellipse")[0].width
        for kind, level in (("confidence", 0.5), ("confidence", 0.95), ("concentration", 0.95))
    ]
    assert widths == sorted(widths)


def test_weights_of_the_fit_are_respected(survey):
    frame, weights = survey[["often", "drink", "sugar"]], np.arange(200) % 4
    groups = survey["sex"].to_numpy()
    weighted = co.MCA(n_components=2).fit(frame, sample_weight=weights)
    again = np.repeat(np.arange(200), weights)
    repeated = co.MCA(n_components=2).fit(frame.iloc[again])
    pairs = [
        shapes_of(plot.plane(est, groups=own, ellipses="confidence"), "ellipse")
        for est, own in ((weighted, groups), (repeated, groups[again]))
    ]
    for one, other in zip(*pairs, strict=True):
        np.testing.assert_allclose(one.center, other.center, atol=1e-9)
        np.testing.assert_allclose([one.width, one.height], [other.width, other.height])


@pytest.mark.parametrize("make", [lambda: co.CCA(2).fit(X, X + 1), lambda: co.ACE(2).fit(X, KIND)])
def test_groups_of_values_of_other_analyses(make):
    est = make()
    groups = np.where(X["b"] > 0, "high", "low")
    ax = plot.plane(
        est, X=X, Y=None if isinstance(est, co.ACE) else X, groups=groups, ellipses="confidence", hulls=True
    )
    assert len(shapes_of(ax, "ellipse")) == len(shapes_of(ax, "hull")) == 2
    assert {"high", "low"} <= set(written(ax)) & set(legend(ax))
    expected = (est.transform(X) * est.correlations_)[groups == "high", :2].mean(axis=0)
    np.testing.assert_allclose(shapes_of(ax, "ellipse")[0].center, expected)


def test_groups_that_are_the_labels_of_y_are_not_named_twice():
    ax = plot.plane(co.ACE(2).fit(X, KIND), X=X, groups=KIND, hulls=True, variables=False)
    assert sorted(written(ax)) == ["p", "q", "r"]
    assert len(shapes_of(ax, "hull")) == 3


def test_rows_of_a_table_count_by_their_masses():
    ca = co.CA().fit(co.datasets.load_smoke())
    groups = ["managers", "managers", "staff", "staff", "staff"]
    ax = plot.plane(ca, groups=groups, ellipses="confidence", hulls=True)
    mass, xy = ca.rows_.mass[2:], ca.rows_.principal[2:, :2]
    (ellipse,) = shapes_of(ax, "ellipse")
    np.testing.assert_allclose(ellipse.center, mass @ xy / mass.sum())
    assert "fewer than 3 members: managers" in caption_of(ax)
    assert len(shapes_of(ax, "hull")) == 2


def test_a_classifier_has_its_classes_as_groups():
    P = RNG.dirichlet(np.ones(3), 60)
    cca = co.ClassifierCA.from_beliefs(P, ["p", "q", "r"])
    ax = plot.plane(cca, X=P, ellipses="concentration")
    assert len(shapes_of(ax, "ellipse")) == 3
    own = plot.plane(cca, X=P, groups=["odd", "even"] * 30, ellipses="concentration")
    assert {"odd", "even"} <= set(written(own))


def test_missing_groups_are_grey_and_counted(survey, mca):
    groups = survey["sex"].where(np.arange(200) >= 20)
    ax = plot.plane(mca, groups=groups, hulls=0.9)
    assert "(missing): 18" in legend(ax)  # two of twenty took no part in the fit
    colours = [to_hex(colour) for colour in find_rows(ax).get_facecolor()]
    assert colours.count(MISSING_COLOUR) == 18
    assert len(shapes_of(ax, "hull")) == 2
    assert "18 without a group are grey" in caption_of(ax)
    assert "innermost 90 %" in caption_of(ax)


def test_clusters_are_groups(mca):
    clusters = SimpleNamespace(labels_=np.digitize(mca.rows_.principal[:, 0], [-0.5, 0.5]))
    ax = plot.plane(mca, groups=clusters, hulls=True)
    assert {"cluster 1", "cluster 2", "cluster 3"} <= set(written(ax)) & set(legend(ax))


def test_classes_colour_as_groups_do_but_name_no_mean(survey, mca):
    by_class, by_group = (plot.plane(mca, **{name: survey["sex"]}) for name in ("classes", "groups"))
    np.testing.assert_allclose(find_rows(by_class).get_facecolor(), find_rows(by_group).get_facecolor())
    assert "f" not in written(by_class)
    assert len(shapes_of(plot.plane(mca, classes=survey["sex"], hulls=True), "hull")) == 2
    with pytest.raises(ValueError, match=r"classes .* groups"):
        plot.plane(mca, classes=survey["sex"], groups=survey["sex"])


def test_ellipses_of_answers_are_drawn_as_before(survey, mca):
    ax = plot.plane(mca, groups=survey["sex"], ellipses=mca.bootstrap(20, random_state=0))
    assert len(shapes_of(ax, "ellipse")) == 0
    assert len([patch for patch in ax.patches if isinstance(patch, Ellipse)]) == 7


def test_new_rows_may_be_grouped(survey, mca):
    rows = survey.iloc[:30]
    ax = plot.plane(mca, X=rows, groups=rows["sex"], ellipses="concentration")
    expected = (mca.transform(rows) * mca.rows_.correlations)[(rows["sex"] == "f").to_numpy(), :2].mean(axis=0)
    np.testing.assert_allclose(shapes_of(ax, "ellipse")[0].center, expected)


def test_what_cannot_be_drawn_is_refused(survey, mca):
    for wrong in ({"ellipses": "mean"}, {"ellipses": "confidence", "groups": None}, {"hulls": "all"}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            plot.plane(mca, **({"groups": survey["sex"]} | wrong))
    with pytest.raises(ValueError, match=r"hulls .* plane"):
        plot.plane(mca, axes=(1,), groups=survey["sex"], hulls=True)
    with pytest.raises(ValueError, match="hulls"):
        plot.plane(co.CA().fit(co.datasets.load_smoke()), hulls=True)
    for est in (mca, co.CA().fit(co.datasets.load_smoke())):
        with pytest.raises(TypeError, match=r"ellipses .*confidence.*concentration.* True"):
            plot.plane(est, ellipses=True)
    with pytest.raises(ValueError, match=r"groups .* one label .* 198 .* 50"):
        plot.plane(mca, groups=survey["sex"][:50])
    assert "f" in written(plot.plane(mca, axes=(1,), groups=survey["sex"]))


@pytest.mark.parametrize("k", [3, 6, 15])
def test_legends_of_long_names_are_not_cut_off(mca, k):
    codes = np.arange(198) % k
    groups = np.array([f"a group with the number {i}" for i in range(k)], object)[codes]
    ax = plot.plane(mca, groups=groups)
    ax.figure.canvas.draw()
    box, whole = ax.get_legend().get_window_extent(), ax.figure.bbox
    assert box.x0 >= 0
    assert box.x1 <= whole.x1
    assert ax.bbox.width > 0.4 * whole.width


def test_answers_that_are_grey_are_not_said_to_be_coloured():
    frame = pd.DataFrame(RNG.integers(0, 2, (60, 21)).astype(str), columns=[f"q{j}" for j in range(21)])
    many = co.MCA().fit(frame)
    assert "colour for each variable" in caption_of(plot.plane(many))
    assert "colour for each variable" not in caption_of(plot.plane(many, groups=frame["q0"]))


def test_legends_read_from_left_to_right(mca):
    clusters = SimpleNamespace(labels_=np.arange(198) % 6)
    ax = plot.plane(mca, groups=clusters)
    ax.figure.canvas.draw()
    corners = [(text.get_window_extent(), text.get_text()) for text in ax.get_legend().get_texts()]
    read = [name for box, name in sorted(corners, key=lambda one: (-round(one[0].y0), one[0].x0))]
    own = [name for name in read if name.startswith("cluster")]
    assert len({round(box.y0) for box, _ in corners}) > 1
    assert own == [f"cluster {j + 1}" for j in range(6)]


@pytest.mark.slow
def test_an_ellipse_of_three_members_does_not_stretch_the_plane(mca):
    spread = SimpleNamespace(labels_=np.r_[np.full(3, 1), np.zeros(195, int)])
    for draw in (plot.plane, plot.multiples):
        limits = []
        for ellipses in (None, "confidence"):
            made = draw(mca, groups=spread, ellipses=ellipses)
            ax = made if draw is plot.plane else made.axes[0]
            ax.figure.canvas.draw()
            limits.append([*np.ptp([ax.get_xlim(), ax.get_ylim()], axis=1)])
        assert (np.array(limits[1]) < 2.5 * np.array(limits[0])).all()
        told = ax.texts if draw is plot.plane else ax.figure.texts
        caption = " ".join(text.get_text() for text in told if text.get_gid() == "caption").replace("\n", " ")
        assert "cut off: ellipse of cluster 2" in caption
    roomy = plot.plane(mca, groups=SimpleNamespace(labels_=np.arange(198) % 2), ellipses="concentration")
    assert "cut off" not in caption_of(roomy)


def test_names_of_few_groups_are_written_though_they_cover_points(mca):
    for k in (2, 8, 12):
        groups = np.array([f"people of the district {i}" for i in range(k)], object)
        ax = plot.plane(mca, groups=groups[np.arange(198) % k], ellipses="confidence")
        left = len(set(groups) - {name.replace("\n", " ") for name in written(ax)})
        assert left <= (0 if k < 12 else 3)  # all means are in the middle, and no name may cover another
        assert (f"{left} of {k} names of groups find no room" in caption_of(ax)) == (left > 0)


@pytest.mark.slow
def test_names_of_many_groups_that_find_no_room_are_counted(mca):
    groups = np.array([f"district {i + 1}" for i in range(40)], object)[np.arange(198) % 40]
    for est in (mca, co.CCA(2).fit(X, X + 1)):
        values = {} if est is mca else {"X": X, "Y": X}
        ax = plot.plane(est, groups=groups[: len(X) if values else None], **values)
        left = 40 - len(set(written(ax)) & set(groups))
        assert left > 0
        assert f"{left} of 40 names of groups find no room; plot.multiples" in caption_of(ax)
        assert pickle.loads(pickle.dumps(ax.figure)).axes


@pytest.mark.slow
def test_an_answer_at_the_mean_of_its_group_has_one_name():
    frame = X + 3 * (KIND[:, None] == np.array(["p", "q", "r"]))
    frame["kind"], frame["other"] = KIND, np.where(np.arange(90) % 2, "odd", "even")
    mix = co.MixedCA(2).fit(frame)
    kinds = [f"kind: {name}" for name in "pqr"] + ["p", "q", "r"]
    ax = plot.plane(mix, groups=frame["kind"])
    seen = [text for text in written(ax) if text in kinds]
    assert len(seen) == 3
    assert {"even", "odd"} <= set(written(ax))
    for style in ({"labels": "none"}, {"groups": np.char.add("group ", KIND.astype(str))}):
        seen = written(plot.plane(mix, **({"groups": frame["kind"]} | style)))
        assert len([text for text in seen if text[-1:] in "pqr"]) >= 3
