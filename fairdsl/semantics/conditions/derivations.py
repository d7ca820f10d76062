"""What a derived attribute stands for in a condition: its own condition, or the sum whose bins it is."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from fairdsl.diagnostics import Reporter
from fairdsl.ir.domain import Derived
from fairdsl.ir.expr import FALSE, TRUE, And, Linear, Not, Or, Predicate, Relation, Variable, Who, mapped, rename
from fairdsl.semantics import errors
from fairdsl.semantics.conditions.labels import label_membership, value_code
from fairdsl.semantics.conditions.scope import ConditionScope, derived_named
from fairdsl.source import Span
from fairdsl.syntax import tree

#: A derived attribute, and whose it is.
_Named = tuple[Derived, Who]


def derived_condition(node: tree.Reference, named: _Named, reporter: Reporter) -> Predicate | None:
    """The condition that a bare name stands for."""
    derived, who = named
    if isinstance(derived.of, Linear | None):
        help_text = f"compare it with a number, as in `{derived.name} >= ...`"
        reporter.report(errors.wrong_kind(f"`{derived.name}`, which is a number,", "a condition", node.span, help_text))
        return None
    return _meant(derived.of, who, node.span)


def _meant(condition: Predicate, who: Who, span: Span) -> Predicate:
    """The condition of one of the individuals; what is found out about it is said of the place of its name."""
    return mapped(rename(condition, {Who.EACH: who}), lambda atom: replace(atom, span=span))


def derived_number(node: tree.Reference, named: _Named, reporter: Reporter) -> Linear | None:
    """The sum that a name stands for."""
    derived, who = named
    if isinstance(derived.of, Linear):
        return Linear.of({Variable(v.attribute, who): factor for v, factor in derived.of.terms}, derived.of.constant)
    if derived.of is None:
        help_text = (
            f"write `across {derived.name}` or `for each {derived.name}`, or compare `score(a)` of an individual"
        )
        why = "its ranges tell groups apart, and a condition on attributes knows no score"
        reporter.report(errors.not_comparable(f"`{derived.name}` is bins of the score", node.span, why, help_text))
        return None
    why = "it is a condition, which is met or not"
    help_text = f"compare it with its values, as in `{derived.name} = yes`"
    reporter.report(errors.not_comparable(f"`{derived.name}` is not a number", node.span, why, help_text))
    return None


def compare_derived(
    node: tree.Comparison, named: _Named, other: tree.Expression, scope: ConditionScope, reporter: Reporter
) -> Predicate | None:
    """``senior = yes``, or ``a.senior = b.senior``."""
    derived, who = named
    assert not isinstance(derived.of, Linear | None), "it is a condition"
    condition, relation = _meant(derived.of, who, node.span), Relation(node.relation)
    if relation not in (Relation.EQ, Relation.NE):
        why = "a condition is met or not, and neither is more"
        help_text = f"write `{derived.name} = yes` or `{derived.name} = no`"
        reporter.report(errors.not_comparable(f"`{derived.name}` has no order", node.span, why, help_text))
        return None
    partner = derived_named(other, scope)
    if partner is not None and not isinstance(partner[0].of, Linear | None):
        second = _meant(partner[0].of, partner[1], node.span)
        alike: Predicate = Or((And((condition, second)), And((Not(condition), Not(second)))))
    else:
        code = value_code(other, derived.attribute, reporter)
        if code is None:
            return None
        alike = condition if code else Not(condition)
    return alike if relation is Relation.EQ else Not(alike)


def derived_membership(node: tree.Membership, named: _Named, reporter: Reporter) -> Predicate | None:
    """``senior in { yes }``."""
    derived, who = named
    assert not isinstance(derived.of, Linear | None), "it is a condition"
    member = label_membership(node, Variable(0, who), derived.attribute, reporter)
    if member is None:
        return None
    condition, values = _meant(derived.of, who, node.span), member.values
    if values == {Fraction(0), Fraction(1)}:
        return TRUE
    return condition if values == {Fraction(1)} else Not(condition) if values else FALSE
