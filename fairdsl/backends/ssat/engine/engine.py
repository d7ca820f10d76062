"""Which variables separate a formula: depths from a tree decomposition of the graph of its variables.

Two variables are neighbours where a clause has both. Eliminating the variables one after the other, cheapest first, and
joining the neighbours of each, gives a tree of bags (a variable with its neighbours at that time); the variables
of a bag separate those of its branches. The depth of a variable is the round in which its bag is a centroid: a bag that
leaves pieces of at most half the bags. Deciding shallow variables first cuts the formula into components that
halve, so a formula of small treewidth is solved in few components: a chain of n variables at a depth of log n.

This guides the search and nothing else. Where bags get large there are no small separators: all depths are 0 then, and
other rules choose.
"""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from fairdsl.backends.contract import Observer, Silent
from fairdsl.backends.ssat.engine.formula import EXISTS, Formula, prepared, shape_of, weighed
from fairdsl.backends.ssat.engine.residual import Component, Residual
from fairdsl.backends.ssat.engine.search import Cache, Search, Solution, Statistics, UnfinishedError
from fairdsl.backends.ssat.engine.trace import Recorder, Trace
from fairdsl.backends.ssat.instance import Clause, Instance
from fairdsl.clock import NEVER, Deadline, Work, spend
from fairdsl.numerics.elimination import ranked
from fairdsl.verdict import Reason

#: Variables of a bag: more of them separate too little to be worth it.
_WIDEST = 5


def depths(clauses: Sequence[Clause], level: Sequence[int]) -> list[int]:
    """The depth of each variable, from 0, where ``level`` has the numbers of their blocks; index 0 is nobody's."""
    bags = _bags(clauses, level)
    return [0] * len(level) if bags is None else _rounds(len(level), *bags)


def _bags(clauses: Sequence[Clause], level: Sequence[int]) -> tuple[list[list[int]], list[int]] | None:
    """The bags, and the parent of each (-1 for a root); inner blocks first. None where a bag gets too large."""
    if any(len(clause) > _WIDEST for clause in clauses):
        return None
    place: dict[int, int] = {}
    bags: list[list[int]] = []
    scopes = (map(abs, clause) for clause in clauses)
    for variable, _, bag in ranked(scopes, lambda variable, bag: (-level[variable], len(bag))):
        if len(bag) > _WIDEST:
            return None
        place[variable] = len(bags)
        bags.append([variable, *(bag - {variable})])
    return bags, [min((place[other] for other in bag[1:]), default=-1) for bag in bags]


def _rounds(size: int, bags: list[list[int]], parents: list[int]) -> list[int]:
    """The round in which the first bag with a variable is a centroid of its piece."""
    near: list[list[int]] = [[] for _ in bags]
    for bag, parent in enumerate(parents):
        if parent >= 0:
            near[bag].append(parent)
            near[parent].append(bag)
    depth = [-1] * size
    gone = [False] * len(bags)
    waiting = [(bag, 0) for bag, parent in enumerate(parents) if parent < 0]
    while waiting:
        start, level = waiting.pop()
        centre = _centroid(start, near, gone)
        gone[centre] = True
        for variable in bags[centre]:
            # Pieces share the variables of bags between them, which were centroids before.
            if depth[variable] < 0:
                depth[variable] = level
        waiting.extend((bag, level + 1) for bag in near[centre] if not gone[bag])
    # Variables in no clause have no bag.
    return [max(level, 0) for level in depth]


def _centroid(start: int, near: list[list[int]], gone: list[bool]) -> int:
    """A bag of the piece around ``start`` without which no piece has more than half of its bags."""
    walk = [(start, -1)]
    for bag, parent in walk:
        walk.extend((other, bag) for other in near[bag] if other != parent and not gone[other])
    size = {bag: 1 for bag, _ in walk}
    for bag, parent in reversed(walk):
        if parent >= 0:
            size[parent] += size[bag]
    # The deepest bag that still has half of the piece at or below it.
    return next((bag for bag, _ in reversed(walk) if 2 * size[bag] >= len(walk)), start)


# --------------------------------------------------------------------------------------------------
# Whole questions: the value of an instance with some outermost choices assumed, and choices that attain it.


#: Shapes of instances that are kept: groups of one question mostly have the same.
_KEPT = 16
#: What is counted where effort is given.
_COMPONENTS = Work("components evaluated", 2)


@dataclass(slots=True)
class _Prepared:
    """A formula without regard to its weights, the depths of its variables, and its search, if that left a circuit."""

    formula: Formula
    depth: list[int]
    trace: Trace | None = None


class Known:
    """What is known of instances that were solved before, as far as it does not depend on their probabilities."""

    def __init__(self) -> None:
        self._shapes: dict[Hashable, _Prepared] = {}

    def prepared(self, instance: Instance) -> _Prepared:
        """Of an instance of this shape."""
        shape = shape_of(instance)
        found = self._shapes.get(shape)
        if found is None:
            found = _prepared(instance)
            if len(self._shapes) == _KEPT:
                del self._shapes[next(iter(self._shapes))]
            self._shapes[shape] = found
        return found


def _prepared(instance: Instance) -> _Prepared:
    formula = prepared(instance)
    return _Prepared(formula, depths(formula.clauses, formula.level))


