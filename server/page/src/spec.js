// Cost tables as the API writes them, and as a grid of entries to edit:
//
//   {"outcomes": ["good", "bad"], "costs": {"accept": {"good": 0, "bad": "0.6 * amount"}, …}}
//
// or "utilities" in place of "costs".

// entriesOf is the table by rows (actions) and columns (outcomes).
export function entriesOf(spec, actions, outcomes) {
  const table = spec.costs ?? spec.utilities;
  return actions.map((action) => outcomes.map((outcome) => table[action][outcome]));
}

// specText is the JSON of a specification with other entries. It is put together here,
// because the order of actions counts and objects do not keep it for names like "1".
// A ceiling is raised if an entry has grown beyond it.
export function specText(spec, actions, outcomes, entries) {
  const kind = spec.costs ? "costs" : "utilities";
  const object = (names, texts) => `{${names.map((name, i) => `${JSON.stringify(name)}:${texts[i]}`).join(",")}}`;
  const rows = entries.map((row) => object(outcomes, row.map((entry) => JSON.stringify(entry))));
  const numbers = entries.flat().filter((entry) => typeof entry === "number");
  const ceiling = spec.ceiling === undefined ? "" : `,"ceiling":${JSON.stringify(Math.max(spec.ceiling, ...numbers))}`;
  return `{"outcomes":${JSON.stringify(outcomes)},"${kind}":${object(actions, rows)}${ceiling}}`;
}

// multipleOf is the number that an entry is, or that a column is multiplied by in it: 0.6 of
// 0.6 * amount, 1 of amount. It is undefined for other formulas.
export function multipleOf(entry) {
  if (typeof entry === "number") return entry;
  const found = product.exec(entry);
  return found ? Number(found[1] ?? 1) : undefined;
}

// withMultiple is the entry with another number.
export const withMultiple = (entry, value) => (typeof entry === "number" ? value : `${value} * ${product.exec(entry)[2]}`);

const product = /^\s*(?:(-?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)\s*\*\s*)?([\p{L}_][\p{L}\p{N}_.]*|`[^`]+`)\s*$/iu;

export const sameEntries = (a, b) => JSON.stringify(a) === JSON.stringify(b);
