"""Compiling the kernels, once on a machine, in one process, before any deadline counts; and loading them.

numba keeps the machine code of each kernel in a cache folder. That the folder is there says little: it is made
when the kernels are imported, and a run that was ended half-way leaves some of them out. So a file in it says
that all were compiled. A process that finds another one at it waits for it instead of doing the same.

To load machine code takes about a second, too, and where the alarm cut it in the first share's time nothing would be
known of that share. So it is done at the same place, before that time begins.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from fractions import Fraction
from pathlib import Path

from fairdsl.backends.contract import Announcing, Observer
from fairdsl.backends.intervals.kernels.cache import cache_folder, why_no_cache
from fairdsl.backends.intervals.kernels.compiled import listening
from fairdsl.clock import untimed
from fairdsl.ir.domain import Attribute, Boolean, Domain, Integer
from fairdsl.ir.exact_array import ExactArray
from fairdsl.ir.expr import TRUE, Relation
from fairdsl.ir.feature import AttributeInput
from fairdsl.ir.model import ByThreshold, Layer, Model
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Differ, Pair, Quantity

__all__ = ["compile_kernels"]

_COMPLETE = "complete"
_STAGE, _EACH_TIME = "compiling the kernels, once on this machine", "compiling the kernels, which cannot be kept"
#: The folders from which this process has the machine code of all kernels; None: it compiled what is not kept.
_LOADED: set[Path | None] = set()


def compile_kernels(observer: Observer) -> float:
    """Compile all kernels unless that was done before on this machine, and have them in this process.

    Returns how many seconds compiling took. Where machine code cannot be kept, for its folder is not safely the user's
    own, every process compiles, and says so.
    """
    folder = cache_folder()
    if folder in _LOADED:
        return 0.0
    began, seconds = time.monotonic(), 0.0
    if folder is not None and (folder / _COMPLETE).exists():
        _use_all()
    else:
        _compile_all(folder, observer)
        seconds = time.monotonic() - began
    _LOADED.add(folder)
    return seconds


def _compile_all(folder: Path | None, observer: Observer) -> None:
    """Compile, unless another process does it meanwhile."""
    stage = _STAGE if folder is not None else _EACH_TIME
    observer.progress(stage, None, "about half a minute")
    if isinstance(observer, Announcing):
        observer.announce(f"{stage} (about half a minute)" + ("" if folder is not None else f": {why_no_cache()}"))
    with untimed(), _alone(None if folder is None else folder / f"{_COMPLETE}.lock"):
        with listening(lambda done, of: observer.progress(stage, done / max(1, of), f"{done} of {of} kernels")):
            _use_all()
        if folder is not None:
            with suppress(OSError):  # a full disk: the next run compiles again
                (folder / _COMPLETE).touch()


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


def _use_all() -> None:
    """Kernels are compiled, or loaded, when they are used: refine a toy until regions were chosen as well."""
    from fairdsl.backends.intervals.effort import FIRST_CHOICE
    from fairdsl.backends.intervals.lowering import lower
    from fairdsl.backends.intervals.refine import Refinement

    refinement = Refinement.start(lower(_toy()).task)
    refinement.bounds()
    while refinement.nodes <= FIRST_CHOICE:
        if not refinement.advance(FIRST_CHOICE):
            raise RuntimeError("the toy is too small to use every kernel")
    refinement.advance(1)


def _toy() -> Problem:
    """Four numbers, a protected one, three units: enough boxes to be split, units to be cut by."""
    numbers = (Attribute(name=f"x{number}", type=Integer(low=0, high=99)) for number in range(4))
    domain = Domain(name="Toy", attributes=(*numbers, Attribute(name="group", type=Boolean())), where=TRUE)
    hidden = _layer([[3, -2, 1, 5, 70], [-1, 4, 2, -3, -30], [2, 3, -5, 1, 20]], [-300, -100, 30], slope=0)
    model = Model(
        name="toy",
        outcomes=("no", "yes"),
        inputs=tuple(AttributeInput(number) for number in range(5)),
        layers=(hidden, _layer([[2, -3, 1]], [-100], slope=1)),
        rule=ByThreshold(relation=Relation.GT, low=Fraction(0), high=Fraction(0), granted=1, otherwise=0),
    )
    question = Pair(differ=(4,), mode=Differ.ANY)
    return Problem(name="toy", domain=domain, model=model, question=question, quantity=Quantity.FAIR_SHARE)


def _layer(weight: Sequence[Sequence[int]], bias: Sequence[int], *, slope: int) -> Layer:
    weights, biases, slopes = (ExactArray.from_floats(numbers) for numbers in (weight, bias, [slope] * len(bias)))
    return Layer(weight=weights, bias=biases, slope=slopes)
