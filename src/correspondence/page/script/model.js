/* What is known of the points: labels, places, and which points of the other variable belong to one.
   Points are numbered in the order in which they are drawn: x, marks, y, each after its rows if these are faint.
   A role begins with the letter of its variable: xc and yc are the categories of the columns of x and y, xs and ys points
   that took no part in the fit. In an analysis of many columns (data.many), x are its rows and y the answers, each of
   which has its variable as its class. */

class Model {
  constructor(data) {
    const { arrays } = data;
    this.data = data;
    this.axes = data.axes;
    this.correlations = data.axes.map(axis => axis.training);
    this.clouds = data.clouds.map((cloud, c) => ({
      ...cloud,
      places: arrays[`${c}.places`], linear: arrays[`${c}.linear`], prior: arrays[`${c}.prior`], rows: arrays[`${c}.rows`],
      classes: arrays[`${c}.classes`], image: arrays[`${c}.image`],
      weights: arrays[`${c}.weights`], shares: arrays[`${c}.shares`], contributions: arrays[`${c}.contributions`], cos2: arrays[`${c}.cos2`],
      values: cloud.columns.map((_, j) => arrays[`${c}.column.${j}`]),
    }));
    this.size = 0;
    const y = this.role("y"), isCrowd = y.faint || (!y.named && y.n > FEW);  // so many without names are a background too
    const last = isCrowd ? ["y", "xc", "mark", "yc"] : ["xs", "xc", "mark", "ys", "y", "yc"];
    for (const role of ["x", ...last]) {
      const cloud = this.role(role);
      if (!cloud) continue;
      cloud.start = this.size;
      this.size += cloud.n;
    }
    this.crowd = this.role("x").n + (isCrowd ? y.n : 0);  // may be thinned out in motion
    if (data.many && this.role("y").classes) this.role("y").layers = data.classes.names.length;
    this.setNumbers();
    this.fields = makeFields(this);
    this.drawn = [...this.clouds].sort((a, b) => a.start - b.start);
  }

  /* Cloud of a point, and its position there. */
  find(i) {
    const cloud = this.drawn.findLast(one => one.start <= i);
    return [cloud, i - cloud.start];
  }
  field(key) { return this.fields.find(field => field.key === key); }
  role(role) { return this.clouds.find(cloud => cloud.role === role); }
  label(i) {
    const [cloud, j] = this.find(i);
    if (cloud.labels) return cloud.labels[j];
    const [[name, value] = []] = cloud.columns.length === 1 ? this.values(cloud, j) : [];
    return name === undefined ? `${cloud.name} ${cloud.rows[j]}` : `${name} ${value}`;
  }
  /* What an axis is called, and at the beginning of a title. */
  axisName(axis) { return this.data.axis_names ? this.data.axis_names[axis] : `axis ${axis + 1}`; }
  /* Where the points of a cloud are drawn, in standard coordinates. */
  shown(cloud) { return cloud.linear && this.sites === "lc" ? cloud.linear : cloud.places; }
  /* What belongs to a site of a triplot is what the constraints and the other axes say of it. */
  query(cloud, j) { return (cloud.linear || cloud.places).subarray(j * this.data.kept, (j + 1) * this.data.kept); }
  place(cloud, j) { return cloud.places.subarray(j * this.data.kept, (j + 1) * this.data.kept); }
  classOf(cloud, j) { return cloud.classes ? cloud.classes[j] : -1; }
  className(cloud, j) { const code = this.classOf(cloud, j); return code < 0 ? "" : this.data.classes.names[code]; }

  /* Values of a point in the columns of the data. */
  values(cloud, j) {
    return cloud.columns.map((column, k) => [column.name, column.labels ? column.labels[cloud.values[k][j]] : writeValue(cloud.values[k][j], column.kind)]);
  }

  /* Share of a point in the inertia of an axis; tags overlap, and are compared with each other. */
  contribution(cloud, j, axis) {
    if (cloud.contributions) return cloud.contributions[j * this.data.kept + axis];
    const { kept } = this.data, inertia = i => cloud.prior[i] * cloud.places[i * kept + axis] ** 2;
    cloud.inertias ??= [];
    if (cloud.inertias[axis] === undefined) {
      let sum = 0;
      for (let i = 0; i < cloud.n; i++) sum += inertia(i);
      cloud.inertias[axis] = Math.max(1, sum);
    }
    return inertia(j) / cloud.inertias[axis];
  }

