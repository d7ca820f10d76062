"""When people are decided alike whatever they have of what may differ, as events of one individual.

A unit is what its people share. Whoever is drawn is treated fairly where all who are in the unit have the same
decision: the least of their scores is on the granting side of the threshold, or the greatest on the other one. Least
and greatest of several copies of a network are a network again,

    min(x, y) = x - max(x - y, 0),    max(x, y) = x + max(y - x, 0),

over columns that the copies share; what differs is part of the biases. So a fair share under a distribution is a sum of
probabilities of such events, given that somebody is asked about and has somebody to be compared with. (Of models that
are bounded or evaluated assignment by assignment nothing is folded.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.exact_array import ExactArray
from fairdsl.ir.expr import FALSE, TRUE, Member, Not, Predicate, Variable, conjoin, variables
from fairdsl.ir.feature import AttributeInput, IndicatorInput, Input
from fairdsl.ir.model import ByThreshold, Layer, Model
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Differ, Pair
from fairdsl.numerics.assignments import Assignments, components
from fairdsl.numerics.narrow import Finite, narrow
from fairdsl.numerics.restrict import restrict

Exact = NDArray[np.object_]
#: What the differing attributes are, one value each, by attribute.
Assignment = Mapping[int, Fraction]


@dataclass(frozen=True, slots=True, kw_only=True)
class Together:
    """Individuals in whose units people are compared in these ``groups``.

    A group is what comparisons connect, as assignments of what differs; without any nobody is compared. Of those whose
    partners differ by distances it is an individual with all who are near it.
    """

    #: Who: those that are asked about, and whose units have just these.
    condition: Predicate
    #: Which units these are, of those who are not asked about too.
    units: Predicate
    groups: tuple[tuple[Assignment, ...], ...]


def together(problem: Problem, pair: Pair, most: int) -> list[Together] | str:
    """All individuals that are asked about, by who is in their units; why that is not known, where it is not.

    With distances each individual is a unit of its own, and is compared with those near it.
    """
    domain = problem.domain
    narrowed = narrow(domain, pair.target)
    apart = (*pair.differ, *(each.attribute for each in pair.relax))
    sets = [values for index in apart if isinstance(values := narrowed[index], Finite)]
    if len(sets) < len(apart):
        return "what differs has values that are not listed"
    asked = conjoin(domain.where, pair.target)
    alone = not {variable.attribute for variable in variables(asked)} & set(apart)
    if (count := prod(values.count for values in sets)) > (most if alone else most.bit_length()):
        return f"what differs has {count} assignments"
    listed = Assignments(differ=apart, values=tuple(tuple(values.values) for values in sets), mode=pair.mode)
    assignments = [listed.values_of(number) for number in range(count)]
    if pair.relax:
        return _near(pair, asked, assignments) if alone else "conditions are about what differs by a distance"
    each = [given(asked, assignment) for assignment in assignments]
    ways = [(True,) * count] if alone else product((True, False), repeat=count)
    found = []
    for way in ways:
        parts = [part if inside else Not(part) for part, inside in zip(each, way, strict=True)]
        units = asked if alone else conjoin(*parts)
        condition = conjoin(asked, units) if not alone else asked
        groups = components(np.array(way, dtype=bool), listed.pairs)
        if any(way) and condition != FALSE:
            chosen = tuple(tuple(assignments[number] for number in group.tolist()) for group in groups)
            found.append(Together(condition=condition, units=units, groups=chosen))
    return found


def _near(pair: Pair, asked: Predicate, assignments: Sequence[Assignment]) -> list[Together]:
    """Individuals by what they have of what differs, with a distance or without: all near them decide as they do."""
    found = []
    for own in assignments:
        near = tuple(other for other in assignments if _compared(pair, own, other))
        condition = conjoin(asked, having(own))
        found.append(Together(condition=condition, units=condition, groups=((own, *near),) if near else ()))
    return found


def _compared(pair: Pair, one: Assignment, other: Assignment) -> bool:
    """Whether two people are comparable who have these values and are the same else."""
    apart = [one[column] != other[column] for column in pair.differ]
    distances = ((abs(one[each.attribute] - other[each.attribute]), each.by) for each in pair.relax)
    differ = all(apart) if pair.mode is Differ.EACH else any(apart)
    return differ and all(by is None or distance <= by for distance, by in distances)


def having(assignment: Assignment) -> Predicate:
    """To have these values."""
    return conjoin(
        *(Member(variable=Variable(at), values=frozenset({value})) for at, value in sorted(assignment.items()))
    )


def given(predicate: Predicate, assignment: Assignment) -> Predicate:
    """The predicate of those who have these values, over the other attributes."""
    return restrict(predicate, lambda variable: assignment.get(variable.attribute))


# --------------------------------------------------------------------------------------------------
# Copies of a model as one model.


@dataclass(frozen=True, slots=True)
class Fairly:
    """Models that favour whom all copies of a model grant, and whom none does."""

    all_granted: Model
    none_granted: Model

    @classmethod
    def of(cls, model: Model, assignments: Sequence[Assignment]) -> Fairly:
        """Copies of a model with one score for these assignments; the model has layers and a threshold."""
        rule = model.rule
        if not isinstance(rule, ByThreshold):
            raise ValueError("copies are folded into one of a model with one score")
        upwards = rule.relation.upwards
        inputs, stack, last = _copies(model, assignments)
        ends = {least: _folded(stack, last, least=least) for least in (True, False)}
        found = (
            replace(
                model,
                inputs=inputs,
                layers=ends[least],
                favourable=favourable,
                beside=frozenset(),
                deployed=None,
                logits=None,
                groups=(),
            )
            for least, favourable in ((upwards, rule.granted), (not upwards, rule.otherwise))
        )
        return cls(*found)


def _copies(
    model: Model, assignments: Sequence[Assignment]
) -> tuple[tuple[Input, ...], list[Layer], tuple[Exact, Exact]]:
    """The inputs that the copies read, their hidden layers side by side, and the last one's weights and bias."""
    inputs: dict[Input, int] = {}
    first, *others = model.layers
    width = first.width
    weights: list[dict[int, Exact]] = []
    biases: list[Exact] = []
    for assignment in assignments:
        bias, columns = first.bias.exact.copy(), dict[int, Exact]()
        for place, item in enumerate(model.inputs):
            column = first.weight.exact[:, place]
            found = _reads(item, assignment)
            if isinstance(found, Fraction):
                bias = bias + column * found
            else:
                at = inputs.setdefault(found, len(inputs))
                columns[at] = columns.get(at, np.full(width, Fraction(0), dtype=object)) + column
        weights.append(columns)
        biases.append(bias)
    whole = np.full((width * len(assignments), max(1, len(inputs))), Fraction(0), dtype=object)
    for copy, columns in enumerate(weights):
        for at, column in columns.items():
            whole[copy * width : (copy + 1) * width, at] = column
    listed = tuple(inputs) or (IndicatorInput(FALSE),)
    stack = [(whole, np.concatenate(biases))]
    for layer in others:
        stack.append((_side_by_side(layer.weight.exact, len(assignments)), np.tile(layer.bias.exact, len(assignments))))
    hidden = [
        Layer(
            weight=ExactArray.from_fractions(weight),
            bias=ExactArray.from_fractions(bias),
            slope=ExactArray.from_fractions(np.tile(layer.slope.exact, len(assignments))),
            curves=layer.curves * len(assignments),
        )
        for (weight, bias), layer in zip(stack[:-1], model.layers[:-1], strict=True)
    ]
    return listed, hidden, stack[-1]


