/* Fields: the columns by which points can be coloured, filtered and compared. A field is known by a key that states and
   links hold: "3" is column 3 of x, "y3" of y, and "classes" the groups or classes that the page was made with.

   Where x and y are the two values of the same pairs, a field of one side says as much of the points of the other. */

const GROUP_KINDS = ["label", "boolean"], NUMBER_KINDS = ["number", "date", "time", "duration"];
const MOST_SINGLE = .5, FEW_LABELS = 30;  // share of points with a label of their own, up to which labels are groups

class Field {
  constructor(key, name, cloud, clouds, column, values, isBeside) {
    Object.assign(this, { key, name, cloud, clouds, values, isBeside, kind: column.kind, labels: column.labels, at: column.at });
  }
  get isNumber() { return !this.labels; }
  /* The positions of the labels that mean no answer. */
  get missing() { return this.missingCodes ??= new Set((this.labels || []).flatMap((label, code) => NO_GROUP.includes(label) ? [code] : [])); }
  isMissing(j) {
    const value = this.values[j];
    return this.isNumber ? value !== value : value < 0 || value >= this.labels.length || this.missing.has(value);
  }
  get nMissing() {
    return this.countedMissing ??= Array.from(this.values.keys()).reduce((count, j) => count + this.isMissing(j), 0);
  }
  /* How many points have each label; the labels that occur, the commonest first, the missing one last. */
  get counts() {
    if (!this.counted) {
      this.counted = new Uint32Array(this.labels.length);
      for (const code of this.values) if (code >= 0) this.counted[code] += 1;
    }
    return this.counted;
  }
  get order() {
    return this.ordered ??= Array.from(this.counts.keys()).filter(code => this.counts[code])
      .sort((a, b) => this.missing.has(a) - this.missing.has(b) || this.counts[b] - this.counts[a] || a - b);
  }
  /* The numbers that are known, from low to high. */
  get sorted() { return this.sortedValues ??= Float64Array.from(this.values).filter(value => value === value).sort(); }
  /* The value at a place between 0 and 1 of the numbers. */
  quantile(share) {
    const { sorted } = this, at = share * (sorted.length - 1), low = Math.floor(at), rest = at - low;
    const value = sorted[low] + (rest ? rest * (sorted[low + 1] - sorted[low]) : 0);
    return this.kind === "date" && this.hasDaysOnly ? Math.floor(value) : value;
  }
  get hasDaysOnly() { return this.daysOnly ??= this.sorted.every(Number.isInteger); }
  write(value) { return writeValue(value, this.kind); }
  /* The points of a cloud that have this value in the field, by their number in the plane. */
  pointsOf(cloud, isMeant) {
    const points = [];
    for (let j = 0; j < cloud.n; j++) if (isMeant(j)) points.push(cloud.start + j);
    return points;
  }
}

/* All fields of a page: those of x, the groups or classes, those of y. */
function makeFields(model) {
  const x = model.role("x"), y = model.role("y"), { data } = model, isPaired = arePairs(x, y), fields = [];
  const clouds = cloud => isPaired ? [x, y] : [cloud];
  for (const [cloud, prefix] of [[x, ""], [y, "y"]]) {
    if (!cloud.n || (prefix && data.many)) continue;
    cloud.columns.forEach((column, k) => {
      if (isUseful(column, cloud.values[k])) fields.push(new Field(prefix + k, column.name, cloud, clouds(cloud), column, cloud.values[k], column.beside));
    });
    if (!prefix && !data.many && x.classes && data.classes) {
      const { names, grouped, beside, name = grouped ? "group" : "class" } = data.classes;
      const isWhole = !x.classes.includes(-1), labels = isWhole ? names : [...names, NO_GROUP[0]];
      const codes = isWhole ? x.classes : x.classes.map(code => code < 0 ? names.length : code);
      fields.unshift(new Field("classes", name, x, clouds(x), { kind: "label", labels }, codes, !!beside));
    }
  }
  return fields;
}
/* Whether two clouds are the values of the same pairs. */
function arePairs(x, y) {
  return !x.mass && !y.mass && !!x.n && x.n === y.n && x.given === y.given && x.rows.every((row, j) => row === y.rows[j]);
}
/* Names of rows, texts and constants tell no groups apart. */
function isUseful(column, values) {
  if (!column.labels) return NUMBER_KINDS.includes(column.kind) && values.some(value => value === value && value !== values[0]);
  return GROUP_KINDS.includes(column.kind) && column.labels.length > 1 && (column.labels.length <= FEW_LABELS || column.labels.length <= MOST_SINGLE * values.length);
}

/* A number, date (in days), time or duration (in seconds) as people write it. */
function writeValue(value, kind) {
  if (value !== value) return "–";
  if (kind === "date") {
    const text = new Date(Math.round(value * 86400) * 1000);
    return Number.isNaN(text.getTime()) ? number(value) : text.toISOString().slice(0, value % 1 ? 16 : 10).replace("T", " ");
  }
  if (kind === "time" && value >= 0 && value < 172800) {
    const parts = [value / 3600, value / 60 % 60, value % 60].map(part => String(Math.floor(part)).padStart(2, "0"));
    return parts.slice(0, parts[2] === "00" ? 2 : 3).join(":");
  }
  return number(value) + (kind === "duration" ? " s" : "");
}
