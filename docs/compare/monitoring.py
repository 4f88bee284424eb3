"""What decisions are estimated to cost before outcomes are known: lossep monitor beside CBPE of NannyML.

The tables that come with NannyML (0.13.1): a model is fitted to a sample of the first half of the reference period, the
second half is the reference of both, and the outcomes of the analysis period are only looked at in the end. Both see the
same probabilities and decisions. Prints the mean absolute error per chunk and how many intervals hold, for chunks of
each size; standardised errors z = (realised − centre of the interval)/(half of its width/1.96), which are standard normal where
intervals are right; and how likely right intervals are to hold in 90 to 97 % of chunks.

    python monitoring.py path/to/lossep folder [2000 1000 500] [table ...]

Tables and sizes may be run one after another with the same folder: what is said of all of them is of the files there.
"""

import os
import subprocess
import sys
import warnings
from pathlib import Path

os.environ["NML_DISABLE_USAGE_LOGGING"] = "1"  # before it is imported

import nannyml
import numpy
import pandas

warnings.filterwarnings("ignore")
PROGRAM, FOLDER = sys.argv[1], Path(sys.argv[2])
ROWS, ALL = 3000, [2000, 1000, 500]
SIZES = [int(n) for n in sys.argv[3:] if n.isdigit()] or ALL
TABLES = {
    "car loan": (nannyml.load_synthetic_car_loan_dataset, "repaid", "0", ["timestamp", "y_pred_proba", "y_pred"]),
    "employment": (nannyml.load_us_census_ma_employment_data, "employed", "0", ["year", "prediction", "predicted_probability"]),
    "multiclass": (nannyml.load_synthetic_multiclass_classification_dataset, "y_true", None, ["timestamp", "y_pred"]),
    # The next is where intervals around the estimate were found too narrow; no choice was made with housing.
    "home work": (nannyml.load_synthetic_binary_classification_dataset, "work_home_actual", "1", ["timestamp", "period"]),
    "housing": (nannyml.load_modified_california_housing_dataset, "clf_target", "1", ["timestamp"]),
}


BAR, DRAWS = (0.90, 0.97), 20_000


