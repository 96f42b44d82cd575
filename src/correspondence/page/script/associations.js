/* Associations of columns: a heatmap on a canvas, the card of a pair, and the table of all pairs. Columns are numbered in
   the order of the heatmap; a pair is the position of its cell, row times the number of columns plus column. */

const MOST_ROWS = 200, MOST_WRITTEN = 20, MOST_HOLLOW = 60, LEAST_NAMED = 9, PALE = .2;  // LEAST_NAMED: pixels of a cell
const DARK_COLOURS = ["#202a36", "#1d4a6e", "#2579ad", "#62b2e8", "#d9efff"];
const COLUMNS = [["x", "x"], ["y", "y"], ["correlations", "correlation"], ["captured", "captured"], ["predicted", "y from x"], ["back", "x from y"], ["pvalues", "p-value"], ["n_pairs", "rows"]];

class Associations {
  constructor(data) {
    this.data = data;
    this.k = data.names.length;
    this.root = $("heat");
    this.canvas = this.root.querySelector("canvas");
    this.context = this.canvas.getContext("2d");
    this.chosen = this.hovered = -1;
    this.sorted = { by: "correlations", sign: -1 };
    this.pairs = this.listPairs();
    this.picture = new PairPicture(this);
    this.layout = new Layout(document.querySelector(".screen"));
    this.setTheme();
    this.setHeat();
    this.setTable();
    new ResizeObserver(() => this.resize()).observe(this.root);
    this.resize();
    this.fillTable();
  }

  /* --- pairs */

  /* Every pair that was tested, once; with a target, this is y. */
  listPairs() {
    const { k, data } = this, pairs = [];
    for (let i = 0; i < k; i++) for (let j = data.target === null ? i + 1 : 0; j < k; j++) {
      if (i === j || (data.target !== null && j !== data.target)) continue;
      if (!Number.isNaN(data.arrays.correlations[i * k + j])) pairs.push(i * k + j);
    }
    return pairs;
  }
  ends(pair) { return [Math.floor(pair / this.k), pair % this.k]; }
  mirror(pair) { const [i, j] = this.ends(pair); return j * this.k + i; }
  figure(pair, name) {
    const { arrays, names } = this.data, [i, j] = this.ends(pair);
    if (name === "x" || name === "y") return names[name === "x" ? i : j];
    return name === "back" ? arrays.predicted[this.mirror(pair)] : arrays[name][pair];
  }
  describe(pair) {
    const [x, y] = [this.figure(pair, "x"), this.figure(pair, "y")], list = make("dl");
    const told = [["correlation", write(this.figure(pair, "correlations"))], ["captured", write(this.figure(pair, "captured"))],
      [`${short(y, 24)} from ${short(x, 24)}`, write(this.figure(pair, "predicted"))], [`${short(x, 24)} from ${short(y, 24)}`, write(this.figure(pair, "back"))],
      ["p-value", writeChance(this.figure(pair, "pvalues"))], ["rows", this.figure(pair, "n_pairs").toLocaleString("en")]];
    for (const [name, value] of told) list.append(make("dt", "", name), make("dd", "", value));
    const chance = this.data.arrays.found[pair] ? [] : [make("p", "soft", "May be chance.")];
    const kinds = this.ends(pair).map(i => this.data.kinds[i]).join(" \u2013 ");
    return [make("strong", "", `${x} \u2013 ${y}`), make("span", "soft", kinds), list, ...chance];
  }
  /* Show a pair beside the heatmap and in the table. */
  choose(pair) {
    this.chosen = pair;
    $("hint").hidden = pair >= 0;
    $("card").hidden = pair < 0;
    this.fillCard();
    $("said").textContent = pair < 0 ? "" : `${this.figure(pair, "x")} and ${this.figure(pair, "y")}: ${write(this.figure(pair, this.values))}`;
    this.fillTable();
    this.draw();
  }

  /* The figures of the chosen pair, and its picture if the page has the data. */
  fillCard() {
    const { chosen } = this;
    $("card").replaceChildren(...(chosen < 0 ? [] : [...this.describe(chosen), ...this.picture.make(...this.ends(chosen))]));
  }

  /* --- the heatmap */

