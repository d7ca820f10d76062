"""Populations: the joint distribution of an individual's attributes and, where there is one, of the label.

A population ranges over *columns*: the attributes of a domain, in their order, and behind them the label.
Each column is divided into *cells*: single values, or ranges within which the distribution says no more than their
mass. A :class:`Network` is a Bayesian network over cells: Pr[x] is the product over all columns of
Pr[cell of the column | cells of its parents]. Every other population is one: `independent` has no edges, a
distribution per group has edges from the protected attributes only, rows of a table are :class:`Rows`.

All probabilities are exact rationals. docs/semantics.md, sections 4 and 5, says what is asked of them.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING

from fairdsl.ir.domain import Attribute
from fairdsl.source import Span

if TYPE_CHECKING:  # reading a spec loads no numbers
    from fairdsl.ir.exact_rows import ExactRows

#: The setting of a network whose bins are the means of their rows.
BINS_BY_MEANS = ("bins", "means")
#: A column's cell, by its position among the cells of that column.
CellIndex = int


class Inside(Enum):
    """How the mass of a cell lies within it."""

    POINT = "point"  # the cell is a single value
    UNIFORM = "uniform"  # every value of the cell alike: counted for integers, by length for reals
    UNKNOWN = (
        "unknown"  # anywhere, and not necessarily independent of anything else: results hold for all distributions
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """The values from ``low`` to ``high`` of a column (None: without end), ``high`` left out where ``open``."""

    #: The least value; None without end.
    low: Fraction | None
    #: The greatest one; None without end.
    high: Fraction | None
    #: Whether the greatest one is left out.
    open: bool = False
    #: How the mass lies within the cell.
    inside: Inside = Inside.POINT

    def contains(self, value: Fraction) -> bool:
        """Membership."""
        if self.low is not None and value < self.low:
            return False
        return self.high is None or (value < self.high if self.open else value <= self.high)

    def ends_before(self, other: Cell) -> bool:
        """Whether all values are less than all of the other cell's."""
        if self.high is None or other.low is None:
            return False
        return self.high < other.low or (self.high == other.low and self.open)


@dataclass(frozen=True, slots=True, kw_only=True)
class Normal:
    """A normal distribution; ``truncated`` to the bounds of its attribute. Its column has a single cell."""

    mean: Fraction
    sd: Fraction
    truncated: bool = False


#: The distribution of a column given its parents' cells: a probability a cell, which sum to 1, or a normal one.
Row = tuple[Fraction, ...] | Normal


@dataclass(frozen=True, slots=True, kw_only=True)
class Factor:
    """Pr[column | parents]: a row for every combination of the parents' cells that has a probability.

    ``rows`` has the parents' cells as keys, in the order of ``parents``; a combination without a row has
    probability 0.
    """

    column: int
    parents: tuple[int, ...]
    rows: Mapping[tuple[CellIndex, ...], Row]

    @property
    def normal(self) -> bool:
        """Whether some distribution of the column is a normal one."""
        return any(isinstance(row, Normal) for row in self.rows.values())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sample:
    """The rows of data that a distribution was estimated from: ``values`` [rows, columns], the numbers of the file."""

    path: str
    sha256: str
    values: ExactRows

    @property
    def rows(self) -> int:
        """How many there are."""
        return len(self.values)


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """A Bayesian network: one factor a column, parents before children.

    ``causal``: the edges were written by somebody, not found by a search; ``searched``: they were found in the rows
    of ``sample``. ``how`` says in words where the distribution comes from, ``settings`` with which choices.
    """

    name: str
    columns: tuple[Attribute, ...]
    cells: tuple[tuple[Cell, ...], ...]
    factors: tuple[Factor, ...]
    has_label: bool = False
    causal: bool = False
    searched: bool = False
    how: str = ""
    settings: tuple[tuple[str, str], ...] = ()
    sample: Sample | None = field(default=None, compare=False, repr=False)
    span: Span | None = field(default=None, compare=False, repr=False)

    @property
    def has_means(self) -> bool:
        """Whether everybody within a bin is taken to be the mean of its rows, which is an approximation."""
        return BINS_BY_MEANS in self.settings

    def factor_of(self, column: int) -> Factor:
        """The distribution of one column."""
        return next(factor for factor in self.factors if factor.column == column)

    def complete(self, factor: Factor) -> bool:
        """Whether every combination of the parents' cells has a distribution."""
        return len(factor.rows) == prod(len(self.cells[parent]) for parent in factor.parents)

    @property
    def known(self) -> bool:
        """Whether all of its columns are :meth:`complete`."""
        return all(len(factor.rows) == 1 if not factor.parents else self.complete(factor) for factor in self.factors)

    @property
    def parents(self) -> dict[int, tuple[int, ...]]:
        """What each column depends on; one that is set from outside is left out."""
        return {factor.column: factor.parents for factor in self.factors}

    def normal_among(self, columns: Container[int]) -> Attribute | None:
        """The first of some columns with a normal distribution; one that is set from outside has none."""
        found = (factor.column for factor in self.factors if factor.column in columns and factor.normal)
        return next((self.columns[column] for column in found), None)

    @property
    def edges(self) -> frozenset[tuple[int, int]]:
        """All (parent, child) pairs of columns."""
        return frozenset((parent, factor.column) for factor in self.factors for parent in factor.parents)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """The rows of a table, each with the same probability: nothing is assumed about them."""

    name: str
    columns: tuple[Attribute, ...]
    sample: Sample = field(compare=False, repr=False)
    has_label: bool = False
    span: Span | None = field(default=None, compare=False, repr=False)


Population = Network | Rows


def label_column(population: Population) -> int | None:
    """The position of the label's column; None where the population has none."""
    return len(population.columns) - 1 if population.has_label else None


def with_ancestors(columns: Iterable[int], parents: Mapping[int, Sequence[int]]) -> set[int]:
    """Some columns, and all that these depend on; those that ``parents`` leaves out depend on nothing."""
    found, waiting = set[int](), list(columns)
    while waiting:
        column = waiting.pop()
        if column not in found:
            found.add(column)
            waiting.extend(parents.get(column, ()))
    return found
