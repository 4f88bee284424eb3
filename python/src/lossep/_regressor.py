"""The estimator of outcomes that are numbers."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from lossep import _worker
from lossep._columns import Columns
from lossep._costs import raw_columns
from lossep._decisions import Worth, ask_prices, capacities, decide_options
from lossep._errors import DataWarning
from lossep._estimator import Estimator, index_of
from lossep._frames import Array
from lossep._model import Model
from lossep._progress import bar
from lossep._rows import cases, training_numbers
from lossep._settings import fit_options


@dataclass(frozen=True)
class NumberDecisions:
    """What to do in each of some cases whose outcome is a number.

    ``action`` is the action of the least expected cost, a number, or a name where costs are those of named
    actions; ``cost`` what it is expected to cost, and ``mean`` the expected outcome. ``lower`` and ``higher`` are
    its neighbours, with what they are expected to cost (``cost_lower``, ``cost_higher``): the next steps of a range
    or list, otherwise a tenth of the distance between the quartiles away; None with named actions. ``unusual`` are
    the columns in which each case is unlike the training rows. ``ids`` is the index of X, if that is a DataFrame.
    With a capacity ``unlimited`` are the actions without it, ``forgone`` is what it costs in each case, ``effort`` what the
    action takes of each limit by name, and ``capacity`` a dict as in ``Decisions``. They are None without one.
    """

    action: Array
    cost: Array
    mean: Array
    lower: Array | None = None
    cost_lower: Array | None = None
    higher: Array | None = None
    cost_higher: Array | None = None
    unusual: list[list[str]] = field(default_factory=list)
    ids: Any = None
    notes: list[str] = field(default_factory=list)
    unlimited: Array | None = None
    forgone: Array | None = None
    effort: dict[str, Array] | None = None
    capacity: dict[str, Any] | None = None

    def __len__(self) -> int:
        return len(self.action)

    def to_frame(self, index: Any = None) -> Any:
        """The decisions as a pandas DataFrame, with the columns of the command. The index is that of X by default."""
        import pandas

        names = ("action", "cost", "mean", "unlimited", "forgone", "lower", "cost_lower", "higher", "cost_higher")
        columns = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        columns.update({f"effort_{name}": values for name, values in (self.effort or {}).items()})
        columns["unusual"] = [";".join(names) for names in self.unusual]
        return pandas.DataFrame(columns, index=self.ids if index is None else index)

    def __repr__(self) -> str:
        actions = "" if self.action.dtype == object else f"; actions {self.action.min():.6g} to {self.action.max():.6g}"
        return f"NumberDecisions({len(self)} cases{actions}; expected cost per case {self.cost.mean():.6g})"


class LossepRegressor(RegressorMixin, Estimator):  # type: ignore[misc]  # scikit-learn has no types
    """Gaussian-process regression that decides by what a number too small or too large costs.

    The same engine as the command ``lossep fit --outcome number``. ``predict`` gives the mean, quantiles or probabilities;
    ``decide`` the action with the lowest expected cost.

    Parameters
    ----------
    cost : str or dict, optional
        What actions cost. ``{"under": 15, "over": 5}`` or ``"under=15,over=5"``: every unit that the action is below
        the outcome costs 15, every unit that it is above 5. ``{"cost": "15*max(outcome - action, 0) + action", "action":
        {"from": 0, "to": 200, "step": 5}}``: a formula, and the actions that there are, a range or a list; all numbers
        without it. ``{"costs": {"small van": "40 + 3*max(outcome - 20, 0)", "large van": 90}}``: a formula of the
        outcome for each of some named actions. Columns of X may stand in all of them. Without any, every unit off costs 1.
    outcome : str
        ``"number"``, or ``"count"``: whole numbers from 0 on, with Poisson or negative binomial noise.
    kernel : str, optional
        Covariance function in the command's language, such as ``"rbf(ard) + linear"``.
    method : str, optional
        ``"ep"``, ``"loss-ep"``, ``"vi"``, ``"loss-vi"`` or ``"laplace"``.
    inducing : int, "auto" or "none", optional
        Inducing points from which many rows are seen.
    noise_sd : str, optional
        Column of X with the known standard deviation of the noise of each outcome, as of standard errors of studies. What is
        predicted and decided on is the outcome without noise.
    weights, groups, categorical, ordered, missing, missing_markers, scaling, standardize, drop, features, dates, max_rows
        As for ``LossepClassifier``.
    options : dict, optional
        Further options of ``lossep fit`` by the names of its flags.
    random_state : int, RandomState or None
        Decides everything random. None is the command's own seed.
    progress : bool, optional
        Show a bar (needs tqdm). If not given: in a terminal or a notebook, once a fit takes more than a second.

    Attributes
    ----------
    n_features_in_, feature_names_in_ : as in scikit-learn
    log_evidence_ : float
        Of the transformed outcomes for the kernel found.
    loo_cost_ : float
        What the training rows would have cost per case, each decided without it; NaN with inducing points.
    kernel_ : str
        The kernel with its hyperparameters.
    model_ : Model
        The fitted model; ``print(model_)`` says what it is.
    notes_ : list of str
        What should be known about the table.

    Examples
    --------
    >>> import numpy as np
    >>> from lossep import LossepRegressor
    >>> random = np.random.default_rng(0)
    >>> X = random.uniform(size=(60, 1))
    >>> y = 10 + 5 * X[:, 0] + random.normal(size=60)
    >>> model = LossepRegressor(cost={"under": 15, "over": 5}, kernel="linear + constant").fit(X, y)
    >>> quartiles = model.predict(X[:3], quantiles=[0.25, 0.5, 0.75])
    >>> quartiles.shape
    (3, 3)
    >>> bool(np.allclose(model.decide(X[:3]).action, quartiles[:, 2]))
    True
    """

    def __init__(
        self,
        cost: str | Mapping[str, Any] | None = None,
        *,
        outcome: str = "number",
        kernel: str | None = None,
        method: str | None = None,
        inducing: int | str | None = None,
        weights: str | None = None,
        noise_sd: str | None = None,
        groups: str | None = None,
        categorical: Sequence[str] | None = None,
        ordered: Mapping[str, Sequence[str]] | None = None,
        missing: str | None = None,
        missing_markers: Sequence[str] | None = None,
        scaling: str | Mapping[str, str] | None = None,
        standardize: bool | None = None,
        drop: Sequence[str] | None = None,
        features: Sequence[str] | None = None,
        dates: str | None = None,
        max_rows: int | None = None,
        options: Mapping[str, Any] | None = None,
        random_state: Any = None,
        progress: bool | None = None,
    ) -> None:
        self.cost = cost
        self.outcome = outcome
        self.kernel = kernel
        self.method = method
        self.inducing = inducing
        self.weights = weights
        self.noise_sd = noise_sd
        self.groups = groups
        self.categorical = categorical
        self.ordered = ordered
        self.missing = missing
        self.missing_markers = missing_markers
        self.scaling = scaling
        self.standardize = standardize
        self.drop = drop
        self.features = features
        self.dates = dates
        self.max_rows = max_rows
        self.options = options
        self.random_state = random_state
        self.progress = progress

    def fit(self, X: Any, y: Any, sample_weight: Any = None, cost_columns: Any = None) -> LossepRegressor:
        """Fits the model.

        Parameters
        ----------
        X : array or DataFrame of shape (n, n_features)
            DataFrames of pandas and polars and tables of Arrow may have categories, texts, dates and missing values.
        y : array of shape (n,)
            The outcome of each row, a number.
        sample_weight : array of shape (n,), optional
            How often each row counts: the power of its likelihood.
        cost_columns : DataFrame of n rows, optional
            Columns that ``cost`` names and X does not have, or not as they were before a scaler.
        """
        self.__dict__.pop("model_", None)  # a fit that fails leaves no model of other rows behind
        table = training_numbers(self, X, y, sample_weight)
        self._names, self._scaled, self._framed, self._from_file = table.names, table.scaled, table.framed, False
        options = {**fit_options(self), **table.options}
        beside = _add_beside(table.columns, cost_columns)
        if beside:
            options["drop"] = [*options.get("drop", ()), *beside]
        if table.repeats is not None:
            table.columns.repeat(table.repeats)
        header = {"name": "X", "columns": table.columns.header(), "utility": _utility(self.cost), "options": options}
        with bar(self.progress) as progress:
            worker = _worker.worker()
            reply = worker.ask("fit", header, table.columns.tensors(), progress)
        self._take(Model(reply.tensors["model"].tobytes(), reply.result, worker))
        for text in [*self.notes_, *(self.model_.description["warnings"] or ())]:
            warnings.warn(text, DataWarning, stacklevel=2)
        if not self.model_.description["report"]["converged"]:
            status = self.model_.description["report"]["status"]
            warnings.warn(f"the fit did not converge: {status}", ConvergenceWarning, stacklevel=2)
        return self

    def update(
        self,
        X: Any,
        y: Any,
        *,
        half_life: float | None = None,
        refit_kernel: bool = False,
        cost_columns: Any = None,
    ) -> LossepRegressor:
        """Adds rows to the fitted model without a fit: the kernel stays, and the posterior moves.

        Parameters
        ----------
        X, y, cost_columns : as for ``fit``
            Further cases.
        half_life : float, optional
            The number of new rows after which what the rows before them told counts half as much.
        refit_kernel : bool
            Search for the hyperparameters of the kernel and the noise anew, with all rows of the model.
        """
        options = {"half-life": half_life} if half_life is not None else {}
        return self._update(X, y, cost_columns, {"options": {**options, "refit-kernel": refit_kernel}})

    def forget(self, X: Any, y: Any, *, cost_columns: Any = None) -> LossepRegressor:
        """Takes rows away from the fitted model, as they were given to ``fit`` or ``update``."""
        return self._update(X, y, cost_columns, {"taken": True})

    def monitor(
        self,
        X: Any,
        y: Any = None,
        *,
        time: str | None = None,
        window: str | int | None = None,
        level: float | None = None,
        tolerance: float | None = None,
        cost_columns: Any = None,
    ) -> dict[str, Any]:
        """Compares what decisions on new cases cost, window by window, with what the training rows led to expect.

        Parameters
        ----------
        X, cost_columns : as for ``fit``
            New cases. They are in the order of time, or have a column of times.
        y : array of shape (n,), optional
            What became of them; ``None`` or NaN where that is not known yet.
        time, window, level, tolerance
            As for ``LossepClassifier.monitor``, which returns the same.
        """
        check_is_fitted(self)
        columns = cases(self, X, besides=[time])
        _add_beside(columns, cost_columns)
        if y is not None:
            self._add_outcomes(columns, y)
        return self._watch(columns, {"time": time, "window": window, "level": level, "tolerance": tolerance})

    def _update(self, X: Any, y: Any, cost_columns: Any, header: dict[str, Any]) -> LossepRegressor:
        check_is_fitted(self)
        columns = cases(self, X)
        _add_beside(columns, cost_columns)
        self._add_outcomes(columns, y)
        with bar(self.progress) as progress:
            reply, worker = self.model_.ask(
                "update", {"name": "X", "columns": columns.header(), **header}, columns.tensors(), progress
            )
        self._take(Model(reply.tensors["model"].tobytes(), reply.result, worker))
        return self

    def _add_outcomes(self, columns: Columns, y: Any) -> None:
        """Adds the column of the outcome."""
        values = np.asarray(y, dtype=float)
        if values.shape != (columns.rows,):
            raise ValueError(f"y: {values.shape} for {columns.rows} rows; give the outcome of each")
        columns.add_numbers(self.model_.description["target"], values)

    def _take(self, model: Model) -> None:
        """Takes the attributes from a fitted model."""
        model.check("number")
        report = model.description["report"]
        loo = report.get("leave_one_out")
        self.model_ = model
        self.log_evidence_ = float(report["log_evidence"])
        self.loo_cost_ = float(loo["cost"]) if loo else float("nan")
        self.kernel_ = str(report["kernel"])
        self.notes_ = list(model.description["notes"] or [])

    def predict(self, X: Any, quantiles: Sequence[float] | None = None, *, grid: Sequence[float] | None = None) -> Array:
        """The expected outcome of each row; or quantiles of it, or the probabilities that it is at most the values of a
        grid: an array with a column for each.

        What to do is another question: ``decide``.
        """
        check_is_fitted(self)
        if quantiles is not None and grid is not None:
            raise ValueError("quantiles and grid: give one of them")
        columns = cases(self, X)
        asked = {"quantiles": quantiles, "grid": grid}
        options = {name: [repr(float(x)) for x in np.atleast_1d(given)] for name, given in asked.items() if given is not None}
        header = {"name": "X", "columns": columns.header(), "options": options}
        reply, _ = self.model_.ask("predict", header, columns.tensors())
        self._unseen(reply.result)
        found: Array = reply.tensors["cdf" if grid is not None else "quantiles" if quantiles is not None else "mean"]
        return found

    def decide(
        self,
        X: Any,
        cost: str | Mapping[str, Any] | None = None,
        *,
        cost_columns: Any = None,
        capacity: Mapping[str, float] | None = None,
        per: str | None = None,
        time: str | None = None,
    ) -> NumberDecisions:
        """The action of the least expected cost in each case.

        Parameters
        ----------
        X : array or DataFrame
            The cases.
        cost : as for the estimator, optional
            Other costs than those of the fit; nothing is fitted again.
        cost_columns : DataFrame of n rows, optional
            Columns that ``cost`` names and X does not have.
        capacity : dict, optional
            How much there is for all cases together: ``{"action": 500}`` limits the sum of the actions,
            ``{"large van": 3}`` how often a named one is taken, and the name of an ``effort`` of the costs what they take of it.
        per, time : str, optional
            As for ``LossepClassifier.decide``.
        """
        check_is_fitted(self)
        columns = cases(self, X, besides=[per, time])
        _add_beside(columns, cost_columns)
        options = {"capacity": capacities(capacity), "per": per, "time": time}
        options = {name: value for name, value in options.items() if value is not None}
        header = {"name": "X", "columns": columns.header(), "utility": _utility(cost), "options": options}
        reply, _ = self.model_.ask("decide", header, columns.tensors())
        self._unseen(reply.result)
        return self._decisions(reply, columns, X)

    def value(
        self,
        X: Any,
        cost: str | Mapping[str, Any] | None = None,
        *,
        cost_columns: Any = None,
        ask: Sequence[str] | Mapping[str, float] = (),
        labels: bool = False,
    ) -> Worth:
        """What it would be worth in each case to know more before acting.

        Parameters
        ----------
        X : array or DataFrame
            The cases. Columns to be measured may be missing (NaN or None).
        cost, cost_columns : as for ``decide``, optional
            Other costs than those of the fit, and the columns that they name.
        ask : list of names, or dict
            Columns that could be measured, with what that costs, as for ``LossepClassifier.value``.
        labels : bool
            Whether to value the outcome of each case to decisions on all of them, at most 300, were it known and
            learned from.
        """
        check_is_fitted(self)
        prices = ask_prices(ask)
        columns = cases(self, X, gaps=True)
        _add_beside(columns, cost_columns)
        options = decide_options(ask=[f"{name}={price!r}" for name, price in prices.items()], labels=labels)
        header = {"name": "X", "columns": columns.header(), "utility": _utility(cost), "options": options}
        reply, _ = self.model_.ask("value", header, columns.tensors())
        self._unseen(reply.result)
        tensors = reply.tensors
        return Worth(
            decisions=self._decisions(reply, columns, X),
            outcome=tensors["worth_outcome"],
            columns={name: tensors["worth_columns"][:, k] for k, name in enumerate(prices)},
            label=tensors.get("worth_label"),
        )

    def _decisions(self, reply: Any, columns: Columns, X: Any) -> NumberDecisions:
        found, names = reply.tensors, reply.result.get("actions")
        unusual = reply.result.get("unusual") or {}
        capacity = reply.result.get("capacity")
        limits = [limit["name"] for limit in capacity["limits"]] if capacity else []
        unlimited = found.get("unlimited" if names is None else "unlimited_index")
        return NumberDecisions(
            action=found["action"] if names is None else np.array(names, dtype=object)[found["action_index"]],
            cost=found["cost"],
            mean=found["mean"],
            **{name: found.get(name) for name in ("lower", "cost_lower", "higher", "cost_higher")},  # None of named ones
            unusual=[unusual.get(str(i), []) for i in range(columns.rows)],
            ids=index_of(X),
            notes=list(reply.result["notes"] or []),
            unlimited=unlimited if names is None or unlimited is None else np.array(names, dtype=object)[unlimited],
            forgone=found.get("forgone"),
            effort={name: found["effort"][:, k] for k, name in enumerate(limits)} if capacity else None,
            capacity=capacity,
        )

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> LossepRegressor:
        """Reads a model from a file of this package or of the command.

        Of the parameters ``cost`` is that of the fit, the others are not in the file.
        """
        model = Model.read(path, "number")
        estimator = cls(cost=model.description["report"]["costs"])
        estimator._named(list(model.description["table"]))
        estimator._take(model)
        return estimator


def _utility(cost: str | Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Costs as the program takes them."""
    if cost is None:
        return None
    if isinstance(cost, str):
        return {"costs": cost}
    if not isinstance(cost, Mapping) or not cost:
        raise ValueError(f"cost: {cost!r} is not what actions cost; give for example {{'under': 15, 'over': 5}}")
    return {"spec": _plain(cost)}


def _plain(value: Any) -> Any:
    """Numbers of numpy and others as Python's."""
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, (str, bool)) or value is None:
        return value
    if np.ndim(value) > 0:
        return [_plain(entry) for entry in value]
    number = float(value)
    if not np.isfinite(number):
        raise ValueError(f"cost: an entry is {number}; give a finite number")
    return number


def _add_beside(columns: Columns, cost_columns: Any) -> list[str]:
    """Adds the columns that costs name and X does not have, and gives their names."""
    if cost_columns is None:
        return []
    beside = raw_columns(cost_columns, columns.rows)
    numbers = beside.tensors()[0][1]
    names = []
    for column in beside.header():
        name = column["name"]
        if name in columns.names:
            raise ValueError(f"cost_columns: X has a column {name!r} as well; rename it, and in cost")
        if column["tensor"] != 0:
            raise ValueError(f"cost_columns: {name!r} is not a column of numbers")
        columns.add_numbers(name, numbers[column["row"]])
        names.append(name)
    return names
