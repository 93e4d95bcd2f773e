// A chart of lines, dots and bands over a common x, with a legend that shows values, a cursor for
// pointer and keyboard, and a table of the same values.

import { drawn, element, repeat, setAttributes, setText } from "./dom.js";
import { number, stamp, tick } from "./format.js";
import * as paths from "./paths.js";
import { linear, logarithmic, rangeOf } from "./scale.js";
import { DataTable } from "./datatable.js";
import { Marks, marksAt } from "./marks.js";

const TOP = 8;
const BOTTOM = 20;
const RIGHT = 4;

export class Chart {
  // options: title; xName, formatX; formatY, formatTick; log; low, high (bounds of y); least (of the
  // upper bound); references (y of lines); height, the least if the card is higher.
  constructor(options) {
    this.options = { formatX: tick, formatY: number, formatTick: options.formatY ?? tick, ...options };
    this.chosen = null;
    this.isVisible = false; // charts out of sight are not drawn
    this.legend = element("ul", { class: "legend" });
    this.inner = drawn("svg", { overflow: "hidden" });
    this.grid = drawn("g");
    this.ticks = drawn("g");
    this.cursor = drawn("line", { class: "cursor", visibility: "hidden" });
    this.marks = new Marks();
    const svg = drawn("svg", { "aria-hidden": "true" }, this.grid, this.ticks, this.marks.lines, this.inner, this.marks.names, this.cursor);
    this.plot = element("div", {
      class: "plot", role: "slider", tabindex: 0, "aria-valuemin": 0, "aria-valuemax": 0, "aria-valuenow": 0, "aria-valuetext": "no data yet", "aria-describedby": this.marks.text.id,
    }, svg);
    if (options.height) this.plot.style.setProperty("--height", `${options.height}px`);
    this.table = new DataTable();
    this.name(options.title);
    this.node = element("figure", {}, this.legend, this.plot, this.marks.text, this.table.node);
    this.data = { x: [], series: [], marks: [] };
    this.axis = this.options;
    this.listen();
  }

  name(title) {
    setAttributes(this.plot, { "aria-label": `${title}: chart, read it with the arrow keys` });
    this.table.name(title);
  }

  // data: x, ascending; series: name, look (classes), kind (line, dots or band), y, and y0 of a band;
  // now: what the legend shows, by default the last value; marks: x, text, name and look of a line;
  // when: the time at an x, which the axis then shows.
  update({ marks = [], when, xName = this.options.xName, formatX = this.options.formatX, ...data }) {
    const { x } = data;
    this.axis = when ? { xName: "time", formatX: (v) => stamp(when(v)) } : { xName, formatX };
    this.data = { ...data, marks: marks.filter((m) => m.x >= x[0] && m.x <= x.at(-1)) };
    this.marks.describe(this.data.marks, this.axis);
    if (this.isVisible) this.draw();
    else this.drawCursor(); // the legend's values
    this.table.update(this.data, { ...this.options, ...this.axis });
  }

  listen() {
    const { plot } = this;
    new ResizeObserver(() => { if (this.isVisible) this.draw(); }).observe(plot);
    new IntersectionObserver((entries) => {
      this.isVisible = entries.at(-1).isIntersecting;
      if (this.isVisible) this.draw();
    }, { rootMargin: "200px" }).observe(plot);
    plot.addEventListener("pointermove", (event) => this.choose(this.nearest(event.offsetX)));
    plot.addEventListener("pointerleave", () => { if (document.activeElement !== plot) this.choose(null); });
    plot.addEventListener("blur", () => this.choose(null));
    plot.addEventListener("focus", () => { if (this.chosen === null) this.choose(this.data.x.length - 1); });
    plot.addEventListener("keydown", (event) => {
      const last = this.data.x.length - 1;
      const here = this.chosen ?? last;
      const jump = Math.max(1, Math.round(last / 10));
      const to = {
        ArrowLeft: here - 1, ArrowDown: here - 1, ArrowRight: here + 1, ArrowUp: here + 1,
        PageDown: here - jump, PageUp: here + jump, Home: 0, End: last, Escape: null,
      }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      this.choose(to === null ? null : Math.min(last, Math.max(0, to)));
    });
  }

  nearest(pixel) {
    const { xs } = this;
    if (!xs || xs.length === 0) return null;
    let best = 0;
    for (let i = 1; i < xs.length; i += 1) if (Math.abs(xs[i] - pixel) < Math.abs(xs[best] - pixel)) best = i;
    return best;
  }

  choose(index) {
    this.chosen = index !== null && index >= 0 ? index : null;
    this.drawCursor();
  }

