"""Effects of categories, bins and pairs of these, with figures."""

from __future__ import annotations

import html
from typing import Any
from urllib.parse import quote

from lossep._model import Model


class Effects:
    """What families of effects add to the latent value, the most important first.

    In a notebook it shows a figure of each; ``frame`` is a table of all effects. ``families``
    holds the numbers and the figures (``svg``) as the program gives them.
    """

    def __init__(self, text: str, families: list[dict[str, Any]], more: int = 0) -> None:
        self.text = text
        self.families = families
        self.more = more

    @classmethod
    def of(cls, model: Model) -> Effects:
        """Those of a fitted model."""
        reply, _ = model.ask("effects", {})
        found = reply.result
        return cls(found["text"], found["effects"], found.get("more", 0))

    def frame(self) -> Any:
        """A DataFrame of all effects: the family, where it is on its columns, mean and standard deviation."""
        import pandas

        rows = [
            {
                "family": f["term"],
                **({"outcome": f["outcome"]} if "outcome" in f else {}),
                "group": " × ".join(axis["labels"][k] for axis, k in zip(f["axes"], cell["at"], strict=True)),
                "mean": cell["mean"],
                "sd": cell["sd"],
            }
            for f in self.families
            for cell in f["cells"]
        ]
        return pandas.DataFrame(rows, columns=None if rows else ["family", "group", "mean", "sd"])

    def __len__(self) -> int:
        return len(self.families)

    def __str__(self) -> str:
        return "\n".join([self.text, *(f["caption"] for f in self.families)])

    def __repr__(self) -> str:
        return f"<lossep effects: {', '.join(f['term'] for f in self.families) or 'none'}>"

    def _repr_html_(self) -> str:
        # As an image a figure brings no names and styles of its own into the notebook.
        figures = "".join(
            f'<figure style="margin:1em 0"><img alt="{html.escape(f["caption"])}" src="data:image/svg+xml,{quote(f["svg"])}"'
            f' style="max-width:100%"><figcaption>{html.escape(f["caption"])}</figcaption></figure>'
            for f in self.families
        )
        more = f"<p>{self.more} further families are of less importance.</p>" if self.more else ""
        return f"<div><p>{html.escape(self.text)}</p>{figures}{more}</div>"
