"""What the engine says about an instance: its value or bounds of it, choices that attain it, and the effort."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from fairdsl.verdict import Reason

__all__ = ["Solution", "Statistics"]


@dataclass(slots=True, kw_only=True)
class Statistics:
    """How much work one call was; the engine counts while it runs.

    ``propagations`` are literals that followed from others, ``components`` the parts that were looked at, of
    which ``cache_hits`` were known; ``cache_entries`` is what the cache holds at the end.
    """

    decisions: int = 0
    propagations: int = 0
    components: int = 0
    cache_hits: int = 0
    cache_entries: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """The value lies from ``low`` to ``high``, and is known where they are equal.

    ``choice`` has truths of the outermost existential variables, those left out of the prefix among them, that
    attain the value. It is None where the outermost quantifier is another one, and where the budget ended before
    the value or the choice was found. ``reason`` says why bounds are apart: TIMEOUT or MEMORY_OUT.
    """

    low: Fraction
    high: Fraction
    choice: Mapping[int, bool] | None
    reason: Reason | None
    statistics: Statistics

    @property
    def exact(self) -> bool:
        """Whether the value is known."""
        return self.low == self.high
