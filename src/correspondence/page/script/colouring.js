/* By what points are coloured: categories by colours, numbers and dates by a scale of colours; missing values are grey.
   The legend says how many points each colour has, and a click on it selects these. */

const MISSING_GREY = "#9a9a9a", OTHER_GREY = "#6b6b6b";
const MOST_COLOURS = 20, SCALE_EDGE = .01;  // share of the numbers at each end that has the colour of the end
// Viridis, at tenths of its length.
const TENTHS = ["#440154", "#482475", "#414487", "#355f8d", "#2a788e", "#21918c", "#22a884", "#44bf70", "#7ad151", "#bddf26", "#fde725"].map(rgb);

/* A colour for a share from 0 to 1: what is high stands out from the paper, and what is low can still be seen. */
function scaleColour(share, isDark) {
  return mixColours(TENTHS, isDark ? .25 + .75 * share : .82 * (1 - share));
}

class Colouring {
  constructor(page) {
    this.page = page;
    const { model } = page, { fields } = model;
    const names = fields.map(({ name, isBeside }) => [short(name, 28), isBeside]);
    $("paint").replaceChildren(option(-1, "nothing"), ...fields.map(({ key }, k) => option(key, names[k][0])));
    $("paint").value = this.initial;
    $("paint").closest("label").hidden = !fields.length || !model.role("x").n;
    $("paint").addEventListener("change", () => { this.writeLegend(); page.colour(); if (page.plane.width) page.note(); });
  }
  /* What the page was made to be coloured by. */
  get initial() {
    const { data, fields } = this.page.model, key = data.many ? data.many.grouping && String(data.many.grouping.column) : "classes";
    return fields.some(field => field.key === key) ? key : "-1";
  }
  get field() { return this.page.model.field($("paint").value); }
  /* Colours of the classes are those of the legend, which can hide them. */
  get isByClass() { return this.field?.key === "classes"; }

  /* Colours of the labels of a field: few have all their own, of many the commonest; the others share a grey. */
  paletteOf(field) {
    if (!field.palette) {
      const { data } = this.page.model, own = data.many?.grouping && String(data.many.grouping.column) === field.key ? data.many.grouping.colours : null;
      const given = field.key === "classes" ? data.classes.colours : own, colours = data.many?.colours || data.palette || [];
      const shown = field.order.filter(code => !field.missing.has(code)).slice(0, MOST_COLOURS);
      const isFew = field.labels.length <= colours.length;
      field.palette = field.labels.map((_, code) => {
        if (given) return given[code] ?? MISSING_GREY;
        if (field.missing.has(code)) return MISSING_GREY;
        return isFew ? colours[code] : colours[shown.indexOf(code)] || OTHER_GREY;
      });
      field.rest = given || isFew ? [] : field.order.filter(code => !field.missing.has(code)).slice(MOST_COLOURS);
    }
    return field.palette;
  }
  /* The ends of the scale of a number. */
  rangeOf(field) {
    field.range ??= [field.quantile(SCALE_EDGE), field.quantile(1 - SCALE_EDGE)];
    if (!(field.range[1] > field.range[0])) field.range = [field.sorted[0], field.sorted.at(-1)];
    return field.range;
  }
  /* The colour of each point of a cloud as three bytes, by the field chosen; null if it says nothing of this cloud. */
  paint(cloud) {
    const { field, page } = this;
    if (!field || this.isByClass || !field.clouds.includes(cloud)) return null;
    const inks = new Uint8Array(3 * cloud.n), { values } = field;
    if (field.isNumber) {
      const [low, high] = this.rangeOf(field), scale = Array.from({ length: 256 }, (_, k) => scaleColour(k / 255, page.isDark)), grey = page.readable(MISSING_GREY);
      for (let j = 0; j < cloud.n; j++) {
        const value = values[j], at = Math.round(255 * Math.min(1, Math.max(0, (value - low) / (high - low))));
        inks.set(value === value ? scale[at] : grey, 3 * j);
      }
      return inks;
    }
    const colours = this.paletteOf(field).map(colour => page.readable(colour)), grey = page.readable(MISSING_GREY);
    for (let j = 0; j < cloud.n; j++) inks.set(colours[values[j]] || grey, 3 * j);
    return inks;
  }

