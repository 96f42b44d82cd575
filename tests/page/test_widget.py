"""The page as a widget: positions in Python, and the page in JupyterLab and in marimo, kernel included."""

import builtins
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from browser import visited
from notebooks import jupyterlab, marimo

import correspondence as co

pytest.importorskip("anywidget", reason="anywidget is not installed")

WAIT = 60_000  # milliseconds
WIDE = {"viewport": {"width": 1400, "height": 1000}}


@pytest.fixture(scope="module")
def ca():
    return co.CA().fit(co.datasets.load_housetasks())


@pytest.fixture
def widget(ca):
    return co.widget(ca, names=("task", "who"))


def test_a_selection_is_positions_in_ascending_order(widget, ca):
    seen = []
    widget.observe(seen.append, names="selection")
    for given, expected in (
        ([3, 1, 1], [1, 3]),
        (np.array([2], np.uint8), [2]),
        (range(2), [0, 1]),
        (pd.Index([4]), [4]),
        (pl.Series([5]), [5]),
        ((), []),
    ):
        widget.selection = given
        assert widget.selection == expected
        assert [type(position) for position in widget.selection] == [int] * len(expected)
    assert [change.new for change in seen] == [[1, 3], [2], [0, 1], [4], [5], []]
    widget.selected_columns = [3]
    assert ca.columns_.labels[widget.selected_columns].tolist() == ["Jointly"]
    assert co.widget(ca).selection == []


def test_what_is_not_a_position_is_an_error(widget):
    for wrong in ([13], [-1], [1.5], ["Laundry"], [True] * 13, None, [[1]], [[1], [2, 3]], 3, "1"):
        for name in ("selection", "selected_columns"):
            with pytest.raises(ValueError, match=rf"{name} must .*Give positions"):
                setattr(widget, name, wrong)
    assert widget.selection == widget.selected_columns == []


def test_positions_are_those_of_the_data(rng):
    x = rng.normal(size=(300, 2))
    y = np.where(x[:, 0] > 0, "high", "low")
    widget = co.widget(co.CCA(1).fit(x, y), x, y, max_points=50)
    widget.selection = [299]  # not drawn, but a row of x
    with pytest.raises(ValueError, match=r"selection must be from 0 to 299"):
        widget.selection = [300]


def test_the_page_is_sent_once(ca, monkeypatch):
    sent = []
    widget = co.widget(ca)
    monkeypatch.setattr(type(widget.comm), "publish_msg", lambda self, *args, data=None, **more: sent.append(data))
    widget.selection = [1, 2]
    widget.set_state({"selection": [3], "selected_columns": [0]})  # as the page does
    assert sent
    assert not {key for message in sent for key in message["state"]} - {"selection", "selected_columns"}
    assert widget.get_state()["html"] == widget.page.html
    assert (widget.selection, widget.selected_columns) == ([3], [0])


def test_arguments_are_those_of_explore(ca, tmp_path):
    widget = co.widget(ca, title="Who does <what>?")
    assert "Who does &lt;what&gt;?" in widget.html
    assert widget.page.save(tmp_path / "page.html").read_text(encoding="utf-8") == widget.html
    assert repr(widget).startswith("ExplorerWidget(ExplorerPage(")
    for name in ("path", "overwrite"):
        with pytest.raises(TypeError, match=name):
            co.widget(ca, **{name: "page.html"})
    with pytest.raises(TypeError, match="Associations"):
        co.widget(co.associations(pd.DataFrame({"a": range(40), "b": range(40)})))


def test_a_missing_extra_is_named(ca, monkeypatch):
    find = builtins.__import__

    def refuse(name, *more):
        if name.endswith("explorer_widget"):
            raise ImportError(name)
        return find(name, *more)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ImportError, match=r"anywidget.*pip install.*\[notebook\]"):
        co.widget(ca)


# --- in notebooks

ANALYSIS = """import correspondence as co
from sklearn.datasets import load_wine
data = load_wine(as_frame=True)
X, y = data.data, data.target.map(str)
est = co.CCA(2).fit(X, y)"""


def drag_box(page, frame):
    """Select the points in the upper half of the plane; return how many the page says are selected."""
    frame.locator("html[data-ready=yes]").wait_for(state="attached", timeout=WAIT)
    frame.locator("#select").click()
    plane = frame.locator("#plane")
    plane.scroll_into_view_if_needed()
    box = plane.bounding_box()
    page.mouse.move(box["x"] + 20, box["y"] + 10)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 30, box["y"] + box["height"] / 2, steps=5)
    page.mouse.up()
    frame.locator("#selected", has_text="selected").wait_for(timeout=WAIT)
    return int(frame.locator("#selected").inner_text().split()[0])


