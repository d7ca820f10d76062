"""What a pass may use, and which partial scores are still undecided."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import compress
from math import ceil, floor, gcd, inf, lcm
from typing import Protocol

from fairdsl.clock import Deadline, Work, spend
from fairdsl.ir.enclosure import Enclosure
from fairdsl.ir.expr import Predicate, Relation, conjuncts
from fairdsl.ir.feature import Input
from fairdsl.ir.model import ByThreshold, Model
from fairdsl.ir.population import Network
from fairdsl.metrics.joint import NOTHING as NOBODY
from fairdsl.metrics.joint import Bounds, ByKey, Joint
from fairdsl.metrics.subject import Subject

#: What is counted where effort is given.
_TERMS = Work("products of probabilities", 0.002)


class TooLargeError(Exception):
    """A table would have more entries than the memory allows, or a pass take more steps than it may."""


class OutOfTimeError(Exception):
    """The deadline has passed."""


@dataclass(slots=True)
class Meter:
    """What a pass may use: ``entries`` a table may have, ``steps`` (products of masses) in all, time to ``deadline``.

    At most ``tails`` values of laws in closed form are looked up. :class:`TooLargeError` and :class:`OutOfTimeError`
    are raised on the way.
    """

    deadline: Deadline
    entries: int
    steps: float = inf
    tails: float = inf

    def tick(self, steps: int = 1) -> None:
        """So many steps more."""
        self.steps -= steps
        spend(_TERMS, steps)
        if self.steps < 0:
            raise TooLargeError
        if self.deadline.passed:
            raise OutOfTimeError


@dataclass(frozen=True, slots=True)
class Span:
    """The least and greatest score that some columns can add."""

    low: int
    high: int

    def __add__(self, other: Span) -> Span:
        return Span(self.low + other.low, self.high + other.high)


#: What is added by columns that the score does not read.
NOTHING = Span(0, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """What is asked of the sum of all columns, which is in ``whole``: at least ``target``.

    ``accepts`` and ``refuses``: partial sums may be decided early that way.
    """

    target: int
    whole: Span
    meter: Meter
    accepts: bool = True
    refuses: bool = True

    def alive(self, own: Span) -> tuple[int, int]:
        """Of columns that add ``own``, the scores from the first to below the second number are undecided."""
        low, high = own.low, own.high + 1
        if self.refuses:
            low = max(low, self.target - (self.whole.high - own.high))
        if self.accepts:
            high = min(high, self.target - (self.whole.low - own.low))
        return low, max(low, high)


# --------------------------------------------------------------------------------------------------
# A subject whose model is one weighted sum: what is added up, and when it is high enough.
#
# Sums that have to be small are turned: ``S < t`` is ``-S > -t``.


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """``score RELATION t`` with t in [low, high]: strictly between them, and no rational, unless they are equal."""

    relation: Relation
    low: Fraction
    high: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightedSum:
    """A distribution, a score over its columns and the event that counts, whose relation is none of < and <=.

    ``network`` may have columns without a factor: they are set from outside, each cell with mass 1.
    """

    network: Network
    #: The score is ``constant`` and each input times its weight.
    terms: tuple[tuple[Input, Fraction], ...]
    constant: Fraction
    #: What is given.
    conditions: tuple[Predicate, ...]
    #: The columns that results are listed by.
    keys: tuple[int, ...]
    event: Event
    #: Whether what has no distribution is allowed for elsewhere; else it counts as impossible, and that is said.
    lost: bool = False


def weighted_sum(subject: Subject) -> WeightedSum:
    """A subject whose model compares one linear score."""
    layer = subject.model.layers[0]
    event, sign = _event(subject.model)
    weighed = compress(zip(subject.model.inputs, layer.weight.exact[0].tolist(), strict=True), layer.weight.nonzero[0])
    terms = [(item, weight if type(weight) is Fraction else Fraction(weight)) for item, weight in weighed]
    return WeightedSum(
        network=subject.network,
        terms=tuple(terms if sign > 0 else [(item, -weight) for item, weight in terms]),
        constant=sign * Fraction(layer.bias.exact[0]),
        conditions=conjuncts(subject.condition),
        keys=subject.keys,
        event=event,
        lost=bool(subject.unknown),
    )


def _event(model: Model) -> tuple[Event, int]:
    """When the outcome is favourable, of the score or of its negation."""
    rule = model.rule
    if not isinstance(rule, ByThreshold):
        raise ValueError("a weighted sum is compared with a threshold")
    relation = rule.relation if model.favourable == rule.granted else rule.relation.negated
    if not relation.downwards:
        return Event(relation=relation, low=rule.low, high=rule.high), 1
    turned = Relation.GT if relation is Relation.LT else Relation.GE
    return Event(relation=turned, low=-rule.high, high=-rule.low), -1


# --------------------------------------------------------------------------------------------------
# A task: all that the elimination needs, in exact numbers, without the language's notions.
#
# Every column that is still there is an axis with a number of cells. What the law says of an individual within a cell
# is a list of :class:`State`: shares of the cell's mass with what they contribute to the score.

ONE = Fraction(1)


@dataclass(frozen=True, slots=True)
class State:
    """Part of a cell: it contributes ``low`` to ``high`` (None: without bound) to the score.

    Of the cell's mass between ``least`` and ``most`` is in it and meets the conditions on its column.
    """

    low: Fraction | None
    high: Fraction | None
    least: Fraction
    most: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Chances:
    """Probabilities of the cells of ``axes`` (row-major, of ``shape``), each from its entry in ``least`` to ``most``.

    A conditional law of ``column`` given the other axes; None for a condition, whose entries are 0 and 1. ``complete``:
    the law of the column sums to 1 for every combination of the others, so that summing it out leaves nothing.
    """

    axes: tuple[int, ...]
    shape: tuple[int, ...]
    least: tuple[Fraction, ...]
    most: tuple[Fraction, ...]
    column: int | None = None
    complete: bool = False

    @property
    def exact(self) -> bool:
        """Whether the probabilities are known."""
        return self.least is self.most


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """What indicators of several columns contribute to the score, cell by cell (row-major): from low to high."""

    axes: tuple[int, ...]
    shape: tuple[int, ...]
    low: tuple[Fraction, ...]
    high: tuple[Fraction, ...]


class Remainder(Protocol):
    """Columns that are left out of all tables: their part of the score has a law in closed form, given some cells."""

    @property
    def axes(self) -> tuple[int, ...]:
        """The axes that the law depends on."""

    @property
    def conditioned(self) -> bool:
        """Whether its mass may be less than all: a condition is about a column, or the law has gaps."""

    def tail(self, cells: tuple[int, ...], needed: Fraction, strict: bool) -> Enclosure:
        """Pr[conditions, contribution >= needed (strict: >) | cells]."""

    def total(self, cells: tuple[int, ...]) -> Enclosure:
        """Pr[conditions | cells]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """``sizes`` of all axes, ``chances`` whose product is the law, and what adds to the score.

    ``readings``: for an axis the states of each of its cells; an axis without adds nothing and is not conditioned.
    ``keys``: axes that results are listed by, with the key of every cell (several cells may have one). ``divided``:
    ranges were cut into parts, so that finer parts tell more; ``notes`` say what is an enclosure for another reason.
    """

    sizes: Mapping[int, int]
    chances: tuple[Chances, ...]
    readings: Mapping[int, tuple[tuple[State, ...], ...]]
    clauses: tuple[Clause, ...]
    keys: Mapping[int, tuple[Fraction, ...]]
    constant: Fraction
    remainder: Remainder | None = None
    divided: bool = False
    notes: tuple[str, ...] = ()


