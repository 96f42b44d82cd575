"""Colours, filters, selections and comparisons by columns of the data, in a real browser."""

import numpy as np
import pandas as pd
import pytest
from browser import opened
from surveys import make_survey
from test_explore import HOSTILE
from test_explore_groups import data_of

import correspondence as co

READY = "document.documentElement.dataset.ready === 'yes'"
WIDE = {"viewport": {"width": 1400, "height": 900}}
KEY = "name => explorer.model.fields.find(field => field.name === name).key"
SHOWN = "Array.from({length: explorer.model.role('x').n}, (_, j) => j).filter(j => explorer.plane.isShown(j))"


def tea(n=400):
    rng = np.random.default_rng(0)
    frame = make_survey(n)[["often", "drink", "sugar", "sex"]].astype(object)
    frame["age"] = rng.normal(40, 12, n).round(1)
    frame["when"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(n), "D")
    frame["town"] = [f"town {k}" for k in rng.geometric(0.05, n)]
    frame["member"] = rng.random(n) < 0.3
    frame.loc[:8, ["age", "sex"]] = np.nan
    return frame


@pytest.fixture(scope="module")
def survey(tmp_path_factory):
    frame = tea()
    mca = co.MCA().fit(frame[["often", "drink", "sugar"]])
    folder = tmp_path_factory.mktemp("tea")
    return frame, co.explore(mca, path=folder / "p.html", data=frame[["sex", "age", "when", "town", "member"]])


def expect_figures(page, frame, chosen, data):
    """Compare all figures of the page with those of describe_groups."""
    [table] = page.evaluate("explorer.comparison.compare().map(table => JSON.parse(JSON.stringify({...table, "
                            "categories: table.categories.map(one => ({...one, field: one.field.name})), "
                            "numbers: table.numbers.map(one => ({...one, field: one.field.name}))})))")  # fmt: skip
    is_in = np.where(np.isin(np.arange(len(frame)), chosen), "in", "out")[data]
    found = co.describe_groups(frame.iloc[data], is_in)
    own = found.categories.to_frame("pandas").query("group == 'in'")
    assert len(own) == len(table["categories"]) > 0
    told = {(one["field"], one["category"].replace("\N{EN DASH}", "(missing)")): one for one in table["categories"]}
    for row in own.itertuples():
        one = told[row.column, row.category]
        expected = [row.share, row.overall, row.vtest, row.pvalue, row.adjusted_pvalue]
        values = [one[name] for name in ("share", "overall", "vtest", "pvalue", "adjusted")]
        np.testing.assert_allclose(np.array(values, dtype=float), expected, rtol=1e-6, atol=1e-9, err_msg=str(row))
    numbers = found.numbers.to_frame("pandas").query("group == 'in'")
    assert len(numbers) == len(table["numbers"])
    for row in numbers.itertuples():
        [one] = [one for one in table["numbers"] if one["field"] == row.column]
        expected = [row.mean, row.overall, row.vtest, row.pvalue, row.adjusted_pvalue]
        values = [one[name] for name in ("mean", "overall", "vtest", "pvalue", "adjusted")]
        np.testing.assert_allclose(np.array(values, dtype=float), expected, rtol=1e-5, atol=1e-9, err_msg=str(row))


@pytest.mark.slow
def test_a_selection_is_compared_as_describe_groups_does(survey):
    frame, made = survey
    with opened(made.path, **WIDE) as seen:
        page = seen.page
        page.wait_for_function(READY)
        everybody = np.arange(len(frame))
        for chosen in (np.arange(30, 50), np.flatnonzero(frame["sex"] == "f"), np.arange(399), np.array([3])):
            page.evaluate("rows => explorer.selectRows(rows)", chosen.tolist())
            expect_figures(page, frame, chosen, everybody)
        assert "tested" in page.inner_text("#compared")
        # What a filter hides takes no part.
        page.evaluate("key => explorer.setState({filters: [{key, keep: [1]}]})", page.evaluate(KEY, "sex"))
        kept = np.array(page.evaluate(SHOWN))
        assert kept.tolist() == np.flatnonzero(frame["sex"] == "m").tolist()
        page.evaluate("explorer.selectRows(Array.from({length: 200}, (_, j) => j))")
        chosen = np.array(page.evaluate("explorer.selection"))
        assert chosen.tolist() == kept[kept < 200].tolist()
        page.evaluate("explorer.selectRows(Array.from({length: 100}, (_, j) => j))")
        expect_figures(page, frame.drop(columns="sex"), np.arange(100), kept)
        tails = "[[17, 17, 18, 55], [5, 17, 18, 55], [40000, 50000, 70000, 100000]].map(k => logHypergeometric(...k))"
        from correspondence.core.group_tests import compute_log_pvalues

        expected = compute_log_pvalues([17, 5, 40000], [17, 17, 50000], [18, 18, 70000], [55, 55, 100000])
        np.testing.assert_allclose(page.evaluate(tails), expected, rtol=1e-9)
        assert seen.problems == []


