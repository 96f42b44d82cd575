/* The note below the plane: what distances and marks mean, how much the axes preserve, and what is drawn around groups. */

const NOTES = {
  symmetric: "Symmetric map: compare points of the same kind; the distance of a circle from a triangle means nothing.",
  rowprincipal: "A circle lies at the mean of the triangles that belong to it, a triangle where something would lie that belongs to it alone.",
  colprincipal: "A triangle lies at the mean of the circles that belong to it, a circle where something would lie that belongs to it alone.",
  symbiplot: "Biplot: project circles on the direction of a triangle to see how far pairs are above or below independence.",
  rowgab: "Biplot: triangles at their coordinates times their share; project circles on their directions.",
  colgab: "Biplot: circles at their coordinates times their share; project triangles on their directions.",
  rowgreen: "Contribution biplot: triangles far from the centre make up the axes.",
  colgreen: "Contribution biplot: circles far from the centre make up the axes.",
};

/* Of a triplot, by its map and by how the sites are drawn; {x} are the sites, {y} the species. */
const TRIPLOT_NOTES = {
  "symmetric wa": "The distances of {x} from each other, and of {y} from each other, can be compared; not those between the two.",
  "symmetric lc": "The distances of {x} from each other, and of {y} from each other, can be compared; not those between the two.",
  "rowprincipal wa": "Scaling sites: {x} lie at the mean of their {y}.",
  "rowprincipal lc": "Scaling sites: {x} lie where the constraints put them; their distances are those of the profiles that the constraints predict.",
  "colprincipal wa": "Scaling species: {x} lie in the direction of their {y}; distances between {y} can be compared.",
  "colprincipal lc": "Scaling species: {y} lie at the mean of their {x}, which lie where the constraints put them.",
  "symbiplot wa": "Scaling symmetric: {x} lie in the direction of their {y}; no distances are kept.",
  "symbiplot lc": "Scaling symmetric: project {x} on the direction of {y} to see what the constraints predict.",
};

class Notes {
  constructor(page) { this.page = page; }
  write() {
    const first = this.page.isLast ? this.describeMap() : "During the training: inputs where the model of this step puts them, in the axes of its end.";
    return [first, ...this.describeInputs(), ...this.describeGroups()].join(" ");
  }
  /* How much of a classifier these axes preserve, and which inputs are not drawn. */
  describeInputs() {
    const { inputs, faithfulness } = this.page.model.data, axes = this.page.axes.filter(axis => axis >= 0).sort((a, b) => a - b);
    const notes = [this.page.isLast && faithfulness?.[axes.join(" ")], ...(inputs || [])].filter(text => text);
    return notes.map(text => `${text[0].toUpperCase()}${text.slice(1)}.`);
  }
  /* What distances mean, and what the marks of columns are. */
  describeMap() {
    const { model, map, numberLines } = this.page, parts = [model.data.many ? this.describeAnswers() : model.data.triplot ? this.describeTriplot() : NOTES[map]];
    const arrows = numberLines.filter(line => line.points.length === 2).length, paths = numberLines.length - arrows;
    if (model.data.triplot) return parts.join(" ");
    if (model.data.orders) parts.push("Lines join labels in their order.");
    if (model.clouds.some(cloud => isOfColumns(cloud.role))) parts.push("Categories lie at the mean of their rows, which are the faint points.");
    if (arrows) parts.push("An arrow has the direction of the correlations of a number with the axes, and ends where rows two standard deviations above its mean lie.");
    if (paths && model.data.many) parts.push("A path shows where the smooth function of a number puts the rows, from low to high.");
    else if (paths) parts.push("A path goes through the means of the rows of ten quantiles of a number that bends, from low to high.");
    return parts.join(" ");
  }
  /* What distances and arrows mean in a triplot. */
  describeTriplot() {
    const { model, map, numberLines } = this.page, [x, y] = model.data.names, parts = [TRIPLOT_NOTES[`${map} ${model.sites}`] || NOTES[map]];
    if (numberLines.some(line => line.points.length === 2)) parts.push(`Arrows are biplot scores times ${model.arrowFactor}: they point to where numbers are high.`);
    if (numberLines.some(line => line.points.length > 2)) parts.push(`A path shows where a number that bends puts the ${x}, from low to high.`);
    if (model.role("xc")) parts.push(`Diamonds lie at the mean of the ${x} of a category.`);
    return parts.map(text => text.replaceAll("{x}", x).replaceAll("{y}", y)).join(" ");
  }
  /* What distances mean in an analysis of many columns. */
  describeAnswers() {
    const { model, map } = this.page, { many, joined } = model.data, parts = [];
    if (many.barycentric || map === "colprincipal") parts.push("An answer lies at the mean of the rows that gave it.");
    else if (map === "rowprincipal") parts.push("A row lies at the mean of its answers.");
    else parts.push("Rows near each other gave similar answers; answers near each other were given by the same rows.");
    if (joined.length) parts.push("Lines join the answers of an ordered variable.");
    if (many.groups) parts.push("Lines lead from a row that is clicked to where each group of columns sees it.");
    if (model.clouds.some(cloud => isPassive(cloud.role))) parts.push("Diamonds took no part in the fit.");
    return parts.join(" ");
  }
  /* What is drawn around groups, and which have no ellipse. */
  describeGroups() {
    const kind = $("shapes").value, { page } = this, small = page.groupShapes().filter(({ ellipse }) => ellipse === null).map(({ name }) => short(name, 28));
    if (!kind || page.axes[1] < 0) return [];
    if (!page.colouring.field && !page.selection.length) return ["Ellipses and hulls are those of the groups by which points are coloured, and of the selection."];
    const more = small.length > 5 ? ` and ${small.length - 5} more` : "";
    return [GROUP_NOTES[kind], ...(small.length ? [`No ellipse with fewer than ${MIN_MEMBERS} members: ${small.slice(0, 5).join(", ")}${more}.`] : [])];
  }
}
