/* The factoring plane: points (many by WebGL, few or without it by a 2D canvas), a layer for lines and texts above them,
   panning, zooming, hovering and selecting. It knows positions and looks of points, not what they mean. */

const FEW = 3000, SLOW = 45;  // points; milliseconds of a frame
const LONGEST_STRIDE = 16, THINNEST = 256;  // of how many points one is drawn: WebGL strides over no more; from a copy of these
const MOST_MOVED = 150000;  // points that are moved before it is known how fast that is
const SHAPES = { circle: 0, triangle: 1, diamond: 2 };
const MARGIN = { left: 46, bottom: 40, top: 8, right: 8 };

const VERTEX = `
attribute vec2 place; attribute vec4 colour; attribute vec2 look;
uniform vec2 scale, shift;
uniform float ratio;
varying vec4 ink; varying float shape, size;
void main() {
  gl_Position = vec4(place * scale + shift, 0.0, 1.0);
  size = look.x * ratio; shape = look.y; ink = colour;
  gl_PointSize = size + 1.0;
  if (colour.a == 0.0) gl_Position = vec4(2.0, 2.0, 0.0, 1.0);
}`;
const FRAGMENT = `
precision mediump float;
varying vec4 ink; varying float shape, size;
uniform vec3 paper;
void main() {
  vec2 p = (gl_PointCoord * 2.0 - 1.0) * (size + 1.0) / size;
  float edge = length(p) - 1.0;
  if (shape > 0.5) edge = max(p.y * 0.9 - 0.55, abs(p.x) * 0.87 - p.y * 0.5 - 0.5);
  if (shape > 1.5) edge = (abs(p.x) + abs(p.y) - 1.0) * 0.71;
  float cover = clamp(0.5 - edge * size * 0.5, 0.0, 1.0) * ink.a;
  if (cover < 0.01) discard;
  float rim = shape > 0.5 && size > 10.0 ? clamp(edge * size * 0.5 + 2.2, 0.0, 1.0) : 0.0;  // to be seen among many
  gl_FragColor = vec4(mix(ink.rgb, paper, rim) * cover, cover);
}`;

class Plane {
  constructor(root, size) {
    this.root = root;
    this.points = root.querySelector(".points");
    this.layer = root.querySelector(".layer");
    this.context = this.layer.getContext("2d");
    this.view = { x: 0, y: 0, zoom: 1 };
    this.base = 1;  // zoom of the whole view
    this.xy = new Float32Array(0);
    this.colours = new Uint8Array(0);
    this.looks = new Float32Array(0);
    this.listeners = {};
    this.selecting = false;
    this.box = this.lasso = null;
    this.isLasso = false;
    this.paper = [255, 255, 255];
    this.thin = 1;
    this.pointers = new Map();
    this.gl = size > FEW ? this.startGL() : null;
    this.flat = this.gl ? null : this.points.getContext("2d");
    this.listen();
    new ResizeObserver(() => this.resize()).observe(root);
  }

  on(name, action) { this.listeners[name] = action; }
  tell(name, ...values) { if (this.listeners[name]) this.listeners[name](...values); }

  /* --- points */

  /* The first `crowd` points may be thinned out while the view moves. */
  setPoints(xy, crowd) {
    while (crowd / this.thin > MOST_MOVED && this.thin < LONGEST_STRIDE) this.thin *= 2;
    Object.assign(this, { crowd, xy, stale: true });
    this.draw();
  }
  setLooks(colours, looks) { this.colours = colours; this.looks = looks; this.stale = true; this.draw(); }
  isShown(i) { return this.colours[4 * i + 3] > 0 && this.xy[2 * i] === this.xy[2 * i]; }

