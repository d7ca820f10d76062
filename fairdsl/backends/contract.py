"""The contract of the backends: what they offer, what they are given, and three protocols.

An *encoding* writes files, an *engine* answers files, a *procedure* answers a problem directly. A new
backend is one folder, one line in ``plan/registry.py`` and its rows in the tests' bank.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from fractions import Fraction
from typing import Any, Protocol, runtime_checkable

from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Threshold
from fairdsl.source import Span
from fairdsl.verdict import Evidence, Verdict, Witness

__all__ = [
    "Answer",
    "Asked",
    "Budget",
    "Capability",
    "Encoding",
    "Engine",
    "Facts",
    "Format",
    "Grouping",
    "Lowered",
    "Observer",
    "Offer",
    "Order",
    "Partition",
    "Preparing",
    "Procedure",
    "Refusal",
    "Silent",
    "Tactics",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A backend is ready to answer; ``method`` is said in plans, ``decides`` whether it can settle it.

    A backend that does not decide (search) only ever finds violations. ``fits`` is how well the method fits the
    question, whoever else may answer it: 2 where it was made for such models, 1 where it treats them as they are, 0
    where it has to turn them into something else first.
    """

    method: str
    decides: bool
    fits: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A backend cannot answer: why, in words for the user, and the place that causes it."""

    why: str
    span: Span | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Capability:
    """What a backend answers, in words: the rows of ``fairdsl capabilities``."""

    questions: tuple[str, ...]
    quantities: tuple[str, ...]
    models: tuple[str, ...]


class Observer(Protocol):
    """Hears of progress; the terminal's bar is one."""

    def progress(self, stage: str, fraction: float | None, detail: str) -> None:
        """``fraction`` of the stage is done (None: not known); ``detail`` in a few words."""


class Silent:
    """An observer that says nothing."""

    def progress(self, stage: str, fraction: float | None, detail: str) -> None:
        """Ignore it."""


class Order(Enum):
    """In which order partitions are taken."""

    SEEDED = "seeded"  # at random, as the seed says
    LARGEST = "largest"  # by volume
    GRID = "grid"  # as they lie in the domain


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """A verdict for each of many parts of the domain, instead of a single one.

    Attributes of more than ``size`` values are cut into chunks of ``size`` values (None: *adaptive*, the
    domain is halved where it is not decided). Of the partitions in ``order`` only the ``first`` so many are
    asked, and none after the first violation unless ``keep_going``. Each verdict is written to the JSON-lines
    file ``ledger``; ``resume`` goes on from what stands there. ValueError for numbers that make no sense.

    ``units``: ask the solver about every unit that bounds leave undecided, before it is asked about the
    partition. ``tolerance``: where a partition stays unknown, remove units that are active in no more than
    this share of ``profile`` random individuals, and ask about the pruned network; what holds of it is
    counted apart and proves nothing about the model.
    """

    size: int | None
    order: Order = Order.SEEDED
    first: int | None = None
    keep_going: bool = False
    ledger: str | None = None
    resume: bool = False
    units: bool = False
    tolerance: Fraction | None = None
    profile: int = 1000

    def __post_init__(self) -> None:
        if min(1 if number is None else number for number in (self.size, self.first, self.profile)) < 1:
            raise ValueError("`size`, `first` and `profile` are numbers from 1")
        if self.tolerance is not None and not 0 <= self.tolerance <= 1:
            raise ValueError("`tolerance` is a share from 0 to 1")
        if self.resume and self.ledger is None:
            raise ValueError("`resume` goes on from a `ledger`")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tactics:
    """How solvers are used, where the user has a say.

    A query takes at most ``query_seconds`` (None: what the budget leaves) and ``query_memory`` bytes.
    ``trust_milp``: a mixed-integer solver's `infeasible` counts without an exact confirmation.

    ``groups``: stochastic satisfiability asks about every group by itself (`enumerate`), or lets the solver find the
    extreme ones (`learn`); None: as many as there are. ``ssat_solver`` names an external solver for it.

    ``cross_check``: whoever else can decide a demand is asked it too, and verdicts that contradict each other are none.
    """

    partition: Partition | None = None
    query_seconds: float | None = None
    query_memory: int = 4 << 30
    trust_milp: bool = False
    groups: str | None = None
    ssat_solver: str | None = None
    cross_check: bool = False

    def __post_init__(self) -> None:
        if self.groups not in (None, "enumerate", "learn"):
            raise ValueError("`groups` is `enumerate` or `learn`")


