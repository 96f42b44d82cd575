"""The page of many columns: answers by variable, what goes with an answer, rows by what they answered, eta2."""

import numpy as np
import pandas as pd
import pytest
from browser import opened
from pages import Elements, data_of
from surveys import make_survey
from test_explore import HOSTILE

import correspondence as co
from correspondence.page.many_columns import list_eta2, write_column_sentences


@pytest.fixture(scope="module")
def mca():
    return co.MCA().fit(make_survey(), supplementary=["age", "sex"], supplementary_rows=[3, 5])


@pytest.fixture(scope="module")
def page(mca, tmp_path_factory):
    return co.explore(mca, path=tmp_path_factory.mktemp("page") / "survey.html")


@pytest.fixture(scope="module")
def data(page):
    return data_of(page)


def cloud_of(data, role):
    found = [(c, cloud) for c, cloud in enumerate(data["clouds"]) if cloud["role"] == role]
    return found[0]


def test_rows_answers_and_what_took_no_part_are_clouds(data):
    assert [(cloud["role"], cloud["n"]) for cloud in data["clouds"]] == [("x", 198), ("y", 7), ("ys", 2), ("xs", 2)]
    assert data["clouds"][0]["labels"] is None  # rows have no numbers for names
    assert data["clouds"][0]["faint"]
    assert data["clouds"][1]["texts"] == ["never", "seldom", "often", "coffee", "tea", "no", "yes"]
    assert data["clouds"][1]["labels"][-1] == "sugar: yes"
    assert data["joined"] == [[0, 1, 2]]
    assert data["classes"]["names"] == ["often", "drink", "sugar"]


def test_an_answer_has_its_count_share_contribution_and_cos2(mca, data):
    c, cloud = cloud_of(data, "y")
    kept, arrays = data["kept"], data["arrays"]
    names = [column["name"] for column in cloud["columns"]]
    assert names == ["variable", "answer", "rows"]
    tea = np.delete(make_survey()["drink"].to_numpy() == "tea", [3, 5])
    assert arrays[f"{c}.column.2"][4] == tea.sum()
    assert arrays[f"{c}.shares"][4] == pytest.approx(tea.mean(), rel=1e-3)
    for name in ("contributions", "cos2"):
        told = arrays[f"{c}.{name}"].reshape(-1, kept)
        np.testing.assert_allclose(told, getattr(mca.columns_, name)[:, :kept], rtol=1e-3, atol=1e-6)


def test_pairs_of_answers_are_counted_exactly(mca, data):
    frame = make_survey().drop([3, 5])
    tea, yes = frame["drink"] == "tea", frame["sugar"] == "yes"
    ratio = (tea & yes).mean() / (tea.mean() * yes.mean())
    assert data["arrays"]["pairs"].reshape(7, 7)[4, 6] == pytest.approx(ratio, rel=1e-3)


def test_the_table_has_eta2_of_all_columns(mca, page):
    listed = {row.column: row for row in list_eta2(mca)}
    assert listed["drink"].cells[0] == f"{mca.eta2_[1, 0]:.2f}"
    assert (listed["sex"].side, listed["age"].side, listed["often"].side) == (
        "supplementary",
        "supplementary",
        "active",
    )
    assert listed["age"].cells[0] == f"{mca.supplementary_numbers_.correlations[0, 0] ** 2:.2f}"
    text = Elements(page.html).text
    assert "eta2" in text
    assert "chi2" not in text
    assert f"{100 * mca.shares_[0]:.1f} % of the inertia" in text


@pytest.mark.parametrize("correction", ["burt", "adjusted", "joint"])
def test_every_convention_has_its_page(correction, tmp_path):
    mca = co.MCA(correction=correction).fit(make_survey()[["often", "drink", "sugar"]])
    data = data_of(co.explore(mca, path=tmp_path / "page.html"))
    c, cloud = cloud_of(data, "y")
    places = data["arrays"][f"{c}.places"].reshape(-1, data["kept"])
    np.testing.assert_allclose(places * cloud["correlations"], mca.columns_.principal, rtol=1e-3, atol=1e-5)
    x, rows = cloud_of(data, "x")
    places = data["arrays"][f"{x}.places"].reshape(-1, data["kept"])
    np.testing.assert_allclose(places * rows["correlations"], mca.rows_.principal, rtol=1e-3, atol=1e-5)
    assert correction in data["titles"][0].lower()


def test_other_rows_have_their_own_answers(mca, tmp_path):
    others = make_survey(seed=7).drop([0, 1])  # as many as in the fit
    data = data_of(co.explore(mca, others, path=tmp_path / "page.html"))
    column = data["clouds"][0]["columns"][1]
    assert column["name"] == "drink"
    own = [column["labels"][code] for code in data["arrays"]["0.column.1"]]
    assert own == others["drink"].tolist()


def test_many_rows_are_a_sample(tmp_path):
    mca = co.MCA(n_components=2).fit(make_survey(5000)[["often", "drink", "sugar"]])
    data = data_of(co.explore(mca, path=tmp_path / "page.html", max_points=300))
    assert data["clouds"][0]["n"] == 300


def test_numbers_only_have_a_page(tmp_path):
    rng = np.random.default_rng(0)
    mixed = co.MixedCA().fit(pd.DataFrame(rng.normal(size=(40, 3)) @ rng.normal(size=(3, 4)), columns=list("abcd")))
    data = data_of(co.explore(mixed, path=tmp_path / "page.html"))
    assert data["clouds"][1]["n"] == 0
    assert {number["name"] for number in data["numbers"]} == set("abcd")


