// The values of a chart as a table, made only while it is open: the newest first.

import { element, repeat, setAttributes, setText } from "./dom.js";
import { marksAt } from "./marks.js";

const MOST = 40;

export class DataTable {
  constructor() {
    this.head = element("tr");
    this.body = element("tbody");
    this.caption = element("caption", { class: "visually-hidden" });
    const table = element("table", {},
      this.caption,
      element("thead", {}, this.head), this.body);
    this.scroll = element("div", { class: "scroll", tabindex: 0, role: "region" }, table);
    this.node = element("details", {}, element("summary", {}, "Table"), this.scroll);
    this.node.addEventListener("toggle", () => this.draw());
  }

  name(title) {
    setText(this.caption, `${title}, the newest first`);
    setAttributes(this.scroll, { "aria-label": `${title} as a table` });
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
    const marks = isOpen ? this.data.marks : [];
    const noted = marks.length > 0 ? ["note"] : [];
    const names = isOpen ? [xName, ...shown.map((s) => s.name), ...noted] : [];
    repeat(this.head, names, () => element("th", { scope: "col", class: "number" }), setText);
    const rows = [];
    if (isOpen) {
      const { x } = this.data;
      const stride = Math.max(1, Math.ceil(x.length / MOST));
      for (let i = x.length - 1; i >= 0; i -= stride) {
        const note = noted.map(() => marksAt(marks, x, i, stride).map((m) => m.text).join(", "));
        rows.push([formatX(x[i]), ...shown.map((s) => (s.format ?? formatY)((s.shown ?? s.y)[i] ?? NaN)), ...note]);
      }
    }
    repeat(this.body, rows, () => element("tr"), (row, texts) => {
      repeat(row, texts, () => element("td", { class: "number" }), setText);
    });
  }
}
