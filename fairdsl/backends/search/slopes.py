"""Gradients of a network's scores with respect to the attributes, by backpropagation over many rows at once.

For searching, never for deciding: plain float64, and at a kink the slope of the lower side. Indicators are flat.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.feature import AttributeInput
from fairdsl.ir.model import Curve, Layer, Model
from fairdsl.numerics.curves import bend, derivative
from fairdsl.numerics.evaluate import BatchEvaluator
from fairdsl.numerics.products import product

FloatArray = NDArray[np.float64]


class Slopes:
    """The gradients of one model."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._evaluator = BatchEvaluator(model)

    @staticmethod
    def known(model: Model) -> bool:
        """Whether the scores change smoothly with some attribute: not those of rules and trees."""
        if model.opaque is not None:
            return False
        weight = model.layers[0].weight.floats
        return any(
            isinstance(item, AttributeInput) and weight[:, position].any() for position, item in enumerate(model.listed)
        )

    def backward(self, points: FloatArray, weights: FloatArray) -> FloatArray:
        """The gradient of ``weights . scores`` at each point: [n, attributes] and [n, scores] to [n, attributes]."""
        hidden = self._evaluator.inputs(points)
        slopes: list[FloatArray] = []
        for layer in self._model.layers:
            hidden, slope = _bent(layer, product(hidden, layer.weight.floats.T) + layer.bias.floats)
            slopes.append(slope)
        back = weights
        for layer, slope in zip(reversed(self._model.layers), reversed(slopes), strict=True):
            back = product(back * slope, layer.weight.floats)
        found = np.zeros_like(points)
        for position, item in enumerate(self._model.listed):
            if isinstance(item, AttributeInput):
                found[:, item.attribute] += back[:, position]
        return found


def _bent(layer: Layer, before: FloatArray) -> tuple[FloatArray, FloatArray]:
    """A layer's outputs, and their derivatives by the pre-activations."""
    slope = np.where(before > 0, 1.0, layer.slope.floats)
    after = before * slope
    for curve in set(layer.curves) - {Curve.LEAKY}:
        units = np.flatnonzero(layer.curve_codes == curve)
        after[:, units] = bend(before[:, units], curve)
        slope[:, units] = derivative(before[:, units], curve)
    return after, slope
