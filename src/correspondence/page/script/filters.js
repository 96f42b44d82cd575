/* Filters: which points are shown, by the values of fields. A filter is one plain object, as states hold it:
   { key, keep: codes of labels }   or   { key, low, high, missing: whether points without a value are shown }.
   What a filter hides can neither be selected nor hovered over, and is in no ellipse. */

const MOST_LISTED = 200, FEW_LISTED = 8, HISTOGRAM_BINS = 32, SLIDER_STEPS = 1000;

class Filters {
  constructor(page) {
    this.page = page;
    this.list = [];
    this.opened = new Map();  // editors by the key of their field
    this.mask = new Uint8Array(page.model.size);
    const { fields, clouds } = page.model, left = clouds.flatMap(cloud => cloud.left_out || []);
    $("filters").hidden = !fields.length;
    $("filterby").replaceChildren(option("", "Choose a column"), ...fields.map(({ key, name }) => option(key, short(name, 40))));
    this.listen();
    $("leftout").hidden = !left.length;
    $("leftout").textContent = `Not on this page, for want of room: ${left.map(name => short(name, 40)).join(", ")}.`;
    page.state.add("filters", { get: () => this.list, check: value => isList(value) && value.every(one => this.isFilter(one)) && areDifferent(value.map(({ key }) => key)), set: value => this.set(value) });
  }
  /* Choose a column. Arrow keys go through all of them: each is open while it is chosen, and the keys stay where they are. */
  listen() {
    const select = $("filterby");
    let isKeyed = false, tried = "";
    const leave = () => { if (tried && !this.list.some(({ key }) => key === tried)) this.close(tried); };
    select.addEventListener("keydown", () => { isKeyed = true; });
    select.addEventListener("pointerdown", () => { isKeyed = false; });
    select.addEventListener("blur", () => { select.value = tried = ""; });
    select.addEventListener("change", () => {
      const key = select.value;
      leave();
      tried = isKeyed && !this.opened.has(key) ? key : "";
      if (key) this.open(key, !isKeyed);
      if (!isKeyed) select.value = "";
    });
  }
  /* Whether a filter, perhaps of a link, can be applied here. */
  isFilter(one) {
    const field = this.page.model.field(one?.key);
    if (!field) return false;
    if (field.isNumber) return Number.isFinite(one.low) && Number.isFinite(one.high) && one.low <= one.high && typeof one.missing === "boolean";
    return isList(one.keep) && one.keep.every(code => Number.isInteger(code) && code >= 0 && code < field.labels.length) && areDifferent(one.keep);
  }
  hides(i) { return this.mask[i] === 1; }

  /* --- what is shown */

  set(list) {
    this.list = list;
    for (const key of [...this.opened.keys()]) if (!list.some(one => one.key === key)) this.close(key);
    for (const one of list) { this.open(one.key, false); this.opened.get(one.key).show(one); }
    this.apply();
  }
  /* One filter has changed; null removes it. */
  change(key, filter) {
    const others = this.list.filter(one => one.key !== key);
    this.list = filter ? [...others, filter] : others;
    this.apply();
  }
  apply() {
    const { page } = this;
    this.mask.fill(0);
    this.version = {};
    for (const filter of this.list) this.hide(filter);
    page.colour();
    page.selecting.dropHidden();
    this.tell();
    if (page.plane.width) page.note();
  }
  hide(filter) {
    const field = this.page.model.field(filter.key), { values } = field, { mask } = this;
    const kept = field.isNumber ? null : new Uint8Array(field.labels.length);
    if (kept) for (const code of filter.keep) kept[code] = 1;
    for (const cloud of field.clouds) {
      for (let j = 0; j < cloud.n; j++) {
        const value = values[j], isKept = kept ? kept[value] === 1 : value !== value ? filter.missing : value >= filter.low && value <= filter.high;
        if (!isKept) mask[cloud.start + j] = 1;
      }
    }
  }
  /* How many points of each cloud that is filtered are left. */
  counts() {
    const clouds = new Set(this.list.flatMap(({ key }) => this.page.model.field(key).clouds));
    return [...clouds].map(cloud => {
      let left = 0;
      for (let j = 0; j < cloud.n; j++) left += 1 - this.mask[cloud.start + j];
      return `${left.toLocaleString("en")} of ${cloud.n.toLocaleString("en")} ${clouds.size > 1 ? `${cloud.name} ` : ""}shown`;
    }).join(", ");
  }
  tell() {
    const box = $("filtered"), text = this.list.length ? this.counts() : "";
    box.hidden = !this.list.length;
    const chips = this.list.map(filter => {
      const said = this.describe(filter), chip = makeButton("chip filter", short(said, 60), make("span", "cross", "✕"));
      chip.title = short(said, 300);
      chip.setAttribute("aria-label", `Remove the filter ${said}`);
      chip.addEventListener("click", () => { this.close(filter.key); this.change(filter.key, null); });
      return chip;
    });
    $("filterchips").replaceChildren(...chips);
    $("left").textContent = text;
    $("leftshort").textContent = text;
  }
  describe(filter) {
    const field = this.page.model.field(filter.key);
    if (field.isNumber) return `${field.name}: ${field.write(filter.low)} to ${field.write(filter.high)}${filter.missing || !field.nMissing ? "" : ", none missing"}`;
    const labels = filter.keep.map(code => field.labels[code]), hidden = field.order.filter(code => !filter.keep.includes(code)).map(code => field.labels[code]);
    if (!labels.length) return `${field.name}: nothing`;
    return labels.length <= hidden.length || labels.length <= 3 ? `${field.name}: ${labels.join(", ")}` : `${field.name}: not ${hidden.join(", ")}`;
  }