# --------------------------------------------------------------------------------------------------
# The scale at which scores are whole numbers, and whether anything of a task is an interval.

_ZERO = Fraction(0)
#: Scores are int64.
_LARGEST = 1 << 60


def is_exact(task: Task) -> bool:
    """Whether every contribution and every mass is a number, not an interval."""
    states = (state for cells in task.readings.values() for states in cells for state in states)
    return (
        all(state.low == state.high and state.least == state.most for state in states)
        and all(clause.low == clause.high for clause in task.clauses)
        and all(table.exact for table in task.chances)
    )


def _contributions(task: Task) -> Iterator[Fraction]:
    for cells in task.readings.values():
        for states in cells:
            for state in states:
                yield from (end for end in (state.low, state.high) if end is not None)
    for clause in task.clauses:
        yield from clause.low
        yield from clause.high


def common_scale(task: Task) -> Fraction | None:
    """The least scale that makes every contribution whole; None where the sums would not fit."""
    values = {value.as_integer_ratio() for value in _contributions(task)}
    scale = lcm(*{denominator for _, denominator in values})
    shared = gcd(*(numerator * (scale // denominator) for numerator, denominator in values)) or 1
    found = Fraction(scale, shared)
    low, high = score_span(task)
    return found if max(abs(low), abs(high)) * found < _LARGEST else None


def score_span(task: Task) -> tuple[Fraction, Fraction]:
    """The least and greatest sum of bounded contributions."""
    low = high = _ZERO
    for cells in task.readings.values():
        ends = {end for states in cells for state in states for end in (state.low, state.high) if end is not None}
        low, high = low + min(ends, default=_ZERO), high + max(ends, default=_ZERO)
    for clause in task.clauses:
        low, high = low + min(clause.low), high + max(clause.high)
    return low, high


# ---- The event that counts, as scores that have to be reached ------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """The score has to be at least ``needed`` (strict: above it)."""

    needed: Fraction
    strict: bool

    def target(self, constant: Fraction, scale: Fraction) -> int:
        """The least whole number n such that ``constant + n / scale`` is enough."""
        needed = (self.needed - constant) * scale
        return floor(needed) + 1 if self.strict else ceil(needed)


#: Bounds of the probability of reaching a goal, key by key: the lower ones of the first, the upper ones of the second.
Reaching = Callable[[Goal, Goal], Sequence[Bounds]]


def joint_with(event: Event, total: ByKey, reaching: Reaching) -> Joint:
    """The joint of an event ``S >= t``, ``S > t``, ``S = t`` or ``S != t``; all others are turned upward."""
    match event.relation:
        case Relation.EQ:
            found = _equal(event, total, reaching)
        case Relation.NE:
            equal = _equal(event, total, reaching)
            found = [whole.without(part) for whole, part in zip(total.bounds, equal, strict=True)]
        case _:
            found = _above(event, event.relation is Relation.GT, reaching)
    found = [bounds.within(whole) for bounds, whole in zip(found, total.bounds, strict=True)]
    return Joint(favourable=ByKey(total.listed, found), total=total)


def _equal(event: Event, total: ByKey, reaching: Reaching) -> Sequence[Bounds]:
    """Pr[S = t] = Pr[S >= t] - Pr[S > t]."""
    if event.low != event.high:
        return [NOBODY] * len(total)  # no score is irrational
    above, least = _above(event, True, reaching), _above(event, False, reaching)
    return [low.without(high) for low, high in zip(least, above, strict=True)]


def _above(event: Event, strict: bool, reaching: Reaching) -> Sequence[Bounds]:
    if event.low == event.high:
        goal = Goal(needed=event.low, strict=strict)
        return reaching(goal, goal)
    # The threshold lies strictly between: a score that reaches the upper end is above it, and one above it is
    # above the lower end.
    return reaching(Goal(needed=event.high, strict=False), Goal(needed=event.low, strict=True))
