"""Compiling the kernels: once on a machine, in one process, before any deadline counts.

numba keeps the machine code of each kernel in a cache folder. That the folder is there says little: it is made
when the kernels are imported, and a run that was ended half-way leaves some of them out. So a file in it says
that all were compiled. A process that finds another one at it waits for it instead of doing the same.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from fractions import Fraction
from pathlib import Path

from fairdsl.backends.contract import Announcing, Observer
from fairdsl.backends.intervals.kernels.compiled import cache_folder, listening
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
_STAGE = "compiling the kernels, once on this machine"


def compile_kernels(observer: Observer) -> float:
    """Compile all kernels unless that was done before on this machine; how many seconds it took."""
    complete = cache_folder() / _COMPLETE
    if complete.exists():
        return 0.0
    began = time.monotonic()
    observer.progress(_STAGE, None, "about a minute")
    if isinstance(observer, Announcing):
        observer.announce(f"{_STAGE} (about a minute)")
    with untimed(), _alone(complete.with_suffix(".lock")):
        if not complete.exists():
            with listening(lambda done, of: observer.progress(_STAGE, done / max(1, of), f"{done} of {of} kernels")):
                _use_all()
            with suppress(OSError):  # a cache that cannot be written to: the next run compiles again
                complete.touch()
    return time.monotonic() - began


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """One process at a time, where the system has such locks and the folder can be written to."""
    try:
        import fcntl

        lock.parent.mkdir(parents=True, exist_ok=True)
        file = lock.open("w")
    except (ImportError, OSError):
        yield
        return
    with file:
        with suppress(OSError):  # some network folders have no locks
            fcntl.flock(file, fcntl.LOCK_EX)
        yield  # closing the file lets go of it, as does the end of the process


def _use_all() -> None:
    """Kernels are compiled when they are used: refine a toy until the choice of regions was made as well."""
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
