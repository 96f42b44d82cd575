"""The explorer page with many points, against plotly's scattergl with the same points: `make bench`.

Both are opened from a file in chromium without a GPU, so that points are drawn by software. Size of the file, time
until the points are there, and frames while the view is moved by a few pixels each.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "2")

import argparse
import resource
import shutil
import tempfile
import time
from pathlib import Path

import numpy as np
from playwright.sync_api import sync_playwright

import correspondence as co

OURS = {
    "ready": "document.documentElement.dataset.ready === 'yes'",
    "move": "k => explorer.plane.panBy(k % 2 ? 4 : -3, 1)",
}
PLOTLY = {
    "ready": "window.drawn === true",
    "move": "k => Plotly.relayout(document.querySelector('.js-plotly-plot'), "
    "{'xaxis.range': [-3 + k / 50, 3 + k / 50], 'yaxis.range': [-3 + k / 90, 3 + k / 90]})",
}
NOTED = "window.drawn = true;"  # plotly runs it after the first drawing
FRAMES = """async move => { const step = eval(move), times = [];
  for (let k = 0, last = performance.now(); k < 40; k++) {
    step(k);
    await new Promise(requestAnimationFrame);
    times.push(performance.now() - last);
    last = performance.now();
  }
  times.sort((a, b) => a - b);
  return [times[20], times[38]]; }"""


def write_pages(n, most, folder, has_peer):
    """Write the same pairs as both pages, or as ours alone; of our page, at most so many points are drawn."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, 4)).astype(np.float32)
    labels = np.array([f"class {i}" for i in range(12)], object)
    y = labels[(x @ rng.normal(size=(4, 12)) + rng.gumbel(size=(n, 12))).argmax(axis=1)]
    est = co.CCA(n_components=4).fit(x, y)
    start = time.perf_counter()
    ours = co.explore(est, x, y, max_points=most).save(folder / "ours.html")
    written = time.perf_counter() - start
    if not has_peer:
        return {"explore": (ours, written)}
    import plotly.graph_objects as go

    F = est.transform(x).astype(np.float32)
    text = [f"{label}<br>{a:.3g}, {b:.3g}, {c:.3g}, {d:.3g}" for label, (a, b, c, d) in zip(y, x, strict=True)]
    codes = np.unique(y, return_inverse=True)[1]
    points = go.Scattergl(x=F[:, 0], y=F[:, 1], mode="markers", text=text, marker={"size": 3, "color": codes})
    peer = folder / "plotly.html"
    start = time.perf_counter()
    go.Figure([points]).write_html(peer, include_plotlyjs=True, post_script=NOTED)
    return {"explore": (ours, written), "plotly": (peer, time.perf_counter() - start)}


def open_page(driver, path, how):
    """Measure the seconds until the page is drawn, and milliseconds of a frame: the median, and one of the slowest."""
    browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"])
    try:
        # The policy of our page forbids eval, with which playwright looks into a page.
        context = browser.new_context(offline=True, bypass_csp=True, viewport={"width": 1300, "height": 900})
        page = context.new_page()
        start = time.perf_counter()
        page.goto(path.as_uri())
        page.wait_for_function(how["ready"], timeout=120_000)
        loaded = time.perf_counter() - start
        page.wait_for_timeout(1000)
        return loaded, *page.evaluate(FRAMES, how["move"])
    finally:
        browser.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--most", type=int, help="draw so many of the points, by default all")
    parser.add_argument("--alone", action="store_true", help="leave out plotly")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        made = write_pages(options.points, options.most or options.points, Path(folder), not options.alone)
        measured = {name: [] for name in made}
        for _ in range(options.repeats):
            for name, (path, _) in made.items():
                measured[name].append(open_page(driver, path, {"explore": OURS, "plotly": PLOTLY}[name]))
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        said = f"{options.points:,} points, peak memory {memory:,.0f} MB, best of {options.repeats}"
        print(f"{said} (load average {os.getloadavg()[0]:.1f})")
        print(f"  {'':<9}{'MB':>7}{'written s':>11}{'loaded s':>10}{'frame ms':>10}{'slow frame ms':>15}")
        best = {name: np.min(values, axis=0) for name, values in measured.items()}
        for name, (path, written) in made.items():
            loaded, frame, slow = best[name]
            size = path.stat().st_size / 1e6
            print(f"  {name:<9}{size:>7.2f}{written:>11.2f}{loaded:>10.2f}{frame:>10.0f}{slow:>15.0f}")
        if options.alone:
            return
        ratios = [made["explore"][0].stat().st_size / made["plotly"][0].stat().st_size]
        ratios += [a / b for a, b in zip(best["explore"], best["plotly"], strict=True)]
        print("  ratio: size {:.2f}, loading {:.2f}, frame {:.2f}, slow frame {:.2f}".format(*ratios))


if __name__ == "__main__":
    main()
