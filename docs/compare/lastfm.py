"""Risks on Last.fm data as in the experiments of tkusmierczyk/lcvi (figure 2): logarithms of how often 1,000 users listened to 100
artists, half of the cells learned from and the others tested, split as there. The columns are the user and the artist.

    python lastfm.py --data lcvi/data/lastfm_data.csv --lossep lossep --work /tmp/lastfm
"""

import argparse
import csv
import resource
import subprocess
from pathlib import Path

import numpy as np


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--data", required=True)
    p.add_argument("--lossep", required=True)
    p.add_argument("--work", required=True)
    p.add_argument("--options", default=[], nargs=argparse.REMAINDER, help="of lossep fit")
    a = p.parse_args()
    work = Path(a.work)
    work.mkdir(parents=True, exist_ok=True)
    x = np.log1p(np.loadtxt(a.data, delimiter=",")[:1000, :100])
    np.random.seed(123)
    tested = np.random.choice([0, 1], x.shape, True) == 1
    for name, cells in ("train", ~tested), ("test", tested):
        with open(work / f"{name}.csv", "w") as f:
            f.write("user,artist,y\n" + "".join(f"u{i},a{j},{x[i, j]:.6g}\n" for i, j in np.argwhere(cells)))
    run = lambda *words: subprocess.run([a.lossep, *map(str, words)], check=True, stdout=subprocess.PIPE, text=True).stdout
    run("fit", work / "train.csv", "--target", "y", "--outcome", "number", "--categorical", "user,artist", "-o", work / "model.lossep", *a.options)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{used.ru_utime + used.ru_stime:.0f} s, {used.ru_maxrss / 1e6:.2f} GB")
    rows = list(csv.DictReader(run("predict", work / "model.lossep", work / "test.csv", "--quantiles", "0.2,0.5,0.8").splitlines()))
    y = x[tested]
    for q in 0.2, 0.5, 0.8:
        off = y - np.array([float(r[f"quantile_{q:g}"]) for r in rows])
        print(f"tilted {q:g}: {np.maximum(q * off, (q - 1) * off).mean():.4f}")
    print(f"squared: {((y - np.array([float(r['mean']) for r in rows])) ** 2).mean():.4f}")


if __name__ == "__main__":
    main()
