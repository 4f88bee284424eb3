"""What actions cost, as people write it in Python, in the program's own form.

The program reads a line of costs (``fn=5,fp=1``) or a specification: outcomes, and for each
action a number or an expression over columns for each outcome. Costs that differ from case
to case become columns of their own, one for each pair of action and outcome that differs.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lossep import _worker
from lossep._columns import Columns, framed, from_frame, is_frame, shown, spelled
from lossep._frames import Array
from lossep._validation import as_numbers

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

    @property
    def expressions(self) -> list[str]:
        """The entries that may name columns."""
        if self.utility is None or self.cases:
            return []
        if "costs" in self.utility:
            return [self.utility["costs"]]
        spec = self.utility["spec"]
        table = spec["costs"] if "costs" in spec else spec["utilities"]
        return [entry for row in table.values() for entry in row.values() if isinstance(entry, str)]

    def names(self, column: str) -> bool:
        """Whether an expression has the name of a column in it."""
        named = re.compile(rf"(?<!\w){re.escape(column)}(?!\w)")
        return any(named.search(text) for text in self.expressions)

    def add_to(self, columns: Columns) -> None:
        """Adds the costs of the single cases to a table."""
        for name, values in self.cases.items():
            if len(values) != columns.rows:
                raise ValueError(f"cost: there are costs of {len(values)} cases, and {columns.rows} rows")
            if name in columns.names:
                raise ValueError(f"cost: X has a column {name!r}, as costs of single cases are called; rename it")
            columns.add_numbers(name, values)


def stakes(cost: Cost, outcomes: Sequence[str], labels: Sequence[Any], actions: Sequence[str] | None = None) -> Stakes:
    """The stakes that a cost stands for.

    ``outcomes`` are the program's names of the classes ``labels``, in the order of the
    columns of arrays.
    """
    if cost is None:
        return Stakes(None)
    if isinstance(cost, (str, Mapping)):
        if actions is not None:
            raise ValueError("actions: they name the rows of an array of costs, and cost is no array")
        return Stakes({"costs": cost} if isinstance(cost, str) else _from_mapping(cost, outcomes, labels))
    return from_array(as_numbers(cost, "cost"), outcomes, actions)


def is_array(cost: Cost) -> bool:
    """Whether costs are given as an array."""
    return cost is not None and not isinstance(cost, (str, Mapping))


def is_of_cases(cost: Cost) -> bool:
    """Whether costs are an array with a table for each case."""
    return is_array(cost) and as_numbers(cost, "cost").ndim == 3


def names_columns(cost: Cost) -> bool:
    """Whether costs have expressions in them that may name columns."""
    if isinstance(cost, Mapping):
        return any(names_columns(value) for value in cost.values())
    return isinstance(cost, str) and re.search(r"[^\W\d]|`", _PLAIN.sub("", cost)) is not None


_PLAIN = re.compile(r"\b(fn|fp|tp|tn)\s*=|\b(min|max|uniform|triangular|normal|lognormal)\s*\(|\d+\.?\d*([eE][+-]?\d+)?")
"""What of a cost names no column: mistakes, functions, and numbers."""


def _from_mapping(cost: Mapping[Any, Any], outcomes: Sequence[str], labels: Sequence[Any]) -> dict[str, Any]:
    if not cost:
        raise ValueError("cost: it is empty; give for example {'fn': 5, 'fp': 1}")
    if all(isinstance(key, str) and key in MISTAKES for key in cost):
        return {"costs": ",".join(f"{key}={_entry(value)}" for key, value in cost.items())}
    if any(key in MISTAKES for key in cost) and not any(isinstance(value, Mapping) for value in cost.values()):
        unknown = next(key for key in cost if key not in MISTAKES)
        near = difflib.get_close_matches(str(unknown).lower(), MISTAKES, 1)
        meant = f"did you mean {near[0]!r}? " if near else ""
        raise ValueError(f"cost: unknown mistake {shown(unknown)}; {meant}there are {', '.join(map(repr, MISTAKES))}")
    kind = "costs"
    table: Mapping[Any, Any] = cost
    more: dict[str, Any] = {}
    if "costs" in cost or "utilities" in cost:
        kind = "costs" if "costs" in cost else "utilities"
        table = cost[kind]
        more = {key: value for key, value in cost.items() if key != kind}
        named = more.pop("outcomes", None)  # as in a file of costs
        if named is not None and {spelled(name) for name in named} - {spelled(label) for label in labels} - set(outcomes):
            raise ValueError(f"cost: the outcomes are {list(named)}, and those of y are {list(labels)}")
        if unknown := set(more) - {"ceiling", "effort"}:
            given = sorted(map(str, unknown))
            raise ValueError(f"cost: unknown keys beside {kind!r}: {given}; give 'outcomes', 'ceiling', 'effort' or none")
        if not isinstance(table, Mapping):
            raise ValueError(f"cost: {kind!r} is {table!r}; give a dict of what each action costs under each outcome")
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
        costs = {names.get(spelled(label), spelled(label)): _value(value) for label, value in row.items()}
        if len(costs) < len(row) or spelled(action) in entries:
            raise ValueError(f"cost: the action {action!r} or one of its outcomes {list(row)} is there twice")
        entries[spelled(action)] = costs
    return {"spec": {"outcomes": list(outcomes), kind: entries, **more}}


def _value(value: Any) -> Any:
    return value if isinstance(value, str) else _number(value)


def _entry(value: Any) -> str:
    return value if isinstance(value, str) else repr(_number(value))


def _number(value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError) as error:
        raise ValueError(f"cost: {value!r} is neither a number nor an expression") from error
    if not np.isfinite(number):
        raise ValueError(f"cost: an entry is {number}; give a finite number")
    return number


def case_cost(action: int, outcome: int) -> str:
    """The name of the column with what an action costs under an outcome in the single cases."""
    return f"cost of {action} under {outcome}"


def from_array(cost: Array, outcomes: Sequence[str], actions: Sequence[str] | None, kind: str = "costs", **more: Any) -> Stakes:
    """The stakes of an array: of actions under outcomes, or of these in each case."""
    if cost.ndim not in (2, 3) or cost.shape[-1] != len(outcomes) or cost.shape[-2] == 0:
        raise ValueError(
            f"cost: an array of shape {cost.shape}; give one of shape (actions, {len(outcomes)}), "
            f"or of shape (rows, actions, {len(outcomes)}) for costs that differ from case to case"
        )
    count = cost.shape[-2]
    if actions is None:
        actions = list(outcomes) if count == len(outcomes) else [f"action {a}" for a in range(count)]
    names = [spelled(action) for action in actions]
    if len(names) != count:
        raise ValueError(f"actions: {len(names)} names for the {count} actions of cost")
    if len(set(names)) < count:
        raise ValueError(f"actions: duplicate name in {names}")
    bad = np.argwhere(~np.isfinite(cost))
    if len(bad):
        row = f"row {bad[0][0] + 1}, " if cost.ndim == 3 else ""
        a, k = bad[0][-2:]
        raise ValueError(f"cost: {row}action {names[a]!r} under {outcomes[k]!r} is {cost[tuple(bad[0])]}; give a finite number")
    entries: dict[str, dict[str, Any]] = {}
    cases: dict[str, Array] = {}
    for a, action in enumerate(names):
        entries[action] = {}
        for k, outcome in enumerate(outcomes):
            values = cost[..., a, k]
            if values.ndim == 0 or (len(values) and (values == values[0]).all()):
                entries[action][outcome] = float(values if values.ndim == 0 else values[0])
            else:
                name = case_cost(a, k)
                entries[action][outcome] = f"`{name}`"
                cases[name] = values
    return Stakes({"spec": {"outcomes": list(outcomes), kind: entries, **more}}, cases)


class Table:
    """What every action costs under every outcome, an array of shape (actions, outcomes) or,
    where that differs, (cases, actions, outcomes)."""

    def __init__(self, values: Array, actions: list[str], kind: str) -> None:
        self.values = values
        self.actions = actions
        self.kind = kind  # "costs" or "utilities"

    @property
    def costs(self) -> Array:
        """The values as costs."""
        return self.values if self.kind == "costs" else -self.values


def tabulate(given: Stakes, outcomes: Sequence[str], order: Sequence[int], columns: Columns | None = None) -> Table:
    """What actions cost, by the program's own reading of costs and expressions.

    ``order`` are the places of outcomes with the positive one last; ``columns`` those that
    expressions name, or that have the costs of single cases. What an action costs under an
    outcome is what it is expected to cost if that is certain.
    """
    names = [outcomes[k] for k in order]
    header: dict[str, Any] = {"name": "cost_columns", "utility": given.utility, "outcomes": names}
    if columns is None or not columns.names:
        reply = _worker.worker().ask("decide", header, [("probabilities", np.eye(len(names)))])
        found = reply.tensors["expected"].T[None]
    else:
        header["columns"], tensors = behind(columns)
        layers = []
        for k in range(len(names)):
            certain = np.zeros((columns.rows, len(names)))
            certain[:, k] = 1
            reply = _worker.worker().ask("decide", header, [("probabilities", certain), *tensors])
            layers.append(reply.tensors["expected"])
        found = np.stack(layers, axis=2)
    values = np.empty_like(found)
    values[:, :, list(order)] = found
    result = reply.result
    if columns is None or not columns.names:
        values = values[0]
    return Table(values, list(result["actions"]), "costs" if result["costs"] else "utilities")


def behind(columns: Columns) -> tuple[list[dict[str, Any]], list[tuple[str, Array]]]:
    """The header and tensors of columns that come after one other tensor."""
    header = []
    for column in columns.header():
        column = {**column, "tensor": column["tensor"] + 1}
        if "texts" in column:
            column["texts"] = [place + 1 for place in column["texts"]]
        header.append(column)
    return header, columns.tensors()


def raw_columns(cost_columns: Any, rows: int) -> Columns:
    """The table of the columns that costs name, as it is given beside X."""
    frame = framed(cost_columns)
    if not is_frame(frame):
        raise TypeError(f"cost_columns: a DataFrame with the columns that costs name is needed, not {type(cost_columns).__name__}")
    columns = from_frame(frame)
    if columns.rows != rows:
        raise ValueError(f"cost_columns: there are {columns.rows} rows, and {rows} cases")
    return columns


def of_columns(given: Stakes, cost: Cost, cost_columns: Any, outcomes: Sequence[str], order: Sequence[int], rows: int) -> Stakes:
    """The stakes with expressions evaluated over a table that is given beside X."""
    if cost is None or is_array(cost):
        what = "no costs are given" if cost is None else "cost is an array"
        raise ValueError(f"cost_columns: {what}, and expressions that name columns are needed for them")
    table = tabulate(given, outcomes, order, raw_columns(cost_columns, rows))
    spec = {} if given.utility is None else given.utility.get("spec", {})
    more = {key: spec[key] for key in ("ceiling", "effort") if key in spec}
    evaluated = from_array(table.values, outcomes, table.actions, table.kind, **more)
    return evaluated if evaluated.cases else given


def looks_scaled(values: Array) -> str | None:
    """What a column of numbers has that one out of a scaler has and a raw one has not."""
    if not np.isfinite(values.sum()):
        values = values[np.isfinite(values)]
    if not len(values):
        return None
    near = 1e-6  # scalers of single precision leave less than this, and raw values hardly ever do
    low, high = float(values.min()), float(values.max())
    found = None
    if abs(low) < near and abs(high - 1) < near:
        found = "minimum 0 and maximum 1"
    elif low < 0 and abs(max(-low, high) - 1) < near:
        found = "a largest absolute value of 1"
    elif low < 0 and abs(values.mean()) < near and abs(values.std() - 1) < near:
        found = "mean 0 and standard deviation 1"
    elif (
        low < 0
        and abs(np.count_nonzero(values > near) - np.count_nonzero(values < -near)) <= np.count_nonzero(abs(values) <= near) + 1
    ):
        # As many above as below: only then is the median near 0, and worth sorting for.
        quarter, middle, third = np.quantile(values, [0.25, 0.5, 0.75])
        if abs(middle) < near and abs(third - quarter - 1) < near:
            found = "median 0 and interquartile range 1"
    return found if found is None or len(np.unique(values)) > 3 else None  # -1, 0 and 1 are codes
