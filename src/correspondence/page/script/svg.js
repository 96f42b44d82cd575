/* A drawing context that writes SVG: whatever is drawn on a canvas here can be drawn on this one as well, texts as texts. */

const SPACE = "http:" + "//www.w3.org/2000/svg";  // a name, not an address: a page has no addresses

class SvgContext {
  constructor(width, height) {
    Object.assign(this, { width, height, parts: [], states: [], clips: 0, path: [], disc: null });
    this.state = { fillStyle: "#000", strokeStyle: "#000", lineWidth: 1, globalAlpha: 1, font: "10px sans-serif", textAlign: "left", dash: [], moves: [], opened: 0 };
    for (const name of ["fillStyle", "strokeStyle", "lineWidth", "globalAlpha", "font", "textAlign"]) {
      Object.defineProperty(this, name, { get: () => this.state[name], set: value => { this.state[name] = value; } });
    }
  }
  /* The file, with a title and a description for those who cannot see it. */
  finish(title, description) {
    return `<svg xmlns="${SPACE}" width="${this.width}" height="${this.height}" viewBox="0 0 ${this.width} ${this.height}">\n`
      + `<title>${escapeXml(title)}</title>\n<desc>${escapeXml(description)}</desc>\n${this.parts.join("\n")}\n</svg>\n`;
  }
  add(tag, attributes, content = "") {
    const moves = [...this.state.moves, ...(attributes.transform ? [attributes.transform] : [])];
    const all = moves.length ? { ...attributes, transform: moves.join(" ") } : attributes;
    const written = Object.entries(all).map(([name, value]) => ` ${name}="${typeof value === "number" ? round(value) : escapeXml(value)}"`).join("");
    this.parts.push(content ? `<${tag}${written}>${content}</${tag}>` : `<${tag}${written}/>`);
  }

  save() { this.states.push(this.state); this.state = { ...this.state, opened: 0 }; }
  restore() {
    this.parts.push(...Array(this.state.opened).fill("</g>"));
    this.state = this.states.pop();
  }
  translate(x, y) { this.state.moves = [...this.state.moves, `translate(${round(x)} ${round(y)})`]; }
  rotate(angle) { this.state.moves = [...this.state.moves, `rotate(${round(angle * 180 / Math.PI)})`]; }
  setLineDash(dash) { this.state.dash = dash; }
  clip() {
    this.clips += 1;
    this.parts.push(`<clipPath id="clip${this.clips}"><path d="${this.path.join("")}"/></clipPath><g clip-path="url(#clip${this.clips})">`);
    this.state.opened += 1;
  }

  beginPath() { this.path = []; this.disc = null; }
  closePath() { this.path.push("Z"); }
  moveTo(x, y) { this.path.push(`M${round(x)} ${round(y)}`); }
  lineTo(x, y) { this.path.push(`${this.path.length ? "L" : "M"}${round(x)} ${round(y)}`); }
  rect(x, y, width, height) { this.path.push(`M${round(x)} ${round(y)}h${round(width)}v${round(height)}h${round(-width)}Z`); }
  /* Arcs are whole circles here. */
  arc(x, y, r) { this.disc = ["circle", { cx: x, cy: y, r }]; }
  ellipse(x, y, rx, ry, angle) { this.disc = ["ellipse", { cx: x, cy: y, rx, ry, transform: `rotate(${round(angle * 180 / Math.PI)} ${round(x)} ${round(y)})` }]; }
  fill() { this.addShape({ ...this.paint("fill", this.fillStyle) }); }
  stroke() { this.addShape({ fill: "none", ...this.lines() }); }
  addShape(look) {
    if (this.disc) this.add(this.disc[0], { ...this.disc[1], ...look });
    else if (this.path.length) this.add("path", { d: this.path.join(""), ...look });
  }
  paint(name, colour) {
    const [, r, g, b, alpha] = /^rgba\((.*),(.*),(.*),(.*)\)$/.exec(colour) || [], opacity = (alpha ?? 1) * this.globalAlpha;
    return { [name]: alpha ? `rgb(${r},${g},${b})` : colour, ...(opacity < 1 ? { [`${name}-opacity`]: opacity } : {}) };
  }
  lines() {
    const { dash } = this.state;
    return { ...this.paint("stroke", this.strokeStyle), "stroke-width": this.lineWidth, ...(dash.length ? { "stroke-dasharray": dash.join(" ") } : {}) };
  }
  fillRect(x, y, width, height) { this.add("rect", { x, y, width, height, ...this.paint("fill", this.fillStyle) }); }
  strokeRect(x, y, width, height) { this.add("rect", { x, y, width, height, fill: "none", ...this.lines() }); }

  measureText(text) {
    this.ruler ??= make("canvas").getContext("2d");
    this.ruler.font = this.font;
    return this.ruler.measureText(text);
  }
  /* The halo of a text comes before it, and is part of it. */
  strokeText(text, x, y) { this.halo = { text, x, y, look: { stroke: this.strokeStyle, "stroke-width": this.lineWidth, "stroke-linejoin": "round", "paint-order": "stroke" } }; }
  fillText(text, x, y) {
    const { halo, font } = this, [, before, size, family] = /^(.*?)([\d.]+)px (.*)$/.exec(font);
    const isHalo = halo && halo.text === text && halo.x === x && halo.y === y;
    this.add("text", {
      x, y, dy: ".35em", "font-family": family, "font-size": `${size}px`, ...(before.includes("italic") ? { "font-style": "italic" } : {}),
      ...(/\d/.test(before) ? { "font-weight": /\d+/.exec(before)[0] } : {}), "text-anchor": { center: "middle", right: "end" }[this.textAlign] || "start",
      ...this.paint("fill", this.fillStyle), ...(isHalo ? halo.look : {}),
    }, escapeXml(text));
    this.halo = null;
  }
  /* A picture, or a part of one, as PNG within the file. */
  drawImage(source, ...where) {
    const [left, top, wide, high, x, y, width, height] = where.length === 8 ? where : [0, 0, source.width, source.height, ...where];
    const copy = make("canvas");
    [copy.width, copy.height] = [wide, high];
    copy.getContext("2d").drawImage(source, left, top, wide, high, 0, 0, wide, high);
    this.add("image", { x, y, width, height, href: copy.toDataURL("image/png"), ...(this.imageSmoothingEnabled === false ? { "image-rendering": "pixelated" } : {}) });
  }
}

function round(value) { return String(+value.toFixed(2)); }
/* XML has no control characters, and no halves of letters. */
function escapeXml(text) {
  const names = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
  return String(text).replace(/[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, "").replace(/[&<>"']/g, sign => names[sign]);
}
