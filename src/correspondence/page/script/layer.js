/* What is drawn above the points: axes, boundaries, pictures, labels that do not cover each other, rings. */

const NEAR_MEAN = 40;  // pixels from the mean of a group to an answer that shares its label

class Layer {
  constructor(page) {
    this.page = page;
    this.widths = new Map();
  }
  get model() { return this.page.model; }
  get plane() { return this.page.plane; }
  get style() { return this.page.style; }

  paint(context) {
    this.drawAxes(context);
    this.drawBoundaries(context);
    const taken = new Boxes();
    this.texts = new Boxes();
    const names = this.drawGroups(context, taken);
    this.drawJoined(context);
    this.drawLinks(context);
    this.reserve(taken);
    this.drawNumbers(context, taken);
    this.drawGroupViews(context, taken);
    names.forEach(writeName => writeName());
    if (this.model.data.triplot && $("labels").checked) this.drawCategories(context, taken);
    this.drawLabels(context, taken, this.page.named.y, i => this.isY(i));
    this.drawPictures(context, taken);
    this.drawLabels(context, taken, this.page.named.others, i => !this.isY(i));
    if (this.hasRoom) this.drawLabels(context, taken, this.page.crowd, () => false);
    this.drawRings(context);
    this.drawScales(context);
  }
  drawAxes(context) {
    const { plane } = this, [x, y] = plane.toScreen(0, 0);
    this.stroke(context, [[x, 0], [x, plane.height]], this.style.line, 1, [5, 4]);
    this.stroke(context, [[0, y], [plane.width, y]], this.style.line, 1, [5, 4]);
  }
  /* Numbers along the lower and the left edge, over whatever is there. */
  drawScales(context) {
    const { plane, style } = this, [first, second] = this.page.axes, bottom = plane.height - MARGIN.bottom;
    context.fillStyle = style.paper;
    context.fillRect(0, bottom, plane.width, MARGIN.bottom);
    context.fillRect(0, 0, MARGIN.left, plane.height);
    context.strokeStyle = style.line;
    context.lineWidth = 1;
    line(context, [[MARGIN.left, 0], [MARGIN.left, bottom], [plane.width, bottom]]);
    const [left, low] = plane.toPlane(MARGIN.left, bottom), [right, high] = plane.toPlane(plane.width - 14, 8);
    const small = { font: `11px ${FONT}`, colour: style.soft }, large = { font: `12px ${FONT}`, colour: style.ink };
    for (const tick of ticks(left, right, plane.width / 90)) {
      write(context, tick.text, plane.toScreen(tick.at, 0)[0], bottom + 11, { ...small, align: "center" });
    }
    write(context, this.axisTitle(first, plane.width), (plane.width + MARGIN.left) / 2, bottom + 28, { ...large, align: "center" });
    if (second < 0) return;
    for (const tick of ticks(low, high, plane.height / 70)) {
      write(context, tick.text, MARGIN.left - 5, plane.toScreen(0, tick.at)[1], { ...small, align: "right" });
    }
    context.save();
    context.translate(11, bottom / 2);
    context.rotate(-Math.PI / 2);
    write(context, this.axisTitle(second, bottom), 0, 0, { ...large, align: "center" });
    context.restore();
  }
  axisTitle(axis, room) {
    if (!this.page.isLast) return `Axis ${axis + 1} of the last step`;  // its figures are not those of this one
    const { training, held_out, share } = this.model.axes[axis], { titles } = this.model.data;
    if (titles) return room < 380 && share !== null ? `${capital(this.model.axisName(axis))}: ${(100 * share).toFixed(1)} %` : titles[axis];
    if (room < 380) return `Axis ${axis + 1}: ${(held_out ?? training).toFixed(2)}${held_out === null ? "" : " held out"}`;
    const heldOut = held_out === null ? "" : `, held out ${held_out.toFixed(2)}`;
    const word = this.model.data.fitted === "training" ? "correlation" : `${this.model.data.fitted} correlation`;
    return `Axis ${axis + 1}: ${word} ${training.toFixed(2)}${heldOut}, ${(100 * share).toFixed(1)} % of inertia`;
  }
  /* Ellipses or hulls of the groups by which the points of x are coloured; returns what writes their names at the means,
     over all that is drawn until then. */
  drawGroups(context, taken) {
    const { plane } = this, names = [], font = `700 14px ${FONT}`;
    this.labelled = new Set();
    for (const { name, colour, mean, ellipse, hull, isFinal, isDashed } of this.page.groupShapes()) {
      const ink = isFinal ? rgb(colour) : this.page.readable(colour);
      context.beginPath();
      if (ellipse) context.ellipse(...plane.toScreen(...mean), ...ellipse.lengths.map(length => length * plane.view.zoom), -ellipse.angle, 0, 7);
      (hull || []).forEach((corner, k) => k ? context.lineTo(...plane.toScreen(...corner)) : context.moveTo(...plane.toScreen(...corner)));
      if (hull) context.closePath();
      Object.assign(context, { fillStyle: css(ink), strokeStyle: css(this.page.text(ink)), lineWidth: 1.6, globalAlpha: .12 });
      context.fill();
      context.globalAlpha = 1;
      context.setLineDash(isDashed ? [6, 4] : []);
      context.stroke();
      context.setLineDash([]);
      const [x, y] = plane.toScreen(...mean), text = short(name, 32), width = this.measure(context, font, text);
      if (!(x === x) || this.page.isNamed(name)) continue;
      const twin = this.nearAnswer(name, x, y);
      const corners = twin < 0 ? [[x - width / 2, y - 8], [x - width / 2, y - 24], [x - width / 2, y + 8], [x + 10, y - 8], [x - 10 - width, y - 8]]
        : around(plane.at(twin), [x, y], width);
      const style = { font, colour: css(this.page.text(ink)), align: "left", halo: this.style.paper };
      const box = this.writeText(context, text, corners, width, style, taken);
      if (box && twin >= 0) this.labelled.add(twin);  // the name of the group says what the answer is
      if (box) names.push(() => write(context, text, box[0] + 2, box[1] + 8, style));
    }
    return names;
  }
  /* The answer that has the name of a group, if it is drawn near its mean; otherwise -1. */
  nearAnswer(name, x, y) {
    const i = this.page.answerOf(name), [left, top] = i < 0 ? [NaN, NaN] : this.plane.at(i);
    return i >= 0 && this.plane.isShown(i) && Math.hypot(left - x, top - y) < NEAR_MEAN ? i : -1;
  }
  drawBoundaries(context) {
    const { boundaries, boundary_points, classes, kept } = this.model.data, [first, second] = this.page.axes;
    if (!boundaries || !this.page.isLast || !$("lines").checked) return;
    if (second < 0 && kept > 1) return;  // on one axis of several, no point is the boundary
    boundaries.forEach((pair, l) => {
      const codes = pair.map(name => classes ? classes.names.indexOf(name) : -1);
      if (codes.some(code => this.page.hidden.classes.has(code))) return;
      const at = second < 0 ? this.across(this.model.boundary(l, 0, first, this.page.map)) : Array.from({ length: boundary_points }, (_, p) =>
        this.plane.toScreen(...[first, second].map(axis => this.model.boundary(l, p, axis, this.page.map))));
      const [one, other] = boundaries.length <= 3 ? [this.style.ink, this.style.ink] : codes.map(code => css(this.page.ink({ role: "y" }, code)));
      this.stroke(context, at, this.style.paper, 4);
      this.stroke(context, at, other, 1.8);
      this.stroke(context, at, one, 1.8, [7, 6]);  // of many lines one must see whose they are: dashes in both colours
    });
  }
  /* Lines that join the answers of an ordered variable, in a triplot the categories, and labels that have an order. */
  drawJoined(context) {
    const { joined = [], orders = [], triplot } = this.model.data;
    for (const { role, points } of [...joined.map(line => ({ role: triplot ? "xc" : "y", points: line })), ...orders]) {
      const cloud = this.model.role(role);
      const at = points.map(j => cloud.start + j).filter(i => this.plane.isShown(i)).map(i => this.plane.at(i));
      context.globalAlpha = .7;
      this.stroke(context, at, css(this.page.ink(cloud, this.model.classOf(cloud, points[0]))), 1.6);
      context.globalAlpha = 1;
    }
  }
  /* Line across the only axis. */
  across(value) {
    const [x] = this.plane.toScreen(value, 0);
    return [[x, 0], [x, this.plane.height]];
  }
  stroke(context, points, colour, width, dashes = []) {
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.setLineDash(dashes);
    line(context, points);
    context.setLineDash([]);
  }
  drawLinks(context) {
    if (this.page.chosen < 0 || !this.plane.isShown(this.page.chosen)) return;
    const from = this.plane.at(this.page.chosen);
    context.strokeStyle = this.style.accent;
    context.lineWidth = 1.2;
    context.globalAlpha = .6;
    for (const { point } of this.page.matches) if (this.plane.isShown(point)) line(context, [from, this.plane.at(point)]);
    context.globalAlpha = 1;
  }
  drawPictures(context, taken) {
    const { model, plane } = this, side = this.pictureSize();
    if (!this.page.pictures.some(sheet => sheet.length) || !$("pictures").checked) return;
    let left = 350;
    const tryAt = i => {
      const at = plane.at(i), [cloud, j] = model.find(i);
      if (left <= 0 || !plane.isShown(i) || !plane.isInside(at, -side / 2) || !cloud.image || cloud.image[j] < 0) return;
      const [x, y] = at.map(v => v - side / 2), gap = .3 * side;
      if (taken.meets([x - gap, y - gap, x + side + gap, y + side + gap])) return;  // room for the points around it
      taken.add([x - 2, y - 2, x + side + 2, y + side + 2]);
      left -= 1;
      this.drawPicture(context, i, x, y, side);
    };
    (model.data.confusing || []).forEach(([i]) => tryAt(i));
    for (const cloud of model.clouds) {
      const stride = cloud.n % 7919 ? 7919 : 7907;  // in an order that has nothing to do with that of the data
      if (cloud.image) for (let k = 0; k < cloud.n && left > 0; k++) tryAt(cloud.start + (k * stride) % cloud.n);
    }
  }
  pictureSize() { return Math.max(22, Math.min(34, this.plane.width / 24)); }
  /* Thumbnail of a point in a square with its upper left corner at x, y. */
  drawPicture(context, i, x, y, side) {
    const [cloud, j] = this.model.find(i), { sprites } = cloud, k = cloud.image[j];
    const scale = side / Math.max(sprites.width, sprites.height), wide = sprites.width * scale, high = sprites.height * scale;
    const [left, top] = [x + (side - wide) / 2, y + (side - high) / 2], within = k % sprites.per_sheet;
    context.imageSmoothingEnabled = scale < 1;
    context.fillStyle = css(this.page.ink(cloud, this.model.classOf(cloud, j)));
    context.fillRect(left - 1.5, top - 1.5, wide + 3, high + 3);
    context.drawImage(this.page.pictures[this.model.clouds.indexOf(cloud)][Math.floor(k / sprites.per_sheet)],
      (within % sprites.per_row) * sprites.width, Math.floor(within / sprites.per_row) * sprites.height,
      sprites.width, sprites.height, left, top, wide, high);
  }
  isY(i) { return isOfY(this.model.find(i)[0].role); }
  /* Arrows and paths of numbers, and their names at the ends. */
  drawNumbers(context, taken) {
    if (!this.page.isLast) return;
    const shown = this.page.numberLines.filter(({ role }) => !this.page.hidden.roles.has(role + "n"));
    const lines = shown.map(line => ({ ...line, at: line.points.map(point => this.plane.toScreen(...point)), colour: line.colour ? this.page.readable(line.colour) : rgb(this.model.data.many ? this.style.ink : this.style[line.role]) }));
    for (const { name, at, colour } of lines) {
      this.stroke(context, at, this.style.paper, 4);
      if (name === this.page.marked) this.stroke(context, at, this.style.accent, 6);
      this.stroke(context, at, css(colour), 1.5);
      context.fillStyle = css(colour);
      for (const [x, y] of at.slice(0, at.length > 2 ? -1 : 0)) { context.beginPath(); context.arc(x, y, 2.2, 0, 7); context.fill(); }
      arrowHead(context, at.at(-2), at.at(-1));
    }
    if (!$("labels").checked) return;
    for (const { name, at, colour } of lines) {
      const font = `italic 600 12px ${FONT}`, text = short(name, 32), width = this.measure(context, font, text);
      const corners = around(at.at(-1), at.at(-2), width);
      if (at.length > 2) corners.push(...around(at[0], at[1], width));  // a path may be named at its other end
      this.writeText(context, text, corners, width, { font, colour: css(this.page.text(colour)) }, taken);
    }
    if (this.model.data.triplot) for (const { at } of lines) this.reserveLine(taken, ...at);
  }
  /* No label over an arrow. */
  reserveLine(taken, from, end) {
    for (const [left, top] of along(from, end, 6)) taken.add([left - 2, top - 2, left + 2, top + 2]);
  }
  /* Lines from the chosen row to where each group of columns sees it. */
  drawGroupViews(context, taken) {
    const { chosen, axes, map } = this.page;
    if (chosen < 0 || axes[1] < 0 || !this.plane.isShown(chosen)) return;
    const from = this.plane.at(chosen);
    for (const { name, colour, point } of this.model.groupViews(chosen, ...axes, map)) {
      const at = this.plane.toScreen(...point), ink = this.page.readable(colour);
      this.stroke(context, [from, at], css(ink), 1.5);
      context.fillStyle = css(ink);
      context.beginPath(); context.arc(...at, 3, 0, 7); context.fill();
      const font = `600 12px ${FONT}`, text = short(name, 32), width = this.measure(context, font, text);
      this.writeText(context, text, around(at, from, width), width, { font, colour: css(this.page.text(ink)) }, taken);
    }
  }
  /* Names of the categories of a triplot, all of them: over the marks of other points, if there is no other room. */
  drawCategories(context, taken) {
    const categories = this.page.named.y.filter(i => this.model.find(i)[0].role === "xc");
    for (const i of this.plane.seen(categories)) if (this.writeLabel(context, i, taken, true, true)) this.labelled.add(i);
  }
  /* Text at the first of some corners where there is room for it. */
  writeText(context, text, corners, width, style, taken, others = taken) {
    for (const [left, top] of corners) {
      const box = [left - 2, top, left + width + 2, top + 15];
      const isOut = left < MARGIN.left || box[2] > this.plane.width || top < 0 || box[3] > this.plane.height - MARGIN.bottom;
      if (isOut || others.meets(box)) continue;
      taken.add(box);
      this.texts.add(box);
      write(context, text, left, top + 8, { ...style, align: "left", halo: this.style.paper });
      return box;
    }
    return null;
  }
  /* Labels of some points, after those that belong to the chosen one. */
  drawLabels(context, taken, points, isMeant) {
    const { plane } = this, most = Math.min(140, plane.width * plane.height / 5000);
    const wanted = new Set([this.page.chosen, ...this.page.matches.map(match => match.point)].filter(i => i >= 0 && isMeant(i)));
    for (const i of wanted) this.writeLabel(context, i, taken, true);
    let written = 0, tried = 0;
    for (const i of $("labels").checked ? plane.seen(points) : []) {
      if (written >= most || tried > 1500) break;
      if (wanted.has(i)) continue;
      tried += 1;
      if (this.writeLabel(context, i, taken, false)) written += 1;
    }
  }
  /* No label over the mark of another named point, or nearer to it than to its own. */
  reserve(taken) {
    const { plane } = this;
    this.placed = [];
    this.marks = new Marks();
    const crowd = this.page.crowd.length ? [...plane.seen(this.page.crowd)] : [];
    this.hasRoom = crowd.length && crowd.length <= MOST_OBSTACLES;
    for (const i of [...Object.values(this.page.named).flatMap(points => [...plane.seen(points)]), ...(this.hasRoom ? crowd : [])]) {
      if (!this.model.find(i)[0].image) this.marks.add(i, ...plane.at(i), plane.looks[2 * i] / 2);
    }
    for (const [side, points] of Object.entries(this.page.named)) {
      const isCrowd = side === "others" && points.length > 40 && this.model.role("xc");  // labels of y have to find room among words
      for (const i of plane.seen(points.slice(0, isCrowd ? 40 : 400))) {
        if (this.model.find(i)[0].image) continue;  // a picture takes its place
        const [x, y] = plane.at(i), r = plane.looks[2 * i] / 2;
        taken.add([x - r, y - r, x + r, y + r]);
      }
    }
  }
  /* Label beside its point, if there is room on one side of it; otherwise, if it may have one, at the end of a line. */
  writeLabel(context, i, taken, isWanted, isForced = false) {
    const { plane, model } = this;
    if (this.labelled.has(i) || !plane.isShown(i) || !plane.isInside(plane.at(i), 4)) return false;
    const [cloud, j] = model.find(i), [x, y] = plane.at(i), text = short(cloud.texts ? cloud.texts[j] : model.label(i), 32);
    const isHeavy = cloud.role === "y" || isOfColumns(cloud.role) || isWanted, r = plane.looks[2 * i] / 2;
    const mayLead = cloud.named && (isHeavy || this.page.named.others.length <= MOST_LED);
    const font = `${isHeavy ? "600 " : ""}${cloud.role === "y" ? 13 : 12}px ${FONT}`;
    const width = this.measure(context, font, text), gap = r + 3;
    const corners = [[x + gap, y - 8], [x - gap - width, y - 8], [x - width / 2, y - gap - 15], [x - width / 2, y + gap]];
    if (cloud.named) corners.push(...[x + gap - 2, x - gap - width + 2].flatMap(edge => [y - 20, y + 4].map(top => [edge, top])));
    const own = corners.filter(([left, top]) => this.marks.isOwn([left, top + 2, left + width, top + 14], i, x, y, r));
    const style = { font, colour: css(this.page.text(this.page.ink(cloud, model.classOf(cloud, j)))) };
    const box = this.writeText(context, text, own, width, style, taken) || (mayLead && this.leadTo(context, i, text, width, style, taken))
      || (isForced && this.leadTo(context, i, text, width, style, taken, true));
    if (box) this.placed.push({ point: i, box, isLed: !!box.isLed });
    return box;
  }
  /* Label farther off, and a line from its point to it that crosses neither texts nor marks. */
  leadTo(context, i, text, width, style, taken, mayCover = false) {
    const [x, y] = this.plane.at(i), r = this.plane.looks[2 * i] / 2 + 1;
    for (const { corner, from, end } of leads(x, y, width, r)) {
      const places = [...along(from, end)];
      if (places.some(([left, top]) => this.texts.meets([left - 2, top - 2, left + 2, top + 2]) || (!mayCover && this.marks.isCovered(i, left, top)))) continue;
      const box = this.writeText(context, text, [corner], width, style, taken, mayCover ? this.texts : taken);
      if (!box) continue;
      this.stroke(context, [from, end], style.colour, 1);
      for (const [left, top] of places) taken.add([left - 2, top - 2, left + 2, top + 2]);
      return Object.assign(box, { isLed: true });
    }
    return null;
  }
  measure(context, font, text) {
    const key = font + text;
    if (!this.widths.has(key)) { context.font = font; this.widths.set(key, context.measureText(text).width); }
    return this.widths.get(key);
  }
  drawRings(context) {
    const { plane } = this;
    const ring = (i, colour, width, more) => {
      if (i < 0 || !plane.isShown(i)) return;
      const [x, y] = plane.at(i);
      context.strokeStyle = colour;
      context.lineWidth = width;
      context.beginPath();
      context.arc(x, y, plane.looks[2 * i] / 2 + more, 0, 7);
      context.stroke();
    };
    if (this.page.selection.length <= 5000) for (const i of this.page.selection) ring(i, this.style.accent, 1.2, 2);
    if ($("confused") && $("confused").checked) for (const [i] of this.model.data.confusing) ring(i, this.style.ink, 1.4, 4);
    ring(this.page.chosen, this.style.accent, 2.5, 5);
    ring(this.page.hovered, this.style.ink, 1.5, 4);
  }
}

