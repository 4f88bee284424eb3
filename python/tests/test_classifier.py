"""The estimator: costs, tables, what it refuses, and what it warns about."""

from __future__ import annotations

import copy
import json
import pickle
import re
import subprocess
import warnings

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict, cross_val_score

import lossep
from lossep import LossepClassifier
from lossep._binary import binary


def quick(**options):
    return LossepClassifier(**{"kernel": "rbf", "method": "ep", **options})


def test_training_rows_in_the_file(rows):
    """A few are, unless that is not wanted; nothing else depends on it."""
    fixed = {"kernel": "rbf(lengthscale=2, variance=1)", "fixed": True}
    kept, none = quick(**fixed).fit(*rows), quick(**fixed, no_examples=True).fit(*rows)
    assert b'\\"examples\\"' in kept.model_.file and b'\\"examples\\"' not in none.model_.file
    assert (kept.predict_proba(rows[0]) == none.predict_proba(rows[0])).all()


def test_attributes(model, rows):
    X, _y = rows
    assert model.classes_.tolist() == [0, 1] and model.pos_label_ == 1
    assert model.actions_ == ["negative", "positive"]
    assert model.threshold_ == pytest.approx(1 / 6)
    assert model.kernel_.startswith("rbf(variance=") and model.method_ == "ep"
    assert np.isfinite(model.log_evidence_) and 0 <= model.loo_cost_ < 1
    assert "log evidence" in str(model.model_)
    assert model.n_features_in_ == 4
    p = model.predict_proba(X)
    assert p.shape == (len(X), 2)
    assert np.allclose(p.sum(axis=1), 1, rtol=1e-12)
    assert (model.predict(X) == model.classes_[p.argmax(axis=1)]).all()
    mean, variance = model.predict_latent(X)
    assert ((p[:, 1] > 0.5) == (mean > 0)).all() and (variance > 0).all()


def test_decisions_follow_the_costs(model, rows):
    X, _ = rows
    p = model.predict_proba(X)
    d = model.decide(X)
    assert (d.index == (p[:, 1] > 1 / 6)).all()
    assert np.allclose(d.expected, np.stack([5 * p[:, 1], p[:, 0]], axis=1), rtol=1e-12)
    assert np.allclose(d.margin, abs(d.expected[:, 0] - d.expected[:, 1]), rtol=1e-9)
    assert (model.expected_cost(X) == d.expected).all()
    assert (d.best == d.expected.min(axis=1)).all()
    assert set(d.action) <= {"negative", "positive"} and "120 cases" in repr(d)
    assert d.disagreement is None and model.decide(X, second_opinion=True).disagreement.dtype == bool


def test_reasons(model, rows):
    X, _ = rows
    d = model.decide(X[:12], why=2)
    assert model.decide(X[:12]).why is None
    frame = d.to_frame()
    assert [c for c in frame if c.startswith("why")] == [f"why_{k}{of}" for k in (1, 2) for of in ("", "_direction", "_effect")]
    for k in (1, 2):
        assert (frame[f"why_{k}_direction"] == np.where(frame[f"why_{k}_effect"] > 0, "for", "against")).all()
    supported = frame["why_2_effect"] > 0
    assert (frame["why_1_effect"] >= frame["why_2_effect"])[supported].all()
    assert [(text == "no single change", action) for text, action in zip(frame["flip"], frame["flip_action"], strict=True)] == [
        (f is None, f["action"] if f else "") for f in d.flip
    ]
    without = model.decide(X[:12], why=4, why_without=["x0", "x1"])
    assert all({r["column"] for r in reasons} == {"x2", "x3"} for reasons in without.why)
    with pytest.raises(ValueError, match=r"why_without: .none. is not a feature"):
        model.decide(X[:12], why=2, why_without=["none"])
    flipped = [i for i, flip in enumerate(d.flip) if flip]
    assert flipped and {text.split(" = ")[0] for text in frame["why_1"]} <= {f"x{k}" for k in range(4)}
    for i, text in enumerate(frame["why_1"]):  # as the command writes it
        column, value = text.split(" = ")
        assert float(value) == pytest.approx(X[i, int(column[1:])])
    for i in flipped:  # the case with the change is decided as it says
        case = X[i : i + 1].copy()
        column = int(d.flip[i]["column"][1:])
        assert float(d.flip[i]["from"]) == pytest.approx(case[0, column])
        case[0, column] = float(d.flip[i]["to"])
        assert list(model.decide(case).action) == [d.flip[i]["action"]] != [d.action[i]]


