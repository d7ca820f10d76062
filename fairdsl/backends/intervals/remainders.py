"""What the float64 numbers of a task leave out of the model's own, so that what rounding leaves open can be decided.

The remainders of an array are integers over one denominator, held as arrays of 32-bit digits: the least significant one
first, in two's complement, a row each number in the array's order, and a last row for the denominator.
"""

from __future__ import annotations

from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.exact_array import ExactArray

Floats = NDArray[np.float64]
Digits = NDArray[np.int32]
ObjectArray = NDArray[Any]

#: Of an array whose floats are the numbers.
NOTHING_LEFT_OUT: Digits = np.zeros((0, 0), dtype=np.int32)
_BYTES = 4


def left_out(floats: Floats, numbers: ObjectArray, denominator: int = 1) -> Digits:
    """The remainders of ``numbers / denominator`` (integers or fractions) over the floats, two arrays of one shape."""
    found = []
    for number, near in zip(numbers.ravel().tolist(), floats.ravel().tolist(), strict=True):
        # Ratios of plain integers: fractions would be reduced for each of the task's numbers.
        above, below = number.as_integer_ratio()
        numerator, power = near.as_integer_ratio()
        found.append((above * power - numerator * below * denominator, below * denominator * power))
    if not any(numerator for numerator, _ in found):
        return NOTHING_LEFT_OUT
    common = lcm(*{below for _, below in found})
    whole = [numerator * (common // below) for numerator, below in found]
    return _digits([*whole, common])


def exactly(floats: Floats, digits: Digits) -> ExactArray:
    """The model's own numbers."""
    if not len(digits):
        return ExactArray.from_floats(floats)
    *remainders, common = _integers(digits)
    numbers = np.empty(floats.size, dtype=object)
    numbers[:] = [
        Fraction(near) + Fraction(remainder, common)
        for near, remainder in zip(floats.ravel().tolist(), remainders, strict=True)
    ]
    return ExactArray.from_fractions(numbers.reshape(floats.shape))


def unfit(floats: Floats, digits: Digits) -> bool:
    """Whether these are no remainders of the array."""
    if digits.dtype != np.int32 or digits.ndim != 2:
        return True
    if not digits.size:
        return digits.shape != NOTHING_LEFT_OUT.shape
    return len(digits) != floats.size + 1 or _integers(digits[-1:])[0] <= 0


def _digits(numbers: list[int]) -> Digits:
    width = max(number.bit_length() for number in numbers) // (8 * _BYTES) + 1
    content = b"".join(number.to_bytes(_BYTES * width, "little", signed=True) for number in numbers)
    return np.frombuffer(content, dtype="<i4").astype(np.int32).reshape(len(numbers), width)


def _integers(digits: Digits) -> list[int]:
    return [int.from_bytes(row.astype("<i4").tobytes(), "little", signed=True) for row in digits]
