"""A report as data: what was asked, what came out and what it rests on. No engines, no terminal.

The shape follows the JSON schema ``fairdsl.report/1`` (``report.schema.json``) one to one; ``build`` makes
it from verdicts, ``json`` and ``text`` write it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction

from fairdsl.clock import is_out_of_time
from fairdsl.diagnostics import Diagnostic, Severity
from fairdsl.ir.agreement import Agreement
from fairdsl.ir.binding import Binding
from fairdsl.ir.question import Threshold
from fairdsl.ir.reading import Reading
from fairdsl.report.stopped import Stopped
from fairdsl.verdict import Arithmetic, Basis, Coverage, Decider, Ended, Fidelity, Judgement, Reason, Word, combine

__all__ = [
    "Cell",
    "DemandReport",
    "EstimateReport",
    "ExitCode",
    "GroupReport",
    "GroupsReport",
    "HashedFile",
    "Interval",
    "PartReport",
    "PropertyReport",
    "RegionReport",
    "Report",
    "RowReport",
    "ShareReport",
    "WitnessReport",
]

#: A value of an attribute in the spec's words: a category's name, a truth value, an integer or a real.
Cell = str | bool | int | Fraction


class ExitCode(Enum):
    """What ``fairdsl check`` tells the shell."""

    HOLDS = 0
    VIOLATED = 1
    REFUSED = 2  # or the spec has errors, or the command line is not understood
    UNKNOWN = 3
    OUR_BUG = 70
    INTERRUPTED = 130
    TERMINATED = 143


@dataclass(frozen=True, slots=True)
class Interval:
    """A number known to lie in [low, high]; None where nothing is known on that side."""

    low: Fraction | None
    high: Fraction | None

    @property
    def exact(self) -> Fraction | None:
        """The number itself where the ends meet."""
        return self.low if self.low == self.high else None


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimateReport:
    """What a random sample of units says about the demand's number: an estimate, never a proof.

    With probability ``confidence`` such an interval [low, high] contains the number. Where an estimate was asked
    for, ``within`` is the distance that was asked for, and ``unit`` and ``measure`` are those of shares.
    """

    value: Fraction
    low: Fraction
    high: Fraction
    confidence: Fraction
    sampled: int
    within: Fraction | None = None
    measure: str | None = None
    unit: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RegionReport:
    """A sub-domain in which units are unfair or undecided; all amounts are fractions of the whole.

    ``restricted``: an interval or a list of values for every attribute that the region restricts.
    """

    restricted: Mapping[str, Interval | tuple[Cell, ...]]
    share: Fraction
    falsified: Fraction
    undecided: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class RowReport:
    """A row of a table that exact arithmetic and the deployed file judge differently: the ``row``-th, from 1.

    ``exact`` and ``deployed`` are outcomes, or `fair` and `unfair` where units are judged; None where exact arithmetic
    leaves it open, or the file by itself decides it now so, now so.
    """

    row: int
    values: Mapping[str, Cell]
    exact: str | None
    deployed: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareReport:
    """Shares of the target's measure: ``certified <= fair share <= 1 - falsified``.

    ``vacuous`` is part of ``certified``: units with no pair to compare. ``total`` is the number of
    units where they were counted. ``float32_certified`` is certified for the deployed float32 file as well;
    None where nothing is known of it. ``regions`` say where it fails, the heaviest first.
    """

    certified: Fraction
    falsified: Fraction
    undecided: Fraction
    vacuous: Fraction
    measure: str
    unit: str
    total: int | None = None
    float32_certified: Fraction | None = None
    regions: tuple[RegionReport, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupReport:
    """One group's rate under the law, and what the rows say of it.

    ``group`` and ``given`` are values by name, a range as ``25 .. 44``. ``mass`` is the probability of what the
    rate is of (with a label: of the group and the label's value), ``rows`` how many rows of data it rests on (None: on
    none), ``empirical`` the frequency in them; ``sampling`` covers sampling error as well. ``most`` and ``least``: it
    may be the most, or the least, favoured of those that it is compared with. ``by_decider`` is the rate by everybody
    who decides the rows of a table.
    """

    group: Mapping[str, Cell]
    given: Mapping[str, Cell]
    rate: Interval
    mass: Interval
    rows: int | None = None
    empirical: Interval | None = None
    sampling: Interval | None = None
    most: bool = False
    least: bool = False
    by_decider: Mapping[Decider, Interval | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class PartReport:
    """The number for one value of the attributes of ``given``; None where it is none."""

    at: Mapping[str, Cell]
    value: Interval | None
    sampling: Interval | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupsReport:
    """What a metric of groups was computed from, and the interval that covers sampling error with ``confidence``.

    ``excluded`` are groups that are listed instead of counted.
    """

    groups: tuple[GroupReport, ...]
    excluded: tuple[Mapping[str, Cell], ...] = ()
    parts: tuple[PartReport, ...] = ()
    sampling: Interval | None = None
    confidence: Fraction | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WitnessReport:
    """Two individuals in the spec's words and what the original model does with them.

    ``replayed``: the pair breaks the demand in exact arithmetic and, where a file is deployed, in
    float32 too. ``float32_decisions`` is what the deployed file decides, None where none is deployed.
    Scores are within ``score_error`` of the exact ones. ``asked``: the model is a black box, and the two are what it
    answers about each of them alone.
    """

    a: Mapping[str, Cell]
    b: Mapping[str, Cell]
    decision_a: str
    decision_b: str
    scores_a: tuple[Fraction, ...]
    scores_b: tuple[Fraction, ...]
    replayed: bool
    float32_decisions: tuple[str, str] | None = None
    score_error: Fraction = Fraction(0)
    asked: bool = False

    @property
    def differing(self) -> tuple[str, ...]:
        """The attributes in which the two are not the same."""
        return tuple(name for name, value in self.a.items() if value != self.b[name])


@dataclass(frozen=True, slots=True, kw_only=True)
class DemandReport:
    """One ``require`` or ``measure`` line: its text as written and what became of it.

    A refused demand has neither backend, method, fidelity nor ``basis``: nothing was run.
    ``witnesses`` break the demand; ``disagreements`` are pairs on which exact arithmetic and the
    deployed float32 file differ, which prove nothing. ``coverage`` is there where the question was asked
    partition by partition, ``groups`` where it is about groups. Of rows of a table, ``by_decider`` is the number by
    everybody who decides them (None: there is no such number), and ``differing`` are the rows on which they differ.
    """

    text: str
    metric: str
    judgement: Judgement
    value: Interval | None = None
    threshold: Threshold | None = None
    basis: Basis | None = None
    fidelity: Fidelity | None = None
    backend: str | None = None
    method: str | None = None
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    reason: Reason | None = None
    detail: str | None = None
    shares: ShareReport | None = None
    estimate: EstimateReport | None = None
    coverage: Coverage | None = None
    groups: GroupsReport | None = None
    witnesses: tuple[WitnessReport, ...] = ()
    disagreements: tuple[WitnessReport, ...] = ()
    by_decider: Mapping[Decider, Interval | None] = field(default_factory=dict)
    differing: tuple[RowReport, ...] = ()
    refusals: tuple[Diagnostic, ...] = ()

    @property
    def arithmetic(self) -> Arithmetic | None:
        """Which arithmetic the answer is about."""
        return None if self.basis is None else self.basis.arithmetic

    @property
    def external(self) -> bool:
        """Whether the answers are those of solvers that others ran."""
        return self.basis is not None and self.basis.word is Word.FILES

    @property
    def interrupted(self) -> bool:
        """Whether the user ended it before it was done."""
        return self.reason is Reason.INTERRUPTED or (
            self.coverage is not None and self.coverage.ended is Ended.INTERRUPTED
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PropertyReport:
    """A property: its sentence, every clause in force (also what is held equal) and its demands."""

    name: str
    sentence: str
    clauses: tuple[str, ...]
    demands: tuple[DemandReport, ...]

    @property
    def judgement(self) -> Judgement:
        """What the demands come to together."""
        return combine(demand.judgement for demand in self.demands)

    @property
    def shares(self) -> ShareReport | None:
        """The shares with the least left undecided, where a demand asked for shares."""
        found = [demand.shares for demand in self.demands if demand.shares is not None]
        return min(found, key=lambda shares: shares.undecided, default=None)

    @property
    def witnesses(self) -> tuple[WitnessReport, ...]:
        """The pairs that break a demand, each once."""
        return _distinct(witness for demand in self.demands for witness in demand.witnesses)

    @property
    def disagreements(self) -> tuple[WitnessReport, ...]:
        """The pairs on which the arithmetics disagree, each once."""
        return _distinct(pair for demand in self.demands for pair in demand.disagreements)

    def found_for(self, pair: WitnessReport) -> tuple[int, ...]:
        """Which demands a witness or disagreement belongs to, counted from 0."""
        return tuple(
            number
            for number, demand in enumerate(self.demands)
            if pair in demand.witnesses or pair in demand.disagreements
        )


def _distinct(pairs: Iterable[WitnessReport]) -> tuple[WitnessReport, ...]:
    """Witnesses without repetitions, in order (their mappings have no hash)."""
    distinct: list[WitnessReport] = []
    for pair in pairs:
        if pair not in distinct:
            distinct.append(pair)
    return tuple(distinct)


@dataclass(frozen=True, slots=True, kw_only=True)
class HashedFile:
    """A file that the verdicts are about. ``sha256`` is None for a model written in the spec itself.

    ``function``: the model is a Python function, and there is no file. ``binding`` is how a model's file is connected
    with the spec, ``agreement`` what came of holding the model against recorded decisions, ``reading``
    how far what was read of it was held against the file.
    """

    name: str
    path: str | None
    sha256: str | None
    function: bool = False
    binding: Binding | None = None
    agreement: Agreement | None = None
    reading: Reading | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Everything that one run of ``check`` found out. ``sha256`` is None where the spec was not read.

    ``ended``: somebody ended the run, so the demands that were open then are unknown.
    """

    version: str
    path: str
    sha256: str | None
    title: str | None = None
    models: tuple[HashedFile, ...] = ()
    data: tuple[HashedFile, ...] = ()
    seed: int = 0
    properties: tuple[PropertyReport, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    ended: Stopped | None = None

    @property
    def exit_code(self) -> ExitCode:
        """Errors in the spec first; an interrupt; then violated, refused, unknown, and otherwise success."""
        judgements = {item.judgement for item in self.properties}
        if any(finding.severity is Severity.ERROR for finding in self.diagnostics):
            return ExitCode.UNKNOWN if is_out_of_time(self.diagnostics) else ExitCode.REFUSED
        if self.ended is Stopped.TERMINATED:
            return ExitCode.TERMINATED
        if self.ended is not None or any(demand.interrupted for item in self.properties for demand in item.demands):
            return ExitCode.INTERRUPTED
        if Judgement.VIOLATED in judgements:
            return ExitCode.VIOLATED
        if Judgement.REFUSED in judgements:
            return ExitCode.REFUSED
        return ExitCode.UNKNOWN if Judgement.UNKNOWN in judgements else ExitCode.HOLDS
