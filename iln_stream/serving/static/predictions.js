// Predictions against labels, of the latest events.

import { Card } from "./card.js";
import { Chart } from "./chart.js";
import { count, label, number, percent } from "./format.js";
import { Range, timeAt } from "./range.js";
import { eventsOf, value } from "./store.js";
import { isClassification, positiveOf, promotions, unitOf } from "./task.js";

export class Predictions {
  constructor() {
    const x = { xName: "step", formatX: count };
    this.numbers = new Chart({ title: "Predictions and labels", height: 300, ...x });
    this.classes = new Chart({ title: "Predicted classes and their probability", height: 300, high: 1.02, formatY: percent, formatTick: percent, ...x });
    this.card = new Card("predictions", "Predictions and labels", "", 7, this.numbers.node, this.classes.node);
    this.node = this.card.node;
    this.range = new Range("predictions", ["256", "10k", "all"], "256", () => this.update(this.model));
    this.card.tool(this.range.node);
  }

  update(model) {
    this.model = model;
    this.card.show(true);
    const classes = isClassification(model);
    this.numbers.node.toggleAttribute("hidden", classes);
    this.classes.node.toggleAttribute("hidden", !classes);
    const steps = withoutRepeats(model.steps);
    const x = steps.map((s) => s.serial);
    const when = timeAt(x, steps.map((s) => s.time));
    this.range.node.toggleAttribute("hidden", classes);
    const marks = promotions(model, "serial");
    const { target } = model.head;
    if (classes) {
      const positive = positiveOf(model);
      this.card.name(target ? `Predicted ${target}` : "Predicted classes", positive === null
        ? "Probability of the predicted class, for each of the latest events."
        : `Probability of ${label(positive)}, the rarer class, for each of the latest events.`);
      this.classes.update({ x, series: positive === null ? classSeries(steps) : outcomeSeries(steps, positive), marks, when });
      return;
    }
    this.numbers.options.unit = unitOf(model);
    if (this.range.value !== "256") {
      this.card.name(target ? `${target}: predictions and labels` : "Predictions and labels", `Some of ${
        this.range.value === "all" ? "all events" : "the latest 10,000 events"}, evenly spaced.`);
      this.numbers.update(sampled(this.range.of(model), promotions(model, "events")));
    } else {
      this.card.name(target ? `${target}: predictions and labels` : "Predictions and labels",
        `The latest events: what was predicted before the label was seen${interval(model, steps)}.`);
      this.numbers.update({ x, series: numberSeries(steps, steps.some((s) => s.interval)), marks, when });
    }
  }
}

// The steps of a longer range, as those of numberSeries; the last one is the present.
function sampled(model, marks) {
  const x = eventsOf(model);
  const of = (name) => model.series.get("step")?.get(name) ?? [];
  const [times, y, y_pred, low, high] = ["time", "label", "prediction", "low", "high"].map(of);
  const steps = y.map((v, i) => ({ y: v, y_pred: y_pred[i], interval: Number.isFinite(low[i]) ? [low[i], high[i]] : null }));
  const last = model.steps.findLast((s) => s.y !== null) ?? { y: null, y_pred: null };
  return { x, xName: "event", series: numberSeries([...steps, last], low.length > 0), marks, when: timeAt(x, [...times, last.time]) };
}

// What the interval is, and how often it held the label.
function interval(model, steps) {
  if (!steps.some((s) => s.interval)) return "";
  const [level] = Object.keys(model.metrics[COVERAGE] ?? {});
  const held = level === undefined ? undefined : value(model, COVERAGE, level);
  return held === undefined ? ", with its interval"
    : `, with its ${percent(Number(level))} interval, which held ${percent(held)} of the labels`;
}

const COVERAGE = "iln_interval_coverage_ratio/observed";

// An event whose label came later has two steps: one when it was predicted, one with its label.
function withoutRepeats(steps) {
  const labelled = new Set(steps.filter((s) => s.late).map((s) => s.id));
  return steps.filter((s) => s.y !== null || !labelled.has(s.id));
}

function numberSeries(steps, hasInterval) {
  const series = [
    { name: "prediction", look: "s0 strong", y: steps.map((s) => s.y_pred) },
    { name: "label", look: "ink", kind: "dots", y: steps.map((s) => s.y) },
  ];
  if (hasInterval) {
    const [low, high] = [0, 1].map((i) => steps.map((s) => s.interval?.[i] ?? null));
    const shown = steps.map((s) => s.interval);
    series.push({ name: "interval", look: "soft", kind: "band", y0: low, y: high, shown, format: (v) => (Array.isArray(v) ? `${number(v[0])} to ${number(v[1])}` : "–") });
  }
  return series;
}

function classSeries(steps) {
  const of = (wanted) => ({
    y: steps.map((s) => (verdict(s) === wanted ? s.p : null)),
    shown: steps.map((s) => (verdict(s) === wanted ? described(s) : null)),
    now: steps.filter((s) => verdict(s) === wanted).length,
    format: (v) => (typeof v === "string" ? v : count(v)),
    kind: "dots",
  });
  return [
    { name: "right", look: "s0", ...of("right") },
    { name: "wrong", look: "wrong", ...of("wrong") },
    { name: "no label yet", look: "quiet", ...of("open") },
  ].filter((s, i) => i < 2 || s.y.some((v) => v !== null));
}

// Of two classes: the probability of one of them, by what came.
function outcomeSeries(steps, positive) {
  const of = (name, look, isShown) => ({
    name, look, kind: "dots",
    y: steps.map((s) => (isShown(s) ? probabilityOf(s, positive) : null)),
    shown: steps.map((s) => (isShown(s) ? percent(probabilityOf(s, positive) ?? NaN) : null)),
    now: steps.filter(isShown).length,
    format: (v) => (typeof v === "string" ? v : count(v)),
  });
  const is = (s) => String(s.y) === String(positive);
  return [
    of("no label yet", "quiet", (s) => s.y === null),
    of(`were not ${label(positive)}`, "s0", (s) => s.y !== null && !is(s)),
    of(`were ${label(positive)}`, "wrong", (s) => s.y !== null && is(s)),
  ].filter((s, i) => i > 0 || s.y.some((v) => v !== null));
}

// Of two classes, the predicted one has the probability p.
export function probabilityOf(step, positive) {
  if (step.p === null) return null;
  return String(step.y_pred) === String(positive) ? step.p : 1 - step.p;
}

export function verdict(step) {
  if (step.y === null) return "open";
  return String(step.y) === String(step.y_pred) ? "right" : "wrong";
}

function described(step) {
  const truth = verdict(step) === "wrong" ? `, was ${label(step.y)}` : "";
  return `${label(step.y_pred)} ${percent(step.p)}${truth}`;
}
