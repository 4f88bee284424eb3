import * as Plot from "@observablehq/plot";
import {s} from "./dom.js";
import {placeLabels} from "./labels.js";
import {actionColors, methodColor, methodLook} from "./looks.js";
import {methodLabel} from "./methods.js";

// Parts of charts that panels share. Everything is drawn from a theme, so that the same
// chart can be had for the screen and for paper.

export const font = {fontFamily: "system-ui, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif", fontSize: "11px"};

// margins leave room for the names of strips at the left.
export const margins = {marginLeft: 64, marginRight: 14};

// base are the options that all charts have in common.
export function base(theme, width, height, label) {
  return {width, height, ...margins, style: {...font, color: theme.ink, background: "transparent"}, ariaLabel: label};
}

// draw makes a chart; marks may be lists, and those that do not apply false.
export const draw = (options) => Plot.plot({...options, marks: options.marks.flat().filter(Boolean)});

// methodLine is a curve in the look of its method: dashes, and markers now and then.
// Of several methods each has its markers at places of its own.
export function methodLine(name, xs, ys, theme, {width = 2, index = 0, markers = 9} = {}) {
  const {dash, symbol, solid} = methodLook(name);
  const color = methodColor(name, theme);
  const step = Math.max(1, Math.floor(xs.length / markers));
  const first = Math.floor(step * (0.3 + 0.17 * index)) % step;
  const least = Math.max(...ys) / 25; // markers on the ground would hide each other
  const at = Array.from(xs, (_, i) => i).filter((i) => i % step === first && ys[i] >= least);
  return [
    Plot.line(xs, {x: xs, y: ys, stroke: color, strokeWidth: width, strokeDasharray: dash, strokeLinecap: "butt", clip: true}),
    Plot.dot(at, {x: (i) => xs[i], y: (i) => ys[i], r: 3.2, symbol, stroke: color, strokeWidth: 1.5, fill: solid ? color : theme.paper, clip: true}),
  ];
}

// nameCurves writes the names of methods beside their curves, {name, xs, ys}, in a chart
// that is drawn, and returns where. keepClear is a height above the x axis to leave free.
export function nameCurves(chart, curves, theme, {previous, keepClear = 0} = {}) {
  const x = chart.scale("x");
  const y = chart.scale("y");
  const [left, right] = x.range;
  const [bottom, top] = y.range;
  const pixels = curves.map(({name, xs, ys}) => ({name: methodLabel(name), points: Array.from(xs, (v, i) => [x.apply(v), y.apply(ys[i])])}));
  const labels = placeLabels(pixels, {left, right, top, bottom: bottom - keepClear}, previous);
  labels.forEach((label) => {
    const {name} = curves.find((curve) => methodLabel(curve.name) === label.name);
    chart.append(s("text", {
      x: label.x, y: label.y, dy: "0.35em", "text-anchor": "middle", "font-weight": 600, fill: methodColor(name, theme), stroke: theme.paper, "stroke-width": 4, "stroke-linejoin": "round", "paint-order": "stroke",
    }, label.name));
  });
  return labels;
}

let patterns = 0;

// actionPatterns are fills for actions: plain, hatched, dotted and cross-hatched, so
// that they differ without colour. Names are new each time, for a page has many charts.
export function actionPatterns(number, theme) {
  const prefix = `action-${++patterns}-`;
  const marks = [
    () => [],
    (ink) => [s("path", {d: "M-2 2L2-2M0 8L8 0M6 10L10 6", stroke: ink, "stroke-width": 1.3, opacity: 0.55})],
    (ink) => [s("circle", {cx: 2, cy: 2, r: 1, fill: ink, opacity: 0.6}), s("circle", {cx: 6, cy: 6, r: 1, fill: ink, opacity: 0.6})],
    (ink) => [s("path", {d: "M0 0L8 8M8 0L0 8", stroke: ink, "stroke-width": 1, opacity: 0.5})],
  ];
  const defs = s("defs", {}, Array.from({length: number}, (_, action) => {
    const [fill, ink] = actionColors(action, theme);
    return s("pattern", {id: prefix + action, width: 8, height: 8, patternUnits: "userSpaceOnUse"}, s("rect", {width: 8, height: 8, fill}), marks[action % marks.length](ink));
  }));
  return {defs: () => defs, fill: (action) => `url(#${prefix}${action})`};
}

const stripHeight = 24;
const stripTop = 24;

