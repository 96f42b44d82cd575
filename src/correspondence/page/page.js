/* The page around the plane: the card of a point, search, filters, slider, tables. */

const NO_GROUP = ["(missing)", "\u2013"];
const MOST_MATCHES = 8, MOST_FOUND = 12, MOST_ROWS = 12, MOST_ANSWERS = 30;

class Page {
  constructor(model, pictures) {
    this.model = model;
    this.pictures = pictures;
    this.plane = new Plane($("plane"), model.size);
    this.hidden = { roles: new Set(), classes: new Set() };
    this.hovered = this.chosen = -1;
    this.matches = [];
    this.selection = [];
    this.named = { y: [], others: [] };
    this.crowd = [];
    this.numberLines = [];
    this.frame = model.data.frames ? model.data.frames.steps.length - 1 : -1;
    this.layer = new Layer(this);
    this.plane.on("paint", context => { this.layer.paint(context); this.history?.touch(); this.twin?.follow(); });
    this.plane.on("hover", (i, at) => this.hover(i, at));
    this.plane.on("click", i => this.choose(i));
    this.plane.on("select", (points, mode) => this.selecting.take(points, "plane", mode));
    this.layout = new Layout(document.querySelector(".screen"));
    this.setTheme();
    this.colouring = new Colouring(this);
    this.selecting = new Selecting(this);
    this.comparison = new Comparison(this);
    this.setControls();
    this.setLegend();
    this.setShapes();
    this.setSearch();
    this.setSlider();
    this.setKeys();
    this.setTables();
    this.plane.resize();
    this.arrange();
    this.reset();
    this.state = new State(this);
    this.filters = new Filters(this);
    this.colouring.writeLegend();
    this.twin = new Twin(this);
    this.multiples = new Multiples(this);
    this.history = new History(this);
    this.embedding = new Embedding(this);
    this.exporter = new Exporter(this);
    this.code = new CodePanel(this);
  }

  /* --- for scripts, and pages around this one */

  getState() { return this.state.get(); }
  setState(state) { return this.state.set(state); }
  /* Select points by positions in the user's data (embedding.js says which); returns how many there are. */
  selectRows(rows, columns = []) {
    const points = [["x", rows], ["y", columns]].flatMap(([role, wanted]) => {
      const cloud = this.model.role(role), found = new Set(wanted);
      return Array.from({ length: cloud.n }, (_, j) => j).filter(j => found.has(cloud.rows[j])).map(j => cloud.start + j).filter(i => this.plane.isShown(i));
    });
    this.selecting.source = "outside";
    this.select(points);
    return points.length;
  }
  selectedRows() {
    const found = { x: [], y: [] };
    for (const i of this.selection) {
      const [cloud, j] = this.model.find(i);
      found[cloud.role]?.push(cloud.rows[j]);
    }
    return { rows: found.x, columns: found.y };
  }
  /* A short note beside the controls, also for those who cannot see it. */
  tell(text) { $("told").textContent = text; }
  /* Controls were set by a state: draw what they say. */
  refresh() {
    for (const [box, hidden] of [["roles", this.hidden.roles], ["classes", this.hidden.classes]]) {
      $(box).querySelectorAll(".chip").forEach(chip => chip.setAttribute("aria-pressed", String(!hidden.has(chip.shown))));
    }
    if (this.model.data.triplot) this.model.sites = $("sites").value;
    this.colouring.writeLegend();
    this.arrange();
    this.selecting.drop();
    this.showCard();
  }

  /* --- what is shown */

  get panes() { return this.twin?.isOpen ? [this.plane, this.twin.view.plane] : [this.plane]; }

  get axes() { return [Number($("first").value), Number($("second").value)]; }
  get map() { return $("map").value; }
  get isLast() { return !this.model.data.frames || this.frame === this.model.data.frames.steps.length - 1; }

