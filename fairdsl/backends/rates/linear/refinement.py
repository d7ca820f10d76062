"""Joints of an :class:`Independent`: in float64 with a bound on the error, and exactly."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import lcm

from fairdsl.backends.contract import Budget, Observer
from fairdsl.backends.rates.linear.halves import ExactHalves, Halves, Ratios, halved
from fairdsl.backends.rates.linear.independent import Independent, independent_of, independent_of_task
from fairdsl.backends.rates.linear.lowering import task_of
from fairdsl.backends.rates.linear.passes import Found, masses_of
from fairdsl.backends.rates.linear.rounded import Arithmetic, Side
from fairdsl.backends.rates.linear.task import (
    Event,
    Goal,
    Meter,
    Task,
    TooLargeError,
    WeightedSum,
    common_scale,
    is_exact,
    joint_with,
    score_span,
)
from fairdsl.metrics.joint import Bounds, ByKey, Joint, Key

_ZERO, _ONE = Fraction(0), Fraction(1)
#: Exact arithmetic comes first where cells times scores times bytes of a numerator are so few.
_CELLS, _BYTES = 1 << 17, 1 << 21
#: Arrays of all scores: so many at most, and not where all but one in so many were empty.
_DENSE, _SHORT, _SPARSE_BITS = 1 << 22, 1 << 14, 6


class Sums:
    """Sums of independent numbers and the event that counts."""

    def __init__(self, of: Independent, event: Event) -> None:
        self._of = of
        self._event = event
        extents = [
            abs(adds[1] - adds[0]) if len(adds) == 2 else max(adds) - min(adds)  # most have two cells
            for adds, _ in of.columns
        ]
        order = sorted(range(len(extents)), key=extents.__getitem__)
        # Two parts that reach about as far, each from the columns that reach least to those that reach most.
        columns = [of.columns[place] for place in order]
        self._halves = columns[::2], columns[1::2]
        ascending = [extents[place] for place in order]
        self._rooms = sum(ascending[::2]), sum(ascending[1::2])
        self._extent = sum(extents)

    @property
    def dense(self) -> bool:
        """Whether arrays of all scores are the way: they are short, or most of their scores are sums."""
        if self._extent <= _SHORT:
            return True
        bits = sum((len(adds) - 1).bit_length() for adds, _ in self._of.columns)
        return self._extent <= _DENSE and self._extent.bit_length() <= bits // 2 + _SPARSE_BITS

    @property
    def small(self) -> bool:
        """Whether exact arithmetic takes about as little time as float64 does."""
        columns = self._of.columns
        work = sum([len(adds) for adds, _ in columns]) * self._extent
        if work > _CELLS:
            return False
        laws = max((len(laws) for _, laws in columns), default=1)
        bits = sum(laws[0][0].denominator.bit_length() for _, laws in columns)
        return work * laws * bits // 16 <= _BYTES

    def bounded(self, meter: Meter) -> Joint:
        """In float64, moved outward by the error bound; TooLargeError and OutOfTimeError are raised by the meter."""
        return self._joint(halved(self._halves, self._rooms, meter), meter)

    def exact(self, meter: Meter) -> Joint:
        """In whole numbers over a common denominator."""
        return self._joint(ExactHalves(self._halves, meter), meter)

    def _joint(self, halves: Halves | ExactHalves, meter: Meter) -> Joint:
        return joint_with(self._event, self._total, lambda low, high: self._reaching(halves, low, high, meter))

    @cached_property
    def _total(self) -> ByKey:
        masses = self._by_key([group.mass for group in self._of.groups])
        return ByKey(self._keys, [Bounds.exactly(mass) for mass in masses])

    @cached_property
    def _keys(self) -> list[Key]:
        """Each once: cells that are looked into have one key."""
        return list(dict.fromkeys(group.key for group in self._of.groups))

    def _by_key(self, of_groups: list[Fraction]) -> list[Fraction]:
        """The sums over the groups of each key."""
        if len(self._keys) == len(of_groups):
            return of_groups
        found = dict.fromkeys(self._keys, _ZERO)
        for group, number in zip(self._of.groups, of_groups, strict=True):
            found[group.key] += number
        return [min(_ONE, number) for number in found.values()]

    def _reaching(self, halves: Halves | ExactHalves, low: Goal, high: Goal, meter: Meter) -> list[Bounds]:
        """Group by group, the probability of the group times that of its columns reaching the rest."""
        least = low.target(self._of.constant, self._of.scale)
        most = least if high is low else high.target(self._of.constant, self._of.scale)
        known: dict[tuple[int, int], Ratios] = {}

        def reached(target: int, place: int) -> Ratios:
            name = (0 if halves.shared else place, target)
            if name not in known:
                meter.tick()
                known[name] = halves.reaching(target, place)
            return known[name]

        lows: list[Fraction] = []
        highs: list[Fraction] = []
        for place, group in enumerate(self._of.groups):
            below, high_below, under = reached(least - group.adds, place)
            above, over = (high_below, under) if most == least else reached(most - group.adds, place)[1:]
            numerator, denominator = group.mass.as_integer_ratio()
            first = Fraction(numerator * below, denominator * under)
            lows.append(first)
            highs.append(first if (above, over) == (below, under) else Fraction(numerator * above, denominator * over))
        ends = zip(self._by_key(lows), self._by_key(highs), strict=True)
        return [Bounds(low=least, high=most) for least, most in ends]


def sums_of(weighted: WeightedSum) -> Sums | None:
    """The same as a sum of independent numbers, where it is one and arrays of all scores are the way."""
    return _dense(independent_of(weighted), weighted.event)


def _dense(independent: Independent | None, event: Event) -> Sums | None:
    sums = None if independent is None else Sums(independent, event)
    return sums if sums is not None and sums.dense else None


# --------------------------------------------------------------------------------------------------
# The joint probabilities of a weighted sum, enclosed more and more closely until somebody is content.
#
# Where columns are single values and independent given the groups, sums of independent numbers are all there is
# (``sums``). Otherwise there are tables: first on the exact scale, at which every contribution is whole, in exact
# arithmetic where the tables are small, else in float64. Where its tables would be too large, scores are rounded
# outward on a grid that grows fourfold from level to level, and so do the parts of ranges. All enclosures hold, so
# their intersection does.

_PARTS, _GRID_BITS, _LEVELS = 16, 12, 8
#: Exact arithmetic comes first where it takes about so many products, and is given up after so many.
_EXACT_STEPS, _EXACT_LIMIT = 200_000, 4_000_000
#: Numerators are worth their digits up to so many bits.
_BITS = 4096
#: An exact scale with so many scores is taken as a grid is; a finer one where it takes about so many products.
_SPARSE_STEPS = 500_000
_TAILS = 10_000


class Refinement:
    """One sum; ``joint`` is what is known, and every step of :meth:`improve` makes it more precise.

    ``lowered`` makes its task with ranges cut into so many parts; results are listed by the columns ``keys``. Where it
    is known as ``sums`` of independent numbers, no task is needed.
    """

    def __init__(
        self,
        event: Event,
        keys: tuple[int, ...],
        lowered: Callable[[int], Task],
        budget: Budget,
        observer: Observer,
        *,
        columns: int = 0,
        sums: Sums | None = None,
    ) -> None:
        self.joint: Joint | None = None
        self.notes: tuple[str, ...] = ()
        self.exact = True
        self._event = event
        self._keys = keys
        self._lowered = lowered
        self._sums = sums
        self._columns = columns
        self._budget = budget
        self._observer = observer
        self._steps = self._refined()

    @classmethod
    def of(cls, weighted: WeightedSum, sums: Sums | None, budget: Budget, observer: Observer) -> Refinement:
        """Of a sum that has not been lowered; ``sums`` is what :func:`sums_of` makes of it."""
        return cls(
            weighted.event,
            weighted.keys,
            lambda parts: task_of(weighted, parts),
            budget,
            observer,
            columns=len(weighted.network.columns),
            sums=sums,
        )

    @property
    def in_words(self) -> str:
        """What was computed."""
        return f"the score's distribution over {self._columns} column{'' if self._columns == 1 else 's'}"

    def improve(self) -> bool:
        """One step; False when there is nothing left to do. Raises OutOfTimeError at the deadline."""
        try:
            return next(self._steps, None) is not None
        except TooLargeError:
            return False

    def _refined(self) -> Iterator[Joint]:
        if self._sums is not None and (yield from self._of_sums(self._sums)):
            return
        for level in range(_LEVELS):
            task = self._lowered(_PARTS << (2 * level))
            self._columns = max(len(task.sizes), self._columns)
            if level == 0:
                sums = _dense(independent_of_task(task, self._keys), self._event)
                if sums is not None and (yield from self._of_sums(sums)):
                    return
            self._about(level, task.notes)
            work = _Work(task, self._event, self._keys, level, self._budget)
            finished = False
            for found, arithmetic, final in work.attempts():
                self.joint = found if self.joint is None else found.met(self.joint)
                self.exact = arithmetic is Arithmetic.EXACT
                finished = final and not task.divided
                yield self.joint
            if finished:
                return

    def _of_sums(self, sums: Sums) -> Generator[Joint, None, bool]:
        """Exactly where that is as fast, else with a bound on the error first; False where arrays are too large."""
        self._about(0, ())
        meter = Meter(deadline=self._budget.deadline, entries=self._budget.memory // 128)
        if not sums.small:
            try:
                self.joint, self.exact = sums.bounded(meter), False
            except TooLargeError:
                return False
            yield self.joint
        self.joint, self.exact = sums.exact(meter), True
        yield self.joint
        return True

    def _about(self, level: int, notes: tuple[str, ...]) -> None:
        self.notes = notes
        self._observer.progress("rates", None, f"{self._columns} columns, precision {level + 1}")


class _Work:
    """One task at one level of precision."""

    def __init__(self, task: Task, event: Event, kept: tuple[int, ...], level: int, budget: Budget) -> None:
        self.task = task
        self._event = event
        self._level = level
        self._budget = budget
        self._kept = kept

    def attempts(self) -> Iterator[tuple[Joint, Arithmetic, bool]]:
        """Joints, and whether nothing but finer parts could add to them."""
        scale = self._scale
        if scale is not None and self._steps(scale, _EXACT_STEPS) < _EXACT_STEPS and self._digits <= _BITS:
            try:
                yield self._joint(scale, Arithmetic.EXACT, self._meter(_EXACT_LIMIT)), Arithmetic.EXACT, True
                return
            except TooLargeError:
                pass
        if scale is not None and self._worth(scale):
            try:
                yield self._joint(scale, Arithmetic.FLOAT, self._meter(None)), Arithmetic.FLOAT, False
            except TooLargeError:
                pass
            else:
                if not self.task.divided:
                    yield self._joint(scale, Arithmetic.EXACT, self._meter(None)), Arithmetic.EXACT, True
                return
        yield self._joint(self._grid(), Arithmetic.FLOAT, self._meter(None)), Arithmetic.FLOAT, False

    def _meter(self, steps: int | None) -> Meter:
        return Meter(
            deadline=self._budget.deadline,
            entries=self._budget.memory // 128,
            steps=float("inf") if steps is None else steps,
            tails=_TAILS << (2 * self._level),
        )

    def _grid(self) -> Fraction:
        """About 2**bits scores: fewer where each has to be looked up in a law."""
        low, high = self._span
        bits = _GRID_BITS + 2 * self._level - (4 if self.task.remainder is not None else 0)
        return Fraction(1 << bits) / (high - low) if high > low else _ONE

    def _worth(self, scale: Fraction) -> bool:
        """Whether float64 can take the exact scale: it is no finer than a grid may be, or leaves few distinct sums."""
        low, high = self._span
        limit = _SPARSE_STEPS << (2 * self._level)
        return (high - low) * scale <= _DENSE or self._steps(scale, limit) < limit

    @cached_property
    def _scale(self) -> Fraction | None:
        return common_scale(self.task)

    @cached_property
    def _span(self) -> tuple[Fraction, Fraction]:
        return score_span(self.task)

    @cached_property
    def _digits(self) -> int:
        """Of the numerators of exact masses, in bits."""
        return sum(lcm(*{value.denominator for value in table.most}).bit_length() for table in self.task.chances)

    def _steps(self, scale: Fraction, limit: int) -> int:
        """About how many products the elimination takes, counted up to a limit."""
        # Columns that are connected to no other are multiplied in two halves, which meet in the middle.
        scores, reach = [1, 1], 1
        steps = 0
        for column, cells in self.task.readings.items():
            values = {state.high for states in cells for state in states if state.high is not None}
            if not values:
                continue
            half = 1 if column in self._loose and scores[1] < scores[0] else 0
            reach += int((max(values) - min(values)) * scale)
            scores[half] = min(scores[half] * len(values), reach)
            steps += scores[half] * len(values)
            if steps >= limit:
                break
        return steps

    @cached_property
    def _loose(self) -> frozenset[int]:
        """The columns that are in no table but their own, and in no key."""
        shared = {axis for table in self.task.chances if len(table.axes) > 1 for axis in table.axes}
        shared.update(axis for clause in self.task.clauses for axis in clause.axes)
        return frozenset(self.task.readings) - shared - frozenset(self._kept)

    def _joint(self, scale: Fraction, arithmetic: Arithmetic, meter: Meter) -> Joint:
        def reaching(low: Goal, high: Goal) -> Sequence[Bounds]:
            return self._both((low, high), scale, arithmetic, meter).bounds

        return joint_with(self._event, self._total, reaching)

    @cached_property
    def _total(self) -> ByKey:
        try:
            found = self._both(None, _ONE, Arithmetic.EXACT, self._meter(_EXACT_LIMIT))
        except TooLargeError:
            found = self._both(None, _ONE, Arithmetic.FLOAT, self._meter(None))
        return found

    def _both(self, goals: tuple[Goal, Goal] | None, scale: Fraction, arithmetic: Arithmetic, meter: Meter) -> ByKey:
        """Both passes, or a single one where they are the same."""
        first, second = goals or (None, None)
        low = masses_of(self.task, first, Side.LOW, arithmetic, scale, self._kept, meter)
        same = first == second and self.task.remainder is None and self._whole(scale if goals else None)
        high = low if same else masses_of(self.task, second, Side.HIGH, arithmetic, scale, self._kept, meter)
        return self._by_key(low, high)

    def _whole(self, scale: Fraction | None) -> bool:
        return self._exact and (scale is None or scale == self._scale)

    @cached_property
    def _exact(self) -> bool:
        return is_exact(self.task)

    def _by_key(self, low: Found, high: Found) -> ByKey:
        """Sums over the cells that have one key."""
        keys = [self.task.keys[column] for column in self._kept]
        sums: dict[Key, tuple[Fraction, Fraction]] = {}
        for cells in product(*(range(len(column)) for column in keys)):
            key = tuple(column[cell] for column, cell in zip(keys, cells, strict=True))
            least, most = sums.get(key, (_ZERO, _ZERO))
            sums[key] = (least + low[cells].low, most + high[cells].high)
        ends = [Bounds(low=min(_ONE, least), high=min(_ONE, most)) for least, most in sums.values()]
        return ByKey(list(sums), ends)
