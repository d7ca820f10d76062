"""Joint probabilities of a subject: which order is taken for each of its programs, and the masses by key.

Two orders are there: *path* (:mod:`.path`, one column at a time over states of the model) and *tree* (:mod:`.boxes`,
all ways through one diagram at once). What each takes is counted before anything is multiplied, and the cheaper one is
taken. Nothing is computed of what would take too much: then there is no joint, and a reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fairdsl.backends.rates.arithmetic import Arithmetic, Distribution, Kind, Masses, distribution_of
from fairdsl.backends.rates.boxes import Boxes, boxes_of, masses_of_boxes, ways_through, width_of
from fairdsl.backends.rates.path import Courses, Ordered, masses_of
from fairdsl.backends.rates.program import Asked, Program, asked_of
from fairdsl.backends.rates.states import Course, chosen
from fairdsl.metrics.joint import Bounds, ByKey, Joint, of_any
from fairdsl.metrics.subject import Subject

#: What counting may take for an offer, and for an answer, in products of two small numbers: up to a second, and twenty.
FIRST, LAST = 1 << 25, 1 << 31
#: The same for weighted sums of columns, which are added up elsewhere as well.
_OF_SUMS = 1 << 20
#: What boxes may take in any case: they are counted without a search.
_BOXED = 1 << 26
#: Masses are large whole numbers, not float64, where they take at most so many products of small ones.
_EXACT = 1 << 26


class TooManyError(Exception):
    """There are more states, or larger tables, than are computed with."""


@dataclass(frozen=True, eq=False)
class _Way:
    """How a program's masses are computed: along a course, or over boxes."""

    program: Program
    how: Ordered | Boxes
    #: About how many products it takes.
    products: float
    #: Where cells are open, the courses whose ends are the least and the greatest mass.
    ends: tuple[Course, Course] | None = None

    @property
    def in_words(self) -> str:
        """What is counted, for the report."""
        if isinstance(self.how, Boxes):
            return f"{self.how.count:,} boxes"
        most = self.how[1].most
        return f"at most {most:,} state{'' if most == 1 else 's'}"


