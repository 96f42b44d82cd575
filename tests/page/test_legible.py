"""Pages of every kind can be read: contrast, nothing cut off or over something else, in both themes and on a phone."""

from datetime import date
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from browser import opened
from sklearn.datasets import load_digits
from sklearn.neural_network import MLPClassifier

import correspondence as co

pytestmark = pytest.mark.slow

SCREENS = {"wide": {"width": 1280, "height": 800}, "phone": {"width": 390, "height": 844}}
LOOK = (Path(__file__).parent / "legible.js").read_text(encoding="utf-8").partition("\n")[2]


def make_page(kind, path):
    """Write a page of a kind, with what makes it full."""
    if kind == "table":
        tasks, data = co.CA().fit(co.datasets.load_housetasks()), pl.DataFrame({"room": list("abcabcabcabca")})
        return co.explore(tasks, path=path, names=("task", "who does it"), data=data)
    if kind == "survey":
        survey = co.datasets.load_poison()
        mca = co.MCA(n_components=4).fit(survey, supplementary=["Age", "Time", "Sick", "Sex"])
        asked = [date(1890 + i, 5, 1) if i % 7 else None for i in range(len(survey))]
        data = survey[["Age"]].with_columns(
            pl.Series("asked on", asked), pl.Series("first", [i < 9 for i in range(55)])
        )
        return co.explore(mca, path=path, groups=survey["Sick"], data=data)
    if kind == "triplot":
        plants, soil = co.datasets.load_dune()
        ca = co.CA().fit(plants, constraints=soil[["A1", "Management"]])
        return co.explore(ca, path=path, tests=ca.anova(n_permutations=99))
    if kind == "associations":
        return co.explore(co.associations(co.datasets.load_poison()), path=path)
    if kind == "classifier":
        X, y = load_digits(return_X_y=True)
        net = MLPClassifier((8,), random_state=0, learning_rate_init=0.01)
        recorder = co.TrainingRecorder(net, X[1::8], y[1::8], every=10)
        recorder.partial_fit(X[::8], y[::8], batch_size=50, epochs=5)
        images = X[1::8].reshape(-1, 8, 8)
        return co.explore(
            co.ClassifierCA(net).fit(X[1::8], y[1::8]), X[1::8], path=path, recorder=recorder, x_images=images
        )
    rng = np.random.default_rng(0)
    X = pl.DataFrame({"height": rng.normal(size=400), "town": rng.choice(["Ulm", "Jena", "Kiel"], 400)})
    y = np.where(X["height"] + rng.normal(size=400) > 0, "tall people", "short people")
    found = co.crossfit(co.ACE(1), X, y)
    return co.explore(co.ACE(1).fit(X, y), X, y, path, held_out=found, groups=X["town"])


@pytest.mark.parametrize("kind", ["table", "associations"])  # the others with all that opens, below
def test_pages_can_be_read(kind, tmp_path):
    path = tmp_path / "page.html"
    make_page(kind, path)
    for screen, size in SCREENS.items():
        for theme in ("light", "dark"):
            with opened(path, viewport=size, color_scheme=theme) as seen:
                seen.page.wait_for_selector("html[data-ready=yes]")
                found = seen.page.evaluate(LOOK)
                assert found.pop("sideways") <= 0, (screen, theme)
                assert found == {"faint": [], "cut": [], "overlapping": [], "nameless": []}, (screen, theme)
                assert seen.problems == []


# All that opens at once: panels, filters, chips, a list of what was found, the second plane and the small ones.
OPEN_ALL = """async () => {
    const rest = () => new Promise(done => setTimeout(done, 120)), { fields } = explorer.model;
    const choose = (id, value) => { $(id).value = value; $(id).dispatchEvent(new Event("change")); };
    const labels = fields.find(field => !field.isNumber && field.order.length > 1);
    const number = fields.findLast(field => field.isNumber), { key, order, values } = labels;
    explorer.layout.open(true);
    $("filters").open = $("comparison").open = true;
    if (!$("twin").closest("label").hidden && !$("twin").checked) $("twin").click();
    choose("split", key);
    choose("shapes", "hull");
    choose("paint", (number ?? labels).key);
    explorer.filters.set([{ key, keep: order.slice(0, -1) }]);
    for (const field of fields) explorer.filters.open(field.key, false);
    const isMeant = j => number ? number.values[j] < number.quantile(.5) : values[j] === order[0];
    explorer.selectRows(Array.from({ length: 200 }, (_, j) => j).filter(isMeant));
    explorer.choose(explorer.model.role("y").start);
    explorer.tell("A note beside the controls.");
    await rest();
    $("search").value = "e";
    $("search").dispatchEvent(new Event("input"));
}"""
# What stands over something else where a page is printed: parts of the first screen that belong one below the other.
OVERLAPS = """() => {
    const boxes = ["plane", "other", "multiples", "painted", "roles", "note", "filters"].map($)
        .filter(one => one.checkVisibility()).map(one => [one.id, one.getBoundingClientRect()]);
    return boxes.slice(1).filter(([, box], k) => box.top < boxes[k][1].bottom - 1).map(([name]) => name);
}"""


@pytest.mark.parametrize("kind", ["table", "survey", "triplot", "frame", "classifier"])
def test_all_that_opens_can_be_read(kind, tmp_path):
    path = tmp_path / "page.html"
    make_page(kind, path)
    with opened(path, viewport=SCREENS["wide"], color_scheme="dark") as seen:
        page = seen.page
        page.wait_for_selector("html[data-ready=yes]")
        for screen, size in SCREENS.items():
            page.set_viewport_size(size)
            page.evaluate(OPEN_ALL)
            for theme in ("light", "dark"):
                page.emulate_media(color_scheme=theme)
                for dialog in ("", "codes", "keys"):
                    page.evaluate("id => id && $(id).showModal()", dialog)
                    found = page.evaluate(LOOK)
                    assert found.pop("sideways") <= 0, (screen, theme, dialog)
                    nothing = {"faint": [], "cut": [], "overlapping": [], "nameless": []}
                    assert found == nothing, (screen, theme, dialog)
                    page.keyboard.press("Escape")
        page.set_viewport_size({"width": 718, "height": 1000})
        page.emulate_media(media="print")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        page.wait_for_timeout(100)
        assert page.evaluate(OVERLAPS) == []
        assert page.locator("#painted:not([hidden]) > :not(:visible)").count() == 0
    assert seen.problems == []


def test_the_look_finds_what_it_looks_for(tmp_path):
    path = tmp_path / "page.html"
    faults = """
        <p style="color: #999; background: #fff">too faint</p>
        <p style="width: 40px; overflow: hidden; white-space: nowrap">much too long for its box</p>
        <button style="position: absolute; left: 9px; top: 300px">one</button>
        <button style="position: absolute; left: 20px; top: 305px" id="two"></button>
        <div style="width: 5000px">wide</div>"""
    path.write_text(f"<body style='background: white; color: black'>{faults}</body>")
    with opened(path, viewport=SCREENS["wide"]) as seen:
        found = seen.page.evaluate(LOOK)
    assert [text for text, _ in found["faint"]] == ["too faint"]
    assert found["cut"] == ["much too long for its box"]
    assert found["overlapping"] == [["one", "two"]]
    assert len(found["nameless"]) == 1
    assert found["sideways"] > 3000
