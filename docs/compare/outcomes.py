"""More than two outcomes: lossep beside scikit-learn's Gaussian process (one against the
rest) and logistic regression, on iris and wine, which scikit-learn ships, on the
handwritten digits 0 to 6 with one of them rare, and on tables of numbers in CSV files whose
last column is the outcome, by the same folds in one run.

Prints for each the log loss and the mean cost of decisions over all test rows, under costs
that are not symmetric, with the differences to lossep with the first of the kernels and
their standard errors, and the least seconds of processor time to fit one fold, of lossep
with the start of the command, reading and writing.

    OPENBLAS_NUM_THREADS=1 python docs/compare/outcomes.py --lossep ./lossep \\
        [--folds 10] [--tables iris,wine,digits,file.csv] [--kernels 'auto,rbf'] [--alone] [--flip 0.1]

--alone leaves scikit-learn out, to compare kernels with each other. A kernel that ends with
@all is fitted with every training row as an inducing point, and one that ends with @M with M of
them; ~0.1 at its end stands for the likelihood robust with that label noise. --flip has that share of all
outcomes, of training and test rows, replaced by another one alike, and prints how many of the test rows are taken for another
outcome than they had before. The table digits10 is all 1,797 handwritten digits; beyond 500 rows LightGBM, which has to
be installed, takes the place of scikit-learn's Gaussian process.

With --times it fits one kernel to the whole table instead, by both, on one core each and in
turns, and prints the least seconds of processor time of several runs; those of lossep
with and without what the command takes to start.
"""

import argparse
import csv
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


def tables(names):
    for name in names:
        if name.endswith(".csv"):
            with open(name, newline="") as f:
                rows = list(csv.reader(f))[1:]
            yield Path(name).stem, np.array([r[:-1] for r in rows], float), np.unique([r[-1] for r in rows], return_inverse=True)[1]
            continue
        if name != "digits":
            d = {"iris": load_iris, "wine": load_wine, "digits10": load_digits}[name]()
            yield name, d.data, d.target
            continue
        # 40 rows of each of six digits and 6 of a seventh, in the middle 4 x 4 pixels and
        # the sums of the rows.
        x, y = load_digits(return_X_y=True)
        rows = np.concatenate([np.flatnonzero(y == c)[: 40 if c < 6 else 6] for c in range(7)])
        images = x[rows].reshape(-1, 8, 8)
        yield name, np.hstack([images[:, 2:6, 2:6].reshape(-1, 16), images.sum(2)]), y[rows]


def cost_matrix(number):
    """An action for each outcome: too low a number costs three times what too high does."""
    a, y = np.indices((number, number))
    return np.where(a < y, 3.0 * (y - a), a - y)


def cpu(who):
    r = resource.getrusage(who)
    return r.ru_utime + r.ru_stime


def write(path, x, y=None):
    with open(path, "w", newline="") as f:
        w = csv.writer(f)
        w.writerow([f"x{k}" for k in range(x.shape[1])] + ([] if y is None else ["y"]))
        for i, row in enumerate(x):
            w.writerow(list(row) + ([] if y is None else [f"k{y[i]}"]))


def flipped(y, share):
    """Outcomes of which a share is replaced by another one, each alike."""
    rng = np.random.default_rng(31)
    wrong = rng.random(len(y)) < share
    return np.where(wrong, (y + rng.integers(1, y.max() + 1, len(y))) % (y.max() + 1), y)


def by_lossep(program, kernel, folder, x, y, test, number):
    write(folder / "train.csv", x, y)
    write(folder / "test.csv", test)
    before = cpu(resource.RUSAGE_CHILDREN)
    model = folder / "m.lossep"
    kernel, _, noise = kernel.partition("~")
    kernel, _, points = kernel.partition("@")
    robust = ["--likelihood", "robust", "--label-noise", noise] if noise else []
    inducing = ["--inducing", str(len(x)) if points == "all" else points] if points else []
    fit = subprocess.run([program, "fit", folder / "train.csv", "--target", "y", "--kernel", kernel, *inducing, *robust, "-o", model], capture_output=True, text=True)
    if fit.returncode:
        sys.exit(fit.stderr)
    seconds = cpu(resource.RUSAGE_CHILDREN) - before
    out = subprocess.run([program, "predict", model, folder / "test.csv"], capture_output=True, text=True)
    if out.returncode:
        sys.exit(out.stderr)
    rows = list(csv.DictReader(out.stdout.splitlines()))
    return np.array([[float(r.get(f"probability_k{c}", 0)) for c in range(number)] for r in rows]), seconds