def test_worth_of_knowing_more(model, rows):
    X, _ = rows
    name = "x0"
    cases = X[:8].copy()
    cases[3, 0] = np.nan
    w = model.value(cases, ask=[name])
    p = w.decisions.probabilities
    # To know the outcome is to pay nothing, where right decisions cost nothing.
    assert np.allclose(w.outcome, w.decisions.best, rtol=1e-12) and len(w) == 8
    assert (p[[0, 1, 2]] == model.predict_proba(cases[:3])).all()
    assert (w.columns[name] >= 0).all() and w.columns[name][3] <= w.outcome[3] + 1e-12
    assert list(w.to_frame()) == ["action", "worth_outcome", f"worth_{name}"]
    assert w.label is None and (model.value(X[:5], labels=True).label >= 0).all()
    with pytest.raises(ValueError, match="is not a feature of the model"):
        model.value(X[:2], ask=["colour"])
    # A cost is taken off, as the command does.
    priced = model.value(cases, ask={name: 0.2, "x1": 0})
    assert np.allclose(priced.columns[name], w.columns[name] - 0.2, rtol=0, atol=1e-15) and list(priced.columns) == [name, "x1"]
    for ask, kind, text in [
        ("x0", TypeError, "'x0' is no list of names"),
        (None, TypeError, "None is no list of names"),
        ([0], TypeError, "0 is no name of a column; the columns of an array are called 'x0'"),
        (["x0", "x1", "x0"], ValueError, "'x0' is named twice"),
        ({"x0": "dear"}, TypeError, "'dear' is no cost of measuring 'x0'"),
        ({"x0": -1}, ValueError, "-1 is no cost"),
        ({"x0": float("nan")}, ValueError, "nan is no cost"),
    ]:
        with pytest.raises(kind, match=f"^ask: {re.escape(text)}"):
            model.value(X[:2], ask=ask)


def test_empty_texts_are_refused(rows):
    X, y = rows
    for name in ("kernel", "method"):
        with pytest.raises(ValueError, match=f"^{name}: the text is empty"):
            quick(**{name: ""}).fit(X, y)


@pytest.mark.parametrize(
    "cost",
    [
        "fn=2,fp=1",
        {"fn": 2, "fp": 1},
        {"leave": {0: 0, 1: 2}, "act": {0: 1, 1: 0}},
        {"utilities": {"leave": {0: 1, 1: -2}, "act": {0: 0, 1: 0}}},
        [[0, 2], [1, 0]],
        np.array([[0.0, 2.0], [1.0, 0.0]]),
    ],
)
def test_every_way_to_say_the_same_costs(model, rows, cost):
    X, _ = rows
    p = model.predict_proba(X)[:, 1]
    assert (model.decide(X, cost).index == (p > 1 / 3)).all()
    assert (lossep.decide(p, cost).index == (p > 1 / 3)).all()


def test_costs_of_single_cases(rows):
    X, y = rows
    cost = np.zeros((len(X), 3, 2))
    cost[:, 0, 1] = np.linspace(0.5, 9, len(X))
    cost[:, 1, 0] = 1
    cost[:, 2] = 0.4
    m = quick(method="loss-ep", actions=["accept", "refuse", "defer"]).fit(X, y, cost=cost)
    d = m.decide(X, cost=cost)
    p = m.predict_proba(X)
    expected = np.einsum("nac,nc->na", cost, p)
    assert np.allclose(d.expected, expected, rtol=1e-12)
    assert (d.index == expected.argmin(axis=1)).all()
    assert d.actions == ["accept", "refuse", "defer"]
    assert np.allclose(lossep.decide(p, cost).expected, expected, rtol=1e-12)
    with pytest.raises(ValueError, match="costs of 3 cases"):
        m.decide(X, cost=cost[:3])
    for ask in (m.decide, m.value, pickle.loads(pickle.dumps(m)).expected_cost):
        with pytest.raises(ValueError, match=r"fitted with costs of the single cases.*shape \(cases, 3, 2\)"):
            ask(X)
    with pytest.raises(ValueError, match="not to the estimator"):
        quick(cost=cost).fit(X, y)


def test_costs_are_routed(rows):
    X, y = rows
    cost = np.zeros((len(X), 2, 2))
    cost[:, 0, 1], cost[:, 1, 0] = np.linspace(1, 9, len(X)), 1
    with sklearn.config_context(enable_metadata_routing=True):
        routed = quick().set_fit_request(cost=True, sample_weight=False)
        scores = cross_val_score(routed, X, y, cv=3, params={"cost": cost})
        assert len(scores) == 3 and min(scores) > 0.6


def test_calibrated_decisions(model, rows):
    X, _ = rows
    d = model.decide(X, "fn=9,fp=1", calibrated=True)
    assert len(d) == len(X)
    again = model.decide(X, "fn=9,fp=1", calibrated=True)
    assert (again.expected == d.expected).all()


def test_updates(rows):
    X, y = rows
    n = len(y) // 2
    half = quick(kernel="rbf(variance=1, lengthscale=2)", standardize=False, fixed=True).fit(X[:n], y[:n])
    whole = clone(half).fit(X, y)
    before = half.predict_proba(X)
    after = half.update(X[n:], y[n:]).predict_proba(X)
    assert np.allclose(after, whole.predict_proba(X), atol=1e-6) and not np.allclose(before, after, atol=1e-3)
    assert half.model_.description["summary"]["updates"]["added"] == len(y) - n
    assert np.allclose(half.forget(X[n:], y[n:]).predict_proba(X), before, atol=1e-6)
    with pytest.raises(ValueError, match="none of the classes"):
        half.update(X[:1], [7])
    with pytest.raises(ValueError, match="no training row of these features"):
        half.forget(X[:1] + 1, y[:1])


