// Predictions against labels, of the latest events.

import { Card } from "./card.js";
import { Chart } from "./chart.js";
import { count, label, number, percent } from "./format.js";
import { isClassification, promotions } from "./task.js";

export class Predictions {
  constructor() {
    const x = { xName: "step", formatX: count };
    this.numbers = new Chart({ title: "Predictions and labels", height: 300, ...x });
    this.classes = new Chart({ title: "Predicted classes and their probability", height: 300, high: 1.02, formatY: percent, formatTick: percent, ...x });
    this.card = new Card("predictions", "Predictions and labels", "", 7, this.numbers.node, this.classes.node);
    this.node = this.card.node;
  }

  update(model) {
    this.card.show(true);
    const classes = isClassification(model);
    this.numbers.node.toggleAttribute("hidden", classes);
    this.classes.node.toggleAttribute("hidden", !classes);
    const steps = withoutRepeats(model.steps);
    const x = steps.map((s) => s.serial);
    const marks = promotions(model, "serial");
    if (classes) {
      this.card.name("Predicted classes", "Probability of the predicted class, for each of the latest events.");
      this.classes.update({ x, series: classSeries(steps), marks });
    } else {
      const hasInterval = steps.some((s) => s.interval);
      this.card.name("Predictions and labels", `The latest events: what was predicted before the label was seen${hasInterval ? ", with its interval" : ""}.`);
      this.numbers.update({ x, series: numberSeries(steps, hasInterval), marks });
    }
  }
}

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

export function verdict(step) {
  if (step.y === null) return "open";
  return String(step.y) === String(step.y_pred) ? "right" : "wrong";
}

function described(step) {
  const truth = verdict(step) === "wrong" ? `, was ${label(step.y)}` : "";
  return `${label(step.y_pred)} ${percent(step.p)}${truth}`;
}
