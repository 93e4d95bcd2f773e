// A titled box of the page.

import { element, setText } from "./dom.js";

export class Card {
  constructor(id, title, note, span, ...content) {
    this.title = element("h2", { id: `${id}-title` }, title);
    this.note = element("p", {}, note);
    this.node = element("section", { class: `card span-${span}`, id, "aria-labelledby": `${id}-title`, hidden: "" },
      element("header", {}, this.title, this.note), ...content);
  }

  show(isShown) {
    this.node.toggleAttribute("hidden", !isShown);
    return isShown;
  }

  // Puts a switch beside the heading.
  tool(node) {
    this.node.firstElementChild.append(node);
  }

  name(title, note) {
    setText(this.title, title);
    setText(this.note, note);
  }
}
