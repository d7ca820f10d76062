"""Models in exact arithmetic: the reference that floating point answers to.

A layer of leaky units is evaluated in integers over one common denominator, which is an order of magnitude
faster than adding fractions, and exact. Curved units have no rational values: behind such a unit every
number is a ball, an integer with a radius over the common denominator. Sums are exact in both, a leaky unit
keeps the radius (its slope is at most 1), a curved one scales it by its greatest derivative and adds its
rounding, unless it is ``max(z, 0)`` there. The precision grows until a decision is clear; where it never is, the
decision stays open.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, gcd, lcm

import numpy as np

from fairdsl.ir.domain import Point
from fairdsl.ir.expr import Relation
from fairdsl.ir.feature import AttributeInput
from fairdsl.ir.model import ByHighest, ByThreshold, Curve, DecisionRule, Layer, Model
from fairdsl.ir.opaque import KernelMachine
from fairdsl.numerics.curve_values import is_rectified, value_near
from fairdsl.numerics.curves import SLOPE
from fairdsl.numerics.fixed_point import FixedPoint
from fairdsl.numerics.kernel_exact import kernel_values
from fairdsl.numerics.leaves import Leaves
from fairdsl.numerics.predicates import holds_for
from fairdsl.numerics.rounding import float_below

#: Stands for a decision that stays open, where a number is needed.
UNDECIDED = -1

#: Binary digits of a curved unit's value: the first usually suffice where float64 does not, the last end the search.
_PRECISIONS = (96, 192, 400)


@dataclass(frozen=True, slots=True)
class Enclosed:
    """Scores known up to an error: score i lies within ``errors[i]`` of ``values[i]``, and is it where that is 0."""

    values: tuple[Fraction, ...]
    errors: tuple[Fraction, ...]

    @property
    def exact(self) -> bool:
        """Whether the values are the scores themselves."""
        return not any(self.errors)


@dataclass(frozen=True, slots=True)
class _Balls:
    """Signals between layers: ``numerators[i] / denominator``, give or take ``radii[i] / denominator``."""

    numerators: list[int]
    radii: list[int]
    denominator: int


def exact_inputs(model: Model, point: Point) -> tuple[Fraction, ...]:
    """The numbers that the model's first layer reads at a point."""
    leaves = Leaves.of(model)
    inputs = [Fraction(0)] * len(model.inputs)
    for position in leaves.others.tolist():
        item = model.inputs[position]
        number = point[item.attribute] if isinstance(item, AttributeInput) else holds_for(item.predicate, point)
        inputs[position] = Fraction(number)
    for position in leaves.reached_exactly(point):
        inputs[position] = Fraction(1)
    return tuple(inputs)


def exact_scores(model: Model, point: Point) -> tuple[Fraction, ...]:
    """The scores of a model without curved units at a point, in real arithmetic."""
    if not model.rational:
        raise ValueError("the scores of smooth units are not rational numbers: see enclosed_scores")
    return enclosed_scores(model, point).values


def enclosed_scores(model: Model, point: Point, bits: int = _PRECISIONS[0]) -> Enclosed:
    """The model's scores at a point: exactly where all numbers are rational, else with so many bits after the point."""
    if (scores := _in_fixed_point(model, point)) is not None:
        return Enclosed(scores, (Fraction(0),) * len(scores))
    balls = _first(model, point)
    if isinstance(model.opaque, KernelMachine):
        found = kernel_values(model.opaque, balls.numerators, balls.denominator, bits)
        balls = _Balls(found.numerators, found.radii, found.denominator)
    for layer in model.layers:
        balls = _apply(layer, balls, bits)
    return Enclosed(
        tuple(Fraction(numerator, balls.denominator) for numerator in balls.numerators),
        tuple(Fraction(radius, balls.denominator) for radius in balls.radii),
    )


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


def decide_enclosed(rule: DecisionRule, scores: Enclosed) -> int | None:
    """The outcome that every score within the errors comes to; None where they come to several."""
    if scores.exact:
        return decide(rule, scores.values)
    lows = tuple(value - error for value, error in zip(scores.values, scores.errors, strict=True))
    highs = tuple(value + error for value, error in zip(scores.values, scores.errors, strict=True))
    match rule:
        case ByThreshold(low=low, high=high):
            # On one side of the whole enclosure the two ends are decided alike, and so is all between them.
            clear = lows[0] > high or highs[0] < low
            return decide(rule, lows) if clear else None
        case ByHighest():
            # The best in the worst case against all others in their best; ties go to the lower index.
            best = max(range(len(lows)), key=lambda index: (lows[index], -index))
            rivals = (other for other in range(len(lows)) if other != best)
            ahead = all(lows[best] > highs[other] or (lows[best] == highs[other] and best < other) for other in rivals)
            return best if ahead else None


def settled_scores(model: Model, point: Point) -> tuple[Enclosed, int | None]:
    """The scores at a point, precise enough for the decision, and the decision; None where it stays open."""
    for bits in _precisions(model):
        scores = enclosed_scores(model, point, bits)
        outcome = decide_enclosed(model.rule, scores)
        if outcome is not None:
            break
    return scores, outcome


def decision(model: Model, point: Point) -> int | None:
    """The decision at a point, in real arithmetic; None where it stays open."""
    return settled_scores(model, point)[1]


