"""Models in exact rational arithmetic: the reference that floating point answers to.

A layer is evaluated in integers over one common denominator, which is an order of magnitude faster than
adding fractions, and exact.
"""

from __future__ import annotations

from fractions import Fraction
from math import gcd, lcm

import numpy as np

from fairdsl.ir.domain import Point
from fairdsl.ir.feature import AttributeInput
from fairdsl.ir.model import ByHighest, ByThreshold, DecisionRule, Layer, Model
from fairdsl.numerics.predicates import holds_for

__all__ = ["UNDECIDED", "decide", "decision", "exact_inputs", "exact_scores"]

#: Stands for a decision that the threshold's enclosure leaves open, where a number is needed.
UNDECIDED = -1


def exact_inputs(model: Model, point: Point) -> tuple[Fraction, ...]:
    """The numbers that the model's first layer reads at a point."""
    return tuple(
        Fraction(point[item.attribute])
        if isinstance(item, AttributeInput)
        else Fraction(holds_for(item.predicate, point))
        for item in model.inputs
    )


def exact_scores(model: Model, point: Point) -> tuple[Fraction, ...]:
    """The model's scores at a point, in real arithmetic."""
    inputs = exact_inputs(model, point)
    denominator = lcm(*(value.denominator for value in inputs)) if inputs else 1
    numerators = [value.numerator * (denominator // value.denominator) for value in inputs]
    for layer in model.layers:
        numerators, denominator = _apply(layer, numerators, denominator)
    return tuple(Fraction(numerator, denominator) for numerator in numerators)


def decide(rule: DecisionRule, scores: tuple[Fraction, ...]) -> int | None:
    """The outcome's index; None where the score falls inside the threshold's open enclosure."""
    match rule:
        case ByThreshold(relation=relation, low=low, high=high):
            (score,) = scores
            if low == high:
                return rule.granted if relation.compares(score, low) else rule.otherwise
            if low < score < high:
                return None
            # The threshold lies strictly between low and high, so comparing with the nearer end (the
            # score is on or outside it) gives the same answer for strict and non-strict relations.
            side = Fraction(-1) if score <= low else Fraction(1)
            return rule.granted if relation.compares(side, Fraction(0)) else rule.otherwise
        case ByHighest():
            return max(range(len(scores)), key=lambda index: (scores[index], -index))


def decision(model: Model, point: Point) -> int | None:
    """The exact decision at a point; None where it stays open (see :func:`decide`)."""
    return decide(model.rule, exact_scores(model, point))


def _apply(layer: Layer, numerators: list[int], denominator: int) -> tuple[list[int], int]:
    """One layer on ``numerators / denominator``, as integers over a new common denominator."""
    weight, weight_denominator = layer.weight.scaled
    bias, bias_denominator = layer.bias.scaled
    slope, slope_denominator = layer.slope.scaled
    # Half of a ReLU network's activations are zero: their columns are left out.
    live = [column for column, value in enumerate(numerators) if value]
    common = lcm(weight_denominator * denominator, bias_denominator)
    onto_bias = common // bias_denominator
    totals = [value * onto_bias for value in bias.tolist()]
    if live:
        products = weight[:, live] @ np.array([numerators[column] for column in live], dtype=object)
        onto_weight = common // (weight_denominator * denominator)
        totals = [total + p * onto_weight for total, p in zip(totals, products.tolist(), strict=True)]
    bent = [
        total * (slope_denominator if total > 0 else factor)
        for total, factor in zip(totals, slope.tolist(), strict=True)
    ]
    common *= slope_denominator
    shared = gcd(common, *bent)
    return [value // shared for value in bent], common // shared
