// Which model is shown, and how to choose another.

import { element, repeat, setAttributes, setText } from "./dom.js";
import { unitOf } from "./task.js";

export class Title {
  constructor(onChoice) {
    this.name = document.getElementById("model-name");
    this.facts = document.getElementById("model-facts");
    this.chooser = document.getElementById("chooser");
    this.select = document.getElementById("model");
    this.chosen = decodeURIComponent(location.hash.slice(1));
    this.select.addEventListener("change", () => {
      this.chosen = this.select.value;
      history.replaceState(null, "", `#${encodeURIComponent(this.chosen)}`);
      onChoice();
    });
  }

  // The model to show; undefined: none yet.
  model(store) {
    const keys = store.run?.models ?? [];
    const known = keys.filter((key) => store.models.has(key));
    return store.models.get(known.includes(this.chosen) ? this.chosen : known[0]);
  }

  update(store, model) {
    const keys = store.run.models;
    this.chooser.toggleAttribute("hidden", keys.length < 2);
    repeat(this.select, keys, () => element("option"), (option, key) => {
      setAttributes(option, { value: key });
      setText(option, named(store.models.get(key), keys.length));
    });
    if (this.select.value !== model.key) this.select.value = model.key;
    const { head } = model;
    const name = head.target ?? head.model;
    const unit = unitOf(model);
    setText(this.name, unit ? `${name} in ${unit}` : name);
    document.title = `${name} · iln_stream`;
    const facts = [head.target ? head.model : "", head.task, head.model.includes(head.learner) ? "" : `learner ${head.learner}`, `from ${head.source}`,
      head.partition === "0" ? "" : `partition ${head.partition}`, `iln_stream ${store.run.release}`];
    setText(this.facts, facts.filter(Boolean).join(" · "));
  }
}

function named(model) {
  return model ? `${model.head.model}, partition ${model.head.partition}` : "";
}
