import {caption, cell, h, wordCell} from "./dom.js";
import {commonDecimals, count, fixed, number, percent, plural} from "./format.js";
import {actionBadge, replaceTable} from "./panel.js";
import {methodLabel} from "./methods.js";
import {cellOf} from "./rows.js";

// The table of decisions, a page of it at a time.

const pageSize = 20;

// A list of decisions is an array with an entry for each row of the input: {row,
// decision, own, errors}. decision is under the costs shown, calibrated to them if that
// is asked, and own is what the model decides by itself, both as the API gives them; errors are {column, message} of a row that could
// not be decided.
export const flipped = ({decision, own}) => decision !== undefined && own !== undefined && decision.action_index !== own.action_index;

const filters = {all: () => true, flipped, errors: ({errors}) => errors !== undefined};
const orders = {
  row: () => 0,
  flipped: (a, b) => flipped(b) - flipped(a),
  margin: (a, b) => (a.decision?.margin ?? Infinity) - (b.decision?.margin ?? Infinity),
  probability: (a, b) => highest(b) - highest(a),
};

// probabilitiesOf is that of the positive outcome of two, or of each of more.
export const probabilitiesOf = (decision) => decision.probabilities ?? [decision.probability ?? 0];
const highest = ({decision}) => (decision ? Math.max(...probabilitiesOf(decision)) : -1);

// remarksOn says in what a case is unlike those of the training.
const remarksOn = ({unusual}) => (unusual?.length ? `unlike the training rows: ${unusual.join(", ")}` : "");

export class DecisionTable {
  #page = 0;
  #remarks = false;

  // chosen(index) is told which row somebody wants to see.
  constructor(table, pager, chosen) {
    Object.assign(this, {table, pager, chosen, filter: "all", sort: "row"});
  }

  // show puts decisions on the screen. about is {actions, costs, outcomes, extras,
  // opinions}: the names of the actions, whether their values are costs, the outcomes
  // whose chances are shown, the positive one of two or all, columns of the input to show
  // too, and whether there are second opinions. at is the row that is seen by itself.
  show(decisions, about, at) {
    Object.assign(this, {decisions, about, at});
    this.#remarks = decisions.some(({decision}) => decision && remarksOn(decision));
    this.#draw();
  }

  choose(filter, sort) {
    Object.assign(this, {filter, sort});
    this.#page = 0;
    if (this.decisions) this.#draw();
  }

