"""Predicates about one column at its values: what whole numbers say is what fractions say."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from fairdsl.ir.expr import And, Compare, Linear, Member, Not, Or, Predicate, Relation, Variable, holds_at
from fairdsl.numerics.truth import truths_at

_COLUMN = 2
_NUMBERS = st.fractions(min_value=-5, max_value=5, max_denominator=6)
_ATOMS = st.one_of(
    st.builds(
        lambda factor, constant, relation: Compare(
            left=Linear.of({Variable(_COLUMN): factor}, constant), relation=relation
        ),
        _NUMBERS,
        _NUMBERS,
        st.sampled_from(Relation),
    ),
    st.builds(
        lambda values: Member(variable=Variable(_COLUMN), values=values),
        st.frozensets(_NUMBERS, min_size=1, max_size=3),
    ),
)
_PREDICATES: st.SearchStrategy[Predicate] = st.recursive(
    _ATOMS,
    lambda inner: st.one_of(
        st.builds(lambda parts: And(tuple(parts)), st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda parts: Or(tuple(parts)), st.lists(inner, min_size=1, max_size=3)),
        st.builds(Not, inner),
    ),
    max_leaves=4,
)


@given(_PREDICATES, st.lists(_NUMBERS, min_size=1, max_size=80))
def test_truths_are_those_of_each_value(predicate: Predicate, values: list[Fraction]) -> None:
    assert truths_at(predicate, _COLUMN, values).tolist() == [holds_at(predicate, value) for value in values]


@given(st.sampled_from(Relation), _NUMBERS.filter(bool), st.lists(_NUMBERS, min_size=1, max_size=80))
def test_ties_are_exact(relation: Relation, factor: Fraction, values: list[Fraction]) -> None:
    """The comparison changes at one of the values themselves, which may be more than float64 tells apart."""
    values = [value + Fraction(1, 10**20) for value in values]
    comparison = Compare(left=Linear.of({Variable(_COLUMN): factor}, -factor * values[0]), relation=relation)
    assert truths_at(comparison, _COLUMN, values).tolist() == [
        relation.compares(factor * (v - values[0]), Fraction(0)) for v in values
    ]
