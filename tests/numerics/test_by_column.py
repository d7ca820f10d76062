"""What predicates are about: the largest parts about one column, and the columns that are compared with each other."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from fairdsl.ir.expr import And, Compare, Linear, Member, Not, Or, Predicate, Relation, Variable, atoms
from fairdsl.numerics.axes import mentioned
from fairdsl.numerics.truth import by_column


def compared(*columns: int, border: int = 0) -> Compare:
    left = Linear.of({Variable(column): Fraction(1) for column in columns}, Fraction(border))
    return Compare(left=left, relation=Relation.LE)


ATOMS = [compared(0), compared(0, border=1), compared(1), compared(0, 1), compared(), compared(1, 2)]
PREDICATES = st.recursive(
    st.sampled_from([*ATOMS, Member(variable=Variable(2), values=frozenset([Fraction(1)]))]),
    lambda parts: st.one_of(
        st.lists(parts, max_size=3).map(lambda each: And(tuple(each))),
        st.lists(parts, max_size=3).map(lambda each: Or(tuple(each))),
        parts.map(Not),
    ),
    max_leaves=6,
)


def largest(predicate: Predicate) -> list[Predicate]:
    """The largest parts about one column, from the outside in."""
    if len(mentioned(predicate)) <= 1:
        return [predicate] if mentioned(predicate) else []
    match predicate:
        case And(parts) | Or(parts):
            return [found for part in parts for found in largest(part)]
        case Not(part):
            return largest(part)
        case _:
            return []


@given(st.lists(PREDICATES, max_size=3), st.booleans())
def test_parts_are_the_largest_ones(predicates: list[Predicate], twice: bool) -> None:
    asked = [*predicates, And(tuple(predicates))] if twice else predicates
    found = by_column(asked)
    expected = [part for predicate in asked for part in largest(predicate)]
    assert {column: set(parts) for column, parts in found.alone.items()} == {
        column: {part for part in expected if mentioned(part) == (column,)}
        for column in {mentioned(part)[0] for part in expected}
    }
    assert all(len(parts) == len(set(parts)) for parts in found.alone.values())
    several = [mentioned(atom) for predicate in asked for atom in atoms(predicate)]
    assert found.together == {column for columns in several if len(columns) > 1 for column in columns}
    assert found.columns == {column for predicate in asked for column in mentioned(predicate)}
