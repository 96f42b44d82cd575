"""What of a plane is drawn, named, sized and coloured, in all kinds of planes; figures for print."""

import re
import zlib

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import PathCollection
from matplotlib.patches import Ellipse

import correspondence as co
from correspondence import plot


@pytest.fixture(scope="module")
def ca():
    return co.CA().fit(co.datasets.load_housetasks())


@pytest.fixture(scope="module")
def mca():
    return co.MCA().fit(co.datasets.load_poison(), supplementary=["Age", "Time", "Sick", "Sex"])


@pytest.fixture(scope="module")
def constrained():
    counts, environment = co.datasets.load_dune()
    return co.CA().fit(counts, constraints=environment[["A1", "Management"]])


def clouds(ax):
    return [c for c in ax.collections if isinstance(c, PathCollection)]


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def labels_of(ax, draw=True):
    if draw:
        ax.figure.canvas.draw()
    return {t.get_text() for t in ax.texts if t.get_visible() and t.get_text() and t.get_gid() != "caption"}


def caption_of(ax):
    return " ".join(t.get_text() for t in ax.texts if t.get_gid() == "caption").replace("\n", " ")


# --- sides


def test_a_side_is_left_out_in_every_kind_of_plane(ca, mca, constrained):
    ax = plot.plane(ca, columns=False)
    assert labels_of(ax) == set(ca.rows_.labels)
    assert (legend(ax), len(clouds(ax))) == (["rows"], 1)
    response = co.CA(response="columns").fit(co.datasets.load_housetasks())
    ax = plot.plane(response, columns=False)
    assert labels_of(ax) == set(response.rows_.labels)
    assert not [t for t in ax.texts if getattr(t, "arrow_patch", None)], "no arrows of the response"
    assert labels_of(plot.plane(response, rows=False)) == set(response.columns_.labels)
    assert "rows" not in legend(plot.plane(mca, rows=False))
    assert legend(plot.plane(mca, columns=False)) == ["rows"]
    assert "sites" not in legend(plot.plane(constrained, rows=False))
    ax = plot.plane(constrained, columns=False)
    assert legend(ax)[:2] == ["sites", "categories"]
    assert "A1" in labels_of(ax), "constraints belong to no side"
    for est in (ca, mca, constrained, response):
        with pytest.raises(ValueError, match="rows and columns"):
            plot.plane(est, rows=False, columns=False)


def test_groups_keep_their_shapes_without_their_rows(mca):
    sick = co.datasets.load_poison()["Sick"]
    ax = plot.plane(mca, rows=False, groups=sick, ellipses="confidence")
    assert len([p for p in ax.get_children() if isinstance(p, Ellipse)]) == 4  # a fill and a line for each
    one = plot.plane(mca, groups=sick, ellipses="confidence", ellipses_of=["yes"])
    assert len([p for p in one.get_children() if isinstance(p, Ellipse)]) == 2
    with pytest.raises(ValueError, match=r"ellipses_of .*never"):
        plot.plane(mca, groups=sick, ellipses="confidence", ellipses_of=["never"])


def test_a_plain_answer_to_another_question_is_no_name_of_a_group(mca):
    ax = plot.plane(mca, groups=co.datasets.load_poison()["Sick"])
    named = {text.get_text() for text in ax.texts if text.get_gid() == "name of a group"}
    assert named == {"yes", "no"}


# --- labels


def test_labels_listed_are_written_alone(ca, mca, constrained):
    assert labels_of(plot.plane(ca, labels=["Wife", "Laundry"])) == {"Wife", "Laundry"}
    assert "not named" not in caption_of(plot.plane(ca, labels=["Wife"]))
    with pytest.raises(ValueError, match=r"labels .*Cooking"):
        plot.plane(ca, labels=["Wife", "Cooking"])
    with pytest.raises(ValueError, match=r"labels .*Wife"):
        plot.plane(ca, labels=["Wife"], columns=False)
    assert labels_of(plot.plane(mca, labels=["Fever:yes", "7"])) == {"Fever: yes", "7"}
    assert labels_of(plot.plane(constrained, labels=["A1", "Achimill"])) == {"A1", "Achimill"}


