"""Domains and labels: ranges, codes and values; then the `where` constraints of who can exist.

After a mistake in its type an attribute stays known, with a type that makes sense in its place: the spec
is refused anyway, and nothing more is said about each use of the attribute.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from fractions import Fraction
from math import floor

from fairdsl.diagnostics import Reporter
from fairdsl.ir.domain import (
    Attribute,
    Boolean,
    Category,
    CategoryValue,
    Domain,
    Integer,
    Real,
    Type,
    show_number,
)
from fairdsl.ir.expr import TRUE, Predicate, conjoin
from fairdsl.semantics import errors
from fairdsl.semantics.checked import LabelDeclaration
from fairdsl.semantics.conditions.bins import LARGEST_WHOLE, bins_of, readable, whole_number
from fairdsl.semantics.conditions.derived import check_derived
from fairdsl.semantics.conditions.labels import value_code
from fairdsl.semantics.conditions.missing import nobody_between, with_missing
from fairdsl.semantics.conditions.predicates import lower_condition
from fairdsl.semantics.conditions.scope import ConditionScope
from fairdsl.syntax import tree

#: The largest power of ten that float64 holds, and room for arithmetic.
_LARGEST_REAL = 10**300


def check_domain(node: tree.Domain, compared: Collection[str], reporter: Reporter) -> Domain:
    """The domain's IR; whatever is wrong with it is reported. ``compared``: what properties relax by a distance."""
    attributes: dict[str, Attribute] = {}
    for member in node.members:
        if not isinstance(member, tree.Attribute):
            continue
        name = member.name.text
        if name in attributes:
            first = attributes[name].span
            assert first is not None
            reporter.report(errors.declared_twice("attribute", name, member.name.span, first))
            continue
        type_ = _type(name, member.type, reporter)
        edges, by = bins_of(name, type_, member.bins, reporter)
        attribute = Attribute(
            name=name,
            type=type_,
            column=member.column.value if member.column else None,
            as_stored=member.as_stored,
            bins=edges,
            bins_by=by,
            span=member.name.span,
        )
        if member.or_missing:
            attribute = with_missing(attribute, member, compared=name in compared, reporter=reporter)
        attributes[name] = attribute
    bare = Domain(
        name=node.name.text,
        attributes=tuple(attributes.values()),
        where=TRUE,
        span=node.name.span,
    )
    own = replace(bare, derived=tuple(check_derived(node, bare, reporter)))
    return replace(own, where=conjoin(nobody_between(own), _constraints(node, own, reporter)))


def check_label(node: tree.Label, reporter: Reporter) -> LabelDeclaration:
    """The label; whatever is wrong with its type, or with the value that is `deserving`, is reported."""
    type_ = _type(node.name.text, node.type, reporter)
    label = Attribute(name=node.name.text, type=type_, span=node.name.span)
    return LabelDeclaration(
        name=label.name,
        type=type_,
        column=node.column.value if node.column else None,
        deserving=None if node.deserving is None else _deserving(node.deserving, label, reporter),
        span=node.name.span,
    )


def _deserving(node: tree.Name | tree.Number, label: Attribute, reporter: Reporter) -> Fraction | None:
    """The number that stands for the value of those who deserve the favourable outcome."""
    if isinstance(label.type, Category | Boolean):
        return value_code(node, label, reporter)
    if isinstance(node, tree.Number) and label.contains(node.value):
        return node.value
    known = [show_number(bound) for bound in label.bounds if bound is not None]
    reporter.report(errors.unknown_value(node.text, node.span, label.name, (" .. ".join(known),), label.span))
    return None


def _constraints(node: tree.Domain, domain: Domain, reporter: Reporter) -> Predicate:
    scope = ConditionScope(domain=domain)
    parts = [
        lower_condition(member.condition, scope, reporter) for member in node.members if isinstance(member, tree.Where)
    ]
    return conjoin(*(part for part in parts if part is not None))


