"""Figures of what decisions cost and of how far probabilities can be trusted.

They are drawn with matplotlib from the numbers of an audit, with the interface of
scikit-learn's displays: ``from_estimator``, ``from_predictions``, ``plot``, and the axes as
``ax_``.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from sklearn.utils.validation import check_consistent_length, column_or_1d

from lossep._audit import Audit, audit
from lossep._columns import framed, is_frame
from lossep._costs import Cost, names_columns
from lossep._decisions import ONE_COLUMN, class_order, positive_of, settled
from lossep._frames import Array
from lossep._scoring import cost_per_case
from lossep._validation import check_probabilities

_DRAWN = "the figure is of its probabilities"

_D = TypeVar("_D", bound="_Display")


class _Display:
    """What the displays share."""

    ax_: Any
    figure_: Any
    name: str

    @classmethod
    def from_estimator(
        cls: type[_D],
        estimator: Any,
        X: Any,
        y: Any,
        *,
        cost: Cost = None,
        cost_columns: Any = None,
        pos_label: Any = None,
        name: str | None = None,
        ax: Any = None,
        **options: Any,
    ) -> _D:
        """Draws it for a fitted classifier and cases that it has not seen.

        Costs are those of the estimator, if it has any, unless others are given. So is the
        positive class, or else it is the one that is so by convention. The columns that costs
        name are those of X, or of ``cost_columns``.
        """
        if cost is None:
            cost = getattr(estimator, "cost", None)
        if cost_columns is None and names_columns(cost) and is_frame(framed(X)):
            cost_columns = X
        labels = estimator.classes_
        _two(labels)
        if pos_label is None:
            pos_label = positive_of(estimator)
        if pos_label is None:
            pos_label = settled(labels, _DRAWN)
        last = class_order(labels, pos_label)[-1]
        p = estimator.predict_proba(X)[:, last]
        name = name or type(estimator).__name__
        return cls.from_predictions(y, p, cost=cost, cost_columns=cost_columns, pos_label=labels[last], name=name, ax=ax, **options)

    @classmethod
    def from_predictions(
        cls: type[_D],
        y_true: Any,
        y_prob: Any,
        *,
        cost: Cost = None,
        cost_columns: Any = None,
        pos_label: Any = None,
        name: str | None = None,
        ax: Any = None,
        **options: Any,
    ) -> _D:
        """Draws it for probabilities of the positive class: the one given, or that is so by
        convention."""
        y = column_or_1d(y_true, warn=True)
        labels = np.unique(y)
        _two(labels)
        p = check_probabilities(y_prob, "y_prob")
        if p.ndim != 1:
            raise ValueError(f"y_prob: an array of shape {p.shape}; give the probabilities of the positive class alone")
        check_consistent_length(y, p)
        if pos_label is None:
            pos_label = settled(labels, ONE_COLUMN)
        display = cls._compute(y, p, cost, cost_columns, pos_label, name or "probability")
        return display.plot(ax=ax, **options)

    @classmethod
    def _compute(cls: type[_D], y: Array, p: Array, cost: Cost, cost_columns: Any, pos_label: Any, name: str) -> _D:
        raise NotImplementedError

    def plot(self: _D, ax: Any = None, **options: Any) -> _D:
        """Draws it, on the axes given or on new ones."""
        raise NotImplementedError

    def _axes(self, ax: Any) -> Any:
        import matplotlib.pyplot as plt

        if ax is None:
            _, ax = plt.subplots()
        self.ax_, self.figure_ = ax, ax.figure
        return ax


def _two(labels: Any) -> None:
    if len(labels) > 2:
        raise ValueError(
            f"y has {len(labels)} classes and the figure is of two; draw one of them against the rest, with y == label and its "
            "column of predict_proba"
        )


def _audited(y: Array, p: Array, cost: Cost, cost_columns: Any, pos_label: Any, name: str) -> Audit:
    return audit(y, {name: p}, cost, cost_columns=cost_columns, pos_label=pos_label, recalibrate="none", progress=False)


class ReliabilityDisplay(_Display):
    """Observed frequencies against predicted probabilities, with 95 % intervals.

    Parameters
    ----------
    predicted, observed, low, high : arrays
        Of groups of cases with similar probabilities.
    count : array
        How many cases they have.
    name : str
        Of the model.
    """

    def __init__(self, *, predicted: Array, observed: Array, low: Array, high: Array, count: Array, name: str = "") -> None:
        self.predicted, self.observed, self.low, self.high, self.count = predicted, observed, low, high, count
        self.name = name

    @classmethod
    def _compute(cls, y: Array, p: Array, cost: Cost, cost_columns: Any, pos_label: Any, name: str) -> ReliabilityDisplay:
        bins = _audited(y, p, "fn=1,fp=1" if cost is None else cost, cost_columns, pos_label, name).results["reliability"]["bins"]
        columns = {key: np.array([b[key] for b in bins]) for key in ("predicted", "observed", "low", "high", "count")}
        return cls(name=name, **columns)

    def plot(self, ax: Any = None, **options: Any) -> ReliabilityDisplay:
        """Draws it; options are those of ``Axes.errorbar``."""
        ax = self._axes(ax)
        ax.plot([0, 1], [0, 1], color="0.6", linestyle=":", label="as predicted")
        errors = np.clip([self.observed - self.low, self.high - self.observed], 0, None)
        ax.errorbar(self.predicted, self.observed, yerr=errors, **{"fmt": "o-", "capsize": 2, "label": self.name, **options})
        ax.set(xlabel="predicted probability", ylabel="observed frequency", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
        ax.legend()
        return self


class DecisionCurveDisplay(_Display):
    """Net benefit against how many times a miss is as bad as a false alarm.

    The decision curve of Vickers and Elkin (2006), in true positives per case.

    Parameters
    ----------
    ratios : array
        Of the cost of a miss to that of a false alarm.
    curves : dict of arrays
        Net benefit by what decides.
    given : float or None
        The ratio of the costs as given.
    """

    def __init__(self, *, ratios: Array, curves: dict[str, Array], given: float | None = None, name: str = "") -> None:
        self.ratios, self.curves, self.given, self.name = ratios, curves, given, name

    @classmethod
    def _compute(cls, y: Array, p: Array, cost: Cost, cost_columns: Any, pos_label: Any, name: str) -> DecisionCurveDisplay:
        found = _audited(y, p, "fn=1,fp=1" if cost is None else cost, cost_columns, pos_label, name).results["net_benefit"]
        if found is None:
            raise ValueError("cost: a decision curve needs two actions and a threshold that all cases share")
        curves = {c["method"]: np.array(c["values"]) for c in found["curves"]}
        return cls(ratios=np.array(found["ratios"]), curves=curves, given=None if cost is None else found["given_ratio"], name=name)

    def plot(self, ax: Any = None, **options: Any) -> DecisionCurveDisplay:
        """Draws it; options are those of ``Axes.plot`` for the model's curve."""
        ax = self._axes(ax)
        for label, values in self.curves.items():
            mine = label == self.name
            style = {"label": label, **(options if mine else {"linestyle": "--", "linewidth": 1})}
            ax.plot(self.ratios, values, **style)
        if self.given is not None:
            ax.axvline(self.given, color="0.6", linestyle=":", label="the costs as given")
        ax.set(xlabel="a miss is so many times as bad as a false alarm", ylabel="net benefit per case", xscale="log")
        top = max(float(np.max(values)) for values in self.curves.values())
        ax.set_ylim(-0.1 * abs(top) - 0.01, 1.1 * top + 0.01)
        ax.legend()
        return self


