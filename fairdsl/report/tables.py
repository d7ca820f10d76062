"""Tables as data: columns of entries, with the numbers behind them for whoever draws."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from fairdsl.ir.enclosure import Enclosure


@dataclass(frozen=True, slots=True)
class Entry:
    """A cell: what is written, and the share or interval of shares that may be drawn beside it."""

    text: str
    ends: Enclosure | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column under its heading."""

    name: str
    entries: tuple[Entry, ...]
    #: What its numbers are, where the heading alone does not say it.
    meaning: str = ""
    #: What is left out where there is no room, the greatest first; 0 stays.
    spared: int = 0
    #: Whether it has numbers, which stand to the right.
    number: bool = False
    #: Whether only a page has room for it.
    page: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows of entries."""

    heading: str
    columns: tuple[Column, ...]
    #: The places of the rows that are shown where not all can be.
    brief: tuple[int, ...]
    #: The rate on which a threshold lies that every rate has to keep; None where there is no such rate.
    required: Fraction | None = None

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.columns[0].entries) if self.columns else 0


def texts(entries: Iterable[str]) -> tuple[Entry, ...]:
    """Entries of words."""
    return tuple(Entry(text) for text in entries)
