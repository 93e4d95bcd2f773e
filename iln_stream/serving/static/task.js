// The metrics that tell how well a task is done, and whether more of them is better.

const REGRESSION = [
  {
    id: "mae", title: "error", axis: "Mean absolute error", isError: true, contender: "error",
    standing: (kind) => `${kind}_error`,
    windowed: "iln_windowed_mae", running: "iln_running_mae",
    baseline: "iln_baseline_mae", runningBaseline: "iln_baseline_running_mae",
  },
];
const CLASSIFICATION = [
  {
    id: "loss", title: "log loss", axis: "Mean log loss", isError: true, contender: null,
    standing: (kind) => `${kind}_loss`,
    windowed: "iln_windowed_loss", running: "iln_running_loss",
    baseline: "iln_baseline_loss", runningBaseline: "iln_baseline_running_loss",
  },
  {
    id: "accuracy", title: "accuracy", axis: "Share of right classes", isError: false, contender: "error",
    windowed: "iln_windowed_accuracy", running: "iln_running_accuracy",
    baseline: "iln_baseline_accuracy", runningBaseline: "iln_baseline_running_accuracy",
  },
];

export function measures(model) {
  return isClassification(model) ? CLASSIFICATION : REGRESSION;
}

export function isClassification(model) {
  return model.head.task === "classification";
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

export const BASELINES = ["quiet dashed", "quiet dotted"];
