import * as Plot from "@observablehq/plot";
import {base, draw} from "./charts.js";
import {number} from "./format.js";

// What is known of one case: the density of its outcome, and below it what each action is expected to
// cost. answer is that of /distribution, of which d is one.

const densityHeight = 190;
const costHeight = 190;

export function densityCharts(answer, d, {theme, width}) {
  const {outcome, counts, choices} = answer;
  const domain = [Math.min(d.outcomes[0], choices ? Infinity : d.action), Math.max(d.outcomes.at(-1), choices ? -Infinity : d.action)];
  if (domain[0] === domain[1]) domain[1]++;
  const x = {domain, tickSize: 4, ticks: 6, tickFormat: (v) => number(v), labelAnchor: "right", labelArrow: "none"};
  const at = d.outcomes.map((_, i) => i);
  const bars = {x: (i) => d.outcomes[i], y: (i) => d.density[i]};
  const likely = at.filter((i) => d.outcomes[i] >= d.low && d.outcomes[i] <= d.high);
  const action = choices ? [] : [Plot.ruleX([d.action], {stroke: theme.accent, strokeWidth: 2.5})];
  const density = draw({
    ...base(theme, width, densityHeight, `Predicted ${counts ? "probability" : "density"} of ${outcome}`),
    marginTop: 34, marginBottom: 36, x: {...x, label: `${outcome} →`}, y: {domain: [0, 1.05 * Math.max(...d.density)], label: null, ticks: 4, tickSize: 4, tickFormat: (v) => number(v)},
    marks: [
      Plot.gridY({stroke: theme.grid, strokeOpacity: 1, ticks: 4}),
      counts
        ? [Plot.ruleX(at, {...bars, stroke: theme.edge, strokeWidth: 4}), Plot.ruleX(likely, {...bars, stroke: theme.quiet, strokeWidth: 4})]
        : [Plot.areaY(at, {...bars, fill: theme.area}), Plot.areaY(likely, {...bars, fill: theme.edge}), Plot.lineY(at, {...bars, stroke: theme.ink, strokeWidth: 2})],
      Plot.ruleX([d.mean], {stroke: theme.ink, strokeWidth: 1.2, strokeDasharray: "4 3"}),
      action,
      Plot.text([`${counts ? "probability" : "density"}; dark: 90 % interval, dashed: mean${choices ? "" : ", solid: action"}`], {frameAnchor: "top-left", dy: -26, dx: -60, fill: theme.quiet}),
    ],
  });
  return [density, choices ? choiceChart(d, choices, theme, width) : costChart(d, x, action, theme, width)];
}

// costChart is what each number is expected to cost.
function costChart(d, x, action, theme, width) {
  const shown = d.actions.map((_, i) => i).filter((i) => d.actions[i] >= x.domain[0] && d.actions[i] <= x.domain[1]);
  return draw({
    ...base(theme, width, costHeight, "Expected cost of each action"),
    marginTop: 34, marginBottom: 36, x: {...x, label: "action →"}, y: {domain: [0, 1.05 * Math.max(d.cost, ...shown.map((i) => d.expected[i])) || 1], label: null, ticks: 4, tickSize: 4, tickFormat: (v) => number(v)},
    marks: [
      Plot.gridY({stroke: theme.grid, strokeOpacity: 1, ticks: 4}),
      Plot.lineY(shown, {x: (i) => d.actions[i], y: (i) => d.expected[i], stroke: theme.ink, strokeWidth: 2}),
      action,
      Plot.dot([d], {x: "action", y: "cost", r: 5, fill: theme.accent, stroke: theme.paper}),
      Plot.text(["expected cost of each action"], {frameAnchor: "top-left", dy: -26, dx: -60, fill: theme.quiet}),
    ],
  });
}

// choiceChart is what each named action is expected to cost.
function choiceChart(d, choices, theme, width) {
  return draw({
    ...base(theme, width, 60 + 26 * choices.length, "Expected cost of each action"),
    marginTop: 28, marginBottom: 36, marginLeft: 110, x: {label: "expected cost →", labelAnchor: "right", labelArrow: "none", tickSize: 4, tickFormat: (v) => number(v)},
    y: {type: "band", domain: choices, label: null, tickSize: 0},
    marks: [Plot.barX(choices, {x: (_, i) => d.expected[i], y: (name) => name, fill: (_, i) => (i === d.action ? theme.accent : theme.edge)}), Plot.ruleX([0], {stroke: theme.edge})],
  });
}
