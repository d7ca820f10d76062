"""How the kernels are compiled: with IEEE semantics, and once a machine (:mod:`.cache`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core import event
from numba.core.compiler import CompilerBase

from fairdsl.numerics.kernels.cache import KernelCache, cache_folder
from fairdsl.numerics.kernels.parts import KernelCompiler, PartCompiler, without_constants

_F = TypeVar("_F", bound=Callable[..., Any])

#: Whether this is the numba whose inside :mod:`.parts` knows; another one compiles as it does, and takes longer.
_KNOWN = numba.version_info.short == (0, 68)
#: None: machine code is kept in memory alone.
_FOLDER = cache_folder()
#: Every kernel and every part of one, in the order in which their modules are imported.
_KERNELS: list[Any] = []


def kernels_compiled() -> tuple[int, int]:
    """How many kernels and parts are compiled, now or (kernels alone) before, of how many that are imported."""
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
    """A kernel: called from Python, compiled with IEEE semantics (no reordered sums, infinities as they are)."""
    compiled = _compile(function, KernelCompiler)
    if _FOLDER is not None:
        config = cast(Any, numba.config)
        others = config.CACHE_DIR  # numba reads it when a cache is made
        config.CACHE_DIR = str(_FOLDER)
        try:
            cache = KernelCache(function)
            if Path(cache.cache_path).is_relative_to(_FOLDER):  # numba goes elsewhere where it cannot write there
                compiled._cache = cache
        finally:
            config.CACHE_DIR = others
    return cast(_F, compiled)


def part(function: _F) -> _F:
    """A part of kernels: with the same semantics, and compiled with each kernel that calls it."""
    compiled = _compile(function, PartCompiler, no_cpython_wrapper=_KNOWN)
    if _KNOWN:
        without_constants(compiled)
    return cast(_F, compiled)


def _compile(function: _F, compiler: type[CompilerBase], **options: Any) -> Any:
    # All arrays belong to the caller for the whole call, so none needs a reference count: counting them
    # (atomically, for every array of a record at every call) took more than half of the time.
    if _KNOWN:
        options |= {"pipeline_class": compiler, "no_cfunc_wrapper": True}
    compiled = cast(Any, numba.njit)(error_model="numpy", _nrt=False, **options)(function)
    _KERNELS.append(compiled)
    return compiled
