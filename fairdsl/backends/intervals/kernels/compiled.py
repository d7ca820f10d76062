"""How the kernels are compiled: once a machine, with IEEE semantics.

numba caches machine code by the file of the compiled function alone, so a caller would keep the old code of a
callee that changed in another file. Hence one cache folder for each state of all kernels together.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core import event

__all__ = ["cache_folder", "exact", "inlined", "kernels_compiled", "listening"]

_F = TypeVar("_F", bound=Callable[..., Any])


def cache_folder() -> Path:
    """Where the machine code of these very kernels is kept: numba tells copies of a file at other places apart."""
    digest = sha256(f"{numba.__version__} {sys.version_info[:3]} {Path(__file__).resolve()}".encode())
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    base = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "fairdsl" / f"kernels-{digest.hexdigest()[:16]}"


_FOLDER = str(cache_folder())
#: Every kernel that is compiled for itself, in the order in which their modules are imported.
_KERNELS: list[Any] = []


def kernels_compiled() -> tuple[int, int]:
    """How many kernels have their machine code, compiled now or before, of how many that are imported."""
    return sum(bool(kernel.signatures) for kernel in _KERNELS), len(_KERNELS)


@contextmanager
def listening(tell: Callable[[int, int], None]) -> Iterator[None]:
    """Within it ``tell`` hears after each compilation how many kernels are compiled, of how many.

    They differ in size: those that call others are compiled after them, and the last ones are the largest.
    """

    class Tell(event.Listener):
        def on_start(self, _: Any) -> None:
            """A compilation begins; those of the kernels that it calls are inside."""

        def on_end(self, _: Any) -> None:
            tell(*kernels_compiled())

    with event.install_listener("numba:compile", Tell()):
        yield


def exact(function: _F) -> _F:
    """Compile with IEEE semantics: no reordered sums, no assumptions about infinities."""
    return _compile(function, "never")


def inlined(function: _F) -> _F:
    """The same, as a part of every caller: for small functions on records of arrays."""
    return _compile(function, "always")


def _compile(function: _F, inline: str) -> _F:
    config = cast(Any, numba.config)
    others = config.CACHE_DIR  # numba reads it when a function is decorated
    config.CACHE_DIR = _FOLDER
    try:
        # All arrays belong to the caller for the whole call, so none needs a reference count: counting them
        # (atomically, for every array of a record at every call) took more than half of the time.
        njit = cast(Any, numba.njit)
        compiled = njit(cache=True, error_model="numpy", inline=inline, _nrt=False)(function)
    finally:
        config.CACHE_DIR = others
    if inline == "never":
        _KERNELS.append(compiled)
    return cast(_F, compiled)
