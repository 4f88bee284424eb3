"""Checks of what is given beside X: probabilities, labels and weights.

What is wrong is a ``ValueError`` that names the row, counted from 1 as in the program's own
messages, and the value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import _check_sample_weight, column_or_1d

from lossep._columns import shown
from lossep._frames import Array

SUM_TOLERANCE = 1e-3
"""How far probabilities of a row may sum from 1: six digits of ten numbers leave less than this."""


def listed(labels: Sequence[Any] | Array) -> str:
    """Labels as Python writes them; of many the first ten."""
    return "[" + ", ".join([shown(label) for label in labels[:10]] + ["..."] * (len(labels) > 10)) + "]"


def as_numbers(values: Any, what: str) -> Array:
    """An array of numbers, of any shape."""
    try:
        return np.asarray(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{what}: not an array of numbers: {error}") from error


def check_probabilities(values: Any, what: str = "probabilities") -> Array:
    """Probabilities as an array, those of one class or of all: numbers from 0 to 1, and of all
    classes those of a row sum to 1."""
    p = as_numbers(values, what)
    if p.ndim not in (1, 2):
        raise ValueError(f"{what}: an array of shape {p.shape}; give those of the positive class, or of all classes")
    if len(p) == 0:
        raise ValueError(f"{what}: Found array with 0 sample(s) (shape={p.shape}) while a minimum of 1 is required.")
    bad = np.argwhere(~((p >= 0) & (p <= 1)))
    if len(bad):
        at = tuple(bad[0])
        column = f", column {at[1] + 1}," if p.ndim == 2 else ""
        raise ValueError(f"{what}: row {at[0] + 1}{column} is {p[at]:.6g}, which is not between 0 and 1")
    if p.ndim == 2:
        sums = p.sum(axis=1)
        off = np.flatnonzero(abs(sums - 1) > SUM_TOLERANCE)
        if len(off):
            raise ValueError(f"{what}: row {off[0] + 1} sums to {sums[off[0]]:.6g} and not to 1; give those of all classes")
    return p


def check_classes(classes: Any, columns: int) -> Array:
    """Labels of the columns of probabilities."""
    labels = np.asarray(classes)
    if labels.ndim != 1 or len(labels) != columns:
        raise ValueError(f"classes: {labels.size} labels for {columns} columns of probabilities")
    if len(set(labels.tolist())) < len(labels):
        raise ValueError(f"classes: duplicate label in {listed(labels)}")
    return labels


def label_codes(y: Any, classes: Array, what: str = "y") -> Array:
    """The places among the classes of labels, every one of which has to be there."""
    y = column_or_1d(y, warn=True)
    places = {label: k for k, label in enumerate(classes.tolist())}
    codes = np.array([places.get(label, -1) for label in y.tolist()], dtype=np.int64)
    unknown = np.flatnonzero(codes < 0)
    if len(unknown):
        raise ValueError(f"{what}: row {unknown[0] + 1} is {shown(y[unknown[0]])}, which is none of the classes {listed(classes)}")
    return codes


def check_weights(sample_weight: Any, y: Any) -> Array:
    """Weights of cases, one of them at least above 0."""
    weights: Array = _check_sample_weight(sample_weight, y, dtype=np.float64)
    negative = np.flatnonzero(weights < 0)
    if len(negative):
        at = negative[0]
        raise ValueError(f"sample_weight: Negative values in data: row {at + 1} is {weights[at]:.6g}")
    if not (weights > 0).any():
        raise ValueError("sample_weight: all weights are zero")
    return weights