def run(*words):
    subprocess.run([PROGRAM, *map(str, words)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


ASKED = [name for name in TABLES if name in sys.argv[3:]] or list(TABLES)
for name in ASKED:
    load, target, positive, drop = TABLES[name]
    reference, analysis, truth = load()
    analysis = analysis.merge(truth, on="id")
    drop = [c for c in reference.columns if c in drop or c.startswith("y_pred")]
    for frame in (reference, analysis):
        frame[target] = [t if isinstance(t, str) else str(int(t)) for t in frame[target]]
    reference, analysis = reference.drop(columns=drop), analysis.drop(columns=drop)
    first, second = reference.iloc[: len(reference) // 2], reference.iloc[len(reference) // 2 :]
    files = {k: FOLDER / f"{k}.csv" for k in ("fit", "reference", "analysis", "decided", "before")}
    first.sample(min(ROWS, len(first)), random_state=1).to_csv(files["fit"], index=False)
    second.to_csv(files["reference"], index=False)
    analysis.drop(columns=target).to_csv(files["analysis"], index=False)
    costs = ["--positive", positive, "--cost", "fn=3,fp=1"] if positive else []
    model = FOLDER / "model.lossep"
    run("fit", files["fit"], "--target", target, "--id", "id", *costs, "--inducing", 200, "--kernel", "matern32 + linear + constant", "-o", model)
    run("decide", model, files["analysis"], "-o", files["decided"])
    run("decide", model, files["reference"], "-o", files["before"])

    decided, before = pandas.read_csv(files["decided"]), pandas.read_csv(files["before"])
    outcomes = sorted(set(reference[target]))
    if positive:  # CBPE takes the positive class as 1
        frames = [
            pandas.DataFrame({"p": d["probability"], "action": (d["action"] == "positive").astype(int), "y": (y[target] == positive).astype(int)})
            for d, y in ((before, second.reset_index()), (decided, analysis))
        ]
        cost = numpy.where(frames[1]["y"] == 1, 3 * (1 - frames[1]["action"]), frames[1]["action"])
        settings = {"problem_type": "classification_binary", "y_pred_proba": "p", "metrics": ["business_value"], "business_value_matrix": [[0, -1], [-3, 0]]}
        column, turn = "business_value", lambda v, size: -v / size
    else:
        frames = [
            pandas.DataFrame({**{f"p_{o}": d[f"probability_{o}"] for o in outcomes}, "action": d["action"], "y": y[target].values})
            for d, y in ((before, second), (decided, analysis))
        ]
        cost = (frames[1]["action"] != frames[1]["y"]).to_numpy().astype(float)
        settings = {"problem_type": "classification_multiclass", "y_pred_proba": {o: f"p_{o}" for o in outcomes}, "metrics": ["accuracy"]}
        column, turn = "accuracy", lambda v, size: 1 - v
    for size in SIZES:
        run("monitor", model, files["analysis"], "--reference", files["reference"], "--window", size, "--tolerance", 0.99, "--out", FOLDER / "watch")
        (FOLDER / "watch" / "windows.csv").replace(FOLDER / f"{name}.{size}.windows.csv")
        chunks = len(cost) // size  # that are full
        ours = pandas.read_csv(FOLDER / f"{name}.{size}.windows.csv")[:chunks]
        cbpe = nannyml.CBPE(y_true="y", y_pred="action", chunk_size=size, **settings)
        theirs = cbpe.fit(frames[0]).estimate(frames[1]).filter(period="analysis").to_df()[column][:chunks]
        realised = cost[: chunks * size].reshape(chunks, size).mean(axis=1)
        estimate, *bounds = (turn(theirs[k].to_numpy(), size) for k in ("value", "lower_confidence_boundary", "upper_confidence_boundary"))
        inside = lambda low, high: ((low <= realised) & (realised <= high)).mean()  # noqa: E731, B023
        error = lambda v: numpy.abs(v - realised).mean()  # noqa: E731, B023
        centre, deviation = (ours["low"] + ours["high"]) / 2, (ours["high"] - ours["low"]) / 2 / 1.96
        chunk = {"realised": realised, "cbpe": estimate, "ours": ours["estimated"], "z": (realised - centre) / deviation, "deviation": deviation}
        pandas.DataFrame(chunk).to_csv(FOLDER / f"{name}.{size}.chunks.csv")
        print(
            f"{name}: {chunks} chunks of {size}, realised {realised.mean():.4f}; mean absolute error lossep {error(ours['estimated']):.5f}, "
            f"model alone {error(ours['expected']):.5f}, CBPE {error(estimate):.5f}; intervals hold: lossep {inside(ours['low'], ours['high']):.3f}, "
            f"CBPE {inside(*numpy.sort(bounds, axis=0)):.3f}; effective reference {ours['effective_reference'].median():.0f} of {len(second)}",
            flush=True,
        )


def shared(name):
    """The variance that chunks of a table have in common: chance is as much less as chunks are larger, and the rest is of the reference."""
    low, high = min(ALL), max(ALL)
    small, large = ((found[name, size][1] ** 2).mean() for size in (low, high))
    return max(0.0, (high * large - low * small) / (high - low)) if high > low else 0.0


def say(what, keys):
    """Standardised errors, each of the chunks of one table correlated with the others by what they share."""
    z = numpy.concatenate([found[k][0] for k in keys])
    apart = near = 0.0  # of sums of z² and of z: for normals with correlation ρ the covariances are 2ρ² and ρ
    for table in {k[0] for k in keys}:
        sizes = [k for k in keys if k[0] == table]
        share = numpy.concatenate([numpy.minimum(1, shared(table) / found[k][1] ** 2) for k in sizes])
        common = numpy.sqrt(numpy.outer(share, share))
        numpy.fill_diagonal(common, 1)
        near, apart = near + common.sum(), apart + 2 * (common**2).sum()
    square = (z**2).mean()
    shares = ", ".join(f"{(numpy.abs(z) < w).mean():.3f} of {p} %" for p, w in ((50, 0.6745), (80, 1.2816), (95, 1.96)))
    print(f"{what}: {len(z)} chunks, z: root mean square {square**0.5:.3f} ± {apart**0.5 / len(z) / 2:.3f}, mean {z.mean():+.2f} ± {near**0.5 / len(z):.2f}; hold: {shares}", flush=True)


def passes(names):
    """How often right intervals are within the bar: in every table and size, of tables together by size, and of sizes together by table."""
    rng, size = numpy.random.default_rng(1), min(ALL)
    inside = {}
    for name in names:
        common = shared(name)
        count = min(len(found[name, s][0]) * s // size for s in ALL)
        chance = max(1e-12, (found[name, size][1] ** 2).mean() - common)
        both = rng.normal(0, common**0.5, (DRAWS, 1))
        parts = rng.normal(0, chance**0.5, (DRAWS, count))
        for s in ALL:
            k = s // size
            off = both + parts[:, : count // k * k].reshape(DRAWS, -1, k).mean(axis=2)
            inside[name, s] = numpy.abs(off) < 1.96 * (common + chance / k) ** 0.5
    within = lambda keys: (lambda share: (share >= BAR[0]) & (share <= BAR[1]))(numpy.concatenate([inside[k] for k in keys], axis=1).mean(axis=1))  # noqa: E731
    cells = numpy.all([within([k]) for k in inside], axis=0).mean()
    sizes = [within([(n, s) for n in names]) for s in ALL]
    tables = [within([(n, s) for s in ALL]) for n in names]
    say_all = lambda each: ", ".join(f"{e.mean():.3f}" for e in each) + f", all {numpy.all(each, axis=0).mean():.3f}"  # noqa: E731
    print(f"right intervals hold in {BAR[0]:.0%} to {BAR[1]:.0%} of chunks: of every table and size with a probability of {cells:.3f}; by size {say_all(sizes)}; by table {say_all(tables)}")


found = {}  # standardised errors and the standard deviations that intervals stand for, by table and size
for name in TABLES:
    for size in ALL:
        if (path := FOLDER / f"{name}.{size}.chunks.csv").exists():
            chunks = pandas.read_csv(path)
            found[name, size] = chunks["z"].to_numpy(), chunks["deviation"].to_numpy()
if len(found) < len(TABLES) * len(ALL):
    sys.exit()
NAMED = ["car loan", "employment", "multiclass"]
for name, size in found:
    say(f"{name}, {size}", [(name, size)])
for names in (NAMED, list(TABLES)):
    for size in ALL:
        say(f"{len(names)} tables, {size}", [(n, size) for n in names])
for name in TABLES:
    z = numpy.concatenate([found[name, size][0] for size in ALL])
    print(f"{name}, all sizes: {(numpy.abs(z) < 1.96).mean():.3f} of 95 % hold")
passes(NAMED)
