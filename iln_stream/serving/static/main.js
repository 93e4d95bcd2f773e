// Connects the stream of changes to the views. Draws at most once a frame, and not while hidden.

import { element, setAttributes } from "./dom.js";
import { Errors } from "./errors.js";
import { Experts } from "./experts.js";
import { Figures } from "./figures.js";
import { Delay, Lag, Rate } from "./flow.js";
import { Inputs } from "./inputs.js";
import { Checkpoints, Events, Letters, WorstSeries } from "./lists.js";
import { Predictions } from "./predictions.js";
import { alpha, drift, shrinks } from "./small.js";
import { Standings } from "./standings.js";
import { Status } from "./status.js";
import { Store } from "./store.js";
import { connect } from "./stream.js";
import { Title } from "./title.js";
import { Verdict } from "./verdict.js";

const store = new Store();
const status = new Status();
const title = new Title(schedule);
const verdict = new Verdict();
const figures = new Figures();
const large = [
  new Predictions(), new Standings(),
  new Errors("windowed", 0), new Errors("running", 0), new Errors("windowed", 1), new Errors("running", 1),
  new Experts(), new Inputs(), drift(),
];
const small = [new Rate(), new Lag(), new Delay(), shrinks(), alpha()];
const lists = [new Events(), new Checkpoints(), new WorstSeries(), new Letters()];
const cards = [...large, ...small, ...lists];
const nodes = (some) => some.map((card) => card.node);
const grid = document.getElementById("cards");
grid.append(...nodes(large), element("div", { class: "row" }, ...nodes(small)), ...nodes(lists));

let isConnected = true;
let isScheduled = false;

function schedule() {
  if (isScheduled) return;
  isScheduled = true;
  requestAnimationFrame(draw);
}

function draw() {
  isScheduled = false;
  status.update(store, isConnected);
  const model = title.model(store);
  if (!model) return;
  title.update(store, model);
  setAttributes(grid, { "data-contest": String(model.contenders.length > 0) });
  verdict.update(model, store.run, isConnected && store.page.state === "reached");
  figures.update(model, store.isAtWork && isConnected);
  for (const card of cards) card.update(model);
}

connect(
  (message) => {
    store.apply(message);
    schedule();
  },
  (isHeard) => {
    if (isHeard !== isConnected) {
      isConnected = isHeard;
      schedule();
    }
  },
);
