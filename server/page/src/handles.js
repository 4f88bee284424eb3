import {s} from "./dom.js";

// Handles are the things in a chart that can be taken hold of: points and a line. They
// live in a layer of their own above the chart, because the chart is drawn anew with
// every answer while a hand, or the keyboard's focus, must not lose its hold.
//
// A handle is {id, label, x, y, value, shape}: where it is in pixels, what it is called
// and how it is drawn; with role "slider" also now, min and max. Actions tell what
// happens to it:
//
//   move(id, x, y)   dragged to a place
//   nudge(id, dx, dy, size)   arrow keys, by a small, normal or large step
//   done(id)         let go of
//   remove(id)       Delete, Backspace or a double click
//   toggle(id)       Enter or Space; optional
//   add(x, y, other) the empty chart was clicked; other with the Shift key
export class Handles {
  #elements = new Map();
  #born = new Map();

  constructor(container, actions, description) {
    this.actions = actions;
    this.layer = s("svg", {class: "handles", "aria-label": description, role: "group"});
    container.append(this.layer);
    this.layer.addEventListener("click", (event) => {
      if (event.target !== this.layer || !actions.add) return;
      const {x, y} = this.#place(event);
      actions.add(x, y, event.shiftKey);
    });
  }

  resize(width, height) {
    this.layer.setAttribute("width", width);
    this.layer.setAttribute("height", height);
    this.layer.setAttribute("viewBox", `0 0 ${width} ${height}`);
  }

  // set shows exactly these handles; those that were there keep their elements.
  set(handles) {
    const wanted = new Set(handles.map((handle) => handle.id));
    for (const [id, element] of this.#elements) {
      if (wanted.has(id)) continue;
      element.remove();
      this.#elements.delete(id);
    }
    for (const handle of handles) {
      if (!this.#elements.has(handle.id)) this.#create(handle.id);
      this.#draw(this.#elements.get(handle.id), handle);
    }
  }

  focus(id) {
    this.#elements.get(id)?.focus({preventScroll: true});
  }

  // flash draws the eye to a part of the chart for a moment.
  flash(box) {
    const mark = s("rect", {class: "flash-box", rx: 3, ...box});
    this.layer.append(mark);
    setTimeout(() => mark.remove(), 1600);
  }

  #place(event) {
    const box = this.layer.getBoundingClientRect();
    return {x: event.clientX - box.left, y: event.clientY - box.top};
  }

  #create(id) {
    const {actions} = this;
    const element = s("g", {class: "handle", tabindex: 0, dataset: {handle: id}});
    let held = false;
    let moved = false;
    element.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      element.setPointerCapture(event.pointerId);
      element.focus({preventScroll: true});
      held = true;
      moved = false;
      event.preventDefault();
    });
    element.addEventListener("pointermove", (event) => {
      if (!held) return;
      moved = true;
      const {x, y} = this.#place(event);
      actions.move(id, x, y);
    });
    const letGo = () => {
      if (held && moved) actions.done(id);
      held = false;
    };
    element.addEventListener("pointerup", letGo);
    element.addEventListener("pointercancel", letGo);
    element.addEventListener("dblclick", () => {
      // The second click of a pair of which the first made the handle is no wish to
      // remove it.
      if (performance.now() - this.#born.get(id) > 600) actions.remove?.(id);
    });
    element.addEventListener("keydown", (event) => {
      const way = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1]}[event.key];
      const size = event.altKey ? "small" : event.shiftKey ? "large" : "normal";
      if (event.ctrlKey || event.metaKey) return;
      if (way) actions.nudge(id, ...way, size);
      else if (event.key === "PageUp" || event.key === "PageDown") actions.nudge(id, event.key === "PageUp" ? 1 : -1, 0, "large");
      else if ((event.key === "Delete" || event.key === "Backspace") && actions.remove) actions.remove(id);
      else if ((event.key === "Enter" || event.key === " ") && actions.toggle) actions.toggle(id);
      else return;
      event.preventDefault();
    });
    this.#elements.set(id, element);
    this.#born.set(id, performance.now());
    this.layer.append(element);
  }

  #draw(element, {label, role = "button", x, y, now, min, max, valueText, shape, className}) {
    const attributes = {
      class: `handle ${className ?? ""}`, transform: `translate(${x},${y})`, role, "aria-label": label,
      ...(role === "slider" && {"aria-valuenow": now, "aria-valuemin": min, "aria-valuemax": max, "aria-valuetext": valueText, "aria-orientation": "horizontal"}),
      ...(role === "button" && {"aria-roledescription": "movable point"}),
    };
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    if (element.shape !== shape.key) {
      element.shape = shape.key;
      element.replaceChildren(...shape.draw());
    }
  }
}

// pointShape is a marker with room around it for fingers and a ring for the focus.
export function pointShape(kind) {
  return {
    key: kind,
    draw: () => [
      s("circle", {class: "grip", r: 14}),
      s("circle", {class: "ring", r: 11}),
      kind === "negative" ? s("circle", {class: "mark", r: 5.5}) : kind === "positive" ? s("rect", {class: "mark", x: -5.5, y: -5.5, width: 11, height: 11}) : s("path", {class: "mark", d: "M0-7L6 3H-6Z"}),
    ],
  };
}

// lineShape is an upright line from a handle at its top, with a text beside that.
export function lineShape(height, text, leftwards) {
  return {
    key: `line ${height} ${text} ${leftwards}`,
    draw: () => [
      s("rect", {class: "grip", x: -9, y: 0, width: 18, height}),
      s("line", {class: "rod", y1: 14, y2: height}),
      s("rect", {class: "ring", x: -13, y: -3, width: 26, height: 20, rx: 8}),
      s("rect", {class: "knob", x: -10, y: 0, width: 20, height: 14, rx: 5}),
      s("path", {class: "knob-mark", d: "M-3 4l-3 3 3 3M3 4l3 3-3 3"}),
      s("text", {class: "knob-text", x: leftwards ? -16 : 16, y: 7, dy: "0.35em", "text-anchor": leftwards ? "end" : "start"}, text),
    ],
  };
}

