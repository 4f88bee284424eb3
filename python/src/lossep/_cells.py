"""What a value means as a cell: a number, a text that is read like one of a file, or nothing.

The same value means the same in a DataFrame, an array, a file and a request; ``docs/guide/tables.md``
has the rules.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import numpy as np

from lossep._frames import Array

LONG = 10**15
"""Integers from here on have more digits than a float64 keeps, and are codes."""

Codes = tuple[Array, list[str]]
"""Places of the cells' texts in a list, −1 where a cell is missing."""

TRUTHS = ["false", "true"]

_NESTED = (list, tuple, dict, set, frozenset, np.ndarray)


def number_of(value: Any) -> float | None:
    """A plain number as it is, NaN for what is missing, and None for what has to be a text."""
    if isinstance(value, float):
        return float(value)
    if value is None or value is _nothing():
        return np.nan
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return float(value) if -LONG < value < LONG else None
    return None


def text_of(value: Any) -> str | None:
    """The text of a cell, None where it is missing."""
    if isinstance(value, str):
        return value
    if value is None or value is _nothing():
        return None
    if isinstance(value, _NESTED):
        raise ValueError(f"{_shown(value)} is neither a number nor a text")
    if isinstance(value, Decimal):
        return None if value.is_nan() else str(value)
    if value != value:  # NaN and NaT
        return None
    if isinstance(value, (bool, np.bool_)):
        return TRUTHS[bool(value)]
    if isinstance(value, (complex, np.complexfloating)) and not isinstance(value, float):
        raise ValueError(f"Complex data not supported: {value}")
    if isinstance(value, float) or (isinstance(value, np.floating) and value.dtype.itemsize != 4):
        return repr(float(value))
    if isinstance(value, datetime):
        if value.tzinfo is not None:
            value = value.astimezone(timezone.utc).replace(tzinfo=None)
        return _trimmed(str(value))
    if isinstance(value, np.datetime64):
        return moments(np.array([value]))[1][0]
    if isinstance(value, timedelta):
        return repr(value.total_seconds())
    if isinstance(value, np.timedelta64):
        return repr(float(value / np.timedelta64(1, "s")))
    if isinstance(value, (bytes, bytearray)):
        return value.decode("utf-8")
    return str(value)


def texts(values: Sequence[Any] | Array) -> Codes:
    """Any objects, each as its text."""
    places: dict[str, int] = {}
    codes = np.empty(len(values), dtype="<i4")
    for i, value in enumerate(values):
        text = text_of(value)
        codes[i] = -1 if text is None else places.setdefault(text, len(places))
    return codes, list(places)


def integers(values: Array, missing: Array) -> Array | Codes:
    """Integers: numbers where all are short enough, and texts otherwise."""
    if values.dtype.itemsize < 8 or not len(values) or (int(values.min()) > -LONG and int(values.max()) < LONG):
        numbers = values.astype("<f8")
        numbers[missing] = np.nan
        return numbers
    return _by_code(values, missing, lambda different: [str(x) for x in different.tolist()])


def truths(values: Array, missing: Array) -> Codes:
    """True and false."""
    codes = values.astype("<i4")
    codes[missing] = -1
    return codes, list(TRUTHS)


def moments(values: Array) -> Codes:
    """Moments of numpy, in UTC."""

    def spell(different: Array) -> list[str]:
        return [_trimmed(text.replace("T", " ")) for text in np.datetime_as_string(different).tolist()]

    return _by_code(values, np.isnat(values), spell)


def clocks(nanoseconds: Array, missing: Array) -> Codes:
    """Times of day, by the nanoseconds since midnight."""
    codes, spelled_moments = moments(np.where(missing, np.datetime64("NaT"), nanoseconds.astype("datetime64[ns]")))
    return codes, [text.partition(" ")[2] for text in spelled_moments]


def _by_code(values: Array, missing: Array, spell: Any) -> Codes:
    different, places = np.unique(values[~missing], return_inverse=True)
    codes = np.full(len(values), -1, dtype="<i4")
    codes[~missing] = places
    return codes, spell(different)


def _trimmed(text: str) -> str:
    """A time without zeros after its fraction."""
    return text.rstrip("0").rstrip(".") if "." in text else text


def _nothing() -> Any:
    """What pandas writes where there is nothing, if pandas is there."""
    pandas = sys.modules.get("pandas")
    return pandas.NA if pandas is not None else None


def _shown(value: Any) -> str:
    kind = type(value).__name__
    return f"a value of type {kind}" if kind != "ndarray" else "an array"
