// What the learner does now, in one line; how old the data are if it can't be reached.

import { setAttributes, setText } from "./dom.js";
import { clock } from "./format.js";

export class Status {
  constructor() {
    this.node = document.getElementById("status");
    this.text = document.getElementById("status-text");
    this.lostAt = null;
  }

  update(store, isConnected) {
    if (isConnected) this.lostAt = null;
    else this.lostAt ??= Date.now() / 1000;
    const [state, text] = this.now(store);
    setAttributes(this.node, { "data-state": state });
    setText(this.text, text);
    setAttributes(document.body, { "data-stale": state === "gone" ? "true" : null });
  }

  now({ page, run }) {
    if (this.lostAt !== null) return ["gone", `This page's server can't be reached since ${clock(this.lostAt)}`];
    if (page.state === "gone") {
      return run?.state === "ended"
        ? ["ended", `Ended at ${clock(page.since)}`]
        : ["gone", `The learner can't be reached since ${clock(page.since)}`];
    }
    if (page.state !== "reached" || run === null) return ["connecting", "Connecting"];
    if (run.state.includes("compiling")) return ["connecting", "Getting ready"];
    if (run.state === "learning") return ["learning", "Learning"];
    if (run.state === "idle") return ["idle", "Up to date, waits for events"];
    if (run.state === "ended") return ["ended", "Ended"];
    const text = run.state.replace(/^waiting: /, "");
    return ["waiting", text.charAt(0).toUpperCase() + text.slice(1)];
  }
}

export const isPreparing = (run) => /compiling|learning the history|warming up/.test(run.state);
