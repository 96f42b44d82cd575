"""Groups on the page: their colours, and ellipses and hulls that are those of the picture, in a real browser."""

import base64
import gzip
import json
import re

import numpy as np
import pandas as pd
import pytest
from browser import opened
from surveys import make_survey
from test_explore import HOSTILE

import correspondence as co
from correspondence.scene.groups import MISSING_COLOUR, trace_groups

WIDE = {"viewport": {"width": 1300, "height": 900}}
RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 3))
GROUPS = np.array(["low", "middle", "high"], object)[np.digitize(X[:, 0], [-0.5, 0.5])]
SHAPES = """kind => {
    const select = document.querySelector("#shapes");
    select.value = kind;
    select.dispatchEvent(new Event("change"));
    return explorer.groupShapes();
}"""


def data_of(page):
    text = re.search(r'id="data">([^<]*)<', page.html).group(1)
    whole = gzip.decompress(base64.b64decode(text))
    return json.loads(whole[4 : 4 + int.from_bytes(whole[:4], "little")])


def survey_of(n=200):
    return make_survey(n)[["often", "drink", "sugar"]], make_survey(n)["sex"]


def test_groups_are_classes_of_the_points_of_x(tmp_path):
    groups = np.where(np.arange(80) < 5, None, GROUPS)
    path = co.explore(co.CCA(2).fit(X, X), X, X, tmp_path / "p.html", groups=groups)
    classes = data_of(path)["classes"]
    assert (classes["names"], classes["grouped"]) == (["high", "low", "middle"], True)
    assert "without a group" in path.html
    assert data_of(co.explore(co.CCA(2).fit(X, X), X, X, classes=GROUPS))["classes"]["grouped"] is False


def test_groups_of_survey_rows_are_a_column_of_their_own(tmp_path):
    frame, sex = survey_of()
    sex[::10] = None
    data = data_of(co.explore(co.MCA().fit(frame), path=tmp_path / "p.html", groups=sex))
    rows = data["clouds"][0]
    column = data["many"]["grouping"]["column"]
    assert rows["columns"][column] == {
        "name": "sex",
        "labels": ["f", "m", "(missing)"],
        "kind": "label",
        "beside": True,
    }
    assert data["many"]["grouping"]["colours"][-1] == MISSING_COLOUR
    assert data["classes"]["names"] == ["often", "drink", "sugar"]


def test_what_cannot_be_grouped_is_refused(tmp_path):
    frame, sex = survey_of()
    with pytest.raises(ValueError, match="groups"):
        co.explore(co.MCA().fit(frame), path=tmp_path / "p.html", groups=sex[:7])
    with pytest.raises(ValueError, match=r"classes .* groups"):
        co.explore(co.CCA(2).fit(X, X), X, X, tmp_path / "p.html", groups=GROUPS, classes=GROUPS)
    assert list(tmp_path.iterdir()) == []


def check_shapes(seen, xy, codes, n_groups, weights=None):
    """Compare what the page draws with what the pictures draw, on the screen's own coordinates."""
    for kind in ("confidence", "concentration"):
        shapes = seen.page.evaluate(SHAPES, kind)
        expected = trace_groups(xy, codes, n_groups, weights=weights, ellipses=kind)
        np.testing.assert_allclose([shape["mean"] for shape in shapes], expected.means, rtol=1e-3, atol=1e-3)
        lengths = np.array([shape["ellipse"]["lengths"] for shape in shapes])
        sides = np.column_stack([expected.ellipses.width, expected.ellipses.height]) / 2
        np.testing.assert_allclose(lengths, sides, rtol=2e-3)
        turned = np.degrees([shape["ellipse"]["angle"] for shape in shapes]) - expected.ellipses.angle
        assert np.abs((turned + 90) % 180 - 90).max() < 1
    hulls = [shape["hull"] for shape in seen.page.evaluate(SHAPES, "hull")]
    for own, other in zip(hulls, trace_groups(xy, codes, n_groups, hull_share=1).hulls, strict=True):
        assert {tuple(np.round(p, 2)) for p in own} == {tuple(np.round(p, 2)) for p in other}


@pytest.mark.slow
def test_the_page_draws_the_shapes_of_the_picture(tmp_path):
    cca = co.CCA(2).fit(X, X + RNG.normal(size=(80, 3)))
    path = co.explore(cca, X, X, tmp_path / "p.html", groups=GROUPS)
    codes = np.unique(GROUPS, return_inverse=True)[1]
    with opened(path, **WIDE) as seen:
        seen.page.wait_for_selector("html[data-ready=yes]")
        assert seen.page.input_value("#shapes") == "concentration"
        check_shapes(seen, cca.transform(X) * cca.correlations_, codes, 3)
        assert "Hulls" in seen.page.inner_text("#note")
        seen.page.locator("#classes .chip").nth(1).click()
        assert len(seen.page.evaluate(SHAPES, "hull")) == 2
        assert seen.page.evaluate(SHAPES, "") == []
    assert seen.problems == []