  /* New axes, another map or frame: where every point is, and which labels matter. */
  arrange() {
    const { model } = this, [first, second] = this.axes;
    const xy = this.isLast ? model.positions(first, second, this.map) : model.framePositions(this.frame, first, second);
    this.plane.setPoints(xy, model.crowd);
    this.numberLines = model.numberLines(first, second, this.map);
    this.hover(-1, [0, 0]);
    this.nameOn(this);
    this.twin?.arrange();
    this.colour();
    this.note();
    if (this.chosen >= 0) this.showCard();
  }
  /* The points that may have labels on the axes of a plane, the heaviest first. */
  nameOn(view) {
    const { model } = this, [first, second] = view.axes, listed = (...roles) => model.byWeight(roles, first, second);
    view.named = model.data.triplot ? { y: [...listed("xc"), ...listed("y", "ys", "yc")], others: listed("x") } : { y: listed("y", "ys", "yc"), others: listed("x", "xs", "xc", "mark") };
    view.crowd = model.byWeight(["x", "y", "mark", "xs", "ys"], first, second, cloud => !cloud.named && !!cloud.labels);
  }
  note() {
    const told = this.isLast ? this.describeMap() : "During the training: inputs where the model of this step puts them, in the axes of its end.";
    $("note").textContent = [told, ...this.describeInputs(), ...this.describeGroups()].join(" ");
  }
  /* How much of a classifier these axes preserve, and which inputs are not drawn. */
  describeInputs() {
    const { inputs, faithfulness } = this.model.data, axes = this.axes.filter(axis => axis >= 0).sort((a, b) => a - b);
    const told = [this.isLast && faithfulness?.[axes.join(" ")], ...(inputs || [])].filter(text => text);
    return told.map(text => `${text[0].toUpperCase()}${text.slice(1)}.`);
  }
  /* What distances mean, and what the marks of columns are. */
  describeMap() {
    const { model } = this, parts = [model.data.many ? this.describeAnswers() : model.data.triplot ? this.describeTriplot() : NOTES[this.map]];
    const arrows = this.numberLines.filter(line => line.points.length === 2).length, paths = this.numberLines.length - arrows;
    if (model.data.triplot) return parts.join(" ");
    if (model.data.orders) parts.push("Lines join labels in their order.");
    if (model.clouds.some(cloud => isOfColumns(cloud.role))) parts.push("Categories lie at the mean of their rows, which are the faint points.");
    if (arrows) parts.push("An arrow has the direction of the correlations of a number with the axes, and ends where rows two standard deviations above its mean lie.");
    if (paths && model.data.many) parts.push("A path shows where the smooth function of a number puts the rows, from low to high.");
    else if (paths) parts.push("A path goes through the means of the rows of ten quantiles of a number that bends, from low to high.");
    return parts.join(" ");
  }
  /* What distances and arrows mean in a triplot. */
  describeTriplot() {
    const { model } = this, [x, y] = model.data.names, parts = [TRIPLOT_NOTES[`${this.map} ${model.sites}`] || NOTES[this.map]];
    if (this.numberLines.some(line => line.points.length === 2)) parts.push(`Arrows are biplot scores times ${model.arrowFactor}: they point to where numbers are high.`);
    if (this.numberLines.some(line => line.points.length > 2)) parts.push(`A path shows where a number that bends puts the ${x}, from low to high.`);
    if (model.role("xc")) parts.push(`Diamonds lie at the mean of the ${x} of a category.`);
    return parts.map(text => text.replaceAll("{x}", x).replaceAll("{y}", y)).join(" ");
  }
  /* What distances mean in an analysis of many columns. */
  describeAnswers() {
    const { many, joined } = this.model.data, parts = [];
    if (many.barycentric || this.map === "colprincipal") parts.push("An answer lies at the mean of the rows that gave it.");
    else if (this.map === "rowprincipal") parts.push("A row lies at the mean of its answers.");
    else parts.push("Rows near each other gave similar answers; answers near each other were given by the same rows.");
    if (joined.length) parts.push("Lines join the answers of an ordered variable.");
    if (many.groups) parts.push("Lines lead from a row that is clicked to where each group of columns sees it.");
    if (this.model.clouds.some(cloud => isPassive(cloud.role))) parts.push("Diamonds took no part in the fit.");
    return parts.join(" ");
  }
  colour() {
    const { model, hidden } = this, colours = new Uint8Array(4 * model.size), looks = new Float32Array(2 * model.size);
    for (const cloud of model.clouds) {
      const many = cloud.n > 20000 ? 3.2 : cloud.n > 3000 ? 4.5 : cloud.n > 300 ? 6 : 9;
      const ofY = cloud.named ? Math.max(many, cloud.n > 300 ? 9 : 15) : many + 1;
      const size = cloud.role === "x" && model.data.triplot ? Math.min(many, 7) : cloud.faint ? Math.min(many, 5) : { x: many, mark: 9, y: model.data.many ? Math.min(ofY, cloud.n > 30 ? 10 : 12) : ofY, xs: 8, ys: cloud.n > 15 ? 8 : 10, xc: cloud.n > 40 ? 8 : 11, yc: cloud.n > 40 ? 11 : 15 }[cloud.role];
      const solid = cloud.n < 300 ? 235 : cloud.n > 20000 ? 110 : 165;
      const behind = (cloud.n < 300 ? 80 : cloud.n <= 3000 ? 55 : cloud.n <= 20000 ? 32 : 18) * (cloud.classes ? 2 : model.data.many && cloud.n > 20000 ? .3 : 1);
      const alphas = cloud.faint ? model.copies(cloud).map(times => Math.max(1, behind / times)) : null;
      const shape = SHAPES[cloud.role === "mark" || isPassive(cloud.role) || (model.data.triplot && cloud.role === "xc") ? "diamond" : isOfY(cloud.role) ? "triangle" : "circle"];
      const painted = this.colouring?.paint(cloud), isRoleHidden = hidden.roles.has(cloud.role), mask = this.filters?.mask;
      const inks = new Map(), plain = this.isPlain(cloud) ? this.ink({ role: cloud.role }, -1) : null;
      for (let j = 0; j < cloud.n; j++) {
        const i = cloud.start + j, code = cloud.classes ? cloud.classes[j] : -1;
        if (!painted && !inks.has(code)) inks.set(code, plain || this.ink(cloud, code));
        const ink = painted ? null : inks.get(code);
        for (let k = 0; k < 3; k++) colours[4 * i + k] = painted ? painted[3 * j + k] : ink[k];
        const isHidden = isRoleHidden || hidden.classes.has(code) || (mask && mask[i]);
        colours[4 * i + 3] = isHidden ? 0 : alphas ? Math.min(255, alphas[j] * (painted ? 2.5 : 1)) : solid;
        looks[2 * i] = size;
        looks[2 * i + 1] = shape;
      }
    }
    this.plane.paper = rgb(this.style.paper);
    this.plane.setLooks(colours, looks);
    this.twin?.look();
    this.multiples?.draw();
  }
  ink(cloud, code) {
    const { classes, many, triplot } = this.model.data, isLoose = cloud.role === "x" && (classes?.grouped || triplot);
    return code >= 0 ? this.readable(classes.colours[code]) : rgb(this.style[many || isLoose ? "mark" : base(cloud.role)]);
  }
  /* Whether points have no colours of their classes, because the reader chose none. */
  isPlain(cloud) { return !this.model.data.many && cloud.role === "x" && !!cloud.classes && $("paint").value === "-1"; }

