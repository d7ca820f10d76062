"""Which questions are answered by boxes, and the reasons against the others, with the place that causes them."""

from __future__ import annotations

from math import prod

from fairdsl.backends.contract import Refusal
from fairdsl.backends.groups import question_of, subjects_of
from fairdsl.backends.rates.boxes import width_of
from fairdsl.backends.rates.distribution import TangledError, distribution_of
from fairdsl.ir.population import Normal
from fairdsl.ir.problem import Problem
from fairdsl.metrics.subject import looked_at

__all__ = ["refusal_of_boxes"]

#: Keys, and products that a single box may take.
_KEYS, _WIDTH = 1 << 12, 1 << 22


def refusal_of_boxes(problem: Problem) -> Refusal | None:
    """Why no boxes can be weighed; None where they can."""
    question = question_of(problem)
    if question.metric.rate.along_paths:
        return Refusal(why="paths of influence are not treated by boxes", span=question.span)
    for subject in subjects_of(problem):
        network = subject.network
        keys = prod(len(network.cells[column]) for column in subject.keys)
        if keys > _KEYS:
            return Refusal(why=f"there are {keys:,} groups", span=question.span)
        columns = looked_at(subject)
        for column in sorted(columns):
            if any(isinstance(row, Normal) for row in network.factor_of(column).rows.values()):
                attribute = network.columns[column]
                name = f"`{attribute.name}` has a normal distribution"
                why = f"{name}, whose masses are irrational: write pieces `uniform(low, high)`"
                return Refusal(why=why, span=attribute.span)
        try:
            width = width_of(distribution_of(network, columns), subject.keys)
        except TangledError as error:
            return Refusal(why=str(error))
        if width > _WIDTH:
            return Refusal(why=str(TangledError(width)))
    return None
