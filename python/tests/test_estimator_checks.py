"""scikit-learn's own checks, every one of them."""

from __future__ import annotations

import os

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # or one check is skipped

import warnings

import pytest
from sklearn.utils.estimator_checks import check_estimator

from lossep import LossepClassifier

# A row of weight w enters the likelihood as its term to the power w. EP's site for that is
# not what w rows with a site each come to, and columns are standardised by rows, not by
# weights. The exact posteriors given the same scale are the same; the check asks for 1e-7.
REASONS = {
    "check_sample_weight_equivalence_on_dense_data": "EP's site of a term to the power w is not w sites of the term",
}


def test_every_check() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(LossepClassifier(), expected_failed_checks=REASONS, on_fail=None, on_skip=None)
    assert len(results) > 50
    for result in results:
        name, status = result["check_name"], result["status"]
        if name in REASONS:
            assert status == "xfail", f"{name} passes: there is no reason to expect otherwise any more"
        elif status == "skipped" and name == "check_array_api_input":
            pytest.importorskip("array_api_strict")
        else:
            assert status == "passed", f"{name}: {status}: {result['exception']!r}"
