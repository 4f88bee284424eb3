"""Costs: what of them is refused, raw columns beside transformed ones, and scores by cost."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import brier_score_loss, check_scoring, make_scorer
from sklearn.model_selection import GridSearchCV, StratifiedKFold, TunedThresholdClassifierCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, PowerTransformer, RobustScaler, StandardScaler
from sklearn.svm import SVC

import lossep
from lossep import LossepClassifier, cost_per_case, decide, make_cost_scorer

MISTAKES = {"fn": 5, "fp": 1}
BY_AMOUNT = {"accept": {0: 0, 1: "0.6 * amount"}, "refuse": {0: 1, 1: 0}}
CASES = [[[1, 2], [3, 4]], [[1, np.nan], [3, 4.0]]]


def quick(**options):
    return LossepClassifier(**{"kernel": "rbf", "method": "ep", **options})


@pytest.fixture(scope="module")
def loans(rows):
    pandas = pytest.importorskip("pandas")
    X, _ = rows
    return pandas.DataFrame(X, columns=list("abcd")).assign(amount=np.linspace(1, 20, len(X)))


@pytest.fixture(scope="module")
def cases(rows):
    """Costs of single cases, those of a miss growing from 1 to 9."""
    cost = np.zeros((len(rows[0]), 2, 2))
    cost[:, 0, 1], cost[:, 1, 0] = np.linspace(1, 9, len(cost)), 1
    return cost


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.parametrize(
    ("probabilities", "cost", "options", "message"),
    [
        ([[0.5, 0.5], [0.1, 0.2]], MISTAKES, {}, "row 2 sums to 0.3 and not to 1"),
        ([[0.1, 0.9], [-0.1, 1.1]], MISTAKES, {}, r"row 2, column 1, is -0\.1, which is not between"),
        ([0.1, np.nan], MISTAKES, {}, "row 2 is nan"),
        ([], MISTAKES, {}, r"0 sample\(s\)"),
        (np.zeros((2, 2, 2)), MISTAKES, {}, r"shape \(2, 2, 2\)"),
        ([[1.0], [1.0]], MISTAKES, {}, r"shape \(2, 1\)"),
        (["low"], MISTAKES, {}, "not an array of numbers: .*'low'"),
        ([[0.2, 0.3, 0.5]], MISTAKES, {}, "two outcomes"),
        ([0.2], None, {}, "no costs are given"),
        ([0.2], [[1, 2], [3]], {}, "cost: not an array of numbers"),
        ([0.2], [[1, 2, 3], [3, 4, 4]], {}, r"shape \(2, 3\); give one of shape \(actions, 2\)"),
        ([0.2], np.zeros((0, 2)), {}, r"shape \(0, 2\)"),
        ([0.2], np.zeros((1, 2)), {}, "at least 2"),
        ([0.2, 0.3], CASES, {}, "row 2, action '0' under '1' is nan"),
        ([0.2, 0.3, 0.4], np.ones((2, 2, 2)) * [[[1]], [[2]]], {}, "costs of 2 cases, and 3 rows"),
        ([0.2], [[1, np.inf], [3, 4]], {}, "is inf; give a finite number"),
        ([0.2], [[1, 2], [3, 4]], {"actions": ["a", "a"]}, r"duplicate name in \['a', 'a'\]"),
        ([0.2], [[1, 2], [3, 4]], {"actions": ["a"]}, "1 names for the 2 actions"),
        ([0.2], MISTAKES, {"actions": ["a", "b"]}, "cost is no array"),
        ([0.2], {"a": {0: 1, 7: 2}, "b": {0: 1, 1: 2}}, {}, 'unknown outcome "7"'),
        ([0.2], {"a": {0: 1}, "b": {0: 1, 1: 2}}, {}, 'no entry for outcome "1"'),
        ([0.2], {"fn": np.nan, "fp": 1}, {}, "an entry is nan"),
        ([0.2], {"fn": None, "fp": 1}, {}, "None is neither a number nor an expression"),
        ([0.2], {"a": 5, "b": 7}, {}, r"'a' needs a cost for each outcome, such as \{0: 0, 1: 5\}"),
        ([0.2], {"costs": BY_AMOUNT, "cieling": 9}, {}, r"unknown keys beside 'costs': \['cieling'\]"),
        ([0.2], {"outcomes": [0, 2], "costs": BY_AMOUNT}, {}, r"the outcomes are \[0, 2\], and those of y are"),
        ([0.2], {"costs": 5}, {}, "'costs' is 5; give a dict"),
        ([0.2], {"a": {0: 1, "0": 2, 1: 3}, "b": {0: 1, 1: 2}}, {}, "there twice"),
        ([0.2], BY_AMOUNT, {}, 'depends on the column "amount", which is not given; .*cost_columns'),
        ([0.2], MISTAKES, {"classes": [1]}, "1 labels for 2 columns"),
        ([0.2], MISTAKES, {"classes": [1, 1]}, "duplicate label in"),
        ([0.2], MISTAKES, {"classes": ["a", "b"], "pos_label": "c"}, r"'c' is none of the classes \['a', 'b'\]"),
    ],
)
def test_what_decisions_refuse(probabilities, cost, options, message):
    with pytest.raises(ValueError, match=message):
        decide(probabilities, cost, **options)


def test_what_costs_of_cases_refuse(rows):
    with pytest.raises(ValueError, match=r"y: row 2 is 770000, which is none of the classes \[0, 1\]"):
        cost_per_case([0, 770000, 1], [0.1, 0.2, 0.3], MISTAKES, classes=[0, 1])
    with pytest.raises(ValueError, match=r"y: row 1 is 'no', which is none of the classes \[0, 1\]"):
        cost_per_case(["no"], [0.1], MISTAKES, classes=[0, 1])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        cost_per_case([0, 1], [0.1, 0.2, 0.3], MISTAKES)
    y = rows[1]
    for p, options, message in (
        (np.full(len(y), 0.3), {"sample_weight": -np.ones(len(y))}, "row 1 is -1"),
        (np.where(np.arange(len(y)) == 3, np.nan, 0.3), {}, "probabilities of 'probability': row 4 is nan"),
    ):
        with pytest.raises(ValueError, match=message):
            lossep.audit(y, p, MISTAKES, **options)
    with pytest.raises(ValueError, match=r"y_prob: row 1 is 3, which"):
        lossep.ReliabilityDisplay.from_predictions(y, y + 2.0)


def test_costs_name_columns_of_another_table():
    pandas, polars, pyarrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    p = np.array([0.2, 0.3])
    table = pandas.DataFrame({"town": ["Bonn", "Ulm"], "amount": [1, 100]})
    wanted = np.stack([0.6 * table["amount"] * p, 1 - p], axis=1)
    for cost in (BY_AMOUNT, {"fn": "0.6 * amount", "fp": 1}, "fn=0.6*amount,fp=1"):
        for columns in (table, polars.from_pandas(table), pyarrow.Table.from_pandas(table)):
            assert (decide(p, cost, cost_columns=columns).expected == wanted).all()
    paid = cost_per_case([1, 0], p, BY_AMOUNT, cost_columns=table)
    assert paid.tolist() == [0.6, 1.0]
    brings = {"utilities": {"keep": {0: "amount", 1: 0}, "sell": {0: 0, 1: 1}}}
    assert cost_per_case([1, 0], p, brings, cost_columns=table).tolist() == [0.0, -100.0]
    gaps = table.assign(amount=[1, np.nan])
    assert (decide(p, "fn=0.6*default(amount, 100),fp=1", cost_columns=gaps).expected == wanted).all()
    for columns, kind, message in (
        (table[["town"]], ValueError, '"amount": no such column'),
        (gaps, ValueError, r"row 2, column 2 .*such as default\(amount, 0\)"),
        (table[:1], ValueError, "there are 1 rows, and 2 cases"),
        (table.to_numpy(), TypeError, "a DataFrame with the columns that costs name is needed, not ndarray"),
    ):
        with pytest.raises(kind, match=message):
            decide(p, BY_AMOUNT, cost_columns=columns)
    for cost, message in ((np.eye(2), "cost is an array"), (None, "no costs are given")):
        with pytest.raises(ValueError, match=message):
            decide(p, cost, cost_columns=table)


def test_costs_are_about_raw_columns(rows, loans):
    _, y = rows
    for scaler in (StandardScaler(), MinMaxScaler(), MaxAbsScaler(), RobustScaler(), PowerTransformer()):
        pipeline = make_pipeline(scaler.set_output(transform="pandas"), quick(cost=BY_AMOUNT))
        with pytest.raises(ValueError, match=r"the column 'amount' of X, which costs name, has .*cost_columns"):
            pipeline.fit(loans.assign(amount=loans["amount"] * np.where(loans["a"] > 0, 1, -1)), y)
    with pytest.raises(ValueError, match="X is an array, whose columns are called x0"):
        make_pipeline(StandardScaler(), quick(cost=BY_AMOUNT)).fit(loans, y)
    scaled = StandardScaler().set_output(transform="pandas").fit(loans)
    later = quick().fit(scaled.transform(loans), y)
    with pytest.raises(ValueError, match=r"refer to raw columns"):
        later.decide(scaled.transform(loans[:5]), BY_AMOUNT)
    # What is named by no cost may be scaled, flags are not, and X may be its own raw columns.
    for table, options in (
        (loans.assign(a=scaled.transform(loans)["a"]), {}),
        (loans.assign(amount=(loans["amount"] > 9) * 1.0), {}),
        (loans.assign(amount=loans["amount"] / 20 - 0.05), {}),
        (loans.assign(amount=np.linspace(0, 1, len(y))), {"cost_columns": loans.assign(amount=np.linspace(0, 1, len(y)))}),
    ):
        m = quick(cost=BY_AMOUNT).fit(table, y, **options)
        p = m.predict_proba(table)
        assert np.allclose(m.decide(table, **options).expected[:, 0], 0.6 * table["amount"] * p[:, 1], rtol=1e-12)


def test_costs_in_a_pipeline_with_a_scaler(rows, loans, routing):
    _, y = rows
    steps = (
        StandardScaler().set_output(transform="pandas"),
        quick(cost=BY_AMOUNT, method="loss-ep").set_fit_request(cost_columns=True),
    )
    pipeline = make_pipeline(*steps).fit(loans, y, cost_columns=loans[["amount"]])
    p = pipeline.predict_proba(loans)
    wanted = np.stack([0.6 * loans["amount"] * p[:, 1], p[:, 0]], axis=1)
    assert np.allclose(decide(p, BY_AMOUNT, classes=pipeline.classes_, cost_columns=loans).expected, wanted, rtol=1e-12)
    last, transformed = pipeline[-1], pipeline[:-1].transform(loans)
    for ask in (last.decide(transformed, cost_columns=loans), last.value(transformed, cost_columns=loans).decisions):
        assert np.allclose(ask.expected, wanted, rtol=1e-12)
    with pytest.raises(ValueError, match=r"fitted with costs of the single cases.*cost_columns"):
        last.decide(transformed)
    # The same model as by an array of what the expressions come to.
    cost = np.zeros((len(y), 2, 2))
    cost[:, 0, 1], cost[:, 1, 0] = 0.6 * loans["amount"], 1
    by_array = quick(method="loss-ep", actions=["accept", "refuse"]).fit(transformed, y, cost=cost)
    assert (by_array.predict_proba(transformed) == p).all()
    # The scorer has the raw X of the whole pipeline; the threshold's has not, and is given it.
    scorer = make_cost_scorer(BY_AMOUNT)
    routed = make_cost_scorer(BY_AMOUNT).set_score_request(cost_columns=True)
    given = {"cv": 3, "params": {"cost_columns": loans}, "error_score": "raise"}
    scores = cross_val_score(make_pipeline(*steps), loans, y, scoring=routed, **given)
    assert (scores == cross_val_score(make_pipeline(*steps), loans, y, scoring=scorer.set_score_request(), **given)).all()
    tuned = TunedThresholdClassifierCV(make_pipeline(*steps), scoring=routed, cv=3, thresholds=9)
    assert tuned.fit(loans, y, cost_columns=loans).best_score_ < 0
    with pytest.raises(ValueError, match=r'"amount", which is not given; .*cost_columns'):
        TunedThresholdClassifierCV(LogisticRegression(), scoring=make_cost_scorer(BY_AMOUNT), cv=3).fit(loans, y)


def test_other_costs_may_have_other_actions(rows):
    X, y = rows
    m = quick(cost=[[0, 5], [1, 0]], actions=["leave", "act"]).fit(X, y)
    assert m.decide(X, [[0, 9], [1, 0]]).actions == ["leave", "act"]
    assert m.decide(X, [[0, 9], [1, 0], [0.5, 0.5]]).actions == ["action 0", "action 1", "action 2"]
    with pytest.raises(ValueError, match="actions: they name the rows of an array"):
        quick(cost=MISTAKES, actions=["leave", "act"]).fit(X, y)
    with pytest.raises(ValueError, match="2 names for the 3 actions"):
        m.fit(X, y, cost=np.ones((len(y), 3, 2)) * np.arange(3)[:, None])
    with pytest.raises(ValueError, match="not an array of numbers"):
        m.fit(X, y).decide(X, [[1, 2], [3]])


def test_costs_in_a_pipeline_without_routing(rows, loans):
    _, y = rows
    numbers = ColumnTransformer([("scaled", StandardScaler(), list(loans))])
    pipeline = make_pipeline(numbers, quick(cost=BY_AMOUNT)).fit(loans, y, lossepclassifier__cost_columns=loans)
    assert pipeline[-1].actions_ == ["accept", "refuse"]
    assert cross_val_score(pipeline[-1].__class__(kernel="rbf", method="ep", cost=BY_AMOUNT), loans, y, cv=3).min() > 0.6


def paid_by(y, p, miss=5.0):
    """Cost per case by hand: a miss costs so much, a false alarm 1."""
    act = p > 1 / (1 + miss)
    return np.where(y == 1, miss * ~act, 1.0 * act)


@pytest.mark.parametrize("made", [LogisticRegression, quick], ids=["LogisticRegression", "LossepClassifier"])
def test_the_scorer_in_scikit_learns_tools(rows, made):
    X, y = rows
    scorer = make_cost_scorer(MISTAKES)
    folds = list(StratifiedKFold(3).split(X, y))
    by_hand = []
    for train, test in folds:
        p = made().fit(X[train], y[train]).predict_proba(X[test])[:, 1]
        by_hand.append(-paid_by(y[test], p).mean())
    assert cross_val_score(made(), X, y, cv=folds, scoring=scorer).tolist() == pytest.approx(by_hand)
    grid = {"kernel": ["rbf", "linear"]} if made is quick else {"C": [0.01, 1]}
    search = GridSearchCV(made(), grid, scoring={"cost": scorer, "auc": "roc_auc"}, refit="cost", cv=2).fit(X, y)
    assert search.best_score_ == search.cv_results_["mean_test_cost"].max()
    tuned = TunedThresholdClassifierCV(made(), scoring=scorer, cv=folds, thresholds=30, store_cv_results=True).fit(X, y)
    assert tuned.best_score_ == tuned.cv_results_["scores"].max() and 0 < tuned.best_threshold_ < 0.5
    predicted = make_cost_scorer(MISTAKES, response_method="predict")
    called = tuned.predict(X)
    assert predicted(tuned, X, y) == pytest.approx(-np.mean(np.where(y == 1, 5, 1) * (called != y)))
    assert repr(scorer) == "make_cost_scorer(cost={'fn': 5, 'fp': 1})"
    assert check_scoring(made(), scoring=scorer) is scorer
    assert pickle.loads(pickle.dumps(scorer))(tuned.estimator_, X, y) == scorer(tuned.estimator_, X, y)


def test_costs_of_cases_are_routed_to_the_scorer(rows, cases, routing):
    X, y = rows
    with pytest.raises((UnsetMetadataPassedError, TypeError), match="cost"):  # the latter before scikit-learn 1.9
        cross_val_score(LogisticRegression(), X, y, scoring=make_cost_scorer(), params={"cost": cases})
    weights = 1.0 + np.arange(len(y)) % 3
    scorer = make_cost_scorer().set_score_request(cost=True, sample_weight="w")
    folds = list(StratifiedKFold(3).split(X, y))
    by_hand = []
    for train, test in folds:
        p = LogisticRegression().fit(X[train], y[train]).predict_proba(X[test])[:, 1]
        by_hand.append(-np.average(paid_by(y[test], p, cases[test, 0, 1]), weights=weights[test]))
    params = {"cost": cases, "w": weights}
    model = LogisticRegression()
    assert cross_val_score(model, X, y, cv=folds, scoring=scorer, params=params).tolist() == pytest.approx(by_hand)
    assert scorer(model.fit(X, y), X, y, cost=cases) < 0
    routed = make_cost_scorer().set_score_request(cost=True)
    for made in (LogisticRegression(), quick().set_fit_request(cost=True)):
        tuned = TunedThresholdClassifierCV(made, scoring=routed, cv=2, thresholds=9).fit(X, y, cost=cases)
        called = tuned.predict(X)
        paid = np.mean(np.where(y == 1, cases[:, 0, 1], 1) * (called != y))
        assert make_cost_scorer(response_method="predict").set_score_request(cost=True)(tuned, X, y, cost=cases) == pytest.approx(
            -paid
        )
    search = GridSearchCV(quick().set_fit_request(cost=True), {"kernel": ["rbf", "linear"]}, scoring=routed, cv=2)
    assert search.fit(X, y, cost=cases).best_score_ < 0


def test_a_scorer_without_costs_does_not_guess(rows, cases):
    X, y = rows
    model = LogisticRegression().fit(X, y)
    with pytest.raises(ValueError, match=r"the scorer has no costs; .*set_score_request\(cost=True\)"):
        make_cost_scorer()(model, X, y)
    with pytest.raises(ValueError, match="passed as metadata, which follows the rows into folds"):
        make_cost_scorer(cases)
    for ragged in (lambda: make_cost_scorer([[1, 2], [3]]), lambda: quick(cost=[[1, 2], [3]]).fit(X, y)):
        with pytest.raises(ValueError, match="cost: not an array of numbers"):
            ragged()
    with pytest.raises(ValueError, match="'decision_function' is neither"):
        make_cost_scorer(MISTAKES, response_method="decision_function")
    with pytest.raises(ValueError, match="LinearRegression has no classes_"):
        make_cost_scorer(MISTAKES, response_method="predict")(LinearRegression().fit(X, y), X, y)
    with pytest.raises(AttributeError, match="predict_proba"):
        make_cost_scorer(MISTAKES)(SVC().fit(X, y), X, y)
    for weights in (np.zeros(len(y)), -np.ones(len(y))):
        with pytest.raises(ValueError, match=r"(?i)sample.weight"):
            make_cost_scorer(MISTAKES)(model, X, y, sample_weight=weights)


def test_the_scorer_and_classes(rows):
    X, y = rows
    words = np.array(["good", "bad"])[y]  # sorted, the positive one is the first
    scoring = {
        # The first to be computed keeps the probabilities of the other class for those that follow.
        "brier": make_scorer(brier_score_loss, greater_is_better=False, response_method="predict_proba", pos_label="good"),
        "cost": make_cost_scorer(MISTAKES),
        "same": make_cost_scorer(MISTAKES, pos_label="bad"),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = cross_validate(LogisticRegression(), X, words, cv=3, scoring=scoring)
    plain = cross_val_score(LogisticRegression(), X, y, cv=3, scoring=make_cost_scorer(MISTAKES))
    assert (found["test_cost"] == found["test_same"]).all() and found["test_cost"].tolist() == pytest.approx(plain.tolist())
    tuned = [
        TunedThresholdClassifierCV(LogisticRegression(), scoring=scoring[name], cv=3, thresholds=9).fit(X, words)
        for name in ("cost", "same")
    ]
    assert tuned[0].best_threshold_ > 0.5 > tuned[1].best_threshold_, "of good, and of bad, of which a miss costs more"
    X, y = load_iris(return_X_y=True)
    words = np.array(["setosa", "versicolor", "virginica"])[y]
    equal = 1 - np.eye(3)
    wrong = cross_val_score(LogisticRegression(max_iter=500), X, words, cv=3) - 1
    for method in ("predict", "predict_proba"):
        scorer = make_cost_scorer(equal, response_method=method)
        scores = cross_val_score(LogisticRegression(max_iter=500), X, words, cv=3, scoring=scorer)
        assert scores.tolist() == pytest.approx(wrong.tolist())


def test_figures_by_costs_of_every_kind(rows, loans):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    X, y = rows
    words = np.array(["good", "bad"])[y]  # sorted, the positive one is the first
    p = LogisticRegression().fit(X, y).predict_proba(X)[:, 1]
    plain = lossep.CostCurveDisplay.from_predictions(y, p, cost=[[0, 5], [1, 0]])
    other = lossep.CostCurveDisplay.from_predictions(words, p, cost=[[0, 1], [5, 0]], pos_label="bad")
    assert (plain.costs == other.costs).all() and plain.given == other.given == pytest.approx(1 / 6)
    m = quick(cost=BY_AMOUNT).fit(loans, y)
    p = m.predict_proba(loans)[:, 1]
    drawn = lossep.CostCurveDisplay.from_estimator(m, loans, y)
    same = lossep.CostCurveDisplay.from_predictions(y, p, cost=BY_AMOUNT, cost_columns=loans)
    never = np.mean(0.6 * loans["amount"] * y)
    assert (drawn.costs == same.costs).all() and drawn.costs[0] == pytest.approx(never)
    assert lossep.ReliabilityDisplay.from_estimator(m, loans, y).count.sum() == len(y)
    plt.close("all")


def test_unknown_names_are_named_with_the_nearest() -> None:
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match=r"cost: unknown mistake 'zz'; there are 'fn', 'fp', 'tp', 'tn'"):
        lossep.decide([0.2, 0.3], {"fn": 1, "fp": 1, "zz": 2})
    with pytest.raises(ValueError, match=r"unknown mistake 'FPP'; did you mean 'fp'\?"):
        lossep.decide([0.2, 0.3], {"fn": 1, "FPP": 1})
    with pytest.raises(ValueError, match=r'"amout".*did you mean "amount"\?'):
        lossep.decide([0.2, 0.3], "fn=0.6*amout,fp=1", cost_columns=pandas.DataFrame({"amount": [1.0, 2.0]}))
    with pytest.raises(ValueError, match=r'baseline: unknown action "positve"; did you mean "positive"\?'):
        lossep.decide([0.2, 0.3], "fn=5,fp=1", baseline="positve")


def test_advantages_and_savings() -> None:
    found = lossep.decide([0.5, 0.1], "fn=5,fp=1", baseline="positive")
    assert found.action.tolist() == ["positive", "negative"]
    np.testing.assert_allclose(found.advantage, [[-2.0, 2.0], [0.4, -0.4]], rtol=1e-12)  # sums of two products
    np.testing.assert_allclose(found.saving, [0.0, 0.4], rtol=1e-12)
    assert found.unusual is None


VISITS = {"costs": {"leave": {0: 0, 1: 100}, "visit": {0: 20, 1: 20}}}


def test_a_capacity_goes_to_the_largest_savings():
    p = [0.1, 0.7, 0.3, 0.5]
    found = lossep.decide(p, VISITS, capacity={"visit": 2})
    assert list(found.action) == ["leave", "visit", "leave", "visit"]
    assert list(found.unlimited) == ["leave", "visit", "visit", "visit"]
    np.testing.assert_allclose(found.forgone, [0, 0, 10, 0], atol=1e-12)  # sums of a few products
    assert list(found.effort["visit"]) == [0, 1, 0, 1]
    limit = found.capacity["limits"][0]
    assert (limit["name"], limit["limit"], limit["used"]) == ("visit", 2, 2)
    # One more visit saves what the next case would.
    saved = found.best.sum() - lossep.decide(p, VISITS, capacity={"visit": 3}).best.sum()
    assert limit["price"]["value"] == pytest.approx(saved) == pytest.approx(10)
    assert found.capacity["cost"]["value"] == pytest.approx(10)
    assert found.margin[2] == pytest.approx(-10)
    assert {"unlimited", "forgone", "effort_visit"} <= set(found.to_frame().columns)
    assert lossep.decide(p, VISITS).capacity is None


def test_capacities_that_are_none():
    with pytest.raises(TypeError, match="no dict of limits"):
        lossep.decide([0.5], VISITS, capacity=3)
    with pytest.raises(ValueError, match="no limit of 'visit'; give a number from 0"):
        lossep.decide([0.5], VISITS, capacity={"visit": -1})
    with pytest.raises(ValueError, match='the capacity "call" is that of no action'):
        lossep.decide([0.5], VISITS, capacity={"call": 1})


def test_a_model_within_a_capacity_by_day():
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"x": rng.normal(size=60), "minutes": rng.integers(10, 60, 60), "shift": ["Mon", "Tue"] * 30})
    y = (X["x"] + rng.normal(size=60) > 0).astype(int)
    model = lossep.LossepClassifier(cost={**VISITS, "effort": {"visit": "minutes"}}, drop=["minutes", "shift"]).fit(X, y)
    found = model.decide(X, capacity={"visit": 120}, per="shift")
    for day in ("Mon", "Tue"):
        assert found.effort["visit"][X["shift"] == day].sum() <= 120
    assert found.capacity["periods"] == 2
    without = lossep.LossepClassifier(cost={**VISITS, "effort": {"visit": "minutes"}}, drop=["minutes"])
    without.fit(X.drop(columns="shift"), y)
    assert without.decide(X, capacity={"visit": 120}, per="shift").capacity["periods"] == 2
    with pytest.raises(ValueError, match="unseen at fit time"):
        without.decide(X, capacity={"visit": 120})
    assert (found.forgone >= 0).all() and found.forgone.sum() == pytest.approx(found.capacity["cost"]["value"])


def test_costs_that_are_not_known():
    p = np.linspace(0.06, 0.96, 19)  # no ties at the ends of the range
    found = lossep.decide(p, {"fn": "uniform(4, 8)", "fp": 1})
    known = [lossep.decide(p, {"fn": fn, "fp": 1}) for fn in (4, 6, 8)]
    assert (found.index == known[1].index).all()  # by the mean
    assert (found.could_flip == (known[0].index != known[2].index)).all() and found.could_flip.any()
    (cost,) = found.uncertain
    assert (cost["entry"], cost["distribution"]) == ("negative under 1", "uniform(4, 8)")
    # What is saved by knowing the cost, on a fine grid of its values.
    grid = 4 + (np.arange(2000) + 0.5) / 500
    saved = [found.best.mean() - np.minimum(p * fn, 1 - p).mean() for fn in grid]
    assert cost["worth"] == pytest.approx(np.mean(saved), abs=1e-6)
    assert lossep.decide(p, "fn=6,fp=1").uncertain is None


def test_costs_as_in_a_file():
    """A dict of the structure of a file of costs has its outcomes beside the costs."""
    costs = {"accept": {0: 0, 1: 5}, "refuse": {0: 1, 1: 0}}
    given = decide([0.1, 0.5], {"outcomes": [0, 1], "costs": costs})
    np.testing.assert_array_equal(given.expected, decide([0.1, 0.5], costs).expected)
