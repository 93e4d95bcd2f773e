// Connects the stream of changes to the views. Draws at most once a frame, and not while hidden.

import { setAttributes } from "./dom.js";
import { Delay } from "./delay.js";
import { Errors } from "./errors.js";
import { Experts } from "./experts.js";
import { Figures } from "./figures.js";
import { Inputs } from "./inputs.js";
import { Fold } from "./fold.js";
import { Checkpoints, Events, Letters, WorstEvents, WorstSeries } from "./lists.js";
import { Predictions } from "./predictions.js";
import { Calibration } from "./calibration.js";
import { Slices } from "./slices.js";
import { Threshold } from "./threshold.js";
import { alpha, drift, shrinks } from "./small.js";
import { Standings } from "./standings.js";
import { Status } from "./status.js";
import { Stepper } from "./stepper.js";
import { Store } from "./store.js";
import { connect } from "./stream.js";
import { Title } from "./title.js";
import { Verdict } from "./verdict.js";

const store = new Store();
const status = new Status();
const title = new Title(schedule);
const verdict = new Verdict();
const figures = new Figures();
const first = [new Predictions(), new Standings(), new Inputs()];
const more = [
  new Calibration(), new Errors("windowed", 0), new Errors("windowed", 1), new Threshold(),
  new Slices(), new Delay(), new WorstSeries(), new Events(), new WorstEvents(), new Letters(),
];
const details = [new Errors("running", 0), new Errors("running", 1), new Experts(), drift(), shrinks(), alpha(), new Checkpoints()];
const cards = [...first, ...more, ...details];
const nodes = (some) => some.map((card) => card.node);
const grid = document.getElementById("cards");
const folds = [
  new Fold("More", nodes(more), "(max-width: 720px)"), // on a telephone only
  new Fold("Details: all events, experts, drift, Algorithm 1, checkpoints", nodes(details)),
];
const stepper = new Stepper();
grid.before(stepper.node);
grid.append(...nodes(first));
grid.after(...folds.map((fold) => fold.node));

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
  const begun = Boolean(model) && (model.steps.length > 0 || model.dead_letters.length > 0);
  stepper.update(store, begun);
  figures.node.toggleAttribute("hidden", !begun);
  if (!model) return;
  title.update(store, model);
  setAttributes(grid, { "data-contest": String(model.contenders.length > 0) });
  verdict.update(model, store.run, isConnected && store.page.state === "reached");
  figures.update(model, store.isAtWork && isConnected);
  for (const card of cards) {
    card.update(model);
    if (!begun) card.node.toggleAttribute("hidden", true);
  }
  for (const fold of folds) fold.update();
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
