"""``sex = male and age >= 45``: the condition of `baseline` and `privileged`, which picks one of the groups.

A group has one value of every attribute of ``across``, or one bin where the attribute has bins. What the
condition says of an attribute with bins has to be true of one whole bin and of nothing else.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor

from fairdsl.ir.domain import Attribute, Domain, Integer, show_number
from fairdsl.ir.expr import Compare, Member, Predicate, Relation, borders, conjoin, conjuncts, holds_at, variables
from fairdsl.semantics.errors.wording import listing


@dataclass(frozen=True, slots=True)
class NoGroup:
    """What is wrong with the condition, as a clause that goes on after its name, and what to write of bins."""

    what: str
    bins: str = ""


def one_group(predicate: Predicate, across: Sequence[int], domain: Domain) -> tuple[Fraction, ...] | NoGroup:
    """The value of each attribute of ``across``, of bins the lower end; or why the condition picks no one group."""
    parts: dict[int, list[Predicate]] = {}
    for part in conjuncts(predicate):
        mentioned = {variable.attribute for variable in variables(part)}
        if len(mentioned) != 1:
            return NoGroup("is not of the form `x = value and ...`")
        parts.setdefault(mentioned.pop(), []).append(part)
    names = [attribute.name for attribute in domain.attributes]
    missing = [names[index] for index in across if index not in parts]
    further = [names[index] for index in parts if index not in across]
    values: list[Fraction] = []
    for index in across:
        if index not in parts:
            continue
        found = _value(parts[index], domain.attributes[index])
        if isinstance(found, NoGroup):
            return found
        values.append(found)
    if missing:
        return NoGroup(f"does not fix {listing(missing)}")
    if further:
        return NoGroup(f"fixes {listing(further)}, which `across` does not name")
    return tuple(values)


def _value(parts: Sequence[Predicate], attribute: Attribute) -> Fraction | NoGroup:
    if attribute.bins:
        return _in_one_bin(conjoin(*parts), attribute)
    if attribute.bins_by is not None:
        return NoGroup(f"names a bin of `{attribute.name}`, whose edges are found later: write `bins at ...`")
    value = _equal_to(parts[0]) if len(parts) == 1 else None
    if value is None:
        return NoGroup("is not of the form `x = value and ...`")
    if not attribute.contains(value):
        return NoGroup(f"asks for a value that `{attribute.name}` never has")
    return value


def _equal_to(predicate: Predicate) -> Fraction | None:
    """The value that an equality gives its attribute."""
    match predicate:
        case Member(values=values) if len(values) == 1:
            return next(iter(values))
        case Compare(left=left, relation=Relation.EQ) if len(left.terms) == 1:
            return -left.constant / left.terms[0][1]
        case _:
            return None


def _in_one_bin(predicate: Predicate, attribute: Attribute) -> Fraction | NoGroup:
    """The lower end of the bin that the predicate picks: it is true of all its values, and of no other bin's."""
    numbers = _telling(predicate, attribute)
    places = [bisect_right(attribute.bins, number) for number in numbers]
    true_of = [holds_at(predicate, number) for number in numbers]
    picked = {place for place, truth in zip(places, true_of, strict=True) if truth}
    missed = {place for place, truth in zip(places, true_of, strict=True) if not truth}
    if len(picked) == 1 and not picked & missed:
        return _lower_end(picked.pop(), attribute)
    return NoGroup(f"does not pick one whole bin of `{attribute.name}`", _bins_in_words(attribute))


def _bins_in_words(attribute: Attribute) -> str:
    """Each bin as the condition that picks it."""
    name, lacking = attribute.name, [] if attribute.missing is None else [f"`{attribute.name} is missing`"]
    edges = [show_number(edge) for edge in attribute.bins if edge != attribute.missing]
    inner = [f"`{name} >= {low} and {name} < {high}`" for low, high in pairwise(edges)]
    return ", ".join([f"`{name} < {edges[0]}`", *inner, f"`{name} >= {edges[-1]}`", *lacking])


def _lower_end(place: int, attribute: Attribute) -> Fraction:
    """The least value of a bin; of one without, a value below its upper edge."""
    if place:
        edge = attribute.bins[place - 1]
        return Fraction(ceil(edge)) if isinstance(attribute.type, Integer) else edge
    low, _ = attribute.bounds
    return attribute.bins[0] - 1 if low is None else low


def _telling(predicate: Predicate, attribute: Attribute) -> list[Fraction]:
    """Numbers of the attribute among which every stretch without a bin edge and without a change of truth has one."""
    low, high = attribute.bounds
    marks = sorted({*borders(predicate), *attribute.bins, *(end for end in (low, high) if end is not None)})
    if isinstance(attribute.type, Integer):
        near = {Fraction(number) for mark in marks for number in range(floor(mark) - 1, ceil(mark) + 2)}
        return sorted(number for number in near if attribute.contains(number))
    between = [(left + right) / 2 for left, right in pairwise(marks)]
    beyond = [marks[0] - 1, marks[-1] + 1]
    return sorted(number for number in {*marks, *between, *beyond} if attribute.contains(number))