  draw() {
    const { clientWidth: width, clientHeight: height } = this.plot;
    const { x, series } = this.data;
    if (width === 0 || height === 0) return;
    const { log, low, high, least, references = [], formatTick } = this.options;
    const { formatX, xName } = this.axis;
    const room = xName === "time" ? 36 : 18; // half a label, about
    const range = rangeOf(series.flatMap((s) => (s.kind === "band" ? [s.y0, s.y] : [s.y])), log);
    const isLog = log && range !== null;
    let [bottom, top] = range ?? [0, 1];
    [bottom, top] = [Math.min(bottom, ...references), Math.max(top, ...references)];
    if (isLog) { bottom = Math.max(bottom, top / 1000) / 1.08; top *= 1.08; } else { const pad = (top - bottom) * 0.06; bottom -= pad; top += pad; }
    bottom = low ?? bottom;
    top = high ?? Math.max(top, least ?? -Infinity);
    const y = (isLog ? logarithmic : linear)(bottom, top, height - BOTTOM, TOP);
    const yTicks = range === null ? [] : y.ticks(height > 200 ? 5 : 4);
    const labels = yTicks.map(formatTick);
    if (this.options.unit && labels.length > 0) labels.push(`${labels.pop()} ${this.options.unit}`);
    const left = 8 + 6.8 * Math.max(2, ...labels.map((text) => text.length));
    const across = linear(x[0] ?? 0, x.at(-1) ?? 1, left, width - RIGHT);
    this.xs = x.map(across.at);
    this.left = left;
    setAttributes(this.inner, { x: left - 2, y: TOP - 4, width: width - left + 2, height: height - BOTTOM - TOP + 8, viewBox: `${left - 2} ${TOP - 4} ${width - left + 2} ${height - BOTTOM - TOP + 8}` });
    const lines = yTicks.map((v) => [v, "gridline"]);
    if (range !== null) lines.push(...references.map((v) => [v, "reference"]));
    repeat(this.grid, lines, () => drawn("line"), (node, [v, look]) => {
      setAttributes(node, { class: look, x1: left, x2: width - RIGHT, y1: y.at(v), y2: y.at(v) });
    });
    const n = x.length > 1 ? Math.max(2, Math.floor((width - left) / (room * 3))) : 0;
    const even = () => Array.from({ length: n }, (_, i) => x[Math.floor(((i + 0.5) * x.length) / n)]);
    const xTicks = xName === "time" ? even() : n ? fewer(across.ticks(n), across, left, width - room) : [];
    const texts = [
      ...yTicks.map((v, i) => ({ x: left - 8, y: y.at(v) + 4, anchor: "end", text: labels[i] })),
      ...xTicks.map((v) => ({ x: across.at(v), y: height - 3, anchor: "middle", text: formatX(v) })),
    ];
    repeat(this.ticks, texts, () => drawn("text", { class: "tick" }), (node, t) => {
      setAttributes(node, { x: t.x, y: t.y, "text-anchor": t.anchor });
      setText(node, t.text);
    });
    const place = (values) => values.map((v) => (v === null || !Number.isFinite(v) || (isLog && v <= 0) ? null : y.at(v)));
    // The first series is drawn last, above the others.
    repeat(this.inner, series.toReversed(), () => drawn("path"), (node, s) => {
      const kind = s.kind ?? "line";
      const d = kind === "band" ? paths.band(this.xs, place(s.y0), place(s.y)) : paths[kind](this.xs, place(s.y));
      setAttributes(node, { class: `${{ line: "mark", dots: "dots", band: "band" }[kind]} ${s.look}`, d });
    });
    this.marks.draw(this.data.marks.map((m) => ({ ...m, at: across.at(m.x) })), { left, right: width - RIGHT, top: TOP, bottom: height - BOTTOM });
    this.drawCursor();
  }

  drawCursor() {
    const { x, series, marks } = this.data;
    const { xName, formatX } = this.axis;
    const { formatY } = this.options;
    setAttributes(this.plot, { "aria-valuemax": Math.max(0, x.length - 1) });
    const chosen = this.chosen === null ? null : Math.min(this.chosen, x.length - 1);
    const index = chosen ?? x.length - 1;
    const shown = series.filter((s) => s.name);
    const items = shown.map((s) => {
      const value = chosen === null && s.now !== undefined ? s.now : (s.shown ?? s.y)[index] ?? NaN;
      return { s, text: value === null ? "" : (s.format ?? formatY)(value) };
    });
    if (chosen !== null && index >= 0) {
      const here = marksAt(marks, x, index, 1).map((m) => ({ s: null, text: m.text }));
      items.unshift({ s: null, text: `${xName} ${formatX(x[index])}` }, ...here);
    }
    repeat(this.legend, items, legendItem, (node, { s, text }) => {
      const [swatch, name, value] = node.children;
      swatch.toggleAttribute("hidden", s === null);
      if (s !== null) setAttributes(swatch.firstElementChild, { class: `${s.kind === "band" ? "band" : s.kind === "dots" ? "dots" : "mark"} ${s.look}`, d: s.kind === "band" ? "M0 0h14v8h-14z" : s.kind === "dots" ? "M7 4h0" : "M1 4h12" });
      setText(name, s === null ? "" : s.name);
      setText(value, text);
    });
    const isOn = chosen !== null && index >= 0;
    setAttributes(this.cursor, { visibility: isOn ? "visible" : "hidden" });
    if (isOn) {
      const at = this.xs?.[index] ?? 0;
      setAttributes(this.cursor, { x1: at, x2: at, y1: TOP, y2: this.plot.clientHeight - BOTTOM });
      setAttributes(this.plot, {
        "aria-valuenow": index,
        "aria-valuetext": items.map(({ s, text }) => (s === null ? text : `${s.name} ${text}`)).join(", "),
      });
    }
  }
}

function legendItem() {
  const swatch = drawn("svg", { class: "swatch", viewBox: "0 0 14 8", "aria-hidden": "true" }, drawn("path"));
  return element("li", {}, swatch, element("span", { class: "name" }), element("span", { class: "value" }));
}

// Ticks whose label would be cut off are left out.
function fewer(ticks, scale, left, width) {
  return ticks.filter((v) => scale.at(v) > left + 14 && scale.at(v) < width);
}
