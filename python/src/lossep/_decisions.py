"""Decisions: what to do in each case, and what each action is expected to cost."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np

from lossep import _worker
from lossep._columns import Columns, shown, spelled
from lossep._costs import Cost, behind, of_columns, stakes, tabulate
from lossep._frames import Array
from lossep._validation import check_classes, check_probabilities, listed
from lossep._worker import Reply


@dataclass(frozen=True)
class Decisions:
    """What to do in each of some cases.

    ``actions`` names the actions; ``action`` is the one chosen in each case, ``expected`` what
    every action is expected to cost (or to bring, if ``kind`` is "utility"), ``margin`` by how
    much the chosen one is better than the next best. ``advantage`` is by how much each action is
    better than the best other one: the expected cost of that one minus its own, which is the margin
    for the chosen one and not above 0 for the others. ``saving`` is what the chosen action is expected
    to save against the baseline. ``probabilities`` are those of
    ``classes``. ``disagreement`` says where other methods would act otherwise; it is None
    unless they were asked. ``why`` are the columns that support each action most, then those that speak
    against it, as dicts of ``column``, ``value``, ``effect``, which is by how much the advantage of the chosen
    action is larger than if the column were not known, and its ``direction``, "for" or "against".
    ``flip`` is the smallest change of one column that changes the action,
    a dict of ``column``, ``from``, ``to`` and ``action``, or None where no single column does. Both are None
    unless they were asked. ``effects`` are then what the families of the model's effects add to the latent value,
    as dicts of ``term``, ``effect``, ``sd``, of more than two classes ``outcome`` and, for combinations that no
    training row had, ``new``; None where it has none. ``unusual`` are the columns in which each case is unlike the training
    rows: a category that they did not have, a number far outside theirs, or a missing cell where they had none; None
    where there is no model. ``ids`` is the index of X, if that is a DataFrame.

    Where costs are not known, as in ``{"fn": "uniform(4, 8)", "fp": 1}``, actions are those of the least expected cost,
    ``could_flip`` says whether another one would be better for some values within their ranges, and ``uncertain`` lists
    them as dicts of ``entry``, ``distribution`` and ``worth``: what it would be worth a case to know it before deciding.

    With a capacity ``unlimited`` are the actions without it, ``forgone`` is what it costs in each case, ``effort``
    what the chosen action takes of each limit by name, and ``capacity`` a dict of how much of the ``limits`` is
    used, the ``price`` of each, which is what one more unit would save, and the ``cost`` of the limits in all,
    both with 95 % intervals, and the ``gap``: the most that another allocation could save. The margin is below 0
    where the limits leave no room for a better action. They are None without a capacity.
    """

    actions: list[str]
    index: Array
    expected: Array
    margin: Array
    advantage: Array
    saving: Array
    probabilities: Array
    classes: Array
    kind: str = "cost"
    disagreement: Array | None = None
    why: list[list[dict[str, Any]]] | None = None
    flip: list[dict[str, str] | None] | None = None
    effects: list[list[dict[str, Any]]] | None = None
    unusual: list[list[str]] | None = None
    could_flip: Array | None = None
    uncertain: list[dict[str, Any]] | None = None
    unlimited: Array | None = None
    forgone: Array | None = None
    effort: dict[str, Array] | None = None
    capacity: dict[str, Any] | None = None
    ids: Any = None
    notes: list[str] = field(default_factory=list)

    @property
    def action(self) -> Array:
        """The name of the action in each case."""
        names: Array = np.array(self.actions, dtype=object)[self.index]
        return names

    @property
    def best(self) -> Array:
        """What the chosen action is expected to cost, or to bring."""
        chosen: Array = np.take_along_axis(self.expected, self.index[:, None], axis=1)[:, 0]
        return chosen

    def __len__(self) -> int:
        return len(self.index)

    def to_frame(self, index: Any = None) -> Any:
        """The decisions as a pandas DataFrame, with the columns of the command, but for probabilities: there
        is one column for each class, ``probability_CLASS``. The index is that of X by default."""
        import pandas

        columns: dict[str, Any] = {"action": self.action}
        for a, name in enumerate(self.actions):
            columns[f"{self.kind}_{name}"] = self.expected[:, a]
        for k, label in enumerate(self.classes):
            columns[f"probability_{label}"] = self.probabilities[:, k]
        columns["margin"] = self.margin
        for a, name in enumerate(self.actions):
            columns[f"advantage_{name}"] = self.advantage[:, a]
        columns["saving"] = self.saving
        if self.could_flip is not None:
            columns["could_flip"] = self.could_flip
        if self.disagreement is not None:
            columns["disagreement"] = self.disagreement
        if self.why is not None and self.flip is not None:
            for k in range(len(self.why[0]) if self.why else 0):
                columns[f"why_{k + 1}"] = [f"{reasons[k]['column']} = {reasons[k]['value']}" for reasons in self.why]
                columns[f"why_{k + 1}_direction"] = [reasons[k]["direction"] for reasons in self.why]
                columns[f"why_{k + 1}_effect"] = [reasons[k]["effect"] for reasons in self.why]
            columns["flip"] = [f"{f['column']} {f['from']} → {f['to']}" if f else "no single change" for f in self.flip]
            columns["flip_action"] = [f["action"] if f else "" for f in self.flip]
        if self.effects is not None:
            columns["effects"] = [_contributions(found) for found in self.effects]
        if self.unlimited is not None and self.effort is not None:
            columns["unlimited"], columns["forgone"] = self.unlimited, self.forgone
            for name, effort in self.effort.items():
                columns[f"effort_{name}"] = effort
        if self.unusual is not None:
            columns["unusual"] = [";".join(names) for names in self.unusual]
        return pandas.DataFrame(columns, index=self.ids if index is None else index)

    def __repr__(self) -> str:
        taken = np.bincount(self.index, minlength=len(self.actions))
        counts = ", ".join(f"{name}: {n}" for name, n in zip(self.actions, taken, strict=True))
        mean = self.best.mean() if len(self) else float("nan")
        return f"Decisions({len(self)} cases; {counts}; expected {self.kind} per case {mean:.6g})"


def _contributions(found: list[dict[str, Any]]) -> str:
    """What families of effects add, as the command writes it, the largest first."""
    texts = []
    for one in sorted(found, key=lambda one: -abs(one["effect"])):
        term = one["term"].removeprefix("effects(").removesuffix(")") + (f' for "{one["outcome"]}"' if one.get("outcome") else "")
        texts.append(f"{term} {one['effect']:+.3g} ± {one['sd']:.2g}{' (new)' if one.get('new') else ''}")
    return "; ".join(texts)


@dataclass(frozen=True)
class Worth:
    """What it would be worth in each of some cases to know more before acting: how much less
    it would be expected to cost, or how much more to bring.

    ``outcome`` is the worth of knowing the outcome, the most that any information can be worth,
    ``columns`` that of measuring each column in question, less what that costs if it
    was given, and ``label`` that of the label to decisions on all cases, per case; None unless asked.
    ``decisions`` are those without knowing more, ``Decisions`` or ``NumberDecisions``.
    """

    decisions: Any
    outcome: Array
    columns: dict[str, Array]
    label: Array | None = None

    def __len__(self) -> int:
        return len(self.outcome)

    def to_frame(self, index: Any = None) -> Any:
        """The values of information as a pandas DataFrame, with the column names of the command."""
        import pandas

        index = self.decisions.ids if index is None else index
        columns: dict[str, Any] = {"action": self.decisions.action, "worth_outcome": self.outcome}
        if self.label is not None:
            columns["worth_label"] = self.label
        for name, worth in self.columns.items():
            name = f"worth_{name}"
            while name in columns or name == "worth_label":
                name += "_column"
            columns[name] = worth
        return pandas.DataFrame(columns, index=index)


def ask_prices(ask: Any) -> dict[str, float]:
    """Columns asked about, with what it costs to measure each; 0 where that is not given."""
    if ask is None or isinstance(ask, (str, bytes)):
        raise TypeError(f"ask: {shown(ask)} is no list of names; give one, such as ask=['mri'], or with costs ask={{'mri': 0.2}}")
    prices: dict[str, float] = {}
    for name in ask:
        price = ask[name] if isinstance(ask, Mapping) else 0
        if not isinstance(name, str):
            raise TypeError(f"ask: {shown(name)} is no name of a column; the columns of an array are called 'x0', 'x1' and so on")
        if isinstance(price, bool) or not isinstance(price, Real):
            raise TypeError(f"ask: {shown(price)} is no cost of measuring {str(name)!r}; give a number")
        if not 0 <= float(price) < float("inf"):
            raise ValueError(f"ask: {shown(price)} is no cost of measuring {str(name)!r}; give a number that is not negative")
        if name in prices:
            raise ValueError(f"ask: {str(name)!r} is named twice; name it once")
        prices[str(name)] = float(price)
    return prices


def capacities(capacity: Any) -> dict[str, float] | None:
    """A capacity as the worker takes it."""
    if capacity is None:
        return None
    if not isinstance(capacity, Mapping) or not capacity:
        raise TypeError(f"capacity: {shown(capacity)} is no dict of limits; give one, such as capacity={{'visit': 100}}")
    for name, most in capacity.items():
        if isinstance(most, bool) or not isinstance(most, Real) or not 0 <= float(most) < float("inf"):
            raise ValueError(f"capacity: {shown(most)} is no limit of {str(name)!r}; give a number from 0")
    return {str(name): float(most) for name, most in capacity.items()}


def decide_options(**options: Any) -> dict[str, Any]:
    """Options of a request, without those that are not given."""
    return {name: value for name, value in options.items() if value is not None and value is not False}


def worth_from_reply(reply: Reply, classes: Array, order: Sequence[int], asked: Sequence[str], ids: Any) -> Worth:
    """Worths as the worker answered them."""
    tensors = reply.tensors
    return Worth(
        decisions=from_reply(reply, classes, order, ids),
        outcome=tensors["worth_outcome"],
        columns={name: tensors["worth_columns"][:, k] for k, name in enumerate(asked)},
        label=tensors.get("worth_label"),
    )


def from_reply(reply: Reply, classes: Array, order: Sequence[int], ids: Any = None, model: bool = True) -> Decisions:
    """Decisions as the worker answered them; ``order`` are the outcomes' places in classes."""
    unusual = reply.result.get("unusual") or {}
    objects = reply.result.get("objects") or {}
    tensors = reply.tensors
    probabilities = np.empty_like(tensors["probabilities"])
    probabilities[:, list(order)] = tensors["probabilities"]
    actions, capacity = list(reply.result["actions"]), reply.result.get("capacity")
    limits = [limit["name"] for limit in capacity["limits"]] if capacity else []
    return Decisions(
        actions=actions,
        index=tensors["action_index"],
        expected=tensors["expected"],
        margin=tensors["margin"],
        advantage=tensors["advantage"],
        saving=tensors["saving"],
        probabilities=probabilities,
        classes=classes,
        kind="cost" if reply.result["costs"] else "utility",
        disagreement=tensors["disagreement"] > 0 if "disagreement" in tensors else None,
        why=objects.get("why"),
        flip=objects.get("flip"),
        effects=objects.get("effects"),
        unusual=[list(unusual.get(str(i), ())) for i in range(len(tensors["margin"]))] if model else None,
        could_flip=tensors["could_flip"] > 0 if "could_flip" in tensors else None,
        uncertain=reply.result.get("uncertain"),
        unlimited=np.array(actions, dtype=object)[tensors["unlimited_index"]] if capacity else None,
        forgone=tensors.get("forgone"),
        effort={name: tensors["effort"][:, k] for k, name in enumerate(limits)} if capacity else None,
        capacity=capacity,
        ids=ids,
        notes=reply.result.get("notes") or [],
    )


