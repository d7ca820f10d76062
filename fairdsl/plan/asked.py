"""One engine at work on one problem, by turns: it goes on where it ended, or begins anew with more time."""

from __future__ import annotations

from dataclasses import dataclass, field

from fairdsl.backends.contract import Announcing, Answering, Anytime, Budget, Facts, Observer, unanswered
from fairdsl.clock import GRACE, now, until
from fairdsl.ir.problem import Problem
from fairdsl.plan.joining import joined, known_part
from fairdsl.plan.negotiate import Stage
from fairdsl.verdict import Evidence, Reason, Unknown, Verdict

#: An engine that cannot go on is asked anew only with so many times the seconds that it was given last; one that can,
#: with this part of them, or so many seconds.
_ANEW = 1.5
_ON, _SECONDS = 0.125, 1.0


@dataclass(slots=True, eq=False)
class AskedEngine:
    """An engine of a plan, what it took and what it said last."""

    stage: Stage
    #: Seconds of all its turns, on the clock of the work.
    spent: float = 0.0
    #: What it said last; None before its first turn.
    verdict: Verdict | None = None
    #: How much of the answer it knows, from 0 to 1.
    known: float = 0.0
    _ended: bool = False
    _working: Answering | None = field(default=None, repr=False)
    #: Whether its last turn went on from the one before.
    _goes_on: bool = False
    #: Seconds that it was given last.
    _given: float = 0.0

    @property
    def name(self) -> str:
        """The backend's name."""
        return self.stage.procedure.name

    @property
    def at_work(self) -> bool:
        """Whether it has more to do where it ended."""
        return self._working is not None

    def may_go_on(self, seconds: float) -> bool:
        """Whether another turn of so many seconds may add anything."""
        if self.verdict is None:
            return True
        needed = _ANEW * self._given if self._working is None else min(_SECONDS, _ON * self._given)
        return not self._ended and seconds > needed

    def dismiss(self) -> None:
        """It has no turn any more, and gives back what it holds."""
        self._ended = True
        if self._working is not None:
            self._working.close()
            self._working = None

    def turn(self, problem: Problem, facts: Facts, budget: Budget, observer: Observer) -> Verdict:
        """What it makes of the problem by the end of the budget; unknown where it does not end by itself then."""
        facts.so_far = None
        self._given = budget.remaining
        began, verdict, listening = now(), None, _noting(observer)
        try:
            with until(budget.deadline, grace=GRACE):
                verdict = self._next(problem, facts, budget, listening)
        except MemoryError:
            self.dismiss()
            evidence = Evidence(backend=self.name, method="ran out of memory")
            verdict = Unknown(reason=Reason.MEMORY_OUT, detail="the machine's memory was not enough", evidence=evidence)
        self.spent += now() - began
        if verdict is None:  # ended by the clock: nothing that was changed inside can be used
            self._working, self._goes_on = None, False
            verdict = facts.so_far
        if verdict is None:
            detail = "the time was up before anything was decided"
            method = "ended by the clock"
            verdict = unanswered(problem.quantity, Reason.TIMEOUT, detail, backend=self.name, method=method)
        self.known = max(known_part(verdict), listening.fraction)
        self.verdict = verdict if self.verdict is None or self._goes_on else joined(self.verdict, verdict)
        return self.verdict

    def _next(self, problem: Problem, facts: Facts, budget: Budget, observer: Observer) -> Verdict:
        procedure = self.stage.procedure
        verdict: Verdict
        if not isinstance(procedure, Anytime):
            verdict = procedure.answer(problem, facts, budget, observer)
            self._ended = not _for_want_of_time(verdict)
            return verdict
        try:
            self._goes_on = self._working is not None
            if self._working is None:
                self._working = procedure.answering(problem, facts, budget, observer)
                return next(self._working)
            return self._working.send(budget)
        except StopIteration as ended:
            verdict = ended.value
            self._working, self._ended = None, not _for_want_of_time(verdict)
            return verdict


def _for_want_of_time(verdict: Verdict) -> bool:
    return getattr(verdict, "reason", None) is Reason.TIMEOUT


class _Noting:
    """Passes progress on, and keeps how far the work is."""

    def __init__(self, observer: Observer) -> None:
        self._observer = observer
        self.fraction = 0.0

    def progress(self, stage: str, fraction: float | None, detail: str) -> None:
        self.fraction = self.fraction if fraction is None else fraction
        self._observer.progress(stage, fraction, detail)


class _NotingAloud(_Noting):
    """The same for an observer that passes on announcements."""

    def __init__(self, observer: Announcing, progress: Observer) -> None:
        super().__init__(progress)
        self._announcing = observer

    def announce(self, text: str) -> None:
        self._announcing.announce(text)


def _noting(observer: Observer) -> _Noting:
    return _NotingAloud(observer, observer) if isinstance(observer, Announcing) else _Noting(observer)
