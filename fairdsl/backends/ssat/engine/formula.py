"""An instance made ready for search: normal clauses, numbered levels, whole-number weights, and definitions.

Normal form. A tautology holds always and a literal or clause counts once, so they are dropped. *Universal reduction*:
a universal literal inner to all other kinds of literals of its clause is dropped as well. For let ``C or u`` be the
clause and let the variables outside of ``u`` have truths that falsify ``C``: then the value at ``u`` is the smaller of
two, of which one is 0; so it is 0, as with the clause ``C``. Where ``C`` holds, both clauses hold.

Weights. The chance a/b of a random variable is the weight a of its truth, b - a of its falsity, and the scale b. By
induction over the prefix, the value of a formula times the product of the scales of its random variables is a
whole number, so the search needs no fractions.

Definitions (``definitions.py``) let variables be decided early, and be dropped when nothing uses them.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass

from fairdsl.backends.ssat.engine.definitions import EXISTS, FORALL, RANDOM, advance, definitions
from fairdsl.backends.ssat.instance import Clause, Instance, Quantifier

__all__ = ["EXISTS", "FORALL", "RANDOM", "Formula", "prepared"]

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


def prepared(instance: Instance) -> Formula:
    """The formula of an instance."""
    size = instance.variables + 1
    position, level, kind = _prefix(instance)
    weight, scale = [1] * (2 * size), [1] * size
    certain: list[int] = []
    for bound in instance.prefix:
        if bound.chance is None:
            continue
        truth, whole = bound.chance.numerator, bound.chance.denominator
        if whole == 1:
            certain.append(bound.variable if truth else -bound.variable)
        else:
            weight[bound.variable], weight[-bound.variable], scale[bound.variable] = truth, whole - truth, whole
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
    return Formula(
        variables=instance.variables,
        outermost=_outermost(instance, clauses),
        level=level,
        kind=kind,
        weight=weight,
        scale=scale,
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
