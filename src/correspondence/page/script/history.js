/* Undo and redo, and a link that shows the same view again. Both are made of states (state.js): one is noted whenever the
   page has come to rest, so that nothing else has to tell this file what it does. */

const REST = 350;  // milliseconds without drawing, after which a state is noted
const MOST_UNDONE = 100, LONGEST_LINK = 60000, MOST_STATE_BYTES = 4e6;

class History {
  constructor(page) {
    this.page = page;
    this.past = [];
    this.future = [];
    this.initial = this.now = page.state.read();
    this.size = this.measure();
    $("undo").addEventListener("click", () => this.undo());
    $("redo").addEventListener("click", () => this.redo());
    $("link").hidden = !/^(file|https?):$/.test(location.protocol);  // a page within another has no address of its own
    $("link").addEventListener("click", () => this.copyLink());
    document.addEventListener("keydown", event => this.readKey(event));
    // What was done before the next press is a step of its own, however fast the presses are.
    for (const kind of ["pointerdown", "keydown"]) document.addEventListener(kind, () => { if (this.rest) this.note(); }, true);
    addEventListener("hashchange", () => this.readLink());
    this.enable();
  }
  /* Something was drawn: look what has changed once that has ended. */
  touch() {
    clearTimeout(this.rest);
    this.rest = setTimeout(() => this.note(), REST);
  }
  note() {
    clearTimeout(this.rest);
    this.rest = 0;
    const state = this.page.state.read(), changed = Object.keys(this.page.state.differences(state, this.now));
    if (!changed.length) { this.size = this.measure(); return; }
    // Moving the view is one step, however often the mouse is lifted; that the page has another size is none.
    const isMoved = changed.every(name => name === "view" || name === "twinView"), size = this.measure();
    if (isMoved && size !== this.size) { Object.assign(this, { now: state, size }); return; }
    this.size = size;
    if (!(isMoved && this.isMoved)) this.past.push(this.now);
    this.past.splice(0, this.past.length - MOST_UNDONE);
    Object.assign(this, { now: state, future: [], isMoved });
    this.enable();
  }
  measure() { return this.page.panes.map(({ width, height }) => `${width} ${height}`).join(); }
  undo() { this.note(); this.step(this.past, this.future); }
  redo() { this.note(); this.step(this.future, this.past); }
  step(from, to) {
    if (!from.length) return;
    to.push(this.now);
    this.page.state.set(this.now = from.pop());
    Object.assign(this, { now: this.page.state.read(), size: this.measure(), isMoved: false });
    this.enable();
  }
  enable() {
    $("undo").disabled = !this.past.length;
    $("redo").disabled = !this.future.length;
  }
  readKey(event) {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || event.target.closest?.("input[type=search], input[type=text], input[type=number], textarea")) return;
    const key = event.key.toLowerCase(), action = key === "y" || (key === "z" && event.shiftKey) ? "redo" : key === "z" ? "undo" : "";
    if (!action) return;
    event.preventDefault();
    this[action]();
  }

  /* --- a link */

  /* What tells pages apart: a state of another page says nothing of this one. */
  get signature() {
    const { data, clouds } = this.page.model;
    const text = JSON.stringify([data.kept, data.names, data.classes?.names, clouds.map(({ role, n, labels, columns }) => [role, n, labels?.slice(0, 50), columns.map(({ name, labels: own }) => [name, own?.slice(0, 50)])])]);
    let hash = 2166136261;
    for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 16777619) >>> 0;
    return hash.toString(36);
  }
  /* The fragment of an address that holds what differs from the page as it opens. */
  async writeFragment() {
    const { state } = this.page, parts = state.differences(state.read(), this.initial);
    if (parts.selection) parts.selection = writeRanges(parts.selection);
    const bytes = new TextEncoder().encode(JSON.stringify({ of: this.signature, state: parts }));
    return `#view=${toLetters(await runStream(bytes, new CompressionStream("deflate-raw")))}`;
  }
  async makeLink() {
    const address = location.href.split("#")[0], fragment = await this.writeFragment();
    return fragment.length <= LONGEST_LINK ? address + fragment : null;
  }
  async copyLink() {
    const link = await this.makeLink();
    if (link === null) return this.page.tell("The selection is too long for a link: clear it first, or export it.");
    this.page.tell(await copyText(link) ? "Link copied." : "Copy the address of this page: it shows this view.");
    window.history.replaceState(null, "", link.slice(link.indexOf("#")));
  }
  /* Show what the fragment of the address says; what it cannot mean here is left out with a note. */
  async readLink() {
    const letters = /^#view=(.*)/.exec(location.hash)?.[1];
    if (letters === undefined) return;
    try {
      const bytes = await runStream(fromLetters(letters), new DecompressionStream("deflate-raw"));
      const { of, state } = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
      if (of !== this.signature) return this.page.tell("The link was made on another page, or on an earlier one: it is ignored.");
      if (typeof state.selection === "string") state.selection = readRanges(state.selection, this.page.model.size);
      const ignored = this.page.state.set({ ...this.initial, ...state });
      if (ignored.length) this.page.tell("Parts of the link do not fit this page and are ignored.");
    } catch {
      this.page.tell("The link cannot be read: it is ignored.");
    }
  }
}

/* Points as differences, runs of neighbours together: 3-9,2 are the points 3 to 12 and 14. */
function writeRanges(points) {
  const sorted = [...points].sort((a, b) => a - b), parts = [];
  for (let k = 0, last = 0; k < sorted.length;) {
    let end = k;
    while (sorted[end + 1] === sorted[end] + 1) end += 1;
    parts.push(end > k ? `${sorted[k] - last}-${end - k}` : `${sorted[k] - last}`);
    last = sorted[end];
    k = end + 1;
  }
  return parts.join();
}
function readRanges(text, size) {
  const points = [];
  let last = 0;
  for (const part of text ? text.split(",") : []) {
    const [start, more = 0] = part.split("-").map(Number), first = last + start;
    if (!(first >= 0 && more >= 0 && first + more < size)) throw new RangeError("no such point");
    for (let i = first; i <= first + more; i++) points.push(i);
    last = first + more;
  }
  return points;
}

function toLetters(bytes) {
  let text = "";
  for (let k = 0; k < bytes.length; k += 8192) text += String.fromCharCode(...bytes.subarray(k, k + 8192));
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
function fromLetters(letters) { return Uint8Array.from(atob(letters.replaceAll("-", "+").replaceAll("_", "/")), letter => letter.charCodeAt(0)); }
/* Bytes through a stream, which may not grow without bounds. */
async function runStream(bytes, stream) {
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader(), parts = [];
  for (let size = 0, part = await reader.read(); !part.done; part = await reader.read()) {
    parts.push(part.value);
    size += part.value.length;
    if (size > MOST_STATE_BYTES) { await reader.cancel(); throw new RangeError("too long"); }
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}
/* Copy a text, even where a page may not use the clipboard by itself; says whether it worked. */
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = make("textarea", "unseen", text), focused = document.activeElement;
    document.body.append(area);
    area.select();
    const isCopied = document.execCommand("copy");
    area.remove();
    focused?.focus();
    return isCopied;
  }
}
