// The delay of labels, and those that are missing.

import { Card } from "./card.js";
import { Chart } from "./chart.js";
import { count, duration } from "./format.js";
import { timeAt } from "./range.js";
import { value } from "./store.js";

const ROUND = [1e-3, 1e-2, 0.1, 1, 10, 30, 60, 120, 300, 600, 900, 1200, 1800, 2400, 3000, 3600, 4500, 5400, 7200, 14400, 21600, 43200, 86400, 172800, 345600, 604800];

export class Delay {
  constructor() {
    this.chart = new Chart({ title: "Delay of labels", xName: "label", formatX: count, formatY: duration, formatTick: duration, tickValues: ROUND, log: true });
    this.card = new Card("delay", "Delay of labels", "", 3, this.chart.node);
    this.node = this.card.node;
  }

  update(model) {
    const late = model.steps.filter((s) => s.late && s.delay !== null);
    const waiting = value(model, "iln_pending_events");
    if (!this.card.show(late.length > 0 || waiting !== undefined)) return;
    // Of a forecast it is the horizon.
    if (new Set(late.map((s) => s.delay)).size === 1 && late.length > 1) { this.card.show(false); return; }
    const sorted = late.map((s) => s.delay).sort((a, b) => a - b);
    const median = sorted[Math.floor(sorted.length / 2)];
    this.card.name("Delay of labels", [
      "From an event to its label.",
      late.length ? ` Median of the latest ${late.length}: ${duration(median)}.` : "",
      waiting === undefined ? "" : ` ${waiting === 0 ? "No event waits" : `${count(waiting)} events wait`} for a label.`,
      lost(model, "iln_pending_expired_total", "expired", ...Object.keys(model.metrics.iln_pending_expired_total ?? {})),
      lost(model, "iln_labels_refused_total", "labels met no event", "no_event"),
    ].join(""));
    const x = late.map((_, i) => i + 1);
    const when = timeAt(x, late.map((s) => s.time + s.delay)); // they come in this order
    this.chart.update({ x, when, series: [{ name: "delay", look: "s0", kind: "dots", y: late.map((s) => Math.max(s.delay, 0)) }] });
  }
}

// names: the values of the metric's label that count.
function lost(model, metric, what, ...names) {
  const n = names.reduce((sum, name) => sum + (value(model, metric, name) ?? 0), 0);
  return n > 0 ? ` ${count(n)} ${what}.` : "";
}