// strips show what each method does along x: rows are {method, ranges}, and a range
// {action, from, to} names the action taken in it. title stands above them, axis names x,
// and marks are drawn on top.
export function strips({rows, actions, domain, label, title, axis, theme, width, marks = []}) {
  const {defs, fill} = actionPatterns(actions.length, theme);
  const pixels = width - margins.marginLeft - margins.marginRight;
  const pieces = rows.flatMap(({method, ranges}) => ranges.map((range) => ({...range, method, from: Math.max(range.from, domain[0]), to: Math.min(range.to, domain[1])}))).filter((piece) => piece.to > piece.from);
  const roomy = pieces.filter((piece) => ((piece.to - piece.from) / (domain[1] - domain[0])) * pixels > 7 * actions[piece.action].length + 10);
  return draw({
    ...base(theme, width, rows.length * stripHeight + stripTop + 40, label),
    marginTop: stripTop,
    marginBottom: 40,
    x: {domain, label: axis, labelAnchor: "right", labelArrow: "none", tickSize: 4},
    y: {type: "band", domain: rows.map((row) => row.method), label: null, tickSize: 0, tickFormat: methodLabel, paddingInner: 0.22, paddingOuter: 0.1},
    marks: [
      defs,
      ...actions.map((_, action) => Plot.barX(pieces.filter((piece) => piece.action === action), {
        x1: "from", x2: "to", y: "method", fill: fill(action), stroke: actionColors(action, theme)[1], strokeWidth: 0.8, strokeOpacity: 0.7,
      })),
      Plot.text(roomy, {
        x: (d) => (d.from + d.to) / 2, y: "method", text: (d) => actions[d.action], fill: theme.ink, stroke: (d) => actionColors(d.action, theme)[0], strokeWidth: 4, fontWeight: 500,
      }),
      Plot.text([title], {frameAnchor: "top-left", dx: -margins.marginLeft, dy: -18, fill: theme.quiet}),
      ...marks,
    ],
  });
}

// stripBox is where the strip of a row is when the strips begin at top.
export function stripBox(row, top, width) {
  return {x: margins.marginLeft, y: top + stripTop + stripHeight * row, width: width - margins.marginLeft - margins.marginRight, height: stripHeight};
}

// pointMarks are labelled points in a picture that cannot be touched.
export function pointMarks(points, theme, y, labels = [0, 1]) {
  return [["circle", theme.paper], ["square", theme.ink], ["triangle", theme.accent]].slice(0, labels.length).map(([symbol, fill], k) =>
    Plot.dot(points.filter((point) => point.at(-1) === labels[k]), {x: "0", y, symbol, r: 4.5, fill, stroke: theme.ink, strokeWidth: 1.8}));
}

// rangesOf turns the actions on a grid into ranges that meet half way between points.
export function rangesOf(xs, actions) {
  const ranges = [];
  actions.forEach((action, i) => {
    const last = ranges.at(-1);
    if (last?.action === action) last.to = xs[i];
    else {
      const from = i === 0 ? xs[0] : (xs[i - 1] + xs[i]) / 2;
      if (last) last.to = from;
      ranges.push({action, from, to: xs[i]});
    }
  });
  return ranges;
}

// methodSwatch is a sample of a method's line, for tables.
export function methodSwatch(name, theme) {
  const {dash, symbol, solid} = methodLook(name);
  const color = methodColor(name, theme);
  const shape = {fill: solid ? color : theme.paper, stroke: color, "stroke-width": 1.5};
  const marker = {
    circle: () => s("circle", {cx: 17, cy: 7, r: 3.2, ...shape}),
    square: () => s("rect", {x: 14, y: 4, width: 6, height: 6, ...shape}),
    diamond2: () => s("path", {d: "M17 2.5L21 7L17 11.5L13 7Z", ...shape}),
    triangle: () => s("path", {d: "M17 2.5L21 10H13Z", ...shape}),
    times: () => s("path", {d: "M14 4L20 10M20 4L14 10", ...shape}),
  }[symbol] ?? (() => s("path", {d: "M17 3V11M13 7H21", ...shape}));
  return s("svg", {class: "swatch", width: 34, height: 14, "aria-hidden": "true"},
    s("line", {x1: 0, x2: 34, y1: 7, y2: 7, stroke: color, "stroke-width": 2, ...(dash && {"stroke-dasharray": dash})}), marker());
}

// methodKey tells which line is whose, in a picture that has no table beside it: samples
// and names, in as many rows as the width asks for.
export function methodKey(methods, theme, width) {
  const rowHeight = 20;
  let x = 0;
  let y = 6;
  const entries = methods.map((method) => {
    const label = methodLabel(method);
    const room = 40 + 6.6 * label.length; // in the 11 px type of the charts
    if (x > 0 && x + room > width) [x, y] = [0, y + rowHeight];
    const entry = s("g", {transform: `translate(${x},${y})`}, methodSwatch(method, theme), s("text", {x: 40, y: 7, dy: "0.35em", fill: theme.ink}, label));
    x += room + 20;
    return entry;
  });
  return s("svg", {width, height: y + rowHeight}, entries);
}

// actionSwatch is a sample of an action's fill.
export function actionSwatch(action, theme) {
  const {defs, fill} = actionPatterns(action + 1, theme);
  return s("svg", {class: "swatch", width: 14, height: 14, "aria-hidden": "true"}, defs(),
    s("rect", {x: 0.5, y: 0.5, width: 13, height: 13, rx: 2, fill: fill(action), stroke: actionColors(action, theme)[1]}));
}
