"""Deadlines, the blocks that end by them, and looks at the clock.

A command has one :class:`Deadline`, counted from its start. Whoever does work that may take long does it in a block
``with until(deadline)``, and long loops inside call :func:`look`, however deep they are: where the time is up, ``look``
raises, the innermost such block ends, quietly, and its :attr:`Scope.passed` says so. (The idea, and that nobody has to
hand the deadline from function to function, are those of the cancel scopes of Trio.)

Loops that nobody thought of do not look. So a block with ``grace`` is ended by an alarm as well, so many seconds after
its deadline: a signal whose handler raises between two instructions of Python. That may be in the middle of an update,
so blocks without ``grace``, which keep what they have, let it pass, and whoever gives ``grace`` uses nothing that was
changed inside. Nor does it let out what came of the exception on its way: where a library, or a ``finally``, made
another one of it, the block was ended by the clock all the same. The alarm waits where a block that a generator
describes sets something or puts it back, for that would stay half-done. It needs the main thread of a system with
POSIX signals, and stays away where somebody else uses the alarm clock; elsewhere only looks count. What runs outside of
Python (a solver, onnxruntime) hears of neither, and belongs into a process that can be killed
(:mod:`fairdsl.processes`).
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import _GeneratorContextManager, contextmanager
from contextvars import ContextVar, Token
from dataclasses import dataclass
from math import inf
from pathlib import Path
from types import FrameType, TracebackType

from fairdsl.clock.effort import UNITS, Meter, Work, entered, meter_in_force, now, overdue, spend

#: Seconds after a deadline at which work that does not look at the clock is ended: those that do look get that long
#: to put together what they have.
GRACE = 0.5
#: Seconds after which the alarm rings again, where something swallowed its exception or must not be cut now.
_AGAIN, _SOON = 1.0, 0.02
#: Seconds that starting Python may have taken; an older process is not one that was started for a command.
_START = 5.0
#: What passes between two looks.
_STEPS = Work("steps of long loops", UNITS / 1000)
#: Where code lies that must not be cut: an import that ends half-way leaves a broken module behind.
_IMPORTS = "<frozen importlib"
_CLOCK = Path(__file__).parent

_BEGAN: ContextVar[float | None] = ContextVar("when the command began", default=None)
#: On the clock of the work.
_UNTIL: ContextVar[float] = ContextVar("the deadline in force", default=inf)
_LABEL: ContextVar[str] = ContextVar("what is going on", default="")


class OutOfTimeError(BaseException):
    """The deadline in force has passed. Like KeyboardInterrupt not an ``Exception``: nobody handles it in passing.

    ``during`` says what was going on, ``cut`` that it was the alarm that rang, wherever the program was.
    """

    def __init__(self, *, cut: bool = False) -> None:
        super().__init__("the time is up")
        self.during = _LABEL.get()
        self.cut = cut


@dataclass(frozen=True, slots=True, order=True)
class Deadline:
    """A moment of the clock of the work: of ``time.monotonic``, or of an effort's (:mod:`fairdsl.clock.effort`)."""

    #: Seconds on that clock; ``inf`` for never.
    at: float = inf

    @classmethod
    def after(cls, seconds: float | None) -> Deadline:
        """So many seconds after the command began, or from now where no command is under way; None: never."""
        if seconds is None:
            return cls()
        began = _BEGAN.get()
        return cls((now() if began is None else began) + seconds)

    @classmethod
    def within(cls, seconds: float) -> Deadline:
        """So many seconds from now, whenever the command began."""
        return cls(now() + seconds)

    @property
    def remaining(self) -> float:
        """Seconds left, never negative."""
        return 0.0 if overdue() else max(0.0, self.at - now())

    @property
    def passed(self) -> bool:
        """Whether the time is up."""
        return now() >= self.at or overdue()

    @property
    def patience(self) -> float | None:
        """Seconds to wait for what another process does; None: as long as that takes.

        It is as long as the work has, but where that has effort: nothing of it passes by waiting.
        """
        meter = meter_in_force()
        left = self.remaining if meter is None or self.passed else max(0.0, meter.ends - time.monotonic())
        return None if left == inf else left

    def later(self, seconds: float) -> Deadline:
        """So many seconds after this one; before it where they are negative."""
        return Deadline(self.at + seconds)


#: No deadline.
NEVER = Deadline()


