"""``or missing``: a value that is not a number and no category, and conditions that do not speak of those who lack it.

Every engine counts, compares and bounds the numbers that stand for values. So missing is one more of these, of a code
that no value has: a category's next code, the whole number above the last one, or, with a gap between them that the
domain excludes, a number so far above that nobody who has a value is within a distance of it. No engine knows of it,
and none can forget it. What knows of it are conditions, here, and how a model reads its inputs
(``models/binding/absent.py``).

A comparison with a missing value is false, and so is its negation. That is the logic of three values, of which a
condition holds where it is *true*: it is pushed down to the comparisons, each of which also asks for the values.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import ceil

from fairdsl.diagnostics import Reporter
from fairdsl.ir.domain import MISSING, Attribute, Category, CategoryValue, Domain, Integer, Real, Type
from fairdsl.ir.expr import (
    TRUE,
    And,
    Compare,
    Linear,
    Member,
    Not,
    Or,
    Predicate,
    Relation,
    Variable,
    conjoin,
    conjuncts,
    holds_at,
    opposite,
    variables,
)
from fairdsl.semantics import errors
from fairdsl.source import Span
from fairdsl.syntax import tree

#: Attributes that somebody may lack in one condition, of which every combination is looked at.
_LACKED_AT_ONCE = 8


def with_missing(attribute: Attribute, node: tree.Attribute, *, compared: bool, reporter: Reporter) -> Attribute:
    """The attribute with the value beside those it was declared with.

    ``compared``: a property relaxes it by a distance, within which nobody with a value may come to one without.
    """
    name, kind = attribute.name, attribute.type
    widened: Type
    match kind:
        case Category(values=values):
            same = next((value for value in values if value.name == MISSING), None)
            if same is not None:
                help_text = "give that value another name: `missing` is nobody's value"
                reporter.report(
                    errors.category_clash(f"`{name}` has a value `missing` already", node.span, same.span, help_text)
                )
                return attribute
            code = max(value.code for value in values) + 1
            widened = Category(values=(*values, CategoryValue(name=MISSING, code=code)), coded=kind.coded)
        case Integer(low=low, high=high):
            widened = Integer(low=low, high=2 * high - low + 1 if compared else high + 1)
        case Real(low=Fraction() as least, high=Fraction() as most):
            # A power of two is a float of every size.
            widened = Real(low=least, high=Fraction(2 ** max(1, ceil(2 * most - least + 1)).bit_length()))
        case _:
            bounded = isinstance(kind, Real)
            reporter.report(
                errors.not_comparable(
                    f"`{name}` may be missing, and {'has no range' if bounded else 'is boolean'}",
                    node.span,
                    "missing is one more value, beside those that are listed or lie in a range",
                    f"write its range, as in `{name} : real 0 .. 250 or missing`"
                    if bounded
                    else f"list its values, as in `{name} : category {{ no, yes }} or missing`",
                )
            )
            return attribute
    if attribute.bins_by is not None and node.bins is not None:
        reporter.report(
            errors.not_comparable(
                f"the bins of `{name}`, which may be missing, are found among its values",
                node.bins.span,
                "those who have none are a bin of their own, of which no quantile and no comparison is the edge",
                "write the edges, as in `bins at 25, 45`",
            )
        )
    found = replace(attribute, type=widened, present=kind)
    edge = (found.missing,) if found.bins and found.missing is not None else ()
    return replace(found, bins=(*found.bins, *edge))


def nobody_between(domain: Domain) -> Predicate:
    """Who can exist, as far as codes of missing values lie apart from the values."""
    return conjoin(
        *(
            Or((_has(Variable(index), attribute, None), _lacks(Variable(index), attribute, None)))
            for index, attribute in enumerate(domain.attributes)
            if attribute.gap
        )
    )


def as_written(domain: Domain) -> Predicate:
    """The domain's constraints without what keeps codes of missing values apart, which nobody wrote."""
    apart = conjuncts(nobody_between(domain))
    return conjoin(*(each for each in conjuncts(domain.where) if each not in apart))


def of_those_present(predicate: Predicate, domain: Domain) -> Predicate:
    """The condition as a predicate over codes: true where it is true in the logic of three values."""
    return _where(predicate, domain, truth=True)


