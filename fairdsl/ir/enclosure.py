"""What crosses from one package to another where a number is known between two ends: outward rounded, never a pair.

Documents have such a number as an object ``{"low": .., "high": ..}``, or as these two keys of the object whose number
it is (``Annotated[Enclosure, INLINE]``): there ``low`` is rounded down and ``high`` up, as the type of each end says.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Self

from fairdsl.codec import INLINE, Lower, Upper


@dataclass(frozen=True, slots=True, kw_only=True)
class Enclosure:
    """A number that lies in [low, high], and is known where the two are equal."""

    #: Never above the number.
    low: Lower
    #: Never below it.
    high: Upper

    def __post_init__(self) -> None:
        if self.low is not self.high and self.low > self.high:  # fractions take long to compare
            raise ValueError("the lower end of an enclosure is above the upper one")

    def __eq__(self, other: object) -> bool:
        """Whether it has the same ends, whatever more is known of the number, as that it is a probability."""
        return isinstance(other, Enclosure) and self.low == other.low and self.high == other.high

    @classmethod
    def exactly(cls, value: Fraction) -> Self:
        """A number that is known."""
        return cls(low=value, high=value)

    def __iter__(self) -> Iterator[Fraction]:
        """Its ends, so that ``low, high = ...`` takes it apart."""
        yield self.low
        yield self.high

    def __sub__(self, other: Enclosure) -> Enclosure:
        """The one number less the other, whatever the two are."""
        return Enclosure(low=self.low - other.high, high=self.high - other.low)

    @property
    def complement(self) -> Enclosure:
        """What the number, a share, leaves of the whole."""
        return Enclosure(low=1 - self.high, high=1 - self.low)

    @property
    def exact(self) -> bool:
        """Whether the number is known."""
        return self.low == self.high

    def around(self, other: Enclosure) -> Enclosure:
        """The least that holds both."""
        return Enclosure(low=min(self.low, other.low), high=max(self.high, other.high))

    def common(self, other: Enclosure) -> Enclosure | None:
        """What both say of one number; None where they contradict each other."""
        low, high = max(self.low, other.low), min(self.high, other.high)
        return Enclosure(low=low, high=high) if low <= high else None


class Enclosed:
    """A mixin of what has a ``number`` that is known between two ends, which can be read off it as well."""

    __slots__ = ()

    number: Annotated[Enclosure, INLINE]

    @property
    def low(self) -> Fraction:
        """Never above the number."""
        return self.number.low

    @property
    def high(self) -> Fraction:
        """Never below it."""
        return self.number.high
