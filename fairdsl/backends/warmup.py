"""Compiling an engine's kernels, once on a machine, in a process beside; and loading them.

numba keeps the machine code of each kernel in a cache folder. That the folder is there says little: it is made
when the kernels are imported, and a run that was ended half-way leaves some of them out. So a file in it says
that all were compiled.

Compiling takes longer than some commands have, and what is cut leaves nothing. So a process of its own compiles while
the command does what takes no kernels. Where the command's time is up first, that process goes on until it is done, and
the next run has the kernels. One that finds another one at it waits for it instead of doing the same.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from subprocess import Popen, TimeoutExpired
from typing import IO

from fairdsl.backends.contract import Announcing, Budget, Observer, unanswered
from fairdsl.clock import Deadline, received, until
from fairdsl.ir.problem import Problem
from fairdsl.numerics.kernels.cache import cache_folder, why_no_cache
from fairdsl.numerics.kernels.compiled import listening
from fairdsl.processes import left_to_itself
from fairdsl.verdict import Reason, Verdict

_STAGE, _EACH_TIME = "compiling the kernels, once on this machine", "compiling the kernels, which cannot be kept"
#: Why nothing is known where the budget ends before they are there.
_NOT_READY = "its kernels were still being compiled, once on this machine: the next run has them"
#: Seconds between looks at a process that compiles.
_LOOK = 0.1
#: The folders from which this process has the machine code of all kernels; None: it compiled what is not kept.
_LOADED: set[tuple[Path | None, str]] = set()
#: The processes that compile, by the folder and what they complete.
_BESIDE: dict[tuple[Path, str], Popen[bytes]] = {}


@dataclass(frozen=True, slots=True)
class Kernels:
    """The kernels of an engine: a file of this name says that all are compiled, which takes ``about`` so long.

    To compile or to load them is to ``use`` them, on a toy: it names a function, as in ``module:function``.
    """

    complete: str
    use: str
    about: str

    def begin(self, observer: Observer) -> None:
        """Have them compiled beside, unless that was done or begun before, or they cannot be kept."""
        folder = cache_folder()
        if folder is None or (folder, self.complete) in _BESIDE or (folder / self.complete).exists():
            return
        self._announce(_STAGE, "", observer)
        with suppress(OSError):  # no process can be started: who needs them compiles
            _BESIDE[folder, self.complete] = left_to_itself(
                f"{__name__}:{compile_beside.__name__}", self.complete, self.use, self.about
            )

    def ready(self, observer: Observer, by: Deadline) -> bool:
        """Whether this process has them by then. Where they cannot be kept it compiles them itself."""
        folder = cache_folder()
        if (folder, self.complete) in _LOADED:
            return True
        if folder is not None and not (folder / self.complete).exists():
            self.begin(observer)
            beside = _BESIDE.get((folder, self.complete))
            if beside is not None and not self._awaited(beside, folder, observer, by):
                return False
        if folder is not None and (folder / self.complete).exists():
            _call(self.use)
        elif not self._compiled_here(folder, observer, by):
            return False
        _LOADED.add((folder, self.complete))
        return True

    def awaited(
        self, problem: Problem, backend: str, budget: Budget, observer: Observer
    ) -> Generator[Verdict, Budget, Budget]:
        """An engine that waits for them, by budgets: it knows nothing, and returns what is left once they are there."""
        while not self.ready(observer, budget.deadline):
            ended = "ended by the clock"
            budget = yield unanswered(problem.quantity, Reason.TIMEOUT, _NOT_READY, backend=backend, method=ended)
        return budget

    def compile(self, folder: Path | None, tell: Callable[[int, int], None]) -> None:
        """Compile them in this process; ``tell`` hears how many are ready, of how many."""
        with listening(tell):
            _call(self.use)
        if folder is not None:
            with suppress(OSError):  # a full disk: the next run compiles again
                (folder / self.complete).touch()

    def _compiled_here(self, folder: Path | None, observer: Observer, by: Deadline) -> bool:
        stage = _STAGE if folder is not None else _EACH_TIME
        if folder is None:  # else it was said when somebody else was to do it
            self._announce(stage, f": {why_no_cache()}", observer)
        with until(by, grace=0.0) as scope:
            self.compile(folder, lambda done, of: _progress(stage, done, of, observer))
        return not scope.passed

    def _awaited(self, beside: Popen[bytes], folder: Path, observer: Observer, by: Deadline) -> bool:
        """Whether the process beside has ended by then."""
        patience = by.patience
        ends = None if patience is None else time.monotonic() + patience
        while beside.poll() is None:
            if received() is not None or (ends is not None and time.monotonic() >= ends):
                return False
            with suppress(OSError, ValueError):  # it has not said anything yet
                done, of = map(int, _lock(folder, self.complete).read_text(encoding="ascii").split())
                _progress(_STAGE, done, of, observer)
            with suppress(TimeoutExpired):
                beside.wait(_LOOK if ends is None else min(_LOOK, max(0.0, ends - time.monotonic())))
        return True

    def _announce(self, stage: str, why: str, observer: Observer) -> None:
        observer.progress(stage, None, self.about)
        if isinstance(observer, Announcing):
            observer.announce(f"{stage} ({self.about}){why}")


def compile_beside(complete: str, use: str, about: str) -> None:
    """In a process of its own: compile these kernels, unless another process did it meanwhile."""
    folder = cache_folder()
    if folder is None:
        return
    with _alone(_lock(folder, complete)) as file:

        def tell(done: int, of: int) -> None:
            with suppress(OSError):  # a full disk
                file.truncate(0)
                file.write(f"{done} {of}")
                file.flush()

        if not (folder / complete).exists():
            Kernels(complete, use, about).compile(folder, tell)


def _call(name: str) -> None:
    module, _, function = name.partition(":")
    getattr(import_module(module), function)()


def _progress(stage: str, done: int, of: int, observer: Observer) -> None:
    observer.progress(stage, done / max(1, of), f"{done} of {of} kernels")


def _lock(folder: Path, complete: str) -> Path:
    return folder / f"{complete}.lock"


@contextmanager
def _alone(lock: Path) -> Iterator[IO[str]]:
    """One process at a time, where the system has such locks; the file of the lock is there to write to."""
    with lock.open("a", encoding="ascii") as file:
        with suppress(ImportError, OSError):  # some systems and network folders have no locks
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        yield file  # closing the file lets go of it, as does the end of the process
