/* Small planes: one for each group of a column, with all other points grey behind; a click on one filters the page by its
   group. All have the axes of the first plane and its whole view. */

const MOST_PANELS = 12, SHARPNESS = 2;  // pixels of a canvas for one of the page

class Multiples {
  constructor(page) {
    this.page = page;
    this.box = $("multiples");
    this.fields = page.model.fields.filter(field => field.isNumber || (field.order.length > 1 && !field.missing.has(field.order[0])));
    $("split").closest("label").hidden = !this.fields.length || !page.model.role("x").n;
    $("split").replaceChildren(option("", "nothing"), ...this.fields.map(({ key, name }) => option(key, short(name, 28))));
    $("split").addEventListener("change", () => this.show());
    page.state.add("split", {
      get: () => $("split").value, check: value => value === "" || this.fields.some(({ key }) => key === value),
      set: value => { if (value === $("split").value) return; $("split").value = value; this.show(); },
    });
    new ResizeObserver(() => this.draw()).observe(this.box);
  }
  get field() { return this.page.model.field($("split").value); }
  get isOpen() { return !this.box.hidden; }

  /* A panel for each group, as many as fit; what is left out is counted. */
  show() {
    const { field } = this;
    this.box.hidden = !field;
    this.panels = field ? this.listPanels(field) : [];
    const said = field ? this.tellRest(field) : "";
    this.box.replaceChildren(...(said ? [make("p", "soft", `Not shown: ${said}.`)] : []), ...this.panels.map(panel => panel.button));
    this.page.panes.forEach(plane => plane.draw());
    this.draw();
  }
  /* What has no panel: groups beyond the commonest, and points without a value. */
  tellRest(field) {
    const rest = field.isNumber ? [] : field.order.filter(code => !field.missing.has(code) && !this.panels.some(panel => panel.code === code));
    const points = rest.reduce((sum, code) => sum + field.counts[code], 0), missing = field.nMissing;
    const groups = points ? `${count(rest.length, "group", "groups")} with ${count(points, "point", "points")}` : "";
    return [groups, missing ? `${count(missing, "point", "points")} without a value` : ""].filter(Boolean).join(" and ");
  }
  listPanels(field) {
    const quarters = field.isNumber ? this.page.colouring.cutQuarters(field) : null;
    const codes = quarters ? quarters.names.map((_, code) => code) : field.order.filter(code => !field.missing.has(code)).slice(0, MOST_PANELS);
    this.codes = quarters ? quarters.codes : field.values;
    const counts = new Map();
    for (const code of this.codes) counts.set(code, (counts.get(code) || 0) + 1);
    if (!quarters) codes.sort((a, b) => a - b);
    return codes.filter(code => counts.has(code)).map(code => {
      const name = quarters ? quarters.names[code] : field.labels[code], canvas = make("canvas"), n = (counts.get(code) || 0).toLocaleString("en");
      const button = makeButton("panel", canvas, make("span", "name", short(name, 40)), make("span", "soft", n));
      button.title = `Show ${short(name, 80)} alone, or all again`;
      button.addEventListener("click", () => this.take(code));
      return { code, canvas, button };
    });
  }
  /* The filter that leaves a group, which a second click removes. */
  filterOf(code) {
    const { field } = this, { key } = field;
    if (!field.isNumber) return { key, keep: [code] };
    const own = Array.from(field.values).filter((_, j) => this.codes[j] === code);
    return { key, low: own.reduce((a, b) => Math.min(a, b), Infinity), high: own.reduce((a, b) => Math.max(a, b), -Infinity), missing: false };
  }
  take(code) {
    const { filters } = this.page, others = filters.list.filter(one => one.key !== this.field.key);
    filters.set(this.isTaken(code) ? others : [...others, this.filterOf(code)]);
  }
  isTaken(code) {
    const own = this.page.filters.list.find(one => one.key === this.field.key);
    return !!own && JSON.stringify(own) === JSON.stringify(this.filterOf(code));
  }

  /* --- drawing */

  /* Points, colours or filters may be others than before. */
  draw() {
    if (!this.isOpen || this.waiting) return;
    this.waiting = requestAnimationFrame(() => { this.waiting = 0; if (this.isOpen) this.paint(); });
  }
  paint() {
    const { field, page } = this, [cloud] = field.clouds, [left, right, bottom, top] = page.plane.whole;
    const { width, height } = this.panels[0].canvas.getBoundingClientRect();
    if (!width) return;
    const [wide, high] = [width, height].map(side => Math.round(side * SHARPNESS));
    const zoom = Math.min(wide / (right - left), high / (top - bottom)) * .94, { xy } = page.plane;
    const place = i => [wide / 2 + (xy[2 * i] - (left + right) / 2) * zoom, high / 2 - (xy[2 * i + 1] - (bottom + top) / 2) * zoom];
    // What other filters hide is not drawn; the filter of this column is what the panels are there to choose.
    const mask = new Uint8Array(page.model.size);
    for (const one of page.filters.list) if (one.key !== field.key) page.filters.hide.call({ page, mask }, one);
    const at = new Int32Array(2 * cloud.n), size = cloud.n > 20000 ? 2 : cloud.n > 2000 ? 3 : cloud.n > 300 ? 4 : 6;
    for (let j = 0; j < cloud.n; j++) {
      const [x, y] = mask[cloud.start + j] ? [-1e6, -1e6] : place(cloud.start + j);
      at[2 * j] = x - size / 2;
      at[2 * j + 1] = y - size / 2;
    }
    const back = new ImageData(wide, high), grey = rgb(page.style.soft), colours = this.colours();
    for (let j = 0; j < cloud.n; j++) dot(back, at[2 * j], at[2 * j + 1], size, grey, 70);
    for (const panel of this.panels) {
      const image = new ImageData(new Uint8ClampedArray(back.data), wide, high), context = panel.canvas.getContext("2d");
      for (let j = 0; j < cloud.n; j++) if (this.codes[j] === panel.code) dot(image, at[2 * j], at[2 * j + 1], size, colours[panel.code], 255);
      [panel.canvas.width, panel.canvas.height] = [wide, high];
      context.putImageData(image, 0, 0);
      this.drawCentre(context, wide / 2 - (left + right) / 2 * zoom, high / 2 + (bottom + top) / 2 * zoom);
      panel.button.setAttribute("aria-pressed", String(this.isTaken(panel.code)));
    }
  }
  /* The colours that the groups have in the first plane, if these colour it. */
  colours() {
    const { colouring, style } = this.page, { groups } = colouring;
    const isOwn = groups && colouring.field === this.field, accent = rgb(style.x);
    return Object.fromEntries(this.panels.map(({ code }) => [code, isOwn ? groups.isFinal ? rgb(groups.colours[code]) : this.page.readable(groups.colours[code]) : accent]));
  }
  drawCentre(context, x, y) {
    Object.assign(context, { strokeStyle: this.page.style.line, lineWidth: 1, globalCompositeOperation: "destination-over" });
    line(context, [[x, 0], [x, context.canvas.height]]);
    line(context, [[0, y], [context.canvas.width, y]]);
  }
}

/* A square of a colour in an image, whose points do not add up. */
function dot({ data, width, height }, left, top, size, [red, green, blue], alpha) {
  if (left < 0 || top < 0 || left + size > width || top + size > height) return;
  for (let y = top; y < top + size; y++) for (let x = left; x < left + size; x++) {
    const at = 4 * (y * width + x);
    data[at] = red; data[at + 1] = green; data[at + 2] = blue; data[at + 3] = alpha;
  }
}
