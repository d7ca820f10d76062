"""Whom a report is about: the domains of its individuals, and the populations that numbers are taken under."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from fairdsl.verdict import Interval, Restriction


class AttributeKind(Enum):
    """What an attribute's values are."""

    CATEGORY = "category"
    INTEGER = "integer"
    BOOLEAN = "boolean"
    REAL = "real"


class EdgesFrom(Enum):
    """Where the edges of a network come from."""

    ROWS = "rows"  # there is no network: every row has the same probability, and nothing is assumed
    NONE = "none"  # there are none: every column is independent of all others
    WRITTEN = "written"  # the graph of the spec, which says what is a cause of what
    FOUND = "found"  # a search in the rows, so they are not causes
    GIVEN = "given"  # they say what the distribution of a column is given by, and nothing of causes


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedAttribute:
    """An attribute with its values."""

    #: Its name.
    name: str
    #: What its values are.
    kind: AttributeKind
    #: All of its values: both ends of a run of numbers (null: without end), or a list.
    values: Restriction
    #: Whether somebody may lack it.
    missing: bool = False
    #: Whether the spec says that it is protected.
    protected: bool = False

    def parts(self, within: Restriction | None) -> tuple[tuple[Fraction, Fraction], ...]:
        """Where some of its values lie among all of them, on a line from 0 to 1; None: all.

        Of numbers without end, which have no such line, the whole of it.
        """
        if within is None:
            return ((Fraction(0), Fraction(1)),)
        if isinstance(self.values, tuple):
            listed = within if isinstance(within, tuple) else ()
            one = Fraction(1, len(self.values))
            return tuple((place * one, (place + 1) * one) for place, value in enumerate(self.values) if value in listed)
        low, high = self.values.low, self.values.high
        if low is None or high is None or not isinstance(within, Interval):
            return ((Fraction(0), Fraction(1)),)
        step = int(self.kind is AttributeKind.INTEGER)
        whole = high - low + step
        ends = (low if within.low is None else within.low, high if within.high is None else within.high)
        first, last = (ends[0] - low) / whole, (ends[1] - low + step) / whole
        return ((max(first, Fraction(0)), min(last, Fraction(1))),)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedDomain:
    """A domain: who is possible."""

    #: Its name.
    name: str
    #: Its attributes, in their order.
    attributes: tuple[ListedAttribute, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedPopulation:
    """A population as it was in force: a network of columns, or rows."""

    #: Its name.
    name: str
    #: The domain whose individuals it has.
    domain: str
    #: Where the distribution comes from, in words; null of rows.
    how: str | None = None
    #: How many rows it was made from; null of none.
    rows: int | None = None
    #: Its columns: the attributes and, behind them, the label.
    columns: tuple[str, ...]
    #: The label's column; null where there is none.
    label: str | None = None
    #: Where its edges come from.
    edges_from: EdgesFrom
    #: Which column's distribution is given by which: parent and child.
    edges: tuple[tuple[str, str], ...] = ()
