"""Laws written by hand: the parents of a column are the columns that its conditions speak of.

The cells of a column are the pieces on which each of its laws is uniform and each condition on it is true or
false throughout: single values where there are few, ranges otherwise. For every combination of cells of the
parents, other than those of probability 0 cell by cell, exactly one law must apply.
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
from fairdsl.semantics.checked import DeclaredLaw, TableLaw, UniformLaw
from fairdsl.source import Span

__all__ = ["explicit_factors", "parents_of"]

#: So many combinations of the parents' cells are gone through at most.
_MOST = 100_000

Laws = Mapping[int, Sequence[DeclaredLaw]]


def parents_of(laws: Laws) -> dict[int, tuple[int, ...]]:
    """The columns that each column's conditions speak of, ascending."""
    return {
        column: tuple(sorted({variable.attribute for law in of_column for variable in variables(law.given)}))
        for column, of_column in laws.items()
    }


def explicit_factors(columns: Columns, laws: Laws) -> tuple[tuple[tuple[Cell, ...], ...], tuple[Factor, ...]] | None:
    """Cells and factors of the laws, which depend on each other in no circle; None after reporting what is wrong."""
    found = [_cells(columns, place, laws) for place in range(len(columns.attributes))]
    if None in found:
        return None
    cells = tuple(part for part in found if part is not None)
    parents = parents_of(laws)
    factors: dict[int, Factor] = {}
    for place in in_order(parents):
        factor = _factor(columns, cells, factors, laws[place], parents[place])
        if factor is None:
            return None
        factors[place] = factor
    return cells, tuple(factors.values())


# ---- cells -------------------------------------------------------------------------------------


def _cells(columns: Columns, place: int, laws: Laws) -> tuple[Cell, ...] | None:
    """The pieces of a column; None after reporting laws or bins that do not go together."""
    attribute, own = columns.attributes[place], laws[place]
    if not isinstance(attribute.type, Integer | Real):
        return points(attribute.values or ())
    normal = [law for law in own if isinstance(law.law, Normal)]
    misfit = _misfit(attribute, own, normal)
    if misfit is not None:
        reason, help_text = misfit
        span = (normal or own)[0].span
        columns.reporter.report(errors.law_does_not_fit(attribute.name, reason, span, help_text, attribute.span))
        return None
    low, high = attribute.bounds
    if normal:
        return (Cell(low=low, high=high, inside=Inside.UNKNOWN),)
    whole = isinstance(attribute.type, Integer)
    binned = bool(attribute.bins) or attribute.bins_by is not None
    if whole and not binned and attribute.size is not None and attribute.size <= MANY:
        return points(attribute.values or ())
    needed = {cut for law in own for cut in _ends(law)}
    first, last = min(needed).at, max(needed).at
    needed.update(cut for laws_of in laws.values() for law in laws_of for cut in cuts_in(law.given, place))
    bins = columns.cuts(place, None) if binned else frozenset(needed)
    if bins is None:
        return None
    cells = cells_between(first, last, bins, Inside.UNIFORM, whole=whole)
    finer = cells_between(first, last, bins | needed, Inside.UNIFORM, whole=whole)
    if cells != finer:
        text = show_cell(next(cell for cell in finer if cell not in cells), attribute)
        reason = f"its distributions or conditions tell {text} from the rest of a bin"
        help_text = f"cut the bins of `{attribute.name}` there as well, or remove them"
        columns.reporter.report(errors.law_does_not_fit(attribute.name, reason, own[0].span, help_text, attribute.span))
        return None
    return _with_bins_beside(cells, attribute, bins) if binned else cells


def _with_bins_beside(cells: tuple[Cell, ...], attribute: Attribute, bins: frozenset[Cut]) -> tuple[Cell, ...]:
    """The cells, and the bounded bins that no law reaches: groups of probability 0 are groups that were declared."""
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


def _misfit(attribute: Attribute, laws: Sequence[DeclaredLaw], normal: Sequence[DeclaredLaw]) -> tuple[str, str] | None:
    """What is wrong with the kinds of laws of a number, and what to write."""
    if normal and len(normal) < len(laws):
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


