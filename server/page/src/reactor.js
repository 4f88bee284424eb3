import * as Plot from "@observablehq/plot";
import {post} from "./api.js";
import {base, draw, methodKey, methodLine, nameCurves, stripBox, strips} from "./charts.js";
import {caption, cell, flash, h, onWidth, setText, wordCell} from "./dom.js";
import {EntryTable, reach} from "./entries.js";
import {decimalsOf, fixed, list, number, percent, plural, snapped, toWithin} from "./format.js";
import {Handles, lineShape, pointShape} from "./handles.js";
import {stacked} from "./labels.js";
import {decodeNumbers, decodeTable, encodeNumbers, encodeTable} from "./link.js";
import {light, theme} from "./looks.js";
import {methodLabel} from "./methods.js";
import {actionBadge, methodHead, names, Panel, replaceTable, showLeftOut} from "./panel.js";
import {writeCSV} from "./rows.js";
import {saveCSV, saveSVG} from "./save.js";

const actions = ["leave on", "shut down"];
const does = ["leaves the reactor on", "shuts it down"];
const doMany = ["leave the reactor on", "shut it down"];

// The constants of the model, with the values the server takes for granted.
const constants = {
  prior_mean: {label: "Expected state before measuring", value: 0},
  prior_variance: {label: "Variance of the state before measuring", value: 100, min: 0},
  clutter_weight: {label: "Share of junk among measurements", value: 0.5, min: 0, max: 1},
  clutter_variance: {label: "Variance of junk measurements", value: 10, min: 0},
  noise_variance: {label: "Variance of good measurements", value: 1, min: 0},
};
const defaults = Object.fromEntries(Object.entries(constants).map(([name, {value}]) => [name, value]));

const presets = [
  {label: "Five measurements, one far off: EP and VI err", data: [-1.1, -2.6, -4, 5.7, -1.1], threshold: 2.2, utility: [[1, 0.01], [0.9, 1]]},
  {label: "Two measurements that may be one good and one junk", data: [0.1, 2.3], threshold: 2, utility: [[1, 0.01], [0.8, 1]]},
  {label: "Four that agree: every method is right", data: [1.8, 2.2, 2.9, 2.4], threshold: 5, utility: [[1, 0.01], [0.9, 1]]},
  {label: "Mistakes that cost the same", data: [-1.1, -2.6, -4, 5.7, -1.1], threshold: 2.2, utility: [[1, 0], [0, 1]]},
];

const maxMeasurements = 40;
const chartHeight = 280;
const floor = 14; // below the curves

