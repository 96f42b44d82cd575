/* A second plane beside the first, of other axes of the same points: what is hovered, chosen, selected, hidden or coloured in
   one is so in the other. Its page is the page itself but for what depends on the axes. */

class Twin {
  constructor(page) {
    this.page = page;
    this.axes = null;  // of the second plane, once it was opened
    const d = page.model.data.kept;
    $("twin").closest("label").hidden = d < 3;
    if (d < 3) return;
    for (const id of ["third", "fourth"]) {
      $(id).replaceChildren(...[...$("first").options].map(one => option(one.value, one.textContent)));
      $(id).addEventListener("change", () => this.turn(id));
    }
    $("twin").addEventListener("change", () => this.open($("twin").checked));
    this.addState();
  }
  get isOpen() { return !$("other").hidden; }
  get view() { return this.own ?? this.make(); }

  /* The page as the second plane sees it. */
  make() {
    const { page } = this, plane = new Plane($("other"), page.model.size), twin = this;
    this.own = Object.create(page, Object.fromEntries(Object.entries({
      plane, numberLines: [], named: { y: [], others: [] }, crowd: [], traces: new Map(), texts: new Map(), traced_: null,
    }).map(([name, value]) => [name, { value, writable: true }])));
    Object.defineProperty(this.own, "axes", { get: () => twin.axes });
    this.own.layer = new Layer(this.own);
    // Whatever way of selecting is chosen for the first plane holds for both.
    for (const name of ["selecting", "isLasso"]) Object.defineProperty(plane, name, { get: () => page.plane[name], set: value => { page.plane[name] = value; } });
    plane.on("paint", context => { this.own.layer.paint(context); page.history?.touch(); });
    plane.on("hover", (i, at) => page.hover(i, at, plane));
    for (const name of ["click", "select"]) plane.on(name, (...values) => page.plane.tell(name, ...values));
    page.bindKeys(plane, () => this.own.reset());
    return this.own;
  }
  open(isOpen) {
    if (isOpen && !this.axes) this.axes = this.chooseAxes();
    $("twin").checked = isOpen;
    $("other").hidden = !isOpen;
    $("others").hidden = !isOpen;
    if (!isOpen) return this.page.plane.draw();
    this.view.plane.resize();
    this.arrange();
    this.view.reset();
  }
  /* The next two axes, if there are two. */
  chooseAxes() {
    const all = Array.from({ length: this.page.model.data.kept }, (_, axis) => axis), left = all.filter(axis => !this.page.axes.includes(axis));
    return [left.length > 1 ? left[0] : this.page.axes[0], left[1] ?? left[0]];
  }
  turn(id) {
    const before = this.axes, axes = [Number($("third").value), Number($("fourth").value)];
    this.axes = axes[0] === axes[1] ? [before[1], before[0]] : axes;
    this.page.arrange();
    this.view.reset();
  }
  /* Points, numbers and names on its axes: called whenever those of the page are found anew. */
  arrange() {
    if (!this.isOpen) return;
    const { page, view } = this, { model } = page, { frames } = model.data;
    if (!page.isLast && this.axes.some(axis => axis >= frames.axes)) this.axes = frames.axes > 3 ? [2, 3] : [1, 2].map(axis => axis % frames.axes);
    [$("third").value, $("fourth").value] = this.axes.map(String);
    view.plane.setPoints(page.isLast ? model.positions(...this.axes, page.map) : model.framePositions(page.frame, ...this.axes), model.crowd);
    view.numberLines = model.numberLines(...this.axes, page.map);
    page.nameOn(view);
    this.look();
  }
  /* Colours and sizes are those of the first plane. */
  look() {
    if (!this.isOpen || !this.own) return;
    const { plane } = this.page;
    this.own.plane.paper = plane.paper;
    this.own.plane.setLooks(plane.colours, plane.looks);
  }
  /* The first plane was drawn, but not because it moves. */
  follow() { if (this.isOpen && this.own && !this.page.plane.isMoving) this.own.plane.draw(); }

  addState() {
    const { page } = this, d = page.model.data.kept, isAxis = axis => Number.isInteger(axis) && axis >= 0 && axis < d;
    page.state.add("twin", {
      get: () => this.isOpen ? this.axes : null, check: value => value === null || (isList(value) && value.length === 2 && value.every(isAxis) && value[0] !== value[1]),
      set: value => { if (value) this.axes = value; if (this.isOpen !== !!value) this.open(!!value); },
    });
    page.state.add("twinView", {
      isLate: true, get: () => !this.isOpen || this.own.plane.isWhole() ? null : this.own.plane.seenBox().map(value => +value.toPrecision(9)),
      check: page.state.parts.get("view").check,
      set: value => { if (!this.isOpen) return; this.own.reset(); if (value) this.own.plane.zoomTo(value); },
    });
  }
}
