"""The contract of those who answer: what they offer, what they are given, and what they are asked.

A *procedure* answers a problem; those who write files for others to answer keep the contract in
:mod:`fairdsl.backends.encoding`. A new backend is one folder, one line in ``plan/registry.py`` and its rows in the
tests' bank.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field, replace
from enum import IntEnum
from fractions import Fraction
from typing import Protocol, runtime_checkable

from fairdsl.clock import UNITS, Deadline, deadline_in_force, meter_in_force, received
from fairdsl.ir.demand import Demanded
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Individually, PairUnder, Quantity, WorstPair
from fairdsl.options import Options, Run, Section
from fairdsl.source import Span
from fairdsl.verdict import Evidence, Reason, Unknown, Verdict, Witness


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
    where it has to turn them into something else first. ``cost`` says when the demand has its turn. What only
    ``estimates`` comes beside what others prove, and never instead of it.
    """

    method: str
    decides: bool
    fits: int = 1
    cost: Cost = Cost.PROOF
    estimates: bool = False


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


def only_pairs(problem: Problem) -> Refusal:
    """What a backend that compares the two of a pair says of a question that asks something else."""
    match problem.question:
        case Demanded():
            why = "it compares two decisions or scores, and no formulas"
        case PairUnder():
            why = "it has no notion of a distribution"
        case Individually() | WorstPair():
            why = "it says whether a demand is broken, not how many individuals break it, or by how much"
        case _:
            why = "it answers questions about pairs of individuals"
    return Refusal(why=why, other=True)


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


@runtime_checkable
class Announcing(Protocol):
    """An observer that also passes on, where nobody watches a bar, what has to be said at once."""

    def announce(self, text: str) -> None:
        """A sentence about work that begins now, takes long and is nobody's question."""


class Silent:
    """An observer that says nothing."""

    def progress(self, stage: str, fraction: float | None, detail: str) -> None:
        """Ignore it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What a stage may spend: the moment when it ends, and the run's options."""

    #: End of the time.
    deadline: Deadline
    #: What is set for the run; an engine reads its own section as ``options[ItsSection]``.
    options: Options = field(default_factory=Options)

    @classmethod
    def of(cls, seconds: float, *sections: Section, jobs: int = 1, seed: int = 0, memory: int = 2 << 30) -> Budget:
        """A budget that starts now and does not outlast the deadline in force; other sections have their defaults."""
        deadline = min(Deadline.within(seconds), deadline_in_force())
        return cls(deadline=deadline, options=Options(Run(jobs=jobs, seed=seed, memory=memory), sections))

    @classmethod
    def under(cls, options: Options) -> Budget:
        """The budget of a command with these options: it started when the command did."""
        return cls(deadline=Deadline.after(options.run.limit), options=options)

    @property
    def of_effort(self) -> Budget:
        """The same where effort is given: it ends when that is spent."""
        effort = self.options.run.effort
        return self if effort is None else replace(self, deadline=Deadline(effort / UNITS))

    @property
    def jobs(self) -> int:
        """How many processes may be used; one where effort is given, so that no answer comes first by chance."""
        return self.options.run.processes if meter_in_force() is None else 1

    @property
    def seed(self) -> int:
        """The random seed of the run."""
        return self.options.run.seed

    @property
    def memory(self) -> int:
        """Bytes for engines that keep to a limit, all their processes together."""
        return self.options.run.memory

    @property
    def remaining(self) -> float:
        """Seconds left, never negative; none once the command was asked to end, so that it leaves what is known."""
        return 0.0 if received() is not None else self.deadline.remaining

    def share(self, parts: int) -> Budget:
        """An equal part of what is left, for the first of ``parts`` pieces of work."""
        return replace(self, deadline=Deadline.within(self.remaining / parts))

    @property
    def exhausted(self) -> bool:
        """Whether the time is up."""
        return self.remaining <= 0.0


@dataclass(slots=True)
class Facts:
    """What earlier stages of the same demand found; later stages may use and extend it.

    ``alone``: no stage of the plan decides, so whoever searches may take all the time there is. ``enough`` says of
    bounds whether they, with those of earlier stages, decide all that is asked for, so that nobody waits for closer
    ones; None: no bounds do.
    """

    alone: bool = False
    enough: Callable[[Verdict], bool] | None = None

    witnesses: list[Witness] = field(default_factory=list)
    gaps: list[Witness] = field(default_factory=list)  # violations in one arithmetic only
    #: Whether somebody is known to be compared; of a proof beside which nobody is it is looked for.
    somebody: bool = False
    #: What the present stage knows already, whole: its verdict where the clock ends it.
    so_far: Verdict | None = None
    #: What the stage before proved of a number that is estimated beside.
    enclosed: Verdict | None = None

    def decided_by(self, verdict: Verdict) -> bool:
        """Whether these bounds decide all that is asked for, with what others proved of it before."""
        return self.enough is not None and self.enough(verdict)


class Procedure(Protocol):
    """Answers a problem directly, anytime, with progress."""

    name: str
    about: Capability

    def offer(self, problem: Problem) -> Offer | Refusal:
        """Whether it answers such problems; never a bool."""

    def answer(self, problem: Problem, facts: Facts, budget: Budget, observer: Observer) -> Verdict:
        """The verdict; Unknown with a reason when the budget ends first."""


#: An engine at work. Where its budget is used up it yields what it knows by then, and takes the next budget; it returns
#: what no time would add to. What it keeps in between is its own.
Answering = Generator[Verdict, Budget, Verdict]


@runtime_checkable
class Anytime(Protocol):
    """A procedure that goes on where it ended, once it is given more time. Others begin anew, if that may help."""

    def answering(self, problem: Problem, facts: Facts, budget: Budget, observer: Observer) -> Answering:
        """The work on a problem, which has this budget first."""


def at_once(answering: Answering) -> Verdict:
    """What comes of the first budget; nobody goes on."""
    try:
        return next(answering)
    except StopIteration as ended:
        verdict: Verdict = ended.value
        return verdict
    finally:
        answering.close()


def unanswered(quantity: Quantity, reason: Reason, detail: str, *, backend: str = "", method: str = "") -> Unknown:
    """The verdict on a demand of which nothing is known: a share lies between 0 and 1 all the same."""
    share = quantity in (Quantity.FAIR_SHARE, Quantity.DISCRIMINATION_RATE, Quantity.AFFECTED_RATE)
    low, high = (Fraction(0), Fraction(1)) if share else (None, None)
    evidence = Evidence(backend=backend, method=method)
    return Unknown(reason=reason, detail=detail, evidence=evidence, low=low, high=high)


@runtime_checkable
class Preparing(Protocol):
    """A procedure that has work to do once on a machine, before it answers."""

    def preparation(self, problem: Problem) -> Preparation | None:
        """That work; None where the problem does without."""


class Preparation(Protocol):
    """Work that is done once on a machine. Whoever is asked before it is done waits for it, within the budget."""

    def begin(self, observer: Observer) -> None:
        """Have it done in a process beside, unless it was done or begun before."""

    def ready(self, observer: Observer, by: Deadline) -> bool:
        """Whether it is done by then."""
