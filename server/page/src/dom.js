// Elements without a framework.

// h makes an element: h("td", {class: "number", dataset: {field: "mean"}}, text, child).
// Properties that begin with "on" are listeners; null, undefined and false are left out.
export function h(name, properties = {}, ...children) {
  return filled(document.createElement(name), properties, children);
}

// s makes an element of a picture.
export function s(name, properties = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", name), properties, children);
}

function filled(element, properties, children) {
  for (const [key, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (key === "dataset") Object.assign(element.dataset, value);
    else if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

// find is the one element that a selector names.
export function find(within, selector) {
  const element = within.querySelector(selector);
  if (!element) throw new Error(`nothing matches ${selector}`);
  return element;
}

// setText writes only what is new, so that a live region speaks only of changes.
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// cell is a cell of a table of results. Its exact value goes with it, for the text
// may be rounded.
export function cell(field, text, value, properties = {}) {
  const {dataset, ...rest} = properties;
  const exact = value === undefined || value === null ? {} : {value: String(value)};
  return h("td", {...rest, class: ["number", rest.class].filter(Boolean).join(" "), dataset: {field, ...exact, ...dataset}}, text);
}

// caption is that of a table; its text stays in sight when a wide table is scrolled.
export const caption = (text) => h("caption", {}, h("span", {}, text));

// wordCell is a cell that holds words.
export function wordCell(field, content, value) {
  return h("td", {dataset: {field, ...(value === undefined ? {} : {value: String(value)})}}, content);
}

// onWidth follows the width of an element, in whole pixels.
export function onWidth(element, changed) {
  let last = 0;
  new ResizeObserver(([entry]) => {
    const width = Math.floor(entry.contentRect.width);
    if (width > 0 && width !== last) changed((last = width));
  }).observe(element);
}

// flash draws the eye to an element that has changed, once. The style sheet keeps it
// still for those who asked for less motion.
export function flash(element) {
  element.classList.remove("flash");
  void element.getBoundingClientRect(); // restarts the animation
  element.classList.add("flash");
}
