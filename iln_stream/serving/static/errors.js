// Errors over events: of the learner or of each contender, and of the baselines.

import { Card } from "./card.js";
import { Chart } from "./chart.js";
import { count, percent, words } from "./format.js";
import { Range, timesOf } from "./range.js";
import { curve, eventsOf } from "./store.js";
import { BASELINES, axisOf, championOf, colour, learnerName, measures, promotions, trivial, unitOf } from "./task.js";

export class Errors {
  // nth: the first or second measure of the task.
  constructor(nth) {
    this.nth = nth;
    const options = { title: "", xName: "event", formatX: count, height: 200 };
    this.errors = new Chart({ ...options, log: true });
    this.shares = new Chart({ ...options, formatY: percent });
    this.card = new Card(`windowed-${nth}`, "", "", 6, this.errors.node, this.shares.node);
    this.node = this.card.node;
    this.range = new Range(`windowed-${nth}`, ["10k", "All"], "All", () => this.update(this.model));
    this.card.tool(this.range.node);
  }

  update(model) {
    this.model = model;
    const measure = measures(model)[this.nth];
    if (!this.card.show(measure !== undefined)) return;
    const title = `Windowed ${measure.title}`;
    this.card.name(title, `${axisOf(model, measure)} of the latest ${count(model.window.labels)} labels${measure.isShare ? "" : ", on a log scale"}.`);
    this.errors.node.toggleAttribute("hidden", measure.isShare === true);
    this.shares.node.toggleAttribute("hidden", !measure.isShare);
    const chart = measure.isShare ? this.shares : this.errors;
    chart.name(title);
    chart.options.unit = measure.id === "mae" ? unitOf(model) : "";
    chart.update(ofCurves(this.range.of(model), measure.windowed));
  }
}

function ofCurves(model, metric) {
  const x = eventsOf(model);
  const series = [...own(model, metric), ...baselines(model, metric)];
  return { x, series, marks: promotions(model, "events"), when: timesOf(model, x) };
}

function baselines(model, metric) {
  return trivial(model, metric).filter(([name]) => curve(model, metric, name)).map(([name], i) => ({
    name: words(name), look: BASELINES[i], y: curve(model, metric, name),
  }));
}

function own(model, metric) {
  const contenders = model.contenders.map((c) => c.name).filter((name) => curve(model, metric, name));
  const published = curve(model, metric, "model");
  if (contenders.length === 0) {
    return published === null ? [] : [{ name: learnerName(model), look: "s0 strong", y: published }];
  }
  const champion = championOf(model);
  // The first contender is the learner that was there before there were challengers.
  const [first] = model.contenders;
  return contenders.map((name) => {
    let y = curve(model, metric, name);
    if (name === first?.name) {
      const began = y.findIndex((v) => v !== null);
      y = y.map((v, i) => (i < began ? published?.[i] ?? null : v));
    }
    return { name, look: `${colour(model, name)}${name === champion ? " strong" : ""}`, y };
  });
}