def _ends(law: DeclaredLaw) -> Iterator[Cut]:
    """Where the density of a law of numbers changes."""
    match law.law:
        case TableLaw(entries=entries):
            for value, _ in entries:
                yield from (Cut(value), Cut(value, after=True))
        case UniformLaw(low=low, high=high):
            yield from (Cut(low), Cut(high, after=True))
        case Normal():
            pass


# ---- factors -----------------------------------------------------------------------------------


def _factor(
    columns: Columns,
    cells: Sequence[Sequence[Cell]],
    known: Mapping[int, Factor],
    laws: Sequence[DeclaredLaw],
    parents: tuple[int, ...],
) -> Factor | None:
    """The law of one column for all combinations of its parents' cells that can occur."""
    column = laws[0].column
    possible = [_possible(known[parent], len(cells[parent])) for parent in parents]
    names = [columns.attributes[parent].name for parent in parents]
    count = prod(len(of_parent) for of_parent in possible)
    if count > _MOST:
        reason = f"{count:,} combinations of {', '.join(f'`{name}`' for name in names)}"
        _undivided(columns, column, reason, laws[0].span, "condition on fewer attributes, or cut them into fewer bins")
        return None
    made = [_row(law, columns.attributes[column], cells[column]) for law in laws]
    rows: dict[tuple[CellIndex, ...], Row] = {}
    for key in product(*possible):
        places = {p: (columns.attributes[p], cells[p][index]) for p, index in zip(parents, key, strict=True)}
        applying = _applying(columns, laws, places)
        if applying is None:
            return None
        rows[key] = made[applying]
    return Factor(column=column, parents=parents, rows=rows)


def _applying(columns: Columns, laws: Sequence[DeclaredLaw], places: Places) -> int | None:
    """Which law is that of the individuals in these cells; None after reporting that it is not exactly one."""
    column = laws[0].column
    truths = [decided(law.given, places) for law in laws]
    who = " and ".join(f"{attribute.name} = {show_cell(cell, attribute)}" for attribute, cell in places.values())
    if None in truths:
        span = laws[truths.index(None)].span
        help_text = "compare each attribute with numbers by itself, and only attributes without a normal distribution"
        _undivided(columns, column, f"true of some with {who}, of others not", span, help_text)
        return None
    if truths.count(True) == 1:
        return truths.index(True)
    last = len(truths) - 1 - truths[::-1].index(True) if True in truths else 0
    reason = f"{truths.count(True)} distributions for {who}" if True in truths else f"no distribution for {who}"
    help_text = "write conditions of which exactly one is true of everybody"
    _undivided(columns, column, reason, laws[last].span, help_text)
    return None


def _undivided(columns: Columns, column: int, reason: str, span: Span, help_text: str) -> None:
    name = columns.attributes[column].name
    columns.reporter.report(errors.conditions_do_not_divide(name, reason, span, help_text))


def _possible(factor: Factor, size: int) -> list[CellIndex]:
    """The cells of a column to which some law gives a probability."""
    rows = list(factor.rows.values())
    return [index for index in range(size) if any(isinstance(row, Normal) or row[index] for row in rows)]


def _row(law: DeclaredLaw, attribute: Attribute, cells: Sequence[Cell]) -> Row:
    """The law's probability of each cell."""
    match law.law:
        case Normal():
            return law.law
        case TableLaw(entries=entries):
            return tuple(sum((p for value, p in entries if cell.contains(value)), Fraction(0)) for cell in cells)
        case UniformLaw(low=low, high=high):
            more = 1 if isinstance(attribute.type, Integer) else 0
            return tuple(_share(cell, low, high, more) for cell in cells)


def _share(cell: Cell, low: Fraction, high: Fraction, more: int) -> Fraction:
    """The part of the numbers from ``low`` to ``high`` in a cell; ``more`` is 1 for counts and 0 for lengths."""
    assert cell.low is not None
    assert cell.high is not None
    common = min(cell.high, high) - max(cell.low, low) + more
    return max(Fraction(0), common) / (high - low + more)
