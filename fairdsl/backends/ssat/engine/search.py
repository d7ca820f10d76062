"""What the engine says about an instance: its value or bounds of it, choices that attain it, and the effort."""

from __future__ import annotations

import time
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from math import prod
from typing import TypeAlias

from fairdsl.backends.contract import Observer
from fairdsl.backends.ssat.engine.formula import EXISTS, FORALL, RANDOM, Formula
from fairdsl.backends.ssat.engine.residual import Component, Residual
from fairdsl.backends.ssat.engine.trace import Product, Recorder
from fairdsl.clock import Deadline, Work, meter_in_force, now, spend
from fairdsl.verdict import Reason


@dataclass(slots=True, kw_only=True)
class Statistics:
    """How much work one call was; the engine counts while it runs.

    ``propagations`` are literals that followed from others, ``components`` the parts that were looked at, of
    which ``cache_hits`` were known; ``cache_entries`` is what the cache holds at the end.
    """

    decisions: int = 0
    propagations: int = 0
    components: int = 0
    cache_hits: int = 0
    cache_entries: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """The value lies from ``low`` to ``high``, and is known where they are equal.

    ``choice`` has truths of the outermost existential variables, those left out of the prefix among them, that
    attain the value. It is None where the outermost quantifier is another one, and where the budget ended before
    the value or the choice was found. ``reason`` says why bounds are apart: TIMEOUT or MEMORY_OUT.
    """

    low: Fraction
    high: Fraction
    choice: Mapping[int, bool] | None
    reason: Reason | None
    statistics: Statistics

    @property
    def exact(self) -> bool:
        """Whether the value is known."""
        return self.low == self.high


# --------------------------------------------------------------------------------------------------
# Values of components that were solved, by the keys that identify them exactly; within a number of bytes.
#
# When the bytes are used up, the older half is forgotten. Values are then found anew where they are needed: too little
# memory costs time, and never the answer.

#: Bytes of an entry beside its key and its value: two objects' headers, and its slot in the table.
_ENTRY = 160


