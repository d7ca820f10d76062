"""From a problem to a task: axes, boxes on which the admissible assignments are known, comparisons, roots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.contract import Refusal
from fairdsl.backends.intervals.axes import Axis, cells, lattice, table
from fairdsl.backends.intervals.comparisons import Comparisons
from fairdsl.backends.intervals.network import Decision, FirstLayer, decision_of
from fairdsl.backends.intervals.partition import MIXED, TRUE, Boxes, partition
from fairdsl.backends.intervals.remainders import NOTHING_LEFT_OUT, left_out
from fairdsl.backends.intervals.roles import Roles, roles_of
from fairdsl.backends.intervals.roots import Places, Roots, as_rows, at_home, covered
from fairdsl.backends.intervals.task import AttributeKind, Task
from fairdsl.ir.domain import Category, Point
from fairdsl.ir.expr import TRUE as NOTHING_ASKED
from fairdsl.ir.expr import Predicate
from fairdsl.ir.model import ByThreshold, Layer, Model
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Quantity
from fairdsl.numerics.assignments import Assignments
from fairdsl.numerics.narrow import Finite, ValueSet
from fairdsl.numerics.rounding import float_above, nearest_floats

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
ObjectArray = NDArray[Any]

#: Boxes into which constraints split the domain at most.
_BOXES = 20_000
#: Cells of a real attribute: 2^20, fewer where positions of all attributes together would not fit 62 bits.
_CELL_BITS, _LEAST_CELL_BITS, _ALL_BITS = 20, 8, 62


@dataclass(frozen=True, kw_only=True, eq=False)
class Lowered:
    """A task with what leads its boxes home.

    ``axes`` are the task's attributes; one of its units stands for ``factor`` units of the problem, which
    differ in the attributes ``idle`` (or in the assignment) alone. ``alike`` of its vacuous units do have
    somebody to be compared with, who contributes the same, and ``unsure`` of all others may have nobody.
    ``members`` are the assignments of each comparison's groups. ``counted`` says whether units are counted
    (otherwise measured by volume).
    """

    task: Task
    problem: Problem
    roles: Roles
    axes: tuple[Axis, ...]
    assignments: Assignments
    members: tuple[tuple[int, ...], ...]
    factor: int
    alike: int
    unsure: int
    counted: bool

    @property
    def vacuous(self) -> int:
        """Units of the task that have nobody to be compared with."""
        return self.task.vacuous - self.alike

    @property
    def widened(self) -> bool:
        """Whether paths lead to others than those whom a unit is compared with."""
        return not at_home(self.roles)

    @property
    def surely_somebody(self) -> bool:
        """Whether it is known that somebody is compared."""
        return self.task.total - self.task.undetermined - self.vacuous > self.unsure

    def unsure_beside(self, somebody: bool) -> int:
        """Of how many units a partner is not known, where somebody in one of them is known to be compared."""
        return self.unsure - (somebody and not self.surely_somebody and self.unsure > 0)

    def individual(self, positions: Sequence[int], assignment: int, rng: np.random.Generator) -> Point:
        """One individual of a unit: idle attributes have a random value, reals the middle of their cell."""
        values = self.roles.fixed | self.assignments.values_of(assignment)
        values |= {index: drawn(self.roles.sets[index], rng) for index in self.roles.idle}
        for axis, position in zip(self.axes, positions, strict=True):
            if axis.attribute is not None:
                values[axis.attribute] = axis.value(position)
        return tuple(values[index] for index in range(len(self.roles.sets)))


def drawn(values: ValueSet, rng: np.random.Generator) -> Fraction:
    """One of the values, at random; of an unbounded interval an end, or zero."""
    if isinstance(values, Finite):
        return Fraction(values.values[int(rng.integers(values.count))])
    if values.low is None or values.high is None:
        return _least(values)
    return values.low + (values.high - values.low) * Fraction(int(rng.integers(2**16 + 1)), 2**16)


def clipped(values: ValueSet, value: Fraction) -> Fraction:
    """The value, moved into the range of the values."""
    low = value if values.low is None else max(value, values.low)
    return low if values.high is None else min(low, values.high)


def _least(values: ValueSet) -> Fraction:
    return values.low if values.low is not None else values.high if values.high is not None else Fraction(0)


def lower(problem: Problem) -> Lowered:
    """The task of a problem that :func:`~.roles.roles_of` does not refuse."""
    roles = roles_of(problem)
    if isinstance(roles, Refusal):
        raise ValueError(f"asked what is refused: {roles.why}")
    decision = decision_of(problem.model)
    layers = (*problem.model.layers[:-1], decision.layer)
    return _Lowering(problem, roles, decision, layers).run()


class _Lowering:
    """One run; the parts share the problem's roles and the first layer."""

    def __init__(self, problem: Problem, roles: Roles, decision: Decision, layers: tuple[Layer, ...]) -> None:
        self.problem, self.roles, self.decision, self.layers = problem, roles, decision, layers
        self.first = FirstLayer(problem.model, layers[0], roles.sets)
        self.assignments, whole = _assignments(roles)
        self.axes = self._axes()
        self.comparisons = self._comparisons(whole)
        self.roots = Roots(roles, self.assignments, self.comparisons)
        # Whether all are taken for partners of whom the target of pairs may say otherwise.
        self._widened = (
            problem.quantity is Quantity.HOLDS and roles.both == roles.anchor == NOTHING_ASKED != roles.pair.pair_target
        )

    def run(self) -> Lowered:
        """Partition, compare, assemble."""
        boxes, places = self._boxes()
        self.roots.sort(boxes, places)
        axes = self.axes
        if self.roots.by_assignment:
            axes = (*axes, lattice(None, Fraction(0), Fraction(1), self.assignments.count, self._nothing()))
        if not axes:
            axes = (lattice(None, Fraction(0), Fraction(1), 1, self._nothing()),)
        return Lowered(
            task=self._task(axes),
            problem=self.problem,
            roles=self.roles,
            axes=axes,
            assignments=self.assignments,
            members=tuple(self.comparisons.members),
            factor=self._factor(),
            alike=self.roots.alike,
            unsure=self.roots.decided + self.roots.alike if self._widened else self.roots.unsure,
            counted=all(isinstance(values, Finite) for values in self.roles.sets),
        )

    def _exact(self) -> bool:
        """Whether every number of the task is the model's own, not just the nearest float64."""
        arrays = [array for layer in self.layers[1:] for array in (layer.weight, layer.bias)]
        slopes = [layer.slope for layer in self.layers[:-1]]
        return not self.first.rounded and all(array.is_float for array in (*arrays, *slopes))

    def _nothing(self) -> ObjectArray:
        return np.zeros(self.first.units, dtype=object)

    def _factor(self) -> int:
        """Units of the problem for each of the task's."""
        counts = [self.roles.sets[index].count for index in self.roles.idle]
        if self.roles.individuals and not self.roots.by_assignment:
            counts += [self.roles.sets[index].count for index in self.roles.pair.differ]
        return prod(count for count in counts if count is not None)

    def _axes(self) -> tuple[Axis, ...]:
        sizes = [values.count for index in self.roles.shared if (values := self.roles.sets[index]).count is not None]
        reals = len(self.roles.shared) - len(sizes)
        free = _ALL_BITS - prod(size for size in sizes if size is not None).bit_length()
        bits = min(_CELL_BITS, max(_LEAST_CELL_BITS, free // max(1, reals)))
        return tuple(self._axis(index, 1 << bits) for index in self.roles.shared)

    def _axis(self, index: int, count: int) -> Axis:
        values, first = self.roles.sets[index], self.first
        active = index not in self.roles.roaming
        slope = first.slope(index) if active else self._nothing()
        if not isinstance(values, Finite):
            assert values.low is not None and values.high is not None, "unbounded reals are refused"  # noqa: PT018
            return cells(index, values.low, values.high, count, slope)
        if not values.count:
            return lattice(index, Fraction(0), Fraction(1), 0, self._nothing())
        step = _step(values.values)
        if step is not None and (first.linear(index) or not active):
            return lattice(index, Fraction(values.values[0]), step, values.count, slope * step)
        columns = first.contributions(index, values.values)
        if not active:
            columns = columns * 0
        sort = isinstance(self.problem.domain.attributes[index].type, Category)
        return table(index, values.values, columns, sort=sort)

    def _comparisons(self, whole: Sequence[Sequence[int | Fraction]]) -> Comparisons:
        first, roles = self.first, self.roles
        base = first.bias
        for index, value in roles.fixed.items():
            base = base + first.contributions(index, [value])[0]
        for axis in self.axes:
            if axis.kind is not AttributeKind.TABLE and axis.attribute is not None:
                active = axis.attribute not in roles.roaming
                base = base + first.slope(axis.attribute) * axis.start if active else base
        ways = []
        for index, by in roles.shifts.items():
            slope = first.slope(index)
            ways.append(np.stack([slope * -by, slope * by]))
        for index in roles.roaming:
            ways.append(first.contributions(index, _line(roles.sets[index], first.linear(index))))
        here = base
        for index in roles.roaming:
            here = here + first.contributions(index, [_least(roles.sets[index])])[0]
        return Comparisons(first=first, assignments=self.assignments, base=base, here=here, ways=ways, whole=whole)

    def _boxes(self) -> tuple[Boxes, Places]:
        """Boxes, and what their states tell."""
        roles, assignments = self.roles, self.assignments
        index: dict[Predicate, int] = {}
        each = [roles.each] * assignments.count if roles.uniform else assignments.admitted(roles.each, roles.sets)
        asked = roles.anchor if roles.symmetric else roles.both
        both = [] if asked == NOTHING_ASKED else assignments.compared(asked, roles.sets)
        own = [] if roles.own is None else assignments.admitted(roles.own, roles.sets)
        for predicate in (*each, *both, *own):
            index.setdefault(predicate, len(index))
        most = _BOXES if self.problem.quantity is not Quantity.HOLDS else _BOXES // 10
        empty = any(values.count == 0 for values in roles.sets)
        boxes = _no_boxes(len(self.axes), len(index)) if empty else partition(list(index), self.axes, most)
        if self.problem.quantity is Quantity.HOLDS:
            # To hold for all who may be admissible is to hold for all who are; that there are any is then not known.
            self._widened |= bool((boxes.states == MIXED).any())
            boxes = Boxes(boxes.low, boxes.high, np.where(boxes.states == MIXED, TRUE, boxes.states))
        found = (_places(predicates, index) for predicates in (each, both, own))
        return boxes, Places(**dict(zip(("each", "pairs", "own"), found, strict=True)))

    def _task(self, axes: tuple[Axis, ...]) -> Task:
        tables, roots, first, layers = self.comparisons.tables(), self.roots, self.first, self.layers
        columns = np.concatenate([axis.columns for axis in axes])
        hidden = layers[:-1]
        above = (nearest_floats(layer.weight) for layer in layers[1:])
        weights = (np.ascontiguousarray(first.floats(columns).T), *above)
        slopes = tuple(nearest_floats(layer.slope) for layer in hidden)
        return Task(
            kinds=np.array([axis.kind for axis in axes], dtype=np.int64),
            sizes=np.array([axis.size for axis in axes], dtype=np.int64),
            first_coordinate=np.concatenate([[0], np.cumsum([len(axis.columns) for axis in axes])]).astype(np.int64),
            weights=weights,
            biases=tuple(layer.bias.floats for layer in layers[1:]),
            slopes=slopes,
            curves=tuple(layer.curve_codes.astype(np.int64) for layer in hidden),
            rivals=self.decision.rivals,
            margin=self.decision.margin,
            strict=self.decision.strict,
            origin=tables.origin,
            moves=tables.moves,
            move_start=tables.move_start,
            simplex=tables.simplex,
            groups=tables.groups,
            group_start=tables.group_start,
            relaxed=not covered(self.roles),
            corners=tables.corners & at_home(self.roles),
            exact=self._exact(),
            low=as_rows(roots.low, len(axes)),
            high=as_rows(roots.high, len(axes)),
            comparison=np.array(roots.comparison, dtype=np.int64),
            component=np.array(roots.component, dtype=np.int64),
            decided=roots.decided,
            vacuous=roots.vacuous,
            undetermined=roots.undetermined,
            float32_error=_float32_error(self.problem.model, self.roles.sets),
            remainders=() if self._exact() else self._remainders(columns, weights, slopes, tables.groups),
        )

    def _remainders(
        self, columns: ObjectArray, weights: Sequence[Floats], slopes: Sequence[Floats], groups: Floats
    ) -> tuple[NDArray[np.int32], ...]:
        """What the float64 of the arrays that individuals are evaluated by leave out."""
        above = [(layer.weight, floats) for layer, floats in zip(self.layers[1:], weights[1:], strict=True)]
        above += [(layer.bias, layer.bias.floats) for layer in self.layers[1:]]
        above += [(layer.slope, floats) for layer, floats in zip(self.layers[:-1], slopes, strict=True)]
        return (
            self.first.left_out(columns.T, weights[0]),
            *(NOTHING_LEFT_OUT if array.is_float else left_out(floats, array.exact) for array, floats in above),
            self.first.left_out(self.comparisons.numbers(), groups),
        )


def _float32_error(model: Model, sets: Sequence[ValueSet]) -> Floats | None:
    """How far the deployed file's one row may be from the exact one, the width of the threshold's enclosure included;
    None where no file is deployed, or no bound is known."""
    rule = model.rule
    if model.deployed is None or not isinstance(rule, ByThreshold):
        return None
    from fairdsl.models.float32.decision import analysis_of, slack

    file = analysis_of(model, sets)
    found = None if file is None else slack(file)
    return None if found is None else np.array([float_above(found.decision[0] + rule.high - rule.low)])


def _assignments(roles: Roles) -> tuple[Assignments, list[Sequence[int | Fraction]]]:
    """The assignments that are told apart, and all values of the differing attributes."""
    sets = [roles.sets[index] for index in roles.pair.differ]
    whole = [_line(values, index not in roles.bent) for index, values in zip(roles.pair.differ, sets, strict=True)]
    listed = []
    for values in sets:
        ends = (_least(values), values.high or Fraction(0))
        listed.append(ends if roles.sparse or not isinstance(values, Finite) else tuple(values.values))
    return Assignments(differ=roles.pair.differ, values=tuple(listed), mode=roles.pair.mode), whole


def _line(values: ValueSet, linear: bool) -> Sequence[int | Fraction]:
    """Values whose contributions have all others' in their hull."""
    if isinstance(values, Finite) and not (linear and values.count):
        return values.values
    assert values.low is not None and values.high is not None, "unbounded reals are refused"  # noqa: PT018
    return (values.low, values.high)


def _step(values: Sequence[int | Fraction]) -> Fraction | None:
    """The common difference of an arithmetic progression; None where there is none."""
    if isinstance(values, range):
        return Fraction(values.step)
    steps = {Fraction(after) - Fraction(before) for before, after in pairwise(values)}
    return steps.pop() if len(steps) == 1 else Fraction(1) if not steps else None


def _places(predicates: Sequence[Predicate], index: dict[Predicate, int]) -> Integers:
    return np.array([index[predicate] for predicate in predicates], dtype=np.int64)


def _no_boxes(axes: int, predicates: int) -> Boxes:
    nowhere = np.zeros((0, axes), dtype=np.int64)
    return Boxes(nowhere, nowhere, np.zeros((0, predicates), dtype=np.int8))
