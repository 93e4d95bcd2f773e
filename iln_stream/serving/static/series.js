// The series of events, and the choice of one of them.

import { element, repeat, setAttributes, setText } from "./dom.js";

// With more, each has too few of the latest events.
const MOST = 16;

export const seriesOf = (step) => step.series?.join(", ") ?? "";

export class OneSeries {
  constructor(onChange) {
    this.select = element("select");
    this.node = element("label", { class: "chooser range" }, element("span", { class: "visually-hidden" }, "Series that the chart shows"), this.select);
    this.select.addEventListener("change", () => { this.chosen = this.select.value; onChange(); });
  }

  // Offers these series, the first one unless another is chosen.
  offer(several) {
    const names = ["", ...[...several].sort()];
    this.node.toggleAttribute("hidden", names.length < 3);
    repeat(this.select, names, () => element("option"), (option, name) => {
      setAttributes(option, { value: name });
      setText(option, name || "all series");
    });
    if (!names.includes(this.chosen)) this.chosen = names.length > MOST ? "" : names.at(1) ?? "";
    if (this.select.value !== this.chosen) this.select.value = this.chosen;
    return (step) => this.chosen === "" || seriesOf(step) === this.chosen;
  }
}
