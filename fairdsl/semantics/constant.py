"""Conditions that the ranges of their attributes decide: true of everybody, of nobody, or in part of nobody."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from fairdsl.diagnostics import Reporter
from fairdsl.ir.domain import Attribute, Boolean, Category, Domain, Integer, Real, show_number
from fairdsl.ir.expr import And, Compare, Member, Not, Or, Predicate, variables
from fairdsl.numerics.narrow import Finite, ValueSet, possible, without_not
from fairdsl.semantics import errors
from fairdsl.semantics.errors.wording import listing
from fairdsl.source import Span

__all__ = ["conjuncts", "place_of", "report_constant"]

#: Longer lists of values are left out of messages.
_SHOWN = 4
_NONE_OF = {"everybody": "nobody", "every pair": "no pair"}


def report_constant(
    predicate: Predicate,
    domain: Domain,
    sets: Sequence[ValueSet],
    clause: str,
    reporter: Reporter,
    *,
    of: str = "everybody",
) -> None:
    """Report what the value sets already decide about each written part of a condition on ``of``.

    One written part may have become several (``abs(x) <= 3`` is two comparisons): they are judged together.
    """
    written: dict[Span | None, list[Predicate]] = {}
    for part in conjuncts(predicate):
        written.setdefault(place_of(part), []).append(part)
    for parts in written.values():
        _report(parts[0] if len(parts) == 1 else And(tuple(parts)), domain, sets, clause, of, reporter)


def conjuncts(predicate: Predicate) -> tuple[Predicate, ...]:
    """The parts that all have to hold."""
    if isinstance(predicate, And):
        return tuple(conjunct for part in predicate.parts for conjunct in conjuncts(part))
    return (predicate,)


def _report(
    predicate: Predicate, domain: Domain, sets: Sequence[ValueSet], clause: str, of: str, reporter: Reporter
) -> None:
    span = place_of(predicate)
    if span is None:
        return
    if not possible(predicate, sets):
        reporter.report(errors.excludes_everybody(f"this {clause}", span, _left(predicate, domain, sets), whom=of))
    elif not possible(without_not(predicate, negated=True), sets):
        reporter.report(errors.says_nothing(clause, span, _left(predicate, domain, sets), of=of))
    elif isinstance(predicate, Or):
        for part in predicate.parts:
            place = place_of(part)
            if place is not None and not possible(part, sets):
                detail = _left(part, domain, sets)
                reporter.report(errors.says_nothing(f"part of the {clause}", place, detail, of=_NONE_OF[of]))


def _left(predicate: Predicate, domain: Domain, sets: Sequence[ValueSet]) -> str:
    """What is left of the attributes that decide the condition, in words."""
    indices = dict.fromkeys(variable.attribute for variable in variables(predicate))
    if not indices:
        return "it compares what is equal anyway"
    texts = [_values(domain.attributes[index], sets[index]) for index in indices]
    return "; ".join(text for text in texts if text)


def _values(attribute: Attribute, values: ValueSet) -> str:
    match attribute.type, values:
        case ((Category() | Boolean()), Finite(values=codes)) if len(codes) <= _SHOWN:
            return f"`{attribute.name}` is {listing((attribute.show(Fraction(code)) for code in codes), 'or')}"
        case ((Integer() | Real()), _) if values.low is not None and values.high is not None:
            what = "a whole number " if isinstance(attribute.type, Integer) else ""
            return f"`{attribute.name}` is {what}from {show_number(values.low)} to {show_number(values.high)}"
    return ""


def place_of(predicate: Predicate) -> Span | None:
    """A place in the text that the predicate came from."""
    match predicate:
        case Compare(span=span) | Member(span=span):
            return span
        case And(parts) | Or(parts):
            return next((span for part in parts if (span := place_of(part)) is not None), None)
        case Not(part):
            return place_of(part)
