"""The embedded solver against the definition: values, choices, assumptions, and instances worked out by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdsl.backends.ssat.engine import Engine, Solution
from fairdsl.backends.ssat.instance import Bound, Clause, Instance, Quantifier
from tests.drawing import examples
from tests.ssat.brute import assuming, value
from tests.ssat.random_instances import circuit_of_seed, instance_of_seed, instances, outermost

E, A, R = Quantifier.EXISTS, Quantifier.FORALL, Quantifier.RANDOM


def instance(prefix: str, *clauses: Clause) -> Instance:
    """``e a .3``: variables 1, 2, .. in this order; a number is a chance."""
    bounds = [
        Bound(number, Quantifier(word)) if word in "ea" else Bound(number, R, Fraction(word))
        for number, word in enumerate(prefix.split(), start=1)
    ]
    return Instance(variables=len(bounds), prefix=tuple(bounds), clauses=clauses)


def solved(asked: Instance) -> Fraction:
    """The value, which has to be exact."""
    found = Engine(asked).solve()
    assert found.exact
    assert found.reason is None
    return found.low


# ---- against the definition ----------------------------------------------------------------------


def check(asked: Instance, engine: Engine, assumed: list[int]) -> None:
    """Value and choice, under assumptions."""
    found = engine.solve(assumed)
    truths = {abs(literal): literal > 0 for literal in assumed}
    expected = value(asked, truths)
    assert found.exact
    assert found.low == expected
    assert (found.choice is not None) >= any(each.quantifier is E for each in asked.prefix[:1])
    if found.choice is not None:
        assert value(asked, dict(found.choice) | truths) == expected
        assert all(found.choice.get(variable, truth) == truth for variable, truth in truths.items())


@given(instances())
def test_values_and_choices_are_those_of_the_definition(asked: Instance) -> None:
    check(asked, Engine(asked), [])


@given(instances(), st.data())
def test_assumptions_are_fixed_beforehand_call_after_call(asked: Instance, data: st.DataObject) -> None:
    engine = Engine(asked)
    for _ in range(3):
        variables = data.draw(st.lists(st.sampled_from(outermost(asked) or [0]), unique=True))
        assumed = [data.draw(st.sampled_from([1, -1])) * variable for variable in variables if variable]
        check(asked, engine, assumed)
        assert engine.solve(assumed).low == solved(assuming(asked, assumed))


@settings(max_examples=examples(0.7))
@given(instances())
def test_a_cache_that_holds_next_to_nothing_changes_no_value(asked: Instance) -> None:
    # Room for what is open, and for a few components.
    check(asked, Engine(asked, memory=40_000), [])


@pytest.mark.parametrize("seed", range(60))
def test_a_few_seeds(seed: int) -> None:
    check(instance_of_seed(seed), Engine(instance_of_seed(seed)), [])


@pytest.mark.parametrize("start", range(0, 600, 100))
def test_circuits(start: int) -> None:
    for seed in range(start, start + 100):
        asked = circuit_of_seed(seed)
        check(asked, Engine(asked), [])


@pytest.mark.slow
@pytest.mark.parametrize("drawn", [instance_of_seed, circuit_of_seed])
def test_many_seeds(drawn: Callable[[int], Instance]) -> None:
    between = 0
    for seed in range(3000):
        asked = drawn(seed)
        check(asked, Engine(asked, memory=40_000 if seed % 3 else 2 << 30), [])
        between += 0 < value(asked) < 1
    # Most random formulas are satisfied always or never; enough are not.
    assert between > 400


# ---- worked examples -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fit", "income", "job", "expected"),
    [(".41", ".93", ".09", ".4344"), (".01", ".99", ".18", ".1881"), (".82", ".88", ".01", ".7234")],
)
def test_the_tree_of_justicia(fit: str, income: str, job: str, expected: str) -> None:
    """Example 2: approved iff (not F or I) and (F or J); everybody, older and younger people."""
    assert solved(instance(f"{fit} {income} {job}", (-1, 2), (1, 3))) == Fraction(expected)


def test_both_age_groups_of_justicia_in_one_instance() -> None:
    """Example 2 with the group as a choice: more and less favoured, and one group after the other.

    Variable 1 is the group (true: 40 or older), 2 to 7 are F, I, J given it or its negation, and 8 to 10 select.
    """
    chances = [(2, ".01"), (3, ".82"), (4, ".99"), (5, ".88"), (6, ".18"), (7, ".01")]
    prefix = [Bound(1, E), *(Bound(number, R, Fraction(chance)) for number, chance in chances)]
    prefix += [Bound(number, E) for number in (8, 9, 10)]
    selected = [
        clause
        for gate, older, younger in ((8, 2, 3), (9, 4, 5), (10, 6, 7))
        for clause in ((-1, -gate, older), (-1, gate, -older), (1, -gate, younger), (1, gate, -younger))
    ]
    asked = Instance(variables=10, prefix=tuple(prefix), clauses=(*selected, (-8, 9), (8, 10)))
    engine = Engine(asked)
    most = engine.solve()
    assert (most.low, most.choice) == (Fraction(".7234"), {1: False})
    assert engine.solve([1]).low == Fraction(".1881")
    assert engine.solve([-1]).low == Fraction(".7234")
    least = replace(asked, prefix=(Bound(1, A), *prefix[1:]))
    assert solved(least) == Fraction(".1881")
    assert Engine(least).solve().choice is None


# ---- corners -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prefix", "clauses", "expected"),
    [
        ("", [], "1"),
        ("", [()], "0"),
        (".3", [], "1"),
        (".3", [()], "0"),
        (".3", [(1,)], ".3"),
        (".3", [(-1,)], ".7"),
        (".3", [(1,), (1,)], ".3"),  # clauses twice, which two published solvers count twice
        (".75", [(1, 1)], ".75"),
        (".3", [(1, -1)], "1"),
        (".3", [(1,), (-1,)], "0"),
        ("e .75 .9", [(1, -2), (1, -2), (3, -1)], ".9"),
        ("0", [(1,)], "0"),
        ("1", [(1,)], "1"),
        ("0 .3", [(1, 2)], ".3"),
        ("e a", [(1, 2), (-1, -2)], "0"),
        ("a e", [(1, 2), (-1, -2)], "1"),
        ("e .5", [(1, 2), (-1, -2)], ".5"),
        (".5 e", [(1, 2), (-1, -2)], "1"),
        ("a .3", [(1, 2)], ".3"),
        (".3 a", [(1, 2)], ".3"),  # the universal literal says nothing
        ("a", [(1,)], "0"),
        (".3 e .3", [(1, 2), (-2, 3)], ".51"),
        (".5 e .5", [(1, 2), (-2, 3), (2, -3)], ".5"),
        ("e .3 .6", [(1, 2), (-1, 3)], ".6"),
        (".5 .4 .3 e", [(-4, 1), (-4, 2), (4, 3)], ".44"),  # defined by halves, so free where 1 and 2 hold
    ],
)
def test_small_instances(prefix: str, clauses: list[Clause], expected: str) -> None:
    asked = instance(prefix, *clauses)
    assert value(asked) == Fraction(expected)
    assert solved(asked) == Fraction(expected)


def test_a_contradiction_leaves_nothing_behind() -> None:
    """After the second contradiction, literals that had fallen silent under it were once taken for pure."""
    asked = instance(".17 e a e e", (4, 1), (-4, -1, 3), (2, 4), (-2, -4, -3), (2, -4, 3), (-5, 4, -1), (-3, 5))
    assert solved(asked) == value(asked) == 0


def test_unbound_variables_are_outermost_choices() -> None:
    asked = Instance(variables=3, prefix=(Bound(1, R, Fraction(3, 10)),), clauses=((1, 2), (-2, 1)))
    found = Engine(asked).solve()
    assert found.low == Fraction(3, 10)
    assert found.choice is not None
    assert set(found.choice) == {2}
    assert Engine(asked).solve([3]).low == Fraction(3, 10)


def test_assumptions_are_about_outermost_choices() -> None:
    engine = Engine(instance("e .5 e", (1, 2, 3)))
    for assumed in ([2], [-3], [4], [0], [1, -1]):
        with pytest.raises(ValueError, match=r"assumed|not a literal"):
            engine.solve(assumed)


def test_definitions_that_nothing_uses_do_not_tell_components_apart() -> None:
    """A threshold on a sum, as a decision diagram with gates defined both ways: one component a node, no more."""
    size, threshold = 40, 20
    clauses: list[Clause] = []
    gates: dict[tuple[int, int], int] = {}

    def gate(place: int, missing: int) -> int | None:
        """At least ``missing`` of the variables from ``place``; None for always, 0 for never."""
        if missing <= 0:
            return None
        if size - place + 1 < missing:
            return 0
        if (place, missing) not in gates:
            yes, no = gate(place + 1, missing - 1), gate(place + 1, missing)
            here = gates[place, missing] = size + 1 + len(gates)
            for literal, below in ((place, yes), (-place, no)):
                if below is None:
                    clauses.append((-literal, here))
                elif below == 0:
                    clauses.append((-literal, -here))
                else:
                    clauses.extend([(-literal, -here, below), (-literal, here, -below)])
        return gates[place, missing]

    root = gate(1, threshold)
    assert root
    chances = [Bound(number, R, Fraction(1, 2)) for number in range(1, size + 1)]
    defined = [Bound(number, E) for number in range(size + 1, size + 1 + len(gates))]
    asked = Instance(variables=size + len(gates), prefix=(*chances, *defined), clauses=(*clauses, (root,)))
    found = Engine(asked).solve()
    # Sums below and above 20 are equally likely.
    assert found.low == (1 + Fraction(comb(size, threshold), 2**size)) / 2
    assert found.statistics.decisions <= len(gates)


@pytest.mark.parametrize("quantifier", ["e", "a"])
@pytest.mark.parametrize("first", [1, -1])
def test_components_of_the_same_clauses_are_told_apart(quantifier: str, first: int) -> None:
    """One clause is left over different variables, as the first one has it."""
    asked = instance(f"{quantifier} .3 .4 .2", (-first, -2), (first, -3), (2, 3, 4))
    assert solved(asked) == value(asked)


def test_the_cache_is_shared_between_calls() -> None:
    """Groups choose the first of two factors; the second one is solved once."""
    factor: list[Clause] = [(3, 4, 5), (-3, -4, 5), (4, -5, 6), (-4, -6, 3)]
    asked = instance("e .3 .5 .4 .3 .2", (1, 2), (-1, 2), *factor)
    engine = Engine(asked)
    first, second = engine.solve([1]), engine.solve([-1])
    assert first.low == second.low == value(asked)
    assert first.statistics.decisions > 0
    assert second.statistics.decisions == 0
    assert second.statistics.cache_hits == 1


def test_statistics_count() -> None:
    found: Solution = Engine(instance(".3 .4 .5", (1, 2), (2, 3))).solve()
    assert found.statistics.decisions >= 1
    assert found.statistics.cache_entries >= 1
    assert found.statistics.components >= found.statistics.decisions
    assert found.statistics.seconds >= 0
