"""A fitted model: the bytes of its file, and where the worker keeps it."""

from __future__ import annotations

import os
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from lossep import _worker
from lossep._frames import Array
from lossep._worker import Progress, Reply


class Model:
    """A fitted model as the program knows it.

    ``description`` holds what the fit found. The model lives in the worker; should that have
    ended, forgotten the model, or be another process's, it is loaded again from its bytes.
    Models never change, so that copies share one.
    """

    def __init__(self, file: bytes, description: dict[str, Any] | None = None, worker: _worker.Worker | None = None) -> None:
        self.file = file
        self.description: dict[str, Any] = description or {}
        self._place: tuple[weakref.ref[_worker.Worker], int] | None = None
        self._finalizer: Any = None
        if worker is not None and description is not None:
            self._settle(worker, description["model"])
        elif description is None:
            self._load(_worker.worker())

    @classmethod
    def read(cls, path: str | os.PathLike[str], kind: str) -> Model:
        """Reads a model file, of this package or of the command, whose outcome is of a kind."""
        with open(path, "rb") as file:
            model = cls(file.read())
        model.check(kind)
        return model

    def check(self, kind: str) -> None:
        """Refuses a model of another kind of outcome: a number or categories."""
        if self.description["kind"] != kind:
            fit = {"number": "LossepRegressor", "categories": "LossepClassifier"}[self.description["kind"]]
            raise ValueError(f"outcome: that of this model is of the kind {self.description['kind']!r}, which is for {fit}")

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes the model file, all or nothing."""
        path = os.fspath(path)
        beside = f"{path}.{os.getpid()}.tmp"
        try:
            with open(beside, "wb") as file:
                file.write(self.file)
            os.replace(beside, path)
        except BaseException:
            if os.path.exists(beside):
                os.unlink(beside)
            raise

    def ask(
        self, do: str, header: dict[str, Any], tensors: Sequence[tuple[str, Array]] = (), progress: Progress | None = None
    ) -> tuple[Reply, _worker.Worker]:
        """Asks the worker about this model.

        Where memory is short others make the worker forget a model before it was asked about once.
        """
        for last in (*9 * [False], True):
            worker = _worker.worker()
            handle = self._handle(worker)
            try:
                return worker.ask(do, {"model": handle, **header}, tensors, progress), worker
            except _worker.Forgotten:
                self._place = None
                if last:
                    raise
        raise AssertionError

    def _handle(self, worker: _worker.Worker) -> int:
        place = self._place
        if place is not None and place[0]() is worker:
            return place[1]
        return self._load(worker)

    def _load(self, worker: _worker.Worker) -> int:
        reply = worker.ask("load", {}, [("model", np.frombuffer(self.file, dtype=np.uint8))])
        description = reply.result
        if not self.description:
            self.description = description
        return self._settle(worker, description["model"])

    def _settle(self, worker: _worker.Worker, handle: int) -> int:
        if self._finalizer is not None:
            self._finalizer()
        self._place = (weakref.ref(worker), handle)
        self._finalizer = weakref.finalize(self, worker.forgotten.append, handle)
        return handle

    def __copy__(self) -> Model:
        return self

    def __deepcopy__(self, memo: Any) -> Model:
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {"file": self.file, "description": self.description}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.file, self.description = state["file"], state["description"]
        self._place = self._finalizer = None

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + len(self.file)

    def __repr__(self) -> str:
        d = self.description
        fit = d.get("report") or {**d, **d.get("provenance", {})}
        return f"<lossep model: {fit.get('method', 'ep')}, {fit.get('kernel')}, {fit.get('rows')} rows>"

    def __str__(self) -> str:
        return "\n".join(self.description.get("lines") or [])
