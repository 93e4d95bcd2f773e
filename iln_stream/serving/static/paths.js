// The path data of marks; a missing value is a gap.

const at = (v) => Math.round(v * 10) / 10;

export function line(xs, ys) {
  let path = "";
  let drawing = false;
  for (let i = 0; i < xs.length; i += 1) {
    if (ys[i] === null) { drawing = false; continue; }
    path += `${drawing ? "L" : "M"}${at(xs[i])} ${at(ys[i])}`;
    drawing = true;
  }
  return path;
}

// A line without length and with round ends is a dot.
export function dots(xs, ys) {
  let path = "";
  for (let i = 0; i < xs.length; i += 1) {
    if (ys[i] !== null) path += `M${at(xs[i])} ${at(ys[i])}h0`;
  }
  return path;
}

export function band(xs, lows, highs) {
  let path = "";
  let i = 0;
  while (i < xs.length) {
    if (lows[i] === null || highs[i] === null) { i += 1; continue; }
    const begin = i;
    let there = "";
    while (i < xs.length && lows[i] !== null && highs[i] !== null) {
      there += `${there ? "L" : "M"}${at(xs[i])} ${at(highs[i])}`;
      i += 1;
    }
    let back = "";
    for (let k = i - 1; k >= begin; k -= 1) back += `L${at(xs[k])} ${at(lows[k])}`;
    path += `${there}${back}Z`;
  }
  return path;
}
