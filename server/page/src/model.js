import {get, pathOf, post} from "./api.js";
import {CaseForm, caseText, effectsTable, flipText, reasons, whyTable} from "./case.js";
import {curveCharts, curveHeight, knobTop} from "./curve.js";
import {DecisionTable, expectedOf, flipped, probabilitiesOf, summary} from "./decisions.js";
import {caption, cell, h, onWidth, setText} from "./dom.js";
import {offerEffects} from "./effects.js";
import {EntryTable, reach, typing} from "./entries.js";
import {count, list, number, plural, rounded} from "./format.js";
import {Handles, lineShape} from "./handles.js";
import {decodeText, encodeText} from "./link.js";
import {light, theme} from "./looks.js";
import {methodLabel} from "./methods.js";
import {actionBadge, offerModels, Panel, replaceTable, safely} from "./panel.js";
import {cellOf, columnsHint, exampleText, readRows, writeCSV} from "./rows.js";
import {saveCSV, saveSVG} from "./save.js";
import {simplexChart} from "./simplex.js";
import {entriesOf, multipleOf, sameEntries, specText, withMultiple} from "./spec.js";
import {worthRows, worthTable, worthText} from "./worth.js";

const longestLink = 6000; // characters of rows that still go into a link
const longestShown = 200_000; // characters of rows that still go into the text field
const rounds = 25; // of leaving out rows that the server cannot read
const curveSteps = 81;

// Model shows the decisions of a served model on rows that a person has.
export class Model extends Panel {
  #models; // a promise of the list of models
  #details = new Map(); // what is known of each model, by name
  #own = {}; // decisions under the model's own costs, and of which rows

