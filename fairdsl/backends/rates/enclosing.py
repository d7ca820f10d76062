"""Questions answered from joint probabilities that become more precise until they decide."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from math import ceil
from typing import Protocol

import numpy as np

from fairdsl.backends.rates.linear.task import OutOfTimeError
from fairdsl.ir.domain import show_number
from fairdsl.ir.expr import TRUE
from fairdsl.ir.population import Factor, Network, Population, with_ancestors
from fairdsl.ir.question import GroupMetric, Threshold
from fairdsl.metrics.joint import Bounds, Counted, Joint, Key, key_of
from fairdsl.metrics.subject import Subject
from fairdsl.metrics.value import decided, value_of
from fairdsl.numerics.tables import joined, whole_table, without
from fairdsl.verdict import Evidence, Reason, Refused, Unknown, Value

#: The name of the backend that computes rates of groups.
BACKEND = "rates"


class Enclosing(Protocol):
    """The joint probabilities of one subject, enclosed more and more closely."""

    @property
    def joint(self) -> Joint | None:
        """What is known; None before the first step."""

    @property
    def exact(self) -> bool:
        """Whether it was computed in exact arithmetic."""

    @property
    def in_words(self) -> str:
        """What is computed, for the report."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Why it is an enclosure, where that is no matter of precision."""

    def improve(self) -> bool:
        """One step; False when there is nothing left to do. Raises OutOfTimeError at the deadline."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question about groups, and the rows of data by key, where there are any.

    ``enough`` says of a value whether it decides all that is asked.
    """

    question: GroupMetric
    threshold: Threshold | None
    population: Population
    counts: Mapping[Key, Counted] = field(default_factory=dict)
    enough: Callable[[Value | Refused], bool] = lambda _: False

    def answer(self, enclosings: Sequence[Enclosing]) -> Value | Refused | Unknown:
        """The metric of one subject, or of the first less the second, refined until it is decided."""
        reason = Reason.INCOMPLETE
        try:
            while [each for each in enclosings if each.improve()]:  # every one of them is asked to
                value = self._value(enclosings, None)
                if value is not None and (self._decided(enclosings, value) or self.enough(value)):
                    return value
        except OutOfTimeError:
            reason = Reason.TIMEOUT
        value = self._value(enclosings, reason)
        return nothing(reason) if value is None else value

    def _value(self, enclosings: Sequence[Enclosing], reason: Reason | None) -> Value | Refused | None:
        """What is known of the metric; None before something is."""
        joints = self._joints(enclosings)
        if joints is None:
            return None
        exact = all(each.exact for each in enclosings)
        how = "in exact arithmetic" if exact else "in float64 with a bound on the error"
        words = " and ".join(dict.fromkeys(each.in_words for each in enclosings))
        notes = tuple(dict.fromkeys(note for each in enclosings for note in each.notes))
        evidence = Evidence(backend=BACKEND, method=f"{words}, {how}", notes=notes)
        return value_of(self.question, joints[0], self.population, evidence, without=joints[1], reason=reason)

    def _decided(self, enclosings: Sequence[Enclosing], value: Value | Refused) -> bool:
        joints = self._joints(enclosings)
        assert joints is not None, "a value is one of joints"
        return decided(self.question, self.threshold, joints[0], self.population, without=joints[1], value=value)

    def _joints(self, enclosings: Sequence[Enclosing]) -> tuple[Joint, Joint | None] | None:
        known = [each.joint for each in enclosings]
        joints = [joint for joint in known if joint is not None]
        if len(joints) < len(known):
            return None
        own = replace(joints[0], counts=self.counts) if self.counts else joints[0]
        return own, joints[1] if len(joints) > 1 else None


def nothing(reason: Reason, detail: str | None = None) -> Unknown:
    """What is said where no bound is known."""
    if reason is not Reason.TIMEOUT:
        reason, detail = Reason.MEMORY_OUT, detail or "the tables of the distribution are too large"
    detail = detail or "the budget ended before any bound was known"
    return Unknown(reason=reason, detail=detail, evidence=Evidence(backend=BACKEND, method="joint probabilities"))


# --------------------------------------------------------------------------------------------------
# Conditional distributions that nobody knows: what a baseline sends to parents that no row has.
#
# A graph that was counted in rows has a distribution for every combination of parents that occurs. Along paths a parent
# is read as the baseline, and people arrive at combinations that nobody in the data has. What happens to them there is
# not known: it is neither impossible, nor as it is with everybody else. So their mass is set apart, and the rate of a
# group a lies between two numbers: with h the mass that is favoured for certain, k that of everybody who is known, and
# u the mass that is not, each of a,
#
#     h / (k + u)  <=  rate  <=  min(1, (h + u) / k),        where k + u = 1 without further conditions.
#
# All conditional distributions are possible, so what depends on them may be favoured altogether, or not at all. Columns
# that neither the model nor a condition reads, nor any column that is read depends on, are left out first: of those
# nothing has to be known.

_ONE = Fraction(1)


def only_read(subject: Subject) -> Subject:
    """The same question, of which columns that nothing reads are single values."""
    network = subject.network
    read = with_ancestors(subject.read, network.parents)
    factors = tuple(factor if factor.column in read else _certain(network, factor) for factor in network.factors)
    return replace(subject, network=replace(network, factors=factors))


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
    if network.known:
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
        return joint if joint is None else with_unknown(joint, self.subject)

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
        return (*self.known.notes, *notes_of_unknown(self.subject))

    def improve(self) -> bool:
        """One step of the rest."""
        return self.known.improve()


def notes_of_unknown(subject: Subject) -> tuple[str, ...]:
    """How much of a group nothing is known of; nothing is said where that is nobody."""
    if not subject.unknown:
        return ()
    part = f"up to {show_number(Fraction(ceil(max(subject.unknown.values()) * 10**4), 100))}% of a group"
    return (f"{part} have parents that no row has, and of these any decision is allowed for",)


def with_unknown(joint: Joint, subject: Subject) -> Joint:
    """A joint of those of whom something is known, wider by the mass of all others.

    The columns that are set come first in keys. Where there is nothing else in a key, and no condition, each group is
    whole whatever becomes of whom.
    """
    if not subject.unknown:
        return joint
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