def _reads(item: Input, assignment: Assignment) -> Input | Fraction:
    """What a copy reads in place of an input: a number where it is fixed."""
    match item:
        case AttributeInput(attribute):
            return assignment.get(attribute, item)
        case IndicatorInput(predicate):
            fixed = given(predicate, assignment)
            if fixed in (TRUE, FALSE):
                return Fraction(fixed == TRUE)
            return item if fixed == predicate else IndicatorInput(fixed)


def _side_by_side(weight: Exact, copies: int) -> Exact:
    rows, columns = weight.shape
    found = np.full((rows * copies, columns * copies), Fraction(0), dtype=object)
    for copy in range(copies):
        found[copy * rows : (copy + 1) * rows, copy * columns : (copy + 1) * columns] = weight
    return found


def _folded(hidden: Sequence[Layer], last: tuple[Exact, Exact], *, least: bool) -> tuple[Layer, ...]:
    """The layers with one score, the least or the greatest of the last one's.

    Of scores s the first ``k`` are folded into ``m - r``, a unit that passes on and one that is rectified.
    """
    sign = Fraction(-1 if least else 1)
    layers = list(hidden)
    # The end so far and the scores that are left, as sums of what the layer below gives: factors, and a constant.
    end, *left = np.column_stack(last)
    while left:
        following, *left = left
        # min: end - max(end - following, 0); max: end + max(following - end, 0).
        layers.append(_sums([sign * (following - end), end, *left], [0, *[1] * (1 + len(left))]))
        beyond, end, *left = np.array([[Fraction(i == k) for i in range(3 + len(left))] for k in range(2 + len(left))])
        end = sign * beyond + end
    return (*layers, _sums([end], [1]))


def _sums(rows: list[Exact], slopes: list[int]) -> Layer:
    """A layer with a unit for each row of factors and a constant."""
    weight, bias = np.hsplit(np.array(rows, dtype=object), [-1])
    return Layer(
        weight=ExactArray.from_fractions(weight),
        bias=ExactArray.from_fractions(bias[:, 0]),
        slope=ExactArray.from_fractions([Fraction(slope) for slope in slopes]),
    )
