// One sentence on top: is the model any good, does that hold, is it up to date, and what to do.

import { setAttributes, setText } from "./dom.js";
import { count, duration, share, words } from "./format.js";
import { value } from "./store.js";
import { isPreparing } from "./status.js";
import { measures, trivial, unreadShare } from "./task.js";

// The same as of the alerts IlnNoBetterThanTrivial, IlnErrorDoubled, IlnDrift and IlnFallingBehind.
const YOUNG = 1000;
const DOUBLED = 2;
export const CHANGED = 1.5;
const LATE = 60;

// A share of errors that is no difference, and of dead letters that is worth a look.
const ALIKE = 0.01;
export const FEW = 0.01;

const WEAK = "before you use it, see whether inputs arrive as before";
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
    const isNew = isPreparing(run) && !(value(model, "iln_events_total") > 0);
    const parts = isNew ? [ready(run)]
      : [better(model), steady(model), unread(model), problem(model), current(model, run, isCurrent), challenged(model)].filter(Boolean);
    const worst = Math.max(...parts.map((part) => LOOKS.indexOf(part.look)));
    const next = parts.find((part) => part.todo && part.look === LOOKS[worst])?.todo ?? (worst === 0 && !isNew ? "nothing to do" : "");
    const text = [...parts.map((part) => part.text), next].filter(Boolean).join("; ");
    setText(this.node, text && `${text.charAt(0).toUpperCase()}${text.slice(1)}.`);
    setAttributes(this.node, { class: LOOKS[worst] });
    setAttributes(document.body, { "data-verdict": LOOKS[worst] });
  }
}

// How the latest errors compare with those of the best baseline.
function better(model) {
  const [measure] = measures(model);
  const ours = value(model, measure.windowed, "model");
  const found = trivial(model, measure.windowed).filter(([, v]) => v !== null);
  const n = value(model, "iln_labelled_events_total") ?? 0;
  if (ours === undefined || found.length === 0) {
    const look = value(model, "iln_events_total") >= YOUNG ? "warning" : "good";
    return n > 0 ? null : { text: "no label is known yet", look, todo: "see whether labels come" };
  }
  const [name, best] = found.reduce((a, b) => (b[1] < a[1] ? b : a));
  const called = CALLED[name] ?? words(name);
  const saved = best > 0 ? 1 - ours / best : ours > 0 ? -Infinity : 0;
  const much = Number.isFinite(saved) ? `${share(Math.abs(saved))} ` : "";
  const than = Math.abs(saved) < ALIKE ? "about as good as" : `${much}${saved > 0 ? "better" : "worse"} than`;
  if (n < YOUNG) return { text: `${than} ${called}, after ${count(n)} labels`, look: "good" };
  const look = LOOKS[saved >= ALIKE ? 0 : saved > -ALIKE ? 1 : 2];
  return { text: `lately ${than} ${called}`, look, todo: { bad: WEAK, warning: "see whether inputs tell more" }[look] };
}

// How large errors usually are at these hours; 1 is the day's mean.
const factor = (usual) => Math.max(1, usual ?? 1);
export const drifts = (model) => value(model, "iln_recent_error_ratio") > CHANGED * factor(model.window.usual_ratio);

// Whether errors stay as they were.
function steady(model) {
  const [measure] = measures(model);
  if ((value(model, "iln_labelled_events_total") ?? 0) < YOUNG) return null;
  const [windowed, running] = [value(model, measure.windowed, "model"), value(model, measure.running, "model")];
  if (windowed > DOUBLED * running * factor(model.window.usual)) return { text: "errors have doubled", look: "bad", todo: "find out what has changed" };
  if (drifts(model)) return { text: "the stream has changed", look: "warning", todo: "if you expected it, nothing to do" };
  return { text: "steady", look: "good" };
}

function current(model, run, isCurrent) {
  if (run.state === "ended") return { text: "ended", look: "good" };
  if (isPreparing(run)) return ready(run);
  if (!isCurrent) return { text: "the learner can't be reached", look: "bad", todo: "read its log" };
  if (run.state.startsWith("waiting")) return { text: run.state.replace(/^waiting: /, ""), look: "bad" };
  const lag = value(model, "iln_consumer_lag_records");
  if (run.state === "idle" || lag === 0) return { text: "up to date", look: "good" };
  if (!(lag > 0)) return { text: "learning", look: "good" };
  const text = `${count(lag)} records behind`;
  const { rate } = model.flow.at(-1) ?? {};
  const first = model.flow.find((moment) => moment.lag !== null)?.lag;
  if (rate === null || rate === undefined || lag < LATE * rate) return { text, look: "good" };
  if (lag < first) return { text: `${text} and catching up, about ${duration(lag / rate)}`, look: "good" };
  return { text: `${text} and not catching up`, look: "warning", todo: "choose a faster profile, or workers" };
}

// Records that could not be learned.
function unread(model) {
  const n = unreadShare(model);
  if (n < FEW) return null;
  const text = `${n < 10 * FEW ? `${count(100 * n)} of 100` : `${count(10 * n)} of 10`} recent records could not be learned`;
  return { text, look: n < 10 * FEW ? "warning" : "bad", todo: "see Dead letters" };
}

// What the log has warned of.
function problem({ metrics }) {
  const [name] = Object.entries(metrics.iln_learning_problem ?? {}).find(([, found]) => found) ?? [];
  return name && { text: words(name), look: "warning", todo: "read the log" };
}

// A challenger that is out, or better for sure.
function challenged(model) {
  const out = model.contenders.find((c) => c.status === "out");
  if (out) return { text: `${out.name} is out`, look: "warning", todo: "see why it fails" };
  const found = model.contenders.find((c) => c.status === "challenger" && c.lower > 0);
  return found && { text: `${found.name} predicts better`, look: "good", todo: `promote ${found.name}` };
}

// While loops are compiled: the time for those left, judged by those done.
function ready(run) {
  const [, done, all] = /(\d+) of about (\d+)/.exec(run.state) ?? [];
  const left = ((all - done) * (Date.now() / 1000 - run.started_at)) / done;
  return { text: left > 0 && left < 1800 ? `getting ready, about ${count(10 * Math.ceil(left / 10))} s` : "getting ready", look: "good" };
}
