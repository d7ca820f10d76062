"""What became of a solver file: the document ``fairdsl.solved/2``, which `recover` reads as an answer to the file.

What a solver finds is a word, bounds of a value, shares, or the verdict on a demand that the file states.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated, ClassVar

from fairdsl.codec import INLINE, Document
from fairdsl.ir.enclosure import Enclosed, Enclosure
from fairdsl.ir.preset import FromPreset
from fairdsl.ir.question import Quantity, Threshold
from fairdsl.verdict import Claim, Holds, Reason, Refused, Shares, Unknown, Vacuous, Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A demand in the spec's words, for files whose answers become a report without the spec.

    Of a file written by hand the ``spec`` is the file itself, and has no ``spec_sha256`` and no ``model``: both are
    empty.
    """

    #: The spec's path.
    spec: str
    #: The digest of its bytes.
    spec_sha256: str
    #: The title that the spec gives itself.
    title: str | None
    #: The model's name.
    model: str
    #: The model's file; None for a model written in the spec.
    model_path: str | None
    #: The digest of its bytes.
    model_sha256: str | None
    #: The property that the demand is of.
    property: str
    #: What the property asks, in a sentence.
    sentence: str
    #: What is in force.
    clauses: tuple[str, ...]
    #: The same as a formula.
    formula: str
    #: The line as it is written.
    demand: str
    #: What it is about.
    metric: str
    #: What the metric has to meet; None for a measure.
    threshold: Threshold | None
    #: Whether it is a requirement.
    required: bool
    #: The preset that the property comes from; None of what the spec writes out.
    preset: FromPreset | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedData:
    """The rows of a file that a demand is taken under."""

    #: The distribution's name.
    name: str
    #: The file.
    path: str
    #: The digest of its bytes.
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredDemand:
    """A demand that a file states itself, and its verdict: all that a report on it needs."""

    #: The demand.
    asked: Asked
    #: What it asks for.
    quantity: Quantity
    #: What it came to.
    verdict: Holds | Vacuous | Shares | Value | Refused | Unknown
    #: Seconds that it took.
    seconds: float
    #: The rows that it is about; None where it is about none.
    data: AskedData | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """What a solver said about a script or a query."""

    #: ``sat``, ``unsat``, ``unknown`` or ``crashed``.
    status: str
    #: Why, where it decides nothing.
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Choosing:
    """The truth of an outermost existential variable that attains the value."""

    #: The variable's number.
    variable: int
    #: Its truth.
    true: bool
    #: What the file calls it.
    name: str | None = None

    def __str__(self) -> str:
        """``not age <= 30``."""
        return f"{'' if self.true else 'not '}{self.name or f'variable {self.variable}'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """How much work the embedded solver did."""

    #: Variables that it tried both truths of.
    decisions: int
    #: Literals that followed from others.
    propagations: int
    #: Parts that it looked at.
    components: int
    #: Those of them that were known before.
    cache_hits: int
    #: Parts that are known at the end.
    cache_entries: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds(Enclosed):
    """Bounds of an instance's value, equal where it is known exactly."""

    #: The instance's variables.
    variables: int
    #: Its clauses.
    clauses: int
    #: The value.
    number: Annotated[Enclosure, INLINE]
    #: Why the value is not known better; None where it is known.
    reason: Reason | None = None
    #: Choices that attain the value, where the solver names them.
    choice: tuple[Choosing, ...] | None = None
    #: What the solver has to say about the bounds.
    detail: str = ""
    #: What the embedded solver did; None of another one.
    work: Work | None = None
    #: How the file was understood where it leaves something open.
    notes: tuple[str, ...] = ()


class Ending(Enum):
    """Why a refinement stopped."""

    FINISHED = "finished"  # nothing is left that refinement could decide
    DEADLINE = "deadline"
    NODES = "nodes"
    INTERRUPTED = "interrupted"  # by the user; what was certified so far stands
    STOPPED = "stopped"  # the processes, or the cluster, went away


@dataclass(frozen=True, slots=True, kw_only=True)
class Refined:
    """What became of a job, or of a shard: then everything outside the shard counts as undecided."""

    #: The digest of the job.
    job: str
    #: The property that it is of.
    property: str
    #: The demand, as it is written.
    demand: str
    #: Which of how many shards it is, from 1.
    shard: int
    #: How many there are.
    shards: int
    #: Why the run ended.
    ending: Ending
    #: Boxes that were evaluated, in earlier runs too.
    nodes: int
    #: The shares, also where the demand asks whether everybody is treated alike; or what is known of a number.
    standing: Shares | Vacuous | Value | Unknown
    #: What they come to for the demand.
    verdict: Holds | Vacuous | Unknown | Shares | Value
    #: What is believed of an earlier result; the shares are lowered by what may be wrong of it.
    taken: tuple[Claim, ...] = ()


class Ended(Enum):
    """How solving ended: with an answer, with one that leaves something open, or because somebody interrupted it."""

    ANSWERED = "answered"
    OPEN = "open"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Solved(Document):
    """What became of a solver file."""

    SCHEMA: ClassVar[str] = "fairdsl.solved/2"

    #: The file's format, as ``--to`` takes it.
    format: str
    #: The solver file.
    file: Path
    #: Who answered it.
    solver: str
    #: Seconds that it took.
    seconds: float
    #: What came out.
    found: Status | Bounds | Refined | AnsweredDemand
    #: The file with the answer; None where none was written.
    answer: Path | None = None
    #: The digest of the solver file, where nothing else says which file is answered.
    sha256: str | None = None

    @property
    def ended(self) -> Ended:
        """Whether something is open: of values and demands what is not known, and whatever was interrupted."""
        match self.found:
            case Refined(ending=Ending.INTERRUPTED):
                return Ended.INTERRUPTED
            case Bounds(reason=Reason()):
                return Ended.OPEN
            case _:
                return Ended.ANSWERED
