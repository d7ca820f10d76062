"""What a model learns from: the rows of the table, and rows that recipes added, each with its origin."""

from __future__ import annotations

from dataclasses import dataclass

from fairdsl.repairing.subject import Rows


@dataclass(frozen=True, slots=True, eq=False)
class Addition:
    """Rows that the recipe added in a round, counted from 1."""

    recipe: str
    round: int
    rows: Rows


@dataclass(frozen=True, slots=True, eq=False)
class Training:
    """The table's own rows, and what was added to them."""

    original: Rows
    additions: tuple[Addition, ...] = ()

    @property
    def rows(self) -> Rows:
        """All of them."""
        rows = self.original
        for addition in self.additions:
            rows = rows.and_also(addition.rows)
        return rows

    @property
    def added(self) -> int:
        """How many rows were added."""
        return sum(len(addition.rows) for addition in self.additions)

    def extended(self, addition: Addition) -> Training:
        """With more rows."""
        return Training(self.original, (*self.additions, addition))