def _type(name: str, node: tree.Type, reporter: Reporter) -> Type:
    match node:
        case tree.BooleanType():
            return Boolean()
        case tree.CategoryType():
            return _category(name, node, reporter)
        case tree.IntegerType(low=low, high=high):
            what = f"a bound of the integer `{name}`"
            for number in (low, high):
                _ = whole_number(number, what, reporter) and readable(number, what, LARGEST_WHOLE, reporter)
            least, most = _ordered(low, high, reporter)
            return Integer(low=_within_reach(floor(least)), high=_within_reach(floor(most)))
        case tree.RealType(low=tree.Number() as low, high=tree.Number() as high):
            for number in (low, high):
                if not readable(number, f"a bound of the real `{name}`", _LARGEST_REAL, reporter):
                    return Real(low=None, high=None)
            least, most = _ordered(low, high, reporter)
            return Real(low=least, high=most)
        case tree.RealType():
            return Real(low=None, high=None)


def _ordered(low: tree.Number, high: tree.Number, reporter: Reporter) -> tuple[Fraction, Fraction]:
    """The two ends, least first."""
    if low.value > high.value:
        reporter.report(errors.reversed_range(low.text, high.text, low.span.to(high.span)))
    return min(low.value, high.value), max(low.value, high.value)


def _within_reach(number: int) -> int:
    """The number, or the nearest that is not beyond reach: what is too large has been reported."""
    return max(-LARGEST_WHOLE, min(LARGEST_WHOLE, number))


def _category(name: str, node: tree.CategoryType, reporter: Reporter) -> Category:
    """Codes are the position from 0 unless written; names and codes are distinct."""
    values: list[CategoryValue] = []
    by_name: dict[str, CategoryValue] = {}
    by_code: dict[int, CategoryValue] = {}
    reported = len(reporter.diagnostics)
    for position, entry in enumerate(node.entries):
        code = _code(entry, position, reporter)
        clash = by_name.get(entry.name.text) or by_code.get(code)
        if clash is not None:
            same_name = clash.name == entry.name.text
            reporter.report(
                errors.category_clash(
                    f"`{entry.name.text}` is listed twice in `{name}`"
                    if same_name
                    else f"`{clash.name}` and `{entry.name.text}` of `{name}` share the code {code}",
                    entry.span,
                    clash.span,
                    "remove one of them" if same_name else _code_of_its_own(node, clash, entry, position),
                )
            )
            if same_name:
                continue
            code = max(by_code) + 1
        value = CategoryValue(name=entry.name.text, code=code, span=entry.span)
        values.append(value)
        by_name[value.name] = by_code[value.code] = value
    unwritten = [(entry.name.text, place) for place, entry in enumerate(node.entries) if entry.code is None]
    if 0 < len(unwritten) < len(node.entries) and len(reporter.diagnostics) == reported:
        reporter.report(errors.codes_left_out(name, node.span, unwritten))
    return Category(values=tuple(values), coded=len(unwritten) < len(node.entries))


def _code(entry: tree.CategoryEntry, position: int, reporter: Reporter) -> int:
    """The written code, or the position."""
    if entry.code is None:
        return position
    what = f"the code of `{entry.name.text}`"
    if whole_number(entry.code, what, reporter, or_real=False):
        readable(entry.code, what, LARGEST_WHOLE, reporter)
    return _within_reach(floor(entry.code.value))


def _code_of_its_own(node: tree.CategoryType, first: CategoryValue, second: tree.CategoryEntry, place: int) -> str:
    """What to write where two values share a code: most often one of them has it by its position."""
    if second.code is None:
        return f"`{second.name.text}` has no code, so it takes its position {place}: write a code for each value"
    if next(entry for entry in node.entries if entry.name.text == first.name).code is None:
        return f"`{first.name}` has no code, so it takes its position {first.code}: write a code for each value"
    return "write a code of its own for each value, as in `a = 1`"
