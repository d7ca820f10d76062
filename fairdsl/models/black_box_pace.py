"""How many individuals a black box is asked about at once, so that a slow one does not outlast the time by much.

An engine that draws a batch looks at the clock when the batch is answered. A function, or a file, of a millisecond an
individual takes seconds for that. So within :func:`asked_until` a batch is asked about in parts of about a quarter of
a second, as far as the pace of earlier calls tells, and where the time is up between two of them, the block ends. The
first part is always answered: whoever asks about one individual, to confirm what was found, gets the answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic

__all__ = ["Pace", "asked_until"]

#: Seconds that one call may take, as expected, and the individuals that every call may be about.
_SECONDS, _FEWEST = 0.25, 16

_DEADLINE: ContextVar[float | None] = ContextVar("deadline of black boxes", default=None)


class _TimeIsUpError(Exception):
    """The time ended between two parts of a batch."""


@contextmanager
def asked_until(deadline: float) -> Iterator[None]:
    """A block that ends, quietly, where a black box is in a batch at ``deadline``, in seconds of ``time.monotonic``."""
    outer = _DEADLINE.get()
    token = _DEADLINE.set(deadline if outer is None else min(deadline, outer))
    try:
        yield
    except _TimeIsUpError:
        if outer is not None and monotonic() >= outer:
            raise
    finally:
        _DEADLINE.reset(token)


class Pace:
    """How fast one black box is, by the calls so far: ``per_second`` individuals, in the best of them."""

    def __init__(self) -> None:
        self.per_second = 0.0

    def parts(self, count: int) -> Iterator[slice]:
        """The parts in which to ask about ``count`` individuals: all at once where there is no deadline."""
        start = 0
        while start < count:
            deadline = _DEADLINE.get()
            if start and deadline is not None and monotonic() >= deadline:
                raise _TimeIsUpError
            size = count if deadline is None else max(_FEWEST, int(self.per_second * _SECONDS))
            part = slice(start, min(start + size, count))
            began = monotonic()
            yield part
            elapsed = monotonic() - began
            self.per_second = max(self.per_second, (part.stop - start) / max(elapsed, 1e-6))
            start = part.stop
