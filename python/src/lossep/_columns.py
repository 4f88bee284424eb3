"""Tables as the worker takes them: columns of numbers, and columns of codes for texts.

Numbers go as they are, with NaN where a cell is missing. What is no number goes as texts by
codes, and is read by the program like the cells of a file: categories, dates, and texts that
spell numbers. What a value means is said in ``_cells``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lossep import _cells
from lossep._frames import Array


class Columns:
    """Columns of a table under construction."""

    def __init__(self, rows: int) -> None:
        self.rows = rows
        self.names: list[str] = []
        self.categorical: list[str] = []  # those that are categories whatever they look like
        self._listed: list[tuple[str, int]] = []  # of each column, where it is and its place there
        self._numbers: list[Array] = []
        self._block: Array | None = None  # numbers of a whole matrix, a column each
        self._singles: list[Array] = []
        self._codes: list[tuple[Array, Array, Array]] = []

    def add_matrix(self, names: Sequence[str], values: Array) -> None:
        """Adds the columns of a matrix of numbers, before any other."""
        self._block = np.ascontiguousarray(values.T, dtype="<f8")
        for k, name in enumerate(names):
            self._list(name, "numbers", k)

    def add_numbers(self, name: str, values: Array) -> None:
        """Adds a column of numbers, NaN where a cell is missing."""
        start = 0 if self._block is None else len(self._block)
        self._list(name, "numbers", start + len(self._numbers))
        self._numbers.append(np.asarray(values, dtype="<f8"))

    def add_floats(self, name: str, values: Array) -> None:
        """Adds a column of floating-point numbers of any width. Those of 32 bits are the decimals
        that stand for them, which the program finds."""
        if values.dtype.itemsize != 4:
            self.add_numbers(name, values)
            return
        self._list(name, "singles", len(self._singles))
        self._singles.append(np.asarray(values, dtype="<f4"))

    def add_codes(self, name: str, codes: Array, texts: Sequence[str]) -> None:
        """Adds a column of texts by their places in a list, −1 where a cell is missing."""
        encoded = [text.encode("utf-8", "replace") for text in texts]
        size = sum(map(len, encoded))
        if size > np.iinfo(np.int32).max:
            raise ValueError(f"column {name!r}: its different texts have {size} bytes, more than 2 GB; leave the column out")
        ends = np.cumsum([len(text) for text in encoded], dtype="<i4") if encoded else np.empty(0, "<i4")
        blob = np.frombuffer(b"".join(encoded), dtype=np.uint8)
        self._list(name, "codes", len(self._codes))
        self._codes.append((np.asarray(codes, dtype="<i4"), blob, ends.astype("<i4")))

    def add(self, name: str, column: Array | _cells.Codes) -> None:
        """Adds a column of numbers, or of codes and their texts."""
        if isinstance(column, tuple):
            self.add_codes(name, *column)
        else:
            self.add_numbers(name, column)

    def add_array(self, name: str, values: Array) -> None:
        """Adds a column that is an array of one dimension, of any dtype."""
        kind, whole = values.dtype.kind, np.zeros(len(values), dtype=bool)
        if kind == "f":
            self.add_floats(name, values)
        elif kind in "iu":
            self.add(name, _cells.integers(values, whole))
        elif kind == "b":
            self.add(name, _cells.truths(values, whole))
        else:
            self.add_objects(name, values.astype(object))

    def add_objects(self, name: str, values: Sequence[Any] | Array) -> None:
        """Adds a column of any objects: numbers if all are, and otherwise each as its text."""
        numbers = np.empty(len(values))
        for i, value in enumerate(values):
            number = _cells.number_of(value)
            if number is None:
                break
            numbers[i] = number
        else:
            self.add_numbers(name, numbers)
            return
        try:
            self.add_codes(name, *_cells.texts(values))
        except ValueError as error:
            raise ValueError(f"column {name!r}: {error}; leave the column out") from error

    def _list(self, name: str, where: str, place: int) -> None:
        self.names.append(name)
        self._listed.append((where, place))

    def repeat(self, counts: Array) -> None:
        """Makes so many rows of each."""
        self.rows = int(counts.sum())
        if self._block is not None:
            self._block = np.repeat(self._block, counts, axis=1)
        self._numbers = [np.repeat(values, counts) for values in self._numbers]
        self._singles = [np.repeat(values, counts) for values in self._singles]
        self._codes = [(np.repeat(codes, counts), blob, ends) for codes, blob, ends in self._codes]

    def header(self) -> list[dict[str, Any]]:
        """The columns by the tensors that hold them: numbers, singles, and three for codes each."""
        listed: list[dict[str, Any]] = []
        codes = 2 if self._singles else 1  # where their tensors begin
        for name, (where, place) in zip(self.names, self._listed, strict=True):
            if where == "codes":
                first = codes + 3 * place
                listed.append({"name": name, "tensor": first, "texts": [first + 1, first + 2]})
            else:
                listed.append({"name": name, "tensor": 0 if where == "numbers" else 1, "row": place})
        return listed

    def tensors(self) -> list[tuple[str, Array]]:
        """The tensors that the header refers to."""
        blocks = [] if self._block is None else [self._block]
        if self._numbers:
            blocks.append(np.stack(self._numbers))
        if not blocks:
            blocks.append(np.empty((0, self.rows)))
        numbers = blocks[0] if len(blocks) == 1 else np.concatenate(blocks)
        tensors: list[tuple[str, Array]] = [("numbers", numbers)]
        if self._singles:
            tensors.append(("singles", np.stack(self._singles)))
        for codes, blob, ends in self._codes:
            tensors += [("codes", codes), ("texts", blob), ("ends", ends)]
        return tensors

    def unused(self, wanted: str) -> str:
        """A name that no column has."""
        while wanted in self.names:
            wanted += "_"
        return wanted


def spelled(value: Any) -> str:
    """A label as the text that stands for it: numbers by their value."""
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    if isinstance(value, (float, np.floating)):
        number = float(value)
        return str(int(number)) if number.is_integer() and abs(number) < 2**53 else repr(number)
    return str(value)


def shown(value: Any) -> str:
    """A value in a message: scalars of numpy as Python writes them."""
    return repr(value.item() if isinstance(value, np.generic) else value)


def framed(X: Any) -> Any:
    """X, or where it is a table of Arrow the DataFrame that pandas makes of it."""
    module = type(X).__module__.partition(".")[0]
    if module == "polars" and type(X).__name__ == "LazyFrame":
        raise TypeError("X is a LazyFrame of polars, whose rows are still to be computed; pass X.collect()")
    if module == "pyarrow" and hasattr(X, "to_pandas"):
        return X.to_pandas(types_mapper=_arrow_type)
    return X


def _arrow_type(kind: Any) -> Any:
    """The dtype of pandas that keeps a type of Arrow as it is; integers beside nulls, above all."""
    import pandas
    import pyarrow

    return None if pyarrow.types.is_dictionary(kind) else pandas.ArrowDtype(kind)


def is_frame(X: Any) -> bool:
    """Whether X is a DataFrame of pandas or polars."""
    module = type(X).__module__.partition(".")[0]
    return module in ("pandas", "polars") and hasattr(X, "columns") and hasattr(X, "dtypes")


def from_frame(X: Any) -> Columns:
    """The columns of a DataFrame."""
    if type(X).__module__.startswith("polars"):
        return _from_polars(X)
    return _from_pandas(X)


def from_array(names: Sequence[str], numbers: Array, given: Any) -> Columns:
    """The columns of an array, or of a list of rows, as they were given and as float64, which
    makes one of different long integers and numbers of true and false."""
    columns = Columns(len(numbers))
    cells = np.asarray(given)
    if isinstance(given, (list, tuple)) and not (cells.dtype.kind == "b" or cells.dtype == np.float32):
        cells = np.asarray(given, dtype=object)  # numpy makes numbers of true and false beside numbers
    kind = cells.dtype.kind
    if (kind == "f" and cells.dtype.itemsize != 4) or (kind in "iu" and not (np.abs(numbers) >= _cells.LONG).any()):
        columns.add_matrix(names, numbers)
        return columns
    for k, name in enumerate(names):
        columns.add_array(name, cells[:, k])
    return columns


def _from_pandas(X: Any) -> Columns:
    columns = Columns(len(X))
    for name, series in X.items():
        name = str(name)
        if hasattr(series, "sparse"):
            series = series.sparse.to_dense()
        if str(series.dtype).startswith("dictionary"):
            series = series.astype("category")
        dtype = series.dtype
        kind = getattr(dtype, "kind", "O")
        if hasattr(series, "cat"):
            texts = [_cells.text_of(category) or "" for category in series.cat.categories]
            columns.add_codes(name, series.cat.codes.to_numpy(), texts)
            columns.categorical.append(name)
        elif kind == "M" and not str(dtype).startswith(("date32", "date64")):
            columns.add(name, _cells.moments(_pandas_moments(series)))
        elif kind == "b":
            columns.add(name, _cells.truths(series.to_numpy(dtype=bool, na_value=False), series.isna().to_numpy()))
        elif kind in "iu":
            whole = series.to_numpy(dtype=getattr(dtype, "numpy_dtype", dtype), na_value=0)
            columns.add(name, _cells.integers(whole, series.isna().to_numpy()))
        elif kind == "f":
            wide = getattr(dtype, "numpy_dtype", dtype)
            columns.add_floats(name, series.to_numpy(dtype=wide, na_value=np.nan))
        elif kind == "c":
            raise ValueError(f"Complex data not supported: column {name!r}")
        elif kind == "m":
            columns.add_numbers(name, series.dt.total_seconds().to_numpy(dtype="float64", na_value=np.nan))
        else:
            columns.add_objects(name, series.to_numpy(dtype=object))
    return columns


def _pandas_moments(series: Any) -> Array:
    """The moments of a column of pandas in UTC, as numpy has them."""
    kind = getattr(series.dtype, "pyarrow_dtype", series.dtype)
    if getattr(kind, "tz", None) is not None:
        series = series.dt.tz_convert("UTC").dt.tz_localize(None)
    unit = getattr(kind, "unit", None) or np.datetime_data(kind)[0]
    moments: Array = series.to_numpy(dtype=f"datetime64[{unit}]", na_value=np.datetime64("NaT"))
    return moments


def _from_polars(X: Any) -> Columns:
    columns = Columns(X.height)
    for series in X.iter_columns():
        name, kind = series.name, str(series.dtype).partition("(")[0]
        missing = series.is_null().to_numpy()
        if kind in ("Float32", "Float64"):
            columns.add_floats(name, series.to_numpy())
        elif kind == "Boolean":
            columns.add(name, _cells.truths(series.fill_null(False).to_numpy(), missing))
        elif series.dtype.is_integer() and not kind.endswith("128"):
            columns.add(name, _cells.integers(series.fill_null(0).to_numpy(), missing))
        elif kind == "Float16":
            columns.add_numbers(name, series.cast(float).to_numpy())
        elif kind == "Datetime":
            if series.dtype.time_zone is not None:
                series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
            columns.add(name, _cells.moments(series.to_numpy()))
        elif kind == "Date":
            columns.add(name, _cells.moments(series.to_numpy()))
        elif kind == "Time":
            columns.add(name, _cells.clocks(series.to_physical().fill_null(0).to_numpy(), missing))
        elif kind == "Duration":
            seconds = {"ms": 1e3, "us": 1e6, "ns": 1e9}[series.dtype.time_unit]
            columns.add_numbers(name, series.to_physical().cast(float).to_numpy() / seconds)
        elif kind == "Decimal" or kind.endswith("128"):
            columns.add_objects(name, series.cast(str).to_list())
        else:
            columns.add_objects(name, series.to_list())
            if kind in ("Categorical", "Enum"):
                columns.categorical.append(name)
    return columns
