"""For kernels: the places of the lowest and the highest bit of a set of 64, which is not empty; how many there are."""

from __future__ import annotations

import numpy as np
from numba.cpython.unsafe.numbers import leading_zeros, trailing_zeros

from fairdsl.numerics.kernels.compiled import part

#: Masks of every second bit, of every second two, of every second four; and the lowest bit of each byte.
_ONES, _TWOS, _FOURS = (np.uint64(mask) for mask in (0x5555555555555555, 0x3333333333333333, 0x0F0F0F0F0F0F0F0F))
_BYTES = np.uint64(0x0101010101010101)


@part
def lowest(bits: np.uint64) -> int:
    """The place of the lowest bit."""
    return np.int64(trailing_zeros(bits))  # type: ignore[call-arg, return-value]


@part
def highest(bits: np.uint64) -> int:
    """The place of the highest bit."""
    return 63 - int(leading_zeros(bits))  # type: ignore[call-arg]


@part
def number(bits: np.uint64) -> int:
    """How many bits there are: sums of two, of four and of eight beside each other, then of all bytes."""
    twos = bits - ((bits >> np.uint64(1)) & _ONES)
    fours = (twos & _TWOS) + ((twos >> np.uint64(2)) & _TWOS)
    eights = (fours + (fours >> np.uint64(4))) & _FOURS
    return np.int64((eights * _BYTES) >> np.uint64(56))  # type: ignore[return-value]
