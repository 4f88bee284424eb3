"""Outcomes that are numbers: predictions and decisions are those of the command."""

from __future__ import annotations

import doctest
import pickle
import subprocess

import numpy as np
import pytest

import lossep
from lossep import _regressor
from lossep._binary import binary

pytestmark = pytest.mark.filterwarnings("ignore::lossep.DataWarning")


@pytest.fixture(scope="module")
def demand():
    """A table of days with what was sold, and a model of it."""
    pandas = pytest.importorskip("pandas")
    random = np.random.default_rng(3)
    X = pandas.DataFrame(
        {"day": random.choice(["mon", "sat"], 80), "heat": random.uniform(0, 30, 80), "price": random.uniform(2, 6, 80)}
    )
    y = pandas.Series(30 + 8 * (X["day"] == "sat") + X["heat"] / 2 + random.normal(size=80), name="sold")
    return X, y, lossep.LossepRegressor("under=15,over=5", kernel="linear + constant").fit(X, y)


def test_docstring() -> None:
    assert doctest.testmod(_regressor).failed == 0


def test_decisions_are_quantiles(demand) -> None:
    X, _, model = demand
    found = model.decide(X)
    np.testing.assert_allclose(found.action, model.predict(X, quantiles=[0.75])[:, 0])
    assert (found.cost <= found.cost_lower).all() and (found.cost <= found.cost_higher).all()
    below = model.predict(X[:3], grid=found.action[:3])
    np.testing.assert_allclose(np.diag(below), 0.75, rtol=1e-9)
    other = model.decide(X, {"under": "price", "over": 1})
    share = (X["price"] / (X["price"] + 1)).to_numpy()
    rows = model.predict(X, quantiles=share[:3])
    np.testing.assert_allclose(other.action[:3], np.diag(rows[:3]))
    assert list(other.to_frame().columns)[:2] == ["action", "cost"]
    squares = model.decide(X, {"cost": "(outcome - action) * (outcome - action)"})
    np.testing.assert_allclose(squares.action, model.predict(X), rtol=1e-5)  # to the root of what costs are known to


def test_capacity(demand) -> None:
    X, _, model = demand
    free = model.decide(X)
    found = model.decide(X, capacity={"action": 2000})
    assert abs(found.action.sum() - 2000) < 1e-6 * 2000  # the noise is normal: all of it is used
    np.testing.assert_allclose(found.unlimited, free.action)
    np.testing.assert_allclose(found.effort["action"], found.action)
    np.testing.assert_allclose(found.forgone.sum(), found.capacity["cost"]["value"])
    price = found.capacity["limits"][0]["price"]["value"]
    more = model.decide(X, capacity={"action": 2001})
    np.testing.assert_allclose(found.cost.sum() - more.cost.sum(), price, rtol=0.01)  # the slope of the cost
    X = X.assign(depot=X["day"])
    days = model.decide(X, {"costs": {"small": "40 + 3*max(outcome - 30, 0)", "large": 60}}, capacity={"large": 5}, per="depot")
    sums = days.to_frame().assign(depot=X["depot"]).query("action == 'large'").groupby("depot").size()
    assert list(sums) == [5, 5] and list(days.unlimited).count("large") > 10
    with pytest.raises(ValueError, match=r"the capacity .*van.* is that of no action"):
        model.decide(demand[0], capacity={"van": 3})


def test_methods(demand) -> None:
    X, y, model = demand
    other = lossep.LossepRegressor("under=15,over=5", kernel="linear + constant", method="laplace").fit(X, y)
    np.testing.assert_allclose(other.decide(X).action, model.decide(X).action, rtol=1e-6)  # the noise is normal
    with pytest.raises(ValueError, match=r"method.*corrected is not for outcomes that are numbers"):
        lossep.LossepRegressor(method="corrected").fit(X, y)


def test_counts() -> None:
    random = np.random.default_rng(4)
    X = random.uniform(0, 2, size=(40, 1))
    y = random.poisson(np.exp(X[:, 0]))
    fitted = lossep.LossepRegressor(outcome="count", kernel="linear + constant").fit(X, y)
    assert fitted.model_.description["report"]["shape"]["transform"]["name"] == "count"
    with pytest.raises(ValueError, match=r"is no count.*outcome=.number."):
        lossep.LossepRegressor(outcome="count").fit(X, y + 0.5)


def test_updates(demand) -> None:
    X, y, _ = demand
    half = lossep.LossepRegressor("under=15,over=5", kernel="linear + constant").fit(X[:60], y[:60])
    before = half.predict(X)
    after = half.update(X[60:], y[60:]).predict(X)
    assert np.abs(after - before).max() > 0.01
    assert half.model_.description["report"]["updates"]["added"] == 20
    np.testing.assert_allclose(half.forget(X[60:], y[60:]).predict(X), before, atol=1e-6)
    with pytest.raises(ValueError, match="give the outcome of each"):
        half.update(X[:2], y[:1])
    with pytest.raises(ValueError, match="no training row"):
        half.forget(X[:1], [7])


