import {get, pathOf, post} from "./api.js";
import {CaseForm} from "./case.js";
import {densityCharts} from "./density.js";
import {caption, cell, h, onWidth, setText, wordCell} from "./dom.js";
import {offerEffects} from "./effects.js";
import {EntryTable, reach, typing} from "./entries.js";
import {count, number, plural} from "./format.js";
import {decodeText, encodeText} from "./link.js";
import {light, theme} from "./looks.js";
import {offerModels, Panel, replaceTable, safely} from "./panel.js";
import {cellOf, columnsHint, exampleText, readRows, writeCSV} from "./rows.js";
import {saveCSV, saveSVG} from "./save.js";
import {sameEntries} from "./spec.js";

const longestLink = 6000; // characters of rows that still go into a link
const mostShown = 200; // rows of the table
const levels = [0.05, 0.25, 0.5, 0.75, 0.95]; // of the quantiles shown

// NumberModel shows what a model whose outcome is a number decides on rows that a person has.
export class NumberModel extends Panel {
  constructor(page) {
    super("number", page);
    this.live = this.ask((question, signal) => this.#decide(question, signal), (answer, question) => this.#show(answer, question));
    this.form = new CaseForm(this.part("fields"), (name, value) => this.#edit(name, value));
    const on = (part, event, does) => this.part(part).addEventListener(event, does);
    on("name", "change", ({target}) => this.#start({name: target.value}));
    on("rows", "input", ({target}) => {
      clearTimeout(this.written);
      this.written = setTimeout(() => this.change({rows: target.value, row: undefined}, true), typing);
      this.part("results").setAttribute("aria-busy", "true");
    });
    on("example", "click", () => this.#setRows("example"));
    on("clear", "click", () => this.#setRows(""));
    on("file", "change", async ({target}) => {
      const text = await target.files[0]?.text();
      target.value = "";
      if (text !== undefined) this.#setRows(text);
    });
    on("reset", "click", () => this.change({costs: undefined}, true));
    on("save-table", "click", () => this.#saveTable());
    on("save-svg", "click", () => this.shown && saveSVG(`${this.model.name}-case`, [`${this.model.name}, row ${this.shown.row + 1}`, this.shown.decided.costs], this.#charts(light, 640)));
    // Whoever comes back may find another model under the same name.
    addEventListener("focus", () => !this.section.hidden && this.refresh(true));
    onWidth(this.part("chart"), (width) => {
      this.width = width;
      this.redraw();
    });
    this.read({});
  }

  read(values) {
    const costs = values.costs === undefined ? undefined : safely(() => JSON.parse(values.costs));
    this.state = {
      name: values.name, costs: Array.isArray(costs) ? costs : undefined, row: values.row >= 1 ? Math.floor(values.row) - 1 : undefined,
      rows: values.rows === undefined || values.rows === "example" ? values.rows : decodeText(values.rows),
    };
  }

  write() {
    const {name, costs, row, rows} = this.state;
    const text = rows && rows !== "example" ? encodeText(rows) : rows;
    return {name, costs: costs && JSON.stringify(costs), row: row && row + 1, rows: text?.length <= longestLink ? text : undefined};
  }

  change(part, settled) {
    clearTimeout(this.written);
    this.state = {...this.state, ...part};
    this.refresh();
    this.page.moved(this, settled);
  }

  #start(state) {
    this.state = state;
    this.shown = undefined;
    this.refresh(true);
  }

  #setRows(rows) {
    this.change({rows, row: undefined}, true);
    this.part("rows").value = this.#text();
  }

  async refresh(anew = false) {
    try {
      if (anew || !this.model || this.model.name !== this.state.name) {
        const {models} = await get("v1/models");
        const entry = offerModels(this.part("name"), models, this.state.name);
        if (entry.kind !== "number") return this.page.go("model", {name: entry.name});
        this.state.name = entry.name;
        const detail = await get(pathOf(entry));
        if (this.state.name !== entry.name) return; // meanwhile another was chosen
        if (this.model?.digest !== detail.digest) this.model = {...entry, ...detail};
      }
    } catch (error) {
      this.complain(error);
      this.page.rendered();
      return;
    }
    this.#controls(anew);
    if (this.rows.length) this.live.request({model: this.model, rows: this.rows, row: Math.min(this.state.row ?? 0, this.rows.length - 1), utility: this.state.costs && utilityText(this.model.utility, this.#entries())});
    else {
      this.live.forget();
      this.page.rendered();
    }
    if (anew) this.page.moved(this, false);
  }

  #entries() {
    const own = entriesOf(this.model.utility);
    const {costs} = this.state;
    return costs?.length === own.length && costs.every(([entry]) => ["number", "string"].includes(typeof entry)) ? costs : own;
  }

  #controls(all) {
    const {model, state} = this;
    setText(this.part("about"), `Gaussian process regression, fitted to ${plural(model.rows, "row")} with ${plural(model.features, "feature")}. It predicts ${model.target.name}, a number.`);
    offerEffects(this, model, model.number?.effects);
    const own = entriesOf(model.utility);
    if (this.tableOf !== model) {
      this.tableOf = model;
      const names = namesOf(model.utility);
      this.costs = new EntryTable(this.part("costs"), {
        actions: names, outcomes: ["cost"], caption: "What it costs", name: (a) => `Cost: ${names[a]}`,
        changed: (entries, settled) => {
          if (sameEntries(entries, this.#entries())) return this.page.moved(this, settled);
          this.change({costs: sameEntries(entries, own) ? undefined : entries}, settled);
        },
      });
      this.part("example").hidden = !exampleText(model);
    }
    this.costs.set(this.#entries(), reach(own, 5));
    this.part("reset").disabled = sameEntries(this.#entries(), own);
    if (state.rows === undefined) state.rows = "example";
    const field = this.part("rows");
    if (all || document.activeElement !== field) field.value = this.#text();
    field.placeholder = columnsHint(model);
    this.#parse();
    this.part("results").hidden = this.rows.length === 0;
    this.part("results").setAttribute("aria-busy", "false");
  }

  #text() {
    return this.state.rows === "example" ? exampleText(this.model) : (this.state.rows ?? "");
  }

  #parse() {
    const text = this.#text();
    if (this.parsed === text && this.parsedOf === this.model) return;
    Object.assign(this, {parsed: text, parsedOf: this.model, rows: [], names: []});
    const note = this.part("rows-note");
    try {
      const {rows, columns, format, notes} = readRows(text, new Set(this.model.columns.filter(({kind}) => kind === "numeric").map(({name}) => name)));
      Object.assign(this, {rows, names: columns});
      setText(note, `${plural(rows.length, "row")} read (${format}). ${notes.join(" ")} ${this.state.rows === "example" && this.model.example_rows?.length ? "They come with the model." : ""}`);
    } catch (error) {
      setText(note, error.message);
    }
    note.classList.toggle("wrong", this.rows.length === 0 && text.trim() !== "");
  }

  async #decide({model, rows, row, utility}, signal) {
    const ask = (path, of, further = {}) => post(`${pathOf(model)}/${path}`, `{"rows":${JSON.stringify(of)}${Object.entries(further).map(([name, text]) => `,"${name}":${text}`).join("")}}`, signal);
    const costs = utility ? {utility} : {};
    const [decided, predicted, known] = await Promise.all([ask("decide", rows, costs), ask("predict", rows, {quantiles: JSON.stringify(levels)}), ask("distribution", [rows[row]], costs)]);
    return {decided, predicted, known};
  }

  #show(answer, {model, rows, row}) {
    this.shown = {...answer, row};
    const {decided: {decisions, costs, edge}, predicted: {predictions}, known} = answer;
    setText(this.part("rule"), `Rule: the action of the least expected cost, by ${costs}.`);
    const total = decisions.reduce((sum, d) => sum + d.cost, 0);
    this.part("verdict").replaceChildren(h("strong", {}, `${plural(decisions.length, "row")} decided.`), ` They are expected to cost ${number(total / decisions.length, 4)} each${edge ? `; ${edge}` : ""}.`);
    const d = decisions[row];
    const [curves] = known.distributions;
    const probability = known.counts ? "at least 90 %" : "90 %"; // whole numbers have no interval of exactly that
    const shown = typeof d.action === "number" ? number(d.action, 4) : d.action;
    this.part("case-verdict").replaceChildren(h("strong", {}, `Row ${row + 1}: ${shown}.`), ` It is expected to cost ${number(d.cost, 4)}. ${model.target.name} is ${number(d.mean, 4)} on average, and between ${number(curves.low, 4)} and ${number(curves.high, 4)} with a probability of ${probability}.${d.unusual?.length ? ` Unlike the training rows in ${d.unusual.join(", ")}.` : ""}`);
    this.form.show(model.columns, rows, rows[row]);
    this.#table(decisions, predictions, row);
    this.redraw();
  }

  #table(decisions, predictions, row) {
    const head = (text, numeric = true) => h("th", {scope: "col", class: numeric ? "number" : null}, text);
    const line = (d, i) => h("tr", {dataset: {row: i + 1}, class: i === row ? "chosen" : null},
      h("th", {scope: "row"}, h("button", {type: "button", class: "plain", dataset: {key: `row-${i}`}, "aria-pressed": String(i === row), onclick: () => this.change({row: i}, true)}, count(i + 1))),
      typeof d.action === "number" ? cell("action", number(d.action, 4), d.action) : wordCell("action", d.action, d.action),
      cell("cost", number(d.cost, 4), d.cost), cell("mean", number(d.mean, 4), d.mean),
      predictions[i].quantiles.map((q, k) => cell("quantile", number(q, 4), q, {dataset: {level: levels[k]}})));
    const left = decisions.length - mostShown;
    replaceTable(this.part("table"), caption(`The best action of each row, what it is expected to cost, and quantiles of ${this.model.target.name}${left > 0 ? `; ${plural(left, "row")} more in the file` : ""}`),
      h("thead", {}, h("tr", {}, head("Row", false), head("Action"), head("Expected cost"), head("Mean"), levels.map((level) => head(`${number(100 * level)} %`)))),
      h("tbody", {}, decisions.slice(0, mostShown).map(line)));
  }

  #charts(look, width) {
    return densityCharts(this.shown.known, this.shown.known.distributions[0], {theme: look, width});
  }

  redraw() {
    if (this.shown && this.width) this.part("chart").replaceChildren(...this.#charts(theme(), this.width));
  }

  // #edit gives a column of the case another value: the rows are written anew.
  #edit(name, value) {
    const names = [...new Set([...this.names, name])];
    const rows = this.rows.map((row, i) => (i === this.shown.row ? {...row, [name]: value} : row));
    const text = writeCSV(names, rows.map((row) => names.map((column) => cellOf(row, column))));
    this.change({rows: text, row: this.shown.row}, true);
    this.part("rows").value = text;
  }

  #saveTable() {
    if (!this.shown) return;
    const {decided: {decisions}, predicted: {predictions}} = this.shown;
    saveCSV(`${this.model.name}-decisions`, writeCSV(["row", "action", "cost", "mean", ...levels.map((level) => `quantile_${level}`)],
      decisions.map((d, i) => [i + 1, d.action, d.cost, d.mean, ...predictions[i].quantiles])));
  }
}

// Costs as a table of one column: of a unit too little and too much, a formula, or one for each action.

const entry = (value) => (String(value).trim() !== "" && Number.isFinite(Number(value)) ? Number(value) : String(value));

const entriesOf = ({under, over, cost, costs}) => (costs ? Object.values(costs) : cost === undefined ? [under, over] : [cost]).map((value) => [entry(value)]);

const namesOf = ({cost, costs}) => (costs ? Object.keys(costs).map((name) => `Do “${name}”`) : cost === undefined ? ["Each unit too little", "Each unit too much"] : ["Formula of action and outcome"]);

function utilityText({action, cost, costs}, entries) {
  const values = entries.map(([value]) => JSON.stringify(String(value)));
  const named = costs && Object.keys(costs).map((name, i) => `${JSON.stringify(name)}:${values[i]}`).join();
  const range = action === undefined ? "" : `,"action":${JSON.stringify(action)}`;
  return costs ? `{"costs":{${named}}${range}}` : `{${cost === undefined ? `"under":${values[0]},"over":${values[1]}` : `"cost":${values[0]}`}${range}}`;
}