  #draw() {
    const chosen = this.decisions.filter(filters[this.filter]).sort(orders[this.sort]);
    const pages = Math.max(1, Math.ceil(chosen.length / pageSize));
    this.#page = Math.min(this.#page, pages - 1);
    const first = this.#page * pageSize;
    const seen = chosen.slice(first, first + pageSize);
    const {actions, costs, outcomes, extras, opinions} = this.about;
    this.decimals = commonDecimals(seen.flatMap(({decision}) => (decision ? expectedOf(decision) : [])));
    const heads = [
      ["Row", "number"], ...extras.map((name) => [name, ""]), ["Action", ""], ["Otherwise than the model?", ""], ...outcomes.map((outcome) => [`Chance of ${outcome}`, "number"]),
      ...actions.map((action) => [`${costs ? "Expected cost" : "Expected worth"}: ${action}`, "number"]), ["Margin", "number"], ...(opinions ? [["Second opinion", ""]] : []), ...(this.#remarks ? [["Remarks", ""]] : []),
    ];
    replaceTable(this.table,
      caption(chosen.length ? `Rows ${count(first + 1)} to ${count(first + seen.length)} of ${count(chosen.length)}` : this.filter === "flipped" ? "No decision differs from what the model decides by itself" : "No such rows"),
      h("thead", {}, h("tr", {}, heads.map(([text, kind]) => h("th", {scope: "col", class: kind}, text)))),
      h("tbody", {}, seen.map((entry) => this.#row(entry, heads.length))));
    this.#drawPager(pages);
  }

  #row(entry, width) {
    const {index, row, decision, own, errors} = entry;
    const {actions, extras, opinions} = this.about;
    const seen = index === this.at;
    const head = h("th", {scope: "row", class: "number"}, h("button", {type: "button", class: "quiet", "aria-pressed": String(seen), title: "Show this case below", dataset: {key: `row-${index}`}, onclick: () => this.chosen(index)}, count(index + 1)));
    const more = extras.map((name) => h("td", {}, String(cellOf(row, name) ?? "")));
    if (errors) {
      return h("tr", {class: "bad", dataset: {row: index + 1}}, head, more, h("td", {colspan: width - 1 - extras.length, dataset: {field: "error"}},
        errors.map(({column, message}) => h("div", {}, h("b", {}, "✗ not decided: "), column ? [h("code", {}, column), " "] : "", message))));
    }
    const flips = flipped(entry);
    const disagreeing = Object.entries(decision.disagreeing ?? {}).map(([method, action]) => `${methodLabel(method)}: ${action}`).join(", ");
    return h("tr", {class: [flips && "flipped", seen && "seen"].filter(Boolean).join(" "), dataset: {row: index + 1, flipped: flips}}, head, more,
      wordCell("action", actionBadge(decision.action_index, actions), decision.action),
      wordCell("own_action", flips ? h("strong", {class: "differs"}, `⇄ was ${own.action}`) : "", own?.action),
      probabilitiesOf(decision).map((p, o) => cell("probability", percent(p), p, {dataset: {outcome: o}})),
      expectedOf(decision).map((value, a) => cell("expected", fixed(value, this.decimals), value, {dataset: {action: a}, class: a === decision.action_index ? "best" : ""})),
      cell("margin", fixed(decision.margin, this.decimals), decision.margin),
      opinions ? wordCell("disagreeing", disagreeing ? h("strong", {class: "differs"}, disagreeing) : decision.disagreement ? "differs" : "agrees") : "",
      this.#remarks && h("td", {dataset: {field: "remarks"}}, remarksOn(decision)));
  }

  #drawPager(pages) {
    const go = (page) => () => {
      this.#page = page;
      this.#draw();
    };
    const button = (key, text, page, on) => h("button", {type: "button", disabled: !on, onclick: go(page), dataset: {key}}, text);
    const at = this.#page;
    replaceTable(this.pager, ...(pages < 2 ? [] : [
      button("first", "First", 0, at > 0), button("back", "Back", at - 1, at > 0), h("span", {}, `page ${count(at + 1)} of ${count(pages)}`),
      button("next", "Next", at + 1, at + 1 < pages), button("last", "Last", pages - 1, at + 1 < pages),
    ]));
  }
}

// expectedOf is what each action is expected to cost, or to bring.
export const expectedOf = (decision) => decision.expected_cost ?? decision.expected_utility;

// summary is what there is to say about all decisions: sentences, the first the most
// important.
export function summary(decisions, {actions, costs}) {
  const made = decisions.filter(({decision}) => decision);
  const bad = decisions.length - made.length;
  const flips = made.filter(flipped);
  const each = actions.map((action, a) => [action, made.filter(({decision}) => decision.action_index === a).length]).map(([action, n]) => `${count(n)} “${action}”`);
  const mean = made.reduce((sum, {decision}) => sum + expectedOf(decision)[decision.action_index], 0) / made.length;
  return {
    flips: flips.length,
    headline: `${plural(made.length, "decision")}: ${each.join(", ")}.`,
    rest: [
      flips.length ? `${plural(flips.length, "decision")} ${flips.length === 1 ? "differs" : "differ"} from what the model decides by itself.` : "None differs from what the model decides by itself.",
      made.length ? `On average a decision is expected to ${costs ? "cost" : "be worth"} ${number(mean, 4)}.` : "",
      bad ? `${plural(bad, "row")} could not be decided.` : "",
    ].filter(Boolean).join(" "),
  };
}