  /* --- groups of the points of x */

  /* What is drawn of them on two axes, and of the selection. */
  groupShapes() {
    const kind = $("shapes").value;
    if (!kind || this.axes[1] < 0) return [];
    const found = this.colouring.groups, { hidden, model } = this;
    const isHidden = code => this.colouring.isByClass && hidden.classes.has(code);
    const named = (found && !hidden.roles.has("x") ? this.traced(kind, found.codes, found.names.length) : []).map((shape, code) => ({ ...shape, code, name: found.names[code], colour: found.colours[code], isFinal: found.isFinal }))
      .filter(({ members, code }) => members && found.isNamed(code) && !NO_GROUP.includes(found.names[code]) && (model.data.many || !isHidden(code)));
    return [...named, ...this.selectionShape(kind)];
  }
  selectionShape(kind) {
    const cloud = this.model.role("x"), { selection } = this;
    if (!selection.length) return [];
    if (this.ringed?.selection !== selection) {
      const codes = new Int8Array(cloud.n).fill(-1);
      for (const i of selection) if (i >= cloud.start && i < cloud.start + cloud.n) codes[i - cloud.start] = 0;
      this.ringed = { selection, codes };
    }
    const [shape] = this.traced(kind, this.ringed.codes, 1);
    return shape.members >= MIN_MEMBERS ? [{ ...shape, code: -1, name: "selection", colour: this.style.accent, isFinal: true, isDashed: true }] : [];
  }
  /* Means, ellipses or hulls of groups, found anew when points, groups or filters are others than before. */
  traced(kind, codes, n) {
    const { plane, filters } = this, cloud = this.model.role("x");
    this.traces ??= new Map();
    const last = this.traces.get(n === 1 ? "selection" : "groups") || {};
    if (last.xy !== plane.xy || last.codes !== codes || last.kind !== kind || last.version !== filters?.version) {
      const points = Array.from({ length: cloud.n }, (_, j) => [plane.xy[2 * (cloud.start + j)], plane.xy[2 * (cloud.start + j) + 1]]);
      const own = cloud.weights ? j => cloud.weights[j] : cloud.mass ? j => cloud.prior[j] : () => 1;
      const weight = j => filters?.hides(cloud.start + j) ? 0 : own(j);
      const shapes = traceGroups(points, codes, n, weight, cloud.mass, Math.max(1, cloud.given / cloud.n), kind);
      this.traces.set(n === 1 ? "selection" : "groups", { xy: plane.xy, codes, kind, version: filters?.version, shapes });
      return shapes;
    }
    return last.shapes;
  }
  /* Whether a group has its name in the plane anyway. */
  isNamed(name) {
    const y = this.model.role("y");
    return !this.model.data.many && !!y.named && y.labels.includes(name);
  }
  /* The answer that is a group of the rows; -1 if there is none. */
  answerOf(name) {
    const { data } = this.model, column = data.many && this.colouring.field;
    for (const cloud of column ? this.model.clouds.filter(({ role }) => role === "y" || role === "ys") : []) {
      for (let j = 0; j < cloud.n; j++) {
        const said = new Map(this.model.values(cloud, j));
        if (said.get("variable") === column.name && said.get("answer") === name) return cloud.start + j;
      }
    }
    return -1;
  }
  describeGroups() {
    const kind = $("shapes").value, small = this.groupShapes().filter(({ ellipse }) => ellipse === null).map(({ name }) => short(name, 28));
    if (!kind || this.axes[1] < 0) return [];
    if (!this.colouring.field && !this.selection.length) return ["Ellipses and hulls are those of the groups by which points are coloured, and of the selection."];
    const more = small.length > 5 ? ` and ${small.length - 5} more` : "";
    return [GROUP_NOTES[kind], ...(small.length ? [`No ellipse with fewer than ${MIN_MEMBERS} members: ${small.slice(0, 5).join(", ")}${more}.`] : [])];
  }
  setShapes() {
    const { data } = this.model;
    const isMeant = data.many ? !!data.many.grouping : !!data.classes?.grouped;
    if (isMeant) $("shapes").value = "concentration";
    $("shapes").addEventListener("change", () => { this.note(); this.plane.draw(); });
  }
  /* Colours of classes are made for light paper. */
  readable(colour) {
    const parts = rgb(colour);
    return this.isDark ? parts.map(part => Math.round(part + (255 - part) * .38)) : parts;
  }
  /* The same for texts, which need more contrast with the paper than points do. */
  text(parts) {
    const key = parts.join();
    this.texts ??= new Map();
    if (!this.texts.has(key + this.isDark)) {
      const ink = rgb(this.style.ink), paper = luminance(rgb(this.style.paper));
      let mixed = parts;
      for (let share = 0; share <= 1; share += .1) {
        mixed = parts.map((part, k) => Math.round(part + (ink[k] - part) * share));
        const other = luminance(mixed);
        if ((Math.max(paper, other) + .05) / (Math.min(paper, other) + .05) >= 4.5) break;
      }
      this.texts.set(key + this.isDark, mixed);
    }
    return this.texts.get(key + this.isDark);
  }
  reset() { this.plane.show(this.extent()); }
  /* All that is shown; of many x all but the outermost. */
  extent() {
    const { plane, model } = this, sides = [[], []];
    for (const cloud of model.clouds) {
      const own = [[], []];
      for (let i = cloud.start; i < cloud.start + cloud.n; i++) {
        if (plane.isShown(i)) { own[0].push(plane.xy[2 * i]); own[1].push(plane.xy[2 * i + 1]); }
      }
      own.forEach((values, k) => {
        values.sort((a, b) => a - b);
        const cut = values.length > 2000 ? Math.floor(values.length * .002) : 0;
        if (values.length) sides[k].push(values[cut], values[values.length - 1 - cut]);
      });
    }
    for (const { points } of this.isLast ? this.numberLines : []) for (const point of points) point.forEach((value, k) => sides[k].push(value));
    return sides.flatMap(values => values.length ? [Math.min(...values), Math.max(...values)] : [-1, 1]);
  }