  /* --- where the points are drawn */

  factor(scaling, axis, mass, cloud) {
    const s = cloud?.correlations ? cloud.correlations[axis] : this.correlations[axis];
    return { principal: s, symmetric: Math.sqrt(s), standard: 1, mass, root_mass: Math.sqrt(mass) }[scaling];
  }
  scaling(cloud, map) { return this.data.maps[map][isOfY(cloud.role) && !this.data.many?.barycentric ? 1 : 0]; }
  /* Share of the rows, of points that have one; otherwise the mass. */
  share(cloud, j) { return (cloud.shares || cloud.prior)[j]; }

  /* How many points of a cloud lie where each of them lies: rows with the same values, which stay faint together. */
  copies(cloud) {
    if (!cloud.copies) {
      const { kept } = this.data, seen = new Map(), key = j => `${cloud.places[j * kept]},${kept > 1 ? cloud.places[j * kept + 1] : 0}`;
      for (let j = 0; j < cloud.n; j++) seen.set(key(j), (seen.get(key(j)) || 0) + 1);
      cloud.copies = Float32Array.from({ length: cloud.n }, (_, j) => seen.get(key(j)));
    }
    return cloud.copies;
  }
  /* Arrows and paths of the columns of numbers. */
  setNumbers() {
    const { data } = this, { kept, arrays } = data;
    let start = 0;
    this.numbers = (data.numbers || []).map((number, k) => {
      const part = (name, from, rows) => arrays[name].subarray(from * kept, (from + rows) * kept);
      const whole = { ...number, correlations: part("numbers.correlations", k, 1), explained: part("numbers.explained", k, 1), path: part("numbers.paths", start, number.bins) };
      start += number.bins;
      return whole;
    });
  }
  /* Lines of the numbers that matter on two axes, in the coordinates of a map: a path where a number bends, otherwise an
     arrow to where rows far above its mean lie. */
  numberLines(first, second, map) {
    const axes = [first, second].filter(axis => axis >= 0), { kept } = this.data;
    const length = number => axes.reduce((sum, axis) => sum + number.correlations[axis] ** 2, 0);
    const weight = number => axes.reduce((sum, axis) => sum + number.explained[axis] * this.axes[axis].pic, 0);
    const isPath = number => axes.some(axis => number.bends[axis]);
    const told = this.numbers.filter(number => isPath(number) || length(number) >= (this.data.triplot ? 1e-4 : SHORTEST_ARROW) ** 2);
    const place = (number, value) => [first, second].map(axis => axis < 0 ? 0 : value(axis) * this.factor(this.scaling(number, map), axis, 0, this.role(number.role)));
    this.arrowFactor = this.data.triplot ? this.chooseArrowFactor(told.filter(number => !isPath(number)), place, first, second, map) : this.data.arrow_deviations;
    return told.sort((a, b) => weight(b) - weight(a)).slice(0, MOST_NUMBERS).map(number => ({
      name: number.name, role: number.role, colour: number.colour,
      points: isPath(number) ? Array.from({ length: number.bins }, (_, bin) => place(number, axis => number.path[bin * kept + axis]))
        : [[0, 0], place(number, axis => this.arrowFactor * number.correlations[axis])],
    }));
  }
  /* What all biplot scores of a triplot are multiplied by, so that the longest arrow nearly reaches the outermost points, and weak ones stay short. */
  chooseArrowFactor(numbers, place, first, second, map) {
    const xy = this.positions(first, second, map), ratios = [0, 1].filter(k => [first, second][k] >= 0).map(k => {
      const reach = xy.reduce((most, value, i) => i % 2 === k && value === value ? Math.max(most, Math.abs(value)) : most, 0);
      const lengthOf = value => Math.max(...numbers.map(number => Math.abs(place(number, value(number))[k])), 1e-9);
      return [.75 * reach / lengthOf(number => axis => number.correlations[axis]), 1.5 * reach / lengthOf(() => () => 1)];
    });
    const factor = Math.min(...ratios.map(ratio => ratio[0]), Math.max(...ratios.map(ratio => ratio[1])));
    return numbers.length && factor > 0 && factor < 1e6 ? +factor.toPrecision(2) : 1;
  }
  /* Where each group of columns sees a row, in the coordinates of a map. */
  groupViews(i, first, second, map) {
    const { many, arrays, kept } = this.data, [cloud, j] = this.find(i);
    if (!many?.groups || cloud.role !== "x") return [];
    return many.groups.map((group, g) => ({
      ...group,
      point: [first, second].map(axis => axis < 0 ? 0 : arrays["groups.places"][(g * cloud.n + j) * kept + axis] * this.factor(this.scaling(cloud, map), axis, cloud.prior[j], cloud)),
    }));
  }

