// Of two classes: what a threshold on the probability of the rarer one would have caught.

import { Card } from "./card.js";
import { element, setText } from "./dom.js";
import { count, label, number, percent } from "./format.js";
import { probabilityOf } from "./predictions.js";
import { value } from "./store.js";
import { isClassification, positiveOf } from "./task.js";

export class Threshold {
  constructor() {
    this.slider = element("input", { type: "range", min: 0.01, max: 0.99, step: 0.01, value: 0.5, id: "threshold-at" });
    this.slider.addEventListener("input", () => this.update(this.model));
    this.at = element("label", { for: "threshold-at" });
    this.cells = [0, 1].map(() => [0, 1].map(() => element("td", { class: "number" })));
    this.heads = [0, 1].map(() => element("th", { scope: "col", class: "number" }));
    this.sides = [0, 1].map(() => element("th", { scope: "row" }));
    const table = element("table", {}, element("caption", { class: "visually-hidden" }, "Confusion at the threshold"),
      element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "Was"), ...this.heads)),
      element("tbody", {}, ...this.sides.map((side, i) => element("tr", {}, side, ...this.cells[i]))));
    this.found = element("p");
    this.card = new Card("threshold", "At a threshold", "", 6, element("p", { class: "slider" }, this.at, this.slider), table, this.found);
    this.node = this.card.node;
  }

  update(model) {
    this.model = model;
    const positive = isClassification(model) ? positiveOf(model) : null;
    const known = positive === null ? [] : model.steps.filter((s) => s.y !== null && s.p !== null);
    if (!this.card.show(known.length > 0)) return;
    const name = label(positive);
    const at = Number(this.slider.value);
    const n = [[0, 0], [0, 0]];
    for (const step of known) {
      n[String(step.y) === positive ? 0 : 1][probabilityOf(step, positive) >= at ? 0 : 1] += 1;
    }
    this.card.name("At a threshold", `The latest ${count(known.length)} labels; ${scores(model)}`);
    setText(this.at, `Say ${name} from ${percent(at)}`);
    [`said ${name}`, "said other"].forEach((text, i) => setText(this.heads[i], text));
    [name, "other"].forEach((text, i) => setText(this.sides[i], text));
    this.cells.forEach((row, i) => row.forEach((cell, j) => setText(cell, count(n[i][j]))));
    const [said, were] = [n[0][0] + n[1][0], n[0][0] + n[0][1]];
    setText(this.found, [
      said ? `Of those said to be ${name}, ${percent(n[0][0] / said)} were (precision).` : `None is said to be ${name}.`,
      were ? ` Of those that were, ${percent(n[0][0] / were)} are caught (recall).` : "",
    ].join(""));
  }
}

// How well probabilities order events, over the metrics' own window.
function scores(model) {
  const found = [["roc_auc", "ROC AUC"], ["pr_auc", "PR AUC"]]
    .map(([score, title]) => [title, value(model, "iln_probability_score", score)]).filter(([, v]) => v !== undefined);
  return found.length ? `${found.map(([title, v]) => `${title} ${number(v)}`).join(", ")}.` : "move the threshold.";
}
