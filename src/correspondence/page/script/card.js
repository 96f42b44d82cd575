/* The card beside the plane: what is known of the point or number that was chosen, and what goes with it. */

const MOST_MATCHES = 8, MOST_VALUES = 12, MOST_ANSWERS = 30;

class Card {
  constructor(page) { this.page = page; }
  /* What a tip or a card says of a point. */
  describe(i, isCard = false) {
    const { page } = this, { model } = page, [cloud, j] = model.find(i), parts = [];
    const picture = page.thumbnail(i, 96);
    if (picture) parts.push(picture);
    parts.push(make("strong", "", model.label(i)));
    const rows = [];
    if (cloud.labels) rows.push(["", cloud.name]);
    const own = model.data.many ? "" : model.className(cloud, j);  // the variable is among the values
    if (own && own !== model.label(i)) rows.push([model.data.classes.name ?? "class", own]);
    rows.push(...model.values(cloud, j).slice(0, model.data.many && isCard ? MOST_ANSWERS : MOST_VALUES));
    if (cloud.mass || isOfColumns(cloud.role) || cloud.shares) rows.push(["share", `${(100 * model.share(cloud, j)).toPrecision(3)} %`]);
    page.axes.forEach((axis, k) => {
      const share = cloud.mass && page.isLast && axis >= 0 ? `, contributes ${(100 * model.contribution(cloud, j, axis)).toFixed(1)} %` : "";
      const cos2 = cloud.cos2 && axis >= 0 ? `, cos2 ${cloud.cos2[j * model.data.kept + axis].toFixed(2)}` : "";
      if (axis >= 0) rows.push([model.axisName(axis), `${page.plane.xy[2 * i + k].toFixed(2)}${share}${cos2}`]);
    });
    const list = make("dl");
    for (const [name, value] of rows) list.append(make("dt", "", name), make("dd", "", value));
    parts.push(list);
    return parts;
  }
  /* Show the point that is chosen, and what goes with it. */
  show() {
    const { page } = this, { model, chosen } = page;
    $("hint").hidden = chosen >= 0;
    $("card").hidden = chosen < 0;
    page.matches = [];
    if (chosen < 0) { $("said").textContent = ""; return; }
    $("point").replaceChildren(...this.describe(chosen, true));
    const when = page.isLast ? [] : [make("p", "soft", "At the end of the training:")];
    $("matches").replaceChildren(...when, ...model.others(chosen).flatMap(cloud => this.listMatches(cloud)));
    $("said").textContent = `${model.label(chosen)}: ${page.matches.slice(0, 3).map(match => model.label(match.point)).join(", ")}`;
    page.plane.draw();
  }
  listMatches(cloud) {
    const { page } = this, { model } = page, found = model.matches(page.chosen, cloud, MOST_MATCHES);
    const isOfTable = isOfColumns(cloud.role), isLikely = isOfTable || (cloud.role === "y" && cloud.mass), isNear = model.data.by === "gaussian" && !isOfTable;
    const shown = found.filter(match => match.ratio > 1 || isNear || (isLikely && !isOfTable && match.probability > .02));
    page.matches.push(...shown);
    if (!shown.length) return [make("h3", "", cloud.name), make("p", "soft", "Nothing goes with it more often than by chance.")];
    const strength = match => isLikely || isNear ? match.probability : match.ratio;
    const most = Math.max(...shown.map(strength));
    const list = make("ol", "matches");
    for (const match of shown) {
      const button = makeButton("match"), bar = make("span", "bar");
      bar.style.width = `${Math.max(2, 100 * strength(match) / most)}%`;
      const picture = page.thumbnail(match.point, 32);
      const share = isLikely && model.data.claims ? `${(100 * match.probability).toFixed(match.probability < .1 ? 1 : 0)} %, ` : "";
      button.append(...(picture ? [picture] : []), make("span", "name", short(model.label(match.point), 80)), make("span", "strength", `${share}${isNear && match.ratio < 1 ? "" : times(match.ratio)}`), bar);
      button.addEventListener("click", () => page.reveal(match.point, 1));
      list.append(make("li", "", button));
    }
    if (model.data.many) return [make("h3", "", "Given with it more often than by chance"), make("p", "soft", "The share of those who gave this answer."), list];
    return [make("h3", "", isOfY(cloud.role) ? `Belongs to: ${cloud.name}` : `Belongs here: ${cloud.name}`), list];
  }
  /* Mark the arrow or path of a number, and say how it goes with the axes. */
  showNumber({ name, role, correlations }) {
    const { page } = this, { model } = page;
    page.choose(-1);
    page.marked = name;
    if (page.hidden.roles.delete(role + "n")) page.refresh();
    const list = make("dl"), isDrawn = page.numberLines.some(line => line.name === name);
    list.append(make("dt"), make("dd", "", model.data.triplot ? "constraint" : `number of ${model.role(role).name}`));
    for (const axis of page.axes) if (axis >= 0) list.append(make("dt", "", model.axisName(axis)), make("dd", "", `correlation ${correlations[axis].toFixed(2)}`));
    $("hint").hidden = true;
    $("card").hidden = false;
    $("point").replaceChildren(make("strong", "", name), list, ...(isDrawn ? [] : [make("p", "soft", "It hardly goes with these axes, and is not drawn.")]));
    $("matches").replaceChildren();
    $("said").textContent = $("point").textContent;
    page.plane.draw();
  }
}
/* How many times as often as by chance. */
function times(ratio) { return ratio >= 1000 ? "> 1000 × chance" : `${ratio.toPrecision(2).replace(/\.0$/, "")} × chance`; }
