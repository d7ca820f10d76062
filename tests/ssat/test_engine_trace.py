"""Instances that differ in probabilities alone, answered by the circuit of one search: the definition's values."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdsl.backends.ssat.engine import Engine, Known, Solution
from fairdsl.backends.ssat.instance import Bound, Instance, Quantifier
from tests.ssat.brute import value
from tests.ssat.random_instances import circuit_of_seed, instance_of_seed, instances

#: Certain ones as well, which change what a search does.
CHANCES = [Fraction(1, 2), Fraction(3, 7), Fraction(99, 100), Fraction(1, 1000), Fraction(0), Fraction(1)]


def with_chances(asked: Instance, chances: list[Fraction]) -> Instance:
    """The same clauses and quantifiers; as many chances as there are variables."""
    prefix = (
        bound if bound.chance is None else Bound(bound.variable, bound.quantifier, chance)
        for bound, chance in zip(asked.prefix, chances, strict=False)
    )
    return replace(asked, prefix=tuple(prefix))


def by_chance(asked: Instance) -> Instance:
    """The same with every universal variable random, and no variable unbound: circuits mostly come of these."""
    prefix = [
        Bound(bound.variable, Quantifier.RANDOM, Fraction(1, 3)) if bound.quantifier is Quantifier.FORALL else bound
        for bound in asked.prefix
    ]
    bound = {each.variable for each in prefix}
    free = [number for number in range(1, asked.variables + 1) if number not in bound]
    return replace(asked, prefix=(*(Bound(number, Quantifier.RANDOM, Fraction(1, 2)) for number in free), *prefix))


def solved(asked: Instance, known: Known) -> Solution:
    """Exactly, and as the definition has it."""
    found = Engine(asked, known=known).solve()
    assert found.exact
    assert found.low == value(asked)
    return found


@given(instances(), st.booleans(), st.lists(st.lists(st.sampled_from(CHANCES), min_size=8, max_size=8), max_size=3))
def test_other_probabilities_have_the_values_of_the_definition(
    asked: Instance, alone: bool, others: list[list[Fraction]]
) -> None:
    asked, known = by_chance(asked) if alone else asked, Known()
    for each in (asked, *(with_chances(asked, chances) for chances in others), asked):
        solved(each, known)


@pytest.mark.parametrize("drawn", [instance_of_seed, circuit_of_seed])
def test_a_search_of_chances_is_not_done_twice(drawn: type) -> None:
    again = 0
    for seed in range(150):
        asked, known = by_chance(drawn(seed)), Known()
        first = solved(asked, known)
        second = solved(with_chances(asked, [Fraction(seed % 7 + 1, 9)] * 20), known)
        outermost = asked.prefix[0].quantifier is Quantifier.EXISTS
        certain = any(bound.chance in (0, 1) for bound in asked.prefix)
        if not (outermost or certain):
            again += first.statistics.decisions > 0 == second.statistics.decisions
    assert again > 10


def test_choices_are_searched_anew() -> None:
    # The better choice depends on the probability.
    clauses = ((1, 2), (-1, 3))
    prefix = (Bound(1, Quantifier.EXISTS), Bound(2, Quantifier.RANDOM, Fraction(1, 3)))
    asked = Instance(variables=3, prefix=(*prefix, Bound(3, Quantifier.RANDOM, Fraction(1, 4))), clauses=clauses)
    known = Known()
    for chances, choice in (([0, "1/3", "1/4"], False), ([0, "1/3", "1/2"], True), ([0, "2/3", "1/2"], False)):
        found = solved(with_chances(asked, list(map(Fraction, chances))), known)
        assert found.choice == {1: choice}


def test_a_search_with_too_much_in_it_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fairdsl.backends.ssat.engine.trace._MOST", 1)
    known = Known()
    for seed in range(100):
        asked = by_chance(circuit_of_seed(seed))
        assert solved(asked, known).statistics.decisions == solved(asked, known).statistics.decisions
