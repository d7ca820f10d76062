"""Sound bounds of how far two copies of a network are apart, layer by layer, batched over boxes of pairs.

Theorem (Paulsen, Wang and Wang, *ReluDiff*, ICSE 2020). A leaky unit h is convex with gradients from its slope to 1, so
h(x) - h(y) = g (x - y) for some g between the least and the greatest gradient between x and y: 1 where both are
positive, the slope where both are negative. Differences so pass through units and weights without the bias, and what
the two have in common cancels, where bounds of either copy alone would count it twice.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fairdsl.numerics.bounds import TINY, FloatLayer, LayerBounds, preactivation_bounds

FloatArray = NDArray[np.float64]


def difference_bounds(
    layers: Sequence[FloatLayer],
    one: Sequence[LayerBounds],
    other: Sequence[LayerBounds],
    low: FloatArray,
    high: FloatArray,
) -> LayerBounds:
    """An enclosure of the scores of one less those of the other, [boxes, scores].

    ``one`` and ``other`` are the layers' pre-activation bounds of the two, ``low`` and ``high`` [boxes, inputs] how far
    their inputs are apart.
    """
    with np.errstate(all="ignore"):
        for layer, first, second in zip(layers, one, other, strict=True):
            without_bias = FloatLayer(layer.weight, np.zeros_like(layer.bias), layer.slope)
            (found,) = preactivation_bounds((without_bias,), low, high)
            apart = LayerBounds(
                np.fmax(found.low, np.nextafter(first.low - second.high, -np.inf)),
                np.fmin(found.high, np.nextafter(first.high - second.low, np.inf)),
            )
            low, high = _through_units(layer, first, second, apart)
    return apart


def _through_units(
    layer: FloatLayer, one: LayerBounds, other: LayerBounds, apart: LayerBounds
) -> tuple[FloatArray, FloatArray]:
    """How far the units' outputs are apart: the gradient times how far their inputs are, a product that is rounded."""
    least = np.where((one.low >= 0) & (other.low >= 0), 1.0, layer.slope)
    most = np.where((one.high <= 0) & (other.high <= 0), layer.slope, 1.0)

    def scaled(gradient: FloatArray, end: FloatArray, away: float) -> FloatArray:
        exact = np.where(gradient == 0, 0.0, end)
        moved = gradient * end + away * (2.0**-50 * np.abs(end) + TINY * (end != 0))
        return np.where((gradient == 0) | (gradient == 1), exact, moved)

    low = np.minimum(scaled(least, apart.low, -1.0), scaled(most, apart.low, -1.0))
    high = np.maximum(scaled(least, apart.high, 1.0), scaled(most, apart.high, 1.0))
    return low, high
