"""What the estimators have in common."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from lossep._columns import Columns
from lossep._effects import Effects
from lossep._errors import DataWarning
from lossep._model import Model


class Estimator(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """An estimator whose model is that of the command."""

    model_: Model
    missing: str | None
    base: Any = None

    _names: Sequence[str] = ()
    """The names of the columns of X as the program knows them."""

    _framed: bool = False
    """Whether it was fitted to a DataFrame."""

    _from_file: bool = False
    """Whether it was read from a file."""

    _scaled: Mapping[str, str] = MappingProxyType({})
    """The columns that look as if out of a scaler, and why."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing != "error"
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model to a file that the command reads, too. Pickle keeps more: the
        parameters, and the labels as what they were."""
        check_is_fitted(self)
        self.model_.write(path)

    def effects(self) -> Effects:
        """What categories, ranges of numbers and pairs of columns add to the latent value, where the kernel has
        effects, as beyond 2000 rows by default."""
        check_is_fitted(self)
        return Effects.of(self.model_)

    def _named(self, names: list[str]) -> None:
        """Takes the columns of X from a model file."""
        self._names, self._from_file = names, True
        self._framed = names != [f"x{k}" for k in range(len(names))]
        self.n_features_in_ = len(names)
        if self._framed:
            self.feature_names_in_ = np.array(names, dtype=object)

    def _watch(self, columns: Columns, options: Mapping[str, Any]) -> dict[str, Any]:
        """What decisions on cases cost, window by window."""
        header = {"columns": columns.header(), "options": {name: v for name, v in options.items() if v is not None}}
        reply, _ = self.model_.ask("monitor", {"name": "X", **header}, columns.tensors())
        result: dict[str, Any] = reply.result
        return result

    def _unseen(self, result: Mapping[str, Any]) -> None:
        for line in result.get("unseen") or ():
            warnings.warn(line, DataWarning, stacklevel=3)


def index_of(X: Any) -> Any:
    """The index of a pandas DataFrame, None of anything else."""
    return X.index if hasattr(X, "iloc") else None