def test_monitor(demand) -> None:
    X, y, model = demand
    later = y.astype(float).copy()
    later[70:] = np.nan
    found = model.monitor(X, later, window=40)
    assert [w["known_outcomes"] for w in found["windows"]] == [40, 30] and found["reference"]["rows"] == 80
    assert 0.7 < found["windows"][0]["coverage_90"] <= 1 and found["alarms"] == []
    assert "realised" not in model.monitor(X)["windows"][0]


def test_value(demand) -> None:
    X, _, model = demand
    found = model.value(X[:5], ask={"day": 0.5, "price": 0})
    decided = model.decide(X[:5])
    np.testing.assert_allclose(found.outcome, decided.cost, rtol=1e-6)
    np.testing.assert_allclose(found.decisions.action, decided.action)
    assert (found.columns["day"] > found.columns["price"]).all() and list(found.to_frame().columns)[-1] == "worth_price"
    unknown = X[:5].copy()
    unknown["day"] = None
    np.testing.assert_allclose(model.value(unknown, ask=["day"]).columns["day"], found.columns["day"] + 0.5)
    named = model.value(X[:2], {"costs": {"small": "3 * max(outcome - 36, 0)", "large": 9}})
    assert set(named.decisions.action) <= {"small", "large"} and named.columns == {}


def test_ranges_lists_and_names(demand) -> None:
    X, _, model = demand
    formula = "15*max(outcome - action, 0) + 5*max(action - outcome, 0)"
    stepped = model.decide(X, {"cost": formula, "action": {"from": 0, "to": 200, "step": 5}})
    assert (stepped.action % 5 == 0).all()
    with pytest.warns(lossep.DataWarning, match="edge of its range"):
        edge = model.decide(X, {"cost": formula, "action": np.array([1, 2])})
    assert set(edge.action) == {2.0}
    named = model.decide(X, {"costs": {"small": "3 * max(outcome - 36, 0)", "large": 9}})
    assert set(named.action) <= {"small", "large"} and named.lower is None


def test_the_same_as_the_command(demand, tmp_path) -> None:
    X, _, model = demand
    table, file = tmp_path / "new.csv", tmp_path / "m.lossep"
    X.to_csv(table, index=False)
    model.save(file)
    done = subprocess.run([binary(), "decide", file, table], capture_output=True, text=True, check=True)
    actions = [float(line.split(",")[1]) for line in done.stdout.splitlines()[1:]]
    np.testing.assert_array_equal(actions, model.decide(X).action)
    for other in (lossep.LossepRegressor.load(file), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.predict(X), model.predict(X))
    assert lossep.LossepRegressor.load(file).cost == {"under": "15", "over": "5"}
    with pytest.raises(ValueError, match="LossepRegressor"):
        lossep.LossepClassifier.load(file)
    with pytest.raises(ValueError, match="LossepRegressor"):
        lossep.LossepClassifier(options={"outcome": "number"}).fit(np.arange(40.0)[:, None], np.arange(40) % 2)


def test_columns_beside(demand) -> None:
    pandas = pytest.importorskip("pandas")
    X, y, model = demand
    beside = pandas.DataFrame({"worth": np.linspace(1, 9, len(X))})
    costs = {"under": "worth", "over": 1}
    found = model.decide(X, costs, cost_columns=beside)
    share = (beside["worth"] / (beside["worth"] + 1)).to_numpy()[:3]
    np.testing.assert_allclose(found.action[:3], np.diag(model.predict(X[:3], quantiles=share)))
    fitted = lossep.LossepRegressor(costs, kernel="linear + constant").fit(X, y, cost_columns=beside)
    assert "worth" not in fitted.model_.description["columns"]
    with pytest.raises(ValueError, match="X has a column"):
        model.decide(X, costs, cost_columns=beside.rename(columns={"worth": "price"}))


def test_refusals(demand) -> None:
    X, y, model = demand
    for cost, text in [
        ("fn=5,fp=1", "under=COST"),
        ({"under": 1}, "not one kind of costs"),
        ({"under": -1, "over": 1}, "under"),
        ({"under": float("nan"), "over": 1}, "finite"),
        ({}, "under"),
        ({"under": "rent", "over": 1}, "rent"),
        ({"cost": "outcome - action"}, "does not rise again"),
    ]:
        with pytest.raises(ValueError, match=text):
            model.decide(X, cost)
    with pytest.raises(ValueError, match="not between 0 and 1"):
        model.predict(X, quantiles=[2])
    with pytest.raises(ValueError, match="give one of them"):
        model.predict(X, quantiles=[0.5], grid=[3])
    with pytest.raises(ValueError, match="in every row"):
        lossep.LossepRegressor().fit(X, 0 * y)
