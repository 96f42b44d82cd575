/* Find points and numbers by a part of their names. */

const MOST_FOUND = 12;

class Search {
  constructor(page) {
    const { model } = page;
    const input = $("search"), list = $("found");
    let at = 0, points = [];
    const mark = () => {
      [...list.children].forEach((item, k) => item.setAttribute("aria-selected", String(k === at)));
      input.setAttribute("aria-activedescendant", points.length ? `found-${at}` : "");
    };
    const close = () => { list.hidden = true; input.setAttribute("aria-expanded", "false"); };
    const nameOf = one => one.name ?? model.label(one);
    const take = k => { if (points[k] === undefined) return; close(); input.value = nameOf(points[k]); points[k].name === undefined ? page.reveal(points[k]) : page.card.showNumber(points[k]); };
    input.addEventListener("input", () => {
      points = [...model.searchNumbers(input.value), ...model.search(input.value, MOST_FOUND)].slice(0, MOST_FOUND);
      at = 0;
      const items = points.map((one, k) => {
        const isPoint = one.name === undefined, own = isPoint ? model.find(one)[0] : one;
        const noun = isPoint ? own.name : model.data.triplot ? "constraint" : "number", item = make("li", own.role, short(nameOf(one), 60), make("span", "soft", ` ${noun}`));
        item.setAttribute("role", "option");
        item.id = `found-${k}`;
        item.addEventListener("pointerdown", event => { event.preventDefault(); take(k); });
        return item;
      });
      list.replaceChildren(...(items.length || !input.value.trim() ? items : [make("li", "soft", "Nothing found")]));
      list.hidden = !input.value.trim();
      input.setAttribute("aria-expanded", String(!list.hidden));
      mark();
    });
    input.addEventListener("keydown", event => {
      const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (move && points.length) { event.preventDefault(); at = (at + move + points.length) % points.length; mark(); }
      if (event.key === "Enter") take(at);
      if (event.key === "Escape") { close(); input.value = ""; }
    });
    input.addEventListener("blur", close);
  }
}
