"""What decisions are estimated to cost before outcomes are known: lossep monitor beside CBPE of NannyML.

The tables that come with NannyML (0.13.1): a model is fitted to a sample of the first half of the reference period, the
second half is the reference of both, and the outcomes of the analysis period are only looked at in the end. Both see the
same probabilities and decisions. Prints the mean absolute error per chunk and how many intervals hold, for chunks of
each size.

    python monitoring.py path/to/lossep folder [2000 1000 500]
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
ROWS, SIZES = 3000, [int(n) for n in sys.argv[3:]] or [2000, 1000, 500]
TABLES = {
    "car loan": (nannyml.load_synthetic_car_loan_dataset, "repaid", "0", ["timestamp", "y_pred_proba", "y_pred"]),
    "employment": (nannyml.load_us_census_ma_employment_data, "employed", "0", ["year", "prediction", "predicted_probability"]),
    "multiclass": (nannyml.load_synthetic_multiclass_classification_dataset, "y_true", None, ["timestamp", "y_pred"]),
    # No choice was made with these two.
    "home work": (nannyml.load_synthetic_binary_classification_dataset, "work_home_actual", "1", ["timestamp", "period"]),
    "housing": (nannyml.load_modified_california_housing_dataset, "clf_target", "1", ["timestamp"]),
}


def run(*words):
    subprocess.run([PROGRAM, *map(str, words)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


for name, (load, target, positive, drop) in TABLES.items():
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
        pandas.DataFrame({"realised": realised, "cbpe": estimate, "ours": ours["estimated"]}).to_csv(FOLDER / f"{name}.{size}.chunks.csv")
        print(
            f"{name}: {chunks} chunks of {size}, realised {realised.mean():.4f}; mean absolute error lossep {error(ours['estimated']):.5f}, "
            f"model alone {error(ours['expected']):.5f}, CBPE {error(estimate):.5f}; intervals hold: lossep {inside(ours['low'], ours['high']):.3f}, "
            f"CBPE {inside(*numpy.sort(bounds, axis=0)):.3f}; effective reference {ours['effective_reference'].median():.0f} of {len(second)}",
            flush=True,
        )
