"""The parameters of the estimator as options of the command."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

_SAME = (
    "kernel",
    "method",
    "likelihood",
    "label_noise",
    "power",
    "fixed",
    "restarts",
    "prevalence",
    "missing",
    "standardize",
    "dates",
    "max_rows",
    "no_examples",
    "weights",
    "noise_sd",
    "outcome",
    "groups",
    "use_cost_columns",
)
"""Parameters that the command has a flag for of the same name, and takes as they are."""


def fit_options(estimator: Any) -> dict[str, Any]:
    """The parameters that are given, of those that an estimator has."""
    options: dict[str, Any] = {}
    for name in _SAME:
        if hasattr(estimator, name):
            options[name.replace("_", "-")] = getattr(estimator, name)
    options["score"] = getattr(estimator, "score_column", None)
    options["inducing"] = None if estimator.inducing is None else str(estimator.inducing)
    options["missing-marker"] = None if estimator.missing_markers is None else list(estimator.missing_markers)
    options["features"] = None if estimator.features is None else list(estimator.features)
    if estimator.ordered is not None:
        options["ordered"] = [f"{name}={','.join(map(str, values))}" for name, values in estimator.ordered.items()]
    if isinstance(estimator.scaling, str):
        options["scaling"] = [estimator.scaling]
    elif estimator.scaling is not None:
        options["scaling"] = [f"{name}={scaling}" for name, scaling in estimator.scaling.items()]
    if estimator.random_state is not None:
        random = estimator.random_state
        seed = int(random) if isinstance(random, (int, np.integer)) else check_random_state(random).randint(1, 2**31)
        options["seed"] = str(seed)
    options = {**(estimator.options or {}), **{name: value for name, value in options.items() if value is not None}}
    for name, value in options.items():
        if isinstance(value, str) and value == "":
            raise ValueError(f"{name.replace('-', '_')}: the text is empty; give None for what is usual")
    return {name: value for name, value in options.items() if value is not None}
