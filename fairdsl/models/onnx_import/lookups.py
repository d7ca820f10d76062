"""What a whole number of an individual picks: one-hot codes, and rows of a table that are picked by lists of places."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from fairdsl.ir.expr import Relation
from fairdsl.models import exact
from fairdsl.models.basis import Affine, Comparison, Indicators, Whole, apply, stack, take
from fairdsl.models.exact import Array
from fairdsl.models.onnx_import.shaping import embedded
from fairdsl.models.onnx_import.values import Constant, Handlers, NodeCall, UnreadableError, Value, rearrange

_SIZE_LIMIT = 1 << 22


def _one_hot(call: NodeCall) -> Value:
    """The second value in the place of the code, the first everywhere else; codes below 0 count from the end."""
    (depth,), (off, on) = call.constant(1, "the depth").integers, call.constant(2, "the values").numbers.reshape(-1)
    chosen = call.value(0)
    if isinstance(chosen, Constant):
        raise UnreadableError("it codes a number that lies in the file")
    codes = call.affine(0)
    if not call.basis.early(codes):
        raise UnreadableError("it codes a number that units of a network compute")
    if not 0 < codes.size * depth <= _SIZE_LIMIT:
        raise UnreadableError(f"it makes {codes.size} codes of {depth} places")
    call.basis.whole.append(Whole(call.node.operator, call.node.where, codes))
    tests = [
        Comparison(place, Relation.EQ, Fraction(code)) for place in range(codes.size) for code in range(-depth, depth)
    ]
    units = call.basis.indicate(Indicators(call.node.operator, call.node.where, codes, tuple(tests)))
    step = exact.add(np.array([on]), exact.multiply(np.array([off]), np.array([-1.0])))
    matrix: Array = exact.multiply(np.hstack([np.eye(depth), np.eye(depth)]), step)
    width = 2 * depth
    rows = [
        apply(matrix, take(units, np.arange(place * width, (place + 1) * width)), (depth,), call.basis)
        for place in range(codes.size)
    ]
    vector = stack(rows, call.basis)
    hot = Affine(vector.shape, vector.parts, exact.add(vector.bias, np.array([off])))
    positions = np.arange(hot.size, dtype=np.int64).reshape(*codes.shape, depth)
    return take(hot, np.moveaxis(positions, -1, call.attribute("axis", -1)))


def _gather_nd(call: NodeCall) -> Value:
    """Each list along the last axis of the places picks what lies there."""
    if call.attribute("batch_dims", 0):
        raise UnreadableError("it picks for each individual of a batch by itself (`batch_dims`)")
    places = call.value(1)
    if isinstance(places, Constant):
        lists = np.array(places.integers, dtype=np.int64).reshape(places.shape)
        return rearrange(call.value(0), lambda source: source[tuple(np.moveaxis(lists, -1, 0))])
    table, chosen = call.constant(0, "the table"), call.affine(1)
    if table.text or chosen.shape[-1] != 1:
        raise UnreadableError("it picks by several numbers of the individual at once")
    positions = np.arange(chosen.size, dtype=np.int64).reshape(chosen.shape[:-1])
    return embedded(call, table.numbers, take(chosen, positions), 0)


HANDLERS: Handlers = {
    ("", "OneHot"): _one_hot,
    ("", "GatherND"): _gather_nd,
}
