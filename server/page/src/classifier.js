import * as Plot from "@observablehq/plot";
import {post} from "./api.js";
import {base, draw, methodKey, methodLine, nameCurves, pointMarks, rangesOf, stripBox, strips} from "./charts.js";
import {caption, cell, flash, h, onWidth, setText, wordCell} from "./dom.js";
import {EntryTable, reach, typing} from "./entries.js";
import {count, list, number, percent, plural, rounded, snapped} from "./format.js";
import {Handles, pointShape} from "./handles.js";
import {isolines} from "./isolines.js";
import {kernelText, parametersOf, parseKernel} from "./kernel.js";
import {decodeNumbers, decodeTable, encodeNumbers, encodeTable} from "./link.js";
import {light, theme} from "./looks.js";
import {methodLabel, methodNamed} from "./methods.js";
import {methodHead, names, Panel, replaceTable, showLeftOut} from "./panel.js";
import {actionBoundaries, surface, surfaceColors, surfaceLegend, threeColors, threeLegend, withBoundaries} from "./plane.js";
import {writeCSV} from "./rows.js";
import {saveCSV, saveSVG} from "./save.js";

// Classes by their labels, the words and marks for them, and what can be done. Of three each
// is called by its mark.
const two = {labels: [0, 1], names: ["negative", "positive"], signs: ["○", "■"], actions: ["treat as negative", "treat as positive"]};
const three = {labels: [0, 1, 2], names: ["round", "square", "pointed"], signs: ["○", "■", "▲"], actions: ["treat as round", "treat as square", "treat as pointed"]};
const leadOfThree = "From a few labelled points, each method works out how probable each of three classes is everywhere. With equal costs one goes by the most probable class; where a class is dearer to miss, one goes by it sooner. The boundaries that follow depend on the method.";
const shapes = ["negative", "positive", "third"];
const maxPoints = 100;
const linePoints = 201;
const planePoints = 41;
const lineHeight = 330;
const lineMargins = {marginTop: 18, marginBottom: 18};

// The two points of the paper's figure, ∓√2, with its kernel: variance e³, length e.
const twoPoints = {points: [[-1.41421, 0], [1.41421, 1]], kernel: "rbf(variance=20.0855, lengthscale=2.71828)", area: [[-10, 10]]};
const presets = [
  {label: "Two points; a false alarm costs half a miss", ...twoPoints, costs: [[0, 1], [0.5, 0]]},
  {label: "Two points; a false alarm costs a twentieth", ...twoPoints, costs: [[0, 1], [0.05, 0]]},
  {
    label: "On the line: a lone positive among negatives", points: [[-4, 0], [-3, 0], [-1.8, 1], [-0.6, 0], [0.9, 0], [2, 1], [2.8, 1], [4.1, 1]],
    kernel: "matern32(variance=6, lengthscale=1.6)", area: [[-7, 7]], costs: [[0, 4], [1, 0]],
  },
  {
    label: "In the plane: two groups that touch",
    points: [
      [-1.6, 0.7, 0], [-2.1, -0.6, 0], [-0.9, -1.2, 0], [-0.4, 0.3, 0], [-1.3, 1.9, 0], [0.4, -1.5, 0], [0.3, 1.1, 1], [1.1, 0.4, 1], [1.9, -0.4, 1], [1.6, 1.6, 1], [0.1, -0.4, 1], [2.4, 0.8, 1],
    ],
    kernel: "rbf(variance=8, lengthscale=1.4)", area: [[-4, 4], [-3, 3]], costs: [[0, 5], [1, 0]],
  },
  {
    label: "In the plane: five points from a test of other software", points: [[-1.07932, -1.83544, 0], [1.15768, 2.91702, 1], [3.26631, -3.85663, 1], [1.79009, 0.11949, 1], [-3.66051, 1.75159, 0]],
    kernel: "rbf(variance=2.25, lengthscale=2)", area: [[-6, 6], [-6, 6]], costs: [[0, 1], [0.5, 0]],
  },
  {
    label: "In the plane: three groups, one of them dear to miss",
    points: [[-2.2, -0.8, 0], [-1.4, -1.5, 0], [-2.6, 0.3, 0], [-1, -0.4, 0], [1.2, -1.2, 1], [2.1, -0.6, 1], [1.7, 0.4, 1], [0.5, -1.8, 1], [-0.3, 1.4, 2], [0.4, 2.1, 2], [-0.9, 2.2, 2], [0.7, 0.9, 2]],
    kernel: "rbf(variance=8, lengthscale=1.4)", area: [[-4, 4], [-3, 3]], costs: [[0, 1, 4], [1, 0, 4], [1, 1, 0]],
  },
];

const newPlane = {points: [], area: [[-4, 4], [-3, 3]]};
const newLine = {points: [], area: [[-10, 10]]};
const newThree = {points: [], area: [[-4, 4], [-3, 3]]};
const newCosts = {2: [[0, 1], [0.5, 0]], 3: [[0, 1, 1], [1, 0, 1], [1, 1, 0]]};

