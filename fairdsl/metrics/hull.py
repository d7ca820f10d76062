"""One value out of several: of distributions any of which may be meant, and of all who decide rows of a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from fairdsl.ir.enclosure import Enclosure
from fairdsl.verdict import ByDecider, Decider, DifferingRow, Named, Part, Rate, Reason, Refused, Value

_Group = tuple[Named, Named]

_NOTHING_KNOWN = Enclosure(low=Fraction(0), high=Fraction(1))


def of_all_deciders(
    found: Mapping[Decider, Value | Refused], differing: Sequence[DifferingRow] = ()
) -> Value | Refused:
    """A metric of rows as everybody has it who decides them: the least interval that contains all.

    Whether there is a number at all does not depend on decisions, but for rates among the favoured.
    """
    values = {by: value for by, value in found.items() if isinstance(value, Value)}
    if len(values) < len(found):
        return next(value for value in found.values() if isinstance(value, Refused))
    one = hull_of(values.values())
    listed = tuple(ByDecider(by=by, number=v.number, defined=v.defined) for by, v in values.items())
    alike = all(_numbers(value) == _numbers(one) for value in values.values())
    reason = one.reason if alike or one.reason is Reason.UNDEFINED else Reason.NUMERIC_GAP
    rates = tuple(replace(rate, by_decider=_of_group(rate, values)) for rate in one.rates)
    alternatives = () if alike else tuple(values.values())
    return replace(
        one, by_decider=listed, differing=tuple(differing), rates=rates, reason=reason, alternatives=alternatives
    )


def _numbers(value: Value) -> tuple[object, ...]:
    """What is judged of a value."""
    parts = [(part.at, part.number, part.sampling, part.defined) for part in value.parts]
    return value.number, value.sampling, value.defined, *parts


def _of_group(rate: Rate, values: Mapping[Decider, Value]) -> tuple[ByDecider, ...]:
    """The group's rate by everybody who has one."""
    same = {by: _by_group(value.rates).get(_key(rate)) for by, value in values.items()}
    return tuple(ByDecider(by=by, number=own.number) for by, own in same.items() if own is not None)


def hull_of(values: Iterable[Value]) -> Value:
    """The least interval that contains all of several values of one question, and so of their rates and parts."""
    first, *others = values
    for other in others:
        first = _hull(first, other)
    return first


def _hull(one: Value, other: Value) -> Value:
    rates = _rates(one, other)
    places = {_key(rate): place for place, rate in enumerate(rates)}
    marked = [
        tuple(sorted({places[_key(value.rates[n])] for value in (one, other) for n in getattr(value, mark)}))
        for mark in ("most", "least")
    ]
    defined = one.defined and other.defined
    reason = one.reason if one.reason is Reason.UNDEFINED else (other.reason or one.reason)
    return replace(
        one,
        number=one.number.around(other.number),
        rates=rates,
        most=marked[0],
        least=marked[1],
        excluded=tuple(group for group in one.excluded if group in other.excluded),
        sampling=_joined(one.sampling, other.sampling),
        parts=_parts(one, other),
        defined=defined,
        reason=reason,
        evidence=replace(one.evidence, notes=tuple(dict.fromkeys((*one.evidence.notes, *other.evidence.notes)))),
        warnings=(*one.warnings, *(warning for warning in other.warnings if warning not in one.warnings)),
    )


def _key(rate: Rate) -> _Group:
    return rate.group, rate.given


def _by_group(rates: Sequence[Rate]) -> dict[_Group, Rate]:
    return {_key(rate): rate for rate in rates}


def _rates(one: Value, other: Value) -> tuple[Rate, ...]:
    """The rates of all groups; nothing is known of a rate that only one of the two has."""
    first, second = _by_group(one.rates), _by_group(other.rates)
    return tuple(
        _rate(first[key], second[key]) if key in first and key in second else _open(first.get(key) or second[key])
        for key in dict.fromkeys((*first, *second))
    )


def _rate(one: Rate, other: Rate) -> Rate:
    return replace(
        one,
        number=one.number.around(other.number),
        mass=one.mass.around(other.mass),
        rows=None if one.rows is None or other.rows is None else min(one.rows, other.rows),
        empirical=_joined(one.empirical, other.empirical),
        sampling=_joined(one.sampling, other.sampling),
    )


def _open(rate: Rate) -> Rate:
    wide = None if rate.sampling is None else _NOTHING_KNOWN
    mass = Enclosure(low=Fraction(0), high=rate.mass.high)
    return replace(rate, number=_NOTHING_KNOWN, mass=mass, rows=None, empirical=None, sampling=wide)


def _parts(one: Value, other: Value) -> tuple[Part, ...]:
    """The parts of both; one that only one of the two has is, perhaps, no number."""
    first, second = ({part.at: part for part in value.parts} for value in (one, other))
    return tuple(
        _part(first[at], second[at]) if at in first and at in second else _undefined(at)
        for at in dict.fromkeys((*first, *second))
    )


def _part(one: Part, other: Part) -> Part:
    return replace(
        one,
        number=one.number.around(other.number),
        sampling=_joined(one.sampling, other.sampling),
        defined=one.defined and other.defined,
    )


def _undefined(at: Named) -> Part:
    return Part(at=at, number=_NOTHING_KNOWN, defined=False)


def _joined(one: Enclosure | None, other: Enclosure | None) -> Enclosure | None:
    return None if one is None or other is None else one.around(other)