@pytest.mark.slow
def test_a_selection_in_jupyterlab_is_known_in_python_and_set_from_there(tmp_path):
    cells = [
        f"{ANALYSIS}\nest.evaluate(X, y)",
        "widget = co.widget(est, X, y)\nwidget",
        "print('picked', len(widget.selection), 'and', len(widget.selected_columns), set(y[widget.selection]))",
        "widget.selected_columns = []\nwidget.selection = [0, 5, 7]",
        "co.explore(est, X, y)",
    ]
    with jupyterlab(tmp_path, cells) as address, visited(address, **WIDE) as page:
        page.locator("text=/ipykernel\\) \\| Idle/").wait_for(timeout=WAIT)
        cell = page.locator(".jp-Notebook .jp-CodeCell")

        def run(i):
            cell.nth(i).scroll_into_view_if_needed()
            cell.nth(i).locator(".cm-content").click()
            page.keyboard.press("Shift+Enter")

        run(0)
        cell.nth(0).locator("table >> text=held_out").wait_for(timeout=WAIT)
        run(1)
        frame = cell.nth(1).frame_locator("iframe")
        n = drag_box(page, frame)
        page.evaluate(
            "window.postMessage({ correspondence: 'selection', rows: [1], columns: [] }, '*')"
        )  # not the page
        run(2)
        told = cell.nth(2).locator(".jp-OutputArea-output", has_text="picked")  # not the line of the cell
        told.wait_for(timeout=WAIT)
        rows, columns = map(int, re.findall(r"\d+", told.inner_text())[:2])
        assert rows > 40
        assert (rows + columns, columns) == (n, 1)
        run(3)
        frame.locator("#selected", has_text="3 selected").wait_for(timeout=WAIT)
        run(4)
        inline = cell.nth(4).frame_locator("iframe")
        inline.locator("html[data-ready=yes]").wait_for(state="attached", timeout=WAIT)
        assert inline.locator("#selected").inner_text() == ""


@pytest.mark.slow
def test_a_selection_in_marimo_is_known_in_python_and_set_from_there(tmp_path):
    cells = [
        ("", f"import marimo as mo\n{ANALYSIS}"),
        ("co, est, mo, X, y", "widget = mo.ui.anywidget(co.widget(est, X, y))\nwidget"),
        ("mo, widget", 'mo.md(f"picked {len(widget.selection)} and {len(widget.selected_columns)}")'),
        ("mo, widget", "def choose(_):\n    widget.selected_columns = []\n    widget.selection = [0, 5, 7]\n"
                       'mo.ui.button(label="choose", on_change=choose)'),
        ("est, X, y", "est.evaluate(X, y)"),
        ("co, est, X, y", "co.explore(est, X, y)"),
    ]  # fmt: skip
    returned = ["co, est, mo, X, y", "widget,", "", "", "", ""]
    parts = ["import marimo\napp = marimo.App()"]
    for (arguments, source), names in zip(cells, returned, strict=True):
        body = source.replace("\n", "\n    ")
        parts.append(f"@app.cell\ndef _({arguments}):\n    {body}\n    return {f'({names})' if names else ''}")
    with marimo(tmp_path, "\n".join(parts)) as address, visited(address, **WIDE) as page:
        frame = page.frame_locator("marimo-anywidget iframe")
        n = drag_box(page, frame)
        told = page.locator("text=/picked [1-9]/")
        told.wait_for(timeout=WAIT)
        page.wait_for_function(
            "text => document.body.innerText.includes(text)", arg=f"picked {n - 1} and 1", timeout=WAIT
        )
        page.get_by_role("button", name="choose", exact=True).click()
        frame.locator("#selected", has_text="3 selected").wait_for(timeout=WAIT)
        assert page.locator("table >> text=held_out").count() == 1
        frames = [page.frame_locator(f"iframe >> nth={i}") for i in range(2)]  # of the widget, and of explore
        for each in frames:
            each.locator("html[data-ready=yes]").wait_for(state="attached", timeout=WAIT)
        assert sorted(each.locator("#selected").inner_text() for each in frames) == ["", "3 selected"]
