"""Sums and averages along axes."""

from __future__ import annotations

from fractions import Fraction
from math import prod

import numpy as np

from fairdsl.models import exact
from fairdsl.models.basis import Affine, add, scale, take
from fairdsl.models.onnx_import.values import (
    Constant,
    Exponential,
    Handlers,
    Logistic,
    NodeCall,
    Power,
    Probabilities,
    UnreadableError,
    Value,
)


def _sum(call: NodeCall) -> Value:
    value, axes, keeps = call.value(0), _axes(call), bool(call.attribute("keepdims", 1))
    if isinstance(value, Constant):
        return Constant(np.asarray(value.numbers.sum(axis=axes, keepdims=keeps)))
    if isinstance(value, Exponential) and value.power is Power.EXP:
        shape = np.sum(np.zeros(value.shape), axis=axes, keepdims=keeps).shape
        if prod(shape) != 1:
            raise UnreadableError("it sums up exponentials of some scores only")
        return Exponential(Power.SUM, value.scores, shape)
    return _summed(call, axes, keeps)[0]


def _mean(call: NodeCall) -> Value:
    """The average; of probabilities it is one."""
    value, axes, keeps = call.value(0), _axes(call), bool(call.attribute("keepdims", 1))
    if isinstance(value, Constant):
        raise UnreadableError("it averages constants")
    total, count = _summed(call, axes, keeps)
    average = scale(total, exact.from_rationals(np.full(total.size, Fraction(1, count), dtype=object)))
    return Probabilities(average) if isinstance(value, Probabilities | Logistic) else average


def _summed(call: NodeCall, axes: tuple[int, ...] | None, keeps: bool) -> tuple[Affine, int]:
    """The sums, and how many numbers each of them has."""
    value = call.affine(0)
    rank = len(value.shape)
    chosen = sorted(axis % rank for axis in (range(rank) if axes is None else axes))
    places = np.moveaxis(np.arange(value.size, dtype=np.int64).reshape(value.shape), chosen, range(len(chosen)))
    count = prod(value.shape[axis] for axis in chosen)
    if not count:
        raise UnreadableError("it sums up nothing")
    kept = tuple(1 if axis in chosen else size for axis, size in enumerate(value.shape))
    shape = kept if keeps else tuple(size for axis, size in enumerate(value.shape) if axis not in chosen)
    rows = places.reshape(count, -1)
    total = take(value, rows[0].reshape(shape))
    for row in rows[1:]:
        total = add(total, take(value, row.reshape(shape)), call.basis)
    return total, count


def _axes(call: NodeCall) -> tuple[int, ...] | None:
    """The axes; None for all of them."""
    axes = call.integer_list("axes", 1)
    if not axes and call.attribute("noop_with_empty_axes", 0):
        raise UnreadableError("it names no axes (`noop_with_empty_axes`)")
    return tuple(axes) if axes else None


HANDLERS: Handlers = {("", "ReduceSum"): _sum, ("", "ReduceMean"): _mean}
