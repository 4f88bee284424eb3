"""The costs that an estimator is fitted with and decides by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lossep._costs import Cost, Stakes, case_cost, is_array, is_of_cases, names_columns, of_columns, stakes
from lossep._decisions import PREVALENCE, class_order, settled, unsettled
from lossep._validation import as_numbers


def fit_stakes(estimator: Any, options: dict[str, Any], cost: Cost, cost_columns: Any, rows: int) -> Stakes:
    """The costs of a fit: those given to it, or the estimator's. Adds to options which of two
    classes is positive, where they do not say it and convention does not."""
    if cost is None:
        cost = estimator.cost
        if is_of_cases(cost):
            raise ValueError("cost: an array with a table for each case is given to fit, decide and audit, not to the estimator")
    given = _stakes(estimator, cost, estimator.actions)
    if estimator.actions is not None and given.utility is None:
        raise ValueError("actions: there are no costs for them; give cost as well")
    given = _settle(estimator, options, given)
    return _evaluated(estimator, given, cost, cost_columns, rows)


def other_stakes(estimator: Any, cost: Cost, cost_columns: Any, rows: int) -> Stakes:
    """Costs for a fitted model, in place of its own."""
    if cost is None and cost_columns is not None:
        cost = estimator.cost
    # Other costs may be those of more actions, or of fewer, which have no names then.
    named = estimator.actions is not None and is_array(cost) and as_numbers(cost, "cost").shape[-2:-1] == (len(estimator.actions),)
    given = _stakes(estimator, cost, estimator.actions if named else None)
    actions, classes = len(estimator.actions_), len(estimator.classes_)
    own = {case_cost(a, k) for a in range(actions) for k in range(classes)}
    if cost is None and own.intersection(estimator.model_.description["cost_columns"] or ()):
        raise ValueError(
            "cost: the model was fitted with costs of the single cases, and does not know those of these; "
            f"give them as cost, an array of shape (cases, {actions}, {classes}), or what expressions name as cost_columns"
        )
    if given.needs_positive and not estimator._positive_settled:
        raise ValueError(unsettled(estimator.classes_, given.needs_positive) + ", to the estimator that is fitted")
    return _evaluated(estimator, given, cost, cost_columns, rows)


def _stakes(estimator: Any, cost: Cost, actions: Sequence[str] | None = None) -> Stakes:
    return stakes(cost, estimator._outcomes, estimator.classes_.tolist(), actions)


def _evaluated(estimator: Any, given: Stakes, cost: Cost, cost_columns: Any, rows: int) -> Stakes:
    """The stakes, with expressions evaluated over cost_columns if these are given. Columns of X
    that are out of a scaler are refused: nobody pays 0.6 standard deviations."""
    if cost_columns is not None:
        positive = estimator.pos_label
        if positive is None:
            positive = settled(estimator.classes_, given.needs_positive)
        return of_columns(given, cost, cost_columns, estimator._outcomes, class_order(estimator.classes_, positive), rows)
    how = "as cost_columns, a DataFrame (in a Pipeline as metadata: set_fit_request(cost_columns=True))"
    if names_columns(cost) and not estimator._framed and not any(map(given.names, estimator._names)):
        raise ValueError(
            "cost: its expressions name columns, and X is an array, whose columns are called x0, x1 and so on; "
            f"give the columns {how}"
        )
    for name, why in estimator._scaled.items():
        if given.names(name):
            raise ValueError(
                f"cost: the column {name!r} of X, which costs name, has {why}, which suggests that it was scaled, and costs "
                f"refer to raw columns; give these {how}, or X itself if its columns are raw"
            )
    return given


def _settle(estimator: Any, options: dict[str, Any], given: Stakes) -> Stakes:
    """Settles which of two classes is positive; it is an error where it matters and nobody knows.
    The stakes are those given, or if there are none those of equal mistakes with actions called
    as classes are, not "positive"."""
    estimator._positive_settled = True
    if len(estimator._outcomes) != 2 or "positive" in options:
        return given
    needs = given.needs_positive or (PREVALENCE if "=" not in str(options.get("prevalence", "=")) else None)
    if settled(estimator.classes_, needs) is not None:
        return given
    estimator._positive_settled = False
    options["positive"] = estimator._outcomes[-1]
    return _stakes(estimator, 1 - np.eye(2)) if given.utility is None else given
