"""Conditions that pick a group with bins, against going through all values."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from fairdsl.ir.domain import Attribute, Domain, Integer, Real
from fairdsl.ir.expr import TRUE, And, Compare, Linear, Member, Not, Or, Predicate, Relation, Variable, holds
from fairdsl.semantics.questions.one_group import NoGroup, one_group

X = Variable(0)
LOW, HIGH = -3, 6


def _compare(relation: Relation, factor: int, halves: int) -> Predicate:
    left = Linear.of({X: Fraction(factor)}, Fraction(halves, 2))
    return Compare(left=left, relation=relation)


atoms = st.one_of(
    st.builds(_compare, st.sampled_from(Relation), st.sampled_from([-2, -1, 1, 2]), st.integers(-14, 14)),
    st.builds(lambda values: Member(variable=X, values=values), st.frozensets(st.integers(LOW, HIGH).map(Fraction))),
)
predicates = st.recursive(
    atoms,
    lambda parts: st.one_of(
        parts.map(Not),
        st.lists(parts, min_size=1, max_size=3).map(tuple).map(And),
        st.lists(parts, min_size=1, max_size=3).map(tuple).map(Or),
    ),
    max_leaves=4,
)
edges = st.frozensets(st.integers(2 * LOW + 1, 2 * HIGH), min_size=1, max_size=3).map(
    lambda found: tuple(Fraction(edge, 2) for edge in sorted(found))
)


@st.composite
def asked_of_bins(draw: st.DrawFn) -> tuple[Predicate, tuple[Fraction, ...]]:
    """Bins and a predicate: any, or one that picks a bin or nearly does."""
    bins = draw(edges)
    if draw(st.booleans()):
        return draw(predicates), bins
    place = draw(st.integers(0, len(bins)))
    parts: list[Predicate] = []
    if place:
        parts.append(_beside(bins[place - 1], draw(st.sampled_from([Relation.GE, Relation.GE, Relation.GT]))))
    if place < len(bins):
        parts.append(_beside(bins[place], draw(st.sampled_from([Relation.LT, Relation.LT, Relation.LE]))))
    return And(tuple(parts)), bins


def _beside(edge: Fraction, relation: Relation) -> Predicate:
    return Compare(left=Linear.of({X: Fraction(1)}, -edge), relation=relation)


def by_hand(predicate: Predicate, numbers: list[Fraction], bins: tuple[Fraction, ...]) -> Fraction | None:
    """The least number of the only bin in which the predicate holds somewhere, if it holds in all of it."""
    places = {number: sum(edge <= number for edge in bins) for number in numbers}
    true_of = {number for number in numbers if _true(predicate, number)}
    picked = {places[number] for number in true_of}
    if len(picked) != 1:
        return None
    members = {number for number in numbers if places[number] in picked}
    return min(members) if members == true_of else None


def _true(predicate: Predicate, number: Fraction) -> bool:
    return holds(predicate, lambda _: number)


def asked(predicate: Predicate, attribute: Attribute) -> Fraction | None:
    """What the group is."""
    found = one_group(predicate, (0,), Domain(name="D", attributes=(attribute,), where=TRUE))
    return None if isinstance(found, NoGroup) else found[0]


@given(asked_of_bins())
def test_whole_numbers(asking: tuple[Predicate, tuple[Fraction, ...]]) -> None:
    predicate, bins = asking
    attribute = Attribute(name="x", type=Integer(low=LOW, high=HIGH), bins=bins)
    numbers = [Fraction(number) for number in range(LOW, HIGH + 1)]
    assert asked(predicate, attribute) == by_hand(predicate, numbers, bins)


@given(asked_of_bins())
def test_reals(asking: tuple[Predicate, tuple[Fraction, ...]]) -> None:
    """All that the predicates compare with are quarters, so eighths tell every stretch from the next."""
    predicate, bins = asking
    attribute = Attribute(name="x", type=Real(low=Fraction(LOW), high=Fraction(HIGH)), bins=bins)
    numbers = [Fraction(eighths, 8) for eighths in range(8 * LOW, 8 * HIGH + 1)]
    assert asked(predicate, attribute) == by_hand(predicate, numbers, bins)


@given(asked_of_bins())
def test_unbounded_reals(asking: tuple[Predicate, tuple[Fraction, ...]]) -> None:
    """The group below the first edge has no lower end: a value below the edge stands for it."""
    predicate, bins = asking
    attribute = Attribute(name="x", type=Real(low=None, high=None), bins=bins)
    numbers = [Fraction(eighths, 8) for eighths in range(8 * LOW - 80, 8 * HIGH + 81)]
    expected = by_hand(predicate, numbers, bins)
    found = asked(predicate, attribute)
    assert (found is None) == (expected is None)
    if found is not None and expected is not None:
        assert sum(edge <= found for edge in bins) == sum(edge <= expected for edge in bins)
