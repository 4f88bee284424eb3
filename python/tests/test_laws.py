"""Laws: what must not change when a problem is written otherwise, over random tables with numbers,
categories and missing cells, and three actions of which none is the outcomes' name."""

from __future__ import annotations

import csv
import io
import json
import subprocess

import numpy as np
import pytest

from lossep import LossepClassifier, _worker
from lossep._binary import binary

pandas = pytest.importorskip("pandas")

FIXED = {"kernel": "matern32(variance=2, lengthscale=1.5) + constant(variance=1)", "fixed": True}
MODELS = {
    "fixed": {**FIXED, "method": "ep"},
    "loss-ep": {**FIXED, "method": "loss-ep"},
    "corrected": {**FIXED, "method": "corrected"},
    "searched": {"kernel": "matern32 + constant", "method": "ep"},
    "auto": {"kernel": "auto", "method": "ep"},
}
COSTS = {
    "accept": {"good": 0, "fair": 1, "bad": 5},
    "refuse": {"good": 1, "fair": 0.5, "bad": 0},
    "ask": {"good": 0.6, "fair": 0.4, "bad": 0.7},
}

ROUNDING = 1e-12
"""Rows are fitted in an order of their own and outcomes are mirror images of each other, so that what is
left is 1e-16 times what the covariances of a hundred rows are ill-conditioned by, about 1e3, and some margin."""

CONVERGED = 1e-8
"""The last step of sites is 1e-9 of posterior standard deviations, with at most ten times as far to go."""


def table(seed, rows, outcomes):
    rng = np.random.default_rng(seed)
    x, z, kind = rng.normal(size=rows), rng.normal(size=rows), rng.integers(0, 3, rows)
    f = 1.5 * np.sin(1.5 * x) + 0.8 * z + 0.7 * (kind - 1) + 0.6 * rng.normal(size=rows)
    y = np.where(f > 0.2, "bad", "good")
    if outcomes == 3:
        y = np.where(np.abs(f - 0.2) < 0.5, "fair", y)
    X = pandas.DataFrame({"x": x.round(4), "z": z.round(4), "kind": np.array(["red", "green", "blue"])[kind]})
    X.loc[rng.random(rows) < 0.1, "z"] = np.nan
    X.loc[rng.random(rows) < 0.07, "kind"] = None
    return X, y


class Problem:
    """A table, what is fitted to it, and cases to decide."""

    def __init__(self, options, outcomes=2, rows=60):
        self.X, self.y = table(rows + outcomes, rows, outcomes)
        self.cases, _ = table(1000 + rows, 12, outcomes)
        names = ["good", "bad"] if outcomes == 2 else ["good", "fair", "bad"]
        self.cost = {action: {name: costs[name] for name in names} for action, costs in COSTS.items()}
        self.options = {"missing": "impute", "cost": self.cost, **options}
        if outcomes == 2:
            self.options["pos_label"] = "bad"

    def fit(self, X=None, y=None, sample_weight=None, **options):
        model = LossepClassifier(**{**self.options, **options})
        return model.fit(self.X if X is None else X, self.y if y is None else y, sample_weight=sample_weight)


def said(model, cases):
    """Probabilities of the outcomes by their names, the costs expected of actions, and the best of these."""
    decisions = model.decide(cases)
    order = np.argsort(model.actions_)
    columns = np.argsort(model.classes_)
    return model.predict_proba(cases)[:, columns], decisions.expected[:, order], decisions.action


def same(got, want, tolerance, scale=1):
    np.testing.assert_allclose(got[0], want[0], rtol=0, atol=tolerance)
    np.testing.assert_allclose(got[1], scale * want[1], rtol=0, atol=10 * scale * tolerance)
    assert got[2].tolist() == want[2].tolist()


def columns(problem, rng):
    order = rng.permutation(problem.X.columns)
    return said(problem.fit(problem.X[order]), problem.cases[order])


def renamed(problem, rng):
    names = {"red": "zinnober", "green": "Alge", "blue": "9 sky"}
    return said(problem.fit(problem.X.replace({"kind": names})), problem.cases.replace({"kind": names}))


def shuffled(problem, rng):
    order = rng.permutation(len(problem.y))
    return said(problem.fit(problem.X.iloc[order], problem.y[order]), problem.cases)


def swapped(problem, rng):
    return said(problem.fit(pos_label="good"), problem.cases)


