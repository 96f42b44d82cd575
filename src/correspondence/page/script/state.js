/* The state of the view as one plain object that JSON can hold: what the page shows, as far as a reader can change it.

   `explorer.getState()` returns it; `explorer.setState(state)` shows it and returns the names of the parts that it did not
   take. A part that is missing stays as it is; one that does not fit this page (another page's, or made up) is left alone.
   Other files add parts by `page.state.add(name, { get, check, set })`: `get()` returns the value, `check(value)` says
   whether a value can be shown here, `set(value)` takes it over without drawing. Values are never changed in place.

   axes [first, second], from 0, -1 for none     map, sites, shapes, colour: values of the controls of that name
   frame: step of a training                     theme: auto, light or dark
   labels, pictures, lines, confused: whether they are drawn
   hidden { roles, classes }: what the legends hide
   selection: numbers of points                  chosen: number of a point, or -1
   source: how they were selected, "plane", "category" or "outside"
   view: [left, right, bottom, top] of the plane, or null for the whole view; a box is set once all else is drawn */

class State {
  constructor(page) {
    this.page = page;
    this.parts = new Map();
    this.addControls();
    this.addPoints();
  }
  add(name, part) { this.parts.set(name, part); }

  /* All parts; of what this page does not have, none. */
  read() { return Object.fromEntries([...this.parts].map(([name, part]) => [name, part.get()])); }
  get() { return JSON.parse(JSON.stringify(this.read())); }
  set(state) {
    if (!state || typeof state !== "object") return ["state"];
    const ignored = Object.keys(state).filter(name => !this.parts.has(name)), late = [];
    for (const [name, part] of this.parts) {
      if (!Object.hasOwn(state, name)) continue;
      if (!isFitting(part, state[name])) ignored.push(name);
      else if (part.isLate) late.push([part, state[name]]);
      else part.set(state[name]);
    }
    this.page.refresh();
    this.page.panes.forEach(plane => plane.fit());  // controls that came or went have left it another size
    for (const [part, value] of late) part.set(value);
    this.page.plane.draw();
    return ignored;
  }
  /* The parts of a state that are others than in a second one. */
  differences(state, other) {
    return Object.fromEntries(Object.entries(state).filter(([name, value]) => value !== other[name] && JSON.stringify(value) !== JSON.stringify(other[name])));
  }

  addControls() {
    const { page } = this, { data } = page.model;
    const isAxis = (axis, least) => Number.isInteger(axis) && axis >= least && axis < data.kept;
    this.add("theme", { get: () => page.theme, check: value => ["auto", "light", "dark"].includes(value), set: value => { page.theme = value; page.applyTheme(); } });
    this.add("axes", {
      get: () => page.axes, check: value => isList(value) && value.length === 2 && isAxis(value[0], 0) && isAxis(value[1], -1) && value[0] !== value[1],
      set: ([first, second]) => { $("first").value = String(first); $("second").value = String(second); page.before = [first, second]; },
    });
    for (const [name, id] of [["map", "map"], ["sites", "sites"], ["colour", "paint"], ["shapes", "shapes"]]) this.addChoice(name, id);
    for (const id of ["labels", "pictures", "lines", "confused"]) {
      this.add(id, { get: () => $(id).checked, check: value => typeof value === "boolean", set: value => { $(id).checked = value; } });
    }
    if (data.frames) {
      const { length } = data.frames.steps;
      this.add("frame", { get: () => page.frame, check: value => Number.isInteger(value) && value >= 0 && value < length, set: value => page.training.show(value) });
    }
  }
  /* The value of a select, if the page has it. */
  addChoice(name, id) {
    const select = $(id);
    if (!select) return;
    this.add(name, {
      get: () => select.value, check: value => typeof value === "string" && [...select.options].some(one => one.value === value && !one.disabled),
      set: value => { select.value = value; },
    });
  }
  addPoints() {
    const { page } = this, { plane, model } = page;
    const isPoint = i => Number.isInteger(i) && i >= 0 && i < model.size;
    const roles = new Set([...model.clouds.map(cloud => cloud.role), "xn", "yn"]), { length } = model.data.classes?.names ?? [];
    this.add("hidden", {
      get: () => ({ roles: [...page.hidden.roles].sort(), classes: [...page.hidden.classes].sort((a, b) => a - b) }),
      check: value => isList(value?.roles) && isList(value.classes) && value.roles.every(role => roles.has(role)) && value.classes.every(code => Number.isInteger(code) && code >= 0 && code < length),
      set: value => { page.hidden.roles = new Set(value.roles); page.hidden.classes = new Set(value.classes); },
    });
    this.add("selection", { get: () => page.selection, check: value => isList(value) && value.every(isPoint), set: value => { page.selecting.source = "outside"; page.select([...new Set(value)]); } });
    this.add("source", { get: () => page.selecting.source, check: value => ["plane", "category", "outside"].includes(value), set: value => { page.selecting.source = value; } });
    this.add("chosen", { get: () => page.chosen, check: value => value === -1 || isPoint(value), set: value => { page.chosen = value; } });
    this.add("view", {
      isLate: true, get: () => plane.isWhole() ? null : plane.seenBox().map(value => +value.toPrecision(9)),
      check: value => value === null || (isList(value) && value.length === 4 && value.every(Number.isFinite) && value[0] < value[1] && value[2] < value[3]),
      set: value => { page.reset(); if (value) plane.zoomTo(value); },
    });
  }
}

function isList(value) { return Array.isArray(value); }
/* Whatever a link or another window says: a check that stumbles over it is a no. */
function isFitting(part, value) {
  try { return part.check(value) === true; } catch { return false; }
}
