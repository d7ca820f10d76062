"""Operators that are affine: matrix products, sums, products with constants, normalisations.

Products of a number and its gate, as exporters write SiLU and GELU out: ``x sigmoid(x)``, ``x (1 + erf(c x)) / 2``.

A gate is an affine function of one curved unit that reads a multiple ``k x`` of the number. With
``S(t) = t sigmoid(t)`` and ``G(t) = t (1 + erf(t)) / 2``, which are curves of their own, the product is a sum of one
and the number:

    ``x sigmoid(k x) = S(k x) / k``,  ``x tanh(k x) = S(2 k x) / k - x``,  ``x erf(k x) = 2 G(k x) / k - x``.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from fairdsl.ir.model import Curve
from fairdsl.models import exact
from fairdsl.models.basis import Affine, Basis, Pick, add, apply, scale, take
from fairdsl.models.exact import Array
from fairdsl.models.onnx_import.values import (
    Constant,
    Handlers,
    Labelled,
    Logistic,
    NodeCall,
    UnreadableError,
    Value,
    as_affine,
)


def gated(left: Affine, right: Affine, basis: Basis) -> Affine | None:
    """The product of two tensors of one shape, one of which holds the other one's gates; None where it does not."""
    found = _gated(left, right, basis)
    return _gated(right, left, basis) if found is None else found


def _gated(numbers: Affine, gates: Affine, basis: Basis) -> Affine | None:
    ((number, part), *more) = gates.parts.items() or ((0, None),)
    if more or not isinstance(part, Pick) or np.any(part.units < 0):
        return None
    block = basis.blocks[number]
    if block.argument is None or block.curve not in (Curve.SIGMOID, Curve.TANH, Curve.ERF):
        return None
    argument = take(block.argument, part.units.reshape(numbers.shape))
    factors = _multiples(argument, numbers)
    if factors is None:
        return None
    weights, straight = exact.multiply(part.scale, exact.reciprocal(factors)), gates.bias
    if block.curve is Curve.SIGMOID:
        unit = basis.squash(argument, Curve.SILU)
    else:
        straight = exact.add(straight, exact.multiply(part.scale, np.full(1, -1.0)))
        if block.curve is Curve.TANH:
            unit = basis.squash(scale(argument, np.full(argument.size, 2.0)), Curve.SILU)
        else:
            unit = basis.squash(argument, Curve.GELU)
            weights = exact.multiply(weights, np.full(1, 2.0))
    bent = scale(unit, weights)
    return bent if exact.is_zero(straight) else add(bent, scale(numbers, straight), basis)


def _multiples(argument: Affine, numbers: Affine) -> Array | None:
    """By which factor, not 0, each element of the argument is that of the numbers; None where it is no multiple."""
    columns: list[tuple[Array, Array]] = [(argument.bias[:, None], numbers.bias[:, None])]
    if argument.parts.keys() != numbers.parts.keys():
        return None
    for block, part in numbers.parts.items():
        other = argument.parts[block]
        if isinstance(part, Pick) and isinstance(other, Pick):
            if not np.array_equal(part.units, other.units):
                return None
            columns.append((other.scale[:, None], part.scale[:, None]))
        elif isinstance(part, Pick) or isinstance(other, Pick):
            return None
        else:
            columns.append((other.matrix, part.matrix))
    if all(np.array_equal(one, another) for one, another in columns):
        return np.ones(numbers.size)
    factors = _leading(columns, numbers.size)
    if factors is None or np.any(factors == 0):
        return None
    same = (np.array_equal(one, exact.multiply(another, factors[:, None])) for one, another in columns)
    return factors if all(same) else None


def _leading(columns: list[tuple[Array, Array]], size: int) -> Array | None:
    """Of each row the quotient of the first numbers that are not 0."""
    found: list[Fraction | None] = [None] * size
    for one, another in columns:
        first = np.argmax(another != 0, axis=1)
        for row, column in enumerate(first.tolist()):
            if found[row] is None and another[row, column]:
                found[row] = Fraction(one[row, column]) / Fraction(another[row, column])
    known = [quotient for quotient in found if quotient is not None]
    return exact.from_rationals(np.array(known, dtype=object)) if len(known) == size else None


_SIZE_LIMIT = 1 << 24


def broadcast(value: Affine, shape: tuple[int, ...]) -> Affine:
    """The value repeated as numpy's broadcasting does."""
    if value.shape == shape:
        return value
    positions = np.arange(value.size, dtype=np.int64).reshape(value.shape)
    return take(value, np.broadcast_to(positions, shape))


