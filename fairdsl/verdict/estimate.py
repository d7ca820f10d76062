"""Estimates: what a random sample says, with the interval that it says it within."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Annotated, ClassVar

from fairdsl.codec import INLINE, Lower, Upper
from fairdsl.ir.enclosure import Enclosure


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What a random sample of units says about the fair share: an estimate, never a proof.

    Of ``sampled`` units ``unfair`` are treated unfairly. They are drawn from all units, or where some are known from
    those that are open: then the shares ``settled`` and ``rest`` say how much is fair for sure, and how much is open.
    The fair share lies in the ``interval`` unless the sample is one of the 1 - ``confidence`` that mislead.
    """

    ALSO_WRITTEN: ClassVar[tuple[str, ...]] = ("value",)

    #: Units that were drawn.
    sampled: int
    #: Those of them that are treated unfairly.
    unfair: int
    #: The interval.
    interval: Annotated[Enclosure, INLINE]
    #: The probability, at least, that the interval contains the share.
    confidence: Fraction
    #: Of all units, those that are fair for sure and were not drawn from; None: all units were drawn from.
    settled: Lower | None = None
    #: Of all units, those that were drawn from; None: all.
    rest: Upper | None = None

    def __post_init__(self) -> None:
        low, high = self.interval
        if not 0 <= low <= self.value <= high <= 1:
            raise ValueError("the interval misses its estimate")

    @property
    def value(self) -> Fraction:
        """The fair share of the sample, or of what is decided and of the sample for the rest."""
        sample = Fraction(self.sampled - self.unfair, self.sampled)
        return sample if self.rest is None or self.settled is None else self.settled + self.rest * sample

    @property
    def complement(self) -> Estimate:
        """The same of the units that are treated unfairly, whose share it then is."""
        settled = None if self.rest is None or self.settled is None else 1 - self.rest - self.settled
        unfair = self.sampled - self.unfair
        return replace(self, unfair=unfair, interval=self.interval.complement, settled=settled)
