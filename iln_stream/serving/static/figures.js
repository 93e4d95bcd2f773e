// The key figures on top: each is one metric of the learner.

import { element, repeat, setAttributes, setText } from "./dom.js";
import { count, number, percent, rate, share, words } from "./format.js";
import { value } from "./store.js";
import { measures, trivial, unitOf, unreadShare } from "./task.js";
import { CHANGED, FEW, drifts } from "./verdict.js";

export class Figures {
  constructor() {
    this.node = document.getElementById("figures");
  }

  // isAtWork: whether the learner learns, or would if there were events.
  update(model, isAtWork) {
    const figures = [...measures(model).flatMap((m) => scores(model, m)), ...counts(model, isAtWork)];
    repeat(this.node, figures, figure, (node, f, i) => {
      const [name, body] = node.children;
      const [data, note] = body.children;
      setText(name, f.name);
      setText(data, f.format(f.value ?? NaN));
      setAttributes(data, { "data-unit": f.unit || null });
      setAttributes(data, { value: f.value ?? "", "data-metric": f.metric });
      setText(note, f.note ?? "");
      setAttributes(note, { class: `note ${f.look ?? ""}`.trim() });
      setAttributes(node, { class: i === 0 ? "figure first" : "figure" });
    });
  }
}

function figure() {
  return element("div", { class: "figure" }, element("dt"),
    element("dd", {}, element("data", { class: "value" }), element("span", { class: "note" })));
}

function scores(model, measure) {
  const kinds = [["Windowed", measure.windowed], ["Running", measure.running]];
  return kinds.slice(0, measure.isShare ? 1 : 2).map(([kind, metric]) => ({
    name: `${kind} ${measure.title}`, metric, value: value(model, metric, "model"),
    format: measure.isShare ? percent : number, unit: measure.id === "mae" ? unitOf(model) : "", ...against(model, measure, metric),
  }));
}

// How much smaller an error is than that of the best baseline.
function against(model, measure, metric) {
  const ours = value(model, metric, "model");
  const all = trivial(model, metric).filter(([, v]) => v !== null);
  if (all.length === 0 || ours === undefined) return {};
  const [name, best] = all.reduce((a, b) => (b[1] < a[1] ? b : a));
  const saved = 1 - ours / best;
  return best > 0 ? { note: `${share(Math.abs(saved))} ${saved < 0 ? "above" : "below"} ${words(name)}`, look: saved < 0 ? "bad" : "" } : {};
}

function counts(model, isAtWork) {
  const lag = value(model, "iln_consumer_lag_records");
  const drift = value(model, "iln_recent_error_ratio");
  const found = [
    { name: "Events", metric: "iln_events_total", format: count, note: isAtWork ? perSecond(model) : "" },
    { name: "Lag", metric: "iln_consumer_lag_records", format: count, note: lag === undefined ? "not a log" : "records behind the log" },
    { name: "Dead letters", metric: "iln_dead_letters_total", format: count, note: "not learned", look: unreadShare(model) < FEW ? "" : "bad" },
  ];
  const auc = value(model, "iln_probability_score", "roc_auc");
  if (auc !== undefined && model.calibration?.counts) {
    found.unshift({ name: "ROC AUC", metric: "iln_probability_score", value: auc, format: number, note: "0.5 is chance, 1 is perfect" });
  } else if (drift !== undefined) {
    found.splice(1, 0, { name: "Drift", metric: "iln_recent_error_ratio", format: number, ...(drifts(model) ? { note: "the stream has changed", look: "bad" } : { note: drift > CHANGED ? "usual at this hour" : "1 is steady" }) });
  }
  return found.map((f) => ({ value: value(model, f.metric), ...f }));
}

function perSecond(model) {
  const now = model.flow.at(-1)?.rate;
  return now === null || now === undefined ? "" : `${rate(now)} a second lately`;
}
