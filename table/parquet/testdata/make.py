"""Writes the files of this folder, which another program than the tests' own has written,
and what is in them as CSV. Run it with pyarrow here: python make.py"""

import csv
import datetime as dt
import decimal
import random

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

N = 60
rng = random.Random(1)


def gaps(values):
    return [None if rng.random() < 0.2 else v for v in values]


def moments(unit, zone=None):
    step = {"ms": 1_000, "us": 1, "ns": 1}[unit]
    base = dt.datetime(1969, 12, 31, 23, 0, 0)
    values = [base + dt.timedelta(microseconds=step * rng.randrange(10**12)) for _ in range(N)]
    return pa.array(gaps(values), pa.timestamp(unit, tz=zone)), values


columns, texts = {}, {}


def add(name, array, text=str):
    columns[name] = array
    texts[name] = ["" if v is None else text(v) for v in array.to_pylist()]


def trim(text):
    return text.rstrip("0").rstrip(".") if "." in text else text


def moment(v):
    return trim(v.strftime("%Y-%m-%d %H:%M:%S.%f"))


for bits in (8, 16, 32, 64):
    add(f"int{bits}", pa.array(gaps([rng.randrange(-(2 ** (min(bits, 40) - 1)), 2 ** (min(bits, 40) - 1)) for _ in range(N)]), f"int{bits}"))
    add(f"uint{bits}", pa.array(gaps([rng.randrange(2**bits) for _ in range(N)]), f"uint{bits}"))
add("half", pa.array(gaps([np.float16(rng.gauss(0, 1)) for _ in range(N)]), pa.float16()), lambda v: repr(float(v)))
add("float", pa.array(gaps([rng.gauss(0, 1) for _ in range(N)]), pa.float32()), lambda v: str(np.float32(v)))
add("double", pa.array(gaps([rng.gauss(0, 1) for _ in range(N)]), pa.float64()), repr)
add("bool", pa.array(gaps([rng.random() < 0.5 for _ in range(N)])), lambda v: str(v).lower())
add("string", pa.array(gaps([rng.choice(["aé", "b b", "ccc"]) for _ in range(N)])))
add("enum", pa.array(gaps([rng.choice(["low", "high"]) for _ in range(N)])).dictionary_encode())
add("binary", pa.array(gaps([rng.choice([b"p", b"qq"]) for _ in range(N)])), lambda v: v.decode())
add("date", pa.array(gaps([dt.date(1960, 1, 1) + dt.timedelta(days=rng.randrange(30000)) for _ in range(N)])))
for unit in ("ms", "us", "ns"):
    columns[unit], _ = moments(unit)
    texts[unit] = ["" if v is None else moment(v) for v in columns[unit].cast(pa.timestamp("us")).to_pylist()]
columns["zone"], _ = moments("us", "UTC")
texts["zone"] = ["" if v is None else moment(v) for v in columns["zone"].to_pylist()]
add("time32", pa.array(gaps([dt.time(rng.randrange(24), rng.randrange(60), 7, 1000 * rng.randrange(1000)) for _ in range(N)]), pa.time32("ms")), lambda v: trim(v.strftime("%H:%M:%S.%f")))
add("time64", pa.array(gaps([dt.time(rng.randrange(24), rng.randrange(60), 7, rng.randrange(10**6)) for _ in range(N)]), pa.time64("us")), lambda v: trim(v.strftime("%H:%M:%S.%f")))
for name, digits, scale in (("decimal9", 9, 2), ("decimal18", 18, 4), ("decimal38", 38, 10)):
    add(name, pa.array(gaps([decimal.Decimal(rng.randrange(-(10 ** min(digits, 15)), 10 ** min(digits, 15))).scaleb(-scale) for _ in range(N)]), pa.decimal128(digits, scale)), lambda v: format(v, "f"))
add("null", pa.nulls(N))
columns["list"] = pa.array([[1, 2]] * N)
table = pa.table(columns)

text_order = list(texts)
with open("values.csv", "w", newline="") as f:
    w = csv.writer(f, lineterminator="\n")
    w.writerow(text_order)
    w.writerows(zip(*(texts[name] for name in text_order)))

small = {"compression": "none", "write_statistics": False, "store_schema": False}
for name, options in {
    "dictionary": {**small, "compression": "snappy", "row_group_size": 35, "write_page_checksum": True},
    "plain": {**small, "use_dictionary": False, "compression": "lz4"},
    "second": {**small, "use_dictionary": False, "data_page_version": "2.0", "compression": "brotli", "write_page_checksum": True},
    "gzip": {**small, "compression": "gzip", "data_page_version": "2.0"},
    "old": {**small, "compression": "zstd", "version": "1.0", "use_deprecated_int96_timestamps": True, "store_decimal_as_integer": True},
    "encodings": {
        **small, "use_dictionary": False, "data_page_size": 64,
        "column_encoding": {
            **{f"{sign}{bits}": "DELTA_BINARY_PACKED" for sign in ("int", "uint") for bits in (8, 16, 32, 64)},
            "string": "DELTA_BYTE_ARRAY", "binary": "DELTA_LENGTH_BYTE_ARRAY", "float": "BYTE_STREAM_SPLIT", "double": "BYTE_STREAM_SPLIT",
            "date": "BYTE_STREAM_SPLIT", "us": "DELTA_BINARY_PACKED", "decimal38": "BYTE_STREAM_SPLIT", "half": "BYTE_STREAM_SPLIT", "bool": "RLE",
        },
    },
}.items():
    pq.write_table(table, name + ".parquet", **options)
