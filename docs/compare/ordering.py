"""What ordering costs: lossep beside LightGBM's quantile regression, linear quantile regression,
scikit-learn's Gaussian process on log(1 + y), the quantile of the training rows and the quantiles of weighted ones, on the restaurant
data of the PyPI package ddop 0.7.6. That has the weights of trees, forests, neighbours and Gaussian kernels; its code is for an older
scikit-learn, so they are made here, with the setting that costs least in five folds of the training rows. The first 75 % of the days are learned from. Prints the mean cost
of a day for every dish, with the standard error of the difference to lossep, how many outcomes lie in
lossep's 90 % intervals, and processor seconds.

    python ordering.py --data ddop/datasets/data --lossep lossep --work /tmp/numbers
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


def lossep(a, dish, x, y, train):
    """Actions and 90 % intervals by the command itself."""
    work = Path(a.work)
    data = x.assign(**{dish: y})
    data[:train].to_csv(work / f"{dish}-train.csv", index=False)
    data[train:].to_csv(work / f"{dish}-test.csv", index=False)
    model = work / f"{dish}.lossep"
    run = lambda *words: subprocess.run([a.lossep, *map(str, words)], check=True, capture_output=True, text=True).stdout
    run("fit", work / f"{dish}-train.csv", "--target", dish, "--cost", f"under={a.under},over={a.over}", "-o", model, *a.options)
    read = lambda text: list(csv.DictReader(text.splitlines()))
    actions = [float(r["action"]) for r in read(run("decide", model, work / f"{dish}-test.csv"))]
    ends = [(float(r["quantile_0.05"]), float(r["quantile_0.95"])) for r in read(run("predict", model, work / f"{dish}-test.csv", "--quantiles", "0.05,0.95"))]
    return np.array(actions), np.array(ends)


def weights(z, y, new):
    """Weights of training rows for new ones, one matrix for each setting of each of ddop's methods."""
    from scipy.spatial.distance import cdist
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.tree import DecisionTreeRegressor

    apart = cdist(new, z)
    for leaf in 1, 2, 5, 10, 20, 40:
        for name, model in ("tree", DecisionTreeRegressor(min_samples_leaf=leaf, random_state=1)), ("forest", RandomForestRegressor(min_samples_leaf=leaf, random_state=1)):
            model.fit(z, y)
            own, other = (np.reshape(model.apply(t), (len(t), -1)) for t in (z, new))
            same = sum((b[:, None] == a) / (b[:, None] == a).sum(axis=1, keepdims=True) for a, b in zip(own.T, other.T))
            yield (name, leaf), same
    for k in 5, 10, 20, 40, 80:
        yield ("neighbours", k), (apart <= np.sort(apart, axis=1)[:, k - 1 : k]) * 1.0
    for width in 0.5, 1, 2, 3, 5:
        yield ("Gaussian", width), np.exp(-0.5 * (apart**2 - apart.min(axis=1, keepdims=True) ** 2) / width**2)


def weighted(z, y, new, q):
    """Actions by settings: quantiles of the weighted training rows."""
    order = np.argsort(y)
    for name, w in weights(z, y, new):
        sums = np.cumsum(w[:, order], axis=1)
        yield name, y[order][(sums < q * sums[:, -1:] * (1 - 1e-12)).sum(axis=1)]


def ddop(z, y, train, q):
    """Actions by ddop's methods, each by the setting that costs least in folds of consecutive training rows."""
    sums = {}
    for rows in np.array_split(np.arange(train), 5):
        rest = np.setdiff1d(np.arange(train), rows)
        for name, actions in weighted(z[rest], y[rest], z[rows], q):
            off = y[rows] - actions
            sums[name] = sums.get(name, 0) + np.maximum(q * off, (q - 1) * off).sum()
    best = {min((v, k) for k, v in sums.items() if k[0] == name)[1] for name, _ in sums}
    for name, actions in weighted(z[:train], y[:train], z[train:], q):
        if name in best:
            yield f"ddop, {name[0]} {name[1]}", actions


def peers(x, y, train, q):
    """Actions of the others by name."""
    from lightgbm import LGBMRegressor
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
    from sklearn.linear_model import QuantileRegressor
    from sklearn.preprocessing import StandardScaler
    from scipy.stats import norm

    one_hot = pd.get_dummies(x, dtype=float)
    z = StandardScaler().fit(one_hot[:train]).transform(one_hot)
    yield "sample quantile", np.full(len(y) - train, np.quantile(y[:train], q, method="inverted_cdf"))
    yield "linear quantile", QuantileRegressor(quantile=q, alpha=0, solver="highs").fit(z[:train], y[:train]).predict(z[train:])
    trees = LGBMRegressor(objective="quantile", alpha=q, n_estimators=200, learning_rate=0.05, verbose=-1, random_state=1, n_jobs=1)
    yield "LightGBM quantile", trees.fit(one_hot.to_numpy()[:train], y[:train]).predict(one_hot.to_numpy()[train:])
    k = ConstantKernel() * RBF() + WhiteKernel()
    gp = GaussianProcessRegressor(k, normalize_y=True, random_state=1).fit(z[:train], np.log1p(y[:train]))
    mean, sd = gp.predict(z[train:], return_std=True)
    yield "GP on log(1 + y)", np.expm1(mean + norm.ppf(q) * sd)
    yield from ddop(z, y, train, q)


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--data", required=True, help="the folder of ddop's tables")
    p.add_argument("--lossep", required=True)
    p.add_argument("--work", required=True)
    p.add_argument("--under", type=float, default=15)
    p.add_argument("--over", type=float, default=5)
    p.add_argument("--dishes", default="calamari,fish,shrimp,chicken,koefte,lamb,steak")
    p.add_argument("--options", default=[], nargs=argparse.REMAINDER, help="of lossep fit")
    a = p.parse_args()
    Path(a.work).mkdir(parents=True, exist_ok=True)
    x = pd.read_csv(Path(a.data) / "yaz_data.csv")
    targets = pd.read_csv(Path(a.data) / "yaz_target.csv")
    x = x.drop(columns=[c for c in ("demand_date", "date", "Unnamed: 0") if c in x])
    train = int(0.75 * len(x))
    sums = {}
    for dish in a.dishes.split(","):
        y = targets[dish].to_numpy(float)
        test = y[train:]
        cost = lambda action: np.maximum(a.under * (test - action), a.over * (action - test))
        began = seconds()
        actions, ends = lossep(a, dish, x, y, train)
        own, inside = cost(actions), np.mean((test >= ends[:, 0]) & (test <= ends[:, 1]))
        print(f"{dish:10} lossep {own.mean():8.2f}   {100 * inside:5.1f} % in 90 % intervals, {seconds() - began:.0f} s")
        sums.setdefault("lossep", []).append(own.mean())
        for name, actions in peers(x, y, train, a.under / (a.under + a.over)):
            other = cost(actions)
            error = (other - own).std(ddof=1) / np.sqrt(len(own))
            print(f"{'':10} {name:18} {other.mean():8.2f}   lossep is {other.mean() - own.mean():+.2f} cheaper, standard error {error:.2f}")
            sums.setdefault(" ".join(name.split()[:2]) if name.startswith("ddop") else name, []).append(other.mean())
        sys.stdout.flush()
    for name, means in sums.items():
        print(f"mean {name:18} {np.mean(means):8.3f}")


if __name__ == "__main__":
    main()
