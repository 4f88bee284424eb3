"""What estimators are given: rows, labels and weights, checked as scikit-learn does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_y, check_consistent_length, validate_data

from lossep._columns import Columns, framed, from_array, from_frame, is_frame, shown, spelled
from lossep._costs import looks_scaled
from lossep._decisions import none_positive, outcome_names
from lossep._frames import Array
from lossep._validation import check_weights, listed


class Table:
    """Training rows as columns, with what is to be said about them."""

    def __init__(self, columns: Columns, framed: bool, outcomes: list[str]) -> None:
        """Of columns that are those of X, before others are added."""
        self.columns = columns
        self.framed = framed  # X is a DataFrame
        self.names = list(columns.names)  # of the columns of X
        self.scaled = _scaled(columns)  # those that look as if out of a scaler, and why
        self.outcomes = outcomes  # the program's names of the classes
        self.options: dict[str, Any] = {}
        self.scores: list[str] = []  # columns of probabilities by another classifier
        self.repeats: Array | None = None  # how many times each row is there, None if once


def training(estimator: Any, X: Any, y: Any, sample_weight: Any, copies: bool = False) -> Table:
    """Training rows with their classes and weights, which may be numbers of copies. Sets what scikit-learn's conventions ask
    of a fit: ``classes_``, ``n_features_in_`` and ``feature_names_in_``."""
    X, y, columns, target = _checked(estimator, X, y)
    if y.dtype == object and any(is_missing(label) for label in y):
        raise ValueError("Input y contains None or a missing value.")
    try:
        check_classification_targets(y)
        estimator.classes_, codes = np.unique(y, return_inverse=True)
    except TypeError as error:
        raise ValueError(f"Unknown label type: {error}") from error
    if len(estimator.classes_) < 2:
        raise ValueError(f"y: one class only: it is {shown(estimator.classes_[0])} in every row; give rows of two classes or more")
    table = Table(columns, is_frame(X), outcome_names(estimator.classes_))
    if estimator.base is not None:
        if estimator.score_column is not None:
            raise ValueError("base: its probabilities are the score, and score_column names another; give one of the two")
        table.scores = _add_scores(columns, out_of_fold(estimator, X, y), table.outcomes)
    weights = _weights(estimator, sample_weight, X)
    if weights is not None:
        left = len(np.unique(codes[weights > 0]))
        if left < len(estimator.classes_):
            count = "one class only is" if left == 1 else f"{left} of {len(estimator.classes_)} classes are"
            raise ValueError(f"sample_weight: {count} left where weights are above 0; give rows of every class a weight")
        _weigh(table, weights, copies and len(estimator.classes_) > 2)
    columns.add_codes(target, codes, table.outcomes)
    table.options["target"] = target
    if estimator.pos_label is not None:
        table.options["positive"] = table.outcomes[_place(estimator.pos_label, estimator.classes_)]
    _name_columns(table, estimator)
    return table


def training_numbers(estimator: Any, X: Any, y: Any, sample_weight: Any) -> Table:
    """Training rows whose outcome is a number, with weights, which may be numbers of copies."""
    X, y, columns, target = _checked(estimator, X, y, numeric=True)
    table = Table(columns, is_frame(X), [])
    weights = _weights(estimator, sample_weight, X)
    if weights is not None:
        _weigh(table, weights, copies=True)
    columns.add_numbers(target, np.asarray(y, dtype=np.float64))
    table.options.update(target=target, outcome=estimator.outcome)
    _name_columns(table, estimator)
    return table


def _checked(estimator: Any, X: Any, y: Any, numeric: bool = False) -> tuple[Any, Array, Columns, str]:
    """Rows and outcomes as scikit-learn checks them, the columns of X, and a name for that of y."""
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    X = framed(X)
    named = getattr(y, "name", None) if is_frame(X) else None
    if is_frame(X):
        validate_data(estimator, X, reset=True, skip_check_array=True)
        columns = _from_frame(X)
        y = _check_y(y, multi_output=False, y_numeric=numeric, estimator=estimator)
        check_consistent_length(X, y)
    else:
        given, least = X, 2 if numeric else 1  # a number of one row alone says nothing about others
        X, y = validate_data(
            estimator, X, y, dtype=np.float64, ensure_all_finite="allow-nan", y_numeric=numeric, ensure_min_samples=least
        )
        columns = from_matrix(X, given, [f"x{k}" for k in range(X.shape[1])], estimator.missing != "error")
    return X, y, columns, columns.unused(str(named) if isinstance(named, (str, int)) else "outcome")


def _weights(estimator: Any, sample_weight: Any, X: Any) -> Array | None:
    if sample_weight is None:
        return None
    if estimator.weights is not None:
        raise ValueError(f"sample_weight: weights are in the column {estimator.weights!r} of X as well; give one of the two")
    return check_weights(sample_weight, X)


def _name_columns(table: Table, estimator: Any) -> None:
    """Adds the options that name columns."""
    categorical = list(dict.fromkeys([*table.columns.categorical, *(estimator.categorical or ())]))
    if categorical:
        table.options["categorical"] = categorical
    if estimator.drop is not None:
        table.options["drop"] = list(estimator.drop)


def cases(estimator: Any, X: Any, gaps: bool = False, besides: Sequence[str | None] = ()) -> Columns:
    """Cases for a fitted estimator, as columns. Missing cells are let through where they are
    imputed, which of a model from a file the program knows, or where ``gaps`` says so. A DataFrame may
    have columns ``besides`` those of the fit."""
    columns = _cases(estimator, X, gaps or estimator._from_file or estimator.missing != "error", besides)
    if estimator.base is not None and hasattr(estimator, "base_"):
        _add_scores(columns, _uncertain(estimator, estimator.base_.predict_proba(X)), estimator._outcomes)
    return columns


def out_of_fold(estimator: Any, X: Any, y: Array) -> Array:
    """The probabilities that the base gives each row when it is fitted without it. Sets ``base_``, fitted to all."""
    folds = StratifiedKFold(BASE_FOLDS, shuffle=True, random_state=estimator.random_state or 0)
    scores: Array = cross_val_predict(clone(estimator.base), X, y, cv=folds, method="predict_proba")
    estimator.base_ = clone(estimator.base).fit(X, y)
    nearest = np.minimum(scores, 1 - scores)
    estimator._nearest = max(nearest[nearest > 0].min(initial=0.5) / 2, 1e-6)
    return _uncertain(estimator, scores)


def _uncertain(estimator: Any, scores: Array) -> Array:
    """Probabilities with 0 and 1 half as near to certainty as others of the fit, as a score has none that are certain."""
    return np.clip(scores, estimator._nearest, 1 - estimator._nearest)


SCORE = "base"
"""The column of the probabilities of a base of two classes."""


BASE_FOLDS = 5
"""Into how many parts rows are cut to have the probabilities of a base without them."""


def _add_scores(columns: Columns, scores: Array, outcomes: list[str]) -> list[str]:
    """Adds a column for the probability of every class but the first."""
    names = [SCORE] if len(outcomes) == 2 else [f"base {outcome}" for outcome in outcomes[1:]]
    for name, values in zip(names, scores.T[1:], strict=True):
        if name in columns.names:
            raise ValueError(f"base: X has a column {name!r} already; rename it")
        columns.add_numbers(name, values)
    return names


def _cases(estimator: Any, X: Any, gaps: bool, besides: Sequence[str | None]) -> Columns:
    names: list[str] = estimator._names
    if _is_plain(estimator, X):
        return from_matrix(X, X, names, gaps)
    X = framed(X)
    if not is_frame(X) or not estimator._framed:
        checked = validate_data(estimator, X, reset=False, dtype=np.float64, ensure_all_finite="allow-nan")
        return from_matrix(checked, X, names, gaps)
    # Of a model from a file the program checks the columns: costs may need more of them.
    if not estimator._from_file:
        fitted = getattr(estimator, "feature_names_in_", X.columns)
        features = X[[name for name in X.columns if name in fitted or name not in besides]]
        validate_data(estimator, features, reset=False, skip_check_array=True)
        if not hasattr(estimator, "feature_names_in_"):  # names that are no texts are not compared
            X = X.set_axis(names, axis=1)
    return _from_frame(X)


def from_matrix(X: Array, given: Any, names: list[str], gaps: bool) -> Columns:
    """The columns of an array of numbers, which mean what they were given as."""
    if not gaps and np.isnan(X).any():
        raise ValueError('Input X contains NaN; give missing="impute" to fill missing cells and mark where they were')
    return from_array(names, X, given)


def _from_frame(X: Any) -> Columns:
    columns = from_frame(X)
    if columns.rows == 0:
        raise ValueError(f"Found array with 0 sample(s) (shape={X.shape}) while a minimum of 1 is required.")
    return columns


def _scaled(columns: Columns) -> dict[str, str]:
    """The columns of numbers that look as if out of a scaler, and why."""
    numbers = columns.tensors()[0][1]
    found = {c["name"]: looks_scaled(numbers[c["row"]]) for c in columns.header() if c["tensor"] == 0}
    return {name: why for name, why in found.items() if why is not None}


def _is_plain(estimator: Any, X: Any) -> bool:
    """Whether X is what the checks would make of it: they take longer than a prediction."""
    return (
        type(X) is np.ndarray
        and X.dtype == np.float64
        and X.ndim == 2
        and len(X) > 0
        and X.shape[1] == estimator.n_features_in_
        and not hasattr(estimator, "feature_names_in_")
        and bool(np.isfinite(X).all())
    )


def _place(pos_label: Any, classes: Array) -> int:
    """The place of the positive one of two classes."""
    if len(classes) > 2:
        raise ValueError(none_positive(classes))
    texts = [spelled(label) for label in classes]
    if spelled(pos_label) not in texts:
        raise ValueError(f"pos_label: {shown(pos_label)} is none of the classes {listed(classes)}")
    return texts.index(spelled(pos_label))


def _weigh(table: Table, weights: Array, copies: bool) -> None:
    """Adds weights to a table: as a column, or, where copies may be made of rows, as their numbers if all are
    whole. Both are the same but for where the search for hyperparameters ends, which scikit-learn compares to
    seven digits."""
    if copies and weights.sum() <= 5_000 and (weights == np.trunc(weights)).all():
        table.repeats = weights.astype(np.int64)
        return
    table.options["weights"] = table.columns.unused("sample_weight")
    table.columns.add_numbers(table.options["weights"], weights)


def is_missing(label: Any) -> bool:
    """Whether there is no label: None, NaN, or pandas.NA, of which it is not known whether it is
    equal to itself."""
    try:
        return label is None or bool(label != label)
    except TypeError:
        return True
