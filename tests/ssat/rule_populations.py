"""Rules over several columns with laws that leave nothing certain: formulas that propagation alone does not settle."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st

from fairdsl.ir.expr import TRUE, And, Member, Not, Or, Predicate, Variable, Who
from fairdsl.ir.feature import IndicatorInput
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Excluding
from tests.subset_sum.laws import asked, bernoulli, booleans, factor, linear, network

__all__ = ["rule_problems"]

#: Two columns that make groups, four that rules read, and the label.
_NAMES = ("g", "h", "a", "b", "c", "d", "y")
_CHANCES = st.sampled_from([Fraction(1, 7), Fraction(3, 10), Fraction(1, 2), Fraction(2, 3), Fraction(99, 100)])


def true(column: int) -> Predicate:
    return Member(variable=Variable(column, Who.EACH), values=frozenset([Fraction(1)]))


@st.composite
def literals(draw: st.DrawFn, columns: tuple[int, ...]) -> Predicate:
    chosen = true(draw(st.sampled_from(columns)))
    return chosen if draw(st.booleans()) else Not(chosen)


@st.composite
def rules(draw: st.DrawFn) -> Predicate:
    """Some ways to be accepted, and at times a condition that all of them need."""
    way = st.lists(literals((1, 2, 3, 4, 5)), min_size=2, max_size=3).map(lambda parts: And(tuple(parts)))
    ways = Or(tuple(draw(st.lists(way, min_size=2, max_size=4))))
    return And((true(2), ways)) if draw(st.booleans()) else ways


@st.composite
def rule_problems(draw: st.DrawFn) -> Problem:
    columns = booleans(*_NAMES)
    laws = [factor(0, bernoulli(draw(_CHANCES))), factor(1, bernoulli(draw(_CHANCES)))]
    for column in range(2, len(columns)):
        parent = draw(st.sampled_from([None, 0, 1, 0]))
        if parent is None:
            laws.append(factor(column, bernoulli(draw(_CHANCES))))
        else:
            laws.append(factor(column, {(cell,): bernoulli(draw(_CHANCES)) for cell in (0, 1)}, (parent,)))
    model = linear([1], 1, inputs=[IndicatorInput(draw(rules()))])
    metrics = ["parity_gap", "impact_ratio", "most_favoured", "least_favoured", "odds_gap"]
    across = draw(st.sampled_from([(0,), (1,), (0, 1)]))
    strata = st.sampled_from([(), tuple(column for column in (0, 1) if column not in across)])
    return asked(
        network(columns, laws, has_label=True),
        model,
        *across,
        given=draw(st.sampled_from([TRUE, TRUE, Or((true(3), true(4)))])),
        metric=draw(st.sampled_from(metrics)),
        given_each=draw(strata),
        deserving=Fraction(1),
        excluding=Excluding(rows=None),
    )
