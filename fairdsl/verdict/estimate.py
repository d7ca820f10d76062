"""Estimates: what a random sample says, with the interval that it says it within."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

__all__ = ["Estimate"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What a random sample of units says about the fair share: an estimate, never a proof.

    Of ``sampled`` units ``unfair`` are treated unfairly. The fair share lies in [low, high] unless the sample
    is one of the 1 - ``confidence`` that mislead.
    """

    sampled: int
    unfair: int
    low: Fraction
    high: Fraction
    confidence: Fraction

    def __post_init__(self) -> None:
        if not 0 <= self.low <= self.value <= self.high <= 1:
            raise ValueError("the interval misses its estimate")

    @property
    def value(self) -> Fraction:
        """The fair share of the sample."""
        return Fraction(self.sampled - self.unfair, self.sampled)