def uncounted(problem, rng):
    """With rows of weight 0 among the others."""
    more = rng.integers(0, len(problem.y), 20)
    X, y = pandas.concat([problem.X, problem.X.iloc[more]]), np.append(problem.y, problem.y[more][::-1])
    weights = np.append(np.ones(len(problem.y)), np.zeros(20))
    order = rng.permutation(len(y))
    return said(problem.fit(X.iloc[order], y[order], weights[order]), problem.cases)


LAWS = {"swap": swapped, "row order": shuffled, "column order": columns, "renamed categories": renamed, "weight 0": uncounted}


@pytest.mark.parametrize("outcomes", [2, 3])
@pytest.mark.parametrize("name", MODELS)
def test_laws(name, outcomes):
    if outcomes == 3 and name == "corrected":
        pytest.skip("corrections are for two outcomes")
    problem, rng = Problem(MODELS[name], outcomes), np.random.default_rng(outcomes)
    model = problem.fit()
    want = said(model, problem.cases)
    for law, change in LAWS.items():
        if outcomes == 3 and law in ("swap", "weight 0"):
            continue  # which are for two outcomes
        try:
            same(change(problem, rng), want, ROUNDING)
        except AssertionError as wrong:
            raise AssertionError(f"{law}: {wrong}") from None
    scaled = {action: {y: 1000 * c for y, c in costs.items()} for action, costs in problem.cost.items()}
    same(said(problem.fit(cost=scaled), problem.cases), want, ROUNDING, 1000)
    # To the bit: a case does not see the others.
    singly = [said(model, problem.cases.iloc[[k]]) for k in range(len(problem.cases))]
    same([np.concatenate(parts) for parts in zip(*singly, strict=True)], want, 0)


@pytest.mark.parametrize("name", ["fixed", "loss-ep", "corrected"])
def test_weight_2_is_two_rows(name):
    problem = Problem(MODELS[name], rows=100)  # more than corrections take pairs of
    weights = 1 + np.arange(100) % 2
    twice = np.repeat(np.arange(100), weights)
    want = said(problem.fit(problem.X.iloc[twice], problem.y[twice]), problem.cases)
    same(said(problem.fit(sample_weight=weights), problem.cases), want, CONVERGED)


@pytest.mark.parametrize("outcomes", [2, 3])
@pytest.mark.parametrize("name", ["loss-ep", "auto"])
def test_files_and_the_command_say_the_same(name, outcomes, tmp_path):
    """To the bit: a model that was saved and loaded, and the command with the same rows."""
    problem = Problem(MODELS[name], outcomes)
    model = problem.fit()
    want = said(model, problem.cases)
    model.save(tmp_path / "python.lossep")
    same(said(LossepClassifier.load(tmp_path / "python.lossep"), problem.cases), want, 0)

    problem.X.assign(outcome=problem.y).to_csv(tmp_path / "rows.csv", index=False)
    problem.cases.to_csv(tmp_path / "cases.csv", index=False)
    (tmp_path / "costs.json").write_text(json.dumps({"outcomes": list(problem.cost["ask"]), "costs": problem.cost}))
    flags = ["--missing", "impute", "--utility", tmp_path / "costs.json"]
    flags += ["--positive", "bad"] if outcomes == 2 else []
    for option, value in MODELS[name].items():
        flags += [f"--{option}"] if value is True else [f"--{option}", value]
    command("fit", tmp_path / "rows.csv", "--target", "outcome", "-o", tmp_path / "command.lossep", *flags)
    decided = list(csv.DictReader(io.StringIO(command("decide", tmp_path / "command.lossep", tmp_path / "cases.csv"))))
    costs = [[float(row[f"cost_{action}"]) for action in sorted(model.actions_)] for row in decided]
    assert costs == want[1].tolist() and [row["action"] for row in decided] == want[2].tolist()
    same(said(LossepClassifier.load(tmp_path / "command.lossep"), problem.cases), want, 0)


def command(*arguments):
    done = subprocess.run([binary(), *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_one_thread_and_two(monkeypatch):
    """To the bit, each by a worker of its own, which keeps its number of threads."""
    monkeypatch.delenv("GOMAXPROCS", raising=False)
    files = []
    for threads in ("1", "2"):
        monkeypatch.setenv("LOSSEP_THREADS", threads)
        _worker.worker().end()
        files.append([Problem(MODELS[name], rows=90).fit().model_.file for name in ("auto", "loss-ep")])
    _worker.worker().end()
    assert files[0] == files[1]
