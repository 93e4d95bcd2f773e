// Errors over events: of the learner or of each contender, and of the baselines.

import { Card } from "./card.js";
import { Chart } from "./chart.js";
import { count, percent, words } from "./format.js";
import { verdict } from "./predictions.js";
import { Range, timeAt, timesOf } from "./range.js";
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
    const ranges = kind === "windowed" ? ["256", "10k", "all"] : ["10k", "all"];
    this.range = new Range(`${kind}-${nth}`, ranges, "all", () => this.update(this.model));
    this.card.tool(this.range.node);
  }

  update(model) {
    this.model = model;
    const measure = measures(model)[this.nth];
    if (!this.card.show(measure !== undefined)) return;
    const windowed = this.kind === "windowed";
    const title = `${windowed ? "Windowed" : "Running"} ${measure.title}`;
    for (const chart of [this.errors, this.shares]) chart.name(title);
    const lately = this.range.value === "256";
    this.card.name(
      title,
      `${axisOf(model, measure)} ${lately ? `of ${LATELY} labels each` : windowed ? "of the latest labelled events" : "since the first event"}${measure.isError ? ", on a log scale" : ""}.`,
    );
    this.errors.node.toggleAttribute("hidden", !measure.isError);
    this.shares.node.toggleAttribute("hidden", measure.isError);
    const chart = measure.isError ? this.errors : this.shares;
    chart.options.unit = measure.id === "mae" ? unitOf(model) : "";
    chart.update(lately ? ofSteps(model, measure) : ofCurves(this.range.of(model), measure[this.kind]));
  }
}

const LATELY = 16;

// Of the latest steps: means over a few labels.
function ofSteps(model, { id }) {
  const steps = model.steps.filter((s) => s.y !== null && s.y_pred !== null);
  const error = { mae: (s) => Math.abs(s.y - s.y_pred), loss: (s) => s.loss, accuracy: (s) => Number(verdict(s) === "right") }[id];
  const x = steps.map((s) => s.serial);
  const series = [{ name: learnerName(model), look: "s0 strong", y: smooth(steps.map(error)) }];
  if (id === "mae" && !steps.some((s) => s.late)) {
    series.push({ name: "last value", look: BASELINES[1], y: smooth(steps.map((s, i) => Math.abs(s.y - steps[Math.max(0, i - 1)].y))) });
  }
  return { x, xName: "step", series, marks: promotions(model, "serial"), when: timeAt(x, steps.map((s) => s.time)) };
}

function smooth(values) {
  return values.map((_, i) => {
    const latest = values.slice(Math.max(0, i + 1 - LATELY), i + 1);
    return latest.reduce((sum, v) => sum + v, 0) / latest.length;
  });
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
