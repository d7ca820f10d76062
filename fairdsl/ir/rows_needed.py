"""How many rows a metric needs for an error, as data; :mod:`fairdsl.metrics.needed` finds it out."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from fairdsl.codec import Upper


class NoRows(Enum):
    """Why no number of rows can be named."""

    PAIRS = "about pairs of individuals and no rates: no rows are needed"
    WRITTEN = "under a distribution written by hand, or read from a file: no rows are needed"
    TABLES = "no number is known beforehand; `with confidence` says which error the rows at hand leave"
    NOBODY = "no group has rows enough to be compared"


@dataclass(frozen=True, slots=True, kw_only=True)
class AtHand:
    """A group (with a value of the label, where the metric is about them)."""

    #: The group in words.
    group: str
    #: Its rows.
    rows: int
    #: The error of its rate that they leave, at most.
    error: Upper


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsNeeded:
    """The rows that make all rates of a metric certain to an error at once."""

    #: The error.
    error: Fraction
    #: The probability that no rate misses by more.
    confidence: Fraction
    #: How many rates there are.
    rates: int
    #: The rows that each of them needs.
    rows: int
    #: The groups of rows that there are, fewest rows first, without those that the question leaves out; None where a
    #: rate is one among the favoured, whose number the model decides.
    at_hand: tuple[AtHand, ...] | None
    #: About how many there would be in all, if the rarest group is as rare as at hand; None: nobody of it is there.
    in_all: int | None = None
    #: The distribution that was estimated from the rows: of its rates a bound holds only if its structure is right.
    law: str | None = None
