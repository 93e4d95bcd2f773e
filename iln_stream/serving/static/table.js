// A table whose rows are updated in place.

import { element, repeat, setAttributes, setText } from "./dom.js";

export class Table {
  // columns: name, look (classes), isOptional (hidden while empty).
  constructor(caption, columns) {
    this.columns = columns;
    this.heads = columns.map((c) => element("th", { scope: "col", class: c.look ?? "" }, c.name));
    this.body = element("tbody");
    this.node = element("div", { class: "wide", tabindex: 0, role: "region", "aria-label": `${caption}, as a table` },
      element("table", {}, element("caption", { class: "visually-hidden" }, caption),
        element("thead", {}, element("tr", {}, ...this.heads)), this.body));
  }

  // rows: a text for each column, or { text, look }.
  update(rows) {
    const { columns } = this;
    const isHidden = columns.map((c, i) => Boolean(c.isOptional) && rows.every((cells) => ["", "–"].includes(cells[i])));
    this.heads.forEach((head, i) => head.toggleAttribute("hidden", isHidden[i]));
    const make = () => element("tr", {}, ...columns.map((c) => element("td", { class: c.look ?? "" })));
    repeat(this.body, rows, make, (row, cells) => {
      cells.forEach((cell, i) => {
        const { text, look } = typeof cell === "string" ? { text: cell, look: "" } : cell;
        setText(row.children[i], text);
        row.children[i].toggleAttribute("hidden", isHidden[i]);
        setAttributes(row.children[i], { class: `${columns[i].look ?? ""} ${look}`.trim() });
      });
    });
  }
}
