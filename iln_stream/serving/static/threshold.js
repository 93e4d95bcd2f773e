// Of two classes: what a threshold on the probability of the rarer one would have caught.

import { Card } from "./card.js";
import { element, setText } from "./dom.js";
import { count, label, number, percent, sum } from "./format.js";
import { value } from "./store.js";

export class Threshold {
  constructor() {
    this.slider = element("input", { type: "range", min: 0.01, max: 0.99, step: 0.01, id: "threshold-at" });
    this.isMoved = false;
    this.slider.addEventListener("input", () => { this.isMoved = true; this.update(this.model); });
    this.at = element("label", { for: "threshold-at" });
    this.cells = [0, 1].map(() => [0, 1].map(() => element("td", { class: "number" })));
    this.heads = [0, 1].map(() => element("th", { scope: "col", class: "number" }));
    this.sides = [0, 1].map(() => element("th", { scope: "row" }));
    const table = element("table", {}, element("caption", { class: "visually-hidden" }, "Confusion at the threshold"),
      element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "Was"), ...this.heads)),
      element("tbody", {}, ...this.sides.map((side, i) => element("tr", {}, side, ...this.cells[i]))));
    this.found = element("p");
    this.card = new Card("threshold", "", "", 6, element("p", { class: "slider" }, this.at, this.slider), table, this.found);
    this.node = this.card.node;
  }

  update(model) {
    this.model = model;
    const { of, counts } = model.calibration ?? {};
    if (!this.card.show(Boolean(counts))) return;
    const name = label(of);
    const [were, others] = counts.map(sum);
    const base = were / (were + others);
    if (!this.isMoved) this.slider.value = base;
    const at = Number(this.slider.value);
    const n = counts.map((each) => {
      const said = sum(each.slice(Math.round(100 * at)));
      return [said, sum(each) - said];
    });
    this.card.name("At a threshold", `The latest ${count(were + others)} labels, of which ${percent(base)} are ${name}. PR AUC ${number(value(model, "iln_probability_score", "pr_auc") ?? NaN)}.`);
    setText(this.at, `Say ${name} from ${percent(at)}`);
    [`said ${name}`, "said other"].forEach((text, i) => setText(this.heads[i], text));
    [name, "other"].forEach((text, i) => setText(this.sides[i], text));
    this.cells.forEach((row, i) => row.forEach((cell, j) => setText(cell, count(n[i][j]))));
    const said = n[0][0] + n[1][0];
    setText(this.found, `${said ? `Of those said to be ${name}, ${percent(n[0][0] / said)} were (precision).` : `None is said to be ${name}.`
    } Of those that were, ${percent(n[0][0] / were)} are caught (recall).`);
  }
}
