"""From offers to a plan: quick search first, then the backend whose method fits best of those that can decide.

Methods that fit alike (:attr:`fairdsl.backends.contract.Offer.fits`) are asked in registry order. The rule is fixed and
printed by ``--explain-plan``. A weaker answer is never swapped in silently: if nobody
can decide, the demand is refused with every backend's reason.
"""

from __future__ import annotations

from dataclasses import dataclass

from fairdsl.backends.contract import Offer, Procedure, Refusal
from fairdsl.elaborate import Elaborated
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import GroupMetric, Quantity
from fairdsl.plan import errors
from fairdsl.plan.opaque import refusal_of_opaque
from fairdsl.plan.registry import PARTITIONING, procedures
from fairdsl.semantics.checked import Demand
from fairdsl.verdict import Refused

__all__ = ["Plan", "Stage", "negotiate", "plan_of"]


@dataclass(frozen=True, slots=True)
class Stage:
    """A backend and what it will do."""

    procedure: Procedure
    offer: Offer


@dataclass(frozen=True, slots=True)
class Plan:
    """The stages in order, and why the other backends have none; ``others`` could decide the demand as well."""

    stages: tuple[Stage, ...]
    passed_over: tuple[tuple[str, str], ...]
    others: tuple[Stage, ...] = ()


def plan_of(item: Elaborated, backend: str | None = None, *, by_partitions: bool = False) -> Plan | Refused:
    """Who answers a demand, or why nobody does; by partitions, one backend answers yes-or-no questions."""
    refused = _refusal_of_clauses(item.demand)
    if refused is not None:
        return refused
    if item.refusal is not None:
        return Refused(diagnostics=(item.refusal,))
    if by_partitions and item.problem.quantity is Quantity.HOLDS:
        return negotiate(item.problem, backend=PARTITIONING, because="`--partition` was asked for")
    return negotiate(item.problem, backend=backend)


def _refusal_of_clauses(demand: Demand) -> Refused | None:
    """Demands with clauses that no backend of today treats, whatever the model."""
    if demand.beyond:
        clause = " ".join(demand.beyond[0].text.split())
        if clause[0].isdigit():  # the number of `with confidence 95%` or of `within 1%`
            clause = f"{'with confidence' if demand.required else 'within'} {clause}"
        reasons = [(name, f"it does not treat `{clause}`") for name in _names()]
        return Refused(diagnostics=(errors.no_backend(f"`{clause}`", demand.beyond[0], reasons),))
    return None


def _names() -> list[str]:
    return [procedure.name for procedure in procedures()]


def negotiate(problem: Problem, *, backend: str | None = None, because: str | None = None) -> Plan | Refused:
    """The plan, or the refusal with each backend's reason; ``backend`` forces one, ``because`` says why."""
    offers = {procedure.name: (procedure, _offer(procedure, problem)) for procedure in procedures()}
    passed_over = [(name, _reason(offer)) for name, (_, offer) in offers.items() if isinstance(offer, Refusal)]
    stages = [Stage(procedure, offer) for procedure, offer in offers.values() if isinstance(offer, Offer)]
    if backend is not None:
        forced = tuple(stage for stage in stages if stage.procedure.name == backend)
        if not forced:
            why = dict(passed_over)[backend]
            return Refused(diagnostics=(errors.backend_refuses(backend, why, problem.span),))
        silent = [
            (stage.procedure.name, because or f"`--backend {backend}` was asked for")
            for stage in stages
            if stage not in forced
        ]
        others = tuple(stage for stage in stages if stage.offer.decides and stage not in forced)
        return Plan(forced, (*passed_over, *silent), others)
    deciding = [stage for stage in stages if stage.offer.decides]
    if not deciding and stages and problem.quantity is Quantity.HOLDS and problem.model.opaque is not None:
        return Plan(tuple(stages), tuple(passed_over))  # a violation is one, and the rest stays unknown
    if not deciding:
        return Refused(diagnostics=(errors.no_backend(_described(problem), problem.span, passed_over),))
    best = max(deciding, key=lambda stage: stage.offer.fits)  # the first of those that fit alike
    for stage in deciding:
        if stage is not best:
            why = "fits such models better" if stage.offer.fits < best.offer.fits else "comes first"
            passed_over.append((stage.procedure.name, f"`{best.procedure.name}` {why} and decides"))
    quick = (stage for stage in stages if not stage.offer.decides)
    others = tuple(stage for stage in deciding if stage is not best)
    return Plan((*quick, best), tuple(passed_over), others)


def _offer(procedure: Procedure, problem: Problem) -> Offer | Refusal:
    return refusal_of_opaque(procedure.name, problem.model) or procedure.offer(problem)


def _reason(refusal: Refusal) -> str:
    """The reason, with the line of its cause."""
    return refusal.why if refusal.span is None else f"{refusal.why} (line {refusal.span.first.line})"


def _described(problem: Problem) -> str:
    match problem.quantity:
        case Quantity.HOLDS:
            return "this question about pairs"
        case Quantity.FAIR_SHARE | Quantity.DISCRIMINATION_RATE:
            return f"`{problem.quantity.value}` on this domain"
        case Quantity.METRIC:
            metric = problem.question.metric if isinstance(problem.question, GroupMetric) else problem.quantity.value
            return f"`{metric}`, a metric of groups"