  /* --- the editors */

  open(key, isFocused = true) {
    if (!this.opened.has(key)) {
      const field = this.page.model.field(key), editor = field.isNumber ? new RangeEditor(this, field) : new LabelEditor(this, field);
      this.opened.set(key, editor);
      $("editors").append(editor.element);
    }
    if (isFocused) { $("filters").open = true; this.opened.get(key).element.querySelector("input")?.focus(); }
  }
  close(key) {
    this.opened.get(key)?.element.remove();
    this.opened.delete(key);
  }
  /* The frame of an editor: the name of the field, and a button that removes the filter. */
  frame(field, ...parts) {
    const remove = makeButton("plain", "✕"), title = make("h3", "", short(field.name, 60), remove);
    remove.setAttribute("aria-label", `Remove the filter by ${field.name}`);
    remove.addEventListener("click", () => { this.close(field.key); this.change(field.key, null); $("filterby").focus(); });
    const element = make("div", "editor", title, ...parts);
    element.setAttribute("role", "group");
    element.setAttribute("aria-label", `Filter by ${field.name}`);
    return element;
  }
}

function areDifferent(values) { return new Set(values).size === values.length; }

/* Check boxes of labels, with a search if there are many. */
class LabelEditor {
  constructor(filters, field) {
    Object.assign(this, { filters, field, kept: new Set(field.order) });
    this.rows = make("ul", "choices");
    this.search = make("input");
    this.search.type = "search";
    this.search.placeholder = `Find one of ${field.order.length.toLocaleString("en")}`;
    this.search.setAttribute("aria-label", `Find a value of ${field.name}`);
    this.search.hidden = field.order.length <= FEW_LISTED;
    this.search.addEventListener("input", () => this.list());
    const buttons = [["all", true], ["none", false]].map(([text, isKept]) => {
      const button = makeButton("plain", text);
      button.addEventListener("click", () => { for (const code of this.found()) this.keep(code, isKept); this.list(); this.change(); });
      return button;
    });
    this.element = filters.frame(field, this.search, make("div", "row", ...buttons), this.rows);
    this.list();
  }
  /* The labels that have the text looked for. */
  found() {
    const wanted = this.search.value.trim().toLowerCase(), { labels, order } = this.field;
    return wanted ? order.filter(code => labels[code].toLowerCase().includes(wanted)) : order;
  }
  keep(code, isKept) { isKept ? this.kept.add(code) : this.kept.delete(code); }
  list() {
    const found = this.found(), more = found.length - MOST_LISTED;
    this.rows.replaceChildren(...found.slice(0, MOST_LISTED).map(code => {
      const box = make("input"), count = make("span", "soft", this.field.counts[code].toLocaleString("en"));
      box.type = "checkbox";
      box.checked = this.kept.has(code);
      box.addEventListener("change", () => { this.keep(code, box.checked); this.change(); });
      return make("li", "", make("label", "", box, make("span", "", short(this.field.labels[code], 60)), count));
    }), ...(more > 0 ? [make("li", "soft", `and ${more.toLocaleString("en")} more: type to find them`)] : []));
  }
  show({ keep }) { this.kept = new Set(keep); this.list(); }
  change() {
    const keep = this.field.order.filter(code => this.kept.has(code)).sort((a, b) => a - b);
    this.filters.change(this.field.key, keep.length < this.field.order.length ? { key: this.field.key, keep } : null);
  }
}

