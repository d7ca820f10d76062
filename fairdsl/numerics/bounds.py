"""Sound bounds of piecewise-linear networks over boxes of inputs, batched over boxes.

Definition. For a box ``lower <= x <= upper`` the *pre-activation bounds* of a unit enclose every value
that its ``z = weight @ h + bias`` takes for a real input in the box. Two methods are combined: interval
arithmetic, and backward substitution through linear relaxations of the units (Singh et al., DeepPoly,
POPL 2019; Zhang et al., CROWN, NeurIPS 2018).

Relaxation. A leaky unit ``h(z) = max(z, slope * z)`` with 0 <= slope <= 1 is convex. So for z in [l, u] every line
through the origin with a gradient in [slope, 1] lies below it, and every line above it at l and u is above it between.

Error analysis. Everything is computed in float64 with the default rounding; nothing relies on rounding
modes. With r = 2^-53, a sum of n products in any order (also with fused operations) errs by at most
gamma_n * (the sum of the absolute values of the products), gamma_n = n r / (1 - n r) (Higham, *Accuracy
and Stability of Numerical Algorithms*, section 3.1). A stored weight differs from the exact one by at
most a factor 1 + r, or by 2^-1074 where it is subnormal. Coefficients of a line that are wrong by d_i move
the line by at most sum |d_i| |x_i| over the box. All such terms are added to the constant of the line,
outwards, with ``summation_error(n)`` = 2 (n + 8) r: the 8 covers the few operations beside the sum, the factor 2
the rounding of the error terms themselves. ``TINY`` covers underflow and subnormal weights, of at most
2^-1074 times the size of what they multiply; zeros stay exact. A bound that is not finite becomes infinite.

Inputs of which exactly one is 1 (``choices``) contribute the greatest of their coefficients, not the sum of the
positive ones: :mod:`fairdsl.numerics.choices`. A point of a box that is not such a choice is nobody, and bounds need
not hold there.

Curved units (sigmoid, GELU, ...) have no such relaxation here, and models with them are refused. An input that is
unbounded makes every unit that reads it unbounded; the others keep their bounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf, nextafter
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fairdsl.clock import Work, spend
from fairdsl.ir.exact_array import ExactArray
from fairdsl.ir.model import Layer
from fairdsl.numerics.choices import Choice, most
from fairdsl.numerics.products import product

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

#: Two thousand million multiplications are a second's work; what is done around them takes as long as so many.
_BOUNDED, _AROUND = Work("boxes bounded by matrix products", 5e-5), 20_000
#: Covers 2^74 underflows or subnormal numbers, times the sizes that they are multiplied with.
TINY = 2.0**-1000


def summation_error(count: int) -> float:
    """The relative error allowed for a sum of ``count`` products; see the error analysis above."""
    return 2.0 * (count + 8) * 2.0**-53


@dataclass(frozen=True, slots=True)
class FloatLayer:
    """A layer by its nearest float64 values: ``weight`` [out, in], ``bias`` and ``slope`` [out]."""

    weight: FloatArray
    bias: FloatArray
    slope: FloatArray


@dataclass(frozen=True, slots=True)
class LayerBounds:
    """Enclosures of a layer's pre-activations, [boxes, width]; infinite where nothing is known."""

    low: FloatArray
    high: FloatArray


@dataclass(frozen=True, slots=True)
class Lines:
    """Affine functions of the inputs above some targets: ``target <= coefficients @ x + constants``.

    ``coefficients`` is [boxes, targets, inputs], ``constants`` [boxes, targets] (infinite: no bound).
    The inequality holds exactly, for every real x in the box, for the very numbers stored here.
    """

    coefficients: FloatArray
    constants: FloatArray


class Layered(Protocol):
    """What has layers: a model, or a network without one."""

    @property
    def layers(self) -> tuple[Layer, ...]:
        """The layers, the last of which is linear."""


def float_layers(model: Layered) -> tuple[FloatLayer, ...]:
    """The model's layers for repeated use with the functions below; ValueError if it has curved units."""
    return tuple(_float_layer(layer) for layer in model.layers)


def _float_layer(layer: Layer) -> FloatLayer:
    if not layer.rational:
        raise ValueError("bounds are of piecewise-linear networks only")
    return FloatLayer(_nearest(layer.weight), _nearest(layer.bias), layer.slope.floats)


