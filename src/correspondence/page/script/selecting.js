/* Selecting points: by a box or a lasso, instead of those selected before, beside them or without them; the others. */

class Selecting {
  constructor(page) {
    this.page = page;
    this.source = "plane";  // or "category", or "outside": whether the axes decided what is selected
    $("select").addEventListener("click", () => this.setActive(!page.plane.selecting));
    $("drawn").addEventListener("change", () => { page.plane.isLasso = $("drawn").value === "lasso"; this.setActive(true); });
    $("invert").addEventListener("click", () => this.invert());
    $("export").addEventListener("click", () => page.save());
    $("clear").addEventListener("click", () => page.select([]));
  }
  setActive(isActive) {
    this.page.plane.selecting = isActive;
    $("select").setAttribute("aria-pressed", String(isActive));
  }
  /* Points were drawn around, or chosen in a legend: what becomes of the selection. */
  take(points, source = "plane", mode = $("mode").value) {
    const { page } = this, before = page.selection, shown = points.filter(i => page.plane.isShown(i));
    const own = new Set(shown), known = new Set(before);
    this.source = mode !== "replace" && before.length && this.source === "plane" ? "plane" : source;
    if (mode === "add") page.select([...before, ...shown.filter(i => !known.has(i))]);
    else page.select(mode === "subtract" ? before.filter(i => !own.has(i)) : shown);
  }
  /* Select the others of the kinds of points that are selected, or all. */
  invert() {
    const { page } = this, { plane, model } = page, known = new Set(page.selection), points = [];
    const clouds = new Set(page.selection.map(i => model.find(i)[0]));
    for (const cloud of clouds.size ? clouds : [model.role("x")]) {
      for (let i = cloud.start; i < cloud.start + cloud.n; i++) if (!known.has(i) && plane.isShown(i)) points.push(i);
    }
    page.select(points);
  }
  /* What is hidden is not selected. */
  dropHidden() {
    const { page } = this;
    if (page.selection.some(i => !page.plane.isShown(i))) page.select(page.selection.filter(i => page.plane.isShown(i)));
  }
}

/* Whether a place on the screen is inside a closed line, by the rays that it crosses. */
function isWithin([x, y], corners) {
  let isInside = false;
  for (let k = 0, before = corners.length - 1; k < corners.length; before = k++) {
    const [ax, ay] = corners[k], [bx, by] = corners[before];
    if ((ay > y) !== (by > y) && x < (bx - ax) * (y - ay) / (by - ay) + ax) isInside = !isInside;
  }
  return isInside;
}
