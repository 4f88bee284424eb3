import {h, s} from "./dom.js";
import {light} from "./looks.js";

// Files of what is seen.

// saveCSV offers a table as a file.
export const saveCSV = (name, text) => offer(`${name}.csv`, "text/csv;charset=utf-8", text);

// saveSVG offers charts, one below the other, as one picture that needs nothing else:
// no style sheet, no script, dark ink on white. Lines of text head it.
export function saveSVG(name, lines, charts) {
  offer(`${name}.svg`, "image/svg+xml", standalone(lines, charts));
}

const pad = 16;
const lineHeight = 18;

export function standalone(lines, charts) {
  const width = Math.max(...charts.map((chart) => Number(chart.getAttribute("width"))));
  let y = pad + lines.length * lineHeight;
  const texts = lines.map((line, i) =>
    s("text", {x: pad, y: pad + (i + 0.7) * lineHeight, "font-size": i === 0 ? 14 : 11.5, "font-weight": i === 0 ? 600 : 400, fill: i === 0 ? light.ink : light.quiet}, line));
  const placed = charts.map((chart) => {
    for (const style of chart.querySelectorAll("style")) style.remove();
    chart.removeAttribute("class");
    chart.setAttribute("x", pad);
    chart.setAttribute("y", y);
    chart.setAttribute("overflow", "visible");
    y += Number(chart.getAttribute("height"));
    return chart;
  });
  const all = s("svg", {
    xmlns: "http://www.w3.org/2000/svg", width: width + 2 * pad, height: y + pad, viewBox: `0 0 ${width + 2 * pad} ${y + pad}`,
    "font-family": "system-ui, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif", "font-size": 11, fill: light.ink, color: light.ink,
  }, s("rect", {width: "100%", height: "100%", fill: light.paper}), texts, placed);
  // Not every program that shows pictures knows currentColor.
  return new XMLSerializer().serializeToString(all).replaceAll("currentColor", light.ink);
}

function offer(name, type, text) {
  const link = h("a", {href: URL.createObjectURL(new Blob([text], {type})), download: name});
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
