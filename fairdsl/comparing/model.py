"""A comparison as data: of every file, verdict and number what it was, what it is, and what is certain of the change.

Let a number x be known to lie in [a, b] before, and y in [c, d] after. Then y - x lies in [c - b, d - a], and

* it *rose* (y > x for certain) if and only if b < c, and *fell* if and only if d < a;
* it is *the same* for certain only if both are single numbers and equal;
* otherwise the bounds leave it *open*.

A number with an ideal i (1 of ratios and fair shares, 0 of gaps and signed differences) *got worse* by
|y - i| - |x - i|. The distance |x - i| lies in [max(0, a - i, i - b), max(|a - i|, |b - i|)]; that it grew by at most t
is certain where the difference of the two distances is at most t throughout, and certainly false where it is more
throughout.

All of it is in exact rational arithmetic. Bounds that were written as floats were rounded outward, so whatever is
certain of the written intervals is certain of the true numbers.

Estimates are not bounds: an interval of confidence c misses its number once in 1 / (1 - c) samples. So a change that an
estimate takes part in is neither certain nor ruled out, and all that is said is whether the two intervals have a number
in common. If they have none, the numbers differ unless an interval misses: with confidence 1 - (1 - c) - (1 - d).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from typing import ClassVar

from fairdsl.codec import Document
from fairdsl.report.model import HashedFile
from fairdsl.report.shown import Worded
from fairdsl.verdict import Interval, Judgement, Named


class Course(Enum):
    """Where a verdict went."""

    SAME = "same"
    BETTER = "better"
    WORSE = "worse"
    OTHER = "other"  # neither: a violation that is not decided any more, or a refusal instead of an unknown
    REMOVED = "removed"  # not asked any more; what held and is asked no more is worse
    ADDED = "added"


class Movement(Enum):
    """Where a number went, as far as its bounds say."""

    SAME = "same"
    ROSE = "rose"
    FELL = "fell"
    OPEN = "open"  # the bounds have numbers in common
    MISSING = "missing"  # there is no number in one of the reports
    ESTIMATED = "estimated"  # one of the two is an estimate, which proves nothing


class ExitCode(Enum):
    """What ``fairdsl compare`` tells the shell."""

    NOT_WORSE = 0
    WORSE = 1  # a verdict got worse, or a number did by more than the tolerance
    REFUSED = 2
    UNKNOWN = 3  # a number may have got worse by more than the tolerance


#: How much a verdict claims in favour of the model.
_RANKS = {
    Judgement.HOLDS: 2,
    Judgement.MEASURED: 2,
    Judgement.UNKNOWN: 1,
    Judgement.VACUOUS: 1,
    Judgement.REFUSED: 1,
    Judgement.VIOLATED: 0,
}


def course_of(before: Judgement | None, after: Judgement | None, *, meant: bool = False) -> Course:
    """Where a verdict went; None where it is not asked.

    What held and is asked no more got worse, unless that is ``meant``.
    """
    if before is None:
        return Course.ADDED
    if after is None:
        return Course.WORSE if before is Judgement.HOLDS and not meant else Course.REMOVED
    if before is after:
        return Course.SAME
    if _RANKS[after] < _RANKS[before]:
        return Course.WORSE
    return Course.BETTER if _RANKS[after] == 2 else Course.OTHER


@dataclass(frozen=True, slots=True)
class Change:
    """A number before and after; None where there is none."""

    ALSO_WRITTEN: ClassVar[tuple[str, ...]] = ("difference", "movement")

    #: What it was.
    before: Interval | None
    #: What it is.
    after: Interval | None

    @property
    def difference(self) -> Interval | None:
        """Bounds of after minus before; None where one of the two is missing."""
        if self.before is None or self.after is None:
            return None
        return Interval(_minus(self.after.low, self.before.high), _minus(self.after.high, self.before.low))

    @property
    def movement(self) -> Movement:
        """What is certain about the change."""
        difference = self.difference
        if difference is None:
            return Movement.MISSING
        if difference.exact == 0:
            return Movement.SAME
        if difference.low is not None and difference.low > 0:
            return Movement.ROSE
        return Movement.FELL if difference.high is not None and difference.high < 0 else Movement.OPEN

    def within(self, tolerance: Fraction, ideal: Fraction) -> bool | None:
        """Whether it is at most ``tolerance`` further from its ideal than before; None where that is not known.

        Where there is no number before and none after, nothing got worse.
        """
        if self.before is None or self.after is None:
            return True if self.before is self.after else None
        grown = Change(_distance(self.before, ideal), _distance(self.after, ideal)).difference
        assert grown is not None
        if grown.low is not None and grown.low > tolerance:
            return False
        return True if grown.high is not None and grown.high <= tolerance else None


def _distance(value: Interval, ideal: Fraction) -> Interval:
    """Bounds of the distance of a number in ``value`` from the ideal."""
    low, high = _minus(value.low, ideal), _minus(value.high, ideal)
    least = max([Fraction(0), *(end for end in (low, None if high is None else -high) if end is not None)])
    return Interval(least, None if low is None or high is None else max(abs(low), abs(high)))


def _all_of(answers: Iterable[bool | None]) -> bool | None:
    """Whether all are true; one that is false decides, else one that is not known."""
    found = list(answers)
    return False if False in found else None if None in found else True


def _minus(first: Fraction | None, second: Fraction | None) -> Fraction | None:
    return None if first is None or second is None else first - second


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupChange:
    """A group's rate, or the number for one value of the attributes of ``given``."""

    #: Whose number it is.
    at: Named
    #: The rate, or the number.
    number: Change
    #: The intervals that cover sampling error.
    sampling: Change | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Favoured:
    """The groups that may be the most, or the least, favoured, in words."""

    #: Before.
    before: str
    #: After.
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Confidences:
    """The confidences of the estimates that a value was and is; None of what is proved."""

    #: Of the value before.
    before: Fraction | None = None
    #: Of the value after.
    after: Fraction | None = None