def other(rows):
    if rows <= 500:
        return "Gaussian process", make_pipeline(StandardScaler(), GaussianProcessClassifier(ConstantKernel(1.0) * RBF(1.0)))
    from lightgbm import LGBMClassifier

    return "LightGBM", LGBMClassifier(n_estimators=200, verbose=-1)


def by_sklearn(model, x, y, test, number):
    before = cpu(resource.RUSAGE_SELF)
    model.fit(x, y)
    seconds = cpu(resource.RUSAGE_SELF) - before
    p = np.zeros((len(test), number))
    p[:, model.classes_] = model.predict_proba(test)
    return p, seconds


def compare_times(program, names, runs=6):
    one_core = dict(os.environ, GOMAXPROCS="1")
    kernels = {"rbf": ConstantKernel(1.0) * RBF(1.0), "matern32 + constant": ConstantKernel(1.0) * Matern(1.0, nu=1.5) + ConstantKernel(1.0)}
    for name, x, y in tables(names):
        scaled = StandardScaler().fit_transform(x)
        for kernel, same in kernels.items():
            least = {}
            with tempfile.TemporaryDirectory() as folder:
                write(Path(folder) / "train.csv", x, y)
                fit = [program, "fit", Path(folder) / "train.csv", "--target", "y", "--kernel", kernel, "-o", Path(folder) / "m.lossep"]
                for _ in range(runs):
                    for what, run in {
                        "scikit-learn": lambda: GaussianProcessClassifier(same).fit(scaled, y),
                        "the command": lambda: subprocess.run(fit, capture_output=True, check=True, env=one_core),
                        "its start": lambda: subprocess.run([program, "--version"], capture_output=True, check=True, env=one_core),
                    }.items():
                        who = resource.RUSAGE_SELF if what == "scikit-learn" else resource.RUSAGE_CHILDREN
                        before = cpu(who)
                        run()
                        least[what] = min(least.get(what, np.inf), cpu(who) - before)
            peer, own, start = least["scikit-learn"], least["the command"], least["its start"]
            print(f"{name:7s} {kernel:20s} scikit-learn {peer:.3f} s   lossep {own - start:.3f} s ({peer / (own - start):.1f} x), with its start {own:.3f} s ({peer / own:.1f} x)", flush=True)


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--lossep", required=True)
    a.add_argument("--folds", type=int, default=10)
    a.add_argument("--tables", default="iris,wine,digits")
    a.add_argument("--kernels", default="auto,rbf")
    a.add_argument("--flip", type=float, default=0)
    a.add_argument("--alone", action="store_true")
    a.add_argument("--times", action="store_true")
    a = a.parse_args()
    if a.times:
        return compare_times(a.lossep, a.tables.split(","))
    for name, x, true in tables(a.tables.split(",")):
        y = flipped(true, a.flip)
        number = int(y.max()) + 1
        costs = cost_matrix(number)
        found = {}
        with tempfile.TemporaryDirectory() as folder:
            for train, test in StratifiedKFold(a.folds, shuffle=True, random_state=1).split(x, y):
                ways = {
                    f"lossep, {kernel}": lambda kernel=kernel: by_lossep(a.lossep, kernel, Path(folder), x[train], y[train], x[test], number)
                    for kernel in a.kernels.split(",")
                } | ({} if a.alone else {
                    other(len(x))[0]: lambda: by_sklearn(other(len(x))[1], x[train], y[train], x[test], number),
                    "logistic regression": lambda: by_sklearn(make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)), x[train], y[train], x[test], number),
                })
                for way, run in ways.items():
                    p, seconds = run()
                    loss = -np.log(np.clip(p[np.arange(len(test)), y[test]], 1e-15, 1))
                    cost = costs[(p @ costs.T).argmin(1), y[test]]
                    old = found.setdefault(way, ([], [], [], []))
                    old[0].extend(loss), old[1].extend(cost), old[2].append(seconds), old[3].extend(p.argmax(1) != true[test])
        own = next(iter(found.values()))
        for way, (loss, cost, seconds, errors) in found.items():
            ends = [f"{np.mean(of):.4f} ({np.mean(d):+.4f} ± {d.std() / len(d) ** 0.5:.4f})" for of, d in ((of, np.array(of) - to) for of, to in zip((loss, cost), own))]
            print(f"{name:7s} {len(y):4d} rows {number} outcomes  {way:20s} log loss {ends[0]}   cost {ends[1]}   {np.mean(errors):.3f} errors   {min(seconds):.3f} s cpu a fit", flush=True)


if __name__ == "__main__":
    main()
