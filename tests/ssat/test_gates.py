"""Gates against evaluation: every assignment of the choices has one extension, with the right truths."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdsl.backends.ssat.gates import FALSE, TRUE, Gates
from fairdsl.backends.ssat.instance import Bound, Quantifier
from tests.ssat.extensions import extensions, truth

MEANING = {
    "conjunction": lambda parts: all(parts),
    "disjunction": lambda parts: any(parts),
    "equivalent": lambda parts: parts[0] == parts[1],
    "select": lambda parts: parts[1] if parts[0] else parts[2],
}
WIDTH = {"equivalent": 2, "select": 3}


@st.composite
def circuits(draw: st.DrawFn) -> list[tuple[str, list[int]]]:
    """Gates over earlier ones: operands are positions among [true, 4 choices, gates ...], negative for negations."""
    steps = []
    for number in range(draw(st.integers(1, 8))):
        kind = draw(st.sampled_from(sorted(MEANING)))
        width = WIDTH.get(kind) or draw(st.integers(0, 4))
        operand = st.integers(1, 5 + number).flatmap(lambda place: st.sampled_from([place, -place]))
        steps.append((kind, draw(st.lists(operand, min_size=width, max_size=width))))
    return steps


def built(gates: Gates, steps: list[tuple[str, list[int]]]) -> list[int]:
    literals = [TRUE, *(gates.choice(f"c{number}") for number in range(4))]
    for kind, operands in steps:
        parts = [literals[abs(each) - 1] * (1 if each > 0 else -1) for each in operands]
        method = getattr(gates, kind)
        literals.append(method(parts) if kind in ("conjunction", "disjunction") else method(*parts))
    return literals


@given(circuits())
def test_every_assignment_has_one_extension_with_the_meant_truths(steps: list[tuple[str, list[int]]]) -> None:
    gates = Gates()
    literals = built(gates, steps)
    for choices in product([False, True], repeat=4):
        expected = [True, *choices]
        for kind, operands in steps:
            expected.append(MEANING[kind]([expected[abs(each) - 1] == (each > 0) for each in operands]))
        fixed = [number if value else -number for number, value in enumerate(choices, start=1)]
        models = extensions(gates, fixed)
        assert len(models) == 1
        assert [truth(models[0], literal) for literal in literals] == expected


@given(circuits())
def test_clauses_are_simple_and_the_same_every_time(steps: list[tuple[str, list[int]]]) -> None:
    first, second = Gates(), Gates()
    assert built(first, steps) == built(second, steps)
    clauses = list(first.clauses)
    assert clauses == list(second.clauses)
    assert len(set(clauses)) == len(clauses)
    for clause in clauses:
        assert len({abs(literal) for literal in clause}) == len(clause)
        assert all(abs(literal) < TRUE for literal in clause)
    before = first.variables
    assert before >= 4
    again = [*built(first, [])[:1], 1, 2, 3, 4]  # the choices of the first time
    for kind, operands in steps:
        parts = [again[abs(each) - 1] * (1 if each > 0 else -1) for each in operands]
        method = getattr(first, kind)
        again.append(method(parts) if kind in ("conjunction", "disjunction") else method(*parts))
    assert first.variables == before + 4, "the same definitions must be the same variables"


def test_select_propagates_what_both_branches_say() -> None:
    gates = Gates()
    condition, then, otherwise = (gates.choice(name) for name in "ite")
    chosen = gates.select(condition, then, otherwise)
    assert (-then, -otherwise, chosen) in gates.clauses


def test_constants_are_folded() -> None:
    gates = Gates()
    a, b = gates.choice("a"), gates.choice("b")
    assert gates.conjunction([]) == TRUE
    assert gates.disjunction([]) == FALSE
    assert gates.conjunction([a, TRUE, a]) == a
    assert gates.conjunction([a, b, -a]) == FALSE
    assert gates.disjunction([a, -FALSE]) == TRUE
    assert gates.equivalent(a, FALSE) == -a
    assert gates.equivalent(-a, a) == FALSE
    assert gates.select(a, b, b) == b
    assert gates.select(a, TRUE, FALSE) == a
    assert gates.select(-a, a, TRUE) == a
    assert gates.chance("never", Fraction(0)) == FALSE
    assert gates.chance("always", Fraction(1)) == TRUE
    assert gates.variables == 2
    assert not list(gates.clauses)


def test_required_clauses_lose_repetitions_and_tautologies() -> None:
    gates = Gates()
    a, b = gates.choice("a"), gates.choice("b")
    gates.require(b, a, b, FALSE)
    gates.require(a, b)
    gates.require(a, -a)
    gates.require(b, TRUE)
    assert list(gates.clauses) == [(a, b)]
    gates.require(FALSE)
    assert () in gates.clauses
    assert extensions(gates, []) == []


def test_an_instance_binds_existential_and_random_variables_in_order_and_definitions_innermost() -> None:
    gates = Gates()
    a = gates.choice("a")
    both = gates.conjunction([a, gates.choice("b", Quantifier.FORALL)])
    r = gates.chance("r", Fraction(1, 3))
    gates.require(gates.disjunction([both, r]))
    instance = gates.instance(comments=["what"])
    assert instance.prefix == (
        Bound(1, Quantifier.EXISTS),
        Bound(2, Quantifier.FORALL),
        Bound(4, Quantifier.RANDOM, Fraction(1, 3)),
        Bound(3, Quantifier.EXISTS),
        Bound(5, Quantifier.EXISTS),
    )
    assert set(instance.clauses) == set(gates.clauses)
    assert instance.names == {1: "a", 2: "b", 4: "r"}
    assert instance.comments == ("what",)
    assert [bound.variable for bound in gates.instance([r, a]).prefix] == [4, 1, 2, 3, 5]
    with pytest.raises(ValueError, match="existential and random variables"):
        gates.instance([both])


def test_an_instance_leaves_out_definitions_that_nothing_rests_on() -> None:
    gates = Gates()
    a, b, c = (gates.choice(name) for name in "abc")
    unused = gates.conjunction([b, c])
    inner = gates.conjunction([a, b])
    gates.require(gates.conjunction([inner, c]))
    variables = {abs(literal) for clause in gates.instance().clauses for literal in clause}
    assert unused not in variables
    assert inner in variables
    gates.require(-unused, a)
    assert unused in {abs(literal) for clause in gates.instance().clauses for literal in clause}


def test_variables_defined_together_come_and_go_together() -> None:
    gates = Gates()
    a, b = gates.choice("a"), gates.choice("b")
    top = gates.variables + 1
    clauses = [(-top, a), (top, -a), (-top - 1, top, b), (top + 1, -top), (top + 1, -b)]
    first, second = gates.defined_together(2, clauses)
    assert (first, second) == (top, top + 1)
    assert gates.instance().clauses == ()
    gates.require(second)
    assert len(gates.instance().clauses) == len(clauses) + 1
    with pytest.raises(ValueError, match="nothing"):
        gates.defined_together(0, [])


def test_names_and_copies() -> None:
    gates = Gates()
    a, b = gates.choice("a"), gates.choice("b")
    both = gates.conjunction([a, b])
    other = gates.copy()
    other.require(both)
    assert other.disjunction([-a, -b]) == -both
    assert list(gates.instance().clauses) == []
    assert other.instance().names == {a: "a", b: "b"}
