"""How far a deployed float32 file's score can be from the exact one, over a whole domain.

Forward error analysis (Higham, Accuracy and Stability of Numerical Algorithms, chapter 3): with u = 2^-24, a
dot product of n terms and a bias, in any order and with or without fused multiply-adds, has an error of at
most ``gamma(n + 2) (|W||h| + |b|)``; an error e of the inputs adds ``|W| e``; a leaky unit passes errors on
and rounds one product. Magnitudes come from interval arithmetic over the value sets. This is about a file
that computes the layers as they are read (``Deployed.plain``), fed with the attributes themselves, and whose
output is the score. For all other files, and for curved units, whose float32 functions no standard bounds, no
bound is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.feature import AttributeInput
from fairdsl.ir.model import ByThreshold, Deployed, Layer, Model, Readout
from fairdsl.numerics.narrow import ValueSet
from fairdsl.numerics.rounding import float_above

__all__ = ["float32_error"]

Floats = NDArray[np.float64]

_UNIT_ROUNDOFF = 2.0**-24
#: Of a subnormal result: absolute, not relative.
_UNDERFLOW = 2.0**-149
#: Covers the float64 rounding of the bound itself.
_OUTWARD = 1.0 + 1e-9
#: float32 overflows not far above this.
_LARGEST = 1e38


def float32_error(model: Model, sets: Sequence[ValueSet]) -> Floats | None:
    """A bound for the one row of a single score; None where no file is deployed or no bound is known."""
    deployed, rule = model.deployed, model.rule
    if deployed is None or deployed.readout is not Readout.SCORE or not isinstance(rule, ByThreshold):
        return None
    if not deployed.plain or not model.rational or not _reads_attributes(deployed):
        return None
    ranges = [_range(model, position, sets) for position in range(len(model.inputs))]
    if not all(np.isfinite(ranges).ravel()):
        return None
    low, high = np.array(ranges, dtype=np.float64).reshape(-1, 2).T
    # Numbers up to 2^24 in magnitude are exact where they are whole; the bound need not know.
    error = _UNIT_ROUNDOFF * np.maximum(np.abs(low), np.abs(high)) + _UNDERFLOW
    for layer in model.layers:
        low, high, error = _through(layer, low, high, error)
    if not (np.abs([low, high]) + error < _LARGEST).all():
        return None
    threshold = max(abs(rule.low), abs(rule.high))
    rounding = float_above(threshold * Fraction(_UNIT_ROUNDOFF) + (rule.high - rule.low)) + _UNDERFLOW
    return (error + rounding) * _OUTWARD


def _reads_attributes(deployed: Deployed) -> bool:
    """Whether every number that is fed is one attribute or indicator as it is, each once: then no factor, sum or
    offset of features was folded into the first layer."""
    single = all(len(form.terms) == 1 and form.terms[0][1] == 1 and form.constant == 0 for form in deployed.features)
    return single and len({form.terms[0][0] for form in deployed.features}) == len(deployed.features)


def _range(model: Model, position: int, sets: Sequence[ValueSet]) -> tuple[float, float]:
    item = model.inputs[position]
    if not isinstance(item, AttributeInput):
        return 0.0, 1.0
    values = sets[item.attribute]
    if values.low is None or values.high is None:
        return -np.inf, np.inf
    return -float_above(-values.low), float_above(values.high)


def _through(layer: Layer, low: Floats, high: Floats, error: Floats) -> tuple[Floats, Floats, Floats]:
    """Range of a layer's exact outputs, and the error of the computed ones."""
    weight, bias, slope = layer.weight.floats, layer.bias.floats, layer.slope.floats
    positive, negative = np.maximum(weight, 0.0), np.minimum(weight, 0.0)
    magnitude, terms = np.abs(weight), weight.shape[1]
    reach = magnitude @ (np.maximum(np.abs(low), np.abs(high)) + error) + np.abs(bias)
    gamma = (terms + 2) * _UNIT_ROUNDOFF / (1 - (terms + 2) * _UNIT_ROUNDOFF)
    out = (magnitude @ error + gamma * reach + (terms + 2) * _UNDERFLOW) * _OUTWARD
    bent = (slope != 0) & (slope != 1)
    out = np.where(bent, (out + _UNIT_ROUNDOFF * (reach + out) + _UNDERFLOW) * _OUTWARD, out)
    slack = 1e-9 * reach
    low, high = positive @ low + negative @ high + bias - slack, positive @ high + negative @ low + bias + slack
    return np.where(low > 0, low, low * slope), np.where(high > 0, high, high * slope), out
