"""The seam between engines and metrics: joint probabilities by key.

An engine computes, for every *key*, an enclosure of Pr[favourable, key, given] and of Pr[key, given]; the rates of
docs/semantics.md, section 4, are quotients of sums of them. A key is one value a column, in the order of
:func:`columns_of`: ``across``, then ``given_each``, then the label where the metric reads it.

A column whose cells are ranges (bins) has one key a cell: the number of :func:`key_of`, which lies in the cell, so
that a written value belongs to the group whose cell contains it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, ValuesView
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import product

from fairdsl.ir.domain import Integer
from fairdsl.ir.enclosure import Enclosure
from fairdsl.ir.population import Cell, Inside, Network, Population, label_column
from fairdsl.ir.question import GroupMetric
from fairdsl.metrics.scored import Scored
from fairdsl.numerics.cells import Cut, cells_between, place_of, points

__all__ = [
    "NOTHING",
    "Bounds",
    "ByKey",
    "Counted",
    "Enclosure",
    "Joint",
    "Key",
    "at_most_one",
    "cells_of",
    "columns_of",
    "in_order",
    "key_at",
    "key_of",
    "keys_of",
    "of_any",
]

#: One value for every column of :func:`columns_of`.
Key = tuple[Fraction, ...]


_ZERO, _ONE = Fraction(0), Fraction(1)


def at_most_one(number: Fraction) -> Fraction:
    """The number, or 1 where it is more: fractions take long to compare, and this needs none of that."""
    return number if number.numerator <= number.denominator else _ONE


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Bounds(Enclosure):
    """An enclosure of a probability."""

    def __post_init__(self) -> None:
        low, high = self.low, self.high
        # The same as 0 <= low <= high <= 1 with one comparison of fractions instead of three.
        if low.numerator < 0 or high.numerator > high.denominator or (low is not high and low > high):
            raise ValueError("a probability lies between 0 and 1, and its lower bound is not above the upper one")

    def met(self, other: Bounds) -> Bounds:
        """What two enclosures of one probability say together."""
        return Bounds(low=max(self.low, other.low), high=min(self.high, other.high))

    def within(self, whole: Bounds) -> Bounds:
        """The same of a part of something, which is at most the whole."""
        if self.high <= whole.high:
            return self
        return Bounds(low=min(self.low, whole.high), high=whole.high)

    def without(self, part: Bounds) -> Bounds:
        """What is left of it without a part."""
        return Bounds(low=max(_ZERO, self.low - part.high), high=max(_ZERO, self.high - part.low))


#: A probability of exactly 0: what a key has that no mapping lists.
NOTHING = Bounds(low=_ZERO, high=_ZERO)


class ByKey(Mapping[Key, Bounds]):
    """Bounds of keys in order, as engines find those of many groups: looked up by their places, not by the keys.

    Numbers take long to hash, and so do the keys of a thousand groups: it is done when one of them is asked for.
    """

    def __init__(self, keys: Sequence[Key], bounds: Sequence[Bounds]) -> None:
        """The bounds of each of the keys."""
        self.listed, self.bounds = list(keys), list(bounds)

    @cached_property
    def _found(self) -> dict[Key, Bounds]:
        return dict(zip(self.listed, self.bounds, strict=True))

    def __getitem__(self, key: Key) -> Bounds:
        return self._found[key]

    def __iter__(self) -> Iterator[Key]:
        return iter(self.listed)

    def __len__(self) -> int:
        return len(self.listed)

    def values(self) -> ValuesView[Bounds]:
        """In order."""
        return dict(enumerate(self.bounds)).values()


def in_order(found: Mapping[Key, Bounds], keys: Sequence[Key]) -> Sequence[Bounds]:
    """The bounds of all keys, one after the other; those that are not listed are 0."""
    if isinstance(found, ByKey) and found.listed == keys:
        return found.bounds
    return [found.get(key, NOTHING) for key in keys]


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """Rows of data with a key (and within ``given``), and how many of them the model favours.

    ``most`` is greater than ``least`` only where decisions of some rows stay open.
    """

    #: How many rows there are.
    rows: int
    #: At least so many of them the model favours,
    least: int
    #: and at most so many.
    most: int

    def __post_init__(self) -> None:
        if not 0 <= self.least <= self.most <= self.rows:
            raise ValueError("the favoured are a part of the rows")

    def __add__(self, other: Counted) -> Counted:
        return Counted(rows=self.rows + other.rows, least=self.least + other.least, most=self.most + other.most)


@dataclass(frozen=True, slots=True, kw_only=True)
class Joint:
    """What an engine computes. A key that a mapping does not list has probability exactly 0.

    ``favourable`` encloses Pr[favourable, key, given] and ``total`` Pr[key, given], of those in the domain (its
    ``where``). Both are probabilities under the population's distribution itself: neither is divided by the probability
    of ``given`` or of the domain. Rates are quotients. ``counts``: the rows that the distribution was estimated from,
    by key (:mod:`fairdsl.metrics.counts` makes them); empty where there are none. ``drawn``: they are people drawn from
    the distribution instead, and the probabilities are their shares (:mod:`fairdsl.metrics.drawn`).
    """

    favourable: Mapping[Key, Bounds]
    total: Mapping[Key, Bounds]
    counts: Mapping[Key, Counted] = field(default_factory=dict)
    #: Of a mean, the expectation of what is averaged where the key is, and 0 elsewhere, between two numbers.
    sums: Mapping[Key, Enclosure] = field(default_factory=dict)
    #: Of a mean among people who were drawn, their scores.
    scored: Mapping[Key, Scored] = field(default_factory=dict)
    drawn: bool = False

    def met(self, other: Joint) -> Joint:
        """What two joints of the same keys say together."""
        return replace(
            self,
            favourable={key: bounds.met(other.favourable[key]) for key, bounds in self.favourable.items()},
            total={key: bounds.met(other.total[key]) for key, bounds in self.total.items()},
        )


def of_any(joints: Sequence[Joint]) -> Joint:
    """That one of several outcomes is decided, where each of them is favourable in one of the joints."""
    first, *others = joints
    if not others:
        return first
    keys = list(first.total)
    of_each = zip(*(in_order(each.favourable, keys) for each in joints), strict=True)
    met = [
        Bounds(low=sum(part.low for part in parts), high=min(sum(part.high for part in parts), whole.high))
        for parts, whole in zip(of_each, in_order(first.total, keys), strict=True)
    ]
    return replace(first, favourable=ByKey(keys, met))


def columns_of(question: GroupMetric, population: Population) -> tuple[int, ...]:
    """The columns of the keys, in order: ``across``, ``given_each``, and the label where the metric reads it."""
    columns = question.across + tuple(column for column in question.given_each if column not in question.across)
    label = label_column(population)
    if not question.metric.rate.reads_label or label is None or label in columns:
        return columns
    return (*columns, label)


def cells_of(population: Population, column: int) -> tuple[Cell, ...]:
    """The cells of a column. Rows of a table are divided by the attribute's bins, or into single values.

    Raises ValueError for a real attribute without bins in a population of rows: it has no groups.
    """
    if isinstance(population, Network):
        return population.cells[column]
    attribute = population.columns[column]
    if attribute.bins:
        low, high = attribute.bounds
        cuts = (Cut(edge) for edge in attribute.bins)
        return cells_between(low, high, cuts, Inside.UNKNOWN, whole=isinstance(attribute.type, Integer))
    if attribute.values is None:
        raise ValueError(f"`{attribute.name}` is a real attribute without bins")
    return points(attribute.values)


def key_of(cell: Cell) -> Fraction:
    """The number that stands for a cell in keys: its value or lower end, or some value where it has no lower end."""
    if cell.low is not None:
        return cell.low
    return Fraction(0) if cell.high is None else cell.high - 1


def key_at(population: Population, column: int, value: Fraction) -> Fraction | None:
    """The key of the cell that a value lies in; None where it lies in none."""
    cells = cells_of(population, column)
    place = place_of(value, cells)
    return None if place is None else key_of(cells[place])


def keys_of(question: GroupMetric, population: Population) -> Iterator[Key]:
    """All keys, the last column's value changing fastest."""
    numbers = ([key_of(cell) for cell in cells_of(population, column)] for column in columns_of(question, population))
    return product(*numbers)