class Engine:
    """Solves an instance, as often as one likes under different assumptions: what one call learns helps the next.

    ``memory`` is the number of bytes for known components and for those that are being solved. With ``known`` given,
    what was found out about instances that differ in their probabilities alone is not found out again.
    """

    def __init__(self, instance: Instance, *, memory: int = 2 << 30, known: Known | None = None) -> None:
        self._prepared = _prepared(instance) if known is None else known.prepared(instance)
        self._formula = weighed(self._prepared.formula, instance)
        self._recorded = known is not None
        # One half for what is known, the other for what is open.
        self._cache = Cache(memory // 2)

    def solve(
        self, assumptions: Iterable[int] = (), *, deadline: Deadline = NEVER, observer: Observer | None = None
    ) -> Solution:
        """The value where the assumed literals are true; bounds where ``deadline`` comes first.

        Raises ValueError for assumptions about variables that are not outermost and existential, and for
        assumptions that contradict each other.
        """
        began = time.monotonic()
        assumed = self._checked(assumptions)
        trace = self._prepared.trace
        statistics = Statistics()
        if trace is None or assumed:
            low, high, reason, choice = self._searched(assumed, statistics, deadline, observer or Silent())
            statistics.cache_entries = len(self._cache)
        else:
            spend(_COMPONENTS, len(trace.components))
            low = high = trace.value(self._formula)
            reason = choice = None
            statistics.components = statistics.cache_hits = statistics.cache_entries = len(trace.components)
        statistics.seconds = time.monotonic() - began
        return Solution(low=low, high=high, choice=choice, reason=reason, statistics=statistics)

    def _checked(self, assumptions: Iterable[int]) -> tuple[int, ...]:
        assumed = tuple(dict.fromkeys(assumptions))
        formula = self._formula
        for literal in assumed:
            variable = abs(literal)
            if not 1 <= variable <= formula.variables or formula.level[variable] or formula.kind[variable] != EXISTS:
                raise ValueError(f"{literal} is not a literal of an outermost existential variable")
            if -literal in assumed:
                raise ValueError(f"both {literal} and {-literal} are assumed")
        return assumed

    def _searched(
        self, assumed: tuple[int, ...], statistics: Statistics, deadline: Deadline, observer: Observer
    ) -> tuple[Fraction, Fraction, Reason | None, Mapping[int, bool] | None]:
        """Bounds of the value, why they are apart, and the choice."""
        formula, residual, recorder = self._formula, Residual(self._formula), Recorder(self._formula)
        # A choice is to be named, and components of other calls are not recorded.
        if not self._recorded or assumed or formula.outermost or len(self._cache):
            recorder.stop()
        search = Search(
            formula,
            self._prepared.depth,
            self._cache,
            residual,
            statistics,
            deadline=deadline,
            observer=observer,
            recorder=recorder,
        )
        factor = 0 if formula.void else residual.assume(assumed)
        factor = factor and factor * residual.settle()
        if not factor:
            return Fraction(0), Fraction(0), None, self._chosen(residual, assumed, [], search)
        everything = range(1, formula.variables + 1)
        # Variables in no clause count with the factor 1, so their scales are left out on both sides.
        settled = [variable for variable in everything if residual.truth[variable]]
        whole = search.scale(settled)
        _, parts = residual.split(everything)
        low = high = factor
        reason: Reason | None = None
        for part in sorted(parts, key=lambda part: len(part.key)):
            scale = search.scale(part.variables)
            whole *= scale
            if reason is None:
                try:
                    value = search.value(part)
                except UnfinishedError as bounds:
                    low, high, reason = low * bounds.low, high * bounds.high, bounds.reason
                else:
                    low, high = low * value, high * value
            else:
                low, high = 0, high * scale
        if low < high:
            return Fraction(low, whole), Fraction(high, whole), reason, None
        if reason is None and not recorder.stopped:
            self._record(recorder, settled, residual, parts)
        # Every choice attains 0.
        return (
            Fraction(low, whole),
            Fraction(high, whole),
            None,
            self._chosen(residual, assumed, parts if low else [], search),
        )

    def _record(self, recorder: Recorder, settled: list[int], residual: Residual, parts: list[Component]) -> None:
        """Keep the circuit of a search that was finished."""
        literals = [variable if residual.truth[variable] > 0 else -variable for variable in settled]
        whole = [variable for part in parts for variable in part.variables]
        self._prepared.trace = recorder.trace(
            recorder.product(literals, (), parts), recorder.scales([*settled, *whole])
        )

    def _chosen(
        self, residual: Residual, assumed: tuple[int, ...], parts: list[Component], search: Search
    ) -> Mapping[int, bool] | None:
        """Truths of the outermost choice that attain the value of the parts; None where the time is up.

        Components do not touch each other, so each choice is made on top of the others. What was forgotten is solved
        again. Variables that nothing decides are false.
        """
        formula = self._formula
        if not formula.outermost:
            return None
        waiting = list(parts)
        while waiting:
            part = waiting.pop()
            if all(formula.level[variable] for variable in part.variables):
                continue
            literal = self._cache.choices.get(part.key)
            if literal is None:
                try:
                    search.value(part)
                except UnfinishedError:
                    return None
                literal = self._cache.choices[part.key]
            residual.decide(literal)
            waiting.extend(residual.split(part.variables)[1])
        truths = {variable: residual.truth[variable] > 0 for variable in formula.outermost}
        return truths | {abs(literal): literal > 0 for literal in assumed}
