// Errors over events: of the learner or of each contender, and of the baselines.

import { Card } from "./card.js";
import { Chart } from "./chart.js";
import { count, percent, words } from "./format.js";
import { Range, timesOf } from "./range.js";
import { curve, eventsOf } from "./store.js";
import { BASELINES, axisOf, championOf, colour, learnerName, measures, promotions, trivial, unitOf } from "./task.js";

export class Errors {
  // kind: windowed or running; nth: the first or second measure of the task.
  constructor(kind, nth) {
    this.kind = kind;
    this.nth = nth;
    const options = { title: "", xName: "event", formatX: count, height: 200 };
    this.errors = new Chart({ ...options, log: true });
    this.shares = new Chart({ ...options, formatY: percent, formatTick: percent });
    this.card = new Card(`${kind}-${nth}`, "", "", 6, this.errors.node, this.shares.node);
    this.node = this.card.node;
    this.range = new Range(`${kind}-${nth}`, ["10k", "all"], "all", () => this.update(this.model));
    this.card.tool(this.range.node);
  }

  update(model) {
    this.model = model;
    const measure = measures(model)[this.nth];
    if (!this.card.show(measure !== undefined)) return;
    const windowed = this.kind === "windowed";
    const title = `${windowed ? "Windowed" : "Running"} ${measure.title}`;
    for (const chart of [this.errors, this.shares]) chart.name(title);
    this.card.name(
      title,
      `${axisOf(model, measure)} ${windowed ? "of the latest labelled events" : "since the first event"}${measure.isError ? ", on a log scale" : ""}.`,
    );
    this.errors.node.toggleAttribute("hidden", !measure.isError);
    this.shares.node.toggleAttribute("hidden", measure.isError);
    const chart = measure.isError ? this.errors : this.shares;
    chart.options.unit = measure.id === "mae" ? unitOf(model) : "";
    chart.update(ofCurves(this.range.of(model), measure[this.kind]));
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