def decide(
    probabilities: Any,
    cost: Cost,
    *,
    classes: Any = None,
    pos_label: Any = None,
    actions: Sequence[str] | None = None,
    cost_columns: Any = None,
    baseline: str | None = None,
    capacity: Mapping[str, float] | None = None,
) -> Decisions:
    """Decides by the probabilities of any model.

    Parameters
    ----------
    probabilities : array of shape (n,) or (n, n_classes)
        Those of the positive class, or of all classes as ``predict_proba`` gives them, a column
        each in the order of ``classes``.
    cost : as for LossepClassifier
        An array of shape (n, actions, n_classes) for costs that differ from case to case.
    classes : array, optional
        The labels, in the order of the columns; 0, 1, … if not given.
    pos_label : label, optional
        The class that ``fn`` and ``fp`` are about, and that probabilities in one column are
        those of. If not given it is the one that is so by convention, as for the command; where
        there is none and it matters, that is an error.
    actions : list of names, optional
        Of the actions, where ``cost`` is an array.
    cost_columns : DataFrame of n rows, optional
        The columns that expressions in ``cost`` name.
    baseline : str, optional
        The action that savings are against; the first if not given.
    capacity : dict, optional
        How often actions can be taken in all cases together, such as ``{"visit": 100}``; see ``Decisions``.
    """
    return Posed(probabilities, cost, classes, pos_label, actions, cost_columns, baseline, capacity).decide()


