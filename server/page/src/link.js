// What is seen, as the part of the address behind #: the panel, then named values.
// It is kept readable, so that a link can be written by hand:
//
//   #reactor?data=-1.1,-2.6,-4&threshold=2.2&utility=1,0.01;0.9,1

// encodeLink writes a panel and its values; those undefined, false or empty are left out.
export function encodeLink(panel, values) {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined && value !== null && value !== false && value !== "") parameters.set(name, value);
  }
  // Some characters are safe behind # and common in values.
  const query = parameters.toString().replace(/%(2C|3B|3A|28|29|2F|3D|5B|5D)/g, decodeURIComponent);
  return `#${panel}${query && "?"}${query}`;
}

// decodeLink reads what encodeLink writes: {panel, values}.
export function decodeLink(hash) {
  const [panel, query = ""] = split(hash.replace(/^#/, ""), "?");
  return {panel, values: Object.fromEntries(new URLSearchParams(query))};
}

function split(text, at) {
  const i = text.indexOf(at);
  return i < 0 ? [text] : [text.slice(0, i), text.slice(i + 1)];
}

// encodeNumbers and encodeTable write lists of numbers, 1,2,3, and tables, 1,2;3,4.
// Entries that are text, such as 0.6 * amount, stay text.
export const encodeNumbers = (numbers) => numbers.join(",");
export const encodeTable = (table) => table.map(encodeNumbers).join(";");

// decodeNumbers reads a list of finite numbers; undefined if it is none.
export function decodeNumbers(text) {
  if (text === undefined) return undefined;
  if (text === "") return [];
  const numbers = text.split(",").map((cell) => (cell.trim() === "" ? NaN : Number(cell)));
  return numbers.every(Number.isFinite) ? numbers : undefined;
}

// decodeTable reads a table of so many columns; undefined if it is none.
export function decodeTable(text, columns) {
  const rows = text?.split(";").map(decodeNumbers);
  return rows?.every((row) => row?.length === columns) ? rows : undefined;
}

// encodeText and decodeText carry any text in characters that need no escaping.
export function encodeText(text) {
  const bytes = new TextEncoder().encode(text);
  return btoa(Array.from(bytes, (b) => String.fromCharCode(b)).join("")).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

export function decodeText(text) {
  try {
    const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
    return new TextDecoder("utf-8", {fatal: true}).decode(bytes);
  } catch {
    return undefined;
  }
}