_PLAIN = Tactics()


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What a stage may spend: wall-clock seconds until ``deadline``, processes, bytes, and the run's seed.

    ``scheduler`` is the address of a Dask cluster that may be used beside, None for this machine alone;
    ``tactics`` say how it is to be spent on solvers.
    """

    deadline: float
    jobs: int
    seed: int
    memory: int = 2 << 30
    scheduler: str | None = None
    tactics: Tactics = _PLAIN

    @classmethod
    def of(
        cls,
        seconds: float,
        *,
        jobs: int = 1,
        seed: int = 0,
        memory: int = 2 << 30,
        scheduler: str | None = None,
        tactics: Tactics = _PLAIN,
    ) -> Budget:
        """A budget that starts now."""
        deadline = time.monotonic() + seconds
        return cls(deadline=deadline, jobs=jobs, seed=seed, memory=memory, scheduler=scheduler, tactics=tactics)

    @property
    def remaining(self) -> float:
        """Seconds left, never negative."""
        return max(0.0, self.deadline - time.monotonic())

    def share(self, parts: int) -> Budget:
        """An equal part of what is left, for the first of ``parts`` pieces of work."""
        return replace(self, deadline=time.monotonic() + self.remaining / parts)

    def extended(self, seconds: float) -> Budget:
        """With so many seconds more."""
        return replace(self, deadline=self.deadline + seconds)

    @property
    def exhausted(self) -> bool:
        """Whether the time is up."""
        return self.remaining <= 0.0


@dataclass(slots=True)
class Facts:
    """What earlier stages of the same demand found; later stages may use and extend it."""

    witnesses: list[Witness] = field(default_factory=list)
    gaps: list[Witness] = field(default_factory=list)  # violations in one arithmetic only
    notes: list[str] = field(default_factory=list)


class Procedure(Protocol):
    """Answers a problem directly, anytime, with progress."""

    name: str
    about: Capability

    def offer(self, problem: Problem) -> Offer | Refusal:
        """Whether it answers such problems; never a bool."""

    def answer(self, problem: Problem, facts: Facts, budget: Budget, observer: Observer) -> Verdict:
        """The verdict; Unknown with a reason when the budget ends first."""


@runtime_checkable
class Preparing(Protocol):
    """A procedure that has work to do once on a machine, which is nobody's question and counts against no budget."""

    def prepare(self, observer: Observer) -> float:
        """Do it where it was not done yet; how many seconds that took."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A file format: its ``--to`` name, extension and comment token."""

    name: str
    extension: str
    comment: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A demand in the spec's words, for files whose answers become a report without the spec.

    ``demand`` is the line as written, ``metric`` what it is about; ``model_path`` and ``model_sha256`` are
    None for a model written in the spec.
    """

    spec: str
    spec_sha256: str
    title: str | None
    model: str
    model_path: str | None
    model_sha256: str | None
    property: str
    sentence: str
    clauses: tuple[str, ...]
    formula: str
    demand: str
    metric: str
    threshold: Threshold | None
    required: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Lowered:
    """A problem in a target language: the files' content by name, and what leads the answers home.

    ``settled_by``: alternatives; answers to every file of one of them, `unsat` where answers are words, settle the
    problem. ``described`` is what the manifest says about a file beside its hash, as JSON has it. Where answers are
    numbers, ``quantities`` says what each of them is, and ``combined`` what they make together.
    """

    files: Mapping[str, bytes]
    settled_by: tuple[tuple[str, ...], ...] = ()
    described: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    quantities: tuple[Mapping[str, Any], ...] = ()
    combined: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A solver's answer to one file: status ``sat | unsat | value | unknown | malformed | crashed``, its model.

    Of a ``value``, ``bounds`` are two numbers that it lies between, as wide as the solver's arithmetic and its print
    leave it.
    """

    status: str
    values: Mapping[str, str] = field(default_factory=dict)
    detail: str = ""
    bounds: tuple[Fraction, Fraction] | None = None


class Encoding(Protocol):
    """Writes a problem as solver files; pure, deterministic, and able to read answers back."""

    name: str
    format: Format
    #: What the manifest says about answers: verdict -> what it takes.
    meaning: Mapping[str, str]
    #: Whether a question may be written partition by partition.
    partitions: bool

    def offer(self, problem: Problem) -> Offer | Refusal:
        """Whether it can express such problems."""

    def lower(self, problem: Problem, asked: Asked) -> Lowered:
        """The files; ``asked`` is for those that say what they are about."""

    def evidence(self, problem: Problem) -> Evidence:
        """What a verdict from answers rests on, and what the files ask compared with the question."""

    def answer(self, output: str, about: Mapping[str, Any]) -> Answer:
        """What a solver printed for a file, of which the manifest says ``about``; a total function."""

    def recover(self, problem: Problem, lowered: Lowered, answers: Mapping[str, Answer]) -> Verdict:
        """The verdict that the answers, one a file, come to; `sat` only after a replay."""


@runtime_checkable
class Grouping(Protocol):
    """An encoding that asks about groups, one by one (`enumerate`) or for the extreme ones (`learn`)."""

    def grouping(self, groups: str) -> Encoding:
        """The same encoding, which does so."""


class Engine(Protocol):
    """Answers a file of its format."""

    name: str
    reads: Format

    def available(self) -> str | None:
        """None when it can run here; otherwise what is missing. Imports nothing heavy."""

    def solve(self, text: str, budget: Budget) -> Answer:
        """A total function: output that is not understood is ``malformed``."""
