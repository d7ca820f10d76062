"""Cases, taken apart until bounds or the solver settle every part.

Theorem. A case is impossible on a region iff it is impossible on both halves of it; every region of the
work-list is settled by bounds, settled by the solver, or halved. So when the list runs empty, no pair
breaks the demand. Halving may repeat pairs (reals share the cutting point) but loses none.

What is tried where is a matter of time only, and deterministic: attempts are limited by z3's resource
count, not by the clock. A region is handed to the solver when its undecided units are few compared with
those of the last region above it on which the solver gave up; otherwise it is halved on the attribute
that leaves the fewest undecided units in the parts that bounds do not settle.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from fractions import Fraction

from fairdsl.backends.contract import Budget, Facts, Observer
from fairdsl.backends.encoding import Answer
from fairdsl.backends.smt.case_bounds import Bounded, Bounder, CaseBounds
from fairdsl.backends.smt.cases import Case, refined
from fairdsl.backends.smt.engine import Job, Pool, reason_of
from fairdsl.backends.smt.recover import carried, checked, is_violation, pair_in
from fairdsl.backends.smt.script import case_script
from fairdsl.clock import Deadline, meter_in_force, until
from fairdsl.ir.domain import Point
from fairdsl.ir.problem import Problem
from fairdsl.verdict import Breach, Reason, Witness

#: z3's resource units for the first attempt on a case (about a second), and for those after it, doubled
#: each time. Deep networks are often decided whole, shallow ones in small parts.
_FIRST_EFFORT, _EFFORT = 150_000, 40_000
#: Regions with more undecided units than this are halved before the solver sees them.
_MANY_UNITS = 60
#: Regions with at most so many undecided units go to the solver at once.
_FEW_UNITS = 4
#: Halvings after which the solver is asked again, however many units are left.
_PATIENCE = 8
#: Where a violation is exact but not one of the deployed file, clearer ones are asked for: shares of how
#: far the case can be met at most.
_MARGINS = (Fraction(1, 4), Fraction(1, 64), Fraction(1, 4096))
#: After so many pairs on which the two arithmetics disagree, no more are looked for.
_GAPS = 32
_TIME_UP = "the time is up"


@dataclass(frozen=True, slots=True)
class _Task:
    """A region of a case. ``seen`` and ``since``: undecided units at the last attempt above, halvings since."""

    case: int
    bounded: Bounded
    share: Fraction
    seen: int = 2 * _MANY_UNITS
    since: int = 0
    attempts: int = 0
    margins: tuple[Fraction, ...] | None = None
    limited: bool = True


@dataclass(slots=True)
class Outcome:
    """What came of it: nothing left means that no pair breaks the demand.

    ``unconfirmed`` are pairs of the solver that meet a case and break nothing when replayed.
    """

    witness: Witness | Breach | None = None
    open: list[tuple[Reason, str]] = field(default_factory=list)
    gaps: list[Witness | Breach] = field(default_factory=list)
    unconfirmed: list[tuple[Point, ...]] = field(default_factory=list)
    by_bounds: int = 0
    by_solver: int = 0


class WorkList:
    """One run over all cases of a problem."""

    def __init__(
        self,
        problem: Problem,
        pool: Pool,
        facts: Facts,
        budget: Budget,
        observer: Observer,
        left: CaseBounds,
        *,
        until_open: bool = False,
        original: Problem | None = None,
    ) -> None:
        """``left``: the cases to settle, bounded when it is their turn. ``until_open``: a proof is wanted, so the run
        ends with the first region that cannot have one. ``original``: the question that pairs are checked on, where
        the cases are about another model that gives the same."""
        self._problem, self._original = problem, original or problem
        self._pool = pool
        self._facts = facts
        self._budget = budget
        self._observer = observer
        self._cases: list[Case] = []
        self._left, self._batches = left, left.batches()
        #: Whether cases may be left that were not bounded yet, and regions of whose answer the time ran out.
        self._more, self._late = True, list[_Task]()
        self._share = Fraction(1, max(1, len(left)))
        self._until_open = until_open
        self._bounders: dict[int, Bounder] = {}
        self._stack: list[_Task] = []
        self._running: dict[Hashable, _Task] = {}
        self._started = 0
        self._done = Fraction(0)
        self.outcome = Outcome()

    def run(self) -> Outcome:
        """Until everything is settled, a violation is found, or the time is up."""
        while (self._more or self._stack or self._running) and self.outcome.witness is None and not self._lost():
            if self._budget.exhausted:
                self._out_of_time()
                break
            if self._more and not self._stack and not self._fill():
                break
            if self._stack and len(self._running) < self._budget.jobs:
                self._take(self._stack.pop())
                # Where effort is given, what is done next must not depend on how soon an answer comes.
                wait = Deadline.within(0) if meter_in_force() is None else self._budget.deadline
            else:
                wait = self._budget.deadline
            if self._running:
                for key, answer in self._pool.finished(wait):
                    if (asked := self._running.pop(key, None)) is not None:  # of a budget before, nobody asks it
                        self._answered(asked, answer)
        return self.outcome

    @property
    def waits(self) -> bool:
        """Whether more time may settle what is open."""
        return self.outcome.witness is None and any(reason is Reason.TIMEOUT for reason, _ in self.outcome.open)

    @property
    def cases(self) -> int:
        """How many cases there are."""
        return len(self._left)

    def resume(self, pool: Pool, budget: Budget) -> None:
        """Another budget, and perhaps another pool: what the last one did not suffice for is asked again."""
        self._pool, self._budget = pool, budget
        self._stack += [*self._late, *self._running.values()]
        self._late, self._running = [], {}
        self.outcome.open = [(reason, why) for reason, why in self.outcome.open if reason is not Reason.TIMEOUT]

    def _fill(self) -> bool:
        """Bound the next cases and put them on the stack; False where there is no time for it."""
        batch: list[tuple[Case, Bounded]] | None = None
        with until(self._budget.deadline) as scope:
            batch = next(self._batches, None)
        if scope.passed:
            self._batches = self._left.batches(len(self._cases))
            self._out_of_time()
            return False
        if batch is None:
            self._more = False
            return True
        first = len(self._cases)
        self._cases += [case for case, _ in batch]
        tasks = [_Task(first + place, bounded, self._share) for place, (_, bounded) in enumerate(batch)]
        # What bounds settle is on top of the stack, then the easiest case.
        self._stack = sorted(tasks, key=lambda task: (task.bounded.settled, -task.bounded.undecided))
        return True

    def _out_of_time(self) -> None:
        if (Reason.TIMEOUT, _TIME_UP) not in self.outcome.open:
            self.outcome.open.append((Reason.TIMEOUT, _TIME_UP))

    @property
    def idle(self) -> bool:
        """Whether no region is with the solver any more."""
        return not self._running

    def _lost(self) -> bool:
        """Whether no proof can come of it any more, where only that is wanted."""
        return self._until_open and bool(self.outcome.open or self.outcome.gaps)

    def _bounder(self, index: int) -> Bounder:
        if index not in self._bounders:
            self._bounders[index] = Bounder(self._problem.model, self._cases[index])
        return self._bounders[index]

    def _take(self, task: _Task) -> None:
        """Settle the region by bounds, start the solver on it, or halve it."""
        if task.bounded.settled:
            self.outcome.by_bounds += 1
            self._settled(task)
            return
        undecided = task.bounded.undecided
        promising = undecided <= _FEW_UNITS or 4 * undecided <= 3 * task.seen or task.since >= _PATIENCE
        if task.margins or not task.limited or (promising and undecided <= _MANY_UNITS):
            self._start(task)
        elif not self._halve(task):
            self._start(replace(task, limited=False))

    def _start(self, task: _Task) -> None:
        margin = task.margins[0] * _reach(task.bounded) if task.margins else Fraction(0)
        text = case_script(self._problem, self._cases[task.case], task.bounded, margin=margin)
        self._started += 1
        self._running[self._started] = task
        self._pool.start(
            Job(
                key=self._started,
                text=text,
                seed=self._budget.seed,
                effort=_effort(task.attempts) if task.limited else None,
                deadline=self._budget.deadline,
            )
        )

    def _halve(self, task: _Task) -> bool:
        """Put both halves on the stack; False where nothing can be cut."""
        ways = list(task.bounded.region.halves())
        if not ways:
            return False
        parts = self._bounder(task.case).bound([half for way in ways for half in way])
        pairs = list(zip(parts[0::2], parts[1::2], strict=True))
        best = min(pairs, key=lambda pair: (_left(pair[0]) + _left(pair[1]), pair[0].reach + pair[1].reach))
        for half in sorted(best, key=_left, reverse=True):
            self._stack.append(replace(task, bounded=half, share=task.share / 2, since=task.since + 1))
        return True

    def _answered(self, task: _Task, answer: Answer) -> None:
        if answer.status == "unsat":
            self._refuted(task)
        elif answer.status == "sat":
            self._found(task, answer)
        elif task.margins:
            self._next_margin(task)
        elif answer.status == "unknown" and task.limited and reason_of(answer) is not Reason.TIMEOUT:
            undecided = task.bounded.undecided
            again = replace(task, seen=undecided, since=0, attempts=task.attempts + 1)
            if not self._halve(again):
                self._stack.append(replace(again, limited=False))
        else:
            reason = reason_of(answer)
            if reason is Reason.TIMEOUT:
                self._late.append(task)
            self.outcome.open.append((reason, answer.detail))

    def _refuted(self, task: _Task) -> None:
        if task.margins:
            self._next_margin(task)
        else:
            self.outcome.by_solver += 1
            self._settled(task)

    def _found(self, task: _Task, answer: Answer) -> None:
        """A model of the script: a witness, a witness in one arithmetic only, or none at all."""
        points = pair_in(self._problem, answer.values)
        if points is None:
            self.outcome.open.append((Reason.MALFORMED, "the solver's values were not understood"))
            return
        found = checked(self._original, *points)
        if found is not None and is_violation(self._original, found):
            self.outcome.witness = found
            self._facts.witnesses += carried([found])["witnesses"]
        elif found is not None:
            self.outcome.gaps.append(found)
            self._facts.gaps += carried([found])["witnesses"]
            self._next_margin(task)
        elif (case := refined(self._problem, self._cases[task.case], *points)) is not None:
            self._again(task, case)
        else:
            self.outcome.unconfirmed.append(points)
            self.outcome.open.append((Reason.REPLAY_FAILED, "the solver's pair breaks nothing when replayed"))

    def _again(self, task: _Task, case: Case) -> None:
        """Ask about the region once more, with a condition that excludes the pair that did not count."""
        self._cases[task.case] = case
        self._bounders.pop(task.case, None)
        bounded = self._bounder(task.case).bound([task.bounded.region])[0]
        self._stack.append(replace(task, bounded=bounded))

    def _next_margin(self, task: _Task) -> None:
        """Look for a clearer violation on the same region, then for another one on its halves.

        The region itself is never settled: it holds a violation in exact arithmetic.
        """
        margins = _MARGINS if task.margins is None else task.margins[1:]
        if margins:
            self._stack.append(replace(task, margins=margins, attempts=task.attempts + 1))
        elif len(self.outcome.gaps) < _GAPS:
            self._halve(replace(task, margins=None))

    def _settled(self, task: _Task) -> None:
        self._done += task.share
        settled = self.outcome.by_bounds + self.outcome.by_solver
        self._observer.progress("smt", float(self._done), f"{settled} regions proved")


def _effort(attempts: int) -> int:
    return _EFFORT << min(attempts - 1, 20) if attempts else _FIRST_EFFORT


def _left(bounded: Bounded) -> int:
    """Undecided units of a region that is still open."""
    return 0 if bounded.settled else 1 + bounded.undecided


def _reach(bounded: Bounded) -> Fraction:
    """How far the case can be met, as a short number."""
    return Fraction(bounded.reach).limit_denominator(1000) if 0 < bounded.reach < 2.0**100 else Fraction(1)
