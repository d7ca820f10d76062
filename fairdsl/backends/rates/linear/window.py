"""What a pass may use, and which partial scores are still undecided."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from fairdsl.clock import Deadline, Work, spend

__all__ = ["NOTHING", "Meter", "OutOfTimeError", "Span", "TooLargeError", "Window"]

#: What is counted where effort is given.
_TERMS = Work("products of masses", 0.002)


class TooLargeError(Exception):
    """A table would have more entries than the memory allows, or a pass take more steps than it may."""


class OutOfTimeError(Exception):
    """The deadline has passed."""


@dataclass(slots=True)
class Meter:
    """What a pass may use: ``entries`` a table may have, ``steps`` (products of masses) in all, time to ``deadline``.

    At most ``tails`` values of laws in closed form are looked up. :class:`TooLargeError` and :class:`OutOfTimeError`
    are raised on the way.
    """

    deadline: Deadline
    entries: int
    steps: float = inf
    tails: float = inf

    def tick(self, steps: int = 1) -> None:
        """So many steps more."""
        self.steps -= steps
        spend(_TERMS, steps)
        if self.steps < 0:
            raise TooLargeError
        if self.deadline.passed:
            raise OutOfTimeError


@dataclass(frozen=True, slots=True)
class Span:
    """The least and greatest score that some columns can add."""

    low: int
    high: int

    def __add__(self, other: Span) -> Span:
        return Span(self.low + other.low, self.high + other.high)


#: What is added by columns that the score does not read.
NOTHING = Span(0, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """What is asked of the sum of all columns, which is in ``whole``: at least ``target``.

    ``accepts`` and ``refuses``: partial sums may be decided early that way.
    """

    target: int
    whole: Span
    meter: Meter
    accepts: bool = True
    refuses: bool = True

    def alive(self, own: Span) -> tuple[int, int]:
        """Of columns that add ``own``, the scores from the first to below the second number are undecided."""
        low, high = own.low, own.high + 1
        if self.refuses:
            low = max(low, self.target - (self.whole.high - own.high))
        if self.accepts:
            high = min(high, self.target - (self.whole.low - own.low))
        return low, max(low, high)
