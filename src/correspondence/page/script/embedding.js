/* The page within another one: the two tell each other what is selected, as positions in the user's data.

   This page to its parent:
     { correspondence: "ready" }                        it listens from now on
     { correspondence: "selection", rows, columns }     whenever the selection has changed
   The parent to this page:
     { correspondence: "select", rows, columns }        select these points and no others; a missing list is an empty one
     { correspondence: "state", state }                 show this state (state.js)

   `rows` are positions in X as given by the user, from 0: rows of a frame, rows of the contingency table, or the first
   place of a label in a column that is shown with each label once. `columns` are positions in Y in the same sense: columns
   of a table, rows of a frame Y, answers of many columns in the order of `columns_`. Points that are only drawn beside
   these (categories, marks, points that took no part in the fit) are in neither. Positions of points that are not drawn
   (sampled away, filtered out, unknown) are passed over.

   Only messages of the parent are read. They are sent to whatever parent there is, and say nothing but numbers of rows. */

class Embedding {
  constructor(page) {
    this.page = page;
    this.last = { rows: [], columns: [] };
    if (window.parent === window) return;
    this.isInside = true;
    addEventListener("message", event => { if (event.source === window.parent) this.read(event.data); });
    this.post({ correspondence: "ready" });
  }
  post(message) { if (this.isInside) window.parent.postMessage(message, "*"); }
  read(message) {
    const { page } = this;
    if (message?.correspondence === "state") page.setState(message.state);
    if (message?.correspondence !== "select") return;
    const { rows = [], columns = [] } = message;
    if (![rows, columns].every(list => isList(list) && list.every(Number.isInteger))) return;
    this.last = { rows, columns };  // the parent knows these
    page.selectRows(rows, columns);
  }
  /* The selection is another one than the parent knows. */
  tellSelection() {
    if (!this.isInside) return;
    const found = this.page.selectedRows();
    if (["rows", "columns"].every(name => isSameSet(found[name], this.last[name]))) return;
    this.last = found;
    this.post({ correspondence: "selection", ...found });
  }
}
function isSameSet(one, other) {
  const known = new Set(other);
  return known.size === new Set(one).size && one.every(value => known.has(value));
}