  /* Coordinates of all points; a second axis of -1 spreads them out at random. */
  positions(first, second, map) {
    const xy = new Float32Array(2 * this.size), { kept } = this.data;
    for (const cloud of this.clouds) {
      const scaling = this.scaling(cloud, map), places = this.shown(cloud);
      [first, second].forEach((axis, k) => {
        for (let j = 0; j < cloud.n; j++) {
          const at = 2 * (cloud.start + j) + k;
          xy[at] = axis < 0 ? spread(cloud, j) : places[j * kept + axis] * this.factor(scaling, axis, cloud.prior[j], cloud);
        }
      });
    }
    return xy;
  }
  /* The same in a frame of a training: principal coordinates of the inputs, and of inputs wholly of one class. */
  framePositions(t, first, second) {
    const { frames, arrays } = this.data;
    const xy = new Float32Array(2 * this.size).fill(NaN);
    const x = this.role("x"), y = this.role("y");
    const set = (cloud, j, source, row) => [first, second].forEach((axis, k) => {
      xy[2 * (cloud.start + j) + k] = axis < 0 ? spread(cloud, j) : source[row * frames.axes + axis];
    });
    for (let j = 0; j < x.n; j++) set(x, j, arrays["frames.x"], t * x.n + j);
    y.labels.forEach((label, j) => {
      const c = frames.labels.indexOf(label);
      if (c >= 0) set(y, j, arrays["frames.y"], t * frames.labels.length + c);
    });
    return xy;
  }
  boundary(line, point, axis, map) {
    if (axis < 0) return 0;
    const value = this.data.arrays.boundaries[(line * this.data.boundary_points + point) * this.data.kept + axis];
    return value * this.factor(this.data.maps[map][0], axis, 0);
  }

  /* Named points of some roles (or others) in the order in which they deserve a label: by their share of the inertia in the
     plane. */
  byWeight(roles, first, second, isMeant = cloud => cloud.named) {
    const { kept } = this.data, weights = new Float32Array(this.size), points = [];
    for (const cloud of this.clouds) {
      if (!isMeant(cloud) || !roles.includes(cloud.role)) continue;
      for (let j = 0; j < cloud.n; j++) {
        let inertia = 0;
        for (const axis of [first, second]) if (axis >= 0) inertia += this.axes[axis].pic * cloud.places[j * kept + axis] ** 2;
        weights[cloud.start + j] = inertia * (isPassive(cloud.role) && this.data.many ? this.share(cloud, j) / (this.data.classes?.names.length || 1) : cloud.prior[j]);
        points.push(cloud.start + j);
      }
    }
    return Uint32Array.from(points).sort((a, b) => weights[b] - weights[a]);
  }

  /* --- what belongs together */