def broadcast_pair(left: Affine, right: Affine) -> tuple[Affine, Affine]:
    """Both values in their common shape."""
    try:
        shape = np.broadcast_shapes(left.shape, right.shape)
    except ValueError as problem:
        message = f"it combines tensors of shapes {_show(left.shape)} and {_show(right.shape)}"
        raise UnreadableError(message) from problem
    if np.prod(np.array(shape, dtype=object)) > _SIZE_LIMIT:
        raise UnreadableError(f"it makes a tensor of shape {_show(shape)}")
    return broadcast(left, shape), broadcast(right, shape)


def plus(call: NodeCall, left: Affine, right: Affine) -> Affine:
    """The sum, with broadcasting."""
    return add(*broadcast_pair(left, right), call.basis)


def times(value: Affine, factors: Array) -> Affine:
    """The product with constants, with broadcasting."""
    left, right = broadcast_pair(value, Affine.constant(factors))
    return scale(left, right.bias)


def negative(value: Affine) -> Affine:
    """The value times -1."""
    return scale(value, np.full(value.size, -1.0))


def _add(call: NodeCall) -> Value:
    whole = _whole(call, np.add)
    return whole or plus(call, call.affine(0), call.affine(1))


def _sub(call: NodeCall) -> Value:
    whole = _whole(call, np.subtract)
    if whole:
        return whole
    minuend, subtrahend = call.value(0), call.value(1)
    difference = plus(call, as_affine(minuend), negative(as_affine(subtrahend)))
    if not isinstance(minuend, Constant) or not isinstance(subtrahend, Logistic):
        return difference
    # 1 - p is the logistic of the negated logit
    complement = difference.shape == subtrahend.shape and bool(np.all(minuend.numbers == 1))
    return Logistic(negative(subtrahend.logits), difference) if complement else difference


def _sum(call: NodeCall) -> Value:
    total = call.affine(0)
    for position in range(1, len(call.inputs)):
        total = plus(call, total, call.affine(position))
    return total


def _neg(call: NodeCall) -> Value:
    return negative(call.affine(0))


def _mul(call: NodeCall) -> Value:
    whole = _whole(call, np.multiply)
    if whole:
        return whole
    left, right = call.value(0), call.value(1)
    if isinstance(right, Constant):
        return times(as_affine(left), right.numbers)
    if isinstance(left, Constant):
        return times(as_affine(right), left.numbers)
    if isinstance(left, Affine | Logistic) and isinstance(right, Affine | Logistic):
        product = gated(*broadcast_pair(as_affine(left), as_affine(right)), call.basis)
        if product is not None:
            return product
    raise UnreadableError("it multiplies two values that both depend on the individual")


def _div(call: NodeCall) -> Value:
    divisor = call.constant(1, "the divisor")
    try:
        whole = _whole(call, lambda a, b: np.trunc(a / b).astype(np.int64))
        if whole is None and call.whole and np.any(np.abs(divisor.integers) != 1):
            raise UnreadableError("it divides integers, which cuts the fraction off", "cast them to floats before")
        return whole or times(call.affine(0), exact.reciprocal(divisor.numbers))
    except ZeroDivisionError as problem:
        raise UnreadableError("it divides by zero") from problem


def _whole(call: NodeCall, operation: np.ufunc | object) -> Constant | None:
    """Arithmetic of integer constants (shapes and positions), which stays in integers."""
    left, right = call.value(0), call.value(1)
    if isinstance(left, Constant) and isinstance(right, Constant):
        if left.array.dtype.kind in "iu" and right.array.dtype.kind in "iu":
            return Constant(np.asarray(operation(left.array, right.array)))  # type: ignore[operator]
        return None
    if isinstance(left, Labelled) or isinstance(right, Labelled):
        raise UnreadableError("it computes with the class that an ArgMax chose")
    return None


def _gemm(call: NodeCall) -> Value:
    left = _maybe_transposed(call.value(0), call.attribute("transA", 0))
    right = _maybe_transposed(call.value(1), call.attribute("transB", 0))
    product = _product(call, left, right)
    alpha, beta = call.number("alpha", 1.0), call.number("beta", 1.0)
    if alpha != 1:
        product = scale(product, np.full(product.size, float(alpha)))
    if call.optional(2) is None:
        return product
    offset = call.affine(2)
    if beta != 1:
        offset = scale(offset, np.full(offset.size, float(beta)))
    return plus(call, product, offset)


def _matmul(call: NodeCall) -> Value:
    return _product(call, call.value(0), call.value(1))


def _maybe_transposed(value: Value, transpose: int) -> Value:
    if not transpose:
        return value
    if isinstance(value, Constant):
        return Constant(value.array.T)
    value = as_affine(value)
    return take(value, np.arange(value.size, dtype=np.int64).reshape(value.shape).T)


