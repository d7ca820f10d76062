"""Conditions that the ranges of their attributes decide: true of everybody, of nobody, or in part of nobody."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from fairdsl.diagnostics import Reporter
from fairdsl.ir.domain import Attribute, Boolean, Category, Domain, Integer, Real, show_number
from fairdsl.ir.expr import And, Member, Not, Or, Predicate, atoms, conjuncts, variables
from fairdsl.numerics.narrow import Finite, ValueSet, decided, possible
from fairdsl.semantics import errors
from fairdsl.semantics.errors.wording import listing
from fairdsl.source import Span

#: Longer lists of values are left out of messages.
_SHOWN = 4
_NONE_OF = {"everybody": "nobody", "every pair": "no pair"}
_BEHIND_NOT = "condition behind `not`"


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


def _report(
    predicate: Predicate, domain: Domain, sets: Sequence[ValueSet], clause: str, of: str, reporter: Reporter
) -> None:
    span = place_of(predicate)
    if span is None:
        return
    truth = decided(predicate, sets)
    if truth is False:
        reporter.report(errors.excludes_everybody(f"this {clause}", span, _left(predicate, domain, sets), whom=of))
    elif truth:
        negated = _is_written_not(predicate)
        what, whom = (_BEHIND_NOT, _NONE_OF[of]) if negated else (clause, of)
        reporter.report(errors.says_nothing(what, span, _left(predicate, domain, sets), of=whom))
    elif isinstance(predicate, Or):
        for part in predicate.parts:
            place = place_of(part)
            if place is not None and not possible(part, sets):
                negated = _is_written_not(part)
                what, whom = (_BEHIND_NOT, of) if negated else (f"part of the {clause}", _NONE_OF[of])
                reporter.report(errors.says_nothing(what, place, _left(part, domain, sets), of=whom))


def _is_written_not(predicate: Predicate) -> bool:
    """Whether the place shown is what stands behind a `not` (`sex != female` is no such place)."""
    match predicate:
        case Not(Member(span=Span() as span)):
            return "!=" not in span.text
        case Not(Member()):
            return False
        case Not():
            return True
        case _:
            return False


def _left(predicate: Predicate, domain: Domain, sets: Sequence[ValueSet]) -> str:
    """What is left of the attributes that decide the condition, in words."""
    indices = dict.fromkeys(variable.attribute for variable in variables(predicate))
    if not indices:
        return "it compares what is equal anyway"
    texts = [_values(domain.attributes[index], sets[index]) for index in indices]
    return "; ".join(dict.fromkeys(text for text in texts if text))


def _values(attribute: Attribute, values: ValueSet) -> str:
    match attribute.type, values:
        case ((Category() | Boolean()), Finite(values=codes)) if len(codes) <= _SHOWN:
            return f"`{attribute.name}` is {listing((attribute.show(Fraction(code)) for code in codes), 'or')}"
        case ((Integer() | Real()), _) if values.low is not None and values.high is not None:
            what = "a whole number " if isinstance(attribute.type, Integer) else ""
            low, high, lacking = values.low, values.high, ""
            if high == attribute.missing:  # its code is beyond the last number, and nobody's value
                last = attribute.known.bounds[1]
                if last is None or low > last:
                    return f"`{attribute.name}` is missing"
                high, lacking = last, " or missing"
            return f"`{attribute.name}` is {what}from {show_number(low)} to {show_number(high)}{lacking}"
    return ""


def place_of(predicate: Predicate) -> Span | None:
    """A place in the text that the predicate came from."""
    return next((atom.span for atom in atoms(predicate) if atom.span is not None), None)