  /* Points of another cloud, those that belong most to point i first: position, density ratio, probability. */
  matches(i, cloud, most) {
    const [own, j] = this.find(i), query = this.query(own, j);
    if (this.data.many) return this.pairedAnswers(cloud, j, most);
    const { scores, ratios } = this.scores(query, cloud);
    const order = Array.from(scores.keys()).sort((a, b) => scores[b] - scores[a]).slice(0, most);
    const isLearned = this.data.learned && cloud.role === "y", claims = isLearned ? this.learnedClaims(scores, cloud) : null;
    const total = this.data.by === "gaussian" && !isOfColumns(cloud.role) ? sumOfExp(scores) : null, whole = total ? 1 : this.certainty(cloud, ratios);
    const claim = k => total ? Math.exp(scores[k] - total.most) / total.sum : Math.min(1, Math.max(0, cloud.prior[k] * ratios[k])) / whole;
    return order.map(k => ({ point: cloud.start + k, ratio: ratios[k], probability: claims ? claims[k] : claim(k) }));
  }
  /* Answers to other questions that those who gave an answer give more often than all: by how much, and their share. */
  pairedAnswers(cloud, j, most) {
    const { pairs } = this.data.arrays, ratio = k => pairs[j * cloud.n + k], excess = k => cloud.shares[k] * (ratio(k) - 1);
    const others = Array.from({ length: cloud.n }, (_, k) => k).filter(k => cloud.classes[k] !== cloud.classes[j] && ratio(k) > 1);
    return others.sort((a, b) => excess(b) - excess(a)).slice(0, most).map(k => ({ point: cloud.start + k, ratio: ratio(k), probability: Math.min(1, cloud.shares[k] * ratio(k)) }));
  }
  /* Probabilities that the index has learned on held-out pairs, as calibrating.py does. */
  learnedClaims(scores, cloud) {
    const { by, learned } = this.data;
    const logs = Array.from(scores, (score, k) => ({
      posterior: () => Math.log(Math.max(score, .001 * cloud.prior[k], 1e-300)), ratio: () => Math.log(Math.max(score, .001)),
      distance: () => score / 2, gaussian: () => score, cosine: () => score,
    })[by]());
    const share = values => { const total = sumOfExp(values); return values.map(value => value - total.most - Math.log(total.sum)); };
    if (!learned.several) return share(logs.map(score => learned.slope * score)).map(Math.exp);
    const toOdds = score => { const p = Math.min(Math.exp(score), .999); return Math.log(p / (1 - p)); };
    const odds = by === "posterior" ? logs.map(toOdds) : by === "ratio" || by === "cosine" ? logs : share(logs);
    return odds.map(value => 1 / (1 + Math.exp(-(learned.slope * value + learned.intercept))));
  }
  /* Sum of the probabilities of all labels, which is above 1 where components are missing and some would be negative. */
  certainty(cloud, ratios) {
    const total = cloud.prior.reduce((sum, p) => sum + p, 0);
    if (Math.abs(total - 1) > 1e-3) return 1;  // tags, of which several belong to one thing
    return ratios.reduce((sum, ratio, k) => sum + Math.min(1, Math.max(0, cloud.prior[k] * ratio)), 0) || 1;
  }
  /* As search/items.py ranks: by posterior, Mehler's formula ("gaussian"), density ratio, distance or angle. The ratio that is told
     is always Lancaster's: Mehler's is good for ranking, but far too large where f and g are not normal. */
  scores(query, cloud) {
    const { by, scaled, kept } = this.data, places = cloud.linear || cloud.places, scores = new Float64Array(cloud.n), ratios = new Float64Array(cloud.n);
    const limit = this.correlations.map(s => Math.min(s, .995)), gain = limit.map(s => 1 / (1 - s * s));
    for (let k = 0; k < cloud.n; k++) {
      let product = 0, mehler = 0, other = 0, distance = 0, inner = 0, square = 0;
      for (let a = 0; a < kept; a++) {
        const f = query[a], g = places[k * kept + a], s = this.correlations[a], t = limit[a];
        product += s * f * g;
        mehler += t * gain[a] * f * g;
        other += t * t * gain[a] * g * g / 2;
        const weight = scaled ? s * s : 1;
        distance += weight * (f - g) ** 2;
        inner += weight * f * g;
        square += weight * g * g;
      }
      ratios[k] = 1 + product;
      scores[k] = {
        posterior: cloud.prior[k] * ratios[k], ratio: ratios[k], distance: -distance,
        cosine: inner / Math.max(Math.sqrt(square), 1e-12),
        gaussian: mehler - other + Math.log(Math.max(cloud.prior[k], 1e-300)),
        excess: cloud.prior[k] * (ratios[k] - 1),
      }[isOfColumns(cloud.role) ? "excess" : by];
    }
    return { scores, ratios };
  }
  /* Clouds in which what belongs to a point is looked for. */
  others(i) {
    const [cloud] = this.find(i);
    if (this.data.many) return cloud.role === "y" && this.data.arrays.pairs ? [cloud] : [];
    const others = this.clouds.filter(one => isOfY(one.role) !== isOfY(cloud.role)).reverse();
    return isOfColumns(cloud.role) && others.some(one => !one.faint) ? others.filter(one => !one.faint) : others;
  }

