// The relevance of inputs, as bars.

import { Card } from "./card.js";
import { drawn, element, repeat, setAttributes, setText } from "./dom.js";
import { number, percent, sum } from "./format.js";
import { isClassification, unitOf } from "./task.js";

const MOST = 8;
const LEAST = 0.005;

export class Inputs {
  constructor() {
    this.body = element("tbody");
    const table = element("table", { class: "bars" }, element("caption", { class: "visually-hidden" }, "Relevance of the inputs"),
      element("thead", { class: "visually-hidden" }, element("tr", {}, element("th", { scope: "col" }, "Input"), element("th", { scope: "col" }, "Share"))),
      this.body);
    this.card = new Card("inputs", "", "", 3, table);
    this.node = this.card.node;
  }

  update(model) {
    const found = Object.entries(model.metrics.iln_input_relevance_ratio ?? {}).filter(([, v]) => Number.isFinite(v));
    if (!this.card.show(found.length > 0)) return;
    const shares = new Map();
    for (const [name, share] of found) {
      const field = fieldOf(name, model.head.target);
      shares.set(field, (shares.get(field) ?? 0) + share);
    }
    const ranked = [...shares].sort((a, b) => b[1] - a[1]).slice(0, MOST);
    const rest = 1 - sum(ranked.map(([, share]) => share));
    if (rest > LEAST) ranked.push(["all others", rest]);
    this.card.name("Relevance of the fields", `How far each field moves the predictions, in 32 remembered events.${isClassification(model) ? "" : size(model)}`);
    const largest = ranked[0][1] || 1;
    repeat(this.body, ranked, makeRow, (row, [name, share]) => {
      const [head, cell] = row.children;
      setText(head.firstElementChild, name);
      setAttributes(head.lastElementChild.firstElementChild, { width: (100 * share) / largest });
      setText(cell, percent(share));
    });
  }
}

// The field of which an input is made: an earlier value, a level, a part of a time.
function fieldOf(name, target) {
  return name === `${target}.level` ? target : name.replace(/\.(lag|mean)_\d+$/, "").replace(/^(time\.\w+)\.(sin|cos)$/, "$1");
}

// How large the whole is: of noise, predictions hardly move.
function size(model) {
  const known = model.steps.filter((s) => s.y !== null && Number.isFinite(s.y_pred));
  const [moved, labels] = ["y_pred", "y"].map((name) => {
    const mean = sum(known.map((s) => s[name])) / known.length;
    return number(sum(known.map((s) => Math.abs(s[name] - mean))) / known.length);
  });
  return ` In all, predictions vary by ${moved} ${unitOf(model)}, labels by ${labels}.`.replace(" ,", ",");
}

function makeRow() {
  const bar = drawn("svg", { class: "bar", viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" }, drawn("rect", { height: 8 }));
  return element("tr", {}, element("th", { scope: "row" }, element("span", { class: "input" }), bar), element("td", { class: "number" }));
}