def test_monitors_as_the_command(rows, tmp_path):
    X, y = rows
    m = quick(kernel="rbf(variance=1, lengthscale=2)", standardize=False, fixed=True).fit(X, y)
    late = [None if k % 3 == 0 else label for k, label in enumerate(y)]
    found = m.monitor(X, late, window=20, tolerance=0.05)
    m.model_.write(tmp_path / "m.lossep")
    lines = [[*(f"x{k}" for k in range(X.shape[1])), m.model_.description["target"]]]
    lines += [[*map(repr, x.tolist()), "" if label is None else str(label)] for x, label in zip(X, late, strict=True)]
    (tmp_path / "new.csv").write_text("\n".join(map(",".join, lines)) + "\n")
    command = [binary(), "monitor", str(tmp_path / "m.lossep"), str(tmp_path / "new.csv"), "--window", "20", "--tolerance", "0.05"]
    said = subprocess.run([*command, "--format", "json"], capture_output=True, text=True)
    assert said.returncode in (0, 3), said.stderr
    command_says = json.loads(said.stdout)
    assert found == {name: command_says[name] for name in found}
    assert set(found) == {"level", "threshold", "tolerance", "reference", "windows", "alarms"}
    assert sum(w["known_outcomes"] for w in found["windows"]) == len(y) - len(y[::3])
    assert m.monitor(X)["windows"][0]["known_outcomes"] == 0
    with pytest.raises(ValueError, match="none of hour, day, week, month"):
        m.monitor(X, window="fortnight")
    with pytest.raises(ValueError, match="none of the classes"):
        m.monitor(X[:1], [7])
    with pytest.raises(ValueError, match="for 1 rows"):
        m.monitor(X[:1], y[:2])


def test_scoring_by_cost(model, rows):
    X, y = rows
    p = model.predict_proba(X)[:, 1]
    paid = lossep.cost_per_case(y, p, "fn=5,fp=1")
    assert (paid == np.where(y == 1, 5.0 * (p <= 1 / 6), 1.0 * (p > 1 / 6))).all()
    scorer = lossep.make_cost_scorer({"fn": 5, "fp": 1})
    assert scorer(model, X, y) == -paid.mean()
    search = GridSearchCV(quick(), {"method": ["ep", "laplace"], "kernel": ["rbf", "linear"]}, scoring=scorer, cv=2).fit(X, y)
    assert search.best_params_["kernel"] in ("rbf", "linear") and search.best_score_ < 0


def test_labels_and_the_positive_one(rows):
    X, y = rows
    words = np.array(["good", "bad"])[y]
    m = quick(cost="fn=5,fp=1").fit(X, words)
    assert m.classes_.tolist() == ["bad", "good"] and m.pos_label_ == "bad", "as the command has it"
    p = m.predict_proba(X)
    assert ((p[:, 0] > 1 / 6) == (m.decide(X).index == 1)).all()
    other = quick(cost="fn=5,fp=1", pos_label="good").fit(X, words)
    assert other.pos_label_ == "good"
    assert np.allclose(other.predict_proba(X), p, atol=1e-6)
    odd = quick().fit(X, np.array(["none", "NA"])[y])  # which spell a missing cell
    assert odd.classes_.tolist() == ["NA", "none"] and set(odd.predict(X)) == {"NA", "none"}
    flags = quick().fit(X, y.astype(bool))
    assert flags.predict(X).dtype == bool and flags.pos_label_
    with pytest.raises(ValueError, match="none of the classes"):
        quick(pos_label="best").fit(X, words)


