"""What the tests share."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_classification

import lossep

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
"""Real tables beside the checkout, where they are at hand."""


@pytest.fixture(scope="session")
def rows() -> tuple[np.ndarray, np.ndarray]:
    return make_classification(120, 4, n_informative=3, n_redundant=0, flip_y=0.1, random_state=0)


@pytest.fixture(scope="session")
def model(rows: tuple[np.ndarray, np.ndarray]) -> lossep.LossepClassifier:
    X, y = rows
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lossep.DataWarning)
        return lossep.LossepClassifier(cost={"fn": 5, "fp": 1}, kernel="rbf", method="ep").fit(X, y)


@pytest.fixture(scope="session")
def german():
    """German credit as a DataFrame: texts and numbers, and the outcome 1 (good) or 2 (bad)."""
    pandas = pytest.importorskip("pandas")
    path = DATA / "german.csv"
    if not path.exists():
        pytest.skip(f"{path} is not at hand")
    table = pandas.read_csv(path, header=None, names=[f"a{k}" for k in range(1, 21)] + ["class"])
    return table.drop(columns="class"), table["class"]
