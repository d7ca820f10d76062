"""Open the models that the questions need, and close every question into a problem."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fairdsl.diagnostics import DiagnosticError, Reporter
from fairdsl.elaborate import errors
from fairdsl.ir.model import Model
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair, ScoreGap
from fairdsl.models.load import load_model
from fairdsl.semantics.checked import CheckedProperty, CheckedSpec, Demand

__all__ = ["Elaborated", "elaborate", "load_models"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Elaborated:
    """A demand with its problem; ``problem`` is None where the model is not needed to refuse it."""

    property: CheckedProperty
    demand: Demand
    outcomes: tuple[str, ...]
    problem: Problem | None


def load_models(
    spec: CheckedSpec, overrides: Mapping[str, str], *, only: frozenset[str] | None = None
) -> dict[str, Model]:
    """The spec's models by name (all, or ``only`` some), with ``--model NAME=PATH`` in force.

    Raises DiagnosticError with everything that is wrong with any of them.
    """
    reporter = Reporter()
    for name in overrides:
        if name not in spec.models:
            reporter.report(errors.override_of_nothing(name, tuple(spec.models)))
    models: dict[str, Model] = {}
    for name, checked in spec.models.items():
        if only is not None and name not in only:
            continue
        try:
            models[name] = load_model(checked.declaration, checked.domain, override_path=overrides.get(name))
        except DiagnosticError as error:
            reporter.extend(error.diagnostics)
    if reporter.has_errors:
        raise DiagnosticError(*reporter)
    return models


def elaborate(spec: CheckedSpec, overrides: Mapping[str, str]) -> tuple[tuple[Elaborated, ...], dict[str, Model]]:
    """Every demand of every property, with its problem, and the models that were opened.

    Models that only group metrics speak of stay closed: such demands are refused without them, and a
    model file that only a later engine can read must not keep the other properties from running.
    """
    needed = frozenset(
        checked.model for checked in spec.properties for demand in checked.demands if isinstance(demand.question, Pair)
    )
    models = load_models(spec, overrides, only=needed)
    reporter = Reporter()
    elaborated: list[Elaborated] = []
    for checked in spec.properties:
        for demand in checked.demands:
            question = demand.question
            problem = None
            if isinstance(question, Pair):
                model = models[checked.model]
                if isinstance(question.demand, ScoreGap) and model.score_count != 1:
                    reporter.report(errors.no_single_score(model.name, model.score_count, demand.span))
                problem = Problem(
                    name=checked.name,
                    domain=checked.domain,
                    model=model,
                    question=question,
                    quantity=demand.quantity,
                    span=demand.span,
                )
            outcomes = spec.models[checked.model].declaration.outcomes
            elaborated.append(Elaborated(property=checked, demand=demand, outcomes=outcomes, problem=problem))
    if reporter.has_errors:
        raise DiagnosticError(*reporter)
    return tuple(elaborated), models
