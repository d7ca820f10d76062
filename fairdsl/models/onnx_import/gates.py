"""Products of a number and its gate, as exporters write SiLU and GELU out: ``x sigmoid(x)``, ``x (1 + erf(c x)) / 2``.

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
from fairdsl.models.basis import Affine, Basis, Pick, add, scale, take
from fairdsl.models.exact import Array

__all__ = ["gated"]


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
