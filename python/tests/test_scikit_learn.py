"""scikit-learn's conventions: labels, names of features, copies, meta-estimators."""

from __future__ import annotations

import copy
import pickle
import warnings

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, cross_val_score

from lossep import LossepClassifier, make_cost_scorer

SEARCHED = 1e-6
"""Rows are added up in an order that depends on the names of columns, and a search for a kernel makes about
1e-8 of other last bits."""


def quick(**options):
    return LossepClassifier(**{"kernel": "rbf", "method": "ep", **options})


@pytest.fixture(scope="module")
def frame(rows):
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(rows[0], columns=list("abcd"))


def test_arrays_and_frames_are_the_same_rows(rows, frame):
    polars = pytest.importorskip("polars")
    X, y = rows
    by_place, by_name = quick().fit(X, y), quick().fit(frame, y)
    p, q = by_place.predict_proba(X), by_name.predict_proba(frame)
    assert not hasattr(by_place, "feature_names_in_") and by_name.feature_names_in_.tolist() == list("abcd")
    np.testing.assert_allclose(q, p, rtol=0, atol=SEARCHED)
    assert (by_name.predict_proba(polars.from_pandas(frame)) == q).all()
    with pytest.warns(UserWarning, match="X has feature names, but LossepClassifier was fitted without feature names"):
        assert (by_place.predict_proba(frame) == p).all()
    with pytest.warns(UserWarning, match="X does not have valid feature names, but LossepClassifier was fitted with"):
        assert (by_name.predict_proba(X) == q).all()
    for bad in (frame.assign(e=1.0), frame[["a", "b", "c"]], frame[list("dcba")]):
        with pytest.raises(ValueError, match="feature names"):
            by_name.predict(bad)
    with pytest.raises(ValueError, match="X has 3 features, but LossepClassifier is expecting 4"):
        by_place.predict(X[:, :3])


def test_names_that_are_no_texts(rows, frame):
    pandas = pytest.importorskip("pandas")
    X, y = rows
    numbered = pandas.DataFrame(X)
    m = quick().fit(numbered, y)
    assert not hasattr(m, "feature_names_in_")
    p = m.predict_proba(X)
    for same in (numbered, numbered.rename(columns={0: 9})):  # scikit-learn compares texts only
        assert (m.predict_proba(same) == p).all()
    with pytest.raises(ValueError, match="3 features"):
        m.predict(numbered[[0, 1, 2]])
    with pytest.raises(TypeError, match="all input features have string names"):
        quick().fit(numbered.rename(columns={0: "a"}), y)
    with pytest.raises(Exception, match=r"unique column names|duplicate header name"):
        quick().fit(frame.set_axis(list("aabc"), axis=1), y)
    # Names that the package itself gives columns.
    taken = frame.set_axis(["outcome", "sample_weight", "cost of 0 under 1", "x0"], axis=1)
    q = quick().fit(taken, y, sample_weight=np.ones(len(y))).predict_proba(taken)
    np.testing.assert_allclose(q, p, rtol=0, atol=SEARCHED)
    cost = np.ones((len(y), 2, 2)) * np.arange(len(y))[:, None, None]
    with pytest.raises(ValueError, match="X has a column 'cost of 0 under 1'"):
        quick().fit(taken, y, cost=cost)


