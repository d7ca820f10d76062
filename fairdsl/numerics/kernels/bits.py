"""For kernels: the places of the lowest and the highest bit of a set of 64, which is not empty."""

from __future__ import annotations

import numpy as np
from numba.cpython.unsafe.numbers import leading_zeros, trailing_zeros

from fairdsl.numerics.kernels.compiled import part

__all__ = ["highest", "lowest"]


@part
def lowest(bits: np.uint64) -> int:
    """The place of the lowest bit."""
    return int(trailing_zeros(bits))  # type: ignore[call-arg]


@part
def highest(bits: np.uint64) -> int:
    """The place of the highest bit."""
    return 63 - int(leading_zeros(bits))  # type: ignore[call-arg]
