/* The picture of a pair of columns, from their values: a cross table of two categories, points or their density of two
   numbers, boxes of a number by category. */

const MOST_ACROSS = 6, MOST_DOWN = 12, MOST_POINTS = 2000, DENSITY_BINS = 44, PAIR_HEIGHT = 300;  // categories; points; bins of a side; pixels
const PAIR_MARGIN = { left: 56, bottom: 38, top: 8, right: 10 };

class PairPicture {
  constructor(page) { this.page = page; }
  get table() { return this.page.data.table; }
  /* Elements that show a pair; none if the page has no values of it. */
  make(i, j) {
    const { table } = this;
    if (!table || !table.columns[i] || !table.columns[j]) return [];
    const [x, y] = [i, j].map(k => new PairColumn(table.columns[k], this.page.data.arrays[`column.${k}`]));
    const known = Array.from({ length: table.rows }, (_, row) => row).filter(row => !x.isMissing(row) && !y.isMissing(row));
    const picture = x.labels && y.labels ? this.makeTable(x, y, known) : x.labels || y.labels ? this.makeBoxes(x.labels ? x : y, x.labels ? y : x, known) : this.makePoints(x, y, known);
    return [picture, make("p", "soft", this.describe(known.length))];
  }
  describe(n) {
    const { rows, given } = this.table, write = value => value.toLocaleString("en");
    const drawn = rows < given ? `${write(rows)} of ${write(given)} rows, drawn at random` : `${write(rows)} rows`, both = n < rows ? `; ${write(n)} have both values` : "";
    const before = this.page.data.given.length ? " Values are shown as they are, before what is given is taken out." : "";
    return `${drawn}${both}.${before}`;
  }

  /* --- two categories */

  makeTable(x, y, rows) {
    const [across, down] = [x.groups(rows, MOST_ACROSS), y.groups(rows, MOST_DOWN)], counts = new Map();
    for (const row of rows) {
      const key = `${across.of(x.values[row])} ${down.of(y.values[row])}`;
      counts.set(key, (counts.get(key) || 0) + 1);
    }
    const sum = (one, k) => [...counts].reduce((total, [key, n]) => total + (Number(key.split(" ")[k]) === one ? n : 0), 0);
    const [wide, high] = [across.names.map((_, c) => sum(c, 0)), down.names.map((_, r) => sum(r, 1))];
    const head = make("tr", "", make("td"), ...across.names.map(name => header(short(name, 24))));
    const body = down.names.map((name, r) => {
      const first = make("th", "", short(name, 28));
      first.scope = "row";
      return make("tr", "", first, ...across.names.map((_, c) => this.makeCell(counts.get(`${c} ${r}`) || 0, wide[c] * high[r] / rows.length)));
    });
    const note = make("p", "soft", `${short(x.name, 40)} across, ${short(y.name, 40)} down. Shaded: more often than by chance.`);
    return make("div", "scroll picture", make("table", "cross", make("thead", "", head), make("tbody", "", ...body)), note);
  }
  makeCell(count, expected) {
    const cell = make("td", "", count.toLocaleString("en")), more = expected ? count / expected : 1;
    const shade = this.page.shade(Math.min(1, Math.log2(Math.max(1, more)) / 2));
    if (more >= 1) { cell.style.background = css(shade); cell.style.color = luminance(shade) < .3 ? "#ffffff" : "#1c2330"; }
    else cell.className = "less";
    cell.title = `${count.toLocaleString("en")}, expected ${expected.toFixed(1)}`;
    return cell;
  }

  /* --- numbers */