def process_began() -> float:
    """When this process was started, on the clock of ``time.monotonic``; as near as the system tells."""
    now = time.monotonic()
    try:
        fields = Path("/proc/self/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - int(fields[19]) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, AttributeError):
        return now
    return now - age if 0 <= age < _START else now


@contextmanager
def command_began(moment: float) -> Iterator[None]:
    """A block that is a command: deadlines inside count from its beginning, not from when they are first thought of."""
    token = _BEGAN.set(moment)
    try:
        yield
    finally:
        _BEGAN.reset(token)


def deadline_in_force() -> Deadline:
    """The earliest deadline of the blocks that this is in."""
    return Deadline(_UNTIL.get())


def look() -> None:
    """Look at the clock; raises OutOfTimeError, for the innermost :func:`until`, where the deadline in force passed."""
    spend(_STEPS)
    if now() >= _UNTIL.get() or overdue():
        raise OutOfTimeError


@contextmanager
def metered(meter: Meter) -> Iterator[None]:
    """A block of work that the meter counts; where that limits it, deadlines of blocks around do not count inside."""
    if meter.limit is None:
        with entered(meter):
            yield
        return
    until_, began = _UNTIL.set(inf), _BEGAN.set(None)
    try:
        with entered(meter):
            yield
    finally:
        _UNTIL.reset(until_)
        _BEGAN.reset(began)


class Scope:
    """A block that ends when its deadline passes, or that of a block around it; see :func:`until`."""

    def __init__(self, deadline: Deadline, grace: float | None) -> None:
        #: Whether it was ended by the clock.
        self.passed = False
        #: What was going on inside when it was.
        self.during = ""
        self._deadline, self._grace = deadline, grace
        self._token: Token[float] | None = None
        self._rings: float | None = None

    def __enter__(self) -> Scope:
        own = min(self._deadline.at, _UNTIL.get())
        self._token = _UNTIL.set(own)
        meter = meter_in_force()
        ends = own if meter is None else meter.ends
        if self._grace is not None and ends < inf:
            self._rings = _ALARM.push(ends + self._grace)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if self._rings is not None:
            _ALARM.pop(self._rings)
        assert self._token is not None, "the block was entered"
        _UNTIL.reset(self._token)
        ended = error if self._grace is None else _behind(error)
        if isinstance(ended, OutOfTimeError) and (self._grace is not None or not ended.cut):
            self.passed, self.during = True, ended.during
        return self.passed


def _behind(error: BaseException | None) -> BaseException | None:
    """The alarm's exception where another one came of it on its way, else the error itself."""
    origin, seen = error, set[int]()
    while isinstance(origin, Exception) and id(origin) not in seen:  # a cause may have come of what it is the cause of
        seen.add(id(origin))
        origin = origin.__cause__ or origin.__context__
    return origin if isinstance(origin, OutOfTimeError) and origin.cut else error


def until(deadline: Deadline, *, grace: float | None = None) -> Scope:
    """A block that ends, quietly, where a :func:`look` inside finds ``deadline`` passed.

    With ``grace`` it is ended so many seconds later even if nobody looks, where signals can do that: then nothing that
    was changed inside may be used. After the block ``passed`` says whether it was ended.
    """
    return Scope(deadline, grace)


class _Alarm:
    """The process's alarm clock, set to when the innermost block with a grace ends."""

    def __init__(self) -> None:
        self._rings: list[float] = []
        self._before: object = None

    def push(self, moment: float) -> float | None:
        """Ring then, unless an outer block rings sooner; None where there is no alarm to be had."""
        if not self._rings:
            if not _can_ring():
                return None
            self._before = signal.signal(signal.SIGALRM, self._ring)
        self._rings.append(moment)
        self._set()
        return moment

    def pop(self, moment: float) -> None:
        """The innermost block is over."""
        self._rings.pop()
        if self._rings:
            self._set()
        else:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, self._before)  # type: ignore[arg-type]  # it is what was there

    def _set(self) -> None:
        signal.setitimer(signal.ITIMER_REAL, max(1e-4, self._rings[-1] - time.monotonic()), _AGAIN)

    def _ring(self, _: int, frame: FrameType | None) -> None:
        """Raise in the main thread, where it is; a little later where that would break something."""
        if not self._rings or time.monotonic() < self._rings[-1]:
            return
        if must_not_be_cut(frame):
            signal.setitimer(signal.ITIMER_REAL, _SOON, _AGAIN)
            return
        raise OutOfTimeError(cut=True)


_ALARM = _Alarm()


def _can_ring() -> bool:
    """Whether there is an alarm clock that nobody else has set."""
    return (
        hasattr(signal, "setitimer")
        and threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGALRM) is signal.SIG_DFL
        and not signal.getitimer(signal.ITIMER_REAL)[0]
    )


#: What begins and ends a block that a generator describes.
_BLOCKS = (_GeneratorContextManager.__enter__.__code__, _GeneratorContextManager.__exit__.__code__)


def must_not_be_cut(frame: FrameType | None) -> bool:
    """Whether an import, the making of a class, or the beginning or the end of a block, is under way.

    What is called from a block's ends is short in the first call, and may take long (connect to something) further
    down. Of what ends a ``__set_name__`` Python 3.11 makes a RuntimeError, which who listens for Ctrl-C would not know.
    """
    if frame is not None and _of_blocks(frame):
        return True
    while frame is not None:
        if frame.f_code.co_filename.startswith(_IMPORTS) or frame.f_code.co_name == "__set_name__":
            return True
        frame = frame.f_back
    return False


def _of_blocks(frame: FrameType) -> bool:
    """Whether it belongs to the clock or to contextlib, or is a block's generator between its ends, or called by it."""
    if frame.f_code.co_filename == contextlib.__file__ or Path(frame.f_code.co_filename).parent == _CLOCK:
        return True
    callers = (frame.f_back, None if frame.f_back is None else frame.f_back.f_back)
    return any(caller is not None and caller.f_code in _BLOCKS for caller in callers)
