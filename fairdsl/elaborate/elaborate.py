"""Open the models that the questions need, and close every question into a problem."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fairdsl.diagnostics import Diagnostic, DiagnosticError, Reporter
from fairdsl.elaborate import errors
from fairdsl.ir.model import Model, Readout
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair, ScoreGap
from fairdsl.models.load import load_model
from fairdsl.models.runtime import Runtime
from fairdsl.semantics.checked import CheckedProperty, CheckedSpec, Demand

__all__ = ["Elaborated", "Elaboration", "elaborate", "load_models"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Elaborated:
    """A demand with its problem; ``problem`` is None where the model is not needed to refuse it."""

    property: CheckedProperty
    demand: Demand
    outcomes: tuple[str, ...]
    problem: Problem | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Elaboration:
    """Every demand of every property, the models that were opened, and the warnings about them."""

    demands: tuple[Elaborated, ...]
    models: Mapping[str, Model]
    warnings: tuple[Diagnostic, ...]


def load_models(
    spec: CheckedSpec, overrides: Mapping[str, str], *, only: frozenset[str] | None = None
) -> tuple[dict[str, Model], tuple[Diagnostic, ...]]:
    """The spec's models by name (all, or ``only`` some), with ``--model NAME=PATH`` in force, and warnings.

    Deployed files are opened for replay as well, so that one that cannot run is known before any engine
    starts. Raises DiagnosticError with everything that is wrong with any of them.
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
            model = load_model(
                checked.declaration, checked.domain, override_path=overrides.get(name), reporter=reporter
            )
            if model.deployed is not None:
                Runtime(model.deployed, checked.declaration.source.span)
            models[name] = model
        except DiagnosticError as error:
            reporter.extend(error.diagnostics)
    if reporter.has_errors:
        raise DiagnosticError(*reporter)
    return models, tuple(reporter)


def elaborate(spec: CheckedSpec, overrides: Mapping[str, str]) -> Elaboration:
    """Close every question of the spec into a problem.

    Models that only group metrics speak of stay closed: such demands are refused without them, and a
    model file that only a later engine can read must not keep the other properties from running.
    """
    needed = frozenset(
        checked.model for checked in spec.properties for demand in checked.demands if isinstance(demand.question, Pair)
    )
    models, warnings = load_models(spec, overrides, only=needed)
    reporter = Reporter()
    demands = tuple(
        Elaborated(
            property=checked,
            demand=demand,
            outcomes=spec.models[checked.model].declaration.outcomes,
            problem=_problem(checked, demand, models, reporter),
        )
        for checked in spec.properties
        for demand in checked.demands
    )
    if reporter.has_errors:
        raise DiagnosticError(*reporter)
    return Elaboration(demands=demands, models=models, warnings=warnings)


def _problem(
    checked: CheckedProperty, demand: Demand, models: Mapping[str, Model], reporter: Reporter
) -> Problem | None:
    question = demand.question
    if not isinstance(question, Pair):
        return None
    model = models[checked.model]
    if isinstance(question.demand, ScoreGap):
        _check_score(model, demand, reporter)
    return Problem(
        name=checked.name,
        domain=checked.domain,
        model=model,
        question=question,
        quantity=demand.quantity,
        span=demand.span,
    )


def _check_score(model: Model, demand: Demand, reporter: Reporter) -> None:
    """A gap needs the one number that the model gives: the IR's score must be the file's own output."""
    if model.score_count != 1:
        reporter.report(errors.no_single_score(model.name, f"{model.score_count} scores", demand.span))
    elif model.deployed is not None and model.deployed.readout is not Readout.SCORE:
        what = "a probability or a class as its output, and its score only inside"
        reporter.report(errors.no_single_score(model.name, what, demand.span))
