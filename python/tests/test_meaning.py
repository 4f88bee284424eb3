"""A value means the same on every surface: files of text, Parquet, DataFrames, tables of Arrow,
arrays, lists, JSON over HTTP and the Open Inference Protocol.

One table with a column of each kind of value is fitted by the command from text. Every surface
gives the same rows to that model, and has to get the same probabilities; and every surface that
can fit fits them, and has to get a model that gives the rows of the text the same.
"""

from __future__ import annotations

import csv
import json
import struct
import subprocess
import urllib.request
import warnings
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from zoneinfo import ZoneInfo

import numpy as np
import pytest

import lossep
from lossep import LossepClassifier, _binary

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

ROWS = 80
ZONE = ZoneInfo("America/New_York")
SETTINGS = ["--kernel", "rbf", "--method", "ep", "--missing", "impute", "--positive", "yes"]

TYPES = {
    "integer": pyarrow.int64(),
    "small": pyarrow.int8(),
    "card": pyarrow.int64(),
    "unsigned": pyarrow.uint64(),
    "account": pyarrow.int64(),  # long and short ones, and nothing
    "flag": pyarrow.bool_(),
    "maybe": pyarrow.bool_(),  # and nothing
    "day": pyarrow.date32(),
    "moment": pyarrow.timestamp("us"),
    "zoned": pyarrow.timestamp("us", "America/New_York"),
    "clock": pyarrow.time64("us"),
    "category": pyarrow.dictionary(pyarrow.int8(), pyarrow.string()),
    "number": pyarrow.float64(),  # and nothing
    "single": pyarrow.float32(),
    "price": pyarrow.decimal128(12, 2),
    "code": pyarrow.string(),  # digits with zeros in front
    "digits": pyarrow.string(),  # numbers as texts
    "word": pyarrow.string(),  # and nothing
}


def table() -> dict[str, list]:
    """The values of each column, None where one is missing."""
    rng = np.random.default_rng(7)

    def pick(*values, share: float = 0.0):
        return [None if rng.random() < share else values[rng.integers(len(values))] for _ in range(ROWS)]

    def some(values):
        return [None if rng.random() < 0.05 else v for v in values]

    start = datetime(2025, 3, 1, tzinfo=timezone.utc)  # with the change to summer time in it
    moments = [start + timedelta(seconds=int(s), microseconds=int(u)) for s, u in rng.integers(0, 10**6, (ROWS, 2))]
    return {
        "integer": rng.integers(-50, 5000, ROWS).tolist(),
        "small": rng.integers(-100, 100, ROWS).tolist(),
        "card": pick(4556737586899855, 4556737586899856, 9007199254740993, 9007199254740992, 9223372036854775807),
        "unsigned": pick(18446744073709551615, 18446744073709551614, 9223372036854775809),
        "account": pick(-1234567890123456, -1234567890123457, 1000000000000000, 999999999999998, share=0.1),
        "flag": pick(True, False),
        "maybe": pick(True, False, share=0.2),
        "day": some(date(2024, 1, 1) + timedelta(days=int(d)) for d in rng.integers(0, 600, ROWS)),
        "moment": some(t.replace(tzinfo=None) for t in reversed(moments)),
        "zoned": some(t.astimezone(ZONE) for t in moments),
        "clock": some(time(*map(int, t)) for t in rng.integers(0, [24, 60, 60, 10**6], (ROWS, 4))),
        "category": pick("north", "south", "west"),
        "number": [None if rng.random() < 0.1 else x for x in rng.choice([-0.0, 0.1, 1 / 3, 1e-9, 2.5, 17.0, 1e15], ROWS).tolist()],
        "single": [float(x) for x in rng.normal(size=ROWS).astype("f4")],
        "price": some(Decimal(int(c)) / 100 for c in rng.integers(0, 10**6, ROWS)),
        "code": pick("007", "012", "120", "0007"),
        "digits": [f" {x:.3e}" for x in rng.normal(size=ROWS)],
        "word": pick("a", "b\r\nc", "é", share=0.1),
    }


