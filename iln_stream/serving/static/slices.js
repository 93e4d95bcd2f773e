// Hours, weekdays and values of fields whose errors are larger than the average.

import { count, number, share } from "./format.js";
import { List } from "./lists.js";
import { axisOf, measures } from "./task.js";

export class Slices extends List {
  constructor() {
    super("slices", "Where the errors are", "", 3, [{ name: "Where" }, ...["Error", "Above", "Labels"].map((name) => ({ name, look: "number" }))], "");
  }

  update(model) {
    const { slices } = model;
    const [measure] = measures(model);
    this.card.name("Where the errors are", slices?.worst ? `${axisOf(model, measure)} of the latest ${count(slices.n)} labels: ${number(slices.error)}. Larger, by more than chance:` : "");
    this.fill((slices?.worst ?? []).map((s) => [`${s.field} ${s.value}`, number(s.error), `+${share(s.error / slices.error - 1)}`, count(s.n)]));
    this.card.show(slices?.worst?.length > 0);
  }
}