  constructor(page) {
    super("model", page);
    this.live = this.ask((question, signal) => this.#decide(question, signal), (answer, question) => this.#show(answer, question));
    this.curveLive = this.ask((question, signal) => this.#askCurve(question, signal), (curve) => this.#showCurve(curve), "curve-error");
    this.worthLive = this.ask((question, signal) => this.#askWorth(question, signal), (worth, question) => this.#showWorth(worth, question), "worth-error");
    this.whyLive = this.ask((question, signal) => this.#askWhy(question, signal), (decision) => this.#showWhy(decision), "why-error");
    this.table = new DecisionTable(this.part("table"), this.part("pager"), (index) => this.#choose(index));
    this.form = new CaseForm(this.part("fields"), (name, value) => this.#edit(name, value));
    this.#wire();
    this.read({});
  }

  #wire() {
    const {page} = this;
    const on = (part, event, does) => this.part(part).addEventListener(event, does);
    on("name", "change", ({target}) => {
      this.#startWith({name: target.value, rows: this.state.rows === "example" ? undefined : this.state.rows});
      page.moved(this, true);
    });
    // Text that arrives at once is complete; what is written key by key is when the hand
    // rests, or leaves the field.
    on("rows", "input", ({target, inputType}) => {
      if (inputType?.startsWith("insertFrom")) return this.#setRows(target.value);
      clearTimeout(this.written);
      this.written = setTimeout(() => this.#setRows(target.value), typing);
      this.#outdated(true);
    });
    on("rows", "change", ({target}) => this.written && this.#setRows(target.value));
    on("rows", "paste", (event) => {
      const text = event.clipboardData?.getData("text") ?? "";
      if (text.length <= longestShown) return;
      event.preventDefault(); // so long a text would make the field slow
      this.#setRows(text, "What you pasted");
    });
    on("clear", "click", () => this.#setRows(""));
    on("example", "click", () => this.#setRows("example"));
    on("file", "change", ({target}) => this.#open(target.files[0]));
    const drop = this.part("drop");
    for (const event of ["dragover", "dragleave", "drop"]) {
      drop.addEventListener(event, (e) => {
        if (![...(e.dataTransfer?.types ?? [])].includes("Files")) return;
        e.preventDefault();
        drop.classList.toggle("over", event === "dragover");
        if (event === "drop") this.#open(e.dataTransfer.files[0]);
      });
    }
    for (const part of ["calibrate", "opinion"]) on(part, "change", ({target}) => this.change({[part]: target.checked}, true));
    on("reset", "click", () => this.change({costs: undefined}, true));
    for (const part of ["filter", "sort"]) on(part, "change", () => this.table.choose(this.part("filter").value, this.part("sort").value));
    on("vary", "change", ({target}) => this.change({vary: target.value, from: undefined, to: undefined, log: undefined}, true));
    for (const part of ["from", "to"]) on(part, "change", ({target}) => this.change({[part]: Number.isFinite(target.valueAsNumber) ? target.valueAsNumber : undefined}, true));
    on("log", "change", ({target}) => this.change({log: target.checked, from: undefined, to: undefined}, true));
    on("measure", "change", ({target}) => this.change({measure: target.value || undefined}, true));
    on("price", "change", ({target}) => this.change({price: target.valueAsNumber > 0 ? target.valueAsNumber : undefined}, true));
    on("labels", "change", ({target}) => this.change({labels: target.checked}, true));
    on("save-worth", "click", () => this.#saveWorth());
    on("save-svg", "click", () => this.#saveSVG());
    on("save-table", "click", () => this.#saveTable());
    on("save-curves", "click", () => this.#saveCurve());

    addEventListener("focus", () => this.#lookAgain());
    document.addEventListener("visibilitychange", () => this.#lookAgain());

    const chart = this.part("chart");
    this.pictures = h("div", {class: "pictures", "aria-hidden": "true"});
    chart.append(this.pictures);
    const set = (value, settled) => {
      const [a, o] = this.#vary();
      this.change({costs: this.#entries().map((row, i) => (i === a ? row.with(o, withMultiple(row[o], rounded(value))) : row)), ...this.#range()}, settled);
    };
    this.handles = new Handles(chart, {
      move: (id, x) => set(this.scale.invert(Math.min(this.scale.range[1], Math.max(this.scale.range[0], x))), false),
      nudge: (id, dx, dy, size) => set(this.#nudged((dx || dy) * {small: 0.2, normal: 1, large: 10}[size]), true),
      done: () => page.moved(this, true),
    }, "The value now");
    onWidth(chart, (width) => {
      this.width = width;
      this.redraw();
    });
  }

  // read takes the state from a link: the model's name, its costs where they are not its
  // own, and the rows if they are few.
  read(values) {
    const entries = values.costs === undefined ? undefined : safely(() => JSON.parse(values.costs));
    const number = (text) => (text !== undefined && Number.isFinite(Number(text)) ? Number(text) : undefined);
    this.#startWith({
      name: values.name,
      rows: values.rows === undefined || values.rows === "example" ? values.rows : decodeText(values.rows),
      costs: Array.isArray(entries) ? entries : undefined,
      calibrate: values.calibrate === "1", opinion: values.opinion === "1",
      vary: values.vary, from: number(values.from), to: number(values.to), log: values.log === undefined ? undefined : values.log === "1",
      measure: values.measure, price: number(values.price) > 0 ? number(values.price) : undefined, labels: values.labels === "1",
      row: number(values.row) >= 1 ? Math.floor(number(values.row)) - 1 : undefined, lost: number(values.lost),
    }, false);
  }

  // #startWith begins with another model or link.
  #startWith(state, now = true) {
    this.state = state;
    this.#forgetWriting();
    this.#outdated(false);
    this.news = undefined;
    this.parsed = undefined;
    this.decisions = undefined;
    this.curve = undefined;
    this.worth = undefined;
    this.#own = {};
    if (now) this.refresh(true);
  }

  write() {
    const {name, rows, costs, calibrate, opinion, vary, from, to, log, measure, price, labels, row} = this.state;
    const fits = rows === "example" || (rows !== undefined && encodeText(rows).length <= longestLink);
    return {
      name, costs: costs && JSON.stringify(costs), calibrate: calibrate && "1", opinion: opinion && "1", vary, from, to, log: log === undefined ? undefined : log ? "1" : "0",
      measure, price: measure && price, labels: labels && "1", row: row && row + 1,
      rows: rows === "example" ? rows : fits && rows ? encodeText(rows) : undefined, lost: rows && !fits ? this.parsed?.rows.length : undefined,
    };
  }

  change(part, settled) {
    this.state = {...this.state, ...part};
    this.refresh();
    this.page.moved(this, settled);
  }

  // refresh brings what is needed from the server, then asks for decisions.
  async refresh(anew = false) {
    let known;
    try {
      this.#models ??= get("v1/models");
      const {models} = await this.#models;
      const entry = offerModels(this.part("name"), models, this.state.name);
      if (entry.kind === "number") return this.page.go("number", {name: entry.name});
      this.state.name = entry.name;
      known = this.#details.has(entry.name);
      if (!known) {
        const detail = await get(pathOf(entry));
        this.#details.set(entry.name, {...entry, ...detail});
      }
      if (this.state.name !== entry.name) return; // meanwhile another was chosen
      this.model = this.#details.get(entry.name);
    } catch (error) {
      this.#models = undefined;
      this.complain(error);
      this.page.rendered();
      return;
    }
    this.#controls(anew);
    this.#ask();
    if (anew) this.page.moved(this, false); // only now is the model's name known
    if (anew && known) this.#lookAgain();
  }

  // #lookAgain notices that the server has another model now under the name of the one
  // on the screen, whenever somebody comes back to it.
  async #lookAgain() {
    const {model} = this;
    if (!model || this.section.hidden || document.hidden || this.looking) return;
    this.looking = true; // a window that comes to the front says so twice
    if (await this.#replaced(model)) await this.refresh();
    this.looking = false;
  }

  // #replaced tells whether the server has another model under this name, or none, and
  // forgets what is known if so. Rows and costs on the screen stay.
  async #replaced(model) {
    const {digest = model.digest} = await get(pathOf(model)).catch((error) => (error.status === 404 ? {digest: ""} : {}));
    if (digest === model.digest) return false;
    this.#models = undefined;
    this.#details.clear();
    this.news = "The server has a new version of the model; this is what it decides.";
    return true;
  }

  get #outcomes() {
    const {target} = this.model;
    return target.outcomes ?? [target.negative, target.positive];
  }

  // #entries is the cost table now.
  #entries() {
    const own = entriesOf(this.model.utility, this.model.actions, this.#outcomes);
    const {costs} = this.state;
    const fits = costs?.length === own.length && costs.every((row) => Array.isArray(row) && row.length === this.#outcomes.length && row.every((entry) => ["number", "string"].includes(typeof entry)));
    return fits ? costs : own;
  }

  #ownEntries() {
    return entriesOf(this.model.utility, this.model.actions, this.#outcomes);
  }

  #controls(all) {
    const {model, state} = this;
    setText(this.part("about"), `${methodLabel(model.method)}, fitted to ${plural(model.rows, "row")}${model.summary?.inducing ? `, approximated with ${plural(model.summary.inducing.points, "inducing point")},` : ""} with ${plural(model.features, "feature")}. It predicts ${model.target.name}: ${list(this.#outcomes, "or")}.`);
    offerEffects(this, model, model.summary?.effects);
    const costs = Boolean(model.utility.costs);
    if (this.tableOf !== model) {
      this.tableOf = model;
      this.costs = new EntryTable(this.part("costs"), {
        actions: model.actions.map((action) => `Do “${action}”`), outcomes: this.#outcomes.map((outcome) => `it is ${outcome}`),
        caption: costs ? "What it costs when" : "What it is worth when",
        name: (a, o) => `${costs ? "Cost" : "Worth"} of ${model.actions[a]} when it is ${this.#outcomes[o]}`,
        changed: (entries, settled) => {
          // A hand that lets go has changed nothing more; there is nothing to ask.
          if (sameEntries(entries, this.#entries())) {
            this.#outdated(false);
            return this.page.moved(this, settled);
          }
          this.change({costs: sameEntries(entries, this.#ownEntries()) ? undefined : entries}, settled);
        },
        writing: () => this.#outdated(true),
      });
      this.part("vary").replaceChildren(...this.#numericEntries().map(([a, o]) => h("option", {value: `${a},${o}`}, this.#entryName(a, o))));
      this.part("measure").replaceChildren(h("option", {value: ""}, "none"), ...model.columns.map(({name}) => h("option", {value: name}, name)));
      this.part("example").hidden = !exampleText(this.model);
    }
    this.costs.set(this.#entries(), reach(this.#ownEntries(), 5));
    this.part("reset").disabled = sameEntries(this.#entries(), this.#ownEntries());
    for (const part of ["calibrate", "opinion"]) this.part(part).checked = Boolean(state[part]);
    if (state.rows === undefined && !state.lost && this.model.example_rows?.length) state.rows = "example";
    const text = this.#rowsText();
    const field = this.part("rows");
    if (all || document.activeElement !== field) field.value = text.length <= longestShown ? text : "";
    field.rows = Math.min(12, Math.max(5, text.split("\n", 12).length + 1));
    field.placeholder = text.length > longestShown ? `${this.source ?? "The text"} is too long to show here, but it is read. Paste something else to replace it.` : columnsHint(this.model);
    const {from, to, log} = this.#range();
    this.part("vary").value = this.#vary().join();
    for (const [part, value] of [["from", from], ["to", to]]) if (all || document.activeElement !== this.part(part)) this.part(part).value = String(value);
    this.part("log").checked = log;
    this.part("measure").value = this.#measured() ?? "";
    this.part("price").disabled = this.#measured() === undefined;
    if (all || document.activeElement !== this.part("price")) this.part("price").value = state.price ?? "";
    this.part("labels").checked = Boolean(state.labels);
    this.#parse(text);
  }

  #rowsText() {
    const {rows = ""} = this.state;
    return rows === "example" ? exampleText(this.model) : rows;
  }

  // #outdated says that the results are no longer those of what is written, although
  // nothing is asked yet.
  #outdated(are) {
    this.part("results").setAttribute("aria-busy", String(are));
  }

  #forgetWriting() {
    clearTimeout(this.written);
    this.written = undefined;
  }

  #setRows(rows, source) {
    this.#forgetWriting();
    this.source = source;
    this.state.lost = undefined;
    this.change({rows, row: undefined}, true);
    if (rows === "example") this.part("rows").value = this.#rowsText();
    if (rows === "" || source) this.part("rows").value = "";
  }

  async #open(file) {
    if (!file) return;
    this.part("file").value = "";
    const text = await file.text();
    this.#setRows(text, file.name);
    if (text.length <= longestShown) this.part("rows").value = text;
  }

  // #parse reads the rows, once for each text.
  #parse(text) {
    if (this.parsed?.text === text && this.parsed.model === this.model) return;
    const numeric = new Set(this.model.columns.filter(({kind}) => kind === "numeric").map(({name}) => name));
    const note = this.part("rows-note");
    try {
      const parsed = readRows(text, numeric);
      const known = new Set(this.model.columns.map(({name}) => name));
      const extras = parsed.columns.filter((name) => !known.has(name));
      this.parsed = {...parsed, text, model: this.model, extras, bad: new Map()};
      if (this.state.rows === "example" && this.model.example_rows?.length) parsed.notes.push("They come with the model.");
      const unused = extras.filter((name) => name !== this.model.target.name).map((name) => name.trim() || "a column without a name");
      note.replaceChildren(`${plural(parsed.rows.length, "row")} read (${parsed.format}). ${parsed.notes.join(" ")} ${unused.length ? `Not used by the model: ${list(unused.slice(0, 8))}${unused.length > 8 ? " …" : ""}.` : ""}`);
      note.classList.remove("wrong");
    } catch (error) {
      this.parsed = {text, model: this.model, rows: []};
      setText(note, text.trim() === "" && this.state.lost ? `The link was made with ${plural(this.state.lost, "row")} that were too many to be part of it. Load them again to see the same.` : error.message);
      note.classList.toggle("wrong", text.trim() !== "");
    }
  }

  // #ask asks for decisions on the rows that are there.
  #ask() {
    const {parsed, state, model} = this;
    const any = parsed.rows.length > 0;
    this.part("results").hidden = !any;
    if (!any) {
      this.#outdated(false);
      this.live.forget();
      this.curveLive.forget();
      this.worthLive.forget();
      this.whyLive.forget();
      this.content();
      this.page.rendered();
      return;
    }
    const entries = this.#entries();
    // Which rows can be read may depend on formulas in the table.
    const formulas = entries.flat().filter((entry) => typeof entry === "string").join();
    if (parsed.formulas !== formulas) Object.assign(parsed, {formulas, bad: new Map()});
    const utility = specText(model.utility, model.actions, this.#outcomes, entries);
    const [a, o] = this.#vary();
    this.live.request({
      measure: this.#measured(), price: state.price ?? 0, labels: Boolean(state.labels), model, parsed, utility, isOwn: sameEntries(entries, this.#ownEntries()), calibrate: Boolean(state.calibrate), opinion: Boolean(state.opinion),
      ...(a !== undefined && {vary: {action: model.actions[a], outcome: this.#outcomes[o]}, range: this.#range(), entry: this.#entryName(a, o), now: multipleOf(entries[a][o])}),
    });
  }

  // #readable are the rows without those known to be bad, as text that is made once:
  // {indices, text}.
  #readable(parsed) {
    if (parsed.readable?.without !== parsed.bad.size) {
      const indices = parsed.rows.map((_, i) => i).filter((i) => !parsed.bad.has(i));
      parsed.readable = {without: parsed.bad.size, indices, text: JSON.stringify(indices.map((i) => parsed.rows[i]))};
    }
    return parsed.readable;
  }

  // #send posts rows, with further fields as JSON texts. Rows that the server cannot read
  // are noted and left out, as long as it names them, unless it refuses them because it
  // has another model by now: then that is asked. It returns the answer, undefined if no
  // row is left, and the rows it is about.
  async #send(model, path, parsed, fields, signal) {
    const further = Object.entries(fields).map(([name, text]) => `,"${name}":${text}`).join("");
    for (let round = 0; ; round++) {
      const readable = this.#readable(parsed);
      if (readable.indices.length === 0) return {readable};
      try {
        return {readable, answer: await post(`${pathOf(model)}/${path}`, `{"rows":${readable.text}${further}}`, signal)};
      } catch (error) {
        if (round === 0 && error.status === 422 && (await this.#replaced(model))) {
          await this.refresh(); // asks anew
          throw new DOMException("the model has been replaced", "AbortError");
        }
        if (!noteBadRows(error, parsed, readable) || round >= rounds) throw error;
      }
    }
  }

  // #decide asks for decisions under the model's own costs, which are remembered, and
  // under those shown.
  async #decide({model, parsed, utility, isOwn, calibrate, opinion}, signal) {
    this.#outdated(false); // from here on the panel is busy
    for (;;) {
      if (this.#own.readable !== this.#readable(parsed)) this.#own = await this.#send(model, "decide", parsed, {}, signal);
      const own = this.#own;
      if (!own.answer || (isOwn && !calibrate && !opinion)) return {own: own.answer, now: own.answer, readable: own.readable};
      const now = await this.#send(model, "decide", parsed, {...(!isOwn && {utility}), ...(calibrate && {calibrate}), ...(opinion && {second_opinion: true})}, signal);
      // Both must be about the same rows.
      if (now.readable === own.readable) return {own: own.answer, now: now.answer, readable: now.readable};
    }
  }

  #show({own, now, readable}, question) {
    const {model, parsed, opinion, calibrate} = question;
    const before = this.decisions;
    const place = new Map(readable.indices.map((index, i) => [index, i]));
    this.decisions = parsed.rows.map((row, index) => {
      const i = place.get(index);
      return i === undefined ? {index, row, errors: parsed.bad.get(index)} : {index, row, decision: now.decisions[i], own: own.decisions[i]};
    });
    const {target} = model;
    const extras = [target.name, ...parsed.extras.filter((name) => name !== target.name)].filter((name) => parsed.extras.includes(name)).slice(0, 2);
    this.about = {actions: now?.actions ?? model.actions, costs: now?.costs ?? Boolean(model.utility.costs), outcomes: target.outcomes ?? [target.positive], extras, opinions: opinion};
    this.asked = question;
    this.#showCase();
    this.#drawSimplex();
    const {headline, rest, flips} = summary(this.decisions, this.about);
    const verdict = this.part("verdict");
    verdict.dataset.state = flips ? "differ" : "agree";
    verdict.dataset.flips = flips;
    verdict.replaceChildren(h("strong", {}, headline), ` ${rest}`);
    const status = calibrate && now?.status ? ` Calibrated by ${methodLabel(now.method)}: ${now.status.text}.` : "";
    setText(this.part("rule"), `Rule: ${(now?.rule ?? model.rule).replace(/ \(threshold [^)]*\)/, "")}.${status}`);
    this.#tellFlips(before);
    this.#linkNote();
    if (question.vary && now) this.curveLive.request(question);
    else this.#showCurve(undefined);
    this.worthLive.request(question);
  }

  // One case, with the reasons for its decision.

  #chosen() {
    return Math.min(this.state.row ?? 0, this.decisions.length - 1);
  }

  #choose(row) {
    this.state.row = row;
    this.#showCase();
    this.page.moved(this, true);
  }

  #showCase() {
    const index = this.#chosen();
    const {row, decision, errors} = this.decisions[index];
    const {model, parsed} = this.asked;
    this.table.show(this.decisions, this.about, index);
    this.form.show(model.columns, parsed.rows, row);
    const [headline, rest] = decision ? caseText(index, decision, this.about) : [`Row ${index + 1} is not decided:`, ` ${errors.map(({column, message}) => [column, message].filter(Boolean).join(" ")).join("; ")}`];
    this.part("case-verdict").replaceChildren(h("strong", {}, headline), rest);
    if (decision) return this.whyLive.request({...this.asked, row});
    this.whyLive.forget();
    this.#showWhy(undefined);
  }

  async #askWhy({model, row, utility, isOwn, calibrate}, signal) {
    const further = [`"why":${reasons}`, ...(isOwn ? [] : [`"utility":${utility}`]), ...(calibrate ? [`"calibrate":true`] : [])];
    const {decisions} = await post(`${pathOf(model)}/decide`, `{"rows":[${JSON.stringify(row)}],${further.join()}}`, signal);
    return decisions[0];
  }

  #showWhy(decision) {
    setText(this.part("flip"), decision ? flipText(decision) : "");
    replaceTable(this.part("why-table"), ...(decision ? whyTable(decision, this.about) : []));
    replaceTable(this.part("effects-table"), ...(decision ? effectsTable(decision) : []));
  }

  // #edit gives a column of the case another value: the rows are written anew.
  #edit(name, value) {
    const {parsed} = this.asked;
    const index = this.#chosen();
    const names = [...new Set([...parsed.columns, name])];
    const rows = parsed.rows.map((row, i) => (i === index ? {...row, [name]: value} : row));
    const text = writeCSV(names, rows.map((row) => names.map((column) => cellOf(row, column))));
    this.#forgetWriting();
    this.change({rows: text, row: index, lost: undefined}, true);
    this.part("rows").value = text.length <= longestShown ? text : "";
  }

  // What it is worth to know more.

  // #measured is the column that is asked about, if the model has it.
  #measured() {
    const {measure} = this.state;
    return this.model.columns.some(({name}) => name === measure) ? measure : undefined;
  }

  // #askWorth asks about rows by themselves: those that lack the column cannot be decided
  // otherwise.
  async #askWorth({model, parsed, utility, isOwn, calibrate, measure, price, labels}, signal) {
    if (!parsed.worth || parsed.worth.measure !== measure) parsed.worth = {measure, rows: parsed.rows, bad: new Map()};
    const {answer, readable} = await this.#send(model, "value", parsed.worth, {
      ...(!isOwn && {utility}), ...(calibrate && {calibrate}), ...(measure !== undefined && {ask: JSON.stringify([measure])}), ...(labels && {labels}),
    }, signal);
    return answer && {answer, price, indices: readable.indices};
  }

  #showWorth(worth, {model}) {
    this.worth = worth;
    setText(this.part("worth-note"), worth ? worthText(worth) : "");
    replaceTable(this.part("worth-table"), ...(worth ? worthTable(worth, model.target.outcomes ?? [model.target.positive]) : []));
  }

  #saveWorth() {
    if (!this.worth) return;
    const {header, rows} = worthRows(this.worth);
    saveCSV(`${this.model.name}-worth`, writeCSV(header, rows));
  }

  // #tellFlips says which rows changed with the last move of a cost.
  #tellFlips(before) {
    const {news = ""} = this;
    this.news = undefined;
    if (before?.[0].row !== this.decisions[0].row) return setText(this.part("live"), news); // other rows, or another model
    const turned = this.decisions.filter(({decision}, i) => decision && before[i].decision && decision.action_index !== before[i].decision.action_index);
    if (turned.length === 0) return;
    const all = this.decisions.filter(flipped).length;
    const some = turned.slice(0, 5).map(({index, decision}) => `row ${index + 1} to ${decision.action}`);
    setText(this.part("live"), `${plural(turned.length, "decision")} just changed: ${some.join(", ")}${turned.length > 5 ? ", …" : "."} In all, ${all === 1 ? "1 differs" : `${count(all)} differ`} from what the model decides by itself.`);
  }

  #linkNote() {
    const {rows} = this.state;
    const lost = rows && rows !== "example" && !this.write().rows;
    setText(this.part("link-note"), lost ? `The link does not include the ${plural(this.parsed.rows.length, "row")}: they are too long for an address.` : "");
  }

  // The entry of the table that the curve varies, and how far.

  #numericEntries() {
    return this.#ownEntries().flatMap((row, a) => row.flatMap((entry, o) => (multipleOf(entry) === undefined ? [] : [[a, o]])));
  }

  #entryName(a, o) {
    const what = `${this.model.utility.costs ? "cost" : "worth"} of ${this.model.actions[a]} when ${this.#outcomes[o]}`;
    const entry = this.#ownEntries()[a][o];
    return typeof entry === "number" ? what : `${what}, times ${withMultiple(entry, 1).slice(4)}`;
  }