@pytest.mark.slow
def test_points_are_coloured_and_filtered_by_any_column(survey):
    frame, made = survey
    with opened(made.path, **WIDE) as seen:
        page = seen.page
        page.wait_for_function(READY)
        page.select_option("#paint", page.evaluate(KEY, "age"))
        assert "missing 9" in " ".join(page.inner_text("#painted").split())
        low, high = (int(frame["age"].idxmin()), int(frame["age"].idxmax()))
        inks = page.evaluate("rows => rows.map(j => Array.from(explorer.plane.colours.slice(4 * j, 4 * j + 3)))",
                             [low, high, 0])  # fmt: skip
        assert page.evaluate("parts => parts.map(luminance)", inks)[0] > page.evaluate("luminance", inks[1])
        assert len({*inks[2]}) == 1  # grey
        page.evaluate("explorer.setState({theme: 'dark'})")
        ends = page.evaluate("[0, 1].map(share => luminance(scaleColour(share, true)))")
        assert ends[0] < ends[1]
        page.select_option("#paint", page.evaluate(KEY, "town"))
        entries = page.locator("#painted button").all_inner_texts()
        assert len(entries) == 21
        assert "others" in entries[-1]
        assert sum(int(text.split()[-1]) for text in entries) == 400
        page.select_option("#paint", page.evaluate(KEY, "sex"))
        page.click("#painted button >> nth=0")
        women = np.flatnonzero(frame["sex"] == "f")
        assert page.evaluate("explorer.selection") == women.tolist()
        page.select_option("#mode", "subtract")
        page.click("#painted button >> nth=0")
        assert page.evaluate("explorer.selection") == []
        page.select_option("#mode", "replace")
        page.click("#painted button >> nth=1")
        page.click("#invert")
        assert len(page.evaluate("explorer.selection")) == 400 - int((frame["sex"] == "m").sum())
        page.keyboard.press("Escape")

        # A brush over the histogram, sliders by the keyboard, check boxes, and chips that remove them.
        page.click("#filters summary")
        page.select_option("#filterby", page.evaluate(KEY, "age"))
        box = page.locator(".histogram").bounding_box()
        page.mouse.move(box["x"] + 0.25 * box["width"], box["y"] + 5)
        page.mouse.down()
        page.mouse.move(box["x"] + 0.75 * box["width"], box["y"] + 5, steps=4)
        page.mouse.up()
        page.wait_for_function("explorer.filters.list.length === 1")
        page.wait_for_timeout(100)
        kept = page.evaluate("explorer.filters.list[0]")
        expected = np.flatnonzero(frame["age"].between(kept["low"], kept["high"]))
        assert page.evaluate(SHOWN) == expected.tolist()
        assert page.inner_text("#left") == f"{len(expected)} of 400 shown"
        page.focus("input[aria-label='age from']")
        page.keyboard.press("End")
        page.wait_for_timeout(100)
        assert page.evaluate("explorer.filters.list[0].low") == kept["high"]
        page.keyboard.press("Home")
        page.select_option("#filterby", page.evaluate(KEY, "town"))
        town = page.locator(".editor").nth(1)
        town.locator("button:text('none')").click()
        town.locator("input[type=search]").fill("town 5")
        town.locator("input[type=checkbox]").first.check()
        is_kept = (frame["town"] == page.evaluate(
            "explorer.model.field(explorer.filters.list[1].key).labels[explorer.filters.list[1].keep[0]]"
        )) & (frame["age"] <= kept["high"])  # fmt: skip
        page.wait_for_timeout(100)
        assert page.evaluate(SHOWN) == np.flatnonzero(is_kept).tolist()
        assert page.locator("#filterchips button").count() == 2
        link = page.evaluate("explorer.history.writeFragment()")
        page.focus("#filterby")
        for key in ("ArrowDown", "ArrowDown"):  # on some systems each chooses
            page.keyboard.press(key)
        assert page.evaluate("document.activeElement.id") == "filterby"
        assert page.locator(".editor").count() == 3, "those that have a filter, and the column that is chosen"
        page.keyboard.press("ArrowUp")
        page.keyboard.press("ArrowUp")
        page.click("#filterchips button >> nth=1")
        page.click("#filterchips button >> nth=0")
        assert page.evaluate(SHOWN) == list(range(400))
        assert page.is_hidden("#filtered")
        page.keyboard.press("Control+z")
        assert page.locator("#filterchips button").count() == 1
        page.goto(f"{made.path.resolve().as_uri()}?again{link}")
        page.wait_for_function(READY)
        assert page.evaluate(SHOWN) == np.flatnonzero(is_kept).tolist()
        assert page.locator(".editor").count() == 2
        assert seen.problems == []


