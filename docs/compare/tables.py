"""What decisions cost: lossep beside scikit-learn's logistic regression, random forest,
histogram boosting and Gaussian process, LightGBM and CatBoost, on the folds of `lossep
audit`. Every model gives probabilities for rows it has not seen, and actions are chosen by
the threshold that the costs ask for. Prints mean cost and log loss per case and the
processor seconds of all fits.

The table has no header, and its last column is the outcome. Text columns are one-hot
encoded and numbers standardised, by the training rows of each fold; CatBoost and LightGBM
get text columns as categories.
"""

import argparse
import csv
import resource
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

warnings.filterwarnings("ignore")


def seconds():
    """Processor seconds of this process and those it has waited for."""
    both = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(r.ru_utime + r.ru_stime for r in map(resource.getrusage, both))


def lossep(a, kernel, seed):
    """Probabilities and folds by the command itself."""
    out = Path(a.work) / f"audit-{Path(a.table).stem}-{seed}-{'auto' if kernel == 'auto' else 'given'}"
    subprocess.run(
        [a.lossep, "audit", a.table, "--positive", a.positive, "--cost", f"fn={a.fn},fp={a.fp}", "--kernel", kernel,
         "--method", "ep", "--methods", "ep", "--references", "0", "--seed", str(seed), "--out", str(out)],
        check=True, capture_output=True)
    rows = [r for r in csv.DictReader(open(out / "decisions.csv")) if r["method"] == "ep"]
    p, fold = np.empty(len(rows)), np.empty(len(rows), int)
    for r in rows:
        i = int(r["row"]) - 1
        p[i], fold[i] = float(r["probability"]), int(r["fold"])
    return p, fold


def peers(x, seed):
    """The models by name, each with the columns as it likes them."""
    from catboost import CatBoostClassifier
    from lightgbm import LGBMClassifier
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.gaussian_process import GaussianProcessClassifier
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel
    from sklearn.linear_model import LogisticRegressionCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    text = [c for c in x if not pd.api.types.is_numeric_dtype(x[c])]
    numbers = [c for c in x if c not in text]

    def encoded(model):
        return make_pipeline(make_column_transformer(
            (OneHotEncoder(handle_unknown="ignore", sparse_output=False), text), (StandardScaler(), numbers)), model)

    typed = x.astype({c: "category" for c in text})
    return {
        "logistic regression": (encoded(LogisticRegressionCV(Cs=10, max_iter=2000, scoring="neg_log_loss")), x),
        "random forest": (encoded(RandomForestClassifier(500, min_samples_leaf=3, random_state=seed)), x),
        "histogram boosting": (encoded(HistGradientBoostingClassifier(learning_rate=0.05, early_stopping=True, random_state=seed)), x),
        "Gaussian process": (encoded(GaussianProcessClassifier(ConstantKernel(1) * RBF(5), random_state=seed)), x),
        "LightGBM": (LGBMClassifier(n_estimators=200, learning_rate=0.03, random_state=seed, verbose=-1), typed),
        "CatBoost": (CatBoostClassifier(iterations=500, learning_rate=0.03, random_seed=seed, verbose=0, allow_writing_files=False, cat_features=text), x),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lossep", required=True)
    parser.add_argument("--work", default=".")
    parser.add_argument("--table", required=True)
    parser.add_argument("--positive", required=True)
    parser.add_argument("--seeds", default="1")
    parser.add_argument("--fn", type=float, default=5)
    parser.add_argument("--fp", type=float, default=1)
    parser.add_argument("--only", default="", help="peers to run, separated by commas; all if empty")
    a = parser.parse_args()
    table = pd.read_csv(a.table, header=None)
    y = (table.iloc[:, -1].astype(str) == a.positive).to_numpy().astype(int)
    x = table.iloc[:, :-1].rename(columns=lambda c: f"c{c + 1}")
    threshold = a.fp / (a.fn + a.fp)
    scores = {}

    def judge(name, p, took):
        p = np.clip(p, 1e-12, 1 - 1e-12)
        act = p > threshold
        cost = np.mean(np.where(act, a.fp * (1 - y), a.fn * y))
        loss = -np.mean(np.log(np.where(y == 1, p, 1 - p)))
        scores.setdefault(name, []).append((cost, loss, took))
        print(f"{name}: cost {cost:.3f}, log loss {loss:.3f}, {took:.1f} s", file=sys.stderr, flush=True)

    for seed in map(int, a.seeds.split(",")):
        for kernel in ("auto", "matern32 + constant", "matern32(ard) + constant"):
            before = seconds()
            p, fold = lossep(a, kernel, seed)
            judge(f"lossep, {kernel}", p, seconds() - before)
        for name, (model, features) in peers(x, seed).items():
            if a.only and name not in a.only.split(","):
                continue
            p, before = np.empty(len(y)), seconds()
            for f in np.unique(fold):
                train = fold != f
                p[~train] = model.fit(features[train], y[train]).predict_proba(features[~train])[:, 1]
            judge(name, p, seconds() - before)
    print(f"{Path(a.table).name}, {len(y)} rows, fn={a.fn:g}, fp={a.fp:g}, seeds {a.seeds}")
    print(f"{'':32}{'cost':>8}{'log loss':>10}{'seconds':>9}")
    for name, runs in scores.items():
        cost, loss, took = np.mean(runs, axis=0)
        print(f"{name:32}{cost:8.3f}{loss:10.3f}{took:9.1f}")


if __name__ == "__main__":
    main()
