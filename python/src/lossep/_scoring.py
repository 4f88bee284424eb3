"""Scores by cost, for model selection with any classifier."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.metrics._scorer import _BaseScorer
from sklearn.utils.validation import _check_response_method, check_consistent_length

from lossep._columns import framed, is_frame
from lossep._costs import Cost, is_of_cases, names_columns
from lossep._decisions import Posed, positive_of
from lossep._frames import Array
from lossep._validation import check_weights, label_codes


def cost_per_case(
    y: Any,
    probabilities: Any,
    cost: Cost,
    *,
    classes: Any = None,
    pos_label: Any = None,
    actions: Sequence[str] | None = None,
    cost_columns: Any = None,
) -> Array:
    """What each case costs that is decided by probabilities: an array of shape (n,).

    ``classes`` are the labels in the order of the columns of ``probabilities``, the sorted
    labels of y if not given. ``pos_label`` is the class that ``fn`` and ``fp`` are about, as for
    ``decide``. Costs of single cases are an array (n, n_actions, n_classes); ``cost_columns`` is
    a DataFrame with the columns that expressions in ``cost`` name.
    """
    check_consistent_length(y, probabilities)
    classes = np.unique(np.asarray(y)) if classes is None else np.asarray(classes)
    codes = label_codes(y, classes)
    case = Posed(probabilities, cost, classes, pos_label, actions, cost_columns)
    costs = case.costs()
    taken = case.decide().index
    rows = np.arange(len(codes))
    paid: Array = costs[taken, codes] if costs.ndim == 2 else costs[rows, taken, codes]
    return paid


def mean_cost(
    y_true: Any,
    y_pred: Any,
    *,
    cost: Cost = None,
    pos_label: Any = None,
    actions: Sequence[str] | None = None,
    cost_columns: Any = None,
    sample_weight: Any = None,
) -> float:
    """Mean cost per case of predicted classes: of the action in each case that is best if its
    prediction is right."""
    classes = np.unique(np.concatenate([np.asarray(y_true), np.asarray(y_pred)]))
    return _mean(y_true, _certain(y_pred, classes), cost, classes, pos_label, actions, cost_columns, sample_weight)


def _certain(y_pred: Any, classes: Array) -> Array:
    """Probabilities of predictions that are held to be right."""
    certain: Array = np.eye(len(classes))[label_codes(y_pred, classes, "y_pred")]
    return certain


def _mean(
    y: Any,
    probabilities: Array,
    cost: Cost,
    classes: Array,
    pos_label: Any,
    actions: Sequence[str] | None,
    cost_columns: Any,
    sample_weight: Any,
) -> float:
    if cost is None:
        raise ValueError(
            "cost: the scorer has no costs; give them to make_cost_scorer, or those of the single cases as metadata "
            "(enable_metadata_routing=True, set_score_request(cost=True))"
        )
    weights = None if sample_weight is None else check_weights(sample_weight, y)
    paid = cost_per_case(y, probabilities, cost, classes=classes, pos_label=pos_label, actions=actions, cost_columns=cost_columns)
    return float(np.average(paid, weights=weights))


class CostScorer(_BaseScorer):  # type: ignore[misc]  # scikit-learn has no types
    """Minus the mean cost of decisions by an estimator's probabilities, or of its predictions.

    Where scikit-learn has predictions and no estimator, as when it tunes a threshold, the score
    is that of the predictions.
    """

    def __repr__(self) -> str:
        given = [f"{name}={value!r}" for name, value in self._kwargs.items()]
        if self._response_method != "predict_proba":
            given.append(f"response_method={self._response_method!r}")
        return f"make_cost_scorer({', '.join(given)})"

    def _score(self, method_caller: Any, estimator: Any, X: Any, y_true: Any, **kwargs: Any) -> float:
        self._warn_overlap("The scorer was made with what is passed as metadata, too, which is used.", kwargs)
        given = {**self._kwargs, **kwargs}
        # Not by the method_caller: what it keeps may be the probabilities of either class.
        found = _check_response_method(estimator, self._response_method)(X)
        classes = getattr(estimator, "classes_", None)
        if classes is None:
            raise ValueError(f"{type(estimator).__name__} has no classes_; decisions by cost are of classifiers")
        if given.get("pos_label") is None:
            given["pos_label"] = positive_of(estimator)
        if given.get("cost_columns") is None and names_columns(given.get("cost")) and is_frame(framed(X)):
            given["cost_columns"] = X
        if self._response_method == "predict":
            found = _certain(found, classes)
        names = ("cost", "pos_label", "actions", "cost_columns", "sample_weight")
        return -_mean(y_true, found, classes=classes, **{name: given.get(name) for name in names})


def make_cost_scorer(
    cost: Cost = None,
    *,
    pos_label: Any = None,
    actions: Sequence[str] | None = None,
    response_method: str = "predict_proba",
) -> CostScorer:
    """A scorer of scikit-learn's: minus the mean cost per case.

    It goes wherever ``scoring`` does: ``cross_val_score``, ``GridSearchCV``,
    ``TunedThresholdClassifierCV``. Every case is decided by the estimator's ``predict_proba`` and
    by what actions cost, so that models are chosen by what they are for.

    Parameters
    ----------
    cost : as for LossepClassifier, optional
        Expressions are over columns of the X that is scored, where that is a DataFrame, or of
        the metadata ``cost_columns``. Costs of single cases, an array (n, n_actions, n_classes),
        are the metadata ``cost``; then leave it out here.
    pos_label : label, optional
        The class that ``fn`` and ``fp`` are about: if not given the estimator's own, or the one
        that is so by convention; where there is none that is an error.
    actions : list of names, optional
        Of the actions, where ``cost`` is an array.
    response_method : {"predict_proba", "predict"}
        With "predict" it scores the predicted classes instead, each of them the action that is
        best if it is right: those of a tuned threshold, for example.

    With ``enable_metadata_routing=True`` the scorer takes ``cost``, ``cost_columns`` and
    ``sample_weight``, by ``set_score_request``.
    """
    if response_method not in ("predict_proba", "predict"):
        raise ValueError(f"response_method: {response_method!r} is neither 'predict_proba' nor 'predict'")
    if is_of_cases(cost):
        raise ValueError(
            "cost: costs of single cases are passed as metadata, which follows the rows into folds: "
            "make_cost_scorer().set_score_request(cost=True), with enable_metadata_routing=True"
        )
    given = {"cost": cost, "pos_label": pos_label, "actions": actions}
    return CostScorer(mean_cost, -1, {k: v for k, v in given.items() if v is not None}, response_method)