class CostCurveDisplay(_Display):
    """Cost per case against the threshold on the probability.

    Parameters
    ----------
    thresholds, costs : arrays
        What deciding by every threshold costs per case.
    given : float or None
        The threshold that the costs imply.
    name : str
        Of the model.
    """

    def __init__(self, *, thresholds: Array, costs: Array, given: float | None = None, name: str = "") -> None:
        self.thresholds, self.costs, self.given, self.name = thresholds, costs, given, name

    @classmethod
    def _compute(cls, y: Array, p: Array, cost: Cost, cost_columns: Any, pos_label: Any, name: str) -> CostCurveDisplay:
        if cost is None:
            raise ValueError("cost: give what mistakes cost, such as {'fn': 5, 'fp': 1}")
        labels = np.unique(y)
        last = labels[-1] if pos_label is None else pos_label
        happened = y == last
        # What each case costs under both actions: it is decided for certain, either way.
        certain = (labels == last).astype(float)
        acted, left = (
            cost_per_case(y, np.tile(q, (len(y), 1)), cost, classes=labels, pos_label=last, cost_columns=cost_columns)
            for q in (certain, 1 - certain)
        )
        order = np.argsort(-p, kind="stable")
        total = np.concatenate([[left.sum()], left.sum() + np.cumsum((acted - left)[order])])
        # Only where the probability changes is there a threshold between cases.
        ends = np.flatnonzero(np.concatenate([np.diff(p[order]) != 0, [True]])) + 1
        thresholds = np.concatenate([[1.0], p[order][ends - 1]])
        costs = np.concatenate([[total[0]], total[ends]]) / len(y)
        means = [
            float(np.mean(v[happened == side])) if (happened == side).any() else 0.0
            for v in (left, acted)
            for side in (False, True)
        ]
        miss, alarm = means[1] - means[3], means[2] - means[0]
        given = alarm / (miss + alarm) if miss > 0 and alarm > 0 else None
        return cls(thresholds=thresholds, costs=costs, given=given, name=name)

    def plot(self, ax: Any = None, **options: Any) -> CostCurveDisplay:
        """Draws it; options are those of ``Axes.plot``."""
        ax = self._axes(ax)
        ax.step(self.thresholds, self.costs, **{"where": "pre", "label": self.name, **options})
        if self.given is not None:
            ax.axvline(self.given, color="0.6", linestyle=":", label="the threshold that the costs imply")
        ax.set(xlabel="act where the probability is at least", ylabel="cost per case", xlim=(-0.02, 1.02))
        ax.legend()
        return self