def _product(call: NodeCall, left: Value, right: Value) -> Affine:
    """``left @ right`` where one side is constant."""
    shape = _product_shape(left.shape, right.shape)
    if isinstance(right, Constant):
        value, matrix = as_affine(left), right.numbers
        if matrix.ndim == 1:
            matrix = matrix[:, None]
        if matrix.ndim != 2:
            raise UnreadableError("it multiplies by a constant of more than two dimensions")
        return apply(_repeat(matrix.T, value.size // matrix.shape[0]), value, shape, call.basis)
    if isinstance(left, Constant):
        value, matrix = as_affine(right), left.numbers
        if len(value.shape) != 2 or matrix.ndim not in (1, 2):
            raise UnreadableError("it multiplies a value of more than two dimensions from the left")
        rows = np.atleast_2d(matrix)
        spread = exact.multiply(rows[:, None, :, None], np.eye(value.shape[1])[None, :, None, :]).reshape(
            rows.shape[0] * value.shape[1], value.size
        )
        return apply(spread, value, shape, call.basis)
    raise UnreadableError("it multiplies two values that both depend on the individual")


def _product_shape(left: tuple[int, ...], right: tuple[int, ...]) -> tuple[int, ...]:
    try:
        # Zero-stride arrays carry shapes through numpy's own rules without any memory.
        hollow = [np.broadcast_to(np.zeros(1, dtype=np.int8), shape) for shape in (left, right)]
        if not left or not right or max(np.prod(s, dtype=object) for s in (left, right)) > _SIZE_LIMIT * 8:
            raise ValueError
        if len(left) <= 2 and len(right) == 2 and left[-1] == right[0]:
            return (*left[:-1], right[1])
        return np.matmul(*hollow).shape
    except ValueError as problem:
        raise UnreadableError(f"it multiplies {_show(left)} by {_show(right)}") from problem


def _repeat(matrix: Array, times_repeated: int) -> Array:
    """A block-diagonal matrix: the same product for every row of a tensor."""
    if times_repeated == 1:
        return matrix
    rows, columns = matrix.shape
    if matrix.size * times_repeated**2 > _SIZE_LIMIT:
        raise UnreadableError("it multiplies a tensor with too many rows")
    spread = exact.multiply(np.eye(times_repeated)[:, None, :, None], matrix[None, :, None, :])
    return spread.reshape(rows * times_repeated, columns * times_repeated)


def _batch_normalization(call: NodeCall) -> Value:
    """``(x - mean) * scale / sqrt(var + epsilon) + bias``, channel by channel (the second dimension).

    The factor is irrational in general. It is taken as the float64 nearest to the computed
    ``scale / sqrt(var + epsilon)``, exactly; the node is noted, so that a report can say so.
    """
    if call.attribute("training_mode", 0):
        raise UnreadableError("it is in training mode: it normalises by the batch it is given")
    value = call.affine(0)
    names = ("scale", "bias", "mean", "variance")
    factor, bias, mean, variance = (call.constant(i + 1, f"the {name}").numbers for i, name in enumerate(names))
    epsilon = call.number("epsilon", 1e-5)
    spread = variance.astype(np.float64) + epsilon
    if np.any(spread <= 0):
        raise UnreadableError("it divides by the square root of a number that is not positive")
    root = np.sqrt(spread)
    folded = factor.astype(np.float64) / root
    if not all(_is_root(r, v, epsilon) for r, v in zip(root.tolist(), variance.tolist(), strict=True)):
        call.rounded.append(call.node.where)
    else:
        folded = exact.multiply(factor, exact.reciprocal(root))
    columns = (-1,) + (1,) * (len(value.shape) - 2) if len(value.shape) > 1 else (-1,)
    centred = plus(call, value, Affine.constant(-mean.reshape(columns)))
    return plus(call, times(centred, folded.reshape(columns)), Affine.constant(bias.reshape(columns)))


def _is_root(root: float, variance: float, epsilon: float) -> bool:
    """Whether the float is the exact square root, as in the identity normalisation."""
    return Fraction(root) ** 2 == Fraction(variance) + Fraction(epsilon)


def _show(shape: tuple[int, ...]) -> str:
    return " x ".join(str(size) for size in shape) or "one number"


HANDLERS: Handlers = {
    ("", "Add"): _add,
    ("", "Sub"): _sub,
    ("", "Sum"): _sum,
    ("", "Neg"): _neg,
    ("", "Mul"): _mul,
    ("", "Div"): _div,
    ("", "Gemm"): _gemm,
    ("", "MatMul"): _matmul,
    ("", "BatchNormalization"): _batch_normalization,
}
