"""The state of a page, undo, links and messages between it and a page around it, in a real browser."""

import json

import polars as pl
import pytest
from browser import opened
from surveys import make_survey

import correspondence as co

READY = "document.documentElement.dataset.ready === 'yes'"
WIDE = {"viewport": {"width": 1300, "height": 900}}
# The edges of a box are read from pixels, and may differ in the last digits.
STATE = """(() => {
    const state = explorer.getState();
    const rounded = name => state[name]?.map(value => value.toFixed(4));
    return JSON.stringify({ ...state, view: rounded("view"), twinView: rounded("twinView") });
})()"""
RESTED = 500  # milliseconds after which the page has noted what was done

# A page around the explorer: it notes what it is told.
PARENT = """<!doctype html><script>
const told = [];
addEventListener("message", event => told.push(event.data));
function send(message) { document.querySelector("iframe").contentWindow.postMessage(message, "*"); }
</script><iframe src="inner.html" style="width:1200px;height:800px"></iframe>
<iframe id="stranger" srcdoc="<script>function shout(m) { parent.frames[0].postMessage(m, '*'); }</script>">
</iframe>"""


def settle(page):
    """Let the layout follow, and the page note where it has come to rest."""
    page.wait_for_timeout(150)
    page.evaluate("explorer.history.note()")


@pytest.fixture(scope="module")
def tasks(tmp_path_factory):
    ca, data = co.CA().fit(co.datasets.load_housetasks()), pl.DataFrame({"kind": list("aabbccddeeffg")})
    return co.explore(ca, path=tmp_path_factory.mktemp("tasks") / "p.html", names=("task", "who"), data=data)


@pytest.mark.slow
def test_undo_redo_and_a_link_restore_the_view(tasks):
    with opened(tasks, **WIDE) as seen:
        page, address = seen.page, tasks.path.resolve().as_uri()
        page.wait_for_function(READY)
        states = [page.evaluate(STATE)]
        for action in (
            lambda: page.evaluate("explorer.selectRows([1, 2, 5], [0])"),
            lambda: page.select_option("#map", "rowprincipal"),
            lambda: page.click("#roles .chip >> nth=1"),
            lambda: page.evaluate("explorer.plane.zoomBy(2)"),
        ):
            action()
            page.wait_for_timeout(RESTED)
            states.append(page.evaluate(STATE))
        assert len(set(states)) == 5
        for before in states[-2::-1]:
            page.keyboard.press("Control+z")
            assert page.evaluate(STATE) == before
        assert page.is_disabled("#undo")
        assert page.get_attribute("#roles .chip >> nth=1", "aria-pressed") == "true"
        for _ in range(4):
            page.click("#redo")
        assert page.evaluate(STATE) == states[-1]
        assert page.get_attribute("#roles .chip >> nth=1", "aria-pressed") == "false"

        fragment = page.evaluate("explorer.history.writeFragment()")
        assert len(fragment) < 300
        for i, bad in enumerate(("#view=abc", "#view=<b>!", fragment[:40], "#view=")):
            page.goto(f"{address}?{i}{bad}")
            page.wait_for_function(READY)
            assert json.loads(page.evaluate(STATE))["map"] == "symmetric"
            assert "ignored" in page.inner_text("#told")
        page.goto(f"{address}?last{fragment}")
        page.wait_for_function(READY)
        assert page.evaluate(STATE) == states[-1]
        assert seen.problems == []


@pytest.mark.slow
def test_undo_redo_and_links_survive_another_size_of_the_plane(tmp_path):
    frame = make_survey(200)[["often", "drink", "sugar", "sex"]]
    made = co.explore(co.MCA(n_components=4).fit(frame), path=tmp_path / "p.html")
    with opened(made, **WIDE) as seen:
        page = seen.page
        page.wait_for_function(READY)
        settle(page)
        states = [page.evaluate(STATE)]
        for action in (
            lambda: page.evaluate("explorer.plane.zoomBy(2)"),
            lambda: page.click("#twin"),
            lambda: page.select_option("#split", "1"),
            lambda: page.click(".panel >> nth=0"),
            lambda: page.click("#in"),
            lambda: page.evaluate("explorer.plane.panBy(20, 9)"),
            lambda: page.select_option("#paint", "2"),
            lambda: page.click("#painted button >> nth=0"),
        ):
            action()
            settle(page)
            states.append(page.evaluate(STATE))
        del states[5]  # moving on is the same step, of both planes too
        fragment = page.evaluate("explorer.history.writeFragment()")
        for before in states[-2::-1]:
            page.click("#undo")
            settle(page)
            assert page.evaluate(STATE) == before
        assert page.is_disabled("#undo")
        for after in states[1:]:
            page.click("#redo")
            settle(page)
            assert page.evaluate(STATE) == after
        page.set_viewport_size({"width": 900, "height": 700})
        settle(page)
        page.click("#undo")
        page.set_viewport_size({"width": 1300, "height": 900})
        settle(page)
        assert page.is_enabled("#redo"), "another size of the window is no step"
        page.goto(f"{tmp_path.as_uri()}/p.html?again{fragment}")
        page.wait_for_function(READY)
        assert page.evaluate(STATE) == states[-1]
        assert json.loads(states[-1])["source"] == "category"
        assert seen.problems == []


