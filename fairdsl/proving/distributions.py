"""Populations as the distributions that a proof of rates is about, and the order in which columns are summed out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence, Set
from fractions import Fraction
from itertools import chain, product
from math import ceil, floor, prod
from typing import Any

from fairdsl.clock import Deadline
from fairdsl.ir.domain import Attribute, Integer, Real, show_number
from fairdsl.ir.population import Cell, Network, Normal, Population, Rows, label_column
from fairdsl.ir.question import GroupMetric
from fairdsl.metrics.counts import rows_of
from fairdsl.metrics.joint import cells_of, columns_of, key_of
from fairdsl.metrics.rate_cells import Cells
from fairdsl.metrics.subject import uniform_on
from fairdsl.numerics.cells import place_of
from fairdsl.proving.paths import free_name
from fairdsl.proving.question import Unproved, attribute_of, number_of
from fairdsl_verify import RejectedError
from fairdsl_verify.masses import Law, Step
from fairdsl_verify.rates import Rates

#: Distinct rows of a table at most.
_ROWS = 1 << 14
#: States that an order is tried with first, how many times as many next, and at most.
_FIRST, _MORE, _MOST = 1 << 12, 8, 1 << 18


#: The parents of a column, and a row for cells of theirs.
_Table = tuple[list[int], list[tuple[tuple[int, ...], Any]]]


class DistributionOf:
    """A population as columns of cells, with a distribution each; rows of a table are one more column."""

    def __init__(self, question: GroupMetric, population: Population, counted: Population, read: Set[int]) -> None:
        """``counted``: the population, or what rates are counted under, which may have more columns behind those.

        ``read`` are the columns that the model or a condition looks into.
        """
        self._question, self._population = question, population
        population = counted
        if isinstance(population, Network):
            cells = population.cells
            factors = [population.factor_of(column) for column in range(len(population.columns))]
            tables: list[_Table] = [(list(factor.parents), list(factor.rows.items())) for factor in factors]
            self._cells = [list(each) for each in cells]
        else:
            self._cells, tables = self._of_rows(population)
        self.attributes: list[dict[str, Any]] = []
        self.law: list[dict[str, Any]] = []
        for column, attribute in enumerate(population.columns):
            described, places = _column(attribute, self._cells[column], is_read=column in read)
            self.attributes.append(described)
            self._add(places, *tables[column])
        if isinstance(population, Rows):
            count = len(tables[-1][1][0][1])
            rows = {"name": "row", "type": "values", "values": list(range(count))}
            self.attributes.append({**rows, "labels": [f"row {number}" for number in range(1, count + 1)]})
            self._add([[at, at, "point"] for at in range(count)], *tables[-1])
        self._influence = [
            [self.attributes[column]["name"], self._drawn(attribute)]
            for column, attribute in zip(question.influence, question.drawn(population.columns), strict=True)
        ]

    def _drawn(self, attribute: Attribute) -> str:
        """One more column, which is uniform over the values of an attribute and hangs on nothing; its name."""
        cells, row = uniform_on(attribute)
        described, places = _column(attribute, cells, is_read=True)
        name = free_name(f"{attribute.name}_drawn", [each["name"] for each in self.attributes])
        self.attributes.append({**described, "name": name})
        self._add(places, [], [((), row)])
        return name

    def drawn(self) -> list[list[str]]:
        """The attributes of an influence, with what is read in place of each for the number that is subtracted."""
        return self._influence

    def _add(self, cells: list[list[Any]], parents: list[int], rows: list[tuple[tuple[int, ...], Any]]) -> None:
        if any(isinstance(row, Normal) for _, row in rows):
            raise Unproved("normal distributions have no proofs so far")
        listed = [[list(at), [number_of(value) for value in row]] for at, row in rows]
        self.law.append({"cells": cells, "parents": parents, "rows": listed})

    def _of_rows(self, population: Rows) -> tuple[list[list[Cell]], list[_Table]]:
        """The distinct values of each column as cells, and each distinct row as what all of its columns follow from."""
        counted = Counter(population.sample.values.points())
        if len(counted) > _ROWS:
            raise Unproved(f"tables of more than {_ROWS:,} distinct rows have no proofs so far")
        distinct, columns = list(counted), len(population.columns)
        values = [sorted({row[column] for row in distinct}) for column in range(columns)]
        for column in self._columns:
            cells = cells_of(population, column)
            if any(cell.low is None or cell.low != cell.high for cell in cells):
                raise Unproved("groups of rows by bins have no proofs so far")
            values[column] = [key_of(cell) for cell in cells]
        tables: list[_Table] = []
        for column in range(columns):
            at = {value: place for place, value in enumerate(values[column])}
            if any(row[column] not in at for row in distinct):
                raise Unproved("rows with values that the domain does not have, have no proofs")
            size = range(len(values[column]))
            rows = [((n,), tuple(int(place == at[row[column]]) for place in size)) for n, row in enumerate(distinct)]
            tables.append(([columns], [*rows]))
        total = sum(counted.values())
        tables.append(([], [((), tuple(Fraction(count, total) for count in counted.values()))]))
        return [[Cell(low=value, high=value) for value in each] for each in values], tables

    @property
    def _columns(self) -> tuple[int, ...]:
        return columns_of(self._question, self._population)

    def counted(self, cells: Cells) -> list[list[Any]]:
        """Which labels, by cells, with which decisions."""
        label = label_column(self._population)
        keys = [None] if None in cells or label is None else [key_of(cell) for cell in self._cells[label]]
        return [[at, decision] for at, key in enumerate(keys) for decision in sorted(cells.get(key, ()))]

    def privileged(self) -> list[int] | None:
        """The privileged group by its cells."""
        if self._question.privileged is None:
            return None
        pairs = zip(self._question.across, self._question.privileged, strict=True)
        cells = [place_of(value, self._cells[column]) for column, value in pairs]
        if any(cell is None for cell in cells):
            raise Unproved("nobody is in the privileged group")
        return [cell for cell in cells if cell is not None]

    def left_out(self) -> list[list[list[int]]] | None:
        """The groups of too few rows, by the cells of group and stratum; None where nobody is left out."""
        question, population = self._question, self._population
        if question.excluding is None:
            return None
        if question.excluding.rows is None:
            return []
        if population.sample is None:
            raise Unproved("groups are left out by their rows, and there are none")
        counts, numbers = rows_of(question, population), [[key_of(c) for c in self._cells[at]] for at in self._columns]
        rows: Counter[tuple[int, ...]] = Counter()
        for cells in product(*(range(len(each)) for each in numbers)):
            key = tuple(each[cell] for each, cell in zip(numbers, cells, strict=True))
            if key in counts:
                rows[cells[: len({*question.across, *question.given_each})]] += counts[key].rows
        found = []
        columns = [column for column in self._columns if column in (*question.across, *question.given_each)]
        for cells in product(*(range(len(self._cells[column])) for column in columns)):
            if rows[cells] < question.excluding.rows:
                at = dict(zip(columns, cells, strict=True))
                found.append([[at[column] for column in part] for part in (question.across, question.given_each)])
        return found

    def rests(self) -> Iterator[str]:
        """What the numbers of the question were taken from."""
        sample, excluding = self._population.sample, self._question.excluding
        if sample is not None:
            listed = ", and the groups that are left out" if excluding is not None and excluding.rows else ""
            yield f"rows of a file of sha256 {sample.sha256}: the distribution is counted in them{listed}"


def _column(attribute: Attribute, cells: Sequence[Cell], *, is_read: bool) -> tuple[dict[str, Any], list[list[Any]]]:
    """A column and its cells by positions; one that nobody looks into has its cells for values."""
    if attribute.present is None and not isinstance(attribute.type, Real):
        described = attribute_of(attribute)
        if isinstance(attribute.type, Integer):
            return described, [_ends(cell, attribute.type) for cell in cells]
        places = {Fraction(value): at for at, value in enumerate(described["values"])}
        if all(cell.low in places and cell.low == cell.high for cell in cells):
            at = [places[cell.low] for cell in cells if cell.low is not None]
            return described, [[place, place, "point"] for place in at]
    single = all(cell.low is not None and cell.low == cell.high for cell in cells)
    if is_read and (not single or attribute.present is not None):
        raise Unproved(
            f"`{attribute.name}` is read, and has ranges of reals or may be missing; that has no proofs so far"
        )
    values = [number_of(cell.low or 0) for cell in cells] if single else list(range(len(cells)))
    labels = [_range_words(cell) for cell in cells]
    described = {"name": attribute.name, "type": "values", "values": values, "labels": labels}
    return described, [[at, at, "point"] for at in range(len(cells))]


def _range_words(cell: Cell) -> str:
    low, high = ("" if end is None else show_number(end) for end in (cell.low, cell.high))
    return low if low == high and low else f"from {low or 'below'} to {high or 'above'}"


def _ends(cell: Cell, kind: Integer) -> list[Any]:
    low = kind.low if cell.low is None else max(kind.low, ceil(cell.low))
    high = kind.high if cell.high is None else min(kind.high, floor(cell.high))
    if cell.open and cell.high is not None and cell.high == high:
        high -= 1
    if low > high:
        raise Unproved("a cell without whole numbers has no proofs")
    inside = "point" if low == high else cell.inside.value
    return [low - kind.low, high - kind.low, inside]


def order_for(rates: Rates, deadline: Deadline) -> list[Step]:
    """An order of the columns with few states, and how many there are. Raises Unproved where none is found in time."""
    law, question, limit = rates.question.law, rates.question, _FIRST
    events = list(dict.fromkeys(chain(*rates.events)))
    reads = rates.formulas.reads[events[0]]
    orders = list(dict.fromkeys(_orders(law, question.keys, reads)))
    while limit <= _MOST:
        for order in orders:
            if deadline.passed:
                raise Unproved("no order of the columns was found in time")
            steps, found = [(column, limit) for column in order], list[list[int]]()
            try:
                for event in events:
                    found.append([])
                    rates.counted(event, steps, found[-1])
            except RejectedError as error:
                if "more than" in str(error):
                    continue
                raise
            return list(zip(order, map(max, *found, *found), strict=True))
        limit *= _MORE
    raise Unproved("there are too many states")


def _orders(law: Law, keys: Sequence[int], reads: int) -> Iterator[tuple[int, ...]]:
    """Orders to try: parents first; and next always the column with which the fewest cells are carried along."""
    columns = range(len(law.cells))
    for first in (1, 0):  # what the event reads as early as possible, or as late
        left, known = set(columns), list[int]()
        while left:
            column = min(left, key=lambda each: (_carried(law, keys, [*known, each]), reads >> each & 1 != first, each))
            left.remove(column)
            known.append(column)
        yield tuple(known)
    left, known = set(columns), list[int]()
    while left:
        column = min(each for each in left if left.isdisjoint(law.parents[each]))
        left.remove(column)
        known.append(column)
    yield tuple(known)


def _carried(law: Law, keys: Sequence[int], known: Sequence[int]) -> int:
    """How many combinations of cells states have, once these columns are known."""
    inside = set(known)
    tables = [{column, *parents} for column, parents in enumerate(law.parents)]
    needed = set(keys).union(*(table for table in tables if not inside.issuperset(table)))
    return prod(len(law.cells[column]) for column in inside & needed)
