"""Comparisons of categories and booleans: codes are labels, so only with values, never by order."""

from __future__ import annotations

from fractions import Fraction

from fairdsl.diagnostics import Reporter
from fairdsl.ir.domain import MISSING, Attribute, Boolean, Category
from fairdsl.ir.expr import Compare, Linear, Member, Not, Predicate, Relation, Variable
from fairdsl.semantics import errors
from fairdsl.semantics.conditions.scope import ConditionScope, resolve_attribute
from fairdsl.syntax import tree

_TRUTH = {"true": 1, "yes": 1, "false": 0, "no": 0}


def labelled_attribute(node: tree.Expression, scope: ConditionScope) -> tuple[Variable, Attribute] | None:
    """The category or boolean that this expression names, if it names one."""
    if not isinstance(node, tree.Reference):
        return None
    found = resolve_attribute(node, scope, Reporter())
    return found if found is not None and isinstance(found[1].type, Category | Boolean) else None


def compare_labels(
    node: tree.Comparison,
    labelled: tuple[Variable, Attribute],
    other: tree.Expression,
    relation: Relation,
    scope: ConditionScope,
    reporter: Reporter,
) -> Predicate | None:
    """A category or boolean against one of its values, or against the same attribute of the partner."""
    variable, attribute = labelled
    if relation not in (Relation.EQ, Relation.NE):
        reporter.report(
            errors.not_comparable(
                f"the values of `{attribute.name}` have no order",
                node.span,
                "codes are labels: which value is `greater` depends on how they happen to be numbered",
                f"list the values, as in `{attribute.name} in {{ ... }}`",
            )
        )
        return None
    # A word that names a value is that value, even where an attribute has the same name.
    partner = None if _names_value(other, attribute) else labelled_attribute(other, scope)
    if partner is not None:
        if partner[1].type != attribute.type:
            reporter.report(
                errors.not_comparable(
                    f"`{attribute.name}` and `{partner[1].name}` have different values",
                    node.span,
                    "two different lists of names share nothing that could be equal",
                    "compare an attribute with its own values, or with the same one of the other individual",
                )
            )
            return None
        difference = Linear.of({variable: Fraction(1)}) - Linear.of({partner[0]: Fraction(1)})
        return Compare(left=difference, relation=relation, span=node.span)
    code = _value_of_somebody(other, attribute, reporter)
    if code is None:
        return None
    member = Member(variable=variable, values=frozenset({code}), span=node.span)
    return member if relation is Relation.EQ else Not(member)


def _names_value(node: tree.Expression, attribute: Attribute) -> bool:
    match attribute.type:
        case Category(values=values):
            return _word(node) in {value.name for value in values}
        case _:
            return _word(node) in _TRUTH


def value_code(node: tree.Expression | tree.Name, attribute: Attribute, reporter: Reporter) -> Fraction | None:
    """The code of the value of a category or boolean that a word names; a word that names none is reported."""
    word = _word(node)
    known: tuple[str, ...] = ("true", "false")
    match attribute.type:
        case Boolean():
            if word in _TRUTH:
                return Fraction(_TRUTH[word])
            if isinstance(node, tree.Number) and node.value in (0, 1) and not node.percent:
                return node.value
        case Category(values=values):
            known = tuple(value.name for value in values)
            for value in values:
                if value.name == word:
                    return Fraction(value.code)
            if isinstance(node, tree.Number):
                meant = next((v.name for v in values if v.code == node.value), None)
                reporter.report(
                    errors.not_comparable(
                        f"`{attribute.name}` is compared with its values' names, not with codes",
                        node.span,
                        "a number would silently change its meaning when the list of values does",
                        f"write `{meant}`" if meant else f"its values are {', '.join(f'`{n}`' for n in known[:8])}",
                    )
                )
                return None
        case _:
            raise AssertionError(attribute.type)
    if word is None:
        reporter.report(
            errors.not_comparable(
                f"`{attribute.name}` can only be compared with one of its values",
                node.span,
                "its values are names, and this is an expression",
                f"its values are {', '.join(f'`{n}`' for n in known[:8])}",
            )
        )
        return None
    reporter.report(errors.unknown_value(word, node.span, attribute.name, known, attribute.span))
    return None


def _value_of_somebody(node: tree.Expression | tree.Name, attribute: Attribute, reporter: Reporter) -> Fraction | None:
    """The code of a value with which a condition may compare: not of missing, of which every comparison is false."""
    if attribute.missing is not None and _word(node) == MISSING:
        reporter.report(errors.compared_with_missing(attribute.name, node.span))
        return None
    return value_code(node, attribute.known, reporter)


def _word(node: tree.Expression | tree.Name) -> str | None:
    match node:
        case tree.Name(text=text):
            return text
        case tree.Text(value=value):
            return value
        case tree.Reference(owner=None, name=name):
            return name.text
        case _:
            return None


def label_membership(
    node: tree.Membership, variable: Variable, attribute: Attribute, reporter: Reporter
) -> Member | None:
    """``attribute in { a, b }`` for a category or boolean."""
    codes: set[Fraction] = set()
    ok = True
    for element in node.elements:
        if isinstance(element, tree.ValueRange):
            reporter.report(
                errors.not_comparable(
                    f"the values of `{attribute.name}` have no order, so they make no range",
                    element.span,
                    "codes are labels",
                    f"list the values, as in `{attribute.name} in {{ a, b }}`",
                )
            )
            ok = False
            continue
        code = _value_of_somebody(element, attribute, reporter)
        ok = ok and code is not None
        if code is not None:
            codes.add(code)
    return Member(variable=variable, values=frozenset(codes), span=node.span) if ok else None