  get values() { return $("values").value; }
  setHeat() {
    $("values").addEventListener("change", () => { this.describeHeat(); this.redraw(); });
    const { canvas } = this;
    // A finger hides what it points at; what it touches is shown below.
    canvas.addEventListener("pointermove", event => { if (event.pointerType !== "touch") this.hover(this.cellAt(event), event); });
    canvas.addEventListener("pointerleave", () => this.hover(-1));
    canvas.addEventListener("click", event => { const cell = this.cellAt(event); this.choose(cell === this.chosen ? -1 : cell); });
    this.root.addEventListener("keydown", event => {
      const by = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
      if (event.key === "Escape") this.choose(-1);
      if (!by) return;
      event.preventDefault();
      let [i, j] = this.chosen < 0 ? [0, 0] : this.ends(this.chosen);
      const step = () => { i = Math.min(this.k - 1, Math.max(0, i + by[0])); j = Math.min(this.k - 1, Math.max(0, j + by[1])); };
      step();
      if (i === j) step();
      if (i !== j) this.choose(i * this.k + j);
    });
    this.describeHeat();
  }
  describeHeat() {
    const { limit } = this.data.values[this.values], direction = this.values === "predicted" ? " A cell tells how much of the column below is predicted by the column at its left." : "";
    const look = this.k > MOST_HOLLOW ? "Pale" : "Hollow";
    $("note").textContent = `${look}: may be chance (false discovery rate ${+(100 * this.data.alpha).toPrecision(3)} %).${direction}`;
    $("scale").replaceChildren(make("span", "", "0"), make("span", "bar"), make("span", "", String(+limit.toPrecision(3))));
    this.paintScale();
  }
  paintScale() {
    const bar = $("scale").querySelector(".bar");
    if (bar) bar.style.background = `linear-gradient(to right, ${this.colours.join(",")})`;
  }
  get colours() { return this.isDark ? DARK_COLOURS : this.data.colours; }
  /* Colour of a figure between 0 and the limit; of one that is not known that of 0. */
  shade(share) {
    return mixColours(this.colours.map(rgb), share > 0 ? Math.min(1, share) : 0);
  }
  resize() {
    if (!this.root.clientWidth) return;
    const width = this.chooseSide();
    this.ratio = Math.min(window.devicePixelRatio || 1, 2);
    const font = Math.min(13, Math.max(9, 420 / this.k));
    this.font = `${font}px ${FONT}`;
    this.context.font = this.font;
    const longest = Math.max(...this.data.names.map(name => this.context.measureText(short(name, 24)).width));
    this.margin = Math.min(longest + 8, .3 * width);
    this.cell = (width - this.margin) / this.k;
    if (this.cell < LEAST_NAMED) { this.margin = 0; this.cell = width / this.k; }
    const side = this.margin + this.cell * this.k;
    this.canvas.style.width = this.canvas.style.height = `${side}px`;
    this.canvas.width = this.canvas.height = Math.round(side * this.ratio);
    this.redraw();
  }
  /* Pixels of a side of the heatmap: on a wide screen it fits the height, and leaves room for the card beside it. */
  chooseSide() {
    const room = document.querySelector("main").clientWidth;
    const most = room > 960 ? Math.min(room - 470, Math.max(280, this.root.clientHeight)) : this.root.clientWidth;
    return Math.min(most, 120 + 90 * this.k);
  }
  cellAt(event) {
    const box = this.canvas.getBoundingClientRect();
    const i = Math.floor((event.clientY - box.top) / this.cell), j = Math.floor((event.clientX - box.left - this.margin) / this.cell);
    const isCell = i >= 0 && j >= 0 && i < this.k && j < this.k && i !== j && !Number.isNaN(this.data.arrays.correlations[i * this.k + j]);
    return isCell ? i * this.k + j : -1;
  }
  hover(pair, event) {
    const tip = $("tip");
    if (pair !== this.hovered) { this.hovered = pair; tip.replaceChildren(...(pair < 0 ? [] : this.describe(pair))); this.draw(); }
    tip.hidden = pair < 0;
    if (pair < 0) return;
    const box = this.root.getBoundingClientRect(), [x, y] = [event.clientX - box.left, event.clientY - box.top];
    tip.style.left = `${Math.max(0, Math.min(x + 16, this.root.clientWidth - tip.offsetWidth))}px`;
    tip.style.top = `${y + 20 + tip.offsetHeight > this.root.clientHeight ? Math.max(0, y - tip.offsetHeight - 12) : y + 20}px`;
  }
  /* Draw with other cells than before; hovering and choosing leave these as they are. */
  redraw() { this.cells = null; this.draw(); }
  draw() {
    if (this.waiting || !this.cell) return;
    this.waiting = requestAnimationFrame(() => { this.waiting = 0; this.paint(); });
  }
  paint() {
    const { context, canvas, style } = this;
    this.cells ??= this.drawCells();
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.drawImage(this.cells, 0, 0);
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    this.writeNames();
    for (const [pair, colour, width] of [[this.hovered, style.ink, 1.5], [this.chosen, style.accent, 3]]) if (pair >= 0) this.frame(pair, colour, width);
  }
  drawCells() {
    const { k, cell, margin, style } = this, { limit } = this.data.values[this.values], { found } = this.data.arrays;
    const figures = this.data.arrays[this.values], paper = rgb(style.paper), isHollow = k <= MOST_HOLLOW, gap = cell > 6 ? 1 : -.5;
    const drawn = make("canvas"), context = drawn.getContext("2d");
    drawn.width = drawn.height = this.canvas.width;
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    for (let i = 0; i < k; i++) for (let j = 0; j < k; j++) {
      const at = i * k + j, isTested = i !== j && !Number.isNaN(figures[at]), left = margin + j * cell, top = i * cell;
      if (isTested && !found[at] && isHollow) { this.drawHollow(context, left, top); continue; }
      const shade = this.shade(figures[at] / limit);
      const colour = !isTested ? rgb(style.band) : found[at] ? shade : shade.map((part, c) => Math.round(paper[c] + PALE * (part - paper[c])));
      context.fillStyle = css(colour);
      context.fillRect(left, top, cell - gap, cell - gap);
    }
    if (k <= MOST_WRITTEN && cell >= 26) this.writeFigures(context, figures, limit);
    return drawn;
  }
  drawHollow(context, left, top) {
    const { cell } = this, side = cell * (this.k <= MOST_WRITTEN ? .72 : .34), start = (cell - side) / 2;
    context.strokeStyle = this.style.line;
    context.lineWidth = 1;
    context.strokeRect(left + start, top + start, side, side);
  }
  writeFigures(context, figures, limit) {
    const { cell, margin, k } = this, { found } = this.data.arrays;
    Object.assign(context, { font: `${Math.min(12, cell / 3)}px ${FONT}`, textAlign: "center", textBaseline: "middle" });
    for (let i = 0; i < k; i++) for (let j = 0; j < k; j++) {
      const at = i * k + j;
      if (i === j || Number.isNaN(figures[at])) continue;
      const isOnDark = luminance(this.shade(figures[at] / limit)) < .3;
      context.fillStyle = !found[at] ? this.style.soft : isOnDark ? "#ffffff" : "#1c2330";
      context.fillText(write(figures[at]).replace("0.", "."), margin + (j + .5) * cell, (i + .5) * cell);
    }
  }
  writeNames() {
    const { context, k, cell, margin, style } = this;
    if (!margin) return;
    const [row, column] = this.hovered >= 0 ? this.ends(this.hovered) : this.chosen >= 0 ? this.ends(this.chosen) : [-1, -1];
    Object.assign(context, { font: this.font, textBaseline: "middle", textAlign: "right" });
    this.data.names.forEach((name, i) => {
      const text = this.fit(short(name, 24), margin - 8);
      context.fillStyle = i === row ? style.accent : style.ink;
      context.fillText(text, margin - 6, (i + .5) * cell);
      context.save();
      context.translate(margin + (i + .5) * cell, k * cell + 6);
      context.rotate(-Math.PI / 2);
      context.fillStyle = i === column ? style.accent : style.ink;
      context.fillText(text, 0, 0);
      context.restore();
    });
  }
  /* A text cut to a number of pixels. */
  fit(text, most) {
    const isTooLong = length => this.context.measureText(length < text.length ? `${text.slice(0, length)}…` : text).width > most;
    let length = text.length;
    while (length > 1 && isTooLong(length)) length -= 1;
    return length < text.length ? `${text.slice(0, length)}…` : text;
  }
  frame(pair, colour, width) {
    const { context, cell, margin } = this, [i, j] = this.ends(pair);
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.strokeRect(margin + j * cell - 1, i * cell - 1 + (i ? 0 : 2), Math.max(cell, 4) + 1, Math.max(cell, 4) + 1);
  }

