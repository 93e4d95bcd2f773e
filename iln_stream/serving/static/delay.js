// Late and missing labels.

import { count, duration, sum } from "./format.js";
import { List } from "./lists.js";
import { value } from "./store.js";

export class Delay extends List {
  constructor() {
    super("delay", "Late labels", "", 3, [{ name: "What" }, { name: "Now", look: "number" }], "");
  }

  update(model) {
    const late = model.steps.filter((s) => s.late);
    const sorted = late.map((s) => s.delay).filter((v) => v !== null).sort((a, b) => a - b);
    const waiting = value(model, "iln_pending_events");
    const expired = sum(Object.values(model.metrics.iln_pending_expired_total ?? {}));
    const unmatched = value(model, "iln_labels_refused_total", "no_event") ?? 0;
    this.fill([
      ["Median delay, lately", sorted.length > 0 && duration(sorted[sorted.length >> 1])],
      ["Events that wait", waiting !== undefined && count(waiting)],
      ["Events that expired", expired > 0 && count(expired)],
      ["Labels without an event", unmatched > 0 && count(unmatched)],
    ].filter(([, text]) => text));
    // Forecasts, whose delay is the horizon, have no ids.
    this.card.show(expired + unmatched > 0 || (late.length ? late.some((s) => s.id !== null) : waiting !== undefined));
  }
}
