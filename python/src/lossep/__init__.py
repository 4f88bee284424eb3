"""Bayesian decisions when mistakes do not cost the same.

``LossepClassifier`` and ``LossepRegressor`` are scikit-learn estimators; ``audit`` says what any model's decisions
cost; ``decide`` takes the best action by any model's probabilities. The command ``lossep``
comes with the package.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lossep._audit import Audit, audit
    from lossep._classifier import LossepClassifier
    from lossep._decisions import Decisions, Worth, decide
    from lossep._displays import CostCurveDisplay, DecisionCurveDisplay, ReliabilityDisplay
    from lossep._effects import Effects
    from lossep._errors import DataWarning, LossepError, WorkerError
    from lossep._model import Model
    from lossep._regressor import LossepRegressor, NumberDecisions
    from lossep._scoring import cost_per_case, make_cost_scorer

__version__ = "0.1.0"

__all__ = [
    "Audit",
    "CostCurveDisplay",
    "DataWarning",
    "DecisionCurveDisplay",
    "Decisions",
    "Effects",
    "LossepClassifier",
    "LossepError",
    "LossepRegressor",
    "Model",
    "NumberDecisions",
    "ReliabilityDisplay",
    "WorkerError",
    "Worth",
    "audit",
    "cost_per_case",
    "decide",
    "make_cost_scorer",
]

# What is imported when it is first asked for: the command does not wait for scikit-learn.
_HOMES = {
    "Audit": "_audit",
    "audit": "_audit",
    "LossepClassifier": "_classifier",
    "LossepRegressor": "_regressor",
    "NumberDecisions": "_regressor",
    "Decisions": "_decisions",
    "Worth": "_decisions",
    "decide": "_decisions",
    "CostCurveDisplay": "_displays",
    "DecisionCurveDisplay": "_displays",
    "ReliabilityDisplay": "_displays",
    "Effects": "_effects",
    "DataWarning": "_errors",
    "LossepError": "_errors",
    "WorkerError": "_errors",
    "Model": "_model",
    "cost_per_case": "_scoring",
    "make_cost_scorer": "_scoring",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'lossep' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"lossep.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
