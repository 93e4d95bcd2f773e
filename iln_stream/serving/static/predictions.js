// Predictions against labels, of the latest events.

import { Card } from "./card.js";
import { element, repeat, setAttributes, setText } from "./dom.js";
import { Chart } from "./chart.js";
import { count, label, number, percent, sum, tick } from "./format.js";
import { Range, timeAt } from "./range.js";
import { eventsOf, value } from "./store.js";
import { isClassification, promotions, unitOf } from "./task.js";

export class Predictions {
  constructor() {
    const x = { xName: "step", formatX: count };
    this.numbers = new Chart({ title: "Predictions and labels", height: 300, ...x });
    this.classes = new Chart({ title: "Predicted classes", height: 300, high: 1.02, formatY: percent, ...x });
    this.rare = new Chart({ title: "Probability by outcome", height: 300, low: 0, formatY: percent, xName: "predicted", formatX: percent });
    this.card = new Card("predictions", "", "", 7, this.numbers.node, this.classes.node, this.rare.node);
    this.node = this.card.node;
    this.range = new Range("predictions", ["256", "10k", "All"], "256", () => this.update(this.model));
    this.card.tool(this.range.node);
    this.series = new OneSeries(() => this.update(this.model));
    this.card.tool(this.series.select);
  }

  update(model) {
    this.model = model;
    this.card.show(true);
    const classes = isClassification(model);
    const { of, counts } = model.calibration ?? {};
    this.numbers.node.toggleAttribute("hidden", classes);
    this.classes.node.toggleAttribute("hidden", !classes || Boolean(counts));
    this.rare.node.toggleAttribute("hidden", !counts);
    const all = withoutRepeats(model.steps);
    const several = new Set(all.map(seriesOf).filter(Boolean));
    const steps = all.filter(this.series.offer(several));
    const x = steps.map((s) => s.serial);
    const when = timeAt(x, steps.map((s) => s.time));
    this.range.node.toggleAttribute("hidden", classes || several.size > 0);
    const marks = promotions(model, "serial");
    const { target } = model.head;
    if (counts) {
      this.card.name(`Predicted ${target ?? "classes"}`,
        `Probability of ${label(of)}, the rarer class, by what came: the further apart, the better.`);
      this.rare.update(spread(model.calibration));
      return;
    }
    if (classes) {
      this.card.name(`Predicted ${target ?? "classes"}`, `Probability of the predicted class, for the latest ${count(steps.length)} events.`);
      this.classes.update({ x, series: classSeries(steps), marks, when });
      return;
    }
    this.numbers.options.unit = unitOf(model);
    const one = several.size > 0 && this.series.chosen;
    const title = target ? `${target}${one ? ` of ${one}` : ""}: predictions and labels` : "Predictions and labels";
    const isRecent = this.range.value === "256" || several.size > 0;
    const hasIntervals = steps.some((s) => s.interval);
    if (!isRecent) {
      this.card.name(title, `Some of ${this.range.value === "All" ? "all events" : "the latest 10,000 events"}, evenly spaced.`);
      this.numbers.update(sampled(this.range.of(model), promotions(model, "events")));
    } else if (steps.some((s) => s.late && s.id !== null)) { // labels come in another order than their events, which follow no course
      const sorted = steps.filter((s) => Number.isFinite(s.y_pred)).sort((a, b) => a.y_pred - b.y_pred);
      this.card.name(title, `The latest ${count(sorted.length)} events, sorted by prediction, as labels come late${interval(model, steps)}.`);
      this.numbers.update({ x: sorted.map((s) => s.y_pred), xName: "predicted", formatX: tick, series: numberSeries(sorted, hasIntervals, "prediction, in order").map((s) => ({ ...s, now: null })) });
    } else {
      this.card.name(title, `The latest ${count(steps.length)} events, each predicted before its label was seen${interval(model, steps)}.`);
      this.numbers.update({ x, series: numberSeries(steps, hasIntervals), marks, when });
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

function numberSeries(steps, hasInterval, name = "prediction") {
  const series = [
    { name, look: "s0 strong", y: steps.map((s) => s.y_pred) },
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
    shown: steps.map((s) => verdict(s) === wanted && described(s)),
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

// Of two classes: how the probability of the rarer one is spread, where it came and where not.
function spread({ of, counts }) {
  const last = 1 + Math.max(...counts.map((each) => each.findLastIndex((n) => n > 0)));
  const width = Math.ceil(last / 25);
  const bins = Array.from({ length: Math.ceil(last / width) + 1 }, (_, i) => i * width);
  const shares = (each) => {
    const all = sum(each);
    return { now: count(all), y: bins.map((from) => sum(each.slice(from, from + width)) / all) };
  };
  const format = (v) => (typeof v === "string" ? v : percent(v));
  const [were, others] = counts.map(shares);
  return { x: bins.map((from) => (from + width / 2) / 100), series: [
    { name: `were ${label(of)}`, look: "wrong strong", format, ...were },
    { name: `were not ${label(of)}`, look: "soft", kind: "band", y0: bins.map(() => 0), format, ...others },
  ] };
}

export const seriesOf = (step) => step.series?.join(", ") ?? "";

export function verdict(step) {
  if (step.y === null) return "open";
  return String(step.y) === String(step.y_pred) ? "right" : "wrong";
}

function described(step) {
  const truth = verdict(step) === "wrong" ? `, was ${label(step.y)}` : "";
  return `${label(step.y_pred)} ${percent(step.p)}${truth}`;
}

// With more, each has too few of the latest events.
const MOST_SERIES = 16;

class OneSeries {
  constructor(onChange) {
    this.select = element("select", { class: "range", "aria-label": "Series that the chart shows" });
    this.select.addEventListener("change", () => { this.chosen = this.select.value; onChange(); });
  }

  // Offers these series, the first one unless another is chosen.
  offer(several) {
    const names = ["", ...several].sort();
    this.select.toggleAttribute("hidden", names.length < 3);
    repeat(this.select, names, () => element("option"), (option, name) => {
      setAttributes(option, { value: name });
      setText(option, name || "all series");
    });
    if (!names.includes(this.chosen)) this.chosen = names.length > MOST_SERIES ? "" : names.at(1) ?? "";
    if (this.select.value !== this.chosen) this.select.value = this.chosen;
    return (step) => this.chosen === "" || seriesOf(step) === this.chosen;
  }
}
