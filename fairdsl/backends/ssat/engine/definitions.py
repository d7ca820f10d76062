"""Variables that a formula defines: which they are, and in which block they are decided.

A variable g is *defined* by the clauses in which it is innermost, if any of them with g and any with its negation
disagree on another variable as well: then, whatever the others are, some truth of g satisfies them all. So where
a residual formula has g in no other clause, g existential, the clauses of the definition can go: the greater of the two
values at g is that of the rest, and no variable that they mention lies inside of g. Restriction keeps the property, so
this is found during the search by counting uses. (Gates that no path needs any more would otherwise tell equal
residual formulas apart.) Variables of the outermost choice are never taken for defined: their truths are reported.

A definition is *unique* if the clauses, without g and its negation, contradict each other: then no two truths of g
satisfy them. So the truth of g follows from variables outside of it, and with the other truth the formula is false.

* If the innermost of them, or of those that define them, is existential, then choosing g together with them changes
  nothing: g may be decided in their block.
* If it is random, then for each of its truths the value is that under one truth of g, and that under the other is 0;
  hence the *sum* of both. Sums change places with means: g may be decided in the random block, with the weight 1 for
  both truths. In no open clause, it counts with the factor 1, not 2, since its clauses are removed or decide it.
* If it is universal, g is decided in the next block, which is of another kind.

So a test at the root of a tree can be decided before the many variables that it depends on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

from fairdsl.backends.ssat.instance import Clause

__all__ = ["EXISTS", "FORALL", "RANDOM", "advance", "definitions"]

#: Quantifiers as small numbers, for comparisons in the innermost loops.
EXISTS, FORALL, RANDOM = 0, 1, 2

#: Clauses with the negation that a clause is compared with at most.
_MOST_OTHERS = 4096
#: Clauses of which those over the same variables are tried.
_MOST_ATTEMPTS = 6
#: Cases that are distinguished at most to find out whether it is defined uniquely.
_MOST_CASES = 64


def definitions(
    clauses: Sequence[Clause], position: Sequence[int], level: Sequence[int], kind: Sequence[int]
) -> dict[int, tuple[int, ...]]:
    """The numbers of the clauses that define a variable, for all that are found to be defined."""
    inner: dict[int, list[int]] = {}
    for index, clause in enumerate(clauses):
        if len(clause) > 1:
            last = max(map(abs, clause), key=position.__getitem__)
            if kind[last] == EXISTS and level[last] > 0:
                inner.setdefault(last, []).append(index)
    found = {}
    for variable in sorted(inner, key=position.__getitem__):
        indices = _definition(variable, inner[variable], clauses)
        if indices:
            found[variable] = indices
    return found


def _definition(variable: int, inner: Sequence[int], clauses: Sequence[Clause]) -> tuple[int, ...]:
    """Clauses among ``inner`` that define the variable: uniquely, if such are found.

    Encoders write the definition of a gate before its uses, or at least in clauses that are shorter, or
    in clauses over the same variables.
    """
    shortest = sorted(inner, key=lambda index: len(clauses[index]))
    alike = (
        [index for index in inner if members.issuperset(map(abs, clauses[index]))]
        for members in (frozenset(map(abs, clauses[index])) for index in shortest[:_MOST_ATTEMPTS])
    )
    for attempt in chain((inner, shortest), alike):
        indices = _agreeing(variable, attempt, clauses)
        if _is_unique(variable, [clauses[index] for index in indices]):
            return indices
    return _agreeing(variable, inner, clauses)


def _agreeing(variable: int, attempt: Sequence[int], clauses: Sequence[Clause]) -> tuple[int, ...]:
    """The first clauses of which any with the variable and any with its negation disagree on another variable too."""
    sides: dict[bool, list[frozenset[int]]] = {True: [], False: []}
    for taken, index in enumerate(attempt):
        positive = variable in clauses[index]
        others = frozenset(literal for literal in clauses[index] if abs(literal) != variable)
        opposite = frozenset(-literal for literal in others)
        if len(sides[not positive]) > _MOST_OTHERS or any(opposite.isdisjoint(each) for each in sides[not positive]):
            return tuple(attempt[:taken])
        sides[positive].append(others)
    return tuple(attempt)


def advance(
    defining: Mapping[int, tuple[int, ...]], clauses: Sequence[Clause], level: list[int], kind: list[int]
) -> None:
    """Give uniquely defined variables the level and kind of the block in which they are decided."""
    kinds = {level[variable]: kind[variable] for variable in range(1, len(level))}
    for variable, indices in defining.items():
        if not _is_unique(variable, [clauses[index] for index in indices]):
            continue
        # Definitions come in the order of the prefix, so those of the inputs are settled.
        inputs = {abs(literal) for index in indices for literal in clauses[index]} - {variable}
        inmost = max(level[each] for each in inputs)
        block = inmost + 1 if kinds[inmost] == FORALL else inmost
        level[variable], kind[variable] = block, kinds[block]


def _is_unique(variable: int, clauses: Sequence[Clause]) -> bool:
    """Whether the clauses contradict each other without the variable."""
    if len(clauses) < 2:
        return False
    cases = [[[literal for literal in clause if abs(literal) != variable] for clause in clauses]]
    for _ in range(_MOST_CASES):
        if not cases:
            return True
        left = _propagated(cases.pop())
        if left is None:
            continue
        if not left:
            return False
        literal = left[0][0]
        cases += [[*left, [literal]], [*left, [-literal]]]
    return False


def _propagated(clauses: list[list[int]]) -> list[list[int]] | None:
    """What is left when literals that stand alone are true; None for a contradiction."""
    while True:
        true = {clause[0] for clause in clauses if len(clause) == 1}
        if any(-literal in true for literal in true) or not all(clauses):
            return None
        if not true:
            return clauses
        clauses = [
            [literal for literal in clause if -literal not in true] for clause in clauses if true.isdisjoint(clause)
        ]
