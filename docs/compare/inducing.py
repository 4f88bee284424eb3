"""Many rows: lossep beside GPyTorch's SVGP, LightGBM, random forests and logistic
regression, on the same split in one run. Prints one line for each: seconds of wall time
and of processor time to fit, log loss, area under the curve, and mean cost on test rows.
"""

import argparse
import gzip
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd


def clock(work):
    """Runs work and returns what it returns with its wall and processor seconds."""
    use = lambda: sum(r.ru_utime + r.ru_stime for r in (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)))
    wall, cpu = time.perf_counter(), use()
    out = work()
    return out, time.perf_counter() - wall, use() - cpu


def judge(name, p, y, fn, fp, wall, cpu, note=""):
    from sklearn.metrics import log_loss, roc_auc_score

    p = np.clip(p, 1e-12, 1 - 1e-12)
    known = ~(np.isnan(fn) | np.isnan(fp))
    act = p * fn > (1 - p) * fp
    cost = np.where(act, (1 - y) * fp, y * fn)[known]
    error = cost.std() / np.sqrt(len(cost))
    print(f"{name:34s} {wall:8.1f} s {cpu:8.1f} s cpu   log loss {log_loss(y, p):.4f}   AUC {roc_auc_score(y, p):.4f}   cost {cost.mean():.4f} ± {error:.4f}   {note}", flush=True)


def lossep(a, train, test, target, flags=()):
    """Fits by the command and predicts the test rows."""
    folder = Path(a.work)
    train.to_csv(folder / "train.csv", index=False)
    test.to_csv(folder / "test.csv", index=False)
    model = folder / "model.lossep"
    command = [str(folder / "lossep"), "fit", str(folder / "train.csv"), "--target", target, "--cost", a.cost, "-o", str(model), "--max-memory", a.memory, *flags]
    said = {}

    def fit():
        # GNU time tells the largest resident set.
        r = subprocess.run(["/usr/bin/time", "-f", "%M", *command] if os.path.exists("/usr/bin/time") else command, capture_output=True, text=True)
        if r.returncode:
            sys.exit(r.stderr)
        said["out"], said["kb"] = r.stdout, r.stderr.strip().splitlines()[-1]

    _, wall, cpu = clock(fit)
    start = time.perf_counter()
    out = subprocess.run([str(folder / "lossep"), "predict", str(model), str(folder / "test.csv")], capture_output=True, text=True)
    if out.returncode:
        sys.exit(out.stderr)
    (folder / "predicted.csv").write_text(out.stdout)
    seconds = time.perf_counter() - start
    points = [line for line in said["out"].splitlines() if line.startswith(("inducing", "log evidence", "lower bound"))]
    for line in points:
        print("   ", line)
    note = f"{len(test) / seconds:,.0f} rows predicted a second"
    if said["kb"].isdigit():
        note += f", {int(said['kb']) / 1e6:.2f} GB to fit"
    return pd.read_csv(folder / "predicted.csv")["probability"].to_numpy(), wall, cpu, note


def standard(train, test):
    m, s = train.mean(0), train.std(0)
    s[s == 0] = 1
    return (train - m) / s, (test - m) / s


def svgp(x, y, t, points, epochs, batch=256):
    """GPyTorch's stochastic variational process: Matérn 3/2 with a length scale for each
    column, learnt inducing points, probit likelihood, Adam."""
    import gpytorch
    import torch

    torch.manual_seed(1)
    x, y, t = torch.tensor(x, dtype=torch.float32), torch.tensor(y, dtype=torch.float32), torch.tensor(t, dtype=torch.float32)

    class Process(gpytorch.models.ApproximateGP):
        def __init__(self, z):
            q = gpytorch.variational.CholeskyVariationalDistribution(z.size(0))
            super().__init__(gpytorch.variational.VariationalStrategy(self, z, q, learn_inducing_locations=True))
            self.mean_module = gpytorch.means.ConstantMean()
            self.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.MaternKernel(nu=1.5, ard_num_dims=z.size(1)))

        def forward(self, x):
            return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))

    model, likelihood = Process(x[torch.randperm(len(x))[:points]].clone()), gpytorch.likelihoods.BernoulliLikelihood()
    model.train(), likelihood.train()
    bound = gpytorch.mlls.VariationalELBO(likelihood, model, len(y))
    adam = torch.optim.Adam(list(model.parameters()) + list(likelihood.parameters()), lr=0.01)
    for _ in range(epochs):
        order = torch.randperm(len(x))
        for i in range(0, len(x), batch):
            rows = order[i : i + batch]
            adam.zero_grad()
            (-bound(model(x[rows]), y[rows])).backward()
            adam.step()
    model.eval(), likelihood.eval()
    with torch.no_grad():
        return np.concatenate([likelihood(model(t[i : i + 5000])).mean.numpy() for i in range(0, len(t), 5000)]).astype(float)


