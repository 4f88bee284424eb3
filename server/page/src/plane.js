import * as Plot from "@observablehq/plot";
import {draw, nameCurves} from "./charts.js";
import {isolines} from "./isolines.js";
import {s} from "./dom.js";
import {methodColor, methodLook} from "./looks.js";

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

// withBoundaries adds to a chart where each method begins to act: the lines on which its
// probability crosses a level.
export function withBoundaries(options, [xs, ys], answers, levels, theme, previous) {
  const boundaries = answers.map(({method, probability}) => ({method, lines: levels.flatMap((level) => isolines(xs, ys, probability, level))}));
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
