"""The end of the time for proofs: the clock's, or the user's, who hears in the meantime how far they are."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from fairdsl.backends.contract import Observer
from fairdsl.clock import NEVER, Deadline, interrupting, received, until

#: Why there is no proof, or only part of one.
INTERRUPTED = "the run was interrupted"
#: Seconds between two looks at who asks for the end, and between two messages to the observer.
_LISTEN, _TELL = 0.05, 0.5
#: Seconds that the checker has once somebody asked for the end: whoever did that waits.
AFTER = 10.0

_Found = TypeVar("_Found")


class Watch:
    """Called by whoever grows a proof: whether somebody asked for the end. Tells in passing how far it is."""

    def __init__(self, stage: str, seconds: float, observer: Observer) -> None:
        """``stage`` is what the observer hears, which takes so many ``seconds``."""
        self._stage, self._observer = stage, observer
        self._began, self._seconds = time.monotonic(), seconds
        self._listened = self._told = 0.0
        #: Whether somebody did.
        self.ended = False

    def __call__(self) -> bool:
        """Whether it is to end."""
        moment = time.monotonic()
        if not self.ended and moment >= self._listened + _LISTEN:
            self._listened, self.ended = moment, received() is not None
            if moment >= self._told + _TELL:
                self._told = moment
                part = min(1.0, (moment - self._began) / self._seconds) if self._seconds else 1.0
                self._observer.progress(self._stage, part, "")
        return self.ended

    def checked(self, lines: int, check: Callable[[], _Found]) -> _Found | None:
        """What the checker says of a proof of so many lines.

        None where it was ended by Ctrl-C; where that came before, it has a few seconds.
        """
        self._observer.progress(self._stage.replace("proving", "checking", 1), None, f"{lines:,} lines")
        self.ended = self.ended or received() is not None
        if not self.ended:
            return self.cut(check)
        with until(Deadline.within(AFTER), grace=0.0):
            return check()
        return None

    def cut(self, work: Callable[[], _Found], deadline: Deadline = NEVER) -> _Found | None:
        """What work finds that looks at no clock; None where the time was up, or somebody asked for the end, before."""
        try:
            with interrupting(), until(deadline, grace=0.0):
                return work()
        except KeyboardInterrupt:
            if received() is None:  # nobody listens to signals, and they mean what they always do
                raise
            self.ended = True
        return None

    @property
    def end(self) -> Until:
        """When the seconds are over, or somebody asks for the end."""
        return Until(Deadline.within(self._seconds).at, watch=self)


@dataclass(frozen=True, slots=True)
class Until(Deadline):
    """A deadline that has passed as well once somebody asked for the end."""

    watch: Watch = field(kw_only=True, compare=False)

    @property
    def remaining(self) -> float:
        """Seconds left, none where somebody asked for the end."""
        return 0.0 if self.watch() else Deadline(self.at).remaining

    @property
    def passed(self) -> bool:
        """Whether the time is up, or somebody asked for the end."""
        return self.watch() or Deadline(self.at).passed

    def later(self, seconds: float) -> Until:
        """So many seconds after this one, or before it."""
        return Until(self.at + seconds, watch=self.watch)