@pytest.mark.slow
def test_a_lasso_selects_what_it_encloses_and_shapes_follow(tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, 3)), columns=["a", "b", "c"])
    est = co.CCA(2).fit(X, X)
    data = pd.DataFrame({"kind": rng.choice(["p", "q"], 300), "size": rng.normal(size=300)})
    made = co.explore(est, X, X, tmp_path / "p.html", data=data)
    with opened(made.path, **WIDE) as seen:
        page = seen.page
        page.wait_for_function(READY)
        assert page.evaluate("explorer.model.fields.map(field => field.clouds.length)") == [2] * 8
        page.evaluate("explorer.setState({hidden: {roles: ['y', 'xn', 'yn'], classes: []}})")
        box = page.locator("#plane").bounding_box()
        middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        corners = [(-150, -100), (150, -100), (0, 140)]
        page.keyboard.down("Alt")
        page.mouse.move(middle[0] + corners[0][0], middle[1] + corners[0][1])
        page.mouse.down()
        for x, y in corners[1:]:
            page.mouse.move(middle[0] + x, middle[1] + y, steps=3)
        page.mouse.up()
        page.keyboard.up("Alt")
        inside = """corners => Array.from({length: 300}, (_, i) => i).filter(i => {
            const [x, y] = explorer.plane.at(i);
            const sign = ([ax, ay], [bx, by]) => (bx - ax) * (y - ay) - (by - ay) * (x - ax);
            return corners.every((corner, k) => sign(corner, corners[(k + 1) % 3]) > 0);
        })"""
        local = [(box["width"] / 2 + x, box["height"] / 2 + y) for x, y in corners]
        chosen = page.evaluate(inside, local)
        assert 5 < len(chosen) < 250
        assert page.evaluate("explorer.selection") == chosen
        page.select_option("#shapes", "hull")
        names = "explorer.groupShapes().map(shape => [shape.name, shape.members])"
        assert page.evaluate(names) == [["selection", len(chosen)]]
        page.evaluate("explorer.select([])")
        page.evaluate("chosen => explorer.select(chosen)", chosen)
        assert "Hulls are drawn around all members shown." in page.inner_text("#note")
        page.select_option("#paint", page.evaluate(KEY, "kind"))
        assert [name for name, _ in page.evaluate(names)] == ["p", "q", "selection"]
        page.select_option("#paint", page.evaluate(KEY, "size"))
        quarters = page.evaluate(names)
        assert [members for _, members in quarters[:4]] == [75] * 4
        page.evaluate("key => explorer.setState({filters: [{key, keep: [0]}]})", page.evaluate(KEY, "kind"))
        assert sum(members for _, members in page.evaluate(names)[:4]) == int((data["kind"] == "p").sum())
        page.select_option("#drawn", "lasso")
        assert page.get_attribute("#select", "aria-pressed") == "true"
        assert seen.problems == []


@pytest.mark.slow
def test_groups_of_pairs_are_of_both_sides_and_quarters_of_few_values_are_fewer(tmp_path):
    n, rng = 60, np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=n), "b": rng.choice(["p", "q"], n)})
    Y = pd.DataFrame({"u": X["a"] + rng.normal(size=n), "v": rng.choice(["r", "s"], n)})
    group = np.array([None, "one", "two"], dtype=object)[np.arange(n) % 3]
    data = pd.DataFrame({"visits": [*range(10), *[0] * 50], "day": pd.date_range("1850-01-01", periods=n)})
    made = co.explore(co.ACE(2).fit(X, Y), X, Y, tmp_path / "p.html", groups=group, data=data)
    with opened(made, **WIDE) as seen:
        page = seen.page
        page.wait_for_function(READY)
        page.evaluate("explorer.selectRows(Array.from({length: 20}, (_, j) => j))")
        expect_figures(page, pd.concat([X, Y, data], axis=1).assign(group=group), np.arange(20), np.arange(n))
        page.evaluate("explorer.filters.open('classes')")
        assert page.locator(".choices li").all_inner_texts() == ["one\n20", "two\n20", "(missing)\n20"]
        page.locator(".choices input").first.uncheck()
        assert page.inner_text("#left") == "40 of 60 x shown, 40 of 60 y shown"
        page.evaluate("explorer.reveal(1)")
        assert page.inner_text("#told") == "A filter hides x 1."
        page.click("#filterchips button")
        page.select_option("#split", page.evaluate(KEY, "visits"))
        panels = page.locator(".panel")
        assert panels.all_inner_texts() == ["to 0\n51", "above 0\n9"]
        panels.nth(1).click()
        assert len(page.evaluate(SHOWN)) == 9
        panels.nth(1).click()
        page.select_option("#split", page.evaluate(KEY, "day"))
        assert panels.first.inner_text() == "to 1850-01-15\n15"
        page.select_option("#split", "classes")
        assert page.inner_text("#multiples p") == "Not shown: 20 points without a value."
        assert page.evaluate("[2 ** 53 - 1, 2 ** 60, 1e300, -3].map(number)") == [
            "9,007,199,254,740,991",
            "1.153e+18",
            "1.000e+300",
            "-3",
        ]
        assert seen.problems == []


