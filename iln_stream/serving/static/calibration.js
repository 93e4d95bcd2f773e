// Predicted probabilities against what came of them.

import { Card } from "./card.js";
import { Chart } from "./chart.js";
import { count, label, percent, sum } from "./format.js";

export class Calibration {
  constructor() {
    const options = { xName: "predicted", formatX: percent, formatY: percent, low: 0, high: 1, height: 200 };
    this.chart = new Chart({ title: "Calibration", ...options });
    this.card = new Card("calibration", "", "", 6, this.chart.node);
    this.node = this.card.node;
  }

  update({ calibration }) {
    if (!this.card.show(Boolean(calibration?.bins))) return;
    const { of, bins } = calibration;
    const end = bins.some(([p, rate]) => Math.max(p, rate) > 0.5) ? 1 : 1.5 * Math.max(...bins.flatMap((bin) => bin.slice(0, 2)));
    const events = sum(bins.map(([, , n]) => n));
    this.card.name("Calibration", `How often ${of === null ? "the predicted class" : label(of)} came, by its predicted probability, in ${count(events)} labels.`);
    this.chart.options.high = end;
    const padded = (middle, [first, last]) => [first, ...middle, last];
    const x = padded(bins.map(([p]) => p), [0, end]);
    const reach = bins.map(([p, , n]) => 2 * Math.sqrt((p * (1 - p)) / n));
    const ends = (sign) => padded(bins.map(([p], i) => Math.min(end, Math.max(0, p + sign * reach[i]))), [null, null]);
    this.chart.update({
      x,
      series: [
        { name: "came", look: "s0 large", kind: "dots", y: padded(bins.map(([, rate]) => rate), [null, null]), now: null },
        { name: "predicted", look: "quiet dashed", y: x, now: null },
        { name: "chance", look: "soft", kind: "band", y0: ends(-1), y: ends(1), shown: padded(reach, [0, 0]), now: null, format: (v) => `±${percent(v)}` },
      ],
    });
  }
}