class Posed:
    """Probabilities of classes with what actions cost: what there is to decide."""

    def __init__(
        self,
        probabilities: Any,
        cost: Cost,
        classes: Any,
        pos_label: Any,
        actions: Sequence[str] | None,
        cost_columns: Any,
        baseline: str | None = None,
        capacity: Mapping[str, float] | None = None,
    ) -> None:
        self.baseline, self.capacity = baseline, capacities(capacity)
        p = check_probabilities(probabilities)
        single = p.ndim == 1
        if single:
            p = np.stack([1 - p, p], axis=1)
        if p.shape[1] < 2:
            raise ValueError(f"probabilities: an array of shape {p.shape}; give those of the positive class, or of all classes")
        self.labels = check_classes(np.arange(p.shape[1]) if classes is None else classes, p.shape[1])
        if cost is None:
            raise ValueError("cost: no costs are given; give what mistakes cost, such as {'fn': 5, 'fp': 1}")
        self.names = outcome_names(self.labels)
        self.given = stakes(cost, self.names, self.labels.tolist(), actions)
        needs = ONE_COLUMN if single else self.given.needs_positive
        if pos_label is None and classes is not None and needs is not None:
            pos_label = settled(self.labels, needs)
        self.order = class_order(self.labels, pos_label)
        self.probabilities = p[:, np.argsort(self.order)] if single else p
        if cost_columns is not None:
            self.given = of_columns(self.given, cost, cost_columns, self.names, self.order, len(p))
        self.columns = Columns(len(p))
        self.given.add_to(self.columns)

    def decide(self) -> Decisions:
        tensors: list[tuple[str, Array]] = [("numbers", np.ascontiguousarray(self.probabilities[:, self.order]))]
        header: dict[str, Any] = {
            "utility": self.given.utility,
            "outcomes": [self.names[k] for k in self.order],
            "options": decide_options(baseline=self.baseline, capacity=self.capacity),
        }
        if self.given.cases:
            header["columns"], more = behind(self.columns)
            tensors += more
        reply = _worker.worker().ask("decide", header, tensors)
        return from_reply(reply, self.labels, self.order, model=False)

    def costs(self) -> Array:
        """What actions cost: an array (actions, classes), or (n, actions, classes)."""
        return tabulate(self.given, self.names, self.order, self.columns).costs


