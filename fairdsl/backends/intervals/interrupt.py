"""Ctrl-C as a wish: refinement stops between two batches, so that what was certified is kept whole."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["Interrupt", "interruptible"]

#: What a terminal and what a batch system sends to a run that has to end.
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupt:
    """Whether the user, or the batch system, asked for the end."""

    def __init__(self) -> None:
        self.requested = False


@contextmanager
def interruptible() -> Iterator[Interrupt]:
    """Within it the first signal only makes the wish; a second one ends the program as ever.

    Python allows handlers on the main thread only; elsewhere signals keep their meaning.
    """
    interrupt = Interrupt()
    if threading.current_thread() is not threading.main_thread():
        yield interrupt
        return
    before = {number: signal.getsignal(number) for number in _SIGNALS}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)

    def wish(number: int, frame: FrameType | None) -> None:
        interrupt.requested = True
        restore()

    for number in _SIGNALS:
        signal.signal(number, wish)
    try:
        yield interrupt
    finally:
        restore()