def test_no_guess_which_class_is_positive(rows, tmp_path):
    X, y = rows
    words = np.array(["ok", "fraud"])[y]
    asks = 'neither "fraud" nor "ok".*say which it is: pos_label="fraud" or pos_label="ok"'
    costs = np.array([[0.0, 1.0], [5.0, 0.0]])  # of the actions fraud and ok under fraud and ok
    cases = np.broadcast_to(costs, (len(X), 2, 2))
    for options in ({"cost": "fn=5,fp=1"}, {"cost": {"fn": 5, "fp": 1}}, {"prevalence": 0.1}):
        with pytest.raises(ValueError, match=asks):
            quick(**options).fit(X, words)
        with pytest.raises(ValueError, match=asks):
            quick(**options).audit(X, words)
    told = quick(cost="fn=5,fp=1", pos_label="fraud").fit(X, words)
    by_class = quick(cost={"let": {"fraud": 5, "ok": 0}, "block": {"fraud": 0, "ok": 1}}).fit(X, words)
    assert told.pos_label_ == "fraud" and by_class.pos_label_ == "ok"
    assert ((told.decide(X).action == "positive") == (by_class.decide(X).action == "block")).all()
    blocked = told.decide(X).index
    for m in (quick(cost=costs).fit(X, words), quick().fit(X, words, cost=cases), quick().fit(X, words)):
        assert m.actions_ == ["fraud", "ok"], "without costs, too"
        assert ((m.decide(X, cases).index == 0) == blocked).all() and ((m.decide(X, costs).index == 0) == blocked).all()
        for use in (m.decide, m.value, m.expected_cost):
            with pytest.raises(ValueError, match=asks):
                use(X, "fn=5,fp=1")
        with pytest.raises(ValueError, match=asks):
            lossep.make_cost_scorer("fn=5,fp=1")(m, X, words)
        m.save(tmp_path / "unsettled")
        loaded = LossepClassifier.load(tmp_path / "unsettled")
        assert (loaded.decide(X, costs).index == m.decide(X, costs).index).all()
        for same in (loaded, pickle.loads(pickle.dumps(m))):
            with pytest.raises(ValueError, match=asks):
                same.decide(X, "fn=5,fp=1")
    told.save(tmp_path / "told")
    assert (LossepClassifier.load(tmp_path / "told").decide(X, "fn=5,fp=1").index == blocked).all()
    with pytest.raises(ValueError, match="neither 1 nor 2 is"):
        quick(cost="fn=5,fp=1").fit(X, y + 1)

    p = told.predict_proba(X)  # of fraud and ok
    mean = np.where(y == 1, 5.0 * (p[:, 0] <= 1 / 6), 1.0 * (p[:, 0] > 1 / 6)).mean()
    assert lossep.make_cost_scorer("fn=5,fp=1")(told, X, words) == pytest.approx(-mean)
    logistic = LogisticRegression().fit(X, words)
    with pytest.raises(ValueError, match=asks):
        lossep.make_cost_scorer("fn=5,fp=1")(logistic, X, words)
    assert lossep.make_cost_scorer("fn=5,fp=1", pos_label="fraud")(logistic, X, words) < 0
    options = {"recalibrate": "none", "folds": 2, "progress": False}
    for values, cost in ((p, "fn=5,fp=1"), (p[:, 0], "fn=5,fp=1"), (p[:, 0], costs)):
        with pytest.raises(ValueError, match=asks):
            lossep.audit(words, values, cost, **options)
        with pytest.raises(ValueError, match=asks):
            lossep.cost_per_case(words, values, cost)
        assert lossep.cost_per_case(words, values, cost, pos_label="fraud").mean() == pytest.approx(mean)
        found = lossep.audit(words, values, cost, pos_label="fraud", **options)
        assert found.costs["probability"][0] == pytest.approx(mean)
    assert lossep.cost_per_case(words, p, costs).mean() == pytest.approx(mean)
    assert lossep.audit(words, p, costs, **options).costs["probability"][0] == pytest.approx(mean)
    with pytest.raises(ValueError, match=asks):
        lossep.audit(words, p, costs, prevalence=0.1, **options)
    with pytest.raises(ValueError, match=asks):
        lossep.ReliabilityDisplay.from_predictions(words, p[:, 0])
    with pytest.raises(ValueError, match=asks):
        lossep.ReliabilityDisplay.from_estimator(logistic, X, words)
    # By convention, though it is not the last: everywhere as for the estimator.
    grades = np.array(["good", "bad"])[y]
    assert lossep.cost_per_case(grades, p, "fn=5,fp=1").mean() == pytest.approx(mean)
    assert lossep.audit(grades, p[:, 0], "fn=5,fp=1", **options).costs["probability"][0] == pytest.approx(mean)


def test_frames(rows):
    pandas = pytest.importorskip("pandas")
    X, y = rows
    n = len(X)
    frame = pandas.DataFrame(
        {
            "income": X[:, 0],
            "job": pandas.Categorical(np.where(X[:, 1] > 0, "smith", "clerk")),
            "zone": np.where(X[:, 2] > 0, 10, 20),
            "town": np.array(["Bonn", "Ulm", "Jena"], dtype=object)[np.arange(n) % 3],
            "since": pandas.Timestamp("2024-01-01") + pandas.to_timedelta(np.arange(n), unit="D"),
            "flag": X[:, 3] > 0,
        }
    )
    frame.loc[3, "income"] = np.nan
    frame.loc[4, "job"] = np.nan
    with pytest.raises(ValueError, match='missing="impute"'):
        quick(missing="error").fit(frame, y)
    m = quick(categorical=["zone"]).fit(frame, pandas.Series(y, name="class"))
    assert m.feature_names_in_.tolist() == list(frame.columns)
    described = str(m.model_)
    for text in ('"job": 2 categories', '"zone": 2 categories', '"town": 3 categories', '"income": numeric', '"since": date'):
        assert text in described, described
    p = m.predict_proba(frame)
    with pytest.raises(ValueError, match=r"feature names should match|feature names must be"):
        m.predict_proba(frame[frame.columns[::-1]])
    new = frame.iloc[:5].copy()
    new["town"] = new["town"].where(new.index > 0, "Rome")
    with pytest.warns(lossep.DataWarning, match="Rome"):
        assert (m.predict_proba(new)[1:] == p[1:5]).all()
    polars = pytest.importorskip("polars")
    same = polars.from_pandas(frame)
    q = quick(missing="impute", categorical=["zone"]).fit(same, y)
    assert np.allclose(q.predict_proba(same), p, rtol=1e-9)
    decided = m.decide(frame).to_frame(index=frame.index)
    assert list(decided.columns[:3]) == ["action", "cost_0", "cost_1"]