  startGL() {
    const gl = this.points.getContext("webgl", { antialias: false });
    if (!gl) return null;
    const program = gl.createProgram();
    for (const [kind, text] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    gl.useProgram(program);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    this.buffers = {};
    for (const name of ["place", "colour", "look"]) for (const kind of ["", "few "]) this.buffers[kind + name] = gl.createBuffer();
    this.attributes = [["place", 2, gl.FLOAT, 8], ["colour", 4, gl.UNSIGNED_BYTE, 4], ["look", 2, gl.FLOAT, 8]].map(
      ([name, size, type, bytes]) => ({ name, size, type, bytes, at: gl.getAttribLocation(program, name) }));
    for (const { at } of this.attributes) gl.enableVertexAttribArray(at);
    this.uniforms = Object.fromEntries(["scale", "shift", "ratio", "paper"].map(name => [name, gl.getUniformLocation(program, name)]));
    this.stale = true;
    this.points.addEventListener("webglcontextlost", event => { event.preventDefault(); this.gl = null; }, { once: true });
    this.points.addEventListener("webglcontextrestored", () => { this.gl = this.startGL(); this.draw(); }, { once: true });
    return gl;
  }

  upload() {
    const gl = this.gl;
    for (const [name, values, size] of [["place", this.xy, 2], ["colour", this.colours, 4], ["look", this.looks, 2]]) {
      const few = this.crowd > MOST_MOVED ? pick(values, size, this.crowd, LONGEST_STRIDE) : new values.constructor(0);
      for (const [buffer, sent] of [[name, values], [`few ${name}`, few]]) {
        gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[buffer]);
        gl.bufferData(gl.ARRAY_BUFFER, sent, gl.DYNAMIC_DRAW);
      }
    }
    this.stale = false;
  }

  drawPoints() {
    const { gl, view, width, height, ratio } = this;
    if (this.flat) return this.drawFlat();
    if (!gl) return;
    if (this.stale) this.upload();
    gl.viewport(0, 0, this.points.width, this.points.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    const x = 2 * view.zoom / width, y = 2 * view.zoom / height;
    const [px, py] = this.middle();
    gl.uniform2f(this.uniforms.scale, x, y);
    gl.uniform2f(this.uniforms.shift, 2 * px / width - 1 - view.x * x, 1 - 2 * py / height - view.y * y);
    gl.uniform1f(this.uniforms.ratio, ratio);
    gl.uniform3f(this.uniforms.paper, ...this.paper.map(part => part / 255));
    const step = this.isMoving ? this.thin : 1, count = Math.ceil(this.crowd / step);
    if (step > LONGEST_STRIDE && this.crowd > MOST_MOVED) this.drawEach(step / LONGEST_STRIDE, 0, count, "few ");
    else if (this.crowd) this.drawEach(step, 0, count);
    if (this.xy.length / 2 > this.crowd) this.drawEach(1, this.crowd, this.xy.length / 2 - this.crowd);
  }
  /* Draw `count` points from a first one on, one of every `step`, of all or of the few that are left when points are many. */
  drawEach(step, first, count, kind = "") {
    const { gl } = this;
    for (const { name, size, type, bytes, at } of this.attributes) {
      gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[kind + name]);
      gl.vertexAttribPointer(at, size, type, type === gl.UNSIGNED_BYTE, bytes * step, 0);
    }
    gl.drawArrays(gl.POINTS, first, count);
  }