def _nearest(array: ExactArray) -> FloatArray:
    """The nearest floats, except that no number other than zero becomes zero; all keep their signs."""
    if array.fractions is None:
        return array.floats
    sign = (array.exact > 0).astype(np.float64) - (array.exact < 0).astype(np.float64)
    return np.where((array.floats == 0) & (sign != 0), 5e-324 * sign, array.floats)


def outward(low: Fraction | None, high: Fraction | None) -> tuple[float, float]:
    """Floats that enclose the interval; None is unbounded."""
    below = -inf if low is None else _near(low)
    above = inf if high is None else _near(high)
    if low is not None and below > comparable(low):
        below = nextafter(below, -inf)
    if high is not None and above < comparable(high):
        above = nextafter(above, inf)
    return below, above


def comparable(number: Fraction) -> Fraction | int:
    """The same number, whole ones as what is compared ten times as fast."""
    return number.numerator if number.denominator == 1 else number


def _near(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return inf if value > 0 else -inf


@dataclass(frozen=True, slots=True)
class _Box:
    """Boxes with their unbounded sides set to zero; ``unbounded`` says where that happened."""

    low: FloatArray
    high: FloatArray
    magnitude: FloatArray
    unbounded: BoolArray

    @classmethod
    def of(cls, low: FloatArray, high: FloatArray) -> _Box:
        unbounded = ~(np.isfinite(low) & np.isfinite(high))
        low, high = np.where(unbounded, 0.0, low), np.where(unbounded, 0.0, high)
        return cls(low, high, np.maximum(np.abs(low), np.abs(high)), unbounded)


def preactivation_bounds(
    layers: Sequence[FloatLayer], lower: FloatArray, upper: FloatArray, choices: Sequence[Choice] = ()
) -> tuple[LayerBounds, ...]:
    """Enclosures of all pre-activations for the inputs in each box; ``lower``, ``upper``: [boxes, inputs].

    ``choices`` are groups of inputs of which exactly one is 1; without overlaps.
    """
    inputs = _Box.of(lower, upper)
    boxes = [inputs]  # of the inputs, then of each layer's outputs
    found: list[LayerBounds] = []
    with np.errstate(all="ignore"):
        for depth, layer in enumerate(layers):
            bounds = _interval(layer, boxes[-1], () if depth else choices)
            if depth:
                bounds = _meet(bounds, _substituted(layers[: depth + 1], found, boxes, choices))
            reads = (layer.weight != 0).astype(np.float64)
            unbounded = product(boxes[-1].unbounded.astype(np.float64), reads.T) > 0
            bounds = LayerBounds(
                np.where(unbounded | ~np.isfinite(bounds.low), -inf, bounds.low),
                np.where(unbounded | ~np.isfinite(bounds.high), inf, bounds.high),
            )
            found.append(bounds)
            boxes.append(_outputs(layer, bounds))
    return tuple(found)


def spend_on_bounds(layers: Sequence[FloatLayer], boxes: int) -> None:
    """Count :func:`preactivation_bounds` of so many boxes, for engines that have no price for a box of their own."""
    sizes = [layer.weight.size for layer in layers]
    # Intervals of each layer, and its lines both ways down to the inputs.
    substituted = (8 * len(layer.bias) * sum(sizes[:depth]) for depth, layer in enumerate(layers))
    spend(_BOUNDED, boxes, each=_AROUND + 6 * sum(sizes) + sum(substituted))


def upper_lines(
    layers: Sequence[FloatLayer],
    bounds: Sequence[LayerBounds],
    lower: FloatArray,
    upper: FloatArray,
    rows: FloatArray,
) -> Lines:
    """Lines above ``rows @ scores`` over each box; ``rows`` is [targets, scores] and taken as exact.

    ``bounds`` are the layers' pre-activation bounds on the same boxes. Lines below are the negated lines
    above the negated rows.
    """
    boxes = [_Box.of(lower, upper)]
    boxes += [_outputs(layer, found) for layer, found in zip(layers, bounds, strict=True)]
    coefficients = np.broadcast_to(rows, (lower.shape[0], *rows.shape))
    constants = np.zeros(coefficients.shape[:2])
    with np.errstate(all="ignore"):
        lines = _backward(layers, bounds, boxes, Lines(coefficients, constants))
        loose = product(boxes[-1].unbounded.astype(np.float64), (rows != 0).T) > 0
    return Lines(lines.coefficients, np.where(loose, inf, lines.constants))


def greatest(lines: Lines, lower: FloatArray, upper: FloatArray, choices: Sequence[Choice] = ()) -> FloatArray:
    """An upper bound of each line over its box, [boxes, targets]; ``choices`` are among the columns."""
    box = _Box.of(lower, upper)
    with np.errstate(all="ignore"):
        value = _concretised(lines, box, choices)
        loose = product(np.abs(lines.coefficients), box.unbounded.astype(np.float64)[:, :, None])[..., 0] > 0
    return np.where(loose | ~np.isfinite(value), inf, value)


def _interval(layer: FloatLayer, box: _Box, choices: Sequence[Choice]) -> LayerBounds:
    """Interval arithmetic on one layer; each end takes one end of every input, and one entry of every choice."""
    if choices:
        return _chosen(layer, box, choices)
    weight = layer.weight.T
    positive, negative = np.maximum(weight, 0.0), np.minimum(weight, 0.0)

    def end(up: FloatArray, down: FloatArray) -> tuple[FloatArray, FloatArray]:
        value = product(up, positive) + product(down, negative) + layer.bias
        size = product(np.abs(up), positive) - product(np.abs(down), negative) + np.abs(layer.bias)
        touched = product(_touched(up), positive > 0) + product(_touched(down), negative < 0) + (layer.bias != 0)
        return value, summation_error(len(weight)) * size + TINY * touched

    low, low_error = end(box.low, box.high)
    high, high_error = end(box.high, box.low)
    return LayerBounds(low - low_error, high + high_error)


def _chosen(layer: FloatLayer, box: _Box, choices: Sequence[Choice]) -> LayerBounds:
    """The same with choices: the layer's rows and their negations are lines over the inputs."""
    rows, bias = np.vstack([layer.weight, -layer.weight]), np.concatenate([layer.bias, -layer.bias])
    lines = Lines(np.broadcast_to(rows, (len(box.low), *rows.shape)), bias + _stored(rows, bias, box))
    value, width = _concretised(lines, box, choices), len(layer.bias)
    return LayerBounds(-value[:, width:], value[:, :width])


def _touched(reach: FloatArray) -> FloatArray:
    """How often ``TINY`` counts for a product with a number up to ``reach``: never for a product with zero."""
    return np.where(reach == 0, 0.0, 1.0 + np.abs(reach))


def _stored(rows: FloatArray, bias: FloatArray, box: _Box) -> FloatArray:
    """How far the rounding of the stored weights and bias moves ``rows @ x + bias`` in the boxes at most."""
    slack: FloatArray = summation_error(0) * (product(box.magnitude, np.abs(rows).T) + np.abs(bias))
    slack += TINY * (product(_touched(box.magnitude), (rows != 0).T) + (bias != 0))
    return slack


def _meet(first: LayerBounds, second: LayerBounds) -> LayerBounds:
    """Both enclosures hold; fmax and fmin also pass over what is not a number."""
    return LayerBounds(np.fmax(first.low, second.low), np.fmin(first.high, second.high))


def _outputs(layer: FloatLayer, bounds: LayerBounds) -> _Box:
    """Where the units' outputs lie; in size they are at most the pre-activations, as |slope| <= 1."""
    box = _Box.of(bounds.low, bounds.high)

    def activated(z: FloatArray, away: float) -> FloatArray:
        scaled = layer.slope * z  # the slope and the product are rounded: two units in the last place
        moved = scaled + away * (2.0**-50 * np.abs(z) + TINY * (z != 0))
        scaled = np.where((layer.slope == 0) | (layer.slope == 1), scaled, moved)
        return np.where(z >= 0, z, scaled)

    return _Box(activated(box.low, -1.0), activated(box.high, 1.0), box.magnitude, box.unbounded)


def _substituted(
    layers: Sequence[FloatLayer], found: Sequence[LayerBounds], boxes: Sequence[_Box], choices: Sequence[Choice]
) -> LayerBounds:
    """Bounds of the last layer's pre-activations by backward substitution down to the inputs."""
    last = layers[-1]
    width, count = len(last.bias), boxes[0].low.shape[0]
    rows, bias = np.vstack([last.weight, -last.weight]), np.concatenate([last.bias, -last.bias])
    start = Lines(np.broadcast_to(rows, (count, *rows.shape)), bias + _stored(rows, bias, boxes[-1]))
    lines = _backward_outputs(layers[:-1], found, boxes, start)
    value = _concretised(lines, boxes[0], choices)
    return LayerBounds(-value[:, width:], value[:, :width])


def _backward(
    layers: Sequence[FloatLayer], bounds: Sequence[LayerBounds], boxes: Sequence[_Box], lines: Lines
) -> Lines:
    """Lines over the pre-activations of the last layer become lines over the inputs."""
    lines = _through_weights(layers[-1], boxes[len(layers) - 1], lines)
    return _backward_outputs(layers[:-1], bounds[:-1], boxes, lines)


def _backward_outputs(
    layers: Sequence[FloatLayer], bounds: Sequence[LayerBounds], boxes: Sequence[_Box], lines: Lines
) -> Lines:
    """Lines over the outputs of the last layer become lines over the inputs; ``boxes[k]`` feeds layer k."""
    for depth in reversed(range(len(layers))):
        lines = _through_units(layers[depth], bounds[depth], lines)
        lines = _through_weights(layers[depth], boxes[depth], lines)
    return lines


def _through_units(layer: FloatLayer, bounds: LayerBounds, lines: Lines) -> Lines:
    """Replace each unit's output by its relaxation: from above where its coefficient is positive.

    A gradient and the product with it are each rounded, which counts times the pre-activation's size.
    """
    box = _Box.of(bounds.low, bounds.high)
    low, high, slope = box.low, box.high, layer.slope
    crosses = (low < 0) & (high > 0)
    below = np.where(low >= 0, 1.0, np.where(crosses & (high > -low), 1.0, slope))
    chord = np.clip((high - slope * low) / (high - low), slope, 1.0)
    above = np.where(low >= 0, 1.0, np.where(crosses, chord, slope))
    # The least intercept is the greater of (slope - above) * low and (1 - above) * high, plus rounding.
    intercept = np.maximum((slope - above) * low, (1.0 - above) * high) + 2.0**-49 * (np.abs(low) + np.abs(high))
    intercept = np.where(crosses & (slope < 1.0), intercept, 0.0)
    positive, negative = np.maximum(lines.coefficients, 0.0), np.minimum(lines.coefficients, 0.0)
    coefficients = positive * above[:, None, :] + negative * below[:, None, :]
    touched = (lines.coefficients != 0).astype(np.float64)
    error = summation_error(0) * product(np.abs(coefficients), box.magnitude[:, :, None])[..., 0]
    error += TINY * product(touched, (1.0 + box.magnitude)[:, :, None])[..., 0]
    lift = product(positive, intercept[:, :, None])[..., 0]
    constants = lines.constants + lift
    error += summation_error(len(slope)) * (lift + np.abs(lines.constants))
    return Lines(coefficients, constants + error)


def _through_weights(layer: FloatLayer, box: _Box, lines: Lines) -> Lines:
    """Replace the pre-activations by weight @ x + bias, for x in the box."""
    coefficients = product(lines.coefficients, layer.weight)
    constants = lines.constants + product(lines.coefficients, layer.bias)
    sizes = np.abs(lines.coefficients)
    reach = product(box.magnitude, np.abs(layer.weight).T) + np.abs(layer.bias)
    error = summation_error(len(layer.bias)) * (product(sizes, reach[:, :, None])[..., 0] + np.abs(lines.constants))
    touched = np.where(sizes > 0, 1.0 + sizes, 0.0).sum(axis=-1)
    error += TINY * touched * (1.0 + box.magnitude.sum(axis=-1))[:, None]
    return Lines(coefficients, constants + error)


def _concretised(lines: Lines, box: _Box, choices: Sequence[Choice]) -> FloatArray:
    """The greatest value of each line over the box."""
    coefficients, others = lines.coefficients, lines.coefficients
    if choices:
        others = coefficients.copy()
        others[..., np.concatenate([choice.columns for choice in choices])] = 0.0
    positive, negative = np.maximum(others, 0.0), np.minimum(others, 0.0)
    high, low = box.high[:, :, None], box.low[:, :, None]
    value = (product(positive, high) + product(negative, low))[..., 0] + lines.constants
    size = (product(positive, np.abs(high)) - product(negative, np.abs(low)))[..., 0] + np.abs(lines.constants)
    if choices:
        chosen, sizes = most(coefficients, box.high > 0, choices)
        value, size = value + chosen, size + sizes
    touched = (coefficients != 0).sum(axis=-1)
    bound: FloatArray = value + summation_error(coefficients.shape[-1]) * size + TINY * touched
    return bound
