// The errors that tell how well a task is done.

import { value } from "./store.js";

const REGRESSION = [
  {
    id: "mae", title: "error", axis: "Mean absolute error",
    standing: (kind) => `${kind}_error`,
    windowed: "iln_error/mae/window", running: "iln_error/mae/all",
  },
];
const CLASSIFICATION = [
  {
    id: "loss", title: "log loss", axis: "Mean log loss",
    standing: (kind) => `${kind}_loss`,
    windowed: "iln_error/loss/window", running: "iln_error/loss/all",
  },
  {
    id: "misclassification", title: "share of wrong classes", axis: "Share of wrong classes", isShare: true,
    windowed: "iln_error/misclassification/window", running: "iln_error/misclassification/all",
  },
];

export function measures(model) {
  if (!isClassification(model)) return REGRESSION;
  // Nearly every model is right about a rare class: of two, areas and thresholds say more.
  return model.calibration?.counts ? CLASSIFICATION.slice(0, 1) : CLASSIFICATION;
}

// What a measure is, with the unit of the target.
export function axisOf(model, measure) {
  const unit = unitOf(model);
  return measure.id === "mae" && unit ? `${measure.axis} in ${unit}` : measure.axis;
}

export function unitOf(model) {
  return isClassification(model) ? "" : model.head.unit ?? "";
}

export function isClassification(model) {
  return model.head.task === "classification";
}

// The share of the latest 256 records, or since the oldest letter known, that are dead letters.
export function unreadShare({ steps, dead_letters: letters }) {
  const last = Math.max(steps.at(-1)?.serial ?? 0, letters.at(-1)?.serial ?? 0);
  const n = letters.filter((letter) => letter.serial > last - 256).length;
  return n / (n + Math.min(last, n < 50 ? 256 : last - letters[0].serial) || 1);
}

// The name of the learner, as it stands beside those of baselines and contenders.
export function learnerName(model) {
  return championOf(model) ?? model.head.learner.split(/[:/]/).at(-1);
}

export function championOf(model) {
  return model.contenders.find((c) => c.status === "champion")?.name;
}

const COLOURS = ["s0", "s1", "s2", "s3", "s4", "s5", "ink"];

// A contender has the same colour everywhere.
export function colour(model, contender) {
  const i = model.contenders.findIndex((c) => c.name === contender);
  return COLOURS[Math.max(i, 0) % COLOURS.length];
}

// Where another contender became champion; number: "events" or "serial", as on the chart's x.
export function promotions(model, number) {
  return model.promotions.map((p) => ({
    x: p[number], name: p.contender, text: `${p.contender} becomes champion`, look: colour(model, p.contender),
  }));
}

// The predictors that look at no input, as errors name them.
const TRIVIAL = ["running_mean", "last_value", "median", "day_before", "week_before", "class_frequencies", "majority_class"];

// Name and error of each of them, null before the first label; the seasonal ones if they are of use.
export function trivial(model, metric) {
  const errors = TRIVIAL.map((name) => [name, value(model, metric, name)]).filter(([, v]) => v !== undefined);
  const last = value(model, metric, "last_value");
  return errors.filter(([name, v]) => !name.endsWith("_before") || v < last);
}

export const BASELINES = ["quiet dashed", "quiet dotted", "quiet mixed", "quiet"];
