"""The favourable outcome of a model of one linear layer, as comparisons of weighted sums of its inputs.

A threshold t that is known only to lie strictly between two rationals equals no score. With such a threshold a demand
``sum > t`` holds for every t in between iff the sum is at least the upper end, and for some t iff it is above the
lower one; strict or not makes no difference.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from fairdsl.ir.expr import Relation
from fairdsl.ir.model import Model
from fairdsl.numerics.event import Demand, event_of

__all__ = ["End", "Outcome", "Sum"]


class End(Enum):
    """Which individuals count as favourable where a threshold is not known exactly."""

    LOW = "low"  # those that are so for every threshold in between
    HIGH = "high"  # those that are so for some of them


@dataclass(frozen=True, slots=True)
class Sum:
    """``constant + sum of weight * input RELATION bound``, by position of the input; weights are not 0."""

    weights: Mapping[int, Fraction]
    constant: Fraction
    relation: Relation
    bound: Fraction

    def holds(self, inputs: Mapping[int, Fraction]) -> bool:
        """Whether it is so for these values of inputs; those that are not listed are 0."""
        total = self.constant
        for position, value in inputs.items():
            total += self.weights.get(position, 0) * value
        return self.relation.compares(total, self.bound)


class Outcome:
    """Favourable is who meets all ``demands``; with ``complement``, who does not meet them all."""

    def __init__(self, model: Model, end: End) -> None:
        event = event_of(model)
        self.complement = event.complement
        self.vague = any(demand.low < demand.high for demand in event.demands)
        # Fewer individuals are favourable where each demand asks for more, or, of a complement, for less.
        hard = (end is End.LOW) != event.complement
        self.demands = tuple(_sum(model, demand, hard) for demand in event.demands)
        self.weighed = frozenset(position for demand in self.demands for position in demand.weights)

    def grants(self, inputs: Mapping[int, Fraction]) -> bool:
        """Whether the outcome is favourable for these values of inputs; those that are not listed are 0."""
        return all(demand.holds(inputs) for demand in self.demands) != self.complement


def _sum(model: Model, demand: Demand, hard: bool) -> Sum:
    layer = model.layers[0]
    weights: dict[int, Fraction] = {}
    constant = Fraction(0)
    for factor, row, bias in zip(demand.row, layer.weight.exact, layer.bias.exact, strict=True):
        if factor:
            constant += factor * Fraction(bias)
            for position, weight in enumerate(row):
                if weight:
                    weights[position] = weights.get(position, Fraction(0)) + factor * Fraction(weight)
    present = {position: weight for position, weight in sorted(weights.items()) if weight}
    if demand.low == demand.high:
        return Sum(present, constant, Relation.GT if demand.strict else Relation.GE, demand.low)
    return Sum(present, constant, *((Relation.GE, demand.high) if hard else (Relation.GT, demand.low)))
