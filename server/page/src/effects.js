import {get, pathOf} from "./api.js";
import {h, setText} from "./dom.js";
import {plural} from "./format.js";

// offerEffects offers the figures of a model's effects, if it has any. They are asked for when the fold is opened,
// and are drawn by the server, as images that bring no names or styles of their own into the page.
export function offerEffects(panel, model, families) {
  const fold = panel.part("effects");
  if (panel.effectsOf === model) return;
  panel.effectsOf = model;
  fold.hidden = !families?.length;
  fold.open = false;
  panel.part("effects-figures").replaceChildren();
  setText(panel.part("effects-text"), "");
  fold.ontoggle = async () => {
    if (!fold.open || panel.part("effects-figures").childElementCount) return;
    try {
      const {text, effects, more} = await get(`${pathOf(model)}/effects`);
      if (panel.effectsOf !== model) return; // meanwhile another was chosen
      setText(panel.part("effects-text"), text + (more ? ` ${plural(more, "further family", "further families")} of less importance ${more === 1 ? "is" : "are"} not shown.` : ""));
      panel.part("effects-figures").replaceChildren(...effects.map(({caption, svg}) =>
        h("figure", {}, h("img", {alt: caption, src: `data:image/svg+xml,${encodeURIComponent(svg)}`}), h("figcaption", {class: "note"}, caption))));
    } catch (error) {
      setText(panel.part("effects-text"), error.message);
    }
    panel.page.rendered();
  };
}
