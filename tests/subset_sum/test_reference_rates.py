"""The reference values of docs/semantics.md and of the traps: exact where the arithmetic allows."""

from __future__ import annotations

from fractions import Fraction

import pytest

from fairdsl.ir.domain import Attribute, Boolean, Category, CategoryValue, Real
from fairdsl.ir.expr import And, Member, Not, Or, Relation, Variable
from fairdsl.ir.feature import IndicatorInput
from fairdsl.ir.population import Cell, Inside, Network, Normal
from tests.subset_sum.laws import asked, bernoulli, booleans, factor, linear, network, rates, value

F = Fraction
ZERO, ONE = F(0), F(1)


def exactly(problem) -> dict[tuple[Fraction, ...], Fraction]:
    found = rates(problem)
    assert all(low == high for low, high in found.values())
    return {key: low for key, (low, _) in found.items()}


def test_independent_attributes() -> None:
    law = network(
        booleans("P", "Q", "R", "S"),
        [factor(0, bernoulli(F(1, 2))), *(factor(c, bernoulli(p)) for c, p in ((1, 0.4), (2, 0.5), (3, 0.3)))],
    )
    problem = asked(law, linear([1, 1, 1, -1], 2), 0)
    assert exactly(problem) == {(ONE,): F(11, 20), (ZERO,): F(7, 50)}
    found = value(problem)
    assert (found.low, found.high) == (F(41, 100), F(41, 100))
    assert value(asked(law, linear([1, 1, 1, -1], 2), 0, metric="impact_ratio")).low == F(14, 55)


def test_a_child_of_the_protected_attribute() -> None:
    law = network(
        booleans("P", "Q", "R", "S"),
        [
            factor(0, bernoulli(F(1, 2))),
            factor(1, {(1,): bernoulli(0.6), (0,): bernoulli(0.3)}, (0,)),
            factor(2, bernoulli(0.5)),
            factor(3, bernoulli(0.3)),
        ],
    )
    assert exactly(asked(law, linear([1, 1, 1, -1], 2), 0)) == {(ONE,): F(13, 20), (ZERO,): F(21, 200)}


def test_trap_17_what_is_known_of_a_group_is_never_forgotten() -> None:
    """Trap 17: a key without the protected attribute gave both groups 9/10."""
    law = network(
        booleans("A", "C", "X"),
        [
            factor(0, bernoulli(F(1, 2))),
            factor(1, bernoulli(F(1, 2))),
            factor(2, {(1,): bernoulli(0.9), (0,): bernoulli(0.2)}, (0,)),
        ],
    )
    found = exactly(asked(law, linear([0, 1, 2], 2), 0, 1))
    assert found == {(a, c): F(9, 10) if a else F(1, 5) for a in (ZERO, ONE) for c in (ZERO, ONE)}


def test_groups_are_no_choices_by_the_sign_of_a_weight() -> None:
    law = network(
        booleans("A", "X"),
        [factor(0, bernoulli(F(1, 2))), factor(1, {(1,): bernoulli(0.1), (0,): bernoulli(0.9)}, (0,))],
    )
    assert exactly(asked(law, linear([1, 2], 2), 0)) == {(ONE,): F(1, 10), (ZERO,): F(9, 10)}


def test_rates_are_conditioned_where_the_protected_attribute_has_parents() -> None:
    """Plugging the group into the tables of the others would give 1/2 twice."""
    law = network(
        booleans("A", "X"),
        [factor(0, {(1,): bernoulli(0.9), (0,): bernoulli(0.1)}, (1,)), factor(1, bernoulli(0.5))],
    )
    assert exactly(asked(law, linear([0, 1], 1), 0)) == {(ONE,): F(9, 10), (ZERO,): F(1, 10)}


