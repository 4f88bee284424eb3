"""Scores by cost, for model selection with any classifier."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lossep._costs import Cost
from lossep._decisions import decide, positive_of
from lossep._frames import Array


def cost_per_case(
    y: Any, probabilities: Any, cost: Cost, *, classes: Any = None, positive: Any = None, actions: Sequence[str] | None = None
) -> Array:
    """What each case costs that is decided by probabilities: an array of shape (n,).

    ``classes`` are the labels in the order of the columns of ``probabilities``, the sorted
    labels of y if not given. ``positive`` is the class that ``fn`` and ``fp`` are about, as for
    ``decide``. Costs of single cases are an array (n, n_actions, n_classes).
    """
    y = np.asarray(y)
    labels = np.unique(y) if classes is None else np.asarray(classes)
    decisions = decide(probabilities, cost, classes=labels, positive=positive, actions=actions)
    # What an action costs under an outcome is what it is expected to if that is certain.
    paid = np.empty(len(y))
    for k, label in enumerate(labels):
        rows = np.flatnonzero(y == label)
        if len(rows):
            certain = np.zeros((len(y), len(labels)))
            certain[:, k] = 1
            table = decide(certain, cost, classes=labels, positive=positive, actions=actions).expected
            paid[rows] = table[rows, decisions.index[rows]]
    return paid if decisions.kind == "cost" else -paid


class _CostScorer:
    """A scorer: minus the mean cost of the decisions that an estimator's probabilities make."""

    def __init__(self, cost: Cost, positive: Any, actions: Sequence[str] | None) -> None:
        self.cost = cost
        self.positive = positive
        self.actions = actions

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        positive = self.positive if self.positive is not None else positive_of(estimator)
        paid = cost_per_case(
            y, estimator.predict_proba(X), self.cost, classes=estimator.classes_, positive=positive, actions=self.actions
        )
        return -float(np.average(paid, weights=sample_weight))

    def __repr__(self) -> str:
        return f"make_cost_scorer({self.cost!r})"


def make_cost_scorer(cost: Cost, *, positive: Any = None, actions: Sequence[str] | None = None) -> _CostScorer:
    """A scorer for GridSearchCV and cross_val_score: minus the mean cost per case.

    Every case is decided by the estimator's ``predict_proba`` and by what actions cost, so
    that models are chosen by what they are for. ``positive`` is the class that ``fn`` and ``fp``
    are about: if not given the estimator's own, or the one that is so by convention; where there
    is none that is an error.
    """
    return _CostScorer(cost, positive, actions)
