"""scikit-learn's own checks, every one of them."""

from __future__ import annotations

import os

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # or one check is skipped

import warnings

import pytest
import sklearn
from sklearn.utils.estimator_checks import check_estimator

from lossep import LossepClassifier, LossepRegressor


@pytest.mark.parametrize("estimator", [LossepClassifier(), LossepRegressor()], ids=["classifier", "regressor"])
def test_every_check(estimator) -> None:
    older = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path.endswith("older")]
    assert not older or sklearn.__file__.startswith(older[0]), "the older one is what was to be checked with"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(estimator, on_fail=None, on_skip=None)
    assert len(results) > 50
    for result in results:
        assert result["status"] == "passed", f"{result['check_name']}: {result['status']}: {result['exception']!r}"
