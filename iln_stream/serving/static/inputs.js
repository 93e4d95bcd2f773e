// The relevance of inputs, as bars.

import { Card } from "./card.js";
import { drawn, element, repeat, setAttributes, setText } from "./dom.js";
import { percent } from "./format.js";

const MOST = 8;

export class Inputs {
  constructor() {
    this.body = element("tbody");
    const table = element("table", { class: "bars" }, element("caption", { class: "visually-hidden" }, "Relevance of the inputs"),
      element("thead", { class: "visually-hidden" }, element("tr", {}, element("th", { scope: "col" }, "Input"), element("th", { scope: "col" }, "Share"))),
      this.body);
    this.card = new Card("inputs", "Relevance of the fields", "How far each field moves the predictions, on average.", 3, table);
    this.node = this.card.node;
  }

  update(model) {
    const found = Object.entries(model.metrics.iln_input_relevance_ratio ?? {}).filter(([, v]) => Number.isFinite(v));
    if (!this.card.show(found.length > 0)) return;
    const ranked = found.sort((a, b) => b[1] - a[1]).slice(0, MOST);
    const largest = ranked[0][1] || 1;
    repeat(this.body, ranked, makeRow, (row, [name, share]) => {
      const [head, cell] = row.children;
      setText(head.firstElementChild, name);
      setAttributes(head.lastElementChild.firstElementChild, { width: (100 * share) / largest });
      setText(cell, percent(share));
    });
  }
}

function makeRow() {
  const bar = drawn("svg", { class: "bar", viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" }, drawn("rect", { height: 8 }));
  return element("tr", {}, element("th", { scope: "row" }, element("span", { class: "input" }), bar), element("td", { class: "number" }));
}