export class Reactor extends Panel {
  constructor(page) {
    super("reactor", page);
    this.live = this.ask((question, signal) => post("v1/explore/reactor", question, signal), (view) => this.#show(view));
    this.#wire();
    this.read({});
  }

  #wire() {
    const {page} = this;
    this.part("preset").append(h("option", {value: ""}, "choose…"), ...presets.map(({label}, i) => h("option", {value: i}, label)));
    this.part("preset").addEventListener("change", ({target}) => {
      if (target.value !== "") this.change({...presets[target.value], constants: defaults}, true);
      target.value = "";
    });
    this.part("data").addEventListener("input", ({target}) => {
      const data = decodeNumbers(target.value.trim().replace(/[\s,;]+/g, ",").replace(/^,|,$/g, ""));
      const good = data && data.length <= maxMeasurements;
      target.toggleAttribute("aria-invalid", !good);
      setText(this.part("data-note"), good ? "Numbers, separated by commas." : data ? `At most ${maxMeasurements} measurements.` : "These are not all numbers. Separate them by commas.");
      if (good) this.change({data}, false);
    });
    this.part("data").addEventListener("change", () => page.moved(this, true));
    this.part("clear").addEventListener("click", () => this.change({data: []}, true));
    this.part("threshold").addEventListener("input", ({target}) => Number.isFinite(target.valueAsNumber) && this.change({threshold: target.valueAsNumber}, false));
    this.part("threshold").addEventListener("change", () => page.moved(this, true));
    this.utility = new EntryTable(this.part("utility"), {
      actions: ["Leave on", "Shut down"], outcomes: ["state is below", "state is above"], even: true,
      caption: "What each action is worth when the",
      name: (a, o) => `Worth of ${["leaving on", "shutting down"][a]} when the state is ${["below", "above"][o]}`,
      changed: (utility, settled) => this.change({utility}, settled),
    });
    this.fields = Object.entries(constants).map(([name, {label, min, max}]) => {
      const input = h("input", {
        type: "number", step: "any", min, max, id: `reactor-${name}`, dataset: {constant: name},
        oninput: () => Number.isFinite(input.valueAsNumber) && this.change({constants: {...this.state.constants, [name]: input.valueAsNumber}}, false),
        onchange: () => page.moved(this, true),
      });
      this.part("constants").append(h("label", {for: input.id}, label), input);
      return [name, input];
    });

    const chart = this.part("chart");
    this.pictures = h("div", {class: "pictures", "aria-hidden": "true"});
    chart.append(this.pictures);
    this.handles = new Handles(chart, {
      add: (x, y) => y < chartHeight && this.#add(this.#unscale(x)),
      move: (id, x) => {
        this.held ??= this.scale.domain;
        this.#move(id, this.#unscale(x));
      },
      nudge: (id, dx, dy, size) => this.#nudge(id, dx || dy, size),
      done: () => {
        this.held = undefined;
        this.change({}, true);
      },
      remove: (id) => id !== "threshold" && this.#remove(Number(id)),
    }, "Measurements and threshold");
    onWidth(chart, (width) => {
      this.width = width;
      this.redraw();
    });
    this.part("save-svg").addEventListener("click", () => this.#saveSVG());
    this.part("save-table").addEventListener("click", () => this.#saveTable());
    this.part("save-curves").addEventListener("click", () => this.#saveCurves());
  }

  // read takes the state from the values of a link.
  read(values) {
    const numbers = (text) => decodeNumbers(text);
    const [first] = presets;
    const table = decodeTable(values.utility, 2);
    const threshold = numbers(values.threshold)?.[0];
    this.state = {
      data: numbers(values.data)?.slice(0, maxMeasurements) ?? (values.data === undefined && values.threshold === undefined ? first.data : []),
      threshold: threshold ?? first.threshold,
      utility: table?.length === 2 ? table : first.utility,
      constants: Object.fromEntries(Object.entries(defaults).map(([name, value]) => [name, numbers(values[name])?.[0] ?? value])),
    };
  }

  write() {
    const {data, threshold, utility, constants: now} = this.state;
    const other = Object.entries(now).filter(([name, value]) => value !== defaults[name]);
    return {data: encodeNumbers(data), threshold: String(threshold), utility: encodeTable(utility), ...Object.fromEntries(other)};
  }

  change(part, settled) {
    const {label: _, ...state} = part;
    this.state = {...this.state, ...state};
    this.refresh();
    this.page.moved(this, settled);
  }

  // refresh puts the state into the controls, all of them or those not being written in,
  // and asks the server about it.
  refresh(all = false) {
    const {data, threshold, utility, constants: now} = this.state;
    const write = (input, text) => (all || document.activeElement !== input) && (input.value = text);
    write(this.part("data"), data.join(", "));
    write(this.part("threshold"), threshold);
    this.utility.set(utility, reach([[1]].concat(utility), 1));
    for (const [name, input] of this.fields) write(input, now[name]);
    setText(this.part("junk"), junk(now.clutter_weight));
    this.#placeHandles();
    if (data.length === 0) {
      this.live.forget();
      this.content();
      this.failed = false;
      setText(this.part("live"), "");
      this.view = undefined;
      this.redraw();
      this.page.rendered();
      return;
    }
    this.live.request({data, threshold, utility, ...now, ...(this.held && {domain: this.held})});
  }

  refused() {
    this.failed = true;
    setText(this.part("live"), "");
    this.#verdict();
  }

  #show(view) {
    this.failed = false;
    const before = this.view && Object.fromEntries(this.view.answers.map((answer) => [answer.method, answer.action]));
    this.view = view;
    this.redraw();
    this.#tellFlips(before);
  }

  // redraw shows the last answer, with everything at its place.
  redraw() {
    if (!this.width) return;
    const {charts, labels} = this.#charts(theme(), this.width, false);
    this.labels = labels;
    this.pictures.replaceChildren(...charts);
    const [first] = charts;
    this.scale = first.scale("x");
    this.height = charts.reduce((sum, chart) => sum + Number(chart.getAttribute("height")), 0);
    this.handles.resize(this.width, this.height);
    this.#placeHandles();
    this.#table();
    this.#verdict();
    showLeftOut(this.part("left-out"), this.view?.left_out);
    this.curvesTable(() => {
      const {phi = [], answers = []} = this.view ?? {};
      return {
        about: "How plausible each state is (density), at some states; the file of the curves has all",
        heads: ["State", ...answers.map(({method}) => methodLabel(method))],
        rows: phi.flatMap((x, i) => (i % 10 === 0 ? [[number(x, 4), ...answers.map(({density}) => fixed(density[i]))]] : [])),
      };
    });
  }

  // #charts draws the densities and below them the strips. still adds what on the
  // screen are handles.
  #charts(theme, width, still) {
    const {view} = this;
    // While something is dragged the view must not move under the hand.
    const domain = this.held ?? view?.domain ?? [-10, 10];
    const answers = view?.answers ?? [];
    const exact = answers.find(({method}) => method === "exact");
    const top = Math.max(0.05, ...answers.flatMap((answer) => answer.density)) * 1.06;
    const levels = stacked(this.state.data.map((value) => ((value - domain[0]) / (domain[1] - domain[0])) * width));
    const threshold = [Plot.ruleX([this.state.threshold], {stroke: theme.ink, strokeWidth: 2})];
    const options = {
      ...base(theme, width, chartHeight, "How plausible each state is, by each method"),
      marginTop: 28, marginBottom: answers.length ? floor : 30,
      x: {domain, label: null, tickSize: 4, ...(answers.length && {axis: null})},
      y: {domain: [0, top], axis: null},
      marks: [
        Plot.gridX({stroke: theme.grid, strokeOpacity: 1}),
        exact && Plot.areaY(view.phi, {x: view.phi, y: exact.density, fill: theme.area, clip: true}),
        Plot.ruleY([0], {stroke: theme.edge}),
        ...answers.toReversed().flatMap((answer, i) => methodLine(answer.method, view.phi, answer.density, theme, {index: i, width: answer.method === "exact" ? 2.2 : 2, markers: answer.method === "exact" ? 0.5 : 9})),
        this.state.data.length === 0 && Plot.text(["Click to add a first measurement"], {frameAnchor: "middle", fontSize: 14, fill: theme.quiet}),
        still && threshold,
        still && this.state.data.map((value, i) => Plot.dot([value], {x: Plot.identity, y: 0, symbol: "triangle", r: 5, dy: -5 - 14 * levels[i], fill: theme.accent, stroke: theme.paper})),
        still && Plot.text([this.state.threshold], {x: Plot.identity, text: (t) => `threshold ${number(t, 4)}`, frameAnchor: "top", dy: -14, fontWeight: 600}),
      ],
    };
    const curves = answers.map((answer) => ({name: answer.method, xs: view.phi, ys: answer.density}));
    const chart = draw(options);
    const labels = nameCurves(chart, curves, theme, {previous: still ? [] : this.labels, keepClear: 24});
    const below = strips({
      rows: answers.map(({method, ranges}) => ({method, ranges})), actions, domain, theme, width,
      label: "What each method does when the threshold is elsewhere", title: width < 480 ? "… and with the threshold elsewhere" : "what each method would do if the threshold were elsewhere", axis: "state →",
      marks: still ? threshold : [],
    });
    return {charts: answers.length ? [chart, below] : [chart], labels};
  }

  #placeHandles() {
    if (!this.scale) return;
    const {data, threshold} = this.state;
    const [lo, hi] = this.scale.domain;
    const x = (v) => Math.min(this.width, Math.max(0, this.scale.apply(v)));
    const levels = stacked(data.map(x));
    const points = data.map((value, i) => ({
      id: String(i), label: `Measurement ${i + 1}`, role: "slider", x: x(value), y: chartHeight - floor - 8 - 14 * levels[i], now: value, min: lo, max: hi, valueText: number(value, 4), shape: pointShape("measurement"),
    }));
    const line = {
      id: "threshold", label: "Threshold", role: "slider", className: "threshold", x: x(threshold), y: 6, now: threshold, min: lo, max: hi, valueText: number(threshold, 4), shape: lineShape(this.height - 6 - 40, `threshold ${number(threshold, 4)}`, this.scale.apply(threshold) > this.width / 2),
    };
    this.handles.set([line, ...points]);
  }

