"""Logarithms of numbers whose range keeps them above 0, as units of the curve ``ln(1 + max(z, 0))``.

With a power of two s that the number x does not fall below, ``ln x = ln s + ln(1 + max(x / s - 1, 0))``. For x of at
least 1 that is s = 1 and nothing is rounded; of smaller numbers ln s is the float64 next to it, which is noted.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from fairdsl.ir.model import Curve
from fairdsl.models import exact
from fairdsl.models.basis import Affine, Basis, Unit
from fairdsl.models.marks import Ends
from fairdsl.models.onnx_import.arithmetic import plus, times
from fairdsl.models.onnx_import.chosen import slopes
from fairdsl.models.onnx_import.values import NodeCall, UnreadableError

__all__ = ["logarithm"]

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
