"""Logistic functions and softmaxes that a file writes out: exp, sums of it, quotients and logarithms of these.

Calibrations, naive Bayes and boosting are exported so. Each step is kept as what it is until a whole function has come
together; whoever computes with less of it is refused.
"""

from __future__ import annotations

from math import inf

import numpy as np

from fairdsl.models.basis import Affine, Basis, dense
from fairdsl.models.onnx_import import arithmetic
from fairdsl.models.onnx_import.activations import softmax
from fairdsl.models.onnx_import.arithmetic import negative
from fairdsl.models.onnx_import.logarithms import logarithm
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

__all__ = ["HANDLERS", "whole_part"]


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
