/* Below the plane: pictures at the ends of the axes, what makes up an axis, and the closest calls of a classifier. */

class Tables {
  constructor(page) {
    this.page = page;
    const { model } = page;
    document.querySelectorAll(".strip").forEach(strip => this.fillStrip(strip, Number(strip.dataset.axis), Number(strip.dataset.sign)));
    const tables = model.clouds.filter(cloud => cloud.mass && cloud.n && cloud.role !== "mark");
    $("makeup").hidden = !tables.length;
    $("axis").replaceChildren(...model.axes.slice(0, model.data.kept).map((_, a) => option(a, model.axisName(a))));
    const show = () => $("contributions").replaceChildren(...tables.map(cloud => this.contributions(cloud, Number($("axis").value))));
    $("axis").addEventListener("change", show);
    show();
    (model.data.confusing || []).forEach(([i, a, b, margin]) => {
      const button = makeButton("match"), picture = page.thumbnail(i, 40);
      button.append(...(picture ? [picture] : []), make("span", "name", picture ? `${a} or ${b}` : `${model.label(i)}: ${a} or ${b}`), make("span", "strength", `margin ${margin.toFixed(3)}`));
      button.addEventListener("click", () => this.reveal(i));
      $("close").append(make("li", "", button));
    });
    $("calls").hidden = !(model.data.confusing || []).length;
  }
  /* Choose a point, and bring the plane back into view. */
  reveal(i) {
    this.page.reveal(i);
    $("plane").scrollIntoView({ block: "nearest" });
  }
  /* Pictures of the points that lie farthest out on one side of an axis. */
  fillStrip(strip, axis, sign) {
    const { page } = this, { model } = page, cloud = model.role("x");
    strip.hidden = !cloud.image;
    if (!cloud.image) return;
    const value = j => sign * cloud.places[j * model.data.kept + axis];
    const order = Array.from({ length: cloud.n }, (_, j) => j).filter(j => cloud.image[j] >= 0).sort((a, b) => value(b) - value(a));
    for (const j of order.slice(0, 8)) {
      const button = makeButton("plain", page.thumbnail(cloud.start + j, 36));
      button.setAttribute("aria-label", model.label(cloud.start + j));
      button.addEventListener("click", () => this.reveal(cloud.start + j));
      strip.append(button);
    }
  }
  contributions(cloud, axis) {
    const { model } = this.page, at = j => cloud.places[j * model.data.kept + axis], share = j => model.contribution(cloud, j, axis);
    const order = Array.from({ length: cloud.n }, (_, j) => j).sort((a, b) => share(b) - share(a)).slice(0, 15);
    const most = Math.max(...order.map(share), 1e-12), body = make("tbody");
    for (const j of order) {
      const bar = make("span", `bar ${cloud.role}`), button = makeButton("plain", short(model.label(cloud.start + j), 60));
      bar.style.width = `${100 * share(j) / most}%`;
      button.addEventListener("click", () => this.reveal(cloud.start + j));
      body.append(make("tr", "", make("td", "", button), make("td", "", (100 * model.share(cloud, j)).toPrecision(3)), make("td", "", at(j).toFixed(2)), make("td", "", (100 * share(j)).toFixed(1), bar)));
    }
    const head = make("tr", "", ...[cloud.name, "share %", "coordinate", "contribution %"].map(text => header(text)));
    return make("div", "scroll", make("table", "contributions", make("thead", "", head), body));
  }
}
