// Rows of data as people have them: pasted or dropped CSV (comma, semicolon or tab) and
// JSON, into the objects that the API takes.

// RowsError says why a text is not rows, and what to do about it.
export class RowsError extends Error {}

// readRows turns a text into {columns, rows, format, notes}. Cells of numeric columns
// become numbers where they are spelled as one; everything else stays the text it is,
// for the server reads it by the model's own recipe.
export function readRows(text, numeric = new Set()) {
  const trimmed = text.replace(/^\uFEFF/, "").trim();
  if (trimmed === "") throw new RowsError("There are no rows yet.");
  return /^[[{]/.test(trimmed) ? readJSON(trimmed) : readDelimited(trimmed, numeric);
}

function readJSON(text) {
  let rows;
  try {
    rows = JSON.parse(text);
    if (!Array.isArray(rows)) rows = Array.isArray(rows.rows) ? rows.rows : [rows];
  } catch (error) {
    try {
      rows = text.split(/\r?\n/).filter((line) => line.trim() !== "").map((line) => JSON.parse(line)); // one object on each line
    } catch {
      throw new RowsError(`This looks like JSON, but it cannot be read: ${error.message}.`);
    }
  }
  const columns = new Set();
  rows.forEach((row, i) => {
    if (row === null || typeof row !== "object" || Array.isArray(row)) {
      throw new RowsError(`Row ${i + 1} is not an object of column names and values, such as {"age": 41}.`);
    }
    Object.keys(row).forEach((name) => columns.add(name));
  });
  if (rows.length === 0) throw new RowsError("There are no rows yet.");
  return {columns: [...columns], rows, format: "JSON", notes: []};
}

// cellOf is the value of a row under a name, and nothing that all objects have: a column
// may be called "constructor".
export const cellOf = (row, name) => (Object.hasOwn(row, name) ? row[name] : undefined);

// exampleText is the rows that come with a model, or one made of examples of its columns; empty if
// there are none.
export function exampleText({example_rows: rows, columns}) {
  if (rows?.length) {
    const given = new Set(rows.flatMap(Object.keys));
    const known = columns.map(({name}) => name).filter((name) => given.has(name));
    const names = [...new Set([...known, ...given])]; // in the model's order, the outcome last
    return writeCSV(names, rows.map((row) => names.map((name) => cellOf(row, name))));
  }
  if (columns.some(({example}) => example === undefined)) return "";
  return writeCSV(columns.map(({name}) => name), [columns.map(({example}) => example)]);
}

// columnsHint shows what rows of a model look like.
export const columnsHint = ({columns}) => `${columns.map(({name}) => name).join(",")}\n${columns.map(({example}) => example ?? "").join(",")}`;

const separators = {",": "comma separated", ";": "semicolon separated", "\t": "tab separated"};

function readDelimited(text, numeric) {
  const separator = separatorOf(text);
  const [header, ...lines] = cellsOf(text, separator);
  const columns = header.map((name) => name.trim());
  const twice = columns.find((name, i) => columns.indexOf(name) !== i);
  if (twice !== undefined) throw new RowsError(`The first line must name the columns, and ${twice === "" ? "an empty name" : `“${twice}”`} is there twice.`);
  if (lines.length === 0) throw new RowsError("There is only one line. The first line names the columns; the rows come below it.");
  let commas = 0;
  const rows = lines.map((cells, i) => {
    if (cells.length !== columns.length) {
      throw new RowsError(`Row ${i + 1} has ${cells.length} cells, but the first line names ${columns.length} columns.`);
    }
    return Object.fromEntries(columns.map((name, k) => {
      const cell = cells[k].trim();
      if (!numeric.has(name)) return [name, cell];
      if (isNumber(cell)) return [name, Number(cell)];
      // Where semicolons separate, a comma is the decimal sign.
      if (separator !== "," && /^[-+]?\d+,\d+$/.test(cell)) {
        commas++;
        return [name, Number(cell.replace(",", "."))];
      }
      return [name, cell];
    }));
  });
  const notes = commas > 0 ? [`Decimal commas were read as points in ${commas === 1 ? "one cell" : `${commas} cells`}.`] : [];
  return {columns, rows, format: separators[separator], notes};
}

function isNumber(cell) {
  return /^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$/.test(cell) && Number.isFinite(Number(cell));
}

// separatorOf is what occurs most in the first line, outside quotes.
function separatorOf(text) {
  const line = text.slice(0, text.search(/\r|\n|$/)).replace(/"[^"]*"/g, "");
  const [best] = Object.keys(separators).map((s) => [line.split(s).length, s]).sort((a, b) => b[0] - a[0]);
  return best[1];
}

// cellsOf splits a text by RFC 4180: quotes protect separators and line ends, and ""
// is a quote. Empty lines are skipped.
function cellsOf(text, separator) {
  const lines = [];
  let cells = [];
  let cell = "";
  let quoted = false;
  const endLine = () => {
    cells.push(cell);
    if (cells.length > 1 || cells[0].trim() !== "") lines.push(cells);
    cells = [];
    cell = "";
  };
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (quoted) {
      if (c !== '"') cell += c;
      else if (text[i + 1] === '"') cell += text[++i];
      else quoted = false;
    } else if (c === '"' && cell.trim() === "") {
      quoted = true;
      cell = "";
    } else if (c === separator) {
      cells.push(cell);
      cell = "";
    } else if (c === "\n" || c === "\r") {
      if (c === "\r" && text[i + 1] === "\n") i++;
      endLine();
    } else {
      cell += c;
    }
  }
  if (quoted) throw new RowsError("A quote is opened that is never closed.");
  endLine();
  return lines;
}

// writeCSV is a table as RFC 4180 text. Numbers are written so that reading them gives
// the same number back; what is missing is an empty cell.
export function writeCSV(header, rows) {
  return [header, ...rows].map((row) => row.map(cellText).join(",") + "\r\n").join("");
}

function cellText(value) {
  if (value === null || value === undefined) return "";
  const text = String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
