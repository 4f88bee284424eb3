import {h} from "./dom.js";
import {number, rounded} from "./format.js";

const steps = 1000;

// typing is how long a pause in writing a formula is, in ms, before it counts as written.
export const typing = 500;

// EntryTable edits what each action costs or is worth under each outcome: a number and
// a slider for every entry. An entry that depends on a column, such as 0.6 * amount,
// is edited as text.
//
//   actions, outcomes   names of rows and columns
//   caption             what the numbers are
//   name(a, o)          label of an entry
//   even                sliders move evenly; otherwise finer near 0
//   changed(table, settled)   told of every change; settled when a hand lets go
//   writing()           told that a change is going to be told, once the hand rests
export class EntryTable {
  constructor(container, {actions, outcomes, caption, name, even = false, changed, writing}) {
    Object.assign(this, {actions, even, changed, writing});
    this.fields = actions.map((_, a) => outcomes.map((outcome, o) => this.#field(a, o, name(a, o), outcome)));
    this.element = h("table", {class: "entries"},
      h("caption", {}, caption),
      h("thead", {}, h("tr", {}, h("td"), outcomes.map((outcome) => h("th", {scope: "col"}, outcome)))),
      h("tbody", {}, actions.map((action, a) => h("tr", {}, h("th", {scope: "row"}, action), this.fields[a].map(({cell}) => cell)))));
    container.replaceChildren(this.element);
  }

  #field(a, o, label, outcome) {
    const field = {};
    let waiting;
    const tell = (settled, delay) => {
      clearTimeout(waiting);
      if (!delay) return this.changed(this.table.map((row) => [...row]), settled);
      waiting = setTimeout(tell, delay, settled);
      this.writing?.();
    };
    field.input = h("input", {
      "aria-label": label, autocomplete: "off", dataset: {action: a, outcome: o},
      oninput: () => {
        const value = this.#read(field);
        if (value === undefined) return field.input.setAttribute("aria-invalid", "true");
        field.input.removeAttribute("aria-invalid");
        this.table[a][o] = value;
        if (!field.text) this.#slide(field, value);
        tell(false, field.text && typing);
      },
      onchange: () => {
        if (this.#read(field) === undefined) this.#write(field, this.table[a][o]);
        tell(true);
      },
    });
    field.slider = h("input", {
      type: "range", min: 0, max: steps, step: 1, "aria-label": `${label}, slider`,
      oninput: () => {
        const value = this.#valueAt(Number(field.slider.value));
        this.table[a][o] = value;
        field.input.value = String(value);
        field.input.removeAttribute("aria-invalid");
        field.slider.setAttribute("aria-valuetext", number(value));
        tell(false);
      },
      onchange: () => tell(true),
    });
    field.cell = h("td", {dataset: {label: outcome}}, field.input, field.slider);
    return field;
  }

  // set shows a table; what is written in a field at the moment is left alone. Sliders
  // reach up to top.
  set(table, top) {
    this.table = table.map((row) => [...row]);
    this.top = top;
    this.element.classList.toggle("formulas", table.flat().some((value) => typeof value !== "number"));
    table.forEach((row, a) => row.forEach((value, o) => this.#write(this.fields[a][o], value)));
  }

  #read({input, text}) {
    if (text) return input.value.trim() || undefined;
    const value = input.value.trim() === "" ? NaN : Number(input.value);
    return Number.isFinite(value) ? value : undefined;
  }

  #write(field, value) {
    field.text = typeof value !== "number";
    field.input.type = field.text ? "text" : "number";
    if (!field.text) field.input.step = "any";
    field.slider.hidden = field.text;
    field.input.size = field.text ? Math.min(60, Math.max(8, String(value).length + 1)) : 8;
    field.input.removeAttribute("aria-invalid");
    if (document.activeElement !== field.input || this.#read(field) !== value) field.input.value = String(value);
    if (!field.text) this.#slide(field, value);
  }

  #slide({slider}, value) {
    const share = Math.min(1, Math.max(0, value / this.top));
    slider.value = String(Math.round(steps * (this.even ? share : Math.cbrt(share))));
    slider.setAttribute("aria-valuetext", number(value));
  }

  #valueAt(position) {
    const share = position / steps;
    return rounded(this.top * (this.even ? share : share ** 3), this.even ? 4 : 3);
  }
}

// reach is how far sliders go for a table: a round number with room above the largest
// entry.
export function reach(table, room) {
  const largest = Math.max(0, ...table.flat().filter((entry) => typeof entry === "number"));
  if (largest === 0) return 1;
  const power = 10 ** Math.floor(Math.log10(largest * room));
  return [1, 2, 5, 10].map((k) => k * power).find((top) => top >= largest * room * (1 - 1e-12));
}
