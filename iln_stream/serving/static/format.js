// Numbers, times and durations as text; a dash for what is not known.

const THREE = new Intl.NumberFormat("en", { minimumSignificantDigits: 3, maximumSignificantDigits: 3 });
const SHORT = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });
const WHOLE = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const COMPACT = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });
const PERCENT = new Intl.NumberFormat("en", { style: "percent", maximumFractionDigits: 1 });
const SHARE = new Intl.NumberFormat("en", { maximumSignificantDigits: 2 });
const NONE = "–";

const known = (format) => (value) => (Number.isFinite(value) ? format(value) : NONE);
const minus = (text) => text.replace("-", "−");

export const number = known((v) => {
  const size = Math.abs(v);
  if (v === 0) return "0";
  if (size >= 1e6 || size < 1e-4) return minus(v.toExponential(2));
  return minus(size >= 1000 ? WHOLE.format(v) : THREE.format(v));
});
export const tick = known((v) => minus(v === 0 ? "0" : Math.abs(v) < 1e-4 ? v.toExponential(0) : Math.abs(v) >= 1e4 ? COMPACT.format(v) : SHORT.format(v)));
export const count = known((v) => minus(WHOLE.format(v)));
export const share = known((v) => `${SHARE.format(v * 100)}%`);
export const percent = known((v) => PERCENT.format(v));
export const signed = known((v) => (v > 0 ? "+" : "") + minus(String(Number(Number(v.toPrecision(2)).toFixed(3)))));

export const rate = known((v) => (v >= 100 ? WHOLE.format(v) : SHORT.format(v)));

export const clock = known((seconds) => new Date(seconds * 1000).toLocaleTimeString("en-GB"));

// Times of events are in UTC, as in plots and where the errors are.
export const moment = known((seconds) => new Date(seconds * 1000).toISOString().slice(0, 19).replace("T", " "));

// Without seconds and year, as ticks of a chart.
export const stamp = known((seconds) => new Date(seconds * 1000).toLocaleString("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", timeZone: "UTC" }));

export const bytes = known((v) => {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let i = 0;
  while (v >= 1024 && i < units.length - 1) { v /= 1024; i += 1; }
  return `${SHORT.format(v)} ${units[i]}`;
});

export const duration = known((s) => {
  if (s < 1e-3) return `${SHORT.format(s * 1e6)} µs`;
  if (s < 1) return `${SHORT.format(s * 1e3)} ms`;
  if (s < 120) return `${SHORT.format(s)} s`;
  if (s < 7200) return `${SHORT.format(s / 60)} min`;
  if (s < 172800) return `${SHORT.format(s / 3600)} h`;
  return `${SHORT.format(s / 86400)} d`;
});

// A label or a predicted class: a number, a boolean or a text.
export function label(value) {
  if (value === null || value === undefined) return NONE;
  return typeof value !== "number" ? String(value) : Number.isInteger(value) && Math.abs(value) < 1e6 ? count(value) : number(value);
}

export const sum = (numbers) => numbers.reduce((total, n) => total + n, 0);

export const words = (name) => name.replaceAll("_", " ");
