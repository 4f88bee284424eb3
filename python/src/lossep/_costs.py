"""What actions cost, as people write it in Python, in the program's own form.

The program reads a line of costs (``fn=5,fp=1``) or a specification: outcomes, and for each
action a number or an expression over columns for each outcome. Costs that differ from case
to case become columns of their own, one for each pair of action and outcome that differs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lossep._columns import Columns, shown, spelled
from lossep._frames import Array

Cost = Any
"""A text or dict of mistakes, a dict of actions, or an array; see ``LossepClassifier``."""

MISTAKES = ("fn", "fp", "tp", "tn")


class Stakes:
    """Costs in the program's form, with the columns that they need."""

    def __init__(self, utility: dict[str, Any] | None, cases: Mapping[str, Array] | None = None) -> None:
        self.utility = utility
        self.cases = dict(cases or {})

    @property
    def needs_positive(self) -> str | None:
        """Why it matters which class is positive, None if it does not: other costs name classes."""
        return "fn and fp are about it" if self.utility is not None and "costs" in self.utility else None

    def add_to(self, columns: Columns) -> None:
        """Adds the costs of the single cases to a table."""
        for name, values in self.cases.items():
            if len(values) != columns.rows:
                raise ValueError(f"cost: there are costs of {len(values)} cases, and {columns.rows} rows")
            columns.add_numbers(name, values)


def stakes(cost: Cost, outcomes: Sequence[str], labels: Sequence[Any], actions: Sequence[str] | None = None) -> Stakes:
    """The stakes that a cost stands for.

    ``outcomes`` are the program's names of the classes ``labels``, in the order of the
    columns of arrays.
    """
    if cost is None:
        return Stakes(None)
    if isinstance(cost, str):
        return Stakes({"costs": cost})
    if isinstance(cost, Mapping):
        return Stakes(_from_mapping(cost, outcomes, labels))
    return _from_array(np.asarray(cost, dtype=float), outcomes, actions)


def _from_mapping(cost: Mapping[Any, Any], outcomes: Sequence[str], labels: Sequence[Any]) -> dict[str, Any]:
    if not cost:
        raise ValueError("cost: it is empty; give for example {'fn': 5, 'fp': 1}")
    if all(isinstance(key, str) and key in MISTAKES for key in cost):
        return {"costs": ",".join(f"{key}={_entry(value)}" for key, value in cost.items())}
    kind = "costs"
    table: Mapping[Any, Any] = cost
    more: dict[str, Any] = {}
    if "costs" in cost or "utilities" in cost:
        kind = "costs" if "costs" in cost else "utilities"
        table = cost[kind]
        more = {key: value for key, value in cost.items() if key in ("ceiling",)}
    names = {spelled(label): outcome for label, outcome in zip(labels, outcomes, strict=True)}
    names.update({outcome: outcome for outcome in outcomes})
    entries: dict[str, dict[str, Any]] = {}
    for action, row in table.items():
        if not isinstance(row, Mapping):
            raise ValueError(
                f"cost: the action {shown(action)} needs a cost for each outcome, "
                f"such as {{{shown(labels[0])}: 0, {shown(labels[-1])}: 5}}; "
                f"or give the costs of mistakes by the keys {', '.join(MISTAKES)}"
            )
        entries[spelled(action)] = {names.get(spelled(label), spelled(label)): _value(value) for label, value in row.items()}
    return {"spec": {"outcomes": list(outcomes), kind: entries, **more}}


def _value(value: Any) -> Any:
    return value if isinstance(value, str) else float(value)


def _entry(value: Any) -> str:
    return value if isinstance(value, str) else repr(float(value))


def case_cost(action: int, outcome: int) -> str:
    """The name of the column with what an action costs under an outcome in the single cases."""
    return f"cost of {action} under {outcome}"


def _from_array(cost: Array, outcomes: Sequence[str], actions: Sequence[str] | None) -> Stakes:
    if cost.ndim not in (2, 3) or cost.shape[-1] != len(outcomes):
        raise ValueError(
            f"cost: an array of shape {cost.shape}; give one of shape (actions, {len(outcomes)}), "
            f"or of shape (rows, actions, {len(outcomes)}) for costs that differ from case to case"
        )
    count = cost.shape[-2]
    if actions is None:
        actions = list(outcomes) if count == len(outcomes) else [f"action {a}" for a in range(count)]
    if len(actions) != count:
        raise ValueError(f"actions: {len(actions)} names of the {count} actions that cost has")
    if not np.isfinite(cost).all():
        raise ValueError("cost: an entry is NaN or infinite")
    entries: dict[str, dict[str, Any]] = {}
    cases: dict[str, Array] = {}
    for a, action in enumerate(actions):
        row = entries[spelled(action)] = {}
        for k, outcome in enumerate(outcomes):
            values = cost[..., a, k]
            if values.ndim == 0 or (len(values) and (values == values[0]).all()):
                row[outcome] = float(values if values.ndim == 0 else values[0])
            else:
                name = case_cost(a, k)
                row[outcome] = f"`{name}`"
                cases[name] = values
    return Stakes({"spec": {"outcomes": list(outcomes), "costs": entries}}, cases)
