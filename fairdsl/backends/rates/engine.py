"""Joint probabilities of a subject: which order is taken for each of its programs, and the masses by key.

Two orders are there: *path* (:mod:`.path`, one column at a time over states of the model) and *tree* (:mod:`.boxes`,
all ways through one diagram at once). What each takes is counted before anything is multiplied, and the cheaper one is
taken. Nothing is computed of what would take too much: then there is no joint, and a reason.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from fairdsl.backends.rates.arithmetic import Arithmetic, Kind, Masses
from fairdsl.backends.rates.boxes import Boxes, boxes_of, masses_of_boxes, ways_through, width_of
from fairdsl.backends.rates.distribution import Distribution, distribution_of
from fairdsl.backends.rates.order import Ordered, course_within
from fairdsl.backends.rates.path import masses_of
from fairdsl.backends.rates.program import Asked, Program, asked_of
from fairdsl.metrics.joint import Bounds, Joint, Key, key_of
from fairdsl.metrics.subject import Subject

__all__ = ["FIRST", "LAST", "Prepared", "TooManyError", "prepared"]

#: What counting may take for an offer, and for an answer, in products of two small masses: up to a second, and twenty.
FIRST, LAST = 1 << 24, 1 << 29
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

    @property
    def in_words(self) -> str:
        """What is counted, for the report."""
        if isinstance(self.how, Boxes):
            return f"{self.how.count:,} boxes"
        return f"at most {self.how[1].most:,} states"


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
        total = self._bounds(self.condition, kinds)
        favourable = self._bounds(self.event, kinds)
        if self.asked.complement:
            favourable = {key: _less(total[key], bounds) for key, bounds in favourable.items()}
        met = {
            key: Bounds(low=min(bounds.low, total[key].high), high=min(bounds.high, total[key].high))
            for key, bounds in favourable.items()
        }
        return Joint(favourable=met, total=total), max(kinds, key=list(Kind).index)

    @property
    def in_words(self) -> str:
        """What was counted."""
        columns = len(self.distribution.sizes)
        return f"{self.event.in_words} over {columns} column{'' if columns == 1 else 's'}"

    @cached_property
    def _denominator(self) -> int:
        return self.distribution.denominator(self.asked.columns)

    def _bounds(self, way: _Way, kinds: set[Kind]) -> dict[Key, Bounds]:
        arithmetic = Arithmetic.exact(self._denominator)
        if arithmetic.kind is Kind.LARGE and way.products * (8 + self._denominator.bit_length() // 64) > _EXACT:
            arithmetic = Arithmetic(Kind.FLOAT, 1)
        least, most = self._masses(way, arithmetic)
        if not arithmetic.safe:
            arithmetic = Arithmetic.exact(self._denominator)
            least, most = self._masses(way, arithmetic)
        kinds.add(arithmetic.kind)
        network, keys = self.subject.network, self.subject.keys
        names = [[key_of(cell) for cell in network.cells[key]] for key in keys]
        found = {}
        for name, low, high in zip(product(*names), np.ravel(least), np.ravel(most), strict=True):
            found[name] = Bounds(low=arithmetic.ends(low)[0], high=arithmetic.ends(high)[1])
        return found

    def _masses(self, way: _Way, arithmetic: Arithmetic) -> tuple[Masses, Masses]:
        keys, columns = self.subject.keys, self.asked.columns
        if isinstance(way.how, Boxes):
            return masses_of_boxes(self.distribution, way.how, keys, columns, arithmetic)
        order, course = way.how
        return masses_of(self.distribution, course, order, keys, columns, arithmetic)


def _less(whole: Bounds, part: Bounds) -> Bounds:
    """The rest of a mass."""
    low = max(0 * whole.low, whole.low - part.high)
    return Bounds(low=low, high=max(low, whole.high - part.low))


def prepared(subject: Subject, limit: float) -> Prepared:
    """Count the states of a subject, with so much work at most.

    Raises TooManyError where there are too many, and the errors of :func:`.program.asked_of` and
    :func:`.distribution.distribution_of`.
    """
    asked = asked_of(subject)
    reads = asked.event.reads | (asked.condition.reads if asked.condition is not None else set())
    distribution = distribution_of(subject.network, reads | set(subject.keys))
    event = _way_of(asked.event, asked, subject, distribution, limit)
    condition = _way_of(asked.condition or _anybody(asked), asked, subject, distribution, limit)
    return Prepared(subject, asked, distribution, event, condition)


def _anybody(asked: Asked) -> Program:
    """The event that always happens."""
    nothing = np.zeros(1, dtype=np.int64)
    return Program(asked.event.diagrams, (), {}, nothing, nothing)


def _way_of(program: Program, asked: Asked, subject: Subject, distribution: Distribution, limit: float) -> _Way:
    most = limit if asked.diagrams else min(limit, _OF_SUMS)
    boxed = None
    if program.plain:
        each = width_of(distribution, subject.keys) + sum(column.classes for column in asked.columns.values())
        boxed = ways_through(program) * each
        most = min(most, max(_OF_SUMS, boxed))
    course = course_within(program, distribution, subject.keys, asked.columns, most)
    if course is not None:
        return _Way(program, course, course[1].products)
    boxes = boxes_of(program, asked.columns) if boxed is not None and boxed <= max(limit, _BOXED) else None
    if boxes is None:
        raise TooManyError("the model has too many states, whatever the order in which columns become known")
    return _Way(program, boxes, boxes.count * width_of(distribution, subject.keys))
