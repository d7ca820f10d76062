"""Models of a formula that extend a partial assignment, found naively: unit propagation and trying both truths."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import pairwise

from fairdsl.backends.ssat.gates import TRUE, Column, Gates
from fairdsl.ir.domain import Attribute, Domain


def extensions(gates: Gates, fixed: Iterable[int], most: int = 2) -> list[dict[int, bool]]:
    """Up to ``most`` models over all variables of the gates in which the fixed literals are true."""
    clauses = list(gates.clauses)
    assert all(0 < abs(literal) <= gates.variables for clause in clauses for literal in clause)
    having: dict[int, list[tuple[int, ...]]] = {}
    for clause in clauses:
        for literal in clause:
            having.setdefault(-literal, []).append(clause)
    found: list[dict[int, bool]] = []

    def extend(values: dict[int, bool]) -> None:
        variable = next((each for each in range(1, gates.variables + 1) if each not in values), None)
        if variable is None:
            found.append(values)
            return
        for literal in (variable, -variable):
            following = dict(values)
            if len(found) < most and propagated(having, following, [literal]):
                extend(following)

    start: dict[int, bool] = {}
    units = [clause[0] for clause in clauses if len(clause) == 1]
    if () not in clauses and propagated(having, start, [*fixed, *units]):
        extend(start)
    return found


def propagated(having: Mapping[int, list[tuple[int, ...]]], values: dict[int, bool], new: list[int]) -> bool:
    """Make literals true and what follows by unit propagation; False for a contradiction."""
    while new:
        literal = new.pop()
        if abs(literal) in values:
            if values[abs(literal)] != (literal > 0):
                return False
            continue
        values[abs(literal)] = literal > 0
        for clause in having.get(literal, ()):
            if any(values.get(abs(other)) == (other > 0) for other in clause):
                continue
            free = [other for other in clause if abs(other) not in values]
            if not free:
                return False
            new += free if len(free) == 1 else []
    return True


def truth(model: Mapping[int, bool], literal: int) -> bool:
    """A literal's truth in a model, constants included."""
    return literal == TRUE if abs(literal) == TRUE else model[abs(literal)] == (literal > 0)


def column_of(gates: Gates, attribute: Attribute) -> Column:
    """Every value of an attribute as a place; the order literals are free choices that imply each other."""
    values = sorted(Fraction(value) for value in attribute.values)
    below = tuple(gates.choice(f"{attribute.name} <= {value}") for value in values[:-1])
    for lower, upper in pairwise(below):
        gates.require(-lower, upper)
    return Column(tuple(values), (True,) * len(values), below)


def columns_of(gates: Gates, domain: Domain) -> dict[int, Column]:
    return {index: column_of(gates, attribute) for index, attribute in enumerate(domain.attributes)}


def at_value(column: Column, value: Fraction) -> list[int]:
    """The literals that put a column to a value."""
    place = column.values.index(value)
    return [literal if k >= place else -literal for k, literal in enumerate(column.below)]


def at_point(columns: Mapping[int, Column], point: Iterable[Fraction]) -> list[int]:
    return [literal for index, value in enumerate(point) for literal in at_value(columns[index], value)]