def gap_keeps(a: Enclosed, b: Enclosed, relation: Relation, limit: Fraction) -> bool | None:
    """Whether the gap of two single scores stands in ``relation`` to the limit; None where the errors hide it."""
    middle, error = a.values[0] - b.values[0], a.errors[0] + b.errors[0]
    high = abs(middle) + error
    low = max(Fraction(0), abs(middle) - error)
    answers = {relation.compares(low, limit), relation.compares(high, limit)}
    if len(answers) > 1 or (relation in (Relation.EQ, Relation.NE) and low <= limit <= high and error):
        return None
    return answers.pop()


def settled_gap(model: Model, points: tuple[Point, Point], relation: Relation, limit: Fraction) -> bool | None:
    """Whether the gap of two points' scores stands in ``relation`` to the limit; None where that stays open."""
    a, b = points
    firsts = [_first(model, point) for point in points]
    if model.opaque is None:
        firsts = [_affine(model.layers[0], first) for first in firsts]
    if firsts[0] == firsts[1]:
        return relation.compares(Fraction(0), limit)  # the model cannot tell them apart, which no precision shows
    kept = None
    for bits in _precisions(model):
        kept = gap_keeps(enclosed_scores(model, a, bits), enclosed_scores(model, b, bits), relation, limit)
        if kept is not None:
            break
    return kept


def _first(model: Model, point: Point) -> _Balls:
    """What the layers read; of a kernel machine its features, which its kernel reads."""
    inputs = _inputs(model, point)
    return _affine(model.opaque.features, inputs) if isinstance(model.opaque, KernelMachine) else inputs


def _inputs(model: Model, point: Point) -> _Balls:
    inputs = exact_inputs(model, point)
    denominator = lcm(*(value.denominator for value in inputs)) if inputs else 1
    numerators = [value.numerator * (denominator // value.denominator) for value in inputs]
    return _Balls(numerators, [0] * len(numerators), denominator)


def _in_fixed_point(model: Model, point: Point) -> tuple[Fraction, ...] | None:
    """The exact scores of a wide network of floats, in milliseconds; None where there is no such way."""
    fixed = FixedPoint(model.layers)
    if model.opaque is not None or not fixed.pays(1):
        return None
    inputs = exact_inputs(model, point)
    floats = [float_below(value) for value in inputs]
    if any(number != value for number, value in zip(floats, inputs, strict=True)):
        return None
    found = fixed.scores(np.array([floats]), truncated=False)
    return None if found is None else found.rows()[0]


def _precisions(model: Model) -> Iterator[int]:
    """More bits help only where something was rounded."""
    yield from _PRECISIONS[:1] if model.rational else _PRECISIONS


def _apply(layer: Layer, balls: _Balls, bits: int) -> _Balls:
    """One layer, over a new common denominator."""
    before = _affine(layer, balls)
    slope, slope_denominator = layer.slope.scaled
    bent = [
        total * (slope_denominator if total > 0 else factor)
        for total, factor in zip(before.numerators, slope.tolist(), strict=True)
    ]
    radii = [radius * slope_denominator for radius in before.radii]
    denominator = before.denominator * slope_denominator
    if not layer.rational:
        _curve(layer, before, bits, bent, radii, denominator)
        denominator <<= bits
    shared = gcd(denominator, *bent, *radii)
    return _Balls([value // shared for value in bent], [value // shared for value in radii], denominator // shared)


def _affine(layer: Layer, balls: _Balls) -> _Balls:
    """``weight @ signals + bias``, exactly; the radii add up by the sizes of the weights."""
    weight, weight_denominator = layer.weight.scaled
    bias, bias_denominator = layer.bias.scaled
    common = lcm(weight_denominator * balls.denominator, bias_denominator)
    onto_bias = common // bias_denominator
    onto_weight = common // (weight_denominator * balls.denominator)
    totals = [value * onto_bias for value in bias.tolist()]
    # Half of a ReLU network's activations are zero: their columns are left out.
    live = [column for column, value in enumerate(balls.numerators) if value]
    if live:
        products = weight[:, live] @ np.array([balls.numerators[column] for column in live], dtype=object)
        totals = [total + p * onto_weight for total, p in zip(totals, products.tolist(), strict=True)]
    radii = [0] * len(totals)
    blurred = [column for column, radius in enumerate(balls.radii) if radius]
    if blurred:
        spread = np.abs(weight[:, blurred]) @ np.array([balls.radii[column] for column in blurred], dtype=object)
        radii = [radius * onto_weight for radius in spread.tolist()]
    return _Balls(totals, radii, common)


def _curve(layer: Layer, before: _Balls, bits: int, bent: list[int], radii: list[int], denominator: int) -> None:
    """Bring ``bent`` and ``radii`` over the denominator times 2**bits, with the values of the curved units in place."""
    for unit, curve in enumerate(layer.curves):
        total, radius = before.numerators[unit], before.radii[unit]
        straight = is_rectified(curve, total, before.denominator) and (not radius or SLOPE[curve] == 1)
        if curve is Curve.LEAKY or straight:
            bent[unit] <<= bits
            radii[unit] <<= bits
            continue
        bent[unit] = value_near(curve, total, before.denominator, bits) * denominator
        if radius or total or curve is Curve.SOFTPLUS:  # at 0 the others' values, 1/2 and 0, are exact
            # In whole units of 2**-bits, one of them for the rounding: so the denominator can be reduced again.
            units = ceil(SLOPE[curve] * Fraction(radius << bits, before.denominator)) + 1
            radii[unit] = units * denominator