def test_labels_of_every_kind(rows):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    X, y = rows
    words = np.array(["no", "yes"])[y]
    code = quick().fit(X, y).predict(X)
    wanted = np.array(["no", "yes"])[code]
    for labels in (
        words,
        words.tolist(),
        words.astype(object),
        pandas.Series(words, index=np.arange(len(y))[::-1]),
        pandas.Series(pandas.Categorical(words, categories=["yes", "maybe", "no"], ordered=True)),
        pandas.Series(words, dtype="string"),
        polars.Series(words),
        polars.Series(words).cast(polars.Categorical),
    ):
        m = quick().fit(X, labels)
        assert m.classes_.tolist() == ["no", "yes"] and (m.predict(X) == wanted).all() and m.pos_label_ == "yes"
    for labels, classes in (
        (y > 0, [False, True]),
        (2 * y - 1, [-1, 1]),
        (y + 10**17, [10**17, 10**17 + 1]),
        (y * 1.0, [0.0, 1.0]),
    ):
        m = quick().fit(X, labels)
        assert m.classes_.tolist() == classes and m.predict(X).dtype == labels.dtype
        assert (m.predict(X) == np.array(classes)[code]).all() and m.score(X, labels) == (code == y).mean()
    # As the program's names of outcomes these are nothing, or the same.
    for pair in (["", "x"], ["a", "a "], ["e\u0301", "x"], ["e\u0301", "\u00e9"], ["nan", "?"], ["1", "1.0"]):
        m = quick().fit(X, np.array(pair)[y])
        assert (m.predict(X) == np.array(pair)[code]).all()
    for column in (y[:, None], pandas.DataFrame({"name": y})):
        for table in (X, pandas.DataFrame(X, columns=list("abcd"))):
            with pytest.warns(DataConversionWarning):
                assert (quick().fit(table, column).predict_proba(table)[:, 1].round() == code).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda y: np.c_[y, y], "1d array"),
        (lambda y: y + 0.5, "continuous"),
        (lambda y: np.where(np.arange(len(y)) == 3, np.nan, y), "contains NaN"),
        (lambda y: np.where(np.arange(len(y)) == 3, None, "a"), "None or a missing value"),
        (lambda y: np.where(np.arange(len(y)) < 9, "a", y.astype(object)), "Unknown label type"),
        (lambda y: y[:5], "inconsistent numbers"),
        (lambda y: None, "requires y"),
        (lambda y: 0 * y, "y: one class only: it is 0 in every row"),
    ],
)
def test_labels_that_are_refused(rows, frame, change, message):
    X, y = rows
    for table in (X, frame):
        with pytest.raises(ValueError, match=message):
            quick(cost=[[0, 5], [1, 0]]).fit(table, change(y))


def test_rows_that_are_refused(rows, frame, model):
    sparse = pytest.importorskip("scipy.sparse")
    X, y = rows
    for use in (lambda x: quick().fit(x, y), model.predict):
        with pytest.raises(TypeError, match="dense data is required"):
            use(sparse.csr_matrix(X))
        with pytest.raises(ValueError, match="Expected 2D array"):
            use(X[:, 0])
        with pytest.raises(ValueError, match=r"0 sample\(s\)"):
            use(X[:0])
        with pytest.raises(ValueError, match="infinity"):
            use(np.where(X[0, 0] == X, np.inf, X))
    with pytest.raises(ValueError, match="2-dimensional"):
        quick().fit(frame["a"], y)
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        quick().fit(frame, y).predict(frame[:0])
    with pytest.raises(ValueError, match="could not convert string to float: 'low'"):
        quick().fit(np.where(X > 0, X.astype(object), "low"), y)
    assert (quick().fit(X.astype(object), y).predict_proba(X.tolist()) == quick().fit(X, y).predict_proba(X)).all()


def test_messages_are_free_of_numpy(rows):
    X, y = rows
    with pytest.raises(ValueError, match=r"pos_label: 'best' is none of the classes \['bad', 'good'\]"):
        quick(pos_label=np.str_("best")).fit(X, np.array(["good", "bad"])[y])


def test_weights_are_given_once(rows, frame):
    X, y = rows
    with pytest.raises(ValueError, match="give one of the two"):
        quick(weights="n").fit(frame.assign(n=1), y, sample_weight=np.ones(len(y)))
    for weights, message in (
        (-np.ones(len(y)), "row 1 is -1"),
        (np.full(len(y), np.nan), "NaN"),
        (np.ones(3), "sample_weight"),
        (y, "one class only is left"),
    ):
        with pytest.raises(ValueError, match=message):
            quick().fit(X, y, sample_weight=weights)


def test_a_fit_that_fails_leaves_no_model(rows):
    X, y = rows
    m = quick().fit(X, y)
    with pytest.raises(ValueError, match="no kernel is called"):
        m.set_params(kernel="cook").fit(X, np.array(["a", "b"])[y])
    with pytest.raises(NotFittedError):
        m.predict(X)


def test_logarithms(model, rows):
    assert np.allclose(np.exp(model.predict_log_proba(rows[0])), model.predict_proba(rows[0]), rtol=1e-14)


def test_copies(rows, frame, tmp_path):
    X, y = rows
    m = quick(cost=np.array([[0, 5], [1, 0]]), actions=["leave", "act"]).fit(frame, y)
    joblib.dump(m, tmp_path / "m")
    for other in (pickle.loads(pickle.dumps(m)), copy.deepcopy(m), joblib.load(tmp_path / "m")):
        assert (other.decide(frame).expected == m.decide(frame).expected).all()
        assert other.feature_names_in_.tolist() == list("abcd") and other.actions == m.actions
    fresh = clone(m)
    assert fresh.cost is not m.cost and (fresh.cost == m.cost).all() and not hasattr(fresh, "classes_")
    assert (fresh.set_params(method="laplace").fit(frame, y).method_, m.method_) == ("laplace", "ep")
    assert (quick().fit(X, y).fit(frame, y).predict_proba(frame) == m.predict_proba(frame)).all(), "a fit forgets the last"


