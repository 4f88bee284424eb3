import {caption, cell, h, wordCell} from "./dom.js";
import {commonDecimals, count, fixed, number, percent, plural} from "./format.js";
import {probabilitiesOf} from "./decisions.js";
import {actionBadge} from "./panel.js";

// What it would be worth to know more before acting.

const most = 10; // rows that are shown

// kinds are what can be known, the one that rows are sorted by last: {field, head, of}, of
// what a row's value is.
function kindsOf({answer, price}) {
  const column = answer.ask?.[0];
  const labels = answer.values[0]?.worth_label !== undefined;
  return [
    {field: "worth_outcome", head: "knowing the outcome", of: (v) => v.worth_outcome},
    ...(column === undefined ? [] : [{field: "worth_column", head: `measuring ${column}${price ? `, less ${number(price)}` : ""}`, of: (v) => v.worth_columns[0] - price}]),
    ...(labels ? [{field: "worth_label", head: "learning its label", of: (v) => v.worth_label}] : []),
  ];
}

// worthText says in sentences what the table shows.
export function worthText({answer, price}) {
  const {values, costs, ask} = answer;
  const verb = costs ? "save" : "bring";
  const outcome = `Knowing the outcome before acting would ${verb} ${number(answer.worth_outcome)} a decision on average; nothing else that one could know is worth more.`;
  if (ask?.[0] === undefined) return outcome;
  const pays = values.filter((v) => v.worth_columns[0] > price);
  const mean = pays.reduce((sum, v) => sum + v.worth_columns[0] - price, 0) / pays.length;
  const at = price ? ` at a cost of ${number(price)}` : "";
  return `${outcome} Measuring ${ask[0]}${at} pays in ${pays.length === 0 ? "none" : count(pays.length)} of ${plural(values.length, "row")}${pays.length ? `, where it would ${verb} ${number(mean)} more than it costs on average` : ""}.`;
}

// worthTable is the rows in which it is worth most to know more. indices are their places among
// all rows.
export function worthTable({answer, price, indices}, outcomes) {
  const {values, actions} = answer;
  const kinds = kindsOf({answer, price});
  const {of} = kinds.at(-1);
  const seen = values.map((value, i) => ({value, row: indices[i] + 1})).sort((a, b) => of(b.value) - of(a.value)).slice(0, most);
  const decimals = commonDecimals(seen.flatMap(({value}) => kinds.map((kind) => kind.of(value))));
  const heads = [["Row", "number"], ["Decision", ""], ...outcomes.map((outcome) => [`Chance of ${outcome}`, "number"]), ...kinds.map(({head}) => [`Worth of ${head}`, "number"])];
  return [
    caption(values.length > most ? `The ${most} rows of ${count(values.length)} in which that is worth most` : "What it is worth in each row, most first"),
    h("thead", {}, h("tr", {}, heads.map(([text, kind]) => h("th", {scope: "col", class: kind}, text)))),
    h("tbody", {}, seen.map(({value, row}) => h("tr", {dataset: {row}}, h("th", {scope: "row", class: "number"}, count(row)),
      wordCell("action", actionBadge(value.action_index, actions), value.action),
      probabilitiesOf(value).map((p, o) => cell("probability", percent(p), p, {dataset: {outcome: o}})),
      kinds.map((kind) => cell(kind.field, fixed(kind.of(value), decimals), kind.of(value)))))),
  ];
}

// worthRows are the same of all rows for a file: {header, rows}.
export function worthRows({answer, price, indices}) {
  const column = answer.ask?.[0];
  const kinds = kindsOf({answer, price});
  const header = ["row", "action", ...(answer.outcomes ? answer.outcomes.map((outcome) => `probability_${outcome}`) : ["probability"]), ...kinds.map(({field}) => (field === "worth_column" ? `worth_${column}` : field))];
  return {header, rows: answer.values.map((value, i) => [indices[i] + 1, value.action, ...probabilitiesOf(value), ...kinds.map(({of}) => of(value))])};
}
