"""The seam between engines and metrics: joint probabilities by key.

An engine computes, for every *key*, an enclosure of Pr[favourable, key, given] and of Pr[key, given]; the rates of
docs/semantics.md, section 4, are quotients of sums of them. A key is one value a column, in the order of
:func:`columns_of`: ``across``, then ``given_each``, then the label where the metric reads it.

A column whose cells are ranges (bins) has one key a cell: the number of :func:`key_of`, which lies in the cell, so
that a written value belongs to the group whose cell contains it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise, product

from fairdsl.ir.domain import Attribute, Integer
from fairdsl.ir.population import Cell, Inside, Network, Population, label_column
from fairdsl.ir.question import GroupMetric

__all__ = [
    "LABELLED",
    "NOTHING",
    "Bounds",
    "Counted",
    "Joint",
    "Key",
    "cells_of",
    "columns_of",
    "key_at",
    "key_of",
    "keys_of",
]

#: One value for every column of :func:`columns_of`.
Key = tuple[Fraction, ...]

#: The metrics that are about the label; their keys have its value at the end.
LABELLED = frozenset({"equalized_odds", "equal_opportunity", "predictive_parity", "average_odds_difference"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """An enclosure of a probability: it lies in [low, high], and is known where the two are equal."""

    low: Fraction
    high: Fraction

    def __post_init__(self) -> None:
        if not 0 <= self.low <= self.high <= 1:
            raise ValueError("a probability lies between 0 and 1, and its lower bound is not above the upper one")

    @classmethod
    def exactly(cls, value: Fraction) -> Bounds:
        """A probability that is known."""
        return cls(low=value, high=value)

    @property
    def exact(self) -> bool:
        """Whether it is known."""
        return self.low == self.high


#: A probability of exactly 0: what a key has that no mapping lists.
NOTHING = Bounds(low=Fraction(0), high=Fraction(0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """Rows of data with a key (and within ``given``), and how many of them the model favours.

    ``most`` is greater than ``least`` only where decisions of some rows stay open.
    """

    rows: int
    least: int
    most: int

    def __post_init__(self) -> None:
        if not 0 <= self.least <= self.most <= self.rows:
            raise ValueError("the favoured are a part of the rows")

    def __add__(self, other: Counted) -> Counted:
        return Counted(rows=self.rows + other.rows, least=self.least + other.least, most=self.most + other.most)


@dataclass(frozen=True, slots=True, kw_only=True)
class Joint:
    """What an engine computes. A key that a mapping does not list has probability exactly 0.

    ``favourable`` encloses Pr[favourable, key, given] and ``total`` Pr[key, given]; neither is divided by Pr[given].
    Both are probabilities under the population's law restricted to the domain (its ``where``), normalised or not:
    rates are quotients. ``counts``: the rows that the law was estimated from, by key (:mod:`fairdsl.metrics.counts`
    makes them); empty where there are none.
    """

    favourable: Mapping[Key, Bounds]
    total: Mapping[Key, Bounds]
    counts: Mapping[Key, Counted] = field(default_factory=dict)


def columns_of(question: GroupMetric, population: Population) -> tuple[int, ...]:
    """The columns of the keys, in order: ``across``, ``given_each``, and the label where the metric reads it."""
    columns = question.across + tuple(column for column in question.given_each if column not in question.across)
    label = label_column(population)
    if question.metric not in LABELLED or label is None or label in columns:
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
        return _bins(attribute)
    if attribute.values is None:
        raise ValueError(f"`{attribute.name}` is a real attribute without bins")
    return tuple(Cell(low=Fraction(value), high=Fraction(value)) for value in attribute.values)


def _bins(attribute: Attribute) -> tuple[Cell, ...]:
    """``bins at 25, 45`` are [.., 25), [25, 45) and [45, ..]; of whole numbers [.., 24], [25, 44] and [45, ..]."""
    low, high = attribute.bounds
    whole = isinstance(attribute.type, Integer)
    ends = (low, *attribute.bins, high)
    last = len(attribute.bins)
    return tuple(
        Cell(
            low=start,
            high=end - 1 if whole and number < last and end is not None else end,
            open=not whole and number < last,
            inside=Inside.UNKNOWN,
        )
        for number, (start, end) in enumerate(pairwise(ends))
    )


def key_of(cell: Cell) -> Fraction:
    """The number that stands for a cell in keys: its value or lower end, or some value where it has no lower end."""
    if cell.low is not None:
        return cell.low
    return Fraction(0) if cell.high is None else cell.high - 1


def key_at(population: Population, column: int, value: Fraction) -> Fraction | None:
    """The key of the cell that contains a value; None where no cell does."""
    return next((key_of(cell) for cell in cells_of(population, column) if cell.contains(value)), None)


def keys_of(question: GroupMetric, population: Population) -> Iterator[Key]:
    """All keys, the last column's value changing fastest."""
    numbers = ([key_of(cell) for cell in cells_of(population, column)] for column in columns_of(question, population))
    return product(*numbers)
