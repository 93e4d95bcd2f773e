// The first minute: what has been done before the first event, and what comes next.

import { element, repeat, setAttributes, setText } from "./dom.js";

export class Stepper {
  constructor() {
    this.node = element("ol", { class: "steps" });
  }

  update({ run }, hasBegun) {
    this.node.toggleAttribute("hidden", hasBegun);
    const state = run?.state ?? "";
    const [done] = /\d+ of about \d+/.exec(state) ?? [""];
    const now = run === null ? 0 : state.includes("compiling") ? 1 : 2;
    const steps = [
      ["Connected", "to the learner"],
      [now > 1 ? "Compiled" : "Compiling", done ? `${done} loops, once per machine` : "once per machine"],
      ["Learning", "begins by itself with the first event"],
    ];
    repeat(this.node, steps, step, (node, [name, more], i) => {
      setAttributes(node, { "data-step": i < now ? "done" : i === now ? "now" : "next", "aria-current": i === now ? "step" : null });
      setText(node.firstElementChild, name);
      setText(node.lastElementChild, more);
    });
  }
}

const step = () => element("li", {}, element("strong"), " ", element("span", { class: "muted" }));
