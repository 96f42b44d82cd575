"""Pages of every kind can be read: contrast, nothing cut off or over something else, in both themes and on a phone."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from browser import opened

import correspondence as co

pytestmark = pytest.mark.slow

SCREENS = {"wide": {"width": 1280, "height": 800}, "phone": {"width": 390, "height": 844}}
LOOK = (Path(__file__).parent / "legible.js").read_text(encoding="utf-8").partition("\n")[2]


def make_page(kind, path):
    """Write a page of a kind, with what makes it full."""
    if kind == "table":
        return co.explore(co.CA().fit(co.datasets.load_housetasks()), path=path, names=("task", "who does it"))
    if kind == "survey":
        survey = co.datasets.load_poison()
        mca = co.MCA(n_components=4).fit(survey, supplementary=["Age", "Time", "Sick", "Sex"])
        return co.explore(mca, path=path, groups=survey["Sick"])
    if kind == "triplot":
        plants, soil = co.datasets.load_dune()
        ca = co.CA().fit(plants, constraints=soil[["A1", "Management"]])
        return co.explore(ca, path=path, tests=ca.anova(n_permutations=99))
    if kind == "associations":
        return co.explore(co.associations(co.datasets.load_poison()), path=path)
    rng = np.random.default_rng(0)
    X = pl.DataFrame({"height": rng.normal(size=400), "town": rng.choice(["Ulm", "Jena", "Kiel"], 400)})
    y = np.where(X["height"] + rng.normal(size=400) > 0, "tall people", "short people")
    found = co.crossfit(co.ACE(1), X, y)
    return co.explore(co.ACE(1).fit(X, y), X, y, path, held_out=found, groups=X["town"])


@pytest.mark.parametrize("kind", ["table", "survey", "triplot", "associations", "frame"])
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
