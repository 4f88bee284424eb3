"""What the package adds to the program's own time: python compare/overhead.py.

Prints medians, as times and as ratios within one run. The program is run as a command on the
same rows in a CSV file, and says itself how long it computes.
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import make_classification

import lossep
from lossep import _worker
from lossep._binary import binary

warnings.simplefilter("ignore")


def seconds(work, times: int) -> float:
    """The median of several runs."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return float(np.median(taken))


def write(path: Path, X: np.ndarray, y: np.ndarray | None = None) -> None:
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow([f"x{k}" for k in range(X.shape[1])] + ([] if y is None else ["outcome"]))
        for i, row in enumerate(X):
            rows.writerow([*map(repr, map(float, row)), *([] if y is None else [y[i]])])


def main() -> None:
    X, y = make_classification(1000, 20, n_informative=6, flip_y=0.1, random_state=0)
    many = np.random.default_rng(0).normal(size=(100_000, 20))
    with tempfile.TemporaryDirectory() as folder:
        table, rows, model = Path(folder) / "train.csv", Path(folder) / "rows.csv", Path(folder) / "model"
        write(table, X, y)
        write(rows, many)
        options = {"kernel": "rbf", "method": "ep", "inducing": "none"}
        flags = [part for name, value in options.items() for part in (f"--{name}", value)]

        estimator = lossep.LossepClassifier(cost="fn=5,fp=1", **options).fit(X, y)  # starts the worker
        fits, asked, commands = [], [], []
        for _ in range(5):
            start = time.perf_counter()
            estimator.fit(X, y)
            fits.append(time.perf_counter() - start)
            asked.append(estimator.model_.description["seconds"])
            report = subprocess.run(
                [binary(), "fit", table, "--target", "outcome", "--cost", "fn=5,fp=1", "-o", model, "--format", "json", *flags],
                check=True,
                capture_output=True,
            ).stdout
            commands.append(json.loads(report)["seconds"])
        python, worker, command = (1e3 * np.median(taken) for taken in (fits, asked, commands))
        print(f"fit, 1000 rows: {python:.0f} ms in Python, of which the worker computes {worker:.0f} ms")
        print(f"  the command says {command:.0f} ms")
        print(f"  added by Python: {1e3 * np.median(np.subtract(fits, asked)):.1f} ms")
        assert estimator.model_.file == model.read_bytes(), "the same model, byte for byte"

        one = X[:1]
        estimator.predict_proba(one)
        print(f"predict_proba, one row: {1e3 * seconds(lambda: estimator.predict_proba(one), 500):.3f} ms median of 500")

        whole, inside = [], []
        ask = _worker.Worker.ask

        def timed(self, *arguments, **named):
            reply = ask(self, *arguments, **named)
            inside.append(reply.result.get("seconds", 0.0))
            return reply

        _worker.Worker.ask = timed
        for _ in range(5):
            start = time.perf_counter()
            estimator.predict_proba(many)
            whole.append(time.perf_counter() - start)
        _worker.Worker.ask = ask
        command = seconds(
            lambda: subprocess.run(
                [binary(), "predict", model, rows, "-o", Path(folder) / "out.csv"], check=True, capture_output=True
            ),
            3,
        )
        python, worker = 1e3 * np.median(whole), 1e3 * np.median(inside)
        print(f"predict_proba, 100,000 × 20: {python:.0f} ms in Python, of which the worker computes {worker:.0f} ms")
        print(f"  ratio {np.median(np.divide(whole, inside)):.2f}; the command with its files takes {1e3 * command:.0f} ms")


if __name__ == "__main__":
    sys.exit(main())
