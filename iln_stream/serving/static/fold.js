// Cards behind a heading, which one opens: always, or on narrow screens only.

import { element } from "./dom.js";

export class Fold {
  // narrow: a media query; where it does not hold, the cards are shown without a heading.
  constructor(title, cards, narrow) {
    this.cards = cards;
    this.node = element("details", { class: `fold${narrow ? " narrow" : ""}` },
      element("summary", {}, element("h2", {}, title)), element("div", { class: "grid" }, ...cards));
    if (!narrow) return;
    const media = matchMedia(narrow);
    const follow = () => { this.node.open = !media.matches; };
    media.addEventListener("change", follow);
    follow();
  }

  update() {
    this.node.toggleAttribute("hidden", this.cards.every((card) => card.hasAttribute("hidden")));
  }
}
