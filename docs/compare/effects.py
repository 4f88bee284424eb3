"""One grouping factor: lossep beside GPBoost's mixed model on simulated rows, in one run. Prints for
each seconds of wall and processor time to fit, log loss of other rows, and the standard deviation found
for the groups.

    pip install gpboost pandas
    go build -o lossep ./cmd/lossep
    python docs/compare/effects.py ./lossep [rows] [groups]
"""

import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

binary = Path(sys.argv[1]).resolve()
rows, groups = (int(sys.argv[k]) if len(sys.argv) > k else d for k, d in ((2, 100_000), (3, 5_000)))
SD = 0.8
rng = np.random.default_rng(1)
effect = SD * rng.standard_normal(groups)


def draw(n):
    g, x = rng.integers(groups, size=n), rng.standard_normal((n, 2))
    y = (effect[g] - 0.5 + 0.6 * x[:, 0] - 0.3 * x[:, 1] + rng.standard_normal(n) > 0).astype(int)
    return pd.DataFrame({"a": x[:, 0], "b": x[:, 1], "group": [f"g{k}" for k in g], "y": y})


def clock(work):
    use = lambda: sum(r.ru_utime + r.ru_stime for r in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))
    wall, cpu = time.perf_counter(), use()
    out = work()
    return out, time.perf_counter() - wall, use() - cpu


def judge(name, p, y, wall, cpu, sd):
    p = np.clip(p, 1e-12, 1 - 1e-12)
    loss = -np.mean(y * np.log(p) + (1 - y) * np.log1p(-p))
    print(f"{name:60s} {wall:7.1f} s {cpu:7.1f} s cpu   log loss {loss:.5f}   sd of groups {sd:.3f} (true {SD})", flush=True)


train, test = draw(rows), draw(50_000)
with tempfile.TemporaryDirectory() as folder:
    train.to_csv(f"{folder}/train.csv", index=False)
    test.to_csv(f"{folder}/test.csv", index=False)
    for kernel in ("constant + effects(auto)", "linear(ard) + constant + effects(group)", None):
        flags = ["--kernel", kernel] if kernel else []
        command = [binary, "fit", f"{folder}/train.csv", "--target", "y", "--cost", "fn=1,fp=1", "-o", f"{folder}/m", *flags]
        said, wall, cpu = clock(lambda: subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        sd = re.search(r"effects\(group\).*standard deviation ([0-9.]+)", said)
        subprocess.run([binary, "predict", f"{folder}/m", f"{folder}/test.csv", "-o", f"{folder}/p.csv"], capture_output=True, check=True)
        judge("lossep, " + (kernel or "default flags"), pd.read_csv(f"{folder}/p.csv")["probability"], test["y"], wall, cpu, float(sd[1]) if sd else np.nan)

import gpboost

design = lambda t: np.column_stack([np.ones(len(t)), t[["a", "b"]]])


def boosted():
    model = gpboost.GPModel(group_data=train["group"].to_numpy(), likelihood="bernoulli_probit")
    model.fit(y=train["y"].to_numpy(float), X=design(train))
    return model


model, wall, cpu = clock(boosted)
p = model.predict(group_data_pred=test["group"].to_numpy(), X_pred=design(test), predict_response=True)["mu"]
judge("GPBoost, GPModel, bernoulli_probit", p, test["y"], wall, cpu, float(np.sqrt(np.ravel(model.get_cov_pars())[0])))
