"""Products with matrices: sums of many terms, in any order, with or without fused multiply-adds.

A sum of n products and a bias is off by at most ``gamma(n + 1) (|W| |x| + |b|)``, as the runtime computes it (Higham,
section 3.1); terms whose weight is 0 are nothing and do not count. An error e of the operands adds ``|W| e``. A
runtime may fold a normalisation that follows into the weights, which rounds each of them a few times more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairdsl.models.float32.arithmetic import as_float32
from fairdsl.models.float32.call import Call, Handlers
from fairdsl.models.float32.precision import OUTWARD, finite_error, gamma, precision_of
from fairdsl.models.float32.values import NoBoundError, Rounded, Value, aligned, common_type, constant, moved, of_file

Floats = NDArray[np.float64]

#: Roundings of a weight into which the runtime folds a normalisation.
_FOLDED = 6.0
_DOUBLE = precision_of("float64")


@dataclass(frozen=True, slots=True)
class _Ball:
    """Numbers within ``radius`` of ``middle``."""

    middle: Floats
    radius: Floats | None

    @property
    def magnitude(self) -> Floats:
        found = np.abs(self.middle)
        return found if self.radius is None else (found + self.radius) * OUTWARD


def _ball(value: Rounded) -> _Ball:
    if value.low is value.high:
        return _Ball(value.low, None)
    with np.errstate(all="ignore"):
        middle = value.low + (value.high - value.low) / 2
        half = np.maximum(value.high - middle, middle - value.low)
        # Equal ends have no radius: the least number above 0 makes products a hundred times slower.
        radius = np.where(half == 0, 0.0, np.nextafter(half, np.inf))
    return _Ball(middle, radius)


def linear(value: Rounded, matrix: Rounded, bias: Rounded | None, *, extra: float = 0.0) -> Rounded:
    """``value @ matrix + bias`` of rows; ``extra`` roundings of each term."""
    left, right = _ball(value), _ball(matrix)
    precision = precision_of(common_type(value, matrix))
    terms = _terms(matrix)
    with np.errstate(all="ignore"):
        middle = _times(left.middle, right.middle)
        sizes, weights = left.magnitude, right.magnitude
        magnitude = _times(sizes, weights)
        spread = 0.0 if left.radius is None else _times(left.radius, weights)
        if right.radius is not None:
            spread = spread + _times(sizes, right.radius)
        carried = _times(value.error, weights) if value.error.any() else np.zeros(1)
        if matrix.error.any():
            carried = carried + _times(sizes + value.error, matrix.error)
        roundings = terms + extra
        if bias is not None:
            added = _ball(bias)
            middle, magnitude = middle + added.middle, magnitude + added.magnitude
            spread = spread if added.radius is None else spread + added.radius
            carried = carried + bias.error
            roundings = roundings + (added.magnitude != 0)
        width = (spread + gamma(terms + 3, _DOUBLE) * magnitude + (terms + 1) * _DOUBLE.least) * OUTWARD
        width = np.where(magnitude == 0, 0.0, width)
        low, high = np.nextafter(middle - width, -np.inf), np.nextafter(middle + width, np.inf)
        low, high = np.where(width == 0, middle, low), np.where(width == 0, middle, high)
        own = gamma(roundings, precision) * (magnitude + carried) + (terms + extra) * precision.least
        error = (carried + np.where(magnitude + carried == 0, 0.0, own)) * OUTWARD
        size = (magnitude + carried) * OUTWARD
    known = np.isfinite(low) & np.isfinite(high)
    error = finite_error(np.where(np.isnan(error), np.inf, error), size, precision)
    return Rounded(np.where(known, low, -np.inf), np.where(known, high, np.inf), error, precision.name)


def _terms(matrix: Rounded) -> Floats:
    """How many terms of each sum are not nothing: [1, ..., columns]."""
    present = (matrix.magnitude + matrix.error) != 0
    return np.asarray(present.sum(axis=-2, keepdims=True), dtype=np.float64)


def _times(left: Floats, right: Floats) -> Floats:
    """``left @ right`` of stacks of matrices, as one product where the right one is the same for all."""
    if len(right) == 1 and right.ndim == 3:
        rows = left.reshape(-1, left.shape[-1]) @ right[0]
        return np.asarray(rows.reshape(*left.shape[:-1], right.shape[-1]), dtype=np.float64)
    return np.asarray(np.matmul(left, right), dtype=np.float64)


def _matmul(call: Call) -> list[Value]:
    left, right = call.rounded(0), call.rounded(1)
    vectors = len(left.shape) == 1, len(right.shape) == 1
    if vectors[0]:
        left = _reshaped(left, (1, *left.shape))
    if vectors[1]:
        right = _reshaped(right, (*right.shape, 1))
    if not left.shape or not right.shape or left.shape[-1] != right.shape[-2]:
        raise NoBoundError("its shapes do not fit")
    rank = max(len(left.shape), len(right.shape))
    left, right = (_reshaped(v, (1,) * (rank - len(v.shape)) + v.shape) for v in (left, right))
    found = linear(left, right, None, extra=_FOLDED if call.folded else 0.0)
    shape = found.shape
    if vectors[0]:
        shape = (*shape[:-2], shape[-1])
    if vectors[1]:
        shape = shape[:-1]
    return [_reshaped(found, shape)]


def _reshaped(value: Rounded, shape: tuple[int, ...]) -> Rounded:
    found = moved(value, lambda positions: positions.reshape(shape))
    assert isinstance(found, Rounded)
    return found


def _gemm(call: Call) -> list[Value]:
    left, right = (_transposed(call, position, name) for position, name in ((0, "transA"), (1, "transB")))
    alpha, beta = float(call.attribute("alpha", 1.0)), float(call.attribute("beta", 1.0))
    offset = None if call.optional(2) is None else of_file(call.value(2))
    extra = _FOLDED if call.folded else 0.0
    if alpha != 1:
        right = _scaled(right, alpha)
        extra += 1
    if offset is not None and beta != 1:
        offset, extra = _scaled(offset, beta), extra + 1
    if offset is not None:
        offset = _reshaped(offset, (1,) * (2 - len(offset.shape)) + offset.shape)
    return [linear(left, right, offset, extra=extra)]


def _scaled(value: Rounded, factor: float) -> Rounded:
    """Exactly multiplied: the rounding is counted where the terms are summed."""
    with np.errstate(all="ignore"):
        ends = value.low * factor, value.high * factor
    low, high = np.minimum(*ends), np.maximum(*ends)
    if np.float32(factor) != factor or value.dtype == "float64":
        low, high = np.nextafter(low, -np.inf), np.nextafter(high, np.inf)
    elif value.low is value.high:
        high = low  # a product of two float32 numbers is a float64 number
    return Rounded(low, high, value.error * abs(factor) * OUTWARD, value.dtype)


def _transposed(call: Call, position: int, attribute: str) -> Rounded:
    value = call.rounded(position)
    if not call.attribute(attribute, 0):
        return value
    found = moved(value, lambda positions: positions.T)
    assert isinstance(found, Rounded)
    return found


def _batch_normalization(call: Call) -> list[Value]:
    """``(x - mean) * scale / sqrt(variance + epsilon) + bias``, channel by channel (the second dimension).

    The order of the operations is left open, also that mean and bias are folded into one number.
    """
    if call.attribute("training_mode", 0):
        raise NoBoundError("it is in training mode")
    value = call.rounded(0)
    axis = (1, -1) + (1,) * (len(value.shape) - 2) if len(value.shape) > 1 else (1, -1)
    scale, bias, mean, variance = (call.stored(i + 1).astype(np.float64).reshape(axis) for i in range(4))
    spread = variance + float(np.float32(call.attribute("epsilon", 1e-5)))
    if (spread <= 0).any():
        raise NoBoundError("it divides by the root of a number that is not positive")
    factor = scale / np.sqrt(spread)
    loose = np.abs(factor) * 2.0**-50
    return [_normalised(value, factor, loose, mean, bias)]


def _normalised(value: Rounded, factor: Floats, loose: Floats, mean: Floats, bias: Floats) -> Rounded:
    rank = max(value.low.ndim, factor.ndim)
    one = aligned(value, constant(np.zeros((1,) * (rank - 1))))[0]
    with np.errstate(all="ignore"):
        ends = [(end - mean) * factor + bias for end in (one.low, one.high)]
        size = (one.magnitude + np.abs(mean)) * (np.abs(factor) + loose) + np.abs(bias)
        slack = size * 2.0**-48 + 2.0**-1000
        low, high = np.minimum(*ends) - slack, np.maximum(*ends) + slack
        carried = one.error * (np.abs(factor) + loose)
        own = gamma(_FOLDED + 4, one.precision) * (size + carried) + 8 * one.precision.least
        error = (carried + own) * OUTWARD
    return Rounded(low, high, finite_error(error, size + carried, one.precision), one.dtype)


def linear_scores(call: Call, rows: int) -> Rounded:
    """The scores [1, rows] of a linear model, in float32 whatever comes in."""
    value = as_float32(call.rounded(0))
    coefficients = call.numbers("coefficients").astype(np.float32)
    if rows < 1 or coefficients.size != rows * value.size:
        raise NoBoundError(f"it has {coefficients.size} coefficients for {value.size} numbers")
    row = _reshaped(value, (1, value.size))
    intercepts = call.numbers("intercepts").astype(np.float32)
    bias = constant(intercepts[None, :]) if intercepts.size == rows else None
    return linear(row, constant(coefficients.reshape(rows, value.size).T), bias)


HANDLERS: Handlers = {
    ("", "MatMul"): _matmul,
    ("", "Gemm"): _gemm,
    ("", "BatchNormalization"): _batch_normalization,
}
