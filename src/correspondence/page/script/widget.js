/* The page in an output of a notebook, and its selection in two traits of the widget; embedding.js is the other end. */

function render({ model, el }) {
  const frame = document.createElement("iframe");
  frame.title = "Explorer";
  frame.setAttribute("sandbox", SANDBOX);
  frame.style.cssText = STYLE;
  let known = "";  // the selection that the page has, so that it is not told what it has said
  let isReading = false;
  const write = () => JSON.stringify([model.get("selection"), model.get("selected_columns")]);
  const send = () => {
    if (isReading || write() === known) return;
    known = write();
    const message = { correspondence: "select", rows: model.get("selection"), columns: model.get("selected_columns") };
    frame.contentWindow?.postMessage(message, "*");  // a page in a sandbox has no origin
  };
  const read = event => {
    if (event.source !== frame.contentWindow) return;
    const { correspondence, rows, columns } = event.data ?? {};
    if (correspondence === "ready") {
      known = "[[],[]]";
      send();
    }
    if (correspondence !== "selection") return;
    isReading = true;
    const sort = list => [...new Set(list)].sort((a, b) => a - b);
    model.set("selection", sort(rows));
    model.set("selected_columns", sort(columns));
    known = write();
    isReading = false;
    model.save_changes();
  };
  addEventListener("message", read);
  for (const name of ["selection", "selected_columns"]) model.on(`change:${name}`, send);
  frame.srcdoc = model.get("html");
  el.append(frame);
  return () => {
    removeEventListener("message", read);
    for (const name of ["selection", "selected_columns"]) model.off(`change:${name}`, send);
  };
}

export default { render };