def text(name: str, value) -> str:
    """A value as it stands in a file of text."""
    if value is None:
        return ""
    if name == "single":
        return str(np.float32(value))
    return str(value)


TABLE = table()
OUTCOME = ["yes" if x > 0 else "no" for x in np.random.default_rng(8).normal(size=ROWS)]


def arrow() -> pyarrow.Table:
    return pyarrow.table({name: pyarrow.array(values, TYPES[name]) for name, values in TABLE.items()})


def in_pandas() -> pandas.DataFrame:
    """The dtypes that people use: integers beside nothing are the nullable ones."""
    frame = pandas.DataFrame({name: pandas.Series(values, dtype=object) for name, values in TABLE.items()})
    kinds = {"integer": "int64", "small": "int8", "card": "int64", "unsigned": "uint64", "account": "Int64", "flag": "bool"}
    kinds |= {"maybe": "boolean", "category": "category", "number": "float64", "single": "float32", "word": "str"}
    frame = frame.astype(kinds)
    frame["moment"] = pandas.to_datetime(frame["moment"])
    frame["zoned"] = pandas.to_datetime(frame["zoned"], utc=True).dt.tz_convert(ZONE)
    return frame


def objects() -> pandas.DataFrame:
    """Python's own objects, whatever the column."""
    columns = {**TABLE, "single": [np.float32(x) for x in TABLE["single"]]}
    return pandas.DataFrame({name: pandas.Series(values, dtype=object) for name, values in columns.items()})


def missing_in_other_ways() -> pandas.DataFrame:
    frame = objects()
    for name, nothing in (("account", pandas.NA), ("maybe", np.nan), ("number", Decimal("NaN")), ("word", "")):
        frame[name] = pandas.Series([nothing if v is None else v for v in TABLE[name]], dtype=object)
    return frame