_PROVED = Confidences()


@dataclass(frozen=True, slots=True, kw_only=True)
class DemandChange:
    """One line of a property in both reports; a verdict is None where the report does not ask it.

    ``value`` is None for lines without a number of their own. ``spread``: the value is the span of several numbers,
    which are compared one by one: rates (``groups``), or those for the values of ``given`` (``parts``).
    ``confidences`` are those of the estimates that the value is before and after; None of what is proved.
    ``favoured``: the most, then the least favoured groups before and after, where they changed. ``percent`` says how
    numbers are written; ``ideal`` is what they are at best, None of numbers that are neither better nor worse.
    ``tolerance`` is that of the comparison.
    """

    ALSO_WRITTEN: ClassVar[tuple[str, ...]] = ("course", "movement", "apart", "within_tolerance")

    #: The line as the spec writes it.
    text: str
    #: What it asks for.
    metric: str
    #: What it came to; None where it was not asked.
    before: Judgement | None = None
    #: What it comes to; None where it is not asked any more.
    after: Judgement | None = None
    #: Whether it was said that what is not asked any more was removed on purpose.
    meant: bool = False
    #: Its number; None of lines without a number of their own.
    value: Change | None = None
    #: The intervals that cover sampling error, where the spec asked for them.
    sampling: Change | None = None
    #: Whether the value is the span of several numbers, which are compared one by one.
    spread: bool = False
    #: The rates of groups.
    groups: tuple[GroupChange, ...] = ()
    #: The numbers for the values of ``given``.
    parts: tuple[GroupChange, ...] = ()
    #: The groups that may be the `most` and the `least` favoured, where they changed.
    favoured: Mapping[str, Favoured] = field(default_factory=dict)
    #: Whether its numbers are written in percent.
    percent: bool = False
    #: What its numbers are at best; None of numbers that are neither better nor worse.
    ideal: Fraction | None = None
    #: The confidences of the estimates that the value was and is.
    confidences: Confidences = _PROVED
    #: How much further from the ideal its numbers may be.
    tolerance: Fraction | None = None

    @property
    def estimated(self) -> bool:
        """Whether its value is an estimate, before or after."""
        return self.confidences != _PROVED

    @property
    def movement(self) -> Movement:
        """Where the value went; nothing is certain of an estimate."""
        change = self.value or _NO_NUMBER
        return Movement.ESTIMATED if self.estimated and change.difference is not None else change.movement

    @property
    def apart(self) -> Fraction | None:
        """With which confidence an estimated value differs; None where the two intervals have a number in common."""
        if self.value is None or self.value.movement not in (Movement.ROSE, Movement.FELL):
            return None
        confidences = (self.confidences.before, self.confidences.after)
        return 1 - sum((1 - one for one in confidences if one is not None), Fraction(0))

    @property
    def course(self) -> Course:
        """Where the verdict went."""
        return course_of(self.before, self.after, meant=self.meant)

    @property
    def in_both(self) -> bool:
        """Whether both reports ask it."""
        return self.before is not None and self.after is not None

    @property
    def within_tolerance(self) -> bool | None:
        """Whether none of its numbers got worse by more than ``tolerance``; None where that is not known.

        Numbers without an ideal, and lines that one report does not ask, do not count. Of estimates it is not known.
        True without a tolerance.
        """
        if self.tolerance is None or self.ideal is None or not self.in_both:
            return True
        if self.estimated:
            return None
        numbers = [item.number for item in self.parts] or [self.value or _NO_NUMBER]
        return _all_of(number.within(self.tolerance, self.ideal) for number in numbers)