/* Boxes on the screen that nothing else may cover, found by the squares that they touch. */
class Boxes {
  constructor() { this.squares = new Map(); }
  *touched([left, top, right, bottom]) {
    for (let c = Math.floor(left / 64); c <= Math.floor(right / 64); c++) {
      for (let r = Math.floor(top / 64); r <= Math.floor(bottom / 64); r++) yield c * 65536 + r;
    }
  }
  add(box) {
    for (const key of this.touched(box)) this.squares.has(key) ? this.squares.get(key).push(box) : this.squares.set(key, [box]);
  }
  meets(box) {
    const overlaps = other => other[0] < box[2] && box[0] < other[2] && other[1] < box[3] && box[1] < other[3];
    for (const key of this.touched(box)) if (this.squares.get(key)?.some(overlaps)) return true;
    return false;
  }
}

/* Text with its middle at a height, and a halo where it may lie over something. */
function write(context, text, x, y, { font, colour, align, halo }) {
  Object.assign(context, { font, textAlign: align, textBaseline: "middle", fillStyle: colour });
  if (halo) {
    Object.assign(context, { lineWidth: 3.5, lineJoin: "round", strokeStyle: halo });
    context.strokeText(text, x, y);
  }
  context.fillText(text, x, y);
}
/* Upper left corners for a text at the end of a line that comes from another place, the best first. */
function around([x, y], [fromX, fromY], width) {
  const across = x < fromX ? [x - width - 6, x + 6] : [x + 6, x - width - 6];
  const along = (y < fromY ? [-8, -20, 5, -36, 21] : [-8, 5, -20, 21, -36]).map(by => y + by);
  const above = along.filter(top => top !== y - 8).map(top => [x - width / 2, top]);
  return [...across.flatMap(edge => along.map(top => [edge, top])), ...above];
}
/* Head of an arrow from one place on the screen to another, filled with the colour of the context. */
function arrowHead(context, [ax, ay], [x, y]) {
  const angle = Math.atan2(y - ay, x - ax), corner = turn => [x - 10 * Math.cos(angle + turn), y - 10 * Math.sin(angle + turn)];
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(...corner(.38));
  context.lineTo(...corner(-.38));
  context.closePath();
  context.fill();
}
function capital(text) { return text[0].toUpperCase() + text.slice(1); }
function ticks(low, high, about) {
  const rough = (high - low) / Math.max(2, about), unit = 10 ** Math.floor(Math.log10(rough));
  const counted = m => Math.floor(high / (m * unit)) - Math.ceil(low / (m * unit)) + 1;
  const widest = [1, 2, 5, 10].find(m => m * unit >= rough);  // one number, which may be 0, would tell no scale
  const step = unit * ([10, 5, 2, 1, .5, .2].find(m => m <= widest && !(counted(m) < 2)) ?? .2);
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  // Counted from the first: where a view is so far off that the next number is the same one, there is an end all the same.
  const first = Math.ceil(low / step), n = Math.min(Math.floor(high / step) - first + 1, 10 * about) || 0;
  return Array.from({ length: Math.max(0, n) }, (_, k) => ({ at: (first + k) * step, text: ((first + k) * step).toFixed(digits) }));
}