  /* --- a point */

  hover(i, [x, y], plane = this.plane) {
    const tip = $("tip");
    if (i !== this.hovered) { this.hovered = i; this.plane.draw(); tip.replaceChildren(...(i < 0 ? [] : this.describe(i))); }
    tip.hidden = i < 0;
    plane.layer.style.cursor = i >= 0 ? "pointer" : this.plane.selecting ? "crosshair" : "grab";
    if (i < 0) return;
    const { width, height, root } = plane;
    tip.style.left = `${root.offsetLeft + Math.max(4, Math.min(x + 16, width - tip.offsetWidth - 4))}px`;
    tip.style.top = `${root.offsetTop + (y + 16 + tip.offsetHeight > height ? Math.max(4, y - tip.offsetHeight - 12) : y + 16)}px`;
  }
  /* What a tip or a card says of a point. */
  describe(i, isCard = false) {
    const { model } = this, [cloud, j] = model.find(i), parts = [];
    const picture = this.thumbnail(i, 96);
    if (picture) parts.push(picture);
    parts.push(make("strong", "", model.label(i)));
    const rows = [];
    if (cloud.labels) rows.push(["", cloud.name]);
    const own = model.data.many ? "" : model.className(cloud, j);  // the variable is among the values
    if (own && own !== model.label(i)) rows.push(["class", own]);
    rows.push(...model.values(cloud, j).slice(0, model.data.many && isCard ? MOST_ANSWERS : MOST_ROWS));
    if (cloud.mass || isOfColumns(cloud.role) || cloud.shares) rows.push(["share", `${(100 * model.share(cloud, j)).toPrecision(3)} %`]);
    this.axes.forEach((axis, k) => {
      const share = cloud.mass && this.isLast && axis >= 0 ? `, contributes ${(100 * model.contribution(cloud, j, axis)).toFixed(1)} %` : "";
      const cos2 = cloud.cos2 && axis >= 0 ? `, cos2 ${cloud.cos2[j * model.data.kept + axis].toFixed(2)}` : "";
      if (axis >= 0) rows.push([model.axisName(axis), `${this.plane.xy[2 * i + k].toFixed(2)}${share}${cos2}`]);
    });
    const list = make("dl");
    for (const [name, value] of rows) list.append(make("dt", "", name), make("dd", "", value));
    parts.push(list);
    return parts;
  }
  thumbnail(i, side) {
    const [cloud, j] = this.model.find(i);
    if (!cloud.image || cloud.image[j] < 0) return null;
    const canvas = make("canvas", "thumbnail"), ratio = 2;
    canvas.width = canvas.height = side * ratio;
    canvas.style.width = canvas.style.height = `${side}px`;
    this.layer.drawPicture(canvas.getContext("2d"), i, 3, 3, side * ratio - 6);
    return canvas;
  }
  choose(i, closer = 0) {
    this.marked = null;
    this.chosen = i;
    this.matches = [];
    if (i >= 0 && closer) this.panes.forEach(plane => plane.centre(i, closer));
    this.showCard();
    this.plane.draw();
  }
  showCard() {
    const { model, chosen } = this;
    $("hint").hidden = chosen >= 0;
    $("card").hidden = chosen < 0;
    this.matches = [];
    if (chosen < 0) { $("said").textContent = ""; return; }
    $("point").replaceChildren(...this.describe(chosen, true));
    const when = this.isLast ? [] : [make("p", "soft", "At the end of the training:")];
    $("matches").replaceChildren(...when, ...model.others(chosen).flatMap(cloud => this.listMatches(cloud)));
    $("said").textContent = `${model.label(chosen)}: ${this.matches.slice(0, 3).map(match => model.label(match.point)).join(", ")}`;
    this.plane.draw();
  }
  listMatches(cloud) {
    const { model } = this, found = model.matches(this.chosen, cloud, MOST_MATCHES);
    const isOfTable = isOfColumns(cloud.role), isLikely = isOfTable || (cloud.role === "y" && cloud.mass), isNear = model.data.by === "gaussian" && !isOfTable;
    const shown = found.filter(match => match.ratio > 1 || isNear || (isLikely && !isOfTable && match.probability > .02));
    this.matches.push(...shown);
    if (!shown.length) return [make("h3", "", cloud.name), make("p", "soft", "Nothing goes with it more often than by chance.")];
    const strength = match => isLikely || isNear ? match.probability : match.ratio;
    const most = Math.max(...shown.map(strength));
    const list = make("ol", "matches");
    for (const match of shown) {
      const button = make("button", "match"), bar = make("span", "bar");
      bar.style.width = `${Math.max(2, 100 * strength(match) / most)}%`;
      const picture = this.thumbnail(match.point, 32);
      const told = isLikely && model.data.claims ? `${(100 * match.probability).toFixed(match.probability < .1 ? 1 : 0)} %, ` : "";
      button.append(...(picture ? [picture] : []), make("span", "name", short(model.label(match.point), 80)), make("span", "strength", `${told}${isNear && match.ratio < 1 ? "" : times(match.ratio)}`), bar);
      button.type = "button";
      button.addEventListener("click", () => this.reveal(match.point, 1));
      list.append(make("li", "", button));
    }
    if (model.data.many) return [make("h3", "", "Given with it more often than by chance"), make("p", "soft", "The share of those who gave this answer."), list];
    return [make("h3", "", isOfY(cloud.role) ? `Belongs to: ${cloud.name}` : `Belongs here: ${cloud.name}`), list];
  }