  // #vary is the entry chosen, or the largest one.
  #vary() {
    const now = this.#entries();
    const choices = this.#numericEntries().filter(([a, o]) => multipleOf(now[a][o]) !== undefined);
    const own = ([a, o]) => multipleOf(this.#ownEntries()[a][o]);
    return choices.find((choice) => choice.join() === this.state.vary) ?? choices.toSorted((one, other) => own(other) - own(one))[0] ?? [];
  }

  #range() {
    const [a, o] = this.#vary();
    const own = a === undefined ? 1 : multipleOf(this.#ownEntries()[a][o]);
    const log = this.state.log ?? own > 0;
    const scale = own > 0 ? own : reach(this.#ownEntries(), 1);
    return {log, from: this.state.from ?? (log ? rounded(scale / 20, 2) : 0), to: this.state.to ?? rounded(scale * (log ? 20 : 4), 2)};
  }

  #nudged(steps) {
    const [a, o] = this.#vary();
    const {log, from, to} = this.#range();
    const now = multipleOf(this.#entries()[a][o]);
    return Math.max(0, log ? now * (to / from) ** (steps / 100) : now + (steps * (to - from)) / 100);
  }

  async #askCurve({model, parsed, utility, isOwn, calibrate, vary, range, entry, now}, signal) {
    const {answer} = await this.#send(model, "curve", parsed, {
      ...(!isOwn && {utility}), ...(calibrate && {calibrate}), vary: JSON.stringify(vary), from: range.from, to: range.to, steps: curveSteps, scale: JSON.stringify(range.log ? "log" : "linear"),
    }, signal);
    return answer && {...answer, entry, log: range.log, now};
  }

  #showCurve(curve) {
    this.curve = curve;
    this.redraw();
    replaceTable(this.part("curve-table"), ...(curve ? this.#curveTable(curve) : []));
  }

  #curveTable({points, constant, entry, costs}) {
    const what = costs ? "cost" : "worth";
    const realised = points[0].realised !== undefined && points[0].realised !== null;
    const heads = [entry, `${what} of the best decisions`, `${what} of the decisions as now`, ...(realised ? [`${what} with what happened`] : []), "decisions that differ from now", ...constant.map(({action}) => `always ${action}`)];
    return [
      caption(`Average ${what} of a decision as ${entry} changes`),
      h("thead", {}, h("tr", {}, heads.map((head) => h("th", {scope: "col", class: "number"}, head)))),
      h("tbody", {}, points.map((point, i) => h("tr", {dataset: {value: point.value}},
        cell("value", number(point.value, 4), point.value), cell("expected", number(point.expected, 4), point.expected), cell("held", number(point.held, 4), point.held),
        realised ? cell("realised", number(point.realised, 4), point.realised) : "", cell("flipped", count(point.flipped), point.flipped),
        constant.map(({action, expected}) => cell("constant", number(expected[i], 4), expected[i], {dataset: {action}}))))),
    ];
  }

  redraw() {
    this.#drawSimplex();
    if (!this.width || !this.curve) return this.pictures.replaceChildren();
    const {charts, scale} = curveCharts(this.curve, {...this.curve, theme: theme(), width: this.width, still: false});
    this.pictures.replaceChildren(...charts);
    this.scale = scale;
    this.handles.resize(this.width, charts.reduce((sum, chart) => sum + Number(chart.getAttribute("height")), 0));
    const {now} = this.curve;
    const [from, to] = scale.domain;
    const inside = now >= from && now <= to;
    this.handles.set(inside ? [{
      id: "now", label: this.curve.entry, role: "slider", className: "threshold", x: scale.apply(now), y: knobTop, now, min: from, max: to, valueText: number(now), shape: lineShape(curveHeight + 70 - knobTop, `now ${number(now)}`, scale.apply(now) > this.width / 2),
    }] : []);
    if (this.decisions && this.about) this.table.show(this.decisions, this.about, this.#chosen());
  }

  // #simplex is the triangle of three outcomes, undefined where there is nothing to draw.
  #simplex(theme, width) {
    if (this.#outcomes.length !== 3 || !this.decisions) return undefined;
    const table = this.#entries();
    const cases = this.decisions.filter(({decision}) => decision).map((entry) => ({row: entry.index + 1, probabilities: entry.decision.probabilities, action: entry.decision.action_index, flipped: flipped(entry)}));
    return simplexChart({outcomes: this.#outcomes, actions: this.about.actions, costs: this.about.costs, table: table.flat().every((entry) => typeof entry === "number") ? table : undefined, cases, theme, width});
  }

  #drawSimplex() {
    const chart = this.width && this.model && this.#simplex(theme(), this.width);
    this.part("simplex").hidden = !chart;
    if (!chart) return;
    this.part("simplex-chart").replaceChildren(chart);
    this.part("simplex-key").replaceChildren(...this.about.actions.flatMap((action, a) => [actionBadge(a, this.about.actions), " "]));
  }

  #saveSVG() {
    if (!this.curve) return;
    const {charts} = curveCharts(this.curve, {...this.curve, theme: light, width: 800, still: true});
    saveSVG(`${this.model.name}-curve`, [`${this.model.name}: what decisions cost as one entry of the table changes`, `${plural(this.parsed.rows.length, "row")}; ${this.curve.entry} is ${this.curve.now} now`], charts);
  }

  #saveTable() {
    if (!this.decisions) return;
    const {actions, costs, extras, outcomes} = this.about;
    const header = ["row", ...extras, "action", "own_action", "flipped", ...(outcomes.length > 1 ? outcomes.map((outcome) => `probability_${outcome}`) : ["probability"]), ...actions.map((action) => `${costs ? "cost" : "utility"}_${action}`), "margin", "disagreeing", "unusual", "error"];
    saveCSV(`${this.model.name}-decisions`, writeCSV(header, this.decisions.map((entry) => {
      const {index, row, decision: d, own, errors} = entry;
      return [
        index + 1, ...extras.map((name) => cellOf(row, name)), d?.action, own?.action, d && flipped(entry), ...outcomes.map((_, o) => d && probabilitiesOf(d)[o]), ...actions.map((_, a) => d && expectedOf(d)[a]), d?.margin,
        d?.disagreeing && Object.entries(d.disagreeing).map((pair) => pair.join(": ")).join("; "), d?.unusual?.join("; "), errors?.map(({column, message}) => [column, message].filter(Boolean).join(": ")).join("; "),
      ];
    })));
  }

  #saveCurve() {
    if (!this.curve) return;
    const {points, constant} = this.curve;
    saveCSV(`${this.model.name}-curve`, writeCSV(
      ["value", "expected", "held", "realised", "flipped", ...constant.map(({action}) => `always_${action}`)],
      points.map((p, i) => [p.value, p.expected, p.held, p.realised, p.flipped, ...constant.map(({expected}) => expected[i])])));
  }
}

// noteBadRows takes down what an error says about rows, and tells whether it did.
function noteBadRows(error, parsed, {indices}) {
  const found = new Map();
  for (const {location, message} of error.errors ?? []) {
    const [, place, column] = /^(?:body\.)?rows\[(\d+)\](?:\.(.+))?$/.exec(location ?? "") ?? [];
    const index = indices[place];
    if (index !== undefined) found.set(index, [...(found.get(index) ?? []), {column, message}]);
  }
  found.forEach((errors, index) => parsed.bad.set(index, errors));
  return found.size > 0;
}
