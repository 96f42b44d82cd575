/* Where labels go: beside their points, where none stands nearer to another point than to its own; where that is not possible
   they stand farther off, at the end of a line that leads to the point. The closer one looks, the more there is room for. */

const MOST_OBSTACLES = 3000;  // points with labels in view; of more, only names are written
const MOST_LED = 60;  // names of which all may have lines
const LEAST_APART = 2;  // pixels; points nearer to each other cannot be told apart
const LEADS = [20, 32, 48, 68];  // pixels from a point to a label that a line leads to

/* Marks of points that have labels, found by the squares of the screen in which they lie. */
class Marks {
  constructor() { this.squares = new Map(); this.widest = 0; }
  add(i, x, y, r) {
    const key = Math.floor(x / 32) * 65536 + Math.floor(y / 32), mark = { i, x, y, r };
    this.squares.has(key) ? this.squares.get(key).push(mark) : this.squares.set(key, [mark]);
    this.widest = Math.max(this.widest, r);
  }
  *near([left, top, right, bottom], by) {
    for (let c = Math.floor((left - by) / 32); c <= Math.floor((right + by) / 32); c++) {
      for (let r = Math.floor((top - by) / 32); r <= Math.floor((bottom + by) / 32); r++) yield* this.squares.get(c * 65536 + r) || [];
    }
  }
  /* Whether a box is nearer to a point than to all others that are not at the same place. */
  isOwn(box, i, x, y, r) {
    const own = awayFrom(box, x, y) - r;
    for (const other of this.near(box, own + this.widest + 2)) {
      if (other.i === i || Math.hypot(other.x - x, other.y - y) < LEAST_APART) continue;
      if (awayFrom(box, other.x, other.y) - other.r < own + 1) return false;
    }
    return true;
  }
  /* Whether some other mark lies under a place. */
  isCovered(i, x, y) {
    for (const other of this.near([x, y, x, y], this.widest)) if (other.i !== i && Math.hypot(other.x - x, other.y - y) < other.r + 1) return true;
    return false;
  }
}
function awayFrom([left, top, right, bottom], x, y) {
  return Math.hypot(Math.max(left - x, 0, x - right), Math.max(top - y, 0, y - bottom));
}

/* Upper left corners of labels that a line leads to, and where the line ends, the nearest first. */
function* leads(x, y, width, r) {
  for (const away of LEADS) for (let k = 0; k < 12; k++) {
    const angle = Math.PI * (k / 6 + 1 / 12), [across, down] = [Math.cos(angle), Math.sin(angle)];
    const end = [x + (away + r) * across, y + (away + r) * down];
    const left = across > .3 ? end[0] + 2 : across < -.3 ? end[0] - width - 2 : end[0] - width / 2;
    yield { corner: [left, end[1] - 7.5 + 7.5 * down], from: [x + r * across, y + r * down], end };
  }
}
/* Places along a line, a few pixels apart. */
function* along([ax, ay], [x, y], step = 4) {
  const n = Math.max(1, Math.ceil(Math.hypot(x - ax, y - ay) / step));
  for (let k = 0; k <= n; k++) yield [ax + (x - ax) * k / n, ay + (y - ay) * k / n];
}
