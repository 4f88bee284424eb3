import {expectedOf} from "./decisions.js";
import {caption, cell, h, wordCell} from "./dom.js";
import {commonDecimals, fixed, number} from "./format.js";
import {actionBadge} from "./panel.js";
import {cellOf} from "./rows.js";

// One case: its columns as fields, why it is decided as it is, and what would change that.

export const reasons = 5; // that are asked for

const widest = 40; // characters of a field

// CaseForm edits the columns of a case. changed(name, value) is told of a new value.
export class CaseForm {
  constructor(container, changed) {
    Object.assign(this, {container, changed, fields: new Map()});
  }

  // show puts a row into the fields of the model's columns, each as wide as what stands in
  // it in these rows. What is being written is left alone.
  show(columns, rows, row) {
    if (this.columns !== columns || this.rows !== rows) {
      Object.assign(this, {columns, rows});
      this.fields = new Map(columns.map((column) => [column.name, this.#field(column)]));
      this.container.replaceChildren(...columns.map(({name}) => h("label", {}, h("span", {}, name), this.fields.get(name))));
    }
    for (const [name, field] of this.fields) {
      const text = String(cellOf(row, name) ?? "");
      if (field.options && ![...field.options].some(({value}) => value === text)) field.append(h("option", {value: text}, text || "missing"));
      if (document.activeElement !== field || field.options) field.value = text;
    }
  }

  #field({name, kind, categories, example}) {
    const changed = ({target}) => this.changed(name, readCell(target.value, kind));
    if (categories) {
      return h("select", {dataset: {column: name}, onchange: changed}, categories.map((category) => h("option", {value: category}, category)));
    }
    const texts = [example, ...this.rows.slice(0, 200).map((row) => cellOf(row, name))].map((value) => String(value ?? "").length);
    return h("input", {dataset: {column: name}, size: Math.min(widest, Math.max(4, ...texts) + 1), inputmode: kind === "numeric" ? "decimal" : null, autocomplete: "off", spellcheck: "false", onchange: changed});
  }
}

// readCell is a cell as rows have it: a number where it is one.
function readCell(text, kind) {
  const trimmed = text.trim();
  return kind === "numeric" && trimmed !== "" && Number.isFinite(Number(trimmed)) ? Number(trimmed) : trimmed;
}

// caseText says what is decided: a headline and what follows from it.
export function caseText(index, {action, action_index: best, margin, ...decision}, {costs}) {
  const value = expectedOf({...decision})[best];
  return [`Row ${index + 1}: ${action}.`, ` It is expected to ${costs ? "cost" : "bring"} ${number(value, 4)}, ${number(margin, 3)} ${costs ? "less" : "more"} than the next best action.`];
}

// flipText is the smallest change of one column that changes the action.
export function flipText({flip}) {
  if (!flip) return "No change of a single column to a value that the training rows have would change the action.";
  return `With ${flip.column} ${flip.to} in place of ${flip.from || "nothing"}, the action would be ${flip.action}.`;
}

// whyTable is the columns that move the decision most.
export function whyTable({why, action_index: best}, {actions, costs}) {
  const decimals = commonDecimals(why.filter(({direction}) => direction !== "neither").map(({effect}) => effect));
  return [
    caption(`By how much each of these columns makes the advantage of this action ${costs ? "in expected cost" : ""} larger or smaller than if it were not known`.replace("  ", " ")),
    h("thead", {}, h("tr", {}, h("th", {scope: "col"}, "Column"), h("th", {scope: "col"}, "Value"), h("th", {scope: "col", class: "number"}, "Effect"), h("th", {scope: "col"}, "Speaks"))),
    h("tbody", {}, why.map(({column, value, effect, direction}) => h("tr", {dataset: {column}}, h("th", {scope: "row"}, column), wordCell("value", value || "missing", value),
      cell("effect", direction === "neither" ? "0" : (effect > 0 ? "+" : "") + fixed(effect, decimals), effect), h("td", {}, direction === "neither" ? "for neither" : [effect > 0 ? "for " : "against ", actionBadge(best, actions)])))),
  ];
}

// effectsTable is what each family of effects adds to the latent value, with its standard deviation.
export function effectsTable({effects = []}) {
  if (effects.length === 0) return [];
  const decimals = commonDecimals(effects.flatMap(({effect, sd}) => [effect, sd]));
  return [
    caption("What effects of groups add to the latent value, plus or minus a standard deviation"),
    h("tbody", {}, effects.map(({term, outcome, effect, sd, new: isNew}) => h("tr", {}, h("th", {scope: "row"}, outcome ? `${term}, ${outcome}` : term),
      cell("effect", `${effect > 0 ? "+" : ""}${fixed(effect, decimals)} ± ${fixed(sd, decimals)}`, effect), h("td", {}, isNew ? "a group that no training row had" : "")))),
  ];
}
