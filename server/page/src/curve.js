import * as Plot from "@observablehq/plot";
import {s} from "./dom.js";
import {base, draw} from "./charts.js";
import {number} from "./format.js";
import {placeLabels} from "./labels.js";
import {actionColors, light} from "./looks.js";

// The cost curve: what decisions cost on average as one entry of the table changes, and
// below it how many decisions differ from those now.

export const curveHeight = 276;
// knobTop is where the handle of the value now begins: below the name of the axis, which
// has a line to itself because the handle may be anywhere.
export const knobTop = 22;
const countHeight = 110;

// The lines of a curve, in words and in dashes.
const kinds = {
  expected: {label: "best decisions", dash: null, width: 2.6, color: (theme) => theme.ink},
  held: {label: "decisions as now", dash: "7 3", width: 2, color: (theme) => (theme === light ? "#c44a00" : "#ff8a4c")},
  realised: {label: "as it turned out", dash: "2 3", width: 2, color: (theme) => (theme === light ? "#00588a" : "#4ba3e3")},
};

// linesOf are all lines of a curve: {label, dash, width, color, values}.
export function linesOf(curve, theme) {
  const measured = Object.entries(kinds).filter(([kind]) => curve.points[0]?.[kind] !== undefined && curve.points[0][kind] !== null);
  return [
    ...measured.map(([kind, look]) => ({kind, ...look, color: look.color(theme), values: curve.points.map((point) => point[kind])})),
    ...(curve.constant ?? []).map(({action, expected}) => ({
      kind: "constant", label: `always ${action}`, dash: "1.5 3.5", width: 1.6, color: actionColors(curve.actions.indexOf(action), theme)[1], values: expected,
    })),
  ];
}

export function curveCharts(curve, {theme, width, log, entry, now, still}) {
  const xs = curve.points.map((point) => point.value);
  const lines = linesOf(curve, theme);
  // Always taking a wrong action can cost far more than any decision. The chart reaches
  // to the best of these in each place, and leaves out what is beyond.
  const measured = lines.filter(({kind}) => kind !== "constant").flatMap(({values}) => values);
  const constants = lines.filter(({kind}) => kind === "constant");
  const cheapest = constants.length ? xs.map((_, i) => Math.min(...constants.map(({values}) => values[i]))) : [];
  const top = (curve.costs ? Math.max(1.5 * Math.max(...measured), 1.15 * Math.max(...cheapest, 0)) : Math.max(...lines.flatMap(({values}) => values))) || 1;
  const bottom = Math.min(0, ...measured);
  const x = {type: log ? "log" : "linear", domain: [xs[0], xs.at(-1)], label: null, tickSize: 4, tickFormat: "~g"};
  const clipped = (values) => values.map((value) => (value > top * 1.04 ? NaN : value));
  const rule = still ? [Plot.ruleX([now], {stroke: theme.ink, strokeWidth: 1.5})] : [];
  const chart = draw({
    ...base(theme, width, curveHeight, `Average ${curve.costs ? "cost" : "worth"} of decisions as ${entry} changes`),
    marginTop: knobTop + 22, marginBottom: 10, x: {...x, axis: null},
    y: {domain: [bottom, top * 1.04], label: null, tickSize: 4, ticks: 5, tickFormat: (v) => number(v)},
    marks: [
      Plot.gridX({stroke: theme.grid, strokeOpacity: 1}), Plot.gridY({stroke: theme.grid, strokeOpacity: 1, ticks: 5}),
      ...lines.toReversed().map(({values, color, dash, width: strokeWidth}) => Plot.line(xs, {x: xs, y: clipped(values), stroke: color, strokeWidth, strokeDasharray: dash, strokeLinecap: "butt"})),
      ...rule,
      Plot.text([`average ${curve.costs ? "cost" : "worth"} of a decision`], {frameAnchor: "top-left", dy: -knobTop - 16, dx: -60, fill: theme.quiet}),
    ],
  });
  const scale = {x: chart.scale("x"), y: chart.scale("y")};
  const pixels = lines.map(({label, values}) => ({name: label, points: clipped(values).flatMap((v, i) => (Number.isNaN(v) ? [] : [[scale.x.apply(xs[i]), scale.y.apply(v)]]))}));
  const [left, right] = scale.x.range;
  for (const label of placeLabels(pixels, {left, right, top: scale.y.range[1] - 4, bottom: scale.y.range[0]})) {
    const {color} = lines.find((line) => line.label === label.name);
    chart.append(s("text", {x: label.x, y: label.y, dy: "0.35em", "text-anchor": "middle", "font-weight": 600, fill: color, stroke: theme.paper, "stroke-width": 4, "stroke-linejoin": "round", "paint-order": "stroke"}, label.name));
  }
  const flips = curve.points.map((point) => point.flipped);
  const counts = draw({
    ...base(theme, width, countHeight, `Decisions that differ from those now as ${entry} changes`),
    marginTop: 20, marginBottom: 36,
    x: {...x, label: `${entry} →`, labelAnchor: "right", labelArrow: "none"},
    y: {domain: [0, Math.max(1, ...flips)], label: null, tickSize: 4, ticks: 3, tickFormat: (v) => (Number.isInteger(v) ? number(v) : "")},
    marks: [
      Plot.areaY(xs, {x: xs, y: flips, fill: theme.area, curve: "step"}), Plot.lineY(xs, {x: xs, y: flips, stroke: theme.quiet, strokeWidth: 1.5, curve: "step"}),
      Plot.ruleY([0], {stroke: theme.edge}), ...rule,
      Plot.text(["decisions that differ from now"], {frameAnchor: "top-left", dy: -14, dx: -60, fill: theme.quiet}),
    ],
  });
  return {charts: [chart, counts], scale: scale.x};
}