  drawFlat() {
    const { flat, ratio } = this;
    flat.setTransform(ratio, 0, 0, ratio, 0, 0);
    flat.clearRect(0, 0, this.width, this.height);
    this.drawShapes(flat);
  }
  /* Points at another number of pixels for one of the page than that of the screen, while something is done with them. */
  drawAt(ratio, use) {
    const { points } = this, before = [this.ratio, this.isMoving];
    [this.ratio, this.isMoving] = [ratio, false];
    [points.width, points.height] = [this.width, this.height].map(side => Math.round(side * ratio));
    this.drawPoints();
    use();
    [this.ratio, this.isMoving] = before;
    [points.width, points.height] = [this.width, this.height].map(side => Math.round(side * this.ratio));
  }
  drawShapes(flat) {
    flat.lineWidth = 1;
    flat.strokeStyle = `rgb(${this.paper.join(",")})`;
    for (let i = 0; i < this.xy.length / 2; i++) {
      if (!this.isShown(i)) continue;
      const [x, y] = this.at(i), r = this.looks[2 * i] / 2;
      if (x < -r || y < -r || x > this.width + r || y > this.height + r) continue;
      const shape = this.looks[2 * i + 1];
      const [red, green, blue, alpha] = this.colours.subarray(4 * i, 4 * i + 4);
      flat.fillStyle = `rgba(${red},${green},${blue},${alpha / 255})`;
      flat.beginPath();
      if (shape === SHAPES.circle) flat.arc(x, y, r, 0, 7);
      else if (shape === SHAPES.triangle) { flat.moveTo(x, y - r); flat.lineTo(x + r, y + .6 * r); flat.lineTo(x - r, y + .6 * r); }
      else { flat.moveTo(x, y - r); flat.lineTo(x + r, y); flat.lineTo(x, y + r); flat.lineTo(x - r, y); }
      flat.closePath();
      flat.fill();
      if (shape !== SHAPES.circle && r > 5) flat.stroke();
    }
  }

  /* --- where things are */

  middle() {
    return [(MARGIN.left + this.width - MARGIN.right) / 2, (MARGIN.top + this.height - MARGIN.bottom) / 2];
  }
  toScreen(x, y) {
    const [px, py] = this.middle();
    return [px + (x - this.view.x) * this.view.zoom, py - (y - this.view.y) * this.view.zoom];
  }
  toPlane(px, py) {
    const [mx, my] = this.middle();
    return [this.view.x + (px - mx) / this.view.zoom, this.view.y - (py - my) / this.view.zoom];
  }
  at(i) { return this.toScreen(this.xy[2 * i], this.xy[2 * i + 1]); }
  isInside([x, y], by = 0) {
    return x >= MARGIN.left - by && x <= this.width - MARGIN.right + by && y >= MARGIN.top - by && y <= this.height - MARGIN.bottom + by;
  }

  /* Those of some points that can be seen, in the same order. */
  *seen(points) {
    const { xy, colours } = this;
    const [left, top] = this.toPlane(MARGIN.left, MARGIN.top);
    const [right, bottom] = this.toPlane(this.width - MARGIN.right, this.height - MARGIN.bottom);
    for (const i of points) {
      const x = xy[2 * i], y = xy[2 * i + 1];
      if (x >= left && x <= right && y >= bottom && y <= top && colours[4 * i + 3] > 0) yield i;
    }
  }

