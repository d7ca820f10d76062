"""Ctrl-C and SIGTERM: how a command hears that it has to end, and leaves what is known.

Terminals send SIGINT and batch systems SIGTERM; both ask for the same, and only the exit code tells them apart. Inside
:func:`listening` the first of them is remembered (:func:`received`), and what else it does depends on the block:

* :func:`interrupting`: KeyboardInterrupt, as ever, but never in the middle of an import;
* :func:`winding_down`: work that looks at its budget ends by itself with what it has; KeyboardInterrupt for other work,
  or where the signal comes again;
* :func:`wished`: nothing, the work looks for itself; KeyboardInterrupt where the signal comes again;
* :func:`unbroken`, and outside of all of them: nothing, so that what is being written is written whole. Only a signal
  that comes again seconds later ends the program at once.

A signal that is ignored, as shells have it for jobs in the background, stays ignored.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import Enum
from types import FrameType

from fairdsl.clock.deadline import must_not_be_cut

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
#: Seconds after which a signal that comes again ends a program that is writing.
_PATIENCE = 3.0
#: Seconds that work has to wind down, and after which a signal is looked at again that came during an import.
_GRACE, _SOON = 1.0, 0.02


class _Mode(Enum):
    """What a signal does."""

    NOTE = "note"
    RAISE = "raise"
    WIND_DOWN = "wind down"


class _State:
    """Of the process: signals, and who handles them, belong to all of it."""

    def __init__(self) -> None:
        self.listening = False
        self.received: signal.Signals | None = None
        self.since = 0.0
        self.no_memory = False  # which is why the signal was sent
        self.pending = False  # it had no effect yet
        self.repeated = False  # the next signal is our own
        self.modes = [_Mode.NOTE]


_STATE = _State()


def received() -> signal.Signals | None:
    """The signal that asked the command to end; None where none did, or nobody listens."""
    return _STATE.received


def lack_memory() -> None:
    """Ask the command to end, from any thread, because it takes too much memory: as SIGTERM does."""
    if _STATE.listening and _STATE.received is None:
        _STATE.no_memory = True
        _again(signal.SIGTERM, 0.0)


def lacked_memory() -> bool:
    """Whether that is why it was asked to end."""
    return _STATE.no_memory


@contextmanager
def listening() -> Iterator[None]:
    """A command: within it SIGINT and SIGTERM do what the blocks inside say, and they are handled as before after it.

    Python allows handlers on the main thread only; elsewhere signals keep their meaning.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = _handled()
    _STATE.__init__()  # type: ignore[misc]  # nothing was heard yet
    _STATE.listening = True
    for number in before:
        signal.signal(number, _hear)
    try:
        yield
    finally:
        _STATE.listening, _STATE.received, _STATE.no_memory = False, None, False
        _restore(before)


@contextmanager
def interrupting() -> Iterator[None]:
    """A block that a signal ends with KeyboardInterrupt; at once where one was received before."""
    with _mode(_Mode.RAISE):
        _raise_at_once()
        yield


@contextmanager
def winding_down() -> Iterator[None]:
    """A block that may end by itself, for budgets are used up once a signal was received; KeyboardInterrupt after that.

    Where nobody listens KeyboardInterrupt comes at once.
    """
    with _mode(_Mode.WIND_DOWN):
        _raise_at_once()
        yield


@contextmanager
def unbroken() -> Iterator[None]:
    """A block that is not cut: what it writes is whole. A signal that came within it has its effect at the end."""
    with _mode(_Mode.NOTE):
        yield
    if not _STATE.listening or threading.current_thread() is not threading.main_thread():
        return
    if _STATE.pending and _STATE.received is not None:
        match _STATE.modes[-1]:
            case _Mode.RAISE:
                _STATE.pending = False
                raise KeyboardInterrupt
            case _Mode.WIND_DOWN:
                _STATE.pending = False
                _again(_STATE.received, _GRACE)


class Wish:
    """Whether the user, or the batch system, asked for the end."""

    def __init__(self) -> None:
        self.requested = False


@contextmanager
def wished() -> Iterator[Wish]:
    """Within it the first signal only makes the wish; a second one does what it would do without this block."""
    wish = Wish()
    if threading.current_thread() is not threading.main_thread():
        yield wish
        return
    before = _handled()

    def hear(number: int, frame: FrameType | None) -> None:
        wish.requested = True
        if _STATE.listening:
            _remember(number)
        _restore(before)

    for number in before:
        signal.signal(number, hear)
    try:
        yield wish
    finally:
        _restore(before)


def _handled() -> dict[signal.Signals, object]:
    """The signals that are not ignored, with their handlers."""
    handlers = {number: signal.getsignal(number) for number in _SIGNALS}
    return {number: handler for number, handler in handlers.items() if handler is not signal.SIG_IGN}


def _restore(handlers: dict[signal.Signals, object]) -> None:
    for number, handler in handlers.items():
        signal.signal(number, handler if handler is not None else signal.SIG_DFL)  # type: ignore[arg-type]


@contextmanager
def _mode(mode: _Mode) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():  # which no signal reaches
        yield
        return
    _STATE.modes.append(mode)
    try:
        yield
    finally:
        _STATE.modes.pop()


def _raise_at_once() -> None:
    """What was asked for before the block keeps it from beginning."""
    if _STATE.received is not None:
        _STATE.pending = False
        raise KeyboardInterrupt


def _remember(number: int) -> bool:
    """Whether it is the first."""
    if _STATE.received is not None:
        return False
    _STATE.received, _STATE.since = signal.Signals(number), time.monotonic()
    return True


def _hear(number: int, frame: FrameType | None) -> None:
    """The handler of a command that listens."""
    ours, _STATE.repeated = _STATE.repeated, False
    first = _remember(number)
    mode = _STATE.modes[-1]
    _STATE.pending = mode is _Mode.NOTE and (first or _STATE.pending)
    match mode:
        case _Mode.NOTE:
            if not first and not ours and time.monotonic() > _STATE.since + _PATIENCE:
                signal.signal(number, signal.SIG_DFL)
                os.kill(os.getpid(), number)
        case _Mode.WIND_DOWN if first:
            _again(number, _GRACE)
        case _:
            if must_not_be_cut(frame):
                _again(number, _SOON)
            else:
                raise KeyboardInterrupt


def _again(number: int, seconds: float) -> None:
    """Send it to ourselves once more, to the main thread, so that it does not go on waiting for something else."""

    def send() -> None:
        if _STATE.listening:
            _STATE.repeated = True
            with suppress(OSError, RuntimeError):  # the thread is gone
                signal.pthread_kill(threading.main_thread().ident or 0, number)

    timer = threading.Timer(seconds, send)
    timer.daemon = True
    timer.start()
