"""Rules of a list that never decide: whoever meets their condition meets that of an earlier rule.

What is said is proved, and only cheap proofs are tried.

* A rule whose condition has all the parts of an earlier one's, and more, implies it.
* Let ``x`` be an attribute, and ``S`` the values of it that the parts of a rule's condition about ``x`` alone leave. If
  each value in ``S`` meets some earlier condition that is about ``x`` alone, then so does whoever meets the rule's
  condition, whatever his other attributes are. Between two neighbouring borders of those conditions no truth
  changes, so the borders and one value between any two of them stand for all values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor

from fairdsl.diagnostics import Reporter
from fairdsl.ir.declaration import Rule
from fairdsl.ir.domain import Domain
from fairdsl.ir.expr import And, Predicate, borders, conjuncts, holds_at, variables
from fairdsl.numerics.narrow import Finite, ValueSet, narrow
from fairdsl.semantics import errors

__all__ = ["report_unreached"]

#: Values of attributes that are listed one by one; longer ranges by their borders.
_LISTED = 256
#: Truths of conditions that may be looked up in all.
_MOST_TRUTHS = 200_000


@dataclass(slots=True)
class _Column:
    """An attribute: the values that stand for all, and the earlier rule (by number) that each of them meets first."""

    samples: tuple[Fraction, ...]
    met: dict[Fraction, int] = field(default_factory=dict)


def report_unreached(rules: Sequence[Rule], domain: Domain, reporter: Reporter) -> None:
    """Warn of each rule that an earlier one always comes before, or whose condition nobody meets."""
    parts = [frozenset(conjuncts(rule.condition)) for rule in rules]
    columns = _columns(rules, domain)
    for number, rule in enumerate(rules):
        earlier = _implied(parts, number)
        if earlier is None:
            earlier = _covered(rule, columns)
        if earlier is not None:
            reporter.report(errors.never_decides(rule.span, [rules[other].span for other in sorted(earlier)]))
        about = _only(rule.condition)
        if about in columns:
            column = columns[about]
            for value in column.samples:
                if value not in column.met and holds_at(rule.condition, value):
                    column.met[value] = number


def _implied(parts: Sequence[frozenset[Predicate]], number: int) -> set[int] | None:
    """The first rule before this one whose condition has no part that this one's has not."""
    found = next((other for other in range(number) if parts[other] <= parts[number]), None)
    return None if found is None else {found}


def _covered(rule: Rule, columns: dict[int | None, _Column]) -> set[int] | None:
    """The earlier rules that meet all that one attribute may be; the empty set where it may be nothing."""
    written = conjuncts(rule.condition)
    for attribute in dict.fromkeys(_only(part) for part in written):
        column = columns.get(attribute)
        if column is None:
            continue
        alone = And(tuple(part for part in written if _only(part) == attribute))
        if not any(value not in column.met and holds_at(alone, value) for value in column.samples):
            return {number for value, number in column.met.items() if holds_at(alone, value)}
    return None


def _columns(rules: Sequence[Rule], domain: Domain) -> dict[int | None, _Column]:
    """The attributes that a part of some condition is about alone, unless that makes too much to look up."""
    about: dict[int, list[Predicate]] = {}
    for rule in rules:
        for part in conjuncts(rule.condition):
            attribute = _only(part)
            if attribute is not None:
                about.setdefault(attribute, []).append(part)
    sets = narrow(domain)
    columns: dict[int | None, _Column] = {}
    truths = 0
    for attribute, predicates in about.items():
        samples = tuple(_samples(sets[attribute], predicates))
        truths += len(samples) * len(predicates)
        columns[attribute] = _Column(samples)
    return columns if truths <= _MOST_TRUTHS else {}


def _only(predicate: Predicate) -> int | None:
    """The one attribute that a predicate is about."""
    found = {variable.attribute for variable in variables(predicate)}
    return next(iter(found)) if len(found) == 1 else None


def _samples(values: ValueSet, predicates: Sequence[Predicate]) -> Iterator[Fraction]:
    """Values at which the predicates, all about one attribute, take all the truths that they take together."""
    changes = sorted({border for predicate in predicates for border in borders(predicate)})
    if isinstance(values, Finite):
        if values.count <= _LISTED or not isinstance(values.values, range):
            yield from (Fraction(value) for value in values.values)
            return
        near = {number for border in changes for number in range(floor(border) - 1, ceil(border) + 2)}
        ends = {values.values[0], values.values[-1]}
        yield from (Fraction(number) for number in sorted(near | ends) if number in values.values)
        return
    inside = {border for border in changes if values.contains(border)}
    marks = sorted(inside | {end for end in (values.low, values.high) if end is not None}) or [Fraction(0)]
    if values.low is None:
        yield marks[0] - 1
    if values.high is None:
        yield marks[-1] + 1
    yield from marks
    yield from ((low + high) / 2 for low, high in pairwise(marks))