  /* Show a box of the plane: [left, right, bottom, top]. */
  show(box) {
    const [left, right, bottom, top] = this.whole = box;
    this.base = this.zoomOf(box);
    this.view = { x: (left + right) / 2, y: (bottom + top) / 2, zoom: this.base };
    this.draw();
  }
  /* Whether all is in view that `show` was asked for, and nothing more. */
  isWhole() {
    const [left, right, bottom, top] = this.whole, { view } = this;
    return view.zoom === this.base && view.x === (left + right) / 2 && view.y === (bottom + top) / 2;
  }
  /* The box of the plane that can be seen, and the view of a box. */
  seenBox() {
    const [left, top] = this.toPlane(MARGIN.left, MARGIN.top), [right, bottom] = this.toPlane(this.width - MARGIN.right, this.height - MARGIN.bottom);
    return [left, right, bottom, top];
  }
  zoomTo([left, right, bottom, top]) {
    const wide = this.width - MARGIN.left - MARGIN.right, high = this.height - MARGIN.top - MARGIN.bottom;
    const zoom = Math.min(wide / (right - left), high / (top - bottom));
    this.view = { x: (left + right) / 2, y: (bottom + top) / 2, zoom: Math.min(Math.max(zoom, this.base / 20), this.base * 2000) };
    this.draw();
  }
  /* Pixels of a unit, such that a box is in view. */
  zoomOf([left, right, bottom, top]) {
    const wide = this.width - MARGIN.left - MARGIN.right - 48, high = this.height - MARGIN.top - MARGIN.bottom - 48;
    const zoom = Math.min(wide / Math.max(right - left, 1e-9), high / Math.max(top - bottom, 1e-9));
    return zoom > 0 && zoom < 1e8 ? zoom : 100;
  }
  centre(i, closer = 1) {
    if (Number.isNaN(this.xy[2 * i])) return;  // during a training, some have no place
    this.view.x = this.xy[2 * i];
    this.view.y = this.xy[2 * i + 1];
    this.view.zoom = Math.max(this.view.zoom, this.base * closer);
    this.draw();
  }
  zoomBy(factor, px, py) {
    const [mx, my] = this.middle();
    const [x, y] = this.toPlane(px ?? mx, py ?? my);
    const zoom = Math.min(Math.max(this.view.zoom * factor, this.base / 20), this.base * 2000);
    const share = this.view.zoom / zoom;
    this.view = { x: x + (this.view.x - x) * share, y: y + (this.view.y - y) * share, zoom };
    this.move();
  }
  panBy(dx, dy) { this.view.x -= dx / this.view.zoom; this.view.y += dy / this.view.zoom; this.move(); }

  /* Point under a place on the screen or close to it; of several, the one drawn last. */
  nearest(px, py, reach = 12) {
    const [x, y] = this.toPlane(px, py), { xy, colours, looks, view } = this;
    let best = -1, least = reach;
    for (let i = 0; i < xy.length / 2; i++) {
      const dx = xy[2 * i] - x, dy = xy[2 * i + 1] - y;
      const away = Math.max(0, Math.sqrt(dx * dx + dy * dy) * view.zoom - looks[2 * i] / 2);
      if (away <= least && colours[4 * i + 3] > 0) { least = away; best = i; }
    }
    return best;
  }
  within([ax, ay, bx, by]) {
    const found = [];
    for (let i = 0; i < this.xy.length / 2; i++) {
      if (!this.isShown(i)) continue;
      const [x, y] = this.at(i);
      if (x >= Math.min(ax, bx) && x <= Math.max(ax, bx) && y >= Math.min(ay, by) && y <= Math.max(ay, by)) found.push(i);
    }
    return found;
  }

