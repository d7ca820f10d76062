"""Comparisons of numbers and labels, and what is picked by them.

A comparison of one number is a label that was chosen, 0 or 1; one of several numbers of the individual, before any unit
bends, is an indicator each. Votes compare labels with all classes and pick numbers by that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np

from fairdsl.ir.expr import Relation
from fairdsl.models import exact
from fairdsl.models.basis import Affine, Comparison, Indicators, scale, take
from fairdsl.models.binding.absent import lacking, marks_of
from fairdsl.models.onnx_import.activations import place_of_highest, ranking
from fairdsl.models.onnx_import.arithmetic import broadcast, broadcast_pair, negative, plus, times
from fairdsl.models.onnx_import.chosen import by_choice, nearest, slopes
from fairdsl.models.onnx_import.values import (
    Constant,
    Exponential,
    Handlers,
    Labelled,
    Logistic,
    NodeCall,
    Power,
    Text,
    UnreadableError,
    Value,
    as_affine,
)


def _compared(relation: Relation) -> Callable[[NodeCall], Value]:
    def handler(call: NodeCall) -> Value:
        left, right = (_side(call, place, 1 - place) for place in (0, 1))
        difference = plus(call, left, negative(right))
        if difference.size != 1:
            return _of_several(call, relation)
        # As the argmax of (0, difference): a tie chooses the first. `x >= y` is: not `y > x`.
        swapped = relation in (Relation.LT, Relation.GE)
        difference = negative(difference) if swapped else difference
        labels = (1, 0) if relation in (Relation.GE, Relation.LE) else (0, 1)
        row = Affine((1, 1), difference.parts, difference.bias)
        scores = take(row, np.zeros((1, 2), dtype=np.int64))
        return Labelled(scale(scores, np.array([0.0, 1.0])), labels, difference.shape, "bool")

    return handler


def _of_several(call: NodeCall, relation: Relation) -> Affine:
    """An indicator for each pair of numbers; a stored one is what the other is compared with."""
    left, right = call.value(0), call.value(1)
    if isinstance(left, Constant):
        left, right, relation = right, left, relation.mirrored
    if isinstance(right, Constant):
        value, limits = broadcast_pair(as_affine(left), Affine.constant(right.numbers))
        thresholds = [Fraction(limit) for limit in limits.bias.tolist()]
    else:
        value = plus(call, as_affine(left), negative(as_affine(right)))
        thresholds = [Fraction(0)] * value.size
    if not call.basis.early(value):
        raise UnreadableError("it compares several numbers that units of a network compute")
    tests = tuple(Comparison(place, relation, threshold) for place, threshold in enumerate(thresholds))
    found = call.basis.indicate(Indicators(call.node.operator, call.node.where, value, tests))
    return take(found, np.arange(value.size, dtype=np.int64).reshape(value.shape))


def _side(call: NodeCall, position: int, other: int) -> Affine:
    value, opposite = call.value(position), call.value(other)
    if isinstance(value, Logistic) and isinstance(opposite, Logistic | Constant):
        return value.logits  # the logistic function increases
    if isinstance(value, Constant) and isinstance(opposite, Logistic):
        if not np.all(value.numbers == 0.5):
            raise UnreadableError(
                "it compares a probability with a number other than 1/2",
                "export the probability itself and write the threshold in the spec",
            )
        return Affine.constant(np.zeros(value.shape))
    return call.affine(position)


def _equal(call: NodeCall) -> Value:
    """Whether the label that was chosen is each of some classes; of numbers an indicator each."""
    left, right = call.value(0), call.value(1)
    if isinstance(left, Constant):
        left, right = right, left
    match left, right:
        case Constant(), Constant():
            return Constant(np.asarray(left.array == right.array))
        case Exponential(Power.WHOLE_SUM), Constant() if np.all(right.numbers == 0):
            return Constant(np.zeros(left.shape, dtype=np.bool_))
        case Labelled(labels=labels), Constant(array):
            wanted = array.reshape(-1).tolist()
            if right.text != isinstance(labels[0], str):
                raise UnreadableError("it compares labels with classes of another type")
            rows = [[Fraction(label == one) for one in wanted] for label in labels]
            return by_choice(call, left, rows, np.broadcast_shapes(left.shape, array.shape))
    return _of_several(call, Relation.EQ)


def _where(call: NodeCall) -> Value:
    """``if condition, then the second, else the third``, where these lie in the file."""
    condition = call.value(0)
    if isinstance(call.value(2), Text):
        return _text_or_another(call, condition)
    if isinstance(condition, Constant):
        return _picked(call, condition)
    first, second = (call.constant(place, "what it picks").numbers for place in (1, 2))
    difference = exact.add(first, exact.multiply(second, np.array([-1.0])))
    return plus(call, times(as_affine(condition), difference), Affine.constant(second))


def _text_or_another(call: NodeCall, condition: Value) -> Text:
    """A text of the individual, or a stored one where the condition says so of it: of a text that was missing."""
    another, given = call.constant(1, "the text that it fills in"), call.value(2)
    if not isinstance(given, Text) or not another.text or another.array.size != 1:
        raise UnreadableError("it picks among texts")
    filled, chosen = str(another.array.reshape(-1)[0]), broadcast(as_affine(condition), given.shape)
    tables = []
    for element, table in enumerate(given.texts):
        held = {code: _of_code(call, chosen, element, given.codes, code) for code in table}
        tables.append({code: filled if held[code] else text for code, text in table.items()})
    return Text(given.codes, tuple(tables))


def _of_code(call: NodeCall, condition: Affine, element: int, codes: Affine, code: int) -> bool:
    """What a condition on a text says where its code is this one."""
    total, own = Fraction(condition.bias[element]), slopes(codes)[element]
    for (block, unit), factor in slopes(condition)[element]:
        indicators = call.basis.blocks[block].indicators
        test = None if indicators is None else indicators.tests[unit]
        if indicators is None or test is None or slopes(indicators.features)[test.feature] != own:
            raise UnreadableError("it picks a text by something else than the text")
        total += factor * test.relation.compares(Fraction(code), test.threshold)
    return bool(total)


def _picked(call: NodeCall, condition: Constant) -> Value:
    """What a stored condition picks of each place."""
    first, second = call.affine(1), call.affine(2)
    shape = np.broadcast_shapes(condition.shape, first.shape, second.shape)
    chosen = np.broadcast_to(condition.array.astype(np.float64), shape).reshape(-1)
    sides = scale(broadcast(first, shape), chosen), scale(broadcast(second, shape), 1 - chosen)
    return plus(call, *sides)


def _not(call: NodeCall) -> Value:
    value = call.value(0)
    if isinstance(value, Constant):
        return Constant(np.logical_not(value.array))
    return plus(call, negative(as_affine(value)), Affine.constant(np.ones(1)))


def _is_nan(call: NodeCall) -> Value:
    """Whether somebody lacks the number; of all other numbers none is NaN."""
    value = call.value(0)
    if not isinstance(value, Affine) or not marks_of(call.basis, value).any():
        return Constant(np.zeros(value.shape, dtype=np.bool_))
    return lacking(call.basis, value)


def _argmin(call: NodeCall) -> Value:
    """The mark nearest to a single number, from the distances between them; of other numbers the least one."""
    value = ranking(call)
    marked = _distances(call, value)
    if marked is None:
        return place_of_highest(call, negative(value))
    return replace(place_of_highest(call, value), scores=nearest(call, *marked))


def _distances(call: NodeCall, value: Affine) -> tuple[Affine, list[Fraction]] | None:
    """The number and the marks of which these are the distances, ``|number - mark|``; None of other numbers."""
    last = max(value.parts, default=None)
    argument = None if last is None else call.basis.blocks[last].argument
    if last is None or argument is None or argument.size != value.size:
        return None
    inside = Affine(value.shape, argument.parts, argument.bias)
    units = call.basis.units(last, value.shape)
    distance = plus(call, scale(units, np.full(value.size, 2.0)), negative(inside))
    if slopes(distance) != slopes(value) or not np.array_equal(distance.bias, value.bias):
        return None
    if len(set(slopes(inside))) != 1:
        return None
    number = take(Affine(inside.shape, inside.parts, exact.zeros((inside.size,))), np.zeros(1, dtype=np.int64))
    marks = [-Fraction(bias) for bias in inside.bias.tolist()]
    return _unclipped(call, number, marks)


def _unclipped(call: NodeCall, number: Affine, marks: list[Fraction]) -> tuple[Affine, list[Fraction]]:
    """The same without a cut of the number to ends between which all borders lie, which moves nobody over one.

    ``min(max(x, low), high)`` is ``low + relu(x - low) - relu(x - high)``; the constant stands in the marks here.
    """
    match slopes(number):
        case [(((lower, 0), up), ((upper, 0), down))] if up == 1 and down == -1:
            low, high = call.basis.blocks[lower].argument, call.basis.blocks[upper].argument
            if low is None or high is None or low.size != 1 or slopes(low) != slopes(high):
                return number, marks
            relus = exact.is_zero(call.basis.blocks[lower].slope) and exact.is_zero(call.basis.blocks[upper].slope)
            start, end = -Fraction(low.bias[0]), -Fraction(high.bias[0])
            # number + start is the number cut to start .. end, so the marks beside it are moved as well.
            moved = sorted(mark + start for mark in set(marks))
            borders = (moved[0] + moved[1]) / 2, (moved[-1] + moved[-2]) / 2
            if relus and len(moved) > 1 and start <= borders[0] and borders[1] < end and call.basis.early(low):
                plain = Affine((1,), low.parts, exact.zeros((1,)))
                return plain, [mark + start for mark in marks]
    return number, marks


HANDLERS: Handlers = {
    ("", "Greater"): _compared(Relation.GT),
    ("", "Less"): _compared(Relation.LT),
    ("", "GreaterOrEqual"): _compared(Relation.GE),
    ("", "LessOrEqual"): _compared(Relation.LE),
    ("", "Equal"): _equal,
    ("", "Where"): _where,
    ("", "Not"): _not,
    ("", "IsNaN"): _is_nan,
    ("", "ArgMin"): _argmin,
}
