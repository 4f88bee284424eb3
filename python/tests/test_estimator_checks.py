"""scikit-learn's own checks, every one of them."""

from __future__ import annotations

import os

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # or one check is skipped

import re
import warnings

import pytest
from sklearn.utils.estimator_checks import check_estimator

from lossep import LossepClassifier

# The check compares weights with copies of rows, in another order, to 1e-7. The search for
# hyperparameters stops where a step is not worth while, and from rows in another order that
# is a few 1e-6 away; tests/test_classifier.py has the two the same in the same order.
REASONS = {"check_sample_weight_equivalence_on_dense_data": "rows in another order end the search a few 1e-6 away"}


def test_every_check() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(LossepClassifier(), expected_failed_checks=REASONS, on_fail=None, on_skip=None)
    assert len(results) > 50
    for result in results:
        name, status = result["check_name"], result["status"]
        if name in REASONS:
            assert status == "xfail", f"{name} passes: there is no reason to expect otherwise any more"
            gap = float(re.search(r"absolute difference[^:]*: ([\d.e+-]+)", str(result["exception"]))[1])
            assert gap < 1e-4, f"{name} fails by more than the search's end"
        elif status == "skipped" and name == "check_array_api_input":
            pytest.importorskip("array_api_strict")
        else:
            assert status == "passed", f"{name}: {status}: {result['exception']!r}"
