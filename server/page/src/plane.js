import * as Plot from "@observablehq/plot";
import {draw, nameCurves} from "./charts.js";
import {isolines} from "./isolines.js";
import {s} from "./dom.js";
import {actionColors, methodColor, methodLook} from "./looks.js";

// Charts of the plane.

const bandHeight = 0.05;
const bands = Array.from({length: 1 / bandHeight}, (_, i) => i * bandHeight);

// surface draws probabilities on a grid as bands of colour.
export function surface([xs, ys], probability) {
  const half = (axis) => (axis[1] - axis[0]) / 2;
  return Plot.contour(probability, {
    // The grid has its values at the middles of its cells.
    x1: xs[0] - half(xs), x2: xs.at(-1) + half(xs), y1: ys[0] - half(ys), y2: ys.at(-1) + half(ys),
    width: xs.length, height: ys.length, thresholds: bands, fill: Plot.identity, stroke: "none", clip: true,
  });
}

// surfaceColors is the scale for it: blue below and orange above, and the colour of the
// background where the best action changes.
export function surfaceColors(levels, theme) {
  const pivot = levels.length === 1 ? levels[0] : 0.5;
  return {
    type: "linear", domain: [0, 1],
    interpolate: (band) => {
      const p = band + bandHeight / 2;
      return p < pivot ? mix(theme.middle, theme.low, 1 - p / pivot) : mix(theme.middle, theme.high, (p - pivot) / (1 - pivot));
    },
  };
}

// surfaceLegend is a key to the colours, in the lower right corner of a chart.
export function surfaceLegend(width, height, levels, theme) {
  const {interpolate} = surfaceColors(levels, theme);
  const step = 7;
  const right = width - 44;
  const left = right - step * bands.length;
  const top = height - 22;
  const text = (x, anchor, content) => s("text", {x, y: top + 5, dy: "0.35em", "text-anchor": anchor, fill: theme.quiet}, content);
  return s("g", {},
    bands.map((band, i) => s("rect", {x: left + i * step, y: top, width: step, height: 10, fill: interpolate(band)})),
    s("rect", {x: left, y: top, width: right - left, height: 10, fill: "none", stroke: theme.edge}),
    levels.map((level) => s("line", {x1: left + level * (right - left), x2: left + level * (right - left), y1: top - 3, y2: top + 13, stroke: theme.ink, "stroke-width": 1.5})),
    text(left - 6, "end", width < 480 ? "positive: 0%" : "chance of positive: 0%"), text(right + 6, "start", "100%"));
}

// mix goes from one colour to three quarters of another, fast at first.
function mix(from, to, share) {
  const [a, b] = [from, to].map((hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16)));
  const part = 0.75 * Math.sqrt(Math.min(1, Math.max(0, share)));
  return `rgb(${a.map((v, i) => Math.round(v + part * (b[i] - v))).join(",")})`;
}

// threeColors draws the probabilities of three classes on a grid: the colours of the classes,
// mixed.
export function threeColors([xs, ys], probabilities, theme) {
  const [dx, dy] = [xs, ys].map((axis) => (axis[1] - axis[0]) / 2);
  const colors = threeFills(theme);
  const fill = (i) => `rgb(${[0, 1, 2].map((k) => Math.round(probabilities.reduce((sum, of, c) => sum + of[i] * colors[c][k], 0))).join(",")})`;
  const cells = ys.flatMap((y, j) => xs.map((x, i) => ({x1: x - dx, x2: x + dx, y1: y - dy, y2: y + dy, fill: fill(j * xs.length + i)})));
  return Plot.rect(cells, {x1: "x1", x2: "x2", y1: "y1", y2: "y2", fill: (cell) => cell.fill, shapeRendering: "crispEdges", clip: true});
}

// threeFills are the colours of three classes, halfway to the background, as numbers.
function threeFills(theme) {
  const parts = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
  return [0, 1, 2].map((c) => parts(actionColors(c, theme)[1]).map((v, k) => v + 0.45 * (parts(theme.paper)[k] - v)));
}

// threeLegend is a key to them.
export function threeLegend(width, height, {names, signs}, theme) {
  const colors = threeFills(theme);
  const step = 92;
  const left = width - 14 - step * names.length;
  return s("g", {}, names.flatMap((name, c) => [
    s("rect", {x: left + c * step, y: height - 22, width: 12, height: 12, fill: `rgb(${colors[c].map(Math.round).join(",")})`, stroke: theme.edge}),
    s("text", {x: left + c * step + 18, y: height - 16, dy: "0.35em", "text-anchor": "start", fill: theme.quiet}, `${signs[c]} ${name}`),
  ]));
}

// actionBoundaries are the lines on which two of the best actions cost the same in
// expectation.
export function actionBoundaries(xs, ys, probabilities, costs) {
  const expected = costs.map((row) => probabilities[0].map((_, i) => row.reduce((sum, cost, c) => sum + cost * probabilities[c][i], 0)));
  // What is between two actions is an edge of the first of them.
  return expected.slice(0, -1).flatMap((own, a) => isolines(xs, ys, own.map((cost, i) => cost - Math.min(...expected.filter((_, b) => b !== a).map((of) => of[i]))), 0));
}

// withBoundaries adds to a chart where each method begins to act: the lines that linesOf
// finds for it.
export function withBoundaries(options, answers, linesOf, theme, previous) {
  const boundaries = answers.map((answer) => ({method: answer.method, lines: linesOf(answer)}));
  const marks = boundaries.toReversed().flatMap(({method, lines}) => lines.flatMap((line) => {
    const {dash} = methodLook(method);
    const along = {x: "0", y: "1", clip: true};
    return [
      Plot.line(line, {...along, stroke: theme.paper, strokeWidth: 4, strokeOpacity: 0.6}),
      Plot.line(line, {...along, stroke: methodColor(method, theme), strokeWidth: method === "exact" ? 2.6 : 2, strokeDasharray: dash, strokeLinecap: "butt"}),
    ];
  }));
  const chart = draw({...options, marks: [...options.marks, ...marks]});
  const curves = boundaries.flatMap(({method, lines}) => lines.map((line) => ({name: method, xs: line.map(([x]) => x), ys: line.map(([, y]) => y)})));
  // A method with several lines is named on its longest.
  const longest = answers.flatMap(({method}) => curves.filter(({name}) => name === method).sort((a, b) => b.xs.length - a.xs.length).slice(0, 1));
  return {charts: [chart], labels: nameCurves(chart, longest, theme, {previous})};
}
