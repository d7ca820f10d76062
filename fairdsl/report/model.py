"""A report as data: what was asked, the verdicts, and what they come to. No engines, no terminal.

It is the document ``fairdsl.report/2``: its fields are the keys (docs/reports.md describes them).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

from fairdsl.clock import is_out_of_time
from fairdsl.codec import Document
from fairdsl.diagnostics import DISK_FAILED, Diagnostic, Severity
from fairdsl.ir.metric import Comparison
from fairdsl.ir.parameter import InForce
from fairdsl.ir.preset import FromPreset
from fairdsl.ir.question import Quantity, Threshold
from fairdsl.prelude import comparison_of
from fairdsl.report.asked import Asked
from fairdsl.report.exit_code import ExitCode
from fairdsl.report.files import HashedFile, Recovered, SpecFile
from fairdsl.report.frames import Tabled
from fairdsl.report.headings import IN_FORCE, below
from fairdsl.report.judging import Judged, estimated_with, judged_demand
from fairdsl.report.opinion import Opinion, Stand
from fairdsl.report.people import ListedDomain, ListedPopulation
from fairdsl.report.proof import Believed, ProofFile
from fairdsl.report.ran import Ran
from fairdsl.report.shown import Shown
from fairdsl.report.stopped import Stopped
from fairdsl.source import Span
from fairdsl.verdict import (
    Arithmetic,
    Basis,
    Breach,
    Coverage,
    Decider,
    DifferingRow,
    Ended,
    Estimate,
    Estimated,
    Evidence,
    Fidelity,
    Interval,
    Judgement,
    Reason,
    Refused,
    Shares,
    Unknown,
    Value,
    Verdict,
    Violated,
    Witness,
    Word,
    combine,
    share_value,
)

__all__ = ["DemandReport", "ExitCode", "HashedFile", "PropertyReport", "Recovered", "Report", "SpecFile"]


#: Who ended a run, where it was not Ctrl-C.
_ENDED = {Stopped.TERMINATED: ExitCode.TERMINATED, Stopped.MEMORY: ExitCode.MEMORY}


@dataclass(frozen=True, slots=True, kw_only=True)
class DemandReport:
    """One ``require`` or ``measure`` line: its text as written, the verdict, and what that comes to."""

    ALSO_WRITTEN: ClassVar[tuple[str, ...]] = ("judgement", "value", "reason", "detail")

    #: The line as the spec writes it, ``require`` included.
    text: str
    #: What is asked for: ``same_decision``, ``fair_share``, ``impact_ratio``, ...
    metric: str
    #: Its expression over rates, where it is none of the metrics that the language names.
    definition: str | None = None
    #: Which number of the verdict it is about; of a discrimination rate the complement of the fair share.
    quantity: Quantity = Quantity.HOLDS
    #: What the backend answered, and what the answer rests on.
    verdict: Verdict
    #: What the number has to meet; None for a measure, and for demands that compare no number.
    threshold: Threshold | None = None
    #: What represents `median` in it: the median of the scores of the population's rows.
    median: Fraction | None = None
    #: How long it took.
    seconds: float = 0.0
    #: The proof that was written of it, and what the checker made of that; None where there is none.
    proof: ProofFile | None = None
    #: Whose word it rests on where no checked proof shows it; said where proofs were asked for.
    believed: Believed | None = None
    #: What solvers of others said to it, where they were asked.
    opinions: tuple[Opinion, ...] | None = None
    #: Where the spec writes it.
    span: Span | None = field(default=None, repr=False)
    _judged: Judged = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        judged = judged_demand(self.verdict, self.comparison, self.quantity, self.threshold)
        object.__setattr__(self, "_judged", judged)

    @property
    def comparison(self) -> Comparison | None:
        """How the metric compares rates; None where it is none of groups."""
        return comparison_of(self.metric, self.definition)

    @property
    def judgement(self) -> Judgement:
        """What it comes to."""
        return self._judged.judgement

    @property
    def value(self) -> Interval | None:
        """The number that was judged or measured; None where there is none."""
        return self._judged.value

    @property
    def reason(self) -> Reason | None:
        """Why it is unknown, or known between bounds only."""
        return self._judged.reason

    @property
    def detail(self) -> str | None:
        """More on the reason, in a sentence."""
        return self._judged.detail

    @property
    def evidence(self) -> Evidence | None:
        """Who answered, and what the answer rests on; None where nothing was run."""
        evidence = None if isinstance(self.verdict, Refused) else self.verdict.evidence
        return None if evidence is None or not evidence.backend else evidence

    @property
    def basis(self) -> Basis | None:
        """What the answer is about, and whose word it is."""
        return None if self.evidence is None else self.evidence.basis

    @property
    def arithmetic(self) -> Arithmetic | None:
        """Which arithmetic the answer is about."""
        return None if self.basis is None else self.basis.arithmetic

    @property
    def backend(self) -> str | None:
        """Who answered."""
        return None if self.evidence is None else self.evidence.backend

    @property
    def method(self) -> str | None:
        """How, in a sentence."""
        return None if self.evidence is None else self.evidence.method

    @property
    def fidelity(self) -> Fidelity | None:
        """What was approximated."""
        return None if self.evidence is None else self.evidence.fidelity

    @property
    def notes(self) -> tuple[str, ...]:
        """What else the backend says."""
        return () if self.evidence is None else self.evidence.notes

    @property
    def coverage(self) -> Coverage | None:
        """What became of partitions, where the question was asked partition by partition."""
        return None if self.evidence is None else self.evidence.coverage

    @property
    def shares(self) -> Shares | None:
        """The shares, where they were asked for."""
        return self.verdict if isinstance(self.verdict, Shares) else None

    @property
    def groups(self) -> Value | None:
        """The verdict with the rates of groups, where it is about groups."""
        verdict = self.verdict
        return verdict if isinstance(verdict, Value) and (verdict.rates or verdict.excluded) else None

    @property
    def estimate(self) -> Estimate | None:
        """What a random sample says about the demand's number: an estimate, never a proof."""
        found = self.verdict.estimate if isinstance(self.verdict, Shares | Estimated) else None
        return found if found is None or self.of_fair_share else found.complement

    @property
    def estimated_with(self) -> Fraction | None:
        """The confidence of the estimate that the number is; None where the number is proved."""
        return estimated_with(self.verdict)

    @property
    def witnesses(self) -> tuple[Witness, ...]:
        """The pairs that break the demand, or that a number is about."""
        return self.verdict.witnesses if isinstance(self.verdict, Violated | Shares | Estimated | Value) else ()

    @property
    def breaches(self) -> tuple[Breach, ...]:
        """Those who break a general demand; where it is unknown, in one arithmetic only."""
        return self.verdict.breaches if isinstance(self.verdict, Violated | Shares | Estimated | Unknown) else ()

    @property
    def disagreements(self) -> tuple[Witness, ...]:
        """The pairs on which exact arithmetic and the deployed float32 file differ, which prove nothing."""
        return self.verdict.witnesses if isinstance(self.verdict, Unknown) else ()

    @property
    def by_decider(self) -> Mapping[Decider, Interval | None]:
        """Of rows of a table, the number by everybody who decides them; None where there is no such number."""
        match self.verdict:
            case Shares(by_decider=numbers):
                return {one.by: Interval(*share_value(one.number, self.quantity)) for one in numbers}
            case Value(by_decider=numbers):
                return {one.by: Interval(*one.number) if one.defined else None for one in numbers}
        return {}

    @property
    def differing(self) -> tuple[DifferingRow, ...]:
        """Of rows of a table, those on which exact arithmetic and the deployed file differ."""
        return self.verdict.differing if isinstance(self.verdict, Shares | Value | Unknown) else ()

    @property
    def refusals(self) -> tuple[Diagnostic, ...]:
        """Why nothing was run."""
        return self.verdict.diagnostics if isinstance(self.verdict, Refused) else ()

    @property
    def external(self) -> bool:
        """Whether the answers are those of solvers that others ran."""
        return self.basis is not None and self.basis.word is Word.FILES

    @property
    def contradicted(self) -> bool:
        """Whether a second opinion and the verdict cannot both be true."""
        return any(one.stand is Stand.CONTRADICTS for one in self.opinions or ())

    @property
    def interrupted(self) -> bool:
        """Whether the user ended it before it was done."""
        return self.reason is Reason.INTERRUPTED or (
            self.coverage is not None and self.coverage.ended is Ended.INTERRUPTED
        )

    @property
    def of_fair_share(self) -> bool:
        """Whether its number is the fair share itself, and not its complement."""
        return self.quantity is Quantity.FAIR_SHARE


