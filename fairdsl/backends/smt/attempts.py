"""Putting questions about one problem to linear programs and z3, one after another, with processes that stay."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from types import TracebackType

from fairdsl.backends.contract import Budget, Facts, Observer
from fairdsl.backends.smt.case_bounds import CaseBounds
from fairdsl.backends.smt.cases import Cases, cases
from fairdsl.backends.smt.engine import Pool, answer_of_z3, reason_of
from fairdsl.backends.smt.options import SmtOptions
from fairdsl.backends.smt.recover import checked, is_violation, pair_in
from fairdsl.backends.smt.script import whole_script
from fairdsl.backends.smt.solvers.chain import Chained, Limits, Status
from fairdsl.backends.smt.solvers.pool import PoolOf, Solvers
from fairdsl.backends.smt.solvers.worker import Task
from fairdsl.backends.smt.worklist import Outcome, WorkList
from fairdsl.clock import absorb, meter_in_force, until
from fairdsl.ir.demand import Demanded
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair
from fairdsl.verdict import Breach, Reason, Witness

#: Questions with so few undecided units go to z3 at once.
_FEW_UNITS = 6
#: What linear programs may take of the remaining time, and in seconds.
_PROGRAM_SHARE, _PROGRAM_SECONDS = 0.35, 30.0


@dataclass(frozen=True, slots=True)
class Programmed:
    """How many cases bounds and linear programs settled; ``trusted``: some without a proof.

    ``late``: the programs were not ready in time; ``all``: they leave nothing, whatever z3 left open.
    """

    cases: int = 0
    trusted: bool = False
    found: bool = False
    late: bool = False
    all: bool = False


@dataclass(slots=True)
class Attempt:
    """The work on one problem, within one budget after the other."""

    _attempts: Attempts
    _problem: Problem
    _run: WorkList
    programmed: Programmed
    _witness: Witness | Breach | None
    _again: bool = field(default=False, init=False)

    @property
    def waits(self) -> bool:
        """Whether more time may settle what is open."""
        return self._witness is None and self._run.waits

    def go_on(self, budget: Budget) -> Outcome:
        """What is known when the budget ends."""
        if self._again:
            self._run.resume(self._attempts.pool, budget)
            self._programs(budget)
        self._again = True
        outcome = self._run.outcome if self.programmed.all else self._run.run()
        self._attempts.ended(self._run)
        outcome.witness = outcome.witness or self._witness
        return outcome

    def _programs(self, budget: Budget) -> None:
        """Linear programs decide all or nothing once z3 is at work: what they leave it knows better by now."""
        if not self.programmed.late:
            return
        said = self._attempts.programs_again(self._problem, budget)
        if said is None:
            return
        self.programmed = Programmed(trusted=said.trusted and not said.left)
        if said.status is Status.VIOLATED:
            self._witness, self.programmed = said.witness, Programmed(found=True, all=True)
        elif not said.left:
            self.programmed = Programmed(cases=self._run.cases, trusted=said.trusted, all=True)


@dataclass(slots=True)
class Attempts:
    """The processes; they are started when they are needed, and all end with the block."""

    problem: Problem
    budget: Budget
    observer: Observer
    workers: Callable[[int], Pool]
    solvers_of: PoolOf
    _pool: Pool | None = field(default=None, init=False)
    _solvers: Solvers | None = field(default=None, init=False)

    def __enter__(self) -> Attempts:
        """Nothing is started yet."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End all processes."""
        self.rest()

    @property
    def pool(self) -> Pool:
        """z3's processes."""
        if self._pool is None:
            self._pool = self.workers(self.budget.jobs)
        return self._pool

    def begin(self, problem: Problem, facts: Facts, budget: Budget, *, until_open: bool = False) -> Attempt:
        """Work on the problem, which has the attempts' domain; ``until_open``: only a proof is wanted.

        Raises UnsplitError where the question has no cases.
        """
        every = cases(problem)
        left, programmed, witness = self._by_programs(problem, every, budget)
        run = WorkList(
            every.problem, self.pool, facts, budget, self.observer, left, until_open=until_open, original=problem
        )
        return Attempt(self, problem, run, programmed, witness)

    def whole(self, problem: Problem, budget: Budget) -> Outcome:
        """All of the question in one script; ``sat`` is replayed."""
        answer = answer_of_z3(whole_script(problem), budget, self.pool)
        if answer.status == "unsat":
            return Outcome(by_solver=1)
        points = pair_in(problem, answer.values) if answer.status == "sat" else None
        if points is None:
            return Outcome(open=[(reason_of(answer), answer.detail or "the solver came to no answer")])
        replayed = checked(problem, *points)
        if replayed is None:
            return Outcome(open=[(Reason.REPLAY_FAILED, "what the solver found breaks nothing when replayed")])
        return Outcome(witness=replayed) if is_violation(problem, replayed) else Outcome(gaps=[replayed])

    def ended(self, run: WorkList) -> None:
        """Its budget is over: nobody waits for what solvers are still at."""
        if not run.idle:
            self._end_pool()

    def rest(self) -> None:
        """End all processes; they are started again when they are needed."""
        self._end_pool()
        self._end_solvers()

    def programs_again(self, problem: Problem, budget: Budget) -> Chained | None:
        """What linear programs say where there was not time enough for them; None where nothing is known."""
        said = self._programs_say(problem, budget)
        return None if said is None or said.reason not in (None, Reason.INCOMPLETE) else said

    def _by_programs(
        self, problem: Problem, every: Cases, budget: Budget
    ) -> tuple[CaseBounds, Programmed, Witness | Breach | None]:
        """The cases that linear programs leave to z3, what they decided, and the violation that they found."""
        bounds = CaseBounds(every.problem, every)
        many = False
        with until(budget.deadline):
            many = bounds.exceed(_FEW_UNITS)
        if not many:
            return bounds, Programmed(), None
        self.observer.progress("smt", None, "linear programs")
        said = self.programs_again(problem, budget)
        if said is None:
            return bounds, Programmed(late=True), None  # the process did not finish: nothing is known
        if said.status is Status.VIOLATED:
            return CaseBounds(every.problem, ()), Programmed(found=True), said.witness
        left = [every[number] for number in said.left]
        return CaseBounds(every.problem, left), Programmed(cases=len(every) - len(left), trusted=said.trusted), None

    def _programs_say(self, problem: Problem, budget: Budget) -> Chained | None:
        seconds = min(_PROGRAM_SECONDS, _PROGRAM_SHARE * budget.remaining)
        wanted = budget.options[SmtOptions]
        limits = Limits(
            seconds=min(seconds, wanted.query_timeout or seconds),
            seed=budget.seed,
            trust_milp=wanted.trust_milp,
            programs_only=True,
            metered=meter_in_force() is not None,
        )
        if self._solvers is None:
            self._solvers = self.solvers_of(self.problem, 1, wanted.query_memory)
        self._solvers.start("whole", Task(_question(problem), limits, problem.model))
        answers: list[tuple[Hashable, Chained, float]] = []
        while not answers and not budget.exhausted:
            answers = self._solvers.finished(budget.deadline)
        if not answers:
            self._end_solvers()
            return None
        absorb(answers[0][1].meter)
        return answers[0][1]

    def _end_pool(self) -> None:
        if self._pool is not None:
            self._pool.close()
        self._pool = None

    def _end_solvers(self) -> None:
        if self._solvers is not None:
            self._solvers.close()
        self._solvers = None


def _question(problem: Problem) -> Pair | Demanded:
    assert isinstance(problem.question, Pair | Demanded)
    return problem.question
