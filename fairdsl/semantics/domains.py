"""Domains and labels: ranges, codes and values; then the `where` constraints of who can exist.

After a mistake in its type an attribute stays known, with a type that makes sense in its place: the spec
is refused anyway, and nothing more is said about each use of the attribute.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor

from fairdsl.diagnostics import Reporter
from fairdsl.ir.domain import (
    Attribute,
    Boolean,
    Category,
    CategoryValue,
    Domain,
    Integer,
    ModelThresholds,
    Quantiles,
    Real,
    Type,
    show_number,
)
from fairdsl.ir.expr import TRUE, Predicate, conjoin
from fairdsl.semantics import errors
from fairdsl.semantics.checked import LabelDeclaration
from fairdsl.semantics.conditions import lower_condition
from fairdsl.semantics.labels import value_code
from fairdsl.semantics.scope import ConditionScope
from fairdsl.syntax import tree

__all__ = ["check_domain", "check_label"]

#: Beyond it float64, in which a model reads its numbers, does not tell a whole number from the next.
_LARGEST_WHOLE = 2**53
#: The largest power of ten that float64 holds, and room for arithmetic.
_LARGEST_REAL = 10**300


def check_domain(node: tree.Domain, reporter: Reporter) -> Domain:
    """The domain's IR; whatever is wrong with it is reported."""
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
        attributes[name] = Attribute(
            name=name,
            type=type_,
            column=member.column.value if member.column else None,
            as_stored=member.as_stored,
            bins=_bins(name, type_, member.bins, reporter),
            bins_by=_bins_by(member.bins),
            span=member.name.span,
        )
    bare = Domain(
        name=node.name.text,
        attributes=tuple(attributes.values()),
        where=TRUE,
        span=node.name.span,
    )
    return Domain(
        name=bare.name,
        attributes=bare.attributes,
        where=_constraints(node, bare, reporter),
        span=bare.span,
    )


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
                _ = _whole(number, what, reporter) and _readable(number, what, _LARGEST_WHOLE, reporter)
            least, most = _ordered(low, high, reporter)
            return Integer(low=_within_reach(floor(least)), high=_within_reach(floor(most)))
        case tree.RealType(low=tree.Number() as low, high=tree.Number() as high):
            for number in (low, high):
                if not _readable(number, f"a bound of the real `{name}`", _LARGEST_REAL, reporter):
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


def _readable(number: tree.Number, what: str, largest: int, reporter: Reporter) -> bool:
    """Whether a model, which reads floats, can tell the number from its neighbours."""
    if abs(number.value) <= largest:
        return True
    limit = "2^53 = 9007199254740992" if largest == _LARGEST_WHOLE else "10^300"
    reporter.report(
        errors.number_out_of_place(
            f"{what} is beyond what a model can read",
            number.span,
            f"write a number of at most {limit} in size: beyond it no float tells one value from the next, "
            "and models read floats",
        )
    )
    return False


def _within_reach(number: int) -> int:
    """The number, or the nearest that is not beyond reach: what is too large has been reported."""
    return max(-_LARGEST_WHOLE, min(_LARGEST_WHOLE, number))


def _whole(number: tree.Number, what: str, reporter: Reporter, *, or_real: bool = True) -> bool:
    if number.value.denominator == 1 and not number.percent:
        return True
    reporter.report(
        errors.number_out_of_place(
            f"{number.text} is no whole number, but {what} is one",
            number.span,
            "write a whole number, or declare the attribute `real`" if or_real else "write a whole number",
        )
    )
    return False


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
    if _whole(entry.code, what, reporter, or_real=False):
        _readable(entry.code, what, _LARGEST_WHOLE, reporter)
    return _within_reach(floor(entry.code.value))


def _code_of_its_own(node: tree.CategoryType, first: CategoryValue, second: tree.CategoryEntry, place: int) -> str:
    """What to write where two values share a code: most often one of them has it by its position."""
    if second.code is None:
        return f"`{second.name.text}` has no code, so it takes its position {place}: write a code for each value"
    if next(entry for entry in node.entries if entry.name.text == first.name).code is None:
        return f"`{first.name}` has no code, so it takes its position {first.code}: write a code for each value"
    return "write a code of its own for each value, as in `a = 1`"


def _bins_by(bins: tree.Bins | None) -> Quantiles | ModelThresholds | None:
    """How the edges are found that are not written."""
    match bins:
        case tree.BinsByQuantiles(count=count):
            return Quantiles(count=max(2, floor(count.value)))
        case tree.BinsByModel():
            return ModelThresholds()
        case _:
            return None


def _bins(name: str, type_: Type, bins: tree.Bins | None, reporter: Reporter) -> tuple[Fraction, ...]:
    """Edges of written bins. Quantiles and the model's own thresholds are found when data is read."""
    if bins is None:
        return ()
    if isinstance(type_, Category | Boolean):
        reporter.report(
            errors.not_comparable(
                f"`{name}` has no order, so it cannot be cut into bins",
                bins.span,
                "bins are ranges of numbers",
                "remove `bins`, or declare the attribute `integer` or `real`",
            )
        )
        return ()
    if isinstance(bins, tree.BinsByQuantiles):
        if _whole(bins.count, "the number of quantiles", reporter, or_real=False) and bins.count.value < 2:
            reporter.report(
                errors.number_out_of_place("quantiles cut into at least 2 bins", bins.count.span, "write 2 or more")
            )
        return ()
    if isinstance(bins, tree.BinsByModel):
        return ()
    _check_edges(name, type_, bins.edges, reporter)
    # Of whole numbers those from 24.5 are those from 25: one way to write the same bin.
    whole = isinstance(type_, Integer)
    return tuple(Fraction(ceil(edge.value)) if whole else edge.value for edge in bins.edges)


def _check_edges(name: str, type_: Integer | Real, edges: Sequence[tree.Number], reporter: Reporter) -> None:
    """Ascending, and with a value on either side: ``bins at 25`` are [.., 25) and [25, ..]."""
    for edge in edges:
        if not _readable(edge, f"a bin edge of `{name}`", _LARGEST_WHOLE, reporter):
            continue
        below = type_.low is not None and edge.value <= type_.low
        if below or (type_.high is not None and edge.value > type_.high):
            side = "below" if below else "from"
            reporter.report(
                errors.number_out_of_place(
                    f"no value of `{name}` lies {side} the bin edge {edge.text}",
                    edge.span,
                    "remove the edge, or correct it: a bin holds the values from its lower edge up to the next one",
                )
            )
    for left, right in pairwise(edges):
        if left.value >= right.value:
            reporter.report(
                errors.number_out_of_place(
                    f"the bin edge {right.text} does not come after {left.text}",
                    right.span,
                    "write the edges in ascending order, each once",
                )
            )
        elif isinstance(type_, Integer) and ceil(left.value) == ceil(right.value):
            reporter.report(
                errors.number_out_of_place(
                    f"no value of `{name}` lies between the bin edges {left.text} and {right.text}",
                    right.span,
                    "remove one of them: a bin holds the values from its lower edge up to the next one",
                )
            )