def test_a_number_of_labels_are_those_that_contribute_most(ca):
    points = [ca.rows_, ca.columns_]
    share = np.concatenate([p.mass * (p.principal[:, :2] ** 2).sum(axis=1) for p in points])
    names = np.concatenate([p.labels for p in points])
    assert labels_of(plot.plane(ca, labels=4)) == set(names[np.argsort(-share)[:4]])
    assert labels_of(plot.plane(ca, labels=0)) == set()
    assert labels_of(plot.plane(ca, labels="contribution", max_labels=4)) == set(names[np.argsort(-share)[:4]])
    cos2 = np.concatenate([p.cos2[:, :2].sum(axis=1) for p in points])
    ax = plot.plane(ca, labels="quality", max_labels=4)
    assert labels_of(ax) == set(names[np.argsort(-cos2)[:4]])
    assert "13 points with the least quality are not named" in caption_of(ax)
    for wrong in (True, -1, 1.5, None, {"Wife"}):
        with pytest.raises(ValueError, match="labels must be"):
            plot.plane(ca, labels=wrong)


def test_labels_out_of_view_are_not_counted_as_left_out(ca):
    ax = plot.plane(ca)
    ax.set_xlim(1, 2)
    ax.figure.canvas.draw()
    assert "left out" not in caption_of(ax)


# --- arrows, ellipses, sizes, colours


@pytest.mark.parametrize("map", [name for name in plot.MAPS if name != "symmetric"])
def test_projections_on_arrows_reproduce_the_cells(map):
    table = co.datasets.load_smoke()
    ca = co.CA(n_components=3).fit(table)
    ends = [
        np.array([t.xy for t in plot.plane(ca, axes, map, arrows="columns").texts if t.arrow_patch is not None])
        for axes in ((1, 2), (3, 1))
    ]
    rows = [np.asarray(clouds(plt.figure(number).axes[0])[0].get_offsets()) for number in plt.get_fignums()[-2:]]
    # All three axes: 1 and 2 of the first plane, 3 of the second.
    products = rows[0] @ ends[0].T + np.outer(rows[1][:, 0], ends[1][:, 0])
    P = np.asarray(table.counts.todense() if hasattr(table.counts, "todense") else table.counts, dtype=float)
    r, c = P.sum(axis=1) / P.sum(), P.sum(axis=0) / P.sum()
    excess = P / P.sum() / np.outer(r, c) - 1
    weights = {"rowgab": c, "colgab": r[:, None], "rowgreen": np.sqrt(c), "colgreen": np.sqrt(r)[:, None]}
    np.testing.assert_allclose(products, excess * weights.get(map, 1.0), atol=1e-9)


def test_arrows_are_read_as_the_map_allows(ca):
    assert "not a biplot" in caption_of(plot.plane(ca, arrows="both"))
    assert "projection" in caption_of(plot.plane(ca, map="symbiplot", arrows="rows"))
    with pytest.raises(ValueError, match="arrows must be"):
        plot.plane(ca, arrows=True)


def test_ellipses_of_chosen_points(ca):
    spread = ca.bootstrap(20, random_state=0)
    ax = plot.plane(ca, ellipses=spread, ellipses_of=["Wife", "Repairs"])
    centres = sorted(tuple(p.center) for p in ax.patches if isinstance(p, Ellipse))
    wanted = [ca.columns_.principal[ca.columns_.labels.tolist().index("Wife"), :2]]
    wanted.append(ca.rows_.principal[ca.rows_.labels.tolist().index("Repairs"), :2])
    np.testing.assert_allclose(centres, sorted(map(tuple, wanted)))
    with pytest.raises(ValueError, match=r"ellipses_of .*Cook"):
        plot.plane(ca, ellipses=spread, ellipses_of=["Cook"])
    with pytest.raises(ValueError, match=r"ellipses_of .*ellipses"):
        plot.plane(ca, ellipses_of=["Wife"])


def test_areas_are_proportional_to_contributions(ca, mca):
    rows, columns = clouds(plot.plane(ca, size="contribution"))
    for cloud, points in ((rows, ca.rows_), (columns, ca.columns_)):
        share = points.mass * (points.principal[:, :2] ** 2).sum(axis=1)
        area = cloud.get_sizes()
        np.testing.assert_allclose(area[area > 2.01] / area.max(), (share / share.max())[area > 2.01])
    sizes = np.concatenate([c.get_sizes() for c in clouds(plot.plane(mca, size="mass")) if c.get_label() in ("Fever",)])
    assert len(set(sizes.round(6))) == 2
    with pytest.raises(ValueError, match="size must be"):
        plot.plane(ca, size="cos2")