@dataclass(frozen=True, slots=True, kw_only=True)
class PropertyReport:
    """A property: its sentence, every clause in force and its demands."""

    ALSO_WRITTEN: ClassVar[tuple[str, ...]] = ("judgement",)

    #: The property's name in the spec.
    name: str
    #: What it says in English.
    sentence: str
    #: Every clause in force, also what is held equal.
    clauses: tuple[str, ...] = field(metadata=below(IN_FORCE))
    #: What it requires and measures, in the order of the spec; at least one.
    demands: tuple[DemandReport, ...]
    #: Where the spec writes its name.
    span: Span | None = field(default=None, repr=False)
    #: The preset that it comes from; None of what the spec writes out.
    preset: FromPreset | None = None

    def __post_init__(self) -> None:
        if not self.demands:
            raise ValueError(f"the property `{self.name}` has no demands")

    @property
    def judgement(self) -> Judgement:
        """What the demands come to together."""
        return combine(demand.judgement for demand in self.demands)

    @property
    def shares(self) -> Shares | None:
        """The shares with the least left undecided, where a demand asked for shares."""
        found = [demand.shares for demand in self.demands if demand.shares is not None]
        return min(found, key=lambda shares: shares.undecided, default=None)

    @property
    def witnesses(self) -> tuple[Witness, ...]:
        """The pairs that break a demand, each once."""
        return tuple(dict.fromkeys(witness for demand in self.demands for witness in demand.witnesses))

    @property
    def disagreements(self) -> tuple[Witness, ...]:
        """The pairs on which the arithmetics disagree, each once."""
        return tuple(dict.fromkeys(pair for demand in self.demands for pair in demand.disagreements))

    def found_for(self, pair: Witness) -> tuple[int, ...]:
        """Which demands a witness or disagreement belongs to, counted from 0."""
        return tuple(
            number
            for number, demand in enumerate(self.demands)
            if pair in demand.witnesses or pair in demand.disagreements
        )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Report(Tabled, Shown, Document):
    """Everything that one run of ``check`` found out."""

    SCHEMA: ClassVar[str] = "fairdsl.report/2"
    ALSO_WRITTEN: ClassVar[tuple[str, ...]] = ("exit_code",)

    #: The version of fairdsl that made it.
    fairdsl: str
    #: The title of the audit, where the spec has one.
    audit: str | None = None
    #: The spec.
    spec: SpecFile
    #: Every model that a property is about.
    models: tuple[HashedFile, ...] = ()
    #: The files of the distributions.
    data: tuple[HashedFile, ...] = ()
    #: The domains of the properties, whose individuals they are about.
    domains: tuple[ListedDomain, ...] = ()
    #: The populations in force.
    populations: tuple[ListedPopulation, ...] = ()
    #: The parameters of the spec, with their numbers in this run.
    parameters: tuple[InForce, ...] = ()
    #: The random seed: it changes which witnesses are found, never a meaning.
    seed: int = 0
    #: What became of each property, in the order of the spec.
    properties: tuple[PropertyReport, ...] = ()
    #: Findings about the spec and its files.
    diagnostics: tuple[Diagnostic, ...] = ()
    #: Who ended the run before it was done: demands that were open then are unknown.
    ended: Stopped | None = None
    #: Where answers or demands come from that this run took from files; None of a run that took none.
    recovered: Recovered | None = None
    #: What the run was given, and what it ran with; None where no run made it.
    asked: Asked | None = None
    #: How the run went: its limits, which one ended it, what it spent; None where no engine was run.
    run: Ran | None = None

    def __post_init__(self) -> None:
        if len({item.name for item in self.properties}) < len(self.properties):
            raise ValueError("two of its properties share a name")

    @property
    def exit_code(self) -> ExitCode:
        """Errors in the spec first; an interrupt; a contradiction; then violated, refused, unknown or vacuous."""
        judgements = {item.judgement for item in self.properties}
        if any(finding.code == DISK_FAILED for finding in self.diagnostics):
            return ExitCode.DISK
        if any(finding.severity is Severity.ERROR for finding in self.diagnostics):
            return ExitCode.UNKNOWN if is_out_of_time(self.diagnostics) else ExitCode.REFUSED
        if self.ended in _ENDED:
            return _ENDED[self.ended]
        if self.ended is not None or any(demand.interrupted for item in self.properties for demand in item.demands):
            return ExitCode.INTERRUPTED
        if any(demand.contradicted for item in self.properties for demand in item.demands):
            return ExitCode.CONTRADICTED
        if Judgement.VIOLATED in judgements:
            return ExitCode.VIOLATED
        if Judgement.REFUSED in judgements:
            return ExitCode.REFUSED
        open_ = judgements & {Judgement.UNKNOWN, Judgement.VACUOUS}
        return ExitCode.UNKNOWN if open_ else ExitCode.HOLDS