  /* --- selection */

  select(points) {
    this.selection = points;
    $("selected").textContent = points.length ? `${points.length.toLocaleString("en")} selected` : "";
    for (const id of ["export", "clear"]) $(id).disabled = !points.length;
    this.embedding?.tellSelection();
    this.comparison?.show();
    this.plane.draw();
  }
  save() {
    download("selected.csv", new Blob([this.model.csv(this.selection)], { type: "text/csv;charset=utf-8" }));
  }

  /* --- controls */

  setControls() {
    const { model } = this, { data } = model, d = data.kept;
    for (const [id, chosen] of [["first", 0], ["second", d > 1 ? 1 : -1]]) {
      $(id).replaceChildren(...model.axes.slice(0, d).map((axis, a) => option(a, `${data.axis_names ? model.axisName(a) : a + 1} (${!data.many && !data.triplot ? axis.training.toFixed(2) : axis.share === null ? axis.pic.toFixed(3) : `${(100 * axis.share).toFixed(1)} %`})`)));
      if (id === "second") $(id).append(option(-1, "none"));
      $(id).value = String(chosen);
      $(id).addEventListener("change", () => this.change());
    }
    this.before = this.axes;
    $("map").replaceChildren(...Object.keys(data.maps).map(name => option(name, name)));
    $("map").value = data.triplot ? "colprincipal" : data.boundaries || data.frames ? "rowprincipal" : "symmetric";
    if (data.triplot) {
      model.sites = $("sites").value;
      $("sites").addEventListener("change", () => { model.sites = $("sites").value; this.change(); });
    }
    $("map").addEventListener("change", () => this.change());
    for (const [id, isThere] of [["pictures", this.pictures.some(sheet => sheet.length)], ["lines", !!data.boundaries], ["confused", !!(data.confusing || []).length]]) {
      $(id).closest("label").hidden = !isThere;
      $(id).checked = isThere && id !== "confused";
    }
    for (const id of ["labels", "pictures", "lines", "confused"]) $(id).addEventListener("change", () => this.plane.draw());
    $("reset").addEventListener("click", () => { this.reset(); if (this.twin?.isOpen) this.twin.view.reset(); });
    for (const [id, factor] of [["in", 1.5], ["out", 1 / 1.5]]) $(id).addEventListener("click", () => this.panes.forEach(plane => plane.zoomBy(factor)));
    $("print").addEventListener("click", () => window.print());
    $("help").addEventListener("click", () => $("keys").showModal());
  }
  setLegend() {
    const { model } = this, { triplot } = model.data, marks = { x: "●", mark: "◆", y: "▲" };
    for (const cloud of model.clouds) {
      const key = triplot && cloud.role === "x" ? "mark" : base(cloud.role);
      const chip = this.chip(this.hidden.roles, cloud.role, `${triplot && cloud.role[0] === "x" ? { x: "●", xc: "◆" }[cloud.role] : marks[key]} ${cloud.name} (${cloud.n.toLocaleString("en")})`, model.data.many ? "mark" : key);
      chip.hidden = !cloud.n;
      $("roles").append(chip);
    }
    for (const role of ["x", "y"]) {
      const n = model.numbers.filter(number => number.role === role).length;
      if (n) $("roles").append(this.chip(this.hidden.roles, role + "n", model.data.many || triplot ? `→ numbers (${n})` : `→ numbers of ${model.role(role).name} (${n})`, model.data.many ? "" : role));
    }
    const { classes } = model.data;
    if (!classes) return;
    classes.names.forEach((name, code) => {
      const chip = this.chip(this.hidden.classes, code, short(name, 28), "");
      const dot = make("span", "dot");
      dot.dataset.colour = classes.colours[code];
      chip.prepend(dot);
      $("classes").append(chip);
    });
    this.applyTheme();
    if (classes.names.length > 2) {
      for (const [text, hide] of [["all", false], ["none", true]]) {
        const button = make("button", "plain", text);
        button.type = "button";
        button.addEventListener("click", () => {
          $("classes").querySelectorAll(".chip").forEach(chip => { if ((chip.getAttribute("aria-pressed") === "false") !== hide) chip.click(); });
        });
        $("classes").append(button);
      }
    }
  }
  chip(hidden, key, text, role) {
    const chip = make("button", `chip ${role}`, text);
    chip.type = "button";
    chip.title = "Show or hide";
    chip.shown = key;
    chip.setAttribute("aria-pressed", "true");
    chip.addEventListener("click", () => {
      const isShown = hidden.has(key);
      isShown ? hidden.delete(key) : hidden.add(key);
      chip.setAttribute("aria-pressed", String(isShown));
      this.colour();
      this.selecting.drop();
    });
    return chip;
  }
  setSearch() {
    const input = $("search"), list = $("found");
    let at = 0, points = [];
    const mark = () => {
      [...list.children].forEach((item, k) => item.setAttribute("aria-selected", String(k === at)));
      input.setAttribute("aria-activedescendant", points.length ? `found-${at}` : "");
    };
    const close = () => { list.hidden = true; input.setAttribute("aria-expanded", "false"); };
    const nameOf = one => one.name ?? this.model.label(one);
    const take = k => { if (points[k] === undefined) return; close(); input.value = nameOf(points[k]); points[k].name === undefined ? this.reveal(points[k]) : this.markNumber(points[k]); };
    input.addEventListener("input", () => {
      points = [...this.model.searchNumbers(input.value), ...this.model.search(input.value, MOST_FOUND)].slice(0, MOST_FOUND);
      at = 0;
      const items = points.map((one, k) => {
        const isPoint = one.name === undefined, own = isPoint ? this.model.find(one)[0] : one;
        const noun = isPoint ? own.name : this.model.data.triplot ? "constraint" : "number", item = make("li", own.role, short(nameOf(one), 60), make("span", "soft", ` ${noun}`));
        item.setAttribute("role", "option");
        item.id = `found-${k}`;
        item.addEventListener("pointerdown", event => { event.preventDefault(); take(k); });
        return item;
      });
      list.replaceChildren(...(items.length || !input.value.trim() ? items : [make("li", "soft", "Nothing found")]));
      list.hidden = !input.value.trim();
      input.setAttribute("aria-expanded", String(!list.hidden));
      mark();
    });
    input.addEventListener("keydown", event => {
      const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (move && points.length) { event.preventDefault(); at = (at + move + points.length) % points.length; mark(); }
      if (event.key === "Enter") take(at);
      if (event.key === "Escape") { close(); input.value = ""; }
    });
    input.addEventListener("blur", close);
  }
  /* Choose a point and make sure that it can be seen. */
  reveal(i, closer = 2.5) {
    const [cloud, j] = this.model.find(i);
    for (const [hidden, key, box] of [[this.hidden.roles, cloud.role, "roles"], [this.hidden.classes, this.model.classOf(cloud, j), "classes"]]) {
      if (!hidden.delete(key)) continue;
      const k = box === "roles" ? this.model.clouds.indexOf(cloud) : key;
      $(box).children[k].setAttribute("aria-pressed", "true");
    }
    this.colour();
    this.choose(i, closer);
  }
  /* Mark the arrow or path of a number, and say how it goes with the axes. */
  markNumber({ name, role, correlations }) {
    this.choose(-1);
    this.marked = name;
    if (this.hidden.roles.delete(role + "n")) this.refresh();
    const list = make("dl"), isDrawn = this.numberLines.some(line => line.name === name);
    list.append(make("dt"), make("dd", "", this.model.data.triplot ? "constraint" : `number of ${this.model.role(role).name}`));
    for (const axis of this.axes) if (axis >= 0) list.append(make("dt", "", this.model.axisName(axis)), make("dd", "", `correlation ${correlations[axis].toFixed(2)}`));
    $("hint").hidden = true;
    $("card").hidden = false;
    $("point").replaceChildren(make("strong", "", name), list, ...(isDrawn ? [] : [make("p", "soft", "It hardly goes with these axes, and is not drawn.")]));
    $("matches").replaceChildren();
    $("said").textContent = $("point").textContent;
    this.plane.draw();
  }
  /* Show a step of the training, of which only some axes and one map are known. */
  toFrame(t) {
    const { frames } = this.model.data, slider = $("frame");
    this.frame = t;
    if (!this.isLast) {
      $("map").value = "rowprincipal";
      if (this.axes.some(axis => axis >= frames.axes)) { $("first").value = "0"; $("second").value = frames.axes > 1 ? "1" : "-1"; }
    }
    const accuracy = frames.accuracy ? `, accuracy ${(100 * frames.accuracy[t]).toFixed(1)} %` : "";
    $("step").textContent = `step ${frames.steps[t].toLocaleString("en")}${accuracy}`;
    slider.value = String(t);
    slider.setAttribute("aria-valuetext", $("step").textContent);
    this.arrange();
  }
  /* Other axes or another map were chosen. */
  change() {
    const { frames } = this.model.data, [first, second] = this.axes;
    if (first === second) [$("first").value, $("second").value] = [this.before[1], this.before[0]].map(String);  // they change places
    this.before = this.axes;
    const isKnown = this.isLast || (this.map === "rowprincipal" && this.axes.every(axis => axis < frames.axes));
    isKnown ? this.arrange() : this.toFrame(frames.steps.length - 1);
    this.reset();
  }
  setSlider() {
    const { frames } = this.model.data;
    if (!frames) return;
    const slider = $("frame");
    slider.max = String(frames.steps.length - 1);
    let timer = 0;
    const stop = () => { clearInterval(timer); timer = 0; $("play").textContent = "▶"; $("play").setAttribute("aria-label", "Play the training"); };
    slider.addEventListener("input", () => { stop(); this.toFrame(Number(slider.value)); });
    $("play").addEventListener("click", () => {
      if (timer) return stop();
      if (this.isLast) this.toFrame(0);
      $("play").textContent = "⏸";
      $("play").setAttribute("aria-label", "Pause");
      timer = setInterval(() => { if (!this.isLast) this.toFrame(this.frame + 1); if (this.isLast) stop(); }, 160);
    });
    this.toFrame(this.frame);
  }
  bindKeys(plane, reset) {
    const keys = {
      ArrowLeft: () => plane.panBy(60, 0), ArrowRight: () => plane.panBy(-60, 0), ArrowUp: () => plane.panBy(0, 60), ArrowDown: () => plane.panBy(0, -60),
      "+": () => plane.zoomBy(1.3), "=": () => plane.zoomBy(1.3), "-": () => plane.zoomBy(1 / 1.3), 0: reset,
      n: () => this.step(1), p: () => this.step(-1), l: () => $("labels").click(), Escape: () => { this.choose(-1); this.select([]); },
    };
    plane.root.addEventListener("keydown", event => {
      if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
      event.preventDefault();
      keys[event.key]();
    });
  }
  setKeys() {
    this.bindKeys(this.plane, () => this.reset());
    document.addEventListener("keydown", event => {
      if (event.target.closest("input[type=search], select") || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "/") { event.preventDefault(); this.layout.open(true); $("search").focus(); }
      if (event.key === "?") $("keys").showModal();
    });
  }
  /* To the next point in the order of their weight, for those without a mouse. */
  step(by) {
    const named = [...this.named.y, ...this.named.others];
    const shown = (named.length ? named : Array.from({ length: this.model.size }, (_, i) => i)).filter(i => this.plane.isShown(i));
    if (!shown.length) return;
    const at = shown.indexOf(this.chosen);
    const next = shown[at < 0 ? 0 : (at + by + shown.length) % shown.length];
    this.choose(next);
    if (!this.plane.isInside(this.plane.at(next), -10)) this.plane.centre(next);
  }