def left_open(predicate: Predicate, domain: Domain) -> Attribute | None:
    """An attribute whose lack may leave the condition neither true nor false; ``predicate`` is as it is written."""
    lackable = tuple(dict.fromkeys(_lackable(predicate, domain)))
    if len(lackable) > _LACKED_AT_ONCE:
        return lackable[0][1]
    for count in range(1, len(lackable) + 1):
        for lacked in combinations(lackable, count):
            if None in _may_be(predicate, {variable for variable, _ in lacked}, domain):
                return lacked[0][1]
    return None


def _may_be(predicate: Predicate, lacked: Set[Variable], domain: Domain) -> Set[bool | None]:
    """What the condition may be of those who lack just these: true, false, neither (None)."""
    match predicate:
        case And(parts):
            found = [_may_be(part, lacked, domain) for part in parts]
            all_true = {True} if all(True in each for each in found) else set()
            some_false = {False} if any(False in each for each in found) else set()
            open_ = any(None in each for each in found) and all(each != {False} for each in found)
            return all_true | some_false | ({None} if open_ else set())
        case Or(parts):
            return _may_be(Not(And(tuple(map(Not, parts)))), lacked, domain)
        case Not(part):
            return {None if each is None else not each for each in _may_be(part, lacked, domain)}
        case Member(variable=variable, values=values) if values == {_missing(variable, domain)}:
            return {variable in lacked}
        case _:
            return {True, False} if lacked.isdisjoint(variables(predicate)) else {None}


def _missing(variable: Variable, domain: Domain) -> Fraction | None:
    """The code of a missing value; None where nobody lacks one."""
    return domain.attributes[variable.attribute].missing if variable.attribute < len(domain.attributes) else None


def absent(variable: Variable, attribute: Attribute, node: tree.Absence, reporter: Reporter) -> Predicate | None:
    """``x is missing``."""
    if attribute.missing is not None:
        return _lacks(variable, attribute, node.span)
    reporter.report(
        errors.not_comparable(
            f"`{attribute.name}` is never missing",
            node.span,
            "everybody of the domain has a value of it",
            f"declare that somebody may lack it, as in `{attribute.name} : integer 0 .. 80 or missing`",
        )
    )
    return None


def _where(predicate: Predicate, domain: Domain, *, truth: bool) -> Predicate:
    """Where the condition is true, or where it is false; with a missing value it may be neither."""
    if not any(True for _ in _lackable(predicate, domain)):
        return predicate if truth else Not(predicate)
    match predicate:
        case And(parts):
            found = tuple(_where(part, domain, truth=truth) for part in parts)
            return And(found) if truth else Or(found)
        case Or(parts):
            found = tuple(_where(part, domain, truth=truth) for part in parts)
            return Or(found) if truth else And(found)
        case Not(part):
            return _where(part, domain, truth=not truth)
        case Member(variable=variable, values=values) if values == {_missing(variable, domain)}:
            return predicate if truth else Not(predicate)
    said = predicate if truth else opposite(predicate)
    lackable = tuple(_lackable(predicate, domain))
    if len({variable for variable, _ in lackable}) == 1 and all(each == lackable[0][0] for each in variables(said)):
        _, attribute = lackable[0]
        assert attribute.missing is not None
        if not holds_at(said, attribute.missing):
            return said  # it is false of the code anyway
    span = predicate.span
    return conjoin(said, *dict.fromkeys(_has(variable, attribute, span) for variable, attribute in lackable))


def _lackable(predicate: Predicate, domain: Domain) -> Iterator[tuple[Variable, Attribute]]:
    """The variables that somebody may lack. Behind those of the domain stands what models give, which nobody lacks."""
    for variable in variables(predicate):
        if variable.attribute < len(domain.attributes):
            attribute = domain.attributes[variable.attribute]
            if attribute.missing is not None:
                yield variable, attribute


def _lacks(variable: Variable, attribute: Attribute, span: Span | None) -> Predicate:
    assert attribute.missing is not None
    return Member(variable=variable, values=frozenset({attribute.missing}), span=span)


def _has(variable: Variable, attribute: Attribute, span: Span | None) -> Predicate:
    match attribute.present:
        case Category(values=values):
            codes = frozenset(Fraction(value.code) for value in values)
            return Member(variable=variable, values=codes, span=span)
        case Integer(high=high) | Real(high=high) if high is not None:
            left = Linear.of({variable: Fraction(1)}, -Fraction(high))
            return Compare(left=left, relation=Relation.LE, span=span)
        case _:
            return TRUE
