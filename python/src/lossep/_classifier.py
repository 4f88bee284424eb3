"""The estimator."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from lossep import _worker
from lossep._audit import Audit, run_audit
from lossep._columns import Columns, shown
from lossep._costs import Cost, Stakes, case_cost
from lossep._decisions import Decisions, Worth, ask_prices, capacities, decide_options, from_reply, shares, worth_from_reply
from lossep._errors import DataWarning
from lossep._estimator import Estimator, index_of
from lossep._frames import Array
from lossep._model import Model
from lossep._progress import bar
from lossep._rows import SCORE, Table, cases, is_missing, training
from lossep._settings import fit_options
from lossep._stakes import fit_stakes, other_stakes
from lossep._validation import listed


class LossepClassifier(ClassifierMixin, Estimator):  # type: ignore[misc]  # scikit-learn has no types
    """A Gaussian-process classifier that decides by what mistakes cost.

    The same engine as the command ``lossep``: with the same rows, options and seed it gives
    the same numbers to the last bit. ``predict`` is scikit-learn's, the most probable class;
    ``decide`` gives the action with the lowest expected cost.

    Parameters
    ----------
    cost : str, dict or array of shape (n_actions, n_classes), optional
        What actions cost. ``{"fn": 5, "fp": 1}`` or ``"fn=5,fp=1"``: a missed positive costs 5
        and a false alarm 1. ``{"accept": {"good": 0, "bad": "0.6 * amount"}, ...}``: a cost for
        each action under each class, which may be an expression over columns of X as they are
        before any scaling (see ``cost_columns`` of ``fit``). An array:
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
        ``"probit"``, ``"logit"`` (of two classes) or ``"robust"``, the last with ``label_noise``.
    label_noise : float, optional
        The share of wrong labels.
    inducing : int, "auto" or "none", optional
        Inducing points from which many rows are seen.
    power : float, optional
        Power of expectation propagation with inducing points.
    fixed : bool, optional
        Keep the hyperparameters that ``kernel`` gives.
    restarts : int, optional
        Further searches for hyperparameters from random starts.
    pos_label : label, optional
        The class that ``fn`` and ``fp`` are about. If not given it is the one that is so by
        convention, as for the command (``1``, ``yes``, ``bad``, ``malignant``). Where there is
        none, costs by ``fn`` and ``fp`` and a ``prevalence`` are an error; nothing else depends
        on it. More than two classes have no such one.
    prevalence : float or dict, optional
        How frequent the positive class is among the cases to be decided, if not as in the
        training rows; or shares of classes, such as ``{"mild": 0.3, "severe": 0.05}``, where the
        others share the rest as in the training rows.
    weights : str, optional
        The column of X that says how often each case counts, in place of ``sample_weight``.
    score_column : str, optional
        The column of X with another model's probability of the positive of two classes, made out of fold: the
        model is a slope times its probit, and a process that corrects it.
    groups : str, optional
        The column of X that has groups of rows, such as those of one patient: they are left out
        together, and it is not a feature.
    categorical : list of str, optional
        Columns that are categorical whatever they look like. Those of a categorical dtype are.
    ordered : dict, optional
        Columns whose categories have an order, such as ``{"size": ["S", "M", "L"]}``.
    outcome : {"categories", "ordered"}, optional
        ``"ordered"``: classes that are numbers, or words of a scale, are grades, with one function in place of one for each. Where
        it is not given and there are three or more such classes, what predicts better out of fold is taken, and ``notes_`` says so.
    missing : {"impute", "error"}, optional
        What to do about missing cells. ``"impute"``, the default, takes the median or the most
        frequent category and adds an indicator.
    missing_markers : list of str, optional
        Spellings of a missing cell beside the usual ones, or ``"COLUMN=SPELLING"`` for one of a
        column alone, such as ``"pressure=0"``.
    scaling : str or dict, optional
        How numeric columns are transformed before they are standardised: for all columns, or by
        column.
    standardize : bool, optional
        Give numeric columns mean 0 and variance 1.
    drop, features : list of str, optional
        Columns not to decide by, and the only ones to decide by.
    use_cost_columns : bool, optional
        Use columns of X that ``cost`` names as features, too. Without it, they say what is at
        stake and nothing else, unless ``features`` names them.
    dates : {"day-first", "month-first"}, optional
        Where 03/04/2025 could be either.
    max_rows : int, optional
        Refuse more training rows than this.
    no_examples : bool, optional
        Keep no training rows as they were read. Otherwise the model file has a few, for people to
        try it on.
    options : dict, optional
        Further options of ``lossep fit`` by the names of its flags.
    random_state : int, RandomState or None
        Decides everything random. None is the command's own seed.
    base : classifier, optional
        Another classifier, such as ``LGBMClassifier()``, whose probabilities the model corrects: in fits
        those of five-fold cross-fitting, then those of ``base_``, fitted to all rows. They are the ``score_column``
        of two classes, in a column called ``base``, and of more their log odds are features called ``base
        CLASS``. A model file does not have ``base_``: rows for a model that was loaded need these columns.
    progress : bool, optional
        Show a bar (needs tqdm). If not given: in a terminal or a notebook, once a fit takes
        more than a second.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_ : as in scikit-learn
    actions_ : list of str
        The actions, in the order of expected costs.
    pos_label_ : label or None
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
        fixed: bool | None = None,
        restarts: int | None = None,
        pos_label: Any = None,
        prevalence: float | Mapping[Any, float] | None = None,
        weights: str | None = None,
        score_column: str | None = None,
        groups: str | None = None,
        categorical: Sequence[str] | None = None,
        ordered: Mapping[str, Sequence[str]] | None = None,
        outcome: str | None = None,
        missing: str | None = None,
        missing_markers: Sequence[str] | None = None,
        scaling: str | Mapping[str, str] | None = None,
        standardize: bool | None = None,
        drop: Sequence[str] | None = None,
        features: Sequence[str] | None = None,
        use_cost_columns: bool | None = None,
        dates: str | None = None,
        max_rows: int | None = None,
        no_examples: bool | None = None,
        options: Mapping[str, Any] | None = None,
        random_state: Any = None,
        base: Any = None,
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
        self.fixed = fixed
        self.restarts = restarts
        self.pos_label = pos_label
        self.prevalence = prevalence
        self.weights = weights
        self.score_column = score_column
        self.groups = groups
        self.categorical = categorical
        self.ordered = ordered
        self.outcome = outcome
        self.missing = missing
        self.missing_markers = missing_markers
        self.scaling = scaling
        self.standardize = standardize
        self.drop = drop
        self.features = features
        self.use_cost_columns = use_cost_columns
        self.dates = dates
        self.max_rows = max_rows
        self.no_examples = no_examples
        self.options = options
        self.random_state = random_state
        self.base = base
        self.progress = progress

    _positive_settled: bool = True
    """Whether which class is positive was given, or is so by convention."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None, cost: Any = None, cost_columns: Any = None) -> LossepClassifier:
        """Fits the model.

        Parameters
        ----------
        X : array or DataFrame of shape (n, n_features)
            DataFrames of pandas and polars and tables of Arrow may have categories, texts,
            dates and missing values.
        y : array of shape (n,)
            The class of each row.
        sample_weight : array of shape (n,), optional
            How often each row counts: the power of its likelihood. It need not be whole.
        cost : array of shape (n, n_actions, n_classes), optional
            Costs of the single cases, in place of the parameter ``cost``.
        cost_columns : DataFrame of n rows, optional
            The columns that expressions in ``cost`` name, as they are before anything is done
            to them. Needed where X is not raw: after a scaler in a ``Pipeline``, for example,
            through which it is routed as metadata (``set_fit_request(cost_columns=True)``).
        """
        self.__dict__.pop("model_", None)  # a fit that fails leaves no model of other rows behind
        if self.outcome not in (None, "categories", "ordered"):
            raise ValueError(f"outcome={shown(self.outcome)}: give 'categories' or 'ordered', or use LossepRegressor")
        table = training(self, X, y, sample_weight, copies=True)
        self._remember(table)
        options = {**fit_options(self), **table.options}
        if table.scores == [SCORE]:
            options["score"] = SCORE
        elif table.scores:
            options["scaling"] = [*options.get("scaling", ()), *(f"{name}=log-odds" for name in table.scores)]
            if "features" in options:
                options["features"] = [*options["features"], *table.scores]
        header = self._header(table, options, cost, cost_columns)
        header["unsettled"] = not self._positive_settled
        with bar(self.progress) as progress:
            worker = _worker.worker()
            reply = worker.ask("fit", header, table.columns.tensors(), progress)
        self._take(Model(reply.tensors["model"].tobytes(), reply.result, worker))
        self._warn()
        return self

    def update(self, X: Any, y: Any, *, half_life: float | None = None, refit_kernel: bool = False) -> LossepClassifier:
        """Adds rows to the fitted model without a fit: the kernel stays, and the posterior moves.

        Parameters
        ----------
        X, y : as for ``fit``
            Further cases, with classes that the fit knew.
        half_life : float, optional
            The number of new rows after which what the rows before them told counts half as much.
        refit_kernel : bool
            Search for the kernel's hyperparameters anew, from those of the model, with all its rows.
        """
        options = {"half-life": half_life} if half_life is not None else {}
        return self._update(X, y, {"options": {**options, "refit-kernel": refit_kernel}})

    def forget(self, X: Any, y: Any) -> LossepClassifier:
        """Takes rows away from the fitted model, as they were given to ``fit`` or ``update``."""
        return self._update(X, y, {"taken": True})

    def monitor(
        self,
        X: Any,
        y: Any = None,
        *,
        time: str | None = None,
        window: str | int | None = None,
        level: float | None = None,
        tolerance: float | None = None,
    ) -> dict[str, Any]:
        """Compares what decisions on new cases cost, window by window, with what the training rows led to expect.

        Parameters
        ----------
        X : as for ``fit``
            New cases. They are in the order of time, or have a column of times.
        y : array of shape (n,), optional
            What became of them; ``None`` or NaN where that is not known yet.
        time : str, optional
            The column of ``X`` with the times of decisions, which the fit need not have had.
        window : {"hour", "day", "week", "month"} or int
            What is looked at together; a number of cases, 1000 if not given, where there is no ``time``.
        level : float
            The probability of a false alarm, ever, however often one looks.
        tolerance : float
            By how much costs may rise without an alarm, relative to those of the training rows.

        Returns
        -------
        dict
            ``windows`` with the estimated and the realised cost per case, intervals, evidence and the columns
            that moved; ``alarms``, ``reference``, ``level`` and ``tolerance``: as the JSON of ``lossep monitor``.
        """
        check_is_fitted(self)
        columns = cases(self, X, besides=[time])
        if y is not None:
            y = np.asarray(y)
            known = np.array([not is_missing(label) for label in y], dtype=bool)
            codes = np.full(len(y), -1)
            codes[known] = self._codes(np.array(y[known].tolist(), dtype=self.classes_.dtype))
            self._add_outcomes(columns, codes)
        return self._watch(columns, {"time": time, "window": window, "level": level, "tolerance": tolerance})

    def _codes(self, y: Array) -> Array:
        """The numbers of labels among the classes of the fit."""
        codes = np.searchsorted(self.classes_, y).clip(max=len(self.classes_) - 1)
        if not (self.classes_[codes] == y).all():
            raise ValueError(
                f"y: {shown(y[self.classes_[codes] != y][0])} is none of the classes {listed(self.classes_)} of the fit"
            )
        return codes

    def _add_outcomes(self, columns: Columns, codes: Array) -> None:
        """Adds the column of the outcome."""
        if codes.shape != (columns.rows,):
            raise ValueError(f"y: {codes.shape} for {columns.rows} rows; give the class of each")
        columns.add_codes(self.model_.description["target"], codes, self._outcomes)

    def _update(self, X: Any, y: Any, header: dict[str, Any]) -> LossepClassifier:
        check_is_fitted(self)
        columns = cases(self, X)
        self._add_outcomes(columns, self._codes(np.asarray(y)))
        with bar(self.progress) as progress:
            reply, worker = self.model_.ask(
                "update", {"name": "X", "columns": columns.header(), **header}, columns.tensors(), progress
            )
        self._take(Model(reply.tensors["model"].tobytes(), reply.result, worker))
        return self

    def _remember(self, table: Table) -> None:
        """Keeps what later cases are read by."""
        self._outcomes, self._names, self._scaled = table.outcomes, table.names, table.scaled
        self._framed, self._from_file = table.framed, False

    def _header(self, table: Table, options: dict[str, Any], cost: Any, cost_columns: Any) -> dict[str, Any]:
        """What the worker receives of training rows, to which the costs of single cases are added."""
        if "prevalence" in options:
            options["prevalence"] = shares(options["prevalence"], self.classes_, self._outcomes)
        given = fit_stakes(self, options, cost, cost_columns, table.columns.rows)
        given.add_to(table.columns)
        if table.repeats is not None:
            table.columns.repeat(table.repeats)
        return {
            "name": "X",
            "columns": table.columns.header(),
            "utility": given.utility,
            "options": {**options, "drop": [*options.get("drop", []), *given.cases]},
        }

    def _take(self, model: Model) -> None:
        """Takes the attributes from a fitted model."""
        model.check("categories")
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
        self.pos_label_ = self.classes_[self._outcomes.index(d["positive"])] if d["positive"] in self._outcomes else None
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
            if not note.startswith("the outcome is fitted as"):  # a choice, not a defect
                warnings.warn(note, DataWarning, stacklevel=3)
        for column in self.model_.description.get("dropped") or ():
            if column["reason"].startswith("identifier"):
                warnings.warn(f"column {column['column']!r} is excluded: {column['reason']}", DataWarning, stacklevel=3)

    def _order(self, outcomes: Sequence[str]) -> list[int]:
        """The places among the classes of the program's outcomes."""
        return [self._outcomes.index(name) for name in outcomes]

    def predict_proba(self, X: Any) -> Array:
        """Probabilities of the classes, a column each in the order of ``classes_``."""
        check_is_fitted(self)
        columns = cases(self, X)
        reply, _ = self.model_.ask("predict", {"name": "X", "columns": columns.header()}, columns.tensors())
        self._unseen(reply.result)
        found = reply.tensors["probabilities"]
        order = self._order(self.model_.description["outcomes"])
        if order == list(range(len(order))):
            return found
        probabilities: Array = np.empty_like(found)
        probabilities[:, order] = found
        return probabilities

    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of the probabilities of the classes."""
        with np.errstate(divide="ignore"):
            logarithms: Array = np.log(self.predict_proba(X))
        return logarithms

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
        columns = cases(self, X)
        reply, _ = self.model_.ask("predict", {"name": "X", "columns": columns.header()}, columns.tensors())
        return reply.tensors["mean"], reply.tensors["variance"]

    def decide(
        self,
        X: Any,
        cost: Any = None,
        *,
        cost_columns: Any = None,
        calibrated: bool = False,
        second_opinion: bool = False,
        why: int = 0,
        why_without: Sequence[str] = (),
        baseline: str | None = None,
        capacity: Mapping[str, float] | None = None,
        per: str | None = None,
        time: str | None = None,
    ) -> Decisions:
        """The best action in each case, with what every action is expected to cost.

        Parameters
        ----------
        X : array or DataFrame
            The cases.
        cost : as for the estimator, or array of shape (n, n_actions, n_classes), optional
            Other costs than those of the fit; nothing is fitted again.
        cost_columns : DataFrame of n rows, optional
            The columns that expressions in ``cost`` name, where X is not raw; as for ``fit``.
        calibrated : bool
            Calibrate the posterior to these costs first (loss-calibrated expectation
            propagation). That is kept for the next call with the same costs.
        second_opinion : bool
            Ask other methods whether they would act otherwise.
        why : int
            Give so many columns that support each action most, and what would flip it; see ``Decisions``.
        why_without : list of str
            Columns that are neither a reason nor changed to flip a decision, such as an age.
        baseline : str, optional
            The action that savings are against, such as what is done without a model; the first if
            not given.
        capacity : dict, optional
            How often actions can be taken in all cases together, such as ``{"visit": 100}``, or how much
            there is of what actions take by the ``effort`` of the costs. Actions are those of the least
            expected cost within it; see ``Decisions``.
        per, time : str, optional
            Give the capacity for each hour, day, week or month (``per``) of the column ``time``, or for each
            value of the column ``per``. The fit need not have had it.
        """
        check_is_fitted(self)
        columns = cases(self, X, besides=[per, time])
        given = other_stakes(self, cost, cost_columns, columns.rows)
        given.add_to(columns)
        model = self._calibrate(given) if calibrated else self.model_
        options = decide_options(
            second_opinion=second_opinion,
            why=why or None,
            why_without=list(why_without) or None,
            baseline=baseline,
            capacity=capacities(capacity),
            per=per,
            time=time,
        )
        header = {"name": "X", "columns": columns.header(), "utility": given.utility, "options": options}
        reply, _ = model.ask("decide", header, columns.tensors())
        self._unseen(reply.result)
        return from_reply(reply, self.classes_, self._order(model.description["outcomes"]), index_of(X))

    def value(
        self,
        X: Any,
        cost: Any = None,
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
            Columns that could be measured. The worth of measuring one is before what that costs,
            or with a dict, such as ``{"mri": 0.2}``, less the cost it gives.
        labels : bool
            Say what the label of each case would be worth to decisions on all of them, if it
            were found out and learned from; for 1000 cases at most, and with more than two
            classes 1000 divided by their number.
        """
        check_is_fitted(self)
        prices = ask_prices(ask)
        columns = cases(self, X, gaps=True)
        given = other_stakes(self, cost, cost_columns, columns.rows)
        given.add_to(columns)
        options = decide_options(ask=[f"{name}={price!r}" for name, price in prices.items()], labels=labels)
        header = {"name": "X", "columns": columns.header(), "utility": given.utility, "options": options}
        reply, _ = self.model_.ask("value", header, columns.tensors())
        self._unseen(reply.result)
        order = self._order(self.model_.description["outcomes"])
        return worth_from_reply(reply, self.classes_, order, list(prices), index_of(X))

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

    def expected_cost(self, X: Any, cost: Any = None, *, cost_columns: Any = None) -> Array:
        """What every action is expected to cost in each case: an array (n, n_actions).

        The columns are in the order of ``actions_``. Where utilities were given it is what
        the actions are expected to bring.
        """
        return self.decide(X, cost, cost_columns=cost_columns).expected

    def audit(
        self,
        X: Any,
        y: Any,
        cost: Any = None,
        *,
        cost_columns: Any = None,
        sample_weight: Any = None,
        folds: int | None = None,
        **options: Any,
    ) -> Audit:
        """Measures what decisions by models like this one will cost.

        Cross-validates the estimator's own settings on X and y, beside other methods and
        baselines: the command's ``lossep audit``. Further options are those of the command,
        such as ``repeats=3``, ``groups="patient"`` or ``by="sex"``, which name columns of X.
        """
        if self.base is not None:
            raise ValueError(
                "audit: base would have to be fitted in every fold; add its out-of-fold probabilities to X, "
                "and give the name of that column as score_column"
            )
        whole = LossepClassifier(**self.get_params(deep=False))
        table = training(whole, X, y, sample_weight)
        whole._remember(table)
        named = {name.replace("_", "-"): value for name, value in options.items() if value is not None}
        if folds is not None:
            named["folds"] = folds
        header = whole._header(table, {**fit_options(whole), **table.options, **named}, cost, cost_columns)
        with bar(self.progress) as progress:
            return run_audit(header, table.columns.tensors(), progress)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> LossepClassifier:
        """Reads a model from a file of this package or of the command.

        Labels are texts, or integers if all of them spell one. Of the parameters ``cost`` and
        ``pos_label`` are those of the fit, the others are not in the file.
        """
        model = Model.read(path, "categories")
        estimator = cls()
        d = model.description
        outcomes = list(d["outcomes"])
        try:
            labels: list[Any] = [int(name) for name in outcomes]
        except ValueError:
            labels = outcomes
        estimator.classes_, places = np.unique(np.array(labels), return_inverse=True)
        estimator._outcomes = [outcomes[k] for k in np.argsort(places)]
        own = {case_cost(a, k) for a in range(len(d["actions"])) for k in range(len(outcomes))}
        estimator._named([name for name in d["table"] if name not in own])
        estimator._take(model)
        if estimator.pos_label_ is not None and estimator._positive_settled:
            estimator.pos_label = estimator.pos_label_.item()
        if not own.intersection(d["cost_columns"] or ()):
            kind = "costs" if d["costs"] else "utilities"
            by_label = dict(zip(outcomes, labels, strict=True))
            table = {a: {by_label[k]: v for k, v in row.items()} for a, row in d["utility"][kind].items()}
            more = {key: d["utility"][key] for key in ("ceiling", "effort") if key in d["utility"]}
            estimator.cost = {kind: table, **more}
        return estimator