/* A histogram that is brushed with the mouse, and two sliders for its ends. */
class RangeEditor {
  constructor(filters, field) {
    Object.assign(this, { filters, field, low: field.sorted[0], high: field.sorted.at(-1), isNew: true });
    this.ends = [this.low, this.high];
    this.bars = make("div", "histogram");
    this.makeBars();
    this.sliders = ["from", "to"].map((word, k) => {
      const slider = make("input");
      Object.assign(slider, { type: "range", min: "0", max: String(SLIDER_STEPS), step: "1" });
      slider.setAttribute("aria-label", `${field.name} ${word}`);
      slider.addEventListener("input", () => this.slide(k));
      return slider;
    });
    this.output = make("output", "soft");
    this.missing = make("input");
    this.missing.type = "checkbox";
    this.missing.checked = true;
    this.missing.addEventListener("change", () => { this.isNew = false; this.change(); });
    const label = make("label", "", this.missing, `without a value (${field.nMissing.toLocaleString("en")})`);
    label.hidden = !field.nMissing;
    this.element = filters.frame(field, this.bars, ...this.sliders, this.output, label);
    this.listen();
    this.draw();
  }
  makeBars() {
    const counts = new Uint32Array(HISTOGRAM_BINS), [low, high] = this.ends, { sorted } = this.field;
    for (const value of sorted) counts[Math.min(HISTOGRAM_BINS - 1, Math.floor(HISTOGRAM_BINS * (value - low) / (high - low)))] += 1;
    const most = Math.max(...counts);
    this.bars.replaceChildren(...Array.from(counts, count => {
      const bar = make("span");
      bar.style.height = `${count ? Math.max(3, 100 * count / most) : 0}%`;
      return bar;
    }));
    this.bars.setAttribute("role", "img");
    this.bars.setAttribute("aria-label", `Histogram of ${this.field.name}, ${this.field.write(low)} to ${this.field.write(high)}; the sliders choose a range`);
  }
  /* Drag over the histogram to choose a range; a click chooses everything. */
  listen() {
    const valueAt = event => {
      const box = this.bars.getBoundingClientRect(), share = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
      return this.ends[0] + share * (this.ends[1] - this.ends[0]);
    };
    let from = null;
    this.bars.addEventListener("pointerdown", event => { from = [valueAt(event), event.clientX]; this.bars.setPointerCapture(event.pointerId); event.preventDefault(); });
    this.bars.addEventListener("pointermove", event => {
      if (!from || Math.abs(event.clientX - from[1]) < 3) return;
      const to = valueAt(event);
      this.setRange(Math.min(from[0], to), Math.max(from[0], to));
    });
    const release = event => {
      if (from && Math.abs(event.clientX - from[1]) < 3) this.setRange(...this.ends);
      from = null;
    };
    this.bars.addEventListener("pointerup", release);
    this.bars.addEventListener("pointercancel", () => { from = null; });
  }
  slide(k) {
    const [low, high] = this.sliders.map(slider => this.ends[0] + Number(slider.value) / SLIDER_STEPS * (this.ends[1] - this.ends[0]));
    // A slider that stands at its end means the end itself, and one does not go past the other.
    if (k === 0) this.setRange(Number(this.sliders[0].value) ? Math.min(low, this.high) : this.ends[0], this.high);
    else this.setRange(this.low, Number(this.sliders[1].value) < SLIDER_STEPS ? Math.max(high, this.low) : this.ends[1]);
  }
  setRange(low, high) {
    if (this.isNew) this.missing.checked = false;  // who looks for a range looks for values
    Object.assign(this, { low, high, isNew: false });
    if (low === this.ends[0] && high === this.ends[1]) Object.assign(this, { isNew: true }).missing.checked = true;
    this.draw();
    this.change();
  }
  draw() {
    const [start, end] = this.ends, share = value => (value - start) / (end - start);
    [...this.bars.children].forEach((bar, k) => bar.classList.toggle("outside", (k + 1) / HISTOGRAM_BINS <= share(this.low) || k / HISTOGRAM_BINS >= share(this.high)));
    [this.low, this.high].forEach((value, k) => {
      this.sliders[k].value = String(Math.round(SLIDER_STEPS * share(value)));
      this.sliders[k].setAttribute("aria-valuetext", this.field.write(value));
    });
    this.output.textContent = `${this.field.write(this.low)} to ${this.field.write(this.high)}`;
  }
  show({ low, high, missing }) {
    Object.assign(this, { low, high, isNew: false });
    this.missing.checked = missing;
    this.draw();
  }
  /* At most once in a frame, however fast the mouse is. */
  change() {
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = 0;
      if (!this.filters.opened.has(this.field.key)) return;
      const isAll = this.low === this.ends[0] && this.high === this.ends[1] && this.missing.checked;
      this.filters.change(this.field.key, isAll ? null : { key: this.field.key, low: this.low, high: this.high, missing: this.missing.checked });
    });
  }
}
