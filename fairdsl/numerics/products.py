"""Matrix products that come out alike on every processor, where that is asked for.

BLAS picks its kernels by the processor, and each adds up in an order of its own: the last bits differ. Bounds hold in
any order, but what is tried first may hang on such a bit. So where effort is given (:mod:`fairdsl.clock.effort`), which
promises the same on another machine, NumPy's own loops multiply: some ten times slower, and in one order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.clock import meter_in_force


def product(left: NDArray[Any], right: NDArray[Any]) -> Any:
    """``left @ right``, of arrays with as many axes as that takes."""
    if meter_in_force() is None or left.dtype == object or right.dtype == object:
        return left @ right
    rows, columns = "i" * (left.ndim > 1), "k" * (right.ndim > 1)
    return np.einsum(f"...{rows}j,...j{columns}->...{rows}{columns}", left, right)
