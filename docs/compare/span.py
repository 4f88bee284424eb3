"""A default fit from two rows to three million: processor time, clock, memory and log loss.

    span.py LOSSEP FOLDER [--rows 2,10,100,1000,10000,100000,1000000,3000000] [--columns 10] [--tests 50000]

simulates tables in FOLDER by ./large (so it needs Go, and GNU time), fits each by the program LOSSEP with default flags and
GOMAXPROCS=2, predicts other rows (of another seed), and prints a line for each table: seconds of the processor and of
the clock and the largest resident memory of the fit, inducing points, the size of the model, microseconds of the
processor for each row predicted (among them those to read and write it), and log loss. The first line of output
has the log loss of the probabilities that outcomes are drawn by.
"""

import argparse
import csv
import math
import os
import re
import subprocess
import tempfile
from pathlib import Path

HERE = Path(__file__).parent


def simulate(path, rows, columns, seed):
    if not path.exists():
        program = ["go", "run", "-C", HERE, "./large", "-rows", rows, "-columns", columns, "-seed", seed, path.absolute()]
        subprocess.run(list(map(str, program)), check=True)


def run(*command):
    """What it prints, and the seconds of the processor, those of the clock and the bytes that it took."""
    # What wait4 says of memory is at least what this process has.
    with tempfile.NamedTemporaryFile("r") as used:
        time = ["/usr/bin/time", "-q", "-f", "%U %S %e %M", "-o", used.name]
        p = subprocess.run(time + list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if p.returncode != 0:
            raise SystemExit(p.stdout)
        user, system, clock, memory = map(float, used.read().split())
    return p.stdout, user + system, clock, 1024 * memory


def log_loss(rows, probability):
    """The mean, and its standard error."""
    of = [-math.log(max(1e-300, p if r["y"] == "1" else 1 - p)) for r, p in zip(rows, map(probability, rows))]
    mean = sum(of) / len(of)
    return mean, math.sqrt(sum((l - mean) ** 2 for l in of)) / len(of)


def truth(row):
    """By ./large."""
    x = [float(row[f"x{j}"]) for j in range(1, 6)]
    latent = -1.3 + 0.8 * x[0] - 0.5 * x[1] + 0.6 * math.sin(2 * x[2]) + 0.4 * x[3] * x[4]
    return math.erfc(-latent / math.sqrt(2)) / 2


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("lossep", type=Path)
    a.add_argument("folder", type=Path)
    a.add_argument("--rows", default="2,10,100,1000,10000,100000,1000000,3000000")
    a.add_argument("--columns", type=int, default=10)
    a.add_argument("--tests", type=int, default=50_000)
    a = a.parse_args()
    a.folder.mkdir(parents=True, exist_ok=True)
    os.environ["GOMAXPROCS"] = "2"
    test, predicted = a.folder / "test.parquet", a.folder / "predicted.csv"
    simulate(test, a.tests, a.columns, 2)
    for k, n in enumerate(map(int, a.rows.split(","))):
        table, model = a.folder / f"{n}.parquet", a.folder / f"{n}.lossep"
        simulate(table, n, a.columns, 1)
        said, processor, clock, memory = run(a.lossep, "fit", table, "--target", "y", "--cost", "fn=5,fp=1", "-o", model)
        points = re.search(r"^inducing points +(\d+)", said, re.M)
        _, each, _, _ = run(a.lossep, "predict", model, test, "--keep", "-o", predicted)
        with predicted.open() as f:
            rows = list(csv.DictReader(f))
        if k == 0:
            print("the true probabilities: log loss {:.4f} ± {:.4f}".format(*log_loss(rows, truth)))
        mean, error = log_loss(rows, lambda r: float(r["probability"]))
        print(
            f"{n:9,d} rows  {processor:7.2f} s  {clock:7.2f} s  {memory / 1e6:6.0f} MB  "
            f"{points[1] if points else '-':>4s} points  {model.stat().st_size / 1e6:7.3f} MB  "
            f"{1e6 * each / a.tests:5.1f} us  log loss {mean:.4f} ± {error:.4f}",
            flush=True,
        )


main()
