"""A report as a sheet: what is said, in which order, as rows and tables. Every format of a report is a rendering of it.

    report --layout--> sheet --text | page | markdown | sarif | junit | github--> text

Nothing here knows how a format looks, and no format looks at verdicts: what a reader is told is decided once.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from fairdsl.diagnostics import Diagnostic
from fairdsl.ir.binding import Binding
from fairdsl.ir.enclosure import Enclosure
from fairdsl.report.exit_code import EXIT
from fairdsl.report.model import ExitCode
from fairdsl.report.people import ListedAttribute, ListedDomain, ListedPopulation
from fairdsl.report.standing import Standing
from fairdsl.report.tables import Table
from fairdsl.source import Span
from fairdsl.verdict import Judgement, Region


@dataclass(frozen=True, slots=True)
class Note:
    """Sentences under a heading."""

    heading: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Findings:
    """Diagnostics, whole."""

    diagnostics: tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True)
class Share:
    """A part of a whole: ``certified 96%  (48 of 50)``."""

    name: str
    amount: str
    part: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareBars:
    """How the units in question divide."""

    shares: tuple[Share, ...]
    #: What is counted, and what one unit is.
    measured: str
    #: What is certified of the deployed file too.
    float32: Share | None = None
    #: What a random sample says: its interval for the fair share.
    estimate: Enclosure | None = None
    #: The fair share that is required.
    required: Fraction | None = None


@dataclass(frozen=True, slots=True)
class Regions:
    """Where it fails: of each region how much of the whole it is, what fails and what is open in it, and where."""

    rows: tuple[tuple[Region, str, str, str, str], ...]
    #: The attributes that a region restricts, with all their values; empty where those are not known.
    axes: tuple[ListedAttribute, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Influence:
    """By how much a number would change if something influenced nothing."""

    #: What has the influence, and the number that it has it on.
    of: str
    on: str
    #: How much, in words and between which bounds.
    amount: str
    ends: Enclosure


@dataclass(frozen=True, slots=True)
class Influences:
    """Influences beside each other, which their demands have one by one."""

    rows: tuple[Influence, ...]


@dataclass(frozen=True, slots=True)
class PairRow:
    """Something about two individuals, or about one; ``marked`` where an attribute of theirs differs."""

    name: str
    a: str
    b: str = ""
    marked: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two individuals side by side, or one: where they differ, what is decided, and what they have in common."""

    heading: str
    #: What the spec calls them.
    names: tuple[str, ...] = ("a", "b")
    #: Whether they break a formula, which need not say that they are decided alike.
    formula: bool = False
    rows: tuple[PairRow, ...]
    both: tuple[str, ...]
    #: The demands that it was found for, where there are several.
    found_for: tuple[str, ...] = ()


Block = Note | Findings | Table | ShareBars | Regions | Influences | Pair


@dataclass(frozen=True, slots=True, kw_only=True)
class DemandSheet:
    """What one line of a property came to."""

    #: The line as the spec writes it.
    text: str
    metric: str
    #: The metric in prose, and what it is.
    words: str
    meaning: str | None
    judgement: Judgement
    #: The number beside what was required, with those that are refused for the same reason.
    outcome: str
    #: Whose claim it is and what it took.
    claim: str
    #: The verdict in one sentence, and what it rests on in another.
    plain: str
    resting: str
    #: Second opinions that contradict the verdict.
    against: tuple[str, ...]
    #: How long it took.
    seconds: float
    standings: tuple[Standing, ...]
    #: Why, and from what: in the order in which it is read.
    blocks: tuple[Block, ...]
    span: Span | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PropertySheet:
    """A property: what it says, what is in force, what came of each line, and what they have in common."""

    name: str
    judgement: Judgement
    sentence: str
    #: What the spec says of it beside its sentence, under a heading each; none is empty.
    stated: tuple[Note, ...]
    demands: tuple[DemandSheet, ...]
    #: Shares and pairs, of all demands.
    blocks: tuple[Block, ...]
    #: Whether it says one thing only, whose number represents it.
    single: bool
    span: Span | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSheet:
    """A file that verdicts are about."""

    #: What it is: ``spec``, ``model``, ``data``.
    kind: str
    name: str
    place: str
    sha256: str | None
    #: How far its reading was held against it.
    confirmed: str | None = None
    #: How it is connected with the spec, in short.
    connected: tuple[tuple[str, str], ...] = ()
    binding: Binding | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """A whole report."""

    title: str | None
    #: Whose word all of it is, where answers were taken from files.
    taken: tuple[str, ...]
    files: tuple[FileSheet, ...]
    #: The parameters of the spec with their numbers; empty without any.
    numbers: str
    seed: int
    properties: tuple[PropertySheet, ...]
    #: Whom they are about.
    domains: tuple[ListedDomain, ...]
    populations: tuple[ListedPopulation, ...]
    findings: tuple[Diagnostic, ...]
    #: How many properties came to what.
    counts: tuple[tuple[int, Judgement], ...]
    exit_code: ExitCode
    #: What makes it again, and with what it was made: headings and texts.
    made: tuple[tuple[str, str], ...]
    #: What came of the effort that was given; None where none was.
    effort: str | None = None
    #: How to find such pairs among the people of a table; None where there is no such table, or no pair.
    onward: str | None = None

    @property
    def total(self) -> str:
        """``4 properties``."""
        count = sum(number for number, _ in self.counts)
        return f"{count} propert{'y' if count == 1 else 'ies'}"

    @property
    def in_short(self) -> str:
        """``4 properties: 2 violated, 2 measured``."""
        said = ", ".join(f"{count} {judgement.value}" for count, judgement in self.counts)
        return self.total + (f": {said}" if said else "")

    @property
    def meaning(self) -> str:
        """The exit code and what it means."""
        return f"exit code {self.exit_code.value}: {EXIT[self.exit_code]}"
