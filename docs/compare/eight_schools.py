"""Risks of eight schools as Kuśmierczyk, Sakaya and Klami (2019) have them: tilted loss with q = 0.2 of the 0.2 quantile of what
would be measured once more in each school, on the outcomes that are learned from. lossep by each method, given the standard errors
(--noise-sd), beside the exact posterior of their model by quadrature, with their prior of the common mean and with a flat one.

    python eight_schools.py --lossep lossep --work /tmp/schools
"""

import argparse
import json
import subprocess
from pathlib import Path

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

Y = np.array([28, 8, -3, 7, -1, 1, 18, 12], float)
SIGMA = np.array([15, 10, 16, 11, 9, 11, 10, 18], float)
Q = 0.2
METHODS = ["ep", "vi", "loss-ep", "loss-vi"]


def risk(h):
    return np.maximum(Q * (Y - h), (Q - 1) * (Y - h)).mean()


def exact(prior):
    """Of theta_j ~ N(mu, tau²), tau half Cauchy with scale 5 and mu ~ N(0, prior²): given tau all is normal."""
    tau = np.linspace(0.005, 200, 40_000)
    spread = SIGMA**2 + tau[:, None] ** 2
    precision = (1 / spread).sum(1) + prior**-2.0
    mu = (Y / spread).sum(1) / precision
    log = -0.5 * np.log(spread).sum(1) - 0.5 * np.log(precision) + 0.5 * mu**2 * precision - 0.5 * (Y**2 / spread).sum(1) - np.log1p((tau / 5) ** 2)
    weights = np.exp(log - log.max())
    weights /= weights.sum()
    h = []
    for y, s in zip(Y, SIGMA):
        share = tau**2 / (tau**2 + s**2)  # of the school's own outcome
        mean, variance = share * y + (1 - share) * mu, share * s**2 + (1 - share) ** 2 / precision + s**2
        h.append(brentq(lambda x: weights @ norm.cdf((x - mean) / np.sqrt(variance)) - Q, -200, 200))
    return risk(np.array(h))


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--lossep", required=True)
    p.add_argument("--work", required=True)
    a = p.parse_args()
    work = Path(a.work)
    work.mkdir(parents=True, exist_ok=True)
    rows = "".join(f"{school},{s:g},{y:g}\n" for school, s, y in zip("ABCDEFGH", SIGMA, Y))
    for name in ("schools.csv", "same.csv"):
        (work / name).write_text("school,error,effect\n" + rows)
    # Of a column of categories alone, two schools are as far apart as any others: a common part and one of each school.
    words = ["audit", "schools.csv", "--test", "same.csv", "--target", "effect", "--noise-sd", "error", "--categorical", "school", "--kernel", "rbf + constant", "--cost", f"under={Q},over={1 - Q}", "--methods", ",".join(METHODS), "--format", "json", "--out", "audit"]
    found = json.loads(subprocess.run([a.lossep, *words], check=True, stdout=subprocess.PIPE, text=True, cwd=work).stdout)
    for m in found["methods"]:
        print(f"{m['name']:30} {m['cost']:.3f}")
    print(f"exact, mu ~ N(0, 5²)           {exact(5):.3f}\nexact, mu ~ N(0, 1e6²)         {exact(1e6):.3f}")


if __name__ == "__main__":
    main()