  #unscale(x) {
    const [lo, hi] = this.scale.domain;
    return snapped(Math.min(hi, Math.max(lo, this.scale.invert(x))), this.#step());
  }

  // #step is a hundredth of what is seen; a point that is dragged has no more digits than
  // that asks for.
  #step() {
    const [lo, hi] = this.scale.domain;
    return (hi - lo) / 100;
  }

  #add(value) {
    if (this.state.data.length >= maxMeasurements) return;
    const data = [...this.state.data, value];
    this.change({data}, true);
    this.handles.focus(String(data.length - 1));
  }

  #remove(i) {
    const data = this.state.data.toSpliced(i, 1);
    this.change({data}, true);
    this.handles.focus(data.length ? String(Math.min(i, data.length - 1)) : "threshold");
  }

  #move(id, value, settled = false) {
    if (id === "threshold") this.change({threshold: value}, settled);
    else this.change({data: this.state.data.with(Number(id), value)}, settled);
  }

  #nudge(id, way, size) {
    const step = 10 ** Math.floor(Math.log10(this.#step())) * {small: 0.1, normal: 1, large: 10}[size];
    const now = id === "threshold" ? this.state.threshold : this.state.data[id];
    this.#move(id, snapped(now + way * step, step), true);
  }

  #table() {
    const {view} = this;
    const answers = view?.answers ?? [];
    replaceTable(this.part("table"),
      caption("Actions, what they are worth on average, and the belief behind them"),
      h("thead", {}, h("tr", {},
        ["Method", "Action", "As exact?"].map((text) => h("th", {scope: "col"}, text)),
        ["Worth of leaving on", "Worth of shutting down", "Chance of danger", "Mean", "Std. dev."].map((text) => h("th", {scope: "col", class: "number"}, text)),
        ["Changes its mind at", "How it ended"].map((text) => h("th", {scope: "col"}, text)))),
      h("tbody", {}, answers.map((answer) => this.#row(answer))));
  }

  #row(answer) {
    const {method, action, agrees, expected_utility: expected, ranges} = answer;
    const turns = turnsOf(ranges);
    const {sweep} = answer;
    const told = turns.map((t) => (sweep ? toWithin(t, sweep.precision) : number(t, 4))).join(", ");
    const others = answer.other_fixed_points?.length ? `; from other starts it ends elsewhere (${plural(answer.other_fixed_points.length, "other solution")})` : "";
    return h("tr", {dataset: {method}},
      methodHead(method),
      wordCell("action", actionBadge(action, actions), action),
      wordCell("agrees", method === "exact" || agrees === null ? "" : agrees ? "✓ yes" : h("strong", {class: "differs"}, "✗ no"), agrees),
      expected.map((value, a) => cell("expected", fixed(value), value, {dataset: {action: a}, class: a === action ? "best" : ""})),
      cell("probability_above", percent(answer.probability_above), answer.probability_above),
      cell("mean", fixed(answer.mean, 3), answer.mean),
      cell("sd", fixed(Math.sqrt(answer.variance), 3), Math.sqrt(answer.variance)),
      wordCell("turns", [turns.length ? told : "never", sweep ? h("span", {class: "quiet"}, ` ${looked(sweep, turns.length)}`) : ""], turns.join(",")),
      wordCell("status", answer.status + others, answer.converged));
  }

  #verdict() {
    const verdict = this.part("verdict");
    delete verdict.dataset.state;
    if (this.failed) return setText(verdict, "");
    const [exact, ...others] = this.view?.answers ?? [];
    if (!exact) return setText(verdict, this.state.data.length ? "Working…" : "No measurements yet.");
    const {by_probability: by, threshold} = this.view;
    const reason = by.length !== 2 ? "" : ` The chance that the state is above ${number(threshold, 4)} is ${percent(exact.probability_above)}, and ${["leaving it on", "shutting it down"][by[1].action]} pays from ${percent(by[1].from)} on.`;
    if (exact.method !== "exact") {
      verdict.replaceChildren(h("strong", {}, "There is no exact answer to compare with."), ` ${verdictWithoutExact(this.view.answers)}`);
      verdict.dataset.state = "neutral";
      return;
    }
    if (same(...exact.expected_utility)) {
      verdict.dataset.state = "neutral";
      verdict.replaceChildren(h("strong", {}, "Both are worth the same:"), " no method can be wrong here.", h("span", {class: "reason"}, reason));
      return;
    }
    const right = others.filter((answer) => answer.agrees).map((answer) => answer.method);
    const wrong = others.filter((answer) => !answer.agrees);
    const verb = (methods, action) => `${names(methods)} ${methods.length === 1 ? does[action] : doMany[action]}`;
    const sentences = [
      right.length ? (wrong.length ? `${names(right)} ${right.length === 1 ? "agrees" : "agree"}` : "all methods agree") : "no method agrees",
      wrong.length && verb(wrong.map((answer) => answer.method), wrong[0].action),
    ].filter(Boolean);
    verdict.dataset.state = wrong.length ? "differ" : "agree";
    verdict.replaceChildren(
      h("strong", {}, `Right is to ${actions[exact.action] === "leave on" ? "leave it on" : "shut it down"}: `), `${sentences.join("; ")}.`, h("span", {class: "reason"}, reason));
  }

  // #tellFlips says which methods act otherwise than before, and shows it.
  #tellFlips(before) {
    if (!before) return;
    const {answers} = this.view;
    const flipped = answers.filter(({method, action}) => before[method] !== undefined && before[method] !== action);
    if (flipped.length === 0) return;
    const [exact] = answers;
    const told = flipped.map(({method, action}) => `${methodLabel(method)} now ${does[action]}`);
    const others = exact.method === "exact" && !flipped.includes(exact) ? `; exact ${does[exact.action]}` : "";
    setText(this.part("live"), `At threshold ${number(this.view.threshold, 4)}: ${list(told)}${others}.`);
    for (const {method} of flipped) {
      flash(this.part("table").querySelector(`[data-method="${method}"]`));
      const i = answers.findIndex((answer) => answer.method === method);
      this.handles.flash(stripBox(i, chartHeight, this.width));
    }
  }

  #saveSVG() {
    const {data, threshold, utility} = this.state;
    const {charts} = this.#charts(light, 800, true);
    saveSVG("reactor", [
      "Reactor: what each method believes and does",
      `measurements ${data.join(", ")}; threshold ${threshold}; worth below/above: leave on ${utility[0].join("/")}, shut down ${utility[1].join("/")}`,
    ], [...charts, methodKey((this.view?.answers ?? []).map(({method}) => method), light, 800)]);
  }

  #saveTable() {
    const rows = (this.view?.answers ?? []).map((a) => [
      a.method, actions[a.action], a.agrees, ...a.expected_utility, a.probability_above, a.mean, a.variance, a.regret?.absolute, a.regret?.normalised, turnsOf(a.ranges).map((t) => (a.sweep ? t.toFixed(decimalsOf(a.sweep.precision)) : t)).join(" "), a.converged, a.status,
    ]);
    saveCSV("reactor-methods", writeCSV([
      "method", "action", "agrees_with_exact", "expected_worth_leave_on", "expected_worth_shut_down", "probability_above", "mean", "variance", "regret", "regret_normalised", "changes_at_thresholds", "converged", "status",
    ], rows));
  }

  #saveCurves() {
    const {phi = [], answers = []} = this.view ?? {};
    saveCSV("reactor-densities", writeCSV(["state", ...answers.map((a) => a.method)], phi.map((x, i) => [x, ...answers.map((a) => a.density[i])])));
  }
}

