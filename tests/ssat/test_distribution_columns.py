"""Laws as chances: every column takes exactly one place, with the probability that the law gives it."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fairdsl.backends.ssat.distribution import Distribution
from fairdsl.backends.ssat.encode.distribution import lay_distribution
from fairdsl.backends.ssat.engine import Engine
from fairdsl.backends.ssat.gates import Gates, in_places
from fairdsl.backends.ssat.instance import Quantifier
from fairdsl.backends.ssat.questions import Formulas
from fairdsl.ir.domain import Attribute, Integer
from fairdsl.ir.expr import TRUE, And, Predicate
from fairdsl.ir.feature import IndicatorInput
from fairdsl.ir.population import Network
from fairdsl.metrics.subject import Subject, subject_of
from tests import builders
from tests.drawing import examples
from tests.rates.laws import masses, random_laws
from tests.ssat.brute import value
from tests.subset_sum.laws import asked, bernoulli, booleans, factor, linear, network, points

F = Fraction
RELAXED = settings(max_examples=examples(0.7), deadline=None, suppress_health_check=list(HealthCheck))


def reading(law: Network, *across: int, given: Predicate = TRUE) -> Subject:
    """A subject that reads every column's number."""
    return subject_of(asked(law, linear([1] * len(law.columns), 0), *across, given=given))


@RELAXED
@given(random_laws(), st.data())
def test_every_place_has_its_probability_given_the_keys(law: Network, data: st.DataObject) -> None:
    key = data.draw(st.integers(0, len(law.columns) - 1))
    made = Distribution(reading(law, key))
    truth = masses(law)
    for cells in data.draw(st.lists(st.sampled_from(sorted(truth)), max_size=4, unique=True)):
        mass = made.mass([cells[key]])
        if not mass:
            assert truth[cells] == 0
            continue
        gates = Gates()
        laid = lay_distribution(gates, made)
        for column, cell in enumerate(cells):
            wanted = law.cells[column][cell].low
            places = sum(1 << place for place, each in enumerate(laid.columns[column].values) if each == wanted)
            gates.require(in_places(gates, laid.columns[column].below, places))
        found = Engine(gates.instance()).solve(laid.keys[0].at(cells[key]))
        assert mass * found.low == truth[cells] == mass * found.high


def three_ages() -> Network:
    """A protected column and an age of three values that depends on it."""
    age = Attribute(name="age", type=Integer(low=0, high=2))
    rows = {(0,): (F(1, 2), F(1, 3), F(1, 6)), (1,): (F(1, 5), F(1, 5), F(3, 5))}
    return network(
        (*booleans("A"), age),
        [factor(0, bernoulli(F(1, 2))), factor(1, rows, (0,))],
        [points((0, 1)), points(range(3))],
    )


def test_trap_14_values_exclude_each_other_exactly() -> None:
    """Two ages at once, or none, have probability 0; by the definition of the value, without the engine."""
    gates = Gates()
    laid = lay_distribution(gates, Distribution(reading(three_ages(), 0)))
    one_each = [in_places(gates, laid.columns[1].below, 1 << place) for place in range(3)]
    for first, second in ((0, 1), (0, 2), (1, 2)):
        both = gates.copy()
        both.require(one_each[first])
        both.require(one_each[second])
        assert value(both.instance()) == 0
    some = gates.copy()
    some.require(*one_each)
    assert value(some.instance()) == 1
    for group, place, truth in ((0, 2, F(1, 6)), (1, 0, F(1, 5)), (1, 2, F(3, 5))):
        alone = gates.copy()
        alone.require(one_each[place])
        for literal in laid.keys[0].at(group):
            alone.require(literal)
        assert value(alone.instance()) == truth


def test_trap_23_thresholds_on_one_column_exclude_each_other() -> None:
    """Nobody has `age <= 0` and `age >= 2`; as independent variables they would be together with positive chance."""
    both = And((builders.linear({1: 1}, "<=", 0), builders.linear({1: 1}, ">=", 2)))
    law = three_ages()
    subject = subject_of(asked(law, linear([1], 1, inputs=[IndicatorInput(both)]), 0))
    assert Engine(Formulas(Distribution(subject)).favourable).solve().high == 0
    either = And((builders.linear({1: 1}, ">=", 1), builders.linear({1: 1}, "<=", 1)))
    formulas = Formulas(Distribution(subject_of(asked(law, linear([1], 1, inputs=[IndicatorInput(either)]), 0))))
    assert [Engine(formulas.favourable).solve(formulas.assumptions({0: cell})).low for cell in (0, 1)] == [
        F(1, 3),
        F(1, 5),
    ]


def test_columns_have_no_more_places_than_the_rule_tells_apart() -> None:
    """A hundred ages, two sides of a threshold: one chance a group, and none for a column that nobody reads."""
    age, other = (Attribute(name=name, type=Integer(low=0, high=99)) for name in ("age", "other"))
    flat = (F(1, 100),) * 100
    law = network(
        (*booleans("A"), age, other),
        [factor(0, bernoulli(F(1, 2))), factor(1, flat), factor(2, flat)],
        [points((0, 1)), points(range(100)), points(range(100))],
    )
    rule = linear([1], 1, inputs=[IndicatorInput(builders.linear({1: 1}, ">", 64))])
    formulas = Formulas(Distribution(subject_of(asked(law, rule, 0))))
    chances = [each for each in formulas.favourable.prefix if each.quantifier is Quantifier.RANDOM]
    assert [each.chance for each in chances] == [F(65, 100)]
    assert formulas.favourable.names[chances[0].variable].startswith("age is 0, if not before")
    # Nothing distinguishes the groups, so that one answer is for all.
    assert formulas.keys[0].classes == (0, 0)


def test_chances_of_equal_rows_are_one_variable() -> None:
    """Of four groups of parents three have the same law."""
    rows = {key: bernoulli(F(1, 7) if key == (1, 1) else F(1, 3)) for key in product(range(2), repeat=2)}
    law = network(booleans("A", "B", "X"), [*(factor(n, bernoulli(F(1, 2))) for n in (0, 1)), factor(2, rows, (0, 1))])
    formulas = Formulas(Distribution(subject_of(asked(law, linear([0, 0, 1], 1), 0, 1))))
    assert {each.chance for each in formulas.favourable.prefix if each.chance is not None} == {F(2, 3), F(6, 7)}
    engine = Engine(formulas.favourable)
    values = {key: engine.solve(formulas.assumptions(dict(enumerate(key)))).low for key in rows}
    assert values == {key: row[1] for key, row in rows.items()}


def test_a_condition_that_leaves_nobody_is_a_formula_too() -> None:
    """Every group has probability 0 then, and there is nothing to ask."""
    law = Distribution(reading(three_ages(), 0, given=builders.linear({1: 1}, ">", 2)))
    assert [law.mass([cell]) for cell in (0, 1)] == [0, 0]
    assert Formulas(law).favourable.variables
