"""The first bound filter: bounds of the scores over many partitions at once.

Theorem. Let every individual that takes part in a pair of a partition lie in one of some *sides*: boxes of
inputs, one for each assignment of the differing attributes (or one for all where these are many), with
relaxed attributes widened by what the partner may differ. If the model's decision is the same all over all
sides, no pair of the partition has different decisions. If all scores of all sides lie within ``limit`` of
each other, no gap is larger.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import inf

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.smt.bound_filters.boxes import Box, Boxes
from fairdsl.backends.smt.cases import pair_of
from fairdsl.ir.expr import Relation, variables
from fairdsl.ir.feature import AttributeInput, Input
from fairdsl.ir.model import ByThreshold, Curve, DecisionRule
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair, ScoreGap
from fairdsl.numerics.bounds import LayerBounds, float_layers, preactivation_bounds, spend_on_bounds
from fairdsl.numerics.choices import choices_of
from fairdsl.numerics.narrow import Finite, Interval, ValueSet
from fairdsl.numerics.rounding import float_above, float_below
from fairdsl.numerics.space import input_ends

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

#: More assignments of the differing attributes than this are bounded together.
_FEW = 32
#: Numbers in the arrays of one call at most, so that memory stays small and caches warm.
_CELLS = 1 << 19


class BoundFilter:
    """Bounds the partitions of one question."""

    def __init__(self, problem: Problem, sets: Box) -> None:
        self._pair: Pair = pair_of(problem)
        self._model = problem.model
        self._sets = sets
        self._layers = float_layers(problem.model)
        self._choices = choices_of(problem.model)
        self._assignments = assignments_of(self._pair, sets, _FEW)
        widest = max(len(layer.bias) for layer in self._layers)
        self._chunk = max(1, _CELLS // (widest * (widest + len(problem.model.inputs)) * len(self._assignments)))
        self.units = sum(int((~layer.linear).sum()) for layer in problem.model.layers[:-1])

    def settled(self, boxes: Boxes) -> tuple[BoolArray, NDArray[np.int64]]:
        """Which partitions hold by bounds alone, and how many units each leaves on either side of zero.

        A unit counts as undecided where some side leaves it so; all sides stand for copies of one network.
        """
        holds = np.zeros(len(boxes), dtype=np.bool_)
        undecided = np.zeros(len(boxes), dtype=np.int64)
        for start in range(0, len(boxes), self._chunk):
            part = boxes.subset(np.arange(start, min(start + self._chunk, len(boxes))))
            found = self._bounded(part)
            shape = (len(part), len(self._assignments))
            low, high = (ends.reshape(*shape, -1) for ends in (found[-1].low, found[-1].high))
            holds[start : start + len(part)] = self._constant(low, high)
            undecided[start : start + len(part)] = sum(
                (((layer.low < 0) & (layer.high > 0)).reshape(*shape, -1).any(axis=1) & ~linear).sum(axis=1)
                for layer, linear in zip(found[:-1], (one.linear for one in self._model.layers), strict=False)
            )
        return holds, undecided

    def inactive(self, box: Box) -> dict[int, tuple[int, ...]]:
        """The hidden units, by layer, that are proved to be 0 for everybody in the box and for all partners.

        Of a layer that would lose all its units the first one stays. Units that pass something on below zero are none.
        """
        found: dict[int, tuple[int, ...]] = {}
        for number, bounds in enumerate(self._bounded(Boxes.of([box]))[:-1]):
            layer = self._model.layers[number]
            zero = (bounds.high <= 0).all(axis=0) & (layer.slope.floats == 0) & (layer.curve_codes == Curve.LEAKY)
            units = np.flatnonzero(zero)[int(zero.all()) :].tolist()
            if units:
                found[number] = tuple(units)
        return found

    def _bounded(self, boxes: Boxes) -> Sequence[LayerBounds]:
        """The bounds of all sides, partition by partition."""
        count, sides = len(boxes), len(self._assignments)
        lower = np.empty((count, sides, len(self._model.inputs)))
        upper = np.empty_like(lower)
        for position, item in enumerate(self._model.inputs):
            for side, assignment in enumerate(self._assignments):
                lower[:, side, position], upper[:, side, position] = self._ends(boxes, item, assignment)
        shape = (count * sides, len(self._model.inputs))
        spend_on_bounds(self._layers, count * sides)
        return preactivation_bounds(self._layers, lower.reshape(shape), upper.reshape(shape), self._choices)

    def _ends(self, boxes: Boxes, item: Input, assignment: dict[int, ValueSet]) -> tuple[FloatArray, FloatArray]:
        """Bounds of one input in every box."""
        reads = (
            [item.attribute]
            if isinstance(item, AttributeInput)
            else sorted({variable.attribute for variable in variables(item.predicate)})
        )
        free = [attribute for attribute in reads if attribute not in assignment]

        def ends(values: tuple[ValueSet, ...]) -> tuple[float, float]:
            known = dict(assignment)
            for attribute, own in zip(free, values, strict=True):
                known[attribute] = widened_set(self._pair, attribute, own, self._sets[attribute])
            return input_ends(item, [known.get(attribute, whole) for attribute, whole in enumerate(self._sets)])

        return boxes.tabulated(free, ends)

    def _constant(self, low: FloatArray, high: FloatArray) -> BoolArray:
        """Whether no two scores of a partition break the demand; ``low`` and ``high`` are [boxes, sides, scores]."""
        demand = self._pair.demand
        if isinstance(demand, ScoreGap):
            with np.errstate(invalid="ignore"):
                # The difference is rounded once; a step outwards covers it.
                gap = np.nextafter(high[..., 0].max(axis=1) - low[..., 0].min(axis=1), inf)
            limit = float_below(demand.limit)
            settled: BoolArray = gap <= limit if demand.relation is Relation.LE else gap < limit
            return settled
        outcomes = _certain(self._model.rule, low, high)
        return np.asarray((outcomes >= 0).all(axis=1) & (outcomes == outcomes[:, :1]).all(axis=1))


def _certain(rule: DecisionRule, low: FloatArray, high: FloatArray) -> NDArray[np.int64]:
    """The outcome of every side [boxes, sides] where the bounds leave one only; -1 elsewhere."""
    if isinstance(rule, ByThreshold):
        below, above = _beside(rule, low[..., 0], high[..., 0])
        upwards = rule.relation.upwards
        if rule.relation in (Relation.EQ, Relation.NE):
            return np.full(below.shape, -1, dtype=np.int64)
        granted, refused = (above, below) if upwards else (below, above)
        return np.where(granted, rule.granted, np.where(refused, rule.otherwise, -1)).astype(np.int64)
    found = np.full(low.shape[:2], -1, dtype=np.int64)
    for outcome in range(low.shape[2]):
        # Ties go to the lowest index.
        ahead = [
            low[..., outcome] > high[..., other] if other < outcome else low[..., outcome] >= high[..., other]
            for other in range(low.shape[2])
            if other != outcome
        ]
        found[np.logical_and.reduce(ahead) if ahead else np.ones(found.shape, dtype=np.bool_)] = outcome
    return found


def _beside(rule: ByThreshold, low: FloatArray, high: FloatArray) -> tuple[BoolArray, BoolArray]:
    """Where all scores are certainly on the lower, and on the upper side of every threshold of the enclosure."""
    bottom, top = float_below(rule.low), float_above(rule.high)
    if rule.relation in (Relation.GT, Relation.LE):  # the threshold itself is on the lower side
        return high <= bottom, low > top
    return high < bottom, low >= top


def assignments_of(pair: Pair, sets: Box, most: int) -> list[dict[int, ValueSet]]:
    """All assignments of the differing attributes, or where there are more than ``most`` a single side for all."""
    listed = [sets[index] for index in pair.differ]
    if any(isinstance(values, Interval) for values in listed):
        return [{index: sets[index] for index in pair.differ}]
    finite = [values for values in listed if isinstance(values, Finite)]
    count = 1
    for values in finite:
        count *= values.count
    if count > most:
        return [{index: sets[index] for index in pair.differ}]
    return [
        {index: Finite((value,)) for index, value in zip(pair.differ, chosen, strict=True)}
        for chosen in product(*(values.values for values in finite))
    ]


def widened_set(pair: Pair, attribute: int, own: ValueSet, whole: ValueSet) -> ValueSet:
    """The values that either individual may take where a's lie in ``own``: more where it is relaxed, never beyond
    the domain and target, which leave ``whole``.
    """
    relaxation = next((one for one in pair.relax if one.attribute == attribute), None)
    if relaxation is None or own == whole:
        return own
    if relaxation.by is None:
        return whole
    return _between(whole, own, relaxation.by)


def _between(whole: ValueSet, own: ValueSet, by: Fraction) -> ValueSet:
    low = None if own.low is None else own.low - by
    high = None if own.high is None else own.high + by
    if isinstance(whole, Finite):
        first = 0 if low is None else bisect_left(whole.values, low)
        return Finite(whole.values[first : None if high is None else bisect_right(whole.values, high)])
    below = whole.low if low is None or (whole.low is not None and whole.low > low) else low
    above = whole.high if high is None or (whole.high is not None and whole.high < high) else high
    return Interval(below, above)
