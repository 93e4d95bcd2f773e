// The latest events, dead letters and checkpoints.

import { Card } from "./card.js";
import { element } from "./dom.js";
import { bytes, count, duration, label, moment, percent } from "./format.js";
import { seriesOf, verdict } from "./predictions.js";
import { Table } from "./table.js";
import { isClassification } from "./task.js";

const LATEST = 10;

export class List {
  constructor(id, title, note, span, columns, empty) {
    this.table = new Table(title, columns);
    this.empty = element("p", { class: "empty" }, empty);
    this.card = new Card(id, title, note, span, this.table.node, this.empty);
    this.node = this.card.node;
  }

  fill(rows) {
    this.card.show(true);
    this.table.node.toggleAttribute("hidden", rows.length === 0);
    this.empty.toggleAttribute("hidden", rows.length > 0);
    this.table.update(rows);
  }
}

const WHICH = [
  { name: "Series", isOptional: true },
  { name: "Id", look: "only-wide", isOptional: true },
  { name: "Label", look: "number" },
  { name: "Prediction", look: "number" },
];

export class Events extends List {
  constructor() {
    super("events", "Latest events", "The newest first.", 8, [
      { name: "Time (UTC)", look: "nowrap" },
      { name: "Offset", look: "only-wide nowrap" },
      ...WHICH,
      { name: "Error", look: "number" },
      { name: "Note", isOptional: true },
    ], "No event yet.");
  }

  update(model) {
    const classes = isClassification(model);
    this.fill(model.steps.slice(-LATEST).reverse().map((s) => [
      moment(s.time ?? NaN), place(s), seriesOf(s), s.id ?? "–", label(s.y),
      classes ? `${label(s.y_pred)} ${percent(s.p ?? NaN)}` : label(s.y_pred),
      classes ? rightOrWrong(s) : label(s.y === null ? null : Math.abs(s.y - s.y_pred)),
      [...s.flags, s.late ? `late${s.delay === null ? "" : `, ${duration(s.delay)}`}` : "", s.y === null ? "no label yet" : ""].filter(Boolean).join(", "),
    ]));
  }
}

export class WorstEvents extends List {
  constructor() {
    super("worst-events", "Worst predictions", "Of the latest 256 events, the largest errors.", 4, [
      { name: "Time (UTC)", look: "nowrap" },
      ...WHICH,
    ], "");
  }

  update(model) {
    const classes = isClassification(model);
    const found = model.steps.filter((s) => s.y !== null && (classes ? verdict(s) === "wrong" : Number.isFinite(s.y_pred)));
    const size = (s) => (classes ? s.p ?? 1 : Math.abs(s.y - s.y_pred));
    this.fill(found.toSorted((a, b) => size(b) - size(a)).slice(0, LATEST).map((s) => [
      moment(s.time ?? NaN), seriesOf(s), s.id ?? "–", label(s.y), classes ? `${label(s.y_pred)} ${percent(s.p ?? NaN)}` : label(s.y_pred),
    ]));
    this.card.show(found.length > 0);
  }
}

export class Letters extends List {
  constructor() {
    super("letters", "Dead letters", "Records that could not be learned, with the reason.", 12, [
      { name: "Offset", look: "nowrap" },
      { name: "Reason", look: "reason" },
      { name: "Record", look: "payload only-wide" },
    ], "");
  }

  update(model) {
    this.fill(model.dead_letters.slice(-LATEST).reverse().map((d) => [place(d), d.reason, d.payload ?? ""]));
    this.card.show(model.dead_letters.length > 0);
  }
}

export class Checkpoints extends List {
  constructor() {
    super("checkpoints", "Checkpoints", "From which a run goes on after a crash.", 4, [
      { name: "Time (UTC)", look: "nowrap" },
      { name: "Offset", look: "number" },
      { name: "Size", look: "number" },
      { name: "Took", look: "number" },
    ], "None: without --snapshots, a run starts over.");
  }

  update(model) {
    this.fill(model.checkpoints.slice(-LATEST).reverse().map((c) => [moment(c.time ?? NaN), positions(c.positions), bytes(c.bytes), duration(c.seconds)]));
  }
}

export class WorstSeries extends List {
  constructor() {
    super("worst-series", "Worst series", "Mean |error| of the last 100 labels, as a share of their mean size.", 3, [{ name: "Series" }, { name: "Error", look: "number" }, { name: "Labels", look: "number" }], "");
  }

  update(model) {
    const worst = model.worst_series ?? [];
    this.fill(worst.map((s) => [s.series.join(", "), percent(s.error), count(s.labels)]));
    this.card.show(worst.length > 0);
  }
}

// The offset of a record; in a log of several partitions with the partition before it.
function place({ partition, offset }) {
  return `${partition < 0 ? "label " : partition > 0 ? `${partition}:` : ""}${count(offset)}`;
}

function positions(found) {
  const all = Object.entries(found ?? {});
  if (all.length === 1) return count(all[0][1]);
  return all.map(([partition, offset]) => `${partition}:${count(offset)}`).join(" ");
}

function rightOrWrong(step) {
  const text = { open: "–", right: "right", wrong: "wrong" }[verdict(step)];
  return { text, look: text === "wrong" ? "is-wrong" : "" };
}
