"""Distributions written by hand: the parents of a column are the columns that its conditions speak of.

The cells of a column are the pieces on which each of its distributions is uniform and each condition on it is true or
false throughout: single values where there are few, ranges otherwise. For every combination of cells of the
parents, other than those of probability 0 cell by cell, exactly one distribution must apply.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from math import prod

from fairdsl.ir.domain import Attribute, Integer, Quantiles, Real
from fairdsl.ir.expr import variables
from fairdsl.ir.population import Cell, CellIndex, Factor, Inside, Normal, Row
from fairdsl.numerics.cells import Cut, cells_between, points
from fairdsl.populations import errors
from fairdsl.populations.columns import Columns
from fairdsl.populations.conditions import Places, decided
from fairdsl.populations.cutting import MANY, cuts_in, show_cell
from fairdsl.populations.order import in_order
from fairdsl.semantics.checked import ColumnDistribution, TableDistribution, UniformDistribution
from fairdsl.source import Span

#: So many combinations of the parents' cells are gone through at most.
_MOST = 100_000

Distributions = Mapping[int, Sequence[ColumnDistribution]]


def parents_of(distributions: Distributions) -> dict[int, tuple[int, ...]]:
    """The columns that each column's conditions speak of, ascending."""
    return {
        column: tuple(
            sorted({variable.attribute for distribution in of_column for variable in variables(distribution.given)})
        )
        for column, of_column in distributions.items()
    }


def explicit_factors(
    columns: Columns, distributions: Distributions
) -> tuple[tuple[tuple[Cell, ...], ...], tuple[Factor, ...]] | None:
    """Cells and factors of distributions that depend on each other in no circle; None after reporting what is wrong."""
    found = [_cells(columns, place, distributions) for place in range(len(columns.attributes))]
    if None in found:
        return None
    cells = tuple(part for part in found if part is not None)
    parents = parents_of(distributions)
    factors: dict[int, Factor] = {}
    for place in in_order(parents):
        factor = _factor(columns, cells, factors, distributions[place], parents[place])
        if factor is None:
            return None
        factors[place] = factor
    return cells, tuple(factors.values())


# ---- cells -------------------------------------------------------------------------------------


def _cells(columns: Columns, place: int, distributions: Distributions) -> tuple[Cell, ...] | None:
    """The pieces of a column; None after reporting distributions or bins that do not go together."""
    attribute, own = columns.attributes[place], distributions[place]
    if not isinstance(attribute.type, Integer | Real):
        return points(attribute.values or ())
    normal = [each for each in own if isinstance(each.shape, Normal)]
    misfit = _misfit(attribute, own, normal)
    if misfit is not None:
        reason, help_text = misfit
        span = (normal or own)[0].span
        columns.reporter.report(
            errors.distribution_does_not_fit(attribute.name, reason, span, help_text, attribute.span)
        )
        return None
    low, high = attribute.bounds
    if normal:
        return (Cell(low=low, high=high, inside=Inside.UNKNOWN),)
    whole = isinstance(attribute.type, Integer)
    binned = bool(attribute.bins) or attribute.bins_by is not None
    if whole and not binned and attribute.size is not None and attribute.size <= MANY:
        return points(attribute.values or ())
    needed = {cut for distribution in own for cut in _ends(distribution)}
    first, last = min(needed).at, max(needed).at
    needed.update(
        cut
        for of_others in distributions.values()
        for distribution in of_others
        for cut in cuts_in(distribution.given, place)
    )
    bins = columns.cuts(place, None) if binned else frozenset(needed)
    if bins is None:
        return None
    cells = cells_between(first, last, bins, Inside.UNIFORM, whole=whole)
    finer = cells_between(first, last, bins | needed, Inside.UNIFORM, whole=whole)
    if cells != finer:
        text = show_cell(next(cell for cell in finer if cell not in cells), attribute)
        reason = f"its distributions or conditions tell {text} from the rest of a bin"
        help_text = f"cut the bins of `{attribute.name}` there as well, or remove them"
        columns.reporter.report(
            errors.distribution_does_not_fit(attribute.name, reason, own[0].span, help_text, attribute.span)
        )
        return None
    return _with_bins_beside(cells, attribute, bins) if binned else cells


def _with_bins_beside(cells: tuple[Cell, ...], attribute: Attribute, bins: frozenset[Cut]) -> tuple[Cell, ...]:
    """The cells, and the bounded bins that none reaches: groups of probability 0 are groups that were declared."""
    low, high = attribute.bounds
    first, last = cells[0].low, cells[-1].high
    below: list[Cell] = []
    above: list[Cell] = []
    for cell in cells_between(low, high, bins, Inside.UNIFORM, whole=isinstance(attribute.type, Integer)):
        if cell.low is None or cell.high is None or first is None or last is None:
            continue
        if cell.high < first or (cell.open and cell.high == first):
            below.append(cell)
        elif cell.low > last or (cell.low == last and cell not in cells and cell.low < cell.high):
            above.append(cell)  # reals have no mass at the common end
    return (*below, *cells, *above)


