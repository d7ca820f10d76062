"""The joint of one subject enclosed by boxes that are cut, and beside them by combinations, the heaviest first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

from fairdsl.backends.contract import Answering, Budget, Facts, Observer
from fairdsl.backends.groups import question_of
from fairdsl.backends.rates.cover import Cover
from fairdsl.backends.rates.enclosing import notes_of_unknown, nothing, with_unknown
from fairdsl.backends.rates.engine import TooManyError
from fairdsl.backends.rates.heavy import Heavy
from fairdsl.backends.rates.joints import set_to
from fairdsl.clock import Deadline, Work, now, spend, until
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import MOST_FAVOURED
from fairdsl.metrics.alike import Assignment
from fairdsl.metrics.hull import hull_of
from fairdsl.metrics.joint import Joint, Key
from fairdsl.metrics.subject import Subject
from fairdsl.metrics.value import decided, most_favoured_groups, value_of
from fairdsl.replay import rows_counted
from fairdsl.verdict import Evidence, Judgement, Reason, Refused, Unknown, Value, judged

#: After so many steps of one a step of the other.
_OTHER = 6
#: What is counted where effort is given.
WEIGHED, _COMBINED = Work("boxes weighed", 10), Work("combinations looked at", 0.2)


class Narrowing:
    """Boxes, and combinations once they are asked for."""

    def __init__(self, subject: Subject, groups: Sequence[Sequence[Assignment]] = (), *, kept: bool = False) -> None:
        self._subject = subject
        self.cover = Cover(subject, groups, kept=kept)
        self._heavy: Heavy | None = None
        #: Whether boxes leave less open than combinations, as far as that was seen; and steps so far.
        self._ahead, self._steps = True, 0

    def by_weight(self) -> None:
        """Go through combinations as well, where that can be done."""
        if self._heavy is None:
            with suppress(TooManyError):
                self._heavy = Heavy(self._subject)

    @property
    def finished(self) -> bool:
        """Whether nothing is left to be done."""
        return self.cover.finished or (self._heavy is not None and self._heavy.finished)

    @property
    def full(self) -> bool:
        """Whether there is no room for more boxes, and nothing else to be done."""
        return self.cover.full and self._heavy is None

    @property
    def boxes(self) -> int:
        """How many were weighed."""
        return self.cover.boxes

    @property
    def individuals(self) -> int:
        """How many were decided one by one."""
        return self.cover.individuals

    @property
    def combinations(self) -> int:
        """How many were looked at."""
        return 0 if self._heavy is None else self._heavy.combinations

    def improve(self) -> None:
        """A step of the one that leaves less open, now and then of the other."""
        self._steps += 1
        if self._heavy is None or (self._ahead != (self._steps % _OTHER == 0) and not self.cover.full):
            before = self.boxes
            self.cover.improve()
            spend(WEIGHED, 1 + self.boxes - before, each=self.cover.of_a_box)
            return
        before = self.combinations
        self._heavy.improve()
        spend(_COMBINED, 1 + self.combinations - before)

    def joint(self) -> Joint:
        """What is known by now: both enclose the same masses, beside which there is mass that nobody knows."""
        joint = self.cover.joint()
        if self._heavy is not None:
            other = self._heavy.joint()
            self._ahead = _open(joint) < _open(other)
            joint = joint.met(other)
        return with_unknown(joint, self._subject)

    @property
    def notes(self) -> tuple[str, ...]:
        """Why it is an enclosure, where that is no matter of boxes."""
        return notes_of_unknown(self._subject)


def _open(joint: Joint) -> float:
    return float(sum(bounds.high - bounds.low for bounds in joint.favourable.values()))


# --------------------------------------------------------------------------------------------------
# What the boxes of a question say of its metric.
#
# The baseline of a path-specific gap may be the most favoured group. Boxes of people as they are say who that may be;
# they narrow until it is one group, and beside those of every group that it may be once these are few, or nothing more
# is found out. The metric is then the hull of all, so equally favoured groups are no reason to say nothing.

#: So many groups at most are baselines before boxes have said all that they can.
_FEW = 8


class _Asked:
    """Boxes by the baseline that they are about, all of which may be meant; one, without a name, where none is open."""

    def __init__(self, problem: Problem, subjects: Sequence[Subject]) -> None:
        self._problem, self._question = problem, question_of(problem)
        assert problem.population is not None, "checked by the offer"
        self._population = problem.population
        self._counts = rows_counted(self._question, self._population, problem.model)
        self._subjects = subjects
        #: People as they are, where the baseline is the most favoured group of them.
        self._people: Narrowing | None = None
        self._by_baseline: dict[Key, list[Narrowing]] = {}
        if self._question.baseline == MOST_FAVOURED:
            self._people = Narrowing(subjects[0])
        else:
            self._by_baseline[()] = [Narrowing(subject) for subject in subjects]
        self._weighed = False
        self._joints: list[list[Joint]] = []

    @property
    def covers(self) -> list[Narrowing]:
        """All that may narrow."""
        found = [cover for covers in self._by_baseline.values() for cover in covers]
        return found if self._people is None else [self._people, *found]

    def by_weight(self) -> None:
        """Go through combinations as well, from now on."""
        self._weighed = True
        for cover in self.covers:
            cover.by_weight()

    def look(self) -> None:
        """Add up what is known, and begin with the baselines that it leaves."""
        if self._people is not None:
            found = most_favoured_groups(self._question, self._joint(self._people), self._population)
            ended = self._people.finished or self._people.full
            if len(found) <= _FEW or ended:
                self._by_baseline = {key: self._by_baseline.get(key) or self._of(key) for key in found}
            if len(found) == 1 or ended:
                self._people = None
        self._joints = [[self._joint(cover) for cover in covers] for covers in self._by_baseline.values()]

    def _joint(self, cover: Narrowing) -> Joint:
        return replace(cover.joint(), counts=self._counts)

    def _of(self, baseline: Key) -> list[Narrowing]:
        covers = [Narrowing(subject) for subject in set_to(self._subjects[0], self._question, baseline)]
        if self._weighed:
            for cover in covers:
                cover.by_weight()
        return covers

    def value(self, reason: Reason | None) -> Value | Refused | Unknown:
        """The metric as of the last look, and why it is no narrower."""
        values: list[Value] = []
        for joint, *without in self._joints:
            found = value_of(
                self._question,
                joint,
                self._population,
                _evidence(self.covers),
                without=without[0] if without else None,
                reason=reason,
            )
            if isinstance(found, Refused):
                return found
            values.append(found)
        return hull_of(values) if values else nothing(reason or Reason.INCOMPLETE, "who is favoured most is not known")

    def settled(self, value: Value | Refused | Unknown) -> bool:
        """Whether more boxes would change nothing that is asked for."""
        if not isinstance(value, Value):
            return isinstance(value, Refused)
        threshold = self._problem.threshold
        if len(self._joints) > 1 and threshold is not None and judged(value, threshold) is not Judgement.UNKNOWN:
            return True
        return self._people is None and all(
            decided(
                self._question,
                threshold,
                joint,
                self._population,
                without=without[0] if without else None,
                value=value if len(self._joints) == 1 else None,
            )
            for joint, *without in self._joints
        )


# --------------------------------------------------------------------------------------------------
# The metric while it is found out: boxes are cut until it is known as well as it has to be, or nothing is left.
#
# Where a model has states, they are counted as well, once boxes alone have not settled it soon: what has been counted
# to the end is exact, however many boxes are open. Where there are too many of them, the heaviest combinations are gone
# through beside the boxes.

#: Seconds of cutting before states are counted, and how many times as long that may take; then they take turns.
_HEAD, _COUNTING = 1.5, 4.0
#: Between two looks at the metric passes so many times as long as one takes.
_BETWEEN = 8.0
#: What is counted where effort is given: boxes that are added up at a look.
_ADDED = Work("boxes added up", 0.1)


def refined(
    problem: Problem,
    subjects: Sequence[Subject],
    facts: Facts,
    budget: Budget,
    observer: Observer,
    counting: Callable[[], Value | Refused | Unknown] | None,
) -> Answering:
    """The metric, exactly or as an interval that decides the threshold; wider when a budget ends first.

    ``counting`` is another way to it, for a part of the time. Where its time ended it goes on later; where it ends
    without a number for another reason, there is no such way.
    """
    asked = _Asked(problem, subjects)
    told = counted_at = now()
    pause, head, times = 0.0, _HEAD, _COUNTING
    while True:
        began = now()
        asked.look()
        covers = asked.covers
        spend(_ADDED, 1 + sum(cover.boxes for cover in covers))
        reason = _reason(covers, budget)
        value = asked.value(reason or Reason.TIMEOUT)  # where the clock ends it before there is more
        facts.so_far = value
        if asked.settled(value) or facts.decided_by(value):
            return asked.value(None)
        if reason is Reason.TIMEOUT:
            ended = now()
            budget = yield value
            counted_at += now() - ended
            continue
        if reason is not None:
            return value
        if began - told > 0.5:
            observer.progress("rates", None, _so_far(value, covers))
            told = began
        if counting is not None and began - counted_at > head:
            found = _within(min(budget.remaining, times * (began - counted_at)), counting)
            counted_at = now()
            head, times = max(_HEAD, counted_at - began), 1.0
            if isinstance(found, Value | Refused):
                return found
            if found.reason is not Reason.TIMEOUT:
                counting = None
            asked.by_weight()
        pause = _BETWEEN * (now() - began)
        _improve(covers, began + pause, budget)


def _within(seconds: float, counting: Callable[[], Value | Refused | Unknown]) -> Value | Refused | Unknown:
    """What another way comes to in some seconds."""
    with until(Deadline.within(seconds)):
        return counting()
    return nothing(Reason.TIMEOUT)


def _improve(covers: Sequence[Narrowing], moment: float, budget: Budget) -> None:
    """Distributions take turns: the one of which more is open is not known without its metric."""
    while True:
        waiting = [cover for cover in covers if not cover.finished]
        for cover in waiting:
            cover.improve()
        if not waiting or any(cover.full for cover in covers) or budget.exhausted or now() > moment:
            return


def _reason(covers: Sequence[Narrowing], budget: Budget) -> Reason | None:
    """Why bounds do not narrow any more; None where they do."""
    if all(cover.finished for cover in covers):
        return Reason.INCOMPLETE
    if any(cover.full for cover in covers):
        return Reason.MEMORY_OUT
    return Reason.TIMEOUT if budget.exhausted else None


def _evidence(covers: Sequence[Narrowing]) -> Evidence:
    people = sum(cover.individuals for cover in covers)
    alone = f", and of {people:,} combinations of values one by one" if people else ""
    heavy = sum(cover.combinations for cover in covers)
    beside = f", and of {heavy:,} combinations of classes, the heaviest first" if heavy else ""
    notes = tuple(dict.fromkeys(note for cover in covers for note in cover.notes))
    method = f"probability bounds of {sum(cover.boxes for cover in covers):,} boxes{alone}{beside}"
    return Evidence(backend="rates", method=method, notes=notes)


def _so_far(value: Value | Refused | Unknown, covers: Sequence[Narrowing]) -> str:
    boxes = f"{sum(cover.boxes for cover in covers):,} boxes"
    if not isinstance(value, Value) or not value.defined:
        return boxes
    return f"so far between {float(value.number.low):.4g} and {float(value.number.high):.4g}, {boxes}"