  makeCanvas(label) {
    const canvas = make("canvas", "picture"), width = Math.max(240, Math.min(560, $("card").parentElement.clientWidth - 32));
    Object.assign(canvas, { width: 2 * width, height: 2 * PAIR_HEIGHT });
    Object.assign(canvas.style, { width: `${width}px`, height: `${PAIR_HEIGHT}px` });
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", label);
    const context = canvas.getContext("2d");
    context.scale(2, 2);
    return { canvas, context, width };
  }
  makePoints(x, y, rows) {
    const { canvas, context, width } = this.makeCanvas(`${x.name} and ${y.name}: ${rows.length} points`), { style } = this.page;
    const scales = [x, y].map((column, k) => new Scale(rows.map(row => column.values[row]), ...(k ? [PAIR_HEIGHT - PAIR_MARGIN.bottom, PAIR_MARGIN.top] : [PAIR_MARGIN.left, width - PAIR_MARGIN.right])));
    const at = rows.map(row => [scales[0].at(x.values[row]), scales[1].at(y.values[row])]);
    if (at.length <= MOST_POINTS) {
      Object.assign(context, { fillStyle: this.page.colours[3], globalAlpha: at.length > 400 ? .45 : .75 });
      for (const [px, py] of at) { context.beginPath(); context.arc(px, py, at.length > 400 ? 2 : 3, 0, 7); context.fill(); }
      context.globalAlpha = 1;
    } else this.drawDensity(context, at, width);
    this.drawScale(context, scales[0], x, width, false);
    this.drawScale(context, scales[1], y, width, true);
    return canvas;
  }
  drawDensity(context, at, width) {
    const [wide, high] = [(width - PAIR_MARGIN.left - PAIR_MARGIN.right) / DENSITY_BINS, (PAIR_HEIGHT - PAIR_MARGIN.top - PAIR_MARGIN.bottom) / DENSITY_BINS], counts = new Uint32Array(DENSITY_BINS * DENSITY_BINS);
    for (const [px, py] of at) {
      const [c, r] = [Math.floor((px - PAIR_MARGIN.left) / wide), Math.floor((py - PAIR_MARGIN.top) / high)].map(bin => Math.min(DENSITY_BINS - 1, Math.max(0, bin)));
      counts[r * DENSITY_BINS + c] += 1;
    }
    const most = counts.reduce((a, b) => Math.max(a, b), 1);
    counts.forEach((count, k) => {
      if (!count) return;
      context.fillStyle = css(this.page.shade(.15 + .85 * Math.sqrt(count / most)));
      context.fillRect(PAIR_MARGIN.left + (k % DENSITY_BINS) * wide, PAIR_MARGIN.top + Math.floor(k / DENSITY_BINS) * high, wide + .3, high + .3);
    });
  }
  /* Boxes from the lower to the upper quartile with the median, and lines that hold 90 %. */
  makeBoxes(labelled, numbers, rows) {
    const groups = labelled.groups(rows, MOST_DOWN), { context, canvas, width } = this.makeCanvas(`${numbers.name} by ${labelled.name}`), { style } = this.page;
    const left = 120, scale = new Scale(rows.map(row => numbers.values[row]), left, width - PAIR_MARGIN.right), step = (PAIR_HEIGHT - PAIR_MARGIN.bottom - PAIR_MARGIN.top) / groups.names.length;
    groups.names.forEach((name, g) => {
      const own = Float64Array.from(rows.filter(row => groups.of(labelled.values[row]) === g), row => numbers.values[row]).sort(), y = PAIR_MARGIN.top + (g + .5) * step, half = Math.min(11, .36 * step);
      const [low, lower, median, upper, high] = [.05, .25, .5, .75, .95].map(share => scale.at(own[Math.round(share * (own.length - 1))]));
      Object.assign(context, { strokeStyle: this.page.colours[3], fillStyle: css(this.page.shade(.35)), lineWidth: 1.3 });
      line(context, [[low, y], [high, y]]);
      context.fillRect(lower, y - half, Math.max(1, upper - lower), 2 * half);
      context.strokeRect(lower, y - half, Math.max(1, upper - lower), 2 * half);
      Object.assign(context, { strokeStyle: style.ink, lineWidth: 2 });
      line(context, [[median, y - half], [median, y + half]]);
      Object.assign(context, { font: `11px ${FONT}`, textAlign: "right", textBaseline: "middle", fillStyle: style.ink });
      context.fillText(`${short(name, 13)} (${own.length.toLocaleString("en")})`, left - 8, y);
    });
    this.drawScale(context, scale, numbers, width, false);
    return canvas;
  }
  drawScale(context, scale, column, width, isUp) {
    const { style } = this.page, bottom = PAIR_HEIGHT - PAIR_MARGIN.bottom, [from, to] = scale.ends;
    Object.assign(context, { strokeStyle: style.soft, fillStyle: style.soft, lineWidth: 1, font: `11px ${FONT}`, textBaseline: "middle" });
    line(context, isUp ? [[PAIR_MARGIN.left, from], [PAIR_MARGIN.left, to]] : [[from, bottom], [to, bottom]]);
    for (const share of [0, .5, 1]) {
      const value = scale.low + share * (scale.high - scale.low), at = scale.at(value);
      context.textAlign = isUp ? "right" : share === 0 ? "left" : share === 1 ? "right" : "center";
      context.fillText(column.write(value), isUp ? PAIR_MARGIN.left - 5 : at, isUp ? Math.min(bottom - 5, Math.max(PAIR_MARGIN.top + 5, at)) : bottom + 10);
    }
    context.fillStyle = style.ink;
    context.textAlign = "center";
    if (!isUp) return context.fillText(short(column.name, 50), (from + to) / 2, bottom + 27);
    context.save();
    context.translate(8, (from + to) / 2);
    context.rotate(-Math.PI / 2);
    context.fillText(short(column.name, 34), 0, 0);
    context.restore();
  }
}

class PairColumn {
  constructor({ name, labels, kind }, values) { Object.assign(this, { name, labels, kind, values }); }
  isMissing(row) {
    const value = this.values[row];
    return this.labels ? value < 0 || NO_GROUP.includes(this.labels[value]) : value !== value;
  }
  /* The commonest labels in their order, and the others together. */
  groups(rows, most) {
    const counts = new Uint32Array(this.labels.length);
    for (const row of rows) counts[this.values[row]] += 1;
    const there = Array.from(counts.keys()).filter(code => counts[code]).sort((a, b) => counts[b] - counts[a]);
    const shown = there.slice(0, there.length > most ? most - 1 : most).sort((a, b) => a - b), rest = there.length - shown.length;
    const place = new Map(shown.map((code, k) => [code, k]));
    return { names: [...shown.map(code => this.labels[code]), ...(rest ? [`${rest.toLocaleString("en")} others`] : [])], of: code => place.get(code) ?? shown.length };
  }
  write(value) {
    if (this.kind === "date" && Math.abs(value) < 1e8) return new Date(value * 86400000).toISOString().slice(0, 10);
    return Math.abs(value) >= 1e5 ? value.toExponential(1) : String(+value.toPrecision(3));
  }
}

/* Where numbers lie between two places; those of the outermost half per cent lie at the ends. */
class Scale {
  constructor(values, from, to) {
    const sorted = Float64Array.from(values).sort(), cut = Math.floor(.005 * sorted.length);
    Object.assign(this, { low: sorted[cut] ?? 0, high: sorted.at(-1 - cut) ?? 1, ends: [from, to] });
  }
  at(value) {
    const [from, to] = this.ends, share = this.high > this.low ? (value - this.low) / (this.high - this.low) : .5;
    return from + (to - from) * Math.min(1, Math.max(0, share));
  }
}
