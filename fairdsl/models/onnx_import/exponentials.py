"""Logistic functions and softmaxes that a file writes out: exp, sums of it, quotients and logarithms of these.

Calibrations, naive Bayes and boosting are exported so. Each step is kept as what it is until a whole function has come
together; whoever computes with less of it is refused.

Logarithms of numbers whose range keeps them above 0, as units of the curve ``ln(1 + max(z, 0))``.

With a power of two s that the number x does not fall below, ``ln x = ln s + ln(1 + max(x / s - 1, 0))``. For x of at
least 1 that is s = 1 and nothing is rounded; of smaller numbers ln s is the float64 next to it, which is noted.
"""

from __future__ import annotations

from fractions import Fraction
from math import inf

import numpy as np

from fairdsl.ir.model import Curve
from fairdsl.models import exact
from fairdsl.models.basis import Affine, Basis, Unit, dense
from fairdsl.models.marks import Ends
from fairdsl.models.onnx_import import arithmetic
from fairdsl.models.onnx_import.activations import softmax
from fairdsl.models.onnx_import.arithmetic import negative, plus, times
from fairdsl.models.onnx_import.chosen import slopes
from fairdsl.models.onnx_import.values import (
    Constant,
    Exponential,
    Handler,
    Handlers,
    Logistic,
    NodeCall,
    Power,
    UnreadableError,
    Value,
    rearrange,
)

_REMEDY = (
    "declare a range that keeps it above 0 (`income : real 1 .. 250`), or train without this step: trees decide alike "
    "without steps that only grow"
)


def logarithm(call: NodeCall, value: Affine) -> Affine:
    """The natural logarithm of every element. Raises UnreadableError where one may be 0 or less."""
    floors = [_floor(least) for least in _least(call.basis, value)]
    inner = times(value, exact.reciprocal(np.array(floors)))
    curved = call.basis.squash(plus(call, inner, Affine.constant(np.full(value.shape, -1.0))), Curve.LOG1P)
    if all(floor == 1 for floor in floors):
        return curved
    call.rounded.append(call.node.where)
    return plus(call, curved, Affine.constant(np.log(floors).reshape(value.shape)))


def _floor(least: Fraction | None) -> float:
    """1, or the greatest power of two that is at most so large."""
    if least is None or least <= 0:
        raise UnreadableError("it takes the logarithm of a number that may be 0 or less", _REMEDY)
    halvings = 0
    while least * 2**halvings < 1:
        halvings += 1
    return 2.0**-halvings


def _least(basis: Basis, value: Affine) -> list[Fraction | None]:
    """What each element does not fall below, by the ranges of the individual's numbers; None where it may."""
    found: list[Fraction | None] = []
    for slope, constant in zip(slopes(value), value.bias, strict=True):
        least: Fraction | None = Fraction(constant)
        for unit, factor in slope:
            low, high = _ends(basis, unit)
            end = low if factor > 0 else high
            least = None if least is None or end is None else least + factor * end
        found.append(least)
    return found


def _ends(basis: Basis, unit: Unit) -> Ends:
    """Between which numbers a unit lies: what tests is 0 or 1, as what says who lacks a number; of bent ones none."""
    absent, (block, _) = basis.absent, unit
    if absent is not None and block == absent.nan:
        return Fraction(0), Fraction(0)  # whoever computes with NaN is refused for that
    if basis.blocks[block].testing is not None or (absent is not None and block == absent.lacks):
        return Fraction(0), Fraction(1)
    return basis.ends.get(unit, (None, None))


def _exp(call: NodeCall) -> Value:
    value = call.value(0)
    if isinstance(value, Constant):
        return _of_constant(call, value, np.exp)
    if isinstance(value, Exponential) and value.power is Power.LOG_SHARE:
        shares = softmax(call, value.scores)
        return rearrange(shares, lambda positions: positions.reshape(value.shape))
    scores = call.affine(0)
    return Exponential(Power.EXP, scores, scores.shape)


