// The state of the learner as the browser knows it: bounded, whatever arrives.

const STEPS = 256;
const MOMENTS = 600;

export class Store {
  constructor() {
    this.page = { state: "connecting" };
    this.run = null;
    this.models = new Map();
  }

  get isAtWork() {
    return this.page.state === "reached" && ["learning", "idle"].includes(this.run?.state);
  }

  apply(message) {
    if (message.whole) this.models.clear();
    if (message.page) this.page = message.page;
    if (message.run) this.run = message.run;
    for (const [key, parts] of Object.entries(message.models)) {
      if (!this.models.has(key)) {
        this.models.set(key, { key, steps: [], flow: [], ...points(), recent: points() });
      }
      update(this.models.get(key), parts);
    }
  }
}

const points = () => ({ events: [], series: new Map() });

function update(model, { steps, flow, curves, recent, ...whole }) {
  Object.assign(model, whole);
  if (steps) model.steps = [...model.steps, ...steps].slice(-STEPS);
  if (flow) model.flow = [...model.flow, ...flow].slice(-MOMENTS);
  if (curves) extend(model, curves);
  if (recent) extend(model.recent, recent);
}

// Points of curves: the last `kept` of those known stay, new ones follow.
function extend(model, { kept, events, series }) {
  const tail = (list) => (kept > 0 ? list.slice(-kept) : []);
  model.events = [...tail(model.events), ...events];
  const known = model.series;
  model.series = new Map();
  for (const [metric, ...rest] of series) {
    const points = rest.pop();
    const [name = ""] = rest;
    const before = tail(known.get(metric)?.get(name) ?? []);
    if (!model.series.has(metric)) model.series.set(metric, new Map());
    model.series.get(metric).set(name, [...before, ...points]);
  }
}

// The points of a metric's curve, ending in its present value.
export function curve(model, metric, name = "") {
  const points = model.series.get(metric)?.get(name);
  if (!points) return null;
  return [...points, value(model, metric, name) ?? null];
}

// Numbers of events, to which the points of `curve` belong.
export function eventsOf(model) {
  const last = model.events.at(-1) ?? 0;
  return [...model.events, Math.max(last, model.metrics.iln_events_total ?? last)];
}

export function value(model, metric, name = "") {
  const found = model.metrics[metric];
  if (found === null || found === undefined) return undefined;
  return typeof found === "object" ? found[name] : found;
}

export function names(model, metric) {
  return [...(model.series.get(metric)?.keys() ?? [])];
}
