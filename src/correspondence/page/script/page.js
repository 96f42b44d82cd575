/* The page around the plane: what is shown, hidden, chosen and selected, and the controls that say so. */


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
    this.notes = new Notes(this);
    this.card = new Card(this);
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
    this.search = new Search(this);
    this.training = new Training(this);
    this.setKeys();
    this.tables = new Tables(this);
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
    this.isLast ? this.arrange() : this.training.show(this.frame);  // which has its own map and axes
    this.selecting.dropHidden();
    this.card.show();
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
    if (this.chosen >= 0) this.card.show();
  }
  /* The points that may have labels on the axes of a plane, the heaviest first. */
  nameOn(view) {
    const { model } = this, [first, second] = view.axes, listed = (...roles) => model.byWeight(roles, first, second);
    view.named = model.data.triplot ? { y: [...listed("xc"), ...listed("y", "ys", "yc")], others: listed("x") } : { y: listed("y", "ys", "yc"), others: listed("x", "xs", "xc", "mark") };
    view.crowd = model.byWeight(["x", "y", "mark", "xs", "ys"], first, second, cloud => !cloud.named && !!cloud.labels);
  }
  note() { $("note").textContent = this.notes.write(); }
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
    if (i !== this.hovered) { this.hovered = i; this.plane.draw(); tip.replaceChildren(...(i < 0 ? [] : this.card.describe(i))); }
    tip.hidden = i < 0;
    plane.layer.style.cursor = i >= 0 ? "pointer" : this.plane.selecting ? "crosshair" : "grab";
    if (i < 0) return;
    const { width, height, root } = plane;
    tip.style.left = `${root.offsetLeft + Math.max(4, Math.min(x + 16, width - tip.offsetWidth - 4))}px`;
    tip.style.top = `${root.offsetTop + (y + 16 + tip.offsetHeight > height ? Math.max(4, y - tip.offsetHeight - 12) : y + 16)}px`;
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
    this.card.show();
    this.plane.draw();
  }
  /* --- selection */

  select(points) {
    this.selection = points;
    $("selected").textContent = points.length ? `${points.length.toLocaleString("en")} selected` : "";
    for (const id of ["export", "clear"]) $(id).disabled = !points.length;
    this.embedding?.tellSelection();
    this.comparison?.show();
    if ($("shapes").value && this.plane.whole) this.note();  // of the selection too, ellipses are explained
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
        const button = makeButton("plain", text);
        button.addEventListener("click", () => {
          $("classes").querySelectorAll(".chip").forEach(chip => { if ((chip.getAttribute("aria-pressed") === "false") !== hide) chip.click(); });
        });
        $("classes").append(button);
      }
    }
  }
  chip(hidden, key, text, role) {
    const chip = makeButton(`chip ${role}`, text);
    chip.title = "Show or hide";
    chip.shown = key;
    chip.setAttribute("aria-pressed", "true");
    chip.addEventListener("click", () => {
      const isShown = hidden.has(key);
      isShown ? hidden.delete(key) : hidden.add(key);
      chip.setAttribute("aria-pressed", String(isShown));
      this.colour();
      this.selecting.dropHidden();
    });
    return chip;
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
    if (this.filters.hides(i)) this.tell(`A filter hides ${short(this.model.label(i), 40)}.`);
  }
  /* Other axes or another map were chosen. */
  change() {
    const { frames } = this.model.data, [first, second] = this.axes;
    if (first === second) [$("first").value, $("second").value] = [this.before[1], this.before[0]].map(String);  // they change places
    this.before = this.axes;
    const isKnown = this.isLast || (this.map === "rowprincipal" && this.axes.every(axis => axis < frames.axes));
    isKnown ? this.arrange() : this.training.show(frames.steps.length - 1);
    this.reset();
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
      if (event.target.closest("input[type=search], select, dialog") || event.ctrlKey || event.metaKey || event.altKey) return;
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
}

/* The letter of a variable, or mark. */
function base(role) { return role === "mark" || isPassive(role) ? "mark" : role[0]; }

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
