"""How many individuals a black box is asked about at once, so that a slow one does not outlast the time by much.

An engine that draws a batch looks at the clock when the batch is answered. A function, or a file, of a millisecond an
individual takes seconds for that. So where there is a deadline (:func:`fairdsl.clock.until`) a batch is asked about in
parts of about a quarter of a second, as far as the pace of earlier calls tells, with a look at the clock between two of
them. The first part is always answered: whoever asks about one individual, to confirm what was found, gets the answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from time import monotonic

from fairdsl.clock import NEVER, Work, deadline_in_force, look, meter_in_force, spend

#: Seconds that one call may take, as expected, and the individuals that every call may be about.
_SECONDS, _FEWEST = 0.25, 16
#: What is counted where effort is given.
_ASKED = Work("answers of black boxes", 10)
#: The individuals of a call where effort is given, whatever the pace.
_METERED = 256


class Pace:
    """How fast one black box is, by the calls so far: ``per_second`` individuals, in the best of them."""

    def __init__(self) -> None:
        self.per_second = 0.0

    def parts(self, count: int) -> Iterator[slice]:
        """The parts in which to ask about ``count`` individuals: all at once where there is no deadline."""
        start = 0
        while start < count:
            if start:
                look()
            unhurried = deadline_in_force() == NEVER
            size = count if unhurried else max(_FEWEST, int(self.per_second * _SECONDS))
            size = size if meter_in_force() is None else _METERED
            part = slice(start, min(start + size, count))
            began = monotonic()
            yield part
            spend(_ASKED, part.stop - part.start)
            elapsed = monotonic() - began
            self.per_second = max(self.per_second, (part.stop - start) / max(elapsed, 1e-6))
            start = part.stop
