"""Conditions on cells: true of all their values, of none, or of some (None).

A uniform cell of reals counts without its ends, which have no mass: `x <= 25` is true on [10, 25] and on
[10, 25) and false on [25, 40].
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction

from fairdsl.ir.domain import Attribute, Real
from fairdsl.ir.expr import Compare, Linear, Member, Predicate, Relation, fold
from fairdsl.ir.population import Cell, Inside

#: The cell of every column that a condition mentions, with the column's attribute.
Places = Mapping[int, tuple[Attribute, Cell]]
#: A bound (None: infinite) and whether it is reached.
_End = tuple[Fraction | None, bool]


def decided(predicate: Predicate, places: Places) -> bool | None:
    """Whether the predicate holds wherever the columns lie in these cells; None where it depends, or may do."""

    def of_atom(atom: Compare | Member) -> bool | None:
        match atom:
            case Compare(left=left, relation=relation):
                return _compared(relation, *_range(left, places))
            case Member(variable=variable, values=values):
                attribute, cell = places[variable.attribute]
                if cell.inside is Inside.POINT:
                    return cell.low in values
                return _overlaps(attribute, cell, values)

    return fold(predicate, of_atom, _all, lambda parts: _negated(_all(map(_negated, parts))), _negated)


def _overlaps(attribute: Attribute, cell: Cell, values: frozenset[Fraction]) -> bool | None:
    """Whether a range lies in a finite set."""
    inside = [value for value in values if cell.contains(value)]
    if not inside or (isinstance(attribute.type, Real) and cell.inside is Inside.UNIFORM):
        return False
    if isinstance(attribute.type, Real) or cell.low is None or cell.high is None:
        return None
    return True if len(inside) == cell.high - cell.low + 1 else None


def _all(parts: Iterable[bool | None]) -> bool | None:
    found: bool | None = True
    for part in parts:
        if part is False:
            return False
        if part is None:
            found = None
    return found


def _negated(truth: bool | None) -> bool | None:
    return None if truth is None else not truth


def _range(form: Linear, places: Places) -> tuple[_End, _End]:
    """The least and the greatest value of a linear form on the cells."""
    low: _End = (form.constant, True)
    high: _End = (form.constant, True)
    for variable, factor in form.terms:
        least, most = _ends(*places[variable.attribute])
        if factor < 0:
            least, most = most, least
        low, high = _plus(low, least, factor), _plus(high, most, factor)
    return low, high


def _ends(attribute: Attribute, cell: Cell) -> tuple[_End, _End]:
    no_mass = cell.inside is Inside.UNIFORM and isinstance(attribute.type, Real)
    return (cell.low, not no_mass), (cell.high, not no_mass and not cell.open)


def _plus(total: _End, end: _End, factor: Fraction) -> _End:
    if total[0] is None or end[0] is None:
        return (None, False)
    return (total[0] + factor * end[0], total[1] and end[1])


def _compared(relation: Relation, low: _End, high: _End) -> bool | None:
    """Whether every value between the ends has the relation to 0."""
    match relation:
        case Relation.LT:
            return _below(low, high, or_equal=False)
        case Relation.LE:
            return _below(low, high, or_equal=True)
        case Relation.GT:
            return _negated(_below(low, high, or_equal=True))
        case Relation.GE:
            return _negated(_below(low, high, or_equal=False))
        case Relation.EQ:
            return _zero(low, high)
        case Relation.NE:
            return _negated(_zero(low, high))


def _below(low: _End, high: _End, *, or_equal: bool) -> bool | None:
    """Whether every value is less than 0 (or equal)."""
    if high[0] is not None and (high[0] < 0 or (high[0] == 0 and (or_equal or not high[1]))):
        return True
    if low[0] is not None and (low[0] > 0 or (low[0] == 0 and not (or_equal and low[1]))):
        return False
    return None


def _zero(low: _End, high: _End) -> bool | None:
    """Whether every value is 0."""
    if low[0] == 0 == high[0]:
        return True
    less = _below(low, high, or_equal=False)
    more = _negated(_below(low, high, or_equal=True))
    return False if less or more else None
