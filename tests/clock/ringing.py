"""The alarm at a chosen moment: at the n-th call, or return of one, inside a block that it may end."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import pytest

from fairdsl.clock import deadline


class Moments:
    """Counts calls while an alarm is set, and rings at one of them, or where it may after that."""

    def __init__(self, ring_at: int | None) -> None:
        self.ring_at = ring_at
        self.counted = 0
        #: In which function it rang.
        self.rang: str | None = None
        self._ahead = 0.0

    def now(self) -> float:
        """The time, which has passed the deadline once it rang."""
        return _real() + self._ahead

    def hear(self, frame: FrameType, _event: str, _: Any) -> None:
        """The profiler's hook: what it raises is raised in the frame, as by a handler of signals."""
        rings = deadline._ALARM._rings
        if not rings or self.rang is not None or frame.f_code.co_filename == __file__:
            return
        self.counted += 1
        if self.ring_at is not None and self.counted >= self.ring_at and not deadline.must_not_be_cut(frame):
            self.rang = frame.f_code.co_qualname
            self._ahead = max(0.0, rings[-1] - _real()) + 0.001
            raise deadline.OutOfTimeError(cut=True)


_real = time.monotonic


@contextmanager
def alarm_at(moment: int | None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Moments]:
    """A block in which the alarm rings then; None: never, and moments are counted."""
    moments = Moments(moment)
    with monkeypatch.context() as patch:
        patch.setattr(time, "monotonic", moments.now)
        sys.setprofile(moments.hear)
        try:
            yield moments
        finally:
            sys.setprofile(None)
