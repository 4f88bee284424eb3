"""Tables as the worker takes them: columns of numbers, and columns of codes for texts.

Numbers go as they are, one tensor for all of them, with NaN where a cell is missing. What
is no number goes as texts by codes, and is read by the program like the cells of a file:
categories, dates, and texts that spell numbers.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from lossep._frames import Array


class Columns:
    """Columns of a table under construction."""

    def __init__(self, rows: int) -> None:
        self.rows = rows
        self.names: list[str] = []
        self.categorical: list[str] = []  # those that are categories whatever they look like
        self._listed: list[dict[str, Any]] = []
        self._numbers: list[Array] = []
        self._block: Array | None = None  # numbers of a whole matrix, a column each
        self._codes: list[tuple[Array, Array, Array]] = []

    def add_matrix(self, names: Sequence[str], values: Array) -> None:
        """Adds the columns of a matrix of numbers, before any other."""
        self._block = np.ascontiguousarray(values.T, dtype="<f8")
        for k, name in enumerate(names):
            self.names.append(name)
            self._listed.append({"name": name, "tensor": 0, "row": k})

    def add_numbers(self, name: str, values: Array) -> None:
        """Adds a column of numbers, NaN where a cell is missing."""
        start = 0 if self._block is None else len(self._block)
        self.names.append(name)
        self._listed.append({"name": name, "tensor": 0, "row": start + len(self._numbers)})
        self._numbers.append(np.asarray(values, dtype="<f8"))

    def add_codes(self, name: str, codes: Array, texts: Sequence[str]) -> None:
        """Adds a column of texts by their places in a list, −1 where a cell is missing."""
        encoded = [text.encode("utf-8", "replace") for text in texts]
        ends = np.cumsum([len(text) for text in encoded], dtype="<i4") if encoded else np.empty(0, "<i4")
        blob = np.frombuffer(b"".join(encoded), dtype=np.uint8)
        first = 3 * len(self._codes) + 1
        self.names.append(name)
        self._listed.append({"name": name, "tensor": first, "texts": [first + 1, first + 2]})
        self._codes.append((np.asarray(codes, dtype="<i4"), blob, ends.astype("<i4")))

    def add_texts(self, name: str, values: Array) -> None:
        """Adds a column of any objects, each as its text; None and NaN are missing."""
        places: dict[str, int] = {}
        codes = np.empty(len(values), dtype="<i4")
        nothing = _nothing()
        for i, value in enumerate(values):
            # The only other objects that are not themselves are those that stand for nothing.
            if value is None or value is nothing or value != value:
                codes[i] = -1
            else:
                codes[i] = places.setdefault(spelled(value), len(places))
        self.add_codes(name, codes, list(places))

    def repeat(self, counts: Array) -> None:
        """Makes so many rows of each."""
        self.rows = int(counts.sum())
        if self._block is not None:
            self._block = np.repeat(self._block, counts, axis=1)
        self._numbers = [np.repeat(values, counts) for values in self._numbers]
        self._codes = [(np.repeat(codes, counts), blob, ends) for codes, blob, ends in self._codes]

    def header(self) -> list[dict[str, Any]]:
        return self._listed

    def tensors(self) -> list[tuple[str, Array]]:
        """The tensors that the header refers to."""
        blocks = [] if self._block is None else [self._block]
        if self._numbers:
            blocks.append(np.stack(self._numbers))
        if not blocks:
            blocks.append(np.empty((0, self.rows)))
        numbers = blocks[0] if len(blocks) == 1 else np.concatenate(blocks)
        tensors: list[tuple[str, Array]] = [("numbers", numbers)]
        for codes, blob, ends in self._codes:
            tensors += [("codes", codes), ("texts", blob), ("ends", ends)]
        return tensors

    def unused(self, wanted: str) -> str:
        """A name that no column has."""
        while wanted in self.names:
            wanted += "_"
        return wanted


def _nothing() -> Any:
    """What pandas writes where there is nothing, if pandas is there."""
    pandas = sys.modules.get("pandas")
    return pandas.NA if pandas is not None else None


def spelled(value: Any) -> str:
    """An object as the text that stands for it: numbers by their value."""
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    if isinstance(value, (float, np.floating)):
        number = float(value)
        return str(int(number)) if number.is_integer() and abs(number) < 2**53 else repr(number)
    return str(value)


def framed(X: Any) -> Any:
    """X, or where it is a table of Arrow the DataFrame that pandas makes of it."""
    if type(X).__module__.partition(".")[0] == "pyarrow" and hasattr(X, "to_pandas"):
        return X.to_pandas()
    return X


def is_frame(X: Any) -> bool:
    """Whether X is a DataFrame of pandas or polars."""
    module = type(X).__module__.partition(".")[0]
    return module in ("pandas", "polars") and hasattr(X, "columns") and hasattr(X, "dtypes")


def from_frame(X: Any) -> Columns:
    """The columns of a DataFrame."""
    if type(X).__module__.startswith("polars"):
        return _from_polars(X)
    return _from_pandas(X)


def _from_pandas(X: Any) -> Columns:
    columns = Columns(len(X))
    for name, series in X.items():
        name, dtype = str(name), series.dtype
        kind = getattr(dtype, "kind", "O")
        if hasattr(series, "cat"):
            columns.add_codes(name, series.cat.codes.to_numpy(), [spelled(c) for c in series.cat.categories])
            columns.categorical.append(name)
        elif kind == "M":
            text = series.dt.strftime("%Y-%m-%d %H:%M:%S")
            columns.add_texts(name, text.to_numpy(dtype=object))
        elif kind in "biuf":
            columns.add_numbers(name, series.to_numpy(dtype="float64", na_value=np.nan))
        elif kind == "c":
            raise ValueError(f"Complex data not supported: column {name!r}")
        elif kind == "m":
            columns.add_numbers(name, series.dt.total_seconds().to_numpy())
        else:
            columns.add_texts(name, series.to_numpy(dtype=object))
    return columns


def _from_polars(X: Any) -> Columns:
    columns = Columns(X.height)
    for series in X.iter_columns():
        name, dtype = series.name, series.dtype
        if dtype.is_numeric():
            columns.add_numbers(name, series.cast(float).to_numpy())
        elif str(dtype) == "Boolean":
            columns.add_numbers(name, series.cast(int).cast(float).to_numpy())
        elif str(dtype).startswith("Duration"):
            columns.add_numbers(name, series.dt.total_seconds().cast(float).to_numpy())
        elif dtype.is_temporal():
            columns.add_texts(name, np.array(series.cast(str).to_list(), dtype=object))
        else:
            texts = series.cast(str)
            columns.add_texts(name, np.array(texts.to_list(), dtype=object))
            if str(dtype).startswith(("Categorical", "Enum")):
                columns.categorical.append(name)
    return columns