def peers(a, x, y, t, ty, fn, fp, svgps, forest=True):
    from sklearn.ensemble import RandomForestClassifier

    def boosted():
        import lightgbm

        model = lightgbm.LGBMClassifier(n_estimators=200, learning_rate=0.05, num_leaves=31, verbose=-1, random_state=1)
        return model.fit(x, y).predict_proba(t)[:, 1]

    p, wall, cpu = clock(boosted)
    judge("LightGBM, 200 trees", p, ty, fn, fp, wall, cpu)
    if forest:
        model = RandomForestClassifier(500, min_samples_leaf=3, n_jobs=-1, random_state=1)
        p, wall, cpu = clock(lambda: model.fit(x, y).predict_proba(t)[:, 1])
        judge("random forest, 500 trees", p, ty, fn, fp, wall, cpu)
    xs, ts = standard(x, t)
    for points, epochs, batch in svgps:
        p, wall, cpu = clock(lambda: svgp(xs, y, ts, points, epochs, batch))
        judge(f"SVGP, M = {points}, {epochs} epochs", p, ty, fn, fp, wall, cpu)


def mammography(a):
    table = pd.read_csv(a.table, header=None)
    table.columns = [f"x{i}" for i in range(6)] + ["y"]
    table["y"] = (table["y"].astype(str).str.strip("'") == "1").astype(int)
    for seed in a.seeds:
        print(f"mammography, 80/20, split {seed}")
        order = np.random.default_rng(seed).permutation(len(table))
        cut = len(table) * 4 // 5
        train, test = table.iloc[order[:cut]], table.iloc[order[cut:]]
        ty = test["y"].to_numpy()
        fn, fp = np.full(len(test), 50.0), np.full(len(test), 1.0)
        a.cost = "fn=50,fp=1"
        for name, flags in {"lossep, default flags": [], **({"lossep, --inducing 100": ["--inducing", "100"]} if a.more else {})}.items():
            p, wall, cpu, note = lossep(a, train, test, "y", flags)
            judge(name, p, ty, fn, fp, wall, cpu, note)
        x = [c for c in table.columns if c != "y"]
        peers(a, train[x].to_numpy(), train["y"].to_numpy(), test[x].to_numpy(), ty, fn, fp, [(100, 80, 256)] + ([(400, 80, 256)] if a.more else []))


def credit(a):
    import empulse
    from empulse.datasets._cost_matrices import credit_scoring_cost_matrix

    with gzip.open(Path(empulse.__file__).parent / "datasets/data/creditscoring1.csv.gz") as f:
        table = pd.read_csv(f).drop(columns="id")
    table = table.rename(columns=lambda c: "".join(ch for ch in c if ch.isalnum()))
    y = table["SeriousDlqin2yrs"].to_numpy()
    order = np.random.default_rng(1).permutation(len(table))
    cut = len(table) * 4 // 5
    train, test = table.iloc[order[:cut]], table.iloc[order[cut:]]
    # Costs of Bahnsen, Aouada and Ottersten (2014), which need an income.
    fn, fp = np.full(len(table), np.nan), np.full(len(table), np.nan)
    ok = ((table["MonthlyIncome"] > 0) & (table["DebtRatio"] < 1)).to_numpy()
    _, costs = credit_scoring_cost_matrix(table["MonthlyIncome"].to_numpy()[ok], table["DebtRatio"].to_numpy()[ok], y[ok],
                                          interest_rate=0.0479, fund_cost=0.0294, cl_max=25000, loss_given_default=0.75, term_length_months=24, loan_to_income_ratio=3)
    fn[ok], fp[ok] = 0.75 * costs["cl"], costs["fp_cost"]
    fn, fp, ty = fn[order[cut:]], fp[order[cut:]], y[order[cut:]]
    a.cost = "fn=5,fp=1"
    print("Give Me Some Credit, 120,000 training rows and 30,000 test rows")
    p, wall, cpu, note = lossep(a, train, test, "SeriousDlqin2yrs", ["--positive", "1", "--missing", "impute", *a.flags])
    judge("lossep, --missing impute " + " ".join(a.flags), p, ty, fn, fp, wall, cpu, note)
    fill = train.median()
    x, t = train.fillna(fill).drop(columns="SeriousDlqin2yrs"), test.fillna(fill).drop(columns="SeriousDlqin2yrs")
    peers(a, x.to_numpy(float), y[order[:cut]], t.to_numpy(float), ty, fn, fp, [], forest=False)
    from sklearn.preprocessing import QuantileTransformer

    scores = QuantileTransformer(output_distribution="normal", random_state=1).fit(x)
    x, t = scores.transform(x), scores.transform(t)
    p, wall, cpu = clock(lambda: svgp(*(lambda s: (s[0], y[order[:cut]], s[1]))(standard(x, t)), 100, a.epochs, 1024))
    judge("SVGP on normal scores, M = 100", p, ty, fn, fp, wall, cpu, f"{a.epochs} epochs")


