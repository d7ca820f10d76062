"""A subset-sum instance in the place of a spec: a single question, about the sum that the file writes out."""

from __future__ import annotations

from pathlib import Path

from fairdsl.backends.subset_sum import Instance, NotAProblemError, in_words, problem_of, read_instance
from fairdsl.diagnostics import Diagnostic, DiagnosticError
from fairdsl.elaborate import Elaborated, Elaboration
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import GroupMetric, Quantity
from fairdsl.plan import errors
from fairdsl.semantics import CheckedSpec
from fairdsl.semantics.checked import CheckedProperty, Demand
from fairdsl.semantics.load import read_source
from fairdsl.source import SourceFile, Span

__all__ = ["instance_asked", "is_instance"]


def is_instance(path: str) -> bool:
    """Whether a file in the place of a spec is an instance: no spec ends so."""
    return Path(path).suffix == ".json"


def instance_asked(path: str, form: str) -> tuple[CheckedSpec, tuple[Diagnostic, ...], Elaboration]:
    """The file as if it were a spec with one property, named after it, without findings; and its problem.

    DiagnosticError for a file that is not an instance (E0617, E0618), or says more than any problem does (E0603).
    """
    source, instance = read_source(path), read_instance(Path(path))
    try:
        problem = problem_of(instance, Path(path).stem)
    except NotAProblemError as error:
        why = f"{error}; `fairdsl solve {Path(path).name}` answers the instance itself"
        raise DiagnosticError(errors.format_refuses(form, why, None)) from error
    item = _elaborated(source, instance, problem)
    spec = CheckedSpec(
        source=source, title=None, domains={}, labels={}, models={}, distributions={}, properties=(item.property,)
    )
    found = Elaboration(
        demands=(item,),
        models={problem.model.name: problem.model},
        populations=(),  # nothing of a spec declares it
        warnings=(),
    )
    return spec, (), found


def _elaborated(source: SourceFile, instance: Instance, problem: Problem) -> Elaborated:
    """The problem in the words of a report on the instance."""
    assert isinstance(problem.question, GroupMetric), "instances are about metrics of groups"
    asked = instance.asked or in_words(instance, Path(source.path))
    span = Span(source, 0, 0)
    demand = Demand(
        text=asked.demand,
        metric=asked.metric,
        question=problem.question,
        quantity=Quantity.METRIC,
        threshold=instance.threshold,
        required=asked.required,
        span=span,
    )
    checked = CheckedProperty(
        name=problem.name,
        title=None,
        model=problem.model.name,
        domain=problem.domain,
        demands=(demand,),
        clauses=asked.clauses,
        sentences=(asked.sentence,),
        formulas=(asked.formula,),
        span=span,
    )
    return Elaborated(property=checked, demand=demand, outcomes=problem.model.outcomes, problem=problem)
