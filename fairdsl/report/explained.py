"""What a spec means, who would answer it, and what backends answer, as documents."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from typing import ClassVar

from fairdsl.codec import Document, Lower, Upper
from fairdsl.diagnostics import Diagnostic
from fairdsl.ir.binding import Binding
from fairdsl.ir.parameter import InForce
from fairdsl.ir.rows_needed import NoRows, RowsNeeded
from fairdsl.report.headings import IN_FORCE, below
from fairdsl.report.listed import Listed
from fairdsl.verdict import Judgement


@dataclass(frozen=True, slots=True, kw_only=True)
class DemandRows:
    """The rows that a demand needs for an error."""

    #: The line as the spec writes it.
    demand: str
    #: The rows, or why no number can be named.
    need: RowsNeeded | NoRows


class NoSizes(Enum):
    """Why nothing is said of other sample sizes."""

    NO_RATES = "not one metric of groups: nothing is said of its interval"
    WRITTEN = "under a distribution written by hand, or read from a file: it rests on no rows"
    TABLES = "the rows show no frequency of it, so that their number alone does not say how wide its interval is"
    MEAN = "of means of scores rows have no interval here"
    REFUSED = "there is no such number of these rows; `fairdsl check` says why"


@dataclass(frozen=True, slots=True, kw_only=True)
class AtSize:
    """What a metric would be with so many rows, at the rates of those at hand."""

    #: The rows of all groups together.
    rows: int
    #: The lower end of its interval; None where no interval is known.
    low: Lower | None = None
    #: The upper end.
    high: Upper | None = None
    #: What the requirement would come to; None of a measure.
    verdict: Judgement | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleSizes:
    """The intervals of a metric over the number of rows."""

    #: The probability, at least, that each of the intervals contains the number of those whom the rows are drawn from.
    confidence: Fraction
    #: The number of the rows at hand, from; None where there is none.
    low: Lower | None
    #: and up to.
    high: Upper | None
    #: From an eighth of the rows to four times as many; times 1 are those at hand.
    sizes: tuple[AtSize, ...]
    #: The distribution that was estimated from the rows; the numbers are those of the rows.
    law: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DemandSizes:
    """What a demand would come to with more or fewer rows."""

    #: The line as the spec writes it.
    demand: str
    #: The intervals, or why there are none.
    found: SampleSizes | NoSizes


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedProperty:
    """A property in words."""

    #: Its name.
    name: str
    #: What it says: an English sentence a line, one for each demand.
    sentence: str = field(metadata=below(""))
    #: The same as formulas.
    formula: str = field(metadata=below("formula"))
    #: Every clause in force, also the implicit ones.
    clauses: tuple[str, ...] = field(metadata=below(IN_FORCE))
    #: The rows that its demands need, where it was asked.
    rows: tuple[DemandRows, ...] = field(default=(), metadata=below("rows"))
    #: What they would come to with more or fewer rows, where it was asked.
    sizes: tuple[DemandSizes, ...] = field(default=(), metadata=below("sizes"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedPopulation:
    """A population in force, as it was made from its distributions or its data."""

    #: Its name.
    name: str
    #: One line for each fact.
    lines: tuple[str, ...]
    #: The model whose thresholds divide its columns, where `bins by model` asks for that.
    model: str | None = None
    #: Writes its files, which are as long as its data.
    saving: Callable[[], tuple[tuple[str, str], ...]] = field(default=tuple, compare=False, repr=False)

    @property
    def files(self) -> tuple[tuple[str, str], ...]:
        """The files that say everything of it, by name: used in place of the data, they give the same distribution."""
        return self.saving()


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedModel:
    """How a model's file is connected with the spec."""

    #: The model's name.
    name: str
    #: Its file; None of a model that the spec writes itself.
    path: str | None = None
    #: What is fed into each input, and what each outcome represents.
    binding: Binding | None = None
    #: Why that is not known.
    problem: str | None = None
    #: The clause that holds it against recorded decisions, in words.
    recorded: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation(Document):
    """What a spec means."""

    SCHEMA: ClassVar[str] = "fairdsl.explanation/2"

    #: Its properties.
    properties: tuple[ExplainedProperty, ...]
    #: Its models that have a file.
    models: tuple[ExplainedModel, ...] = ()
    #: The populations in force, where they were asked for.
    populations: tuple[ExplainedPopulation, ...] = ()
    #: Its parameters, with their numbers.
    parameters: tuple[InForce, ...] = ()
    #: Findings about the spec and its files.
    diagnostics: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedDemand:
    """Who would answer a demand."""

    #: The property that it is of.
    property: str
    #: The line as the spec writes it.
    demand: str
    #: Backends with their methods, in the order in which they are asked.
    stages: tuple[str, ...]
    #: Why others are not asked, or why it is refused.
    reasons: tuple[str, ...]
    #: When it is answered among the spec's demands, from 1; None where it is refused.
    turn: int | None = None
    #: The kind of work that its turn goes by.
    cost: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plans(Document, Listed[PlannedDemand]):
    """The plans of a spec's demands; it is the sequence of them."""

    SCHEMA: ClassVar[str] = "fairdsl.plans/1"

    #: In the order of the spec.
    demands: tuple[PlannedDemand, ...]

    @property
    def listed(self) -> tuple[PlannedDemand, ...]:
        """What it lists."""
        return self.demands


@dataclass(frozen=True, slots=True, kw_only=True)
class Capability:
    """What a backend answers."""

    #: Its name.
    backend: str
    #: The kinds of questions.
    questions: tuple[str, ...]
    #: What may be asked of them.
    quantities: tuple[str, ...]
    #: The kinds of models.
    models: tuple[str, ...]
    #: The formats of solver files that it writes.
    formats: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities(Document, Listed[Capability]):
    """What each backend answers; it is the sequence of them."""

    SCHEMA: ClassVar[str] = "fairdsl.capabilities/1"

    #: In the order in which they are asked.
    backends: tuple[Capability, ...]

    @property
    def listed(self) -> tuple[Capability, ...]:
        """What it lists."""
        return self.backends