  /* --- light and dark, paper */

  setTheme() {
    const media = matchMedia("(prefers-color-scheme: dark)");
    const apply = () => {
      this.isDark = this.theme === "auto" ? media.matches : this.theme === "dark";
      document.documentElement.dataset.theme = this.isDark ? "dark" : "light";
      const style = getComputedStyle(document.documentElement);
      this.style = Object.fromEntries(["ink", "soft", "line", "paper", "accent", "x", "y", "mark"].map(name => [name, style.getPropertyValue(`--${name}`).trim()]));
      this.colouring?.applyTheme();
      document.querySelectorAll(".dot").forEach(dot => { dot.style.background = css(this.readable(dot.dataset.colour)); });
      $("theme").textContent = { auto: "◐ auto", light: "☀ light", dark: "☾ dark" }[this.theme];
      this.colour();
    };
    this.theme = "auto";
    media.addEventListener("change", apply);
    $("theme").addEventListener("click", () => { this.theme = { auto: "light", light: "dark", dark: "auto" }[this.theme]; apply(); });
    let before = "auto";
    addEventListener("beforeprint", () => { before = this.theme; this.theme = "light"; apply(); this.plane.resize(); });
    addEventListener("afterprint", () => { this.theme = before; apply(); this.plane.resize(); });
    this.applyTheme = apply;
    apply();
  }

