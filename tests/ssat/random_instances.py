"""Random small instances with everything that can go wrong: all prefixes, gates, doubled literals, empty clauses."""

from __future__ import annotations

import random
from fractions import Fraction

from hypothesis import strategies as st

from fairdsl.backends.ssat.instance import Bound, Clause, Instance, Quantifier

__all__ = ["circuit_of_seed", "instance_of_seed", "instances", "outermost"]

CHANCES = [Fraction(1, 2), Fraction(1, 3), Fraction(9, 10), Fraction(17, 100), Fraction(0), Fraction(1)]


@st.composite
def instances(draw: st.DrawFn, most: int = 8) -> Instance:
    """With up to so many variables."""
    size = draw(st.integers(1, most))
    order = draw(st.permutations(range(1, size + 1)))
    bound = draw(st.sampled_from([size, size, draw(st.integers(0, size))]))
    prefix = []
    for variable in order[:bound]:
        quantifier = draw(st.sampled_from(Quantifier))
        chance = draw(st.sampled_from(CHANCES)) if quantifier is Quantifier.RANDOM else None
        prefix.append(Bound(variable, quantifier, chance))
    literal = st.builds(lambda variable, sign: variable * sign, st.integers(1, size), st.sampled_from([1, -1]))
    width = st.sampled_from([1, 2, 2, 3, 3, 3, 4])
    clauses = draw(st.lists(width.flatmap(lambda n: st.lists(literal, min_size=n, max_size=n)), max_size=2 * size))
    gates = draw(st.lists(st.tuples(st.integers(1, size), literal, literal), max_size=3))
    defined = [clause for gate, a, b in gates for clause in _gate(gate, a, b)]
    return Instance(variables=size, prefix=tuple(prefix), clauses=(*map(tuple, clauses), *defined))


def instance_of_seed(seed: int) -> Instance:
    """The same without Hypothesis, for many."""
    chosen = random.Random(seed)
    size = chosen.randint(1, 9)
    order = list(range(1, size + 1))
    chosen.shuffle(order)
    kinds = chosen.choice([[Quantifier.EXISTS, Quantifier.RANDOM], list(Quantifier), [Quantifier.RANDOM]])
    prefix: list[Bound] = []
    quantifier = chosen.choice(kinds)
    for variable in order[: chosen.choice([size, size, chosen.randint(0, size)])]:
        if chosen.random() < 0.5:
            quantifier = chosen.choice(kinds)
        chance = chosen.choice(CHANCES) if quantifier is Quantifier.RANDOM else None
        prefix.append(Bound(variable, quantifier, chance))

    def literal() -> int:
        return chosen.choice([1, -1]) * chosen.randint(1, size)

    clauses: list[Clause] = [
        tuple(literal() for _ in range(chosen.choice([1, 2, 2, 3, 3, 4]))) for _ in range(chosen.randint(0, 2 * size))
    ]
    if chosen.random() < 0.02:
        clauses.append(())
    if chosen.random() < 0.4:
        clauses += [clause for gate in range(3, size + 1) for clause in _gate(gate, literal(), literal())]
    return Instance(variables=size, prefix=tuple(prefix), clauses=tuple(clauses))


def circuit_of_seed(seed: int) -> Instance:
    """Gates over inputs of any prefix, mostly innermost and in order, and clauses over both."""
    chosen = random.Random(seed)
    inputs, gates = chosen.randint(1, 5), chosen.randint(1, 5)
    size = inputs + gates
    prefix = []
    quantifier = chosen.choice(list(Quantifier))
    for variable in range(1, inputs + 1):
        if chosen.random() < 0.4:
            quantifier = chosen.choice([Quantifier.RANDOM, *Quantifier])
        prefix.append(Bound(variable, quantifier, chosen.choice(CHANCES) if quantifier is Quantifier.RANDOM else None))
    prefix += [Bound(variable, Quantifier.EXISTS) for variable in range(inputs + 1, size + 1)]
    if chosen.random() < 0.2:
        # Somewhere else: then it may be no definition.
        prefix.insert(chosen.randint(0, size - 1), prefix.pop(chosen.randint(0, size - 1)))

    def below(gate: int) -> int:
        return chosen.choice([1, -1]) * chosen.randint(1, gate - 1)

    defined: list[Clause] = []
    for gate in range(inputs + 1, size + 1):
        a, b, c = below(gate), below(gate), below(gate)
        kinds = [_gate(gate, a, b), _gate(-gate, a, b), _same(gate, a, b), _either(gate, a, b, c)]
        clauses = chosen.choice(kinds)
        if chosen.random() < 0.15:
            # Defined in part only, or not at all.
            clauses = chosen.sample(clauses, chosen.randint(0, len(clauses)))
        defined += clauses
    demands: list[Clause] = [
        tuple(below(size + 1) for _ in range(chosen.randint(1, 3))) for _ in range(chosen.randint(0, 4))
    ]
    together = [*defined, *demands]
    if chosen.random() < 0.3:
        chosen.shuffle(together)
    return Instance(variables=size, prefix=tuple(prefix), clauses=tuple(together))


def _same(gate: int, a: int, b: int) -> list[Clause]:
    """Gate <=> (a <=> b)."""
    return [(-gate, -a, b), (-gate, a, -b), (gate, a, b), (gate, -a, -b)]


def _either(gate: int, a: int, b: int, c: int) -> list[Clause]:
    """Gate <=> (b if a else c)."""
    return [(-gate, -a, b), (gate, -a, -b), (-gate, a, c), (gate, a, -c)]


def _gate(gate: int, a: int, b: int) -> list[Clause]:
    """Gate <=> a and b."""
    return [(-gate, a), (-gate, b), (gate, -a, -b)]


def outermost(instance: Instance) -> list[int]:
    """The variables that may be assumed."""
    bound = {bound.variable for bound in instance.prefix}
    found = [variable for variable in range(1, instance.variables + 1) if variable not in bound]
    for each in instance.prefix:
        if each.quantifier is not Quantifier.EXISTS:
            break
        found.append(each.variable)
    return found
