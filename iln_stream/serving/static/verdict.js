// One sentence on top: whether the model is any good, whether that holds, and whether it is up to date.

import { setAttributes, setText } from "./dom.js";
import { count, share, words } from "./format.js";
import { value } from "./store.js";
import { measures, trivial } from "./task.js";

// The same as of the alerts IlnNoBetterThanTrivial, IlnErrorDoubled and IlnDrift.
const YOUNG = 1000;
const DOUBLED = 2;
const CHANGED = 1.5;

// Errors that differ by less than this share are about the same.
const ALIKE = 0.01;

const LOOKS = ["good", "warning", "bad"];
const CALLED = {
  last_value: "repeating the last value", running_mean: "the mean label", median: "the median label",
  day_before: "repeating the day before", week_before: "repeating the week before", class_frequencies: "the frequencies of the classes",
};

export class Verdict {
  constructor() {
    this.node = document.getElementById("verdict");
  }

  update(model, run, isCurrent) {
    const parts = [better(model), steady(model), current(model, run, isCurrent)].filter(Boolean);
    const text = parts.map((part) => part.text).join("; ");
    setText(this.node, text && `${text.charAt(0).toUpperCase()}${text.slice(1)}.`);
    setAttributes(this.node, { class: LOOKS[Math.max(0, ...parts.map((part) => LOOKS.indexOf(part.look)))] });
  }
}

// How the latest errors compare with those of the best baseline.
function better(model) {
  const [measure] = measures(model);
  const ours = value(model, measure.windowed, "model");
  const found = trivial(model, measure.windowed).filter(([, v]) => v !== null);
  const n = value(model, "iln_labelled_events_total") ?? 0;
  if (ours === undefined || found.length === 0) return n > 0 ? null : { text: "no label is known yet", look: "warning" };
  const [name, best] = found.reduce((a, b) => (b[1] < a[1] ? b : a));
  const called = CALLED[name] ?? words(name);
  if (best === 0 && ours > 0) return { text: `worse than ${called}, which makes no error`, look: n < YOUNG ? "good" : "bad" };
  const saved = ours > 0 ? 1 - ours / best : best > 0 ? 1 : 0;
  const than = Math.abs(saved) < ALIKE ? "about as good as" : `${share(Math.abs(saved))} ${saved > 0 ? "better" : "worse"} than`;
  if (n < YOUNG) return { text: `${than} ${called}, after ${count(n)} labels`, look: "good" };
  return { text: `${than} ${called}`, look: LOOKS[saved >= ALIKE ? 0 : saved > -ALIKE ? 1 : 2] };
}

// Whether errors stay as they were.
function steady(model) {
  const [measure] = measures(model);
  if ((value(model, "iln_labelled_events_total") ?? 0) < YOUNG) return null;
  const [windowed, running] = [value(model, measure.windowed, "model"), value(model, measure.running, "model")];
  if (windowed > DOUBLED * running) return { text: "errors have doubled", look: "bad" };
  if (value(model, "iln_recent_error_ratio") > CHANGED) return { text: "the stream has changed", look: "warning" };
  return { text: "steady", look: "good" };
}

function current(model, run, isCurrent) {
  if (run.state === "ended") return { text: "ended", look: "good" };
  if (!isCurrent) return { text: "the learner can't be reached", look: "bad" };
  if (run.state.startsWith("waiting")) return { text: run.state.replace(/^waiting: /, ""), look: "bad" };
  const lag = value(model, "iln_consumer_lag_records");
  if (run.state === "idle" || lag === 0) return { text: "up to date", look: "good" };
  return lag > 0 ? { text: `${count(lag)} records behind`, look: "good" } : { text: "learning", look: "good" };
}