@dataclass(frozen=True, eq=False)
class Prepared:
    """A subject whose states are counted. ``event`` and ``condition`` as in :class:`.program.Asked`."""

    subject: Subject
    asked: Asked
    distribution: Distribution
    event: _Way
    condition: _Way

    def joint(self) -> tuple[Joint, Kind]:
        """The joint probabilities by key, and in which numbers they were computed."""
        kinds = set[Kind]()
        total, event = self._bounds(self.condition, kinds), self._bounds(self.event, kinds)
        return _joint(self.subject, self.asked, total, event), max(kinds, key=list(Kind).index)

    @property
    def total(self) -> list[Bounds]:
        """The masses of the condition, in the order of the keys' cells."""
        return self._bounds(self.condition, set())

    @property
    def in_words(self) -> str:
        """What was counted."""
        columns = len(self.distribution.sizes)
        return f"{self.event.in_words} over {columns} column{'' if columns == 1 else 's'}"

    @cached_property
    def _denominator(self) -> int:
        return self.distribution.denominator(self.asked.columns)

    def _bounds(self, way: _Way, kinds: set[Kind]) -> list[Bounds]:
        """The masses by key, in the order of the keys' cells."""
        arithmetic = Arithmetic.exact(self._denominator)
        if arithmetic.kind is Kind.LARGE and way.products * (8 + self._denominator.bit_length() // 64) > _EXACT:
            arithmetic = Arithmetic(Kind.FLOAT, 1)
        least, most = self._masses(way, arithmetic)
        if not arithmetic.safe:
            arithmetic = Arithmetic.exact(self._denominator)
            least, most = self._masses(way, arithmetic)
        kinds.add(arithmetic.kind)
        return arithmetic.bounds(least, most)

    def _masses(self, way: _Way, arithmetic: Arithmetic) -> tuple[Masses, Masses]:
        keys, columns = self.subject.keys, self.asked.columns
        if isinstance(way.how, Boxes):
            return masses_of_boxes(self.distribution, way.how, keys, columns, arithmetic)
        order, course = way.how
        if way.ends is None:
            return masses_of(self.distribution, course, order, keys, columns, arithmetic)
        least, most = (masses_of(self.distribution, end, order, keys, columns, arithmetic)[0] for end in way.ends)
        return least, most


class OfStates:
    """The joint of a subject whose states are counted: one step, and all is known."""

    notes: tuple[str, ...] = ()

    def __init__(self, counted: Sequence[Prepared]) -> None:
        """``counted``: the outcomes that the rate is of, one by one."""
        self.joint: Joint | None = None
        self.exact = True
        self.in_words = masses_in_words(counted)
        self._counted = counted

    def improve(self) -> bool:
        """Compute it, the first time."""
        if self.joint is not None:
            return False
        joints, kinds = zip(*(each.joint() for each in self._counted), strict=True)
        self.joint = of_any(joints)
        self.exact = Kind.FLOAT not in kinds
        return True


def masses_in_words(counted: Sequence[Prepared]) -> str:
    """What is computed of them."""
    return f"probabilities of {' and '.join(dict.fromkeys(each.in_words for each in counted))}"


def _joint(subject: Subject, asked: Asked, total: Sequence[Bounds], event: Sequence[Bounds]) -> Joint:
    """The joint of masses of a condition and of an event, in the order of the keys' cells."""
    names = subject.listed
    pairs = zip(total, event, strict=True)
    met = [whole.without(part) if asked.complement else part.within(whole) for whole, part in pairs]
    return Joint(favourable=ByKey(names, met), total=ByKey(names, total))


class Ways:
    """The ways in which a subject's masses may be computed, as far as their states were counted.

    Raises the errors of :func:`.program.asked_of` and :func:`.distribution.distribution_of`.
    """

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._asked = asked = asked_of(subject)
        reads = asked.event.reads | (asked.condition.reads if asked.condition is not None else set())
        self._distribution = distribution_of(subject.network, reads | set(subject.keys))
        programs = (asked.event, asked.condition or _anybody(asked))
        self._of_each = [_Ways(program, asked, self._distribution, subject.keys) for program in programs]

    @property
    def diagrams(self) -> int:
        """Trees, lists and other predicates that are added up."""
        return self._asked.diagrams

    @property
    def single(self) -> bool:
        """Whether the model is one tree, list or other predicate, and nothing is added up."""
        return len(self._asked.event.roots) <= 1 and not self._asked.event.adds

    def within(self, limit: float) -> Prepared:
        """The cheapest ways, where so much work counts their states; what was counted before is not counted again.

        Raises TooManyError where there are too many.
        """
        event, condition = (each.within(limit) for each in self._of_each)
        return Prepared(self._subject, self._asked, self._distribution, event, condition)


def _anybody(asked: Asked) -> Program:
    """The event that always happens."""
    nothing = np.zeros(1, dtype=np.int64)
    return Program(asked.event.diagrams, (), {}, nothing, nothing)


class Wholes:
    """What is known of a subject without its model: the mass of the condition, and of everybody.

    Raises TooManyError where that cannot be counted.
    """

    def __init__(self, subject: Subject) -> None:
        ways = Ways(subject)
        self._subject = subject
        self.asked, self.distribution = ways._asked, ways._distribution
        anybody = _Ways(_anybody(self.asked), self.asked, self.distribution, subject.keys).within(LAST)
        condition = ways._of_each[1].within(LAST)
        everybody, self._condition = (
            Prepared(subject, self.asked, self.distribution, way, way).total for way in (anybody, condition)
        )
        #: Masses by the cells of the keys, in their order.
        self.everybody: list[Bounds] = everybody

    def joint(self, event: Sequence[Bounds]) -> Joint:
        """The joint where the event has these masses."""
        return _joint(self._subject, self.asked, self._condition, event)


class _Ways:
    """Those of one program."""

    def __init__(self, program: Program, asked: Asked, distribution: Distribution, keys: Sequence[int]) -> None:
        self._program, self._asked = program, asked
        self._courses = Courses(program, distribution, keys, asked.columns)
        self._width = width_of(distribution, keys)
        #: Whether cells are open of columns that it reads.
        self._open = any(asked.columns[column].open for column in program.reads)
        self._boxed = None
        if program.plain and not self._open:
            each = self._width + sum(column.classes for column in asked.columns.values())
            self._boxed = ways_through(program) * each
        self._found: _Way | None = None

    def within(self, limit: float) -> _Way:
        if self._found is None:
            self._found = self._counted(limit)
        return self._found

    def _counted(self, limit: float) -> _Way:
        most = limit if self._asked.diagrams else min(limit, _OF_SUMS)
        if self._boxed is not None:
            most = min(most, max(_OF_SUMS, self._boxed))
        course = self._courses.within(most)
        if course is not None:
            return self._by_course(course, limit)
        fits = self._boxed is not None and self._boxed <= max(limit, _BOXED)
        boxes = boxes_of(self._program, self._asked.columns) if fits else None
        if boxes is None:
            raise TooManyError("the model has too many states, whatever the order in which columns become known")
        return _Way(self._program, boxes, boxes.count * self._width)

    def _by_course(self, ordered: Ordered, limit: float) -> _Way:
        course = ordered[1]
        if not self._open:
            return _Way(self._program, ordered, course.products)
        least, most = (chosen(course, self._asked.columns, limit, favouring=best) for best in (False, True))
        if least is None or most is None:
            raise TooManyError("there are too many ways in which values may lie within cells of known mass")
        return _Way(self._program, ordered, least.products + most.products, (least, most))
