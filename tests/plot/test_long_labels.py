"""Labels that are long or asked for by number, groups with long names, small ellipses, narrow figures of bars."""

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Annotation

import correspondence as co
from correspondence import plot

SPECIES = ["Adelie Penguin (Pygoscelis adeliae)", "Gentoo penguin (Pygoscelis papua)", "Chinstrap (P. antarctica)"]


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def birds():
    rng = np.random.default_rng(0)
    kind = np.repeat([0, 1, 2], 60)
    centres = np.array([[0, 0, 0], [4, 1, 3], [1, 4, -2.0]])
    numbers = pd.DataFrame(centres[kind] + rng.normal(size=(180, 3)), columns=["Bill length (mm)", "Mass (g)", "Wing"])
    sexes = rng.choice(["female", "male", "unknown"], 180, p=[0.45, 0.5, 0.05])
    return numbers.assign(Species=np.array(SPECIES)[kind], Sex=sexes)


@pytest.fixture(scope="module")
def mixed(birds):
    return co.MixedCA(n_components=3).fit(birds)


@pytest.fixture
def journal():
    with plt.style.context("correspondence.plot.journal"):
        yield


def shown_labels(ax):
    ax.figure.canvas.draw()
    own = [text for text in ax.texts if isinstance(text, Annotation) and text.get_gid() != "caption"]
    return [text for text in own if text.get_visible() and text.get_text()]


def caption_of(ax):
    return " ".join(t.get_text() for t in ax.texts if t.get_gid() == "caption").replace("\n", " ")


def test_a_number_of_labels_counts_arrows_too_but_not_the_names_of_groups(mixed, birds, journal):
    ax = plot.plane(mixed, rows=False, labels=4)
    share = dict(zip(mixed.columns_.labels, mixed.columns_.contributions[:, :2] @ mixed.inertias_[:2], strict=True))
    share |= dict(zip(mixed.numbers_.labels, mixed.numbers_.contributions[:, :2] @ mixed.inertias_[:2], strict=True))
    most = sorted(share, key=share.get)[-4:]
    written = {text.get_text().replace("\n", " ").rstrip("…") for text in shown_labels(ax)}
    assert len(written) == 4
    assert all(any(label.split(":")[-1].startswith(own) for label in most) for own in written)
    assert "left out" not in caption_of(ax)
    ax = plot.plane(mixed, labels=0, groups=birds["Species"], rows=True)
    assert len(shown_labels(ax)) == 3


def test_long_names_are_broken_into_lines_before_they_are_dropped(mixed, birds, journal):
    ax = plot.plane(mixed, groups=birds["Species"], ellipses="concentration")
    names = [text for text in shown_labels(ax) if text.get_gid() == "name of a group"]
    assert len(names) == 3
    assert all("\n" in text.get_text() for text in names)
    assert all(text.get_window_extent().width < 0.6 * ax.bbox.width for text in names)


def test_captions_lie_within_the_figure_even_if_no_name_of_a_group_finds_room(mixed, birds, journal):
    groups = np.arange(len(birds)) % 14
    ax = plot.plane(mixed, groups=[f"the group with the long name {i}" for i in groups], labels="none")
    ax.figure.canvas.draw()
    (caption,) = (text for text in ax.texts if text.get_gid() == "caption")
    assert "names of groups find no room" in caption_of(ax)
    assert caption.get_window_extent().y0 >= 0


def test_ellipses_smaller_than_their_marks_are_counted():
    ca = co.CA().fit(10_000_000 * np.array([[8, 2, 1], [1, 9, 2], [2, 1, 7]]))
    ax = plot.plane(ca, ellipses=ca.bootstrap(20, random_state=0))
    ax.figure.canvas.draw()
    assert "6 of 6 ellipses are smaller than their marks" in caption_of(ax)
    small = co.CA().fit(co.datasets.load_smoke())
    assert "smaller" not in caption_of(plot.plane(small, ellipses=small.bootstrap(20, random_state=0)))


def test_labels_are_found_as_planes_write_them_and_the_nearest_is_suggested(mixed, birds):
    ax = plot.plane(mixed, labels=["Sex: male"], rows=False)
    assert [text.get_text() for text in shown_labels(ax)] == ["male"]
    with pytest.raises(ValueError, match=r"labels .*femal.*female\?"):
        plot.plane(mixed, labels=["femal"])


def test_bars_in_a_narrow_figure_break_their_labels(mixed, journal):
    ax = plot.quality(mixed, (1, 2), side="both")
    ax.figure.canvas.draw()
    assert ax.bbox.width > 0.4 * ax.figure.bbox.width
    assert "Species:Gentoo penguin\n(Pygoscelis papua)" in [text.get_text() for text in ax.get_yticklabels()]
    box = ax.get_tightbbox()
    assert box.x0 >= -1
    assert box.x1 <= ax.figure.bbox.width + 1


def test_multiples_have_the_width_and_letters_of_the_style(mixed, birds, journal):
    figure = plot.multiples(mixed, birds["Species"])
    assert figure.get_size_inches()[0] == pytest.approx(3.4)
    assert all(ax.title.get_fontsize() == pytest.approx(8) for ax in figure.axes)
    figure.canvas.draw()
    assert all(ax.title.get_window_extent().width < 1.1 * ax.bbox.width for ax in figure.axes)
    mpl.rcParams["figure.figsize"] = (7.0, 5.0)
    figure = plot.multiples(mixed, np.arange(len(birds)) % 2, ellipses="confidence", level=0.001)
    assert "2 of 2 ellipses are smaller" in " ".join(text.get_text() for text in figure.texts)
    assert plot.multiples(mixed, np.arange(len(birds)) % 12).get_size_inches()[0] == pytest.approx(7.0)


def test_supplementary_answers_that_are_groups_are_named_once(birds):
    est = co.MixedCA(n_components=2).fit(birds, supplementary=["Species"])
    texts = [text.get_text().replace("\n", " ") for text in shown_labels(plot.plane(est, groups=birds["Species"]))]
    assert [sum(name[:20] in text for text in texts) for name in SPECIES] == [1, 1, 1]
