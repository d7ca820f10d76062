"""Kernel machines in integers: exactly where the kernel is rational, else as close as is asked for.

Features and support vectors are rational, so squared distances and scalar products are, and what is left is one
function of each. A polynomial kernel is exact. Of exp and tanh the values are taken with so many bits after the binary
point; their errors add up by the sizes of the coefficients.

Vectors at the same distance have the same value, so their coefficients are added first, exactly, and distance 0 joins
the offset. By the theorem of Lindemann and Weierstrass a sum ``sum_d c_d exp(-gamma d) + b`` over different d > 0 with
rational c_d and b is 0 only if all of them are: a tie at a rational threshold is one where everything cancels, which is
seen exactly, and every other score is told from it by enough bits.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from functools import cache
from math import ceil, lcm

import numpy as np

from fairdsl.ir.model import Curve
from fairdsl.ir.opaque import Kernel, KernelMachine
from fairdsl.numerics.curve_values import value_near

#: Binary digits beyond those asked for.
_GUARD = 16
#: Integers whose products and sums of products stay below this are computed as int64.
_SMALL = 2**62


@dataclass(frozen=True, slots=True)
class KernelBalls:
    """Values ``numerators[j] / denominator``, give or take ``radii[j] / denominator``."""

    numerators: list[int]
    radii: list[int]
    denominator: int


def kernel_values(machine: KernelMachine, features: Sequence[int], denominator: int, bits: int) -> KernelBalls:
    """The machine's values at the features ``features[k] / denominator``."""
    arguments, under = _arguments(machine, features, denominator)
    coefficients, coefficient_unit = machine.coefficients.scaled
    offsets, offset_unit = machine.offsets.scaled
    unit = lcm(coefficient_unit, offset_unit)
    rows = [[value * (unit // coefficient_unit) for value in row] for row in coefficients.tolist()]
    start = [value * (unit // offset_unit) for value in offsets.tolist()]
    if machine.kernel is Kernel.POLY:
        return _polynomial(machine.degree, arguments, under, rows, start, unit)
    near: dict[int, int] = {}
    balls = [_summed(machine.kernel, row, arguments, under, bits, near) for row in rows]
    totals = [total + (value << bits) for (total, _), value in zip(balls, start, strict=True)]
    return KernelBalls(totals, [radius for _, radius in balls], unit << bits)


def _summed(
    kernel: Kernel, row: Sequence[int], arguments: Sequence[int], under: int, bits: int, near: dict[int, int]
) -> tuple[int, int]:
    """``2**bits sum_i row[i] K_i`` and how far it may be off; ``near`` keeps the values of the kernel."""
    merged: dict[int, int] = defaultdict(int)
    for argument, coefficient in zip(arguments, row, strict=True):
        merged[argument] += coefficient
    at_zero = merged.pop(0, 0)
    total, radius = (at_zero << bits) if kernel is Kernel.RBF else 0, 0  # exp(0) is 1, and tanh(0) is 0
    for argument, coefficient in merged.items():
        if coefficient:
            if argument not in near:
                near[argument] = _value(kernel, argument, under, bits)
            total += coefficient * near[argument]
            radius += abs(coefficient)
    return total, radius


def _value(kernel: Kernel, numerator: int, denominator: int, bits: int) -> int:
    """Within one unit of ``2**bits`` times the kernel's value at an argument."""
    if kernel is Kernel.SIGMOID:
        return value_near(Curve.TANH, numerator, denominator, bits)
    return _exponential(numerator, denominator, bits)


def _exponential(numerator: int, denominator: int, bits: int) -> int:
    """Within one unit of ``2**bits exp(-numerator / denominator)``, of a ratio that is not negative.

    The argument is cut off to ``work`` bits, which moves the result by less than a unit of the last of them, and
    the exponentials of its binary digits are multiplied: each product and each factor is off by less than a unit of
    ``2**-(work + _GUARD)``, and factors are at most 1, so of some hundred digits the result is off by as many units.
    """
    if numerator >= denominator * (bits + 1):
        return 0  # exp(-bits - 1) is less than a unit
    work = bits + _GUARD
    digits = _digits(work)
    argument = (numerator << work) // denominator
    shift = work + _GUARD
    power = 1 << shift
    while argument:
        low = argument & -argument
        power = (power * digits[low.bit_length() - 1]) >> shift
        argument ^= low
    return (power + (1 << (2 * _GUARD - 1))) >> (2 * _GUARD)


@cache
def _digits(work: int) -> tuple[int, ...]:
    """``2**(work + _GUARD) exp(-2**(k - work))``, rounded down, for the digits k of numbers up to work."""
    shift = work + _GUARD
    context = Context(
        prec=ceil(shift * 0.302) + 8, rounding=ROUND_HALF_EVEN, Emin=MIN_EMIN, Emax=MAX_EMAX, clamp=0, traps=[]
    )
    found = []
    for digit in range(work + work.bit_length() + 1):
        power = context.exp(-context.divide(Decimal(1 << digit), Decimal(1 << work)))
        above, below = power.as_integer_ratio()
        found.append((above << shift) // below)
    return tuple(found)


def _polynomial(
    degree: int, arguments: Iterable[int], under: int, rows: Sequence[Sequence[int]], start: Sequence[int], unit: int
) -> KernelBalls:
    """The exact values ``sum_i c_i (arguments[i] / under) ** degree + start``."""
    powers = [argument**degree for argument in arguments]
    shared = under**degree
    totals = [
        offset * shared + sum(c * power for c, power in zip(row, powers, strict=True))
        for row, offset in zip(rows, start, strict=True)
    ]
    return KernelBalls(totals, [0] * len(rows), unit * shared)


def _arguments(machine: KernelMachine, features: Sequence[int], denominator: int) -> tuple[list[int], int]:
    """What the kernel's function is taken of, as integers over one positive denominator, a vector each.

    For the Gaussian kernel gamma times the squared distance, for the others gamma times the product plus the constant.
    """
    vectors, unit = machine.vectors.scaled
    gamma = Fraction(machine.gamma)
    if machine.kernel is Kernel.RBF:
        squares = _squared_distances(machine, [value * unit for value in features], denominator)
        return [gamma.numerator * square for square in squares], gamma.denominator * (denominator * unit) ** 2
    products = (vectors @ np.array(features, dtype=object)).tolist() if len(features) else [0] * len(vectors)
    constant, under = Fraction(machine.coef0), gamma.denominator * denominator * unit
    shared = lcm(under, constant.denominator)
    added = constant.numerator * (shared // constant.denominator)
    return [gamma.numerator * product * (shared // under) + added for product in products], shared


def _squared_distances(machine: KernelMachine, point: Sequence[int], factor: int) -> list[int]:
    """The squared distance of each of the scaled vectors, times a factor, from the point, in integers."""
    vectors, row = machine.vectors.scaled[0], np.array(point, dtype=object)
    whole = machine.whole_vectors
    largest = max(factor, factor * machine.largest_whole, *(abs(value) for value in point))
    if whole is not None and 4 * largest**2 * max(1, len(point)) < _SMALL:
        small: list[int] = ((whole * factor - row.astype(np.int64)) ** 2).sum(axis=1).tolist()
        return small
    return [int(square) for square in ((vectors * factor - row) ** 2).sum(axis=1).tolist()]
