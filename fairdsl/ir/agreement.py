"""What came of holding a model against recorded decisions: data, in the spec's words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from fairdsl.codec import Document
from fairdsl.diagnostics import Diagnostic

#: Attributes of a listed row.
_ATTRIBUTES = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """A row on which the model does not do what was recorded."""

    #: Which, counted from 1 below the header.
    row: int
    #: Its individual in the spec's words.
    individual: Mapping[str, str]
    #: The decision, or the number, that was recorded.
    recorded: str
    #: The model's own.
    computed: str
    #: Whether the model's score ties, so that rounding explains it.
    tie: bool

    def in_words(self) -> str:
        """The row in one line."""
        shown = [f"{name} = {value}" for name, value in list(self.individual.items())[:_ATTRIBUTES]]
        left_out = ", ..." if len(self.individual) > _ATTRIBUTES else ""
        tie = " (a tie)" if self.tie else ""
        return f"row {self.row}: recorded {self.recorded}, computed {self.computed}{tie}: {', '.join(shown)}{left_out}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement(Document):
    """What came of holding a model against a column of recorded decisions."""

    SCHEMA: ClassVar[str] = "fairdsl.agreement/1"

    #: The model's name in the spec.
    model: str
    #: The table.
    path: str
    #: Its digest.
    sha256: str
    #: The column with the decisions.
    column: str
    #: What the cells were taken for.
    reading: str
    #: How many rows there are.
    rows: int
    #: Rows on which the deployed file (or, without one, exact arithmetic) agrees.
    agreeing: int
    #: Of the others, those whose score ties or on which exact arithmetic and the file differ.
    ties: int
    #: Rows on which exact arithmetic agrees; None where there is none, or numbers are compared.
    agreeing_exactly: int | None
    #: The share of the rows that have to agree.
    asked: Fraction
    #: The first rows that do not agree.
    disagreements: tuple[Disagreement, ...]
    #: Another binding that agrees clearly better, in words.
    better: str | None = None
    #: What is to be said of it: an error (E0554) where too few rows agree, a warning where another binding does better.
    findings: tuple[Diagnostic, ...] = ()

    def __post_init__(self) -> None:
        if min(self.agreeing, self.ties) < 0 or not max(1, self.agreeing + self.ties) <= self.rows:
            raise ValueError("rows that agree, and ties, are parts of the rows that there are")

    @property
    def kept(self) -> bool:
        """Whether as many rows agree as were asked for, with what ties explain."""
        return Fraction(self.agreeing + self.ties, self.rows) >= self.asked

    def in_words(self) -> str:
        """``298 of 300 rows of `decision` in recorded.csv (99.33%); 2 more tie``."""
        percent = f"{100 * self.agreeing / self.rows:.2f}".rstrip("0").rstrip(".")
        if self.agreeing < self.rows and percent == "100":
            percent = "below 100"
        ties = f"; {self.ties:,} more tie" if self.ties else ""
        return f"{self.agreeing:,} of {self.rows:,} rows of `{self.column}` in {self.path} ({percent}%){ties}"