  /* --- the table */

  setTable() {
    for (const [key, text] of COLUMNS) {
      const button = makeButton("plain", text), head = header("");
      head.append(button);
      head.dataset.key = key;
      button.addEventListener("click", () => {
        const isText = key === "x" || key === "y", first = isText || key === "pvalues" ? 1 : -1;
        this.sorted = { by: key, sign: this.sorted.by === key ? -this.sorted.sign : first };
        this.fillTable();
      });
      $("heads").append(head);
    }
    for (const id of ["search", "sure"]) $(id).addEventListener("input", () => this.fillTable());
    document.addEventListener("keydown", event => {
      if (event.key !== "/" || event.target.closest("input, select") || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      $("search").focus();
    });
  }
  /* Pairs that are wanted, in the order chosen. */
  seenPairs() {
    const wanted = $("search").value.trim().toLowerCase(), { by, sign } = this.sorted, { found } = this.data.arrays;
    const lower = this.lower ??= this.data.names.map(name => name.toLowerCase());
    const kept = this.pairs.filter(pair => (!$("sure").checked || found[pair]) && (!wanted || this.ends(pair).some(i => lower[i].includes(wanted))));
    const value = pair => this.figure(pair, by);
    const compare = by === "x" || by === "y" ? (a, b) => value(a).localeCompare(value(b)) : (a, b) => (value(a) - value(b)) || 0;
    return kept.sort((a, b) => sign * compare(a, b));
  }
  fillTable() {
    const seen = this.seenPairs(), own = this.chosen < 0 ? -1 : this.pairs.includes(this.chosen) ? this.chosen : this.mirror(this.chosen);
    const shown = seen.slice(0, MOST_ROWS), at = seen.indexOf(own);
    if (at >= MOST_ROWS || (at < 0 && own >= 0)) shown.unshift(own);  // the chosen pair is always there
    $("counted").textContent = seen.length > MOST_ROWS ? `the first ${MOST_ROWS} of ${seen.length.toLocaleString("en")}` : `${seen.length.toLocaleString("en")} pairs`;
    for (const head of $("heads").children) head.setAttribute("aria-sort", head.dataset.key !== this.sorted.by ? "none" : this.sorted.sign > 0 ? "ascending" : "descending");
    $("rows").replaceChildren(...shown.map(pair => this.makeRow(pair, pair === own)));
    const row = $("rows").querySelector(".chosen"), box = $("rows").closest(".scroll"), top = row ? row.offsetTop : 0;
    if (row && (top < box.scrollTop + 40 || top > box.scrollTop + box.clientHeight - 60)) box.scrollTop = top - box.clientHeight / 3;
  }
  makeRow(pair, isChosen) {
    const row = make("tr", [isChosen ? "chosen" : "", this.data.arrays.found[pair] ? "" : "chance"].join(" ").trim());
    for (const [key] of COLUMNS) {
      const value = this.figure(pair, key), isText = key === "x" || key === "y";
      const text = isText ? short(value, 60) : key === "pvalues" ? writeChance(value) : key === "n_pairs" ? value.toLocaleString("en") : write(value);
      const cell = make("td", isText ? "name" : "");
      if (key === "x") {
        const button = makeButton("plain", text);
        button.addEventListener("click", event => { event.stopPropagation(); this.choose(isChosen ? -1 : pair); });
        cell.append(button);
      } else cell.append(text);
      if (key === "correlations") { const bar = make("span", "bar"); bar.style.width = `calc((100% - 1.2rem) * ${Math.max(0, value)})`; cell.append(bar); }
      row.append(cell);
    }
    row.addEventListener("click", () => this.choose(isChosen ? -1 : pair));
    return row;
  }

  /* --- light and dark, paper */

  setTheme() {
    const media = matchMedia("(prefers-color-scheme: dark)");
    let theme = "auto", before = "auto";
    const apply = () => {
      this.isDark = theme === "auto" ? media.matches : theme === "dark";
      document.documentElement.dataset.theme = this.isDark ? "dark" : "light";
      const style = getComputedStyle(document.documentElement);
      this.style = Object.fromEntries(["ink", "soft", "line", "paper", "band", "accent"].map(name => [name, style.getPropertyValue(`--${name}`).trim()]));
      $("theme").textContent = { auto: "◐ auto", light: "☀ light", dark: "☾ dark" }[theme];
      this.paintScale();
      this.redraw();
      if (this.picture && this.chosen >= 0) this.fillCard();
    };
    media.addEventListener("change", apply);
    $("theme").addEventListener("click", () => { theme = { auto: "light", light: "dark", dark: "auto" }[theme]; apply(); });
    $("print").addEventListener("click", () => window.print());
    addEventListener("beforeprint", () => { before = theme; theme = "light"; apply(); this.paint(); });
    addEventListener("afterprint", () => { theme = before; apply(); });
    apply();
  }
}

function write(value) { return Number.isNaN(value) ? "–" : value.toFixed(2).replace("-", "−").replace(/^−0\.00$/, "0.00"); }
function writeChance(value) { return Number.isNaN(value) ? "–" : value < .0001 ? "< 0.0001" : value.toPrecision(2); }

(async () => {
  try {
    window.explorer = new Associations(await unpack($("data").textContent));
    document.documentElement.dataset.ready = "yes";
  } catch (error) {
    $("problem").hidden = false;
    $("problem").textContent = `This browser cannot show the pairs (${error.message}).`;
    throw error;
  }
})();
