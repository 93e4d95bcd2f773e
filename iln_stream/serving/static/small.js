// Small charts, each of one metric over all events.

import { Card } from "./card.js";
import { Chart } from "./chart.js";
import { count, percent } from "./format.js";
import { timesOf } from "./range.js";
import { curve, eventsOf } from "./store.js";
import { CHANGED } from "./verdict.js";

class OneMetric {
  constructor(id, metric, title, note, span, options = {}) {
    this.metric = metric;
    this.series = options.series ?? title.toLowerCase();
    this.chart = new Chart({ title, xName: "event", formatX: count, ...options });
    this.card = new Card(id, title, note, span, this.chart.node);
    this.node = this.card.node;
  }

  update(model) {
    const y = curve(model, this.metric);
    if (!this.card.show(y !== null && y.some((v) => v !== null))) return;
    const x = eventsOf(model);
    this.chart.update({ x, series: [{ name: this.series, look: "s0", y }], when: timesOf(model, x) });
  }
}

export const drift = () => new OneMetric("drift", "iln_recent_error_ratio", "Drift",
  "Latest errors over earlier ones: 1 is steady; above 1.5, if unusual at that hour, the stream has changed.", 3, { references: [1, CHANGED], low: 0, height: 190 });

export const shrinks = () => new OneMetric("shrinks", "iln_shrink_frequency", "Shrink frequency",
  "Share of events at which Algorithm 1 shrank; 0 is healthy.", 3, { formatY: percent, low: 0, least: 0.01 });

export const alpha = () => new OneMetric("alpha", "iln_alpha_l1", "L1 norm of α",
  "‖α‖₁, the sum of Algorithm 1's |α|.", 3, { series: "norm" });
