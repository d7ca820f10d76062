"""Lists of rules as models: indicators of the rule that decides.

Let ``c_1, ..., c_n`` be the conditions. Rule ``i`` decides exactly where ``not c_1, ..., not c_(i-1), c_i`` hold, and
the end of the list, ``otherwise``, where ``not c_1, ..., not c_n`` do; so for everybody exactly one of these ``n + 1``
indicators is 1. They are the leaves of a tree that grows to one side (``Model.one_of``), and each is the ``And`` of the
tests on the way to it, in order, so that ``fairdsl.numerics.leaves`` reads the tree off them again: a list of ``n``
rules is evaluated by ``n`` tests. The score of an outcome is the sum of the indicators that give it: 1 for the outcome
that is decided, 0 for every other. Of two outcomes the second one's score is enough: it is decided where it exceeds
1/2, from which no rounding of a 0 or a 1 comes near.

A single rule of two outcomes is what ``OUTCOME when CONDITION`` is, the indicator of its condition.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from fairdsl.ir.declaration import ModelDeclaration, Rule, RuleList
from fairdsl.ir.expr import And, Predicate, Relation, opposite
from fairdsl.ir.feature import IndicatorInput
from fairdsl.ir.model import ByHighest, ByThreshold, DecisionRule, Model, linear_layer

_HALF = Fraction(1, 2)


def rules_model(declaration: ModelDeclaration, source: RuleList) -> Model:
    """The model that the rules of a declaration are."""
    outcomes = declaration.outcomes
    if len(outcomes) == 2 and len(source.rules) == 1 and source.rules[0].outcome != source.otherwise:
        (only,) = source.rules
        return _model(
            declaration, source, [only.condition], [[Fraction(1)]], _above(Fraction(0), only.outcome), grouped=False
        )
    decided = [*(rule.outcome for rule in source.rules), source.otherwise]
    deciding = range(1, 2) if len(outcomes) == 2 else range(len(outcomes))
    weights = [[Fraction(outcome == scored) for outcome in decided] for scored in deciding]
    rule = _above(_HALF, 1) if len(outcomes) == 2 else ByHighest()
    return _model(declaration, source, list(_leaves(source.rules)), weights, rule, grouped=True)


def _above(limit: Fraction, granted: int) -> ByThreshold:
    return ByThreshold(relation=Relation.GT, low=limit, high=limit, granted=granted, otherwise=1 - granted)


def _leaves(rules: Sequence[Rule]) -> Iterator[Predicate]:
    """For every rule, and last for none of them, the conjunction of the tests on the way to it."""
    passed: tuple[Predicate, ...] = ()
    for rule in rules:
        yield And((*passed, rule.condition))
        passed = (*passed, opposite(rule.condition))
    yield And(passed)


def _model(
    declaration: ModelDeclaration,
    source: RuleList,
    predicates: Sequence[Predicate],
    weights: Sequence[Sequence[Fraction]],
    rule: DecisionRule,
    *,
    grouped: bool,
) -> Model:
    return Model(
        name=declaration.name,
        outcomes=declaration.outcomes,
        inputs=tuple(IndicatorInput(predicate) for predicate in predicates),
        layers=(linear_layer(weights, [Fraction(0)] * len(weights)),),
        rule=rule,
        favourable=declaration.favourable,
        sha256=source.sha256,
        groups=(tuple(range(len(predicates))),) if grouped else (),
        span=declaration.span,
    )
