"""Links of the texts: every file and heading that a page points to is there; and what is published in docs/results."""

import csv
import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TEXTS = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "results").rglob("*.md")]
RESULTS = ROOT / "docs" / "results"
LINK = re.compile(r"\]\(([^)\s]+)\)")


def anchors(text):
    """Names that GitHub gives to headings."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links(path):
    text = path.read_text(encoding="utf-8")
    for link in LINK.findall(re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)):
        if "://" in link:
            continue
        name, _, anchor = link.partition("#")
        target = path.parent / name if name else path
        assert target.exists(), f"{path}: {link}"
        assert not anchor or anchor in anchors(target.read_text(encoding="utf-8")), f"{path}: {link}"


def test_published_results():
    files = [path for path in RESULTS.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 8_000_000
    with (RESULTS / "results.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    page = (RESULTS / "index.md").read_text(encoding="utf-8")
    assert "--quick" not in page, "a quick run is not for publishing"
    for exhibit in (
        "Table 1",
        "Table 2",
        "Table 3",
        "Table 4",
        "Table 5",
        *(f"Figure {i}" for i in (1, 3, 4, 5, 6, 7)),
    ):
        assert f"## {exhibit}" in page
        assert any(row["exhibit"].startswith(exhibit) for row in rows)


@pytest.fixture(scope="module")
def publish():
    spec = importlib.util.spec_from_file_location("publish_results", ROOT / "docs" / "publish_results.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_links_to_what_is_not_published_become_text(publish, tmp_path):
    (tmp_path / "a.png").touch()
    text = "![A](a.png) ![B](b.png) [page](x.html) [site](https://example.org) [head](#head)"
    assert publish._linked(text, tmp_path) == (
        "![A](a.png) *(B: `b.png`, which the command writes, is not published.)* page (`x.html`) "
        "[site](https://example.org) [head](#head)"
    )
