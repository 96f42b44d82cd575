"""Screenshots of the gallery: python docs/screenshots.py [FOLDER], after `make gallery` has made the pages.

FOLDER is where the commands of docs/gallery.md were run. Needs playwright and Debian's chromium.
"""

from __future__ import annotations

import shutil
import sys
from io import BytesIO
from pathlib import Path

from PIL import Image

IMAGES = Path(__file__).parent / "images"
WIDTH, HEIGHT = 1400, 900
MOST = 200_000  # bytes of a picture
CHOOSE = """([role, name]) => {
    const { model } = explorer, cloud = model.role(role);
    const points = Array.from({ length: cloud.n }, (_, j) => j);
    const nameOf = j => role === "x" && cloud.classes ? model.className(cloud, j) : cloud.labels[j];
    explorer.choose(cloud.start + points.find(j => nameOf(j) === name));
}"""
SHOW = """([id, isOn]) => { const box = document.getElementById(id); if (box.checked !== isOn) box.click(); }"""
PAGES = {  # where it is, the point that is chosen (of x the first of a class), and what is switched on or off
    "digits": ("correspondence-demo/digits.html", None, {"confused": True}),
    "hardest": ("correspondence-demo/hardest.html", None, {}),
    "science": ("gallery/science/report.html", None, {}),
    "poison": ("gallery/poison/report.html", None, {}),
    "dune": ("gallery/dune/report.html", None, {}),
    "decathlon": ("gallery/decathlon/report.html", None, {}),
    "cooking": ("results/cooking/cooking-explore.html", ("y", "indian"), {}),
    "wine": ("results/wine/wine-explore.html", ("x", "8"), {}),
    "noisy-mnist": ("results/multiview-noisy-mnist/multiview-noisy-mnist-explore.html", None, {}),
    # photographs belong to their makers
    "flickr": ("results/flickr/flickr-explore.html", ("y", "snow"), {"pictures": False}),
}


def main(folder: str = ".") -> None:
    """Take screenshots of the first screen of all pages."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        options = {"executable_path": shutil.which("chromium"), "args": ["--no-sandbox", "--disable-gpu"]}
        browser = driver.chromium.launch(**options)
        for name, (place, chosen, shown) in PAGES.items():
            path = Path(folder, place)
            if not path.is_file():
                print(f"{path} is missing: no picture of {name}.")
                continue
            # The policy of a page forbids eval, with which playwright looks into it.
            page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, bypass_csp=True)
            page.goto(path.resolve().as_uri())
            page.wait_for_selector("html[data-ready=yes]")
            for box, is_on in shown.items():
                page.evaluate(SHOW, [box, is_on])
            if not shown.get("pictures", True):
                page.add_style_tag(content="canvas.thumbnail { display: none }")  # those beside labels too
            if chosen is not None:
                page.evaluate(CHOOSE, list(chosen))
            page.wait_for_timeout(500)
            print(_saved(page.screenshot(), IMAGES / f"gallery-{name}.png"))
            page.close()
        browser.close()


def _saved(png: bytes, path: Path) -> str:
    """Write a picture with as many colours as its size allows."""
    picture = Image.open(BytesIO(png)).convert("RGB")
    how = {"method": Image.Quantize.MAXCOVERAGE, "kmeans": 1, "dither": Image.Dither.NONE}  # keeps rare colours
    for colours in (256, 128, 64, 32):
        picture.quantize(colours, **how).save(path, optimize=True)
        if path.stat().st_size <= MOST:
            break
    return f"{path}: {picture.width} x {picture.height}, {path.stat().st_size:,} bytes, {colours} colours"


if __name__ == "__main__":
    main(*sys.argv[1:])
