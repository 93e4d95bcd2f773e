// Predicted probabilities against what came of them.

import { Card } from "./card.js";
import { Chart } from "./chart.js";
import { count, label, percent } from "./format.js";

export class Calibration {
  constructor() {
    const options = { xName: "predicted", formatX: percent, formatY: percent, formatTick: percent, low: 0, high: 1, height: 200 };
    this.chart = new Chart({ title: "Calibration", ...options });
    this.card = new Card("calibration", "Calibration", "", 6, this.chart.node);
    this.node = this.card.node;
  }

  update({ calibration }) {
    if (!this.card.show(Boolean(calibration?.bins))) return;
    const { of, bins } = calibration;
    const end = bins.some(([p, rate]) => Math.max(p, rate) > 0.5) ? 1 : 1.5 * Math.max(...bins.flatMap(([p, rate]) => [p, rate]));
    const events = bins.reduce((sum, [, , n]) => sum + n, 0);
    this.card.name("Calibration", `How often ${of === null ? "the predicted class" : label(of)} came, by its predicted probability, in ${count(events)} labels. In the band, chance explains the difference.`);
    // From 0 on, also where no event is; to the end of what a rare class has.
    this.chart.options.high = end;
    const padded = (middle, [first, last]) => [first, ...middle, last];
    const x = padded(bins.map(([p]) => p), [0, end]);
    const reach = bins.map(([p, , n]) => 2 * Math.sqrt((p * (1 - p)) / n));
    const ends = (sign) => padded(bins.map(([p], i) => Math.min(end, Math.max(0, p + sign * reach[i]))), [null, null]);
    const latest = "";
    this.chart.update({
      x,
      series: [
        { name: "came", look: "s0 large", kind: "dots", y: padded(bins.map(([, rate]) => rate), [null, null]), now: latest, format: text },
        { name: "predicted", look: "quiet dashed", y: x, now: latest, format: text },
        { name: "events", look: "soft", kind: "band", y0: ends(-1), y: ends(1), shown: padded(bins.map(([, , n]) => n), [0, 0]), now: latest, format: (v) => (v === latest ? v : count(v)) },
      ],
    });
  }
}

const text = (v) => (v === "" ? v : percent(v));
