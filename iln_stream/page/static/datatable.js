// The values of a chart as a table, made only while it is open: the newest first.

import { element, repeat, setText } from "./dom.js";

const MOST = 40;

export class DataTable {
  constructor(title) {
    this.head = element("tr");
    this.body = element("tbody");
    const table = element("table", {},
      element("caption", { class: "visually-hidden" }, `${title}, the newest first`),
      element("thead", {}, this.head), this.body);
    const scroll = element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `${title} as a table` }, table);
    this.node = element("details", {}, element("summary", {}, "Table"), scroll);
    this.node.addEventListener("toggle", () => this.draw());
  }

  update(data, options) {
    this.data = data;
    this.options = options;
    this.draw();
  }

  draw() {
    const isOpen = this.node.open && this.data;
    const shown = isOpen ? this.data.series.filter((s) => s.name) : [];
    const { xName = "", formatX, formatY } = this.options ?? {};
    const names = isOpen ? [xName, ...shown.map((s) => s.name)] : [];
    repeat(this.head, names, () => element("th", { scope: "col", class: "number" }), setText);
    const rows = [];
    if (isOpen) {
      const { x } = this.data;
      const stride = Math.max(1, Math.ceil(x.length / MOST));
      for (let i = x.length - 1; i >= 0; i -= stride) {
        rows.push([formatX(x[i]), ...shown.map((s) => (s.format ?? formatY)((s.shown ?? s.y)[i] ?? NaN))]);
      }
    }
    repeat(this.body, rows, () => element("tr"), (row, texts) => {
      repeat(row, texts, () => element("td", { class: "number" }), setText);
    });
  }
}
