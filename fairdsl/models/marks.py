"""Which numbers of a file may be missing, and the units that stand for that."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

#: The least and the greatest number that one has, None where there is none.
Ends = tuple[Fraction | None, Fraction | None]


@dataclass(frozen=True, slots=True)
class Absent:
    """Of the numbers that a file reads those that may be missing, by their ``places``.

    Each has three units: of an input, ``present``, which is 0 where it is missing; of the block ``nan``, which stands
    for the NaN that whoever reads the number has to do with; of the block ``lacks``, 1 where it is missing and 0 else.
    """

    places: tuple[int, ...]
    present: tuple[tuple[int, int], ...]
    nan: int
    lacks: int
