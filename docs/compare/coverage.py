"""Do intervals of expected costs hold? Of cases that a model has not seen, decided by `lossep decide`, subsets are
drawn: each expects a cost by its probabilities, with an interval of 95 % from the variance of its cases' costs. Prints
the share of the intervals that have the realised cost in them, and the slope of a logistic recalibration.

    python docs/compare/coverage.py decided.csv test.csv TARGET POSITIVE FN FP
"""

import sys

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

decided, test, target, positive, fn, fp = sys.argv[1:]
p = pd.read_csv(decided)["probability"].to_numpy()
y = (pd.read_csv(test, dtype=str)[target] == positive).to_numpy(int)
fn, fp = float(fn), float(fp)
act = p * fn > (1 - p) * fp
cost = np.where(act, fp * (1 - y), fn * y)
expected = np.where(act, fp * (1 - p), fn * p)
variance = np.where(act, fp**2, fn**2) * p * (1 - p)
logit = np.log(p / (1 - p))[:, None]
slope = LogisticRegression(C=1e6).fit(logit, y).coef_[0, 0]
loss = -np.mean(np.log(np.where(y == 1, p, 1 - p)))
print(f"{len(y):,} cases, log loss {loss:.4f}, slope {slope:.3f}; cost {cost.mean():.4f}, expected {expected.mean():.4f} ± {np.sqrt(variance.sum()) / len(y):.4f}")
rng = np.random.default_rng(1)
for size in (100, 300, 1000, 3000):
    held = []
    for _ in range(4000):
        rows = rng.choice(len(y), size, replace=False)
        held.append(abs(cost[rows].sum() - expected[rows].sum()) <= 1.96 * np.sqrt(variance[rows].sum()))
    print(f"{size:6,} cases: {100 * np.mean(held):.1f} % of intervals hold")
