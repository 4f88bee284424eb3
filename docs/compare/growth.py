"""Processor time and log loss of a default fit against the number of rows.

    growth.py LOSSEP FOLDER [--kinds smooth,weak,all] [--sizes 300,1000,2000,5000,20000]

makes tables of eleven numeric columns in FOLDER, fits the first rows of each by the program LOSSEP with default
flags and GOMAXPROCS=2, and prints user seconds of the fit and the log loss of the last 10,000 of 30,000 rows with its
standard error. It needs NumPy.
"""

import argparse
import csv
import os
import resource
import subprocess
from pathlib import Path

import numpy as np

COLUMNS, ROWS, TEST = 11, 30_000, 10_000


def table(kind, seed=1):
    """Neighbouring columns are correlated by 0.4; log odds are a smooth function of some columns, or of all."""
    r = np.random.default_rng(seed)
    x = r.standard_normal((ROWS, COLUMNS))
    for j in range(1, COLUMNS):
        x[:, j] = 0.4 * x[:, j - 1] + np.sqrt(1 - 0.4**2) * x[:, j]
    if kind == "smooth":
        f = 1.5 * x[:, 0] + 1.2 * np.sin(2 * x[:, 1]) + x[:, 2] * x[:, 3] + 0.8 * (x[:, 4] ** 2 - 1) - x[:, 5] + 0.5 * x[:, 6]
        f = 2 * f - 3
    elif kind == "weak":
        f = 0.8 * x[:, 0] - 0.5 * x[:, 1] + 0.4 * x[:, 2] * x[:, 3] + 0.3 * np.sin(2 * x[:, 4]) - 1
    else:
        w, b, v = r.standard_normal((COLUMNS, 20)) / np.sqrt(COLUMNS), r.standard_normal(20), r.standard_normal(20)
        f = 1.5 * np.tanh(1.5 * x @ w + b) @ v
    return x, r.random(ROWS) < 1 / (1 + np.exp(-f))


def write(path, x, y):
    with path.open("w") as f:
        print(*(f"x{j}" for j in range(COLUMNS)), "y", sep=",", file=f)
        for row, yes in zip(x, y):
            print(*(f"{v:.5f}" for v in row), "yes" if yes else "no", sep=",", file=f)


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("lossep")
    a.add_argument("folder", type=Path)
    a.add_argument("--kinds", default="smooth,weak,all")
    a.add_argument("--sizes", default="300,1000,2000,5000,20000")
    a = a.parse_args()
    a.folder.mkdir(parents=True, exist_ok=True)
    os.environ["GOMAXPROCS"] = "2"
    for kind in a.kinds.split(","):
        x, y = table(kind)
        test = a.folder / f"{kind}.test.csv"
        write(test, x[-TEST:], y[-TEST:])
        for n in map(int, a.sizes.split(",")):
            train, model = a.folder / f"{kind}.{n}.csv", a.folder / f"{kind}.{n}.lossep"
            write(train, x[:n], y[:n])
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            fit = [a.lossep, "fit", train, "--target", "y", "--positive", "yes", "--cost", "fn=5,fp=1", "-o", model]
            subprocess.run(fit, check=True, capture_output=True)
            seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
            out = subprocess.run([a.lossep, "predict", model, test], check=True, capture_output=True, text=True).stdout
            p = np.array([float(row["probability"]) for row in csv.DictReader(out.splitlines())])
            loss = -np.log(np.clip(np.where(y[-TEST:], p, 1 - p), 1e-12, 1))
            print(f"{kind:6s} {n:6d} rows  {seconds:6.1f} s  log loss {loss.mean():.4f} ± {loss.std() / TEST**0.5:.4f}", flush=True)


main()
