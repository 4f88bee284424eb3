"""Cost and time to fit against other classifiers, on real tables, in one run.

    python compare/peers.py [FOLDER] [--folds 3] [--only german,pima]

FOLDER holds german.csv, pima-indians-diabetes.csv, ionosphere.csv, sonar.csv and
mammography.csv without header rows, the outcome last; it is ../shared/data beside the
checkout unless given. Every model decides cases that it was not fitted to, in the same folds.
scikit-learn's models act where their probability is above the threshold that the costs imply;
empulse's cost-sensitive models, where they are installed, by their own predict. lossep reads
the table as it is, the others one-hot and standardised.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import lossep

TABLES = {
    "german": ("german.csv", "2", 5),
    "pima": ("pima-indians-diabetes.csv", "1", 5),
    "ionosphere": ("ionosphere.csv", "b", 5),
    "sonar": ("sonar.csv", "M", 5),
    "mammography": ("mammography.csv", "'1'", 50),
}
MOST_GP = 1000  # training rows of scikit-learn's Gaussian process, whose time grows with the cube


def read(path: Path, positive: str) -> tuple[pd.DataFrame, np.ndarray]:
    table = pd.read_csv(path, header=None)
    table.columns = [f"a{k}" for k in range(1, table.shape[1])] + ["outcome"]
    return table.drop(columns="outcome"), (table["outcome"].astype(str) == positive).to_numpy().astype(int)


def encoded(model: Any) -> Any:
    columns = ColumnTransformer(
        [
            ("numbers", StandardScaler(), make_column_selector(dtype_include="number")),
            (
                "categories",
                OneHotEncoder(handle_unknown="ignore", sparse_output=False),
                make_column_selector(dtype_exclude="number"),
            ),
        ]
    )
    return make_pipeline(columns, model)


def models(fn: float) -> dict[str, Callable[[], Any]]:
    """How each is made; those of empulse where it is installed."""
    made: dict[str, Callable[[], Any]] = {
        "lossep": lambda: lossep.LossepClassifier(cost={"fn": fn, "fp": 1}),
        "lossep, one Matern kernel, EP": lambda: lossep.LossepClassifier(
            cost={"fn": fn, "fp": 1}, kernel="matern32 + constant", method="ep"
        ),
        "GaussianProcessClassifier": lambda: encoded(GaussianProcessClassifier(ConstantKernel() * RBF(3.0), random_state=0)),
        "LogisticRegression": lambda: encoded(LogisticRegression(max_iter=2000)),
        "HistGradientBoostingClassifier": lambda: encoded(HistGradientBoostingClassifier(random_state=0)),
    }
    try:
        from empulse.models import CSForestClassifier, CSLogitClassifier

        made["empulse CSLogitClassifier"] = lambda: encoded(CSLogitClassifier(fn_cost=fn, fp_cost=1))
        made["empulse CSForestClassifier"] = lambda: encoded(CSForestClassifier(fn_cost=fn, fp_cost=1, random_state=0))
    except ImportError:
        print("empulse is not installed; its models are left out")
    return made


def paid(y: np.ndarray, acts: np.ndarray, fn: float) -> np.ndarray:
    return np.where(y == 1, fn * (1 - acts), acts).astype(float)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=Path(__file__).resolve().parents[3] / "shared" / "data")
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--only", default=",".join(TABLES))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"{'table':12} {'model':32} {'cost per case':>16} {'log loss':>9} {'fit, CPU s':>10}")
    for table in options.only.split(","):
        name, positive, fn = TABLES[table]
        X, y = read(options.folder / name, positive)
        threshold = 1 / (1 + fn)
        for label, make in models(fn).items():
            costs, losses, times = np.empty(len(y)), np.full(len(y), np.nan), []
            note = ""
            for train, test in StratifiedKFold(options.folds, shuffle=True, random_state=1).split(X, y):
                if label.startswith("Gaussian") and len(train) > MOST_GP:
                    train = np.random.default_rng(1).choice(train, MOST_GP, replace=False)
                    note = f" (on {MOST_GP} rows)"
                model = make()
                start = time.process_time() + children()
                try:
                    model.fit(X.iloc[train], y[train])
                except Exception as error:
                    note = f" failed: {type(error).__name__}: {error}"[:60]
                    break
                times.append(time.process_time() + children() - start)
                if label.startswith("empulse"):
                    acts = np.asarray(model.predict(X.iloc[test])).astype(int)
                else:
                    p = model.predict_proba(X.iloc[test])[:, 1]
                    acts = (p > threshold).astype(int)
                    losses[test] = -np.log(np.clip(np.where(y[test] == 1, p, 1 - p), 1e-12, None))
                costs[test] = paid(y[test], acts, fn)
            if not times:
                print(f"{table:12} {label:32}{note}")
                continue
            error = costs.std(ddof=1) / np.sqrt(len(y))
            loss = "" if np.isnan(losses).any() else f"{losses.mean():.3f}"
            print(f"{table:12} {label:32} {costs.mean():7.3f} ± {error:.3f}  {loss:>8} {np.mean(times):10.2f}{note}", flush=True)


def children() -> float:
    """Processor seconds of the worker so far, where they can be read."""
    from lossep import _worker

    try:
        with open(f"/proc/{_worker.worker().pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / 100
    except OSError:
        return 0.0


if __name__ == "__main__":
    main()
