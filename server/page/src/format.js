// Numbers as people read them. Nothing here is for storing or sending.

const minus = "\u2212";

// number shows a value with so many significant digits, in plain notation where that
// is short: 0.0123, 1,234, 1.2×10⁻⁷.
export function number(value, digits = 3) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : `${minus}∞`;
  if (value === 0) return "0";
  const size = Math.abs(value);
  let text;
  if (size < 1e-4 || size >= 1e7) {
    const [mantissa, exponent] = size.toExponential(Math.max(0, digits - 1)).split("e");
    text = `${trim(mantissa)}×10${superscript(Number(exponent))}`;
  } else {
    // Whole digits are never rounded away.
    const decimals = Math.max(0, digits - 1 - Math.floor(Math.log10(size)));
    text = group(trim(size.toFixed(Math.min(decimals, 12))));
  }
  return value < 0 && text !== "0" ? minus + text : text;
}

// fixed shows a value with so many decimals, for columns of values to compare; what
// needs more room is shown as number does.
export function fixed(value, decimals = 4) {
  const plain = typeof value === "number" && (value === 0 || (Math.abs(value) >= 10 ** -decimals && Math.abs(value) < 1e6));
  return plain ? (value < 0 ? minus : "") + group(Math.abs(value).toFixed(decimals)) : number(value, 2);
}

// commonDecimals is how many decimals values to compare have: six digits of the largest, and no
// more than four.
export function commonDecimals(values) {
  const largest = Math.max(...values.map(Math.abs).filter(Number.isFinite), 0);
  return largest === 0 ? 4 : Math.min(4, Math.max(0, 5 - Math.floor(Math.log10(largest))));
}

// toWithin shows a value with the decimals that are sure when it is known to a precision.
export function toWithin(value, precision) {
  return number(Number(value.toFixed(decimalsOf(precision))), 12);
}

// decimalsOf is how many decimals a precision leaves, as 2 for 0.006.
export function decimalsOf(precision) {
  return Math.min(12, Math.max(0, Math.floor(-Math.log10(precision))));
}

// percent shows a probability; 0 % and 100 % are only for what is exactly so.
export function percent(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (value === 0 || value === 1) return `${value * 100}%`;
  if (value < 0.001) return "<0.1%";
  if (value > 0.999) return ">99.9%";
  return `${(value * 100).toFixed(1)}%`;
}

// count shows a whole number.
export function count(value) {
  return group(String(value));
}

// plural is a count with its noun: 1 row, 1,200 rows.
export function plural(value, one, many = `${one}s`) {
  return `${count(value)} ${value === 1 ? one : many}`;
}

// list joins words as a sentence does.
export function list(words, last = "and") {
  if (words.length < 2) return words.join("");
  return `${words.slice(0, -1).join(", ")} ${last} ${words.at(-1)}`;
}

// rounded is a value with so many significant digits, as a number to go on with.
export function rounded(value, digits = 3) {
  return value === 0 ? 0 : Number(value.toPrecision(digits));
}

// snapped is the multiple of a power of ten just below step that is nearest to a
// value, so that a dragged point has few digits.
export function snapped(value, step) {
  const unit = Math.floor(Math.log10(step));
  const text = unit >= 0 ? Math.round(value / 10 ** unit) * 10 ** unit : Number(value.toFixed(-unit));
  return text === 0 ? 0 : text; // no −0
}

function trim(text) {
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

function group(text) {
  const [whole, part] = text.split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return part ? `${grouped}.${part}` : grouped;
}

function superscript(exponent) {
  return String(exponent).replace("-", "⁻").replace(/\d/g, (d) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[d]);
}