  /* --- tables below the plane */

  setTables() {
    document.querySelectorAll(".strip").forEach(strip => this.fillStrip(strip, Number(strip.dataset.axis), Number(strip.dataset.sign)));
    const tables = this.model.clouds.filter(cloud => cloud.mass && cloud.n && cloud.role !== "mark");
    $("makeup").hidden = !tables.length;
    $("axis").replaceChildren(...this.model.axes.slice(0, this.model.data.kept).map((_, a) => option(a, this.model.axisName(a))));
    const show = () => $("contributions").replaceChildren(...tables.map(cloud => this.contributions(cloud, Number($("axis").value))));
    $("axis").addEventListener("change", show);
    show();
    (this.model.data.confusing || []).forEach(([i, a, b, margin]) => {
      const button = make("button", "match"), picture = this.thumbnail(i, 40);
      button.type = "button";
      button.append(...(picture ? [picture] : []), make("span", "name", picture ? `${a} or ${b}` : `${this.model.label(i)}: ${a} or ${b}`), make("span", "strength", `margin ${margin.toFixed(3)}`));
      button.addEventListener("click", () => { this.reveal(i); $("plane").scrollIntoView({ block: "nearest" }); });
      $("close").append(make("li", "", button));
    });
    $("calls").hidden = !(this.model.data.confusing || []).length;
  }
  /* Pictures of the points that lie farthest out on one side of an axis. */
  fillStrip(strip, axis, sign) {
    const cloud = this.model.role("x");
    strip.hidden = !cloud.image;
    if (!cloud.image) return;
    const value = j => sign * cloud.places[j * this.model.data.kept + axis];
    const order = Array.from({ length: cloud.n }, (_, j) => j).filter(j => cloud.image[j] >= 0).sort((a, b) => value(b) - value(a));
    for (const j of order.slice(0, 8)) {
      const button = make("button", "plain", this.thumbnail(cloud.start + j, 36));
      button.type = "button";
      button.setAttribute("aria-label", this.model.label(cloud.start + j));
      button.addEventListener("click", () => { this.reveal(cloud.start + j); $("plane").scrollIntoView({ block: "nearest" }); });
      strip.append(button);
    }
  }
  contributions(cloud, axis) {
    const { model } = this, at = j => cloud.places[j * model.data.kept + axis], share = j => model.contribution(cloud, j, axis);
    const order = Array.from({ length: cloud.n }, (_, j) => j).sort((a, b) => share(b) - share(a)).slice(0, 15);
    const most = Math.max(...order.map(share), 1e-12), body = make("tbody");
    for (const j of order) {
      const bar = make("span", `bar ${cloud.role}`), button = make("button", "plain", short(model.label(cloud.start + j), 60));
      bar.style.width = `${100 * share(j) / most}%`;
      button.type = "button";
      button.addEventListener("click", () => { this.reveal(cloud.start + j); $("plane").scrollIntoView({ block: "nearest" }); });
      body.append(make("tr", "", make("td", "", button), make("td", "", (100 * model.share(cloud, j)).toPrecision(3)), make("td", "", at(j).toFixed(2)), make("td", "", (100 * share(j)).toFixed(1), bar)));
    }
    const head = make("tr", "", ...[cloud.name, "share %", "coordinate", "contribution %"].map(text => header(text)));
    return make("div", "scroll", make("table", "contributions", make("thead", "", head), body));
  }
}

