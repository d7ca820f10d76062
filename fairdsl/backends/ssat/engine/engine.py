"""Whole questions: the value of an instance with some outermost choices assumed, and choices that attain it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from fractions import Fraction

from fairdsl.backends.contract import Observer, Silent
from fairdsl.backends.ssat.engine.cache import Cache
from fairdsl.backends.ssat.engine.formula import EXISTS, prepared
from fairdsl.backends.ssat.engine.ordering import depths
from fairdsl.backends.ssat.engine.residual import Component, Residual
from fairdsl.backends.ssat.engine.search import Search, UnfinishedError
from fairdsl.backends.ssat.engine.solution import Solution, Statistics
from fairdsl.backends.ssat.instance import Instance
from fairdsl.clock import NEVER, Deadline
from fairdsl.verdict import Reason

__all__ = ["Engine"]


class Engine:
    """Solves an instance, as often as one likes under different assumptions: what one call learns helps the next.

    ``memory`` is the number of bytes for known components and for those that are being solved.
    """

    def __init__(self, instance: Instance, *, memory: int = 2 << 30) -> None:
        self._formula = prepared(instance)
        self._depth = depths(self._formula.clauses, self._formula.level)
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
        statistics = Statistics()
        residual = Residual(self._formula)
        search = Search(
            self._formula,
            self._depth,
            self._cache,
            residual,
            statistics,
            deadline=deadline,
            observer=observer or Silent(),
        )
        low, high, reason, choice = self._answer(assumed, residual, search)
        statistics.cache_entries = len(self._cache)
        statistics.seconds = time.monotonic() - began
        return Solution(low=low, high=high, choice=choice, reason=reason, statistics=statistics)

    def _checked(self, assumptions: Iterable[int]) -> tuple[int, ...]:
        assumed = tuple(dict.fromkeys(assumptions))
        formula = self._formula
        for literal in assumed:
            variable = abs(literal)
            if not 1 <= variable <= formula.variables or formula.level[variable] or formula.kind[variable] != EXISTS:
                raise ValueError(f"{literal} is no literal of an outermost existential variable")
            if -literal in assumed:
                raise ValueError(f"both {literal} and {-literal} are assumed")
        return assumed

    def _answer(
        self, assumed: tuple[int, ...], residual: Residual, search: Search
    ) -> tuple[Fraction, Fraction, Reason | None, Mapping[int, bool] | None]:
        """Bounds of the value, why they are apart, and the choice."""
        formula = self._formula
        factor = 0 if formula.void else residual.assume(assumed)
        factor = factor and factor * residual.settle()
        if not factor:
            return Fraction(0), Fraction(0), None, self._chosen(residual, assumed, [], search)
        everything = range(1, formula.variables + 1)
        # Variables in no clause count with the factor 1, so their scales are left out on both sides.
        whole = search.scale([variable for variable in everything if residual.truth[variable]])
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
        # Every choice attains 0.
        return (
            Fraction(low, whole),
            Fraction(high, whole),
            None,
            self._chosen(residual, assumed, parts if low else [], search),
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