def test_frames_of_every_kind(rows):
    pandas, polars, pyarrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    X, y = rows
    n = len(X)
    hours = (np.arange(n) * 7) % 50
    frame = pandas.DataFrame(
        {
            "amount": pandas.array(hours, dtype="Int64"),
            "job": pandas.array(np.where(X[:, 1] > 0, "smith", "clerk"), dtype="string"),
            "paid": pandas.array(X[:, 2] > 0, dtype="boolean"),
            "waited": pandas.to_timedelta(hours, unit="h"),
            "x": pandas.array(X[:, 0], dtype="double[pyarrow]"),
        }
    )
    frame.loc[3, "amount"] = frame.loc[4, "job"] = frame.loc[5, "paid"] = pandas.NA
    p = quick(missing="impute").fit(frame, y).predict_proba(frame)
    for other in (polars.from_pandas(frame), pyarrow.Table.from_pandas(frame)):
        m = quick(missing="impute").fit(other, y)
        assert np.allclose(m.predict_proba(other), p, rtol=1e-9), type(other)
        assert m.feature_names_in_.tolist() == list(frame.columns)


def test_costs_over_columns(rows):
    pandas = pytest.importorskip("pandas")
    X, y = rows
    frame = pandas.DataFrame(X, columns=list("abcd")).assign(amount=np.linspace(1, 20, len(X)))
    m = quick(cost={"accept": {0: 0, 1: "0.6 * amount"}, "refuse": {0: 1, 1: 0}}, drop=["amount"]).fit(frame, y)
    p = m.predict_proba(frame)
    assert np.allclose(m.decide(frame).expected[:, 0], 0.6 * frame["amount"] * p[:, 1], rtol=1e-12)
    assert m.model_.description["columns"] == ["a", "b", "c", "d"]


def test_groups_and_copies(rows):
    X, y = rows
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X).rename(columns=str).assign(patient=np.arange(len(y)) // 2)
    model = quick(groups="patient").fit(frame, y)
    assert "patient" in [c["column"] for c in model.model_.description["dropped"]]
    with pytest.warns(lossep.DataWarning, match="copies of others"):
        quick().fit(np.repeat(X, 2, axis=0), np.repeat(y, 2))


def test_weights(rows):
    X, y = rows
    weights = np.where(y == 1, 3.0, 1.0)
    plain, weighted = quick().fit(X, y), quick().fit(X, y, sample_weight=weights)
    assert weighted.predict_proba(X)[:, 1].mean() > plain.predict_proba(X)[:, 1].mean()
    kept = np.arange(len(X)) % 3 > 0
    far = np.where(kept[:, None], X, 50 * X)
    dropped = quick().fit(far, y, sample_weight=np.where(kept, weights, 0))
    assert dropped.model_.file == quick().fit(X[kept], y[kept], sample_weight=weights[kept]).model_.file, "0 is as good as none"
    rare = quick(prevalence=0.02).fit(X, y)
    assert rare.predict_proba(X)[:, 1].mean() < 0.2


def test_prevalence_of_classes(rows):
    X, y = rows
    named = quick(prevalence={1: 0.02}).fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(named, quick(prevalence=0.02).fit(X, y).predict_proba(X))
    words = np.array(["a, b", "c", "d"])[y + (X[:, 0] > 0)]
    one = quick(kernel="rbf(variance=2, lengthscale=2)", fixed=True)
    plain = one.fit(X, words).predict_proba(X)
    counts = np.unique(words, return_counts=True)[1] / len(words)
    shares = np.array([0.5, 0, 0]) + 0.5 * np.array([0, 1, 1]) * counts / (1 - counts[0])  # the others as in the rows
    shifted = one.set_params(prevalence={"a, b": 0.5}).fit(X, words).predict_proba(X)
    np.testing.assert_allclose(shifted, plain * shares / counts / (plain * shares / counts).sum(1, keepdims=True), atol=1e-9)
    with pytest.raises(ValueError, match="prevalence: 'e' is none of the classes"):
        one.set_params(prevalence={"e": 0.5}).fit(X, words)
    with pytest.raises(ValueError, match="positive one of two outcomes"):
        one.set_params(prevalence=0.5).fit(X, words)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernel": "cook"}, "no kernel is called"),
        ({"method": "guess"}, "choose one of"),
        ({"likelihood": "cook"}, "likelihood"),
        ({"missing": "maybe"}, "choose one of impute, error"),
        ({"cost": "fn="}, "nothing is given"),
        ({"cost": {}}, "it is empty"),
        ({"cost": {"accept": 5}}, "needs a cost for each outcome"),
        ({"cost": [[0, 1, 2], [1, 0, 2]]}, "shape"),
        ({"cost": {"a": {"never": 0, 1: 1}, "b": {0: 1, 1: 0}}}, "never"),
        ({"actions": ["a"]}, "no costs for them"),
        ({"categorical": ["nowhere"]}, "no such column"),
        ({"restarts": -1}, "too small"),
        ({"inducing": 10_000}, "more than the 120"),
        ({"max_rows": 50}, "120 rows"),
        ({"options": {"cook": 1}}, "unknown option"),
    ],
)
def test_bad_parameters(rows, options, message):
    with pytest.raises(ValueError, match=message):
        quick(**options).fit(*rows)


def test_what_is_refused(model, rows):
    X, _y = rows
    with pytest.raises(NotFittedError):
        quick().predict(X)
    with pytest.raises(ValueError, match="standard deviations from their mean"):
        model.predict_proba(np.array([[1e60, 0, 0, 0]]))
    with pytest.raises(ValueError, match=r"row 3, column"):
        model.predict_proba(np.array([[0.0, 0, 0, 0], [0, 0, 0, 0], [0, 1e60, 0, 0]]))
    with pytest.raises(ValueError, match="one class"):
        quick().fit(X, np.zeros(len(X)))


