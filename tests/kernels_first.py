"""The kernels, compiled and loaded before tests count their time; in a file of its own, for it loads numba."""

from __future__ import annotations

from functools import cache

from fairdsl.backends.contract import Silent
from fairdsl.backends.intervals import warmup
from fairdsl.backends.leaf_boxes import refinement
from fairdsl.backends.rates import warmup as of_rates
from fairdsl.clock import NEVER

__all__ = ["have_kernels"]


@cache
def have_kernels() -> None:
    """Have them in this process, however long that takes."""
    engines = (warmup.KERNELS, refinement.KERNELS, of_rates.KERNELS)
    for kernels in engines:
        kernels.begin(Silent())
    assert all(kernels.ready(Silent(), NEVER) for kernels in engines)
