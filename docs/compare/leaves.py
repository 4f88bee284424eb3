"""Large tables: lossep by default beside LightGBM with trees of 63, 255 and 1023 leaves, in one run. Prints
log loss of the other rows and seconds of processor time to fit; boosting gets texts as categories.

    pip install lightgbm pandas
    go build -o lossep ./cmd/lossep
    python docs/compare/leaves.py ./lossep train.csv test.csv late [63,255,1023] [trees]
"""

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import lightgbm
import numpy as np
import pandas as pd

binary, train, test, target = Path(sys.argv[1]).resolve(), *sys.argv[2:5]
leaves = [int(k) for k in (sys.argv[5] if len(sys.argv) > 5 else "63,255,1023").split(",")]
trees = int(sys.argv[6]) if len(sys.argv) > 6 else 500


def seconds():
    both = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(r.ru_utime + r.ru_stime for r in map(resource.getrusage, both))


def judge(name, p, took):
    p = np.clip(p, 1e-12, 1 - 1e-12)
    print(f"{name:40s} log loss {-np.mean(np.where(y == 1, np.log(p), np.log1p(-p))):.4f}   {took:7.1f} s", flush=True)


rows, others = pd.read_csv(train), pd.read_csv(test)
y = others[target].to_numpy()
with tempfile.TemporaryDirectory() as folder:
    before = seconds()
    subprocess.run([binary, "fit", train, "--target", target, "--positive", "1", "--cost", "fn=3,fp=1", "-o", f"{folder}/m"], capture_output=True, check=True)
    took = seconds() - before
    subprocess.run([binary, "predict", f"{folder}/m", test, "-o", f"{folder}/p.csv"], capture_output=True, check=True)
    judge("lossep, default flags", pd.read_csv(f"{folder}/p.csv")["probability"], took)
both = pd.concat([rows, others]).drop(columns=target)
both = both.astype({c: "category" for c in both if not pd.api.types.is_numeric_dtype(both[c])})
for number in leaves:
    before = seconds()
    model = lightgbm.LGBMClassifier(n_estimators=trees, num_leaves=number, n_jobs=2, random_state=1, verbose=-1)
    model.fit(both[: len(rows)], rows[target])
    took = seconds() - before
    judge(f"LightGBM, {number} leaves, {trees} trees", model.predict_proba(both[len(rows) :])[:, 1], took)
