import {onRefused, setToken} from "./api.js";
import {find, setText} from "./dom.js";
import {decodeLink, encodeLink} from "./link.js";
import {onThemeChange} from "./looks.js";
import {learnMethods} from "./methods.js";
import {Classifier} from "./classifier.js";
import {Model} from "./model.js";
import {NumberModel} from "./number.js";
import {Reactor} from "./reactor.js";

// A page: the panels that its markup has, one of which is shown, and the address that says what
// is seen.

const page = {moved, rendered, busy, go};
const kinds = {model: Model, number: NumberModel, reactor: Reactor, classifier: Classifier};
const here = Object.keys(kinds).filter((name) => document.querySelector(`[data-panel=${name}]`));
const panels = Object.fromEntries(here.map((name) => [name, new kinds[name](page)]));
const order = Object.keys(panels);
let current;

// rendered counts the answers that have been put on the screen.
function rendered() {
  document.body.dataset.ready = String(Number(document.body.dataset.ready) + 1);
}

// busy shows that some answer is late; quick ones would only flicker.
let late;
function busy() {
  const is = Object.values(panels).some((panel) => panel.section.getAttribute("aria-busy") === "true");
  clearTimeout(late);
  const show = () => (find(document, "#progress").hidden = !is);
  if (is) late = setTimeout(show, 200);
  else show();
}

// moved writes what is seen into the address. A change that has settled is a step to
// which the Back button returns; many such steps within a second are one.
let lastStep = 0;
let pending;
function moved(panel, settled) {
  if (panel !== current) return;
  clearTimeout(pending);
  if (!settled) {
    pending = setTimeout(() => history.replaceState(null, "", addressOf(panel)), 400);
    return;
  }
  const address = addressOf(panel);
  if (address === location.hash) return;
  const now = performance.now();
  if (now - lastStep < 1000) history.replaceState(null, "", address);
  else history.pushState(null, "", address);
  lastStep = now;
}

const addressOf = (panel) => encodeLink(panel.name, panel.write());

// tabOf is the tab of a panel, where there are several.
const tabOf = (name) => document.querySelector(`#tab-${name}`);

// show brings a panel to the front.
function show(name) {
  current = panels[name];
  for (const [other, panel] of Object.entries(panels)) {
    const is = other === name;
    panel.section.hidden = !is;
    const tab = tabOf(other);
    tab?.setAttribute("aria-selected", String(is));
    if (tab) tab.tabIndex = is ? 0 : -1;
  }
  current.refresh(true);
}

// go shows another panel with these values.
function go(name, values) {
  panels[name].read(values);
  show(name);
}

// follow shows what the address says.
function follow() {
  const {panel, values} = decodeLink(location.hash);
  const known = Object.hasOwn(panels, panel); // and not what every object has, such as #constructor
  const name = known ? panel : order[0];
  if (known) panels[name].read(values);
  show(name);
}

order.filter(tabOf).forEach((name, i) => {
  const tab = tabOf(name);
  const select = (to) => {
    show(to);
    history.pushState(null, "", addressOf(current));
  };
  tab.addEventListener("click", () => select(name));
  tab.addEventListener("keydown", (event) => {
    const to = {ArrowLeft: i - 1, ArrowRight: i + 1, Home: 0, End: -1}[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const next = order.at(to % order.length);
    select(next);
    tabOf(next).focus();
  });
});

find(document, "#skip").addEventListener("click", (event) => {
  event.preventDefault(); // the address belongs to the panels
  find(document, "#main-content").focus();
});

onRefused((wrong) => {
  find(document, "#token").hidden = false;
  if (wrong) setText(find(document, "#token-note"), "This token is not accepted.");
});
find(document, "#token").addEventListener("submit", (event) => {
  event.preventDefault();
  setToken(find(document, "#token-field").value.trim());
  find(document, "#token").hidden = true;
  current.refresh();
});

onThemeChange(() => Object.values(panels).forEach((panel) => panel.redraw()));
addEventListener("popstate", follow);
await learnMethods().catch(() => {}); // without it they go by their names
follow();
