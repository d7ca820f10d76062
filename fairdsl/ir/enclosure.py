"""What crosses from one package to another where a number is known between two ends: outward rounded, never a pair."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

__all__ = ["Enclosure"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Enclosure:
    """A number that lies in [low, high], and is known where the two are equal."""

    low: Fraction
    high: Fraction

    def __post_init__(self) -> None:
        if self.low is not self.high and self.low > self.high:  # fractions take long to compare
            raise ValueError("the lower end of an enclosure is above the upper one")

    @classmethod
    def exactly(cls, value: Fraction) -> Self:
        """A number that is known."""
        return cls(low=value, high=value)

    def __iter__(self) -> Iterator[Fraction]:
        """Its ends, so that ``low, high = ...`` takes it apart."""
        yield self.low
        yield self.high
