"""Distributions of people."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike, fspath

from fairdsl.builder.words import Texts, clauses, listed, name, quoted


@dataclass(frozen=True)
class Rows:
    """The rows of a table, each alike: of the domain, and of the label where metrics ask what was right."""

    name: str
    over: Texts
    path: str | PathLike[str]

    def lines(self) -> Iterator[str]:
        """As the language writes it."""
        yield f"distribution {name(self.name, 'a distribution')} over {listed(self.over, 'what it is over')}"
        yield f"  empirical from {quoted(fspath(self.path), 'the path of the data')}"


@dataclass(frozen=True)
class Distribution:
    """Any other distribution, by its clauses: ``Distribution("everybody", "Person", "uniform")``."""

    name: str
    over: Texts
    clauses: Texts

    def lines(self) -> Iterator[str]:
        """As the language writes it."""
        yield f"distribution {name(self.name, 'a distribution')} over {listed(self.over, 'what it is over')}"
        yield from clauses("", self.clauses, "a clause")
