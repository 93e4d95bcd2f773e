// How much of the past a chart shows: a switch, and the points of that range.

import { element } from "./dom.js";

const NAMES = { 256: "256", "10k": "10k", all: "All" };

export class Range {
  constructor(id, values, chosen, onChange) {
    this.value = chosen;
    this.node = element("fieldset", { class: "range" }, element("legend", { class: "visually-hidden" }, "Events that the chart shows"),
      ...values.map((value) => {
        const input = element("input", { type: "radio", name: `${id}-range`, value });
        input.checked = value === chosen;
        input.addEventListener("change", () => { this.value = value; onChange(); });
        return element("label", {}, input, element("span", {}, NAMES[value]));
      }));
  }

  // The model with the curves of the range.
  of(model) {
    return this.value === "10k" ? { ...model, ...model.recent } : model;
  }
}

// The time at a point of the curves' x.
export function timesOf(model, x) {
  return timeAt(x, [...(model.series.get("step")?.get("time") ?? []), model.steps.at(-1)?.time]);
}

// The time at a point of x, if times tell points apart: they are in order, and mostly a second apart.
export function timeAt(x, times) {
  const inOrder = times.length > 1 && times.every((t, i) => Number.isFinite(t) && (i === 0 || t >= times[i - 1]));
  if (!inOrder || times.at(-1) - times[0] < x.at(-1) - x[0]) return null;
  return (at) => {
    const next = x.findIndex((v) => v >= at);
    const i = next < 0 ? x.length - 1 : Math.max(1, next);
    return times[i - 1] + ((times[i] - times[i - 1]) * (at - x[i - 1])) / (x[i] - x[i - 1] || 1);
  };
}
