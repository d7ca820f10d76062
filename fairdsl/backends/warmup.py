"""Compiling an engine's kernels, once on a machine, in one process, before any deadline counts; and loading them.

numba keeps the machine code of each kernel in a cache folder. That the folder is there says little: it is made
when the kernels are imported, and a run that was ended half-way leaves some of them out. So a file in it says
that all were compiled. A process that finds another one at it waits for it instead of doing the same.

To load machine code takes about a second, too, and where the alarm cut it in the first share's time nothing would be
known of that share. So it is done at the same place, before that time begins.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from fairdsl.backends.contract import Announcing, Observer
from fairdsl.clock import untimed
from fairdsl.numerics.kernels.cache import cache_folder, why_no_cache
from fairdsl.numerics.kernels.compiled import listening
from fairdsl.numerics.kernels.parts import compiling_much

__all__ = ["Kernels", "compile_kernels"]

_STAGE, _EACH_TIME = "compiling the kernels, once on this machine", "compiling the kernels, which cannot be kept"
#: The folders from which this process has the machine code of all kernels; None: it compiled what is not kept.
_LOADED: set[tuple[Path | None, str]] = set()


@dataclass(frozen=True, slots=True)
class Kernels:
    """The kernels of an engine: a file of this name says that all are compiled, which takes ``about`` so long.

    To compile or to load them is to use them, on a toy.
    """

    complete: str
    use: Callable[[], None]
    about: str


def compile_kernels(kernels: Kernels, observer: Observer) -> float:
    """Compile an engine's kernels unless that was done before on this machine, and have them in this process.

    Returns how many seconds compiling took. Where machine code cannot be kept, for its folder is not safely the user's
    own, every process compiles, and says so.
    """
    folder = cache_folder()
    if (folder, kernels.complete) in _LOADED:
        return 0.0
    began, seconds = time.monotonic(), 0.0
    if folder is not None and (folder / kernels.complete).exists():
        kernels.use()
    else:
        _compile_all(kernels, folder, observer)
        seconds = time.monotonic() - began
    _LOADED.add((folder, kernels.complete))
    return seconds


def _compile_all(kernels: Kernels, folder: Path | None, observer: Observer) -> None:
    """Compile, unless another process does it meanwhile."""
    stage = _STAGE if folder is not None else _EACH_TIME
    observer.progress(stage, None, kernels.about)
    if isinstance(observer, Announcing):
        observer.announce(f"{stage} ({kernels.about})" + ("" if folder is not None else f": {why_no_cache()}"))
    with untimed(), _alone(None if folder is None else folder / f"{kernels.complete}.lock"):
        told = listening(lambda done, of: observer.progress(stage, done / max(1, of), f"{done} of {of} kernels"))
        with told, compiling_much():
            kernels.use()
        if folder is not None:
            with suppress(OSError):  # a full disk: the next run compiles again
                (folder / kernels.complete).touch()


@contextmanager
def _alone(lock: Path | None) -> Iterator[None]:
    """One process at a time, where the system has such locks and there is a folder to share."""
    if lock is None:
        yield
        return
    try:
        import fcntl

        file = lock.open("w")
    except (ImportError, OSError):
        yield
        return
    with file:
        with suppress(OSError):  # some network folders have no locks
            fcntl.flock(file, fcntl.LOCK_EX)
        yield  # closing the file lets go of it, as does the end of the process
