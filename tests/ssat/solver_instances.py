"""Random SSAT instances as solvers are given them, and their value by the definition."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st

from fairdsl.backends.ssat.instance import Bound, Instance, Quantifier

CHANCES = [
    Fraction(0),
    Fraction(1),
    Fraction(1, 2),
    Fraction(1, 3),
    Fraction(2, 7),
    Fraction(9, 10),
    Fraction(1, 10**5),
]

#: A choice outside, and chances; worth 3/5 by choosing 1.
SMALL = Instance(
    variables=3,
    prefix=(
        Bound(1, Quantifier.EXISTS),
        Bound(2, Quantifier.RANDOM, Fraction(3, 10)),
        Bound(3, Quantifier.RANDOM, Fraction(3, 5)),
    ),
    clauses=((1, 2), (-1, 3)),
)


def by_definition(instance: Instance, truths: dict[int, bool] | None = None) -> Fraction:
    """The value, by going through all assignments in the order of the prefix; unbound variables are outermost."""
    bound = {each.variable for each in instance.prefix}
    free = [Bound(each, Quantifier.EXISTS) for each in range(1, instance.variables + 1) if each not in bound]
    return _value(instance, [*free, *instance.prefix], truths or {})


def _value(instance: Instance, prefix: list[Bound], truths: dict[int, bool]) -> Fraction:
    if not prefix:
        held = all(any(truths[abs(each)] == (each > 0) for each in clause) for clause in instance.clauses)
        return Fraction(int(held))
    first, *others = prefix
    if first.variable in truths:
        return _value(instance, others, truths)
    true, false = (_value(instance, others, truths | {first.variable: truth}) for truth in (True, False))
    if first.chance is not None:
        return first.chance * true + (1 - first.chance) * false
    return max(true, false) if first.quantifier is Quantifier.EXISTS else min(true, false)


@st.composite
def instances(draw: st.DrawFn, quantifiers: str = "ear", variables: int = 5, longest: int = 4) -> Instance:
    """Instances with units, tautologies, repeated literals and clauses, empty clauses and unused variables."""
    count = draw(st.integers(1, variables))
    order = draw(st.permutations(range(1, count + 1)))
    prefix = []
    for variable in order:
        quantifier = draw(st.sampled_from([*quantifiers, ""]))
        if quantifier:
            chance = draw(st.sampled_from(CHANCES)) if quantifier == "r" else None
            prefix.append(Bound(variable, Quantifier(quantifier), chance))
    literal = st.integers(1, count).flatmap(lambda each: st.sampled_from([each, -each]))
    clauses = draw(st.lists(st.lists(literal, min_size=1, max_size=longest).map(tuple), max_size=6))
    if draw(st.integers(0, 20)) == 20:
        clauses.append(())
    return Instance(variables=count, prefix=tuple(prefix), clauses=tuple(clauses))


def shaped(draw: st.DrawFn, blocks: str) -> Instance:
    """An instance whose blocks are these, of one to three variables each, with clauses of two literals and more."""
    prefix: list[Bound] = []
    for letter in blocks:
        for _ in range(draw(st.integers(1, 3))):
            chance = draw(st.sampled_from(CHANCES[2:])) if letter == "R" else None
            prefix.append(Bound(len(prefix) + 1, Quantifier(letter.lower()), chance))
    literal = st.integers(1, len(prefix)).flatmap(lambda each: st.sampled_from([each, -each]))
    clauses = draw(st.lists(st.lists(literal, min_size=2, max_size=4).map(tuple), min_size=1, max_size=8))
    return Instance(variables=len(prefix), prefix=tuple(prefix), clauses=tuple(clauses))