_NO_NUMBER = Change(None, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class PropertyChange:
    """A property in both reports. ``left`` and ``joined`` are clauses in force before only, and after only."""

    ALSO_WRITTEN: ClassVar[tuple[str, ...]] = ("course",)

    #: Its name.
    name: str
    #: What it came to; None where it was not asked.
    before: Judgement | None = None
    #: What it comes to; None where it is not asked any more.
    after: Judgement | None = None
    #: Clauses that were in force before only.
    left: tuple[str, ...] = ()
    #: Clauses that are in force after only.
    joined: tuple[str, ...] = ()
    #: Its lines.
    demands: tuple[DemandChange, ...]

    @property
    def another_question(self) -> bool:
        """Whether its demands were about others before: other clauses were in force."""
        return bool(self.left or self.joined)

    @property
    def course(self) -> Course:
        """Where it went: it got worse if one of its demands did."""
        courses = {demand.course for demand in self.demands}
        if Course.WORSE in courses:
            return Course.WORSE
        return Course.REMOVED if self.after is None else course_of(self.before, self.after)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """A file that verdicts are about, by its name in the spec; None where a report does not name it."""

    ALSO_WRITTEN: ClassVar[tuple[str, ...]] = ("same",)

    #: What the spec calls it.
    name: str
    #: The file that it was; None where the report does not name it.
    before: HashedFile | None = None
    #: The file that it is.
    after: HashedFile | None = None

    @property
    def same(self) -> bool | None:
        """Whether the bytes are the same; None where a digest is missing, as of models that the spec writes itself."""
        if self.before is None or self.after is None:
            return False
        if self.before.sha256 is None or self.after.sha256 is None:
            return None
        return self.before.sha256 == self.after.sha256


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One of the two reports: what it is called, the version of fairdsl that wrote it, and its seed."""

    #: What the report is called.
    report: str
    #: The version of fairdsl that wrote it.
    fairdsl: str
    #: Its seed.
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison(Worded, Document):
    """Everything that changed between two reports; ``tolerance``: numbers may get worse by that much."""

    SCHEMA: ClassVar[str] = "fairdsl.comparison/2"
    ALSO_WRITTEN: ClassVar[tuple[str, ...]] = ("within_tolerance", "exit_code")

    #: The one report.
    before: Side
    #: The other one.
    after: Side
    #: The spec.
    spec: FileChange
    #: The files that it uses.
    used: tuple[FileChange, ...] = ()
    #: The models.
    models: tuple[FileChange, ...]
    #: The files of distributions.
    data: tuple[FileChange, ...]
    #: What became of each property.
    properties: tuple[PropertyChange, ...]
    #: How much further from their ideals numbers may be; None: only verdicts decide.
    tolerance: Fraction | None = None

    @property
    def within_tolerance(self) -> bool | None:
        """Whether no number got worse by more than the tolerance; None where that is not known. True without one."""
        if self.tolerance is None:
            return True
        return _all_of(demand.within_tolerance for item in self.properties for demand in item.demands)

    @property
    def exit_code(self) -> ExitCode:
        """A verdict that got worse, or a number outside the tolerance, first; then what is not known."""
        within = self.within_tolerance
        if within is False or any(item.course is Course.WORSE for item in self.properties):
            return ExitCode.WORSE
        return ExitCode.NOT_WORSE if within else ExitCode.UNKNOWN

    def lines(self) -> Iterator[str]:
        """What ``fairdsl compare`` prints."""
        from fairdsl.comparing.text import render
        from fairdsl.diagnostics.style import Style

        return iter(render(self, Style()).rstrip("\n").split("\n"))