  /* --- looking for labels */

  /* Labels that begin with a text, the shortest first, then those that have it somewhere. */
  search(text, most) {
    const wanted = text.trim().toLowerCase(), starts = [], inside = [];
    if (!wanted) return [];
    for (const cloud of [...this.drawn].reverse()) {
      for (let j = 0; j < cloud.n; j++) {
        const at = this.label(cloud.start + j).toLowerCase().indexOf(wanted);
        if (at === 0) starts.push(cloud.start + j);
        else if (at > 0 && inside.length < most) inside.push(cloud.start + j);
      }
    }
    starts.sort((a, b) => this.label(a).length - this.label(b).length);
    return [...starts, ...inside].slice(0, most);
  }

  /* Numbers that are drawn as arrows or paths, by a text in their names. */
  searchNumbers(text) {
    const wanted = text.trim().toLowerCase();
    return wanted ? this.numbers.filter(({ name }) => name.toLowerCase().includes(wanted)).slice(0, 4) : [];
  }

  /* --- tables */

  /* Rows of a spreadsheet for some points. */
  csv(points) {
    const axes = Array.from({ length: this.data.kept }, (_, a) => this.data.axis_names ? this.axisName(a) : `axis_${a + 1}`);
    const columns = [...new Set(this.clouds.flatMap(cloud => cloud.columns.map(column => column.name)))];
    const rows = points.map(i => {
      const [cloud, j] = this.find(i), values = new Map(cloud.columns.map((column, k) => [column.name, column.labels ? column.labels[cloud.values[k][j]] : exportValue(cloud.values[k][j], column.kind)]));
      return [cloud.name, cloud.rows[j], this.label(i), this.className(cloud, j), ...this.place(cloud, j), ...columns.map(name => values.get(name) ?? "")];
    });
    return [["kind", "row", "label", "class", ...axes, ...columns], ...rows].map(row => row.map(cell).join(",")).join("\n") + "\n";
  }
}

const MOST_NUMBERS = 16, SHORTEST_ARROW = .1;
function isOfY(role) { return role[0] === "y"; }
function isPassive(role) { return role === "xs" || role === "ys"; }
function isOfColumns(role) { return role === "xc" || role === "yc"; }

/* A value for a spreadsheet: dates as such, nothing for a missing number. */
function exportValue(value, kind) { return value !== value ? "" : kind === "date" ? writeValue(value, kind) : value; }

/* A cell that a spreadsheet neither splits nor runs. */
function cell(value) {
  if (typeof value === "number") return String(Number.isInteger(value) ? value : +value.toPrecision(6));
  const text = /^[=+\-@\t\r\n]/.test(value) ? "'" + value : value;
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function number(value) {
  if (Math.abs(value) > Number.MAX_SAFE_INTEGER) return value.toExponential(3);  // whose last digits nobody knows
  if (!Number.isInteger(value)) return String(+value.toPrecision(4));
  return Math.abs(value) < 1e4 ? String(value) : value.toLocaleString("en");  // years have no commas
}

/* Where a point lies across a single axis, always the same: labels in the middle, x below and other y above it; answers
   of many columns above it, each variable at a height of its own. */
function spread(cloud, j) {
  if (cloud.layers) return .06 + .5 * cloud.classes[j] / cloud.layers;
  const across = .05 + .45 * ((j * .6180339887) % 1);
  return cloud.role === "x" ? -across : cloud.named ? 0 : across;
}

function sumOfExp(scores) {
  const most = scores.reduce((a, b) => Math.max(a, b), -Infinity);
  return { most, sum: scores.reduce((sum, score) => sum + Math.exp(score - most), 0) };
}
