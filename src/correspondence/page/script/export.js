/* The view as a picture to keep: PNG at twice its size, or SVG whose texts are texts and whose points are shapes, unless there
   are too many. Both hold what is seen of the plane, its titles and the legend. */

const MOST_SHAPES = 5000, SCALE = 2, ROW = 22, BAR = 160;  // points of an SVG; pixels of PNG for one of the page; height of a row of the legend, width of a scale

class Exporter {
  constructor(page) {
    this.page = page;
    $("png").addEventListener("click", () => this.savePng());
    $("svg").addEventListener("click", () => this.saveSvg());
  }
  get name() { return document.title.trim().toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 60) || "view"; }

  async savePng() {
    const { width, height } = this.measure(), canvas = make("canvas"), context = canvas.getContext("2d");
    [canvas.width, canvas.height] = [width * SCALE, height * SCALE];
    context.scale(SCALE, SCALE);
    this.draw(context, pane => context.drawImage(this.photograph(pane), 0, 0, pane.width, pane.height));
    const blob = await new Promise(done => canvas.toBlob(done, "image/png"));
    download(`${this.name}.png`, blob);
    this.page.tell(`Saved ${canvas.width} × ${canvas.height} pixels.${this.tellLeftOut()}`);
  }
  saveSvg() {
    const { width, height } = this.measure(), context = new SvgContext(width, height), notes = [];
    this.draw(context, pane => {
      const n = this.countPoints(pane);
      if (n <= MOST_SHAPES) return pane.drawShapes(context);
      context.drawImage(this.photograph(pane), 0, 0, pane.width, pane.height);
      notes.push(`${n.toLocaleString("en")} points are an embedded picture, since more than ${MOST_SHAPES.toLocaleString("en")} shapes make a file too heavy.`);
    });
    const said = notes.join(" ") || "All points are shapes.";
    download(`${this.name}.svg`, new Blob([context.finish(document.title, `${$("note").textContent} ${said}`)], { type: "image/svg+xml" }));
    this.page.tell(`Saved. ${said}${this.tellLeftOut()}`);
  }
  tellLeftOut() { return this.page.multiples.isOpen ? " The small planes are not in it." : ""; }

  /* --- what is in the picture */

  measure() {
    const { panes } = this.page, box = $("plane").getBoundingClientRect();
    this.places = panes.map(pane => {
      const own = pane.root.getBoundingClientRect();
      return [own.left - box.left, own.top - box.top];
    });
    const width = Math.max(...panes.map((pane, k) => this.places[k][0] + pane.width)), high = Math.max(...panes.map((pane, k) => this.places[k][1] + pane.height));
    this.rows = this.layLegend(width);
    return { width: Math.round(width), height: Math.round(high + (this.rows.length ? this.rows.length * ROW + 8 : 0)), high };
  }
  draw(context, drawPoints) {
    const { width, height, high } = this.measure(), { panes } = this.page;
    context.fillStyle = this.page.style.paper;
    context.fillRect(0, 0, width, height);
    panes.forEach((pane, k) => {
      context.save();
      context.translate(...this.places[k]);
      context.beginPath();
      context.rect(0, 0, pane.width, pane.height);
      context.clip();
      drawPoints(pane);
      pane.tell("paint", context);
      context.restore();
    });
    this.drawLegend(context, high + 8);
    panes.forEach(pane => pane.paint());
  }
  /* The colours of a number, from low to high. */
  drawBar(context, x, y) {
    const steps = 40;
    for (let k = 0; k < steps; k++) {
      context.fillStyle = css(scaleColour((k + .5) / steps, this.page.isDark));
      context.fillRect(x + k * BAR / steps, y - 5, BAR / steps + (k < steps - 1 ? .5 : 0), 10);  // without gaps between
    }
  }
  countPoints(pane) { return [...pane.seen(Array.from({ length: pane.xy.length / 2 }, (_, i) => i))].length; }
  /* The points alone, larger than on the screen. */
  photograph(pane) {
    const copy = make("canvas");
    [copy.width, copy.height] = [pane.width * SCALE, pane.height * SCALE];
    pane.drawAt(SCALE, () => copy.getContext("2d").drawImage(pane.points, 0, 0, copy.width, copy.height));
    return copy;
  }
  /* What the legends of the page show, as rows of a width. */
  layLegend(width) {
    const rows = [], ruler = make("canvas").getContext("2d");
    ruler.font = `12px ${FONT}`;
    for (const legend of document.querySelectorAll(".screen .legend")) {
      const items = [...legend.querySelectorAll(".chip, .key, .scale > *, .told")].filter(item => item.getAttribute("aria-pressed") !== "false" && item.offsetParent);
      let x = Infinity;
      for (const item of items) {
        const dot = item.querySelector(".dot"), isBar = item.dataset.scale === "yes", [said] = item.querySelector(".cross") ? item.childNodes : [item];
        const text = isBar ? "" : short(said.textContent, 60), wide = isBar ? BAR + 8 : ruler.measureText(text).width + (dot ? 16 : 0) + (item.parentElement.matches(".scale") ? 8 : 18);
        if (x + wide > width) { rows.push([]); x = 8; }
        rows.at(-1).push({ x, text, isBar, dot: dot && getComputedStyle(dot).backgroundColor, colour: getComputedStyle(item).color });
        x += wide;
      }
    }
    return rows;
  }
  drawLegend(context, top) {
    this.rows.forEach((row, k) => row.forEach(({ x, text, isBar, dot, colour }) => {
      const y = top + (k + .5) * ROW;
      if (isBar) return this.drawBar(context, x, y);
      if (dot) { context.beginPath(); context.arc(x + 5, y, 5, 0, 7); context.fillStyle = dot; context.fill(); }
      write(context, text, x + (dot ? 16 : 0), y, { font: `12px ${FONT}`, colour, align: "left" });
    }));
  }
}