def test_several_classes():
    X, y = load_iris(return_X_y=True)
    words = np.array(["setosa", "versicolor", "virginica"])[y]
    cost = [[0, 5, 20], [1, 0, 5], [2, 1, 0], [0.4, 0.4, 0.4]]
    m = quick(cost=cost, actions=["leave", "cut", "burn", "ask"]).fit(X, words)
    p = m.predict_proba(X)
    assert p.shape == (150, 3) and np.allclose(p.sum(axis=1), 1, atol=1e-5) and m.score(X, words) > 0.95
    assert m.pos_label_ is None and m.threshold_ is None and m.classes_.tolist() == ["setosa", "versicolor", "virginica"]
    d = m.decide(X)
    assert np.allclose(d.expected, p @ np.array(cost).T, rtol=1e-9) and (d.index == d.expected.argmin(axis=1)).all()
    assert set(d.action) <= {"leave", "cut", "burn", "ask"} and (lossep.decide(p, cost).index == d.index).all()
    named = {"leave": {"setosa": 0, "versicolor": 1, "virginica": 9}, "cut": {"setosa": 1, "versicolor": 0, "virginica": 0}}
    assert m.decide(X, named).actions == ["leave", "cut"]
    paid = lossep.cost_per_case(words, p, cost)
    assert (paid == np.array(cost)[d.index, y]).all()
    again = pickle.loads(pickle.dumps(m))
    assert (again.predict_proba(X) == p).all()
    counts = np.arange(150) % 3 + (np.arange(150) % 3 == 0)
    fixed = {"kernel": m.kernel_, "fixed": True}
    one = quick(**fixed).fit(X, words, sample_weight=counts).predict_proba(X)
    assert (one == quick(**fixed).fit(X.repeat(counts, axis=0), words.repeat(counts)).predict_proba(X)).all()
    nearly = quick(**fixed).fit(X, words, sample_weight=counts * (1 + 1e-12)).predict_proba(X)
    assert np.allclose(one, nearly, atol=1e-6), "the column of weights and copies"
    half = np.where(np.arange(150) % 5 == 0, 0, 0.7)
    kept = half > 0
    dropped = quick(**fixed).fit(X, words, sample_weight=half)
    assert dropped.model_.file == quick(**fixed).fit(X[kept], words[kept], sample_weight=half[kept]).model_.file
    for options, message in (({"cost": "fn=5,fp=1"}, "fn|two|outcomes"), ({"pos_label": "setosa"}, "among 3 classes .*virginica")):
        with pytest.raises(ValueError, match=message):
            quick(**options).fit(X, words)
    with pytest.raises(ValueError, match="two classes only"):
        m.predict_latent(X)


def test_a_fit_that_does_not_converge_warns(rows, monkeypatch):
    X, y = rows
    m = quick().fit(X, y)
    m.model_.description = copy.deepcopy(m.model_.description)
    m.model_.description["summary"]["status"].update(converged=False, text="stopped after 7 sweeps")
    with pytest.warns(ConvergenceWarning, match="stopped after 7 sweeps"):
        m._warn()
    m.model_.description["summary"]["status"].update(converged=True)
    assert m.model_.description["summary"]["search"]["stationary"]
    m.model_.description["summary"]["search"].update(stationary=False, stop="the limit on evaluations is reached")
    with pytest.warns(ConvergenceWarning, match="search for hyperparameters did not converge: the limit on evaluations"):
        m._warn()


def test_notes_warn(rows):
    pandas = pytest.importorskip("pandas")
    X, y = rows
    frame = pandas.DataFrame(X, columns=list("abcd")).assign(town=[f"town {k % 40}" for k in range(len(X))])
    with pytest.warns(lossep.DataWarning, match='"town" has 40 categories'):
        m = quick().fit(frame, y)
    assert len(m.notes_) == 1
    with pytest.warns(lossep.DataWarning, match="are 20 on average: a row counts as so many cases"):
        m = quick().fit(X, y, sample_weight=np.full(len(X), 20))
    with pytest.warns(lossep.DataWarning, match='"x1": ALL 120 rows are far outside the values seen in training.*Check the unit'):
        m.decide(X * [1, 0, 1, 1] + [0, 999, 0, 0])


def test_cross_validation(rows):
    X, y = rows
    p = cross_val_predict(quick(), X, y, cv=3, method="predict_proba")
    assert p.shape == (len(X), 2)
    params = clone(quick(restarts=1)).get_params()
    assert params["restarts"] == 1 and params["method"] == "ep"


def test_random_state(rows):
    X, y = rows
    first = quick(random_state=3, restarts=1).fit(X, y)
    again = quick(random_state=3, restarts=1).fit(X, y)
    drawn = quick(random_state=np.random.RandomState(3)).fit(X, y)
    assert first.model_.file == again.model_.file
    assert drawn.model_.description["provenance"]["seed"] > 0