  /* Points inside a closed line on the screen. */
  enclosed(corners) {
    const [xs, ys] = [0, 1].map(k => corners.map(corner => corner[k]));
    return this.within([Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)]).filter(i => isWithin(this.at(i), corners));
  }

  /* --- drawing */

  /* Take over a size that the page has given it since. */
  fit() { if (this.width !== this.root.clientWidth || this.height !== this.root.clientHeight) this.resize(); }
  resize() {
    const { clientWidth, clientHeight } = this.root;
    this.width = clientWidth;
    this.height = clientHeight;
    this.ratio = Math.min(window.devicePixelRatio || 1, 2);
    for (const canvas of [this.points, this.layer]) {
      canvas.width = Math.round(clientWidth * this.ratio);
      canvas.height = Math.round(clientHeight * this.ratio);
    }
    if (this.whole) {  // what was seen of the whole view is seen again
      const closer = this.view.zoom / this.base;
      this.base = this.zoomOf(this.whole);
      this.view.zoom = closer * this.base;
    }
    this.paint();
  }
  draw() {
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(start => {
      this.waiting = 0;
      this.paint();
      requestAnimationFrame(end => { if (this.isMoving && end - start > SLOW) this.thin = Math.min(this.crowd > MOST_MOVED ? THINNEST : LONGEST_STRIDE, 2 * this.thin); });
    });
  }
  /* While the view moves, a machine that is too slow for all points draws fewer of them. */
  move() {
    this.isMoving = true;
    this.tell("hover", -1, [0, 0]);
    clearTimeout(this.rest);
    this.rest = setTimeout(() => { this.isMoving = false; this.draw(); }, 200);
    this.draw();
  }
  paint() {
    if (!this.width) return;
    this.drawPoints();
    const context = this.context;
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    this.tell("paint", context);
    if (!this.box && !this.lasso) return;
    context.setLineDash([4, 3]);
    context.strokeStyle = getComputedStyle(this.root).color;
    context.beginPath();
    if (this.box) context.rect(this.box[0], this.box[1], this.box[2] - this.box[0], this.box[3] - this.box[1]);
    else this.lasso.forEach(([x, y]) => context.lineTo(x, y));
    context.closePath();
    context.stroke();
    context.setLineDash([]);
  }

  /* --- hands */

  listen() {
    const layer = this.layer, place = event => {
      const box = layer.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    layer.addEventListener("pointerdown", event => {
      if (event.button) return;
      layer.setPointerCapture(event.pointerId);
      const at = place(event);
      this.pointers.set(event.pointerId, at);
      this.moved = this.pointers.size > 1;
      const isDrawing = this.selecting || event.shiftKey || event.altKey, isLasso = event.altKey || (this.isLasso && !event.shiftKey);
      this.box = this.lasso = null;
      if (this.pointers.size > 1 || !isDrawing) return;
      if (isLasso) this.lasso = [at];
      else this.box = [...at, ...at];
    });
    layer.addEventListener("pointermove", event => {
      const at = place(event), before = this.pointers.get(event.pointerId);
      if (!before) { this.tell("hover", this.nearest(...at), at); return; }
      if (!this.moved && Math.hypot(at[0] - before[0], at[1] - before[1]) < 4) return;
      this.moved = true;
      if (this.box) { this.box = [this.box[0], this.box[1], ...at]; this.draw(); }
      else if (this.lasso) { this.lasso.push(at); this.draw(); }
      else if (this.pointers.size === 1) this.panBy(at[0] - before[0], at[1] - before[1]);
      else this.pinch(event.pointerId, at);
      this.pointers.set(event.pointerId, at);
    });
    const release = event => {
      if (!this.pointers.delete(event.pointerId)) return;
      const { box, lasso } = this, mode = event.ctrlKey || event.metaKey ? "add" : undefined;
      this.box = this.lasso = null;
      if ((box || lasso) && this.moved) { this.tell("select", lasso ? this.enclosed(lasso) : this.within(box), mode); this.draw(); }
      else if (!this.moved && event.type === "pointerup") this.tell("click", this.nearest(...place(event), event.pointerType === "touch" ? 22 : 12));
    };
    layer.addEventListener("pointerup", release);
    layer.addEventListener("pointercancel", release);
    layer.addEventListener("pointerleave", () => { if (!this.pointers.size) this.tell("hover", -1, [0, 0]); });
    layer.addEventListener("wheel", event => {
      event.preventDefault();
      const lines = event.deltaMode === 1 ? 16 : 1;
      this.zoomBy(Math.exp(-event.deltaY * lines * .0016), ...place(event));
    }, { passive: false });
  }
  pinch(id, at) {
    const [[, other]] = [...this.pointers].filter(([key]) => key !== id);
    const before = this.pointers.get(id);
    const grown = Math.hypot(at[0] - other[0], at[1] - other[1]) / Math.max(1, Math.hypot(before[0] - other[0], before[1] - other[1]));
    this.zoomBy(grown, (at[0] + other[0]) / 2, (at[1] + other[1]) / 2);
    this.panBy((at[0] - before[0]) / 2, (at[1] - before[1]) / 2);
  }
}

/* The values of one of every `step` among the first points; each point has `size` of them. */
function pick(values, size, count, step) {
  const few = new values.constructor(size * Math.ceil(count / step));
  for (let i = 0, k = 0; i < count; i += step, k += size) for (let part = 0; part < size; part++) few[k + part] = values[size * i + part];
  return few;
}