const sliders = {
  variance: {label: "Strength (variance)", min: 0.01, max: 1000},
  lengthscale: {label: "Reach (length scale)", min: 0.05, max: 50},
  period: {label: "Period", min: 0.1, max: 50},
};

// Classifier shows points on the line or in the plane. A point is its coordinates and
// then its class, 0 or 1, or one of three in the plane. What the costs are about tells
// which: their table has a row and a column for each class.
export class Classifier extends Panel {
  constructor(page) {
    super("classifier", page);
    this.live = this.ask((question, signal) => post("v1/explore/classifier", question, signal), (view) => this.#show(view));
    this.other = {1: newLine, 2: newPlane, 3: newThree}; // the points of the modes not shown
    this.lastCosts = {...newCosts}; // by the number of classes
    this.#wire();
    this.read({});
  }

  get dimension() {
    return this.state.area.length;
  }

  get kinds() {
    return this.state.costs.length === 3 ? three : two;
  }

  // mode is the line, the plane, or the plane with three classes.
  get mode() {
    return this.kinds === three ? 3 : this.dimension;
  }

  #wire() {
    const {page} = this;
    this.part("preset").append(h("option", {value: ""}, "choose…"), ...presets.map(({label}, i) => h("option", {value: i}, label)));
    this.part("preset").addEventListener("change", ({target}) => {
      if (target.value !== "") {
        const {label: _, kernel, ...rest} = presets[target.value];
        this.change({...rest, kernel: parseKernel(kernel)}, true);
      }
      target.value = "";
    });
    for (const radio of this.section.querySelectorAll("[name=dimension]")) {
      radio.addEventListener("change", () => {
        this.other[this.mode] = {points: this.state.points, area: this.state.area};
        this.lastCosts[this.state.costs.length] = this.state.costs;
        this.change({...this.other[radio.value], costs: this.lastCosts[radio.value === "3" ? 3 : 2]}, true);
      });
    }
    this.#wireKernel();
    this.part("surface").addEventListener("change", ({target}) => {
      this.state.surface = target.value;
      this.redraw();
      page.moved(this, true);
    });

    const chart = this.part("chart");
    this.pictures = h("div", {class: "pictures", "aria-hidden": "true"});
    chart.append(this.pictures);
    this.handles = new Handles(chart, {
      add: (x, y, other) => this.#addAt(x, y, other),
      move: (id, x, y) => this.#moveTo(Number(id), this.#unscale(x, y)),
      nudge: (id, dx, dy, size) => this.#nudge(Number(id), dx, dy, size),
      done: () => page.moved(this, true),
      remove: (id) => this.#remove(Number(id)),
      toggle: (id) => this.#setPoint(Number(id), this.state.points[id].with(-1, this.#next(this.state.points[id].at(-1))), true),
    }, "Labelled points");
    onWidth(chart, (width) => {
      this.width = width;
      this.redraw();
    });
    this.part("save-svg").addEventListener("click", () => this.#saveSVG());
    this.part("save-table").addEventListener("click", () => this.#saveTable());
    this.part("save-curves").addEventListener("click", () => this.#saveProbabilities());
  }

  // #next is the class after one, in turn.
  #next(label) {
    const {labels} = this.kinds;
    return labels[(labels.indexOf(label) + 1) % labels.length];
  }

  // #classControls are those that depend on what classes there are.
  #classControls() {
    const {kinds} = this;
    if (this.controlsOf === kinds) return;
    this.controlsOf = kinds;
    const {labels, names: words, actions} = kinds;
    this.costs = new EntryTable(this.part("costs"), {
      actions: actions.map((action) => action.replace("treat", "Treat")), outcomes: words.map((word) => `it is ${word}`),
      caption: "What it costs when",
      name: (a, o) => (kinds === two ? [["Cost of a right negative", "Cost of a missed positive"], ["Cost of a false alarm", "Cost of a right positive"]][a][o] : `Cost to ${actions[a]} what is ${words[o]}`),
      changed: (costs, settled) => costs.flat().every((entry) => entry >= 0) && this.change({costs}, settled),
    });
    const choices = labels.map((label, k) => h("label", {}, h("input", {type: "radio", name: "adding", value: label}), " ", h("span", {class: `glyph ${shapes[k]}`, "aria-hidden": "true"}), ` ${words[k]}`));
    if (kinds === two) choices.reverse();
    this.part("adding").replaceChildren(h("legend", {}, "A click adds a point that is"), ...choices, h("span", {class: "note"}, kinds === two ? "Shift-click: the other one" : "Shift-click: the next one"));
    this.part("adding").querySelector("input").checked = true;
    this.leadOfTwo ??= this.part("lead").textContent;
    setText(this.part("lead"), kinds === two ? this.leadOfTwo : leadOfThree);
    setText(this.part("surface-about"), kinds === two ? "Colours show the chance of positive by" : "Colours show the chances of the classes by");
  }

  #wireKernel() {
    const {page} = this;
    const set = (part, settled) => this.change({kernel: {...this.state.kernel, ...part}}, settled);
    this.part("kernel-shape").addEventListener("change", ({target}) => set({shape: target.value, text: kernelText(this.state.kernel)}, true));
    this.part("kernel-constant").addEventListener("change", ({target}) => set({constant: target.checked}, true));
    this.part("kernel-linear").addEventListener("change", ({target}) => set({linear: target.checked}, true));
    let waiting;
    const write = (settled) => {
      clearTimeout(waiting);
      const text = this.part("kernel-text").value.trim();
      if (text !== kernelText(this.state.kernel)) this.change({kernel: parseKernel(text)}, settled);
    };
    this.part("kernel-text").addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(write, typing, false);
    });
    this.part("kernel-text").addEventListener("change", () => {
      write(true);
      page.moved(this, true);
    });
    this.sliders = Object.entries(sliders).map(([name, {label, min, max}]) => {
      const id = `kernel-${name}`;
      const ratio = Math.log(max / min);
      const input = h("input", {
        id, type: "number", min: 0, step: "any",
        oninput: () => input.valueAsNumber > 0 && set({[name]: input.valueAsNumber}, false), onchange: () => page.moved(this, true),
      });
      const slider = h("input", {
        type: "range", min: 0, max: 200, "aria-label": `${label}, slider`,
        oninput: () => set({[name]: rounded(min * Math.exp((slider.value / 200) * ratio))}, false), onchange: () => page.moved(this, true),
      });
      const row = h("div", {class: "field slide"}, h("label", {for: id}, label), input, slider);
      this.part("kernel-sliders").append(row);
      const show = (value, all) => {
        if (all || document.activeElement !== input) input.value = String(value);
        slider.value = String(Math.round((200 * Math.log(value / min)) / ratio));
        slider.setAttribute("aria-valuetext", number(value));
      };
      return {name, row, show};
    });
  }

  read(values) {
    const [first] = presets;
    const area = decodeTable(values.area, 2);
    const dimension = area?.length === 2 ? 2 : 1;
    const points = values.points === undefined ? undefined : decodeTable(values.points, dimension + 1);
    const tables = [2, ...(dimension === 2 ? [3] : [])].map((n) => decodeTable(values.costs, n)).filter((table) => table && table.length === table[0].length);
    const costs = tables[0];
    const asks = area !== undefined;
    const known = (label) => Math.min((costs?.length ?? 2) - 1, Math.max(0, Math.round(label)));
    this.state = {
      points: asks ? (points ?? []).slice(0, maxPoints).map((point) => point.with(-1, known(point.at(-1)))) : first.points,
      area: asks && area.length <= 2 && area.every(([from, to]) => from < to) ? area : first.area,
      costs: costs?.flat().every((entry) => entry >= 0) ? costs : first.costs,
      kernel: parseKernel(values.kernel ?? first.kernel),
      surface: values.surface ?? "exact",
      hidden: new Set(values.hidden?.split(",")),
    };
  }

  write() {
    const {points, area, costs, kernel, surface: shown, hidden} = this.state;
    return {
      points: encodeTable(points), area: encodeTable(area), costs: encodeTable(costs), kernel: kernelText(kernel),
      surface: this.dimension === 2 && shown !== "exact" ? shown : "", hidden: [...hidden].join(","),
    };
  }

  change(part, settled) {
    this.state = {...this.state, ...part};
    this.refresh();
    this.page.moved(this, settled);
  }

  refresh(all = false) {
    const {points, area, costs, kernel} = this.state;
    const free = (input) => all || document.activeElement !== input;
    for (const radio of this.section.querySelectorAll("[name=dimension]")) radio.checked = Number(radio.value) === this.mode;
    this.#classControls();
    this.costs.set(costs, reach(costs, 4));
    const text = kernelText(kernel);
    this.part("kernel-shape").value = kernel.shape;
    if (free(this.part("kernel-text"))) this.part("kernel-text").value = text;
    for (const {name, row, show} of this.sliders) {
      row.hidden = !parametersOf(kernel.shape).includes(name);
      if (!row.hidden) show(kernel[name], all);
    }
    for (const [part, checked] of [["kernel-constant", kernel.constant], ["kernel-linear", kernel.linear]]) {
      this.part(part).checked = checked;
      this.part(`${part}-row`).hidden = kernel.shape === "own" || kernel.shape === "linear";
    }
    this.part("surface-row").hidden = this.dimension === 1;
    this.#areaFields(all);
    this.#pointTable();
    if (this.drawn !== this.mode) {
      this.view = undefined;
      this.redraw();
    }
    this.#placeHandles();
    if (points.length === 0 || this.#indifferent()) {
      this.live.forget();
      this.content();
      this.failed = false;
      setText(this.part("live"), "");
      this.view = undefined;
      this.redraw();
      this.page.rendered();
      return;
    }
    // Costs become worth as the command's cost tables do: what the dearest mistake
    // costs, less what this costs.
    const ceiling = Math.max(...costs.flat());
    this.live.request({
      x: points.map((point) => point.slice(0, -1)), labels: points.map((point) => point.at(-1)), kernel: text,
      utility: costs.map((row) => row.map((entry) => ceiling - entry)),
      grid: {from: area.map(([from]) => from), to: area.map(([, to]) => to), points: area.map(() => (area.length === 1 ? linePoints : planePoints))},
    });
  }

  // #indifferent tells whether whatever is done costs the same.
  #indifferent() {
    const [first, ...others] = this.state.costs.flat();
    return others.every((entry) => entry === first);
  }

  #areaFields(all) {
    const {area} = this.state;
    const container = this.part("area");
    if (container.dataset.dimension !== String(area.length)) {
      container.dataset.dimension = area.length;
      container.replaceChildren(...area.flatMap((_, k) => ["from", "to"].flatMap((end, e) => {
        const id = `area-${k}-${end}`;
        const label = `${area.length === 1 ? "x" : k === 0 ? "across" : "up"} ${end}`;
        return [h("label", {for: id}, label), h("input", {id, type: "number", step: "any", onchange: ({target}) => this.#setArea(k, e, target.valueAsNumber)})];
      })));
    }
    container.querySelectorAll("input").forEach((input, i) => {
      if (all || document.activeElement !== input) input.value = String(area[i >> 1][i % 2]);
    });
  }

  #setArea(axis, end, value) {
    const side = this.state.area[axis].with(end, value);
    if (side[0] < side[1]) this.change({area: this.state.area.with(axis, side)}, true);
    else this.#areaFields(true);
  }

  #pointTable() {
    const {points} = this.state;
    const container = this.part("points");
    const heads = this.dimension === 1 ? ["x"] : ["across", "up"];
    const {labels, names: words} = this.kinds;
    if (container.dataset.mode !== String(this.mode)) {
      container.dataset.mode = this.mode;
      const inputs = heads.map((head, k) => h("input", {type: "number", step: "any", class: "short", placeholder: head, "aria-label": `New point, ${head}`, dataset: {key: `new-${k}`}}));
      const select = h("select", {"aria-label": "New point, class"}, labels.map((label, k) => h("option", {value: label}, words[k])).toReversed());
      const add = () => {
        const numbers = inputs.map((input) => input.valueAsNumber);
        const missing = inputs[numbers.findIndex((value) => !Number.isFinite(value))];
        if (missing) return missing.focus();
        this.#add([...numbers, Number(select.value)]);
        inputs.forEach((input) => (input.value = ""));
        inputs[0].focus();
      };
      const enter = (event) => event.key === "Enter" && (event.preventDefault(), add());
      inputs.forEach((input) => input.addEventListener("keydown", enter));
      container.replaceChildren(
        h("div", {class: "row wrap"}, inputs, select, h("button", {type: "button", onclick: add, dataset: {part: "add-point"}}, "Add point")),
        h("div", {class: "scroll tall", tabindex: 0, role: "region", "aria-label": "Points, table"}, h("table", {class: "points"})), h("button", {type: "button", onclick: () => this.change({points: []}, true)}, "Remove all points"));
    }
    replaceTable(container.querySelector("table"),
      caption(points.length ? plural(points.length, "point") : "No points yet"),
      h("thead", {}, h("tr", {}, heads.map((head) => h("th", {scope: "col", class: "number"}, head)), h("th", {scope: "col"}, "class"), h("td"))),
      h("tbody", {}, points.map((point, i) => h("tr", {dataset: {point: i}},
        point.slice(0, -1).map((value) => cell("x", number(value, 4), value)),
        wordCell("label", words[labels.indexOf(point.at(-1))], point.at(-1)),
        h("td", {}, h("button", {type: "button", class: "quiet", "aria-label": `Remove point ${i + 1}`, dataset: {key: `remove-${i}`}, onclick: () => this.#remove(i)}, "Remove"))))));
  }

  refused() {
    this.failed = true;
    setText(this.part("live"), "");
    this.#verdict();
  }

  #show(view) {
    this.failed = false;
    if (view.axes.length !== this.dimension || view.methods.some((answer) => Boolean(answer.probabilities) !== (this.mode === 3))) return; // the next answer is on its way
    const before = this.view;
    this.view = view;
    this.redraw();
    this.#tellFlips(before);
  }

  // #answers are the exact posterior, if there is one, and the methods, in one form.
  #answers() {
    if (!this.view) return [];
    const {exact, methods} = this.view;
    return [...(exact ? [{method: "exact", ...exact}] : []), ...methods];
  }

  #shown() {
    return this.#answers().filter(({method}) => !this.state.hidden.has(method));
  }

  redraw() {
    if (!this.width) return;
    this.drawn = this.mode;
    const {charts, labels} = this.#charts(theme(), this.width, false);
    this.labels = labels;
    this.pictures.replaceChildren(...charts);
    this.scales = {x: charts[0].scale("x"), y: charts[0].scale("y")};
    this.height = Number(charts[0].getAttribute("height"));
    this.handles.resize(this.width, charts.reduce((sum, chart) => sum + Number(chart.getAttribute("height")), 0));
    this.#placeHandles();
    this.#surfaceChoice();
    this.#table();
    this.#verdict();
    const leftOut = [...(this.view?.exact_left_out ? [{method: "exact", reason: this.view.exact_left_out}] : []), ...(this.view?.left_out ?? [])];
    showLeftOut(this.part("left-out"), leftOut);
    this.curvesTable(() => (this.dimension === 1 ? this.#lineTable() : this.#planeTable()));
  }

  #lineTable() {
    const answers = this.#answers();
    return {
      about: "Chance of the positive class and what is done (■ treat as positive), at some places; the file of the probabilities has all",
      heads: ["x", ...answers.map(({method}) => methodLabel(method))],
      rows: (this.view?.axes[0] ?? []).flatMap((x, i) => (i % 5 === 0 ? [[number(x, 4), ...answers.map((a) => `${percent(a.probability[i])} ${a.action[i] ? "■" : "○"}`)]] : [])),
    };
  }

  #planeTable() {
    const [xs, ys] = this.view?.axes ?? [[], []];
    const answer = this.#surfaceAnswer();
    const {signs, names: words} = this.kinds;
    const some = (axis) => axis.map((_, i) => i).filter((i) => i % 5 === 0);
    const by = answer ? methodLabel(answer.method) : "nothing yet";
    const chance = (i) => percent(answer.probabilities ? answer.probabilities[answer.action[i]][i] : answer.probability[i]);
    return {
      about: this.mode === 3
        ? `What is done by ${by} (${words.map((word, k) => `${signs[k]} treat as ${word}`).join(", ")}) and the chance of that class, at some places`
        : `Chance of the positive class by ${by} and what is done, at some places; ■ is to treat as positive`,
      heads: ["up \\ across", ...some(xs).map((i) => number(xs[i], 3))],
      rows: some(ys).toReversed().map((j) => [number(ys[j], 3), ...some(xs).map((i) => `${chance(j * xs.length + i)} ${signs[answer.action[j * xs.length + i]]}`)]),
    };
  }

  // #surfaceAnswer is the one whose probabilities are shown as colours.
  #surfaceAnswer() {
    return this.#answers().find(({method}) => method === this.state.surface) ?? this.#answers()[0];
  }

  #charts(theme, width, still) {
    return this.dimension === 1 ? this.#lineCharts(theme, width, still) : this.#planeChart(theme, width, still);
  }

  // #levels are the probabilities at which the best action changes.
  #levels() {
    return this.view?.by_probability.slice(1).map((range) => range.from) ?? [];
  }

  // #acts is the side of the level on which it pays to act.
  #acts() {
    return this.view.by_probability.at(-1).action === 1 ? "above" : "below";
  }

  #lineCharts(theme, width, still) {
    const shown = this.#shown();
    const xs = this.view?.axes[0] ?? [];
    const [domain] = this.state.area;
    const levels = this.#levels();
    const points = this.state.points.filter(([x]) => x >= domain[0] && x <= domain[1]);
    const options = {
      ...base(theme, width, lineHeight, "Probability of the positive class, by each method"), ...lineMargins,
      x: {domain, axis: shown.length ? null : "bottom", label: null},
      y: {domain: [0, 1], label: "probability of positive", tickFormat: "%", ticks: 5, tickSize: 4, labelArrow: "none", labelAnchor: "top"},
      marks: [
        Plot.gridX({stroke: theme.grid, strokeOpacity: 1}), Plot.gridY({stroke: theme.grid, strokeOpacity: 1, ticks: 5}),
        shown[0]?.method === "exact" && Plot.line(xs, {x: xs, y: shown[0].probability, stroke: theme.area, strokeWidth: 9}),
        Plot.ruleY(levels, {stroke: theme.ink, strokeWidth: 1.2, strokeDasharray: "2 3"}),
        ...shown.toReversed().flatMap(({method, probability}, i) => methodLine(method, xs, probability, theme, {index: i, markers: method === "exact" ? 0.5 : 8})),
        Plot.text(levels, {x: domain[0], y: Plot.identity, text: (p) => `act ${this.#acts()} ${percent(p)}`, textAnchor: "start", dx: 4, dy: -7, fill: theme.ink, stroke: theme.paper, strokeWidth: 4}),
        points.length === 0 && Plot.text(["Click to add a first point"], {frameAnchor: "middle", fontSize: 14, fill: theme.quiet}),
        still && pointMarks(points, theme, ([, label]) => (label > 0 ? 1 : 0)),
      ],
    };
    const curves = shown.map(({method, probability}) => ({name: method, xs, ys: probability}));
    const chart = draw(options);
    const labels = nameCurves(chart, curves, theme, {previous: still ? [] : this.labels});
    if (shown.length === 0) return {charts: [chart], labels};
    return {
      labels,
      charts: [chart, strips({
        rows: shown.map(({method, action}) => ({method, ranges: rangesOf(xs, action)})), actions: two.actions, domain, theme, width,
        label: "What each method does along the line", title: "what each method does here", axis: "x →",
      })],
    };
  }

  #planeChart(theme, width, still) {
    const shown = this.#shown();
    const [domain, range] = this.state.area;
    const answer = this.#surfaceAnswer();
    const inner = width - 58;
    const height = Math.min(560, Math.max(240, Math.round((inner * (range[1] - range[0])) / (domain[1] - domain[0])))) + 72;
    const points = this.state.points.filter(([x, y]) => x >= domain[0] && x <= domain[1] && y >= range[0] && y <= range[1]);
    const options = {
      ...base(theme, width, height, `${this.mode === 3 ? "Probabilities of the classes" : "Probability of the positive class"} by ${answer ? methodLabel(answer.method) : "nothing yet"}, and where each method begins to act`),
      marginLeft: 40, marginRight: 14, marginTop: 14, marginBottom: 58,
      x: {domain, label: null, tickSize: 4}, y: {domain: range, label: null, tickSize: 4}, color: this.mode === 3 ? {type: "identity"} : surfaceColors(this.#levels(), theme),
      marks: [
        answer && (this.mode === 3 ? threeColors(this.view.axes, answer.probabilities, theme) : surface(this.view.axes, answer.probability)),
        Plot.frame({stroke: theme.edge}),
        points.length === 0 && Plot.text(["Click to add a first point"], {frameAnchor: "middle", fontSize: 14, fill: theme.quiet}),
        still && pointMarks(points, theme, "1", this.kinds.labels),
      ],
    };
    if (!answer) return {charts: [draw(options)], labels: []};
    const [xs, ys] = this.view.axes;
    if (this.mode === 3) {
      options.marks.push(() => threeLegend(width, height, this.kinds, theme));
      return withBoundaries(options, shown, ({probabilities}) => actionBoundaries(xs, ys, probabilities, this.state.costs), theme, still ? [] : this.labels);
    }
    options.marks.push(() => surfaceLegend(width, height, this.#levels(), theme));
    return withBoundaries(options, shown, ({probability}) => this.#levels().flatMap((level) => isolines(xs, ys, probability, level)), theme, still ? [] : this.labels);
  }

  #placeHandles() {
    if (!this.scales) return;
    const {x, y} = this.scales;
    const line = this.dimension === 1;
    const where = ([px, py]) => (line ? `at ${number(px, 4)}` : `at ${number(px, 4)} across, ${number(py, 4)} up`);
    this.handles.set(this.state.points.map((point, i) => {
      const {labels, names: words} = this.kinds;
      const k = labels.indexOf(point.at(-1));
      return {
        id: String(i), label: `${words[k][0].toUpperCase()}${words[k].slice(1)} point ${where(point)}`,
        x: clamp(x.apply(point[0]), x.range), y: clamp(y.apply(line ? k : point[1]), y.range),
        shape: pointShape(shapes[k]),
      };
    }));
  }

  #unscale(px, py) {
    const at = (scale, pixel, [lo, hi]) => snapped(Math.min(hi, Math.max(lo, scale.invert(pixel))), (hi - lo) / 100);
    const [across, up] = this.state.area;
    return [at(this.scales.x, px, across), ...(up ? [at(this.scales.y, py, up)] : [])];
  }

  #addAt(px, py, other) {
    if (py > this.height) return;
    const chosen = Number(this.section.querySelector("[name=adding]:checked").value);
    this.#add([...this.#unscale(px, py), other ? this.#next(chosen) : chosen]);
    this.handles.focus(String(this.state.points.length - 1));
  }

  #add(point) {
    if (this.state.points.length >= maxPoints) return this.complain(new Error(`At most ${maxPoints} points can be followed at this pace.`));
    this.change({points: [...this.state.points, point]}, true);
  }

  #remove(i) {
    const points = this.state.points.toSpliced(i, 1);
    const inLayer = this.handles.layer.contains(document.activeElement);
    this.change({points}, true);
    if (inLayer && points.length) this.handles.focus(String(Math.min(i, points.length - 1)));
  }

  #moveTo(i, place) {
    this.#setPoint(i, [...place, this.state.points[i].at(-1)], false);
  }

  #setPoint(i, point, settled) {
    this.change({points: this.state.points.with(i, point)}, settled);
  }

  #nudge(i, dx, dy, size) {
    const point = [...this.state.points[i]];
    const [across, up] = this.state.area;
    const moved = (value, way, [lo, hi]) => {
      const step = 10 ** Math.floor(Math.log10((hi - lo) / 100)) * {small: 0.1, normal: 1, large: 10}[size];
      return snapped(value + way * step, step);
    };
    if (dx) point[0] = moved(point[0], dx, across);
    if (dy && up) point[1] = moved(point[1], dy, up);
    this.#setPoint(i, point, true);
  }

  // #when is the probability from which on it pays to act, in words.
  #when() {
    const [level, ...more] = this.#levels();
    return level === undefined || more.length ? "" : ` (${this.#acts()} ${percent(level)})`;
  }

  #surfaceChoice() {
    setText(this.part("lines"), this.mode === 3 ? "Lines: where each method does something else" : `Lines: where each method begins to act${this.#when()}`);
    const select = this.part("surface");
    const methods = this.#answers().map(({method}) => method);
    if ([...select.options].map((option) => option.value).join() !== methods.join()) {
      select.replaceChildren(...methods.map((method) => h("option", {value: method}, methodLabel(method))));
    }
    select.value = methods.includes(this.state.surface) ? this.state.surface : methods[0] ?? "";
  }

  #table() {
    const {view} = this;
    const total = view?.axes.reduce((product, axis) => product * axis.length, 1);
    replaceTable(this.part("table"),
      caption("Decisions of each method, judged by the exact probabilities"),
      h("thead", {}, h("tr", {},
        [["Shown", ""], ["Method", ""], ["Regret (share)", "number"], ["Regret (cost)", "number"], ["Decided otherwise", "number"], ["Log evidence", "number"], ["How it ended", ""]]
          .map(([text, kind]) => h("th", {scope: "col", class: kind}, text)))),
      h("tbody", {}, this.#answers().map((answer) => this.#row(answer, total))));
  }

  #row(answer, total) {
    const {method, regret, flips, doubtful_flips: doubtful} = answer;
    const toggle = h("input", {
      type: "checkbox", checked: !this.state.hidden.has(method), "aria-label": `Show ${methodLabel(method)} in the chart`, dataset: {key: `show-${method}`},
      onchange: ({target}) => {
        this.state.hidden.delete(method);
        if (!target.checked) this.state.hidden.add(method);
        this.redraw();
        this.page.moved(this, true);
      },
    });
    const plusMinus = (error) => (error > 0 ? h("span", {class: "quiet"}, ` ± ${number(error, 1)}`) : "");
    const exact = method === "exact";
    const [value, bound] = evidence(answer);
    return h("tr", {dataset: {method}},
      h("td", {}, toggle), methodHead(method),
      cell("regret_normalised", exact ? "0%" : regret ? share(regret.normalised) : "–", exact ? 0 : regret?.normalised),
      cell("regret", exact ? "0" : regret ? [number(regret.absolute, 3), plusMinus(regret.stderr)] : "–", exact ? 0 : regret?.absolute),
      cell("flips", exact ? "0" : flips === null ? "–" : [count(flips), h("span", {class: "quiet"}, ` of ${count(total)}${doubtful ? `, ${count(doubtful)} in doubt` : ""}`)], exact ? 0 : flips),
      cell("log_evidence", [bound === null ? "" : "≥ ", number(value ?? bound, 5), plusMinus(answer.log_evidence_stderr)], value ?? bound),
      wordCell("status", exact ? `${count(answer.draws)} draws; at ${plural(answer.doubtful, "place")} they leave the best action in doubt` : answer.status, answer.converged ?? true));
  }

  #verdict() {
    const verdict = this.part("verdict");
    if (this.failed) return setText(verdict, "");
    if (!this.view) return setText(verdict, this.state.points.length === 0 ? "No points yet." : this.#indifferent() ? `All ${this.mode === 3 ? "nine" : "four"} cost the same: there is nothing to decide.` : "Working…");
    const levels = this.#levels();
    const rule = this.mode === 3 ? this.#ruleOfThree() : levels.length === 1 ? `With these costs it pays to act when the positive class is at ${this.#acts() === "above" ? "least" : "most"} ${percent(levels[0])} probable.` : levels.length ? "" : `With these costs it always pays to ${two.actions[this.view.by_probability[0].action]}.`;
    const judged = this.view.methods.filter(({regret}) => regret);
    const least = Math.min(...judged.map(({regret}) => regret.normalised));
    // What the draws of the exact answer cannot tell apart is equally good.
    const best = judged.filter(({regret}) => regret.normalised <= least + 2 * regret.normalised_stderr);
    const most = Math.max(...best.map(({regret}) => regret.normalised));
    const all = best.length === judged.length && best.length > 1;
    const who = all ? "All methods" : names(best.map(({method}) => method));
    const one = best.length === 1 ? "s" : "";
    const lose = !all ? `lose${one} least` : most < nextToNothing ? "lose next to nothing" : "lose about the same";
    verdict.dataset.state = "neutral";
    verdict.replaceChildren(
      h("strong", {}, rule || "The costs decide where to act."),
      judged.length === 0 ? "" : most === 0 ? ` ${who} decide${one} as well as the exact answer.` : ` ${who} ${lose}: ${best.length === 1 ? "" : "at most "}${share(most)} of what there is to lose.`);
  }

  // #ruleOfThree says what is done in the area shown.
  #ruleOfThree() {
    const [first] = this.#answers();
    if (!first) return "";
    const done = this.kinds.actions.filter((_, a) => first.action.includes(a));
    const who = first.method === "exact" ? "it pays" : `${methodLabel(first.method)} finds that it pays`;
    return done.length === 1 ? `With these costs ${who} to ${done[0]} everywhere here.` : `With these costs ${who} here to ${list(done)}, each in its place.`;
  }

  // #tellFlips says which methods now decide otherwise at more or fewer places.
  #tellFlips(before) {
    if (!before || before.axes.length !== this.view.axes.length) return;
    const changed = this.view.methods.filter(({method, flips}) => {
      const old = before.methods.find((answer) => answer.method === method);
      return old && flips !== null && old.flips !== flips;
    });
    if (changed.length === 0) return;
    setText(this.part("live"), `Places now decided otherwise than exact: ${changed.map(({method, flips}) => `${methodLabel(method)} ${count(flips)}`).join(", ")}.`);
    for (const {method} of changed) {
      flash(this.part("table").querySelector(`[data-method="${method}"]`));
      const i = this.#shown().findIndex((answer) => answer.method === method);
      if (this.dimension === 1 && i >= 0) this.handles.flash(stripBox(i, this.height, this.width));
    }
  }

  #saveSVG() {
    const {points, costs, kernel} = this.state;
    const method = this.#surfaceAnswer()?.method;
    const {charts} = this.#charts(light, 800, true);
    saveSVG("classifier", [
      this.dimension === 1 ? "Probability of the positive class, and what each method does" : this.mode === 3 ? `Probabilities of three classes by ${method ? methodLabel(method) : "nothing yet"}, and where each method does something else` : `Probability of the positive class by ${method ? methodLabel(method) : "nothing yet"}, and where each method begins to act${this.#when()}`,
      `${plural(points.length, "point")}; kernel ${kernelText(kernel)}; ${this.mode === 3 ? `costs ${encodeTable(costs)}` : `cost of a missed positive ${costs[0][1]}, of a false alarm ${costs[1][0]}`}`,
    ], [...charts, methodKey(this.#shown().map(({method}) => method), light, 800)]);
  }

  #saveTable() {
    saveCSV("classifier-methods", writeCSV(
      ["method", "regret_normalised", "regret_normalised_stderr", "regret", "regret_stderr", "decided_otherwise", "of_these_in_doubt", "log_evidence", "log_evidence_lower_bound", "converged", "status"],
      this.#answers().map((a) => [a.method, a.regret?.normalised, a.regret?.normalised_stderr, a.regret?.absolute, a.regret?.stderr, a.flips, a.doubtful_flips, ...evidence(a), a.converged, a.status])));
  }

  #saveProbabilities() {
    if (!this.view) return;
    const [xs, ys] = this.view.axes;
    const answers = this.#answers();
    const places = ys ? ys.flatMap((y) => xs.map((x) => [x, y])) : xs.map((x) => [x]);
    const {names: words, actions} = this.kinds;
    const chances = this.mode === 3 ? words.map((word) => `probability_${word}`) : ["probability"];
    const header = [...(ys ? ["x1", "x2"] : ["x"]), ...answers.flatMap(({method}) => [...chances, "action"].map((what) => `${method}_${what}`))];
    const of = (a, i) => (a.probabilities ? a.probabilities.map((chance) => chance[i]) : [a.probability[i]]);
    saveCSV("classifier-probabilities", writeCSV(header, places.map((place, i) => [...place, ...answers.flatMap((a) => [...of(a, i), actions[a.action[i]]])])));
  }
}

// nextToNothing is a share of what there is to lose that nobody would miss.
const nextToNothing = 1e-3;

// evidence is the log evidence of the data, and a lower bound on it, whichever is known.
// That of a calibrated method is of data and utility together, and not to be compared.
function evidence({method, log_evidence: value}) {
  const {calibrated, bound} = methodNamed(method);
  if (calibrated) return [null, null];
  return bound ? [null, value] : [value, null];
}

const clamp = (value, range) => Math.min(Math.max(...range), Math.max(Math.min(...range), value));

// share is a part of the whole that may be tiny.
const share = (value) => (value === 0 ? "0%" : `${number(100 * value, 2)}%`);
