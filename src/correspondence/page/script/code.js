/* The code that makes what the page shows: Python for the axes, map, colours and shapes that are chosen now, the line that made
   the page, and the command where one did. Names are those of the arguments of `explore`: the page does not know what the
   reader calls the data. */

class CodePanel {
  constructor(page) {
    this.page = page;
    this.given = new Set($("codes").dataset.given.split(" ").filter(Boolean));
    $("code").addEventListener("click", () => { $("python").textContent = this.writePython(); $("copied").textContent = ""; $("codes").showModal(); });
    document.querySelectorAll("[data-copy]").forEach(button => button.addEventListener("click", async () => {
      const text = $(button.dataset.copy), isCopied = await copyText(text.textContent);
      if (!isCopied) getSelection().selectAllChildren(text);
      $("copied").textContent = isCopied ? "Copied." : "Copy the marked text.";
    }));
  }
  writePython() {
    const lines = ["import correspondence as co", "", ...this.explainNames(), ""], notes = [];
    const values = [["axes", this.writeAxes(notes)], ["map", quote(this.page.map)], ...this.sites(), ...this.values(), ...this.groups(notes)];
    if (!this.page.isLast) notes.push("This is the plane of the end of the training.");
    const arguments_ = [...this.given].map(name => `${name}=${name}`);
    lines.push(...notes.map(text => `# ${text}`), `ax = co.plot.plane(est, ${values.map(([name, value]) => `${name}=${value}`).join(", ")})`, "");
    lines.push("# This page", `page = co.explore(${["est", ...arguments_].join(", ")}, path="page.html")`);
    return lines.join("\n") + "\n";
  }
  /* What the names stand for: the page does not hold the analysis, and does not know what the reader calls it. */
  explainNames() {
    const given = [...this.given], names = given.length ? `; ${given.join(", ")}: as they were given to explore` : "";
    const saved = $("command") ? ["# The command saved the analysis: est = co.load(\"model.safetensors\") in its folder, drawn with X=, its rows, unless x are labels."] : [];
    return [`# est: the fitted analysis${names}`, ...saved];
  }
  writeAxes(notes) {
    const { model } = this.page, [first, second] = this.page.axes, name = axis => model.data.axis_names ? quote(model.axisName(axis)) : axis + 1;
    if (second >= 0) return `(${name(first)}, ${name(second)})`;
    if (model.data.kept < 2) return "(1, 2)";  // of a single axis a line is drawn
    notes.push("A picture of several axes has two of them.");
    return `(${name(first)}, ${name(first ? 0 : 1)})`;
  }
  sites() { return this.page.model.data.triplot ? [["sites", quote($("sites").value)]] : []; }
  values() {
    const isOfBoth = !this.given.has("index");  // pictures draw no tags
    return ["X", "Y"].filter(name => this.given.has(name) && (name === "X" || isOfBoth)).map(name => [name, name]);
  }
  /* By what rows are coloured, and what is drawn of these groups. */
  groups(notes) {
    const kind = $("shapes").value, by = this.groupedBy(notes, kind);
    const isLine = this.page.axes[1] < 0 && this.page.model.data.kept < 2;  // where nothing goes around points
    const shapes = !this.page.colouring.groups || !kind || isLine ? [] : kind === "hull" ? [["hulls", "True"]] : [["ellipses", quote(kind)]];
    return [...by, ...shapes];
  }
  groupedBy(notes, kind) {
    const { colouring, model } = this.page, { field } = colouring, { many } = model.data;
    if (!field) return [];
    if (many && many.grouping?.column === Number(field.key)) return [["groups", "groups"]];
    if (!colouring.isByClass) {
      const side = field.key[0] === "y" ? "Y" : "X", frame = field.isBeside && this.given.has("data") ? "data" : this.given.has(side) ? side : "frame";
      if (frame === "frame") notes.push("frame: the data of the fit");
      return [["groups", frame + (field.at ?? `[${quote(field.name)}]`)]];
    }
    for (const name of ["groups", "classes"]) if (this.given.has(name)) return [[name, name]];
    return kind && this.given.has("Y") && !this.given.has("index") ? [["groups", "Y"]] : [];
  }
}

/* A text as Python writes it; what JSON escapes, Python reads in the same way. */
function quote(text) { return JSON.stringify(text).replace(/[\u007f-\u009f\u2028\u2029]/g, sign => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`); }
