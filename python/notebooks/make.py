"""Writes the notebooks from the cells below, and runs them: python notebooks/make.py.

They are kept with their outputs, and the tests run them again.
"""

from __future__ import annotations

from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

FIRST = [
    """# A first decision

A screening programme. A cancer that is missed costs twenty times what an unneeded biopsy
does. The table is the Breast Cancer Wisconsin (Diagnostic) data that comes with
scikit-learn.""",
    """from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

import lossep

X, y = load_breast_cancer(as_frame=True, return_X_y=True)
X, y = X.iloc[:, :10], y.map({0: "malignant", 1: "benign"})
train, test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
y.value_counts()""",
    "Costs are part of the model. `malignant` is the positive class by convention; `pos_label=` says otherwise.",
    """model = lossep.LossepClassifier(cost={"fn": 20, "fp": 1}, kernel="matern32 + constant", method="ep")
model.fit(train, y_train)
print(f"positive: {model.pos_label_}, log evidence {model.log_evidence_:.2f}, cost per case without the case {model.loo_cost_:.3f}")
print(f"act where the probability is above {model.threshold_:.4f}")""",
    """`predict` is scikit-learn's: the most probable class. `decide` is what to do: the action
with the lowest expected cost, what every action is expected to cost, and by how much the
best is better.""",
    """decisions = model.decide(test)
print(decisions)
decisions.to_frame(index=test.index).head()""",
    "What it costs to act on the most probable class in place of the costs:",
    """p = model.predict_proba(test)
by_costs = lossep.cost_per_case(y_test, p, {"fn": 20, "fp": 1}, classes=model.classes_, pos_label="malignant").mean()
wrong = model.predict(test) != y_test
by_class = ((y_test == "malignant") * 20 + (y_test == "benign"))[wrong].sum() / len(test)
print(f"by the costs {by_costs:.3f} per case, by the most probable class {by_class:.3f}")""",
    "Other costs need no other fit. Here a second opinion can be asked for, at a cost of 0.3:",
    """triage = {
    "home": {"benign": 0, "malignant": 20},
    "second opinion": {"benign": 0.3, "malignant": 0.5},
    "biopsy": {"benign": 1, "malignant": 0},
}
model.decide(test, triage)""",
    "How far can the probabilities be trusted?",
    """display = lossep.ReliabilityDisplay.from_estimator(model, test, y_test)""",
    """Models are pickled like any other; `save` writes the file that the command reads:
`lossep show screening.lossep`.""",
    """import tempfile

with tempfile.TemporaryDirectory() as folder:
    model.save(f"{folder}/screening.lossep")
    again = lossep.LossepClassifier.load(f"{folder}/screening.lossep")
(again.predict_proba(test) == p).all()""",
]

AUDIT = [
    """# Auditing a LightGBM model

Any model's probabilities can be audited: what decisions by them will cost, whether they can
be trusted, and which of two models is cheaper by more than chance. They have to be of cases
that the model had not seen, which `cross_val_predict` sees to.""",
    """import warnings

from lightgbm import LGBMClassifier
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import lossep

warnings.simplefilter("ignore")
X, y = load_breast_cancer(return_X_y=True)
X, y = X[:, :10], 1 - y  # 1 is malignant
trees = LGBMClassifier(n_estimators=100, learning_rate=0.05, verbose=-1, n_jobs=1, random_state=0)
logistic = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
p = {
    "LightGBM": cross_val_predict(trees, X, y, cv=5, method="predict_proba"),
    "logistic regression": cross_val_predict(logistic, X, y, cv=5, method="predict_proba"),
}""",
    "A missed cancer costs twenty biopsies.",
    """cost = {"fn": 20, "fp": 1}
audit = lossep.audit(y, p, cost, folds=5, progress=False)
print(audit)""",
    "Every number is in `audit.results`; in a notebook `audit` by itself shows the whole page, and `audit.save(folder)` keeps it.",
    """{name: f"{mean:.3f} ({low:.3f} to {high:.3f})" for name, (mean, low, high) in audit.costs.items()}""",
    "What it costs to act from which probability on, and what that is worth at other costs:",
    """import matplotlib.pyplot as plt

figure, axes = plt.subplots(1, 2, figsize=(11, 4))
for name, probabilities in p.items():
    lossep.CostCurveDisplay.from_predictions(y, probabilities[:, 1], cost=cost, name=name, ax=axes[0])
lossep.DecisionCurveDisplay.from_predictions(y, p["LightGBM"][:, 1], cost=cost, name="LightGBM", ax=axes[1])
figure.tight_layout()""",
    "The decisions themselves, without any model of ours:",
    'lossep.decide(p["LightGBM"], cost)',
]


def notebook(cells: list[str]) -> nbformat.NotebookNode:
    """Prose and code take turns."""
    made = [(new_code_cell if k % 2 else new_markdown_cell)(text, id=f"cell-{k}") for k, text in enumerate(cells)]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return new_notebook(cells=made, metadata={"kernelspec": kernel})


def main() -> None:
    here = Path(__file__).parent
    for name, cells in {"first-decision": FIRST, "audit-lightgbm": AUDIT}.items():
        made = notebook(cells)
        NotebookClient(made, timeout=600, kernel_name="python3", record_timing=False).execute()
        nbformat.write(made, here / f"{name}.ipynb")
        print(name, len(made.cells), "cells")


if __name__ == "__main__":
    main()
