"""Conditional distributions that nobody knows: what a baseline sends to parents that no row has.

A graph that was counted in rows has a distribution for every combination of parents that occurs. Along paths a parent
is read as the baseline, and people arrive at combinations that nobody in the data has. What happens to them there is
not known: it is neither impossible, nor as it is with everybody else. So their mass is set apart, and the rate of a
group a lies between two numbers: with h the mass that is favoured for certain, k that of everybody who is known, and
u the mass that is not, each of a,

    h / (k + u)  <=  rate  <=  min(1, (h + u) / k),        where k + u = 1 without further conditions.

All conditional distributions are possible, so what depends on them may be favoured altogether, or not at all. Columns
that neither the model nor a condition reads, nor any column that is read depends on, are left out first: of those
nothing has to be known.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import ceil, prod

import numpy as np

from fairdsl.backends.rates.enclosing import Enclosing
from fairdsl.ir.domain import show_number
from fairdsl.ir.expr import TRUE
from fairdsl.ir.population import Factor, Network
from fairdsl.metrics.joint import Bounds, Joint, Key, key_of
from fairdsl.metrics.subject import Subject
from fairdsl.numerics.tables import joined, whole_table, without

__all__ = ["AllowingForUnknown", "allowing_for_unknown", "only_read"]

_ONE = Fraction(1)


def only_read(subject: Subject) -> Subject:
    """The same question, of which columns that nothing reads are single values."""
    network, read = subject.network, set(subject.read)
    for factor in reversed(_children_last(network)):
        if factor.column in read:
            read |= set(factor.parents)
    factors = tuple(factor if factor.column in read else _certain(network, factor) for factor in network.factors)
    return replace(subject, network=replace(network, factors=factors))


def _children_last(network: Network) -> list[Factor]:
    """The factors in an order in which parents come before children."""
    left, done = list(network.factors), set(range(len(network.columns))) - {f.column for f in network.factors}
    found: list[Factor] = []
    while left:
        ready = [factor for factor in left if done.issuperset(factor.parents)]
        found += ready
        done |= {factor.column for factor in ready}
        left = [factor for factor in left if factor.column not in done]
    return found


def _certain(network: Network, factor: Factor) -> Factor:
    row = tuple(Fraction(place == 0) for place in range(len(network.cells[factor.column])))
    return Factor(column=factor.column, parents=(), rows={(): row})


def allowing_for_unknown(subject: Subject) -> Subject:
    """The subject without columns that nothing reads, and with the mass of which nothing is known."""
    subject = only_read(subject)
    return replace(subject, unknown=_unknown_masses(subject))


def _unknown_masses(subject: Subject) -> dict[Key, Fraction]:
    """The mass of which nothing is known, by the values of the columns that are set from outside.

    Empty where every combination of parents has a distribution.
    """
    network = subject.network
    if all(_is_complete(network, factor) for factor in network.factors):
        return {}
    tables, scale = [], 1
    for factor in network.factors:
        table, denominator = whole_table(network, factor)
        tables.append(table)
        scale *= denominator
    kept = [column for column in subject.keys if column not in {factor.column for factor in network.factors}]
    left = joined(without(tables, {factor.column for factor in network.factors}))
    numbers = np.asarray(left.numbers, dtype=object)  # without columns it is a plain integer
    found: dict[Key, Fraction] = {}
    for cells in product(*(range(len(network.cells[column])) for column in kept)):
        at = dict(zip(kept, cells, strict=True))
        key = tuple(key_of(network.cells[column][cell]) for column, cell in at.items())
        known = numbers[tuple(at[column] for column in left.columns)]
        found[key] = _ONE - Fraction(int(known), scale)
    return found if any(found.values()) else {}


def _is_complete(network: Network, factor: Factor) -> bool:
    return len(factor.rows) == prod(len(network.cells[parent]) for parent in factor.parents)


@dataclass(frozen=True, slots=True)
class AllowingForUnknown:
    """What is known of a subject, with all that may become of those of whom nothing is."""

    #: The joint of everybody else.
    known: Enclosing
    subject: Subject

    @property
    def joint(self) -> Joint | None:
        """Wider by the mass of which nothing is known."""
        joint = self.known.joint
        return joint if joint is None or not self.subject.unknown else _with_unknown(joint, self.subject)

    @property
    def exact(self) -> bool:
        """Whether the rest was computed in exact arithmetic."""
        return self.known.exact

    @property
    def in_words(self) -> str:
        """What is computed."""
        return self.known.in_words

    @property
    def notes(self) -> tuple[str, ...]:
        """Also how much that mass is."""
        most = max(self.subject.unknown.values(), default=None)
        if most is None:
            return self.known.notes
        part = f"up to {show_number(Fraction(ceil(most * 10**4), 100))}% of a group"
        return (*self.known.notes, f"{part} have parents that no row has, and of these any decision is allowed for")

    def improve(self) -> bool:
        """One step of the rest."""
        return self.known.improve()


def _with_unknown(joint: Joint, subject: Subject) -> Joint:
    """The columns that are set come first in keys.

    Where there is nothing else in a key, and no condition, each group is whole whatever becomes of whom.
    """
    across = len(next(iter(subject.unknown)))
    everybody = len(subject.keys) == across and subject.condition == TRUE
    favourable, total = dict(joint.favourable), dict(joint.total)
    for key, mass in ((key, subject.unknown.get(key[:across])) for key in joint.total):
        if mass:
            favourable[key] = _raised(joint.favourable.get(key, Bounds.exactly(Fraction(0))), mass)
            total[key] = Bounds.exactly(_ONE) if everybody else _raised(joint.total[key], mass)
    return replace(joint, favourable=favourable, total=total)


def _raised(bounds: Bounds, mass: Fraction) -> Bounds:
    return Bounds(low=bounds.low, high=min(_ONE, bounds.high + mass))
