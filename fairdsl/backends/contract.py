"""The contract of those who answer: what they offer, what they are given, and what they are asked.

A *procedure* answers a problem; those who write files for others to answer keep the contract in
:mod:`fairdsl.backends.encoding`. A new backend is one folder, one line in ``plan/registry.py`` and its rows in the
tests' bank.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from enum import Enum, IntEnum
from fractions import Fraction
from typing import Any, Protocol, runtime_checkable

from fairdsl.clock import Deadline, deadline_in_force
from fairdsl.ir.problem import Problem
from fairdsl.source import Span
from fairdsl.verdict import Verdict, Witness

__all__ = [
    "Budget",
    "Capability",
    "Cost",
    "Facts",
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


class Cost(IntEnum):
    """What an answer costs, by the kind of work; demands are answered in this order, the cheap ones first.

    It is a fixed rule and no estimate of seconds, so the order of a spec's verdicts is the same on every machine.
    """

    #: The rows of a table are decided one by one.
    ROWS = 0
    #: Individuals, leaves or terms of a sum are counted: it ends by itself, without a search.
    COUNT = 1
    #: A proof, or bounds that are refined: it may take all the time that there is.
    PROOF = 2

    @property
    def in_words(self) -> str:
        """The kind of work, as plans name it."""
        return {Cost.ROWS: "rows", Cost.COUNT: "counting", Cost.PROOF: "proof"}[self]


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A backend is ready to answer; ``method`` is said in plans, ``decides`` whether it can settle it.

    A backend that does not decide (search) only ever finds violations. ``fits`` is how well the method fits the
    question, whoever else may answer it: 2 where it was made for such models, 1 where it treats them as they are, 0
    where it has to turn them into something else first. ``cost`` says when the demand has its turn.
    """

    method: str
    decides: bool
    fits: int = 1
    cost: Cost = Cost.PROOF


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A backend cannot answer: why, in words for the user, and the place that causes it.

    ``other``: questions of this kind are not what it answers at all, which says nothing about this one. ``instead`` is
    what to write to have an answer of it.
    """

    why: str
    span: Span | None = None
    other: bool = False
    instead: str | None = None

    @property
    def reason(self) -> str:
        """Why, with the line of the cause."""
        return self.why if self.span is None else f"{self.why} (line {self.span.first.line})"


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
    counted apart and proves nothing about the model. Each such network is written into the folder ``networks``.
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
    networks: str | None = None

    def __post_init__(self) -> None:
        if min(1 if number is None else number for number in (self.size, self.first, self.profile)) < 1:
            raise ValueError("`size`, `first` and `profile` are numbers from 1")
        if self.size is None and (self.first is not None or self.order is not Order.SEEDED):
            raise ValueError("adaptive partitions are made on the way: they have no `order` and no `first`")
        if self.tolerance is not None and not 0 <= self.tolerance <= 1:
            raise ValueError("`tolerance` is a share from 0 to 1")
        if self.resume and self.ledger is None:
            raise ValueError("`resume` goes on from a `ledger`")
        if self.networks is not None and self.tolerance is None:
            raise ValueError("`networks` holds what was pruned by a `tolerance`")


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
        """A budget that starts now, and does not outlast the deadline in force."""
        deadline = min(time.monotonic() + seconds, deadline_in_force().at)
        return cls(deadline=deadline, jobs=jobs, seed=seed, memory=memory, scheduler=scheduler, tactics=tactics)

    @classmethod
    def of_command(cls, seconds: float, **others: Any) -> Budget:
        """As :meth:`of`, for a command: it started when the command did (:meth:`fairdsl.clock.Deadline.after`)."""
        return replace(cls.of(seconds, **others), deadline=Deadline.after(seconds).at)

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
    """What earlier stages of the same demand found; later stages may use and extend it.

    ``alone``: no stage of the plan decides, so whoever searches may take all the time there is.
    """

    alone: bool = False

    witnesses: list[Witness] = field(default_factory=list)
    gaps: list[Witness] = field(default_factory=list)  # violations in one arithmetic only


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