def test_what_a_file_keeps(rows, frame, tmp_path):
    X, y = rows
    table = frame.assign(amount=np.linspace(1, 20, len(y)), constant=1.0)
    cost = {"accept": {0: 0, 1: "0.6 * amount"}, "refuse": {0: 1, 1: 0}}
    m = quick(cost=cost).fit(table, y, sample_weight=np.ones(len(y)))
    m.save(tmp_path / "m")
    loaded = LossepClassifier.load(tmp_path / "m")
    assert loaded.cost == {"costs": cost} and loaded.pos_label == 1
    assert loaded.feature_names_in_.tolist() == list(table) and loaded.n_features_in_ == 6
    p = m.predict_proba(table)
    for same in (table, table.drop(columns="constant"), table[list(table)[::-1]]):
        assert (loaded.predict_proba(same) == p).all()
        assert (loaded.decide(same).expected == m.decide(table).expected).all()
    with pytest.warns(UserWarning, match="valid feature names"):
        assert (loaded.predict_proba(table.to_numpy()) == p).all()
    again = clone(loaded).set_params(kernel="rbf", method="ep").fit(table, y, sample_weight=np.ones(len(y)))
    assert again.model_.file == m.model_.file, "fitted again by the costs of the file"
    by_utility = quick(cost={"utilities": {"a": {"no": 1, "yes": -2}, "b": {"no": 0, "yes": 0}}})
    by_utility.fit(X, np.array(["no", "yes"])[y]).save(tmp_path / "u")
    loaded = LossepClassifier.load(tmp_path / "u")
    assert loaded.cost == by_utility.cost and type(loaded.pos_label) is str and not hasattr(loaded, "feature_names_in_")
    cases = np.ones((len(y), 2, 2)) * np.arange(len(y))[:, None, None]
    quick().fit(X, y, cost=cases).save(tmp_path / "c")
    loaded = LossepClassifier.load(tmp_path / "c")
    assert loaded.cost is None and loaded.n_features_in_ == 4 and loaded.decide(X, cases).expected.shape == (len(y), 2)
    with pytest.raises(ValueError, match="fitted with costs of the single cases"):
        loaded.decide(X)


def test_a_file_knows_whether_missing_cells_are_imputed(rows, tmp_path):
    X, y = rows
    holes = np.where(np.arange(X.size).reshape(X.shape) % 17 == 0, np.nan, X)
    m = quick().fit(holes, y)
    m.save(tmp_path / "imputes")
    assert (LossepClassifier.load(tmp_path / "imputes").predict_proba(holes) == m.predict_proba(holes)).all()
    quick(missing="error").fit(X, y).save(tmp_path / "refuses")
    with pytest.raises(ValueError, match="missing cell, and the model was trained without imputation"):
        LossepClassifier.load(tmp_path / "refuses").predict(holes)


@pytest.mark.parametrize(
    "made",
    [
        lambda: AdaBoostClassifier(quick(), n_estimators=2),
        lambda: BaggingClassifier(quick(), n_estimators=2, random_state=0),
        lambda: CalibratedClassifierCV(quick(), cv=2),
        lambda: VotingClassifier([("a", quick()), ("b", LogisticRegression())], voting="soft"),
        lambda: StackingClassifier([("a", quick()), ("b", LogisticRegression())], cv=2),
    ],
    ids=["AdaBoost", "Bagging", "Calibrated", "Voting", "Stacking"],
)
def test_inside_other_estimators(rows, made):
    X, y = rows
    assert made().fit(X[:80], y[:80]).score(X, y) > 0.6  # a constant has 0.5; weights of AdaBoost sum to one case


def test_a_fold_without_a_class_is_an_error_of_that_fold(rows):
    X, y = rows
    labels = np.sort(y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores = cross_val_score(quick(), X, labels, cv=KFold(2), scoring=make_cost_scorer("fn=5,fp=1"))
    assert np.isnan(scores).any() and not np.isnan(scores).all()
    with pytest.raises(ValueError, match="one class only"):
        cross_val_score(quick(), X, labels, cv=KFold(2), scoring=make_cost_scorer("fn=5,fp=1"), error_score="raise")
    with pytest.raises(ValueError, match=r"y: row 1 is 3, which is none of the classes \[0, 1\]"):
        make_cost_scorer("fn=5,fp=1")(LogisticRegression().fit(X, y), X, y + 2)