@pytest.mark.parametrize(
    ("fit", "income", "senior", "rate"),
    [("0.41", "0.93", "0.09", "0.4344"), ("0.01", "0.99", "0.18", "0.1881"), ("0.82", "0.88", "0.01", "0.7234")],
)
def test_a_rule_over_several_attributes(fit: str, income: str, senior: str, rate: str) -> None:
    """(not F or I) and (F or J), as a single indicator of three columns."""
    law = network(
        booleans("A", "F", "I", "J"),
        [factor(0, bernoulli(0.5)), *(factor(k + 1, bernoulli(F(p))) for k, p in enumerate((fit, income, senior)))],
    )
    f, i, j = (Member(variable=Variable(k), values=frozenset({ONE})) for k in (1, 2, 3))
    rule = IndicatorInput(And((Or((Not(f), i)), Or((f, j)))))
    found = exactly(asked(law, linear([1], 1, inputs=[rule]), 0))
    assert set(found.values()) == {F(rate)}


def gaussian(*, truncated: bool = False) -> Network:
    """Income and fitness of two groups; the law of the worked example with normal attributes."""
    ends = (F(-3), F(4)) if truncated else (None, None)
    real = Real(low=ends[0], high=ends[1])
    columns = (
        Attribute(name="A", type=Boolean()),
        Attribute(name="I", type=real),
        Attribute(name="F", type=real),
    )

    def rows(first: str, second: str) -> dict[tuple[int, ...], Normal]:
        return {
            (1,): Normal(mean=F(first), sd=F(1, 10), truncated=truncated),
            (0,): Normal(mean=F(second), sd=F(1, 10), truncated=truncated),
        }

    whole = (Cell(low=ends[0], high=ends[1], inside=Inside.UNKNOWN),)
    cells = [(Cell(low=ZERO, high=ZERO), Cell(low=ONE, high=ONE)), whole, whole]
    factors = [factor(0, bernoulli(0.5)), factor(1, rows("0.6", "0.4"), (0,)), factor(2, rows("0.3", "0.7"), (0,))]
    return network(columns, factors, cells)


def test_sums_of_normals() -> None:
    model = linear([-0.34, 9.37, 9.75], 9.4)
    found = rates(asked(gaussian(), model, 0))
    for key, expected in (((ONE,), "0.188826234"), ((ZERO,), "0.807149471")):
        low, high = found[key]
        assert abs(low - F(expected)) < F(1, 10**9)
        assert 0 <= high - low < F(1, 10**25)
    impact = value(asked(gaussian(), model, 0, metric="impact_ratio"))
    assert abs(impact.low - F("0.233942090")) < F(1, 10**9)


@pytest.mark.parametrize("relation", list(Relation))
def test_every_relation_at_a_tie(relation: Relation) -> None:
    law = network(booleans("A", "X"), [factor(0, bernoulli(0.5)), factor(1, bernoulli(0.3))])
    found = exactly(asked(law, linear([0.1, 0.2], 0.3, relation=relation), 0))
    for a in (0, 1):
        truth = sum(p for x, p in ((1, F(3, 10)), (0, F(7, 10))) if relation.compares(F(a, 10) + F(x, 5), F(3, 10)))
        assert found[(F(a),)] == truth


def test_trap_14_values_of_an_attribute_exclude_each_other() -> None:
    """Trap 14: one-hot indicators of an attribute are not independent coins."""
    job = Category(values=tuple(CategoryValue(name=name, code=code) for code, name in enumerate("xyz")))
    law = network(
        (Attribute(name="A", type=Boolean()), Attribute(name="job", type=job)),
        [
            factor(0, bernoulli(F(1, 2))),
            factor(1, {(0,): (F(1, 2), F(1, 4), F(1, 4)), (1,): (F(1, 6), F(1, 3), F(1, 2))}, (0,)),
        ],
    )
    hot = [IndicatorInput(Member(variable=Variable(1), values=frozenset({F(code)}))) for code in range(3)]
    assert exactly(asked(law, linear([2, 2, -1], 2, inputs=hot), 0)) == {(ZERO,): F(3, 4), (ONE,): F(1, 2)}
    assert exactly(asked(law, linear([2, 2, -1], 4, inputs=hot), 0)) == {(ZERO,): ZERO, (ONE,): ZERO}