@pytest.mark.slow
def test_what_does_not_fit_a_page_is_left_alone(tasks):
    hostile = {
        "axes": [0, 99],
        "map": "<img src=x onerror=alert(1)>",
        "labels": "no",
        "hidden": {"roles": ["x", "<b>"], "classes": []},
        "selection": [0, 10**9, -1],
        "chosen": "0",
        "view": [1, 0, None, 2],
        "theme": {"toString": "light"},
        "__proto__x": 1,
    }
    with opened(tasks, **WIDE) as seen:
        page = seen.page
        page.wait_for_function(READY)
        before = page.evaluate(STATE)
        ignored = page.evaluate("state => explorer.setState(state)", hostile | {"chosen": "0"})
        assert sorted(ignored) == sorted(hostile)
        # A place so far off that numbers there have no decimals, and a filter given a thousand times.
        page.evaluate("explorer.setState({ view: [1e16, 1e16 + 16, 1e16, 1e16 + 16] })")
        page.evaluate("explorer.plane.paint()")
        page.evaluate("explorer.setState({ view: null })")
        assert page.evaluate("explorer.setState({ filters: Array(1000).fill({ key: '0', keep: [0] }) })") == ["filters"]
        assert page.evaluate("explorer.setState({ filters: [{ key: '0', keep: [0, 0] }] })") == ["filters"]
        assert page.evaluate("[null, 3, [], 'x'].map(state => explorer.setState(state).length)") == [1, 1, 0, 1]
        assert page.evaluate(STATE) == before
        other = page.evaluate(
            """async () => {
                const bytes = new TextEncoder().encode(JSON.stringify({ of: "other", state: { map: "rowprincipal" } }));
                return "#view=" + toLetters(await runStream(bytes, new CompressionStream("deflate-raw")));
            }"""
        )
        page.evaluate("fragment => { location.hash = fragment; }", other)
        page.wait_for_function("document.querySelector('#told').textContent.includes('another page')")
        assert page.evaluate(STATE) == before
        assert page.evaluate("(() => { const p = [9, 3, 4, 5, 12]; return readRanges(writeRanges(p), 13); })()") == [
            3,
            4,
            5,
            9,
            12,
        ]
        assert seen.problems == []


@pytest.mark.slow
def test_a_page_around_it_is_told_of_the_selection_and_sets_it(tmp_path):
    frame = make_survey(60)[["often", "drink", "sugar"]]
    mca = co.MCA().fit(frame, subpopulation=range(20, 60))
    co.explore(mca, path=tmp_path / "inner.html")
    (tmp_path / "outer.html").write_text(PARENT)
    with opened(tmp_path / "outer.html", **WIDE) as seen:
        page = seen.page
        page.wait_for_function("told.some(message => message.correspondence === 'ready')")
        inner = page.frames[1]
        page.evaluate("send({ correspondence: 'select', rows: [21, 25, 3], columns: [1] })")
        inner.wait_for_function("explorer.selection.length === 3")
        told = "told.filter(message => message.correspondence === 'selection')"
        page.wait_for_function(f"{told}.length === 1")  # row 3 took no part, so that the parent has to be told
        assert page.evaluate(f"{told}[0]") == {"correspondence": "selection", "rows": [21, 25], "columns": [1]}
        inner.evaluate("explorer.select([0, 1])")
        page.wait_for_function(f"{told}.length === 2")
        assert page.evaluate(f"{told}[1].rows") == [20, 21]
        page.evaluate("send({ correspondence: 'state', state: { map: 'rowprincipal', axes: [0, 77] } })")
        inner.wait_for_function("explorer.map === 'rowprincipal'")
        assert inner.evaluate("explorer.axes") == [0, 1]
        page.evaluate("send({ correspondence: 'select', rows: '<b>', columns: [1.5] }); send(null); send('x');")
        page.frames[2].evaluate("shout({ correspondence: 'select', rows: [], columns: [] })")
        page.wait_for_timeout(200)
        assert inner.evaluate("explorer.selection") == [0, 1]
        assert inner.evaluate("document.querySelector('#link').hidden") is False
        assert seen.problems == []