def settled(classes: Sequence[Any] | Array, needs: str | None) -> Any:
    """The one of two classes that is positive by convention, as for the command, where none is
    given; None if neither is, or if there are more.

    ``needs`` says what depends on it, and where that is anything a guess is refused: costs
    would be taken for those of the other class.
    """
    if len(classes) != 2:
        return None
    reply = _worker.worker().ask("positive", {"outcomes": outcome_names(classes)})
    at = int(reply.result["at"])
    if at < 0 and needs is not None:
        raise ValueError(unsettled(classes, needs))
    return None if at < 0 else classes[at]


def unsettled(classes: Sequence[Any] | Array, needs: str) -> str:
    """Says that nobody knows which of two classes is positive."""
    first, last = (json.dumps(str(c)) if isinstance(c, str) else spelled(c) for c in classes)
    return (
        f"pos_label: neither {first} nor {last} is the positive class by convention, and {needs}; "
        f"say which it is: pos_label={first} or pos_label={last}"
    )


def none_positive(classes: Sequence[Any] | Array) -> str:
    """Says that more than two classes have no positive one, and which they are: one may be misspelled."""
    listed = [json.dumps(str(c)) if isinstance(c, str) else spelled(c) for c in classes[:10]] + ["…"] * (len(classes) > 10)
    return f"pos_label: there is none among {len(classes)} classes ({', '.join(listed)}); leave it out, or correct y"


