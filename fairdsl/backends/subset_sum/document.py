"""Instances as documents, ``fairdsl.subset-sum/2`` (docs/subset-sum.md): what a file says, before it is an instance.

Numbers are exact: whole, or text such as ``"3/10"`` or ``"0.3"``. A table over columns is a list in which the cells of
the last column change fastest. Where there is ``up_to``, the numbers before it are lower bounds and its own upper ones;
without, they are exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, ClassVar

from fairdsl.backends.solved import Asked
from fairdsl.codec import FILLED, INLINE, Exact, Sealed
from fairdsl.ir.domain import Type
from fairdsl.ir.expr import Relation
from fairdsl.ir.question import Excluding
from fairdsl.metrics.joint import Counted
from fairdsl.populations.document import SavedRange

_Numbers = tuple[Exact, ...]
_Names = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Which metric of which groups; columns by name."""

    #: The metric, or another library's name for it.
    metric: str
    #: The columns that groups are made of.
    across: _Names = ()
    #: The columns for each value of which the metric is taken by itself; the worst decides.
    given_each: _Names = ()
    #: The columns whose influence it is about.
    influence: _Names = ()
    #: The label's value that the metric is about.
    deserving: Exact | None = None
    #: The group that others are compared with: a value for each column of ``across``.
    privileged: _Numbers | None = None
    #: Which groups are listed and not counted: those of fewer ``rows``, or where that is null of probability 0.
    excluding: Excluding | None = None
    #: The probability with which an interval is to cover sampling error.
    confidence: Exact | None = None

    def __post_init__(self) -> None:
        if self.confidence is not None and not 0 < self.confidence < 1:
            raise ValueError("`confidence` lies between 0 and 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """What the metric has to meet."""

    #: One of ``<=``, ``<``, ``>=`` and ``>``.
    relation: Relation
    #: The limit.
    limit: Exact

    def __post_init__(self) -> None:
        if self.relation in (Relation.EQ, Relation.NE):
            raise ValueError("`relation` is one of <=, <, >= and >")


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupColumn:
    """A column that the question speaks of."""

    #: Its name.
    name: str
    #: Its values.
    type: Type
    #: Single values, and ranges. A group goes by the value of its cell, or by the low end of its range (without one, by
    #: the high end less 1, or 0).
    cells: Annotated[tuple[Exact | SavedRange, ...], FILLED]


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsFile:
    """The rows that a distribution was estimated from."""

    #: The file that they came from.
    path: str
    #: Its digest.
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Population:
    """The population, as far as groups are made of it."""

    #: What the spec calls it.
    name: str = "distribution"
    #: Its columns that the question speaks of.
    columns: tuple[GroupColumn, ...] = ()
    #: Whether the last of them is the label.
    label: bool = False
    #: The rows behind it; left out where there are none.
    data: RowsFile | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Rows of data of one group."""

    #: A number for each column of groups and conditions, and for the label where the metric reads it.
    key: _Numbers
    #: How many there are, and how many of them the model favours.
    counted: Annotated[Counted, INLINE]


@dataclass(frozen=True, slots=True, kw_only=True)
class Favoured:
    """When somebody is favoured: the score is ``relation`` ``threshold``. A score that has to be small is negated."""

    #: One of ``>=``, ``>``, ``=`` and ``!=``.
    relation: Relation
    #: What the score is compared with; or two numbers that this lies strictly between, which is not a rational one.
    threshold: Exact | tuple[Exact, Exact]

    def __post_init__(self) -> None:
        if self.relation.downwards:
            raise ValueError("`relation` is one of >=, >, = and !=; of `<` write the negated score with `>`")
        if isinstance(self.threshold, tuple) and self.threshold[0] >= self.threshold[1]:
            raise ValueError("nothing lies between the two numbers of `threshold`")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of a cell, which adds something between two numbers to the score.

    Parts of less than the cell in all say that the others meet some condition on the column not.
    """

    #: The least that it adds; left out where there is no least.
    low: Exact | None = None
    #: The most; left out where there is no most.
    high: Exact | None = None
    #: It has at least this share of the cell's mass,
    least: Exact = Fraction(1)
    #: and at most this one.
    most: Exact = Fraction(1)

    def __post_init__(self) -> None:
        if self.low is not None and self.high is not None and self.low > self.high:
            raise ValueError("`low` is above `high`")
        if not 0 <= self.least <= self.most <= 1:
            raise ValueError("a share of a cell lies from 0 to 1, and `least` is not above `most`")


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of a distribution."""

    #: Its name; those of the question's columns have the same.
    name: str
    #: How many cells it has.
    cells: int
    #: The number of each cell's group, of a column that groups are made of.
    key: _Numbers | None = None
    #: What each cell adds to the score: a number, or the parts of the cell.
    adds: tuple[Exact | tuple[Part, ...], ...] | None = None

    def __post_init__(self) -> None:
        if self.cells < 1:
            raise ValueError("a column has a cell at least")
        for name, numbers in (("key", self.key), ("adds", self.adds)):
            if numbers is not None and len(numbers) != self.cells:
                raise ValueError(f"`{name}` has {len(numbers)} entries for {self.cells} cells")
        for cell in self.adds or ():
            if isinstance(cell, tuple) and sum(part.least for part in cell) > 1:
                raise ValueError("the shares of a cell are more than the cell")


@dataclass(frozen=True, slots=True, kw_only=True)
class Factor:
    """The conditional distribution of a column, Pr[``column`` | ``given``]."""

    #: The column.
    column: str
    #: The columns that it depends on.
    given: _Names = ()
    #: A table over ``given`` and behind them ``column``: its rows sum to 1; a row of zeros is a combination that nobody
    #: has.
    probabilities: _Numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A number for each combination of cells of some columns."""

    #: The columns.
    columns: _Names
    #: The numbers.
    values: _Numbers
    #: Upper bounds, where ``values`` has only lower ones.
    up_to: _Numbers | None = None

    def __post_init__(self) -> None:
        if self.up_to is not None and any(low > high for low, high in zip(self.values, self.up_to, strict=False)):
            raise ValueError("`up_to` is below the lower bounds")


@dataclass(frozen=True, slots=True, kw_only=True)
class Normal:
    """A normal distribution for a combination of cells."""

    #: The cells of the columns that it depends on, by position.
    cells: tuple[int, ...] = ()
    #: Its mean.
    mean: Exact
    #: Its variance; 0 is a single value.
    variance: Exact

    def __post_init__(self) -> None:
        if self.variance < 0:
            raise ValueError("`variance` is not negative")


@dataclass(frozen=True, slots=True, kw_only=True)
class Normals:
    """Normal columns, which are in no table, and the normal distribution of what they add together."""

    #: Their names.
    columns: Annotated[_Names, FILLED]
    #: The columns that it depends on.
    given: _Names = ()
    #: One for each combination of their cells; a combination without one is a combination that nobody has.
    distributions: tuple[Normal, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """A Bayesian network with a score."""

    #: Its columns; every one has a factor, and none depends on itself. Only of a path-specific gap the columns of
    #: groups have none: they are set.
    columns: tuple[Column, ...]
    #: Their conditional distributions.
    factors: tuple[Factor, ...] = ()
    #: What everybody has to meet: tables of 0 and 1, which is where it is met.
    conditions: tuple[Table, ...] = ()
    #: What combinations of cells of several columns add to the score.
    indicators: tuple[Table, ...] = ()
    #: Added to every score.
    constant: Exact = Fraction(0)
    #: Its normal columns.
    normal: Normals | None = None
    #: What is an enclosure, and why.
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedInstance(Sealed):
    """A metric of groups under a distribution, with nothing missing that its value depends on."""

    SCHEMA: ClassVar[str] = "fairdsl.subset-sum/2"
    STAMPED: ClassVar[bool] = False

    #: What it was made from, in the words of the spec; left out by hand.
    asked: Asked | None = None
    #: What is asked.
    question: Question
    #: What the metric has to meet; left out of a measure, and where ``asked`` says it.
    threshold: Threshold | None = None
    #: What groups are made of.
    population: Population = Population()
    #: The data by group.
    rows: tuple[Counts, ...] = ()
    #: When somebody is favoured.
    event: Favoured
    #: The distribution; for an influence also the one in which the score reads independent uniform copies of these
    #: columns.
    distributions: tuple[Distribution, ...]

    def __post_init__(self) -> None:
        if self.asked is not None and self.threshold is not None:
            raise ValueError("`threshold` is what `asked` says already")

    @property
    def by_hand(self) -> bool:
        """Only the digest vouches for what it says that it was made from."""
        return self.asked is None