class Cache:
    """Values by key, and where the outermost choice was decided, the literal that attains the value."""

    __slots__ = ("_choices", "_values", "bytes", "limit")

    def __init__(self, limit: int) -> None:
        self._values: dict[bytes, int] = {}
        self._choices: dict[bytes, int] = {}
        #: An estimate of what the entries take.
        self.bytes = 0
        self.limit = limit

    def __len__(self) -> int:
        return len(self._values)

    @property
    def choices(self) -> Mapping[bytes, int]:
        """The literal to choose in a component, where that is known."""
        return self._choices

    def get(self, key: bytes) -> int | None:
        """The value, where it is known."""
        return self._values.get(key)

    def put(self, key: bytes, value: int, choice: int | None = None) -> None:
        """Remember a value, and the literal that attains it."""
        self._values[key] = value
        if choice is not None:
            self._choices[key] = choice
        self.bytes += _size(key, value)
        if self.bytes > self.limit:
            self._forget()

    def _forget(self) -> None:
        """Drop the older half; what was put last stays."""
        for key in list(islice(self._values, len(self._values) // 2)):
            self.bytes -= _size(key, self._values.pop(key))
            self._choices.pop(key, None)


def _size(key: bytes, value: int) -> int:
    return _ENTRY + len(key) + value.bit_length() // 8


# --------------------------------------------------------------------------------------------------
# The search: values of components by deciding their outermost variables, remembered by component.
#
#     value(component) = best or mean, over the truths of an outermost variable, of
#                        what followed x the product of the values of the components that are left
#
# Values are whole numbers: the value of a component times the scales of its random variables (see ``formula``). A
# component is a generator that yields the components it needs; a stack of generators takes the place of recursion, so
# depth is bounded by memory alone.
#
# When the budget ends, an exception carries bounds up that stack: what was not looked at lies between 0 and 1, and
# products, maxima, minima and means of bounds are bounds, since no factor is negative. Nothing that rests on bounds is
# remembered.

_Solving: TypeAlias = Generator[Component, int, int]

#: What is counted where effort is given.
_DECISIONS = Work("decisions", 5)
#: Of so many variables that are open, a decision takes as much again: each is looked at.
_ALSO = 10
#: Seconds between two words to the observer.
_NEWS = 0.25
#: Bytes of an open component beside its variables.
_OPEN = 1200


class UnfinishedError(Exception):
    """The budget ended; the value of the component at hand, in whole numbers, lies from ``low`` to ``high``."""

    def __init__(self, low: int, high: int, reason: Reason) -> None:
        super().__init__(reason.value)
        self.low = low
        self.high = high
        self.reason = reason


class Search:
    """Solves components of one residual formula, until the deadline or out of memory."""

    def __init__(
        self,
        formula: Formula,
        depth: Sequence[int],
        cache: Cache,
        residual: Residual,
        statistics: Statistics,
        *,
        deadline: Deadline,
        observer: Observer,
        recorder: Recorder,
    ) -> None:
        self._recorder = recorder
        self._formula = formula
        self._depth = depth
        self._cache = cache
        self._residual = residual
        self._statistics = statistics
        self._deadline = deadline
        self._observer = observer
        self._news = time.monotonic() + _NEWS
        self._bytes = 0

    def value(self, root: Component) -> int:
        """The value of a component; raises UnfinishedError with bounds of it."""
        known = self._look_up(root)
        if known is not None:
            return known
        stack = [self._solve(root)]
        value: int | None = None
        stopped: UnfinishedError | None = None
        while stack:
            try:
                if stopped is not None:
                    part = stack[-1].throw(stopped)
                else:
                    # A generator that has not begun is sent None.
                    part = next(stack[-1]) if value is None else stack[-1].send(value)
            except StopIteration as done:
                stack.pop()
                value = done.value
            except UnfinishedError as bounds:
                stack.pop()
                stopped = bounds
            else:
                stack.append(self._solve(part))
                value = None
        if stopped is not None:
            raise UnfinishedError(stopped.low, stopped.high, stopped.reason)
        assert value is not None
        return value

    def scale(self, variables: Sequence[int]) -> int:
        """What stands for the value 1 of a component with these variables."""
        scale = self._formula.scale
        return prod([scale[variable] for variable in variables])

    def _look_up(self, component: Component) -> int | None:
        self._statistics.components += 1
        known = self._cache.get(component.key)
        if known is not None:
            self._statistics.cache_hits += 1
        return known

    def _solve(self, component: Component) -> _Solving:
        """Decide one variable both ways; yields components whose values it needs."""
        size = _OPEN + 8 * len(component.variables) + len(component.key)
        ended = self._ended(size, len(component.variables))
        if ended is not None:
            raise UnfinishedError(0, self.scale(component.variables), ended)
        variable, chosen = self._outermost(component.variables)
        literals = self._ordered(variable)
        if self._formula.kind[variable] != RANDOM:
            self._recorder.stop()
        self._statistics.decisions += 1
        self._bytes += size
        values: list[int] = []
        products: list[Product] = []
        stopped: UnfinishedError | None = None
        try:
            for literal in literals:
                values.append((yield from self._branch(component, literal, self._enough(variable, values), products)))
        except UnfinishedError as bounds:
            # Raised outside of this block, lest a deep stack of exceptions refer to one another.
            stopped = bounds
        self._bytes -= size
        if stopped is not None:
            raise self._bounds(component, literals, values, stopped)
        value, choice = self._combined(literals, values)
        self._cache.put(component.key, value, choice if chosen else None)
        if not self._recorder.stopped:
            self._recorder.component(component, products)
        return value

    def _branch(self, component: Component, literal: int, enough: int | None, products: list[Product]) -> _Solving:
        """The value with a literal true, without its own weight; some number <= ``enough`` where it is no greater.

        Where it is not 0, what it is the product of, with its own weight, is appended to ``products``.
        """
        if enough is not None and self.scale(component.variables) <= enough:
            return 0
        residual = self._residual
        before = residual.mark()
        factor = residual.decide(literal)
        self._statistics.propagations += residual.mark()[0] - before[0] - 1
        waiting: list[Component] = []
        free: list[int] = []
        parts: list[Component] = []
        if factor:
            free, parts = residual.split(component.variables)
            factor *= self.scale(free)
            for part in parts:
                known = self._look_up(part)
                if known is None:
                    waiting.append(part)
                else:
                    factor *= known
        # The smallest first: if its value is 0, the others need not be solved.
        waiting.sort(key=lambda part: len(part.key), reverse=True)
        stopped: UnfinishedError | None = None
        while factor and waiting and stopped is None:
            if enough is not None and factor * self._scales(waiting) <= enough:
                factor = 0
                break
            part = waiting.pop()
            try:
                value = yield part
            except UnfinishedError as bounds:
                stopped = bounds
            else:
                factor *= value
        if stopped is not None:
            low = 0 if waiting else factor * stopped.low
            raise UnfinishedError(low, factor * stopped.high * self._scales(waiting), stopped.reason)
        if factor and not self._recorder.stopped:
            products.append(self._recorder.product(residual.since(before), free, parts))
        residual.undo(before)
        return factor

    def _outermost(self, variables: Sequence[int]) -> tuple[int, bool]:
        """The variable to decide, and whether the component has variables of the instance's outermost choice.

        It is of the outermost block, which reaches to the first variable of another quantifier in the component; there
        it is one of the shallowest, and among those the most urgent.
        """
        level, kind, depth = self._formula.level, self._formula.kind, self._depth
        levels = sorted({level[variable]: kind[variable] for variable in variables}.items())
        here = levels[0][1]
        last = next((each for each, other in levels if other != here), levels[-1][0] + 1)
        candidates = [variable for variable in variables if level[variable] < last]
        least = min([depth[variable] for variable in candidates])
        shallow = [variable for variable in candidates if depth[variable] == least]
        variable = shallow[0] if len(shallow) == 1 else max(shallow, key=self._residual.urgency)
        return variable, levels[0][0] == 0

    def _ordered(self, variable: int) -> tuple[int, int]:
        """Both literals, the one first that more likely decides: most clauses true for a choice, least against it."""
        count = self._residual.count
        often = variable if count[variable] >= count[-variable] else -variable
        return (-often, often) if self._formula.kind[variable] == FORALL else (often, -often)

    def _enough(self, variable: int, values: Sequence[int]) -> int | None:
        """What the second truth has to exceed to matter, if anything."""
        return values[0] if values and self._formula.kind[variable] == EXISTS else None

    def _combined(self, literals: tuple[int, int], values: Sequence[int]) -> tuple[int, int]:
        """The value of a component from those of its variable's truths, and the literal that attains it."""
        first, second = values
        kind = self._formula.kind[abs(literals[0])]
        if kind == RANDOM:
            weight = self._formula.weight
            return weight[literals[0]] * first + weight[literals[1]] * second, literals[0]
        if kind == FORALL:
            return (first, literals[0]) if first <= second else (second, literals[1])
        return (first, literals[0]) if first >= second else (second, literals[1])

    def _bounds(
        self, component: Component, literals: tuple[int, int], values: Sequence[int], stopped: UnfinishedError
    ) -> UnfinishedError:
        """Bounds of a component, where those of a truth's value are ``stopped`` and earlier truths have ``values``."""
        highest = self.scale([variable for variable in component.variables if variable != abs(literals[0])])
        missing = 1 - len(values)
        low, _ = self._combined(literals, [*values, stopped.low, *[0] * missing])
        high, _ = self._combined(literals, [*values, stopped.high, *[highest] * missing])
        # The sum of both bounds at a defined variable may be more than a value can be.
        return UnfinishedError(low, min(high, self.scale(component.variables)), stopped.reason)

    def _scales(self, components: Sequence[Component]) -> int:
        return prod([self.scale(component.variables) for component in components])

    def _ended(self, size: int, variables: int) -> Reason | None:
        """Why to stop here, if the budget says so; now and then a word to the observer."""
        spend(_DECISIONS, each=1 + variables / _ALSO)
        moment = time.monotonic()
        if self._deadline.at <= (moment if meter_in_force() is None else now()):
            return Reason.TIMEOUT
        if self._bytes + size > self._cache.limit:
            return Reason.MEMORY_OUT
        if moment > self._news:
            self._news = moment + _NEWS
            done = self._statistics
            self._observer.progress(
                "ssat", None, f"{done.decisions:,} decisions, {len(self._cache):,} components known"
            )
        return None