  /* Groups for ellipses and hulls: the labels with a colour of their own, or the quarters of a number. */
  get groups() {
    const { field } = this;
    if (!field) return null;
    field.groups ??= field.isNumber ? this.cutQuarters(field) : { codes: field.values, names: field.labels, isNamed: field.labels.map((_, code) => !field.missing.has(code)) };
    const colours = field.isNumber ? [.125, .375, .625, .875].map(share => hex(scaleColour(share, this.page.isDark))) : this.paletteOf(field);
    const isNamed = code => field.isNumber || (field.groups.isNamed[code] && !field.rest.includes(code));
    return { ...field.groups, colours, isNamed, isFinal: field.isNumber };
  }
  cutQuarters(field) {
    const edges = [.25, .5, .75].map(share => field.quantile(share)), codes = new Int16Array(field.values.length);
    field.values.forEach((value, j) => { codes[j] = value === value ? edges.filter(edge => value > edge).length : -1; });
    const texts = edges.map(edge => field.write(edge));
    return { codes, names: [`to ${texts[0]}`, `${texts[0]} to ${texts[1]}`, `${texts[1]} to ${texts[2]}`, `above ${texts[2]}`] };
  }

  /* --- the legend */

  writeLegend() {
    const { field, page } = this, box = $("painted");
    const isShown = field && !this.isByClass;
    box.hidden = !isShown;
    $("classes").classList.toggle("colourless", !!isShown && !page.model.data.many);
    box.replaceChildren(...(isShown ? field.isNumber ? this.writeScale(field) : this.writeLabels(field) : []));
    page.applyTheme();
  }
  writeLabels(field) {
    const colours = this.paletteOf(field), rest = new Set(field.rest), own = field.order.filter(code => !rest.has(code) && !field.missing.has(code));
    // Few labels stand in their order, many by how common they are.
    if (!rest.size) own.sort((a, b) => a - b);
    const parts = own.map(code => this.entry(field, field.labels[code], colours[code], field.counts[code], j => field.values[j] === code));
    const count = [...rest].reduce((sum, code) => sum + field.counts[code], 0);
    if (rest.size) parts.push(this.entry(field, `${rest.size.toLocaleString("en")} others`, OTHER_GREY, count, j => rest.has(field.values[j])));
    return [...parts, ...this.missingEntry(field)];
  }
  missingEntry(field) {
    return field.nMissing ? [this.entry(field, "missing", MISSING_GREY, field.nMissing, j => field.isMissing(j))] : [];
  }
  /* A colour, what it stands for and how many points have it; a click selects these. */
  entry(field, text, colour, count, isMeant) {
    const dot = make("span", "dot"), button = makeButton("key plain", dot, short(text, 28), make("span", "soft", ` ${count.toLocaleString("en")}`));
    dot.dataset.colour = colour;
    button.title = `Select: ${short(text, 80)}`;
    button.addEventListener("click", () => this.page.selecting.take(field.clouds.flatMap(cloud => field.pointsOf(cloud, isMeant)), "category"));
    return button;
  }
  /* A bar of colours for a number, with its ends; what lies outside of them has the colours of the ends. */
  writeScale(field) {
    const [low, high] = this.rangeOf(field), bar = make("span", "bar"), ends = [low, high].map(value => field.write(value));
    const isCut = [field.sorted[0] < low, field.sorted.at(-1) > high];
    bar.dataset.scale = "yes";
    bar.setAttribute("role", "img");
    bar.setAttribute("aria-label", `Colours from ${ends[0]} to ${ends[1]}`);
    const text = (k, sign) => make("span", "", (isCut[k] ? `${sign} ` : "") + ends[k]);
    return [make("span", "scale", text(0, "≤"), bar, text(1, "≥")), make("span", "soft told", short(field.name, 40)), ...this.missingEntry(field)];
  }
  /* Colours of the bar in the theme chosen. */
  applyTheme() {
    document.querySelectorAll("[data-scale]").forEach(bar => {
      bar.style.background = `linear-gradient(to right, ${Array.from({ length: 11 }, (_, k) => css(scaleColour(k / 10, this.page.isDark))).join(", ")})`;
    });
  }
}
function hex(parts) { return `#${parts.map(part => part.toString(16).padStart(2, "0")).join("")}`; }