def _log(call: NodeCall) -> Value:
    value = call.value(0)
    return _of_constant(call, value, np.log) if isinstance(value, Constant) else logarithm(call, call.affine(0))


def _of_constant(call: NodeCall, value: Constant, function: np.ufunc) -> Constant:
    """What the file computes of its own constants; the result is rounded, which is noted."""
    with np.errstate(all="ignore"):
        found = function(value.numbers.astype(np.float64))
    if not np.isfinite(found).all():
        raise UnreadableError("what it computes of its constants is not a finite number")
    call.rounded.append(call.node.where)
    return Constant(found)


def _log_sum(call: NodeCall) -> Value:
    scores = call.affine(0)
    axes = call.integer_list("axes", 1)
    found = np.sum(np.zeros(scores.shape), axis=None if axes is None else tuple(axes), keepdims=_keeps(call))
    if found.size != 1:
        raise UnreadableError("it sums up exponentials of some scores only")
    return Exponential(Power.LOG_SUM, scores, np.shape(found))


def _keeps(call: NodeCall) -> bool:
    return bool(call.attribute("keepdims", 1))


def _combined(call: NodeCall) -> Value | None:
    """What a sum, difference or quotient makes of steps, None where none of the operands is one."""
    left, right = call.value(0), call.value(1)
    match call.node.operator, left, right:
        case "Add", Exponential() as power, Constant() as number:
            return _plus(power, number)
        case "Add", Constant() as number, Exponential() as power:
            return _plus(power, number)
        case "Sub", Affine() as scores, Exponential(Power.LOG_SUM, others) if others is scores:
            return Exponential(Power.LOG_SHARE, scores, scores.shape)
        case "Div", Constant() as number, Exponential(Power.ONE_MORE, scores) if np.all(number.numbers == 1):
            return Logistic.of(negative(scores), call.basis)
        case "Div", Exponential(Power.EXP, scores), Exponential(Power.SUM, others) if others is scores:
            return softmax(call, scores)
    return None


def _plus(power: Exponential, number: Constant) -> Value | None:
    if power.power is Power.EXP and np.all(number.numbers == 1):
        return Exponential(Power.ONE_MORE, power.scores, power.shape)
    return power if np.all(number.numbers == 0) else None


def whole_part(call: NodeCall, value: Exponential) -> Exponential:
    """A sum cut to a whole number, with which files ask whether it is 0.

    ``k`` exponentials of scores whose average is m sum to k exp(m) and more, so that is 1 or more where the scores sum
    to about 0, as those of boosting do.
    """
    count = value.scores.size
    if value.power is not Power.SUM or count < 2 or 2 * _least_sum(value.scores, call.basis) < -count:
        raise UnreadableError("it turns a computed number into an integer, which cuts its fraction off")
    return Exponential(Power.WHOLE_SUM, value.scores, value.shape)


def _least_sum(scores: Affine, basis: Basis) -> float:
    """A bound that the sum of the scores does not fall below; the leaves of a tree are 1 one at a time."""
    total = float(scores.bias.sum())
    for number, part in scores.parts.items():
        block = basis.blocks[number]
        if block.testing is None:
            return -inf
        row = dense(part, block.width).sum(axis=0).astype(np.float64)
        trees = block.trees
        least = np.minimum(row, 0.0) if trees is None else np.minimum.reduceat(row, trees.shape.leaf_starts[:-1])
        total += float(least.sum())
    return total - 1e-9


def _or_arithmetic(operator: str) -> Handler:
    def handler(call: NodeCall) -> Value:
        return _combined(call) or arithmetic.HANDLERS["", operator](call)

    return handler


HANDLERS: Handlers = {
    ("", "Exp"): _exp,
    ("", "Log"): _log,
    ("", "ReduceLogSumExp"): _log_sum,
    **{("", operator): _or_arithmetic(operator) for operator in ("Add", "Sub", "Div")},
}