def test_audits(model, rows, tmp_path):
    X, y = rows
    p = cross_val_predict(quick(), X, y, cv=3, method="predict_proba")
    report = lossep.audit(
        y, {"ours": p, "half as sure": 0.5 * p[:, 1]}, "fn=5,fp=1", folds=3, by=np.where(X[:, 0] > 0, "up", "down")
    )
    paid = lossep.cost_per_case(y, p, "fn=5,fp=1").mean()
    assert report.costs["ours"][0] == pytest.approx(paid, rel=1e-12)
    assert report.costs["ours"][1] < paid < report.costs["ours"][2]
    assert "per case" in str(report) and "<iframe" in report._repr_html_() and report.results["by"]
    page = report.save(tmp_path / "audit")
    assert page.read_text().lower().startswith("<!doctype html>")
    cost = np.zeros((len(y), 2, 2))
    cost[:, 0, 1], cost[:, 1, 0] = np.linspace(1, 9, len(y)), 1
    single = lossep.audit(y, p, cost, recalibrate="none", folds=3, currency="EUR", cases_per_year=1000)
    assert single.results["yearly"]["cost"]["value"] == pytest.approx(1000 * single.costs["probability"][0])
    assert "EUR a year" in single.verdict[0]
    assert single.costs["probability"][0] == pytest.approx(lossep.cost_per_case(y, p, cost).mean(), rel=1e-12)
    with pytest.raises(ValueError, match="not between 0 and 1"):
        lossep.audit(y, 2 * p[:, 1] + 1, "fn=5,fp=1")
    with pytest.raises(ValueError, match="none of the classes"):
        lossep.audit(y, p, "fn=5,fp=1", pos_label=7)


def test_audits_of_several_classes():
    X, y = load_iris(return_X_y=True)
    words = np.array(["setosa", "versicolor", "virginica"])[y]
    logistic = LogisticRegression(max_iter=1000)
    p = cross_val_predict(logistic, X[:, :2], words, cv=3, method="predict_proba")
    cost = {
        "leave": {"setosa": 0, "versicolor": 5, "virginica": 20},
        "cut": {"setosa": 1, "versicolor": 0, "virginica": 5},
        "burn": {"setosa": 2, "versicolor": 1, "virginica": 0},
    }
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        report = lossep.audit(words, {"logistic": p, "by chance": np.full_like(p, 1 / 3)}, cost)
    paid = lossep.cost_per_case(words, p, cost).mean()
    assert report.costs["logistic"][0] == pytest.approx(paid, rel=1e-9) and report.costs["logistic"][1] < paid
    assert report.costs["by chance"][0] > paid and report.results["outcomes"] == ["setosa", "versicolor", "virginica"]
    assert "per case" in report.verdict[0] and "virginica" in report._repr_html_()
    for bad, message in (
        (p[:, 1], r"shape \(150,\).*each of the 3 classes"),
        (p[:, :2], r"shape \(150, 2\)"),
        (p[:9], "there are 9"),
        (p / 2, "row 1 sums to 0.5 and not to 1"),
    ):
        with pytest.raises(ValueError, match=message):
            lossep.audit(words, bad, cost)
    with pytest.raises(ValueError, match="there is none among 3 classes"):
        lossep.audit(words, p, cost, pos_label="setosa")
    with pytest.raises(ValueError, match="all cases have one class"):
        lossep.audit(words[:50], p[:50], cost)
    with pytest.raises(ValueError, match="one of them against the rest"):
        lossep.ReliabilityDisplay.from_predictions(words, p[:, 1])


@pytest.mark.slow
def test_the_estimators_own_audit(rows):
    X, y = rows
    report = quick(cost="fn=5,fp=1").audit(X, y, folds=2, methods=["ep"], references=0)
    assert report.results["method"] == "ep" and report.results["rows"] == len(X)


def test_displays(model, rows):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    X, y = rows
    p = model.predict_proba(X)[:, 1]
    for display in (lossep.ReliabilityDisplay, lossep.DecisionCurveDisplay, lossep.CostCurveDisplay):
        drawn = display.from_estimator(model, X, y)
        assert drawn.ax_.get_xlabel() and drawn.figure_ is drawn.ax_.figure
        _, ax = plt.subplots()
        assert display.from_predictions(y, p, cost="fn=5,fp=1", name="ours", ax=ax).ax_ is ax
        plt.close("all")
    curve = lossep.CostCurveDisplay.from_predictions(y, p, cost="fn=5,fp=1")
    assert curve.given == pytest.approx(1 / 6)
    for threshold, cost in zip(curve.thresholds[1:], curve.costs[1:], strict=True):
        act = p >= threshold
        assert cost == pytest.approx(np.mean(5 * (y & ~act) + (1 - y) * act))
    with pytest.raises(ValueError, match="give what mistakes cost"):
        lossep.CostCurveDisplay.from_predictions(y, p)
    plt.close("all")


def test_saved_and_loaded(model, rows, tmp_path):
    X, _ = rows
    path = tmp_path / "model.lossep"
    model.save(path)
    loaded = LossepClassifier.load(path)
    assert (loaded.predict_proba(X) == model.predict_proba(X)).all()
    assert loaded.classes_.tolist() == [0, 1] and loaded.log_evidence_ == model.log_evidence_
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loaded.predict(X)
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(ValueError, match="truncated"):
        LossepClassifier.load(path)
    with pytest.raises(FileNotFoundError):
        LossepClassifier.load(tmp_path / "nowhere")


def test_no_warning_without_reason(model, rows):
    X, _ = rows
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(X)
        model.decide(X)


