import {caption, find, h, setText} from "./dom.js";
import {list} from "./format.js";
import {actionSwatch, methodSwatch} from "./charts.js";
import {Live} from "./live.js";
import {theme} from "./looks.js";
import {methodLabel, methodNamed} from "./methods.js";

// Panel is what the three panels have in common: their parts in the page, questions to
// the server under way, errors shown in place, and a word for the address bar.
//
// A panel with a method refused has it called when a question came to nothing, for what it
// says about the answer before.
//
// page is {moved(panel, settled), rendered()}: told when what is seen has another
// address, and when an answer is on the screen.
export class Panel {
  #busy = new Set();

  constructor(name, page) {
    this.name = name;
    this.page = page;
    this.section = find(document, `[data-panel=${name}]`);
    this.section.addEventListener("submit", (event) => event.preventDefault());
    this.part("copy-link").addEventListener("click", () => this.#copyLink());
  }

  // part is an element of the panel by its name.
  part(name) {
    return find(this.section, `[data-part="${name}"]`);
  }

  // ask makes a Live for this panel; while any of them is busy, the panel is.
  ask(question, show, errorPart = "error") {
    const live = new Live({
      ask: question,
      show: (answer, asked) => {
        this.content(errorPart);
        show(answer, asked);
        this.page.rendered();
      },
      fail: (error) => {
        this.complain(error, errorPart);
        this.refused?.(error);
        this.page.rendered();
      },
      busy: (is) => {
        this.#busy[is ? "add" : "delete"](live);
        this.section.setAttribute("aria-busy", String(this.#busy.size > 0));
        this.page.busy();
      },
    });
    return live;
  }

  // complain shows an error where it was caused; what is on the screen stays.
  complain(error, part = "error") {
    const box = this.part(part);
    // A single error is in the message already.
    box.replaceChildren(
      h("p", {}, error.message),
      error.errors?.length > 1 ? h("ul", {}, error.errors.slice(0, 10).map((e) => h("li", {}, h("code", {}, e.location ?? ""), ` ${e.message ?? ""}`))) : "",
      error.retryAfter ? h("p", {}, `Try again in ${error.retryAfter} s.`) : "",
      h("button", {type: "button", onclick: () => this.refresh()}, "Try again"),
    );
    box.hidden = false;
  }

  content(part = "error") {
    this.part(part).hidden = true;
  }

  // curvesTable shows the chart as a table, {about, heads, rows}, while that is open; it
  // is long, so it is made only then.
  curvesTable(make) {
    const details = this.part("curves");
    const show = () => {
      const content = details.open && make();
      if (!content) return;
      const {about, heads, rows} = content;
      replaceTable(this.part("curves-table"), caption(about),
        h("thead", {}, h("tr", {}, heads.map((head) => h("th", {scope: "col", class: "number"}, head)))),
        h("tbody", {}, rows.map((row) => h("tr", {}, row.map((value) => h("td", {class: "number"}, value))))));
    };
    details.ontoggle = show;
    show();
  }

  async #copyLink() {
    this.page.moved(this, true);
    const button = this.part("copy-link");
    const label = button.textContent;
    try {
      await navigator.clipboard.writeText(location.href);
      setText(button, "Link copied");
    } catch {
      setText(button, "The link is in the address bar");
    }
    setTimeout(() => setText(button, label), 2000);
  }
}

// methodHead is the first cell of a method's row.
export function methodHead(name) {
  return h("th", {scope: "row", class: "method", title: methodNamed(name).about}, methodSwatch(name, theme()), h("span", {}, methodLabel(name)));
}

// actionBadge names an action beside a sample of its fill.
export function actionBadge(action, names) {
  return h("span", {class: "badge"}, actionSwatch(action, theme()), names[action]);
}

// showLeftOut says which methods have no answer, and why.
export function showLeftOut(container, leftOut) {
  container.replaceChildren(...(leftOut ?? []).map(({method, reason}) => h("p", {class: "note"}, h("b", {}, methodLabel(method)), ` is left out: ${reason}`)));
}

// names are the methods of a list, as a sentence has them.
export const names = (methods) => list(methods.map(methodLabel));

// replaceBody puts new content into a table and gives back the focus to the control
// that had it, if it is still there.
export function replaceTable(table, ...content) {
  const key = table.contains(document.activeElement) && document.activeElement.dataset.key;
  table.replaceChildren(...content);
  if (key) table.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus({preventScroll: true});
}

// offerModels lists models in a control and returns the one of a name, or the first.
export function offerModels(select, models, wanted) {
  if (models.length === 0) throw new Error("This server has no models.");
  if ([...select.options].map(({value}) => value).join() !== models.map(({name}) => name).join()) {
    select.replaceChildren(...models.map(({name}) => h("option", {value: name}, name)));
  }
  const entry = models.find(({name}) => name === wanted) ?? models[0];
  select.value = entry.name;
  return entry;
}

// safely is what a function returns, undefined if it throws.
export function safely(does) {
  try {
    return does();
  } catch {
    return undefined;
  }
}