@pytest.mark.slow
def test_rows_of_a_survey_are_grouped_by_any_question_and_count_by_their_weights(tmp_path):
    frame, sex = survey_of()
    weights = np.arange(200) % 3
    mca = co.MCA(n_components=2).fit(frame, sample_weight=weights)
    path = co.explore(mca, path=tmp_path / "p.html", groups=sex)
    with opened(path, **WIDE) as seen:
        seen.page.wait_for_selector("html[data-ready=yes]")
        shown = seen.page.evaluate(SHAPES, "concentration")
        expected = trace_groups(
            mca.rows_.principal[:, :2],
            np.unique(sex, return_inverse=True)[1],
            2,
            weights=weights.astype(float),
            ellipses="concentration",
        )
        np.testing.assert_allclose([shape["mean"] for shape in shown], expected.means, atol=1e-3)
        lengths = [2 * shape["ellipse"]["lengths"][0] for shape in shown]
        np.testing.assert_allclose(lengths, expected.ellipses.width, rtol=2e-3)
        seen.page.select_option("#paint", label="drink")
        assert [shape["name"] for shape in seen.page.evaluate(SHAPES, "concentration")] == ["coffee", "tea"]
        seen.page.select_option("#paint", "-1")
        assert seen.page.evaluate(SHAPES, "concentration") == []
    assert seen.problems == []


@pytest.mark.slow
def test_small_hostile_and_missing_groups(tmp_path):
    groups = np.array([*HOSTILE * 4, None, "one"] + ["rest"] * 80, object)[:80]
    path = co.explore(co.CCA(2).fit(X, X), X, X, tmp_path / "p.html", groups=groups)
    with opened(path, **WIDE) as seen:
        seen.page.wait_for_selector("html[data-ready=yes]")
        assert "fewer than 3 members: one" in seen.page.inner_text("#note")
        assert len(seen.page.evaluate(SHAPES, "confidence")) == len(HOSTILE) + 2
    assert seen.problems == []


def list_columns(data):
    return [column["name"] for column in data["clouds"][0]["columns"]]


def test_a_question_that_is_the_groups_is_one_column():
    frame, _ = survey_of()
    frame.loc[::9, "drink"] = None
    mca = co.MCA().fit(frame)
    for groups in (frame["drink"], frame["drink"].to_numpy()):
        data = data_of(co.explore(mca, groups=groups))
        assert list_columns(data) == ["often", "sugar", "drink"]
        assert data["many"]["grouping"]["column"] == 2
    other = frame["drink"].where(np.arange(200) > 3, "tea")
    data = data_of(co.explore(mca, groups=other))
    assert list_columns(data) == ["often", "drink", "sugar", "drink"]


def test_answers_to_several_questions_carry_the_names_of_these(tmp_path):
    hands = [["Left", "Right", "Neither"][i] for i in RNG.integers(0, 3, 60)]
    frame = pd.DataFrame({"Clap": hands, "Fold": hands[::-1], "Sex": ["f", "m"] * 30})
    texts = data_of(co.explore(co.MCA().fit(frame), path=tmp_path / "p.html"))["clouds"][1]["texts"]
    assert {"Clap: Left", "Fold: Left", "f"} <= set(texts)
    assert len(set(texts)) == len(texts)


@pytest.mark.slow
def test_an_answer_that_is_a_group_has_one_name(tmp_path):
    kind = np.repeat(["Adelie", "Chinstrap", "Gentoo"], 30)
    frame = pd.DataFrame(RNG.normal(size=(90, 3)) + 3 * np.eye(3)[np.repeat(range(3), 30)], columns=list("abc"))
    frame["Species"] = kind
    path = co.explore(co.MixedCA(2).fit(frame), path=tmp_path / "p.html", groups=frame["Species"])
    with opened(path, **WIDE) as seen:
        seen.page.wait_for_selector("html[data-ready=yes]")
        assert seen.page.locator("#paint option", has_text="Species").count() == 1
        write = """() => {
            const texts = [], own = CanvasRenderingContext2D.prototype.fillText;
            CanvasRenderingContext2D.prototype.fillText = function (text, ...at) {
                texts.push([text, ...at].join());
                own.call(this, text, ...at);
            };
            explorer.plane.paint();
            CanvasRenderingContext2D.prototype.fillText = own;
            return [...new Set(texts)].map(text => text.split(",")[0]);  // some are written again over what covers them
        }"""
        texts = seen.page.evaluate(write)
        assert [texts.count(name) for name in np.unique(kind)] == [1, 1, 1]
        seen.page.select_option("#paint", "-1")
        assert [seen.page.evaluate(write).count(name) for name in np.unique(kind)] == [1, 1, 1]
    assert seen.problems == []


def test_clusters_and_descriptions_are_not_what_a_page_is_about(tmp_path):
    est = co.MCA(n_components=2).fit(co.datasets.load_poison()[:, 4:])
    with pytest.raises(TypeError, match=r"est.*groups=clusters"):
        co.explore(co.Clusters(3, n_resamples=0).fit(est), path=tmp_path / "page.html")
    with pytest.raises(TypeError, match=r"est.*to_frame\(\)"):
        co.explore(co.describe_axes(est), path=tmp_path / "page.html")
    with pytest.raises(TypeError, match=r"est.*Call fit"):
        co.explore(co.MCA(), path=tmp_path / "page.html")