def test_messages_are_in_plain_words(rows):
    """No message shows the functions by which a program reads numbers, nor scalars of numpy."""
    X, y = rows
    words = np.array(["a", "b"])[y]
    fixed = {"kernel": "rbf(lengthscale=1, variance=1)", "fixed": True, "method": "ep"}
    fitted = LossepClassifier(**fixed).fit(X, words)
    wrong = [
        lambda: LossepClassifier(restarts="abc").fit(X, y),
        lambda: LossepClassifier(restarts=1.5).fit(X, y),
        lambda: LossepClassifier(label_noise="x", likelihood="robust").fit(X, y),
        lambda: LossepClassifier(fixed="maybe").fit(X, y),
        lambda: LossepClassifier(max_rows=10**30).fit(X, y),
        lambda: LossepClassifier(random_state=-1).fit(X, y),
        lambda: LossepClassifier(prevalence="x").fit(X, y),
        lambda: LossepClassifier(options={"sweeps": "abc"}).fit(X, y),
        lambda: LossepClassifier(pos_label="c").fit(X, words),
        lambda: LossepClassifier(pos_label=np.int64(7)).fit(X, y),
        lambda: LossepClassifier(cost={np.str_("accept"): 1}).fit(X, words),
        lambda: lossep.decide(np.full((3, 2), 0.5), "fn=5,fp=1", classes=np.array(["a", "b"]), pos_label=np.str_("c")),
        lambda: fitted.value(X, ask={np.str_("x0"): np.float64(-1)}),
        lambda: fitted.value(X, ask=np.array([3])),
        lambda: fitted.value(X, ask=[np.str_("x0"), np.str_("x0")]),
    ]
    for k, attempt in enumerate(wrong):
        with pytest.raises((ValueError, TypeError)) as caught:
            attempt()
        text = str(caught.value)
        assert not any(word in text for word in ("strconv", "np.", "--", "pflag", "%!", "keyword argument")), (k, text)


def test_base():
    """A base is cross-fitted, and its probabilities are the score, as if they were a column of X."""
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(4)
    X = pandas.DataFrame(rng.normal(size=(150, 2)), columns=["a", "b"])
    y = ((X["a"] > 0) == (X["b"] > 0)).to_numpy().astype(int)
    tree = RandomForestClassifier(20, min_samples_leaf=5, random_state=1)
    model = quick(kernel="linear + constant", base=tree, random_state=3).fit(X, y)
    folds = StratifiedKFold(5, shuffle=True, random_state=3)
    scores = cross_val_predict(tree, X, y, cv=folds, method="predict_proba")[:, 1]
    nearest = np.minimum(scores, 1 - scores)
    low = max(nearest[nearest > 0].min() / 2, 1e-6)

    def with_score(X, p):
        return X.assign(base=np.clip(p, low, 1 - low))

    by_hand = quick(kernel="linear + constant", score_column="base", random_state=3).fit(with_score(X, scores), y)
    assert by_hand.kernel_.startswith("score(")
    other = pandas.DataFrame(rng.normal(size=(20, 2)), columns=["a", "b"])
    p = model.predict_proba(other)
    assert np.array_equal(p, by_hand.predict_proba(with_score(other, tree.fit(X, y).predict_proba(other)[:, 1])))
    right = (other["a"] > 0) == (other["b"] > 0)
    assert ((p[:, 1] > 0.5) == right).mean() >= 0.8  # a linear kernel alone cannot tell
    assert pickle.loads(pickle.dumps(model)).decide(other).index.tolist() == model.decide(other).index.tolist()
    with pytest.raises(ValueError, match="X has a column 'base' already"):
        quick(base=tree).fit(X.assign(base=0.5), y)
    with pytest.raises(ValueError, match="every fold"):
        model.audit(X, y)
    with pytest.raises(ValueError, match="give one of the two"):
        quick(base=tree, score_column="a").fit(X, y)


def test_effects():
    """Families of effects with their figures, whose names are nothing but text; models of a file have them, too."""
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(5)
    job = rng.choice(["<b>baker</b>", "clerk", "smith"], 200)
    X = pandas.DataFrame({"job": job, "hour": rng.integers(0, 24, 200)})
    y = (rng.normal(size=200) + 2.0 * (job == "clerk") > 0.5).astype(int)
    model = LossepClassifier(kernel="constant + effects(job) + effects(hour/6)").fit(X, y)
    found = model.effects()
    assert {f["term"] for f in found.families} == {"effects(job)", "effects(hour/6)"}
    frame = found.frame()
    clerk = frame[(frame["family"] == "effects(job)") & (frame["group"] == "clerk")]
    assert clerk["mean"].item() > 2 * clerk["sd"].item() > 0
    page = found._repr_html_()
    assert page.count("<img ") == 2 and "<b>" not in page and "effects(job)" in repr(found)
    with pytest.warns(lossep.DataWarning, match="unseen category"):
        new = model.decide(X.assign(job="new").head(1), why=1)
    assert [one.get("new", False) for one in new.effects[0]] == [one["term"] == "effects(job)" for one in new.effects[0]]
    assert new.to_frame()["effects"].str.contains(r"job \+0 ± [\d.]+ \(new\)").all()
    assert len(quick().fit(X[["hour"]].assign(x=1.0 * (job == "clerk")), y).effects()) == 0
