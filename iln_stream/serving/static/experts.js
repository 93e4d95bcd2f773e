// The weights of the experts over time, as bands on top of each other.

import { Card } from "./card.js";
import { Chart } from "./chart.js";
import { count, percent, sum } from "./format.js";
import { curve, eventsOf, names } from "./store.js";

const METRIC = "iln_expert_weight";
const LOOKS = ["s0", "s1", "s2", "s3", "s4", "s5"];

export class Experts {
  constructor() {
    this.chart = new Chart({ title: "Weights of the experts", xName: "event", formatX: count, formatY: percent, low: 0, high: 1, height: 190 });
    this.card = new Card("experts", "Weights of the experts", "Share of each expert in the prediction.", 6, this.chart.node);
    this.node = this.card.node;
  }

  update(model) {
    const all = names(model, METRIC);
    if (!this.card.show(all.length > 0)) return;
    const x = eventsOf(model);
    const curves = new Map(all.map((name) => [name, curve(model, METRIC, name)]));
    // By the mean of the last quarter: who leads now; it changes slowly, and so do the colours.
    const ranked = all.toSorted((a, b) => mean(curves.get(b)) - mean(curves.get(a)));
    const leading = ranked.slice(0, LOOKS.length);
    const others = ranked.slice(LOOKS.length);
    let below = x.map(() => 0);
    const series = leading.map((name, i) => {
      const y0 = below;
      const own = curves.get(name);
      below = below.map((v, k) => v + (own[k] ?? 0));
      return { name, look: LOOKS[i], kind: "band", y0, y: below, shown: own, now: own.at(-1) };
    });
    if (others.length > 0) {
      const y0 = below;
      const rest = x.map((_, k) => Math.max(0, 1 - y0[k]));
      series.push({ name: `${others.length} others`, look: "rest", kind: "band", y0, y: x.map(() => 1), shown: rest, now: rest.at(-1) });
    }
    this.chart.update({ x, series });
  }
}

function mean(whole) {
  const latest = whole.slice(-Math.ceil(whole.length / 4));
  return sum(latest.map((v) => v ?? 0)) / latest.length;
}
