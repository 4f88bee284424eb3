"""Frames: how this package and the program beside it write to each other.

A frame is a prefix (magic, length of the header, length of the payload), a header in JSON
and a payload of tensors, one after another, each padded to eight bytes. The same is said,
with what requests and answers hold, in ``docs/research/python.md``.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

MAGIC = b"LSP1"
PROTOCOL = 1
PREFIX = struct.Struct("<4sIQ")
_DTYPES: dict[str, np.dtype[Any]] = {kind: np.dtype("<" + kind) for kind in ("f8", "f4", "i4", "u1")}

Array = NDArray[Any]


class FrameError(Exception):
    """What was read is no frame."""


def encode(header: dict[str, Any], tensors: Sequence[tuple[str, Array]] = ()) -> list[memoryview | bytes]:
    """A frame as parts to be written one after another; arrays are not copied."""
    listed: list[dict[str, Any]] = []
    parts: list[memoryview | bytes] = []
    size = 0
    for name, values in tensors:
        kind = values.dtype.str.lstrip("<|=")
        if kind not in _DTYPES or values.dtype != _DTYPES[kind]:
            raise TypeError(f"an array of {values.dtype} has no place in a frame")
        values = np.ascontiguousarray(values)
        listed.append({"name": name, "type": kind, "shape": list(values.shape)})
        if values.nbytes:
            parts.append(values.reshape(-1).view(np.uint8).data)
        padding = -values.nbytes % 8
        if padding:
            parts.append(bytes(padding))
        size += values.nbytes + padding
    if listed:
        header = {**header, "tensors": listed}
    text = json.dumps(header, separators=(",", ":"), allow_nan=False).encode()
    head = PREFIX.pack(MAGIC, len(text), size) + text
    if size <= 1 << 16:  # one write for what is short
        return [b"".join([head, *parts])]
    return [head, *parts]


def decode(read: Callable[[memoryview], None]) -> tuple[dict[str, Any], dict[str, Array]]:
    """Reads a frame. ``read`` fills a buffer to its end or raises EOFError."""
    prefix = bytearray(PREFIX.size)
    read(memoryview(prefix))
    magic, length, size = PREFIX.unpack(prefix)
    if magic != MAGIC:
        raise FrameError(f"a frame begins with {magic!r} and not with {MAGIC!r}")
    text = bytearray(length)
    read(memoryview(text))
    header: dict[str, Any] = json.loads(text)
    payload = np.empty(size, dtype=np.uint8)
    if size:
        read(payload.data)
    tensors: dict[str, Array] = {}
    start = 0
    for listed in header.pop("tensors", None) or ():
        dtype = _DTYPES[listed["type"]]
        shape = tuple(listed["shape"])
        nbytes = dtype.itemsize * int(np.prod(shape, dtype=np.int64))
        tensors[listed["name"]] = payload[start : start + nbytes].view(dtype).reshape(shape)
        start += nbytes + -nbytes % 8
    return header, tensors
