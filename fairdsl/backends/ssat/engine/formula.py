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

from array import array
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from fairdsl.backends.ssat.instance import Bound, Clause, Instance, Quantifier

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


# --------------------------------------------------------------------------------------------------
# An instance made ready for search: normal clauses, numbered levels, whole-number weights, and definitions.
#
# Normal form. A tautology holds always and a literal or clause counts once, so they are dropped. *Universal
# reduction*: a universal literal inner to all other kinds of literals of its clause is dropped as well. For let ``C
# or u`` be the clause and let the variables outside of ``u`` have truths that falsify ``C``: then the value at ``u``
# is the smaller of two, of which one is 0; so it is 0, as with the clause ``C``. Where ``C`` holds, both clauses
# hold.
#
# Weights. The chance a/b of a random variable is the weight a of its truth, b - a of its falsity, and the scale b. By
# induction over the prefix, the value of a formula times the product of the scales of its random variables is a
# whole number, so the search needs no fractions.
#
# Definitions (``definitions.py``) let variables be decided early, and be dropped when nothing uses them.

_KINDS = {Quantifier.EXISTS: EXISTS, Quantifier.FORALL: FORALL, Quantifier.RANDOM: RANDOM}


@dataclass(frozen=True, slots=True, kw_only=True)
class Formula:
    """Lists over variables 1 .. ``variables``, over literals (index ``-v`` is the negation of ``v``), over clauses.

    ``level``: the number of a variable's quantifier block, 0 outermost; ``kind``: its quantifier; of a defined variable
    those of the block in which it is decided. ``weight``: of a literal, 1 where it is not bound at random; ``scale``:
    of a variable. ``occurs``: clauses of a literal; ``around``: clauses of a variable. ``members``: variables of a
    clause. ``defining``: clauses that define a variable, where some do; ``owner``: the variable that a clause
    defines, or 0; ``used``: defined variables that it mentions otherwise; ``uses``: of a variable, how many clauses do
    so. ``fixed``: literals of chance 1, and of clauses with one literal. ``void``: some clause is empty.
    """

    variables: int
    outermost: tuple[int, ...]
    level: list[int]
    kind: list[int]
    weight: list[int]
    scale: list[int]
    clauses: list[Clause]
    members: list[tuple[int, ...]]
    occurs: list[tuple[int, ...]]
    around: list[tuple[int, ...]]
    defining: dict[int, tuple[int, ...]]
    owner: list[int]
    used: list[tuple[int, ...]]
    uses: list[int]
    fixed: tuple[int, ...]
    void: bool


def shape_of(instance: Instance) -> Hashable:
    """Equal for instances whose formulas differ in weights and scales alone."""
    prefix = [(bound.variable, bound.quantifier.value, _certain(bound)) for bound in instance.prefix]
    return instance.variables, tuple(prefix), instance.clauses


def weighed(formula: Formula, instance: Instance) -> Formula:
    """A formula of the instance's shape with the instance's probabilities."""
    size = instance.variables + 1
    weight, scale = [1] * (2 * size), [1] * size
    for bound in instance.prefix:
        if bound.chance is not None and bound.chance.denominator > 1:
            truth, whole = bound.chance.as_integer_ratio()
            weight[bound.variable], weight[-bound.variable], scale[bound.variable] = truth, whole - truth, whole
    return replace(formula, weight=weight, scale=scale)


def _certain(bound: Bound) -> int | None:
    """The truth of a random variable that has only one; None of any other variable."""
    return bound.chance.numerator if bound.chance is not None and bound.chance.denominator == 1 else None


def prepared(instance: Instance) -> Formula:
    """The formula of an instance."""
    size = instance.variables + 1
    position, level, kind = _prefix(instance)
    certain = [b.variable if truth else -b.variable for b in instance.prefix if (truth := _certain(b)) is not None]
    clauses = _normal(instance.clauses, position, kind)
    occurs: list[list[int]] = [[] for _ in range(2 * size)]
    for index, clause in enumerate(clauses):
        for literal in clause:
            occurs[literal].append(index)
    defining = definitions(clauses, position, level, kind)
    advance(defining, clauses, level, kind)
    owner = [0] * len(clauses)
    for variable, indices in defining.items():
        for index in indices:
            owner[index] = variable
    used = [
        tuple(abs(literal) for literal in clause if abs(literal) in defining and abs(literal) != owner[index])
        for index, clause in enumerate(clauses)
    ]
    uses = [0] * size
    for variables in used:
        for variable in variables:
            uses[variable] += 1
    formula = Formula(
        variables=instance.variables,
        outermost=_outermost(instance, clauses),
        level=level,
        kind=kind,
        weight=[],
        scale=[],
        clauses=clauses,
        members=[tuple(map(abs, clause)) for clause in clauses],
        occurs=[tuple(indices) for indices in occurs],
        around=[(), *(tuple(occurs[variable] + occurs[-variable]) for variable in range(1, size))],
        defining=defining,
        owner=owner,
        used=used,
        uses=uses,
        fixed=(*certain, *(clause[0] for clause in clauses if len(clause) == 1)),
        void=any(not clause for clause in clauses),
    )
    return weighed(formula, instance)


def _prefix(instance: Instance) -> tuple[list[int], list[int], list[int]]:
    """Position, level and quantifier of each variable; those left out of the prefix come first."""
    size = instance.variables + 1
    position, level, kind = [0] * size, [0] * size, [EXISTS] * size
    depth = 0
    before = EXISTS
    for place, bound in enumerate(instance.prefix, start=1):
        here = _KINDS[bound.quantifier]
        depth += here != before
        before = here
        position[bound.variable], level[bound.variable], kind[bound.variable] = place, depth, here
    return position, level, kind


def _outermost(instance: Instance, clauses: list[Clause]) -> tuple[int, ...]:
    """The existential variables that are bound first, and those in clauses that nothing binds."""
    first: list[int] = []
    for bound in instance.prefix:
        if bound.quantifier is not Quantifier.EXISTS:
            break
        first.append(bound.variable)
    known = {bound.variable for bound in instance.prefix}
    return (*sorted({abs(literal) for clause in clauses for literal in clause} - known), *first)


def _normal(clauses: tuple[Clause, ...], position: list[int], kind: list[int]) -> list[Clause]:
    """Each clause once, without tautologies and without universal literals that say nothing."""
    found: dict[Clause, None] = {}
    for clause in clauses:
        literals = set(clause)
        if any(-literal in literals for literal in literals):
            continue
        inmost = max((position[abs(each)] for each in literals if kind[abs(each)] != FORALL), default=-1)
        found[tuple(sorted(each for each in literals if kind[abs(each)] != FORALL or position[abs(each)] < inmost))] = (
            None
        )
    return list(found)


def typecode(formula: Formula) -> str:
    """The narrowest array that holds variables and clause numbers."""
    return "H" if max(formula.variables, len(formula.clauses)) < 1 << (8 * array("H").itemsize) else "I"
