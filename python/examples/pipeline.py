"""LossepClassifier among scikit-learn's tools: Pipeline, ColumnTransformer, GridSearchCV and
TunedThresholdClassifierCV, side by side by what decisions cost.

Run it with a CSV of your own, or without for a made-up table of loans:

    python examples/pipeline.py [table.csv TARGET]
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, TunedThresholdClassifierCV, cross_val_predict, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import lossep

COST = {"fn": 5, "fp": 1}  # a bad loan costs five times what a good one would have earned


def loans(n: int = 600) -> tuple[pd.DataFrame, pd.Series]:
    """A table with numbers, categories and an outcome that depends on both."""
    random = np.random.default_rng(1)
    table = pd.DataFrame(
        {
            "amount": random.lognormal(8, 1, n).round(),
            "months": random.integers(6, 60, n),
            "purpose": random.choice(["car", "house", "school"], n),
            "savings": random.choice(["none", "some", "much"], n),
        }
    )
    risk = 0.8 * (np.log(table["amount"]) - 8) + 0.03 * (table["months"] - 30) - 1.2 * (table["savings"] == "much") - 0.9
    return table, pd.Series((random.random(n) < 1 / (1 + np.exp(-risk))).astype(int), name="bad")


def main() -> None:
    if len(sys.argv) == 3:
        table = pd.read_csv(sys.argv[1])
        X, y = table.drop(columns=sys.argv[2]), table[sys.argv[2]]
    else:
        X, y = loans()
    train, test, y_train, y_test = train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)
    scorer = lossep.make_cost_scorer(COST)

    # It reads DataFrames as they are, categories and all …
    plain = lossep.LossepClassifier(cost=COST, kernel="matern32 + constant", method="ep")
    # … and is a step of a pipeline like any other.
    encoded = ColumnTransformer(
        [
            ("numbers", StandardScaler(), make_column_selector(dtype_include="number")),
            (
                "categories",
                OneHotEncoder(handle_unknown="ignore", sparse_output=False),
                make_column_selector(dtype_exclude="number"),
            ),
        ]
    )
    piped = make_pipeline(encoded, lossep.LossepClassifier(method="ep"))
    search = GridSearchCV(piped, {"lossepclassifier__kernel": ["linear + constant", "matern32 + constant"]}, scoring=scorer, cv=3)
    logistic = make_pipeline(encoded, LogisticRegression(max_iter=1000))
    boosted = make_pipeline(encoded, HistGradientBoostingClassifier(max_iter=60, random_state=0))
    # A threshold tuned on folds, where a threshold from the costs would do.
    tuned = TunedThresholdClassifierCV(logistic, scoring=scorer, cv=3)

    rows = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lossep.DataWarning)
        for name, model in {
            "lossep": plain,
            "lossep in a pipeline, kernel by GridSearchCV": search,
            "logistic regression, threshold from the costs": logistic,
            "gradient boosting, threshold from the costs": boosted,
        }.items():
            rows[name] = -scorer(model.fit(train, y_train), test, y_test)
        predictions = lossep.make_cost_scorer(COST, response_method="predict")
        rows["logistic regression, TunedThresholdClassifierCV"] = -predictions(tuned.fit(train, y_train), test, y_test)
    print(f"cost per case on {len(test)} cases kept apart ({y_test.mean():.0%} positive)")
    for name, cost in sorted(rows.items(), key=lambda row: row[1]):
        print(f"  {cost:.3f}  {name}")
    p = cross_val_predict(logistic, X, y, cv=5, method="predict_proba")
    print(f"\n{lossep.audit(y, {'logistic regression': p}, COST, recalibrate='none', folds=5).verdict[0]}")


if __name__ == "__main__":
    main()
