"""Demands that ask one quantity are answered by one computation, and report one number.

A fair share and a discrimination rate are one quantity, and so is a metric with and without a threshold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from fairdsl.elaborate import Elaborated
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Quantity
from fairdsl.plan.negotiate import Plan, plan_of
from fairdsl.verdict import Refused

_SHARES = (Quantity.FAIR_SHARE, Quantity.DISCRIMINATION_RATE)


@dataclass(frozen=True, eq=False)
class Shared:
    """Demands, in the order of the spec, with the one problem that answers all of them, and its plan."""

    demands: tuple[Elaborated, ...]
    problem: Problem
    plan: Plan | Refused


def shared(demands: Sequence[Elaborated], backend: str | None = None, *, by_partitions: bool = False) -> list[Shared]:
    """Every demand with those that ask the same; refused ones stand alone, for each says where it is written."""
    alike: list[list[Elaborated]] = []
    places: dict[tuple[object, ...], list[list[Elaborated]]] = {}
    for item in demands:
        known = places.setdefault(_kind(item), [])
        group = next((group for group in known if _same(group[0], item)), None)
        if group is None or item.refusal is not None or item.demand.beyond:
            group = []
            known.append(group)
            alike.append(group)
        group.append(item)
    found = list[Shared]()
    for group in alike:
        plan = plan_of(group[0], backend, by_partitions=by_partitions)
        if isinstance(plan, Plan):
            found.append(Shared(tuple(group), _for_all(group), plan))
            continue
        found.append(Shared((group[0],), group[0].problem, plan))
        refused = (plan_of(item, backend, by_partitions=by_partitions) for item in group[1:])
        found.extend(Shared((item,), item.problem, own) for item, own in zip(group[1:], refused, strict=True))
    return found


def in_turn(planned: Sequence[Shared]) -> list[Shared]:
    """In the order in which they are answered: refused ones, then by :class:`Cost`, as the spec has them.

    So nobody waits for a proof to hear what 300 rows say, and what cheap demands leave of the time goes to the others.
    """
    return sorted(planned, key=lambda each: -1 if isinstance(each.plan, Refused) else each.plan.cost)


def _kind(item: Elaborated) -> tuple[object, ...]:
    """What is looked at before questions are compared."""
    problem = item.problem
    asked = "share" if problem.quantity in _SHARES else problem.quantity.value
    return id(problem.model), id(problem.population), asked


def _same(one: Elaborated, other: Elaborated) -> bool:
    """Whether both ask one quantity, and are content with the same."""
    first, second = one.problem, other.problem
    return (
        one.refusal is None
        and not one.demand.beyond
        and one.demand.certain == other.demand.certain
        and first.precision == second.precision
        and (first.precision is None or first.threshold == second.threshold)
        and first.question == second.question
        and first.domain == second.domain
    )


def _for_all(group: Sequence[Elaborated]) -> Problem:
    """The problem of the first; where thresholds differ an engine knows none, and is told when all are decided."""
    problem = group[0].problem
    if all(item.problem.threshold == problem.threshold for item in group):
        return problem
    return replace(problem, threshold=None)