const NOTES = {
  symmetric: "Symmetric map: compare points of the same kind; the distance of a circle from a triangle means nothing.",
  rowprincipal: "A circle lies at the mean of the triangles that belong to it, a triangle where something would lie that belongs to it alone.",
  colprincipal: "A triangle lies at the mean of the circles that belong to it, a circle where something would lie that belongs to it alone.",
  symbiplot: "Biplot: project circles on the direction of a triangle to see how far pairs are above or below independence.",
  rowgab: "Biplot: triangles at their coordinates times their share; project circles on their directions.",
  colgab: "Biplot: circles at their coordinates times their share; project triangles on their directions.",
  rowgreen: "Contribution biplot: triangles far from the centre make up the axes.",
  colgreen: "Contribution biplot: circles far from the centre make up the axes.",
};

/* Of a triplot, by its map and by how the sites are drawn; {x} are the sites, {y} the species. */
const TRIPLOT_NOTES = {
  "symmetric wa": "The distances of {x} from each other, and of {y} from each other, can be compared; not those between the two.",
  "symmetric lc": "The distances of {x} from each other, and of {y} from each other, can be compared; not those between the two.",
  "rowprincipal wa": "Scaling sites: {x} lie at the mean of their {y}.",
  "rowprincipal lc": "Scaling sites: {x} lie where the constraints put them; their distances are those of the profiles that the constraints predict.",
  "colprincipal wa": "Scaling species: {x} lie in the direction of their {y}; distances between {y} can be compared.",
  "colprincipal lc": "Scaling species: {y} lie at the mean of their {x}, which lie where the constraints put them.",
  "symbiplot wa": "Scaling symmetric: {x} lie in the direction of their {y}; no distances are kept.",
  "symbiplot lc": "Scaling symmetric: project {x} on the direction of {y} to see what the constraints predict.",
};

/* --- small things */

/* The letter of a variable, or mark. */
function base(role) { return role === "mark" || isPassive(role) ? "mark" : role[0]; }
function times(ratio) { return ratio >= 1000 ? "> 1000 × chance" : `${ratio.toPrecision(2).replace(/\.0$/, "")} × chance`; }

(async () => {
  try {
    const data = await unpack($("data").textContent), model = new Model(data);
    const pictures = await Promise.all(data.clouds.map((_, c) => sheets(data, c)));
    window.explorer = new Page(model, pictures);
    await window.explorer.history.readLink();
    document.documentElement.dataset.ready = "yes";
  } catch (error) {
    $("problem").hidden = false;
    $("problem").textContent = `This browser cannot show the plane (${error.message}): the tables below have the figures.`;
    throw error;
  }
})();
