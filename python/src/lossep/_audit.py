"""Audits: what decisions cost, by any model's probabilities of cases it had not seen."""

from __future__ import annotations

import html
import json
import os
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d

from lossep import _worker
from lossep._columns import Columns
from lossep._costs import Cost, of_columns, stakes
from lossep._decisions import ONE_COLUMN, PREVALENCE, class_order, none_positive, outcome_names, settled, shares
from lossep._errors import DataWarning
from lossep._frames import Array
from lossep._progress import bar
from lossep._validation import as_numbers, check_probabilities, check_weights, listed
from lossep._worker import Progress


class Audit:
    """What was found about decisions: a text, a page, and every number.

    Printing it gives the verdicts; in a notebook it shows the page. ``results`` holds every
    number, as ``results.json`` of the command does; ``save`` writes the page and all files.
    """

    def __init__(self, text: str, files: Mapping[str, bytes]) -> None:
        self.text = text
        self.files = dict(files)
        self.results: dict[str, Any] = json.loads(self.files["results.json"])

    @property
    def costs(self) -> dict[str, tuple[float, float, float]]:
        """Cost per case of everything that decides, with the ends of its 95 % interval."""
        return {m["method"]: (m["mean_cost"], m["low"], m["high"]) for m in self.results["methods"]}

    @property
    def verdict(self) -> list[str]:
        """The answers in words."""
        return [f"{v['question']} {v['answer']}. {v['finding']}" for v in self.results["verdict"]]

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Writes all files to a folder and returns the path of the page."""
        to = Path(folder)
        to.mkdir(parents=True, exist_ok=True)
        for name, content in self.files.items():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            (to / name).write_bytes(content)
        return to / "index.html"

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<lossep audit of {self.results['rows']} cases: {self.results['verdict'][0]['answer']}>"

    def _repr_html_(self) -> str:
        page = html.escape(self.files["index.html"].decode("utf-8"), quote=True)
        return f'<iframe srcdoc="{page}" style="width:100%;height:42em;border:1px solid #8884" title="lossep audit"></iframe>'


def run_audit(header: dict[str, Any], tensors: Sequence[tuple[str, Array]], progress: Progress | None) -> Audit:
    """Has the worker make an audit."""
    reply = _worker.worker().ask("audit", header, tensors, progress)
    files = {name: values.tobytes() for name, values in reply.tensors.items()}
    audit = Audit(files.pop("text").decode("utf-8"), files)
    for note in audit.results.get("notes") or ():
        warnings.warn(note, DataWarning, stacklevel=4)
    return audit


def audit(
    y: Any,
    probabilities: Any,
    cost: Cost,
    *,
    pos_label: Any = None,
    actions: Sequence[str] | None = None,
    cost_columns: Any = None,
    sample_weight: Any = None,
    groups: Any = None,
    by: Any = None,
    folds: int | None = None,
    repeats: int | None = None,
    recalibrate: Sequence[str] | str | None = None,
    prevalence: float | Mapping[Any, float] | None = None,
    currency: str | None = None,
    cases_per_year: int | None = None,
    random_state: int | None = None,
    progress: bool | None = None,
) -> Audit:
    """Audits any models by their probabilities of cases that they had not seen.

    Parameters
    ----------
    y : array of shape (n,)
        What happened.
    probabilities : dict of arrays, or array
        By the name of the model, its probabilities of all classes as
        ``cross_val_predict(..., method="predict_proba")`` gives them, a column each in the order
        of the sorted labels; of two classes those of the positive one will do, in one column.
        The first is compared with the others.
    cost : as for LossepClassifier
        What actions cost; an array of shape (n, n_actions, n_classes) where that differs from
        case to case.
    pos_label : label, optional
        The class that ``fn``, ``fp`` and ``prevalence`` are about, and that probabilities in one
        column are those of. If not given it is the one that is so by convention, as for the
        command (``1``, ``yes``, ``bad``, ``malignant``); where there is none and it matters, that
        is an error. More than two classes have no such one.
    actions : list of names, optional
        Of the actions, where ``cost`` is an array.
    cost_columns : DataFrame of n rows, optional
        The columns that expressions in ``cost`` name.
    sample_weight : array of shape (n,), optional
        How much each case counts.
    groups : array, optional
        Groups of cases, such as those of one patient.
    by : array, optional
        Values that are reported apart, such as a group of people.
    recalibrate : list of {"isotonic", "platt", "gp"}, or "none"
        How to recalibrate the probabilities of two classes to see what that would bring; all
        if not given.
    currency : str, optional
        What costs are in, such as "EUR", for the report.
    cases_per_year : int, optional
        How many cases are decided in a year, for totals in the report.
    """
    y = column_or_1d(y, warn=True)
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"y: all cases have one class ({listed(classes)}); what decisions cost needs cases of two at least")
    outcomes = outcome_names(classes)
    several = len(classes) > 2
    if several and pos_label is not None:
        raise ValueError(none_positive(classes))
    if not isinstance(probabilities, Mapping):
        probabilities = {"probability": probabilities}
    found = {str(name): _probabilities(str(name), values, len(y), len(classes)) for name, values in probabilities.items()}
    given = stakes(cost, outcomes, classes.tolist(), actions)
    if pos_label is None:
        needs = given.needs_positive or (PREVALENCE if prevalence is not None and not isinstance(prevalence, Mapping) else None)
        if needs is None and any(p.ndim == 1 for p in found.values()):
            needs = ONE_COLUMN
        pos_label = settled(classes, needs)
    order = class_order(classes, pos_label)
    if cost is None:
        raise ValueError("cost: no costs are given; give what mistakes cost, such as {'fn': 5, 'fp': 1}")
    if cost_columns is not None:
        given = of_columns(given, cost, cost_columns, outcomes, order, len(y))
    columns = Columns(len(y))
    columns.add_codes("outcome", codes, outcomes)
    names = []
    for name, p in found.items():
        names.append(columns.unused(name))
        if several:
            for k, outcome in enumerate(outcomes):
                columns.add_numbers(f"{names[-1]}_{outcome}", p[:, k])
        else:
            columns.add_numbers(names[-1], p if p.ndim == 1 else p[:, order[-1]])
    if several and recalibrate is None:
        recalibrate = "none"
    given.add_to(columns)
    options: dict[str, Any] = {
        "target": "outcome",
        "positive": None if several else outcomes[order[-1]],
        "probability": names,
        "folds": folds,
        "repeats": repeats,
        "prevalence": shares(prevalence, classes, outcomes),
        "currency": currency,
        "cases_per_year": cases_per_year,
        "seed": random_state,
        "recalibrate": [recalibrate] if isinstance(recalibrate, str) else recalibrate,
    }
    weights = None if sample_weight is None else check_weights(sample_weight, y)
    for name, values in (("weights", weights), ("groups", groups), ("by", by)):
        if values is None:
            continue
        check_consistent_length(y, values)
        options[name] = columns.unused(name)
        columns.add_array(options[name], np.asarray(values))
    header = {
        "name": "y",
        "columns": columns.header(),
        "utility": given.utility,
        "options": {name: list(v) if isinstance(v, (list, tuple)) else v for name, v in options.items() if v is not None},
    }
    with bar(progress) as show:
        return run_audit(header, columns.tensors(), show)


def _probabilities(name: str, values: Any, rows: int, classes: int) -> Array:
    """The probabilities of a model as an array: of all classes, or of the positive one of two."""
    shape = as_numbers(values, f"probabilities of {name!r}").shape
    if shape[1:] not in [(classes,), *([()] if classes == 2 else [])]:
        raise ValueError(
            f"probabilities: those of {name!r} have the shape {shape}; give a row for each of the {rows} cases and a column "
            f"for each of the {classes} classes, as predict_proba does"
        )
    if shape[0] != rows:
        raise ValueError(f"probabilities: there are {shape[0]} of {name!r}, and y has {rows} cases")
    return check_probabilities(values, f"probabilities of {name!r}")
