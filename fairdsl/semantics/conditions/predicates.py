"""Conditions: expressions over attributes become exact predicates.

Unqualified names speak of each individual; ``a.x`` and ``b.x`` of one of the pair, where a pair is
compared. Codes of categories are labels, so a category is compared with its values only.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from fairdsl.diagnostics import Diagnostic, Reporter
from fairdsl.ir.domain import MISSING, Attribute, Boolean, Category, Domain, Integer, Real, show_number
from fairdsl.ir.expr import And, Compare, Linear, Member, Not, Or, Predicate, Relation, Variable
from fairdsl.semantics import errors
from fairdsl.semantics.conditions.arithmetic import Arithmetic
from fairdsl.semantics.conditions.derivations import (
    compare_derived,
    derived_condition,
    derived_membership,
    derived_number,
)
from fairdsl.semantics.conditions.labels import compare_labels, label_membership, labelled_attribute
from fairdsl.semantics.conditions.missing import absent, left_open, of_those_present
from fairdsl.semantics.conditions.outputs import Outputs
from fairdsl.semantics.conditions.scope import ConditionScope, derived_named, resolve_attribute
from fairdsl.syntax import tree


def lower_condition(
    node: tree.Expression, scope: ConditionScope, reporter: Reporter, *, derives: str | None = None
) -> Predicate | None:
    """The predicate, or None after reporting what is wrong with it.

    ``derives``: the attribute that it derives, which everybody has or has not.
    """
    lowered = _lowered(node, scope, reporter)
    if lowered is None:
        return None
    if derives is not None and (lacked := left_open(lowered, scope.domain)) is not None:
        reporter.report(errors.derived_of_missing(derives, lacked.name, node.span))
    return of_those_present(lowered, scope.domain)


def _lowered(node: tree.Expression, scope: ConditionScope, reporter: Reporter) -> Predicate | None:
    """The predicate as if nothing were missing."""
    match node:
        case tree.Conjunction(parts=parts):
            lowered = [_lowered(part, scope, reporter) for part in parts]
            return And(tuple(p for p in lowered if p is not None)) if None not in lowered else None
        case tree.Disjunction(parts=parts):
            lowered = [_lowered(part, scope, reporter) for part in parts]
            return Or(tuple(p for p in lowered if p is not None)) if None not in lowered else None
        case tree.Negation(operand=operand):
            inner = _lowered(operand, scope, reporter)
            return None if inner is None else Not(inner)
        case tree.Comparison():
            return _comparison(node, scope, reporter)
        case tree.Membership():
            return _membership(node, scope, reporter)
        case tree.Absence():
            return _absence(node, scope, reporter)
        case tree.Reference():
            return _truth(node, scope, reporter)
        case tree.Call() if scope.outputs is not None:
            scope.outputs.condition(node)
            return None
        case _:
            reporter.report(
                errors.wrong_kind(
                    "a number or text",
                    "a condition",
                    node.span,
                    "compare it with something, as in `age >= 30`",
                )
            )
            return None


def _truth(node: tree.Reference, scope: ConditionScope, reporter: Reporter) -> Predicate | None:
    """A bare name: a boolean attribute, a derived one, or a named condition."""
    if (named := derived_named(node, scope)) is not None:
        return derived_condition(node, named, reporter)
    declared = {attribute.name for attribute in scope.domain.attributes}
    if node.owner is None and node.name.text not in declared and node.name.text in scope.named:
        return _named_condition(node, scope, reporter)
    if node.owner is None and node.name.text not in {*declared, *scope.labels} and scope.named:
        reporter.report(
            errors.unknown_declaration("attribute or condition", node.name.text, node.span, (*declared, *scope.named))
        )
        return None
    found = resolve_attribute(node, scope, reporter)
    if found is None:
        return None
    variable, attribute = found
    if not isinstance(attribute.type, Boolean):
        reporter.report(
            errors.wrong_kind(
                f"`{attribute.name}`, which is not boolean",
                "a condition",
                node.span,
                f"compare it with something, as in `{attribute.name} = ...`",
            )
        )
        return None
    return Member(variable=variable, values=frozenset({Fraction(1)}), span=node.span)


def _named_condition(node: tree.Reference, scope: ConditionScope, reporter: Reporter) -> Predicate | None:
    """The condition that the name stands for."""
    named = scope.named[node.name.text]
    about = named.domain.text if named.domain is not None else scope.domain.name
    if about != scope.domain.name:
        reporter.report(
            errors.not_comparable(
                f"the condition `{named.name.text}` is about `{about}`, not about `{scope.domain.name}`",
                node.span,
                "attributes of the same name in two domains need not mean the same",
                f"write the condition here, or declare one `over {scope.domain.name}`",
            )
        )
        return None
    return _lowered(named.condition, ConditionScope(domain=scope.domain), reporter)


def _absence(node: tree.Absence, scope: ConditionScope, reporter: Reporter) -> Predicate | None:
    """``x is missing``, of an attribute that may be."""
    if not isinstance(node.value, tree.Reference):
        help_text = "write the name of an attribute, as in `income is missing`"
        reporter.report(errors.wrong_kind("an expression", "an attribute", node.value.span, help_text))
        return None
    found = resolve_attribute(node.value, scope, reporter)
    return None if found is None else absent(*found, node, reporter)


# ---- comparisons -------------------------------------------------------------------------------


def _comparison(node: tree.Comparison, scope: ConditionScope, reporter: Reporter) -> Predicate | None:
    relation = Relation(node.relation)
    outputs = scope.outputs
    for side, other, turned in ((node.left, node.right, relation), (node.right, node.left, relation.mirrored)):
        if outputs is not None and outputs.is_decision(side):
            return outputs.compare(node, side, other, turned)
    for side, other in ((node.left, node.right), (node.right, node.left)):
        if (named := derived_named(side, scope)) is not None and isinstance(named[0].attribute.type, Boolean):
            return compare_derived(node, named, other, scope, reporter)
        labelled = labelled_attribute(side, scope)
        if labelled is not None:
            return compare_labels(node, labelled, other, relation, scope, reporter)
        if (lacked := _lacked(side, other, scope)) is not None:
            reporter.report(errors.compared_with_missing(lacked, other.span))
            return None
    if isinstance(node.left, tree.Call) and node.left.function.text == "abs":
        return _absolute(node, node.left, node.right, relation, scope, reporter)
    if isinstance(node.right, tree.Call) and node.right.function.text == "abs":
        return _absolute(node, node.right, node.left, relation.mirrored, scope, reporter)
    left = lower_sum(node.left, scope, reporter)
    if left is None and (_is_word(node.right) or _weighs_a_value(node, scope)):
        return None  # perhaps a value of the attribute that is not known: nothing can be said about it
    right = lower_sum(node.right, scope, reporter)
    if left is None or right is None:
        return None
    apart = _still_lacked(left - right, (left, right), node, scope, reporter)
    return None if apart is None else Compare(left=apart, relation=relation, span=node.span)


def _lacked(side: tree.Expression, other: tree.Expression, scope: ConditionScope) -> str | None:
    """The attribute of ``income = missing``; None where `missing` is an attribute itself, or nobody lacks a value."""
    if not (isinstance(side, tree.Reference) and isinstance(other, tree.Reference)) or other.name.text != MISSING:
        return None
    found = resolve_attribute(side, scope, Reporter())
    itself = resolve_attribute(other, scope, Reporter())
    return None if found is None or itself is not None or found[1].missing is None else found[1].name


def _weighs_a_value(node: tree.Comparison, scope: ConditionScope) -> bool:
    """``2 * job = nurse + income``, where `nurse` is a value of the category beside it."""
    last, first = node.left, node.right
    while isinstance(last, tree.Arithmetic):
        last = last.right
    while isinstance(first, tree.Arithmetic):
        first = first.left
    return labelled_attribute(last, scope) is not None and _is_word(first)


def _is_word(node: tree.Expression) -> bool:
    return isinstance(node, tree.Text) or (isinstance(node, tree.Reference) and node.owner is None)


def _absolute(
    node: tree.Comparison,
    call: tree.Call,
    bound: tree.Expression,
    relation: Relation,
    scope: ConditionScope,
    reporter: Reporter,
) -> Predicate | None:
    """``abs(e) RELATION c``, exactly: ``abs(e) <= c`` is ``e <= c and -e <= c``, ``>=`` its dual."""
    if len(call.arguments) != 1:
        reporter.report(
            errors.wrong_kind(f"`abs` of {len(call.arguments)} things", "one expression", call.span, "write `abs(x)`")
        )
        return None
    inner, limit = lower_sum(call.arguments[0], scope, reporter), lower_sum(bound, scope, reporter)
    if inner is None or limit is None:
        return None
    sides = (inner - limit, inner.scaled(Fraction(-1)) - limit)
    if any(_still_lacked(side, (inner, limit), node, scope, reporter) is None for side in sides):
        return None

    def each(relation: Relation) -> tuple[Predicate, ...]:
        return tuple(Compare(left=side, relation=relation, span=node.span) for side in sides)

    match relation:
        case Relation.LE | Relation.LT:
            return And(each(relation))
        case Relation.GE | Relation.GT:
            return Or(each(relation))
        case Relation.EQ:
            return And((*each(Relation.LE), Or(each(Relation.EQ))))
        case Relation.NE:
            return Or((*each(Relation.GT), And(each(Relation.NE))))


# ---- membership --------------------------------------------------------------------------------


def _membership(node: tree.Membership, scope: ConditionScope, reporter: Reporter) -> Predicate | None:
    if scope.outputs is not None and scope.outputs.is_decision(node.value):
        return scope.outputs.member(node)
    if (named := derived_named(node.value, scope)) is not None and isinstance(named[0].attribute.type, Boolean):
        return derived_membership(node, named, reporter)
    labelled = labelled_attribute(node.value, scope)
    if labelled is not None:
        return label_membership(node, *labelled, reporter)
    value = lower_sum(node.value, scope, reporter)
    if value is None:
        return None
    parts = [_in_element(value, element, scope.domain, reporter) for element in node.elements]
    return Or(tuple(p for p in parts if p is not None)) if None not in parts else None


def _in_element(
    value: Linear, element: tree.Name | tree.Number | tree.ValueRange, domain: Domain, reporter: Reporter
) -> Predicate | None:
    match element:
        case tree.Number(value=number, span=span):
            _check_element(value, element, domain, reporter)
            return Compare(left=value - Linear(constant=number), relation=Relation.EQ, span=span)
        case tree.ValueRange(low=low, high=high, span=span):
            if low.value > high.value:
                reporter.report(errors.reversed_range(low.text, high.text, span))
                return None
            return And(
                (
                    Compare(left=value - Linear(constant=low.value), relation=Relation.GE, span=span),
                    Compare(left=value - Linear(constant=high.value), relation=Relation.LE, span=span),
                )
            )
        case tree.Name(text=text, span=span):
            reporter.report(
                errors.wrong_kind(f"the word `{text}`", "a number", span, "only categories have values with names")
            )
            return None


def _check_element(value: Linear, element: tree.Number, domain: Domain, reporter: Reporter) -> None:
    """A listed number that is not a value of the attribute is a slip: the list would be shorter than it looks."""
    if len(value.terms) != 1 or value != Linear.of({value.terms[0][0]: Fraction(1)}):
        return
    attribute = domain.attributes[value.terms[0][0].attribute].known
    if attribute.contains(element.value):
        return
    low, high = (show_number(bound) if bound is not None else "" for bound in attribute.bounds)
    whole = "whole numbers " if isinstance(attribute.type, Integer) else ""
    reporter.report(
        errors.number_out_of_place(
            f"`{attribute.name}` is never {element.text}", element.span, f"its values are {whole}{low} .. {high}"
        )
    )


# ---- numbers -----------------------------------------------------------------------------------


def lower_sum(node: tree.Expression, scope: ConditionScope, reporter: Reporter) -> Linear | None:
    """The sum of attributes, or None after reporting what is wrong with it."""
    parts: list[Linear] = []

    def atom(inner: tree.Expression) -> Linear | None:
        found = _number_atom(inner, scope, reporter)
        parts.extend(() if found is None else (found,))
        return found

    found = Arithmetic(atom, lambda number: Linear(constant=number), reporter).lower(node)
    return None if found is None else _still_lacked(found, parts, node, scope, reporter)


def _still_lacked(
    found: Linear, parts: Sequence[Linear], node: tree.Expression, scope: ConditionScope, reporter: Reporter
) -> Linear | None:
    """The sum of these parts, in which every attribute that somebody may lack is still to be seen; else None."""
    left = {variable for variable, _ in found.terms}
    for variable in (variable for part in parts for variable, _ in part.terms if variable not in left):
        if (attribute := _lackable(variable, scope.domain)) is not None:
            reporter.report(errors.cancels_missing(attribute.name, node.span))
            return None
    return found


def _number_atom(node: tree.Expression, scope: ConditionScope, reporter: Reporter) -> Linear | None:
    """An attribute that is a number, or what a model gives, where that may be spoken of."""
    if isinstance(node, tree.Call) and scope.outputs is not None:
        return _output(node, scope, scope.outputs, reporter)
    if not isinstance(node, tree.Reference):
        reporter.report(_no_number(node))
        return None
    if (named := derived_named(node, scope)) is not None:
        return derived_number(node, named, reporter)
    found = resolve_attribute(node, scope, reporter)
    if found is None:
        return None
    variable, attribute = found
    if not isinstance(attribute.type, Integer | Real):
        kind = "a category" if isinstance(attribute.type, Category) else "boolean"
        reporter.report(
            errors.not_comparable(
                f"`{attribute.name}` is {kind}, not a number",
                node.span,
                "codes are labels: arithmetic on them depends on how the values happen to be numbered",
                f"compare it with its values, as in `{attribute.name} = {_example_value(attribute)}`",
            )
        )
        return None
    return Linear.of({variable: Fraction(1)})


def _output(node: tree.Call, scope: ConditionScope, outputs: Outputs, reporter: Reporter) -> Linear | None:
    """``score(a)``, or ``abs(...)`` of a sum, in a sum."""
    if node.function.text != "abs" or node.owner is not None:
        return outputs.number(node)
    if len(node.arguments) != 1:
        reporter.report(
            errors.wrong_kind(f"`abs` of {len(node.arguments)} things", "one expression", node.span, "write `abs(x)`")
        )
        return None
    inner = lower_sum(node.arguments[0], scope, reporter)
    if inner is None:
        return None
    lacked = next((a.name for v, _ in inner.terms if (a := _lackable(v, scope.domain)) is not None), None)
    if lacked is not None:
        why = "a sum that is missing can only be asked about where the comparison is of it alone"
        help_text = f"compare it by itself, as in `abs(a.{lacked} - b.{lacked}) <= 5`"
        reporter.report(errors.not_comparable(f"`{lacked}` may be missing", node.span, why, help_text))
        return None
    return outputs.magnitude(node, inner)


def _lackable(variable: Variable, domain: Domain) -> Attribute | None:
    """The attribute, if somebody may lack it."""
    if variable.attribute >= len(domain.attributes) or domain.attributes[variable.attribute].missing is None:
        return None
    return domain.attributes[variable.attribute]


def _no_number(node: tree.Expression) -> Diagnostic:
    match node:
        case tree.Call(function=tree.Name(text="abs")):
            help_text = "let it stand alone on one side, as in `abs(x - y) <= 5`"
            return errors.wrong_kind("`abs` inside an expression", "a sum of attributes", node.span, help_text)
        case tree.Call(function=function):
            return errors.unknown_word("function of attributes", function.text, function.span, ("abs",))
        case tree.Text():
            return errors.wrong_kind("a text", "a number", node.span, "only values of categories are quoted")
        case _:
            return errors.wrong_kind("a condition", "a number", node.span, "compare numbers with numbers")


def _example_value(attribute: Attribute) -> str:
    values = attribute.values
    return attribute.show(Fraction(values[0])) if values else show_number(Fraction(0))
