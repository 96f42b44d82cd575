/* The selection compared with the other points shown: what is more frequent in it, and what is larger. The figures are those
   of `describe_groups` (group_tests.js), for the points that are drawn and not filtered out. */

const MOST_COMPARED = 12, ALPHA = .05;

class Comparison {
  constructor(page) {
    this.page = page;
    $("comparison").addEventListener("toggle", () => this.show());
  }
  /* Fields whose points are the same: those of x, and those of y unless they are pairs. */
  tables() {
    const tables = new Map();
    for (const field of this.page.model.fields) tables.set(field.cloud, [...tables.get(field.cloud) || [], field]);
    const isSame = (one, other) => one[0].clouds.length > 1 && other[0].clouds.length > 1;
    const [first, second] = tables.values();
    return second && isSame(first, second) ? [[...first, ...second]] : [...tables.values()];
  }
  /* All figures of each table that has selected points: { name, size, n, categories, numbers }. */
  compare() {
    const { plane, selection } = this.page, selected = new Set(selection);
    return this.tables().flatMap(fields => {
      const [{ clouds }] = fields, members = [], isIn = [];
      for (let j = 0; j < clouds[0].n; j++) {
        if (!clouds.some(cloud => plane.isShown(cloud.start + j))) continue;
        members.push(j);
        isIn.push(clouds.some(cloud => selected.has(cloud.start + j)));
      }
      const { weights } = clouds[0], size = isIn.filter(Boolean).length;
      if (!size || size === members.length) return [];
      const own = weights && members.map(j => weights[j]);
      const categories = fields.filter(field => !field.isNumber).flatMap(field => this.countCategories(field, members, isIn, own));
      const numbers = fields.filter(field => field.isNumber).flatMap(field => this.compareNumber(field, members, isIn, own));
      for (const family of [categories, numbers]) {
        const adjusted = adjustPvalues(family.map(({ pvalue }) => pvalue));
        family.forEach((one, k) => { one.adjusted = adjusted[k]; });
      }
      return [{ name: clouds[0].name, size, n: members.length, categories, numbers }];
    });
  }
  countCategories(field, members, isIn, weights) {
    const { labels, values } = field, cells = new Float64Array(labels.length + 1), totals = new Float64Array(labels.length + 1);
    let size = 0, n = 0;
    members.forEach((j, m) => {
      const weight = weights ? weights[m] : 1, code = values[j] >= 0 ? values[j] : labels.length;
      totals[code] += weight;
      n += weight;
      if (isIn[m]) { cells[code] += weight; size += weight; }
    });
    const there = Array.from(totals.keys()).filter(code => totals[code] > 0);
    return there.length < 2 ? [] : there.map(code => {
      const share = cells[code] / size, overall = totals[code] / n;
      const logP = logHypergeometric(...[cells[code], size, totals[code], n].map(roundEven));
      return { field, code, category: labels[code] ?? "(missing)", n: cells[code], share, overall, vtest: vtestOf(logP, share > overall), pvalue: Math.exp(logP) };
    });
  }
  compareNumber(field, members, isIn, weights) {
    const values = members.map(j => field.values[j]), figures = compareMeans(values, isIn, weights);
    return figures.sd === figures.sd ? [{ field, ...figures }] : [];
  }

  /* --- what is written */

  show() {
    cancelAnimationFrame(this.waiting);
    const { page } = this, box = $("comparison");
    box.hidden = !page.selection.length || !page.model.fields.length;
    if (box.hidden || !box.open) return;
    this.waiting = requestAnimationFrame(() => {
      const compared = this.compare();
      $("compared").replaceChildren(...(compared.length ? compared.flatMap(table => this.write(table)) : [make("p", "soft", "Nothing to compare: all points shown are selected, or none that has columns.")]));
    });
  }
  write({ name, size, n, categories, numbers }) {
    const all = [...categories, ...numbers], holding = all.filter(({ adjusted }) => adjusted <= ALPHA).sort((a, b) => Math.abs(b.vtest) - Math.abs(a.vtest));
    const tests = [count(categories.length, "category", "categories"), count(numbers.length, "number", "numbers")].filter(Boolean).join(" and ");
    const head = make("p", "", `${size.toLocaleString("en")} of ${n.toLocaleString("en")} ${name} shown, compared with all of these.`);
    if (!holding.length) return [head, make("p", "soft", `Nothing tells them from the others (${tests} tested).`)];
    const body = make("tbody", "", ...holding.slice(0, MOST_COMPARED).map(one => this.row(one)));
    const columns = make("tr", "", ...["", "selected", "all", "v-test"].map(text => header(text)));
    const note = `${holding.length > MOST_COMPARED ? `The clearest ${MOST_COMPARED} of ${holding.length}` : `${holding.length}`} with an adjusted p-value of at most ${ALPHA}; tested: ${tests}.`;
    return [head, make("div", "scroll", make("table", "compared", make("thead", "", columns), body)), make("p", "soft", note), ...this.warn(holding.slice(0, MOST_COMPARED))];
  }
  row({ field, category, share, mean, overall, vtest, adjusted }) {
    const button = makeButton("plain", short(field.isNumber ? field.name : `${field.name}: ${category}`, 60));
    if (!field.isBeside) button.append(make("span", "soft", "\u00a0•"));
    button.title = `Colour by ${short(field.name, 80)}`;
    button.addEventListener("click", () => { $("paint").value = field.key; $("paint").dispatchEvent(new Event("change")); });
    const percent = value => `${(100 * value).toFixed(Math.abs(value) < .1 ? 1 : 0)} %`;
    const write = value => field.write(field.kind === "date" ? Math.round(value) : value);  // a mean has no time of day
    const [own, all] = field.isNumber ? [write(mean), write(overall)] : [percent(share), percent(overall)];
    const row = make("tr", "", make("td", "", button), make("td", "", own), make("td", "", all), make("td", "", (vtest > 0 ? "+" : "−") + Math.abs(vtest).toFixed(1)));
    row.title = `adjusted p-value: ${adjusted < 1e-4 ? "< 0.0001" : adjusted.toPrecision(2)}`;
    return row;
  }
  /* What was selected by its place differs in the columns that made the places. */
  warn(listed) {
    if (listed.every(({ field }) => field.isBeside)) return [];
    const why = this.page.selecting.source === "plane"
      ? "The points were selected by where they lie, and columns of the fit (•) decide where points lie: the selection differs in them by construction. Their v-tests rank them, but are no evidence."
      : "Columns of the fit are marked by •: a selection that depends on the axes differs in them by construction.";
    return [make("p", "soft caution", why)];
  }
}
function count(n, one, several) { return n ? `${n.toLocaleString("en")} ${n === 1 ? one : several}` : ""; }
/* As numpy rounds: halves go to the even number. */
function roundEven(value) {
  const low = Math.floor(value), rest = value - low;
  return rest === .5 ? low + low % 2 : Math.round(value);
}
