// From values to pixels, with round numbers as ticks.

export function linear(low, high, from, to) {
  if (!(high > low)) { const pad = Math.abs(low) * 0.1 || 1; low -= pad; high += pad; }
  const ratio = (to - from) / (high - low);
  return { at: (v) => from + (v - low) * ratio, ticks: (n) => roundSteps(low, high, n) };
}

export function logarithmic(low, high, from, to) {
  if (!(high > low * 1.2)) { low /= 1.2; high *= 1.2; }
  const begin = Math.log(low);
  const ratio = (to - from) / (Math.log(high) - begin);
  return {
    at: (v) => from + (Math.log(v) - begin) * ratio,
    ticks: (n) => powers(low, high, n),
  };
}

function roundSteps(low, high, n) {
  const rough = (high - low) / n;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough * 0.999);
  const ticks = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i += 1) {
    ticks.push(Number((i * step).toPrecision(12)));
  }
  return ticks;
}

function powers(low, high, n) {
  for (const factors of [[1, 2, 5], [1, 3], [1]]) {
    const ticks = [];
    for (let p = Math.floor(Math.log10(low)); p <= Math.log10(high); p += 1) {
      for (const factor of factors) {
        const tick = Number(`${factor}e${p}`);
        if (tick >= low && tick <= high) ticks.push(tick);
      }
    }
    if (ticks.length >= 2 && ticks.length <= n + 1) return ticks;
  }
  return roundSteps(low, high, n).filter((tick) => tick > 0);
}

// The range of values, of the positive ones for a logarithmic scale.
export function rangeOf(lists, isPositive) {
  let low = Infinity;
  let high = -Infinity;
  for (const values of lists) {
    for (const v of values) {
      if (v === null || !Number.isFinite(v) || (isPositive && v <= 0)) continue;
      if (v < low) low = v;
      if (v > high) high = v;
    }
  }
  return low <= high ? [low, high] : null;
}
