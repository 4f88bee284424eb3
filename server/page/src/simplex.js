import {actionPatterns, font} from "./charts.js";
import {s} from "./dom.js";
import {percent} from "./format.js";
import {actionColors} from "./looks.js";
import {area, middle, regions} from "./regions.js";

// The triangle of the probabilities of three outcomes: each corner is where one is certain,
// regions are coloured by the action that is best in them, and cases are points.

const widest = 520;
const mostCases = 3000; // more would hide each other
const sides = {left: 70, right: 70, top: 30, bottom: 34};

// simplexChart draws it. Without a table, when entries depend on columns, there are no
// regions: those of every case would be others.
export function simplexChart({outcomes, actions, table, costs, cases, theme, width: room}) {
  const width = Math.min(room, widest);
  const base = width - sides.left - sides.right;
  const height = base * Math.sqrt(3) / 2;
  const corners = [[sides.left, sides.top + height], [sides.left + base, sides.top + height], [sides.left + base / 2, sides.top]];
  const at = (p) => [0, 1].map((k) => p.reduce((sum, x, o) => sum + x * corners[o][k], 0));
  const path = (polygon) => `M${polygon.map((p) => at(p).map((x) => x.toFixed(2)).join(" ")).join("L")}Z`;
  const {defs, fill} = actionPatterns(actions.length, theme);
  const polygons = table ? regions(table, costs) : [];
  const text = (x, y, anchor, content, more = {}) => s("text", {x, y, "text-anchor": anchor, fill: theme.ink, ...more}, content);
  const halo = {stroke: theme.paper, "stroke-width": 4, "stroke-linejoin": "round", "paint-order": "stroke"};
  return s("svg", {
    width, height: height + sides.top + sides.bottom, viewBox: `0 0 ${width} ${height + sides.top + sides.bottom}`, role: "img",
    style: `font-family:${font.fontFamily};font-size:${font.fontSize}`,
    "aria-label": `Triangle of the probabilities of ${outcomes.join(", ")}: regions of the best action and ${cases.length} cases`,
  },
  defs(),
  polygons.map((polygon, a) => polygon.length > 0 && s("path", {d: path(polygon), fill: fill(a), stroke: actionColors(a, theme)[1], "stroke-width": 1, dataset: {region: a, area: area(polygon)}})),
  s("path", {d: path([[1, 0, 0], [0, 1, 0], [0, 0, 1]]), fill: "none", stroke: theme.ink, "stroke-width": 1.5}),
  cases.slice(0, mostCases).map(({row, probabilities, action, flipped}) => {
    const [x, y] = at(probabilities);
    const look = {fill: theme.paper, "fill-opacity": 0.85, stroke: actionColors(action, theme)[1], "stroke-width": flipped ? 3 : 1.6, dataset: {row, action, flipped}};
    const mark = flipped ? s("rect", {x: x - 4.5, y: y - 4.5, width: 9, height: 9, ...look}) : s("circle", {cx: x, cy: y, r: 4, ...look});
    mark.append(s("title", {}, `row ${row}: ${actions[action]}; ${outcomes.map((outcome, o) => `${outcome} ${percent(probabilities[o])}`).join(", ")}`));
    return mark;
  }),
  polygons.map((polygon, a) => {
    if (area(polygon) < 0.03) return null; // too small for its name; the colours have a key
    const [x, y] = at(middle(polygon));
    return text(x, y, "middle", actions[a], {"font-weight": 600, dy: "0.35em", ...halo});
  }),
  text(corners[0][0], corners[0][1] + 20, "middle", outcomes[0], {"font-weight": 600}),
  text(corners[1][0], corners[1][1] + 20, "middle", outcomes[1], {"font-weight": 600}),
  text(corners[2][0], corners[2][1] - 12, "middle", outcomes[2], {"font-weight": 600}));
}