def test_colours_of_numbers_have_a_bar(ca, mca):
    ages = np.arange(13.0)
    ages[3] = np.nan
    ax = plot.plane(ca, colour=pd.Series(ages, name="age"))
    rows, columns = clouds(ax)
    brightness = rows.get_facecolor()[:, :3].sum(axis=1)[np.isfinite(ages)]
    assert (np.diff(brightness) > -0.05).all(), "from dark to light"
    assert len(columns.get_facecolor()) == 1
    assert ax.figure.axes[1].get_ylabel() == "age"
    assert "1 without a number are grey" in caption_of(ax)
    quality = plot.plane(ca, colour="quality")
    low, high = quality.figure.axes[1].get_ylim()
    cos2 = np.concatenate([p.cos2[:, :2].sum(axis=1) for p in (ca.rows_, ca.columns_)])
    np.testing.assert_allclose([low, high], [cos2.min(), cos2.max()])
    pair = clouds(plot.plane(ca, colour=(None, [1, 2, 3, 4])))
    assert [len(cloud.get_facecolor()) for cloud in pair] == [1, 4]
    assert len(clouds(plot.plane(mca, colour=co.datasets.load_poison()["Age"]))[0].get_facecolor()) == 55
    assert plot.plane(mca, colour="contribution").figure.axes[1].get_ylabel().startswith("contribution")
    for colour in ([1, 2], "age", ["a"] * 13):
        with pytest.raises(ValueError, match="colour must"):
            plot.plane(ca, colour=colour)
    with pytest.raises(ValueError, match=r"colour .*groups"):
        plot.plane(ca, colour=ages, groups=list("aaaabbbbccccc"))


# --- bars


def test_contributions_to_several_axes_count_by_inertia(ca):
    ax = plot.contributions(ca, (1, 2), "both", most=30)
    bars = {text.get_text(): bar.get_width() for text, bar in zip(ax.get_yticklabels(), ax.patches, strict=True)}
    for points in (ca.rows_, ca.columns_):
        share = 100 * points.contributions[:, :2] @ ca.pics_[:2] / ca.pics_[:2].sum()
        np.testing.assert_allclose([bars[label] for label in points.labels], share)
    assert [line.get_xdata()[0] for line in ax.lines] == pytest.approx([100 / 13, 100 / 4])


def test_quality_has_the_average(ca, mca):
    ax = plot.quality(ca, 2, "rows", most=5)
    cos2 = 100 * ca.rows_.cos2[:, 1]
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], np.sort(cos2)[-5:])
    assert ax.lines[0].get_xdata()[0] == pytest.approx(cos2.mean())
    assert "8 shorter bars" in caption_of(ax)
    assert max(bar.get_width() for bar in plot.quality(mca).patches) <= 100
    mixed = co.MixedCA(n_components=2).fit(co.datasets.load_poison())
    total = sum(bar.get_width() for bar in plot.contributions(mixed, (1, 2), most=99).patches)
    assert total == pytest.approx(100), "numbers and answers share the inertia"
    with pytest.raises(ValueError, match="axis must"):
        plot.quality(ca, (1, 1))


# --- figures for print


def test_a_figure_for_a_column_of_a_journal_has_text_as_text(ca, tmp_path):
    with plt.style.context("correspondence.plot.journal"):
        figure = plot.plane(ca).figure
        assert figure.get_size_inches()[0] == pytest.approx(3.4)
        figure.savefig(tmp_path / "a.svg")
        figure.savefig(tmp_path / "a.pdf")
        sizes = [text.get_fontsize() for text in figure.findobj(mpl.text.Text) if text.get_text()]
    assert 6 <= min(sizes) <= max(sizes) <= 8.5
    drawn = (tmp_path / "a.svg").read_text()
    assert ">Laundry</text>" in drawn
    content = (tmp_path / "a.pdf").read_bytes()
    assert b"/CIDFontType2" in content, "letters are those of a TrueType font"
    assert b"/Type3" not in content
    streams = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", content, re.DOTALL)
    page = zlib.decompress(streams[0])
    letters = b"".join(re.findall(rb"\((.*?)\)", page, re.DOTALL)).replace(b"\0", b"")
    assert b"Laundry" in letters
