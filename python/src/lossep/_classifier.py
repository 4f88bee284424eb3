"""The estimator."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, _check_y, check_consistent_length, check_is_fitted, validate_data

from lossep import _worker
from lossep._audit import Audit, run_audit
from lossep._columns import Columns, framed, from_array, from_frame, is_frame, shown, spelled
from lossep._costs import Cost, Stakes, case_cost, stakes
from lossep._decisions import (
    PREVALENCE,
    Decisions,
    Worth,
    ask_prices,
    from_reply,
    none_positive,
    outcome_names,
    settled,
    unsettled,
    worth_from_reply,
)
from lossep._errors import DataWarning
from lossep._frames import Array
from lossep._model import Model
from lossep._progress import bar


class LossepClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A Gaussian-process classifier that decides by what mistakes cost.

    The same engine as the command ``lossep``: with the same rows, options and seed it gives
    the same numbers to the last bit. ``predict`` is scikit-learn's, the most probable class;
    ``decide`` gives the action with the lowest expected cost.

    Parameters
    ----------
    cost : str, dict or array of shape (n_actions, n_classes), optional
        What actions cost. ``{"fn": 5, "fp": 1}`` or ``"fn=5,fp=1"``: a missed positive costs 5
        and a false alarm 1. ``{"accept": {"good": 0, "bad": "0.6 * amount"}, ...}``: a cost for
        each action under each class, which may be an expression over columns of X. An array:
        a row for each action and a column for each class, in the order of ``classes_``. Costs
        that differ from case to case in other ways are given to ``fit`` and ``decide`` as an
        array of shape (n, n_actions, n_classes). Without any, every wrong class costs 1.
    actions : list of str, optional
        Names of the actions, where ``cost`` is an array.
    kernel : str, optional
        Covariance function in the command's language, such as ``"rbf(ard) + linear"``.
    method : str, optional
        ``"ep"``, ``"loss-ep"``, ``"corrected"``, ``"vi"``, ``"loss-vi"`` or ``"laplace"``.
    likelihood : str, optional
        ``"probit"``, ``"logit"`` or ``"robust"``, the last with ``label_noise``.
    label_noise : float, optional
        The share of wrong labels.
    inducing : int, "auto" or "none", optional
        Inducing points from which many rows are seen.
    power : float, optional
        Power of expectation propagation with inducing points.
    hyperparameters : {"maximum", "average"}, optional
        One set of hyperparameters, or an average over several that the rows leave possible.
    fixed : bool, optional
        Keep the hyperparameters that ``kernel`` gives.
    restarts : int, optional
        Further searches for hyperparameters from random starts.
    positive : label, optional
        The class that ``fn`` and ``fp`` are about. If not given it is the one that is so by
        convention, as for the command (``1``, ``yes``, ``bad``, ``malignant``). Where there is
        none, costs by ``fn`` and ``fp`` and a ``prevalence`` are an error; nothing else depends
        on it. More than two classes have no such one.
    prevalence : float, optional
        How frequent the positive class is among the cases to be decided, if not as in the
        training rows.
    weights : str, optional
        The column of X that says how often each case counts, in place of ``sample_weight``.
    groups : str, optional
        The column of X that says which rows belong together, such as those of one patient: they
        are left out together, and it is not decided by.
    categorical : list of str, optional
        Columns that are categorical whatever they look like. Those of a categorical dtype are.
    ordered : dict, optional
        Columns whose categories have an order, such as ``{"size": ["S", "M", "L"]}``.
    missing : {"error", "impute"}, optional
        What to do about missing cells; imputing adds an indicator.
    missing_markers : list of str, optional
        Spellings of a missing cell beside the usual ones, or ``"COLUMN=SPELLING"`` for one of a
        column alone, such as ``"pressure=0"``.
    scaling : str or dict, optional
        How numeric columns are bent before they are standardised: for all columns, or by
        column.
    standardize : bool, optional
        Give numeric columns mean 0 and variance 1.
    drop, features : list of str, optional
        Columns not to decide by, and the only ones to decide by.
    dates : {"day-first", "month-first"}, optional
        Where 03/04/2025 could be either.
    max_rows : int, optional
        Refuse more training rows than this.
    options : dict, optional
        Further options of ``lossep fit`` by the names of its flags.
    random_state : int, RandomState or None
        Decides everything random. None is the command's own seed.
    progress : bool, optional
        Show a bar (needs tqdm). If not given: in a terminal or a notebook, once a fit takes
        more than a second.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_ : as in scikit-learn
    actions_ : list of str
        The actions, in the order of expected costs.
    positive_ : label or None
        The class that is positive, the last of ``classes_`` where it does not matter which is;
        None where there are more than two.
    log_evidence_ : float
        Of expectation propagation for the kernel found.
    loo_cost_ : float
        What the training rows would have cost per case, each decided without it; NaN where
        that does not exist. Where utilities were given, it is what they bring.
    kernel_, method_ : str
        The kernel with its hyperparameters, and the method.
    threshold_ : float or None
        The probability of the positive class beyond which the second of two actions is better.
    model_ : Model
        The fitted model; ``print(model_)`` says what it is.
    notes_ : list of str
        What should be known about the table.
    """

    def __init__(
        self,
        cost: Cost = None,
        *,
        actions: Sequence[str] | None = None,
        kernel: str | None = None,
        method: str | None = None,
        likelihood: str | None = None,
        label_noise: float | None = None,
        inducing: int | str | None = None,
        power: float | None = None,
        hyperparameters: str | None = None,
        fixed: bool | None = None,
        restarts: int | None = None,
        positive: Any = None,
        prevalence: float | None = None,
        weights: str | None = None,
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
        self.actions = actions
        self.kernel = kernel
        self.method = method
        self.likelihood = likelihood
        self.label_noise = label_noise
        self.inducing = inducing
        self.power = power
        self.hyperparameters = hyperparameters
        self.fixed = fixed
        self.restarts = restarts
        self.positive = positive
        self.prevalence = prevalence
        self.weights = weights
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

    _file_columns: list[str] | None = None
    """The columns that make features, of a model from a file."""

    _positive_settled: bool = True
    """Whether which class is positive was given, or is so by convention."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "impute"
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None, cost: Any = None) -> LossepClassifier:
        """Fits the model.

        Parameters
        ----------
        X : array or DataFrame of shape (n, n_features)
            DataFrames of pandas and polars and tables of Arrow may have categories, texts,
            dates and missing values.
        y : array of shape (n,)
            The class of each row.
        sample_weight : array of shape (n,), optional
            How often each row counts: the power of its likelihood with two classes, and with
            more a whole number of copies of the row.
        cost : array of shape (n, n_actions, n_classes), optional
            Costs of the single cases, in place of the parameter ``cost``.
        """
        table, y, outcomes = self._table(X, y, sample_weight)
        given = self._stakes(self.cost if cost is None else cost, outcomes)
        if self.actions is not None and given.utility is None:
            raise ValueError("actions: there are no costs for them; give cost as well")
        if given.cases and cost is None:
            raise ValueError("cost: an array with a table for each case is given to fit, decide and audit, not to the estimator")
        options = {**self._fit_options(), **table.options}
        given = self._settle(options, given, outcomes)
        given.add_to(table.columns)
        if table.repeats is not None:
            table.columns.repeat(table.repeats)
        header = {
            "name": "X",
            "columns": table.columns.header(),
            "utility": given.utility,
            "options": {**options, "drop": [*table.options.get("drop", []), *given.cases]},
            "unsettled": not self._positive_settled,
        }
        with bar(self.progress) as progress:
            worker = _worker.worker()
            reply = worker.ask("fit", header, table.columns.tensors(), progress)
        model = Model(reply.tensors["model"].tobytes(), reply.result, worker)
        self._outcomes, self._file_columns = outcomes, None
        self._take(model)
        self._warn()
        return self

    def _take(self, model: Model) -> None:
        """Takes the attributes from a fitted model."""
        d = model.description
        summary = d["summary"]
        loo = summary.get("leave_one_out")
        self.model_ = model
        self.actions_ = list(d["actions"])
        self.log_evidence_ = float(summary["log_evidence"])
        self.loo_cost_ = float(loo["value"]) if loo else float("nan")
        self.kernel_ = str(d["kernel"])
        self.method_ = str(d["method"])
        self.threshold_ = d["threshold"]
        self.notes_ = list(d["notes"] or [])
        self.positive_ = self.classes_[self._outcomes.index(d["positive"])] if d["positive"] in self._outcomes else None
        self._positive_settled = not d["unsettled"]
        self._calibrated: dict[str, Model] = {}

    def _warn(self) -> None:
        summary = self.model_.description["summary"]
        status, search = summary["status"], summary.get("search") or {}
        if not status["converged"]:
            text = "; ".join([status["text"], *(status.get("notes") or [])])
            warnings.warn(f"the fit did not converge: {text}", ConvergenceWarning, stacklevel=3)
        if "limit" in search.get("stop", ""):
            text = f"{search['stop']} ({search['evaluations']}); a simpler kernel, or one with values to start from, may do"
            warnings.warn(f"the search for hyperparameters did not converge: {text}", ConvergenceWarning, stacklevel=3)
        for note in self.notes_:
            warnings.warn(note, DataWarning, stacklevel=3)
        for column in self.model_.description.get("dropped") or ():
            if column["reason"].startswith("identifier"):
                warnings.warn(f"column {column['column']!r} is not decided by: {column['reason']}", DataWarning, stacklevel=3)

    def _order(self, outcomes: Sequence[str]) -> list[int]:
        """The places among the classes of the program's outcomes."""
        return [self._outcomes.index(name) for name in outcomes]

    def predict_proba(self, X: Any) -> Array:
        """Probabilities of the classes, a column each in the order of ``classes_``."""
        check_is_fitted(self)
        columns = self._columns(X, reset=False)
        reply, _ = self.model_.ask("predict", {"name": "X", "columns": columns.header()}, columns.tensors())
        self._unseen(reply.result)
        found = reply.tensors["probabilities"]
        order = self._order(self.model_.description["outcomes"])
        if order == list(range(len(order))):
            return found
        probabilities: Array = np.empty_like(found)
        probabilities[:, order] = found
        return probabilities

    def predict(self, X: Any) -> Array:
        """The most probable class of each row. What to do is another question: ``decide``."""
        found = self.predict_proba(X)
        labels: Array = self.classes_[np.argmax(found, axis=1)]
        return labels

    def predict_latent(self, X: Any) -> tuple[Array, Array]:
        """Mean and variance of the latent value, from which the probabilities of two classes
        are made."""
        check_is_fitted(self)
        if len(self.classes_) > 2:
            raise ValueError(f"there is one latent value for two classes only, and there are {len(self.classes_)} classes")
        columns = self._columns(X, reset=False)
        reply, _ = self.model_.ask("predict", {"name": "X", "columns": columns.header()}, columns.tensors())
        latent = reply.tensors["latent"]
        return latent[:, 0], latent[:, 1]

    def decide(self, X: Any, cost: Any = None, *, calibrated: bool = False, second_opinion: bool = False) -> Decisions:
        """The best action in each case, with what every action is expected to cost.

        Parameters
        ----------
        X : array or DataFrame
            The cases.
        cost : as for the estimator, or array of shape (n, n_actions, n_classes), optional
            Other costs than those of the fit; nothing is fitted again.
        calibrated : bool
            Calibrate the posterior to these costs first (loss-calibrated expectation
            propagation). That is kept for the next call with the same costs.
        second_opinion : bool
            Ask other methods whether they would act otherwise.
        """
        check_is_fitted(self)
        columns = self._columns(X, reset=False)
        given = self._other_stakes(cost)
        given.add_to(columns)
        model = self._calibrate(given) if calibrated else self.model_
        header = {"name": "X", "columns": columns.header(), "utility": given.utility, "consult": second_opinion}
        reply, _ = model.ask("decide", header, columns.tensors())
        self._unseen(reply.result)
        return from_reply(reply, self.classes_, self._order(model.description["outcomes"]), second_opinion)

    def value(self, X: Any, cost: Any = None, *, ask: Sequence[str] | Mapping[str, float] = (), labels: bool = False) -> Worth:
        """What it would be worth in each case to know more before acting.

        Parameters
        ----------
        X : array or DataFrame
            The cases. Columns that are asked about may be missing (NaN or None).
        cost : as for ``decide``, optional
            Other costs than those of the fit.
        ask : list of names, or dict
            Columns that could be measured. The worth of measuring one is before what that costs,
            or with a dict, such as ``{"mri": 0.2}``, less the cost it gives.
        labels : bool
            Say what the label of each case would be worth to decisions on all of them, if it
            were found out and learned from; for two classes and 1000 cases at most.
        """
        check_is_fitted(self)
        prices = ask_prices(ask)
        columns = self._columns(X, reset=False, gaps=True)
        given = self._other_stakes(cost)
        given.add_to(columns)
        header = {"name": "X", "columns": columns.header(), "utility": given.utility, "ask": list(prices), "labels": labels}
        reply, _ = self.model_.ask("value", header, columns.tensors())
        self._unseen(reply.result)
        return worth_from_reply(reply, self.classes_, self._order(self.model_.description["outcomes"]), prices, labels)

    def _calibrate(self, given: Stakes) -> Model:
        """The model calibrated to costs."""
        if given.cases:
            raise ValueError(
                "calibrated: the model does not know the costs of the training rows; fit with method='loss-ep' and cost"
            )
        key = repr(given.utility)
        if key not in self._calibrated:
            with bar(self.progress) as progress:
                reply, worker = self.model_.ask("calibrate", {"utility": given.utility}, (), progress)
            self._calibrated[key] = Model(reply.tensors["model"].tobytes(), reply.result, worker)
        return self._calibrated[key]

    def expected_cost(self, X: Any, cost: Any = None) -> Array:
        """What every action is expected to cost in each case: an array (n, n_actions).

        The columns are in the order of ``actions_``. Where utilities were given it is what
        the actions are expected to bring.
        """
        return self.decide(X, cost).expected

    def audit(
        self, X: Any, y: Any, cost: Any = None, *, sample_weight: Any = None, folds: int | None = None, **options: Any
    ) -> Audit:
        """Measures what decisions by models like this one will cost.

        Cross-validates the estimator's own settings on X and y, beside other methods and
        baselines: the command's ``lossep audit``. Further options are those of the command,
        such as ``repeats=3``, ``groups="patient"`` or ``by="sex"``, which name columns of X.
        """
        whole = LossepClassifier(**self.get_params(deep=False))
        table, _, outcomes = whole._table(X, y, sample_weight)
        if table.repeats is not None:
            raise ValueError(
                "sample_weight: an audit takes weights of two classes; copies of a row would be learned from and decided"
            )
        given = whole._stakes(self.cost if cost is None else cost, outcomes)
        named = {name.replace("_", "-"): value for name, value in options.items() if value is not None}
        if folds is not None:
            named["folds"] = folds
        settings = {**whole._fit_options(), **table.options, **named}
        given = whole._settle(settings, given, outcomes)
        given.add_to(table.columns)
        header = {
            "name": "X",
            "columns": table.columns.header(),
            "utility": given.utility,
            "options": {**settings, "drop": [*table.options.get("drop", []), *given.cases]},
        }
        with bar(self.progress) as progress:
            return run_audit(header, table.columns.tensors(), progress)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model to a file that the command reads, too. Pickle keeps more: the
        parameters, and the labels as what they were."""
        check_is_fitted(self)
        self.model_.write(path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> LossepClassifier:
        """Reads a model from a file of this package or of the command.

        Labels are texts, or integers if all of them spell one.
        """
        model = Model.read(path)
        estimator = cls()
        d = model.description
        names = list(d["outcomes"])
        try:
            labels: list[Any] = [int(name) for name in names]
        except ValueError:
            labels = names
        classes, places = np.unique(np.array(labels), return_inverse=True)
        estimator.classes_ = classes
        ordered = [""] * len(names)
        for name, place in zip(names, places, strict=True):
            ordered[place] = name
        estimator._outcomes = ordered
        estimator._file_columns = list(d["columns"])
        estimator.n_features_in_ = len(d["columns"])
        estimator._take(model)
        return estimator

    def _table(self, X: Any, y: Any, sample_weight: Any) -> tuple[_Table, Array, list[str]]:
        """Training rows with their classes and weights."""
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        X = framed(X)
        if is_frame(X):
            target = getattr(y, "name", None)
            columns = self._columns(X, reset=True)
            y = _check_y(y, multi_output=False, y_numeric=False, estimator=self)
            check_consistent_length(X, y)
        else:
            target, given = None, X
            X, y = validate_data(self, X, y, dtype=np.float64, ensure_all_finite="allow-nan")
            columns = self._from_matrix(X, given)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        outcomes = outcome_names(self.classes_)
        options: dict[str, Any] = {}
        repeats: Array | None = None
        name = columns.unused(str(target) if target is not None else "outcome")
        if sample_weight is not None:
            values = _check_sample_weight(sample_weight, X, dtype=np.float64)
            if (values < 0).any():
                raise ValueError("sample_weight: Negative values in data; a row cannot count less than nothing")
            left = len(np.unique(codes[values > 0]))
            if left < len(self.classes_):
                count = "one class only is" if left == 1 else f"{left} of {len(self.classes_)} classes are"
                raise ValueError(f"sample_weight: {count} left where weights are above 0; give rows of every class a weight")
            if len(self.classes_) == 2:
                options["weights"] = columns.unused("sample_weight")
                columns.add_numbers(options["weights"], values)
            else:
                repeats = _counts(values)
        columns.add_codes(name, codes, outcomes)
        options["target"] = name
        if self.positive is not None:
            if len(self.classes_) > 2:
                raise ValueError(none_positive(self.classes_))
            texts = [spelled(label) for label in self.classes_]
            if spelled(self.positive) not in texts:
                raise ValueError(f"positive: {shown(self.positive)} is none of the classes {self.classes_.tolist()}")
            options["positive"] = outcomes[texts.index(spelled(self.positive))]
        categorical = list(dict.fromkeys([*columns.categorical, *(self.categorical or ())]))
        if categorical:
            options["categorical"] = categorical
        if self.drop is not None:
            options["drop"] = list(self.drop)
        return _Table(columns, options, repeats), y, outcomes

    def _columns(self, X: Any, reset: bool, gaps: bool = False) -> Columns:
        """The rows of X as columns, checked as scikit-learn does."""
        X = framed(X)
        if is_frame(X):
            # The columns of a model from a file are the program's to check: more than those
            # it decides by may be needed for costs, or be there.
            if reset or self._file_columns is None:
                validate_data(self, X, reset=reset, skip_check_array=True)
            columns = from_frame(X)
            if columns.rows == 0:
                raise ValueError(f"Found array with 0 sample(s) (shape={X.shape}) while a minimum of 1 is required.")
            return columns
        if not reset and self._is_plain(X):
            return self._from_matrix(X, X)
        return self._from_matrix(validate_data(self, X, reset=reset, dtype=np.float64, ensure_all_finite="allow-nan"), X, gaps)

    def _is_plain(self, X: Any) -> bool:
        """Whether X is what the checks would make of it: they take longer than a prediction."""
        return (
            type(X) is np.ndarray
            and X.dtype == np.float64
            and X.ndim == 2
            and len(X) > 0
            and X.shape[1] == self.n_features_in_
            and not hasattr(self, "feature_names_in_")
            and bool(np.isfinite(X).all())
        )

    def _from_matrix(self, X: Array, given: Any, gaps: bool = False) -> Columns:
        if not gaps and self.missing != "impute" and np.isnan(X).any():
            raise ValueError('Input X contains NaN; give missing="impute" to fill missing cells and mark where they were')
        return from_array(self._named() or [f"x{k}" for k in range(X.shape[1])], X, given)

    def _named(self) -> list[str] | None:
        """The names of the columns of an array, if it was fitted to named ones."""
        if hasattr(self, "feature_names_in_"):
            return [str(name) for name in self.feature_names_in_]
        return self._file_columns

    def _stakes(self, cost: Cost, outcomes: Sequence[str]) -> Stakes:
        return stakes(cost, outcomes, list(self.classes_), self.actions if cost is not None else None)

    def _other_stakes(self, cost: Cost) -> Stakes:
        """Costs for a fitted model, in place of its own."""
        given = self._stakes(cost, self._outcomes)
        actions, classes = len(self.actions_), len(self.classes_)
        own = {case_cost(a, k) for a in range(actions) for k in range(classes)}
        if cost is None and own.intersection(self.model_.description["cost_columns"] or ()):
            raise ValueError(
                "cost: the model was fitted with costs of the single cases, and does not know those of these; "
                f"give them as cost, an array of shape (cases, {actions}, {classes})"
            )
        if given.needs_positive and not self._positive_settled:
            raise ValueError(unsettled(self.classes_, given.needs_positive) + ", to the estimator that is fitted")
        return given

    def _settle(self, options: dict[str, Any], given: Stakes, outcomes: Sequence[str]) -> Stakes:
        """Adds to options which of two classes is positive, where they do not say it and convention
        does not; that is an error where it matters. The stakes are those given, or if there are
        none those of equal mistakes with actions called as classes are, not "positive"."""
        self._positive_settled = True
        if len(outcomes) != 2 or "positive" in options:
            return given
        needs = given.needs_positive or (PREVALENCE if "prevalence" in options else None)
        if settled(self.classes_, needs) is not None:
            return given
        self._positive_settled = False
        options["positive"] = outcomes[-1]
        return stakes(1 - np.eye(2), outcomes, list(self.classes_)) if given.utility is None else given

    def _fit_options(self) -> dict[str, Any]:
        """The parameters that are given, as options of the command."""
        options: dict[str, Any] = dict(self.options or {})
        for name in ("kernel", "method", "likelihood", "label_noise", "power", "fixed", "restarts", "prevalence"):
            options[name.replace("_", "-")] = getattr(self, name)
        for name in ("hyperparameters", "missing", "standardize", "dates", "max_rows", "weights", "groups"):
            options[name.replace("_", "-")] = getattr(self, name)
        options["inducing"] = None if self.inducing is None else str(self.inducing)
        options["missing-marker"] = None if self.missing_markers is None else list(self.missing_markers)
        options["features"] = None if self.features is None else list(self.features)
        if self.ordered is not None:
            options["ordered"] = [f"{name}={','.join(map(str, values))}" for name, values in self.ordered.items()]
        if isinstance(self.scaling, str):
            options["scaling"] = [self.scaling]
        elif self.scaling is not None:
            options["scaling"] = [f"{name}={bend}" for name, bend in self.scaling.items()]
        if self.random_state is not None:
            random = self.random_state
            options["seed"] = str(
                int(random) if isinstance(random, (int, np.integer)) else check_random_state(random).randint(1, 2**31)
            )
        for name, value in options.items():
            if isinstance(value, str) and value == "":
                raise ValueError(f"{name.replace('-', '_')}: the text is empty; give None for what is usual")
        return {name: value for name, value in options.items() if value is not None}

    def _unseen(self, result: Mapping[str, Any]) -> None:
        for line in result.get("unseen") or ():
            warnings.warn(line, DataWarning, stacklevel=3)


class _Table:
    """Columns with what is to be said about them."""

    def __init__(self, columns: Columns, options: dict[str, Any], repeats: Array | None) -> None:
        self.columns = columns
        self.options = options
        self.repeats = repeats  # how many times each row is there, None if once


def _counts(weights: Array) -> Array:
    """Weights as numbers of copies: what the program takes for more than two classes."""
    counts = weights.astype(np.int64)
    if (counts != weights).any():
        raise ValueError("sample_weight: with more than two classes weights are whole numbers, each a number of copies of its row")
    if counts.sum() > 1_000_000:
        raise ValueError(f"sample_weight: {counts.sum()} copies of rows are too many")
    return counts
