"""``excluding groups below 2% of rows``: how many rows these are, once the rows are known."""

from __future__ import annotations

from dataclasses import replace
from math import ceil

from fairdsl.ir.expr import Who
from fairdsl.ir.population import Population
from fairdsl.ir.question import Excluding, GroupMetric


def counted(question: GroupMetric, population: Population | None) -> GroupMetric:
    """The question with a number of rows: a part of those that meet its conditions, which are all of the table without.

    Fewer rows than the part of n are fewer than the least whole number from it.
    """
    if population is None or population.sample is None or question.excluding_below is None:
        return question
    from fairdsl.numerics.predicates import mask

    rows = int(mask(question.given, {Who.EACH: population.sample.values}).sum())
    return replace(question, excluding=Excluding(rows=max(1, ceil(question.excluding_below * rows))))
