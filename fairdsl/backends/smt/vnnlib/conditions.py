"""Which pairs are comparable, as closed inequalities: the part of a query that is not about scores.

Definition (docs/semantics.md, sections 1 and 2). Both individuals lie in the domain and in the target, the
differing attributes differ, ``pair_target`` holds, and every indicator that the network reads is 1 exactly
where its predicate holds. The formulas here are implied by that, never more: see ``constraints``.
What the value sets of the query say already is left out, so a question about a box stays a box.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from fairdsl.backends.smt.cases import pair_of
from fairdsl.backends.smt.vnnlib.constraints import All, Formula, Line, above, all_of, any_of, below, closed
from fairdsl.ir.domain import Real
from fairdsl.ir.expr import Predicate, Who, conjuncts, rename, variables
from fairdsl.ir.feature import IndicatorInput
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Differ
from fairdsl.numerics.narrow import ValueSet, decided, possible, without_not

__all__ = ["Sets", "Space", "conditions"]

Sets = tuple[ValueSet, ...]


@dataclass(frozen=True)
class Space:
    """A query's variables. ``number`` is the value of an attribute of ``"a"`` or ``"b"``, ``flag`` that of
    the model's input at a position, an indicator; ``a`` and ``b`` are the values that the two may have.
    """

    problem: Problem
    a: Sets
    b: Sets
    number: Callable[[str, int], Line]
    flags: Mapping[tuple[str, int], Line]

    def sets(self, who: str) -> Sets:
        """The values of one individual's attributes."""
        return self.a if who == "a" else self.b


def conditions(space: Space, *further: Formula, apart: bool = True) -> tuple[Formula, ...]:
    """Everything about the pair that its value sets do not say, and what is said ``further``, each once.

    ``apart``: that the differing attributes differ is among it.
    """
    differ = [_apart(space)] if apart else []
    joined = all_of([*further, *_membership(space), *differ, *_pair_target(space), *_indicators(space)])
    return tuple(dict.fromkeys(joined.parts if isinstance(joined, All) else (joined,)))


def _membership(space: Space) -> Iterator[Formula]:
    """Domain and target, of both."""
    pair = pair_of(space.problem)
    for predicate in (space.problem.domain.where, pair.target):
        for part in conjuncts(predicate):
            for who in "ab":
                if not _implied(part, space.sets(who)):
                    yield _about(space, part, who)


def _pair_target(space: Space) -> Iterator[Formula]:
    for part in conjuncts(pair_of(space.problem).pair_target):
        read = {variable.who for variable in variables(part)}
        if len(read) == 1:
            (who,) = read
            if _implied(rename(part, {who: Who.EACH}), space.sets(who.value)):
                continue
        yield _about(space, part, "a")


def _apart(space: Space) -> Formula:
    """The differing attributes differ: integers by 1 at least; that two reals differ says nothing when closed."""
    pair = pair_of(space.problem)
    differences = []
    for index in pair.differ:
        gap = space.number("a", index) + space.number("b", index).scaled(Fraction(-1))
        step = int(_whole(space.problem, index))
        differences.append(any_of((above(gap, step), below(gap, -step))))
    return (all_of if pair.mode is Differ.EACH else any_of)(differences)


def _indicators(space: Space) -> Iterator[Formula]:
    """Each indicator is 1 and its predicate holds, or 0 and it does not."""
    for (who, position), flag in space.flags.items():
        item = space.problem.model.inputs[position]
        assert isinstance(item, IndicatorInput)
        if flag.terms and decided(item.predicate, space.sets(who)) is None:
            on, off = _about(space, item.predicate, who), without_not(item.predicate, negated=True)
            yield any_of((all_of((above(flag, 1), on)), all_of((below(flag, 0), _about(space, off, who)))))


def _about(space: Space, predicate: Predicate, who: str) -> Formula:
    return closed(
        predicate,
        lambda variable: space.number(who if variable.who is Who.EACH else variable.who.value, variable.attribute),
        lambda variable: _whole(space.problem, variable.attribute),
    )


def _implied(predicate: Predicate, sets: Sets) -> bool:
    return not possible(without_not(predicate, negated=True), sets)


def _whole(problem: Problem, attribute: int) -> bool:
    return not isinstance(problem.domain.attributes[attribute].type, Real)
