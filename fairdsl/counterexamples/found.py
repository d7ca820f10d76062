"""What a search came to, as data: for tables, for the terminal, for the API. It is the document ``fairdsl.found/2``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from fairdsl.backends.search import Ending
from fairdsl.codec import Document, Lower, Upper
from fairdsl.counterexamples.near import NearSummary
from fairdsl.counterexamples.table import Column
from fairdsl.diagnostics import Diagnostic
from fairdsl.report.ran import Ran
from fairdsl.report.shown import Worded
from fairdsl.verdict import Individual, Restriction


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """Two individuals whom the model decides differently."""

    #: One of them.
    a: Individual
    #: The other one.
    b: Individual
    #: What the model decides in exact arithmetic about each; None where that is open.
    decisions: tuple[str | None, str | None]
    #: How severe it is: the mutual information of group and decision; None: not known.
    bits: float | None = None
    #: How far their scores are apart; None: not known.
    score_gap: float | None = None
    #: How far it is from the nearest row of given data; None: none was given.
    distance: float | None = None
    #: That row, counted from 1.
    nearest_row: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Representative:
    """A pair, and the part of the domain that it represents."""

    ALSO_WRITTEN: ClassVar[tuple[str, ...]] = ("all_violate",)

    #: The pair.
    pair: Example
    #: The values of the attributes that its part restricts; without any it is the whole domain.
    box: Mapping[str, Restriction]
    #: How many of the pairs that were found lie in it.
    found: int
    #: How many people it holds, all differing attributes' values included; None: reals vary.
    individuals: int | None
    #: Whether a ``where`` or target may leave fewer of them.
    bounded: bool
    #: The share of its units that violate is at least this; None: nobody was there to look at, or the time ended.
    low: Lower | None
    #: And at most this.
    high: Upper | None
    #: Units that were looked at.
    units: int
    #: ``counted`` (all units were tried), ``leaf boxes`` (counted by the leaves of trees, exactly) or ``sample``.
    how: str
    #: With which probability a sample's interval contains the share; None of what is proved.
    confidence: float | None

    @property
    def all_violate(self) -> bool:
        """Whether it is proved that every unit of the box violates."""
        return self.confidence is None and self.low == 1


#: Letters of a line where there is no terminal.
_WIDTH = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Found(Worded, Document):
    """What a search came to."""

    SCHEMA: ClassVar[str] = "fairdsl.found/2"

    #: The path of the spec.
    spec: str
    #: The property that was searched.
    property: str
    #: The line that the pairs violate.
    demand: str
    #: Whose violations they are.
    model: str
    #: How it was searched.
    strategy: str
    #: Of every random choice.
    seed: int
    #: How many pairs were found, each unit once (docs/search.md).
    count: int
    #: How many each strategy found.
    by_strategy: Mapping[str, int]
    #: Units that violate in one arithmetic only, and are not counted.
    numeric_gaps: int
    #: One of them.
    gap: Example | None
    #: Some of what was found: the first where they are ranked, else pairs far from each other.
    pairs: tuple[Example, ...]
    #: The attributes in which the two individuals of a pair may differ.
    varying: tuple[str, ...]
    #: What the pairs are ordered by; None: as they were found.
    rank: str | None
    #: The mean distance of two counterexamples, from 0 to 1; None: fewer than two, or nothing that has a distance.
    spread: float | None
    #: Why it ended.
    ending: Ending
    #: Units that were tried.
    tried: int
    #: Individuals that were evaluated.
    evaluated: int
    #: Individuals in replays on whom the deployed file was run.
    ran: int
    #: Individuals in replays of whom a bound of the file's arithmetic says what it decides.
    bounded: int
    #: Units of the uniform sample that a saturated search ended with.
    sample: int
    #: Counterexamples whose neighbours were not tried.
    waiting: int
    #: The rows that the search stayed near to.
    near: NearSummary | None
    #: Pairs that represent the others.
    representatives: tuple[Representative, ...]
    #: Its limits, and what it spent.
    run: Ran
    #: How long it took.
    seconds: float
    #: The file with all pairs.
    output: Path | None
    #: Findings about the spec and its files.
    diagnostics: tuple[Diagnostic, ...]
    #: All pairs as the file has them; not part of the document.
    columns: tuple[Column, ...] = field(default=(), compare=False, repr=False)

    def rows(self) -> list[dict[str, Any]]:
        """The pairs as the file has them, one mapping from column to value each; none of what was read back."""
        names = [column.name for column in self.columns]
        return [dict(zip(names, row, strict=True)) for row in zip(*(c.cells for c in self.columns), strict=True)]

    def to_frame(self, *, library: str = "pandas") -> Any:
        """The same as a DataFrame of ``pandas`` or ``polars``; raises ImportError where that is not installed."""
        from fairdsl.report.frames import to_frame

        return to_frame({column.name: list(column.cells) for column in self.columns}, library)

    def lines(self) -> Iterator[str]:
        """What ``fairdsl search`` prints."""
        from fairdsl.counterexamples.words import words

        return words(self, _WIDTH)
