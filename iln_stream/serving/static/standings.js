// Champion, challengers and baselines in one table, with the evidence for each challenger.

import { Card } from "./card.js";
import { drawn, element, repeat, setAttributes, setText } from "./dom.js";
import { count, number, signed, words } from "./format.js";
import { value } from "./store.js";
import { axisOf, colour, learnerName, measures, trivial } from "./task.js";

const MIDDLE = 60;
const REACH = 58;

export class Standings {
  constructor() {
    this.evidenceHead = element("th", { scope: "col" }, "Evidence");
    this.runningHead = element("th", { scope: "col", class: "number only-wide" });
    this.body = element("tbody");
    const heads = [
      element("th", { scope: "col" }, "Who"),
      element("th", { scope: "col", class: "number" }, "Windowed"),
      this.runningHead,
      this.evidenceHead,
    ];
    const table = element("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Who predicts best, as a table" },
      element("table", {}, element("caption", { class: "visually-hidden" }, "Who predicts best"),
        element("thead", {}, element("tr", {}, ...heads)), this.body));
    this.card = new Card("standings", "", "", 5, table);
    this.node = this.card.node;
  }

  update(model) {
    this.card.show(true);
    const isContest = model.contenders.length > 0;
    const [measure] = measures(model);
    this.card.name("Who predicts best", isContest
      ? `${axisOf(model, measure)}; lifetime: since it joined. Evidence: an interval for how much lower a challenger's loss is than the champion's; right of zero, it is better. To decide takes hundreds of events.`
      : `${axisOf(model, measure)}; baselines look at no input.`);
    setText(this.runningHead, isContest ? "Lifetime" : "Running");
    this.evidenceHead.toggleAttribute("hidden", !isContest);
    const rows = [...(isContest ? contest(model, measure) : alone(model, measure)), ...baselineRows(model, measure)];
    const bound = Math.max(0.02, ...model.contenders.flatMap((c) => [Math.abs(c.lower ?? 0), Math.abs(c.upper ?? 0)]));
    repeat(this.body, rows, makeRow, (row, r) => updateRow(row, r, isContest, bound));
  }
}

function contest(model, measure) {
  const champion = model.contenders.find((c) => c.status === "champion")?.[measure.standing("windowed")];
  return model.contenders.map((c) => ({
    champion,
    name: c.name, sub: (c.version ?? "").slice(0, 8), key: colour(model, c.name), badge: c.status === "challenger" ? null : c.status,
    windowed: c[measure.standing("windowed")], running: c[measure.standing("running")], contender: c,
  }));
}

function alone(model, measure) {
  return [{
    name: learnerName(model), sub: "", key: colour(model), badge: null,
    windowed: value(model, measure.windowed, "model"), running: value(model, measure.running, "model"),
  }];
}

function baselineRows(model, measure) {
  return trivial(model, measure.windowed).map(([name, windowed]) => ({
    name: words(name), sub: "", key: "quiet", isBaseline: true, badge: null,
    windowed, running: value(model, measure.running, name),
  }));
}

function makeRow() {
  const svg = drawn("svg", { class: "evidence", viewBox: "0 0 120 12", preserveAspectRatio: "none", "aria-hidden": "true" },
    drawn("line", { class: "axis", x1: 0, x2: 120, y1: 6, y2: 6 }),
    drawn("line", { class: "interval", y1: 6, y2: 6 }),
    drawn("line", { class: "zero", x1: MIDDLE, x2: MIDDLE, y1: 0, y2: 12 }));
  const who = element("th", { scope: "row" }, element("span", { class: "key", "aria-hidden": "true" }), element("span"), " ",
    element("span", { class: "badge" }), " ", element("span", { class: "sub" }),
    element("details", { class: "failed" }, element("summary"), element("p")));
  return element("tr", {}, who, element("td", { class: "number" }), element("td", { class: "number only-wide" }),
    element("td", { class: "judged" }, svg, element("span", { class: "sub" })));
}

function updateRow(row, r, isContest, bound) {
  const [who, windowed, running, evidence] = row.children;
  const [key, name, badge, sub, failed] = who.children;
  setAttributes(key, { class: `key ${r.key}` });
  setText(name, r.name);
  setText(badge, r.badge ?? "");
  badge.toggleAttribute("hidden", r.badge === null);
  setAttributes(badge, { class: `badge ${r.badge === "out" ? "out" : ""}` });
  setText(sub, r.sub);
  const { n_failures: failures, last_failure: reason } = r.contender ?? {};
  failed.toggleAttribute("hidden", !failures);
  setText(failed.firstElementChild, `${count(failures)} failed: ${reason?.split(":")[0]}`);
  setText(failed.lastElementChild, reason ?? "");
  setAttributes(name, { class: r.isBaseline ? "muted" : null });
  setText(windowed, number(r.windowed ?? NaN));
  setText(running, number(r.running ?? NaN));
  evidence.toggleAttribute("hidden", !isContest);
  const { lower, upper, status } = r.contender ?? {};
  // From -1 to 1 is all that a difference can be: nothing is known yet.
  const isCompared = status === "challenger" && (lower > -1 || upper < 1) && lower !== null;
  const verdict = !isCompared ? "" : lower > 0 ? "better" : upper < 0 ? "worse" : "undecided";
  const [svg, text] = evidence.children;
  svg.toggleAttribute("hidden", !isCompared);
  setAttributes(svg, { class: `evidence ${verdict}` });
  if (isCompared) {
    const [low, high] = [lower, upper].map((v) => MIDDLE + (v / bound) * REACH);
    setAttributes(svg.children[1], { x1: low, x2: Math.max(high, low + 1.5) });
  }
  setText(text, isCompared ? `${signed(lower)} to ${signed(upper)}, ${verdict}` : status === "challenger" ? soFar(r) : "");
}

// Before the interval says anything.
function soFar({ windowed, champion }) {
  if (!Number.isFinite(windowed) || !Number.isFinite(champion)) return "none yet";
  return `undecided: ${windowed < champion ? "better" : windowed > champion ? "worse" : "the same"} so far, needs more events`;
}
