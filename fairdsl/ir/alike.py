"""Whether a model has anything to tell two individuals apart by whom a question compares."""

from __future__ import annotations

from fractions import Fraction

from fairdsl.ir.model import read_attributes
from fairdsl.ir.opaque import BlackBox
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair, ScoreGap


def apart(pair: Pair) -> frozenset[int]:
    """The attributes in which the two individuals may differ."""
    return frozenset((*pair.differ, *(relaxation.attribute for relaxation in pair.relax)))


def computed_alike(problem: Problem) -> bool:
    """Whether the demand holds of every pair because the model reads nothing in which the two may differ.

    A file that is only run is known by what it drops before it computes anything. Of a function nothing is taken for
    granted: it may answer otherwise when it is asked again.
    """
    pair, model = problem.question, problem.model
    if not isinstance(pair, Pair) or not allows_none(pair):
        return False
    if isinstance(model.opaque, BlackBox):
        return apart(pair) <= model.opaque.ignores
    return apart(pair).isdisjoint(read_attributes(model))


def allows_none(pair: Pair) -> bool:
    """Whether two individuals with the same scores meet the demand."""
    demand = pair.demand
    return not isinstance(demand, ScoreGap) or demand.relation.compares(Fraction(0), demand.limit)