@pytest.mark.slow
def test_a_smooth_number_has_a_path(tmp_path):
    rng = np.random.default_rng(1)
    x = rng.uniform(-1, 1, 300)
    frame = pd.DataFrame({"x": x, "u": np.where(x**2 > 0.3, "far", "near"), "y": x**2})
    data = data_of(co.explore(co.MixedCA(2, numeric="smooth").fit(frame), path=tmp_path / "page.html"))
    (number,) = [number for number in data["numbers"] if number["name"] == "x"]
    assert number["bins"] > 5
    assert number["bends"][0]


def group_columns():
    survey = co.datasets.load_poison().drop("Age", "Time", "Sick", "Sex")
    groups = {"symptoms": survey.columns[:5], "food": survey.columns[5:]}
    return co.MixedCA(2, groups=groups).fit(survey)


def test_the_page_has_where_groups_see_the_rows(tmp_path):
    mixed = group_columns()
    data = data_of(co.explore(mixed, path=tmp_path / "page.html"))
    assert [group["name"] for group in data["many"]["groups"]] == ["symptoms", "food"]
    places = data["arrays"]["groups.places"].reshape(2, 55, 2)
    expected = np.stack(list(mixed.partial_rows_.values())) / np.sqrt(mixed.inertias_)
    np.testing.assert_allclose(places, expected, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(places.mean(axis=0), mixed.rows_.standard, atol=1e-2)


@pytest.mark.slow
def test_a_browser_joins_a_row_to_where_groups_see_it(tmp_path):
    with opened(
        co.explore(group_columns(), path=tmp_path / "page.html"), viewport={"width": 1280, "height": 800}
    ) as seen:
        tab = seen.page
        tab.wait_for_selector("html[data-ready=yes]")
        tab.evaluate("explorer.choose(3)")
        views = tab.evaluate("explorer.model.groupViews(3, 0, 1, explorer.map).map(view => view.point)")
        row = tab.evaluate("Array.from(explorer.plane.xy.slice(6, 8))")
        np.testing.assert_allclose(np.mean(views, axis=0), row, atol=1e-2)
        assert "group" in tab.inner_text("body")
        assert seen.problems == []


@pytest.mark.parametrize("name", ["Y", "classes", "x_labels", "x_images", "marks", "index", "recorder"])
def test_what_many_columns_do_not_have_is_refused(mca, name, tmp_path):
    with pytest.raises(TypeError, match=f"{name} .* many columns"):
        co.explore(mca, path=tmp_path / "page.html", **{name: [1]})


@pytest.mark.slow
def test_a_browser_shows_answers_cards_and_colours(page):
    with opened(page, viewport={"width": 1280, "height": 800}) as seen:
        tab = seen.page
        tab.wait_for_selector("html[data-ready=yes]")
        tab.evaluate("explorer.choose(explorer.model.role('y').start + 4)")  # tea
        card = tab.inner_text("#card")
        for word in ("drink", "tea", "rows", "share", "contributes", "cos2", "more often", "chance"):
            assert word in card
        assert "coffee" not in tab.inner_text("#matches")  # nobody gives two answers to one question
        before = tab.evaluate("Array.from(explorer.plane.colours.slice(0, 3))")
        tab.select_option("#paint", label="drink")
        assert "coffee" in tab.inner_text("#painted")
        assert tab.evaluate("Array.from(explorer.plane.colours.slice(0, 3))") != before
        tab.select_option("#paint", "-1")
        assert tab.evaluate("Array.from(explorer.plane.colours.slice(0, 3))") == before
        tab.evaluate("explorer.choose(0)")  # a row lists what it answered
        assert {"often", "drink", "sugar"} <= set(tab.inner_text("#card").split())
        tab.select_option("#second", "-1")  # one axis
        assert tab.evaluate("explorer.plane.xy.every(Number.isFinite)")
        assert seen.problems == []
        assert len(seen.requests) == 1


@pytest.mark.slow
def test_a_phone_shows_the_page_without_a_wider_body(page):
    with opened(page, viewport={"width": 390, "height": 844}) as seen:
        seen.page.wait_for_selector("html[data-ready=yes]")
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= 390
        assert seen.problems == []


@pytest.mark.slow
def test_hostile_names_are_only_text(tmp_path):
    rng = np.random.default_rng(0)
    codes = rng.integers(len(HOSTILE), size=(len(HOSTILE), 200))
    frame = pd.DataFrame({f"{name}{j}": [HOSTILE[i] for i in codes[j]] for j, name in enumerate(HOSTILE)}, dtype=object)
    path = co.explore(co.MCA().fit(frame), path=tmp_path / "page.html", title=HOSTILE[0])
    with opened(path) as seen:
        seen.page.wait_for_selector("html[data-ready=yes]")
        seen.page.evaluate("explorer.choose(explorer.model.role('y').start)")
        seen.page.select_option("#paint", "0")
        assert seen.problems == []


def test_sentences_tell_what_holds_on_held_out_rows():
    frame = co.datasets.load_poison().drop("Age", "Time", "Sick", "Sex")
    _, first, second = write_column_sentences(co.MCA(n_components=2).fit(frame), [])
    assert "Abdominals (0.85)" in first
    assert "on held-out rows 0." in first
    assert "no column on held-out rows" in second
    few = co.MCA(n_components=2).fit(frame[:15].select("Nausea", "Vomiting", "Fever", "Mayonnaise"))
    assert not any("held-out" in sentence for sentence in write_column_sentences(few, []))