@pytest.mark.slow
def test_hostile_columns_are_text_and_hostile_states_are_left_alone(tmp_path):
    n = 60
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {HOSTILE[0]: rng.choice([HOSTILE[0], "</script><b>", "${alert(1)}"], n), "<b>number": rng.normal(size=n)}
    )
    table = co.CA().fit(rng.integers(1, 9, (n, 5)))
    made = co.explore(table, path=tmp_path / "p.html", data=frame)
    bad = [
        {"key": "0", "keep": [99]},
        {"key": "0", "keep": "all"},
        {"key": "<b>", "keep": []},
        {"key": "1", "low": None, "high": 3, "missing": True},
        {"key": "1", "low": 5, "high": 3, "missing": True},
        None,
    ]
    with opened(made.path, **WIDE) as seen:
        page = seen.page
        page.wait_for_function(READY)
        for one in bad:
            assert page.evaluate("one => explorer.setState({filters: [one]})", one) == ["filters"]
        assert page.evaluate("explorer.setState({colour: '<img>'})") == ["colour"]
        for key in ("0", "1"):
            page.select_option("#paint", key)
            page.evaluate("key => explorer.filters.open(key)", key)
        page.evaluate("explorer.setState({filters: [{key: '0', keep: [0]}], selection: [1, 2, 3, 4, 5, 6]})")
        page.wait_for_timeout(100)
        assert page.locator("#filters b, #comparison b, #painted b, #filtered b, aside img").count() == 0
        assert seen.problems == []


def test_further_columns_are_of_the_points(tmp_path):
    frame = tea(60)
    mca = co.MCA().fit(frame[["often", "drink"]], subpopulation=range(20, 60))
    clusters = co.Clusters(2).fit(mca)
    for data in (frame, frame.iloc[20:]):
        cloud = data_of(co.explore(mca, data=data, groups=clusters))["clouds"][0]
        said = {column["name"]: (column["kind"], column["beside"]) for column in cloud["columns"]}
        assert [said[name] for name in ("drink", "age")] == [("label", False), ("number", True)]
        assert [said[name] for name in ("when", "member")] == [("date", True), ("boolean", True)]
        assert said["cluster"] == ("label", False)  # it was found in the axes
    tasks = co.datasets.load_housetasks()
    page = data_of(co.explore(co.CA().fit(tasks), data=pd.DataFrame({"length": range(13)})))
    assert page["clouds"][0]["columns"] == [{"name": "length", "labels": None, "kind": "number", "beside": True}]
    counts, environment = co.datasets.load_dune()
    dune = co.CA().fit(counts, constraints=environment[["A1"]])
    names = [column["name"] for column in data_of(co.explore(dune, data=environment))["clouds"][0]["columns"]]
    assert (names.count("Management"), names.count("A1")) == (1, 1)


def test_data_that_do_not_fit_are_refused():
    tasks = co.CA().fit(co.datasets.load_housetasks())
    with pytest.raises(ValueError, match="data must have one row"):
        co.explore(tasks, data=pd.DataFrame({"a": [1, 2]}))
    with pytest.raises(TypeError, match="data must be a frame"):
        co.explore(tasks, data=[1, 2])
    x = np.repeat(["a", "b"], 10)
    with pytest.raises(ValueError, match=r"data must .*labels"):
        co.explore(co.CA().fit(x, x[::-1]), x, x[::-1], data=pd.DataFrame({"a": range(20)}))
    with pytest.raises(TypeError, match="data must be left out"):
        co.explore(co.associations(co.datasets.load_poison()), data=tea(20))


def test_columns_for_which_there_is_no_room_are_named():
    from correspondence.page.data_columns import MAX_COLUMN_BYTES, Column, choose_columns

    rng = np.random.default_rng(0)
    columns = [Column(f"c{i}", rng.normal(size=100_000), kind="number") for i in range(5)]
    flag = Column("flag", rng.integers(0, 2, 100_000).astype(np.uint32), ["no", "yes"])
    kept, left_out = choose_columns([*columns, flag])
    assert [column.name for column in kept][-1] == "flag"
    assert left_out == ["c2", "c3", "c4"]
    assert sum(column.packed_bytes for column in kept) <= MAX_COLUMN_BYTES
