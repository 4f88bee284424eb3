"""Many rows of three outcomes: lossep beside multinomial logistic regression.

Makes a table with the structure of the flights of flights.py (an airport, a carrier, an hour, a
day, a month, a distance; on time, late or very late by functions of the hour, the season and
the airport that do not add up) and fits both to it:

    python docs/compare/outcomes_many.py DIR --lossep ./lossep [--rows 300000]

needs scikit-learn, pandas and numpy. Times are of the processor, in seconds.
"""

import argparse
import resource
import subprocess
import time
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

OUTCOMES = ["late", "on time", "very late"]


def make(rows, seed):
    rng = np.random.default_rng(seed)
    airport, carrier = rng.integers(0, 60, rows), rng.integers(0, 12, rows)
    hour, day, month = rng.uniform(5, 24, rows), rng.integers(1, 8, rows), rng.integers(1, 13, rows)
    distance = rng.gamma(2, 600, rows)
    size, storms, care = rng.normal(0, 0.5, 60), rng.uniform(0, 2, 60), rng.normal(0, 0.4, 12)
    busy = np.exp(-((hour - 18) ** 2) / 12) + 0.5 * np.exp(-((hour - 8) ** 2) / 3)
    summer = np.exp(-((month - 7) ** 2) / 3)
    late = -1.2 + 1.5 * busy + size[airport] + care[carrier] + 0.3 * np.isin(day, [5, 7])
    very = -2.2 + 2 * busy * summer + storms[airport] * summer + care[carrier] + 0.2 * np.sin(distance / 300)
    values = np.stack([late, np.zeros(rows), very], axis=1) + rng.normal(size=(rows, 3))
    table = pd.DataFrame({"airport": [f"A{a}" for a in airport], "carrier": [f"C{c}" for c in carrier], "hour": hour.round(2),
                          "day": [f"D{d}" for d in day], "month": month, "distance": distance.round(0)})
    table["arrival"] = np.array(OUTCOMES)[values.argmax(axis=1)]
    return table


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("dir", type=Path)
    parser.add_argument("--lossep", default="lossep")
    parser.add_argument("--rows", type=int, default=300_000)
    args = parser.parse_args()
    args.dir.mkdir(exist_ok=True)
    table = make(args.rows + 50_000, 1)
    train, test = table[: args.rows], table[args.rows :]
    train.to_csv(args.dir / "train.csv", index=False)
    test.to_csv(args.dir / "test.csv", index=False)

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    model = args.dir / "many.lossep"
    subprocess.run([args.lossep, "fit", args.dir / "train.csv", "--target", "arrival", "--max-memory", "2GB", "-o", model], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    out = subprocess.run([args.lossep, "predict", model, args.dir / "test.csv"], check=True, capture_output=True, text=True).stdout
    (args.dir / "predicted.csv").write_text(out)
    predicted = pd.read_csv(args.dir / "predicted.csv")
    p = predicted[[f"probability_{name}" for name in OUTCOMES]].to_numpy()
    print(f"lossep: log loss {log_loss(test.arrival, p, labels=OUTCOMES):.4f}, {after.ru_utime - before.ru_utime:.0f} s, {after.ru_maxrss / 1e6:.2f} GB")

    start = time.process_time()
    encode = make_column_transformer((OneHotEncoder(), ["airport", "carrier", "day", "month"]), remainder=StandardScaler())
    logistic = make_pipeline(encode, LogisticRegression(max_iter=500)).fit(train.drop(columns="arrival"), train.arrival)
    p = logistic.predict_proba(test.drop(columns="arrival"))
    print(f"logistic regression: log loss {log_loss(test.arrival, p, labels=logistic.classes_):.4f}, {time.process_time() - start:.0f} s")


if __name__ == "__main__":
    main()
