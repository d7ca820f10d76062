"""Which questions are about joint probabilities under a distribution of columns."""

from __future__ import annotations

from math import prod

from fairdsl.backends import groups
from fairdsl.backends.contract import Refusal
from fairdsl.ir.model import Model
from fairdsl.ir.population import Network, Normal
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import GroupMetric
from fairdsl.metrics.joint import columns_of

__all__ = ["has_states", "refusal_of"]

#: So many groups at most.
_KEYS = 1 << 16


def refusal_of(problem: Problem) -> Refusal | None:
    """Why a problem is none of them, before anything is counted; None where it is one."""
    refusal = groups.refusal_of(problem, lambda _: None, paths=True)
    if refusal is None and isinstance(problem.population, Network):
        refusal = _of_groups(groups.question_of(problem), problem.population)
    return refusal


def has_states(model: Model) -> bool:
    """Whether it is a sum of trees, rules and columns."""
    return model.opaque is None and len(model.layers) == 1 and bool(model.layers[0].linear.all())


def _of_groups(question: GroupMetric, network: Network) -> Refusal | None:
    """Why there are no rates by these columns; None where there are."""
    columns = columns_of(question, network)
    groups = prod(len(network.cells[column]) for column in columns)
    if groups > _KEYS:
        return Refusal(why=f"there are {groups:,} groups", span=question.span)
    for column in columns:
        if any(isinstance(row, Normal) for row in network.factor_of(column).rows.values()):
            name = f"`{network.columns[column].name}`"
            why = f"{name} has a normal distribution and no groups: write pieces `uniform(low, high)`"
            return Refusal(why=why, span=question.span)
    return None