def positive_of(estimator: Any) -> Any:
    """The class that an estimator takes for the positive one, None unless it was given or is known."""
    return getattr(estimator, "pos_label_", None) if getattr(estimator, "_positive_settled", True) else None


ONE_COLUMN = "probabilities in one column are those of it"
PREVALENCE = "prevalence is how frequent it is"


def shares(prevalence: Any, classes: Sequence[Any] | Array, outcomes: Sequence[str]) -> Any:
    """A prevalence as the program takes it: a number, or shares of outcomes by name."""
    if not isinstance(prevalence, Mapping):
        return prevalence
    names = {spelled(label): outcome for label, outcome in zip(classes, outcomes, strict=True)}
    cells = []
    for label, share in prevalence.items():
        if spelled(label) not in names:
            raise ValueError(f"prevalence: {shown(label)} is none of the classes {listed(classes)}")
        cells.append(f"{names[spelled(label)]}={share}".replace('"', '""'))
    return ",".join(f'"{cell}"' for cell in cells)


def class_order(classes: Array, pos_label: Any = None) -> list[int]:
    """The places of the classes with the positive one last."""
    order = list(range(len(classes)))
    if pos_label is not None:
        at = [k for k, label in enumerate(classes) if spelled(label) == spelled(pos_label)]
        if not at:
            raise ValueError(f"pos_label: {shown(pos_label)} is none of the classes {listed(classes)}")
        order.remove(at[0])
        order.append(at[0])
    return order


_MISSING = {
    text.lower()
    for text in ("", ".", "-", "--", "?", "na", "n/a", "#n/a", "#na", "<na>", "nan", "-nan", "null", "(null)", "none", "nil", "\\n")
} | {"#null!", "#div/0!", "#value!", "#ref!", "#num!", "#name?"}


def outcome_names(classes: Sequence[Any] | Array) -> list[str]:
    """The names by which the program knows the classes.

    They are the labels as texts, unless the program would take one for a missing cell or two
    for the same number.
    """
    names = [unicodedata.normalize("NFC", spelled(label)).strip() for label in classes]  # as the program reads cells
    if len({_value(name) for name in names}) < len(names) or any(name.lower() in _MISSING for name in names):
        return [f"class {k}: {name}".rstrip() for k, name in enumerate(names)]
    return names


def _value(name: str) -> Any:
    try:
        return float(name)
    except ValueError:
        return name
