"""Flights in the order of days: a model of the first month decides on the days after it, as it is, updated every day
with the outcomes of the day, and updated with what is old counting less. Prints the cost per flight of each by week,
and of `lossep monitor` on the model that is not updated; draws both.

    pip install pandas pyarrow matplotlib
    go build -o lossep ./cmd/lossep
    python docs/compare/operating.py ./lossep DIR/flights-3m.parquet [every] [figure.svg]

The file is that of docs/compare/inducing.sh; every tenth flight is taken unless told otherwise. Being late costs 3 where
nobody was warned, a warning 1. The day is no column of the model: no training row has tomorrow's.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

binary, source = Path(sys.argv[1]).resolve(), sys.argv[2]
every = int(sys.argv[3]) if len(sys.argv) > 3 else 10
HALF_LIFE = 400_000 // every  # about four weeks

table = pd.read_parquet(source).rename(columns=str.lower)[::every]
when = pd.to_datetime(table["date"])
flights = pd.DataFrame({
    "date": when.dt.strftime("%Y-%m-%d"), "late": (table["delay"] >= 15).astype(int), "distance": table["distance"],
    "hour": when.dt.hour + when.dt.minute / 60, "weekday": when.dt.day_name().str[:3], "origin": table["origin"], "destination": table["destination"],
}).sort_values("date", kind="stable")
days = sorted(flights["date"].unique())
first, later = [d for d in days if d[:7] == days[0][:7]], [d for d in days if d[:7] != days[0][:7]]


def run(*command, codes=(0,)):
    done = subprocess.run([str(binary), *map(str, command)], capture_output=True, text=True)
    if done.returncode not in codes:
        sys.exit(done.stderr)
    return done.stdout


def cost(model, rows, folder):
    rows.drop(columns=["late", "date"]).to_csv(folder / "day.csv", index=False)
    run("predict", model, folder / "day.csv", "-o", folder / "p.csv")
    p, late = pd.read_csv(folder / "p.csv")["probability"].to_numpy(), rows["late"].to_numpy() == 1
    loss = -np.log(np.clip(np.where(late, p, 1 - p), 1e-12, 1))
    return np.where(late, 3.0 * (p <= 0.25), 1.0 * (p > 0.25)), loss


with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    flights[flights["date"].isin(first)].drop(columns="date").to_csv(folder / "first.csv", index=False)
    fixed, updated, fading = (folder / f"{kind}.lossep" for kind in ("fixed", "updated", "fading"))
    run("fit", folder / "first.csv", "--target", "late", "--positive", "1", "--cost", "fn=3,fp=1", "-o", fixed)
    for copy in (updated, fading):
        copy.write_bytes(fixed.read_bytes())
    found = []
    for day in later:
        rows = flights[flights["date"] == day]
        for kind, model in (("fixed", fixed), ("updated", updated), ("fading", fading)):
            costs, losses = cost(model, rows, folder)
            found.append(pd.DataFrame({"date": day, "model": kind, "cost": costs, "loss": losses}))
        rows.drop(columns="date").to_csv(folder / "outcomes.csv", index=False)
        run("update", updated, folder / "outcomes.csv", "-o", updated)
        run("update", fading, folder / "outcomes.csv", "-o", fading, "--half-life", HALF_LIFE)
    found = pd.concat(found)
    flights[flights["date"].isin(later)].to_csv(folder / "later.csv", index=False)
    flights[flights["date"].isin(first)].to_csv(folder / "reference.csv", index=False)
    watched = run("monitor", fixed, folder / "later.csv", "--reference", folder / "reference.csv", "--time", "date", "--window", "week", codes=(0, 3))

found["week"] = pd.to_datetime(found["date"]).dt.to_period("W-SUN").dt.start_time
weeks = found.groupby(["week", "model"])["cost"].agg(["mean", "sem"]).unstack("model")
print(weeks["mean"].round(4).to_string())
pairs = found.pivot_table(index=found.groupby("model").cumcount(), columns="model", values=["cost", "loss"])
for what in ("cost", "loss"):
    for kind in ("updated", "fading"):
        d = pairs[what][kind] - pairs[what]["fixed"]
        print(f"{what} per flight: fixed {pairs[what]['fixed'].mean():.4f}, {kind} {d.mean():+.4f} ± {d.sem():.4f}")
print(watched)
if len(sys.argv) > 4:
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 3.4), layout="constrained")
    for kind, words in (("fixed", "as fitted to January"), ("updated", "updated every day"), ("fading", "updated, half-life of four weeks")):
        mean, error = weeks["mean"][kind], 1.96 * weeks["sem"][kind]
        axes.plot(mean.index, mean, label=words)
        axes.fill_between(mean.index, mean - error, mean + error, alpha=0.2)
    axes.set_ylabel("cost per flight")
    axes.legend(frameon=False, loc=(0.07, 0.02))
    figure.savefig(sys.argv[4])