// turnsOf are the thresholds at which a method changes its mind. Where it failed its
// ranges do not meet, and the change is somewhere before the second.
function turnsOf(ranges) {
  return ranges.flatMap(({action, from}, i) => (i > 0 && action !== ranges[i - 1].action ? [from] : []));
}

// looked says how closely a method was followed over the thresholds.
function looked({spacing, precision, held, runs}, turns) {
  return [
    `(looked at every ${number(spacing, 2)}`, turns ? `; known to ${number(precision, 1)}` : "",
    held ? `; ${held} of ${plural(runs, "run")} with the actions held` : "", ")",
  ].join("");
}

// junk says how many measurements are junk.
function junk(share) {
  if (share === 0) return "none of the measurements is junk";
  return `${share === 0.5 ? "half" : percent(share)} of the measurements are junk`;
}

// same tells whether two expectations differ by rounding at most.
const same = (a, b) => Math.abs(a - b) <= 1e-12 * Math.max(Math.abs(a), Math.abs(b));

// verdictWithoutExact says what methods do when there is nothing to judge them by.
function verdictWithoutExact(answers) {
  const told = does.flatMap((_, action) => {
    const methods = answers.filter((answer) => answer.action === action).map(({method}) => method);
    return methods.length ? [`${names(methods)} ${methods.length === 1 ? does[action] : doMany[action]}`] : [];
  });
  return `${told.join("; ")}.`;
}
