"""What ordering costs in many rows: lossep beside LightGBM's quantile regression (500 trees at a rate of 0.05, stores
and products as categories) on the bakery and store-item tables of the PyPI package ddop 0.7.6. The first 75 % of the rows
by date are learned from. Prints the mean cost of a case with the standard errors of the paired difference where rows and
where days are independent, the share of outcomes below what is ordered, how many outcomes lie in 90 % intervals,
processor seconds and memory.

    python demand.py --data ddop/datasets/data --lossep lossep --work /tmp/demand --table bakery --costs 3:1 9:1
"""

import argparse
import csv
import resource
import subprocess
import time
from pathlib import Path

import numpy as np
import pandas as pd
from lightgbm import LGBMRegressor

TABLES = {"bakery": ("bakery", "demand", ["store", "product"]), "store-item": ("SID", "sales", ["store", "item"])}


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--data", required=True, help="the folder of ddop's tables")
    p.add_argument("--lossep", required=True)
    p.add_argument("--work", required=True)
    p.add_argument("--table", choices=TABLES, required=True)
    p.add_argument("--costs", nargs="+", default=["3:1", "9:1"], help="under:over")
    p.add_argument("--validate", action="store_true", help="with training rows alone: those up to a year before the test rows are learned from, and what follows is tested")
    p.add_argument("--model", help="a model that has been fitted to the training rows")
    p.add_argument("--options", default=[], nargs=argparse.REMAINDER, help="of lossep fit")
    a = p.parse_args()
    name, target, categories = TABLES[a.table]
    work = Path(a.work)
    work.mkdir(parents=True, exist_ok=True)
    data = pd.read_csv(Path(a.data) / f"{name}_data.csv").assign(**{target: pd.read_csv(Path(a.data) / f"{name}_target.csv")[target]})
    data = data.sort_values("date", kind="stable")
    cut = int(0.75 * len(data))
    if a.validate:
        date = pd.to_datetime(data["date"]) + pd.DateOffset(years=1)
        data, cut = data[:cut][date[:cut] <= date.max() - pd.DateOffset(years=1)], int((date <= pd.to_datetime(data["date"].iloc[cut])).sum())
    day = data.pop("date")[cut:]
    train, test = data[:cut], data[cut:]
    train.to_csv(work / "train.csv", index=False)
    test.to_csv(work / "test.csv", index=False)
    run = lambda *words: subprocess.run([a.lossep, *map(str, words)], check=True, stdout=subprocess.PIPE, text=True).stdout
    model = a.model or work / f"{a.table}.lossep"
    if not a.model:
        run("fit", work / "train.csv", "--target", target, "--outcome", "number", "--categorical", ",".join(categories), "-o", model, *a.options)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        print(f"{a.table}: {len(train)} rows, lossep {used.ru_utime + used.ru_stime:.0f} s, {used.ru_maxrss / 1e6:.2f} GB")
    read = lambda text: list(csv.DictReader(text.splitlines()))
    quantiles = read(run("predict", model, work / "test.csv", "--quantiles", "0.05,0.95"))
    y = test[target].to_numpy(float)
    inside = np.mean([float(r["quantile_0.05"]) <= v <= float(r["quantile_0.95"]) for r, v in zip(quantiles, y)])
    print(f"{100 * inside:.1f} % of outcomes in 90 % intervals")
    x = data.drop(columns=target)
    for c in x.columns:
        if c in categories or not pd.api.types.is_numeric_dtype(x[c]):
            x[c] = x[c].astype("category")
    for costs in a.costs:
        under, over = map(float, costs.split(":"))
        cost = lambda action: np.maximum(under * (y - action), over * (action - y))
        action = np.array([float(r["action"]) for r in read(run("decide", model, work / "test.csv", "--cost", f"under={under:g},over={over:g}"))])
        began = time.process_time()
        trees = LGBMRegressor(objective="quantile", alpha=under / (under + over), n_estimators=500, learning_rate=0.05, verbose=-1, random_state=1, n_jobs=1)
        quantile = trees.fit(x[: len(train)], train[target]).predict(x[len(train) :])
        own, other = cost(action), cost(quantile)
        error = (other - own).std(ddof=1) / np.sqrt(len(own))
        of_days = np.sqrt(pd.Series(other - own - (other - own).mean()).groupby(day.to_numpy()).sum().pow(2).sum()) / len(own)
        print(f"{costs:5} lossep {own.mean():.3f}, LightGBM {other.mean():.3f} ({time.process_time() - began:.0f} s): {other.mean() - own.mean():+.3f} ± {error:.3f}, of days ± {of_days:.3f}; {100 * np.mean(y <= action):.1f} and {100 * np.mean(y <= quantile):.1f} % of outcomes are no more", flush=True)


if __name__ == "__main__":
    main()
