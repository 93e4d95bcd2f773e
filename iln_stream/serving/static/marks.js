// Vertical lines in a chart where something happened, with a name each, and the same as text.

import { drawn, element, repeat, setAttributes, setText } from "./dom.js";

const LONGEST = 18;
const LETTER = 6.6; // pixels, about

let made = 0;

export class Marks {
  constructor() {
    made += 1;
    this.lines = drawn("g");
    this.names = drawn("g");
    this.text = element("p", { class: "visually-hidden", id: `marks-${made}` });
  }

  describe(marks, { xName, formatX }) {
    setText(this.text, marks.map((m) => `${m.text} at ${xName} ${formatX(m.x)}`).join("; "));
  }

  // marks: at, in pixels, ascending; name and look.
  draw(marks, { left, right, top, bottom }) {
    repeat(this.lines, marks, () => drawn("line"), (node, m) => {
      setAttributes(node, { class: `event ${m.look}`, x1: m.at, x2: m.at, y1: top, y2: bottom });
    });
    repeat(this.names, placed(marks, left, right), () => drawn("text"), (node, m) => {
      setAttributes(node, { class: "event-name", x: m.x, y: top + 8, "text-anchor": m.anchor });
      setText(node, m.short);
    });
  }
}

// The marks at a point of a chart and after the point `stride` before it.
export function marksAt(marks, x, index, stride) {
  const before = x[index - stride] ?? -Infinity;
  return marks.filter((m) => m.x > before && m.x <= x[index]);
}

// Names that have room, right of their line or left of it; the newest first.
function placed(marks, low, high) {
  const found = [];
  for (const m of marks.toReversed()) {
    const short = m.name.length > LONGEST ? `${m.name.slice(0, LONGEST - 1)}…` : m.name;
    const width = LETTER * short.length;
    const fits = ({ from }) => from >= low && from + width <= high
      && found.every((other) => from > other.to + 6 || from + width < other.from - 6);
    const right = { x: m.at + 4, from: m.at + 4, anchor: "start" };
    const left = { x: m.at - 4, from: m.at - 4 - width, anchor: "end" };
    const place = [right, left].find(fits);
    if (place) found.push({ ...place, short, to: place.from + width });
  }
  return found;
}