def _misfit(
    attribute: Attribute, distributions: Sequence[ColumnDistribution], normal: Sequence[ColumnDistribution]
) -> tuple[str, str] | None:
    """What is wrong with the kinds of distributions of a number, and what to write."""
    if normal and len(normal) < len(distributions):
        other = "write all distributions of the attribute as normal distributions, or none"
        return f"`{attribute.name}` has a normal distribution and another kind of distribution", other
    if normal and (attribute.bins or attribute.bins_by is not None):
        return (
            "a normal distribution has no bins",
            f"remove the bins of `{attribute.name}`, or write pieces `uniform(low, high)`",
        )
    if isinstance(attribute.bins_by, Quantiles):
        return (
            "a distribution written by hand has no rows, so no quantiles of rows",
            "write the edges, as in `bins at 25, 45`",
        )
    return None


def _ends(distribution: ColumnDistribution) -> Iterator[Cut]:
    """Where the density of a distribution of numbers changes."""
    match distribution.shape:
        case TableDistribution(entries=entries):
            for value, _ in entries:
                yield from (Cut(value), Cut(value, after=True))
        case UniformDistribution(low=low, high=high):
            yield from (Cut(low), Cut(high, after=True))
        case Normal():
            pass


# ---- factors -----------------------------------------------------------------------------------


def _factor(
    columns: Columns,
    cells: Sequence[Sequence[Cell]],
    known: Mapping[int, Factor],
    distributions: Sequence[ColumnDistribution],
    parents: tuple[int, ...],
) -> Factor | None:
    """The distribution of one column for all combinations of its parents' cells that can occur."""
    column = distributions[0].column
    possible = [_possible(known[parent], len(cells[parent])) for parent in parents]
    names = [columns.attributes[parent].name for parent in parents]
    count = prod(len(of_parent) for of_parent in possible)
    if count > _MOST:
        reason = f"{count:,} combinations of {', '.join(f'`{name}`' for name in names)}"
        _undivided(
            columns, column, reason, distributions[0].span, "condition on fewer attributes, or cut them into fewer bins"
        )
        return None
    made = [_row(distribution, columns.attributes[column], cells[column]) for distribution in distributions]
    rows: dict[tuple[CellIndex, ...], Row] = {}
    for key in product(*possible):
        places = {p: (columns.attributes[p], cells[p][index]) for p, index in zip(parents, key, strict=True)}
        applying = _applying(columns, distributions, places)
        if applying is None:
            return None
        rows[key] = made[applying]
    return Factor(column=column, parents=parents, rows=rows)


def _applying(columns: Columns, distributions: Sequence[ColumnDistribution], places: Places) -> int | None:
    """Which distribution is that of the individuals in these cells; None after reporting that it is not exactly one."""
    column = distributions[0].column
    truths = [decided(distribution.given, places) for distribution in distributions]
    who = " and ".join(f"{attribute.name} = {show_cell(cell, attribute)}" for attribute, cell in places.values())
    if None in truths:
        span = distributions[truths.index(None)].span
        help_text = "compare each attribute with numbers by itself, and only attributes without a normal distribution"
        _undivided(columns, column, f"true of some with {who}, of others not", span, help_text)
        return None
    if truths.count(True) == 1:
        return truths.index(True)
    last = len(truths) - 1 - truths[::-1].index(True) if True in truths else 0
    reason = f"{truths.count(True)} distributions for {who}" if True in truths else f"no distribution for {who}"
    help_text = "write conditions of which exactly one is true of everybody"
    _undivided(columns, column, reason, distributions[last].span, help_text)
    return None


def _undivided(columns: Columns, column: int, reason: str, span: Span, help_text: str) -> None:
    name = columns.attributes[column].name
    columns.reporter.report(errors.conditions_do_not_divide(name, reason, span, help_text))


def _possible(factor: Factor, size: int) -> list[CellIndex]:
    """The cells of a column to which some distribution gives a probability."""
    rows = list(factor.rows.values())
    return [index for index in range(size) if any(isinstance(row, Normal) or row[index] for row in rows)]


def _row(distribution: ColumnDistribution, attribute: Attribute, cells: Sequence[Cell]) -> Row:
    """The distribution's probability of each cell."""
    match distribution.shape:
        case Normal():
            return distribution.shape
        case TableDistribution(entries=entries):
            return tuple(sum((p for value, p in entries if cell.contains(value)), Fraction(0)) for cell in cells)
        case UniformDistribution(low=low, high=high):
            more = 1 if isinstance(attribute.type, Integer) else 0
            return tuple(_share(cell, low, high, more) for cell in cells)


def _share(cell: Cell, low: Fraction, high: Fraction, more: int) -> Fraction:
    """The part of the numbers from ``low`` to ``high`` in a cell; ``more`` is 1 for counts and 0 for lengths."""
    assert cell.low is not None
    assert cell.high is not None
    common = min(cell.high, high) - max(cell.low, low) + more
    return max(Fraction(0), common) / (high - low + more)