SURFACES = {
    "pandas": in_pandas,
    "pandas, nullable": lambda: in_pandas().convert_dtypes(),
    "pandas, Arrow dtypes": lambda: arrow().to_pandas(types_mapper=pandas.ArrowDtype),
    "pandas, objects": objects,
    "pandas, missing in other ways": missing_in_other_ways,
    "pandas, nanoseconds and seconds": lambda: in_pandas().assign(zoned=lambda f: f["zoned"].dt.as_unit("ns").dt.tz_convert("UTC")),
    "polars": lambda: polars.from_arrow(arrow()),
    "Arrow": arrow,
    "Arrow, a batch": lambda: arrow().combine_chunks().to_batches()[0],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The table as text and as Parquet, with and without outcomes, and a model of the text."""
    at = tmp_path_factory.mktemp("meaning")
    with open(at / "rows.csv", "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow([*TABLE, "outcome"])
        for i in range(ROWS):
            out.writerow([*(text(name, values[i]) for name, values in TABLE.items()), OUTCOME[i]])
    parquet.write_table(arrow().append_column("outcome", pyarrow.array(OUTCOME)), at / "rows.parquet")
    command("fit", at / "rows.csv", "--target", "outcome", *SETTINGS, "-o", at / "model.lossep")
    return at


def command(*arguments) -> str:
    run = subprocess.run([_binary.binary(), *map(str, arguments)], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout


def predicted(model, rows) -> np.ndarray:
    lines = command("predict", model, rows, "--format", "json").splitlines()
    return np.array([json.loads(line)["probability"] for line in lines])


@pytest.fixture(scope="module")
def want(folder) -> np.ndarray:
    """The probabilities of the rows of the text, which all differ."""
    p = predicted(folder / "model.lossep", folder / "rows.csv")
    assert len(p) == ROWS and len(np.unique(p)) == ROWS
    return p


@pytest.fixture(scope="module", autouse=True)
def no_doubts():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lossep.DataWarning)
        yield


def test_every_column_matters(folder):
    """Without which the tests below would show nothing."""
    shown = command("show", folder / "model.lossep")
    for name in TABLE:
        assert f'"{name}": ' in shown and f'dropped "{name}"' not in shown, shown


def test_parquet(folder, want):
    assert (predicted(folder / "model.lossep", folder / "rows.parquet") == want).all()
    command("fit", folder / "rows.parquet", "--target", "outcome", *SETTINGS, "-o", folder / "parquet.lossep")
    assert (predicted(folder / "parquet.lossep", folder / "rows.csv") == want).all()


@pytest.mark.parametrize("surface", SURFACES)
def test_predictions_in_python(folder, want, surface):
    model = LossepClassifier.load(folder / "model.lossep")
    assert (model.predict_proba(SURFACES[surface]())[:, 1] == want).all()


@pytest.mark.parametrize("surface", SURFACES)
def test_fits_in_python(folder, want, surface):
    model = LossepClassifier(kernel="rbf", method="ep", missing="impute", pos_label="yes")
    y = pandas.Series(OUTCOME, name="outcome")
    model.fit(SURFACES[surface](), y).save(folder / "python.lossep")
    assert (predicted(folder / "python.lossep", folder / "rows.csv") == want).all()


def test_arrays_and_lists(tmp_path):
    """Columns of an array mean what they would in a file, whatever numpy makes of all together."""
    rng = np.random.default_rng(3)
    cards = rng.choice([4556737586899855, 4556737586899856, 9007199254740993], ROWS)
    arrays = {
        "truths": rng.random((ROWS, 2)) < 0.5,
        "singles": rng.normal(size=(ROWS, 2)).astype("f4"),
        "integers": np.stack([cards, rng.integers(0, 1000, ROWS)], axis=1),
        "unsigned": np.stack([cards.astype("u8") + 2**63, rng.integers(0, 1000, ROWS).astype("u8")], axis=1),
        "objects": np.array([[True, 0.5], [False, 4556737586899855], [None, 3], [True, np.float32(0.1)]] * 20, dtype=object),
    }
    arrays |= {f"{name}, in lists": [list(row) for row in rows] for name, rows in arrays.items()}
    arrays["rows of Python"] = [
        [bool(a), int(b), 0.25 * i] for i, (a, b) in enumerate(zip(arrays["truths"][:, 0], cards, strict=True))
    ]
    for name, X in arrays.items():
        with open(tmp_path / "rows.csv", "w", newline="") as file:
            out = csv.writer(file)
            out.writerow([*(f"x{k}" for k in range(len(X[0]))), "outcome"])
            out.writerows([*("" if v is None else str(v) for v in row), y] for row, y in zip(X, OUTCOME, strict=True))
        command("fit", tmp_path / "rows.csv", "--target", "outcome", *SETTINGS, "-o", tmp_path / "model.lossep")
        want = predicted(tmp_path / "model.lossep", tmp_path / "rows.csv")
        loaded = LossepClassifier.load(tmp_path / "model.lossep").set_params(missing="impute")
        assert (loaded.predict_proba(X)[:, 1] == want).all(), name
        fitted = LossepClassifier(kernel="rbf", method="ep", missing="impute", pos_label="yes").fit(X, OUTCOME)
        fitted.save(tmp_path / "python.lossep")
        assert (predicted(tmp_path / "python.lossep", tmp_path / "rows.csv") == want).all(), name


def test_durations_are_seconds():
    seconds = np.random.default_rng(5).integers(0, 10**9, ROWS) / 1e6
    frames = [
        pandas.DataFrame({"x": seconds}),
        pandas.DataFrame({"x": pandas.to_timedelta(seconds, unit="s").round("us")}),
        pandas.DataFrame({"x": pandas.Series([timedelta(microseconds=round(1e6 * s)) for s in seconds], dtype=object)}),
        polars.DataFrame({"x": [timedelta(microseconds=round(1e6 * s)) for s in seconds]}),
    ]
    fits = [LossepClassifier(kernel="rbf", method="ep").fit(X, OUTCOME).predict_proba(frames[0]) for X in frames]
    for p in fits[1:]:
        assert (p == fits[0]).all()


def test_what_is_no_table():
    model = LossepClassifier(kernel="rbf", method="ep")
    with pytest.raises(TypeError, match=r"LazyFrame.*X\.collect\(\)"):
        model.fit(polars.LazyFrame({"x": range(ROWS)}), OUTCOME)
    for cells in ([[1, 2]] * ROWS, [{"a": 1}] * ROWS, [np.zeros(2)] * ROWS):
        with pytest.raises(ValueError, match=r"column 'x': .* is neither a number nor a text; leave the column out"):
            model.fit(pandas.DataFrame({"x": pandas.Series(cells, dtype=object)}), OUTCOME)
    with pytest.raises(ValueError, match=r"column 'x': .* neither a number nor a text"):
        model.fit(polars.DataFrame({"x": [[1, 2]] * ROWS}), OUTCOME)
    with pytest.raises(ValueError, match="column 'x': Complex data not supported"):
        model.fit(pandas.DataFrame({"x": pandas.Series([1j] * ROWS, dtype=object)}), OUTCOME)


@pytest.fixture(scope="module")
def server(folder):
    arguments = [_binary.binary(), "serve", f"m={folder / 'model.lossep'}", "--addr", "127.0.0.1:0"]
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        yield process.stdout.readline().split()[-1].rstrip("/")  # serving m on http://127.0.0.1:PORT
    finally:
        process.terminate()
        process.communicate(timeout=30)


def post(url: str, body: bytes, headers: dict[str, str]) -> dict:
    with urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=60) as answer:
        return json.load(answer)


def in_json(name: str, value):
    """A value as a program writes it in JSON: what JSON has no type for is a text."""
    if name == "single":
        return float(str(np.float32(value)))
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def test_http(server, want):
    rows = [{name: in_json(name, values[i]) for name, values in TABLE.items()} for i in range(ROWS)]
    answer = post(f"{server}/v1/models/m/predict", json.dumps({"rows": rows}).encode(), {"Content-Type": "application/json"})
    assert [row["probability"] for row in answer["predictions"]] == want.tolist()
    texts = [{name: text(name, values[i]) for name, values in TABLE.items()} for i in range(ROWS)]
    answer = post(f"{server}/v1/models/m/predict", json.dumps({"rows": texts}).encode(), {"Content-Type": "application/json"})
    assert [row["probability"] for row in answer["predictions"]] == want.tolist()


DATATYPES = {
    "integer": "INT16",
    "small": "INT8",
    "card": "INT64",
    "unsigned": "UINT64",
    "flag": "BOOL",
    "number": "FP64",
    "single": "FP32",
}
PACKED = {"INT16": "<h", "INT8": "<b", "INT64": "<q", "UINT64": "<Q", "BOOL": "<?", "FP64": "<d", "FP32": "<f"}


def inputs(packed: bool) -> tuple[list[dict], bytes]:
    """The columns as tensors, in the order of the table, and what follows the JSON."""
    listed, tail = [], b""
    for name, values in TABLE.items():
        datatype = DATATYPES.get(name, "BYTES")
        tensor = {"name": name, "shape": [ROWS], "datatype": datatype}
        if packed:
            if datatype == "BYTES":
                each = [text(name, v).encode() for v in values]
                data = b"".join(struct.pack("<I", len(b)) + b for b in each)
            else:
                data = b"".join(struct.pack(PACKED[datatype], np.nan if v is None else v) for v in values)
            tensor["parameters"] = {"binary_data_size": len(data)}
            tail += data
        elif datatype == "BYTES" or name == "number":  # JSON has no number for what is missing
            tensor |= {"datatype": "BYTES", "data": [text(name, v) for v in values]}
        else:
            tensor["data"] = values
        listed.append(tensor)
    return listed, tail


@pytest.mark.parametrize("packed", [False, True])
def test_open_inference_protocol(server, want, packed):
    listed, tail = inputs(packed)
    head = json.dumps({"inputs": listed, "outputs": [{"name": "probability"}]}).encode()
    headers = {"Content-Type": "application/octet-stream", "Inference-Header-Content-Length": str(len(head))}
    answer = post(f"{server}/v2/models/m/infer", head + tail, headers)
    assert answer["outputs"][0]["data"] == want.tolist()
