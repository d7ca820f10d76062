"""One thread for products of small matrices.

BLAS libraries share out even a product that one core has done before a second one is awake, and its threads then spin
while they wait for the next: measured on a network of 13-7-5-1 units and on 13,070 support vectors, searching took
twice the processor time with two threads, and no less time on the clock.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let BLAS libraries use one thread inside, in the whole process; what was set before holds again afterwards."""
    with _libraries(len(sys.modules)).limit(limits=1, user_api="blas"):
        yield


@lru_cache(maxsize=1)
def _libraries(modules: int) -> ThreadpoolController:
    """The libraries that are loaded, looked for again once more modules are: walking them takes a few milliseconds."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