def flights(a):
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import OneHotEncoder

    table = pd.read_parquet(Path(a.work) / "flights-3m.parquet").rename(columns=str.lower)
    when = pd.to_datetime(table["date"])
    table = pd.DataFrame({
        "late": (table["delay"] >= 15).astype(int), "distance": table["distance"], "hour": when.dt.hour + when.dt.minute / 60,
        "weekday": when.dt.day_of_week.map(dict(enumerate("Mon Tue Wed Thu Fri Sat Sun".split()))), "day": when.dt.day_of_year,
        "origin": table["origin"], "destination": table["destination"],
    })
    order = np.random.default_rng(1).permutation(len(table))
    test, train = table.iloc[order[:100_000]], table.iloc[order[100_000 : 100_000 + a.rows]]
    ty = test["late"].to_numpy()
    fn, fp = np.full(len(test), 3.0), np.full(len(test), 1.0)
    a.cost = "fn=3,fp=1"
    print(f"US flights, {len(train):,} training rows and 100,000 test rows; {100 * table['late'].mean():.1f} % late")
    p, wall, cpu, note = lossep(a, train, test, "late", ["--positive", "1", *a.flags])
    judge("lossep " + " ".join(a.flags), p, ty, fn, fp, wall, cpu, note)

    names, numbers = ["weekday", "origin", "destination"], ["distance", "hour", "day"]

    def logistic():
        # The hour as a category too: late flights are no linear function of it.
        hours = lambda t: t[names].assign(hour=np.floor(t["hour"]))
        one = OneHotEncoder(handle_unknown="ignore").fit(hours(train))
        import scipy.sparse

        m, s = train[numbers].mean(), train[numbers].std()
        design = lambda t: scipy.sparse.hstack([one.transform(hours(t)), scipy.sparse.csr_matrix((t[numbers] - m) / s)]).tocsr()
        return LogisticRegression(max_iter=200).fit(design(train), train["late"]).predict_proba(design(test))[:, 1]

    def boosted():
        import lightgbm

        both = [t.drop(columns="late").astype({c: "category" for c in names}) for t in (train, test)]
        for c in names:
            both[1][c] = both[1][c].cat.set_categories(both[0][c].cat.categories)
        model = lightgbm.LGBMClassifier(n_estimators=300, learning_rate=0.1, num_leaves=63, verbose=-1, random_state=1)
        return model.fit(both[0], train["late"]).predict_proba(both[1])[:, 1]

    for name, work in {"logistic regression, one-hot": logistic, "LightGBM, 300 trees": boosted}.items():
        p, wall, cpu = clock(work)
        judge(name, p, ty, fn, fp, wall, cpu)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["mammography", "credit", "flights"])
    parser.add_argument("--work", required=True)
    parser.add_argument("--table", default="mammography.csv")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--rows", type=int, default=2_900_000)
    parser.add_argument("--memory", default="2GB")
    parser.add_argument("--epochs", type=int, default=10, help="of SVGP on Give Me Some Credit")
    parser.add_argument("--more", action="store_true", help="more settings of lossep and of SVGP")
    parser.add_argument("--flags", nargs=argparse.REMAINDER, default=[], help="further flags of lossep fit")
    arguments = parser.parse_args()
    globals()[arguments.what](arguments)
